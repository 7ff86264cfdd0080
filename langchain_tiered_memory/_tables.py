"""One model of what is shown (lines, tables, bars) and its three forms: plain text, rich for a terminal, and HTML.

Whoever has something to show describes it once, in blocks of raw text. Each form makes the text safe in its own way:
HTML escapes it, a terminal gets controls spelt out. A page is a whole HTML document around such blocks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._texts import cells, percent, visible

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["Bar", "Block", "Cell", "Column", "Line", "Table", "as_html", "as_rich", "as_text", "page", "pairs", "show"]

_STYLES: Final = {
    "": ("", ""),
    "strong": ("bold", "font-weight:700"),
    "quiet": ("dim", "opacity:.7"),
    "warning": ("yellow", "color:#d97706"),
    "good": ("bold green", "color:#16a34a;font-weight:600"),
    "bad": ("bold red", "color:#dc2626;font-weight:600"),
}
"""What a style is in rich and in CSS; a colour such as `#0284c7` is a style too."""
_BAR_CELLS: Final = 60
_KEPT_WHOLE: Final = 40
"""Cells of a column that is never wrapped; a wider one is folded rather than cut."""
_GAP: Final = "  "
_FONT: Final = "font-family:system-ui,sans-serif;font-variant-numeric:tabular-nums"
_BORDER: Final = "border-bottom:1px solid #94a3b855"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text in one style: `strong`, `quiet`, `warning`, `good`, `bad`, or a colour."""

    text: str
    style: str = ""


Cell: TypeAlias = str | Line | Sequence[Line]
"""What stands in a table: a text, a line in a style, or several lines."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        head: Stands above it.
        align: To which side its cells lean.
        wrap: Whether its cells may be broken over lines where a terminal is narrow.
        style: The style of its cells.
    """

    head: str = ""
    align: Literal["left", "right"] = "left"
    wrap: bool = False
    style: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns; one whose columns have no heads is shown without a head."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of parts with its legend: the size of each part, and its share of all of them.

    Attributes:
        parts: Name, letter for plain text, colour and size of each part.
        whole: The size of the whole bar.
    """

    parts: Sequence[tuple[str, str, str, int]]
    whole: int


Block: TypeAlias = Line | Table | Bar


def pairs(rows: Iterable[tuple[str, Cell]]) -> Table:
    """A table of names and what there is to say of each."""
    return Table([Column(style="quiet"), Column(wrap=True)], list(rows))


# --- plain text -------------------------------------------------------------------------------------------------------


def as_text(blocks: Iterable[Block]) -> str:
    """Write blocks as plain text, wide characters measured as a terminal shows them."""
    shown: list[str] = []
    headed = False
    for block in blocks:
        before, headed = headed, isinstance(block, Table) and _is_headed(block)
        if shown and (before or headed):
            shown.append("")
        if isinstance(block, Line):
            shown.append(visible(block.text))
        elif isinstance(block, Bar):
            letters = [(letter, width) for (_, letter, _, _), width in zip(block.parts, _widths(block), strict=True)]
            shown.append(f"[{''.join(letter * width for letter, width in letters).ljust(_BAR_CELLS, '.')}]")
            shown += [f"  {row}" for row in _text_rows(_legend(block))]
        else:
            shown += _text_rows(block)
    return "\n".join(line.rstrip() for line in shown)


def _text_rows(table: Table) -> list[str]:
    rows = [[[visible(line.text) for line in _lines(cell)] for cell in row] for row in table.rows]
    grid = [[[visible(column.head)] for column in table.columns], *rows] if _is_headed(table) else rows
    widths = [max((cells(line) for cell in column for line in cell), default=0) for column in zip(*grid, strict=True)]
    shown = []
    for row in grid:
        for number in range(max(map(len, row))):
            parts = [cell[number] if number < len(cell) else "" for cell in row]
            padded = [
                " " * (width - cells(part)) + part if column.align == "right" else part + " " * (width - cells(part))
                for column, part, width in zip(table.columns, parts, widths, strict=True)
            ]
            shown.append(_GAP.join(padded))
    return shown


# --- a terminal -------------------------------------------------------------------------------------------------------


def as_rich(blocks: Iterable[Block], *, needed_by: str = "this") -> RenderableType:
    """Make what `rich.print` shows of blocks.

    Raises:
        ImportError: rich is not installed; `as_text` needs nothing.
    """
    import_optional("rich", needed_by=needed_by)
    from rich.console import Group  # noqa: PLC0415  # only of the [cli] extra
    from rich.text import Text  # noqa: PLC0415  # as above

    shown: list[RenderableType] = []
    for block in blocks:
        if isinstance(block, Line):
            shown.append(Text(visible(block.text), style=_rich_style(block.style)))
        elif isinstance(block, Bar):
            bar = Text(no_wrap=True)
            for (_, _, colour, _), width in zip(block.parts, _widths(block), strict=True):
                bar.append("█" * width, style=colour)
            bar.append("░" * (_BAR_CELLS - len(bar)), style="dim")
            shown += [bar, _rich_table(_legend(block, "■"))]
        else:
            shown.append(_rich_table(block))
    return Group(*shown)


def _rich_table(table: Table) -> RenderableType:
    from rich import box  # noqa: PLC0415  # only of the [cli] extra
    from rich.table import Table as RichTable  # noqa: PLC0415  # as above
    from rich.text import Text  # noqa: PLC0415  # as above

    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False) if _is_headed(table) else RichTable.grid(padding=(0, 2))
    for place, column in enumerate(table.columns):
        widest = max((cells(line.text) for row in table.rows for line in _lines(row[place])), default=0)
        shown.add_column(
            Text(visible(column.head)),
            justify=column.align,
            no_wrap=not column.wrap and widest <= _KEPT_WHOLE,
            overflow="fold",
            style=_rich_style(column.style),
        )
    for row in table.rows:
        texts = []
        for cell in row:
            lines = [Text(visible(line.text), style=_rich_style(line.style)) for line in _lines(cell)]
            texts.append(Text("\n").join(lines))
        shown.add_row(*texts)
    return shown


def _rich_style(style: str) -> str:
    return _STYLES[style][0] if style in _STYLES else style


# --- HTML -------------------------------------------------------------------------------------------------------------


def as_html(blocks: Iterable[Block]) -> str:
    """Write blocks as one HTML element that carries its own style, every text in it escaped, nothing loaded."""
    shown = []
    for block in blocks:
        if isinstance(block, Line):
            shown.append(_html_line(block))
        elif isinstance(block, Bar):
            shown.append(_html_bar(block))
        else:
            shown.append(_html_table(block))
    return f'<div style="{_FONT};max-width:70em;margin:.5em 0">{"".join(shown)}</div>'


def _html_line(line: Line) -> str:
    style = _css(line.style)
    return f'<div dir="auto"{f" style={chr(34)}{style}{chr(34)}" if style else ""}>{escape(line.text)}</div>'


def _html_table(table: Table) -> str:
    heads = "".join(
        f'<th style="padding:.35em .8em;text-align:{column.align};{_BORDER};opacity:.7">{escape(column.head)}</th>'
        for column in table.columns
    )
    head = f"<thead><tr>{heads}</tr></thead>" if _is_headed(table) else ""
    rows = []
    for row in table.rows:
        shown = []
        for column, cell in zip(table.columns, row, strict=True):
            wrap = "white-space:pre-wrap;overflow-wrap:anywhere" if column.wrap else "white-space:nowrap"
            style = f"padding:.35em .8em;text-align:{column.align};vertical-align:top;{_BORDER};{wrap};"
            said = escape(cell) if isinstance(cell, str) else "".join(map(_html_line, _lines(cell)))
            shown.append(f'<td dir="auto" style="{style}{_css(column.style)}">{said}</td>')
        rows.append(f"<tr>{''.join(shown)}</tr>")
    return f'<table style="border-collapse:collapse;margin:.5em 0">{head}<tbody>{"".join(rows)}</tbody></table>'


def _html_bar(bar: Bar) -> str:
    whole = max(bar.whole, sum(size for *_, size in bar.parts), 1)
    blocks = "".join(
        f'<span title="{escape(name)}: {size:,}" style="display:inline-block;height:1.4em;'
        f'width:{100 * size / whole:.2f}%;background:{colour}"></span>'
        for name, _, colour, size in bar.parts
    )
    style = "border:1px solid #94a3b8;border-radius:4px;overflow:hidden;white-space:nowrap;line-height:0;margin:.3em 0"
    return f'<div style="{style}">{blocks}</div>{_html_table(_legend(bar, "■"))}'


def _css(style: str) -> str:
    return _STYLES[style][1] if style in _STYLES else f"color:{style};font-weight:600"


_PAGE_STYLE: Final = """
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #ffffff; --ink: #1c2024; --quiet: #60686f; --rule: #e2e4e6;
  --bad: #c2352b; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1c2024; --ink: #e8eaec; --quiet: #a2aab1;
  --rule: #323940; --bad: #ff8076; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif; }
main { max-width: 1040px; margin: 0 auto; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
p { margin: .25rem 0; } .quiet, figcaption { color: var(--quiet); } .bad { color: var(--bad); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.card, figure { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; padding: .8rem 1rem;
  margin: 0; }
.card b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; } .card.bad b { color: var(--bad); }
figure { overflow-x: auto; } figcaption { margin-bottom: .5rem; } main > div { max-width: none; overflow-x: auto; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
.axis { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; }
"""


def page(title: str, subtitle: str, parts: Iterable[str], *, style: str = "") -> str:
    """Write a whole HTML document that follows the reader's light or dark setting, without scripts, loading nothing.

    Args:
        title: What it is called; escaped here, like the subtitle.
        subtitle: Stands below the title.
        parts: Its content as HTML: `as_html` of blocks, headings, figures.
        style: CSS that it needs beside the page's own.
    """
    body = "\n".join(parts)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title>
<style>{_PAGE_STYLE}{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
<p class="quiet">{escape(subtitle)}</p>
{body}
</main>
</body>
</html>
"""


# --- where the program runs -------------------------------------------------------------------------------------------


def show(*, html: Callable[[], str], renderable: Callable[[], RenderableType], text: Callable[[], str]) -> None:
    """Show something where the program runs: as a notebook's output, in colour, or as plain text on stdout.

    Args:
        html: Makes it for a notebook.
        renderable: Makes it for rich.
        text: Makes it for a terminal without rich.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if ipython is not None and hasattr(shell, "kernel"):
        ipython.display.display(ipython.display.HTML(html()))
        return
    try:
        console = import_optional("rich.console", needed_by="show").Console()
    except ImportError:
        sys.stdout.write(text() + "\n")
        return
    console.print(renderable())


def _is_headed(table: Table) -> bool:
    return any(column.head for column in table.columns)


def _lines(cell: Cell) -> Sequence[Line]:
    if isinstance(cell, str):
        return (Line(cell),)
    return (cell,) if isinstance(cell, Line) else cell


def _legend(bar: Bar, mark: str = "") -> Table:
    used = max(sum(size for *_, size in bar.parts), 1)
    rows: list[tuple[Cell, ...]] = [
        (Line(mark or letter, colour), name, f"{size:,}", percent(size / used))
        for name, letter, colour, size in bar.parts
    ]
    return Table([Column(), Column(), Column(align="right"), Column(align="right")], rows)


def _widths(bar: Bar) -> list[int]:
    """Cells of each part: one at least, and never more than the bar together."""
    whole = max(bar.whole, sum(size for *_, size in bar.parts), 1)
    widths: list[int] = []
    for *_, size in bar.parts:
        widths.append(min(_BAR_CELLS - sum(widths), max(1, round(_BAR_CELLS * size / whole))))
    return widths
