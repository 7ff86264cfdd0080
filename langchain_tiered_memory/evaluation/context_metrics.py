"""Metrics of what reaches the model: constraints, evidence within a budget, tokens, the prompt cache, and time."""

from __future__ import annotations

from langchain_tiered_memory.evaluation._metric import Metric, Values, checked_number, expected_ids
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import TokenCounter

__all__ = ["constraint_retention", "context_recall", "latency", "shared_prefix", "tokens_per_round"]


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
