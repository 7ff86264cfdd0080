"""A question to the episodes, checked: what is asked, of whom, about when, and within what time."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from langchain_tiered_memory._times import FOREVER, Duration, Moment, in_utc, micros_of, seconds_of
from langchain_tiered_memory.episodic.episode import EPISODE_KINDS, USER_FIELDS, checked_entity, checked_scope
from langchain_tiered_memory.episodic.filters import Condition, Where
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope

__all__ = ["Filter", "Question", "RecallOptions"]

Filter = Mapping[str, Any] | Sequence[tuple[str | tuple[str, ...], str, Any]]
"""Conditions on what the user gave as metadata: `{"topic": "tea"}`, or `[("priority", ">=", 2)]`."""

_MOST: Final = 1_000
"""Episodes that one recall gives at most; who wants them all exports them."""


class RecallOptions(TypedDict, total=False):
    """What a question may say beside its words, its scope and `k`; see `EpisodicMemory.recall`."""

    as_of: Moment | None
    max_age: Duration | None
    include_expired: bool
    filter: Filter | None
    rounds: tuple[int | None, int | None] | None
    created_from: Moment | None
    created_to: Moment | None
    entity: str | None
    kinds: Sequence[str] | None
    min_score: float
    explain: bool
    timeout: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, checked.

    Attributes:
        query: What is asked.
        scope: Whose memory it is.
        where: Which rows may be an answer.
        k: How many episodes to give.
        now: The present, or the moment that is asked about, in microseconds.
        min_score: What scores less is no answer.
        explain: Whether to say what each score is made of.
        deadline: When Milvus must have answered, on the monotonic clock.
    """

    query: str
    scope: MemoryScope
    where: Where
    k: int
    now: int
    min_score: float = 0.0
    explain: bool = False
    deadline: float = math.inf

    @classmethod
    def of(
        cls,
        query: str,
        scope: MemoryScope,
        k: int,
        *,
        now: datetime,
        default_timeout: float,
        **options: Unpack[RecallOptions],
    ) -> Question:
        """Check what a caller asks.

        Raises:
            ScopeError: There is no scope.
            TypeError: The query is no text.
            ValueError: Another argument makes no sense.
        """
        given: object = query
        if not isinstance(given, str):
            msg = f"query is a text, got {type(query).__name__}: {query!r:.80}"
            raise TypeError(msg)
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= _MOST:
            msg = f"k is a whole number from 1 to {_MOST:,}, got {k!r}"
            raise ValueError(msg)
        as_of, timeout = options.get("as_of"), options.get("timeout")
        return cls(
            query=query,
            scope=checked_scope(scope),
            where=_where_of(scope, now, options),
            k=k,
            now=micros_of(now if as_of is None else in_utc(as_of, "as_of")),
            min_score=_checked_score(options.get("min_score", 0.0)),
            explain=_checked_flag("explain", options.get("explain", False)),
            deadline=time.monotonic() + (default_timeout if timeout is None else seconds_of(timeout, "timeout")),
        )

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


# --- checks -----------------------------------------------------------------------------------------------------------


def _where_of(scope: MemoryScope, now: datetime, options: RecallOptions) -> Where:
    """Which rows a question may be answered from."""
    as_of, max_age = options.get("as_of"), options.get("max_age")
    created_from, created_to = options.get("created_from"), options.get("created_to")
    rounds, kinds = options.get("rounds"), options.get("kinds")
    at = now if as_of is None else in_utc(as_of, "as_of")
    begins = None if created_from is None else micros_of(in_utc(created_from, "created_from"))
    if max_age is not None:
        oldest = max(micros_of(at) - round(seconds_of(max_age, "max_age") * 1_000_000), -FOREVER)
        begins = oldest if begins is None else max(begins, oldest)
    first, last = (None, None) if rounds is None else _checked_rounds(rounds)
    expired = _checked_flag("include_expired", options.get("include_expired", False))
    return Where.of(
        scope,
        kinds=EPISODE_KINDS if kinds is None else _checked_kinds(kinds),
        valid_at=None if expired else micros_of(at),
        created_from=begins,
        created_to=None if created_to is None else micros_of(in_utc(created_to, "created_to")),
        number_from=first,
        number_to=last,
        entity=checked_entity(options.get("entity")),
        metadata=_conditions(options.get("filter")),
    )


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
    first, last = rounds
    if first is not None and last is not None and first > last:
        msg = f"rounds={rounds!r} ends before it begins: give (first, last), None for an open end"
        raise ValueError(msg)
    return first, last


def _checked_kinds(kinds: Iterable[str]) -> tuple[str, ...]:
    given = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    if unknown := [one for one in given if one not in EPISODE_KINDS]:
        msg = f"kinds={unknown!r} are none: use some of {', '.join(EPISODE_KINDS)}"
        raise ValueError(msg)
    return given


def _checked_flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        msg = f"{name}={value!r} is neither True nor False"
        raise ValueError(msg)  # noqa: TRY004  # a wrong value among those of the right type
    return value


def _checked_score(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        msg = f"min_score={value!r} is no score: give a number from 0 to 1"
        raise ValueError(msg)
    return float(value)
