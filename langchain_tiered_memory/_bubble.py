"""What a person reads about a compaction: its headline, its figures, and both with the summary as HTML.

Lies below the events, so that a compaction shows itself in a notebook and still imports nothing of the display.
"""

from __future__ import annotations

from html import escape
from typing import Final, Protocol

__all__ = ["Compacted", "bubble_html", "facts", "gist", "headline"]

_SECOND: Final = 1.0
_MILLISECONDS: Final = 1000.0
_BUBBLE: Final = (
    '<div style="border:1px solid #8b5cf6;border-left-width:5px;border-radius:8px;background:rgba(139,92,246,.12);'
    'color:inherit;padding:.5em .9em;margin:.5em 0;max-width:60em;font-family:system-ui,sans-serif">'
    '<details><summary style="cursor:pointer;font-weight:600">{headline}</summary>'
    '<div style="opacity:.75;margin:.4em 0">{facts}</div>'
    '<pre dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere;background:none;color:inherit;border:0;'
    'margin:.4em 0;padding:0;font:inherit">{summary}</pre></details></div>'
)


class Compacted(Protocol):
    """What is shown of a compaction; `events.Compaction` says what each field means."""

    @property
    def summary(self) -> str: ...  # see Compaction

    @property
    def removed(self) -> tuple[object, ...]: ...  # as above

    @property
    def tokens_before(self) -> int: ...  # as above

    @property
    def tokens_after(self) -> int: ...  # as above

    @property
    def levels(self) -> tuple[int, ...]: ...  # as above

    @property
    def constraints(self) -> int: ...  # as above

    @property
    def seconds(self) -> float: ...  # as above

    @property
    def calls(self) -> int: ...  # as above

    @property
    def summarizer_tokens(self) -> int: ...  # as above

    @property
    def summary_tokens(self) -> int: ...  # as above

    @property
    def fallback(self) -> bool: ...  # as above


def headline(compaction: Compacted) -> str:
    """Say it in one line, as a bubble begins."""
    return f"🧠 {gist(compaction)}"


def gist(compaction: Compacted) -> str:
    """Say it in one line; the percentage is rounded down, so that it never claims more than was saved."""
    before, after = compaction.tokens_before, compaction.tokens_after
    if not before:
        saved = ""
    elif after <= before:
        saved = f" ({100 * (before - after) // before} % saved)"
    else:
        saved = f" ({-(-100 * (after - before) // before)} % more)"
    messages = _counted(len(compaction.removed), "message")
    return f"context compacted: {before} -> {after} tokens{saved}, {messages}"


def facts(compaction: Compacted) -> str:
    """What the compaction took, and what the summary is made of, in one line."""
    parts = []
    if compaction.levels:
        parts.append("summary of " + " ".join(f"L{level}" for level in compaction.levels))
    if compaction.constraints:
        parts.append(f"{_counted(compaction.constraints, 'constraint')} quoted word for word")
    if compaction.calls:
        calls = _counted(compaction.calls, "summarizer call")
        parts.append(f"{calls}: {compaction.summarizer_tokens} tokens read, {compaction.summary_tokens} written")
    if compaction.fallback:
        parts.append("written by the fallback")
    seconds = compaction.seconds
    parts.append(f"{seconds:.1f} s" if seconds >= _SECOND else f"{seconds * _MILLISECONDS:.1f} ms")
    return " · ".join(parts)


def bubble_html(compaction: Compacted) -> str:
    """The compaction as an element of HTML with the summary folded in it; all text is escaped, nothing is loaded."""
    return _BUBBLE.format(
        headline=escape(headline(compaction)), facts=escape(facts(compaction)), summary=escape(compaction.summary)
    )


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")
