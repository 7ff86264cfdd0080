"""A session as a person sees it: a timeline of who said what and when, with the summaries where they were written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING, Final

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory._tables import Block, Cell, Column, Line, Table, as_html, as_rich, as_text, show
from langchain_tiered_memory._texts import counted, folded
from langchain_tiered_memory.context.remember import INCOMPLETE
from langchain_tiered_memory.indexer import unanswered
from langchain_tiered_memory.messages.protocol import kind_of
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["session_html", "session_renderable", "session_text", "show_session"]

_LINES: Final = 6
_COLOURS: Final = {
    "user": "#0284c7",
    "assistant": "#16a34a",
    "result": "#d97706",
    "system": "#64748b",
    "summary": "#8b5cf6",
}


def session_text(entries: Sequence[LogEntry], *, nodes: Sequence[SummaryNode] = (), lines: int | None = _LINES) -> str:
    """Write a session as plain text, times in UTC.

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
        lines: How many lines of each message are shown; `None` for all of it.
    """
    return as_text(_blocks(entries, nodes, lines))


def session_renderable(
    entries: Sequence[LogEntry],
    *,
    nodes: Sequence[SummaryNode] = (),
    title: str | None = None,
    lines: int | None = _LINES,
) -> RenderableType:
    """Make what `rich.print` shows of a session, times in UTC.

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
        title: Stands above the timeline, without markup.
        lines: How many lines of each message are shown; `None` for all of it.

    Raises:
        ImportError: rich is not installed; `session_text` needs nothing.
    """
    heading = [] if title is None else [Line(title, "strong")]
    return as_rich([*heading, *_blocks(entries, nodes, lines)], needed_by="session_renderable")


def session_html(entries: Sequence[LogEntry], *, nodes: Sequence[SummaryNode] = ()) -> str:
    """Write a session as an HTML element, whole, times in UTC; every text in it is escaped, and nothing is loaded.

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
    """
    return as_html(_blocks(entries, nodes, None))


def show_session(entries: Sequence[LogEntry], *, nodes: Sequence[SummaryNode] = ()) -> None:
    """Show a session where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory import InMemoryMessageLog
    from langchain_tiered_memory.display import show_session

    log = InMemoryMessageLog()
    log.append("s1", [HumanMessage("When does the ferry leave?"), AIMessage("At 9:40.")])
    show_session(log.entries("s1"), nodes=log.nodes("s1"))
    ```

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
    """
    show(
        html=lambda: session_html(entries, nodes=nodes),
        renderable=lambda: session_renderable(entries, nodes=nodes),
        text=lambda: session_text(entries, nodes=nodes),
    )


def _blocks(entries: Sequence[LogEntry], nodes: Sequence[SummaryNode], lines: int | None) -> list[Block]:
    """A table for each day: messages in their order, each summary behind what was said when it was written."""
    if not entries and not nodes:
        return [Line("nothing was said", "quiet")]
    open_turns = {id(message) for message in unanswered([entry.message for entry in entries])}
    waiting = sorted(nodes, key=lambda node: node.created_at)
    rows: list[tuple[datetime, list[Cell]]] = []
    for entry in entries:
        while waiting and waiting[0].created_at < entry.created_at:
            rows.append(_summary(waiting.pop(0), lines))
        rows.append(_message(entry, lines, is_open=id(entry.message) in open_turns))
    rows += [_summary(node, lines) for node in waiting]
    columns = (Column(style="quiet"), Column(align="right", style="quiet"), Column(), Column(wrap=True))
    blocks: list[Block] = []
    for day, of_day in groupby(rows, key=lambda row: f"{row[0]:%Y-%m-%d}"):
        blocks += [Line(day, "strong"), Table(columns, [cells for _, cells in of_day])]
    return blocks


def _message(entry: LogEntry, lines: int | None, *, is_open: bool) -> tuple[datetime, list[Cell]]:
    kind = kind_of(entry.message)
    who = kind if kind in _COLOURS else "system"
    flag = "broke off" if entry.message.response_metadata.get(INCOMPLETE) else "no whole answer" if is_open else ""
    said = [*map(Line, folded(_said(entry.message), lines)), *([Line(f"[{flag}]", "bad")] if flag else [])]
    return entry.created_at, [f"{entry.created_at:%H:%M:%S}", f"#{entry.number}", Line(f"● {who}", _COLOURS[who]), said]


def _summary(node: SummaryNode, lines: int | None) -> tuple[datetime, list[Cell]]:
    spans = ", ".join(f"{first}-{last}" for first, last in node.spans) or "none"
    gone = ", handed on to the episodes" if node.handed_on else ""
    about = Line(f"of messages {spans}, level {node.level}, {counted(node.tokens, 'token')}{gone}", "quiet")
    said = [about, *map(Line, folded(node.text, lines))]
    return node.created_at, [f"{node.created_at:%H:%M:%S}", "", Line("● summary", _COLOURS["summary"]), said]


def _said(message: BaseMessage) -> str:
    """What a message says, its calls in one line each."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    lines = [f"-> {call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})" for call in calls]
    return "\n".join(filter(None, [str(message.text), *lines]))
