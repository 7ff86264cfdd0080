"""An evaluation in the terminal, with rich, and as plain text; its page is `EvaluationReport.to_html`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_tiered_memory._tables import Block, Column, Line, Table, as_rich, as_text
from langchain_tiered_memory._texts import counted, duration
from langchain_tiered_memory.evaluation._shown import figure_of, measured
from langchain_tiered_memory.evaluation.results import EvaluationReport

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["evaluation_renderable", "evaluation_text"]


def evaluation_text(report: EvaluationReport, *, title: str | None = None) -> str:
    """Write an evaluation as plain text, for a log or where rich is not installed.

    Args:
        report: What was measured.
        title: What it is called; the data set's name if not given.
    """
    return as_text(_blocks(report, title))


def evaluation_renderable(report: EvaluationReport, *, title: str | None = None) -> RenderableType:
    """Make what `rich.print` shows of an evaluation.

    Args:
        report: What was measured.
        title: What it is called, shown as it is; the data set's name if not given.

    Raises:
        ImportError: rich is not installed; `evaluation_text` needs nothing.
    """
    return as_rich(_blocks(report, title), needed_by="evaluation_renderable")


def _blocks(report: EvaluationReport, title: str | None) -> list[Block]:
    questions, records = len(report.dataset.cases), len(report.dataset.records)
    size = f"{counted(questions, 'question')} over {counted(records, 'record')}, {report.k} records asked for"
    columns = [Column("metric"), *(Column(one.name, "right") for one in report.targets)]
    rows = [
        [metric.key, *(figure_of(metric, report.score(metric.key, one.name)) for one in report.targets)]
        for metric in measured(report)
    ]
    notes = []
    for one in report.targets:
        if one.tell_seconds:
            notes.append(f"{one.name}: told everything in {duration(one.tell_seconds)}")
        if one.resumed:
            notes.append(f"{one.name}: {counted(one.resumed, 'answer')} from an earlier run")
    heading = [Line(title or report.dataset.name, "strong"), Line(size)]
    return [*heading, Table(columns, rows), *(Line(note, "quiet") for note in notes)]
