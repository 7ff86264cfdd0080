"""Units, rounds, and the repair of a conversation that no provider would accept.

A *unit* is what may only be kept or dropped whole: an assistant message that calls tools together with **all** the
results that answer it, or any other single message. Results are found by call id and not by adjacency, so parallel
calls, results that came late and results of two interleaved calls all find their way home.

A *round* runs from one user message to the next.

The grouping is written once, as a walk from the newest message to the oldest (`walk_units`): a trimmer reads only as
far back as its budget reaches, everything else reads the whole walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory.messages.protocol import (
    KINDS,
    Kind,
    calls_of_assistant,
    error_result,
    is_synthetic,
    is_user_turn,
    keep_results,
    kind_of,
    opens_conversation,
    result_ids,
)

__all__ = [
    "MessageFault",
    "Provider",
    "Unit",
    "close_unit",
    "legal_cuts",
    "repair_messages",
    "split_rounds",
    "split_units",
    "validate_messages",
    "walk_units",
]

Provider: TypeAlias = Literal["openai", "anthropic", "google"]

_STRICT: Final = ("anthropic", "google")
"""Providers that want system messages first and then a user turn; OpenAI takes both anywhere."""


class Unit(NamedTuple):
    """What is kept or dropped whole: one message, or an assistant message with all the results that answer it.

    Attributes:
        kind: Who speaks in the first message: `"system"`, `"user"`, `"assistant"`, or `"other"` for a message class
            that has no part in the protocol.
        head: Where the first message stands in the list.
        messages: The first message, then its results: as they came where they stand in one complete block, else in the
            order of the calls, by which Google's protocol, without call ids, tells the results of one tool apart.
        positions: Where the results stand in the list.
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
    def in_order(self) -> bool:
        """Whether the unit can be sent as it stands in the list: its results in one block, its past calls answered."""
        adjacent = not self.positions or max(self.positions) == self.head + len(self.positions)
        return adjacent and (self.live or not self.missing)


_new_unit: Final = tuple.__new__
"""Half the time of `Unit(...)`, which counts where a trimmer makes one per message of its window."""


@dataclass(slots=True)
class StrayResults:
    """Positions of the results that belong to no unit, filled in by a complete `walk_units`."""

    orphans: list[int] = field(default_factory=list)
    duplicates: list[int] = field(default_factory=list)


def walk_units(messages: Sequence[BaseMessage], strays: StrayResults | None = None) -> Iterator[Unit]:
    """Group messages into units, from the newest to the oldest, reading no further than it is asked.

    A result answers the nearest message before it that made a call of its id. Of several results of one call the
    first real one counts: it replaces an error that was put in its place, and repetitions are dropped.

    Args:
        messages: The conversation, oldest first.
        strays: Receives the positions of results that answer no call, once the walk is complete.

    Yields:
        The units, newest first. Results that answer no call are in none of them.
    """
    waiting: dict[str, list[int]] = {}  # results whose call has not been reached yet, newest first
    spoken = False  # whether a user or an assistant has the word later on
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        kind = KINDS.get(type(message)) if type(message.content) is str else None
        if kind is None:
            kind = kind_of(message)
        if kind == "result":
            ids = (message.tool_call_id,) if type(message) is ToolMessage else result_ids(message)
            for call_id in ids:
                if call_id in waiting:
                    waiting[call_id].append(index)
                else:
                    waiting[call_id] = [index]
            continue
        if kind == "assistant" and (calls := calls_of_assistant(message)):
            yield _gather(messages, index, calls, waiting, live=not spoken, strays=strays)
        else:
            yield _new_unit(Unit, (kind, index, (message,), (), (), False))
        spoken = spoken or kind in ("user", "assistant")
    if strays is not None:
        strays.orphans.extend(sorted({index for found in waiting.values() for index in found}))


def _gather(
    messages: Sequence[BaseMessage],
    index: int,
    calls: tuple[str, ...],
    waiting: dict[str, list[int]],
    *,
    live: bool,
    strays: StrayResults | None,
) -> Unit:
    """Make the unit of an assistant message at `index` from the results that wait for its calls."""
    answers: dict[int, list[str]] = {}  # position of a message and the calls it answers: more than one for Anthropic
    missing: list[str] = []
    for call_id in calls:
        found = waiting.pop(call_id, None)
        if found is None:
            missing.append(call_id)
            continue
        answer = found[0]
        if len(found) > 1:
            answer = min([position for position in found if not is_synthetic(messages[position])] or found)
            found.remove(answer)
            if strays is not None:
                strays.duplicates += found
        answers.setdefault(answer, []).append(call_id)
    positions = tuple(answers)
    if len(positions) > 1 and max(positions) == index + len(positions) and (live or not missing):
        positions = tuple(sorted(positions))
    results = [keep_results(messages[position], answers[position]) for position in positions]
    unit = (messages[index], *results)
    return _new_unit(Unit, ("assistant", index, unit, positions, tuple(missing), live and bool(missing)))


def close_unit(unit: Unit) -> tuple[BaseMessage, ...]:
    """The unit's messages, with an error result for each past call that was never answered.

    A live unit is left as it is, since its results may be on their way.

    Args:
        unit: Any unit.

    Returns:
        The messages to send.
    """
    if not unit.missing or unit.live:
        return unit.messages
    caller, *results = unit.messages
    answers = {call_id: result for result in results for call_id in result_ids(result)}
    closed = [answers.get(call_id) or error_result(caller, call_id) for call_id in calls_of_assistant(caller)]
    return (caller, *{id(result): result for result in closed}.values())  # a message may answer several calls


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


FaultCode: TypeAlias = Literal[
    "orphan_result",
    "misplaced_result",
    "duplicate_result",
    "unanswered_call",
    "system_not_leading",
    "first_not_user",
]


@dataclass(frozen=True, slots=True)
class MessageFault:
    """One rule that a message list breaks, and so a reason for a provider to refuse it.

    Attributes:
        code: The rule: `"orphan_result"` (a tool result answers no call before it), `"misplaced_result"` (it does not
            stand in the block behind its call), `"duplicate_result"` (its call has another result),
            `"unanswered_call"` (a past call has no result), `"system_not_leading"`, `"first_not_user"` (behind the
            system messages the user does not have the word).
        index: Position of the message in the list.
        message_id: The message's id, if it has one.
        detail: What is wrong, in a sentence, with the call ids that matter.
    """

    code: FaultCode
    index: int
    message_id: str | None
    detail: str


def validate_messages(messages: Sequence[BaseMessage], provider: Provider | None = None) -> list[MessageFault]:
    """Say why a provider would refuse a conversation.

    The rules that all share: every tool result stands in one block behind the assistant message whose call it
    answers, and every past call has its results. Calls at the very end whose results have not come yet are no fault.
    Anthropic and Google further want system messages to lead and a user turn to follow them.

    Args:
        messages: The conversation; it is not changed.
        provider: Whose rules count: `"openai"`, `"anthropic"`, `"google"`, or all of them when `None`.

    Returns:
        The faults in the order of their positions; empty means valid.

    Raises:
        ValueError: `provider` is none of these.

    Example:
        ```python
        from langchain_core.messages import ToolMessage
        from langchain_tiered_memory import validate_messages

        faults = validate_messages([ToolMessage("3", tool_call_id="c1")], provider="openai")
        assert [fault.code for fault in faults] == ["orphan_result"]
        ```
    """
    strict = _is_strict(provider)
    strays = StrayResults()
    units = list(walk_units(messages, strays))[::-1]
    found: list[tuple[int, FaultCode, str]] = [
        *((index, "orphan_result", _about(messages[index], "answers no call")) for index in strays.orphans),
        *((index, "duplicate_result", _about(messages[index], "answers again")) for index in strays.duplicates),
    ]
    for unit in units:
        found += [
            (position, "misplaced_result", _about(messages[position], f"belongs behind message {unit.head}"))
            for offset, position in enumerate(sorted(unit.positions), start=1)
            if position != unit.head + offset
        ]
        if unit.missing and not unit.live:
            found.append((unit.head, "unanswered_call", f"no result for {', '.join(unit.missing)}"))
    if strict:
        found += _order_faults(units)
    return [MessageFault(code, index, messages[index].id, detail) for index, code, detail in sorted(found)]


def _is_strict(provider: Provider | None) -> bool:
    if provider not in (None, "openai", *_STRICT):
        msg = f"provider={provider!r} is not known: use 'openai', 'anthropic', 'google', or None for all of them"
        raise ValueError(msg)
    return provider != "openai"


def _about(message: BaseMessage, what: str) -> str:
    return f"result for {', '.join(result_ids(message))} {what}"


def _order_faults(units: Sequence[Unit]) -> Iterator[tuple[int, FaultCode, str]]:
    first = next((unit for unit in units if unit.kind != "system"), None)
    if first is not None and not opens_conversation(first.messages[0]):
        yield (
            first.head,
            "first_not_user",
            f"the conversation begins with a message of type {first.messages[0].type}",
        )
    yield from (
        (unit.head, "system_not_leading", "a system message stands inside the conversation")
        for place, unit in enumerate(units)
        if unit.kind == "system" and any(earlier.kind != "system" for earlier in units[:place])
    )


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
    return arrange(split_units(messages), strict=_is_strict(provider))


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
