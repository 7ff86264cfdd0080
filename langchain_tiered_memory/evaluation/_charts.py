"""A comparison of targets as SVG elements, drawn without a library: bars, a radar, and a curve of forgetting."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Final

from langchain_tiered_memory.evaluation._shown import figure_of, radar_label, radar_metrics, share_metrics, shown_share
from langchain_tiered_memory.evaluation.results import EvaluationReport

__all__ = ["COLOURS", "bars_svg", "radar_svg"]

COLOURS: Final = 6
"""How many colours the page has; further targets begin anew."""

_WIDTH: Final = 960
_NAMES: Final = 190
_VALUES: Final = 80
_BAR, _GAP = 13, 16
_RADIUS: Final = 150
_CORNERS: Final = 3
_RINGS: Final = (0.25, 0.5, 0.75, 1.0)


def bars_svg(report: EvaluationReport) -> str:
    """Draw a group of bars for each share, one for each target."""
    chosen = share_metrics(report)
    height = len(chosen) * (len(report.targets) * _BAR + _GAP) + _GAP
    room = _WIDTH - _NAMES - _VALUES
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="Figures of each target as bars">']
    y = float(_GAP)
    for key in chosen:
        metric = next(one for one in report.metrics if one.key == key)
        better = " (less is better)" if metric.lower_is_better else ""
        middle = y + len(report.targets) * _BAR / 2 + 4
        parts.append(f'<text class="axis" x="{_NAMES - 10}" y="{middle:.1f}" text-anchor="end">{escape(key)}</text>')
        for number, target in enumerate(report.targets):
            score = report.score(key, target.name)
            width = room * min(1.0, max(0.0, score or 0.0))
            tip = escape(f"{target.name}: {key} {figure_of(metric, score)}{better}")
            parts.append(
                f'<rect class="bar c{number % COLOURS}" x="{_NAMES}" y="{y:.1f}" width="{width:.1f}" '
                f'height="{_BAR - 3}"><title>{tip}</title></rect>'
                f'<text class="axis" x="{_NAMES + width + 6:.1f}" y="{y + _BAR - 4:.1f}">'
                f"{escape(figure_of(metric, score))}</text>"
            )
            y += _BAR
        y += _GAP
    return "\n".join([*parts, "</svg>"])


def radar_svg(report: EvaluationReport) -> str:
    """Draw a polygon for each target, further out the better; nothing where there are too few figures for one."""
    chosen = radar_metrics(report)
    if len(chosen) < _CORNERS:
        return ""
    x, y = _WIDTH / 2, _RADIUS + 40.0
    parts = [f'<svg viewBox="0 0 {_WIDTH} {2 * _RADIUS + 80}" role="img" aria-label="Targets as a radar">']
    for ring in _RINGS:
        points = _polygon([ring] * len(chosen), x, y)
        parts.append(f'<polygon class="ring" points="{points}"/>')
    for place, key in enumerate(chosen):
        end_x, end_y = _corner(place, len(chosen), 1.0, x, y)
        text_x, text_y = _corner(place, len(chosen), 1.1, x, y)
        anchor = "middle" if abs(text_x - x) < _GAP else "start" if text_x > x else "end"
        name = radar_label(report, key)
        parts.append(f'<line class="ring" x1="{x}" y1="{y}" x2="{end_x:.1f}" y2="{end_y:.1f}"/>')
        parts.append(
            f'<text class="axis" x="{text_x:.1f}" y="{text_y + 4:.1f}" text-anchor="{anchor}">{escape(name)}</text>'
        )
    for number, target in enumerate(report.targets):
        values = [shown_share(report, key, target.name) for key in chosen]
        parts.append(
            f'<polygon class="shape c{number % COLOURS}" points="{_polygon(values, x, y)}">'
            f"<title>{escape(target.name)}</title></polygon>"
        )
    return "\n".join([*parts, "</svg>"])


def _polygon(values: Sequence[float], x: float, y: float) -> str:
    corners = (_corner(place, len(values), value, x, y) for place, value in enumerate(values))
    return " ".join(f"{at_x:.1f},{at_y:.1f}" for at_x, at_y in corners)


def _corner(place: int, count: int, value: float, x: float, y: float) -> tuple[float, float]:
    angle = 2 * math.pi * place / count - math.pi / 2
    return x + value * _RADIUS * math.cos(angle), y + value * _RADIUS * math.sin(angle)
