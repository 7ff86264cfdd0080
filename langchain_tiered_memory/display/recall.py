"""What was recalled, as a person sees it: a table of episodes, best first, with what each score is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_core.documents import Document

from langchain_tiered_memory._tables import Block, Cell, Column, Line, Table, as_html, as_rich, as_text, show
from langchain_tiered_memory._texts import folded

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["recall_html", "recall_renderable", "recall_text", "show_recall"]

_PARTS: Final = {
    "dense": "meaning",
    "lexical": "words",
    "neighbour": "around",
    "speaker": "speaker",
    "thread": "session",
    "recency": "x age",
}
"""What the parts of a score (`ScoreParts`) are called in a table; the last one is a factor, the others are added."""
_NEUTRAL: Final = {"recency": 1.0}
_DAY: Final = len("2026-01-31")
_LINES: Final = 3


def recall_text(documents: Sequence[Document], *, lines: int | None = _LINES) -> str:
    """Write recalled episodes as plain text.

    Args:
        documents: What `EpisodicMemory.recall` gave; with `explain=True` it says what each score is made of.
        lines: How many lines of each episode are shown; `None` for all of it.
    """
    return as_text(_blocks(documents, lines))


def recall_renderable(
    documents: Sequence[Document], *, title: str | None = None, lines: int | None = _LINES
) -> RenderableType:
    """Make the table that `rich.print` shows of recalled episodes; parts that say nothing here have no column.

    Args:
        documents: What `EpisodicMemory.recall` gave; with `explain=True` it says what each score is made of.
        title: Stands above the table, without markup.
        lines: How many lines of each episode are shown; `None` for all of it.

    Raises:
        ImportError: rich is not installed; `recall_text` needs nothing.
    """
    heading = [] if title is None else [Line(title, "strong")]
    return as_rich([*heading, *_blocks(documents, lines)], needed_by="recall_renderable")


def recall_html(documents: Sequence[Document]) -> str:
    """Write recalled episodes as an HTML table, whole; every text in it is escaped, and nothing is loaded."""
    return as_html(_blocks(documents, None))


def show_recall(documents: Sequence[Document]) -> None:
    """Show recalled episodes where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    ```python
    from langchain_core.documents import Document
    from langchain_tiered_memory.display import show_recall

    show_recall([Document("The ferry leaves at 9:40.", metadata={"score": 0.8, "session": "s1"})])
    ```
    """
    show(
        html=lambda: recall_html(documents),
        renderable=lambda: recall_renderable(documents),
        text=lambda: recall_text(documents),
    )


def _blocks(documents: Sequence[Document], lines: int | None) -> list[Block]:
    if not documents:
        return [Line("nothing was recalled", "quiet")]
    explained: list[Mapping[str, float]] = [document.metadata.get("explain") or {} for document in documents]
    parts = [part for part in _PARTS if any(_says_something(part, one) for one in explained)]
    rows: list[list[Cell]] = []
    for place, (document, found) in enumerate(zip(documents, explained, strict=True), 1):
        score = document.metadata.get("score")
        figures = [f"{found[part]:.2f}" if part in found else "-" for part in parts]
        said = [*_about(document.metadata), *map(Line, folded(document.page_content, lines))]
        rows.append([f"{place}", "-" if score is None else f"{score:.2f}", *figures, said])
    numbers = [Column(head, "right", style="strong" if head == "score" else "") for head in ("#", "score")]
    return [Table([*numbers, *(Column(_PARTS[part], "right") for part in parts), Column("episode", wrap=True)], rows)]


def _says_something(part: str, explained: Mapping[str, float]) -> bool:
    nothing = _NEUTRAL.get(part, 0.0)
    return f"{explained.get(part, nothing):.2f}" != f"{nothing:.2f}"


def _about(about: Mapping[str, Any]) -> list[Line]:
    """When and where an episode was said, and why it may not be the last word."""
    when, session, number = str(about.get("created_at") or "")[:_DAY], about.get("session"), about.get("round")
    where = "no session" if session is None else f"session {session}" + (f", round {number}" if number else "")
    notes = []
    if about.get("outdated_by"):
        notes.append(f"a newer episode says something else: {about['outdated_by']}")
    if about.get("superseded_by"):
        notes.append(f"superseded by {about['superseded_by']}")
    if about.get("valid_until"):
        notes.append(f"true until {str(about['valid_until'])[:16].replace('T', ' ')}")
    return [Line(" · ".join(filter(None, (when, where))), "quiet"), *(Line(note, "warning") for note in notes)]
