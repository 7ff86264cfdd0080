"""Reports and forgetting curves as matplotlib figures, for a paper or a notebook."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.evaluation.forgetting import ForgettingCurve, ebbinghaus
from langchain_tiered_memory.evaluation.metrics import Metric
from langchain_tiered_memory.evaluation.results import EvaluationReport, measured

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_bars", "plot_forgetting", "plot_radar"]

_TELLING: Final = frozenset(
    (
        "recall",
        "mrr",
        "ndcg",
        "contamination",
        "stale_first",
        "current",
        "as_of_accuracy",
        "constraint_retention",
        "context_recall",
    )
)
_STEPS: Final = 200
_NARROW: Final = 0.1
"""How far from the middle, as a share of the radius, a label of the radar still stands above or below it."""
_LEGEND: Final = 80
"""Characters that fit side by side in the radar's legend."""


def plot_bars(report: EvaluationReport, metrics: Sequence[str] | None = None) -> Figure:
    """Draw each metric's figure as a group of bars, one for each target.

    Args:
        report: What was measured.
        metrics: Which; every share that some target has a figure of, if not given.

    Raises:
        ImportError: matplotlib is not installed; names the extra.
    """
    chosen = list(metrics or (metric.key for metric in measured(report) if metric.kind == "share"))
    figure: Figure = _figure((max(6.0, 0.9 * len(chosen) + 2), 4.0))
    axes = figure.subplots()
    width = 0.8 / len(report.targets)
    for number, target in enumerate(report.targets):
        values = [report.score(metric, target.name) or 0.0 for metric in chosen]
        places = [place - 0.4 + (number + 0.5) * width for place in range(len(chosen))]
        axes.bar(places, values, width, label=_plain(target.name))
    axes.set_xticks(range(len(chosen)), map(_plain, chosen), rotation=35, ha="right")
    axes.set_ylim(0, 1)
    axes.set_title(_plain(report.dataset.name))
    figure.legend(loc="outside right upper")
    return figure


def plot_radar(report: EvaluationReport, metrics: Sequence[str] | None = None) -> Figure:
    """Draw each target as a polygon over the metrics, further out the better; where less is better, 1 less the figure.

    Args:
        report: What was measured.
        metrics: Which; the most telling shares if not given.

    Raises:
        ImportError: matplotlib is not installed; names the extra.
        ValueError: There are fewer than three metrics.
    """
    chosen = list(metrics or _telling(report))
    if len(chosen) < 3:  # noqa: PLR2004  # the corners of a polygon
        msg = f"a radar needs three metrics, got {', '.join(chosen) or 'none'}: pass more, or plot bars"
        raise ValueError(msg)
    figure: Figure = _figure((7.5, 6.0))
    axes = figure.add_subplot(projection="polar")
    angles = [2 * math.pi * place / len(chosen) for place in range(len(chosen))]
    for target in report.targets:
        values = [_outward(report.metric(metric), report.score(metric, target.name)) for metric in chosen]
        axes.plot([*angles, angles[0]], [*values, values[0]], label=_plain(target.name))
        axes.fill(angles, values, alpha=0.1)
    axes.set_xticks(
        angles, [_plain(f"1 - {metric}" if report.metric(metric).lower_is_better else metric) for metric in chosen]
    )
    for label, angle in zip(axes.get_xticklabels(), angles, strict=True):  # away from the circle, not across it
        side = math.cos(angle)
        label.set_horizontalalignment("center" if abs(side) < _NARROW else "left" if side > 0 else "right")
    axes.set_ylim(0, 1)
    axes.set_title(_plain(report.dataset.name), pad=20)
    longest = max(len(target.name) for target in report.targets)
    figure.legend(loc="outside lower center", ncols=max(1, min(3, _LEGEND // (longest + 8))))
    return figure


def _telling(report: EvaluationReport) -> list[str]:
    """The most telling shares, one of each: that of the largest k."""
    shares = [metric.key for metric in measured(report) if metric.kind == "share"]
    found = {key.partition("@")[0]: key for key in shares}
    return [key for name, key in found.items() if name in _TELLING]


def _outward(metric: Metric, score: float | None) -> float:
    """A share, turned round where less is better, so that more is."""
    return 0.0 if score is None else 1 - score if metric.lower_is_better else score


def plot_forgetting(curve: ForgettingCurve) -> Figure:
    """Draw recall against age: points for what was measured, lines for the fits, and what a person keeps.

    Raises:
        ImportError: matplotlib or scipy is not installed; names the extra.
    """
    figure: Figure = _figure((9.0, 4.0))
    axes = figure.subplots()
    first, last = curve.ages[0], curve.ages[-1]
    days = [first * (last / first) ** (step / _STEPS) for step in range(_STEPS + 1)]
    for number, fit in enumerate(curve.fit()):
        (line,) = axes.plot(days, [fit.recall(day) for day in days], alpha=0.6)
        measured = [curve.recall(fit.lasting, age) for age in curve.ages]
        size = 10 - 3 * number  # so that points in one place are all seen
        axes.plot(curve.ages, measured, "o", color=line.get_color(), label=fit.lasting, markersize=max(3, size))
    axes.plot(days, [ebbinghaus(day) for day in days], ":", color="gray", label="people (Ebbinghaus 1885)")
    axes.set_xscale("log")
    axes.set_xticks(curve.ages, [f"{age:g}" for age in curve.ages])
    axes.minorticks_off()
    axes.set_ylim(-0.02, 1.05)
    axes.set_xlabel("days")
    axes.set_ylabel("recall")
    axes.set_title(_plain(curve.name))
    figure.legend(loc="outside right upper")
    return figure


def _figure(size: tuple[float, float]) -> Any:  # noqa: ANN401  # matplotlib's types are the extra's
    """A figure of its own: pyplot would keep every one of them until it is closed."""
    return import_optional("matplotlib.figure", needed_by="a plot").Figure(figsize=size, layout="constrained")


def _plain(text: str) -> str:
    """The text as it is: between two dollars matplotlib would read a formula."""
    return text.replace("$", r"\$")
