"""Which constraints hold: the newest word on a matter takes the place of the one before it."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_tiered_memory.working.quoting.constraint import Constraint
from langchain_tiered_memory.working.wording.reading import one_line, read
from langchain_tiered_memory.working.wording.topics import changes, find_replaced, topic_of

__all__ = ["merge_constraints", "missing_constraints"]


def merge_constraints(known: Iterable[Constraint], found: Iterable[Constraint]) -> list[Constraint]:
    """Put newly found constraints behind the known ones.

    One that is repeated stands once, where it was said last. One that says that something changes ("the budget is now
    900 instead of 700", "forget the GET rule", "现在可以用 POST 了") takes the place of the one it is about; in doubt
    both stay, the newer one last. Only a user's or a system message's sentence replaces theirs.

    Args:
        known: The constraints so far, oldest first.
        found: What later messages added, oldest first.

    Returns:
        All that hold, the newest last.
    """
    held = {_key(constraint): constraint for constraint in known}
    for constraint in found:
        key = _key(constraint)
        held.pop(key, None)
        # What a tool or the assistant said is never looked at twice.
        if constraint.binds and (replaced := _replaced(constraint, held)) is not None:
            del held[replaced]
        held[key] = constraint
    return list(held.values())


def _replaced(constraint: Constraint, held: dict[tuple[str, bool], Constraint]) -> tuple[str, bool] | None:
    """The key of the constraint that this one takes the place of."""
    piece = read(constraint.text)
    if not held or not changes(piece):
        return None
    rivals = [(key, one) for key, one in held.items() if one.binds]
    others = [(one.text, one.topic, one.kind == "rule") for _, one in rivals]
    place = find_replaced(piece, constraint.topic or topic_of(constraint.text), others)
    return None if place is None else rivals[place][0]


def _key(constraint: Constraint) -> tuple[str, bool]:
    return one_line(constraint.text).casefold(), constraint.binds


def missing_constraints(constraints: Iterable[Constraint], text: str) -> list[Constraint]:
    """The constraints that do not stand verbatim in a text.

    White space may differ and nothing else. A constraint that is only a part of another statement there ("use POST" in
    "do not use POST", "room 7" in "room 77") is missing.

    Args:
        constraints: What must be in the text.
        text: A summary.

    Returns:
        Those that are missing, in their order.
    """
    lines = [one_line(line) for line in text.splitlines()]
    starts: set[int] = set()
    place = 0
    for line in lines:
        if line:
            starts.add(place)
            place += len(line) + 1
    whole = " ".join(line for line in lines if line)
    return [one for one in constraints if not _stands_in(one_line(one.text), whole, starts)]


def _stands_in(said: str, whole: str, starts: set[int]) -> bool:
    place = whole.find(said)
    while place >= 0:
        end = place + len(said)
        opens = place in starts or _is_border(whole[max(0, place - 2) : place].strip()[-1:])
        closes = end + 1 in starts or _is_border(whole[end : end + 2].strip()[:1]) or not said[-1:].isalnum()
        if opens and closes:
            return True
        place = whole.find(said, place + 1)
    return False


def _is_border(neighbour: str) -> bool:
    return not neighbour.isalnum()
