"""A replay in the terminal, with rich, and as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display._figures import comparisons, duration, notes, percent, ranges, subtitle
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["excerpt", "replay_renderable", "replay_text"]

_FIRST, _LAST, _BUSIEST = 2, 3, 9
_HEADS = ("call", "round", "history", "sent", "messages", "shared", "time", "left")


def excerpt(report: ReplayReport) -> list[ReplayCall]:
    """Choose the calls worth a row: the first, the last, and those at which most messages left the window."""
    calls = report.calls
    busiest = sorted(calls, key=lambda call: (-len(call.left), call.number))[:_BUSIEST]
    chosen = {call.number for call in (*calls[:_FIRST], *calls[-_LAST:], *busiest)}
    chosen |= {call.number for call in calls if call.faults}
    return [call for call in calls if call.number in chosen]


def replay_text(report: ReplayReport, *, title: str = "replay") -> str:
    """Write a replay as plain text, for a log or where rich is not installed.

    Args:
        report: What was measured.
        title: What was replayed.
    """
    width = max(len(name) for name, _ in notes(report)) + 2
    lines = [title, subtitle(report), ""]
    rows = [("tokens", "full history", "sent", "saved"), *comparisons(report)]
    lines += [f"{name:<{width}}{full:>14}{sent:>14}{saved:>10}" for name, full, sent, saved in rows]
    lines += ["", *(f"{name:<{width}}{text}" for name, text in notes(report)), ""]
    lines.append(_plain_row(_HEADS))
    shown = excerpt(report)
    lines += [_plain_row(row) for row in _rows(shown)]
    lines.append(_footnote(report, shown))
    return "\n".join(line.rstrip() for line in lines)


def replay_renderable(report: ReplayReport, *, title: str = "replay") -> RenderableType:
    """Make what `rich.print` shows of a replay; it fits 80 columns.

    Args:
        report: What was measured.
        title: What was replayed; shown as it is, without markup.

    Raises:
        ImportError: rich is not installed; `replay_text` needs nothing.
    """
    import_optional("rich", needed_by="replay_renderable")
    from rich import box  # noqa: PLC0415  # only of the [cli] extra
    from rich.console import Group  # noqa: PLC0415  # as above
    from rich.table import Table  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    totals = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    totals.add_column("tokens")
    for head, style in (("full history", ""), ("sent", "bold cyan"), ("saved", "bold green")):
        totals.add_column(head, justify="right", style=style)
    for row in comparisons(report):
        totals.add_row(*row)
    facts = Table.grid(padding=(0, 2))
    bad = {"failed": True, "faults": report.fault_count > 0, "budget": bool(report.over_budget)}
    for name, text in notes(report):
        facts.add_row(Text(name, style="dim"), Text(text, style="bold red" if bad.get(name) else ""))
    shown = excerpt(report)
    calls = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for head in _HEADS:
        right = head not in {"messages", "left"}
        calls.add_column(head, justify="right" if right else "left", no_wrap=head != "left")
    for cells in _rows(shown):
        calls.add_row(*map(Text, cells), style="dim" if cells[0] == "…" else "")
    heading = Text(title, style="bold")
    return Group(heading, Text(subtitle(report)), totals, facts, calls, Text(_footnote(report, shown), style="dim"))


def _rows(calls: Sequence[ReplayCall]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    before = 0
    for call in calls:
        if call.number != before + 1:
            rows.append(("…", *[""] * (len(_HEADS) - 1)))
        before = call.number
        shared = percent(call.shared_tokens / call.sent_tokens) if call.sent_tokens else "-"
        faults = f" FAULTS: {', '.join(fault.code for fault in call.faults)}" if call.faults else ""
        rows.append(
            (
                f"{call.number:,}",
                f"{call.round:,}",
                f"{call.full_tokens:,}",
                f"{call.sent_tokens:,}",
                f"{call.sent_messages:,} of {call.full_messages:,}",
                shared,
                duration(call.seconds),
                (f"{len(call.left)}: #{ranges(call.left)}" if call.left else "-") + faults,
            )
        )
    return rows


def _plain_row(cells: Sequence[str]) -> str:
    widths = (6, 6, 9, 8, 15, 9, 10)
    return "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=False)) + f"  {cells[-1]}"


def _footnote(report: ReplayReport, shown: Sequence[ReplayCall]) -> str:
    if len(shown) == len(report.calls):
        return "history, sent: tokens; left: messages that left the window, by position in the transcript"
    kinds = "the first, the last, and those at which most messages left"
    return f"{len(shown)} of {len(report.calls):,} calls: {kinds} (positions from 0); --html and --json hold all"
