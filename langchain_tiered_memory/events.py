"""What happened inside the memory, as data: sent to hooks, to `logging` and to LangChain's callbacks.

A memory works behind the caller's back: it appends after the answer has gone out, and cuts before the model is called.
What it did there, and above all what failed there, is told as an event. Nothing global is registered; whoever wants
events passes hooks to the object that has them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from langchain_core.callbacks import BaseCallbackHandler, adispatch_custom_event, dispatch_custom_event
from langchain_core.runnables.config import ensure_config, get_callback_manager_for_config, var_child_runnable_config

from langchain_tiered_memory._bubble import bubble_html, gist

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = [
    "AnswerInterrupted",
    "AppendFailed",
    "Compaction",
    "CompactionFailed",
    "CompactionSuperseded",
    "EpisodeHandedOn",
    "EpisodesForgotten",
    "EpisodesRecalled",
    "EpisodesRemembered",
    "EpisodicEvent",
    "EventData",
    "EventHook",
    "MemoryCallbackHandler",
    "MemoryEvent",
    "RecallDegraded",
    "RemovalTooLate",
    "SummaryLeftOut",
    "ViewCut",
    "aemit",
    "emit",
]

logger = logging.getLogger("langchain_tiered_memory")
_MESSAGES = ("messages", "removed")
"""Fields that hold messages, of which callbacks get the ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """Something that happened to the memory of a session.

    Attributes:
        session_id: The session; "" where a memory without sessions worked on a list.
        name: What LangChain's callbacks know the event by.
        level: How loud it is in `logging`.
    """

    session_id: str
    name: ClassVar[str] = "tiered_memory.event"
    level: ClassVar[int] = logging.INFO

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}"

    def data(self) -> dict[str, Any]:
        """The fields as plain data, without the text of messages: callbacks often go to a tracing service."""
        return {field.name: _plain(field.name, getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class AppendFailed(MemoryEvent):
    """Messages could not be stored, and whoever sent them may never learn of it.

    `RunnableWithMessageHistory` swallows the exception of a failed append, so this is where it shows.

    Attributes:
        messages: What was not stored; a hook may keep it elsewhere.
        error: Why.
    """

    messages: tuple[BaseMessage, ...]
    error: Exception
    name: ClassVar[str] = "tiered_memory.append_failed"
    level: ClassVar[int] = logging.ERROR

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}: {len(self.messages)} messages were not stored: {self.error!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerInterrupted(MemoryEvent):
    """A stream was closed before its end; what had come of the answer is stored and marked incomplete."""

    name: ClassVar[str] = "tiered_memory.answer_interrupted"

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}: the stream was closed early, the answer is stored as incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewCut(MemoryEvent):
    """The newest turn alone was larger than the budget, so its text was cut in the view; the log has all of it.

    Attributes:
        needed: Tokens (or messages) that it takes.
        limit: What the budget allows.
    """

    needed: int
    limit: int
    name: ClassVar[str] = "tiered_memory.view_cut"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return (
            f"session {self.session_id!r}: the newest turn takes {self.needed} of a budget of {self.limit}, "
            "its text was cut in the view"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction(MemoryEvent):
    """Messages left the window, and a summary has taken their place in the view; the log still has all of them.

    Attributes:
        summary: The whole text that now stands in the view for what left the window, in this compaction and before.
        removed: The messages that left the window now.
        first: The number of the oldest message that left the window now.
        last: The number of the newest of them.
        tokens_before: Tokens of the view before, as it would have been sent.
        tokens_after: Tokens of the view that was sent instead.
        levels: The levels of the summary nodes in the view, oldest first: 3 for the coarsest, 1 for the newest.
        constraints: How many constraints and exact values stand verbatim below the summary, since its text lacks them.
        seconds: How long it took, the summarizer included.
        calls: Calls of the summarizer.
        summarizer_tokens: Tokens that the summarizer was given.
        summary_tokens: Tokens that it wrote.
        fallback: Whether the fallback wrote the summary, because the summarizer kept failing.
    """

    summary: str
    removed: tuple[BaseMessage, ...]
    first: int
    last: int
    tokens_before: int
    tokens_after: int
    levels: tuple[int, ...] = ()
    constraints: int = 0
    seconds: float = 0.0
    calls: int = 0
    summarizer_tokens: int = 0
    summary_tokens: int = 0
    fallback: bool = False
    name: ClassVar[str] = "tiered_memory.compaction"

    @property
    def saved(self) -> float:
        """The share of the view's tokens that was saved, from 0 to 1; below 0 where it grew."""
        return 1 - self.tokens_after / self.tokens_before if self.tokens_before else 0.0

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}: {gist(self)}"

    def _repr_html_(self) -> str:
        """What a notebook shows: a bubble with the summary folded in it."""
        return bubble_html(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionFailed(MemoryEvent):
    """A summary could not be had, so nothing was changed: a deterministic trim keeps the budget until the next try.

    Attributes:
        error: Why.
        failures: How many tries have failed in a row.
        retry_at: No other try is made before this time, in UTC.
        messages: How many messages were to leave the window.
    """

    error: Exception
    failures: int
    retry_at: datetime
    messages: int
    name: ClassVar[str] = "tiered_memory.compaction_failed"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return (
            f"session {self.session_id!r}: {self.messages} messages were not summarised: {self.error!r}; "
            f"next try after {self.retry_at.isoformat(timespec='seconds')}"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionSuperseded(MemoryEvent):
    """Another compaction of the session was committed first, so this one was dropped; nothing is lost.

    Attributes:
        messages: How many messages it had summarised.
    """

    messages: int
    name: ClassVar[str] = "tiered_memory.compaction_superseded"

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}: a summary of {self.messages} messages came second and was dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryLeftOut(MemoryEvent):
    """The newest turn does not fit the budget beside the summary, so the view was sent without the summary this once.

    Attributes:
        needed: Tokens that both take.
        limit: What the budget allows.
    """

    needed: int
    limit: int
    name: ClassVar[str] = "tiered_memory.summary_left_out"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return (
            f"session {self.session_id!r}: summary and newest turn take {self.needed} of a budget of {self.limit}, "
            "the summary was left out of this view"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovalTooLate(MemoryEvent):
    """Messages were to be removed that a summary has taken the place of, so that what it says of them stays.

    A summary is not written anew for it: the messages it was made of left the view long ago, and the coarser ones
    stand for most of the conversation. Erasing the session takes everything away.

    Attributes:
        message_ids: The ids of the messages.
    """

    message_ids: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.removal_too_late"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return (
            f"session {self.session_id!r}: {', '.join(map(repr, self.message_ids))} cannot be removed any more: "
            "summarised already, and in the log until the session is erased"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeHandedOn(MemoryEvent):
    """Something left the summary for good, because its share of the budget is full; long-term memory may keep it.

    Attributes:
        text: What left: the text of an old summary node, or constraints and exact values, one quoted line each.
        first: The number of the first message that it stands for.
        last: The number of the last one.
        constraints: The constraints and exact values in it, verbatim; `()` for a summary node.
        created_at: When it was written, in UTC.
    """

    text: str
    first: int
    last: int
    constraints: tuple[str, ...] = ()
    created_at: datetime
    name: ClassVar[str] = "tiered_memory.episode_handed_on"

    def describe(self) -> str:
        """Say it in one line."""
        what = f"{len(self.constraints)} constraints" if self.constraints else f"{len(self.text)} characters of summary"
        return f"session {self.session_id!r}: {what} of messages {self.first} to {self.last} left the summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicEvent(MemoryEvent):
    """Something that happened to a user's episodes; `session_id` is "" where it is about all their sessions.

    Attributes:
        tenant_id: The tenant.
        user_id: The user.
    """

    tenant_id: str
    user_id: str
    name: ClassVar[str] = "tiered_memory.episodes"
    level: ClassVar[int] = logging.DEBUG

    def describe(self) -> str:
        """Say it in one line."""
        session = f", session {self.session_id!r}" if self.session_id else ""
        return f"user {self.user_id!r}{session}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesRemembered(EpisodicEvent):
    """Episodes were written.

    Attributes:
        ids: Their ids.
    """

    ids: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.episodes_remembered"

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {len(self.ids)} episodes remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesRecalled(EpisodicEvent):
    """A question was answered from the episodes.

    Attributes:
        ids: The ids of what was given, best first.
        seconds: How long it took, the embedding of the question included.
    """

    ids: tuple[str, ...]
    seconds: float
    name: ClassVar[str] = "tiered_memory.episodes_recalled"

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {len(self.ids)} episodes recalled in {self.seconds * 1_000:.0f} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesForgotten(EpisodicEvent):
    """Episodes were deleted for good.

    Attributes:
        count: How many.
    """

    count: int
    name: ClassVar[str] = "tiered_memory.episodes_forgotten"
    level: ClassVar[int] = logging.INFO

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {self.count} episodes forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDegraded(EpisodicEvent):
    """The embedding model failed, so a question was answered by its words alone.

    Attributes:
        error: Why.
    """

    error: Exception
    name: ClassVar[str] = "tiered_memory.recall_degraded"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: recalled by words alone: {self.error}"


class EventHook(Protocol):
    """Whatever can be called with an event; it is called where the event happens, so it should be quick."""

    def __call__(self, event: MemoryEvent, /) -> object:
        """Take note of an event. What it raises reaches whoever caused the event."""


class EventData(dict[str, Any]):
    """What an event sends to LangChain's callbacks: its fields as plain data, and `event`, the event itself."""

    def __init__(self, event: MemoryEvent) -> None:
        super().__init__(event.data())
        self.event = event


class MemoryCallbackHandler(BaseCallbackHandler):
    """Collects what happened in the memory during runs, and tells a function of it.

    Callbacks are how a LangChain application watches a chain from outside, without reaching the objects inside that
    have hooks. The same handler may be a hook too; an event that comes both ways counts once.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import MemoryCallbackHandler, SummaryMemory

    seen = MemoryCallbackHandler()
    SummaryMemory(max_tokens=1_000).invoke([HumanMessage("Hello")], {"callbacks": [seen]})
    assert seen.compactions == []  # nothing had to go
    ```

    Args:
        on_event: Called with each event, for instance to print a compaction.
    """

    run_inline = True  # in the order in which things happen

    def __init__(self, on_event: Callable[[MemoryEvent], object] | None = None) -> None:
        super().__init__()
        self.events: list[MemoryEvent] = []
        self._on_event = on_event

    @property
    def compactions(self) -> list[Compaction]:
        """The compactions among the events, oldest first."""
        return [event for event in self.events if isinstance(event, Compaction)]

    def __call__(self, event: MemoryEvent, /) -> None:
        """Take note of an event, as a hook."""
        if any(event is known for known in self.events[-8:]):  # it has come by the other way
            return
        self.events.append(event)
        if self._on_event is not None:
            self._on_event(event)

    def on_custom_event(
        self,
        name: str,  # noqa: ARG002  # LangChain's signature
        data: Any,  # noqa: ANN401  # as above
        **_: Any,  # noqa: ANN401  # as above
    ) -> None:
        """Take note of an event, as a callback; custom events of others are left alone."""
        if isinstance(data, EventData):
            self(data.event)


def emit(event: MemoryEvent, hooks: Iterable[EventHook] = ()) -> None:
    """Send an event to `logging`, to the callbacks of the run that this is part of, and to hooks."""
    logger.log(event.level, "%s", event.describe())
    if _in_run():
        dispatch_custom_event(event.name, EventData(event))
    for hook in hooks:
        hook(event)


async def aemit(event: MemoryEvent, hooks: Iterable[EventHook] = ()) -> None:
    """`emit` on an event loop, where async callbacks are awaited."""
    logger.log(event.level, "%s", event.describe())
    if _in_run():
        await adispatch_custom_event(event.name, EventData(event))
    for hook in hooks:
        hook(event)


def _in_run() -> bool:
    """Whether a LangChain run is under way here; outside of one, a custom event is an error."""
    if var_child_runnable_config.get() is None:  # and to look further would import langsmith, which takes its time
        return False
    return get_callback_manager_for_config(ensure_config()).parent_run_id is not None


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401  # any field of an event
    if isinstance(value, Exception):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [message.id for message in value] if name in _MESSAGES else list(value)
    return value
