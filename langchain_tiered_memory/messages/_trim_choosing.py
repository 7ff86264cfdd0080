"""Chooses the window of a trim by what counts its tokens, and for the price of the new messages where that can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final
from weakref import WeakKeyDictionary

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._trim_arguments import CounterLike
from langchain_tiered_memory.messages._trim_lists import trim_by_lists
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.messages.tail import Tail, Tails
from langchain_tiered_memory.messages.tokens import CachingCounter, ListCounter, MessageFunctionCounter, as_counter
from langchain_tiered_memory.messages.window import Limit, Window, choose, leading_system
from langchain_tiered_memory.types import TokenCounter

__all__ = ["choose_window"]

_TAILS: Final[WeakKeyDictionary[CachingCounter, Tails]] = WeakKeyDictionary()
"""What each counter's conversations looked like when they were last trimmed."""


def choose_window(
    messages: Sequence[BaseMessage],
    window: Window,
    size: tuple[str, int],
    token_counter: CounterLike,
    tools: Sequence[Any] | None,
) -> list[BaseMessage]:
    unit, limit = size
    if unit == "rounds":
        return choose(messages, window, Limit(limit, unit, _count_user_turns, is_user_turn))
    if unit == "messages" or token_counter is len:
        return choose(messages, window, Limit(limit, "messages", len, lambda _: 1))
    # Asking for the method is a hundred times faster than asking whether it is a `TokenCounter`.
    counter = token_counter if hasattr(token_counter, "count_message") else as_counter(token_counter)
    if isinstance(counter, ListCounter):
        return trim_by_lists(messages, window, limit, counter, tools)
    budget = _additive(counter, limit, tools)
    if (
        window.strategy == "last"
        and window.pinned is None
        and window.split is None
        and isinstance(counter, CachingCounter)
    ):
        return _choose_incrementally(messages, window, budget, _tails_of(counter))
    return choose(messages, window, budget)


def _choose_incrementally(
    messages: Sequence[BaseMessage], window: Window, limit: Limit, tails: Tails
) -> list[BaseMessage]:
    """What `choose` gives, for the price of the new messages if this conversation was trimmed before."""
    lead = leading_system(messages) if window.include_system else []
    tail = tails.take(messages)
    if tail is not None and tail.is_of(messages) and tail.extend(messages):
        room = limit.size - limit.fixed - sum(map(limit.cost_one, lead))
        cut = tail.cut(room)
        if cut is not None and _may_be_cut(messages, cut, window):
            tail.forget_before(cut)
            tails.put(tail)
            return [*lead, *messages[cut:]]
    kept = choose(messages, window, limit)
    cut = len(messages) - len(kept) + len(lead)
    if len(lead) < cut < len(messages) and messages[cut] is kept[len(lead)]:
        start = next((index for index in range(cut - 1, -1, -1) if is_user_turn(messages[index])), None)
        if start is not None:
            tail = Tail(messages, start, limit.cost_one)
            if tail.extend(messages):
                tails.put(tail)
    return kept


def _may_be_cut(messages: Sequence[BaseMessage], cut: int, window: Window) -> bool:
    start_on, end_on = window.start_on, window.end_on
    return (start_on is None or start_on(messages[cut])) and (end_on is None or end_on(messages[-1]))


def _tails_of(counter: CachingCounter) -> Tails:
    tails = _TAILS.get(counter)
    return tails if tails is not None else _TAILS.setdefault(counter, Tails())


def _count_user_turns(messages: Sequence[BaseMessage]) -> int:
    return sum(map(is_user_turn, messages))


def _additive(counter: TokenCounter, limit: int, tools: Sequence[Any] | None) -> Limit:
    # A bare function has no cache of its own.
    uncached = isinstance(counter, MessageFunctionCounter)
    count = _remembered(counter.count_message) if uncached else counter.count_message
    fixed = counter.request_overhead + (counter.count_tools(tools) if tools else 0)
    return Limit(limit, "tokens", lambda messages: sum(map(count, messages)), count, fixed)


def _remembered(count: Callable[[BaseMessage], int]) -> Callable[[BaseMessage], int]:
    """The function, asked once for each message of one trim."""
    known: dict[int, tuple[int, BaseMessage]] = {}

    def remembered(message: BaseMessage) -> int:
        if id(message) not in known:
            known[id(message)] = (count(message), message)  # held, so that its id stays its own
        return known[id(message)][0]

    return remembered
