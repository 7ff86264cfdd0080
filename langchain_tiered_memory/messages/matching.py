"""Which messages of a request are new to a session's log: the one rule that every front uses.

Applications pass whole histories or only what is new, with ids or without, trimmed, in other forms, with reminders
behind them, twice when they retry, again after a restart. Every message of the conversation must be in the log once.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_tiered_memory.messages.protocol import call_ids, is_inserted, is_user_turn, kind_of, result_ids

__all__ = ["MOST_COMPARED", "Matched", "match_messages", "message_key", "said_in", "same_message"]

MOST_COMPARED: Final = 512
"""Messages at the end of either list that are compared by what was said."""

_CONVERSATION: Final = 2
"""From so many likenesses in order on, they are more than chance."""

_TEXT: Final = ("text", "input_text", "output_text")


@dataclass(frozen=True, slots=True)
class Matched:
    """A request's messages, told apart by what the log has of them.

    Attributes:
        leading: The system messages that the request begins with. The log keeps the first form of a prompt, so they
            are among `new` only where the log is empty.
        new: What the log lacks, in the order in which to append it.
        again: What belongs to the request behind the conversation and not to the conversation: reminders, and a
            question that is asked once more although the log has its answer.
        is_settled: Whether more of the log's beginning could change nothing.
    """

    leading: tuple[BaseMessage, ...]
    new: list[BaseMessage]
    again: list[BaseMessage]
    is_settled: bool = True


def match_messages(
    given: Sequence[BaseMessage],
    logged: Sequence[BaseMessage],
    *,
    known: Collection[str] = (),
    is_whole: bool = True,
    own_ids: bool = True,
) -> Matched:
    """Find out which messages of a request the log lacks.

    The rule, in this order:

    1. A message whose id the log has is known. Where ids of user messages are known, the application's ids last from
       call to call, and a user message with an id that the log lacks is new.
    2. All others are compared by what was said (`said_in`), in order, each message of the log at most once: the
       longest common subsequence, which ends at the log's end where it can. So a history is found again when it was
       trimmed, when its answers come without their ids, and when the log has tool calls that the application dropped.
    3. Likeness alone does not count where it may be chance: a single message that is like one further back in the log
       is new, since people say "yes" more than once. A single message that the log *ends* with is the same message,
       sent again by a retry.
    4. A system message behind the conversation is a reminder. So is a known message that stands behind a new one, and
       a question sent again although the log goes on behind it. They are part of this request only.

    Messages that the package itself put into an earlier request (summaries, recalled episodes, facts) are dropped.

    Args:
        given: The request.
        logged: The log's messages, or the newest of them, in order.
        known: The ids and `message_key`s of `given` that the log has before `logged`.
        is_whole: Whether `logged` is the whole log.
        own_ids: Whether ids come from the application. If a framework gives new ids at each call, ids that the log
            lacks say nothing.

    Returns:
        What to append, and what belongs to this request only.
    """
    lead = 0
    while lead < len(given) and kind_of(given[lead]) == "system":
        lead += 1
    leading = tuple(message for message in given[:lead] if not is_inserted(message))
    said = [message for message in given[lead:] if not is_inserted(message)]
    end = len(said)
    while end and kind_of(said[end - 1]) == "system":
        end -= 1
    reminders = said[end:]
    if not logged and is_whole and not known:
        return Matched(leading, [*leading, *_once(said[:end])], reminders)
    found = _Alignment(said[:end], logged, known, is_whole=is_whole, own_ids=own_ids)
    new, again = found.split()
    return Matched(leading, new, [*again, *reminders], found.is_settled)


def same_message(message: BaseMessage, known: BaseMessage) -> bool:
    """Whether two messages are one: by id where both have one, else by what was said."""
    if message is known:
        return True
    if message.id and known.id:
        return message_key(message) == message_key(known)
    return said_in(message) == said_in(known)


def message_key(message: BaseMessage) -> str:
    """What a message with an id is known by: a `RemoveMessage` bears the id of another, and is not that message."""
    return f"remove:{message.id}" if isinstance(message, RemoveMessage) else str(message.id)


def said_in(message: BaseMessage) -> Hashable:
    """What was said in a message, the same in whatever form it comes: ids, metadata and reasoning do not count.

    Calls and results are told by the ids of the calls; everything else by its speaker, its text, and its media.
    """
    kind = kind_of(message)
    if isinstance(message, RemoveMessage):
        return message_key(message)
    if kind == "result":
        return (kind, result_ids(message))
    calls = call_ids(message)
    if any(calls):
        return (kind, calls)
    content = message.content
    text = content if isinstance(content, str) else str(message.text)
    if kind == "assistant":
        if text.strip() or isinstance(content, str):
            return (kind, text.strip())
        return (kind, repr(content))
    media: tuple[str, ...] = ()
    if not isinstance(content, str):
        media = tuple(repr(one) for one in content if isinstance(one, dict) and one.get("type") not in _TEXT)
    return (kind, text.strip(), media, message.name or getattr(message, "role", None) if kind != "system" else None)


def _once(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages without those whose id came before."""
    seen: set[str] = set()
    once: list[BaseMessage] = []
    for message in messages:
        if message.id:
            if message_key(message) in seen:
                continue
            seen.add(message_key(message))
        once.append(message)
    return once


class _Alignment:
    """What of a request is what of the log: for each of its messages a place in the log, -1 for one further back."""

    def __init__(
        self,
        given: Sequence[BaseMessage],
        logged: Sequence[BaseMessage],
        known: Collection[str],
        *,
        is_whole: bool,
        own_ids: bool,
    ) -> None:
        self._given = _once(given)
        self._logged = logged[-MOST_COMPARED:]
        self._is_whole = is_whole and len(self._logged) == len(logged)
        self._own_ids = own_ids
        numbers = dict.fromkeys(known, -1) | {message_key(one): -1 for one in logged[:-MOST_COMPARED] if one.id}
        numbers |= {message_key(message): place for place, message in enumerate(self._logged) if message.id}
        self._places = [numbers.get(message_key(message)) if message.id else None for message in self._given]
        self._has_known_id = any(place is not None for place in self._places)
        lasting = own_ids and any(
            is_user_turn(message) for message, place in zip(self._given, self._places, strict=True) if place is not None
        )
        self._is_open = [
            place is None and not (lasting and message.id and is_user_turn(message))
            for message, place in zip(self._given, self._places, strict=True)
        ]
        if any(self._is_open):
            self._align()
            self._find_reordered()

    @property
    def is_settled(self) -> bool:
        """Whether more of the log's beginning could change nothing."""
        last = self._last_known()
        if self._is_whole or last < 0:
            return self._is_whole or sum(self._is_open) < _CONVERSATION
        return all(place is not None for place in self._places[:last])

    def split(self) -> tuple[list[BaseMessage], list[BaseMessage]]:
        """What is new, and what of the rest belongs to this request only."""
        known = [index for index, place in enumerate(self._places) if place is not None]
        start = 0
        if len(known) >= _CONVERSATION and not (self._is_whole and self._places[known[0]] == 0):
            # The log begins before the first known message, and holds nothing like what the request has before it: a
            # summary by somebody else, or what was changed since. The log has what was said first.
            start = known[0]
        fresh = [index for index in range(start, len(self._places)) if self._places[index] is None]
        if fresh:
            return [self._given[index] for index in fresh], self._given[fresh[-1] + 1 :]
        return [], self._asked_again()

    def _asked_again(self) -> list[BaseMessage]:
        """The question at the request's end, where nothing is new and the log has gone on behind it."""
        turn = len(self._given)
        while turn and kind_of(self._given[turn - 1]) == "user":
            turn -= 1
        furthest = max((place for place in self._places if place is not None), default=-1)
        answered = any(kind_of(message) == "assistant" for message in self._logged[furthest + 1 :])
        return self._given[turn:] if answered else []

    def _last_known(self) -> int:
        return max((index for index, place in enumerate(self._places) if place is not None), default=-1)

    # --- by what was said ---------------------------------------------------------------------------------------------

    def _align(self) -> None:
        """Give places to the messages that are like some of the log, in the same order."""
        begin = max(0, len(self._given) - MOST_COMPARED)
        compared = [
            index
            for index, place in enumerate(self._places)
            if index >= begin and (self._is_open[index] or (place is not None and place >= 0))
        ]
        by_id = {place for place in self._places if place is not None}
        numbers: dict[Hashable, int] = {}  # equal for what is alike
        mine = [
            numbers.setdefault(
                said_in(self._given[index]) if self._places[index] is None else self._places[index], len(numbers)
            )
            for index in compared
        ]
        theirs = [
            numbers.setdefault(place if place in by_id else said_in(message), len(numbers))
            for place, message in enumerate(self._logged)
        ]
        for pairs in _alignments(mine, theirs):
            if self._is_evident([(compared[one], place) for one, place in pairs]):
                for one, place in pairs:
                    self._places[compared[one]] = place
                for index in range(begin):
                    self._places[index] = self._places[index] if self._places[index] is not None else -1
                return

    def _is_evident(self, pairs: Sequence[tuple[int, int]]) -> bool:
        """Whether likenesses are more than chance."""
        if not pairs or self._has_known_id:
            return self._has_known_id
        (first, first_place), (_, last_place) = pairs[0], pairs[-1]
        asked_since = any(map(is_user_turn, self._logged[last_place + 1 :]))
        if len(pairs) >= _CONVERSATION:
            return not asked_since or any(not is_user_turn(self._logged[place]) for _, place in pairs)
        if self._own_ids and self._given[first].id and self._logged[first_place].id:
            return False
        return last_place == len(self._logged) - 1

    def _changed_at(self, index: int) -> int | None:
        """The place of what a message in the middle was before it was changed or cut: the log has that."""
        before = max((place for place in self._places[:index] if place is not None), default=-1)
        after = min((place for place in self._places[index:] if place is not None and place > before), default=-1)
        kind = kind_of(self._given[index])
        between = (place for place in range(before + 1, after) if place not in self._places)
        return next((place for place in between if kind_of(self._logged[place]) == kind), None)

    def _find_reordered(self) -> None:
        """Give places to messages that the log has in another order: as after concurrency, or for a reminder.

        A reminder in the user's role stands behind a new question, and the request leaves it out where the log has it.
        """
        unplaced = [index for index, place in enumerate(self._places) if place is None and self._is_open[index]]
        last = self._last_known()
        moved = [index for index in unplaced if index < last]
        if unplaced[-2:] == [len(self._given) - 2, len(self._given) - 1] and all(map(is_user_turn, self._given[-2:])):
            moved.append(len(self._given) - 1)
        if not moved or last < 0:
            return
        taken = {place for place in self._places if place is not None}
        free: dict[Hashable, list[int]] = {}
        for place, message in enumerate(self._logged):
            if place not in taken:
                free.setdefault(said_in(message), []).append(place)
        for index in moved:
            places = free.get(said_in(self._given[index]))
            if places and (index < last or places[0] < max(taken)):
                self._places[index] = places.pop(0)
            elif index < last:
                self._places[index] = self._changed_at(index)


def _alignments(mine: Sequence[int], theirs: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """Pairs of equal places in two lists, the best alignment first: the longest, and one that reaches the end.

    Of equally long ones, the first of `mine` are paired, since what is new stands at the end. One that reaches the end
    of `theirs` is better than one that is longer by a single pair.
    """
    end = len(theirs)
    if mine[:end] == theirs:
        yield [(place, place) for place in range(end)]
        return
    table = [[0] * (end + 1)]  # lengths of the longest common subsequences of the beginnings
    for number in mine:
        above, row = table[-1], [0]
        for place, other in enumerate(theirs):
            row.append(above[place] + 1 if number == other else max(above[place + 1], row[place]))
        table.append(row)

    def pairs_before(one: int, other: int) -> list[tuple[int, int]]:
        pairs: list[tuple[int, int]] = []
        while one and other:
            if table[one - 1][other] == table[one][other]:
                one -= 1
            elif mine[one - 1] == theirs[other - 1]:
                one, other = one - 1, other - 1
                pairs.append((one, other))
            else:
                other -= 1
        return pairs[::-1]

    longest = pairs_before(len(mine), end)
    ends = [one for one, number in enumerate(mine) if end and number == theirs[-1]]
    if not ends:
        yield longest
        return
    last = max(ends, key=lambda one: (table[one][end - 1], -one))
    reaching = [*pairs_before(last, end - 1), (last, end - 1)]
    yield from (reaching, longest) if len(reaching) >= len(longest) - 1 else (longest, reaching)
