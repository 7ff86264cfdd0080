"""What went into a request, as a person sees it: a bar of its parts, in colours or in letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_tiered_memory._tables import Line, as_rich, show
from langchain_tiered_memory.context.report import ContextReport

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["context_html", "context_renderable", "context_text", "show_context"]


def context_text(report: ContextReport) -> str:
    """Write a report as plain text: a bar of letters, and what belongs to it."""
    return report.to_text()


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
    heading = [] if title is None else [Line(title, "strong")]
    return as_rich([*heading, *report.blocks()], needed_by="context_renderable")


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
    show(
        html=lambda: context_html(report),
        renderable=lambda: context_renderable(report),
        text=lambda: context_text(report),
    )
