"""Which messages of a list are known already: by id, and by place and content where ids are missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final, Self

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import kind_of

__all__ = ["Edges", "KnownIds", "behind", "beyond", "same_message"]

_EDGE: Final = 16
"""Messages that are compared at either end."""
_MOST: Final = 1_024
"""Ids whose numbers are remembered."""
_FORGOTTEN: Final = 256
_EXTRAS: Final = ("name", "tool_calls", "tool_call_id", "role")


@dataclass(frozen=True, slots=True)
class Edges:
    """What is remembered of a list to see later whether another one has only grown from it: its two ends.

    A list that agrees with both has grown. To compare everything at each call would make a call cost as much as the
    history is long, and to hold everything would keep alive what the caller has let go. What was changed further in
    the middle is not seen: the log keeps what was said first.

    Attributes:
        size: How many messages the list had.
        start: Its first messages.
        end: Its last ones.
    """

    size: int = 0
    start: Sequence[BaseMessage] = ()
    end: Sequence[BaseMessage] = ()

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> Self:
        """The edges of a list."""
        return cls(len(messages), messages[:_EDGE], messages[-_EDGE:])

    def behind(self, rest: Sequence[BaseMessage]) -> Sequence[BaseMessage] | None:
        """What of another list comes behind this one; `None` where it is not this one, grown."""
        if not self.size or len(rest) < self.size:
            return None
        end = rest[self.size - len(self.end) : self.size]
        grown = all(map(same_message, rest, self.start)) and all(map(same_message, end, self.end))
        return rest[self.size :] if grown else None


def behind(rest: Sequence[BaseMessage], known: Sequence[BaseMessage]) -> Sequence[BaseMessage] | None:
    """What of a list comes behind the messages that are known; `None` where it does not begin with them."""
    size = min(len(known), len(rest))
    return Edges.of(known[:size]).behind(rest) if size else rest


def beyond(rest: Sequence[BaseMessage], order: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """What of a list comes after the log: behind their longest overlap, else behind their common beginning."""
    for start in range(max(0, len(order) - len(rest)), len(order)):
        if all(map(same_message, rest, order[start:])):
            return rest[len(order) - start :]
    common = 0
    while common < min(len(rest), len(order)) and same_message(rest[common], order[common]):
        common += 1
    return rest[common:]


def same_message(message: BaseMessage, known: BaseMessage | None) -> bool:
    """Whether two messages are one: by id where both have one, else by what was said."""
    if message is known:
        return True
    if known is None:
        return False
    if message.id and known.id:
        return message.id == known.id
    # From their dictionaries, since pydantic takes its time to say that a message has no such field.
    one, other = message.__dict__, known.__dict__
    return (
        message.content == known.content
        and (type(message) is type(known) or kind_of(message) == kind_of(known))
        and all(_said(one, name) == _said(other, name) for name in _EXTRAS)
    )


def _said(fields: dict[str, Any], name: str) -> Any:  # noqa: ANN401  # whatever a message holds there
    return fields.get(name) or None


class KnownIds:
    """Which messages a log holds, as far as it was read; a session of years takes no more room than one of days.

    Attributes:
        complete: Whether an id that is not known is in no message of the log that was read.
    """

    __slots__ = ("_numbers", "complete")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.complete = True

    def get(self, key: str) -> int | None:
        """The number of the message with this key; `None` where it is not known."""
        return self._numbers.get(key)

    def add(self, numbered: Iterable[tuple[str, int]]) -> None:
        """Learn numbers of messages; what is known already stays."""
        for key, number in numbered:
            self._numbers.setdefault(key, number)
        if len(self._numbers) > _MOST:
            for key in list(islice(self._numbers, _FORGOTTEN)):
                del self._numbers[key]
            self.complete = False
