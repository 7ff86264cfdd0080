"""The end of a growing conversation, remembered from one trim to the next.

It answers where every result stands behind its call, in the order of the calls; `window.choose` answers for the rest.
"""

from __future__ import annotations

import weakref
from bisect import bisect_left
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import KINDS, calls_of_assistant, is_user_turn, kind_of, leading_system
from langchain_tiered_memory.messages.window import Limit, Window, choose

__all__ = ["Tails"]

_CONVERSATIONS: Final = 256
_MUTABLE: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")
_STALE: Final = 12  # letting go of fewer messages costs more than looking at them


class Tails:
    """The tails of the conversations that one counter was last asked about; each goes with its first message."""

    def __init__(self) -> None:
        self._tails: dict[int, _Tail] = {}

    def choose(self, messages: Sequence[BaseMessage], window: Window, limit: Limit) -> list[BaseMessage]:
        """What `window.choose` gives for strategy `"last"` without pins and cuts; cheap if it was asked before."""
        key, lead = id(messages[0]), leading_system(messages) if window.include_system else []
        tail = self._tails.pop(key, None)  # for this caller alone until it is put back
        if tail is not None and tail.is_of(messages) and tail.extend(messages, limit):
            cut = tail.cut(limit.size - limit.fixed - limit.cost(lead))
            starts = cut is not None and (window.start_on is None or window.start_on(messages[cut]))
            if starts and (window.end_on is None or window.end_on(messages[-1])):
                self._tails[key] = tail
                return [*lead, *messages[cut:]]
        kept = choose(messages, window, limit)
        cut = len(messages) - len(kept) + len(lead)
        if len(lead) < cut < len(messages) and messages[cut] is kept[len(lead)]:
            start = next((index for index in range(cut - 1, 0, -1) if is_user_turn(messages[index])), None)
            if start is not None and (new := _Tail(messages, start, self._tails)).extend(messages, limit):
                if len(self._tails) >= _CONVERSATIONS:
                    self._tails.clear()
                self._tails[key] = new
        return kept


class _Tail:
    """A conversation from a user turn on that is not its first message, whose end takes the tail along."""

    def __init__(self, messages: Sequence[BaseMessage], start: int, tails: dict[int, _Tail]) -> None:
        key = id(messages[0])
        self._first = weakref.ref(messages[0], lambda _: tails.pop(key, None))
        self._start = start
        self._window: list[BaseMessage] = []
        self._seen: list[dict[str, Any]] = []  # the fields of each message, with copies of what can change in place
        self._totals = [0]  # cost of everything ever taken in, before each message of the window and at the end
        self._turns: list[int] = []  # positions of the user turns
        self._open: list[str] = []  # calls whose results have not come

    def is_of(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation still has this end, maybe with more behind it, and no message was changed in place."""
        window = messages[self._start : self._start + len(self._window)]
        return self._first() is messages[0] and window == self._window and list(map(vars, window)) == self._seen

    def extend(self, messages: Sequence[BaseMessage], limit: Limit) -> bool:
        """Take in what is new, and say whether the end is regular and complete, so that `cut` may be asked."""
        for index in range(self._start + len(self._window), len(messages)):
            message = messages[index]
            kind = KINDS.get(type(message), "other")
            if kind != "other" and type(message.content) is not str:
                kind = kind_of(message) if type(message.content) is list else "other"
            if kind == "result":
                if not self._open or getattr(message, "tool_call_id", None) != self._open.pop(0):
                    return False
            elif self._open or kind not in ("user", "assistant"):
                return False
            elif kind == "assistant":
                self._open += calls_of_assistant(message)
                if len(getattr(message, "tool_calls", ())) > len(self._open):  # two calls share an id
                    return False
            elif not message.additional_kwargs or is_user_turn(message):
                self._turns.append(index)
            self._totals.append(self._totals[-1] + limit.cost((message,)))
            self._window.append(message)
            self._seen.append(_snapshot(message))
        return not self._open

    def cut(self, room: int) -> int | None:
        """Position of the oldest user turn from which on everything fits, `None` where this tail cannot say."""
        surplus = self._totals[-1] - room
        place = bisect_left(self._turns, surplus, key=lambda turn: self._totals[turn - self._start])
        if surplus <= self._totals[0] or place == len(self._turns):  # more fits than it holds, or not one round
            return None
        cut, kept = self._turns[place], max(place - 1, 0)
        if (gone := self._turns[kept] - self._start) >= _STALE:
            del self._window[:gone], self._seen[:gone], self._totals[:gone], self._turns[:kept]
            self._start += gone
        return cut


def _snapshot(message: BaseMessage) -> dict[str, Any]:
    fields = dict(message.__dict__)
    for name in _MUTABLE:
        value = fields.get(name)
        if value is not None and type(value) is not str:
            fields[name] = _copy(value) if value else type(value)()
    return fields


def _copy(value: object) -> object:
    """A copy of plain data; anything else becomes what equals nothing, so that its message is looked at anew."""
    if isinstance(value, dict | list):
        return list(map(_copy, value)) if isinstance(value, list) else {name: _copy(value[name]) for name in value}
    return value if value is None or isinstance(value, str | int | float) else object()
