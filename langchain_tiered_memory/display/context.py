"""What went into a request, as a person sees it: a bar of its parts, in colours or in letters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.context._bar import COLOURS
from langchain_tiered_memory.context.report import ContextReport
from langchain_tiered_memory.display._figures import counted, percent, visible
from langchain_tiered_memory.display._showing import show

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["context_html", "context_renderable", "context_text", "show_context"]

_WIDTH: Final = 60
"""Characters of the bar."""
_FULL, _FREE = "█", "░"


def context_text(report: ContextReport) -> str:
    """Write a report as plain text: a bar of letters, and what belongs to it."""
    return _safe(report).to_text()


def context_html(report: ContextReport) -> str:
    """Write a report as an HTML element: a bar in colours, every text in it escaped; what a notebook shows of it."""
    return report.to_html()


def context_renderable(report: ContextReport, *, title: str | None = None) -> RenderableType:
    """Make what `rich.print` shows of a report; it fits 80 columns.

    Args:
        report: What went into a request.
        title: Stands above it, without markup.

    Raises:
        ImportError: rich is not installed; `context_text` needs nothing.
    """
    import_optional("rich", needed_by="context_renderable")
    from rich.console import Group  # noqa: PLC0415  # only of the [cli] extra
    from rich.table import Table  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    safe = _safe(report)
    used = f"{safe.total:,} of {safe.limit:,} tokens, {percent(safe.total / max(safe.limit, 1))}"
    bar = Text(no_wrap=True)
    for part, cells in _cells(safe).items():
        bar.append(_FULL * cells, style=COLOURS[part])  # type: ignore[index]  # a part of the report
    bar.append(_FREE * (_WIDTH - len(bar)), style="dim")
    legend = Table.grid(padding=(0, 2))
    for part, colour in COLOURS.items():
        if tokens := safe.tokens.get(part):
            share = percent(tokens / max(safe.total, 1))
            legend.add_row(Text("■", style=colour), Text(part), Text(f"{tokens:,}", justify="right"), Text(share))
    notes = [Text(note, style="bold red" if note.startswith("fault") else "dim") for note in _notes(safe)]
    heading = [] if title is None else [Text(visible(title), style="bold")]
    return Group(*heading, Text(used), bar, legend, *notes)


def show_context(report: ContextReport) -> None:
    """Show a report where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import ContextAssembler, ContextBudget
    from langchain_tiered_memory.display import show_context

    assembler = ContextAssembler(ContextBudget(max_tokens=2_000))
    show_context(assembler.assemble([HumanMessage("Hello")]).report)
    ```
    """
    show(lambda: context_html(report), lambda: context_renderable(report), lambda: context_text(report))


def _safe(report: ContextReport) -> ContextReport:
    """The same report with texts of stores and users made safe for a terminal."""
    return replace(
        report,
        evicted=tuple(replace(one, what=visible(one.what), reason=visible(one.reason)) for one in report.evicted),
        recalled=tuple(replace(one, id=visible(one.id)) for one in report.recalled),
        degraded=tuple(map(visible, report.degraded)),
        faults=tuple(map(visible, report.faults)),
    )


def _cells(report: ContextReport) -> dict[str, int]:
    """How many characters of the bar each part takes: one at least, and never more than the bar together."""
    scale = max(report.limit, report.total, 1)
    cells: dict[str, int] = {}
    left = _WIDTH
    for part in COLOURS:
        if tokens := report.tokens.get(part):
            cells[part] = min(left, max(1, round(_WIDTH * tokens / scale)))
            left -= cells[part]
    return cells


def _notes(report: ContextReport) -> list[str]:
    recalled = sum(one.tokens for one in report.recalled)
    notes = [f"recalled: {counted(len(report.recalled), 'episode')}, {recalled:,} tokens"] if report.recalled else []
    notes += [f"left out: {one.part}: {one.what} ({one.reason})" for one in report.evicted]
    notes += [f"degraded: {line}" for line in report.degraded]
    return [*notes, *(f"fault: {line}" for line in report.faults)]
