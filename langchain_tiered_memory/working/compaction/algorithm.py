"""What a summary memory does with a conversation, as coroutines over a small port.

Nothing is committed but by one atomic append of nodes to the log, so a run that is cancelled or killed at any step
leaves the old view or the new one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import RunnableConfig

from langchain_tiered_memory.errors import SummarizationError, VersionConflictError
from langchain_tiered_memory.events import (
    Compaction,
    CompactionFailed,
    CompactionSuperseded,
    EpisodeHandedOn,
    EventHook,
    MemoryEvent,
    RemovalTooLate,
    SummaryLeftOut,
    aemit,
    emit,
)
from langchain_tiered_memory.messages.protocol import is_summary, kind_of
from langchain_tiered_memory.working.compaction.plan import batches, plan_eviction, plan_handoff, plan_merge
from langchain_tiered_memory.working.compaction.session import Numbered, Session, Sessions, leading_system
from langchain_tiered_memory.working.compaction.settings import Settings
from langchain_tiered_memory.working.compaction.view import Viewer, read_summary, summary_frame
from langchain_tiered_memory.working.constraints import (
    Constraint,
    Language,
    dominant_language,
    merge_constraints,
    missing_constraints,
    render_constraints,
)
from langchain_tiered_memory.working.log import LogStore
from langchain_tiered_memory.working.nodes import TOP_LEVEL, SummaryNode, merge_spans, spans_of
from langchain_tiered_memory.working.question import OpenQuestion
from langchain_tiered_memory.working.summarizers import Answer, Request, Summarizer
from langchain_tiered_memory.working.writing import Writer

__all__ = ["AWAITED", "BLOCKING", "Compactor", "Port"]


class Port(Protocol):
    """What a compaction needs besides the log."""

    async def ask(self, summarizer: Summarizer, request: Request, config: RunnableConfig) -> Answer:
        """Have a summary written."""

    async def emit(self, event: MemoryEvent, hooks: Sequence[EventHook]) -> None:
        """Send an event."""


class _Blocking:
    async def ask(self, summarizer: Summarizer, request: Request, config: RunnableConfig) -> Answer:
        return summarizer.run(request, config)

    async def emit(self, event: MemoryEvent, hooks: Sequence[EventHook]) -> None:
        emit(event, hooks)


class _Awaited:
    async def ask(self, summarizer: Summarizer, request: Request, config: RunnableConfig) -> Answer:
        return await summarizer.arun(request, config)

    async def emit(self, event: MemoryEvent, hooks: Sequence[EventHook]) -> None:
        await aemit(event, hooks)


BLOCKING: Port = _Blocking()
AWAITED: Port = _Awaited()


@dataclass(slots=True)
class _Work:
    """One compaction in the making.

    Attributes:
        leading: The system messages of the view.
        tokens_before: What the view took.
        kept: The numbers of the messages that stay.
        question: What is asked at the moment.
        started: When it began, on the performance counter.
        removed: The messages that are summarised by now, with their numbers.
        is_settled: Whether there is nothing left to try.
        is_fallback: Whether the fallback is at work.
    """

    leading: Sequence[BaseMessage]
    tokens_before: int
    kept: frozenset[int]
    question: OpenQuestion
    started: float = field(default_factory=time.perf_counter)
    removed: list[Numbered] = field(default_factory=list)
    is_settled: bool = False
    is_fallback: bool = False


class Compactor:
    """Turns a conversation into its view.

    Args:
        settings: What the memory was told.
        port: Runs summarizers and sends events.
        config: Gives the configuration of the summarizer's runs, once there is one.
    """

    def __init__(self, settings: Settings, port: Port, config: Callable[[], RunnableConfig]) -> None:
        self._settings = settings
        self._port = port
        self._config = config
        self._viewer = Viewer(settings)

    async def of_session(
        self, log: LogStore, session_id: str, messages: Sequence[BaseMessage], sessions: Sessions
    ) -> tuple[list[BaseMessage], Session]:
        """The view of a session, after what is new of a conversation has been appended to its log."""
        leading = leading_system(messages)
        rest = messages[len(leading) :]
        while rest and is_summary(rest[0]):
            rest = rest[1:]
        # Of a view that came back, the prompt may have the summary merged into it: then the log's own is taken.
        leading = tuple(message for message in leading if not is_summary(message))
        known = sessions.get(session_id)
        session = await (Session.read(log, session_id) if known is None else known.refreshed(log))
        known_to = session.version
        session, again = await session.appended(log, leading, rest)
        sessions.put(session)
        if late := await session.late_removals(log, known_to):
            await self._emit(RemovalTooLate(session_id=session_id, message_ids=tuple(late)))
        # A reminder behind the conversation stands with the prompt, where all providers take it.
        leading = (*(leading or session.leading), *(one for one in again if kind_of(one) == "system"))
        again = [message for message in again if kind_of(message) != "system"]
        session = await self._compacted(log, self._viewer.rendered(session), leading)
        sessions.put(session)
        # Whoever passes nothing has the next message: a call that waits for its result would make that one invalid.
        viewer, limit = self._viewer, self._settings.limits.max_tokens
        if again and limit is not None:
            viewer = Viewer(self._settings.within(limit - self._settings.counter.messages(again)))
        return [*await self._told(viewer.view(session, leading, closed=not messages)), *again], session

    async def of_list(self, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The view of a list that belongs to no session; a summary at its start counts as one of what came before."""
        lead = len(leading_system(messages))
        lead += 1 if lead < len(messages) and is_summary(messages[lead]) else 0
        said = [message for message in messages[:lead] if not is_summary(message)]
        read = [read_summary(one, self._settings.detector) for one in messages[:lead] if is_summary(one)]
        nodes = tuple(self._node_of(text) for text, _ in read)
        session = Session.of_list([*said, *messages[lead:]], nodes, [one for _, quoted in read for one in quoted])
        session = self._viewer.rendered(session)
        session = await self._compacted(None, session, session.leading)
        if session.nodes == nodes:
            return await self._told(self._viewer.view_of_list(session, messages))
        return await self._told(self._viewer.view(session, session.leading))

    def _node_of(self, text: str) -> SummaryNode:
        return SummaryNode(1, ((0, 0),), text, self._settings.counter.text(text), self._settings.clock())

    async def _told(self, view: tuple[list[BaseMessage], SummaryLeftOut | None]) -> list[BaseMessage]:
        messages, event = view
        if event is not None:
            await self._emit(event)
        return messages

    async def _emit(self, event: MemoryEvent) -> None:
        await self._port.emit(event, self._settings.hooks)

    # --- whether ------------------------------------------------------------------------------------------------------

    async def _compacted(self, log: LogStore | None, session: Session, leading: Sequence[BaseMessage]) -> Session:
        """The session after a compaction, if one is due and can help."""
        settings = self._settings
        before = self._viewer.size(session, leading)
        if not settings.limits.due(before):
            return session
        shown = session.shown()
        messages = [message for _, message in shown]
        costs = self._viewer.costs(session, shown)
        base = before.tokens - sum(costs) + self._growth(session)
        plan = plan_eviction(messages, costs, settings.limits, base=base, pinned=settings.pinned)
        if plan is None:
            return session
        leaving = [shown[position] for position in plan.leaving]
        kept = frozenset(shown[position][0] for position in plan.kept)
        work = _Work(leading, before.tokens, kept, OpenQuestion(messages, session.constraints))
        if not settings.breaker.is_open(session.session_id, settings.clock()):
            session = await self._summarised(log, session, leaving, settings.summarizer, settings.window, work)
        if work.is_settled or settings.fallback is None:
            return session
        if settings.breaker.failures(session.session_id) >= settings.guard.fallback_after:
            work = replace(work, removed=[], is_fallback=True)
            left = [one for one in leaving if one in session.tail]
            session = await self._summarised(log, session, left, settings.fallback, None, work)
        return session

    def _growth(self, session: Session) -> int:
        """What the summary may take more than now, once one more node is written."""
        merge = plan_merge(session.nodes, self._settings.caps)
        frame = 0 if session.nodes else self._settings.counter.message(summary_frame())
        return frame + merge.cap - sum(node.tokens for node in merge.nodes)

    # --- how ----------------------------------------------------------------------------------------------------------

    async def _summarised(
        self,
        log: LogStore | None,
        session: Session,
        leaving: Sequence[Numbered],
        summarizer: Summarizer,
        window: int | None,
        work: _Work,
    ) -> Session:
        """The session with as many of the leaving messages summarised as the summarizer can manage."""
        settings = self._settings
        writer = Writer(summarizer, self._port.ask, window, settings.counter, self._config())
        for batch in batches([message for _, message in leaving], settings.batch, settings.counter.message):
            some = [leaving[position] for position in batch]
            try:
                records, handed = await self._records(session, some, writer, work)
            except SummarizationError as error:
                await self._failed(session, error, len(leaving) - len(work.removed))
                break
            if log is not None:
                try:
                    await log.append_nodes(session.session_id, records, session.nodes_version)
                except VersionConflictError:
                    work.is_settled = True
                    await self._emit(CompactionSuperseded(session_id=session.session_id, messages=len(some)))
                    session = self._viewer.rendered(await session.refreshed(log))
                    break
            session = self._viewer.rendered(session.with_nodes(records))
            work.removed += some
            for event in handed:
                await self._emit(event)
        else:
            work.is_settled = True
            if not work.is_fallback:
                settings.breaker.succeed(session.session_id)
        if work.removed:
            await self._emit(self._compaction(session, writer, work))
        return session

    async def _records(
        self, session: Session, some: Sequence[Numbered], writer: Writer, work: _Work
    ) -> tuple[list[SummaryNode], list[EpisodeHandedOn]]:
        """The nodes to write for messages that leave, the new summary last, and what is handed on with them.

        Raises:
            SummarizationError: There is no summary that may be used.
        """
        settings = self._settings
        shown = () if session.cleared else session.nodes
        merge = plan_merge(shown, settings.caps)
        messages = tuple(message for _, message in some)
        language = settings.text.language or dominant_language([str(message.text) for message in messages])
        previous = "\n\n".join(node.text for node in merge.nodes)
        text = await writer.write(Request(previous, messages, merge.cap, language))
        # What was cleared away is replaced without being read.
        replaced = session.nodes if session.cleared else merge.nodes
        node = SummaryNode(
            level=merge.level,
            spans=merge_spans([*_covered(session, some, work.kept), *(span for one in replaced for span in one.spans)]),
            text=text,
            tokens=settings.counter.line(text),
            created_at=settings.clock(),
        )
        live = sorted([*(one for one in shown if one not in merge.nodes), node], key=lambda one: one.first)
        old = plan_handoff(live, settings.caps)
        texts = [one.text for one in live if one not in old]
        constraints, over = self._constraints(session, some, texts, work.question)
        handed = [replace(one, handed_on=True) for one in old]
        events = [_episode(session, one) for one in handed]
        if over:
            events.append(self._quotations(session, over, language))
            handed.append(SummaryNode(TOP_LEVEL, (), events[-1].text, 0, node.created_at, handed_on=True))
        return [replace(one, constraints=constraints) for one in (*handed, node)], events

    def _constraints(
        self, session: Session, some: Sequence[Numbered], texts: Sequence[str], question: OpenQuestion
    ) -> tuple[tuple[Constraint, ...], list[Constraint]]:
        """What must survive from now on, and what its share can't hold."""
        known = () if session.cleared else session.constraints
        found = [one for number, message in some for one in self._viewer.found(session, number, message)]
        merged = merge_constraints(known, [*found, *question.lines(some)])
        missing = missing_constraints(merged, "\n\n".join(texts))
        language = self._viewer.language(texts, merged)
        chosen, over = self._viewer.fit(missing, question, self._settings.caps.constraints, language)
        # By identity, since comparing them by value would take longer than finding them.
        gone, whole = set(map(id, over)), set(map(id, merged))
        shortened = [one for one in chosen if id(one) not in whole]
        return (*shortened, *(one for one in merged if id(one) not in gone)), over

    # --- what is told -------------------------------------------------------------------------------------------------

    async def _failed(self, session: Session, error: SummarizationError, messages: int) -> None:
        failing = self._settings.breaker.fail(session.session_id, self._settings.clock())
        event = CompactionFailed(
            session_id=session.session_id,
            error=error,
            failures=failing.failures,
            retry_at=failing.retry_at,
            messages=messages,
        )
        await self._emit(event)

    def _quotations(self, session: Session, over: Sequence[Constraint], language: Language) -> EpisodeHandedOn:
        numbers = [constraint.number for constraint in over if constraint.number is not None]
        return EpisodeHandedOn(
            session_id=session.session_id,
            text=render_constraints(over, language),
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
            tokens_after=self._viewer.size(session, work.leading).tokens,
            levels=tuple(node.level for node in session.nodes),
            constraints=rendered.quoted if rendered else 0,
            seconds=time.perf_counter() - work.started,
            calls=writer.calls,
            summarizer_tokens=writer.read,
            summary_tokens=writer.written,
            fallback=work.is_fallback,
        )


def _covered(session: Session, some: Sequence[Numbered], kept: frozenset[int]) -> tuple[tuple[int, int], ...]:
    """What a summary of some messages stands for; what a RemoveMessage took away before them too, unread."""
    last = some[-1][0]
    unread = {number for number, _ in session.shown()} - {number for number, _ in some}
    numbers = (number for number, _ in session.tail if number <= last and number not in kept)
    return spans_of(number for number in numbers if number not in unread)


def _episode(session: Session, node: SummaryNode) -> EpisodeHandedOn:
    return EpisodeHandedOn(
        session_id=session.session_id,
        text=node.text,
        first=node.first,
        last=node.last,
        created_at=node.created_at,
    )
