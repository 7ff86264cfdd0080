"""A line chart of a replay as an SVG element, drawn without a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from langchain_tiered_memory._texts import percent, ranges
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

__all__ = ["STYLE", "history_chart", "nice_ticks", "sent_chart"]

STYLE: Final = """
:root { --full: #7d8790; --sent: #1f66c9; --shared: #12806a; --budget: #c2352b; --compaction: #7c3aed; }
@media (prefers-color-scheme: dark) { :root { --full: #98a2ab; --sent: #6aa5f8; --shared: #4cc3a5; --budget: #ff8076;
  --compaction: #a78bfa; } }
.grid { stroke: var(--rule); } .line { fill: none; stroke-width: 2; stroke-linejoin: round; }
.full { stroke: var(--full); } .sent { stroke: var(--sent); } .shared { stroke: var(--shared); }
.budget { stroke: var(--budget); stroke-dasharray: 6 5; stroke-width: 1.5; }
.compaction { stroke: var(--compaction); stroke-width: 1; opacity: .7; }
.area { stroke: none; opacity: .16; } .area.full { fill: var(--full); } .area.sent { fill: var(--sent); }
.area.shared { fill: var(--shared); opacity: .28; } .label { font-size: 13px; font-weight: 600; stroke: none; }
.label.full { fill: var(--full); } .label.sent { fill: var(--sent); } .label.shared { fill: var(--shared); }
.label.budget { fill: var(--budget); } .hover { fill: transparent; } .hover:hover { fill: var(--ink); opacity: .1; }
"""
"""The page's CSS of the charts."""

_WIDTH: Final = 960
_HEIGHT: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 120, 16, 40
_END: Final = _WIDTH - _RIGHT
_GROUND: Final = _HEIGHT - _BOTTOM
_TICKS: Final = 5
_LABEL_GAP: Final = 15
"""Least distance of two labels at the right edge, in pixels."""


@dataclass(frozen=True, slots=True)
class _Series:
    """A line of the chart: its label, its CSS class, its value at each call, and whether its area is filled."""

    label: str
    name: str
    value: Callable[[ReplayCall], int]
    filled: bool = True


def history_chart(report: ReplayReport) -> str:
    """Draw tokens of the full history against tokens sent, call by call, with the budget."""
    series = [
        _Series("full history", "full", lambda call: call.full_tokens),
        _Series("sent", "sent", lambda call: call.sent_tokens, filled=False),
    ]
    return _chart("Tokens of the full history and tokens sent, by call", report, series)


def sent_chart(report: ReplayReport) -> str:
    """Draw what was sent, call by call, and how much of it stood alike in the call before."""
    series = [
        _Series("sent", "sent", lambda call: call.sent_tokens),
        _Series("shared", "shared", lambda call: call.shared_tokens),
    ]
    return _chart("Tokens sent, and shared with the call before, by call", report, series)


def nice_ticks(most: float) -> list[int]:
    """Give round numbers from 0 to at least `most`, about five of them."""
    if most <= 0:
        return [0, 1]
    rough = most / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = max(1, int(next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)))
    return list(range(0, math.ceil(most / step) * step + 1, step))


def _chart(title: str, report: ReplayReport, series: Sequence[_Series]) -> str:
    calls = report.calls
    ticks = nice_ticks(max(report.max_tokens, *(one.value(call) for one in series for call in calls)))
    step = (_END - _LEFT) / len(calls)
    xs = [_LEFT + (index + 0.5) * step for index in range(len(calls))]

    def y(tokens: float) -> float:
        return _TOP + (1 - tokens / ticks[-1]) * (_GROUND - _TOP)

    parts = [f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">']
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_END}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        parts.append(f'<text class="axis" x="{_LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:,}</text>')
    for number in [tick for tick in nice_ticks(len(calls)) if 1 <= tick <= len(calls)]:
        x = xs[number - 1]
        parts.append(f'<text class="axis" x="{x:.1f}" y="{_GROUND + 18}" text-anchor="middle">{number:,}</text>')
    middle = (_LEFT + _END) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">model call</text>')
    for one in series:
        points = " ".join(f"{x:.1f},{y(one.value(call)):.1f}" for x, call in zip(xs, calls, strict=True))
        if one.filled:
            closed = f"{xs[0]:.1f},{y(0):.1f} {points} {xs[-1]:.1f},{y(0):.1f}"
            parts.append(f'<polygon class="area {one.name}" points="{closed}"/>')
        parts.append(f'<polyline class="line {one.name}" points="{points}"/>')
    limit = y(report.max_tokens)
    parts.append(f'<line class="line budget" x1="{_LEFT}" x2="{_END}" y1="{limit:.1f}" y2="{limit:.1f}"/>')
    for x, call in zip(xs, calls, strict=True):
        if call.compactions:
            parts.append(
                f'<line class="line compaction" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_GROUND}"/>',
            )
    labels = [(y(one.value(calls[-1])), one.label, one.name) for one in series]
    parts += _labels([*labels, (limit, "budget", "budget")])
    for x, call in zip(xs, calls, strict=True):
        parts.append(
            f'<rect class="hover" x="{x - step / 2:.2f}" y="{_TOP}" width="{step:.2f}" height="{_GROUND - _TOP}">'
            f"<title>{escape(_tip(call))}</title></rect>"
        )
    return "\n".join([*parts, "</svg>"])


def _labels(labels: list[tuple[float, str, str]]) -> list[str]:
    """Name each line at its right end, moved apart where two would lie on one another."""
    lowest, placed = -math.inf, []
    for wanted, text, name in sorted(labels):
        lowest = max(wanted, lowest + _LABEL_GAP)
        placed.append((lowest, text, name))
    overflow = max(0.0, lowest - _GROUND)
    return [
        f'<text class="label {name}" x="{_END + 8}" y="{y - overflow + 4:.1f}">{escape(text)}</text>'
        for y, text, name in placed
    ]


def _tip(call: ReplayCall) -> str:
    shared = percent(call.shared_tokens / call.sent_tokens) if call.sent_tokens else "-"
    lines = [
        f"call {call.number:,}, round {call.round:,}",
        f"full history: {call.full_tokens:,} tokens, {call.full_messages:,} messages",
        f"sent: {call.sent_tokens:,} tokens, {call.sent_messages:,} messages",
        f"shared with the call before: {call.shared_tokens:,} tokens ({shared})",
        *(f"🧠 {one.headline}" for one in call.compactions),
    ]
    if call.left:
        lines.append(f"left the window: messages {ranges(call.left)}")
    return "\n".join(lines)
