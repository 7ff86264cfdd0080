"""The view of a chat history: as much of the log's end as its budget can reach, trimmed to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage

from langchain_tiered_memory.context.request import newest_turn
from langchain_tiered_memory.errors import BudgetExceededError, ProtocolError
from langchain_tiered_memory.events import ViewCut
from langchain_tiered_memory.messages.protocol import call_ids, is_user_turn, kind_of, leading_system, result_ids
from langchain_tiered_memory.messages.repair import repair_messages
from langchain_tiered_memory.messages.tokens import ListCounter, as_counter
from langchain_tiered_memory.messages.trimming import CounterLike, Size, trim_messages
from langchain_tiered_memory.messages.units import split_units
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.records import LogEntry

__all__ = ["fitted", "source_of"]

_PIECE: Final = 16  # characters by which a message that is larger than the view is cut
_REMOVE_ALL: Final = "__remove_all__"  # langgraph's id of a RemoveMessage that takes everything away


def source_of(
    log: MessageLog, session_id: str, max_tokens: Size | None, token_counter: CounterLike
) -> list[BaseMessage]:
    """What a view is made of: the transcript, or as much of its end as the budget can reach.

    Args:
        log: Holds the session.
        session_id: The session.
        max_tokens: The budget; `None` for everything.
        token_counter: Counts tokens, anything that `trim_messages` takes.
    """
    removed: set[str] = set()
    cost = _cost(max_tokens, token_counter)
    limit = max_tokens[1] if isinstance(max_tokens, tuple) else max_tokens
    taken: list[BaseMessage] = []
    leading: list[BaseMessage] = []
    results: dict[str, int] = {}  # costs of results whose call has not been reached; without it they are dropped
    spent = 0
    for entry in _visible(log.newest_first(session_id), removed):
        taken.append(entry.message)
        if cost is None or limit is None:
            continue
        spent += _cost_in_unit(entry.message, cost(entry.message), results)
        # A tail that begins with a user turn and is over the budget is trimmed exactly as the whole would be.
        if spent > limit and is_user_turn(entry.message):
            leading = _leading_system(log, session_id, entry.number, removed)
            break
    return [*leading, *reversed(taken)]


def fitted(
    session_id: str, messages: list[BaseMessage], max_tokens: Size | None, token_counter: CounterLike
) -> tuple[list[BaseMessage], ViewCut | None]:
    """The messages within a budget, and what is to be told if the newest turn alone is over it and was cut."""
    turn = newest_turn(messages)
    if any(unit.live for unit in split_units(turn)):
        # The next question comes behind the open call, which no provider accepts.
        messages = [*messages[: len(messages) - len(turn)], *repair_messages([*turn, HumanMessage("")])[:-1]]
    if max_tokens is None:
        return repair_messages(messages), None
    arguments: dict[str, Any] = {"max_tokens": max_tokens, "token_counter": token_counter, "include_system": True}
    try:
        return trim_messages(messages, **arguments), None
    except ProtocolError:
        return [], None  # only results whose call was never stored; the question to come stands alone
    except BudgetExceededError as error:
        # The newest turn of the log is an old one as soon as the next question comes. Raising here would leave a
        # session with one long message unusable for good.
        event = ViewCut(session_id=session_id, needed=error.needed, limit=error.limit)
        try:
            return trim_messages(messages, allow_partial=True, text_splitter=_pieces, **arguments), event
        except BudgetExceededError:
            # Calls that were never answered are cut by nobody; without them, what is left is the instructions.
            lead = leading_system(messages)
            return (trim_messages(lead, **arguments) if lead else []), event


def _cost(max_tokens: Size | None, token_counter: CounterLike) -> Callable[[BaseMessage], int] | None:
    """What a message takes of the budget; `None` where a tail cannot be measured, so that all must be read."""
    if max_tokens is None:
        return None
    unit = max_tokens[0] if isinstance(max_tokens, tuple) else "tokens"
    if unit == "rounds":
        return lambda message: int(is_user_turn(message))
    if unit == "messages" or token_counter is len:
        return lambda _: 1
    counter = as_counter(token_counter)
    return None if isinstance(counter, ListCounter) else counter.count_message


def _leading_system(log: MessageLog, session_id: str, before: int, removed: set[str]) -> list[BaseMessage]:
    leading: list[BaseMessage] = []
    for number in range(1, before):
        (entry,) = log.entries(session_id, after=number - 1, limit=1) or (None,)
        if entry is None or kind_of(entry.message) != "system":
            break
        leading.append(entry.message)
    return [message for message in leading if message.id not in removed]


def _visible(entries: Iterable[LogEntry], removed: set[str]) -> Iterator[LogEntry]:
    """Entries from the newest on, without what a later RemoveMessage took away; fills in what that was."""
    for entry in entries:
        message = entry.message
        if isinstance(message, RemoveMessage):
            if message.id == _REMOVE_ALL:
                return
            removed.add(str(message.id))
        elif message.id not in removed:
            yield entry


def _cost_in_unit(message: BaseMessage, cost: int, results: dict[str, int]) -> int:
    """What a message adds to the units behind it: a call adds its results too, of several for one call the cheapest."""
    answered = result_ids(message)
    if answered:
        for call_id in answered:
            results[call_id] = min(results.get(call_id, cost), cost) if call_id == answered[0] else 0
        return 0
    return cost + sum(results.pop(call_id, 0) for call_id in call_ids(message))


def _pieces(text: str) -> list[str]:
    """A text in pieces small enough that one of them fits any sensible budget."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]
