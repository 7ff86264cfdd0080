"""Made-up conversations in which every event is known: what was told, what changed, what ended, and by whom.

Each of several users tells facts of three kinds: those that hold for a week (a room number), for a quarter (a deadline)
and for good (an allergy). Three in ten change later; of these one in eight changes without the memory being told that
one record supersedes the other, so that only the text says it. By the present some have ended. One event in ten is a
rule. One in twenty-five was asked for before it was told: that record reads like the question and answers nothing, and
is labelled irrelevant to it. Between them stands small talk. It has no label: a memory that is asked for five records
has to fill five places, and `precision` says how well it does.

So there is a floor that neither validity nor scope can lower: a good memory returns about one record in a hundred that
only a reader could tell is of no use.

What makes it hard: all users talk of the same things with other values; one user talks of several people, projects and
places alike; many questions are asked in other words than the fact was told in.

| category | the question is about | right is |
|---|---|---|
| `current` | something that was told once | that record |
| `updated` | something that changed | the newest record |
| `expired` | something that has ended | nothing |
| `as_of` | something that changed, at a moment before | the record of then |
| `rule` | a rule | its record; all the user's rules are constraints |
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Final

from langchain_tiered_memory.evaluation.cases import MemoryCase, MemoryRecord
from langchain_tiered_memory.types import MemoryScope

__all__ = ["LANGUAGES", "LIFETIMES", "NOW", "Topic", "synthetic", "words_of"]

LANGUAGES: Final = ("en", "zh")
LIFETIMES: Final[dict[str, float | None]] = {"7-day": 7.0, "90-day": 90.0, "permanent": None}
"""Days that a class of facts stays true; `None` for ever."""
NOW: Final = datetime(2025, 6, 2, 12, tzinfo=UTC)
"""The present of every synthetic data set."""

_CHANGED: Final = 0.3
_UNTOLD: Final = 8
"""Every eighth change is not told as one."""
_ASKED_BEFORE: Final = 25
"""Every twenty-fifth event was asked for before it was told."""
_RULES: Final = 10
_SMALL_TALK: Final = 5
"""One line of small talk for so many events."""
_VALID: Final = 0.6
"""The share of facts with an end that still hold at present."""
_LONGEST: Final = 175.0
"""Days before the present at which the oldest last version of a fact was told."""
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Topic:
    """An attribute that several things have, and how people say it, change it and ask for it.

    Attributes:
        attribute: Its name.
        lasting: How long such a fact stays true.
        entities: What has it; `{e}` in the sentences.
        values: What it can be; `{v}` in the sentences.
        says: Ways to say it.
        changes: Ways to say that it is something else now.
        asks: Ways to ask for it, some of them in other words.
    """

    attribute: str
    lasting: str
    entities: Sequence[str]
    values: Sequence[str]
    says: Sequence[str]
    changes: Sequence[str]
    asks: Sequence[str]


@dataclass(frozen=True, slots=True)
class _Words:
    """All that is said in one language; a rule is a text and a question for it."""

    topics: Sequence[Topic]
    rules: Sequence[dict[str, str]]
    small_talk: Sequence[str]
    openers: Sequence[str]


@cache
def words_of(language: str) -> _Words:
    """What is said in a language.

    Raises:
        ValueError: The language is unknown.
    """
    if language not in LANGUAGES:
        msg = f"language={language!r} is not known: use {' or '.join(map(repr, LANGUAGES))}"
        raise ValueError(msg)
    found = json.loads(files(__package__).joinpath("data", f"{language}.json").read_text("utf-8"))
    return _Words(**{**found, "topics": [Topic(**topic) for topic in found["topics"]]})


def synthetic(*, events: int, seed: int, language: str, per_user: int = 25) -> tuple[MemoryCase, ...]:
    """Make up the cases of a data set.

    Args:
        events: How many events are told and asked about.
        seed: Chooses everything.
        language: `"en"` or `"zh"`.
        per_user: How many events one user tells.

    Raises:
        ValueError: A number is too small or too large, or the language is unknown.
    """
    words = words_of(language)
    slots = sum(len(topic.entities) for topic in words.topics)
    most = min(slots, _RULES * len(words.rules))
    for name, number, largest in (("events", events, None), ("per_user", per_user, most)):
        if isinstance(number, bool) or not isinstance(number, int) or number < 1 or (largest and number > largest):
            msg = f"{name}={number!r}: give a whole number from 1 {'up' if largest is None else f'to {largest}'}"
            raise ValueError(msg)
    # Two users at least, or nothing could be another's.
    users = max(2, -(-events // per_user)) if events > 1 else 1
    shares = [events // users + (number < events % users) for number in range(users)]
    random_ = random.Random(f"{seed} {language}")  # noqa: S311  # a choice, not a secret
    cases = []
    first = 0
    for number, share in enumerate(shares, start=1):
        user = _User(MemoryScope(user=f"user-{number:03}"), words, random_, first)
        cases += user.cases(share)
        first += share
    return tuple(cases)


@dataclass
class _User:
    """One user's conversation in the making.

    Attributes:
        scope: Whose it is.
        words: What can be said.
        random: Chooses.
        number: How many events were told before, by all users.
    """

    scope: MemoryScope
    words: _Words
    random: random.Random
    number: int
    told: list[MemoryRecord] = field(default_factory=list)

    def cases(self, share: int) -> list[MemoryCase]:
        """Tell so many events and small talk between them, and ask for each."""
        rules = min(max(1, share // _RULES) if share > 1 else 0, len(self.words.rules))
        slots = [(topic, entity) for topic in self.words.topics for entity in topic.entities]
        asked: list[MemoryCase] = []
        for topic, entity in self.random.sample(slots, share - rules):
            asked += self._fact(topic, entity)
        chosen = self.random.sample(self.words.rules, rules)
        asked += [self._rule(rule, chosen) for rule in chosen]
        for _ in range(max(1, share // _SMALL_TALK)):
            self._small_talk()
        history = tuple(sorted(self.told, key=lambda record: (record.at, record.id)))
        return [replace(case, messages=history) for case in asked]

    def _fact(self, topic: Topic, entity: str) -> Iterator[MemoryCase]:
        """Tell a fact, perhaps in two versions, and ask for it, perhaps at two moments."""
        self.number += 1
        name = f"e{self.number:05}"
        changed = self.random.random() < _CHANGED
        first, last = self.random.sample(topic.values, 2)
        lifetime = LIFETIMES[topic.lasting]
        age = self._age(lifetime)
        versions = []
        if changed:
            before = self.random.uniform(1, min(60, 0.9 * lifetime if lifetime else 60))
            versions.append(self._version(topic, entity, first, name, age + before))
        newest = self._version(topic, entity, last, f"{name}b" if changed else name, age, changes=changed)
        if changed and self.number % _UNTOLD:
            newest = replace(newest, supersedes=name)
        versions.append(newest)
        self.told += versions
        asked_before = self._asked_before(topic, entity, versions[0]) if self.number % _ASKED_BEFORE == 1 else ()
        case = MemoryCase(
            id=name,
            question=self._asked(topic, entity),
            scope=self.scope,
            entity=entity,
            attribute=topic.attribute,
            category="updated" if changed else "current",
            answer=last,
            expected=(newest.id,),
            stale=tuple(version.id for version in versions[:-1]),
            irrelevant=asked_before,
        )
        if newest.valid_until is not None and newest.valid_until <= NOW:
            yield replace(case, category="expired", expected=(), answer=None)
        else:
            yield case
        if changed:
            yield self._past(case, versions[0], newest, topic, entity)

    def _past(self, case: MemoryCase, old: MemoryRecord, new: MemoryRecord, topic: Topic, entity: str) -> MemoryCase:
        """Ask what was true between two versions."""
        end = min(new.at, old.valid_until or new.at)
        moment = old.at + (end - old.at) * self.random.uniform(0.2, 0.8)
        return replace(
            case,
            id=f"{case.id}-then",
            question=self._asked(topic, entity),
            category="as_of",
            as_of=moment.replace(microsecond=0),
            expected=(old.id,),
            stale=(new.id,),
            answer=old.value,
        )

    def _version(
        self, topic: Topic, entity: str, value: str, name: str, age: float, *, changes: bool = False
    ) -> MemoryRecord:
        at = (NOW - age * _DAY).replace(microsecond=0)
        lifetime = LIFETIMES[topic.lasting]
        sentence = self.random.choice(topic.changes if changes else topic.says).format(e=entity, v=value)
        return MemoryRecord(
            id=name,
            text=self.random.choice(self.words.openers) + sentence[0].upper() + sentence[1:],
            at=at,
            scope=replace(self.scope, session=_week_of(at)),
            valid_until=None if lifetime is None else at + lifetime * _DAY,
            lasting=topic.lasting,
            entity=entity,
            attribute=topic.attribute,
            value=value,
        )

    def _asked_before(self, topic: Topic, entity: str, told: MemoryRecord) -> tuple[str]:
        """Ask for a fact some time before it is told, which the user's memory keeps like anything else."""
        at = (told.at - self.random.uniform(0.1, 3) * _DAY).replace(microsecond=0)
        name = f"{told.id}-asked"
        scope = replace(self.scope, session=_week_of(at))
        self.told.append(MemoryRecord(id=name, text=self._asked(topic, entity), at=at, scope=scope))
        return (name,)

    def _rule(self, rule: dict[str, str], every: Sequence[dict[str, str]]) -> MemoryCase:
        self.number += 1
        name = f"e{self.number:05}"
        at = (NOW - self.random.uniform(5, _LONGEST) * _DAY).replace(microsecond=0)
        text = self.random.choice(self.words.openers) + rule["text"]
        scope = replace(self.scope, session=_week_of(at))
        self.told.append(MemoryRecord(id=name, text=text, at=at, scope=scope, lasting="permanent"))
        constraints = tuple(one["text"] for one in every)
        return MemoryCase(
            id=name, question=rule["ask"], scope=self.scope, category="rule", expected=(name,), constraints=constraints
        )

    def _small_talk(self) -> None:
        """Say something that answers nothing, in a conversation of its own."""
        at = (NOW - self.random.uniform(0.5, _LONGEST) * _DAY).replace(microsecond=0)
        name = f"{self.scope.user}-t{len(self.told):03}"
        scope = replace(self.scope, session=f"chat {name}")
        self.told.append(MemoryRecord(id=name, text=self.random.choice(self.words.small_talk), at=at, scope=scope))

    def _asked(self, topic: Topic, entity: str) -> str:
        question = self.random.choice(topic.asks).format(e=entity)
        return question[0].upper() + question[1:]

    def _age(self, lifetime: float | None) -> float:
        """Days before the present at which the last version of a fact was told."""
        if lifetime is None:
            return self.random.uniform(5, _LONGEST)
        if self.random.random() < _VALID:
            return self.random.uniform(0.1 * lifetime, 0.9 * lifetime)
        return self.random.uniform(1.1 * lifetime, max(_LONGEST, 1.5 * lifetime) if lifetime > 30 else 60)  # noqa: PLR2004  # days


def _week_of(moment: datetime) -> str:
    year, week, _ = moment.isocalendar()
    return f"{year} week {week:02}"
