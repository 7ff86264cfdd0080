"""Trims by a counter that must see whole lists, since a model's tokenizer tells no more than what a request takes."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of
from langchain_tiered_memory.messages.tokens import ListCounter
from langchain_tiered_memory.messages.units import repair_messages
from langchain_tiered_memory.messages.window import Limit, Window, choose

__all__ = ["trim_by_lists"]


def trim_by_lists(
    messages: Sequence[BaseMessage], window: Window, limit: int, counter: ListCounter, tools: Sequence[Any] | None
) -> list[BaseMessage]:
    """Trim by a counter that must see whole lists: all that it sees are in order and valid."""

    def excess(request: list[BaseMessage]) -> int:
        return counter.count(request, tools=tools) - limit

    if excess(whole := repair_messages(messages)) <= 0:
        return choose(whole, window, Limit(0, "tokens", lambda _: 0, lambda _: 0))
    cost = _Marginal(counter, messages, tools)
    room, step, least = limit, 1, False
    while True:
        try:
            request = choose(messages, window, Limit(room, "tokens", cost, lambda message: cost((message,))))
        except BudgetExceededError as error:  # so says the sum of the parts; the whole may be less
            room, least = error.needed, True
            continue
        if (over := excess(request)) <= 0:
            return request
        if least:
            names = ", ".join(f"{message.type} message {message.id or ''}".rstrip() for message in request)
            what = f"what may not be dropped ({names})"
            raise BudgetExceededError.of(what, needed=limit + over, limit=limit)
        room, step = room - step * over, 2 * step


class _Marginal:
    """What a unit adds to a request, by a counter whose every answer holds all that a request costs anyway.

    An assistant's unit is counted behind the user turn before it, any other message before the next user turn.
    """

    def __init__(self, counter: ListCounter, messages: Sequence[BaseMessage], tools: Sequence[Any] | None) -> None:
        self._counter = counter
        self._messages = messages
        self._tools = tools
        self._users = [index for index, message in enumerate(messages) if is_user_turn(message)]
        self._places = {id(message): index for index, message in enumerate(messages)}
        self._known: dict[tuple[int, ...], tuple[int, tuple[BaseMessage, ...]]] = {}

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        place = self._places.get(id(messages[0]))
        if place is None or not self._users or place == self._users[-1]:
            return self._count(*messages)
        before, after = bisect_left(self._users, place), bisect_right(self._users, place)
        if after == len(self._users) or (before and kind_of(messages[0]) == "assistant"):
            anchor = self._messages[self._users[before - 1]]
            request = (anchor, *messages)
        else:
            anchor = self._messages[self._users[after]]
            request = (*messages, anchor)
        return max(0, self._count(*request) - self._count(anchor))

    def _count(self, *messages: BaseMessage) -> int:
        key = tuple(map(id, messages))
        if key not in self._known:
            count = self._counter.count(list(messages), tools=self._tools)
            self._known[key] = (count, messages)  # held, so that their ids stay their own
        return self._known[key][0]
