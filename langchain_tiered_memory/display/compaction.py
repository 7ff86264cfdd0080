"""A compaction as a person sees it: a violet bubble in a terminal or a notebook, and plain text anywhere."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._bubble import bubble_html, facts, headline
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display._figures import visible
from langchain_tiered_memory.events import Compaction, MemoryEvent

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["compaction_html", "compaction_renderable", "compaction_text", "show_compaction"]

_LINES: Final = 6
_LONGEST: Final = 200
"""Characters of a line of a folded summary."""
_VIOLET: Final = "#8b5cf6"


def compaction_html(compaction: Compaction) -> str:
    """Write a compaction as an HTML element, the summary folded in it; what a notebook shows of a `Compaction`.

    The element carries its own style and follows the page's text colour; every text in it is escaped.
    """
    return bubble_html(compaction)


def compaction_text(compaction: Compaction, *, lines: int | None = _LINES) -> str:
    """Write a compaction as plain text.

    Args:
        compaction: What happened.
        lines: How many lines of the summary are shown, each up to 200 characters; `None` for all of it.
    """
    body = [facts(compaction), "", *_folded(compaction.summary, lines)]
    return "\n".join([headline(compaction), *(f"│ {line}".rstrip() for line in body)])


def compaction_renderable(
    compaction: Compaction, *, title: str | None = None, lines: int | None = _LINES
) -> RenderableType:
    """Make the bubble that `rich.print` shows of a compaction.

    Args:
        compaction: What happened.
        title: Stands in the upper border, without markup.
        lines: How many lines of the summary are shown, each up to 200 characters; `None` for all of it.

    Raises:
        ImportError: rich is not installed; `compaction_text` needs nothing.
    """
    import_optional("rich", needed_by="compaction_renderable")
    from rich import box  # noqa: PLC0415  # only of the [cli] extra
    from rich.console import Group  # noqa: PLC0415  # as above
    from rich.panel import Panel  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    body = Group(
        Text(headline(compaction), style="bold"),
        Text(facts(compaction), style="dim"),
        Text(),
        Text("\n".join(_folded(compaction.summary, lines))),
    )
    name = None if title is None else Text(visible(title))
    return Panel(body, box=box.ROUNDED, border_style=_VIOLET, title=name, title_align="left")


def show_compaction(event: MemoryEvent) -> None:
    """Show a compaction where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    Other events are left to `logging`. Made to be passed on, so that each compaction is seen when it happens.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory import MemoryCallbackHandler, SummaryMemory
    from langchain_tiered_memory.display import show_compaction

    memory = SummaryMemory(trigger=("messages", 3), keep=("rounds", 1), hooks=[MemoryCallbackHandler(show_compaction)])
    view = memory.invoke([HumanMessage("Only GET requests."), AIMessage("Yes."), HumanMessage("Go on.")])
    assert len(view) == 2
    ```
    """
    if not isinstance(event, Compaction):
        return
    if _in_notebook():
        sys.modules["IPython"].display.display(event)
        return
    try:
        console = import_optional("rich.console", needed_by="show_compaction").Console()
    except ImportError:
        sys.stdout.write(compaction_text(event) + "\n")
        return
    console.print(compaction_renderable(event))


def _in_notebook() -> bool:
    """Whether a Jupyter kernel runs this; a shell of IPython shows no HTML."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell is not None and hasattr(shell, "kernel")


def _folded(summary: str, lines: int | None) -> list[str]:
    """The lines of a summary, with what a terminal might obey spelt out, and how many are not shown."""
    every = [visible(line.expandtabs(4)) for line in summary.splitlines()]
    if lines is None:
        return every
    shown = [line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…" for line in every[:lines]]
    rest = len(every) - len(shown)
    return [*shown, f"… {rest} more line" + ("s" if rest > 1 else "")] if rest else shown
