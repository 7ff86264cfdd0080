"""A compaction as a person sees it: a violet bubble in a terminal or a notebook, and plain text anywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._tables import Block, Line, as_rich, as_text, show
from langchain_tiered_memory._texts import folded, visible
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
    return compaction._repr_html_()  # the protocol of notebooks


def compaction_text(compaction: Compaction, *, lines: int | None = _LINES) -> str:
    """Write a compaction as plain text.

    Args:
        compaction: What happened.
        lines: How many lines of the summary are shown, each up to 200 characters; `None` for all of it.
    """
    headline, *body = as_text(_blocks(compaction, lines)).splitlines()
    return "\n".join([headline, *(f"│ {line}".rstrip() for line in body)])


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
    body = as_rich(_blocks(compaction, lines), needed_by="compaction_renderable")
    panel = import_optional("rich.panel", needed_by="compaction_renderable").Panel
    text = import_optional("rich.text", needed_by="compaction_renderable").Text
    name = None if title is None else text(visible(title))
    bubble: RenderableType = panel(body, border_style=_VIOLET, title=name, title_align="left")
    return bubble


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
    if isinstance(event, Compaction):
        show(
            html=lambda: compaction_html(event),
            renderable=lambda: compaction_renderable(event),
            text=lambda: compaction_text(event),
        )


def _blocks(compaction: Compaction, lines: int | None) -> list[Block]:
    summary = map(Line, folded(compaction.summary, lines, _LONGEST))
    return [Line(f"🧠 {compaction.headline}", "strong"), Line(compaction.figures, "quiet"), Line(""), *summary]
