"""Numbers and positions as people read them, alike in the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

__all__ = ["Comparison", "comparisons", "counted", "duration", "notes", "percent", "ranges", "subtitle", "visible"]

Comparison = tuple[str, str, str, str]
_MILLISECONDS = 1000.0
_MANY_RANGES = 3


def visible(text: str) -> str:
    """The text on one line, with what a terminal might obey (escape sequences, controls) spelt out."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in text)


def counted(number: int, thing: str) -> str:
    """A number of things, in the singular for one."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def subtitle(report: ReplayReport) -> str:
    """How much was replayed, and by which strategy."""
    size = (
        counted(report.messages, "message"),
        counted(report.rounds, "round"),
        counted(len(report.calls), "model call"),
    )
    return f"{', '.join(size)}; strategy {report.strategy}"


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage with one digit."""
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """A time in the unit that fits it."""
    if seconds < 1:
        return f"{seconds * _MILLISECONDS:.2f} ms"
    return f"{seconds:.2f} s"


def ranges(positions: Sequence[int], most: int = _MANY_RANGES) -> str:
    """Ascending positions as ranges, "3-6, 9"; more than `most` ranges end in how many positions are left out."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    shown = [f"{first}" if first == last else f"{first}-{last}" for first, last in runs[:most]]
    rest = sum(last - first + 1 for first, last in runs[most:])
    return ", ".join(shown) + (f" +{rest}" if rest else "")


def comparisons(report: ReplayReport) -> list[Comparison]:
    """Rows of what the full history takes, what was sent, and what that saves."""
    mean_full = report.full_tokens / len(report.calls)
    pairs = (
        ("all calls", float(report.full_tokens), float(report.sent_tokens)),
        ("mean call", mean_full, report.mean_sent),
        ("largest call", float(report.peak_full), float(report.peak_sent)),
    )
    return [
        (name, f"{full:,.0f}", f"{sent:,.0f}", percent(1 - sent / full if full else 0.0)) for name, full, sent in pairs
    ]


def notes(report: ReplayReport) -> list[tuple[str, str]]:
    """What a comparison of tokens does not say, as pairs of a name and a text."""
    leaving = sum(1 for call in report.calls if call.left)
    found = [
        ("budget", f"{report.max_tokens:,} tokens a call, {_over(report.over_budget)}"),
        ("shared prefix", f"{percent(report.shared_share)} of what was sent stood alike in the call before"),
        (
            "left the window",
            f"{counted(report.left_messages, 'message')}, at {leaving:,} of {len(report.calls):,} calls",
        ),
        ("faults", f"{report.fault_count or 'none'} in what was sent, {_faults(report)}"),
        ("time", f"{duration(report.median_seconds)} a call (median), {duration(report.seconds)} in all"),
        ("counted by", report.counter),
    ]
    if report.tool_tokens:
        found.insert(1, ("tools", f"{report.tool_tokens:,} tokens of schemas go with every call"))
    if report.compactions:
        found.insert(-2, ("compactions", _compactions(report)))
    if report.failures:
        found.insert(-2, ("failed", f"{counted(len(report.failures), 'compaction')}, trimmed instead"))
    altered = sum(call.altered for call in report.calls)
    added = sum(call.added for call in report.calls)
    if altered or added:
        found.insert(
            -2, ("changed", f"{altered:,} messages sent in a shorter form, {added:,} that are not in the transcript")
        )
    return found


def _compactions(report: ReplayReport) -> str:
    calls = sum(compaction.calls for _, compaction in report.compactions)
    return (
        f"{len(report.compactions):,}, {counted(calls, 'summarizer call')}: {report.summarizer_tokens:,} tokens read, "
        f"{report.summary_tokens:,} written"
    )


def _over(calls: Sequence[ReplayCall]) -> str:
    return f"exceeded at {len(calls):,}" if calls else "met at every one"


def _faults(report: ReplayReport) -> str:
    return f"{len(report.transcript_faults) or 'none'} in the transcript itself"
