"""What comes of a case, of a target, and of a limit that is missed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from langchain_tiered_memory.errors import TieredMemoryError

__all__ = ["CaseResult", "EvaluationFailed", "Shortfall", "TargetResult", "limits_of"]


class EvaluationFailed(TieredMemoryError, AssertionError):  # noqa: N818  # it says what happened, as a failed test does
    """Raised by `check` when a figure misses its limit.

    Attributes:
        shortfalls: Each figure that missed, with the cases that broke it, worst first.
    """

    def __init__(self, message: str, shortfalls: Sequence[Shortfall]) -> None:
        super().__init__(message)
        self.shortfalls = tuple(shortfalls)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case as one target answered it.

    Attributes:
        case_id: The case.
        scores: A score for each metric of the report, in its order; `None` where the metric has nothing to say.
        returned: Ids of the records that came back, best first.
        faults: By id, why a returned record should not have come.
    """

    case_id: str
    scores: tuple[float | None, ...]
    returned: tuple[str, ...]
    faults: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TargetResult:
    """What one target did.

    Attributes:
        name: The target.
        cases: Its cases, in the order of the data set.
        tell_seconds: How long it took to be told everything; 0 where it was not told anything.
        resumed: How many of the cases come from an earlier run.
    """

    name: str
    cases: tuple[CaseResult, ...] = field(repr=False)
    tell_seconds: float = 0.0
    resumed: int = 0


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A figure that missed its limit.

    Attributes:
        target: Whose figure it is.
        metric: Which.
        score: What it is; `None` where no case said anything.
        limit: What was asked for.
        cases: The cases that broke it, worst first.
    """

    target: str
    metric: str
    score: float | None
    limit: float
    cases: tuple[CaseResult, ...]


def limits_of(text: str) -> dict[str, float]:
    """Limits as the command takes them: `recall=0.8,contamination=0.1`.

    Raises:
        ValueError: It is no list of limits.
    """
    limits: dict[str, float] = {}
    for part in filter(None, (one.strip() for one in text.split(","))):
        name, _, number = (one.strip() for one in part.partition("="))
        try:
            limit = float(number)
        except ValueError:
            limit = math.nan
        if not name or not math.isfinite(limit):
            msg = f"{part!r} is no limit: write a metric, = and a number, such as recall=0.8,contamination=0.1"
            raise ValueError(msg)
        if name in limits:
            msg = f"{name} has two limits, {limits[name]:g} and {limit:g}: keep one"
            raise ValueError(msg)
        limits[name] = limit
    if not limits:
        msg = f"{text!r} holds no limit: write such as recall=0.8,contamination=0.1"
        raise ValueError(msg)
    return limits
