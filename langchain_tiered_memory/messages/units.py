"""Units and rounds: what of a conversation may only be kept or dropped whole.

A *unit* is what may only be kept or dropped whole: an assistant message that calls tools together with **all** the
results that answer it, or any other single message. Results are found by call id and not by adjacency, so parallel
calls, results that came late and results of two interleaved calls all find their way home.

A *round* runs from one user message to the next.

The grouping is written once, as a walk from the newest message to the oldest (`walk_units`): a trimmer reads only as
far back as its budget reaches, everything else reads the whole walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage, RemoveMessage, ToolMessage

from langchain_tiered_memory.messages.protocol import (
    KINDS,
    Kind,
    call_ids,
    calls_of_assistant,
    canonical,
    error_result,
    has_thinking,
    is_synthetic,
    is_user_turn,
    keep_results,
    kind_of,
    result_ids,
    says_more_than_results,
    with_unique_calls,
)

__all__ = [
    "FaultCode",
    "FoundFaults",
    "Unit",
    "arrange",
    "close_unit",
    "split_rounds",
    "split_units",
    "unfinished_thinking",
    "walk_units",
]

FaultCode: TypeAlias = Literal[
    "orphan_result",
    "misplaced_result",
    "duplicate_result",
    "duplicate_call",
    "unanswered_call",
    "no_content",
    "unknown_role",
    "removal",
    "result_order",
    "text_before_result",
    "system_not_leading",
    "first_not_user",
    "empty_text",
    "thinking_cut",
    "call_after_assistant",
    "user_after_result",
]
FoundFaults: TypeAlias = list[tuple[int, FaultCode, str]]
"""Position, rule, and what is wrong."""

_REMOVE_ALL: Final = "__remove_all__"
"""The id with which langgraph's `RemoveMessage` removes everything before it."""


class Unit(NamedTuple):
    """What is kept or dropped whole: one message, or an assistant message with all the results that answer it.

    Attributes:
        kind: Who speaks in the first message: `"system"`, `"user"` or `"assistant"`.
        head: Where the first message stands in the list.
        messages: The first message, then its results in the order of the calls, by which Google's protocol, without
            call ids, tells the results of one tool apart.
        positions: Where these results stand in the list.
        missing: Ids of the calls that have no result.
        live: Whether the missing results may still come: nobody has spoken since the calls were made.
    """

    kind: Kind
    head: int
    messages: tuple[BaseMessage, ...]
    positions: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    live: bool = False

    @property
    def calls(self) -> bool:
        """Whether tools are called."""
        return len(self.messages) > 1 or bool(self.missing)


_Waiting: TypeAlias = dict[str, list[tuple[int, BaseMessage]]]
"""Results whose call has not been reached yet, by its id, newest first."""


def walk_units(messages: Sequence[BaseMessage], found: FoundFaults | None = None) -> Iterator[Unit]:
    """Group messages into units, from the newest to the oldest, reading no further than it is asked.

    A result answers the nearest message before it that made a call of its id. Of several results of one call the
    first real one counts: it replaces an error that was put in its place, and repetitions are dropped. What a
    `RemoveMessage` names is left out, and so is the `RemoveMessage`. A user message that holds text beside results of
    no call is a user's turn without them.

    Args:
        messages: The conversation, oldest first.
        found: Receives what is wrong with single messages and results, once the walk is complete.

    Yields:
        The units, newest first. Results that answer no call are in none of them.
    """
    faults: FoundFaults = [] if found is None else found
    waiting: _Waiting = {}
    removed: set[str | None] = set()
    spoken = False  # whether a user or an assistant has the word later on
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if removed and message.id in removed:
            continue
        kind = KINDS.get(type(message)) if type(message.content) is str else None
        if kind is None:
            if isinstance(message, RemoveMessage):
                faults.append((index, "removal", f"an instruction to remove message {message.id}"))
                if message.id == _REMOVE_ALL:
                    break
                removed.add(message.id)
                continue
            message = _readable(messages, index, faults)
            kind = kind_of(message)
        if kind == "result":
            for call_id in (message.tool_call_id,) if type(message) is ToolMessage else result_ids(message):
                waiting.setdefault(call_id, []).append((index, message))
            spoken = spoken or says_more_than_results(message)
            continue
        if kind == "assistant" and (calls := calls_of_assistant(message)):
            yield _gather(index, message, calls, waiting, faults, live=not spoken)
        else:
            yield Unit(kind, index, (message,))
        spoken = spoken or kind != "system"
    for index in {index for found in waiting.values() for index, _ in found}:
        faults.append(
            (index, "orphan_result", f"the result of {', '.join(result_ids(messages[index]))} answers no call")
        )


def _readable(messages: Sequence[BaseMessage], index: int, faults: FoundFaults) -> BaseMessage:
    """The message at `index` as providers can read it, without results of no call beside a user's text."""
    message = messages[index]
    plain = canonical(message)
    content: object = message.content
    if plain is not message:
        if isinstance(content, str | list):
            faults.append(
                (index, "unknown_role", f"a {type(message).__name__} has no part in every provider's protocol")
            )
        else:
            faults.append((index, "no_content", f"the content is {content!r}, neither a text nor a list"))
    answered = result_ids(plain)
    if answered and says_more_than_results(plain):
        open_calls = {call_id for call_id in answered if _is_called(messages[:index], call_id)}
        if not open_calls:
            faults.append((index, "orphan_result", f"results for {', '.join(answered)} beside a text answer no call"))
            return keep_results(plain, ())
    return plain


def _is_called(messages: Sequence[BaseMessage], call_id: str) -> bool:
    """Whether the nearest message about a call makes it, and does not answer it."""
    for message in reversed(messages):
        if call_id in call_ids(message):
            return True
        if call_id in result_ids(message) and not is_synthetic(message):
            return False
    return False


def _gather(
    index: int, caller: BaseMessage, calls: tuple[str, ...], waiting: _Waiting, faults: FoundFaults, *, live: bool
) -> Unit:
    """Make the unit of an assistant message at `index` from the results that wait for its calls."""
    if len(calls) > 1 or len(getattr(caller, "tool_calls", ())) > 1:
        unique, old_ids = with_unique_calls(caller)
        if old_ids:
            faults.append((index, "duplicate_call", f"several calls share an id: {', '.join(set(old_ids.values()))}"))
            caller, calls = unique, calls_of_assistant(unique)
            _share_out(waiting, old_ids)
    answers: dict[int, tuple[BaseMessage, list[str]]] = {}  # by position; Anthropic answers several calls in one
    missing: list[str] = []
    for call_id in calls:
        found = waiting.pop(call_id, None)
        if found is None:
            missing.append(call_id)
            continue
        answer = found[0]
        if len(found) > 1:
            real = [one for one in found if not is_synthetic(one[1])]
            answer = (real or found)[-1]
            detail = f"the call {call_id} has another result"
            faults += [(one[0], "duplicate_result", detail) for one in found if one is not answer]
        answers.setdefault(answer[0], (answer[1], []))[1].append(call_id)
    if len(answers) > 1 and any(says_more_than_results(result) for result, _ in answers.values()):
        answers = dict(sorted(answers.items(), key=lambda item: says_more_than_results(item[1][0])))
    results = [keep_results(result, answered) for result, answered in answers.values()]
    is_block = list(answers) == list(range(index + 1, index + 1 + len(answers)))
    if not is_block or any(sent is not one[0] for sent, one in zip(results, answers.values(), strict=True)):
        _note_results(index, answers, results, faults)
    return Unit("assistant", index, (caller, *results), tuple(answers), tuple(missing), live and bool(missing))


def _share_out(waiting: _Waiting, old_ids: dict[str, str]) -> None:
    """Give calls that shared an id one result each, the oldest to the first."""
    for call_id, old in old_ids.items():
        found = waiting.get(old, ())
        if len(found) > 1 and isinstance(found[-2][1], ToolMessage):
            position, result = found.pop(-2)
            waiting[call_id] = [(position, result.model_copy(update={"tool_call_id": call_id}))]


def _note_results(
    head: int, answers: dict[int, tuple[BaseMessage, list[str]]], kept: list[BaseMessage], faults: FoundFaults
) -> None:
    """Note results that stand outside the block behind their call, or in another order than the calls."""
    order = sorted(answers)
    faults += [
        (position, "misplaced_result", f"the result belongs into the block behind message {head}")
        for offset, position in enumerate(order, start=1)
        if position != head + offset
    ]
    faults += [
        (position, "result_order", f"the results stand in another order than the calls of message {head}")
        for position in next(([there] for there, want in zip(order, answers, strict=True) if there != want), [])
    ]
    for (position, (result, _)), sent in zip(answers.items(), kept, strict=True):
        is_result = [isinstance(block, dict) and block.get("type") == "tool_result" for block in result.content]
        if sent is not result and is_result != sorted(is_result, reverse=True):
            faults.append((position, "text_before_result", "a result stands behind other content of its message"))
        elif sent is not result and len(sent.content) == len(result.content):
            faults.append((position, "result_order", "the results stand in another order than their calls"))


def close_unit(unit: Unit) -> tuple[BaseMessage, ...]:
    """The unit's messages, with an error result for each past call that was never answered; a live unit as it is."""
    if not unit.missing or unit.live:
        return unit.messages
    caller, *results = unit.messages
    answers = {call_id: result for result in results for call_id in result_ids(result)}
    closed = [answers.get(call_id) or error_result(caller, call_id) for call_id in calls_of_assistant(caller)]
    closed.sort(key=says_more_than_results)  # a user's words stand behind all results
    return (caller, *{id(result): result for result in closed}.values())  # a message may answer several calls


def split_units(messages: Sequence[BaseMessage]) -> list[Unit]:
    """Split a conversation into units, oldest first; results that answer no call are in none of them.

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

    What stands before the first user message (system messages, a greeting, a summary) is a round of its own. The rounds
    come oldest first; concatenated they are `messages`.

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


def unfinished_thinking(newest_first: Sequence[Unit]) -> list[Unit]:
    """The units of an unfinished assistant turn that holds thinking, which its provider wants back as one piece.

    Anthropic refuses a tool loop that does not begin with the thinking it began with. The turn is over when the
    assistant answers without a call or the user has the word.

    Takes the newest units, at least back to the newest user turn, and gives the turn's, newest first: none when the
    turn is over, or no thinking is in it.
    """
    turn: list[Unit] = []
    for unit in newest_first:
        if unit.kind == "user":
            break
        if unit.kind == "assistant":
            if not unit.calls:
                break
            turn.append(unit)
    return turn if any(has_thinking(unit.messages[0]) for unit in turn) else []


def arrange(
    units: Sequence[Unit],
    *,
    system_leads: bool = True,
    user_opens: bool = True,
    pinned: frozenset[int] = frozenset(),
) -> list[BaseMessage]:
    """The messages of units, oldest first, in an order that providers accept, past calls closed.

    Args:
        units: Units of one conversation, oldest first.
        system_leads: Whether system messages move to the front.
        user_opens: Whether what stands before the first user turn is left out, provided that there is one.
        pinned: Heads of units that may not be dropped, wherever they stand.
    """
    system: list[BaseMessage] = []
    spoken: list[BaseMessage] = []
    early: list[BaseMessage] = []  # what the assistant said before the first user turn
    opened = not user_opens
    for unit in units:
        messages = close_unit(unit) if unit.missing else unit.messages
        if unit.kind == "system":
            (system if system_leads else spoken).extend(messages)
        elif opened or unit.kind == "user":
            opened = True
            spoken += messages
        else:
            early += messages
            if unit.head in pinned:
                spoken += messages
    return system + (spoken if opened else early)
