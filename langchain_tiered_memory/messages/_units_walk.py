"""The walk that groups messages into units, from the newest to the oldest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory.messages.protocol import (
    KINDS,
    Kind,
    calls_of_assistant,
    error_result,
    is_synthetic,
    keep_results,
    kind_of,
    result_ids,
)

__all__ = ["StrayResults", "Unit", "close_unit", "walk_units"]


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
