"""A replay as a person sees it: in a terminal, as plain text, and as a page of its own with charts."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from langchain_tiered_memory._tables import (
    Block,
    Cell,
    Column,
    Line,
    Table,
    as_html,
    as_rich,
    as_text,
    page,
    pairs,
)
from langchain_tiered_memory._texts import counted, duration, percent, ranges
from langchain_tiered_memory.display.chart import STYLE, history_chart, sent_chart
from langchain_tiered_memory.display.compaction import compaction_html
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["replay_page", "replay_renderable", "replay_text"]

_FIRST, _LAST, _BUSIEST = 2, 3, 9


def replay_text(report: ReplayReport, *, title: str = "replay") -> str:
    """Write a replay as plain text, for a log or where rich is not installed.

    Args:
        report: What was measured.
        title: What was replayed.
    """
    return as_text(_blocks(report, title))


def replay_renderable(report: ReplayReport, *, title: str = "replay") -> RenderableType:
    """Make what `rich.print` shows of a replay; it fits 80 columns.

    Args:
        report: What was measured.
        title: What was replayed; shown as it is, without markup.

    Raises:
        ImportError: rich is not installed; `replay_text` needs nothing.
    """
    return as_rich(_blocks(report, title), needed_by="replay_renderable")


def replay_page(report: ReplayReport, *, title: str = "replay") -> str:
    """Write a replay as a whole HTML page with two charts and a table of every call.

    The page follows the reader's light or dark setting, needs no script and loads nothing; every text in it is escaped.

    Args:
        report: What was measured.
        title: What was replayed.
    """
    compactions = [
        f'<p class="quiet">before call {call.number:,}, round {call.round:,}</p>\n{compaction_html(compaction)}'
        for call, compaction in report.compactions
    ]
    if compactions:
        compactions = ["<h2>Compactions</h2>", '<p class="quiet">Marked violet in the charts.</p>', *compactions]
    parts = [
        f'<div class="cards">{"".join(_cards(report))}</div>',
        "<h2>Full history and what was sent</h2>",
        f"<figure><figcaption>Tokens of each model call</figcaption>\n{history_chart(report)}\n</figure>",
        "<h2>What a prompt cache can serve</h2>",
        "<figure><figcaption>Tokens sent, and those that stood alike at the start of the call before</figcaption>",
        f"{sent_chart(report)}\n</figure>",
        "<h2>In all</h2>",
        as_html([_totals(report), _notes(report)]),
        *compactions,
        "<h2>Every call</h2>",
        as_html([_calls(report.calls, most=None)]),
        '<p class="quiet">Messages are numbered from 0, in the order of the transcript.</p>',
    ]
    return page(title, _subtitle(report), parts, style=STYLE)


def _blocks(report: ReplayReport, title: str) -> list[Block]:
    shown = _excerpt(report)
    if len(shown) == len(report.calls):
        note = "history, sent: tokens; left: messages that left the window, by position in the transcript"
    else:
        kinds = "the first, the last, and those at which most messages left"
        note = f"{len(shown)} of {len(report.calls):,} calls: {kinds} (positions from 0); --html and --json hold all"
    heading = [Line(title, "strong"), Line(_subtitle(report))]
    return [*heading, _totals(report), _notes(report), _calls(shown, most=3), Line(note, "quiet")]


def _excerpt(report: ReplayReport) -> list[ReplayCall]:
    """The calls worth a row: the first, the last, those with faults, and those at which most messages left."""
    calls = report.calls
    busiest = sorted(calls, key=lambda call: (-len(call.left), call.number))[:_BUSIEST]
    chosen = {call.number for call in (*calls[:_FIRST], *calls[-_LAST:], *busiest)}
    return [call for call in calls if call.number in chosen or call.faults]


def _subtitle(report: ReplayReport) -> str:
    size = (
        counted(report.messages, "message"),
        counted(report.rounds, "round"),
        counted(len(report.calls), "model call"),
    )
    return f"{', '.join(size)}; strategy {report.strategy}"


def _totals(report: ReplayReport) -> Table:
    """What the full history takes, what was sent, and what that saves."""
    compared = (
        ("all calls", float(report.full_tokens), float(report.sent_tokens)),
        ("mean call", report.full_tokens / len(report.calls), report.mean_sent),
        ("largest call", float(report.peak_full), float(report.peak_sent)),
    )
    columns = [
        Column("tokens"),
        Column("full history", "right"),
        Column("sent", "right", style="strong"),
        Column("saved", "right", style="good"),
    ]
    return Table(
        columns,
        [
            (name, f"{full:,.0f}", f"{sent:,.0f}", percent(1 - sent / full if full else 0.0))
            for name, full, sent in compared
        ],
    )


def _notes(report: ReplayReport) -> Table:
    """What a comparison of tokens does not say."""
    leaving = sum(1 for call in report.calls if call.left)
    over = len(report.over_budget)
    met = f"exceeded at {over:,}" if over else "met at every one"
    rows: list[tuple[str, Cell]] = [
        ("budget", Line(f"{report.max_tokens:,} tokens a call, {met}", "bad" if over else ""))
    ]
    if report.tool_tokens:
        rows.append(("tools", f"{report.tool_tokens:,} tokens of schemas go with every call"))
    left = counted(report.left_messages, "message")
    own = len(report.transcript_faults) or "none"
    faults = f"{report.fault_count or 'none'} in what was sent, {own} in the transcript itself"
    rows += [
        ("shared prefix", f"{percent(report.shared_share)} of what was sent stood alike in the call before"),
        ("left the window", f"{left}, at {leaving:,} of {len(report.calls):,} calls"),
        ("faults", Line(faults, "bad" if report.fault_count else "")),
    ]
    if report.compactions:
        number = sum(one.calls for _, one in report.compactions)
        calls = counted(number, "summarizer call") if number else "no model called"
        read = f"{report.summarizer_tokens:,} tokens read, {report.summary_tokens:,} written"
        rows.append(("compactions", f"{len(report.compactions):,}, {calls}: {read}"))
    if report.failures:
        rows.append(("failed", Line(f"{counted(len(report.failures), 'compaction')}, trimmed instead", "bad")))
    altered, added = (sum(getattr(call, name) for call in report.calls) for name in ("altered", "added"))
    if altered or added:
        changed = f"{altered:,} messages sent in a shorter form, {added:,} that are not in the transcript"
        rows.append(("changed", changed))
    time = f"{duration(report.median_seconds)} a call (median), {duration(report.seconds)} in all"
    return pairs([*rows, ("time", time), ("counted by", report.counter)])


def _calls(calls: Sequence[ReplayCall], *, most: int | None) -> Table:
    """A row for each call, with an ellipsis where some are left out."""
    numbers = [Column(head, "right") for head in ("call", "round", "history", "sent", "messages", "shared", "time")]
    columns = [*numbers, Column("left", wrap=True)]
    rows: list[list[Cell]] = []
    before = 0
    for call in calls:
        if call.number != before + 1:
            rows.append([Line("…", "quiet"), *[""] * len(numbers)])
        before = call.number
        left = [Line(f"{len(call.left)}: #{ranges(call.left, most)}" if call.left else "-")]
        faults = [Line(f"{fault.code}: {fault.detail}" if most is None else fault.code, "bad") for fault in call.faults]
        rows.append(
            [
                f"{call.number:,}",
                f"{call.round:,}",
                f"{call.full_tokens:,}",
                f"{call.sent_tokens:,}",
                f"{call.sent_messages:,} of {call.full_messages:,}",
                percent(call.shared_tokens / call.sent_tokens) if call.sent_tokens else "-",
                duration(call.seconds),
                [*left, *faults],
            ]
        )
    return Table(columns, rows)


def _cards(report: ReplayReport) -> list[str]:
    facts = [
        (percent(report.saved_share), "of the full history's tokens saved", False),
        (f"{report.peak_sent:,}", f"tokens in the largest call, of {report.max_tokens:,}", bool(report.over_budget)),
        (percent(report.shared_share), "of what was sent can come from a prompt cache", False),
        (f"{report.fault_count:,}", "faults in what was sent", report.fault_count > 0),
        (duration(report.median_seconds), "a call, median", False),
    ]
    card = '<div class="card{}"><b>{}</b><span class="quiet">{}</span></div>'
    return [card.format(" bad" if is_bad else "", escape(figure), escape(text)) for figure, text, is_bad in facts]
