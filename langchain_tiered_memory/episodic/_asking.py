"""A question to the episodes, checked: what is asked, of whom, about when, and within what time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from langchain_tiered_memory._times import FOREVER, Duration, Moment, in_utc, micros_of, seconds_of
from langchain_tiered_memory.episodic._mapping import USER_FIELDS
from langchain_tiered_memory.episodic.filters import Condition, Where
from langchain_tiered_memory.episodic.records import EPISODE_KINDS, checked_entity
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope

__all__ = ["Filter", "Recall", "where_of"]

Filter = Mapping[str, Any] | Sequence[tuple[str | tuple[str, ...], str, Any]]
"""Conditions on what the user gave as metadata: `{"topic": "tea"}`, or `[("priority", ">=", 2)]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """A question, checked.

    Attributes:
        query: What is asked.
        scope: Whose memory it is.
        where: Which rows may be an answer.
        k: How many episodes to give.
        now: The present, or the moment that is asked about, in microseconds.
        explain: Whether to say what each score is made of.
        half_life: Seconds after which an episode counts half of a new one; `None`: age does not count.
        deadline: When Milvus must have answered, on the monotonic clock.
    """

    query: str
    scope: MemoryScope
    where: Where
    k: int
    now: int
    explain: bool = False
    half_life: float | None = None
    deadline: float = math.inf

    def seconds_left(self) -> float:
        """How long Milvus may still take.

        Raises:
            MemoryStoreError: No longer.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            msg = "the time for this recall is over: nothing was found out; give it a longer timeout, or ask again"
            raise MemoryStoreError(msg)
        return left


def where_of(
    scope: MemoryScope,
    now: datetime,
    *,
    as_of: Moment | None = None,
    max_age: Duration | None = None,
    include_expired: bool = False,
    filter: Filter | None = None,  # noqa: A002  # LangChain's name
    rounds: tuple[int | None, int | None] | None = None,
    created_from: Moment | None = None,
    created_to: Moment | None = None,
    entity: str | None = None,
    kinds: Sequence[str] | None = None,
) -> Where:
    """Which rows a question may be answered from.

    Raises:
        ValueError: A time, a duration, an entity, a kind or a condition is none.
    """
    at = now if as_of is None else in_utc(as_of, "as_of")
    begins = None if created_from is None else micros_of(in_utc(created_from, "created_from"))
    if max_age is not None:
        oldest = max(micros_of(at) - round(seconds_of(max_age, "max_age") * 1_000_000), -FOREVER)
        begins = oldest if begins is None else max(begins, oldest)
    first, last = (None, None) if rounds is None else _checked_rounds(rounds)
    return Where.of(
        scope,
        kinds=EPISODE_KINDS if kinds is None else _checked_kinds(kinds),
        valid_at=None if include_expired else micros_of(at),
        created_from=begins,
        created_to=None if created_to is None else micros_of(in_utc(created_to, "created_to")),
        number_from=first,
        number_to=last,
        entity=checked_entity(entity),
        metadata=_conditions(filter),
    )


# --- checks -----------------------------------------------------------------------------------------------------------


def _conditions(given: Any) -> tuple[Condition, ...]:  # noqa: ANN401  # callers without type checks too
    if given is None:
        return ()
    if isinstance(given, Mapping):
        return tuple(Condition((USER_FIELDS, field), "==", value) for field, value in given.items())
    if isinstance(given, str) or not isinstance(given, Iterable):
        msg = f'filter={given!r} is no list of conditions: give data, {{"topic": "tea"}} or [("priority", ">=", 2)]'
        raise ValueError(msg)  # noqa: TRY004  # a wrong value among those of the right type
    return tuple(_condition(one) for one in given)


def _condition(one: Any) -> Condition:  # noqa: ANN401  # as above
    try:
        field, operator, value = one
    except (TypeError, ValueError) as error:
        msg = f"a condition is (field, operator, value), got {one!r:.200}"
        raise ValueError(msg) from error
    if not isinstance(field, str | tuple | list) or field in ((), []):
        msg = f"field={field!r} is none: give a key of the metadata, or a tuple of keys"
        raise ValueError(msg)
    path = (field,) if isinstance(field, str) else tuple(field)
    return Condition((USER_FIELDS, *path), operator, value)


def _checked_rounds(rounds: Any) -> tuple[int | None, int | None]:  # noqa: ANN401  # as above
    pair = isinstance(rounds, tuple | list) and len(rounds) == 2  # noqa: PLR2004  # a pair
    if not pair or not all(one is None or (isinstance(one, int) and not isinstance(one, bool)) for one in rounds):
        msg = f"rounds={rounds!r} is no (first, last): give two whole numbers, None for an open end"
        raise ValueError(msg)
    return rounds[0], rounds[1]


def _checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if unknown := [one for one in given if one not in EPISODE_KINDS]:
        msg = f"kinds={unknown!r} are none: use some of {', '.join(EPISODE_KINDS)}"
        raise ValueError(msg)
    return given
