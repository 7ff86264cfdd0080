"""Messages as a log's stores keep them: a key to tell them apart, a time, and JSON text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from langchain_core.messages import BaseMessage, RemoveMessage
from langchain_core.utils.uuid import uuid7

from langchain_tiered_memory._times import from_micros, micros_of
from langchain_tiered_memory.errors import MemoryStoreError, VersionConflictError
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.serialization import decode_message, encode_message

__all__ = [
    "LogEntry",
    "Record",
    "check_count",
    "check_session_id",
    "entry_of",
    "key_of",
    "lacks",
    "nodes_conflict",
    "range_of",
    "records_of",
    "version_conflict",
]

_LONGEST_SESSION_ID: Final = 512
_LONGEST_KEY: Final = 120
_HASHED: Final = "sha256:"
_REMOVES: Final = "remove:"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """A message as the log holds it.

    Attributes:
        number: Its place in the session: 1, 2, 3 and so on.
        message: A message of its own, that no other reader shares.
        created_at: When it was appended, in UTC, to the microsecond.
    """

    number: int
    message: BaseMessage
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Record:
    """A message as a store keeps it.

    Attributes:
        key: What makes it the same message when it is appended again; at most 120 characters of valid Unicode.
        time: Microseconds since 1970 in UTC.
        body: The message as JSON text.
        left_out: What in it could not be stored, each as its place and its type.
    """

    key: str
    time: int
    body: str
    left_out: tuple[str, ...] = ()


def records_of(messages: Sequence[BaseMessage], now: datetime) -> list[Record]:
    """Check messages and write them as JSON, all of them before a store sees the first.

    Raises:
        TypeError: Something is no message; says which.
        ValueError: `now` has no time zone.
    """
    given: Any = messages
    if isinstance(given, str | BaseMessage):
        msg = f"messages are a list, got one {type(given).__name__}: put it into a list"
        raise TypeError(msg)
    if now.tzinfo is None:
        msg = f"the clock gave {now!r}, which has no time zone: give a clock of aware datetimes in UTC"
        raise ValueError(msg)
    time = micros_of(now)
    return [_record(message, index, time) for index, message in enumerate(messages)]


def _record(message: BaseMessage, index: int, time: int) -> Record:
    try:
        own_id: Any = message.id if isinstance(message, BaseMessage) else None
        if own_id is not None and not isinstance(own_id, str):  # pydantic does not check what is assigned later
            msg = f"its id is {own_id!r}, and an id is text"
            raise TypeError(msg)  # noqa: TRY301  # one place says which message it was
        message_id = own_id or str(uuid7())
        body, left_out = encode_message(message, None if own_id else message_id)
    except TypeError as error:
        msg = f"message {index} ({type(message).__name__}, id {getattr(message, 'id', None)!r}): {error}"
        raise TypeError(msg) from error
    # A RemoveMessage bears the id of the message that it removes, and is not that message.
    key = key_of(message_id)
    return Record(_REMOVES + key if isinstance(message, RemoveMessage) else key, time, body, tuple(left_out))


def key_of(message_id: str) -> str:
    """What a store tells messages apart by: the id, or its digest where a store might not take the id."""
    plain = len(message_id) <= _LONGEST_KEY and message_id.isprintable()
    if plain and not message_id.startswith((_HASHED, _REMOVES)):
        return message_id
    return _HASHED + hashlib.sha256(message_id.encode("utf-8", "surrogatepass")).hexdigest()


def entry_of(session_id: str, number: int, time: int, body: str) -> LogEntry:
    """Read what a store kept.

    Raises:
        MemoryStoreError: It is no message.
    """
    try:
        message = decode_message(body)
    except (ValueError, TypeError) as error:
        msg = (
            f"message {number} of session {session_id!r} cannot be read: {error}. "
            "It was not written by this package, or by a newer version of it; nothing was changed"
        )
        raise MemoryStoreError(msg) from error
    return LogEntry(number, message, from_micros(time))


def check_session_id(session_id: Any) -> None:  # noqa: ANN401  # callers without type checks too
    """Refuse what is no session id in every store.

    Raises:
        TypeError: It is no text.
        ValueError: It is empty, too long, or text that a store would not take.
    """
    if not isinstance(session_id, str):
        msg = f"a session id is text, got {type(session_id).__name__}: {session_id!r:.80}"
        raise TypeError(msg)
    if not 0 < len(session_id) <= _LONGEST_SESSION_ID or session_id.isspace():
        what = "white space alone" if session_id.isspace() else str(len(session_id))
        msg = f"a session id has 1 to {_LONGEST_SESSION_ID} characters, got {what}"
        raise ValueError(msg)
    # PostgreSQL takes neither, and a session must have one name in every store.
    if "\0" in session_id or any("\ud800" <= character <= "\udfff" for character in session_id):
        msg = f"a session id is Unicode text without NUL and without lone surrogates, got {session_id!r}"
        raise ValueError(msg)


def check_count(name: str, value: Any) -> None:  # noqa: ANN401  # as above
    """Refuse what is neither `None` nor a whole number from 0 up.

    Raises:
        ValueError: It is neither.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        msg = f"{name} is a whole number from 0 up, got {value!r}"
        raise ValueError(msg)


def version_conflict(session_id: str, expected: int, actual: int) -> VersionConflictError:
    """The error of a write that came too late."""
    msg = (
        f"session {session_id!r} is at version {actual}, not {expected}: somebody else wrote to it. "
        "Read it again and repeat the write on what you find"
    )
    return VersionConflictError(msg, expected=expected, actual=actual)


def nodes_conflict(session_id: str, expected: int, actual: int) -> VersionConflictError:
    """The error of summaries that came too late."""
    msg = (
        f"session {session_id!r} has {actual} summaries, not {expected}, or lacks the messages that the new ones stand "
        "for: somebody else compacted or erased it. Read it again; nothing was written"
    )
    return VersionConflictError(msg, expected=expected, actual=actual)


def range_of(prefix: str) -> tuple[str, str]:
    """The smallest and the largest text that a session id with this prefix can be, by code points."""
    return prefix, prefix.ljust(_LONGEST_SESSION_ID + 1, "\U0010ffff")


def lacks(nodes: Sequence[SummaryNode], version: int) -> bool:
    """Whether a session of this version lacks messages that summaries stand for, or has none at all."""
    return bool(nodes) and max(1, *(node.last for node in nodes)) > version
