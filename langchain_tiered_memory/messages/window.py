"""Which units of a conversation stay when it is larger than its budget.

Three things may not go: the newest user turn, what the caller pinned (leading system messages among it when they are
included), and a live unit at the end. Around them, `last` keeps the newest units back to a user turn, `first` keeps
the oldest. `last` reads the conversation from its end and no further than the budget reaches, so the work depends on
the size of the window and not on that of the history.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.messages.adapters import ListCounter
from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of, leading_system
from langchain_tiered_memory.messages.repair import repair_messages
from langchain_tiered_memory.messages.shrinking import Cost, cut_message, shrink_units
from langchain_tiered_memory.messages.units import (
    Unit,
    arrange,
    close_unit,
    split_units,
    unfinished_thinking,
    walk_units,
)

__all__ = ["Limit", "Matcher", "Side", "Window", "choose", "choose_by_lists"]

_logger = logging.getLogger(__name__)

Matcher: TypeAlias = Callable[[BaseMessage], bool]
Side: TypeAlias = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class Limit:
    """How much may stay, and how it is measured.

    Attributes:
        size: The limit, `fixed` included.
        unit: `"tokens"`, `"messages"` or `"rounds"`.
        cost: What messages cost; additive.
        fixed: What a request costs before its first message.
    """

    size: int
    unit: str
    cost: Cost
    fixed: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """What is asked of a trim, apart from its limit.

    Attributes:
        strategy: `"last"` or `"first"`.
        include_system: Whether the leading system messages are pinned.
        pinned: Whether a message is pinned by the caller; `None` when none is.
        start_on: Whether an older part may begin with a message; `None` for any user turn.
        end_on: Whether the result may end with a message; `None` for any.
        split: Splits a text of which only a part may stay; `None` when messages may not be cut.
        oversized: What to do with tool results that alone exceed the budget.
    """

    strategy: Side = "last"
    include_system: bool = False
    pinned: Matcher | None = None
    start_on: Matcher | None = None
    end_on: Matcher | None = None
    split: Callable[[str], list[str]] | None = None
    oversized: Literal["shrink", "raise"] = "shrink"


def choose(messages: Sequence[BaseMessage], window: Window, limit: Limit) -> list[BaseMessage]:
    """The messages that stay: a valid conversation within the limit, equal to `messages` when that is one.

    Raises:
        BudgetExceededError: What may not go is larger than the limit.
    """
    choice = _Choice(messages, window, limit)
    units = choice.last() if window.strategy == "last" else choice.first()
    return arrange(units, pinned=frozenset(choice.kept))


class _Choice:
    """One trim in the making: what must stay (`kept`, by the position of its head) and the room that is left."""

    def __init__(self, messages: Sequence[BaseMessage], window: Window, limit: Limit) -> None:
        self.messages = messages
        self.window = window
        self.limit = limit
        self.room = limit.size - limit.fixed
        self.kept: dict[int, Unit] = {}
        if window.include_system:
            for index, message in enumerate(leading_system(messages)):
                self._keep(Unit("system", index, (message,)))
        if window.pinned is not None:
            self._keep_pinned(window.pinned)

    def last(self) -> list[Unit]:
        """The newest units that fit, oldest first, back to a user turn."""
        walk = walk_units(self.messages)
        if self.window.end_on is not None:
            walk = self._ended(walk, self.window.end_on)
        newest: list[Unit] = []
        spent = 0
        for unit in walk:
            newest.append(unit)
            spent += self._cost(unit)
            if spent > self.room:
                return self._tight(newest, walk)
            if _is_question(unit):
                break
        self.room -= spent
        older: list[Unit] = []
        for unit in walk:
            cost = self._cost(unit)
            if cost > self.room:
                older += self._part(unit, "last") if unit.kind == "user" else []
                break
            self.room -= cost
            older.append(unit)
        while older and not self._may_open(older[-1]):
            older.pop()
        return self._with_kept([*newest, *older][::-1])

    def first(self) -> list[Unit]:
        """The oldest units that fit, and behind them what must stay."""
        units = split_units(self.messages)
        if not units:
            return []
        talk = [unit for unit in units if unit.kind != "system"] or units
        question = next(filter(_is_question, reversed(talk)), None)
        self._keep_newest(talk[::-1], question, "first")
        chosen: list[Unit] = []
        opened = question is None
        for unit in units:
            opened = opened or unit.kind == "user"
            if not opened and unit.kind != "system" and unit.head not in self.kept:
                continue  # it will not be sent, since the user has the first word
            cost = self._cost(unit)
            if cost > self.room:
                chosen += self._part(unit, "first")
                break
            self.room -= cost
            chosen.append(unit)
        if self.limit.unit == "rounds" and question is not None and question not in chosen:
            chosen += talk[talk.index(question) :]  # a round stays whole
        chosen = self._with_kept(chosen)
        if self.window.end_on is not None:
            chosen = list(self._ended(reversed(chosen), self.window.end_on))[::-1]
        return chosen

    # -- what must stay ----------------------------------------------------------------------------------------------

    def _keep(self, unit: Unit) -> None:
        """Let a unit stay whatever happens, at the cost of room."""
        self.room -= self._cost(unit)
        self.kept.setdefault(unit.head, unit)

    def _keep_pinned(self, pinned: Matcher) -> None:
        """Keep the unit of each pinned message, and the user turn before it so that the user has the first word."""
        opener: Unit | None = None
        for unit in split_units(self.messages):
            if unit.kind == "user":
                opener = unit
            if any(map(pinned, unit.messages)):
                self._keep(unit)
                if opener is not None and unit.kind == "assistant":
                    self._keep(opener)

    def _keep_newest(self, newest: list[Unit], question: Unit | None, side: Side) -> None:
        """Keep the newest user turn and a live unit, or the newest unit where no user speaks."""
        turn = unfinished_thinking(newest) if side == "first" else []
        for unit in newest:
            if unit.live or (unit in turn and turn[0].live):
                self._keep(unit)
        must = question or next((unit for unit in newest if unit.kind != "system"), newest[0])
        if must.head not in self.kept and (cost := self._cost(must)) > self.room >= 0:
            self.kept.update((part.head, part) for part in self._squeezed([must], cost, side))
        self._keep(must)
        if self.room < 0:
            names = ", ".join(map(_name, self.kept.values()))
            needed = self.limit.size - self.room
            if self.window.oversized == "raise" and len(newest[0].messages) > 1:
                needed += self._cost(newest[0])  # or the limit that is asked for would be refused as well
            raise self._over(needed, f"what may not be dropped ({names})")

    # -- strategy "last" when not even the newest round fits -----------------------------------------------------------

    def _tight(self, newest: list[Unit], walk: Iterator[Unit]) -> list[Unit]:
        """What must stay, and the newest units that fit beside it."""
        units = list(newest)
        while not _is_question(units[-1]) and (unit := next(walk, None)):
            units.append(unit)
        question = units[-1] if _is_question(units[-1]) else None
        if question is newest[-1] and question is not None and (part := self._part_beside(question, newest[:-1])):
            return part
        self._keep_newest(units, question, "last")
        turn = unfinished_thinking(units)
        chosen: list[Unit] = []
        for unit in units:
            if unit in turn[1:]:
                continue
            group = turn if unit in turn else [unit]
            cost = sum(map(self._cost, group))
            if cost > self.room:
                # Dropping older units could not make room for one that is larger than the whole budget.
                never_fits = cost > self.limit.size - self.limit.fixed
                alone = len(group) == len(unit.messages) == 1
                if alone or never_fits or group is turn or all(other.kind == "system" for other in chosen):
                    chosen += self._squeezed(group, cost, "last")
                break
            self.room -= cost
            chosen += group
        return self._with_kept(chosen[::-1])

    def _part_beside(self, question: Unit, followers: list[Unit]) -> list[Unit]:
        """As much of the question as fits beside everything that followed it, `[]` when none does or it may not."""
        room = self.room
        self.room -= sum(map(self._cost, followers))
        if question.head in self.kept or not (part := self._part(question, "last")):
            self.room = room
            return []
        return self._with_kept([*followers, *part][::-1])

    def _squeezed(self, group: list[Unit], cost: int, side: Side) -> list[Unit]:
        """Units made to fit into the room that is left, by shorter tool results or a cut, `[]` when they cannot be.

        They are one unit, or those of an unfinished turn that holds thinking: they stay or go together.
        """
        unit = group[0]
        if len(group) == len(unit.messages) == 1:
            return self._part(unit, side)
        if self.window.oversized == "raise":
            raise self._over(self.limit.size - self.room + cost, f"{_name(unit)} with its tool results")
        loose = [unit for unit in group if unit.head not in self.kept]
        shrunk = shrink_units(loose, self.room, self.limit.cost) if self.limit.unit == "tokens" else None
        if shrunk is None and len(loose) < len(group):
            what = f"the unfinished turn up to {_name(unit)}, which holds thinking and stays whole,"
            raise self._over(self.limit.size - self.room + cost, what)
        if shrunk is None:
            _logger.warning("%s does not fit however short its results are: it is left out whole", _name(group[-1]))
            return []
        self.room -= sum(self.limit.cost(close_unit(one)) for one in shrunk)
        return shrunk

    # -- both strategies -----------------------------------------------------------------------------------------------

    def _cost(self, unit: Unit) -> int:
        """What a unit costs, 0 when it is paid for already."""
        if unit.head in self.kept:
            return 0
        return self.limit.cost(close_unit(unit) if unit.missing else unit.messages)

    def _part(self, unit: Unit, side: Side) -> list[Unit]:
        """The unit cut down to the room that is left, `[]` when it may not be cut or no part fits."""
        split, cost = self.window.split, self.limit.cost
        if split is None or unit.kind not in ("user", "assistant") or self.room <= 0 or unit.calls:
            return []
        part = cut_message(unit.messages[0], lambda part: cost((part,)) <= self.room, keep=side, split=split)
        if part is None:
            return []
        self.room -= cost((part,))
        return [unit._replace(messages=(part,))]

    def _may_open(self, unit: Unit) -> bool:
        start_on = self.window.start_on
        return unit.kind in ("user", "system") and (start_on is None or start_on(unit.messages[0]))

    def _ended(self, newest_first: Iterator[Unit], end_on: Matcher) -> Iterator[Unit]:
        """Units without the newest ones up to the first that may end the result; what must stay ends it too."""
        skipped: list[Unit] = []
        for unit in newest_first:
            if end_on(close_unit(unit)[-1]) or unit.live or unit.head in self.kept or _is_question(unit):
                return chain((unit,), newest_first)
            skipped.append(unit)
        return iter(skipped)  # nothing may end the result, and it may not be empty

    def _with_kept(self, chosen: list[Unit]) -> list[Unit]:
        """The chosen units and all that must stay, oldest first."""
        if chosen and all(head < chosen[0].head for head in self.kept):
            return [*(self.kept[head] for head in sorted(self.kept)), *chosen]
        units = {unit.head: unit for unit in chosen} | self.kept
        return [units[head] for head in sorted(units)]

    def _over(self, needed: int, what: str) -> BudgetExceededError:
        return BudgetExceededError.of(what, needed=needed, limit=self.limit.size, unit=self.limit.unit)


def _is_question(unit: Unit) -> bool:
    return unit.kind == "user" and is_user_turn(unit.messages[0])


def _name(unit: Unit) -> str:
    message = unit.messages[0]
    return f"{message.type} message {message.id or unit.head}"


# --- by a counter that must see whole lists ---------------------------------------------------------------------------


def choose_by_lists(
    messages: Sequence[BaseMessage], window: Window, limit: int, counter: ListCounter, tools: Sequence[Any] | None
) -> list[BaseMessage]:
    """Trim by a counter that must see whole lists: all that it sees are in order and valid."""

    def excess(request: list[BaseMessage]) -> int:
        return counter.count(request, tools=tools) - limit

    if excess(whole := repair_messages(messages)) <= 0:
        return choose(whole, window, Limit(0, "tokens", lambda _: 0))
    cost = _Marginal(counter, messages, tools)
    room, step, least = limit, 1, False
    while True:
        try:
            request = choose(messages, window, Limit(room, "tokens", cost))
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
