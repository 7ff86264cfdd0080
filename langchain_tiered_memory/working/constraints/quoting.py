"""Which constraints hold, which a summary lacks, and what stands in the block of quoted lines where room is short."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from langchain_tiered_memory.messages.text import PREFIXES
from langchain_tiered_memory.working.constraints.constraint import Constraint
from langchain_tiered_memory.working.constraints.sentences import Language, one_line
from langchain_tiered_memory.working.constraints.topics import changes, terms_of

__all__ = [
    "HEADINGS",
    "fit_constraints",
    "merge_constraints",
    "missing_constraints",
    "newest_and_oldest",
    "render_constraints",
]

HEADINGS: Final[dict[Language, str]] = {
    "en": "Said earlier, word for word (the newest last):",
    "zh": "此前的原话（新的在后）：",
}
"""What stands over the block of quoted lines, by language."""
_SURE: Final = 0.9
"""The priority from which on a rule goes before those that may be requests for the moment."""
_SURE_SHARE: Final = 0.75
"""The part of a block that sure rules may take before what the open question asks for."""
_ASKED_SHARE: Final = 0.5
"""The part of a block that what the open question asks for may take."""
_SAME: Final = 0.5
"""The share of the shorter one's terms that two sentences about the same thing have in common."""
_LARGEST: Final = 0.5
"""The part of a block to which a rule is shortened that is larger than the whole block."""


def merge_constraints(known: Iterable[Constraint], found: Iterable[Constraint]) -> list[Constraint]:
    """Put newly found constraints behind the known ones.

    One that is repeated stands once, where it was said last. Where the user says that something changes ("the budget is
    now 900", "you may use POST now", "改成"), both stay, the newer one last; the earlier one loses its priority, so
    that it is the first to go, and the later one takes it over.

    Args:
        known: The constraints so far, oldest first.
        found: What later messages added, oldest first.

    Returns:
        All of them, the newest last.
    """
    held = {_key(one): one for one in known}
    for one in found:
        held.pop(_key(one), None)
        latest = one
        if one.binds and changes(one.text) and (key := _same_matter(one, held)) is not None:
            earlier = held[key]
            kind = "rule" if "rule" in (one.kind, earlier.kind) else one.kind
            latest = replace(one, kind=kind, priority=max(one.priority, earlier.priority))
            held[key] = replace(earlier, priority=0.0)
        held[_key(latest)] = latest
    return list(held.values())


def _key(constraint: Constraint) -> tuple[str, bool]:
    return one_line(constraint.text).casefold(), constraint.binds


def _same_matter(later: Constraint, held: dict[tuple[str, bool], Constraint]) -> tuple[str, bool] | None:
    """The key of the constraint that shares most with a later one, the newest of several."""
    terms = terms_of(later.topic or later.text)
    best, most = None, _SAME
    for key, one in held.items():
        if one.binds and one.priority and (others := terms_of(one.topic or one.text)):
            share = len(terms & others) / min(len(terms) or 1, len(others))
            if share >= most:
                best, most = key, share
    return best


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
    lines = [line for line in map(one_line, text.splitlines()) if line]
    starts: set[int] = set()
    place = 0
    for line in lines:
        starts.add(place)
        place += len(line) + 1
    whole = " ".join(lines)
    return [one for one in constraints if not _stands_in(one_line(one.text), whole, starts)]


def _stands_in(said: str, whole: str, starts: set[int]) -> bool:
    place = whole.find(said)
    while place >= 0:
        end = place + len(said)
        opens = place in starts or not whole[max(0, place - 2) : place].strip()[-1:].isalnum()
        if opens and (end + 1 in starts or not whole[end : end + 2].strip()[:1].isalnum() or not said[-1:].isalnum()):
            return True
        place = whole.find(said, place + 1)
    return False


def render_constraints(constraints: Sequence[Constraint], language: Language = "en") -> str:
    """Write constraints as a block of quoted lines.

    Each is one line behind a mark of quotation, so that none can pose as anything but a quotation.

    Args:
        constraints: What to write, in order.
        language: `"en"` or `"zh"`, for the heading and the names of speakers.

    Returns:
        The block without a line break at its end, `""` for no constraints.
    """
    return "\n".join([HEADINGS[language], *(_line(one, language) for one in constraints)]) if constraints else ""


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
    asked: Iterable[Constraint] = (),
) -> tuple[list[Constraint], list[Constraint]]:
    """Choose the constraints whose block fits a budget.

    The user's rules that surely bind come first, two of the newest for one of the oldest; where the open question asks
    for something they leave it a quarter, and it takes half at most. Then come the user's other sentences by their
    priority, what tools and the assistant said, and what was changed since; of each the newest first. A rule that is
    larger than the whole block is shortened; what is too large for what is left makes room for smaller ones behind it.

    Args:
        constraints: All that hold, the newest last.
        max_tokens: What `render_constraints` of the chosen ones may take.
        count_text: Tokens of a text.
        language: The language the block will be written in.
        asked: Those of `constraints` that the open question asks for, the best first.

    Returns:
        The chosen ones and the others, both in the order they came in. One that was shortened is in both.
    """
    by_class: dict[int, list[int]] = {}
    for place, one in enumerate(constraints):
        by_class.setdefault(_class(one), []).append(place)
    sure = newest_and_oldest(by_class.pop(0, []))
    unsure = sorted(by_class.pop(1, []), key=lambda place: (-round(constraints[place].priority, 1), -place))
    rest = [place for kind in sorted(by_class) for place in reversed(by_class[kind])]
    places = {id(one): place for place, one in enumerate(constraints)}
    wanted = [places[id(one)] for one in asked]
    left = room = max_tokens - count_text(HEADINGS[language] + "\n")
    chosen = dict[int, Constraint]()
    for some, share in ((sure, _SURE_SHARE if wanted else 1.0), (wanted, _ASKED_SHARE), ([*sure, *unsure, *rest], 1.0)):
        within = min(left, int(share * room))
        left -= within
        for place in some:
            if place in chosen or within <= 0:
                continue
            one = constraints[place]
            tokens = count_text(_line(one, language) + "\n")
            if one.binds and one.kind == "rule" and tokens > room:
                one = _shortened(one, int(_LARGEST * room), count_text, language)
                tokens = count_text(_line(one, language) + "\n")
            if tokens <= within:
                within -= tokens
                chosen[place] = one
        left += within
    # Tokens of parts are the tokens of the whole but for the borders of lines, which a tokenizer may merge or not.
    while chosen and count_text(render_constraints([chosen[at] for at in sorted(chosen)], language)) > max_tokens:
        chosen.popitem()
    over = [one for place, one in enumerate(constraints) if chosen.get(place) is not one]
    return [chosen[place] for place in sorted(chosen)], over


def _class(one: Constraint) -> int:
    """How early a constraint is chosen: 0 comes first."""
    if one.source != "user" and not one.binds:
        return 2
    if not one.priority:
        return 3
    return 0 if one.kind == "rule" and one.priority >= _SURE else 1


def _shortened(one: Constraint, room: int, count_text: Callable[[str], int], language: Language) -> Constraint:
    """A constraint cut to what fits, with a mark that it was; itself where no part would say anything."""
    text = one_line(one.text)
    while len(text) > 16:  # noqa: PLR2004  # less than that says nothing
        text = text[: len(text) * 3 // 4].rstrip()
        cut = replace(one, text=text + "…")
        if count_text(_line(cut, language) + "\n") <= room:
            return cut
    return one
