"""What a summary memory does with a conversation, as one generator that `_driving` runs, sync or async.

Nothing is committed but by one atomic append of nodes to the log, so a run that is cancelled or killed at any step
leaves the old view or the new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import RunnableConfig

from langchain_tiered_memory._driving import Call, Steps, Tell
from langchain_tiered_memory.errors import SummarizationError, VersionConflictError
from langchain_tiered_memory.events import (
    Compaction,
    CompactionFailed,
    CompactionSuperseded,
    EpisodeHandedOn,
    MemoryEvent,
    RemovalTooLate,
)
from langchain_tiered_memory.messages.protocol import is_summary
from langchain_tiered_memory.messages.units import repair_messages
from langchain_tiered_memory.working.compacting.sessions import Numbered, Session, Sessions, leading_system
from langchain_tiered_memory.working.compacting.settings import Settings
from langchain_tiered_memory.working.compacting.showing import Showing
from langchain_tiered_memory.working.compacting.splitting import batches
from langchain_tiered_memory.working.compacting.views import render_summary, summary_message, summary_text_of
from langchain_tiered_memory.working.compacting.writing import Writer
from langchain_tiered_memory.working.compaction import plan_eviction, plan_handoff, plan_merge
from langchain_tiered_memory.working.constraints import (
    Constraint,
    find_constraints,
    fit_constraints,
    merge_constraints,
    render_constraints,
)
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.nodes import TOP_LEVEL, SummaryNode, merge_spans, spans_of
from langchain_tiered_memory.working.summarizers import Request
from langchain_tiered_memory.working.wording.sentences import dominant_language

__all__ = ["Compactor"]


@dataclass(slots=True)
class _Work:
    """One compaction in the making.

    Attributes:
        leading: The system messages of the view.
        tokens_before: What the view took.
        kept: The numbers of the messages that stay.
        started: When it began, on the performance counter.
        removed: The messages that are summarised by now, with their numbers.
        settled: Whether there is nothing left to try.
        fallback: Whether the fallback is at work.
    """

    leading: Sequence[BaseMessage]
    tokens_before: int
    kept: frozenset[int]
    started: float = field(default_factory=time.perf_counter)
    removed: list[Numbered] = field(default_factory=list)
    settled: bool = False
    fallback: bool = False


class Compactor:
    """Turns a conversation into its view.

    Args:
        settings: What the memory was told.
        config: Gives the configuration of the summarizer's runs, once there is one.
    """

    def __init__(self, settings: Settings, config: Callable[[], RunnableConfig]) -> None:
        self._settings = settings
        self._config = config
        self._showing = Showing(settings)

    def of_session(
        self, log: MessageLog, session_id: str, messages: Sequence[BaseMessage], sessions: Sessions
    ) -> Steps[list[BaseMessage]]:
        """The view of a session, after what is new of a conversation has been appended to its log."""
        leading = leading_system(messages)
        rest = messages[len(leading) :]
        while rest and is_summary(rest[0]):
            rest = rest[1:]
        # Of a view that came back, the prompt may have the summary merged into it: then the log's own is taken.
        leading = tuple(message for message in leading if not is_summary(message))
        known = sessions.get(session_id)
        session = yield from Session.read(log, session_id) if known is None else known.refreshed(log)
        known_to = session.version
        session = yield from session.appended(log, leading, rest)
        sessions.put(session)
        if late := (yield from session.late_removals(log, known_to)):
            yield self._tell(RemovalTooLate(session_id=session_id, message_ids=tuple(late)))
        leading = leading or session.leading
        session = yield from self._compacted(log, self._showing.rendered(session), leading)
        sessions.put(session)
        return (yield from self._showing.view(session, leading))

    def of_list(self, messages: Sequence[BaseMessage]) -> Steps[list[BaseMessage]]:
        """The view of a list that belongs to no session; a summary at its start counts as one of what came before."""
        lead = len(leading_system(messages))
        lead += 1 if lead < len(messages) and is_summary(messages[lead]) else 0
        said = [message for message in messages[:lead] if not is_summary(message)]
        nodes = tuple(self._node_of(message) for message in messages[:lead] if is_summary(message))
        session = self._showing.rendered(Session.of_list([*said, *messages[lead:]], nodes))
        session = yield from self._compacted(None, session, session.leading)
        if session.nodes == nodes:
            return (yield from self._showing.fitted(session, repair_messages(messages)))
        return (yield from self._showing.view(session, session.leading))

    def _node_of(self, message: BaseMessage) -> SummaryNode:
        text = summary_text_of(message)
        return SummaryNode(1, ((0, 0),), text, self._settings.meter.text(text), self._settings.clock())

    # --- whether ------------------------------------------------------------------------------------------------------

    def _compacted(self, log: MessageLog | None, session: Session, leading: Sequence[BaseMessage]) -> Steps[Session]:
        """The session after a compaction, if one is due and can help."""
        settings = self._settings
        before = self._showing.size(session, leading)
        if not settings.limits.due(before):
            return session
        shown = session.shown()
        messages = [message for _, message in shown]
        costs = self._showing.costs(session, shown)
        base = before.tokens - sum(costs) + self._growth(session)
        plan = plan_eviction(messages, costs, settings.limits, base=base, pinned=settings.pinned)
        if plan is None:
            return session
        leaving = [shown[position] for position in plan.leaving]
        work = _Work(leading, before.tokens, frozenset(shown[position][0] for position in plan.kept))
        if not settings.breaker.is_open(session.session_id, settings.clock()):
            writer = Writer(settings.summarizer, settings.window, settings.meter, self._config())
            session = yield from self._summarised(log, session, leaving, writer, work)
        if work.settled or settings.fallback is None:
            return session
        if settings.breaker.failures(session.session_id) >= settings.fallback_after:
            writer = Writer(settings.fallback, None, settings.meter, self._config())
            work = replace(work, removed=[], fallback=True)
            left = [one for one in leaving if one in session.tail]
            session = yield from self._summarised(log, session, left, writer, work)
        return session

    def _growth(self, session: Session) -> int:
        """What the summary may take more than now, once one more node is written."""
        merge = plan_merge(session.nodes, self._settings.shares)
        frame = 0
        if not session.nodes:
            frame = self._settings.meter.message(summary_message(render_summary([], "", "en"), "system"))
        return frame + merge.cap - sum(node.tokens for node in merge.nodes)

    # --- how ----------------------------------------------------------------------------------------------------------

    def _summarised(
        self, log: MessageLog | None, session: Session, leaving: Sequence[Numbered], writer: Writer, work: _Work
    ) -> Steps[Session]:
        """The session with as many of the leaving messages summarised as the summarizer can manage."""
        settings = self._settings
        for batch in batches([message for _, message in leaving], settings.batch, settings.meter.message):
            some = [leaving[position] for position in batch]
            try:
                records, handed = yield from self._records(session, some, writer, work.kept)
            except SummarizationError as error:
                yield self._failed(session, error, len(leaving) - len(work.removed))
                break
            if log is not None:
                try:
                    yield Call(log, "append_nodes", (session.session_id, records, session.nodes_version))
                except VersionConflictError:
                    work.settled = True
                    yield self._tell(CompactionSuperseded(session_id=session.session_id, messages=len(some)))
                    session = self._showing.rendered((yield from session.refreshed(log)))
                    break
            session = self._showing.rendered(session.with_nodes(records))
            work.removed += some
            for event in handed:
                yield self._tell(event)
                if settings.on_handoff is not None:
                    settings.on_handoff(event)
        else:
            work.settled = True
            if not work.fallback:
                settings.breaker.succeed(session.session_id)
        if work.removed:
            yield self._tell(self._compaction(session, writer, work))
        return session

    def _records(
        self, session: Session, some: Sequence[Numbered], writer: Writer, kept: frozenset[int]
    ) -> Steps[tuple[list[SummaryNode], list[EpisodeHandedOn]]]:
        """The nodes to write for messages that leave, the new summary last, and what is handed on with them.

        Raises:
            SummarizationError: There is no summary that may be used.
        """
        settings = self._settings
        shown = () if session.cleared else session.nodes
        merge = plan_merge(shown, settings.shares)
        # What was cleared away is replaced without being read.
        replaced = session.nodes if session.cleared else merge.nodes
        messages = tuple(message for _, message in some)
        said = [str(message.text) for message in messages]
        language = settings.language or dominant_language(said)
        previous = "\n\n".join(node.text for node in merge.nodes)
        text = yield from writer.write(Request(previous, messages, merge.cap, language))
        last = some[-1][0]
        # What a RemoveMessage took away is covered too, without being read.
        numbers = [number for number, _ in session.tail if number <= last and number not in kept]
        unread = {number for number, _ in session.shown()} - {number for number, _ in some}
        spans = spans_of(number for number in numbers if number not in unread)
        node = SummaryNode(
            level=merge.level,
            spans=merge_spans([*spans, *(span for one in replaced for span in one.spans)]),
            text=text,
            tokens=settings.meter.line(text),
            created_at=settings.clock(),
        )
        live = sorted([*(one for one in shown if one not in merge.nodes), node], key=lambda one: one.first)
        old = plan_handoff(live, settings.shares)
        texts = [one.text for one in live if one not in old]
        constraints, over = self._constraints(() if session.cleared else session.constraints, some, texts)
        handed = [one.handed() for one in old]
        events = [self._episode(session, one) for one in handed]
        if over:
            events.append(self._quotations(session, over, language))
            handed.append(SummaryNode(TOP_LEVEL, (), events[-1].text, 0, node.created_at, handed_on=True))
        return [replace(one, constraints=constraints) for one in (*handed, node)], events

    def _constraints(
        self, known: Sequence[Constraint], some: Sequence[Numbered], texts: Sequence[str]
    ) -> tuple[tuple[Constraint, ...], list[Constraint]]:
        """What must survive from now on, and what its share can't hold."""
        settings = self._settings
        found = [constraint for number, message in some for constraint in self._found(number, message)]
        merged = merge_constraints(known, found)
        missing = self._showing.missing(merged, "\n\n".join(texts))
        language = self._showing.language(texts, merged)
        _, over = fit_constraints(missing, settings.shares.constraints, settings.meter.line, language=language)
        gone = set(map(id, over))  # comparing them by value would take longer than finding them
        return tuple(constraint for constraint in merged if id(constraint) not in gone), over

    def _found(self, number: int, message: BaseMessage) -> Sequence[Constraint]:
        """The constraints and exact values of a message, with its number."""
        if self._settings.detector is find_constraints:
            return find_constraints(message, number=number)
        found = self._settings.detector(message)
        return [one if one.number is not None else replace(one, number=number) for one in found]

    # --- what is told -------------------------------------------------------------------------------------------------

    def _tell(self, event: MemoryEvent) -> Tell:
        return Tell(event, self._settings.hooks)

    def _failed(self, session: Session, error: SummarizationError, messages: int) -> Tell:
        failing = self._settings.breaker.fail(session.session_id, self._settings.clock())
        event = CompactionFailed(
            session_id=session.session_id,
            error=error,
            failures=failing.failures,
            retry_at=failing.retry_at,
            messages=messages,
        )
        return self._tell(event)

    def _episode(self, session: Session, node: SummaryNode) -> EpisodeHandedOn:
        return EpisodeHandedOn(
            session_id=session.session_id,
            text=node.text,
            first=node.first,
            last=node.last,
            created_at=node.created_at,
        )

    def _quotations(self, session: Session, over: Sequence[Constraint], language: str) -> EpisodeHandedOn:
        numbers = [constraint.number for constraint in over if constraint.number is not None]
        return EpisodeHandedOn(
            session_id=session.session_id,
            text=render_constraints(over, "zh" if language == "zh" else "en"),
            first=min(numbers, default=0),
            last=max(numbers, default=0),
            constraints=tuple(constraint.text for constraint in over),
            created_at=self._settings.clock(),
        )

    def _compaction(self, session: Session, writer: Writer, work: _Work) -> Compaction:
        rendered = session.rendered
        numbers = [number for number, _ in work.removed]
        return Compaction(
            session_id=session.session_id,
            summary=rendered.body if rendered else "",
            removed=tuple(message for _, message in work.removed),
            first=min(numbers),
            last=max(numbers),
            tokens_before=work.tokens_before,
            tokens_after=self._showing.size(session, work.leading).tokens,
            levels=tuple(node.level for node in session.nodes),
            constraints=rendered.quoted if rendered else 0,
            seconds=time.perf_counter() - work.started,
            calls=writer.calls,
            summarizer_tokens=writer.read,
            summary_tokens=writer.written,
            fallback=work.fallback,
        )
