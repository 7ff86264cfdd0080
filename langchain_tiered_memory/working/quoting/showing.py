"""The block of quoted lines: how it is written, and what stands in it when not everything fits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from langchain_tiered_memory.messages.transcript import PREFIXES
from langchain_tiered_memory.working.quoting.constraint import Constraint
from langchain_tiered_memory.working.wording.reading import Language, one_line

__all__ = ["HEADINGS", "fit_constraints", "newest_and_oldest", "render_constraints"]

HEADINGS: Final[dict[Language, str]] = {
    "en": "Said earlier, word for word (the newest last):",
    "zh": "此前的原话（新的在后）：",
}
"""What stands over the block of quoted lines, by language."""
_MISFITS: Final = 16
"""Constraints in a row that do not fit, after which the block counts as full."""


def render_constraints(constraints: Sequence[Constraint], language: Language = "en") -> str:
    """Write constraints as a block of quoted lines.

    Each is one line behind a mark of quotation, so that none can pose as anything but a quotation.

    Args:
        constraints: What to write, in order.
        language: `"en"` or `"zh"`, for the heading and the names of speakers.

    Returns:
        The block without a line break at its end, `""` for no constraints.
    """
    if not constraints:
        return ""
    return "\n".join([HEADINGS[language], *(_line(constraint, language) for constraint in constraints)])


def _line(constraint: Constraint, language: Language) -> str:
    text = one_line(constraint.text)
    if constraint.source == "user":
        return f"> {text}"
    names = PREFIXES[language]
    speaker = {"assistant": names.ai, "tool": names.tool, "system": names.system}[constraint.source]
    return f"> {speaker}: {text}"


def newest_and_oldest(places: Sequence[int]) -> list[int]:
    """Places by how much they matter where all else is equal: two of the newest, then one of the oldest, and so on.

    The newest is what the conversation is at; the oldest is what it is about, and what a user laid down at its start.

    Args:
        places: Places in ascending order.
    """
    order: list[int] = []
    first, last = 0, len(places) - 1
    while first <= last:
        if len(order) % 3 == 2:  # noqa: PLR2004  # every third
            order.append(places[first])
            first += 1
        else:
            order.append(places[last])
            last -= 1
    return order


def fit_constraints(
    constraints: Sequence[Constraint],
    max_tokens: int,
    count_text: Callable[[str], int],
    *,
    language: Language = "en",
) -> tuple[list[Constraint], list[Constraint]]:
    """Choose the constraints whose block fits a budget.

    The user's rules come first: those that say outright what to do or not to do, two of the newest for one of the
    oldest, then those that are `weak` ("my budget is 900 EUR"). Then the values the user gave, then what tools and the
    assistant said; of each the newest first. One that is too large for what is left makes room for smaller ones behind
    it, until 16 in a row did not fit.

    Args:
        constraints: All that hold, the newest last.
        max_tokens: What `render_constraints` of the chosen ones may take.
        count_text: Tokens of a text.
        language: The language the block will be written in.

    Returns:
        The chosen ones and the others, both in the order they came in.
    """
    by_class: dict[int, list[int]] = {}
    for place, constraint in enumerate(constraints):
        by_class.setdefault(_class(constraint), []).append(place)
    outright = newest_and_oldest(by_class.pop(0, []))
    ranked = [*outright, *(place for kind in sorted(by_class) for place in reversed(by_class[kind]))]
    left = max_tokens - count_text(HEADINGS[language] + "\n")
    chosen: list[int] = []
    misfits = 0
    for place in ranked:
        if left <= 0 or misfits == _MISFITS:
            break
        tokens = count_text(_line(constraints[place], language) + "\n")
        misfits = misfits + 1 if tokens > left else 0
        if not misfits:
            left -= tokens
            chosen.append(place)
    # Tokens of parts are the tokens of the whole but for the borders of lines, which a tokenizer may merge or not.
    while chosen and count_text(render_constraints([constraints[i] for i in sorted(chosen)], language)) > max_tokens:
        chosen.pop()
    inside = set(chosen)
    kept = [one for place, one in enumerate(constraints) if place in inside]
    return kept, [one for place, one in enumerate(constraints) if place not in inside]


def _class(constraint: Constraint) -> int:
    """How early a constraint is chosen: 0 comes first."""
    if not constraint.binds:
        return 3
    if constraint.kind == "value":
        return 2
    return 1 if constraint.weak else 0
