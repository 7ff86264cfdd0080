"""An evaluation in the terminal, with rich, and as plain text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display._figures import counted, duration, visible
from langchain_tiered_memory.evaluation._shown import figure_of, measured
from langchain_tiered_memory.evaluation.results import EvaluationReport

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["evaluation_renderable", "evaluation_text"]

_WIDEST: Final = 26
"""Characters of a target's name in a plain table."""


def evaluation_text(report: EvaluationReport, *, title: str | None = None) -> str:
    """Write an evaluation as plain text, for a log or where rich is not installed.

    Args:
        report: What was measured.
        title: What it is called; the data set's name if not given.
    """
    names = [visible(one.name)[:_WIDEST] for one in report.targets]
    widths = [max(len(name), 9) + 2 for name in names]
    lines = [visible(title or report.dataset.name), _subtitle(report), ""]
    lines.append(f"{'metric':<26}" + "".join(f"{name:>{width}}" for name, width in zip(names, widths, strict=True)))
    for metric, cells in _rows(report):
        lines.append(f"{metric:<26}" + "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)))
    return "\n".join([*lines, "", *_notes(report)])


def evaluation_renderable(report: EvaluationReport, *, title: str | None = None) -> RenderableType:
    """Make what `rich.print` shows of an evaluation.

    Args:
        report: What was measured.
        title: What it is called, shown as it is; the data set's name if not given.

    Raises:
        ImportError: rich is not installed; `evaluation_text` needs nothing.
    """
    import_optional("rich", needed_by="evaluation_renderable")
    from rich import box  # noqa: PLC0415  # only of the [cli] extra
    from rich.console import Group  # noqa: PLC0415  # as above
    from rich.table import Table  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("metric", no_wrap=True)
    for one in report.targets:
        table.add_column(Text(visible(one.name)), justify="right")
    for metric, cells in _rows(report):
        table.add_row(Text(metric), *map(Text, cells))
    heading = Text(visible(title or report.dataset.name), style="bold")
    notes = [Text(note, style="dim") for note in _notes(report)]
    return Group(heading, Text(_subtitle(report)), table, *notes)


def _subtitle(report: EvaluationReport) -> str:
    questions, records = len(report.dataset.cases), len(report.dataset.records)
    return f"{counted(questions, 'question')} over {counted(records, 'record')}, {report.k} records asked for"


def _rows(report: EvaluationReport) -> list[tuple[str, list[str]]]:
    return [
        (visible(metric.key), [figure_of(metric, report.score(metric.key, one.name)) for one in report.targets])
        for metric in measured(report)
    ]


def _notes(report: EvaluationReport) -> list[str]:
    notes = []
    for one in report.targets:
        name = visible(one.name)
        if one.tell_seconds:
            notes.append(f"{name}: told everything in {duration(one.tell_seconds)}")
        if one.resumed:
            notes.append(f"{name}: {counted(one.resumed, 'answer')} from an earlier run")
    return notes
