"""Events of the working tier: what was stored and compacted of a session, and what was not."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, ClassVar, Final

from langchain_tiered_memory._texts import counted
from langchain_tiered_memory.events.event import MemoryEvent

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = [
    "AnswerInterrupted",
    "AppendFailed",
    "Compaction",
    "CompactionFailed",
    "CompactionSuperseded",
    "EpisodeHandedOn",
    "HookFailed",
    "RemovalTooLate",
    "StoredInPart",
    "SummaryLeftOut",
    "ViewCut",
]

_BUBBLE: Final = (
    '<div style="border:1px solid #8b5cf6;border-left-width:5px;border-radius:8px;background:rgba(139,92,246,.12);'
    'color:inherit;padding:.5em .9em;margin:.5em 0;max-width:60em;font-family:system-ui,sans-serif">'
    '<details><summary style="cursor:pointer;font-weight:600">{headline}</summary>'
    '<div style="opacity:.75;margin:.4em 0">{figures}</div>'
    '<pre dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;border:0;'
    'margin:.4em 0;padding:0;font:inherit">{summary}</pre></details></div>'
)


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
class StoredInPart(MemoryEvent):
    """Messages hold something that no store could give back, so they were stored without it.

    Attributes:
        left_out: What was left out: the message's id, the place in it, and the type.
    """

    left_out: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.stored_in_part"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return (
            f"session {self.session_id!r}: stored without {'; '.join(self.left_out)}. Keep plain data there to have it "
            "stored too, for instance by model_dump(), dataclasses.asdict() or to_dict()"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HookFailed(MemoryEvent):
    """A hook raised; what it was called for went on.

    Attributes:
        hook: Which one.
        event: The name of the event that it was called with.
        error: What it raised.
    """

    hook: str
    event: str
    error: Exception
    name: ClassVar[str] = "tiered_memory.hook_failed"
    level: ClassVar[int] = logging.ERROR

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}: the hook {self.hook} raised {self.error!r} at {self.event}"


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

    ```python
    from langchain_tiered_memory import Compaction, SummaryMemory

    def tell(event):
        if isinstance(event, Compaction):
            print(f"{len(event.removed)} messages left, {event.saved:.0%} of the tokens saved")

    memory = SummaryMemory(max_tokens=1_000, hooks=[tell])
    ```

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
        calls: Calls of the summarizer; 0 where `ExtractiveSummarizer` wrote the summary, which calls no model.
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
        return f"session {self.session_id!r}: {self.headline}"

    @property
    def headline(self) -> str:
        """What happened in one line; its percentage is rounded so that it never claims more than was saved."""
        before, after = self.tokens_before, self.tokens_after
        if not before:
            saved = ""
        elif after <= before:
            saved = f" ({100 * (before - after) // before} % saved)"
        else:
            saved = f" ({-(-100 * (after - before) // before)} % more)"
        return f"context compacted: {before} -> {after} tokens{saved}, {counted(len(self.removed), 'message')}"

    @property
    def figures(self) -> str:
        """What it took, and what the summary is made of, in one line."""
        parts = []
        if self.levels:
            parts.append("summary of " + " ".join(f"L{level}" for level in self.levels))
        if self.constraints:
            parts.append(f"{counted(self.constraints, 'constraint')} quoted word for word")
        if self.calls or self.summarizer_tokens:
            calls = counted(self.calls, "summarizer call") if self.calls else "no model called"
            parts.append(f"{calls}: {self.summarizer_tokens} tokens read, {self.summary_tokens} written")
        if self.fallback:
            parts.append("written by the fallback")
        parts.append(f"{self.seconds:.1f} s" if self.seconds >= 1 else f"{self.seconds * 1_000:.1f} ms")
        return " · ".join(parts)

    def _repr_html_(self) -> str:
        """What a notebook shows: a bubble with the summary folded in it, every text escaped, nothing loaded."""
        return _BUBBLE.format(
            headline=escape(f"🧠 {self.headline}"), figures=escape(self.figures), summary=escape(self.summary)
        )


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
