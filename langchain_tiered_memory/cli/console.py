"""How the command speaks: results on stdout, everything else in lines on stderr, and an exit status."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import typer

from langchain_tiered_memory._texts import readable
from langchain_tiered_memory.cli import INTERRUPTED
from langchain_tiered_memory.errors import TieredMemoryError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = [
    "BAD_INPUT",
    "FAILED",
    "check_outputs",
    "confirmed",
    "json_text",
    "note",
    "one_line",
    "one_line_errors",
    "print_json",
    "print_out",
    "publish",
    "stop",
]  # fmt: skip

FAILED: Final = 1
BAD_INPUT: Final = 2
_STDOUT: Final = "-"


def note(text: str) -> None:
    """Say something in one line on stderr."""
    typer.echo(f"tiered-memory: {readable(' '.join(text.split()))}", err=True)


def stop(message: str, status: int) -> NoReturn:
    """End with one line on stderr."""
    note(message)
    raise typer.Exit(status)


@contextmanager
def one_line_errors() -> Iterator[None]:
    """Turn what users can cause, Ctrl-C too, into one line on stderr and an exit status."""
    try:
        yield
    except KeyboardInterrupt:
        stop("interrupted", INTERRUPTED)
    except TieredMemoryError as error:  # a wrong call (2) is a ValueError too; the others may succeed another time
        stop(str(error), BAD_INPUT if isinstance(error, ValueError) else FAILED)
    except (ImportError, ValueError) as error:  # an extra that is missing, an id or an address that is none
        stop(one_line(error), BAD_INPUT)
    except BrokenPipeError:  # nobody reads on, as after `| head`, and there is nobody to tell
        raise
    except OSError as error:
        stop(str(error), FAILED)


def one_line(error: BaseException) -> str:
    """What an error says: of one of pydantic's what was raised inside, of a failed connection also where to."""
    text = str(error)
    if isinstance(error, ValueError) and hasattr(error, "errors"):
        text = "; ".join(str(one["msg"]).removeprefix("Value error, ") for one in error.errors()) or text
    address = _address_of(error)
    said = text if address is None or address in text else f"{text} (at {address})"
    return readable(" ".join(said.split()))


def _address_of(error: BaseException | None) -> str | None:
    """Where the request went that failed on the way: an HTTP client's errors know it, without what may be secret."""
    while error is not None:
        try:
            url = error.request.url  # type: ignore[attr-defined]  # of httpx, and of the clients that are built on it
            return f"{url.scheme}://{url.netloc.decode().rpartition('@')[2]}{url.path}"
        except (AttributeError, RuntimeError):  # another kind of error; httpx says that there was no request
            error = error.__cause__
    return None


def confirmed(question: str) -> bool:
    """Whether somebody says yes; no is what an empty line says, and the end of the input."""
    typer.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n") or not sys.stdin.isatty():  # nobody's key has ended the line of the question
        typer.echo(err=True)
    return answer.strip().lower() in {"y", "yes"}


# --- what was asked for -----------------------------------------------------------------------------------------------


def print_out(*shown: RenderableType, err: bool = False) -> None:
    """Print what rich can show on stdout, or on stderr; texts as they are."""
    from rich.console import Console

    console = Console(stderr=err)
    for one in shown:
        console.print(one, markup=False, highlight=False, soft_wrap=isinstance(one, str))


def print_json(value: object) -> None:
    """Write JSON on stdout, indented."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def json_text(value: object, indent: int | None = None) -> str:
    """JSON as people can read it, with what a terminal might obey, or no encoding would take, as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text)


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
    shown: Callable[[], list[RenderableType]],
    page: Callable[[], str],
    figures: Callable[[], Mapping[str, Any]],
) -> None:
    """Show a table, unless stdout is for something else, and write what was asked for.

    Args:
        json_out: Where the figures go, - for stdout.
        html_out: Where the page goes, - for stdout.
        shown: Makes what is shown.
        page: Makes the page.
        figures: Makes the figures.
    """
    from langchain_tiered_memory.messages.transcripts.files import write_text

    quiet = _STDOUT in {json_out, html_out}
    if not quiet:
        print_out(*shown())
    made = ((html_out, page), (json_out, lambda: json.dumps(figures(), ensure_ascii=False, indent=2) + "\n"))
    for out, make in made:
        if out == _STDOUT:
            sys.stdout.write(make())
        elif out is not None:
            write_text(out, make())
            typer.echo(f"wrote {out}", err=quiet)
