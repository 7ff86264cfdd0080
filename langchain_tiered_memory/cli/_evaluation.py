"""The command `tiered-memory eval`: how good a memory is on a data set."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, cast

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._targets import baselines, default_target, targets_in
from langchain_tiered_memory.display._evaluation import evaluation_renderable
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.evaluation import (
    DatasetError,
    EvaluationFailed,
    EvaluationReport,
    MemoryDataset,
    evaluate,
    load_dataset,
)
from langchain_tiered_memory.evaluation.loaders import FORMATS, DatasetFormat
from langchain_tiered_memory.evaluation.results import limits_of
from langchain_tiered_memory.messages.transcript import write_text

if TYPE_CHECKING:
    import typer
    from rich.console import Console
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")
    Console = import_optional("rich.console", needed_by="tiered-memory").Console

__all__ = ["eval_command"]

_FAILED, _BAD_INPUT = 1, 2
_SYNTHETIC: Final = "synthetic"


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
    ] = "local",
    key: Annotated[
        str, typer.Option(metavar="weighted|user|whole", help="By which of a round's messages it is found.")
    ] = "weighted",
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
        ks = _numbers(k)
        limits = None if fail_under is None else _limits(fail_under)
        found = _dataset(dataset, read_as, events, seed)
        if category:
            found = _of_categories(found, category)
        if limit is not None:
            found = found.sample(limit, seed=seed)
        if target is not None:
            targets = targets_in(target, found, stack, tell=tell)
        else:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="tiered-memory-"))
            targets = default_target(uri or f"{folder}/memory.db", embeddings, key, found, stack, tell=tell)
        if compare:
            targets |= baselines(targets, embeddings)
        report = evaluate(targets, found, k=ks, max_tokens=max_tokens, tell=tell, workers=workers, results=results)
        _publish(report, json_out, html_out)
        if limits is not None:
            _check(report, limits)


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


def _limits(text: str) -> dict[str, float]:
    try:
        return limits_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--fail-under") from error


def _check(report: EvaluationReport, limits: dict[str, float]) -> None:
    try:
        report.check(limits)
    except KeyError as error:
        raise typer.BadParameter(str(error.args[0]), param_hint="--fail-under") from error
    except EvaluationFailed as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(_FAILED) from error


def _publish(report: EvaluationReport, json_out: str | None, html_out: str | None) -> None:
    if html_out is not None:
        page = report.to_html()
        if html_out == "-":
            sys.stdout.write(page)
            return
        write_text(html_out, page)
    if json_out is not None:
        text = json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n"
        if json_out == "-":
            sys.stdout.write(text)
            return
        write_text(json_out, text)
    Console().print(evaluation_renderable(report))
    for written in filter(None, (html_out, json_out)):
        typer.echo(f"wrote {written}")


@contextmanager
def _one_line_errors() -> Iterator[None]:
    """Turn what users can cause into one line on stderr and an exit status."""
    try:
        yield
    except DatasetError as error:
        _stop(error, _BAD_INPUT)
    except TieredMemoryError as error:
        _stop(error, _FAILED)
    except ImportError as error:  # an extra that is missing, or a module that the configuration names
        _stop(error, _BAD_INPUT)


def _stop(error: Any, status: int) -> NoReturn:  # noqa: ANN401  # an error
    typer.echo(f"tiered-memory: {' '.join(str(error).split())}", err=True)
    raise typer.Exit(status)
