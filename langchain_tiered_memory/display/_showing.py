"""Texts of other people as lines that are safe to show, and one way to show a thing wherever the program runs."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display._figures import visible

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["folded", "readable", "show"]

_LONGEST: Final = 400
"""Characters of a line that is shown; the rest is counted."""
_KEPT: Final = frozenset("\n\t\u200c\u200d")
"""What is not printable and still harmless: lines, tabs, and the joiners inside words and emoji."""


def readable(text: str) -> str:
    """The text as it is, over several lines, with what a terminal might obey (escapes, controls) spelt out.

    Works character by character, so that the pieces of a stream may be shown as they come.
    """
    return "".join(
        one if one.isprintable() or one in _KEPT or unicodedata.category(one) == "Zs" else visible(one) for one in text
    )


def folded(text: str, lines: int | None) -> list[str]:
    """The first lines of a text, made safe, and how much is not shown; `None` for all of it."""
    every = [readable(line.expandtabs(4)) for line in text.splitlines()] or [""]
    if lines is None:
        return every
    shown = [line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…" for line in every[:lines]]
    rest = len(every) - len(shown)
    return [*shown, f"… {rest:,} more line" + ("s" if rest > 1 else "")] if rest else shown


def show(html: Callable[[], str], renderable: Callable[[], RenderableType], text: Callable[[], str]) -> None:
    """Show something where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    Args:
        html: Makes it for a notebook.
        renderable: Makes it for rich.
        text: Makes it for a terminal without rich.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is not None and shell is not None and hasattr(shell, "kernel"):
        ipython.display.display(ipython.display.HTML(html()))
        return
    try:
        console = import_optional("rich.console", needed_by="show").Console()
    except ImportError:
        sys.stdout.write(text() + "\n")
        return
    console.print(renderable())
