"""A line chart of a replay as an SVG element, drawn without a library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final

from langchain_tiered_memory._bubble import headline
from langchain_tiered_memory.display._figures import percent, ranges
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

__all__ = ["history_chart", "nice_ticks", "sent_chart"]

_WIDTH: Final = 960
_HEIGHT: Final = 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 120, 16, 40
_TICKS: Final = 5
_LABEL_GAP: Final = 15
"""Least distance of two labels at the right edge, in pixels."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a call and a number of tokens lie in the picture."""

    count: int
    top: float

    def x(self, index: float) -> float:
        return _LEFT + (index + 0.5) / self.count * (_WIDTH - _LEFT - _RIGHT)

    def y(self, tokens: float) -> float:
        return _TOP + (1 - tokens / self.top) * (_HEIGHT - _TOP - _BOTTOM)


def nice_ticks(most: float) -> list[int]:
    """Give round numbers from 0 to at least `most`, about five of them."""
    if most <= 0:
        return [0, 1]
    rough = most / _TICKS
    power = 10 ** math.floor(math.log10(rough))
    step = max(1, int(next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough)))
    return list(range(0, math.ceil(most / step) * step + 1, step))


def history_chart(report: ReplayReport) -> str:
    """Draw tokens of the full history against tokens sent, call by call, with the budget."""
    most = max(report.peak_full, report.peak_sent, report.max_tokens)
    frame = _Frame(len(report.calls), nice_ticks(most)[-1])
    labels = [
        ("full history", report.calls[-1].full_tokens, "full"),
        ("sent", report.calls[-1].sent_tokens, "sent"),
        ("budget", report.max_tokens, "budget"),
    ]
    body = [
        _area(frame, report.calls, lambda call: call.full_tokens, "full"),
        _line(frame, report.calls, lambda call: call.full_tokens, "full"),
        _budget(frame, report.max_tokens),
        _line(frame, report.calls, lambda call: call.sent_tokens, "sent"),
    ]
    return _svg("Tokens of the full history and tokens sent, by call", frame, most, body, labels, report.calls)


def sent_chart(report: ReplayReport) -> str:
    """Draw what was sent, call by call, and how much of it stood alike in the call before."""
    most = max(report.peak_sent, report.max_tokens)
    frame = _Frame(len(report.calls), nice_ticks(most)[-1])
    last = report.calls[-1]
    labels = [
        ("sent", last.sent_tokens, "sent"),
        ("shared", last.shared_tokens, "shared"),
        ("budget", report.max_tokens, "budget"),
    ]
    body = [
        _area(frame, report.calls, lambda call: call.sent_tokens, "sent"),
        _area(frame, report.calls, lambda call: call.shared_tokens, "shared"),
        _line(frame, report.calls, lambda call: call.sent_tokens, "sent"),
        _line(frame, report.calls, lambda call: call.shared_tokens, "shared"),
        _budget(frame, report.max_tokens),
    ]
    return _svg("Tokens sent, and shared with the call before, by call", frame, most, body, labels, report.calls)


def _svg(
    title: str,
    frame: _Frame,
    most: float,
    body: list[str],
    labels: list[tuple[str, int, str]],
    calls: Sequence[ReplayCall],
) -> str:
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(title)}">',
        *_axes(frame, most),
        *body,
        *_compactions(frame, calls),
        *_labels(frame, labels),
        *_hovers(frame, calls),
        "</svg>",
    ]
    return "\n".join(parts)


def _axes(frame: _Frame, most: float) -> list[str]:
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = []
    for tick in nice_ticks(most):
        y = frame.y(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>')
        parts.append(f'<text class="axis" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:,}</text>')
    for number in [tick for tick in nice_ticks(frame.count) if 1 <= tick <= frame.count]:
        x = frame.x(number - 1)
        parts.append(f'<text class="axis" x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{number:,}</text>')
    middle = (_LEFT + right) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">model call</text>')
    return parts


def _points(frame: _Frame, calls: Sequence[ReplayCall], value: Callable[[ReplayCall], int]) -> str:
    return " ".join(f"{frame.x(index):.1f},{frame.y(value(call)):.1f}" for index, call in enumerate(calls))


def _line(frame: _Frame, calls: Sequence[ReplayCall], value: Callable[[ReplayCall], int], name: str) -> str:
    return f'<polyline class="line {name}" points="{_points(frame, calls, value)}"/>'


def _area(frame: _Frame, calls: Sequence[ReplayCall], value: Callable[[ReplayCall], int], name: str) -> str:
    ground = frame.y(0)
    first, last = frame.x(0), frame.x(len(calls) - 1)
    points = f"{first:.1f},{ground:.1f} {_points(frame, calls, value)} {last:.1f},{ground:.1f}"
    return f'<polygon class="area {name}" points="{points}"/>'


def _budget(frame: _Frame, tokens: int) -> str:
    y = frame.y(tokens)
    return f'<line class="line budget" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'


def _labels(frame: _Frame, labels: list[tuple[str, int, str]]) -> list[str]:
    """Name each line at its right end, moved apart where two would lie on one another."""
    parts, lowest = [], -math.inf
    placed = []
    for text, tokens, name in sorted(labels, key=lambda label: frame.y(label[1])):
        lowest = max(frame.y(tokens), lowest + _LABEL_GAP)
        placed.append((text, lowest, name))
    overflow = max(0.0, lowest - (_HEIGHT - _BOTTOM))
    for text, y, name in placed:
        x = _WIDTH - _RIGHT + 8
        parts.append(f'<text class="label {name}" x="{x}" y="{y - overflow + 4:.1f}">{escape(text)}</text>')
    return parts


def _compactions(frame: _Frame, calls: Sequence[ReplayCall]) -> list[str]:
    """Mark the calls before which a memory compacted the context."""
    return [
        f'<line class="line compaction" x1="{frame.x(index):.1f}" x2="{frame.x(index):.1f}" y1="{_TOP}" '
        f'y2="{_HEIGHT - _BOTTOM}"/>'
        for index, call in enumerate(calls)
        if call.compactions
    ]


def _hovers(frame: _Frame, calls: Sequence[ReplayCall]) -> list[str]:
    width = (_WIDTH - _LEFT - _RIGHT) / frame.count
    height = _HEIGHT - _TOP - _BOTTOM
    return [
        f'<rect class="hover" x="{frame.x(index) - width / 2:.2f}" y="{_TOP}" width="{width:.2f}" height="{height}">'
        f"<title>{escape(_tip(call))}</title></rect>"
        for index, call in enumerate(calls)
    ]


def _tip(call: ReplayCall) -> str:
    shared = percent(call.shared_tokens / call.sent_tokens) if call.sent_tokens else "-"
    lines = [
        f"call {call.number:,}, round {call.round:,}",
        f"full history: {call.full_tokens:,} tokens, {call.full_messages:,} messages",
        f"sent: {call.sent_tokens:,} tokens, {call.sent_messages:,} messages",
        f"shared with the call before: {call.shared_tokens:,} tokens ({shared})",
    ]
    lines += map(headline, call.compactions)
    if call.left:
        lines.append(f"left the window: messages {ranges(call.left)}")
    return "\n".join(lines)
