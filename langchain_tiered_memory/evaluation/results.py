"""What an evaluation found: every case, the figures over all of them, and the check for CI."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.evaluation._metric import Metric
from langchain_tiered_memory.evaluation.datasets import MemoryDataset

__all__ = ["CaseResult", "EvaluationFailed", "EvaluationReport", "Shortfall", "TargetResult", "limits_of"]

_SHOWN: Final = 5
_DIGITS: Final = 6


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


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """The figures of one or several targets on one data set, down to every case.

    ```python
    from langchain_tiered_memory.evaluation import MemoryDataset, evaluate

    report = evaluate(lambda inputs: [], MemoryDataset.synthetic(events=10))
    assert report.score("recall@5") == 0
    report.check(contamination=0.1)  # and recall=0.8 would raise, and name the cases
    ```

    Attributes:
        dataset: What was asked.
        metrics: What was measured.
        targets: What was evaluated, in order; the first one is what `check` and `score` are about.
        k: How many records were asked for.
    """

    dataset: MemoryDataset = field(repr=False)
    metrics: tuple[Metric, ...] = field(repr=False)
    targets: tuple[TargetResult, ...]
    k: int

    # --- figures ------------------------------------------------------------------------------------------------------

    def score(self, metric: str, target: str | None = None, *, category: str | None = None) -> float | None:
        """One figure; `None` where no case said anything.

        Args:
            metric: Its key, such as `"recall@5"`, or without the number where there is only one such.
            target: Whose; the first target's if not given.
            category: Over the cases of one category only.

        Raises:
            KeyError: There is no such metric or target; lists those that there are.
        """
        index = self._index(metric)
        cases = self.target(target).cases
        if category is not None:
            wanted = {case.id for case in self.dataset.cases if case.category == category}
            cases = tuple(case for case in cases if case.case_id in wanted)
        scores = [score for case in cases if (score := case.scores[index]) is not None]
        return self.metrics[index].aggregate(scores)

    def scores(self, target: str | None = None, *, category: str | None = None) -> dict[str, float | None]:
        """Every figure of a target, by metric."""
        return {metric.key: self.score(metric.key, target, category=category) for metric in self.metrics}

    def metric(self, name: str) -> Metric:
        """The metric that a name stands for, as `score` and `check` take it.

        Raises:
            KeyError: There is no such metric; lists those that there are.
        """
        return self.metrics[self._index(name)]

    def said(self, metric: str, target: str | None = None) -> int:
        """How many cases a figure is made of."""
        index = self._index(metric)
        return sum(case.scores[index] is not None for case in self.target(target).cases)

    def target(self, name: str | None = None) -> TargetResult:
        """The result of a target; the first if not named.

        Raises:
            KeyError: There is no such target.
        """
        if name is None:
            return self.targets[0]
        for one in self.targets:
            if one.name == name:
                return one
        msg = f"no target {name!r}: there are {', '.join(repr(one.name) for one in self.targets)}"
        raise KeyError(msg)

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of the cases, in the order in which they appear."""
        return tuple(dict.fromkeys(case.category for case in self.dataset.cases if case.category))

    def _index(self, metric: str) -> int:
        keys = [one.key for one in self.metrics]
        wanted = metric if metric in keys else metric.replace("_", ".", 1)
        if wanted in keys:
            return keys.index(wanted)
        alike = [key for key in keys if key.partition("@")[0] == metric]
        at_k = f"{metric}@{self.k}"
        if at_k in alike or len(alike) == 1:
            return keys.index(at_k if at_k in alike else alike[0])
        problem = f"{metric!r} may be {' or '.join(alike)}" if alike else f"no metric {metric!r} was measured"
        msg = f"{problem}: there are {', '.join(keys)}"
        raise KeyError(msg)

    # --- the check ----------------------------------------------------------------------------------------------------

    def check(self, limits: Mapping[str, float] | None = None, /, *, target: str | None = None, **more: float) -> None:
        """Hold figures against limits, for CI: at least so much, or at most where less is better.

        Args:
            limits: By the metric's key, such as `{"recall@5": 0.8}`.
            target: Whose figures; the first target's if not given.
            **more: The same by keyword: `recall=0.8`, `contamination=0.1`, `contamination_foreign=0`.

        Raises:
            EvaluationFailed: A figure misses its limit, or no case said anything; names the cases that broke it.
            KeyError: There is no such metric or target.
            ValueError: A limit is no number, or there is none.
        """
        wanted = {**(limits or {}), **more}
        if not wanted:
            msg = "no limit was given: pass some, such as recall=0.8 and contamination=0.1"
            raise ValueError(msg)
        found = [one for metric, limit in wanted.items() if (one := self._shortfall(metric, limit, target)) is not None]
        if found:
            raise EvaluationFailed("\n".join(map(self._described, found)), found)

    def _shortfall(self, metric: str, limit: float, target: str | None) -> Shortfall | None:
        if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit):
            msg = f"the limit of {metric} is {limit!r}: give a number"
            raise ValueError(msg)  # one error for every limit that is none
        index = self._index(metric)
        one = self.metrics[index]
        result = self.target(target)
        score = self.score(one.key, result.name)
        if score is not None and (score <= limit if one.lower_is_better else score >= limit):
            return None
        sign = 1 if one.lower_is_better else -1
        pairs = [
            (sign * given, case)
            for case in result.cases
            if (given := case.scores[index]) is not None and sign * given > sign * limit
        ]
        worst = tuple(case for _, case in sorted(pairs, key=lambda pair: -pair[0]))
        return Shortfall(result.name, one.key, score, float(limit), worst)

    def _described(self, one: Shortfall) -> str:
        metric = self.metric(one.metric)
        bound = "at most" if metric.lower_is_better else "at least"
        figure = "no case says anything about it" if one.score is None else f"it is {one.score:.4f}"
        lines = [f"{one.metric} of {one.target} on {self.dataset.name}: {bound} {one.limit:g} was asked for, {figure}"]
        cases = {case.id: case for case in self.dataset.cases}
        for result in one.cases[:_SHOWN]:
            faults = f", with {_counted(result.faults)}" if result.faults else ""
            expected = ", ".join(cases[result.case_id].expected) or "nothing"
            returned = ", ".join(result.returned[: self.k]) or "nothing"
            lines.append(
                f"  {result.case_id} {cases[result.case_id].question!r}: expected {expected}; got {returned}{faults}"
            )
        if len(one.cases) > _SHOWN:
            lines.append(f"  and {len(one.cases) - _SHOWN:,} more, in .shortfalls")
        return "\n".join(lines)

    # --- as something else --------------------------------------------------------------------------------------------

    def compared_with(self, *others: EvaluationReport) -> EvaluationReport:
        """One report of the targets of several, which were asked and measured the same.

        Raises:
            ValueError: The data set, the metrics or k differ, or two targets have the same name.
        """
        targets = list(self.targets)
        keys = [metric.key for metric in self.metrics]
        for other in others:
            same = other.k == self.k and [metric.key for metric in other.metrics] == keys
            if not same or other.dataset.digest != self.dataset.digest:
                msg = "reports can be compared of the same data set, metrics and k: evaluate the targets alike"
                raise ValueError(msg)
            targets += other.targets
        names = [one.name for one in targets]
        if len(set(names)) != len(names):
            msg = f"two targets have the same name among {', '.join(names)}: pass name="
            raise ValueError(msg)
        return EvaluationReport(self.dataset, self.metrics, tuple(targets), self.k)

    def to_dict(self, *, cases: bool = True) -> dict[str, Any]:
        """The report as plain data for JSON.

        Args:
            cases: Whether every case is in it.
        """
        return {
            "dataset": {
                "name": self.dataset.name,
                "digest": self.dataset.digest,
                "cases": len(self.dataset.cases),
                "records": len(self.dataset.records),
                "now": self.dataset.now.isoformat(),
            },
            "k": self.k,
            "metrics": {
                metric.key: {"definition": metric.definition, "lower_is_better": metric.lower_is_better}
                for metric in self.metrics
            },
            "targets": [self._target_dict(one, cases=cases) for one in self.targets],
        }

    def _target_dict(self, one: TargetResult, *, cases: bool) -> dict[str, Any]:
        plain: dict[str, Any] = {
            "name": one.name,
            "tell_seconds": round(one.tell_seconds, _DIGITS),
            "scores": {key: _rounded(score) for key, score in self.scores(one.name).items()},
            "cases_measured": {metric.key: self.said(metric.key, one.name) for metric in self.metrics},
            "categories": {
                category: {key: _rounded(score) for key, score in self.scores(one.name, category=category).items()}
                for category in self.categories
            },
        }
        if cases:
            keys = [metric.key for metric in self.metrics]
            plain["cases"] = [
                {
                    "id": case.case_id,
                    "scores": {key: _rounded(score) for key, score in zip(keys, case.scores, strict=True)},
                    "returned": list(case.returned),
                    "faults": dict(case.faults),
                }
                for case in one.cases
            ]
        return plain

    def _repr_html_(self) -> str:
        """The figures as a table, for a notebook."""
        from langchain_tiered_memory.evaluation._page import evaluation_table  # noqa: PLC0415  # as below

        return evaluation_table(self)

    def to_html(self, *, title: str | None = None) -> str:
        """The report as a whole HTML page with bars and a radar; no script, nothing fetched, every text escaped.

        Args:
            title: What it is called; the data set's name if not given.
        """
        from langchain_tiered_memory.evaluation._page import evaluation_page  # noqa: PLC0415  # which shows one of these

        return evaluation_page(self, title=title)


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


def _counted(faults: Mapping[str, str]) -> str:
    kinds = list(faults.values())
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, _DIGITS)
