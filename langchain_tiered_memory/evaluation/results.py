"""What an evaluation found: every case, the figures over all of them, and the check for CI."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from langchain_tiered_memory._tables import Block, Cell, Column, Line, Table, as_html, page
from langchain_tiered_memory._texts import counted, duration
from langchain_tiered_memory.evaluation.datasets import MemoryDataset
from langchain_tiered_memory.evaluation.metrics import Metric
from langchain_tiered_memory.evaluation.outcomes import CaseResult, EvaluationFailed, Shortfall, TargetResult

__all__ = ["EvaluationReport", "evaluation_blocks", "measured"]

_SHOWN: Final = 5
_DIGITS: Final = 6
_WORST: Final = 50
"""Cases shown of each target; the JSON holds all."""
_MILLISECONDS: Final = 1_000.0


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
        return as_html(evaluation_blocks(self, explained=True))

    def to_html(self, *, title: str | None = None) -> str:
        """The report as a whole HTML page; no script, nothing fetched, every text escaped.

        Args:
            title: What it is called; the data set's name if not given.
        """
        return _page(self, title)


def _counted(faults: Mapping[str, str]) -> str:
    kinds = list(faults.values())
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, _DIGITS)


# --- as tables -------------------------------------------------------------------------------------------------------


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


def _figure_of(metric: Metric, score: float | None) -> str:
    """A figure as people read it."""
    if score is None:
        return "-"
    if metric.kind == "seconds":
        return f"{score * _MILLISECONDS:,.1f} ms"
    if metric.kind == "number":
        return f"{score:,.1f}"
    return f"{100 * score:.1f} %"


def evaluation_blocks(report: EvaluationReport, title: str | None = None, *, explained: bool = False) -> list[Block]:
    """The figures of each target.

    Args:
        report: What was measured.
        title: What it is called; the data set's name if not given.
        explained: Whether each metric says what it means, and how many cases it is made of.
    """
    more = [Column("cases", "right"), Column("what it says", wrap=True)] if explained else []
    columns = [Column("metric"), *(Column(one.name, "right") for one in report.targets), *more]
    rows: list[list[Cell]] = []
    for metric in measured(report):
        scores = [report.score(metric.key, one.name) for one in report.targets]
        known = [score for score in scores if score is not None]
        best = (min if metric.lower_is_better else max)(known) if len(known) > 1 else None
        cells: list[Cell] = [
            Line(_figure_of(metric, score), "strong" if score is not None and score == best else "") for score in scores
        ]
        if explained:
            said = max(report.said(metric.key, one.name) for one in report.targets)
            cells += [f"{said:,}", metric.definition + ("; less is better" if metric.lower_is_better else "")]
        rows.append([metric.key, *cells])
    notes = []
    for one in report.targets:
        if one.tell_seconds:
            notes.append(f"{one.name}: told everything in {duration(one.tell_seconds)}")
        if one.resumed:
            notes.append(f"{one.name}: {counted(one.resumed, 'answer')} from an earlier run")
    heading = [Line(title or report.dataset.name, "strong"), Line(_size(report))]
    return [*heading, Table(columns, rows), *(Line(note, "quiet") for note in notes)]


def _size(report: EvaluationReport) -> str:
    questions, records = len(report.dataset.cases), len(report.dataset.records)
    return f"{counted(questions, 'question')} over {counted(records, 'record')}, {report.k} records asked for"


def _page(report: EvaluationReport, title: str | None) -> str:
    """The figures and the cases that went wrong, as a whole HTML page."""
    parts = [as_html(evaluation_blocks(report, explained=True)[2:])]
    if categories := _categories(report):
        parts += ["<h2>By category</h2>", as_html([categories])]
    parts.append("<h2>Cases that went wrong</h2>")
    parts += [as_html(_worst(report, one)) for one in report.targets]
    return page(title or report.dataset.name, f"{_size(report)}, data set {report.dataset.digest}", parts)


def _categories(report: EvaluationReport) -> Table | None:
    """Recall and contamination of each category, where there are several."""
    keys = [metric for metric in measured(report) if metric.key in {f"recall@{report.k}", "contamination"}]
    if len(report.categories) < 2 or not keys:  # noqa: PLR2004  # one is the whole
        return None
    rows = [
        [
            category,
            metric.key,
            *(_figure_of(metric, report.score(metric.key, one.name, category=category)) for one in report.targets),
        ]
        for category in report.categories
        for metric in keys
    ]
    return Table([Column("category"), Column("metric"), *(Column(one.name, "right") for one in report.targets)], rows)


def _worst(report: EvaluationReport, target: TargetResult) -> Iterator[Block]:
    """The cases whose evidence did not all come back, or that brought back what they should not have."""
    cases = {case.id: case for case in report.dataset.cases}
    wrong = [one for one in target.cases if one.faults or not set(cases[one.case_id].expected) <= set(one.returned)]
    wrong.sort(key=lambda one: (set(cases[one.case_id].expected) <= set(one.returned), -len(one.faults)))
    yield Line(f"{target.name}: {len(wrong):,} of {len(target.cases):,}", "strong")
    columns = [Column("case"), *(Column(head, wrap=True) for head in ("question", "expected", "returned"))]
    rows: list[list[Cell]] = []
    for one in wrong[:_WORST]:
        case = cases[one.case_id]
        rows.append([case.id, case.question, _shown(report, one, case.expected), _returned(report, one)])
    if rows:
        yield Table(columns, rows)
    if len(wrong) > _WORST:
        yield Line(f"and {len(wrong) - _WORST:,} more; the JSON holds all", "quiet")


def _returned(report: EvaluationReport, one: CaseResult) -> list[Line]:
    more = len(one.returned) - report.k
    rest = [Line(f"and {more:,} more", "quiet")] if more > 0 else []
    return _shown(report, one, one.returned[: report.k]) + rest


def _shown(report: EvaluationReport, one: CaseResult, ids: tuple[str, ...]) -> list[Line]:
    records = report.dataset.records
    lines = []
    for record in ids:
        text = f": {records[record].text:.200}" if record in records else ""
        fault = one.faults.get(record)
        lines.append(Line(f"{record}{text} ({fault})" if fault else record + text, "bad" if fault else ""))
    return lines or [Line("nothing")]
