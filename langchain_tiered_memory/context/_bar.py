"""A request as a bar of its parts: in colours for a notebook, in characters for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from langchain_tiered_memory.context.report import ContextReport, Part

__all__ = ["COLOURS", "bar_html", "bar_text"]


COLOURS: Final[Mapping[Part, str]] = {
    "tools": "#64748b",
    "system": "#475569",
    "procedures": "#0f766e",
    "facts": "#0284c7",
    "summary": "#8b5cf6",
    "window": "#16a34a",
    "episodes": "#d97706",
    "turn": "#dc2626",
}
_LETTERS: Final[Mapping[Part, str]] = {
    "tools": "t",
    "system": "s",
    "procedures": "P",
    "facts": "F",
    "summary": "S",
    "window": "W",
    "episodes": "E",
    "turn": "T",
}
_WIDTH: Final = 60
_FREE: Final = "."


def bar_text(report: ContextReport) -> str:
    """The bar and what belongs to it, in plain characters."""
    scale = max(report.limit, report.total, 1)
    parts = _parts(report)
    bar = "".join(_LETTERS[part] * max(1, round(_WIDTH * report.tokens[part] / scale)) for part in parts)
    lines = [f"{report.total:,} of {report.limit:,} tokens", f"[{bar[:_WIDTH].ljust(_WIDTH, _FREE)}]"]
    lines += [f"  {_LETTERS[part]} {part:<11}{report.tokens[part]:>8,}" for part in parts]
    lines += [f"  left out: {line}" for line in _evictions(report)]
    lines += [f"  recalled: {line}" for line in _episodes(report)]
    lines += [f"  degraded: {line}" for line in report.degraded]
    lines += [f"  FAULT: {line}" for line in report.faults]
    return "\n".join(lines)


def bar_html(report: ContextReport) -> str:
    """The bar and what belongs to it, as HTML that stands alone."""
    scale = max(report.limit, report.total, 1)
    parts = _parts(report)
    blocks = "".join(
        f'<span title="{escape(part)}: {report.tokens[part]:,} tokens" style="display:inline-block;height:1.4em;'
        f'width:{100 * report.tokens[part] / scale:.2f}%;background:{COLOURS[part]}"></span>'
        for part in parts
    )
    legend = " ".join(
        f'<span style="white-space:nowrap;margin-right:1em"><span style="color:{COLOURS[part]}">&#9632;</span> '
        f"{escape(part)} {report.tokens[part]:,}</span>"
        for part in parts
    )
    notes = "".join(
        f"<li>{escape(label)}: {escape(line)}</li>"
        for label, lines in (
            ("left out", _evictions(report)),
            ("recalled", _episodes(report)),
            ("degraded", report.degraded),
            ("fault", report.faults),
        )
        for line in lines
    )
    return (
        '<div style="font-family:system-ui,sans-serif;max-width:60em;margin:.5em 0">'
        f"<div><b>{report.total:,}</b> of {report.limit:,} tokens</div>"
        '<div style="border:1px solid #94a3b8;border-radius:4px;overflow:hidden;white-space:nowrap;font-size:0;'
        f'line-height:0;margin:.3em 0"><span style="font-size:1rem">{blocks}</span></div>'
        f'<div style="font-size:.9em">{legend}</div>'
        + (f'<ul style="font-size:.85em;opacity:.85;margin:.3em 0">{notes}</ul>' if notes else "")
        + "</div>"
    )


def _parts(report: ContextReport) -> list[Part]:
    """The parts that take something, in their order."""
    return [part for part in COLOURS if report.tokens.get(part)]


def _evictions(report: ContextReport) -> list[str]:
    return [f"{one.part}: {one.what} ({one.reason})" for one in report.evicted]


def _episodes(report: ContextReport) -> list[str]:
    return [
        f"{one.id} score {one.score:.2f}, {one.created_at:%Y-%m-%d}, {one.tokens:,} tokens"
        if one.created_at
        else f"{one.id} score {one.score:.2f}, {one.tokens:,} tokens"
        for one in report.recalled
    ]
