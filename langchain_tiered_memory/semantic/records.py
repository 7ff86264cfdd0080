"""Facts as users see them, and as stores keep them: microseconds for times, JSON for values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_tiered_memory._times import FOREVER, from_micros
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.values import decode_value
from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "Change",
    "Fact",
    "Outcome",
    "Owned",
    "Row",
    "Source",
    "Validity",
    "check_whole",
    "encode_source",
    "fact_of",
]

_MAX_WHOLE: Final = (1 << 63) - 1

Validity: TypeAlias = Literal["short", "medium", "long"]
"""How long a fact holds where nothing else is said: 7 days, 90 days, or without end."""
Source: TypeAlias = str | tuple[str, ...] | None
"""Where a fact comes from: a name, or the ids of messages."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that holds of an entity, for a time.

    ```python
    from langchain_tiered_memory import InMemoryFactStore, MemoryScope

    facts = InMemoryFactStore()
    fact = facts.put(MemoryScope(user="ada"), "ada", "home_city", "Berlin", source="message-7")
    assert (fact.value, fact.version, fact.valid_until) == ("Berlin", 1, None)
    ```

    Attributes:
        scope: Whose fact it is; of a session, or of the user in all sessions.
        entity: What it is about.
        attribute: What is said of it.
        value: JSON: text, a number, `True`, `False`, `None`, or lists and dicts of these; no other reader shares it.
        valid_from: From when on it holds, in UTC.
        valid_until: When it stops holding, in UTC; `None` without an end.
        version: Grows with each write of this scope, entity and attribute; what `expected_version` is compared with.
        source: Where it comes from, as the writer named it.
        updated_at: When it was written, in UTC.
        turn_id: The number of the turn that it was said in, where the writer gave one.
    """

    scope: MemoryScope
    entity: str
    attribute: str
    value: Any
    valid_from: datetime
    valid_until: datetime | None
    version: int
    source: Source
    updated_at: datetime
    turn_id: int | None = None


class Row(NamedTuple):
    """What was written once about a key. Rows are never changed; a newer one says from when on an older one is over.

    Attributes:
        version: 1, 2, 3 and so on within the key.
        value: JSON text; `"null"` for a deletion.
        valid_from: In microseconds since 1970, like all times here.
        valid_until: `FOREVER` without an end.
        updated_at: When it was written.
        turn_id: The turn that it was said in.
        source: JSON text.
        deleted: Whether it says that there is no such fact from `valid_from` on.
        leads: Whether it can be the present fact. It cannot where a later turn had spoken before, or where it was over
            when it was written: then it is history.
    """

    version: int
    value: str
    valid_from: int
    valid_until: int
    updated_at: int
    turn_id: int | None
    source: str | None
    deleted: int
    leads: int


class Owned(NamedTuple):
    """A row, and the key that it belongs to."""

    key: Key
    row: Row


class Change(NamedTuple):
    """A write, before the store has given it a version.

    Attributes:
        now: The writer's time.
        expected: What the present version must be, 0 for none; `None` for whatever it is.
    """

    now: int
    expected: int | None
    value: str
    valid_from: int
    valid_until: int
    turn_id: int | None = None
    source: str | None = None
    deleted: int = 0

    def row(self, version: int, leads: int) -> Row:
        """What is stored."""
        return Row(
            version,
            self.value,
            self.valid_from,
            self.valid_until,
            self.now,
            self.turn_id,
            self.source,
            self.deleted,
            leads,
        )


class Outcome(NamedTuple):
    """What a store made of a change.

    Attributes:
        row: What was written; `None` where the present version was not the expected one.
        head: The row that stood in the way, if there is one.
    """

    row: Row | None
    head: Row | None = None


def check_whole(name: str, value: int | None) -> None:
    """Refuse what is neither `None` nor a whole number from 0 up.

    Raises:
        ValueError: It is neither.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_WHOLE):
        msg = f"{name} is a whole number from 0 to {_MAX_WHOLE}, got {value!r:.80}"
        raise ValueError(msg)


# --- sources ---------------------------------------------------------------------------------------------------------


def encode_source(source: Source | Sequence[str]) -> str | None:
    """A source as JSON text.

    Raises:
        TypeError: It is neither text nor several texts.
    """
    if source is None:
        return None
    if isinstance(source, str):
        return json.dumps(str(source))
    if not isinstance(source, list | tuple) or not all(isinstance(part, str) for part in source):
        msg = f"source={source!r:.80} is neither text nor a list of texts: name the ids of messages, for instance"
        raise TypeError(msg)
    return json.dumps(list(source))


def _source_of(text: str | None) -> Source:
    if text is None:
        return None
    source = json.loads(text)
    return tuple(source) if isinstance(source, list) else source


# --- facts -----------------------------------------------------------------------------------------------------------


def fact_of(key: Key, row: Row, until: int | None = None) -> Fact:
    """A row as a fact.

    Args:
        key: What it belongs to.
        row: What is stored.
        until: When a newer row ended it, if before its own end.

    Raises:
        MemoryStoreError: It cannot be read.
    """
    end = row.valid_until if until is None else until
    begin = from_micros(row.valid_from)
    try:
        return Fact(
            key.scope,
            key.entity,
            key.attribute,
            decode_value(row.value),
            begin,
            None if end >= FOREVER else from_micros(end),
            row.version,
            None if row.source is None else _source_of(row.source),
            begin if row.updated_at == row.valid_from else from_micros(row.updated_at),
            row.turn_id,
        )
    except (ValueError, TypeError) as error:
        msg = (
            f"version {row.version} of {key.attribute!r} of {key.entity!r} cannot be read: {error}. "
            "It was not written by this package, or with other limits of Python's; nothing was changed"
        )
        raise MemoryStoreError(msg) from error
