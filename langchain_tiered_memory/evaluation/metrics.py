"""What is measured of an answer: each metric with its definition, its range and where it comes from.

A metric is called as LangSmith calls an evaluator, `metric(inputs, outputs, reference_outputs)`, and gives
`{"key": ..., "score": ...}`; a score of `None` says that the metric has nothing to say about the case, which then does
not count. So every metric here can be given to `langsmith.evaluate(evaluators=[...])`, and every LangSmith evaluator of
that signature can be given to `evaluate` here.

What a target is asked and what it answers are plain dicts:

| dict | key | meaning |
|---|---|---|
| `inputs` | `question`, `k`, `scope`, `as_of` | the question, how many records are wanted, whose memory, when |
| `outputs` | `ids` | ids of the records returned, best first |
| | `texts` | their texts, in the same order |
| | `context` | text of the whole request, from a target that builds one |
| | `tokens`, `shared_prefix` | of the request, from such a target |
| | `seconds` | how long the answer took |
| `reference_outputs` | `expected`, `stale` | ids that hold the answer; ids that held it once |
| | `faults` | by id, why a returned record should not have come |
| | `updated` | whether the answer has changed; without it, whether something is stale |
| | `past` | whether the question is about a moment before the present |
| | `texts`, `constraints` | texts of the expected records by id; texts that must be in the context |
| | `empty_recall` | what recall is where nothing is expected |
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from langchain_tiered_memory.evaluation.cases import FAULTS, Fault

__all__ = [
    "Evaluator",
    "Metric",
    "Values",
    "as_of_accuracy",
    "checked_number",
    "contamination",
    "contamination_eval",
    "current_at",
    "expected_ids",
    "ndcg_at",
    "precision_at",
    "recall_at",
    "recall_eval",
    "reciprocal_rank",
    "returned",
    "stale_first",
]

Values: TypeAlias = Mapping[str, Any]
Evaluator: TypeAlias = Callable[..., Any]
"""A metric of one's own: `(inputs, outputs, reference_outputs)` to `{"key": ..., "score": ...}`, a bool or a number."""
Kind: TypeAlias = Literal["share", "number", "seconds"]


@dataclass(frozen=True, slots=True)
class Metric:
    """A measurement of one answer, and how those of many are put into one figure.

    Attributes:
        key: Its name.
        measure: `(inputs, outputs, reference_outputs)` to a score, or `None` where it has nothing to say.
        definition: What the figure means, in a sentence.
        lower_is_better: Whether less is better.
        kind: A share from 0 to 1, a number, or seconds.
        percentile: Which percentile of the cases is the figure; `None` for their mean.
    """

    key: str
    measure: Callable[[Values, Values, Values], float | None]
    definition: str = ""
    lower_is_better: bool = False
    kind: Kind = "share"
    percentile: float | None = None

    def __call__(
        self, inputs: Values, outputs: Values, reference_outputs: Values | None = None
    ) -> dict[str, str | float | None]:
        """Measure one answer, as LangSmith calls an evaluator."""
        return {"key": self.key, "score": self.measure(inputs, outputs, reference_outputs or {})}

    def aggregate(self, scores: Sequence[float]) -> float | None:
        """The figure of many cases; `None` of none."""
        if not scores:
            return None
        return statistics.fmean(scores) if self.percentile is None else percentile_of(scores, self.percentile)


def percentile_of(values: Sequence[float], percentile: float) -> float:
    """The smallest value that so many percent of the values do not exceed (the nearest-rank method)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(percentile / 100 * len(ordered)) - 1)]


def returned_ids(outputs: Values, k: int | None = None) -> list[str]:
    """The ids that came back, each once, at its best place."""
    return list(dict.fromkeys(outputs.get("ids") or ()))[:k]


def expected_ids(reference: Values) -> set[str]:
    """The ids that hold the answer."""
    return set(reference.get("expected") or ())


def checked_number(number: int, name: str, of: str) -> int:
    """A whole number from 1 up.

    Raises:
        ValueError: It is none.
    """
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        msg = f"{name}={number!r} is no number of {of}: give a whole number from 1 up"
        raise ValueError(msg)
    return number


# --- ranking ----------------------------------------------------------------------------------------------------------


def recall_at(k: int) -> Metric:
    """How much of the evidence is among the first k records.

    |expected ∩ first k| / |expected|, from 0 to 1; with nothing expected the data set's `empty_recall`, or none.
    Source: as LoCoMo (Maharana et al., ACL 2024, arXiv 2402.17753) computes it for each question.
    """
    checked_number(k, "k", "records")

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not expected:
            empty: float | None = reference.get("empty_recall")
            return empty
        # An id that the labels name twice counts twice there, as in LoCoMo's own script.
        named = list(reference["expected"])
        found = set(returned_ids(outputs, k))
        return sum(one in found for one in named) / len(named)

    return Metric(f"recall@{k}", measure, f"share of the evidence among the first {k}")


def precision_at(k: int | None = None) -> Metric:
    """How much of what came back is evidence.

    |expected ∩ first k| / k, from 0 to 1; without k |expected ∩ returned| / |returned|, 0 for nothing returned. None
    where nothing is expected. Source: Manning, Raghavan, Schütze, Introduction to Information Retrieval (2008), ch. 8.
    """
    if k is not None:
        checked_number(k, "k", "records")

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not expected:
            return None
        found = returned_ids(outputs, k)
        size = k or len(found)
        return len(expected.intersection(found)) / size if size else 0.0

    if k is None:
        return Metric("precision", measure, "share of evidence in all that came back")
    return Metric(f"precision@{k}", measure, f"share of evidence in {k} places")


def reciprocal_rank() -> Metric:
    """How far up the first piece of evidence is; the mean over the cases is the MRR.

    1 / rank of the first expected record, from 0 (none came back) to 1. None where nothing is expected. Source:
    Voorhees, The TREC-8 Question Answering Track Report (1999).
    """

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not expected:
            return None
        return next((1 / rank for rank, one in enumerate(returned_ids(outputs), start=1) if one in expected), 0.0)

    return Metric("mrr", measure, "1 / rank of the first piece of evidence")


def ndcg_at(k: int) -> Metric:
    """How near the order of the first k is to the best possible one.

    Σ 1/log2(rank + 1) over the expected records among the first k, divided by what it would be with all of them in
    front; from 0 to 1. None where nothing is expected. Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation
    of IR techniques, ACM TOIS 20 (2002), with relevance 0 or 1.
    """
    checked_number(k, "k", "records")

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not expected:
            return None
        gains = (
            1 / math.log2(rank + 1) for rank, one in enumerate(returned_ids(outputs, k), start=1) if one in expected
        )
        best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(expected), k) + 1))
        return sum(gains) / best

    return Metric(f"ndcg@{k}", measure, f"order of the first {k} against the best possible")


# --- contamination ----------------------------------------------------------------------------------------------------


def contamination(fault: Fault | None = None) -> Metric:
    """How much of what came back should not have: it is no longer true, not yet, another user's, or of no use.

    |returned records with a fault| / |returned records|, from 0 to 1; 0 for nothing returned. All of what came back
    counts, however much was asked for, for all of it goes into the prompt. Source: the definition of
    `contamination_eval`, its kinds kept apart.

    Args:
        fault: Count only these: `"foreign"` (of another user or session), `"forbidden"` (by label), `"early"` (said
            after the moment that is asked about), `"superseded"` (a record took its place, and the memory was told),
            `"expired"` (its `valid_until` has passed), `"stale"` (its text is out of date, by label), or `"irrelevant"`
            (by label). `None` counts each of them.

    Raises:
        ValueError: There is no such fault.
    """
    if fault is not None and fault not in FAULTS:
        msg = f"fault={fault!r} is not known: use one of {', '.join(FAULTS)}, or None for all"
        raise ValueError(msg)

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        found = returned_ids(outputs)
        faults = reference.get("faults") or {}
        wrong = [one for one in found if one in faults and fault in (None, faults[one])]
        return len(wrong) / len(found) if found else 0.0

    what = "that should not have come back" if fault is None else f"that are {fault}"
    key = "contamination" if fault is None else f"contamination.{fault}"
    return Metric(key, measure, f"share of returned records {what}", lower_is_better=True)


def _is_update(reference: Values) -> bool:
    """Whether a question is about the present of something that has changed."""
    updated = reference.get("updated", bool(reference.get("stale")))
    return bool(updated and reference.get("expected") and not reference.get("past"))


def stale_first() -> Metric:
    """Whether an outdated record stands above the current one, so that its reader meets it first.

    1 if the best stale record is ranked above the best expected one, or came back without it, else 0; the mean is a
    share from 0 to 1. None where the answer has not changed, and for questions about the past. Source: measured so on
    the knowledge updates of BEAM (Tavakoli et al., 2025).
    """

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected, stale = expected_ids(reference), set(reference.get("stale") or ())
        if not _is_update(reference):
            return None
        first = next((one for one in returned_ids(outputs) if one in expected or one in stale), None)
        return float(first in stale)

    return Metric(
        "stale_first", measure, "share of updated answers whose old version comes first", lower_is_better=True
    )


def current_at(k: int) -> Metric:
    """Whether the current record of something that changed is among the first k.

    1 if an expected record is among the first k, else 0; the mean is a share from 0 to 1. None where the answer has not
    changed, and for questions about the past. Source: as `stale_first`, beside which it stands: to return everything
    would do for it alone.
    """
    checked_number(k, "k", "records")

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected = expected_ids(reference)
        if not _is_update(reference):
            return None
        return float(not expected.isdisjoint(returned_ids(outputs, k)))

    return Metric(f"current@{k}", measure, f"share of updated answers that are among the first {k}")


def as_of_accuracy() -> Metric:
    """Whether a question about the past is answered with what was true then.

    1 if the first returned record that is a version of the answer (expected or stale) is an expected one, else 0, also
    when none came back; the mean is a share from 0 to 1. None for questions about the present, and where there is no
    other version. Source: exact match over versions, as for point-in-time joins in temporal databases (Snodgrass,
    Developing Time-Oriented Database Applications in SQL, 2000).
    """

    def measure(_: Values, outputs: Values, reference: Values) -> float | None:
        expected, stale = expected_ids(reference), set(reference.get("stale") or ())
        if not reference.get("past") or not expected or not stale:
            return None
        first = next((one for one in returned_ids(outputs) if one in expected or one in stale), None)
        return float(first in expected)

    return Metric("as_of_accuracy", measure, "share of questions about the past answered as of then")


def returned() -> Metric:
    """How many records came back; a number from 0 up, to hold beside the k that was asked for."""

    def measure(_: Values, outputs: Values, __: Values) -> float | None:
        return float(len(returned_ids(outputs)))

    return Metric("returned", measure, "records a question", lower_is_better=True, kind="number")


# --- the two of the source --------------------------------------------------------------------------------------------


def _all_found(_: Values, outputs: Values, reference: Values) -> float | None:
    expected = expected_ids(reference)
    if not expected:
        return None
    return len(expected.intersection(returned_ids(outputs))) / len(expected)


recall_eval: Final = Metric("recall_eval", _all_found, "share of the known events that are recalled")
"""How many of the known events come back when they are asked for: |expected ∩ returned| / |expected|, from 0 to 1.

Meant for 100 known events, `MemoryDataset.synthetic(events=100)`; a memory should reach 0.8.
"""

contamination_eval: Final = Metric(
    "contamination_eval", contamination().measure, "share of returned records that mislead", lower_is_better=True
)
"""How much of what comes back misleads: `contamination` over 100 known events, from 0 to 1; at most 0.1 is good."""
