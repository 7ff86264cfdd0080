"""An evaluation in the terminal, with rich, and as plain text; its page is `EvaluationReport.to_html`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_tiered_memory._tables import as_rich, as_text
from langchain_tiered_memory.evaluation.results import EvaluationReport, evaluation_blocks

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["evaluation_renderable", "evaluation_text"]


def evaluation_text(report: EvaluationReport, *, title: str | None = None) -> str:
    """Write an evaluation as plain text, for a log or where rich is not installed.

    Args:
        report: What was measured.
        title: What it is called; the data set's name if not given.
    """
    return as_text(evaluation_blocks(report, title))


def evaluation_renderable(report: EvaluationReport, *, title: str | None = None) -> RenderableType:
    """Make what `rich.print` shows of an evaluation.

    Args:
        report: What was measured.
        title: What it is called, shown as it is; the data set's name if not given.

    Raises:
        ImportError: rich is not installed; `evaluation_text` needs nothing.
    """
    return as_rich(evaluation_blocks(report, title), needed_by="evaluation_renderable")
