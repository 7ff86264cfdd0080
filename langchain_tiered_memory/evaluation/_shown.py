"""Which figures a comparison shows, and how they are written."""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory.evaluation._metric import Metric
from langchain_tiered_memory.evaluation.results import EvaluationReport

__all__ = ["figure_of", "measured", "radar_label", "radar_metrics", "share_metrics", "shown_share"]

_TELLING: Final = (
    "recall", "mrr", "ndcg", "contamination", "stale_first", "current", "as_of_accuracy", "constraint_retention",
    "context_recall",
)  # fmt: skip
_MILLISECONDS: Final = 1_000.0


def measured(report: EvaluationReport) -> list[Metric]:
    """The metrics that some target has a figure of; a kind of contamination that nobody has is left out."""
    found = []
    for metric in report.metrics:
        scores = [report.score(metric.key, one.name) for one in report.targets]
        if any(score is not None for score in scores) and not (
            metric.key.startswith("contamination.") and not any(scores)
        ):
            found.append(metric)
    return found


def share_metrics(report: EvaluationReport) -> list[str]:
    """The shares that some target has a figure of."""
    return [metric.key for metric in measured(report) if metric.kind == "share"]


def radar_metrics(report: EvaluationReport) -> list[str]:
    """The most telling shares, one of each: that of the largest k."""
    found: dict[str, str] = {}
    for key in share_metrics(report):
        name = key.partition("@")[0]
        if name in _TELLING:
            found[name] = key
    return list(found.values())


def radar_label(report: EvaluationReport, metric: str) -> str:
    """What stands at a corner of the radar: where less is better, what is shown is the rest to 1."""
    lower = next(one.lower_is_better for one in report.metrics if one.key == metric)
    return f"1 - {metric}" if lower else metric


def shown_share(report: EvaluationReport, metric: str, target: str) -> float:
    """A share, turned round where less is better, so that more is."""
    score = report.score(metric, target)
    if score is None:
        return 0.0
    lower = next(one.lower_is_better for one in report.metrics if one.key == metric)
    return 1 - score if lower else score


def figure_of(metric: Metric, score: float | None) -> str:
    """A figure as people read it."""
    if score is None:
        return "-"
    if metric.kind == "seconds":
        return f"{score * _MILLISECONDS:,.1f} ms"
    if metric.kind == "number":
        return f"{score:,.1f}"
    return f"{100 * score:.1f} %"
