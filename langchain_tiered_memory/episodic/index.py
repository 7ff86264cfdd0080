"""Takes into the memory what a log has beyond the cursor: each finished round once, whatever dies in between.

The cursor is a row of its own beside the episodes, written after them: whoever is killed between the two finds the
same rounds again, with the same ids, and leaves alone those that are there. And since it does not follow from the
episodes how far the log was read, an episode that was forgotten does not come back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_tiered_memory._times import micros_of
from langchain_tiered_memory.episodic.episode import CURSOR, Episode, id_of_place, own_of, row_of_notes, transcript_of
from langchain_tiered_memory.episodic.provider import MemoryContext
from langchain_tiered_memory.episodic.remember import stored_episodes, write_episodes
from langchain_tiered_memory.episodic.rounds import said_of
from langchain_tiered_memory.episodic.rows import Row
from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of
from langchain_tiered_memory.messages.units import walk_units
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from langchain_tiered_memory.working.log import LogEntry, MessageLog

__all__ = ["behind", "index"]

_PIECE: Final = 256
"""Messages of the log that are read at a time."""
_WRITE: Final = 64
"""Rounds that are embedded and written at a time, so that a log of years does not begin anew after a failure."""
_MICROSECOND: Final = timedelta(microseconds=1)
_Round: TypeAlias = "Sequence[LogEntry]"
"""The messages of a round as the log numbers them."""


async def index(
    context: MemoryContext,
    log: MessageLog,
    session_id: str,
    scope: MemoryScope,
    timeout: float | None,  # noqa: ASYNC109  # a deadline that Milvus is told
) -> int:
    """Write what a session has beyond the cursor, and give how many episodes are new."""
    return await _SessionIndexer(context, log, session_id, scope).index(timeout)


async def behind(
    context: MemoryContext,
    log: MessageLog,
    session_id: str,
    scope: MemoryScope,
    timeout: float | None,  # noqa: ASYNC109  # as above
) -> int:
    """How many messages of finished rounds a session has beyond the cursor."""
    return await _SessionIndexer(context, log, session_id, scope).behind(timeout)


@dataclass(frozen=True, slots=True)
class _Cursor:
    """How far a session of a log was read.

    Attributes:
        number: The number of the last message that is in an episode, or was found to belong in none.
        first: The number of the first message of its round, which may yet grow.
        round: The number of that round.
        mark: Tells the message at `number` from another that has its number since the session was erased.
    """

    number: int = 0
    first: int = 1
    round: int = 0
    mark: str = ""

    @classmethod
    def of(cls, row: Row) -> _Cursor:
        """Read it from its row."""
        notes = own_of(row)
        return cls(notes["number"], notes["first"], notes["round"], notes["mark"])

    def row(self, row_id: str, scope: MemoryScope) -> Row:
        """The row that keeps it."""
        notes = {"number": self.number, "first": self.first, "round": self.round, "mark": self.mark}
        return row_of_notes(row_id, scope, CURSOR, notes)


@dataclass(frozen=True, slots=True)
class _SessionIndexer:
    """Reads a session of a log into the memory; its episodes belong to a scope that names a session."""

    context: MemoryContext
    log: MessageLog
    session_id: str
    scope: MemoryScope

    def __post_init__(self) -> None:
        if self.scope.session is None:
            object.__setattr__(self, "scope", replace(self.scope, session=self.session_id))

    async def index(self, timeout: float | None) -> int:  # noqa: ASYNC109  # as above
        cursor = await self.cursor(timeout)
        written = 0
        waiting: list[LogEntry] = []
        after = max(cursor.first - 1, 0)
        size = _PIECE + cursor.number - after  # with the whole of the last round, which ends at the cursor
        while True:
            entries = await self._entries(after, size)
            if size > _PIECE and not _marked(cursor, entries):
                cursor, after, size = _Cursor(round=cursor.round), 0, _PIECE  # the session was erased, and begun anew
                continue
            waiting += entries
            ended = len(entries) < size
            size = _PIECE
            rounds, waiting = self._finished(waiting, cursor, ended=ended)
            for start in range(0, len(rounds), _WRITE):
                some = rounds[start : start + _WRITE]
                count, cursor = await self._write(some, cursor)
                written += count
            if ended:
                return written
            after = entries[-1].number

    async def _entries(self, after: int, size: int | None = None) -> list[LogEntry]:
        return await self.context.caller.call(self.log.entries, self.log.aentries, self.session_id, after, size)

    async def behind(self, timeout: float | None) -> int:  # noqa: ASYNC109  # as above
        cursor = await self.cursor(timeout)
        entries = await self._entries(max(cursor.first - 1, 0))
        if cursor.number and not _marked(cursor, entries):
            cursor = _Cursor(round=cursor.round)
            entries = await self._entries(0)
        rounds, _ = self._finished(entries, cursor, ended=True)
        return sum(entry.number > cursor.number for one in rounds for entry in one)

    async def cursor(self, timeout: float | None) -> _Cursor:  # noqa: ASYNC109  # as above
        """How far the session was read."""
        collection = await self.context.stored_collection(timeout)
        if collection is None:
            return _Cursor()
        rows = await collection.fetch([self._cursor_id()], user_key=self.scope.user_key, timeout=timeout)
        return _Cursor.of(rows[0]) if rows else _Cursor()

    def _cursor_id(self) -> str:
        return id_of_place(self.scope, self.session_id, CURSOR)

    def _finished(
        self, entries: Sequence[LogEntry], cursor: _Cursor, *, ended: bool
    ) -> tuple[list[_Round], list[LogEntry]]:
        """The rounds among some entries that are over and not yet read, and the entries that have to wait.

        The entries begin with the last round that was read; it comes again only where it has grown since.
        """
        starts = [n for n, entry in enumerate(entries) if n == 0 or is_user_turn(entry.message)]
        ends = [*starts[1:], len(entries)] if starts else []
        rounds: list[_Round] = []
        waiting: list[LogEntry] = []
        for start, end in zip(starts, ends, strict=True):
            part = tuple(entries[start:end])
            if end == len(entries) and not (ended and _is_over(part)):
                waiting = list(part)
                break
            if part[-1].number > cursor.number:
                rounds.append(part)
        return rounds, waiting

    async def _write(self, rounds: Sequence[_Round], cursor: _Cursor) -> tuple[int, _Cursor]:
        """Write the episodes of some rounds, and behind them the cursor; gives how many are new, and the cursor."""
        drafts = self._drafts(rounds, cursor)
        stored = await stored_episodes(self.context, self.scope, [draft.id for draft in drafts])
        new: list[Episode] = []
        grown: list[Episode] = []
        for draft in drafts:
            known = stored.get(draft.id)
            if known is None:
                new.append(draft)
            elif known.last < draft.last:
                grown.append(_grown(known, draft))
        if new and new[0].first <= cursor.number:
            # It was read before and is not there, so it was forgotten: only what was said since may be kept.
            rest = [entry for entry in rounds[0] if entry.number > cursor.number]
            since = self._draft(rest, new[0].round)
            new = [*([] if since is None else [since]), *new[1:]]
        last = rounds[-1]
        number = max([cursor.round, *(draft.round for draft in drafts)])
        moved = _Cursor(last[-1].number, last[0].number, number, _mark(last[-1]))
        await write_episodes(self.context, [*grown, *new], [moved.row(self._cursor_id(), self.scope)])
        return len(new), moved

    def _drafts(self, rounds: Sequence[_Round], cursor: _Cursor) -> list[Episode]:
        """The episodes of rounds in which somebody said something, numbered on from the cursor."""
        drafts: list[Episode] = []
        number = cursor.round
        for one in rounds:
            again = one[0].number <= cursor.number
            draft = self._draft(one, number if again else number + 1)
            if draft is None:
                continue
            number = draft.round
            # What was appended in one step has one time, and still the later is the newer.
            least = drafts[-1].created_at + _MICROSECOND if drafts else draft.created_at
            drafts.append(draft if draft.created_at >= least else replace(draft, created_at=least))
        return drafts

    def _draft(self, one: _Round, number: int) -> Episode | None:
        """The episode of a round; `None` where nobody said anything in it."""
        said = said_of([entry.message for entry in one], self.context.prefixes)
        if not said:
            return None
        created = one[0].created_at
        return Episode(
            # The time too: when a session was erased and begun anew, its numbers came back.
            id=id_of_place(self.scope, self.session_id, "round", one[0].number, micros_of(created)),
            scope=self.scope,
            content=transcript_of(said),
            created_at=created,
            valid_from=min(created, self.context.now()),
            kind="round",
            round=number,
            first=one[0].number,
            last=one[-1].number,
            said=tuple(said),
        )


def _grown(stored: Episode, draft: Episode) -> Episode:
    """A round that has grown, with all that has become of it since."""
    return replace(
        draft,
        valid_from=stored.valid_from,
        valid_until=stored.valid_until,
        superseded_by=stored.superseded_by,
        entity=stored.entity,
        metadata=stored.metadata,
        round=stored.round,
    )


def _is_over(part: Sequence[LogEntry]) -> bool:
    """Whether the last round of a log is finished: its last word is the assistant's, and no call waits for a result."""
    messages = [entry.message for entry in part]
    newest = next(walk_units(messages), None)
    if newest is None:
        return False
    return newest.kind == "assistant" and not newest.live and kind_of(messages[-1]) == "assistant"


def _marked(cursor: _Cursor, entries: Sequence[LogEntry]) -> bool:
    """Whether the message at the cursor is the one that it was set behind."""
    return any(entry.number == cursor.number and _mark(entry) == cursor.mark for entry in entries)


def _mark(entry: LogEntry) -> str:
    message_id: Any = entry.message.id or ""
    text = f"{entry.number} {micros_of(entry.created_at)} {message_id}"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
