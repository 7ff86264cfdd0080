"""Finds, among the best candidates, statements that a newer one outdates, and such as are equals but for their time.

An older statement is *outdated* only where the newer says itself that something is no longer as it was: what it says
has ended stands whole in the older ("no longer", "不再"), or the subject of its change does ("moved to", "改成") and
the older is about what is asked. *Equals* are two statements that have the same words of the question and are alike
otherwise; where the question asks for one present value, the newer of them comes first, and neither is called outdated.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, permutations
from typing import Final

from langchain_tiered_memory._times import from_micros
from langchain_tiered_memory.episodic.analysis import terms_of
from langchain_tiered_memory.episodic.languages import language_file, languages

__all__ = ["DEPTH", "Statement", "newest_first"]

DEPTH: Final = 10
"""So many of the best candidates are compared with each other."""
CHANGED: Final = 0.08
"""The least share of their words, weighed by what each tells, that equals have in common where something changed,
or where both have the words of the question, if that is more than one."""
ALIKE: Final = 0.18
"""The least such share of two equals where only a number differs."""
SAME: Final = 0.4
"""The least such share of two equals without another number."""

_LEAST: Final = 50  # texts that a pool is taken to have: of two texts, words say nothing about how rare they are
_KEY_HEAD: Final = 24  # a key's date and speakers stand among so many first terms
_DAY: Final = 86_400_000_000  # microseconds
_NUMBER: Final = re.compile(r"\d")
_SENTENCE: Final = re.compile(r"(?:[^.!?。！？\n]|[.](?=\S))+[.!?。！？]*")
_CLAUSE: Final = re.compile(r"[,;:，；：]")
_PREFIX: Final = re.compile(r"^[^\W\d_][^:\n]{0,39}:\s")
_ADVERB: Final = re.compile(r"\b[a-z]+ly\s*$")
_FROM: Final = re.compile(r"^\s*from\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a candidate says, and when, and who says it about what.

    Attributes:
        text: What the user said of it.
        terms: Its search terms.
        created_at: Microseconds since 1970, UTC.
        thread: The session that it was said in; "" for none.
        number: Its place there, which tells what is newer where the time does not.
        speakers: Who says it; empty where nobody knows.
        entity: What it is about; "" where nobody knows.
    """

    text: str
    terms: Sequence[str]
    created_at: int
    thread: str = ""
    number: int = 0
    speakers: frozenset[str] = frozenset()
    entity: str = ""

    def may_follow(self, older: Statement) -> bool:
        """Whether it was said after another, by the same and of the same as far as is known."""
        if self.created_at == older.created_at:
            if not self.thread or self.thread != older.thread or self.number <= older.number:
                return False
        elif self.created_at < older.created_at:
            return False
        if self.entity and older.entity and self.entity != older.entity:
            return False
        return not (self.speakers and older.speakers and self.speakers.isdisjoint(older.speakers))

    def words(self) -> frozenset[str]:
        """What it says, without the date that a key has in front of it."""
        head = Counter(self.terms[:_KEY_HEAD])
        for date in _date_terms(self.created_at // _DAY):
            if date <= head:
                return frozenset([*(head - date).elements(), *self.terms[_KEY_HEAD:]])
        return frozenset(self.terms)


def newest_first(
    best: Sequence[Statement], question: str, pool: Iterable[Sequence[str]]
) -> Iterator[tuple[int, int | None]]:
    """The best statements in their order, but a newer one above the older that it outdates or equals.

    Args:
        best: The best candidates, best first.
        question: What is asked.
        pool: The terms of all candidates, which tell how rare a word is.

    Yields:
        The place that a statement had, and the place of the newest that outdates it; `None` if none does.
    """
    patterns = language_file(question).patterns
    asked = frozenset(terms_of(patterns["asks_present"].sub(" ", question)))
    # It asks how something is, and not how it was, how it came about or what to do.
    present = patterns["asks_present"].search(question) and not patterns["asks_otherwise"].search(question)
    said = [_Said.of(one) for one in best]
    telling = _telling([one.words for one in said], pool)
    above: dict[int, set[int]] = {}  # the older ones that a newer one stands below
    outdated: dict[int, int] = {}
    for newer, older in permutations(range(len(best)), 2):
        if not best[newer].may_follow(best[older]):
            continue
        explicit = said[newer].outdates(said[older], asked)
        if explicit and (older not in outdated or best[newer].may_follow(best[outdated[older]])):
            outdated[older] = newer
        may_rise = present and older < newer and not asked.isdisjoint(said[newer].words)
        if may_rise and (explicit or _are_equal(said[newer], said[older], asked, telling)):
            above.setdefault(newer, set()).add(older)
    order: list[int] = []
    for n in range(len(best)):
        order.insert(min((order.index(older) for older in above.get(n, ())), default=len(order)), n)
    return ((n, outdated.get(n)) for n in order)


def _telling(words: Sequence[frozenset[str]], pool: Iterable[Sequence[str]]) -> dict[str, float]:
    """How much each word of the best tells, from how many texts of the pool have it."""
    wanted = frozenset().union(*words)
    having: Counter[str] = Counter()
    size = 0
    for terms in pool:
        having.update(wanted.intersection(terms))
        size += 1
    size = max(size, _LEAST)
    return {term: math.log1p((size - having[term] + 0.5) / (having[term] + 0.5)) for term in wanted}


def _are_equal(newer: _Said, older: _Said, asked: Collection[str], telling: dict[str, float]) -> bool:
    """Whether two statements answer a question equally well and differ in what they answer.

    Both have the words of the question; where the newer says that something changed or is new, it may lack some of
    them, but no word in whose place it has another ("alpha" is not "beta").
    """
    of_question = older.words.intersection(asked)
    fresh = (newer.words - older.words).intersection(newer.told)
    if not fresh or newer.told.isdisjoint(of_question):
        return False
    missing = of_question - newer.words
    if any(_NUMBER.search(word) or _has_rival(word, newer, older, asked) for word in missing):
        return False
    if missing and not newer.recent:
        return False
    shared = math.fsum(telling[term] for term in newer.words & older.words)
    share = shared / (math.fsum(telling[term] for term in newer.words | older.words) or 1.0)
    of_both = of_question & newer.words
    little = len(of_both) > 1 and (newer.recent or 3 * len(of_both) >= 2 * len(asked))
    if share < (CHANGED if little else ALIKE):
        return False
    lost = older.words - newer.words
    return share >= SAME or all(any(map(_NUMBER.search, terms)) for terms in (fresh, lost))


def _has_rival(word: str, newer: _Said, older: _Said, asked: Collection[str]) -> bool:
    """Whether the newer has another word beside a word of the question, where the older has this one."""
    for before, after in older.pairs:
        if word == after and before in asked:
            rivals = {other for one, other in newer.pairs if one == before}
        elif word == before and after in asked:
            rivals = {one for one, other in newer.pairs if other == after}
        else:
            continue
        if any(one not in older.words and not _NUMBER.search(one) for one in rivals):
            return True
    return False


# --- what is said -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Change:
    """What a sentence says is no longer as it was.

    Attributes:
        subject: The words of what changed.
        whole: Whether they say what has ended, and not only of what.
    """

    subject: frozenset[str]
    whole: bool


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement, analysed.

    Attributes:
        words: All of its terms.
        pairs: The terms that stand beside each other in what it states, but for words of change.
        told: The terms of what it states, without what it asks.
        changes: What it says has changed.
        recent: Whether it says that something changed or is new.
    """

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]
    told: frozenset[str]
    changes: tuple[_Change, ...]
    recent: bool

    @classmethod
    def of(cls, statement: Statement) -> _Said:
        words = statement.words()
        stated = _stated(statement.text)
        changes = tuple(change for sentence in stated for change in _changes(sentence))
        recent = bool(changes) or any(
            language_file(one).patterns[name].search(one) for one in stated for name in ("recent", "change")
        )
        told = frozenset(term for sentence in stated for term in _terms(sentence))
        pairs = frozenset(pair for sentence in stated for pair in pairwise(terms_of(_without_change(sentence))))
        return cls(words, pairs, told, changes, recent)

    def outdates(self, older: _Said, asked: Collection[str]) -> bool:
        """Whether it says that an older statement is no longer so."""
        if self.told <= older.words:
            return False  # it says nothing new
        answers = 2 * len(older.words.intersection(asked)) > len(asked)
        return any(one.subject <= older.words and (one.whole or answers) for one in self.changes)


def _stated(text: str) -> list[str]:
    """What a text states: its sentences, of those that ask only what stands before the question."""
    result = []
    for sentence in _SENTENCE.findall(_PREFIX.sub("", text, count=1)):
        clauses = _CLAUSE.split(sentence)
        question = language_file(sentence).patterns["question"]
        if sentence.rstrip().endswith(("?", "？")):
            asking = next((n for n, clause in enumerate(clauses) if question.search(clause)), len(clauses))
            stated = clauses[: min(asking, len(clauses) - 1)]
        else:  # a clause with "which" or "when" further on belongs to what is stated
            stated = [] if question.search(clauses[0]) else clauses
        if stated:
            result.append(", ".join(stated))
    return result


def _without_change(sentence: str) -> str:
    patterns = language_file(sentence).patterns
    return patterns["change"].sub(" ", sentence)


def _changes(sentence: str) -> Iterator[_Change]:
    """What a sentence says has ended or changed; nothing where it is only wished or planned."""
    patterns = language_file(sentence).patterns
    if patterns["not_yet"].search(sentence):
        return
    if ended := patterns["ended"].search(sentence):
        before = _CLAUSE.split(sentence[: ended.start()])[-1]
        old = ended["old"] or _CLAUSE.split(sentence[ended.end() :])[0]
        if _terms(old):
            yield _Change(_terms(f"{before} {old}"), whole=True)
    for change in patterns["change"].finditer(sentence):
        before = _CLAUSE.split(sentence[: change.start()])[-1]
        after = patterns["value"].split(_FROM.sub("", sentence[change.end() :]), maxsplit=1)[0]
        subject = _terms(_ADVERB.sub("", patterns["subject"].sub("", before)))
        if not subject or patterns["attributive"].search(before):
            subject = _terms(after)
        if subject:
            yield _Change(subject, whole=False)


def _terms(text: str) -> frozenset[str]:
    """The words of a part of a sentence; none where there are only function words."""
    words = frozenset(terms_of(text))
    return frozenset() if words <= _function_words() else words - languages()["zh"].stop_words


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    known = languages()
    return known["zh"].stop_words.union(*(terms_of(word) for word in known["en"].stop_words))


@lru_cache(maxsize=4_096)
def _date_terms(day: int) -> tuple[Counter[str], ...]:
    """The terms of a date as keys have it, in each language."""
    moment = from_micros(day * _DAY)
    return tuple(Counter(terms_of(one.written_date(moment))) for one in languages().values() if one.date)
