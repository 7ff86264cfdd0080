"""Texts and numbers as people read them: made safe for a terminal, measured in cells, folded, counted."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final

__all__ = ["cells", "counted", "duration", "folded", "percent", "ranges", "readable", "shortened", "visible"]

_HARMLESS: Final = frozenset("\u200c\u200d")
"""Not printable, and still part of words and emoji: the joiners."""
_LONGEST: Final = 400
"""Characters of a line that is shown."""
_MILLISECONDS: Final = 1_000.0


def visible(text: str) -> str:
    """The text on one line, with what a terminal might obey (escape sequences, controls, line ends) spelt out."""
    return "".join(one if _is_safe(one) else one.encode("unicode_escape").decode() for one in text)


def readable(text: str) -> str:
    """The text over several lines, with what a terminal might obey spelt out.

    Works character by character, so that the pieces of a stream may be shown as they come.
    """
    return "".join(one if one in "\n\t" else visible(one) for one in text)


def folded(text: str, lines: int | None, longest: int = _LONGEST) -> list[str]:
    """The first lines of a text, long ones cut, and how many are not shown; `None` for all of it."""
    every = [line.expandtabs(4) for line in text.splitlines()] or [""]
    if lines is None:
        return every
    shown = [shortened(line, longest) for line in every[:lines]]
    rest = len(every) - len(shown)
    return [*shown, f"… {counted(rest, 'more line')}"] if rest else shown


def shortened(text: str, longest: int) -> str:
    """The text cut to so many characters, the last of which then says that something is missing."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def cells(text: str) -> int:
    """Columns of a terminal that a text takes: two for a wide character, none for one that combines."""
    return sum(map(_cells_of, text))


def counted(number: int, thing: str) -> str:
    """A number of things, in the singular for one."""
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage with one digit."""
    return f"{100 * share:.1f} %"


def duration(seconds: float) -> str:
    """A time in the unit that fits it."""
    return f"{seconds * _MILLISECONDS:.2f} ms" if seconds < 1 else f"{seconds:.2f} s"


def ranges(positions: Sequence[int], most: int | None = 3) -> str:
    """Ascending positions as ranges, "3-6, 9"; more than `most` ranges end in how many positions are left out."""
    runs: list[list[int]] = []
    for position in positions:
        if runs and position == runs[-1][1] + 1:
            runs[-1][1] = position
        else:
            runs.append([position, position])
    kept = runs[:most]
    shown = [f"{first}" if first == last else f"{first}-{last}" for first, last in kept]
    rest = sum(last - first + 1 for first, last in runs[len(kept) :])
    return ", ".join(shown) + (f" +{rest}" if rest else "")


def _is_safe(one: str) -> bool:
    return one.isprintable() or one in _HARMLESS or unicodedata.category(one) == "Zs"


def _cells_of(one: str) -> int:
    if one in _HARMLESS or unicodedata.category(one) in {"Mn", "Me"}:
        return 0
    return 2 if unicodedata.east_asian_width(one) in "WF" else 1
