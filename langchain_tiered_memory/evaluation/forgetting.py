"""What a memory still knows as time passes, for facts that hold a week, a quarter, and for good."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.evaluation.cases import MemoryRecord
from langchain_tiered_memory.evaluation.contexts import as_target
from langchain_tiered_memory.evaluation.metrics import checked_number
from langchain_tiered_memory.evaluation.synthetic import LIFETIMES, NOW, words_of
from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = [
    "AGES",
    "ForgettingCurve",
    "ForgettingFit",
    "ForgettingPoint",
    "TurnedClock",
    "ebbinghaus",
    "forgetting_curve",
]

AGES: Final = (1.0, 7.0, 30.0, 90.0, 180.0)
"""Days after which is asked, where nothing else is said."""

_PER_USER: Final = 12
_MOMENT: Final = timedelta(minutes=1)
_MINUTES_A_DAY: Final = 1_440.0
_EBBINGHAUS_K: Final = 1.84
_EBBINGHAUS_C: Final = 1.25
_MOST_DAYS: Final = 1e6


class TurnedClock:
    """A clock that stands until it is turned.

    Attributes:
        now: What it shows, in UTC.
    """

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Give the time."""
        return self.now


@dataclass(frozen=True, slots=True)
class ForgettingPoint:
    """How much of a class is still known at an age.

    Attributes:
        lasting: The validity class.
        age: Days since it was told.
        recall: Share of the facts that come back, from 0 to 1.
        facts: How many were asked for.
    """

    lasting: str
    age: float
    recall: float
    facts: int


@dataclass(frozen=True, slots=True)
class ForgettingFit:
    """The exponential curve nearest to a class's points.

    Attributes:
        lasting: The validity class.
        strength: Days after which 1/e is left; infinite where nothing is forgotten.
        error: Root of the mean squared distance to the points.
    """

    lasting: str
    strength: float
    error: float

    def recall(self, age: float) -> float:
        """What the curve says is left after so many days."""
        return 1.0 if math.isinf(self.strength) else math.exp(-age / self.strength)


@dataclass(frozen=True, slots=True)
class ForgettingCurve:
    """Recall against age, for each validity class.

    Attributes:
        name: Whose memory it is.
        points: What was measured, by class and age.
    """

    name: str
    points: tuple[ForgettingPoint, ...]

    @property
    def classes(self) -> tuple[str, ...]:
        """The validity classes, in order."""
        return tuple(dict.fromkeys(point.lasting for point in self.points))

    @property
    def ages(self) -> tuple[float, ...]:
        """The ages in days, in order."""
        return tuple(sorted({point.age for point in self.points}))

    def recall(self, lasting: str, age: float) -> float:
        """What was measured of a class at an age.

        Raises:
            KeyError: That was not measured.
        """
        for point in self.points:
            if (point.lasting, point.age) == (lasting, age):
                return point.recall
        msg = f"no point of {lasting!r} at {age:g} days: there are {self.classes} at {self.ages}"
        raise KeyError(msg)

    def fit(self) -> tuple[ForgettingFit, ...]:
        """Fit R = exp(-t / S) to each class, the form in which Ebbinghaus's curve is mostly written today.

        R is the share recalled, t the age, S the strength of the memory. A store does not fade but ends, so the
        distance of the points from the curve (`error`) says how little its forgetting is like a person's. Source:
        Ebbinghaus, Über das Gedächtnis (1885); the exponential as in Woźniak, Gorzelańczyk and Murakowski, Two
        components of long-term memory, Acta Neurobiologiae Experimentalis 55 (1995).

        Raises:
            ImportError: scipy is not installed; names the extra.
        """
        return tuple(map(self._fit, self.classes))

    def _fit(self, lasting: str) -> ForgettingFit:
        points = [point for point in self.points if point.lasting == lasting]
        if all(point.recall >= 1 for point in points):
            return ForgettingFit(lasting, math.inf, 0.0)
        optimize = import_optional("scipy.optimize", needed_by="a forgetting curve's fit")
        ages, recalls = [point.age for point in points], [point.recall for point in points]

        def left(logarithm: float) -> list[float]:
            return [math.exp(-age / math.exp(logarithm)) for age in ages]

        def distance(logarithm: float) -> float:
            return math.fsum((one - other) ** 2 for one, other in zip(left(logarithm), recalls, strict=True))

        # Over the logarithm, since a strength may be minutes or years; the sum has one valley for falling points.
        least, most = math.log(ages[0] / 100), math.log(_MOST_DAYS)
        start = min((least + (most - least) * step / 60 for step in range(61)), key=distance)
        width = (most - least) / 60
        found = optimize.minimize_scalar(distance, bounds=(start - width, start + width), method="bounded")
        return ForgettingFit(lasting, math.exp(found.x), math.sqrt(distance(found.x) / len(points)))

    def to_dict(self) -> dict[str, Any]:
        """Points and fits as plain data."""
        return {
            "name": self.name,
            "points": [
                {"class": one.lasting, "age_days": one.age, "recall": round(one.recall, 6), "facts": one.facts}
                for one in self.points
            ],
            "fits": [
                {
                    "class": one.lasting,
                    "strength_days": None if math.isinf(one.strength) else round(one.strength, 4),
                    "error": round(one.error, 6),
                }
                for one in self.fit()
            ],
        }

    def to_text(self) -> str:
        """A table: a class in each row, an age in each column, and the fit beside them."""
        heads = [f"{age:g} d" for age in self.ages]
        width = max(14, len(self.name) + 2)
        lines = [f"{self.name:<{width}}" + "".join(f"{head:>8}" for head in heads) + "   strength   error"]
        for one in self.fit():
            cells = "".join(f"{self.recall(one.lasting, age):>8.2f}" for age in self.ages)
            strength = "never" if math.isinf(one.strength) else f"{one.strength:.1f} d"
            lines.append(f"{one.lasting:<{width}}{cells}{strength:>11}{one.error:>8.2f}")
        people = "".join(f"{ebbinghaus(age):>8.2f}" for age in self.ages)
        return "\n".join([*lines, f"{'people, 1885':<{width}}{people}"])


def ebbinghaus(days: float) -> float:
    """What Ebbinghaus himself still had of a list of syllables after some days: the savings of relearning.

    b = k / ((log10 t)^c + k) with t in minutes, k = 1.84, c = 1.25; from 0 to 1. Source: Über das Gedächtnis (1885),
    section 29.
    """
    minutes = max(1.0, days * _MINUTES_A_DAY)
    spread: float = math.log10(minutes) ** _EBBINGHAUS_C
    return _EBBINGHAUS_K / (spread + _EBBINGHAUS_K)


def forgetting_curve(
    make: Callable[[Clock], Any],
    *,
    ages: Sequence[float] = AGES,
    facts: int = 36,
    seed: int = 0,
    language: str = "en",
    k: int = 5,
    name: str | None = None,
) -> ForgettingCurve:
    """Measure what a memory still knows of facts of each validity class, as a clock is turned.

    ```python
    from langchain_tiered_memory.evaluation import forgetting_curve

    curve = forgetting_curve(lambda clock: lambda inputs: [], facts=3)
    assert curve.recall("permanent", 180) == 0
    ```

    Args:
        make: Makes the memory, given its clock; anything that `evaluate` takes.
        ages: Days after which is asked.
        facts: How many facts of each class are told.
        seed: Chooses them.
        language: What they are told in.
        k: How many records are asked for.
        name: What the memory is called; its own name if not given.

    Raises:
        ValueError: An age or a number is none.
    """
    ordered = sorted(set(map(float, ages)))
    if not ordered or not all(0 < age <= _MOST_DAYS for age in ordered):
        msg = f"ages={ages!r}: give days above 0 and up to {_MOST_DAYS:,.0f}"
        raise ValueError(msg)
    checked_number(facts, "facts", "facts")
    checked_number(k, "k", "records")
    words_of(language)
    clock = TurnedClock(NOW + _MOMENT)
    target = as_target(make(clock))
    told = list(_told(facts, seed, language))
    target.tell((record,) for record, _ in told)
    points = []
    for age in ordered:
        clock.now = NOW + timedelta(days=age)
        known: dict[str, list[bool]] = {}
        for record, question in told:
            inputs = {
                "question": question,
                "k": k,
                "scope": record.scope.whole_user(),
                "as_of": clock.now,
                "entity": record.entity,
                "attribute": record.attribute,
            }
            known.setdefault(record.lasting, []).append(record.id in (target.ask(inputs).get("ids") or ()))
        points += [
            ForgettingPoint(lasting, age, sum(found) / len(found), len(found)) for lasting, found in known.items()
        ]
    classes = list(LIFETIMES)
    points.sort(key=lambda point: (classes.index(point.lasting), point.age))
    return ForgettingCurve(name or target.name, tuple(points))


def _told(facts: int, seed: int, language: str) -> Iterator[tuple[MemoryRecord, str]]:
    """Facts of each class with a question for each, a few of each class to a user."""
    chooses = random.Random(f"{seed} {language} forgetting")  # noqa: S311  # a choice, not a secret
    lasting: str
    for lasting, days in LIFETIMES.items():
        slots = [
            (topic, entity)
            for topic in words_of(language).topics
            if topic.lasting == lasting
            for entity in topic.entities
        ]
        for start in range(0, facts, _PER_USER):
            scope = MemoryScope(user=f"user-{start // _PER_USER + 1:03}", session=lasting)
            some = chooses.sample(slots, min(_PER_USER, facts - start))
            for number, (topic, entity) in enumerate(some, start=start + 1):
                value = chooses.choice(topic.values)
                said = chooses.choice(topic.says).format(e=entity, v=value)
                question = chooses.choice(topic.asks).format(e=entity)
                record = MemoryRecord(
                    id=f"{lasting}-{number:04}",
                    text=said[0].upper() + said[1:],
                    at=NOW,
                    scope=scope,
                    valid_until=None if days is None else NOW + timedelta(days=days),
                    lasting=lasting,
                    entity=entity,
                    attribute=topic.attribute,
                    value=value,
                )
                yield record, question[0].upper() + question[1:]
