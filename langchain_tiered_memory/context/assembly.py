"""How one request is put together: what each tier has, how the budget is divided, and what it looks like then.

Written as a generator that `_driving` runs, sync or async.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_tiered_memory._driving import Call, Steps, Tell
from langchain_tiered_memory.context.budget import Tier
from langchain_tiered_memory.context.layout import Layout, newest_turn
from langchain_tiered_memory.context.rendering import fit_episodes, fit_facts
from langchain_tiered_memory.context.report import PARTS, ContextReport, Evicted, Part, Recalled
from langchain_tiered_memory.context.requests import ContextRequest
from langchain_tiered_memory.context.tiers import Tiers
from langchain_tiered_memory.errors import BudgetExceededError, MemoryStoreError
from langchain_tiered_memory.messages.protocol import is_summary, is_user_turn
from langchain_tiered_memory.messages.trimming import trim_messages
from langchain_tiered_memory.messages.units import validate_messages
from langchain_tiered_memory.messages.window import leading_system
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.memory import View

__all__ = ["Assembled", "Assembly"]


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
    """Puts requests together.

    Args:
        tiers: What there is.
        config: Gives the configuration of a summarizer's runs, where there is one.
    """

    def __init__(self, tiers: Tiers, config: Callable[[], RunnableConfig]) -> None:
        self._tiers = tiers
        self._config = config
        self._degraded: list[str] = []

    def of(self, request: ContextRequest) -> Steps[Assembled]:
        """Put a request together.

        Raises:
            BudgetExceededError: What may not be left out is larger than the budget.
        """
        tiers, meter = self._tiers, self._tiers.meter
        facts = yield from self._facts(request)
        documents = yield from self._recalled(request)
        avail = tiers.budget.limit - meter.tools - meter.messages(tiers.head(()))
        wanted: dict[Tier, int] = {
            "facts": fit_facts(facts, avail, meter.message).tokens,
            "episodes": fit_episodes(documents, avail, meter.message).tokens,
        }
        shown = yield from self._view(request, wanted, avail)
        view = shown.messages
        said = [message for message in leading_system(view) if not is_summary(message)]
        head = tiers.head(said)
        left = tiers.budget.limit - meter.view([*head, *view[len(said) :]])
        if left < 0:
            raise self._too_large(-left)
        known = fit_facts(facts, tiers.budget.divide(left, wanted)["facts"], meter.message)
        documents = [document for document in documents if not _is_shown(document, shown, request)]
        quoted = fit_episodes(documents, left - known.tokens, meter.message)
        layout = Layout(head, len(said), known, view[len(said) :], quoted)
        report = self._report(request, layout, shown)
        yield Tell(report, tiers.hooks)
        return Assembled(layout.messages, report)

    # --- what the tiers have ------------------------------------------------------------------------------------------

    def _facts(self, request: ContextRequest) -> Steps[list[Any]]:
        if self._tiers.facts is None or request.scope is None:
            return []
        try:
            facts: list[Any] = yield Call(self._tiers.facts, "list", (request.scope,))
        except MemoryStoreError as error:
            self._degraded.append(f"facts: {error}")
            return []
        return facts

    def _recalled(self, request: ContextRequest) -> Steps[list[Document]]:
        tiers = self._tiers
        if tiers.episodes is None or request.scope is None or not request.query.strip():
            return []
        newest = next(message for message in reversed(request.messages) if is_user_turn(message))
        key = (request.scope, request.session_id, newest.id, request.query, tiers.stage)
        under_way = newest is not request.messages[-1]
        known = tiers.recollections.get(key) if under_way else None
        if known is not None:
            return known
        scope = request.scope.whole_user()
        try:
            documents: list[Document] = yield Call(
                tiers.episodes, "recall", (request.query,), {"scope": scope, "k": tiers.k, **tiers.recall}
            )
        except MemoryStoreError as error:
            self._degraded.append(f"episodes: {error}")
            return []
        tiers.recollections.put(key, documents)
        return documents

    def _view(self, request: ContextRequest, wanted: dict[Tier, int], avail: int) -> Steps[View]:
        """The working tier's messages within what the others leave to it."""
        sure = self._tiers.budget.divide(avail, {**wanted, "summary": avail, "window": avail})
        turn = newest_turn(request.messages)
        # The newest turn goes before facts and episodes, which take what it leaves.
        room = max(
            avail - sure["facts"] - sure["episodes"], min(avail, self._tiers.meter.view(turn) - self._tiers.meter.tools)
        )
        try:
            try:
                return (yield from self._working(request, room))
            except BudgetExceededError:
                if room >= avail:
                    raise
            return (yield from self._working(request, avail))
        except BudgetExceededError as error:
            raise self._too_large(error.over) from error  # in figures of the whole request, which can be set

    def _working(self, request: ContextRequest, room: int) -> Steps[View]:
        tiers = self._tiers
        if room < 1:
            raise self._too_large(1 - room)
        if tiers.summary is None:
            trimmed = trim_messages(
                request.messages,
                max_tokens=room,
                token_counter=tiers.meter.counter,
                include_system=True,
                pin=tiers.pin,
                oversized=tiers.oversized,
            )
            return View(trimmed)
        if request.session_id is None and tiers.needs_session:
            msg = 'there is a log and no session: pass {"configurable": {"session_id": ...}}'
            raise ValueError(msg)
        session_id = None if request.session_id is None else tiers.session_key(request.session_id, request.scope)
        options = {"room": room, "log": tiers.log}
        view: View = yield Call(tiers.summary, "view_within", (request.messages, session_id, self._config), options)
        return view

    def _too_large(self, over: int) -> BudgetExceededError:
        limit = self._tiers.budget.limit
        return BudgetExceededError.of("what must be in the request", needed=limit + over, limit=limit)

    # --- what is told -------------------------------------------------------------------------------------------------

    def _report(self, request: ContextRequest, layout: Layout, shown: View) -> ContextReport:
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
            evicted=tuple(self._evicted(request, layout, shown)),
            recalled=tuple(_recalled_of(document, meter) for document in layout.episodes.chosen),
            degraded=tuple(self._degraded),
            faults=tuple(fault.detail for fault in validate_messages(layout.messages)),
            fingerprint=layout.fingerprint(),
        )

    def _evicted(self, request: ContextRequest, layout: Layout, shown: View) -> Iterable[Evicted]:
        gone = len(request.messages) - layout.leading - len(layout.view)
        if self._tiers.summary is None and gone > 0:
            yield Evicted("window", f"{gone} messages", "the oldest go first")
        if shown.first is not None and shown.first > layout.leading + 1:
            reason = "it is in the summary" if layout.summaries else "the oldest go first, and there is no summary yet"
            yield Evicted("window", f"what was said before message {shown.first}", reason)
        for document in layout.episodes.left_out:
            yield Evicted("episodes", str(document.id), "no room for what matches less", document.page_content)
        for fact in layout.facts.left_out:
            yield Evicted("facts", f"{fact.entity}.{fact.attribute}", "no room for older facts")


def _is_shown(document: Document, view: View, request: ContextRequest) -> bool:
    """Whether an episode stands in the view word for word anyway."""
    about = document.metadata
    return (
        view.first is not None
        and about.get("kind") == "round"
        and about.get("session") == request.session_id
        and int(about.get("first") or 0) >= view.first
    )


def _recalled_of(document: Document, meter: BudgetCounter) -> Recalled:
    score = float(document.metadata.get("score", 0.0))
    said = document.metadata.get("created_at")
    created_at = datetime.fromisoformat(said) if isinstance(said, str) else said
    text = document.page_content
    return Recalled(str(document.id), score, created_at, meter.text(text), text)
