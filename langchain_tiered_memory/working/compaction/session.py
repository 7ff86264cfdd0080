"""What a memory knows of a session between two calls, and which of the messages it is given are new to the log.

A `Session` is a snapshot that nobody changes: a call takes the newest one, reads from the log what has come since, and
puts a newer one in its place. Whatever happens in between, threads and tasks never see half of a step, and forgetting
a snapshot costs no more than reading the end of the log again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, Self, TypeAlias

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.messages.matching import same_message
from langchain_tiered_memory.messages.protocol import is_inserted, kind_of
from langchain_tiered_memory.working.append import match_log
from langchain_tiered_memory.working.constraints import Constraint
from langchain_tiered_memory.working.log import LogEntry, LogStore
from langchain_tiered_memory.working.nodes import SummaryNode, live_nodes, merge_spans

__all__ = ["Notes", "Numbered", "Rendered", "Session", "Sessions", "leading_system"]

Numbered: TypeAlias = tuple[int, BaseMessage]
"""A message with its number in the log."""

_SESSIONS: Final = 256
_PIECE: Final = 16
_EDGE: Final = 16
"""Messages that are compared at either end of a list."""
_REMOVE_ALL: Final = "__remove_all__"
"""LangGraph's id of a RemoveMessage that takes everything away."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The summary of a session as it stands in the view.

    Attributes:
        message: The message; `None` where there is no summary.
        text: What it says.
        body: What stands in it as data.
        tokens: What its message takes.
        quoted: How many constraints and exact values are quoted below the summaries.
    """

    message: BaseMessage | None = None
    text: str = ""
    body: str = ""
    tokens: int = 0
    quoted: int = 0


@dataclass(slots=True)
class Notes:
    """What was found out about a tail; shared by its snapshots, and true of all of them.

    Attributes:
        costs: The tokens of its messages by their numbers, as far as they were asked for.
        spent: The tokens of all its messages up to a number, and that number.
        sound_before: The number of a user turn before which nothing had to be repaired; 0 for none.
        found: The constraints of its messages by their numbers, as far as they were looked for.
    """

    costs: dict[int, int] = field(default_factory=dict)
    spent: tuple[int, int] = (0, 0)
    sound_before: int = 0
    found: dict[int, Sequence[Constraint]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edges:
    """What is remembered of a list to see later whether another one has only grown from it: its two ends.

    A list that agrees with both has grown. To compare everything at each call would make a call cost as much as the
    history is long, and to hold everything would keep alive what the caller has let go. What was changed further in
    the middle is not seen: the log keeps what was said first.

    Attributes:
        size: How many messages the list had.
        start: Its first messages.
        end: Its last ones.
    """

    size: int = 0
    start: Sequence[BaseMessage] = ()
    end: Sequence[BaseMessage] = ()

    @classmethod
    def of(cls, messages: Sequence[BaseMessage]) -> Self:
        """The edges of a list."""
        return cls(len(messages), messages[:_EDGE], messages[-_EDGE:])

    def behind(self, rest: Sequence[BaseMessage]) -> Sequence[BaseMessage] | None:
        """What of another list comes behind this one; `None` where it is not this one, grown."""
        if not self.size or len(rest) < self.size:
            return None
        end = rest[self.size - len(self.end) : self.size]
        grown = all(map(same_message, rest, self.start)) and all(map(same_message, end, self.end))
        return rest[self.size :] if grown else None


@dataclass(frozen=True, slots=True)
class Session:
    """What is known of a session.

    Attributes:
        session_id: The session; "" for a list without one.
        version: The number of its last message.
        last: That message.
        leading: The system messages at its start.
        nodes: The summary nodes in the view, oldest first.
        nodes_version: How many nodes the log holds.
        constraints: What must survive verbatim.
        rendered: The summary as it stands in the view, once it has been rendered.
        tail: The messages that no node stands for, without those in `leading`.
        removing: Whether there is a RemoveMessage in the tail.
        seen: What the caller's list held behind its leading system messages, all of it in the log.
        notes: What was found out about the tail, so that it need not be found out again.
    """

    session_id: str
    version: int = 0
    last: BaseMessage | None = None
    leading: tuple[BaseMessage, ...] = ()
    nodes: tuple[SummaryNode, ...] = ()
    nodes_version: int = 0
    constraints: tuple[Constraint, ...] = ()
    rendered: Rendered | None = None
    tail: tuple[Numbered, ...] = ()
    removing: bool = False
    seen: Edges = Edges()  # frozen, as the messages in it are to everybody here
    notes: Notes = field(default_factory=Notes)

    @classmethod
    def of_list(
        cls, messages: Sequence[BaseMessage], nodes: Iterable[SummaryNode], constraints: Iterable[Constraint]
    ) -> Self:
        """A list that belongs to no session, with the summaries that stood at its start and what they quoted."""
        leading = leading_system(messages)
        tail = tuple(enumerate(messages[len(leading) :], start=len(leading) + 1))
        return cls(
            "",
            len(messages),
            leading=leading,
            nodes=tuple(nodes),
            constraints=tuple(constraints),
            tail=tail,
            removing=_removing(tail),
        )

    # --- the view -----------------------------------------------------------------------------------------------------

    def shown(self) -> list[Numbered]:
        """The messages of the tail that stand in the view: not those that a later RemoveMessage took away."""
        if not self.removing:
            return list(self.tail)
        removed: set[str] = set()
        shown: list[Numbered] = []
        for number, message in reversed(self.tail):
            if not isinstance(message, RemoveMessage):
                if message.id not in removed:
                    shown.append((number, message))
            elif message.id == _REMOVE_ALL:
                break
            else:
                removed.add(str(message.id))
        return shown[::-1]

    def first_in(self, view: Sequence[BaseMessage]) -> int | None:
        """The number of the oldest message of the tail that stands in a view as it is."""
        numbers = {id(message): number for number, message in self.tail}
        return min((numbers[id(message)] for message in view if id(message) in numbers), default=None)

    @property
    def cleared(self) -> bool:
        """Whether everything before some message of the tail was removed, so that no summary of it may be shown."""
        return self.removing and any(
            isinstance(message, RemoveMessage) and message.id == _REMOVE_ALL for _, message in self.tail
        )

    # --- reading ------------------------------------------------------------------------------------------------------

    @classmethod
    async def read(cls, log: LogStore, session_id: str) -> Session:
        """Read of a session what its view needs: its beginning, its nodes, and what they do not cover."""
        records = await log.nodes(session_id)
        if not records:
            entries = await log.entries(session_id)
            return cls(session_id).with_messages([entry.message for entry in entries])
        covered = merge_spans(chain.from_iterable(record.spans for record in records))
        start: list[LogEntry] = []
        while not start or (start[-1].number == len(start) and kind_of(start[-1].message) == "system"):
            piece = await log.entries(session_id, len(start), _PIECE)
            start += piece
            if len(piece) < _PIECE:
                break
        leading = leading_system([entry.message for entry in start])
        held = _uncovered(covered, len(leading))
        entries = []
        for number in held:
            entries += await log.entries(session_id, number - 1, 1)
        last = covered[-1][1] if covered else len(leading)
        entries += await log.entries(session_id, max(last, len(leading)))
        newest = entries[-1:] if entries and entries[-1].number > last else []
        if not newest:
            newest = await log.entries(session_id, max(last, len(leading)) - 1, 1)
        if not newest:  # erased between two reads
            return cls(session_id)
        tail = tuple((entry.number, entry.message) for entry in entries)
        session = cls(
            session_id,
            version=newest[-1].number,
            last=newest[-1].message,
            leading=leading,
            tail=tail,
            removing=_removing(tail),
        )
        return session.with_nodes(records)

    async def refreshed(self, log: LogStore) -> Session:
        """The session with what others have written since."""
        entries = await log.entries(self.session_id, max(0, self.version - 1))
        if self.version:
            if (
                not entries
                or entries[0].number != self.version
                or self.last is None
                or not same_message(entries[0].message, self.last)
            ):
                return await Session.read(log, self.session_id)  # it was erased, and perhaps begun anew
            entries = entries[1:]
        records = await log.nodes(self.session_id, self.nodes_version)
        return self.with_messages([entry.message for entry in entries]).with_nodes(records)

    def with_messages(self, messages: Sequence[BaseMessage], seen: Edges | None = None) -> Session:
        """The session with messages at its end, and what the caller's list now holds."""
        if not messages:
            return self
        leading = leading_system(messages) if self.version == len(self.leading) else ()
        rest = messages[len(leading) :]
        first = self.version + len(leading) + 1
        removing = any(isinstance(message, RemoveMessage) for message in rest)
        return replace(
            self,
            version=self.version + len(messages),
            last=messages[-1],
            leading=self.leading + leading,
            rendered=None if removing else self.rendered,
            notes=Notes(self.notes.costs, found=self.notes.found) if removing else self.notes,
            tail=(*self.tail, *enumerate(rest, start=first)),
            removing=self.removing or removing,
            seen=Edges() if seen is None else seen,
        )

    def with_nodes(self, records: Sequence[SummaryNode]) -> Session:
        """The session with nodes that were written to the log behind those it knows."""
        if not records:
            return self
        spans = merge_spans(chain.from_iterable(record.spans for record in records))
        tail = tuple(one for one in self.tail if not any(first <= one[0] <= last for first, last in spans))
        costs, found = self.notes.costs, self.notes.found
        return replace(
            self,
            nodes=tuple(live_nodes([*self.nodes, *records])),
            nodes_version=self.nodes_version + len(records),
            constraints=records[-1].constraints,
            rendered=None,
            tail=tail,
            removing=self.removing and _removing(tail),
            notes=Notes(
                {number: costs[number] for number, _ in tail if number in costs},
                found={number: found[number] for number, _ in tail if number in found},
            ),
        )

    # --- what is new --------------------------------------------------------------------------------------------------

    async def appended(
        self, log: LogStore, leading: Sequence[BaseMessage], rest: Sequence[BaseMessage]
    ) -> tuple[Session, list[BaseMessage]]:
        """The session after whatever of a conversation its log lacks has been appended to it.

        What is new is found by `match_messages`; of a list that has only grown since this session was put away, and to
        which nobody else has added, it is what stands behind.

        Args:
            log: The log.
            leading: The system messages that the conversation begins with.
            rest: What follows them.

        Returns:
            The session, and what of the conversation belongs to this request only.
        """
        session = self
        has_reminder = bool(rest) and kind_of(rest[-1]) == "system"
        seen = Edges() if has_reminder else Edges.of(rest)
        while rest or (leading and not session.version):
            grown = None if has_reminder else session.seen.behind(rest)
            again: list[BaseMessage] = []
            if grown:
                new = [message for message in grown if not is_inserted(message)]
            else:
                matched, version = await match_log(log, session.session_id, [*leading, *rest])
                if version != session.version:
                    session = await session.refreshed(log)
                    continue
                new, again = matched.new, matched.again
            if not new:
                return replace(session, seen=seen), again
            try:
                version = await log.append(session.session_id, new, session.version)
            except VersionConflictError:
                session = await session.refreshed(log)
                continue
            if version == session.version + len(new):
                return session.with_messages(new, seen), again
            # The log knew some of them, so it tells which number each has.
            return replace(await session.refreshed(log), seen=seen), again
        return session, []

    async def late_removals(self, log: LogStore, since: int) -> list[str]:
        """The ids of messages that were to be removed after a summary had taken their place.

        Args:
            log: The log.
            since: The number of the last message whose wishes are known already.
        """
        if not self.removing or self.cleared:
            return []
        shown = {message.id for message in self.leading}
        shown.update(message.id for _, message in self.tail if not isinstance(message, RemoveMessage))
        asked = [
            str(message.id)
            for number, message in self.tail
            if number > since and isinstance(message, RemoveMessage) and message.id not in shown
        ]
        stored = await log.known(self.session_id, asked) if asked else set()
        return [message_id for message_id in asked if message_id in stored]


def _removing(tail: Iterable[Numbered]) -> bool:
    return any(isinstance(message, RemoveMessage) for _, message in tail)


def leading_system(messages: Sequence[BaseMessage]) -> tuple[BaseMessage, ...]:
    """The system messages that a conversation begins with."""
    end = 0
    while end < len(messages) and kind_of(messages[end]) == "system":
        end += 1
    return tuple(messages[:end])


def _uncovered(covered: Sequence[tuple[int, int]], leading: int) -> list[int]:
    """Numbers behind the leading messages, and before the last one covered, that are not covered."""
    numbers: list[int] = []
    place = leading + 1
    for first, last in covered:
        numbers += range(place, first)
        place = max(place, last + 1)
    return numbers


class Sessions:
    """The newest snapshots of the sessions used lately; may be forgotten, copied and pickled as empty at any time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_id: OrderedDict[str, Session] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), ())

    def get(self, session_id: str) -> Session | None:
        """The snapshot of a session, if there is one."""
        with self._lock:
            session = self._by_id.get(session_id)
            if session is not None:
                self._by_id.move_to_end(session_id)
            return session

    def put(self, session: Session) -> None:
        """Keep a snapshot, unless a newer one is there."""
        with self._lock:
            known = self._by_id.get(session.session_id)
            if known is not None and known.version > session.version and known.nodes_version >= session.nodes_version:
                return
            self._by_id[session.session_id] = session
            self._by_id.move_to_end(session.session_id)
            while len(self._by_id) > _SESSIONS:
                self._by_id.popitem(last=False)
