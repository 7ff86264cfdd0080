"""Metrics by their names, and those that an evaluation measures where nothing else is asked for."""

from __future__ import annotations

import inspect
import math
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

_NAMES: Final = ("inputs", "outputs", "reference_outputs")
"""What LangSmith calls an evaluator's parameters."""
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
    named = _named(evaluator)

    def measure(*given: Values) -> float | None:
        values = dict(zip(_NAMES, given, strict=True))
        found = evaluator(*given) if named is None else evaluator(**{name: values[name] for name in named})
        score = found.get("score") if isinstance(found, Mapping) else getattr(found, "score", found)
        if score is None:
            return None
        try:
            number = float(score)
        except (TypeError, ValueError):
            number = math.nan
        if not math.isfinite(number):
            msg = f"the metric {key} gave {score!r:.200}: give a number, a bool, or None where it has nothing to say"
            raise ValueError(msg)
        return number

    return Metric(key, measure, (evaluator.__doc__ or "").strip().partition("\n")[0], kind="number")


def _named(evaluator: Callable[..., Any]) -> list[str] | None:
    """Which of LangSmith's names an evaluator takes; `None` for one that takes all three by their places."""
    try:
        parameters = inspect.signature(evaluator).parameters
    except (TypeError, ValueError):  # of a builtin
        return None
    varying = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    every = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    named = [name for name in _NAMES if every or name in parameters]
    needed = {name for name, one in parameters.items() if one.default is one.empty and one.kind not in varying}
    return named if named and needed <= set(named) else None


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
