"""Shows how far an evaluation is: a bar where rich is installed, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TypeAlias

from langchain_tiered_memory._optional import import_optional

__all__ = ["Advance", "Progress", "progress_of"]

Advance: TypeAlias = Callable[[int], None]
"""Told how many more cases are done."""
Progress: TypeAlias = bool | Callable[[int, int, str], None] | None
"""Whether to show it, or a function of (done, all, target); `None` shows it in a terminal."""

_LINES: Final = 10
"""Into how many steps plain lines divide the way."""


@contextmanager
def progress_of(wanted: Progress, total: int, name: str) -> Iterator[Advance]:
    """What an evaluation tells its steps to.

    Args:
        wanted: Whether to show it, or a function.
        total: How many cases there are.
        name: Which target is asked.
    """
    if callable(wanted):
        yield _counting(wanted, total, name)
    elif wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield lambda _: None
    else:
        try:
            console = import_optional("rich.console", needed_by="a bar").Console(stderr=True)
        except ImportError:
            yield _counting(_plain, total, name)
            return
        if not console.is_terminal:
            yield _counting(_plain, total, name)
            return
        plain = import_optional("rich.markup", needed_by="a bar").escape(name)
        with import_optional("rich.progress", needed_by="a bar").Progress(console=console, transient=True) as bar:
            task = bar.add_task(plain, total=total)
            yield lambda count: bar.advance(task, count)


def _counting(tell: Callable[[int, int, str], None], total: int, name: str) -> Advance:
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        tell(done, total, name)

    return advance


def _plain(done: int, total: int, name: str) -> None:
    if done == total or done % max(1, total // _LINES) == 0:
        sys.stderr.write(f"{name}: {done:,} of {total:,}\n")
