"""How one request is put together: what each tier has, how the budget is divided, and what it looks like then."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, SystemMessage
from langchain_core.runnables import RunnableConfig

from langchain_tiered_memory._sync import BLOCKING, Caller
from langchain_tiered_memory.context.budget import ContextBudget, Tier
from langchain_tiered_memory.context.rendering import INSTRUCTION, Layout, fit_episodes, fit_facts
from langchain_tiered_memory.context.report import PARTS, ContextReport, Evicted, Part, Recalled
from langchain_tiered_memory.context.request import ContextRequest, newest_turn, query_of, without_removed
from langchain_tiered_memory.errors import BudgetExceededError, MemoryStoreError
from langchain_tiered_memory.events import EventHook, aemit, emit
from langchain_tiered_memory.messages.matching import Matched
from langchain_tiered_memory.messages.protocol import is_summary, kind_of, leading_system
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.trimming import Oversized, Pin, trim_messages
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.append import append_new
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.memory import SummaryMemory, View
from langchain_tiered_memory.working.log import MessageLog

if TYPE_CHECKING:
    from langchain_tiered_memory.semantic.records import Fact

__all__ = ["Assembled", "Assembly", "FactLister", "RecallCache", "Recaller", "Tiers"]

_REMEMBERED: Final = 256


class Recaller(Protocol):
    """What recalls episodes: `EpisodicMemory`."""

    def recall(self, query: str, *, scope: MemoryScope, k: int) -> list[Document]:
        """The episodes that match a text best."""
        ...

    async def arecall(self, query: str, *, scope: MemoryScope, k: int) -> list[Document]:
        """`recall`, awaited."""
        ...


class FactLister(Protocol):
    """What holds facts: a `FactStore`."""

    def list(self, scope: MemoryScope) -> Sequence[Fact]:
        """The facts that hold now."""
        ...

    async def alist(self, scope: MemoryScope) -> Sequence[Fact]:
        """`list`, awaited."""
        ...


class RecallCache:
    """What was recalled for the newest user turns, so that a turn with many tool calls is answered by one recall.

    The prompt of a tool loop only grows at its end: recalled anew at each step, it would change in its middle.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_turn: OrderedDict[tuple[MemoryScope, *tuple[object, ...]], list[Document]] = OrderedDict()

    def __reduce__(self) -> tuple[type[RecallCache], tuple[()]]:
        return (type(self), ())

    def get(self, key: tuple[MemoryScope, *tuple[object, ...]]) -> list[Document] | None:
        """What was recalled for a turn, if it is still known."""
        return self._by_turn.get(key)

    def put(self, key: tuple[MemoryScope, *tuple[object, ...]], documents: list[Document]) -> None:
        """Keep what was recalled for a turn."""
        with self._lock:
            self._by_turn[key] = documents
            self._by_turn.move_to_end(key)
            while len(self._by_turn) > _REMEMBERED:
                self._by_turn.popitem(last=False)

    def forget(self, scope: MemoryScope) -> None:
        """Let go of what was recalled for a user, because it is erased."""
        with self._lock:
            for key in [key for key in self._by_turn if key[0].user_key == scope.user_key]:
                del self._by_turn[key]


@dataclass(frozen=True, slots=True)
class Tiers:
    """What an assembler was given, checked; see `ContextAssembler`.

    Attributes:
        budget: What a request may take.
        meter: Counts, tools included.
        summary: Makes the view of a session; `None` to trim the list that comes in.
        episodes: Recalls.
        facts: Lists.
        procedures: Stand in the system prompt, whole.
        k: How many episodes at most.
        min_score: What an episode must score at least.
        recall: What else `recall` is given.
        pin: Which messages always stay, where there is no summary.
        oversized: What to do with a unit that alone exceeds the budget, likewise.
        hooks: Called with each report.
        session_key: The name of a session in the log, by its id and whose it is.
        needs_session: Whether a call must name a session, because a log was given.
        log: Holds the messages instead of the summary's own log.
        stage: What was recalled for a turn at one stage is recalled anew at the next.
        cache: What was recalled for the newest turns.
    """

    budget: ContextBudget
    meter: BudgetCounter
    summary: SummaryMemory | None
    episodes: Recaller | None
    facts: FactLister | None
    procedures: ProceduralMemory | None
    k: int
    min_score: float
    recall: Mapping[str, Any]
    pin: Pin | None
    oversized: Oversized
    hooks: tuple[EventHook, ...]
    session_key: Callable[[str, MemoryScope | None], str]
    needs_session: bool = False
    log: MessageLog | None = None
    stage: int = 0
    cache: RecallCache = field(default_factory=RecallCache)

    @property
    def need_scope(self) -> bool:
        """Whether a call must say whose memory it is about."""
        return self.episodes is not None or self.facts is not None

    def head(self, leading: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The system messages with the procedures and the instruction about memories in the first of them."""
        first = leading[0] if leading else None
        if self.procedures is not None:
            first = self.procedures.system_message(cast("SystemMessage | None", first))
        if self.need_scope:
            first = _with_instruction(first)
        return [*([first] if first is not None else []), *leading[1:]]


def _with_instruction(system: BaseMessage | None) -> BaseMessage:
    if system is None:
        return SystemMessage(INSTRUCTION)
    content = system.content
    joined: str | list[str | dict[str, Any]]
    if isinstance(content, str):
        if content.endswith(INSTRUCTION):
            return system
        joined = f"{content}\n\n{INSTRUCTION}" if content else INSTRUCTION
    else:
        joined = [*content, {"type": "text", "text": INSTRUCTION}]
    return system.model_copy(update={"content": joined})


@dataclass(frozen=True, slots=True)
class Assembled:
    """A request, and the report of what is in it.

    Attributes:
        messages: What goes to the model.
        report: What of it belongs to which tier, and what is not in it.
    """

    messages: list[BaseMessage]
    report: ContextReport


class Assembly:
    """Puts a request together.

    Args:
        tiers: What there is.
        caller: Calls stores and models, blocking or awaited.
        config: Gives the configuration of a summarizer's runs, where there is one.
    """

    def __init__(self, tiers: Tiers, caller: Caller, config: Callable[[], RunnableConfig]) -> None:
        self._tiers = tiers
        self._caller = caller
        self._config = config
        self._degraded: list[str] = []

    async def of(self, request: ContextRequest) -> Assembled:
        """Append what is new of a request to the log, and put together what goes to the model.

        Raises:
            BudgetExceededError: What may not be left out is larger than the budget.
            ValueError: There is a log, and no session is named.
        """
        tiers, meter = self._tiers, self._tiers.meter
        matched = await self._appended(request)
        asked = matched.new if query_of(matched.new).strip() else request.messages
        facts = await self._facts(request)
        documents = await self._recalled(request, newest_turn(asked))
        reminders = [message for message in matched.again if kind_of(message) == "system"]
        again = [message for message in matched.again if kind_of(message) != "system"]
        avail = tiers.budget.limit - meter.tools - meter.messages(tiers.head(())) - meter.messages(matched.again)
        wanted: dict[Tier, int] = {
            "facts": fit_facts(facts, avail, meter).tokens,
            "episodes": fit_episodes(documents, avail, meter, query_of(asked)).tokens,
        }
        shown = await self._view(request, matched, wanted, avail)
        said = [message for message in leading_system(shown.messages) if not is_summary(message)]
        head = tiers.head([*said, *reminders])
        view = [*shown.messages[len(said) :], *again]
        left = tiers.budget.limit - meter.view([*head, *view])
        if left < 0:
            raise self._too_large(-left)
        known = fit_facts(facts, tiers.budget.divide(left, wanted)["facts"], meter)
        if facts and not known.chosen:  # none is cut, so one that is larger than its share may take half of the room
            known = fit_facts(facts, left // 2, meter)
        documents = [document for document in documents if not _is_shown(document, shown, request)]
        layout = Layout(head, known, view, fit_episodes(documents, left - known.tokens, meter, query_of(asked)))
        report = self._report(request, layout, shown, len(said))
        await self._caller.call(emit, aemit, report, tiers.hooks)
        return Assembled(layout.messages, report)

    # --- what the tiers have ------------------------------------------------------------------------------------------

    async def _appended(self, request: ContextRequest) -> Matched:
        """What of the request is new, once the log has it; where there is no session, all of it is."""
        tiers = self._tiers
        if tiers.summary is None or (request.session_id is None and not tiers.needs_session):
            return Matched((), [], [])
        if request.session_id is None:
            msg = 'there is a log and no session: pass {"configurable": {"session_id": ...}}'
            raise ValueError(msg)
        log = tiers.log or tiers.summary.message_log
        store = log.blocking if self._caller is BLOCKING else log.awaited
        name = tiers.session_key(request.session_id, request.scope)
        matched = await append_new(store, name, request.messages, own_ids=request.own_ids)
        if request.appended is not None:
            request.appended(matched.new)
        return matched

    async def _facts(self, request: ContextRequest) -> Sequence[Fact]:
        facts = self._tiers.facts
        if facts is None or request.scope is None:
            return []
        try:
            return await self._caller.call(facts.list, facts.alist, request.scope)
        except MemoryStoreError as error:
            self._degraded.append(f"facts: {error}")
            return []

    async def _recalled(self, request: ContextRequest, turn: Sequence[BaseMessage]) -> list[Document]:
        tiers = self._tiers
        query = query_of(turn)
        if tiers.episodes is None or request.scope is None or not query.strip():
            return []
        key = (request.scope, request.session_id, turn[0].id, query, tiers.stage)
        is_under_way = len(turn) > 1
        known = tiers.cache.get(key) if is_under_way else None
        if known is not None:
            return known
        options: dict[str, Any] = {"scope": request.scope.whole_user(), "k": tiers.k, **tiers.recall}
        try:
            found = await self._caller.call(tiers.episodes.recall, tiers.episodes.arecall, query, **options)
        except MemoryStoreError as error:
            self._degraded.append(f"episodes: {error}")
            return []
        documents = [document for document in found if _score_of(document) >= tiers.min_score]
        tiers.cache.put(key, documents)
        return documents

    async def _view(self, request: ContextRequest, matched: Matched, wanted: dict[Tier, int], avail: int) -> View:
        """The working tier's messages within what the others leave to it."""
        sure = self._tiers.budget.divide(avail, {**wanted, "summary": avail, "window": avail})
        turn = newest_turn(request.messages)
        # The newest turn goes before facts and episodes, which take what it leaves.
        least = min(avail, self._tiers.meter.view(turn) - self._tiers.meter.tools)
        room = max(avail - sure["facts"] - sure["episodes"], least)
        try:
            try:
                return await self._working(request, matched, room)
            except BudgetExceededError:
                if room >= avail:
                    raise
            return await self._working(request, matched, avail)
        except BudgetExceededError as error:
            raise self._too_large(error.over) from error  # in figures of the whole request, which can be set

    async def _working(self, request: ContextRequest, matched: Matched, room: int) -> View:
        tiers, summary = self._tiers, self._tiers.summary
        if room < 1:
            raise self._too_large(1 - room)
        if summary is None:
            trimmed = trim_messages(
                without_removed(request.messages),
                max_tokens=room,
                token_counter=tiers.meter.counter,
                include_system=True,
                pin=tiers.pin,
                oversized=tiers.oversized,
            )
            return View(trimmed)
        name, messages = None, without_removed(request.messages)
        if request.session_id is not None:  # whose log has the rest
            name, messages = tiers.session_key(request.session_id, request.scope), matched.leading
        view, aview = summary.view_within, summary.aview_within
        shown = await self._caller.call(view, aview, messages, name, self._config, room=room, log=tiers.log)
        if matched.new:  # what others have asked in this session since is answered by their own calls
            own = matched.new[-1].id
            end = next((place for place, one in enumerate(shown.messages, start=1) if one.id == own), None)
            shown = View(shown.messages[:end], shown.first)
        return shown

    def _too_large(self, over: int) -> BudgetExceededError:
        limit = self._tiers.budget.limit
        return BudgetExceededError.of("what must be in the request", needed=limit + over, limit=limit)

    # --- the report ---------------------------------------------------------------------------------------------------

    def _report(self, request: ContextRequest, layout: Layout, shown: View, leading: int) -> ContextReport:
        tiers, meter = self._tiers, self._tiers.meter
        tokens: dict[Part, int] = dict.fromkeys(PARTS, 0)
        tokens["tools"] = meter.tools
        tokens["procedures"] = meter.text(tiers.procedures.render()) if tiers.procedures is not None else 0
        tokens["system"] = meter.view(layout.head) - tokens["tools"] - tokens["procedures"]
        tokens["facts"] = layout.facts.tokens
        tokens["summary"] = meter.messages(layout.summaries)
        tokens["window"] = meter.messages(layout.rounds)
        tokens["episodes"] = layout.episodes.tokens
        tokens["turn"] = meter.messages(layout.turn)
        return ContextReport(
            session_id=request.session_id or "",
            tokens=tokens,
            limit=tiers.budget.limit,
            reserve=tiers.budget.reserve,
            evicted=tuple(self._evicted(request, layout, shown, leading)),
            recalled=tuple(_recalled_of(document, meter) for document in layout.episodes.chosen),
            degraded=tuple(self._degraded),
            faults=tuple(fault.detail for fault in validate_messages(layout.messages)),
            fingerprint=layout.fingerprint(),
        )

    def _evicted(self, request: ContextRequest, layout: Layout, shown: View, leading: int) -> Iterable[Evicted]:
        meter = self._tiers.meter
        if self._tiers.summary is None:
            gone = len(without_removed(request.messages)) - leading - len(layout.view)
            if gone > 0:
                yield Evicted("window", f"{gone} messages", "the oldest go first")
        if shown.first is not None and shown.first > leading + 1:
            reason = "it is in the summary" if layout.summaries else "the oldest go first, and there is no summary yet"
            yield Evicted("window", f"what was said before message {shown.first}", reason)
        for document in layout.episodes.shortened:
            reason = f"cut from {meter.text(document.page_content):,} tokens to what matches the question"
            yield Evicted("episodes", str(document.id), reason, document.page_content)
        for document in layout.episodes.left_out:
            yield Evicted("episodes", str(document.id), "no room", document.page_content)
        for fact in layout.facts.left_out:
            yield Evicted("facts", f"{fact.entity}.{fact.attribute}", "no room", str(fact.value))


def _is_shown(document: Document, view: View, request: ContextRequest) -> bool:
    """Whether an episode stands in the view word for word anyway."""
    about = document.metadata
    return (
        view.first is not None
        and about.get("kind") == "round"
        and about.get("session") == request.session_id
        and int(about.get("first") or 0) >= view.first
    )


def _score_of(document: Document) -> float:
    return float(document.metadata.get("score", 1.0))


def _recalled_of(document: Document, meter: BudgetCounter) -> Recalled:
    said = document.metadata.get("created_at")
    created_at = datetime.fromisoformat(said) if isinstance(said, str) else said
    text = document.page_content
    return Recalled(str(document.id), _score_of(document), created_at, meter.text(text), text)
