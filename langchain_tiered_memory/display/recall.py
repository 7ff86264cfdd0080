"""What was recalled, as a person sees it: a table of episodes, best first, with what each score is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from langchain_core.documents import Document

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display._figures import visible
from langchain_tiered_memory.display._showing import folded, show

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
_NOTHING: Final = "nothing was recalled"
_DAY: Final = len("2026-01-31")
_LINES: Final = 3
_TABLE: Final = (
    '<table style="border-collapse:collapse;font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums">'
    "<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
)
_CELL: Final = "padding:.25em .7em;border-bottom:1px solid #94a3b855;vertical-align:top"


def recall_text(documents: Sequence[Document], *, lines: int | None = _LINES) -> str:
    """Write recalled episodes as plain text.

    Args:
        documents: What `EpisodicMemory.recall` gave; with `explain=True` it says what each score is made of.
        lines: How many lines of each episode are shown; `None` for all of it.
    """
    if not documents:
        return _NOTHING
    parts = _parts_in(documents)
    rows = ["  # score" + "".join(f"{_PARTS[part]:>9}" for part in parts) + "  when        where"]
    for place, document in enumerate(documents, 1):
        figures = "".join(f"{figure:>9}" for figure in _figures(document, parts))
        about = document.metadata
        rows.append(f"{place:>3} {_score(about):>5}{figures}  {_when(about):<{_DAY}}  {_where(about)}".rstrip())
        rows += [f"    │ {line}".rstrip() for line in (*_notes(about), *folded(document.page_content, lines))]
    return "\n".join(rows)


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
    import_optional("rich", needed_by="recall_renderable")
    from rich import box  # noqa: PLC0415  # only of the [cli] extra
    from rich.console import Group  # noqa: PLC0415  # as above
    from rich.table import Table  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    heading = [] if title is None else [Text(visible(title), style="bold")]
    if not documents:
        return Group(*heading, Text(_NOTHING, style="dim"))
    parts = _parts_in(documents)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for head in ("#", "score", *(_PARTS[part] for part in parts)):
        table.add_column(head, justify="right", no_wrap=True, style="bold" if head == "score" else "")
    table.add_column("episode", min_width=24, overflow="fold")
    for place, document in enumerate(documents, 1):
        about = document.metadata
        said = Text(" · ".join(filter(None, (_when(about), _where(about)))), style="dim")
        for note in _notes(about):
            said.append(f"\n{note}", style="yellow")
        for line in folded(document.page_content, lines):
            said.append(f"\n{line}", style="not dim")
        table.add_row(str(place), _score(about), *_figures(document, parts), said)
    return Group(*heading, table)


def recall_html(documents: Sequence[Document]) -> str:
    """Write recalled episodes as an HTML table, whole; every text in it is escaped, and nothing is loaded."""
    if not documents:
        return f"<p>{_NOTHING}</p>"
    parts = _parts_in(documents)
    heads = ("#", "score", *(_PARTS[part] for part in parts), "when", "where", "episode")
    rows = []
    for place, document in enumerate(documents, 1):
        about = document.metadata
        cells = [str(place), _score(about), *_figures(document, parts), _when(about), _where(about)]
        notes = "".join(f"<div><em>{escape(note)}</em></div>" for note in _notes(about))
        said = f'{notes}<div dir="auto" style="white-space:pre-wrap">{escape(document.page_content)}</div>'
        texts = "".join(f'<td style="{_CELL}">{escape(cell)}</td>' for cell in cells)
        rows.append(f'<tr>{texts}<td style="{_CELL};text-align:left">{said}</td></tr>')
    names = "".join(f'<th style="{_CELL}">{escape(head)}</th>' for head in heads)
    return _TABLE.format(heads=names, rows="".join(rows))


def show_recall(documents: Sequence[Document]) -> None:
    """Show recalled episodes where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    ```python
    from langchain_core.documents import Document
    from langchain_tiered_memory.display import show_recall

    show_recall([Document("The ferry leaves at 9:40.", metadata={"score": 0.8, "session": "s1"})])
    ```
    """
    show(lambda: recall_html(documents), lambda: recall_renderable(documents), lambda: recall_text(documents))


def _parts_in(documents: Sequence[Document]) -> list[str]:
    """The parts that say something about at least one of the episodes."""
    explained: list[Mapping[str, float]] = [document.metadata.get("explain") or {} for document in documents]
    neutral = {part: _NEUTRAL.get(part, 0.0) for part in _PARTS}
    return [
        part
        for part, nothing in neutral.items()
        if any(f"{one.get(part, nothing):.2f}" != f"{nothing:.2f}" for one in explained)
    ]


def _figures(document: Document, parts: Sequence[str]) -> list[str]:
    explained = document.metadata.get("explain") or {}
    return [f"{explained[part]:.2f}" if part in explained else "-" for part in parts]


def _score(about: Mapping[str, Any]) -> str:
    score = about.get("score")
    return "-" if score is None else f"{score:.2f}"


def _when(about: Mapping[str, Any]) -> str:
    return visible(str(about.get("created_at") or ""))[:_DAY]


def _where(about: Mapping[str, Any]) -> str:
    session, number = about.get("session"), about.get("round")
    if session is None:
        return "no session"
    return f"session {visible(str(session))}" + (f", round {number}" if number else "")


def _notes(about: Mapping[str, Any]) -> list[str]:
    """Why an episode may not be the last word."""
    notes = []
    if about.get("outdated_by"):
        notes.append(f"a newer episode says something else: {visible(str(about['outdated_by']))}")
    if about.get("superseded_by"):
        notes.append(f"superseded by {visible(str(about['superseded_by']))}")
    if about.get("valid_until"):
        notes.append(f"true until {visible(str(about['valid_until']))[:16].replace('T', ' ')}")
    return notes
