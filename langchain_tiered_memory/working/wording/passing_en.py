"""English requests for the moment, which look like standing rules: "find me a train that leaves before nine"."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

__all__ = ["is_for_the_moment", "is_limited", "is_subject", "stands"]

_ASKED_ONCE: Final = frozenset(
    """book buy calculate check choose compare convert copy count create describe discuss display draft estimate explain
    export fetch find generate get give import list look merge move open order pick plan print read recommend
    remind rename reserve run say search select sell show sort suggest summarise summarize tell test translate try
    turn update upload wait weigh""".split()  # noqa: SIM905
)
"""What somebody is mostly asked to do once, to the thing that is talked about."""
_MOMENT: Final = frozenset(
    """again another fourth last latest later minute moment next now previous quick quickly second these third this
    those today tomorrow tonight today's tomorrow's tonight's yesterday's""".split()  # noqa: SIM905
)
"""What points at the thing that is talked about, or at the time at which it is."""
_HABITUAL: Final = frozenset(
    "address ask call cc contact inform involve keep notify quote treat wake warn".split()  # noqa: SIM905
)
"""What is done to somebody again and again: "ask me", unlike "book me"."""
_ALWAYS: Final = frozenset("always exclusively never only otherwise unless whenever without".split())  # noqa: SIM905
"""What makes a rule of any order."""
_BEFORE_ALL: Final = frozenset({"beforehand", "first"})
_LIMITS: Final = frozenset(
    """all anybody anyone below each every everyone everything exactly except first instead least most no nobody not
    nothing per prior rather throughout under verbatim whatever wherever whoever within""".split()  # noqa: SIM905
)
"""What limits an order, so that it may be one for good."""
_UPON: Final = frozenset("before until till after once when if".split())  # noqa: SIM905
_ABOUT_TO: Final = frozenset("any every each i it the they we you anything".split())  # noqa: SIM905
_NO_ACTION: Final = frozenset("building ceiling evening morning spring wedding".split())  # noqa: SIM905
_SUBJECT_OF: Final = frozenset(
    """is are was were has had hasn't isn't wasn't weren't will would won't does doesn't did didn't accepts adds allows
    applies arrives asks became becomes began begins belongs breaks brings came collects comes compares confirms
    contains continues covers crashed decides declines delivers depends describes explains failed fails falls feels
    finds finishes follows gets gives goes got happens hears helps includes invites keeps knows leads learns lets looks
    loses loads makes means meets needs opens owns pays prefers prints proves provides puts raises reads receives
    remains removes requires returned returns runs saves says seems sells sends serves shows sits speaks stands starts
    stays stops takes tells thinks turns uses waits wants went works writes""".split()  # noqa: SIM905
)
"""Verbs by which the word before them is known for their subject."""
_OPENS_CLAUSE: Final = frozenset(
    """and anything but everything how if it she he they that this what whatever when where which who whoever
    why""".split()  # noqa: SIM905
)


def stands(words: list[str], verb: int) -> bool:
    """Whether an order says that it is one for good: "ask me before you buy", "never before nine"."""
    if not _ALWAYS.isdisjoint(words):
        return True
    if words[-1] in _BEFORE_ALL and ("me" in words or not is_for_the_moment(words, verb)):
        return True
    start = verb + 1
    if words[start : start + 1] in (["if"], ["when"]):
        start += 1  # "check if the train is on time" only asks
    return any(word in _UPON and _is_deed(following) for word, following in pairwise(words[start:]))


def _is_deed(word: str) -> bool:
    """Whether "before", "until" and the like are followed by something that is done, again and again."""
    return word in _ABOUT_TO or (word.endswith("ing") and word not in _NO_ACTION)


def is_limited(words: list[str], verb: int) -> bool:
    """Whether an order that is not for the moment is limited, so that it may be one for good: "round all amounts"."""
    return not _LIMITS.isdisjoint(words) and not is_for_the_moment(words, verb)


def is_for_the_moment(words: list[str], verb: int) -> bool:
    """Whether an order is for what is talked about just now: "compare these two", "book me a table for tonight"."""
    order = words[verb]
    to_me = words[verb + 1 : verb + 2] in (["me"], ["us"]) and order not in _HABITUAL
    return order in _ASKED_ONCE or to_me or not _MOMENT.isdisjoint(words)


def is_subject(words: list[str], verb: int) -> bool:
    """Whether the word that could be an imperative is a noun of which something is said: "order arrives on Monday"."""
    for word in words[verb + 1 : verb + 4]:
        if word in _OPENS_CLAUSE:
            return False
        if word in _SUBJECT_OF:
            return True
    return False
