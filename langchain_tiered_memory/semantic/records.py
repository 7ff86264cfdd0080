"""Facts as users see them, and as stores keep them: digests for keys, microseconds for times, JSON for values."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from langchain_tiered_memory._times import FOREVER, from_micros
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError, VersionConflictError
from langchain_tiered_memory.semantic.values import decode_value
from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "LONGEST_NAME",
    "MAX_TURN",
    "Change",
    "Fact",
    "Key",
    "Outcome",
    "Owned",
    "Row",
    "Source",
    "Validity",
    "check_scope",
    "check_text",
    "check_whole",
    "conflict_of",
    "encode_source",
    "escape",
    "fact_of",
    "key_of",
    "unescape",
]

LONGEST_NAME: Final = 512
"""Characters of an entity or an attribute."""
MAX_TURN: Final = (1 << 63) - 1

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


class Key(NamedTuple):
    """Where a store keeps a fact, and what the fact is called.

    The three digests are the key. They have a fixed length, so that no character or length of a name can change what a
    query says, where a key ends, or whether an index takes it.
    """

    user_key: str
    session_key: str
    fact_key: str
    scope: MemoryScope
    entity: str
    attribute: str


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


# --- names -----------------------------------------------------------------------------------------------------------


def key_of(scope: MemoryScope, entity: str, attribute: str) -> Key:
    """The key of a fact.

    Raises:
        ScopeError: `scope` is no scope.
        TypeError: A name is no text.
        ValueError: A name is empty or too long.
    """
    check_scope(scope)
    check_text("entity", entity)
    check_text("attribute", attribute)
    if type(entity) is str and type(attribute) is str:
        return _key(scope, entity, attribute)
    # A member of a StrEnum equals its text, and would come out of the cache to all who give the text.
    return _key(scope, _plain(entity), _plain(attribute))


@lru_cache(maxsize=4_096)  # three digests cost as much as the query that they are for
def _key(scope: MemoryScope, entity: str, attribute: str) -> Key:
    _check_name("entity", entity)
    _check_name("attribute", attribute)
    return Key(scope.user_key, scope.session_key, _digest(entity, attribute), scope, entity, attribute)


def _plain(name: str) -> str:
    return str.__str__(name) if isinstance(name, str) else name


def check_scope(scope: Any) -> None:  # noqa: ANN401  # callers without type checks too
    """Refuse what is no scope; there is none that means everybody.

    Raises:
        ScopeError: It is none.
    """
    if not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r:.80} is no scope: give MemoryScope(user=...) first"
        raise ScopeError(msg)


def _check_name(what: str, name: Any) -> None:  # noqa: ANN401  # as above
    if not isinstance(name, str):
        msg = f"{what}={name!r:.80} is no text: give str({what})"
        raise TypeError(msg)
    if not 0 < len(name) <= LONGEST_NAME:
        msg = (
            f"{what} has 1 to {LONGEST_NAME} characters, got {len(name):,}: {name[:40]!r}. Keep long text in the value"
        )
        raise ValueError(msg)


def check_text(name: str, value: Any) -> None:  # noqa: ANN401  # as above
    """Refuse what is neither `None` nor text.

    Raises:
        TypeError: It is neither.
    """
    if value is not None and not isinstance(value, str):
        msg = f"{name}={value!r:.80} is no text: give str({name}), or leave it out"
        raise TypeError(msg)


def check_whole(name: str, value: Any, most: int = MAX_TURN) -> None:  # noqa: ANN401  # as above
    """Refuse what is neither `None` nor a whole number from 0 up.

    Raises:
        ValueError: It is neither.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most):
        msg = f"{name} is a whole number from 0 to {most}, got {value!r:.80}"
        raise ValueError(msg)


def _digest(*parts: str) -> str:
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "big"))
        hashed.update(data)
    return hashed.hexdigest()[:32]


_NEEDS_ESCAPE: Final = re.compile(r"[\\\x00-\x1f\x7f:{}*?\[\]\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u([0-9a-f]{4})")


def escape(text: str) -> str:
    r"""Text that every store takes, readable where it can be: what may not stand there becomes `\u` and four digits.

    What may not: NUL and lone surrogates, which PostgreSQL refuses, and what means something in a key or a pattern of
    Redis. Each character is escaped by itself, so a prefix of a text stays a prefix.
    """
    return _NEEDS_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


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


def conflict_of(key: Key, change: Change, head: Row | None) -> VersionConflictError:
    """The error of a write that came too late, with what came first."""
    live = head is not None and not head.deleted and change.now < head.valid_until
    actual = head.version if head is not None and live else 0
    expected = -1 if change.expected is None else change.expected
    now = f"at version {actual}" if actual else "not there"
    told = {-1: "and others wrote first, again and again", 0: "but must not exist yet"}
    wanted = told.get(expected, f"not at version {expected}")
    current = fact_of(key, head) if head is not None and actual else None
    repair = (
        "somebody else wrote to it. The error's `current` has what they wrote: repeat the write on that, or give put a "
        "merge="
        if current
        else "it has ended, was deleted or was never written. Read it again, and expect version 0 where it may be new"
    )
    msg = f"{key.attribute!r} of {key.entity!r} is {now}, {wanted}: {repair}"
    return VersionConflictError(msg, expected=expected, actual=actual, current=current)
