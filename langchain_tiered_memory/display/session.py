"""A session as a person sees it: a timeline of who said what and when, with the summaries where they were written."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Final

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.context.remembering import INCOMPLETE
from langchain_tiered_memory.display._figures import counted, visible
from langchain_tiered_memory.display._showing import folded, show
from langchain_tiered_memory.messages.protocol import kind_of
from langchain_tiered_memory.wiring.following import unanswered
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["session_html", "session_renderable", "session_text", "show_session"]

_LINES: Final = 6
_SUMMARY: Final = "summary"
_STYLES: Final = {"user": "bold cyan", "assistant": "green", "result": "yellow", "system": "dim", _SUMMARY: "#8b5cf6"}
_COLOURS: Final = {
    "user": "#0284c7",
    "assistant": "#16a34a",
    "result": "#d97706",
    "system": "#64748b",
    _SUMMARY: "#8b5cf6",
}
_NOTHING: Final = "nothing was said"


@dataclass(frozen=True, slots=True)
class _Item:
    """One point of the timeline: a message, or a summary."""

    time: datetime
    number: str
    who: str
    text: str
    flag: str = ""


def session_text(entries: Sequence[LogEntry], *, nodes: Sequence[SummaryNode] = (), lines: int | None = _LINES) -> str:
    """Write a session as plain text, times in UTC.

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
        lines: How many lines of each message are shown; `None` for all of it.
    """
    items = _items(entries, nodes)
    if not items:
        return _NOTHING
    rows, day = [], ""
    for item in items:
        if (today := f"{item.time:%Y-%m-%d}") != day:
            day = today
            rows.append(day)
        flag = f"  [{item.flag}]" if item.flag else ""
        rows.append(f"  {item.time:%H:%M:%S}  {item.number:>5}  {item.who}{flag}")
        rows += [f"      │ {line}".rstrip() for line in folded(item.text, lines)]
    return "\n".join(rows)


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
    import_optional("rich", needed_by="session_renderable")
    from rich.console import Group  # noqa: PLC0415  # only of the [cli] extra
    from rich.table import Table  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    heading = [] if title is None else [Text(visible(title), style="bold")]
    items = _items(entries, nodes)
    if not items:
        return Group(*heading, Text(_NOTHING, style="dim"))
    shown: list[RenderableType] = []
    table, day = Table.grid(padding=(0, 1)), ""
    for item in items:
        if (today := f"{item.time:%Y-%m-%d}") != day:
            day, table = today, Table.grid(padding=(0, 1))
            for options in ({}, {"justify": "right"}, {}, {"ratio": 1}):
                table.add_column(no_wrap="ratio" not in options, **options)
            shown += [Text(day, style="bold dim"), table]
        said = Text("\n".join(folded(item.text, lines)))
        if item.flag:
            said.append(f"  [{item.flag}]", style="bold red")
        clock = Text(f"{item.time:%H:%M:%S}", style="dim")
        table.add_row(clock, Text(item.number, style="dim"), Text(f"● {item.who}", style=_STYLES[item.who]), said)
    return Group(*heading, *shown)


def session_html(entries: Sequence[LogEntry], *, nodes: Sequence[SummaryNode] = ()) -> str:
    """Write a session as an HTML element, whole, times in UTC; every text in it is escaped, and nothing is loaded.

    Args:
        entries: The messages, as `MessageLog.entries` gives them.
        nodes: The summaries, as `MessageLog.nodes` gives them.
    """
    items = _items(entries, nodes)
    if not items:
        return f"<p>{_NOTHING}</p>"
    points = []
    for item in items:
        colour = _COLOURS[item.who]
        flag = f' <b style="color:#dc2626">{escape(item.flag)}</b>' if item.flag else ""
        points.append(
            f'<li style="border-left:4px solid {colour};padding:.2em .8em;margin:.4em 0;list-style:none">'
            f'<span style="color:{colour};font-weight:600">{escape(item.who)}</span> '
            f'<span style="opacity:.7">{escape(item.number)} · {item.time:%Y-%m-%d %H:%M:%S}</span>{flag}'
            f'<div dir="auto" style="white-space:pre-wrap;overflow-wrap:anywhere">{escape(item.text)}</div></li>'
        )
    style = "font-family:system-ui,sans-serif;max-width:60em;margin:.5em 0;padding:0"
    return f'<ul style="{style}">{"".join(points)}</ul>'


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
        lambda: session_html(entries, nodes=nodes),
        lambda: session_renderable(entries, nodes=nodes),
        lambda: session_text(entries, nodes=nodes),
    )


def _items(entries: Sequence[LogEntry], nodes: Sequence[SummaryNode]) -> list[_Item]:
    """Messages in their order, each summary behind the last message that was there when it was written."""
    open_turns = {id(message) for message in unanswered([entry.message for entry in entries])}
    waiting = sorted(nodes, key=lambda node: node.created_at)
    items: list[_Item] = []
    for entry in entries:
        while waiting and waiting[0].created_at < entry.created_at:
            items.append(_item_of(waiting.pop(0)))
        flag = "no whole answer" if id(entry.message) in open_turns else ""
        if entry.message.response_metadata.get(INCOMPLETE):
            flag = "broke off"
        who = kind_of(entry.message)
        known = who if who in _STYLES else "system"
        items.append(_Item(entry.created_at, f"#{entry.number}", known, _said(entry.message), flag))
    return items + [_item_of(node) for node in waiting]


def _item_of(node: SummaryNode) -> _Item:
    spans = ", ".join(f"{first}-{last}" for first, last in node.spans) or "none"
    gone = ", handed on to the episodes" if node.handed_on else ""
    about = f"of messages {spans}, level {node.level}, {counted(node.tokens, 'token')}{gone}"
    return _Item(node.created_at, "", _SUMMARY, f"{about}\n{node.text}")


def _said(message: BaseMessage) -> str:
    """What a message says, its calls in one line each."""
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    lines = [f"-> {call['name']}({json.dumps(call['args'], ensure_ascii=False, default=str)})" for call in calls]
    return "\n".join(filter(None, [str(message.text), *lines]))
