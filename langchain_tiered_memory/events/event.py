"""What an event is: a frozen record of something that happened, which says itself in a line and as plain data."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, ClassVar, Final, Protocol

__all__ = ["EventHook", "MemoryEvent", "hooks_of"]

_MESSAGES: Final = ("messages", "removed")
"""Fields that hold messages, of which callbacks get the ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryEvent:
    """Something that happened to the memory of a session.

    Attributes:
        session_id: The session; "" where a memory without sessions worked on a list.
        name: What LangChain's callbacks know the event by.
        level: How loud it is in `logging`.
    """

    session_id: str
    name: ClassVar[str] = "tiered_memory.event"
    level: ClassVar[int] = logging.INFO

    def describe(self) -> str:
        """Say it in one line."""
        return f"session {self.session_id!r}"

    def data(self) -> dict[str, Any]:
        """The fields as plain data, without the text of messages: callbacks often go to a tracing service."""
        return {field.name: _plain(field.name, getattr(self, field.name)) for field in fields(self)}


class EventHook(Protocol):
    """Whatever can be called with an event; it is called where the event happens, so it should be quick."""

    def __call__(self, event: MemoryEvent, /) -> object:
        """Take note of an event. What it raises is logged and reported as `HookFailed`, and breaks nothing."""


def hooks_of(hooks: Iterable[EventHook] | EventHook) -> tuple[EventHook, ...]:
    """Hooks as they were given to an object.

    Raises:
        TypeError: It is one hook and no list of them, or holds something that cannot be called.
    """
    if not isinstance(hooks, Iterable):
        msg = f"hooks={hooks!r} is no list of hooks: give hooks=[...], even for one"
        raise TypeError(msg)
    given: tuple[Any, ...] = tuple(hooks)  # callers without type checks too
    for place, hook in enumerate(given):
        if not callable(hook):
            msg = f"hooks[{place}]={hook!r} is no hook: give a function that takes an event"
            raise TypeError(msg)
    return given


def _plain(name: str, value: Any) -> Any:  # noqa: ANN401  # any field of an event
    if isinstance(value, Exception):
        return repr(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple):
        return [message.id for message in value] if name in _MESSAGES else list(value)
    return value
