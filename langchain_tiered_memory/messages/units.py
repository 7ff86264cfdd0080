"""Units, rounds, and the repair of a conversation that no provider would accept.

A *unit* is what may only be kept or dropped whole: an assistant message that calls tools together with **all** the
results that answer it, or any other single message. Results are found by call id and not by adjacency, so parallel
calls, results that came late and results of two interleaved calls all find their way home.

A *round* runs from one user message to the next.

The grouping is written once, as a walk from the newest message to the oldest (`walk_units`): a trimmer reads only as
far back as its budget reaches, everything else reads the whole walk.
"""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._units_faults import MessageFault, Provider, is_strict, validate_messages
from langchain_tiered_memory.messages._units_walk import Unit, close_unit, walk_units
from langchain_tiered_memory.messages.protocol import is_user_turn, opens_conversation

__all__ = [
    "MessageFault",
    "Provider",
    "Unit",
    "arrange",
    "close_unit",
    "legal_cuts",
    "repair_messages",
    "split_rounds",
    "split_units",
    "validate_messages",
    "walk_units",
]


def split_units(messages: Sequence[BaseMessage]) -> list[Unit]:
    """Split a conversation into units, oldest first.

    Args:
        messages: The conversation; it is not changed.

    Returns:
        The units in the order of their first messages. Results that answer no call are in none of them.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        from langchain_tiered_memory.messages.units import split_units

        call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1"}
        chat = [HumanMessage("1 + 2?"), AIMessage("", tool_calls=[call]), ToolMessage("3", tool_call_id="c1")]
        assert [len(unit.messages) for unit in split_units(chat)] == [1, 2]
        ```
    """
    return list(walk_units(messages))[::-1]


def split_rounds(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    """Split a conversation into rounds, each from one user message to the next.

    What stands before the first user message (system messages, a greeting, a summary) is a round of its own.

    Args:
        messages: The conversation; it is not changed.

    Returns:
        The rounds, oldest first; concatenated they are `messages`.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> chat = [HumanMessage("1 + 2?"), AIMessage("3"), HumanMessage("Thanks!")]
        >>> [len(one) for one in split_rounds(chat)]
        [2, 1]
    """
    rounds: list[list[BaseMessage]] = []
    for message in messages:
        if not rounds or is_user_turn(message):
            rounds.append([])
        rounds[-1].append(message)
    return rounds


def legal_cuts(messages: Sequence[BaseMessage], *, at_user: bool = False) -> list[int]:
    """Positions at which a conversation may be cut in two without splitting a unit.

    Args:
        messages: The conversation.
        at_user: Only positions at which the second part begins with a user turn, as the start of a window must.

    Returns:
        Indices from 0 to `len(messages)`, ascending; no cut lies behind the head of a live unit.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> chat = [HumanMessage("1 + 2?"), AIMessage("3"), HumanMessage("Thanks!")]
        >>> legal_cuts(chat), legal_cuts(chat, at_user=True)
        ([0, 1, 2, 3], [0, 2])
    """
    blocked: set[int] = set()
    end = len(messages)
    for unit in walk_units(messages):
        if unit.live:
            end = unit.head
        if unit.positions:
            blocked.update(range(unit.head + 1, max(unit.positions) + 1))
    cuts = (index for index in range(end + 1) if index not in blocked)
    if at_user:
        return [index for index in cuts if index < len(messages) and is_user_turn(messages[index])]
    return list(cuts)


def repair_messages(messages: Sequence[BaseMessage], provider: Provider | None = None) -> list[BaseMessage]:
    """Make a conversation valid with the least change.

    Results move behind their call; results of no call and repeated ones are dropped; a past call that was never
    answered is closed with an error result, in whose place a late real result steps. For Anthropic and Google,
    system messages move to the front, and what the assistant said before the first user turn is dropped. Calls at the
    very end whose results have not come yet are left alone.

    Args:
        messages: The conversation; neither the list nor its messages are changed.
        provider: Whose rules count: `"openai"`, `"anthropic"`, `"google"`, or all of them when `None`.

    Returns:
        A list for which `validate_messages` finds no fault, provided that it holds a user turn; a conversation
        without one cannot begin with it. A valid conversation comes back as it was.

    Raises:
        ValueError: `provider` is none of these.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage
        from langchain_tiered_memory import repair_messages

        call = {"name": "add", "args": {}, "id": "c1"}
        cancelled = [HumanMessage("add"), AIMessage("", tool_calls=[call]), HumanMessage("never mind")]
        assert [m.type for m in repair_messages(cancelled)] == ["human", "ai", "tool", "human"]
        ```
    """
    return arrange(split_units(messages), strict=is_strict(provider))


def arrange(units: Sequence[Unit], *, strict: bool = True, pinned: frozenset[int] = frozenset()) -> list[BaseMessage]:
    """The messages of units in an order that providers accept.

    Args:
        units: Units of one conversation, oldest first.
        strict: Whether system messages must lead and a user turn must follow them.
        pinned: Indices of units that may not be dropped, wherever they stand.

    Returns:
        The messages, past calls closed.
    """
    if not strict:
        return [message for unit in units for message in close_unit(unit)]
    system: list[BaseMessage] = []
    spoken: list[BaseMessage] = []
    early: list[BaseMessage] = []  # what the assistant said before the first user turn
    opened = False
    for unit in units:
        messages = close_unit(unit) if unit.missing else unit.messages
        if unit.kind == "system":
            system += messages
        elif opened or opens_conversation(messages[0]):
            opened = True
            spoken += messages
        else:
            early += messages
            if unit.head in pinned:
                spoken += messages
    return system + (spoken if opened else early)
