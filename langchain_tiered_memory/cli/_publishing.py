"""Where the figures of a command go: a table in the terminal, a page and JSON in files, or one of these on stdout."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._places import BAD_INPUT, stop
from langchain_tiered_memory.messages.transcript import write_text

if TYPE_CHECKING:
    import typer
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")

__all__ = ["check_outputs", "publish"]

_STDOUT: Final = "-"


def check_outputs(json_out: str | None, html_out: str | None) -> None:
    """End the command before it does anything, where its figures could not be written."""
    if json_out == html_out == _STDOUT:
        stop("--json - and --html - cannot both be stdout: name a file for one of them", BAD_INPUT)
    for out in filter(None, (json_out, html_out)):
        if out != _STDOUT and (Path(out).is_dir() or not Path(out).absolute().parent.is_dir()):
            stop(f"{out}: it cannot be written; name a file in a folder that exists", BAD_INPUT)


def publish(
    json_out: str | None,
    html_out: str | None,
    *,
    table: Callable[[], None],
    page: Callable[[], str],
    figures: Callable[[], dict[str, Any]],
) -> None:
    """Show the table, unless stdout is for something else, and write what was asked for.

    Args:
        json_out: Where the figures go, - for stdout.
        html_out: Where the page goes, - for stdout.
        table: Prints the table.
        page: Makes the page.
        figures: Makes the figures.
    """

    def text() -> str:
        return json.dumps(figures(), ensure_ascii=False, indent=2) + "\n"

    made = [(out, make) for out, make in ((html_out, page), (json_out, text)) if out is not None]
    quiet = any(out == _STDOUT for out, _ in made)
    if not quiet:
        table()
    for out, make in made:
        if out == _STDOUT:
            sys.stdout.write(make())
            continue
        write_text(out, make())
        typer.echo(f"wrote {out}", err=quiet)
