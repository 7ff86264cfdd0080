"""Metrics of what reaches the model, and the metrics that an evaluation measures, by their names."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from langchain_tiered_memory.evaluation.cases import FAULTS
from langchain_tiered_memory.evaluation.metrics import (
    Evaluator,
    Metric,
    Values,
    as_of_accuracy,
    checked_number,
    contamination,
    contamination_eval,
    current_at,
    expected_ids,
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

__all__ = [
    "constraint_retention",
    "context_recall",
    "default_metrics",
    "latency",
    "metric_of",
    "shared_prefix",
    "tokens_per_round",
]

_NAMES: Final = ("inputs", "outputs", "reference_outputs")
"""What LangSmith calls an evaluator's parameters."""
_PERCENTILES: Final = (50, 95, 99)


def constraint_retention() -> Metric:
    """How many of the rules and exact values are in the context word for word, after it was compacted.

    |constraints found in the context| / |constraints|, from 0 to 1; white space is compared as one space. None where
    there are no constraints, or the target builds no context. Source: the package's invariant that constraints survive.
    """

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        constraints = reference.get("constraints") or ()
        context = outputs.get("context")
        if not constraints or context is None:
            return None
        text = _plain(context)
        return sum(_plain(one) in text for one in constraints) / len(constraints)

    return Metric("constraint_retention", measure, "share of constraints in the context word for word")


def context_recall(max_tokens: int, counter: TokenCounter | None = None) -> Metric:
    """How much of the evidence reaches the model within a budget.

    |expected records whose text is in the context| / |expected|, from 0 to 1. The context is what the target builds; of
    a target that only returns records it is these, best first, as many as fit the budget whole. None where nothing is
    expected. Source: context recall as in RAGAS (Es et al., EACL 2024), with evidence by id in place of a judge.

    Args:
        max_tokens: The budget.
        counter: Counts tokens; an `EstimatingCounter` if not given.
    """
    checked_number(max_tokens, "max_tokens", "tokens")
    counting = counter or EstimatingCounter()

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not expected:
            return None
        context = outputs.get("context")
        if context is not None:
            texts, whole = reference.get("texts") or {}, _plain(context)
            return sum(one in texts and _plain(texts[one]) in whole for one in expected) / len(expected)
        inside, spent = set(), 0
        for one, text in zip(outputs.get("ids") or (), outputs.get("texts") or (), strict=False):
            spent += counting.count_text(text)
            if spent > max_tokens:
                break
            inside.add(one)
        return len(expected & inside) / len(expected)

    return Metric(f"context_recall@{max_tokens}", measure, f"share of the evidence within {max_tokens:,} tokens")


def tokens_per_round(counter: TokenCounter | None = None) -> Metric:
    """What the memory adds to each round, in tokens.

    Tokens of the whole request, from a target that builds one; otherwise of the texts that came back. From 0 up, by
    adding them.

    Args:
        counter: Counts tokens; an `EstimatingCounter` if not given.
    """
    counting = counter or EstimatingCounter()

    def measure(_: Values, outputs: Values, __: Values) -> float | None:
        given = outputs.get("tokens")
        if given is not None:
            return float(given)
        return float(sum(map(counting.count_text, outputs.get("texts") or ())))

    return Metric("tokens_per_round", measure, "tokens a round", lower_is_better=True, kind="number")


def shared_prefix() -> Metric:
    """How much of a request stands alike at the start of the one before, which a provider's prompt cache can serve.

    Tokens in common from the first message on / tokens sent, from 0 to 1, over the rounds of the conversation. None of
    a target that builds no requests. Source: the rule by which providers cache prompts; `replay` measures it.
    """

    def measure(_: Values, outputs: Values, __: Values) -> float | None:
        share: float | None = outputs.get("shared_prefix")
        return share

    return Metric("shared_prefix", measure, "share of the tokens sent that a prompt cache can serve")


def latency(percentile: float) -> Metric:
    """How long an answer takes: a percentile over the cases, in seconds by the wall clock, by nearest rank.

    Args:
        percentile: Which, above 0 and at most 100.

    Raises:
        ValueError: It is none.
    """
    if not 0 < percentile <= 100:  # noqa: PLR2004  # per cent
        msg = f"percentile={percentile!r}: give a number above 0 and at most 100"
        raise ValueError(msg)

    def measure(_: Values, outputs: Values, __: Values) -> float | None:
        seconds: float | None = outputs.get("seconds")
        return seconds

    what = f"{percentile:g} % of the answers took no longer"
    key = f"latency_p{percentile:g}"
    return Metric(key, measure, what, lower_is_better=True, kind="seconds", percentile=percentile)


def _plain(text: str) -> str:
    return " ".join(text.split())


# --- by their names --------------------------------------------------------------------------------------------------


def metric_of(given: str | Metric | Evaluator) -> Metric:
    """The metric of a name such as `"recall@5"`, or of an evaluator of one's own.

    Raises:
        ValueError: There is no such metric; lists those that there are.
    """
    if isinstance(given, Metric):
        return given
    if not isinstance(given, str):
        return _own(given)
    number = given.partition("@")[2]
    k = int(number) if number.isdecimal() and int(number) else 5
    known = (*default_metrics((k,), max_tokens=k), recall_eval, contamination_eval)
    found = next((metric for metric in known if metric.key == given), None)
    if found is not None:
        return found
    names = ", ".join(metric.key.replace(f"@{k}", "@K") for metric in known)
    msg = f"no metric {given!r}: there are {names}, or pass a function (inputs, outputs, reference_outputs)"
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
