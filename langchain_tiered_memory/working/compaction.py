"""When to compact, what leaves the window, and into which summary: pure functions of what is there."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.messages.units import walk_units
from langchain_tiered_memory.working.compacting.sizes import Condition, Limits, Sizes, limits_of
from langchain_tiered_memory.working.nodes import TOP_LEVEL, SummaryNode, live_nodes

__all__ = [
    "Eviction",
    "Limits",
    "Merge",
    "Shares",
    "Sizes",
    "SummaryNode",
    "limits_of",
    "live_nodes",
    "plan_eviction",
    "plan_handoff",
    "plan_merge",
]

WORTHWHILE: Final = 0.25
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
    helps = limits.high is None or after(cut) < limits.high or gone >= WORTHWHILE * limits.high
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
class Shares:
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


def plan_merge(live: Sequence[SummaryNode], shares: Shares) -> Merge:
    """Choose the level of the next node.

    A node of level 1 stands for messages alone, so that each message is read by the summarizer once. When that would be
    the `fan_out`-th of its level, the nodes of the level are folded in, in the same call, and a node of the next level
    stands for all of it; likewise when the nodes would not fit their share of the budget.
    """
    level = 1
    while level < TOP_LEVEL:
        same = [node for node in live if node.level == level]
        higher = [node for node in live if node.level >= level]
        full = len(same) + 1 >= shares.fan_out
        crowded = _tokens(higher) + shares.cap(level) > shares.summary and bool(higher)
        if not (full or crowded):
            break
        level += 1
    folded = [node for node in live if node.level < level]
    if level == TOP_LEVEL and shares.cap(level) > shares.summary - shares.cap(level):
        folded = list(live)  # there is no room for two
    return Merge(level, tuple(folded), shares.cap(level))


def plan_handoff(live: Sequence[SummaryNode], shares: Shares) -> list[SummaryNode]:
    """The oldest nodes that the highest level can't hold, so that they leave the summary as episodes."""
    top = [node for node in live if node.level == TOP_LEVEL]
    handed: list[SummaryNode] = []
    while len(top) > 1 and (_tokens(top) > shares.top or _tokens(live) - _tokens(handed) > shares.summary):
        handed.append(top.pop(0))
    return handed


def _tokens(nodes: Sequence[SummaryNode]) -> int:
    return sum(node.tokens for node in nodes)
