"""Tells a target everything, asks it every question, and measures the answers: in parallel, and not twice."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import aclosing, contextmanager
from pathlib import Path
from typing import Any, Final

from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.evaluation._kept import KeptResults, kept_results
from langchain_tiered_memory.evaluation.cases import MemoryCase, fault_of
from langchain_tiered_memory.evaluation.context_metrics import default_metrics, metric_of
from langchain_tiered_memory.evaluation.contexts import as_target
from langchain_tiered_memory.evaluation.datasets import MemoryDataset
from langchain_tiered_memory.evaluation.metrics import Evaluator, Metric, Values, checked_number
from langchain_tiered_memory.evaluation.outcomes import CaseResult, TargetResult
from langchain_tiered_memory.evaluation.progress import Advance, Progress, progress_of
from langchain_tiered_memory.evaluation.results import EvaluationReport
from langchain_tiered_memory.evaluation.targets import MemoryTarget
from langchain_tiered_memory.types import TokenCounter

__all__ = ["aevaluate", "evaluate"]

_AHEAD: Final = 4
"""Questions that wait for a thread, for each thread: so many are held, however many there are."""


def evaluate(
    target: Any,  # noqa: ANN401  # anything as_target takes
    dataset: MemoryDataset,
    metrics: Sequence[str | Metric | Evaluator] | None = None,
    *,
    k: int | Sequence[int] = 5,
    max_tokens: int | None = None,
    token_counter: TokenCounter | None = None,
    name: str | None = None,
    tell: bool = True,
    workers: int = 4,
    results: str | Path | None = None,
    progress: Progress = None,
) -> EvaluationReport:
    """Measure how well a memory answers the questions of a data set. No model is called.

    The target is told every message with its time, then asked every question; what it returns is held against what it
    should, and should not, have returned.

    ```python
    from langchain_tiered_memory.evaluation import MemoryDataset, evaluate

    dataset = MemoryDataset.synthetic(events=10, seed=1)
    report = evaluate({"nothing": lambda inputs: [], "all": lambda inputs: list(dataset.records)}, dataset)
    assert report.score("recall@5", "nothing") == 0 < report.score("contamination", "all")
    ```

    Args:
        target: An `EpisodicMemory`, a `FactStore`, a `TieredMemory`, any LangChain retriever, a Runnable over messages
            such as a `SummaryMemory`, a function of `inputs`, a `MemoryTarget`; or a dict of several by their names,
            to compare them in one report.
        dataset: The questions.
        metrics: Names such as `"recall@5"`, metrics, or LangSmith evaluators; all of `default_metrics` if not given.
        k: How many records to ask for; several numbers to look at the ranking that far down, asked for the largest.
        max_tokens: A budget: adds `context_recall`, and bounds the replay of a Runnable over messages.
        token_counter: Counts tokens; an `EstimatingCounter` if not given.
        name: What a single target is called in the report.
        tell: False for a memory that holds the records already, and gives them by their ids in the data set.
        workers: How many threads ask at a time.
        results: A file (JSON Lines) that answers are written to as they come; what is in it already is not asked again,
            so that a run that was stopped goes on.
        progress: True for a progress bar, False for none, or a function of (done, all, target); shown in a terminal if
            not given.

    Raises:
        DatasetError: The results file belongs to another data set, or to other settings.
        TypeError: The target is none.
        ValueError: A metric or a number is none, or a target that was not told gave nothing of the data set.
    """
    asking, targets = _prepared(target, dataset, metrics, k, max_tokens, token_counter, name, workers)
    found = []
    for given, one in targets.items():
        with (
            kept_results(results, asking.head, given) as kept,
            progress_of(progress, len(dataset.cases), given) as advance,
        ):
            found.append(TargetResult(given, *asking.target(one, kept, advance, tell=tell)))
    return EvaluationReport(dataset, asking.metrics, tuple(found), asking.k)


async def aevaluate(
    target: Any,  # noqa: ANN401  # anything as_target takes
    dataset: MemoryDataset,
    metrics: Sequence[str | Metric | Evaluator] | None = None,
    *,
    k: int | Sequence[int] = 5,
    max_tokens: int | None = None,
    token_counter: TokenCounter | None = None,
    name: str | None = None,
    tell: bool = True,
    workers: int = 4,
    results: str | Path | None = None,
    progress: Progress = None,
) -> EvaluationReport:
    """`evaluate` within an event loop: for an async function, or what is used by its async methods.

    A target with an `aask` is asked by it, `workers` questions at a time; any other, and all telling, has a thread.
    """
    asking, targets = _prepared(target, dataset, metrics, k, max_tokens, token_counter, name, workers)
    found = []
    for given, one in targets.items():
        with (
            kept_results(results, asking.head, given) as kept,
            progress_of(progress, len(dataset.cases), given) as advance,
        ):
            found.append(TargetResult(given, *await asking.atarget(one, kept, advance, tell=tell)))
    return EvaluationReport(dataset, asking.metrics, tuple(found), asking.k)


def _prepared(  # what both take
    target: Any,  # noqa: ANN401  # anything as_target takes
    dataset: MemoryDataset,
    metrics: Sequence[str | Metric | Evaluator] | None,
    k: int | Sequence[int],
    max_tokens: int | None,
    token_counter: TokenCounter | None,
    name: str | None,
    workers: int,
) -> tuple[_Asking, dict[str, MemoryTarget]]:
    """What is asked, and each target by its name."""
    ks = _checked_ks(k)
    checked_number(workers, "workers", "threads")
    if max_tokens is not None:
        checked_number(max_tokens, "max_tokens", "tokens")
    if metrics is None:
        chosen = default_metrics(ks, max_tokens=max_tokens, counter=token_counter)
    else:
        chosen = tuple(map(metric_of, metrics))
    keys = [metric.key for metric in chosen]
    if twice := sorted({key for key in keys if keys.count(key) > 1}):
        msg = f"two metrics are called {', '.join(twice)}: give each a name of its own"
        raise ValueError(msg)
    budget: dict[str, Any] = {"max_tokens": max_tokens, "counter": token_counter}
    if isinstance(target, Mapping):
        targets = {given: as_target(one, name=given, **budget) for given, one in target.items()}
    else:
        one = as_target(target, name=name, **budget)
        targets = {name or one.name: one}
    if not targets:
        msg = "there is no target in the dict: give one at least, by its name"
        raise ValueError(msg)
    return _Asking(dataset, chosen, ks[-1], workers), targets


def _checked_ks(k: int | Sequence[int]) -> tuple[int, ...]:
    ks = tuple(k) if isinstance(k, Sequence) else (k,)
    if not ks or any(isinstance(one, bool) or not isinstance(one, int) or one < 1 for one in ks):
        msg = f"k={k!r} is no number of records: give a whole number from 1 up, or several"
        raise ValueError(msg)
    return tuple(sorted(set(ks)))


class _Asking:
    """One data set with what is measured on it."""

    def __init__(self, dataset: MemoryDataset, metrics: tuple[Metric, ...], k: int, workers: int) -> None:
        self.dataset = dataset
        self.metrics = metrics
        self.k = k
        self._workers = workers
        self._successors = dataset.successors()
        self._heads = {record.id: unit[0].id for unit in dataset.units() for record in unit}

    @property
    def head(self) -> dict[str, Any]:
        """What results must have in common to belong together."""
        return {"dataset": self.dataset.digest, "k": self.k, "metrics": [metric.key for metric in self.metrics]}

    def target(
        self, target: MemoryTarget, kept: KeptResults, advance: Advance, *, tell: bool
    ) -> tuple[tuple[CaseResult, ...], float, int]:
        """Tell one target everything, and ask it what was not asked before.

        Returns:
            Its cases, the seconds that the telling took, and how many cases were there already.
        """
        run = _Run(self.dataset, kept, advance, told=tell)
        if run.waiting and tell:
            with run.telling():
                target.tell(self.dataset.units())
        for result in self._answers(target, run.waiting):
            run.take(result)
        return run.outcome()

    async def atarget(
        self, target: MemoryTarget, kept: KeptResults, advance: Advance, *, tell: bool
    ) -> tuple[tuple[CaseResult, ...], float, int]:
        """`target`, awaited."""
        run = _Run(self.dataset, kept, advance, told=tell)
        if run.waiting and tell:
            with run.telling():
                await asyncio.to_thread(target.tell, self.dataset.units())
        async with aclosing(self._aanswers(target, run.waiting)) as answers:
            async for result in answers:
                run.take(result)
        return run.outcome()

    def _answers(self, target: MemoryTarget, waiting: Sequence[MemoryCase]) -> Iterator[CaseResult]:
        """The results of cases as they come, with few of them held at a time."""
        workers = min(self._workers, target.workers or self._workers)
        if workers == 1:
            for case in waiting:
                yield self._blocking(target, case)
            return
        pool = ThreadPoolExecutor(workers, thread_name_prefix="evaluate")
        try:
            running: set[Future[CaseResult]] = set()
            for case in waiting:
                if len(running) >= workers * _AHEAD:
                    ready, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in ready:
                        yield future.result()
                running.add(pool.submit(self._blocking, target, case))
            while running:
                ready, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)

    async def _aanswers(self, target: MemoryTarget, waiting: Sequence[MemoryCase]) -> AsyncGenerator[CaseResult]:
        """`_answers`, awaited."""
        workers = min(self._workers, target.workers or self._workers)
        running: set[asyncio.Task[CaseResult]] = set()
        ask = getattr(target, "aask", None)

        async def asked(inputs: Values) -> dict[str, Any]:
            answer: dict[str, Any] = await (asyncio.to_thread(target.ask, inputs) if ask is None else ask(inputs))
            return answer

        try:
            for case in waiting:
                if len(running) >= workers:
                    ready, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in ready:
                        yield task.result()
                running.add(asyncio.create_task(self._result(target, case, asked)))
            while running:
                ready, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in ready:
                    yield task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _blocking(self, target: MemoryTarget, case: MemoryCase) -> CaseResult:
        async def asked(inputs: Values) -> dict[str, Any]:
            return target.ask(inputs)

        return run_sync(self._result(target, case, asked))

    async def _result(
        self, target: MemoryTarget, case: MemoryCase, ask: Callable[[Values], Awaitable[dict[str, Any]]]
    ) -> CaseResult:
        inputs = {
            "case": case.id,
            "question": case.question,
            "k": self.k,
            "scope": case.scope,
            "as_of": case.as_of or self.dataset.now,
            "past": case.as_of is not None and case.as_of < self.dataset.now,
            "entity": case.entity,
            "attribute": case.attribute,
        }
        start = time.perf_counter()
        try:
            outputs = await ask(inputs)
        except Exception as error:  # raised again, with the question that it was
            error.add_note(f"while {target.name} was asked {case.question!r} (case {case.id!r})")
            raise
        outputs.setdefault("seconds", time.perf_counter() - start)
        self._fill(outputs)
        reference = self._reference(case, outputs) | {"past": inputs["past"]}
        scores = tuple(metric(inputs, outputs, reference)["score"] for metric in self.metrics)
        returned = tuple(dict.fromkeys(outputs.get("ids") or ()))
        return CaseResult(case.id, scores, returned, reference["faults"])  # type: ignore[arg-type]  # scores are numbers

    def _fill(self, outputs: dict[str, Any]) -> None:
        """Put in the texts of records that a target only named."""
        ids = list(outputs.get("ids") or ())
        texts = [*(outputs.get("texts") or ()), *[""] * len(ids)]
        records = self.dataset.records
        outputs["texts"] = [
            text or (records[one].text if one in records else "") for one, text in zip(ids, texts, strict=False)
        ]

    def _reference(self, case: MemoryCase, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """What a case expects, and what is wrong with each record that came back."""
        records = self.dataset.records
        faults = {}
        for one in outputs.get("ids") or ():
            record = records.get(one)
            fault = record and fault_of(record, case, self.dataset.now, self._successors)
            if fault:
                faults[one] = fault
        expected = self._units(case.expected)
        return {
            "expected": expected,
            "stale": [one for one in self._units(case.stale) if one not in expected],
            "updated": case.updated,
            "faults": faults,
            "texts": {one: records[one].text for one in case.expected if one in records},
            "constraints": list(case.constraints),
            "empty_recall": self.dataset.empty_recall,
        }

    def _units(self, ids: Sequence[str]) -> list[str]:
        """The units that records are in; a round counts once, however many of its messages are named."""
        if self.dataset.unit == "message":
            return list(ids)
        return list(dict.fromkeys(self._heads.get(one, one) for one in ids))


class _Run:
    """How far one target is."""

    def __init__(self, dataset: MemoryDataset, kept: KeptResults, advance: Advance, *, told: bool) -> None:
        self.waiting = [case for case in dataset.cases if case.id not in kept.done]
        self._cases = dataset.cases
        self._told = told
        self._known = dataset.records.keys() | {one for case in dataset.cases for one in case.expected}
        self._kept = kept
        self._advance = advance
        self._resumed = len(kept.done)
        self._seconds = 0.0
        if self._resumed:
            advance(self._resumed)

    @contextmanager
    def telling(self) -> Iterator[None]:
        """Take the time."""
        start = time.perf_counter()
        yield
        self._seconds = time.perf_counter() - start

    def take(self, result: CaseResult) -> None:
        """Keep a result."""
        self._kept.done[result.case_id] = result
        self._kept.write(result)
        self._advance(1)

    def outcome(self) -> tuple[tuple[CaseResult, ...], float, int]:
        """The cases, the seconds that the telling took, and how many cases were there already.

        Raises:
            ValueError: Nothing came back by an id of the data set from a target that was not told it.
        """
        cases = tuple(self._kept.done[case.id] for case in self._cases)
        came = {one for case in cases for one in case.returned}
        if came and not self._told and self._known.isdisjoint(came):
            msg = (
                f"nothing that came back is known to the data set, such as {min(came)!r}: tell it (telling again "
                "changes nothing), keep the target that was told, or store each record's id as metadata['record_id']"
            )
            raise ValueError(msg)
        return cases, self._seconds, self._resumed
