"""What repairing and trimming should give, worked out from the contract the slow way.

A *group* is what is kept or dropped whole: one message, or an assistant message with calls and the results that answer
it. A result that has to be made up to close a past call stands in a group as `Closed`, since its wording is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from langchain_core.messages import BaseMessage, ToolMessage

from support.oracle import (
    answers,
    calls_of,
    is_system,
    is_user_turn,
    live_call,
    newest_user_turn,
    results_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


@dataclass(frozen=True, slots=True)
class Closed:
    """Stands for the error result that closes a call which was never answered."""

    call_id: str

    def matches(self, message: BaseMessage) -> bool:
        return isinstance(message, ToolMessage) and message.tool_call_id == self.call_id and message.status == "error"


@dataclass(frozen=True, slots=True)
class Group:
    """One thing that is kept or dropped whole."""

    parts: tuple[BaseMessage | Closed, ...]
    live: bool = False

    @property
    def head(self) -> BaseMessage:
        head = self.parts[0]
        assert isinstance(head, BaseMessage)
        return head

    @property
    def is_user(self) -> bool:
        return is_user_turn(self.head)

    @property
    def is_system(self) -> bool:
        return is_system(self.head)

    @property
    def closed(self) -> int:
        return sum(isinstance(part, Closed) for part in self.parts)

    @property
    def complete(self) -> bool:
        return len(self.parts) > 1 and not self.live and not self.closed


def repaired_groups(messages: Sequence[BaseMessage]) -> list[Group]:
    """Group a list as a repair for all providers leaves it: system messages, then whole units from a user turn on."""
    spoken = [index for index, message in enumerate(messages) if not is_system(message) and not results_of(message)]
    first_user = next((index for index in spoken if is_user_turn(messages[index])), None)
    if first_user is not None:
        spoken = [index for index in spoken if index >= first_user]
    system = [Group((message,)) for message in messages if is_system(message)]
    return system + [_group(messages, index) for index in spoken]


def _group(messages: Sequence[BaseMessage], index: int) -> Group:
    if not calls_of(messages[index]):
        return Group((messages[index],))
    live = live_call(messages) == index
    chosen = {call_id: places[0] for call_id, places in answers(messages, index).items() if places}
    places = list(dict.fromkeys(chosen.values()))  # one message may hold several results
    missing = [] if live else [call_id for call_id in calls_of(messages[index]) if call_id not in chosen]
    parts: list[BaseMessage | Closed] = [messages[index]]
    for call_id in calls_of(messages[index]):
        if call_id in missing:
            parts.append(Closed(call_id))
        elif call_id in chosen and chosen[call_id] in places:
            places.remove(chosen[call_id])
            parts.append(messages[chosen[call_id]])
    return Group(tuple(parts), live=live)


def flat(groups: Sequence[Group]) -> list[BaseMessage | Closed]:
    return [part for group in groups for part in group.parts]


def same(expected: Sequence[BaseMessage | Closed], actual: Sequence[BaseMessage]) -> bool:
    """Whether the lists hold the very same objects, with an error result wherever a call had to be closed."""
    return len(expected) == len(actual) and all(
        part.matches(message) if isinstance(part, Closed) else part is message
        for part, message in zip(expected, actual, strict=True)
    )


def _is_group(group: Group, run: Sequence[BaseMessage]) -> bool:
    """Whether a run of messages is a group, its results in any order."""
    if len(run) != len(group.parts) or run[0] is not group.head:
        return False
    closed = [part for part in group.parts if isinstance(part, Closed)]
    own = {id(part) for part in group.parts if not isinstance(part, Closed)}
    made_up = [message for message in run if id(message) not in own]
    return len(made_up) == len(closed) and all(any(part.matches(made) for made in made_up) for part in closed)


def kept_groups(groups: Sequence[Group], output: Sequence[BaseMessage]) -> set[int]:
    """Which groups an output is made of; fails when it is not some of them, whole and in their order."""
    kept: set[int] = set()
    rest = list(output)
    for index, group in enumerate(groups):
        if rest and _is_group(group, rest[: len(group.parts)]):
            kept.add(index)
            rest = rest[len(group.parts) :]
    assert not rest, f"{len(rest)} messages of the output are split, reordered or not the caller's: {rest}"
    return kept


def required_groups(
    groups: Sequence[Group], *, leading: int = 0, pinned: Collection[int] = (), whole_round: bool = False
) -> set[int]:
    """The groups that may never go.

    Args:
        groups: The repaired conversation.
        leading: How many system messages at its start are to stay.
        pinned: The groups that hold a pinned message; the question that a pinned answer was given to stays with it,
            since a window may not open with an assistant message.
        whole_round: Whether the newest round is the least that may stay, as it is when rounds are counted.
    """
    required = set(pinned) | set(range(leading)) | {index for index, group in enumerate(groups) if group.live}
    for index in pinned:
        if not groups[index].is_user and not groups[index].is_system:
            required |= set([place for place in range(index) if groups[place].is_user][-1:])
    newest = newest_user_turn([group.head for group in groups])
    if newest is not None:
        required |= set(range(newest, len(groups)) if whole_round else [newest])
    return required


def trimmed(
    groups: Sequence[Group], cost: Callable[[Group], int], limit: int, required: Collection[int], strategy: str
) -> set[int] | None:
    """Which groups a budget leaves, for a cost that is the sum of its parts; None when it cannot be met."""
    left = limit - sum(cost(groups[index]) for index in required)
    if left < 0:
        return None
    kept = set(required)
    for index in range(len(groups)) if strategy == "first" else reversed(range(len(groups))):
        if index in kept:
            continue
        if cost(groups[index]) > left:
            break
        left -= cost(groups[index])
        kept.add(index)
    return kept if strategy == "first" else _opened(groups, kept, required)


def _opened(groups: Sequence[Group], kept: set[int], required: Collection[int]) -> set[int]:
    """Take off the run before the newest question what stands before its first user turn."""
    newest = start = newest_user_turn([group.head for group in groups]) or 0
    while start - 1 in kept:
        start -= 1
    for index in range(start, newest):
        if groups[index].is_user or groups[index].is_system:
            break
        if index not in required:
            kept.remove(index)
    return kept
