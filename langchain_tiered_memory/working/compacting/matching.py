"""Which messages of a list are known already: by id, and by place and content where ids are missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import kind_of

__all__ = ["behind", "beyond", "same_message"]

_EDGE: Final = 16
"""Messages that are compared at either end."""


def behind(rest: Sequence[BaseMessage], known: Sequence[BaseMessage]) -> Sequence[BaseMessage] | None:
    """What of a list comes behind the messages that are known; `None` where it does not begin with them.

    A list that agrees with what is known at its beginning and at the end of it has only grown: to compare everything
    at each call would make a call cost as much as the history is long.
    """
    size = min(len(known), len(rest))
    places = range(size) if size <= 2 * _EDGE else (*range(_EDGE), *range(size - _EDGE, size))
    return rest[size:] if all(same_message(rest[place], known[place]) for place in places) else None


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
    return (
        message.content == known.content and kind_of(message) == kind_of(known) and _extras(message) == _extras(known)
    )


def _extras(message: BaseMessage) -> tuple[Any, ...]:
    return tuple(getattr(message, name, None) or None for name in ("name", "tool_calls", "tool_call_id", "role"))
