"""What leaves the window, into which summary, and in which parts: pure functions of what is there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.messages.text import render
from langchain_tiered_memory.messages.units import walk_units
from langchain_tiered_memory.working.compaction.sizes import Condition, Limits
from langchain_tiered_memory.working.nodes import TOP_LEVEL, SummaryNode

__all__ = ["Eviction", "Merge", "NodeCaps", "batches", "plan_eviction", "plan_handoff", "plan_merge", "split_parts"]

Cost: TypeAlias = Callable[[BaseMessage], int]
_Sized: TypeAlias = tuple[int, list[int]]
"""The tokens of a row of units, and the positions of its messages."""

_WORTHWHILE: Final = 0.25
"""The share of the trigger that must leave at once where no compaction brings the view below the trigger.

A compaction that can't help would be tried again before every call (bytedance/deer-flow#2622: 31 in 40 steps).
"""
_LEAST_NODE: Final = 48
"""Tokens that a summary gets where there is room, since it says little in fewer."""


@dataclass(frozen=True, slots=True)
class Eviction:
    """What leaves the window.

    Attributes:
        leaving: Positions of the messages that leave, in order.
        kept: Positions of those that stay, in order.
    """

    leaving: tuple[int, ...]
    kept: tuple[int, ...]


def plan_eviction(
    messages: Sequence[BaseMessage],
    costs: Sequence[int],
    limits: Limits,
    *,
    base: int,
    pinned: Callable[[BaseMessage], bool] | None = None,
) -> Eviction | None:
    """Choose the messages that leave the window when compaction is due.

    What stays begins with a user turn, splits no unit, and holds the newest user turn, the newest unit and what is
    pinned. It is as much as `limits.keeps` says, and less where the view would not come down to `limits.low` otherwise.

    Args:
        messages: What the view shows verbatim, behind the leading system messages and the summary.
        costs: The tokens of each.
        limits: What the memory was told.
        base: What the view takes apart from `messages`, with the summary that is to be written.
        pinned: Which messages always stay.

    Returns:
        `None` when nothing can leave, when it would not help, or when calls at the end still wait for their results.
    """
    tail = _Tail(messages, pinned)
    if tail.live or not tail.cuts:
        return None
    behind = [*reversed(list(accumulate(reversed(costs)))), 0]  # the tokens from each position on
    held = {position: costs[position] for position in tail.held}

    def after(cut: int) -> int:
        return base + behind[cut] + sum(cost for position, cost in held.items() if position < cut)

    cut = min(max(tail.cut_for(size, behind) for size in clause) for clause in limits.keeps)
    if limits.low is not None:
        enough = (limits.low + (limits.high or limits.low)) // 2
        while after(cut) > limits.low and (further := tail.cut_after(cut)) is not None:
            if further > tail.newest_user and after(cut) <= enough:
                break  # the round under way stays whole, unless the next compaction would follow at once
            cut = further
    leaving = tuple(position for position in range(cut) if position not in held)
    gone = sum(costs[position] for position in leaving)
    helps = limits.high is None or after(cut) < limits.high or gone >= _WORTHWHILE * limits.high
    if not leaving or not helps:
        return None
    kept = tuple(position for position in range(len(messages)) if position >= cut or position in held)
    return Eviction(leaving, kept)


class _Tail:
    """Where a row of messages may be cut, and what stays wherever it is cut."""

    def __init__(self, messages: Sequence[BaseMessage], pinned: Callable[[BaseMessage], bool] | None) -> None:
        units = list(walk_units(messages))
        self.size = len(messages)
        self.users = [position for position, message in enumerate(messages) if is_user_turn(message)]
        self.live = any(unit.live for unit in units)
        self.newest_user = newest_user = self.users[-1] if self.users else -1
        newest = next((unit for unit in units if unit.kind != "system"), None)
        self.held = {newest_user} if self.users else set()
        blocked: set[int] = set()
        for unit in units:
            if unit.positions:
                blocked.update(range(unit.head + 1, max(unit.positions) + 1))
            if pinned is not None and any(map(pinned, unit.messages)):
                self.held.update((unit.head, *unit.positions))
                # An answer that is pinned needs a user turn before it, as everywhere.
                opener = bisect_left(self.users, unit.head)
                self.held.update(self.users[opener - 1 : opener] if unit.kind == "assistant" else ())
        end = newest.head if newest is not None else 0
        turns = set(self.users)
        # A view cut elsewhere would begin with an answer, which no provider takes.
        self.cuts = [cut for cut in range(1, end + 1) if cut not in blocked and (cut in turns or cut > newest_user)]

    def cut_for(self, size: Condition, behind: Sequence[int]) -> int:
        """The cut that keeps so much: of messages and rounds at least that many, of tokens at most."""
        unit, amount = size
        if unit == "tokens":
            return next((cut for cut in (0, *self.cuts) if behind[cut] <= amount), self.cuts[-1])
        if unit == "messages":
            most = self.size - amount
        else:
            most = self.users[-amount] if 0 < amount <= len(self.users) else self.size if amount == 0 else 0
        return max((cut for cut in self.cuts if cut <= most), default=0)

    def cut_after(self, cut: int) -> int | None:
        return next((further for further in self.cuts if further > cut), None)


# --- the tree ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NodeCaps:
    """What the summary may take of the budget, in tokens.

    Attributes:
        summary: All nodes together.
        constraints: The block of constraints and exact values below them.
        levels: What each level gets of `summary`, from level 1 to 3, as shares that make 1 together.
        fan_out: How many nodes of a level become one of the next.
    """

    summary: int
    constraints: int
    levels: tuple[float, float, float]
    fan_out: int

    def cap(self, level: int) -> int:
        """The most that one node of a level may take."""
        side_by_side = self.fan_out - 1 if level < TOP_LEVEL else 2
        return min(self.summary, max(int(self.levels[level - 1] * self.summary / side_by_side), _LEAST_NODE))

    @property
    def top(self) -> int:
        """What all nodes of the highest level may take together."""
        return max(int(self.levels[TOP_LEVEL - 1] * self.summary), self.cap(TOP_LEVEL))


@dataclass(frozen=True, slots=True)
class Merge:
    """The node that is to be written.

    Attributes:
        level: Its level.
        nodes: The nodes that it takes the place of, besides the messages that leave the window; oldest first.
        cap: The most tokens that it may take.
    """

    level: int
    nodes: tuple[SummaryNode, ...]
    cap: int


def plan_merge(live: Sequence[SummaryNode], caps: NodeCaps) -> Merge:
    """Choose the level of the next node.

    A node of level 1 stands for messages alone, so that each message is read by the summarizer once. When that would be
    the `fan_out`-th of its level, the nodes of the level are folded in, in the same call, and a node of the next level
    stands for all of it; likewise when the nodes would not fit their share of the budget.
    """
    level = 1
    while level < TOP_LEVEL:
        same = [node for node in live if node.level == level]
        higher = [node for node in live if node.level >= level]
        full = len(same) + 1 >= caps.fan_out
        crowded = _tokens(higher) + caps.cap(level) > caps.summary and bool(higher)
        if not (full or crowded):
            break
        level += 1
    folded = [node for node in live if node.level < level]
    if level == TOP_LEVEL and caps.cap(level) > caps.summary - caps.cap(level):
        folded = list(live)  # there is no room for two
    return Merge(level, tuple(folded), caps.cap(level))


def plan_handoff(live: Sequence[SummaryNode], caps: NodeCaps) -> list[SummaryNode]:
    """The oldest nodes that the highest level can't hold, so that they leave the summary as episodes."""
    top = [node for node in live if node.level == TOP_LEVEL]
    handed: list[SummaryNode] = []
    while len(top) > 1 and (_tokens(top) > caps.top or _tokens(live) - _tokens(handed) > caps.summary):
        handed.append(top.pop(0))
    return handed


def _tokens(nodes: Sequence[SummaryNode]) -> int:
    return sum(node.tokens for node in nodes)


# --- in parts ---------------------------------------------------------------------------------------------------------


def _group_units(messages: Sequence[BaseMessage]) -> list[list[int]]:
    """The positions of the messages of each unit, in order; a result that answers no call is a unit of its own."""
    groups = [sorted((unit.head, *unit.positions)) for unit in walk_units(messages)]
    taken = {position for group in groups for position in group}
    groups += [[position] for position in range(len(messages)) if position not in taken]
    return sorted(groups)


def batches(messages: Sequence[BaseMessage], room: int, cost: Cost) -> Iterator[list[int]]:
    """Positions of as many whole units in a row as fit a room; a unit that is larger than it comes alone.

    Units that are interleaved (a late result stands behind the next call) are not taken apart. The last two batches
    share what they have, since a summary of the few words that would be left for the last takes more than they do.
    """
    batch: list[_Sized] = []
    before: list[_Sized] = []
    spent = 0
    for row in _rows(_group_units(messages)):
        size = sum(cost(messages[position]) for position in row)
        if batch and spent + size > room:
            if before:
                yield _positions(before)
            before, batch, spent = batch, [], 0
        batch.append((size, row))
        spent += size
    while len(before) > 1 and _size_of(batch) + before[-1][0] <= min(room, _size_of(before) - before[-1][0]):
        batch.insert(0, before.pop())
    yield from (_positions(one) for one in (before, batch) if one)


def _size_of(batch: Sequence[_Sized]) -> int:
    return sum(size for size, _ in batch)


def _positions(batch: Sequence[_Sized]) -> list[int]:
    return [position for _, row in batch for position in row]


def _rows(groups: Sequence[list[int]]) -> Iterator[list[int]]:
    """Groups as rows of neighbours: those that are interleaved together."""
    row: list[int] = []
    end = -1
    for group in groups:
        if row and group[0] > end:
            yield sorted(row)
            row = []
        row += group
        end = max(end, group[-1])
    if row:
        yield sorted(row)


def split_parts(messages: Sequence[BaseMessage], room: int, cost: Cost) -> Iterator[list[BaseMessage]]:
    """The messages in parts that fit a room each, none left out and none twice.

    A message that does not fit by itself is cut into pieces of its text, each a message of the same kind.

    Args:
        messages: What is to be read.
        room: Tokens that a part may take, at least 1.
        cost: Tokens of a message.
    """
    for batch in batches(messages, room, cost):
        whole = [messages[position] for position in batch]
        if sum(map(cost, whole)) <= room:
            yield whole
            continue
        part: list[BaseMessage] = []
        spent = 0
        for piece in (piece for message in whole for piece in _pieces(message, room, cost)):
            size = cost(piece)
            if part and spent + size > room:
                yield part
                part, spent = [], 0
            part.append(piece)
            spent += size
        yield part


def _pieces(message: BaseMessage, room: int, cost: Cost) -> Iterator[BaseMessage]:
    if cost(message) <= room:
        yield message
        return
    text = message.content if isinstance(message.content, str) else ""
    rest: dict[str, Any] = {}
    if isinstance(message, AIMessage):
        rest = {"tool_calls": [], "invalid_tool_calls": [], "additional_kwargs": {}}
    if not text or any(getattr(message, field, None) for field in rest):
        text = render(message)  # with media and calls written out

    def piece(start: int, end: int) -> BaseMessage:
        return message.model_copy(update={"content": text[start:end], **rest})

    start, length = 0, len(text)
    while start < len(text):
        while length > 1 and cost(piece(start, start + length)) > room:
            length = max(1, length // 2)
        yield piece(start, start + length)
        start += length
