"""Finds, among the best candidates, statements that a newer one has probably replaced."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import permutations
from typing import Final

from langchain_tiered_memory._times import from_micros
from langchain_tiered_memory.episodic.analysis import terms_of

__all__ = ["Statement", "replacements", "says_change"]

DEPTH: Final = 10
"""So many of the best candidates are compared with each other."""
ALIKE: Final = 0.14
"""The least share of their words, weighed by what each tells, that two statements about the same have in common."""
SAME: Final = 0.4
"""The least such share of two statements that need no number to differ."""
TOLD: Final = 0.25
"""The least such share where the newer one says that something changed."""

_LEAST: Final = 50  # texts that a pool is taken to have: of two texts, words say nothing about how rare they are
_KEY_HEAD: Final = 24  # a key's date and speakers stand among so many first terms
_DAY: Final = 86_400_000_000  # microseconds
_NUMBER: Final = re.compile(r"\d")
_CHANGED: Final = re.compile(
    r"\b(?:no longer|any ?more|renamed?|moved (?:to|from|out|in)|(?:switch|chang|updat)ed|replaced|instead of"
    r"|(?<!\bis )(?<!\bare )(?<!\bwas )(?<!\bwere )(?<!\bbe )used to"  # a knife is used to cut bread
    r"|as of|from now on)\b|不再|改成|改为|改到|改用|换成|换到|换了|变成|变为|搬到|搬去|调整为",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a candidate says, and when, and who says it about what.

    Attributes:
        terms: Its search terms.
        created_at: Microseconds since 1970, UTC.
        thread: The session that it was said in; "" for none.
        number: Its place there, which tells what is newer where the time does not.
        speakers: Who says it; empty where nobody knows.
        entity: What it is about; "" where nobody knows.
        changes: Whether it says that something is no longer as it was.
    """

    terms: Sequence[str]
    created_at: int
    thread: str = ""
    number: int = 0
    speakers: frozenset[str] = frozenset()
    entity: str = ""
    changes: bool = False

    def is_newer(self, other: Statement) -> bool:
        """Whether it was said after another."""
        if self.created_at != other.created_at:
            return self.created_at > other.created_at
        return self.thread != "" and self.thread == other.thread and self.number > other.number

    def words(self) -> frozenset[str]:
        """What it says, without the date that a key has in front of it."""
        date = Counter(_date_terms(self.created_at // _DAY))
        head = Counter(self.terms[:_KEY_HEAD])
        if not date <= head:
            return frozenset(self.terms)
        head.subtract(date)
        return frozenset([*head.elements(), *self.terms[_KEY_HEAD:]])


def says_change(text: str) -> bool:
    """Whether a text says that something is no longer as it was."""
    return _CHANGED.search(text) is not None


def replacements(
    best: Sequence[Statement], query: Collection[str], pool: Iterable[Sequence[str]]
) -> Iterator[tuple[int, int]]:
    """Which of the best statements replaces which older one.

    Two statements are about the same if they share enough of their words, weighed by how rare these are in the pool,
    one of the question's among them, and neither their speakers nor their entities differ. The newer replaces the older
    if it has a number that the older has not, says that something changed ("no longer", "改成"), or if they are so
    alike that another word is enough. Two that say the same do not replace each other, and an older one with a number
    of the question that the newer has not is left alone.

    Args:
        best: The best candidates, best first.
        query: The question's terms.
        pool: The terms of all candidates.

    Yields:
        The place of a newer one, and that of an older one that it replaces.
    """
    words = [one.words() for one in best]
    wanted = frozenset().union(*words)
    having: Counter[str] = Counter()
    size = 0
    for terms in pool:
        having.update(wanted.intersection(terms))
        size += 1
    size = max(size, _LEAST)
    telling = {term: math.log1p((size - having[term] + 0.5) / (having[term] + 0.5)) for term in wanted}
    numbers = frozenset(term for term in query if _NUMBER.search(term))
    weights = [math.fsum(telling[term] for term in one) for one in words]
    for newer, older in permutations(range(len(best)), 2):
        common = words[newer] & words[older]
        fresh = words[newer] - words[older]
        if not fresh or common.isdisjoint(query) or not _may_replace(best[newer], best[older]):
            continue
        if not numbers.isdisjoint(words[older] - words[newer]):
            continue  # the question is about order 1001, and the newer one is about order 1002
        shared = math.fsum(telling[term] for term in common)
        share = shared / ((weights[newer] + weights[older] - shared) or 1.0)
        if share >= (TOLD if best[newer].changes else SAME) or (
            share >= ALIKE and any(_NUMBER.search(term) for term in fresh)
        ):
            yield newer, older


def _may_replace(newer: Statement, older: Statement) -> bool:
    if not newer.is_newer(older):
        return False
    if newer.entity and older.entity and newer.entity != older.entity:
        return False
    return not (newer.speakers and older.speakers and newer.speakers.isdisjoint(older.speakers))


@lru_cache(maxsize=4_096)
def _date_terms(day: int) -> tuple[str, ...]:
    """The terms of a date as keys have it, in English: weekday, day, month and year, and as ISO 8601 writes it."""
    moment = from_micros(day * _DAY)
    names = f"{_WEEKDAYS[moment.weekday()]} {moment.day} {_MONTHS[moment.month - 1]}"
    return tuple(terms_of(f"{names} {moment.year} {moment.date()}"))


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
