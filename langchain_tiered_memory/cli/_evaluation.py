"""The command `tiered-memory eval`: how good a memory is on a data set."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._places import BAD_INPUT, FAILED, stop
from langchain_tiered_memory.cli._publishing import check_outputs, publish
from langchain_tiered_memory.cli._targets import baselines, default_target, targets_in
from langchain_tiered_memory.display import evaluation_renderable, readable
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.evaluation import (
    DatasetError,
    EvaluationFailed,
    EvaluationReport,
    MemoryDataset,
    default_metrics,
    evaluate,
    load_dataset,
)
from langchain_tiered_memory.evaluation.loaders import FORMATS, DatasetFormat
from langchain_tiered_memory.evaluation.outcomes import limits_of

if TYPE_CHECKING:
    import typer
    from rich.console import Console
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")
    Console = import_optional("rich.console", needed_by="tiered-memory").Console

__all__ = ["eval_command"]

_SYNTHETIC: Final = "synthetic"
_LOCAL: Final = "local"
_KEY: Final = "weighted"


def eval_command(  # noqa: PLR0913  # the options of a command
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
        str | None, typer.Option("--format", metavar="|".join(FORMATS), help="Read the data set as this.")
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
    with _one_line_errors(), ExitStack() as stack:
        check_outputs(json_out, html_out)
        _check_choice(target, uri=uri, embeddings=embeddings, key=key, tell=tell, compare=compare)
        ks = _numbers(k)
        found = _dataset(dataset, read_as, events, seed)
        if category:
            found = _of_categories(found, category)
        if limit is not None:
            found = found.sample(limit, seed=seed)
        limits = None if fail_under is None else _limits(fail_under, found, ks, max_tokens)
        if target is not None:
            with _errors_of_targets():
                targets = targets_in(target, found, stack, tell=tell)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tiered-memory-"))
            targets = default_target(uri or f"{folder}/memory.db", embeddings, key, found, stack, tell=tell)
        if compare:
            targets |= baselines(targets, embeddings)
        with _errors_of_targets():
            report = evaluate(targets, found, k=ks, max_tokens=max_tokens, tell=tell, workers=workers, results=results)
        if not tell and not any(case.returned for one in report.targets for case in one.cases):
            stop("nothing came back: the memory does not know the data set; leave out --no-tell", FAILED)
        publish(
            json_out,
            html_out,
            table=lambda: Console().print(evaluation_renderable(report)),
            page=report.to_html,
            figures=report.to_dict,
        )
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
    name, _, language = given.partition(":")
    if name == _SYNTHETIC and not Path(given).exists():
        try:
            return MemoryDataset.synthetic(events, seed, language or "en")  # type: ignore[arg-type]  # checked there
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="DATASET") from error
    return load_dataset(given, cast("DatasetFormat | None", read_as))


def _of_categories(dataset: MemoryDataset, categories: list[str]) -> MemoryDataset:
    known = sorted({case.category for case in dataset.cases})
    if unknown := sorted(set(categories) - set(known)):
        msg = f"no category {', '.join(unknown)}: there are {', '.join(known)}"
        raise typer.BadParameter(msg, param_hint="--category")
    return dataset.where(categories=categories)


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        msg = f"{text!r} is no number of records: write such as 10, or 5,10,25"
        raise typer.BadParameter(msg, param_hint="--k")
    return numbers


def _limits(text: str, dataset: MemoryDataset, ks: list[int], max_tokens: int | None) -> dict[str, float]:
    """Limits, each of a metric that will be measured: nobody should wait for an evaluation to learn of a misprint."""
    measured = EvaluationReport(dataset, default_metrics(sorted(ks), max_tokens=max_tokens), (), max(ks))
    try:
        limits = limits_of(text)
        for name in limits:
            measured.metric(name)
    except (KeyError, ValueError) as error:
        raise typer.BadParameter(str(error.args[0]), param_hint="--fail-under") from error
    return limits


def _check(report: EvaluationReport, limits: dict[str, float]) -> None:
    try:
        report.check(limits)
    except EvaluationFailed as error:
        typer.echo(readable(str(error)), err=True)
        raise typer.Exit(FAILED) from error


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what users can cause into one line on stderr and an exit status."""
    try:
        yield
    except DatasetError as error:
        stop(str(error), BAD_INPUT)
    except TieredMemoryError as error:
        stop(str(error), FAILED)
    except ImportError as error:  # an extra that is missing, or a module that the configuration names
        stop(str(error), BAD_INPUT)


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
