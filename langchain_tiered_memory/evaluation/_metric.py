"""What a metric is, and what every metric reads."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

__all__ = ["Evaluator", "Metric", "Values", "checked_number", "expected_ids", "percentile_of", "returned_ids"]

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
