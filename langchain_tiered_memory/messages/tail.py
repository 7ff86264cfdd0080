"""The end of a growing conversation, remembered from one trim to the next.

A chain trims the same conversation before every model call, a few messages longer each time. Walking its window anew
costs as much as the window is long. A `Tail` holds running totals of what was counted and where user turns stand, so
that the next trim looks at what is new and finds the cut by bisection. It only ever answers for a *regular* end of a
conversation, in which every result stands behind its call; `window.choose` answers for all others, and gives the same.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._cache import Snapshot, has_numbers, plain_data
from langchain_tiered_memory.messages.protocol import calls_of_assistant, is_summary, kind_of, result_ids

__all__ = ["Tail", "Tails"]

CostOne: TypeAlias = Callable[[BaseMessage], int]

_CONVERSATIONS: Final = 256
"""How many conversations one counter remembers the ends of."""

_STALE: Final = 12
"""Messages that a tail holds before it lets go of them; letting go costs more than looking at a few too many."""

_fields = attrgetter("__dict__")
_MUTABLE: Final = ("content", "additional_kwargs", "tool_calls", "invalid_tool_calls")


class Tails:
    """The tails of the conversations that one counter was last asked about, found by their first message."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._tails: OrderedDict[int, Tail] = OrderedDict()

    def take(self, messages: Sequence[BaseMessage]) -> Tail | None:
        """The tail of this conversation, for the caller alone until it is put back."""
        return self._tails.pop(id(messages[0]), None)

    def put(self, tail: Tail) -> None:
        """Keep a tail for the next trim."""
        with self._lock:
            self._tails[id(tail.first)] = tail
            if len(self._tails) > _CONVERSATIONS:
                self._tails.popitem(last=False)


class Tail:
    """A regular end of a conversation: its messages from a user turn on, what they cost, and where it may be cut.

    Args:
        messages: The conversation.
        start: Position of the user turn.
        cost_one: What a message costs.
    """

    __slots__ = (
        "_cost_one",
        "_counted",
        "_foreign",
        "_forgotten",
        "_open",
        "_start",
        "_totals",
        "_turns",
        "_window",
        "first",
    )

    def __init__(self, messages: Sequence[BaseMessage], start: int, cost_one: CostOne) -> None:
        self.first = messages[0]
        self._start = start
        self._cost_one = cost_one
        self._window: list[BaseMessage] = []
        self._totals: list[int] = []  # cost of everything ever taken in, up to each message of the window
        self._forgotten = 0  # of it, the cost of what lay before the window
        self._turns: list[int] = []  # positions of the user turns
        self._open: set[str] = set()  # calls whose results have not come
        # What was counted: the fields of each message, with copies of those that can change in place, so that two lists
        # are all there is to compare. What cannot be copied as plain data is compared in its own way.
        self._counted: list[dict[str, Any]] = []
        self._foreign: list[tuple[BaseMessage, Snapshot]] = []

    def is_of(self, messages: Sequence[BaseMessage]) -> bool:
        """Whether a conversation still has this end, maybe with more behind it, and no message was changed in place."""
        window = self._window
        return (
            messages[self._start : self._start + len(window)] == window
            and list(map(_fields, window)) == self._counted
            and all(snapshot.same(_mutable(message)) for message, snapshot in self._foreign)
        )

    def extend(self, messages: Sequence[BaseMessage]) -> bool:
        """Take in what is new, and say whether the end is regular and complete, so that `cut` may be asked."""
        total = self._totals[-1] if self._totals else 0
        for index in range(self._start + len(self._window), len(messages)):
            message = messages[index]
            kind = kind_of(message)
            if kind == "result":
                (call_id, *more) = result_ids(message)
                if more or call_id not in self._open:
                    return False
                self._open.remove(call_id)
            elif self._open or kind not in ("user", "assistant"):
                return False
            elif kind == "assistant":
                self._open.update(calls_of_assistant(message))
            elif not is_summary(message):
                self._turns.append(index)
            total += self._cost_one(message)
            self._totals.append(total)
            self._window.append(message)
            self._remember(message)
        return not self._open

    def _remember(self, message: BaseMessage) -> None:
        fields = dict(message.__dict__)
        for name in _MUTABLE:
            value = fields.get(name)
            if value is None or type(value) is str:
                continue
            if not value:
                fields[name] = type(value)()
            elif Snapshot.of((value,)).simple and not has_numbers(value):  # for equality, 1 is True
                fields[name] = plain_data(value)
            else:
                self._foreign.append((message, Snapshot.of(_mutable(message))))
        self._counted.append(fields)

    def cut(self, room: int) -> int | None:
        """Position of the oldest user turn from which on everything fits.

        Args:
            room: What may be kept.

        Returns:
            The position; `None` where this tail cannot say, because not even the newest round fits, or because more
            might fit than the tail holds.
        """
        surplus = self._totals[-1] - room
        if surplus <= self._forgotten:
            return None
        place = bisect_left(self._turns, surplus, key=self._before)
        return self._turns[place] if place < len(self._turns) else None

    def _before(self, turn: int) -> int:
        """Cost of everything before a user turn."""
        offset = turn - self._start
        return self._totals[offset - 1] if offset else self._forgotten

    def forget_before(self, cut: int) -> None:
        """Let go of what lies more than a round before a cut, which no growing conversation comes back to."""
        place = max(bisect_left(self._turns, cut) - 1, 0)
        gone = self._turns[place] - self._start
        if gone < _STALE:
            return
        self._forgotten = self._totals[gone - 1]
        dropped = set(map(id, self._window[:gone]))
        del self._window[:gone], self._counted[:gone], self._totals[:gone], self._turns[:place]
        self._start += gone
        self._foreign = [one for one in self._foreign if id(one[0]) not in dropped]


def _mutable(message: BaseMessage) -> tuple[Any, ...]:
    """What of a message can change in place."""
    return tuple(map(message.__dict__.get, _MUTABLE))
