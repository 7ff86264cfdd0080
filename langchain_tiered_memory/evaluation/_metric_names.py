"""Metrics by their names, and those that an evaluation measures where nothing else is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from langchain_tiered_memory.evaluation._metric import Evaluator, Metric, Values
from langchain_tiered_memory.evaluation.cases import FAULTS
from langchain_tiered_memory.evaluation.context_metrics import (
    constraint_retention,
    context_recall,
    latency,
    shared_prefix,
    tokens_per_round,
)
from langchain_tiered_memory.evaluation.metrics import (
    as_of_accuracy,
    contamination,
    contamination_eval,
    current_at,
    ndcg_at,
    precision_at,
    recall_at,
    recall_eval,
    reciprocal_rank,
    returned,
    stale_first,
)
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import TokenCounter

__all__ = ["default_metrics", "metric_of"]

_PERCENTILES: Final = (50, 95, 99)
_PLAIN: Final[Mapping[str, Callable[[], Metric]]] = {
    "precision": precision_at,
    "mrr": reciprocal_rank,
    "contamination": contamination,
    "stale_first": stale_first,
    "as_of_accuracy": as_of_accuracy,
    "returned": returned,
    "constraint_retention": constraint_retention,
    "tokens_per_round": tokens_per_round,
    "shared_prefix": shared_prefix,
    "recall_eval": lambda: recall_eval,
    "contamination_eval": lambda: contamination_eval,
    **{f"contamination.{fault}": partial(contamination, fault) for fault in FAULTS},
    **{f"latency_p{percentile}": partial(latency, percentile) for percentile in _PERCENTILES},
}
_AT: Final[Mapping[str, Callable[[int], Metric]]] = {
    "recall": recall_at,
    "precision": precision_at,
    "ndcg": ndcg_at,
    "current": current_at,
    "context_recall": context_recall,
}


def metric_of(given: str | Metric | Evaluator) -> Metric:
    """The metric of a name such as `"recall@5"`, or of an evaluator of one's own.

    Raises:
        ValueError: There is no such metric; lists those that there are.
    """
    if isinstance(given, Metric):
        return given
    if not isinstance(given, str):
        return _own(given)
    if given in _PLAIN:
        return _PLAIN[given]()
    name, _, number = given.partition("@")
    if name in _AT and number.isdecimal() and int(number) > 0:
        return _AT[name](int(number))
    known = ", ".join([*(f"{one}@K" for one in _AT), *_PLAIN])
    msg = f"no metric {given!r}: there are {known}, or pass a function (inputs, outputs, reference_outputs)"
    raise ValueError(msg)


def _own(evaluator: Any) -> Metric:  # noqa: ANN401  # callers without type checks too
    if not callable(evaluator):
        msg = f"{evaluator!r} is no metric: pass a name, a Metric, or a function (inputs, outputs, reference_outputs)"
        raise ValueError(msg)  # noqa: TRY004  # one error for all that is no metric
    key = str(getattr(evaluator, "__name__", type(evaluator).__name__))

    def measure(inputs: Values, outputs: Values, reference: Values) -> float | None:
        found = evaluator(inputs, outputs, reference)
        score = found.get("score") if isinstance(found, Mapping) else getattr(found, "score", found)
        return None if score is None else float(score)

    return Metric(key, measure, (evaluator.__doc__ or "").strip().partition("\n")[0], kind="number")


def default_metrics(
    ks: Sequence[int], *, max_tokens: int | None = None, counter: TokenCounter | None = None
) -> tuple[Metric, ...]:
    """All metrics that need nothing more than a data set and a target.

    Args:
        ks: How far down the ranking to look.
        max_tokens: A budget for `context_recall`; without it that is left out.
        counter: Counts tokens; an `EstimatingCounter` if not given.
    """
    counting = counter or EstimatingCounter()
    last = ks[-1]
    metrics = [
        *map(recall_at, ks),
        precision_at(last),
        precision_at(),
        reciprocal_rank(),
        ndcg_at(last),
        contamination(),
        *map(contamination, FAULTS),
        stale_first(),
        *map(current_at, ks),
        as_of_accuracy(),
        returned(),
        constraint_retention(),
        tokens_per_round(counting),
        shared_prefix(),
        *map(latency, _PERCENTILES),
    ]
    if max_tokens is not None:
        metrics.insert(-4, context_recall(max_tokens, counting))
    return tuple(metrics)
