"""The command `tiered-memory eval`: how good a memory is on a data set."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from langchain_tiered_memory._texts import readable
from langchain_tiered_memory.cli import interruptible
from langchain_tiered_memory.cli.console import FAILED, check_outputs, one_line_errors, print_out, publish, stop
from langchain_tiered_memory.errors import TieredMemoryError

if TYPE_CHECKING:
    from langchain_tiered_memory.evaluation import EvaluationReport, MemoryDataset
    from langchain_tiered_memory.evaluation.loaders import DatasetFormat

__all__ = ["evaluate"]

_SYNTHETIC: Final = "synthetic"
_LOCAL: Final = "local"
_KEY: Final = "weighted"


def evaluate(  # noqa: PLR0913  # the options of a command
    dataset: Annotated[
        str, typer.Argument(metavar="DATASET", help='A file, or "synthetic" ("synthetic:zh") for made-up events.')
    ],
    *,
    target: Annotated[
        Path | None, typer.Option(metavar="TOML", help="A file that says what to evaluate, perhaps several.")
    ] = None,
    uri: Annotated[
        str | None,
        typer.Option(
            help="Where the episodic memory is: a Milvus Lite file or a server. Without: a new one, thrown away."
        ),
    ] = None,
    embeddings: Annotated[
        str, typer.Option(metavar="local|none|MODULE:NAME", help="By what episodes are found beside their words.")
    ] = _LOCAL,
    key: Annotated[
        str, typer.Option(metavar="weighted|user|whole", help="By which of a round's messages it is found.")
    ] = _KEY,
    tell: Annotated[
        bool, typer.Option(help="Tell it the data set first, in a collection of its own; --no-tell if it knows it.")
    ] = True,
    compare: Annotated[
        bool, typer.Option("--compare", help="Beside it: the same without validity, and a plain vector store.")
    ] = False,
    k: Annotated[str, typer.Option(metavar="N[,N...]", help="How many records to ask for.")] = "10",
    read_as: Annotated[
        str | None,
        typer.Option("--format", metavar="jsonl|locomo|longmemeval|beam", help="Read the data set as this."),
    ] = None,
    category: Annotated[
        list[str] | None, typer.Option(help="Only questions of this category; may be repeated.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many of the questions.")] = None,
    events: Annotated[int, typer.Option(min=1, help="How many events a synthetic data set has.")] = 100,
    seed: Annotated[int, typer.Option(help="Chooses the events of a synthetic data set, and the questions.")] = 0,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="A budget: adds how much of the evidence fits into it.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="How many threads ask at a time.")] = 4,
    results: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep answers here, and go on from those that are there.")
    ] = None,
    json_out: Annotated[
        str | None, typer.Option("--json", metavar="OUT", help="Write all figures as JSON; - for stdout.")
    ] = None,
    html_out: Annotated[
        str | None, typer.Option("--html", metavar="OUT", help="Write a page with charts; - for stdout.")
    ] = None,
    fail_under: Annotated[
        str | None,
        typer.Option(metavar="LIMITS", help="Exit with status 1 if missed, such as recall=0.8,contamination=0.1."),
    ] = None,
) -> None:
    """Evaluate a memory: what it recalls of what it should, and of what it should not. No model is called."""
    with one_line_errors(), ExitStack() as stack:
        check_outputs(json_out, html_out)
        _check_choice(target, uri=uri, embeddings=embeddings, key=key, tell=tell, compare=compare)
        ks = _numbers(k)
        from langchain_tiered_memory import evaluation
        from langchain_tiered_memory.cli.targets import baselines, default_target, targets_in

        found = _dataset(dataset, read_as, events, seed)
        if category:
            found = _of_categories(found, category)
        if limit is not None:
            found = found.sample(limit, seed=seed)
        limits = None if fail_under is None else _limits(fail_under, found, ks, max_tokens)
        interruptible()
        if target is not None:
            with _errors_of_targets():
                targets = targets_in(target, found, stack, tell=tell)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tiered-memory-"))
            targets = default_target(uri or f"{folder}/memory.db", embeddings, key, found, stack, tell=tell)
        if compare:
            targets |= baselines(targets, embeddings)
        with _errors_of_targets():
            report = evaluation.evaluate(
                targets, found, k=ks, max_tokens=max_tokens, tell=tell, workers=workers, results=results
            )
        if not tell and not any(case.returned for one in report.targets for case in one.cases):
            stop("nothing came back: the memory does not know the data set; leave out --no-tell", FAILED)
        _publish(report, json_out, html_out)
        if limits is not None:
            _check(report, limits)


def _check_choice(
    target: Path | None, *, uri: str | None, embeddings: str, key: str, tell: bool, compare: bool
) -> None:
    """Refuse options of which one would be left out without a word."""
    if target is not None:
        others = {"--uri": uri is not None, "--key": key != _KEY, "--embeddings": embeddings != _LOCAL and not compare}
        if given := [name for name, is_given in others.items() if is_given]:
            msg = f"{target} says what to evaluate: write into it what {', '.join(given)} says"
            raise typer.BadParameter(msg, param_hint="--target")
    elif uri is None and not tell:
        msg = "a new memory knows nothing: say with --uri or --target which one knows the data set"
        raise typer.BadParameter(msg, param_hint="--no-tell")


def _dataset(given: str, read_as: str | None, events: int, seed: int) -> MemoryDataset:
    from langchain_tiered_memory.evaluation import MemoryDataset, load_dataset

    name, _, language = given.partition(":")
    if name != _SYNTHETIC or Path(given).exists():
        return load_dataset(given, cast("DatasetFormat | None", read_as))
    try:
        return MemoryDataset.synthetic(events, seed, cast("Literal['en', 'zh']", language or "en"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="DATASET") from error


def _of_categories(dataset: MemoryDataset, categories: list[str]) -> MemoryDataset:
    known = sorted({case.category for case in dataset.cases})
    if unknown := sorted(set(categories) - set(known)):
        msg = f"no category {', '.join(unknown)}: there are {', '.join(known)}"
        raise typer.BadParameter(msg, param_hint="--category")
    return dataset.where(categories=categories)


def _numbers(text: str) -> list[int]:
    parts = text.split(",")
    if not all(part.strip().isdecimal() and int(part) > 0 for part in parts):
        msg = f"{text!r} is no number of records: write such as 10, or 5,10,25"
        raise typer.BadParameter(msg, param_hint="--k")
    return [int(part) for part in parts]


def _limits(text: str, dataset: MemoryDataset, ks: list[int], max_tokens: int | None) -> dict[str, float]:
    """Limits, each of a metric that will be measured: nobody should wait for an evaluation to learn of a misprint."""
    from langchain_tiered_memory.evaluation import EvaluationReport, default_metrics
    from langchain_tiered_memory.evaluation.outcomes import limits_of

    measured = EvaluationReport(dataset, default_metrics(sorted(ks), max_tokens=max_tokens), (), max(ks))
    try:
        limits = limits_of(text)
        for name in limits:
            measured.metric(name)
    except (KeyError, ValueError) as error:
        raise typer.BadParameter(str(error.args[0]), param_hint="--fail-under") from error
    return limits


def _publish(report: EvaluationReport, json_out: str | None, html_out: str | None) -> None:
    from langchain_tiered_memory.display import evaluation_renderable

    publish(
        json_out,
        html_out,
        shown=lambda: [evaluation_renderable(report)],
        page=report.to_html,
        figures=report.to_dict,
    )


def _check(report: EvaluationReport, limits: dict[str, float]) -> None:
    from langchain_tiered_memory.evaluation import EvaluationFailed

    try:
        report.check(limits)
    except EvaluationFailed as error:
        print_out(readable(str(error)), err=True)
        raise typer.Exit(FAILED) from error


@contextmanager
def _errors_of_targets() -> Iterator[None]:
    """Turn whatever a target of the user's own raises into one line, with the question that it was asked."""
    try:
        yield
    except (TieredMemoryError, ImportError):
        raise
    except Exception as error:  # noqa: BLE001  # each target fails in its own way
        notes = "".join(f"; {note}" for note in getattr(error, "__notes__", ()))
        stop(f"{type(error).__name__}: {error}{notes}", FAILED)
