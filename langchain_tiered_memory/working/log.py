"""The message log: what was said in each session, append-only, numbered, and never lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.events import StoredInPart
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry, Record, check_count, check_session_id

if TYPE_CHECKING:
    from langchain_tiered_memory.types import TokenCounter

__all__ = ["LogEntry", "LogSize", "LogStore", "MessageLog", "last_number", "stored_in_part"]

LogSize: TypeAlias = tuple[Literal["tokens", "messages", "rounds"], int]
"""How much of a log's tail to read: `("tokens", 2000)`, `("messages", 20)` or `("rounds", 3)`."""

_PIECE: Final = 32


class LogStore(Protocol):
    """The eight verbs of a message log, as coroutines; what they take and return, `MessageLog` says.

    An algorithm that reads or writes a log is written over this port. `MessageLog.blocking` never suspends, so that
    `run_sync` can run the algorithm; `MessageLog.awaited` does its work off the event loop.
    """

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        """Append the messages whose id is new, in one atomic step, and return the session's version."""

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """The entries after a number, oldest first."""

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        """The newest entries, or the newest before a number, oldest first."""

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """Those of some message ids that the session holds, in one query."""

    async def sessions(self, prefix: str = "") -> list[str]:
        """The ids of all sessions that hold a message and begin with the prefix, sorted, by an index."""

    async def erase(self, *session_ids: str) -> int:
        """Delete sessions with their summaries, and return how many messages went."""

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """The summaries of a session, without the first `after` ones."""

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        """Append summaries in one atomic step, and return how many there are."""


class MessageLog(Closing):
    """The messages of many sessions, each numbered in the order in which it was appended.

    What the memory shows to a model changes all the time; what happened does not. The log holds what happened, and
    everything else is derived from it and can be made again. So it never changes or drops a message, except when a
    whole session is erased.

    Beside the messages it holds the summaries that were made of them (`append_nodes`, `nodes`): numbered, append-only
    and erased with their session too.

    A log of your own is this class over a `LogStore`, eight small coroutines. Each method has an async twin, which does
    its work off the event loop; a task that is cancelled meanwhile may still have written everything.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory import InMemoryMessageLog

    log = InMemoryMessageLog()
    version = log.append("session-1", [HumanMessage("Hello"), AIMessage("Hi!")])
    assert (version, len(log.messages("session-1", last=1))) == (2, 1)
    ```

    Args:
        blocking: The store; its coroutines never suspend.
        awaited: The same for an event loop; by default the first one in threads.
    """

    def __init__(self, blocking: LogStore, awaited: LogStore | None = None) -> None:
        self.blocking = blocking
        self.awaited: LogStore = awaited if awaited is not None else _InThreads(blocking)

    # --- writing ------------------------------------------------------------------------------------------------------

    def append(self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None) -> int:
        """Append messages in one atomic step: all of them, or on an error none.

        A message whose id is stored already is left out, so that the same append may be sent again. A message without
        an id is stored with a new one; the message that was passed stays as it is. A chunk is stored as the whole
        message, and a message of a subclass as the nearest class of langchain-core with its fields kept as extras. A
        `RemoveMessage` is a message of its own, although it bears the id of another. What JSON cannot hold, such as a
        client object in a tool's artifact, is left out with a note of its type, and a `StoredInPart` event says so.

        Args:
            session_id: Names the session; any text of 1 to 512 characters without NUL.
            messages: What to append, in order; nothing is fine.
            expected_version: Refuse to write unless this is the session's version; 0 for a session that must be new.

        Returns:
            The session's version: the number of its last message, 0 when it has none.

        Raises:
            VersionConflictError: The session's version is not `expected_version`.
            TypeError: A message is no message.
            ValueError: `session_id` or `expected_version` cannot be used.
            MemoryStoreError: The store could not be reached or written.
        """
        _check(session_id, expected_version=expected_version)
        return run_sync(self.blocking.append(session_id, messages, expected_version))

    async def aappend(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        """`append`, awaited."""
        _check(session_id, expected_version=expected_version)
        return await self.awaited.append(session_id, messages, expected_version)

    def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        """Append summaries in one atomic step, if nobody else has appended any since they were read.

        Of two compactions of one session the second is refused here, and what the first has written stands.

        Args:
            session_id: The session.
            nodes: What to append, in order.
            expected_version: How many nodes the session had when the compaction began.

        Returns:
            How many nodes the session has now.

        Raises:
            VersionConflictError: The session has another number of nodes, no messages that far, or none at all.
            ValueError: `session_id` or `expected_version` cannot be used.
            MemoryStoreError: The store could not be reached or written.
        """
        _check(session_id, expected_version=-1 if expected_version is None else expected_version)
        return run_sync(self.blocking.append_nodes(session_id, nodes, expected_version))

    async def aappend_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        """`append_nodes`, awaited."""
        _check(session_id, expected_version=-1 if expected_version is None else expected_version)
        return await self.awaited.append_nodes(session_id, nodes, expected_version)

    def erase(self, *session_ids: str) -> int:
        """Delete sessions with their summaries, and return how many messages went; their numbers begin at 1 again.

        What was erased is in no file of the store any more: see the log's class for when. Give the sessions of a user
        in one call.
        """
        _check(*session_ids)
        return run_sync(self.blocking.erase(*session_ids))

    async def aerase(self, *session_ids: str) -> int:
        """`erase`, awaited."""
        _check(*session_ids)
        return await self.awaited.erase(*session_ids)

    # --- reading ------------------------------------------------------------------------------------------------------

    def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """Numbered messages in order, from the first one after a number on.

        Exists for whoever works through a session piece by piece and keeps the last number as a cursor.

        Args:
            session_id: The session to read.
            after: The last number that is not wanted.
            limit: How many at most; everything if not given.

        Raises:
            MemoryStoreError: The store could not be read, or holds something that is no message.
        """
        _check(session_id, after=after, limit=limit)
        return run_sync(self.blocking.entries(session_id, after, limit))

    async def aentries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """`entries`, awaited."""
        _check(session_id, after=after, limit=limit)
        return await self.awaited.entries(session_id, after, limit)

    def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        """The newest numbered messages in order, without reading the older ones.

        Args:
            session_id: The session to read.
            count: How many at most.
            before: The oldest number that is not wanted; the end of the session if not given.
        """
        _check(session_id, count=count, before=before)
        return run_sync(self.blocking.last(session_id, count, before))

    async def alast(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        """`last`, awaited."""
        _check(session_id, count=count, before=before)
        return await self.awaited.last(session_id, count, before)

    def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """Those of some message ids that the session holds."""
        _check(session_id)
        return run_sync(self.blocking.known(session_id, ids))

    async def aknown(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """`known`, awaited."""
        _check(session_id)
        return await self.awaited.known(session_id, ids)

    def sessions(self, prefix: str = "") -> list[str]:
        """The ids of the sessions that hold a message, sorted; those that begin with the prefix, found by an index."""
        return run_sync(self.blocking.sessions(prefix))

    async def asessions(self, prefix: str = "") -> list[str]:
        """`sessions`, awaited."""
        return await self.awaited.sessions(prefix)

    def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """The summaries of a session in the order in which they were written, without the first `after` ones.

        All of them, also those that were replaced since or handed on; `live_nodes` tells which stand in the view.

        Raises:
            MemoryStoreError: The store could not be read, or holds something that is no summary.
        """
        _check(session_id, after=after)
        return run_sync(self.blocking.nodes(session_id, after))

    async def anodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """`nodes`, awaited."""
        _check(session_id, after=after)
        return await self.awaited.nodes(session_id, after)

    # --- what follows from these --------------------------------------------------------------------------------------

    def messages(self, session_id: str, last: int | None = None) -> list[BaseMessage]:
        """Every message of a session in order, or its last ones; `[]` for a session that does not exist."""
        _check(session_id, last=last)
        return run_sync(_messages(self.blocking, session_id, last))

    async def amessages(self, session_id: str, last: int | None = None) -> list[BaseMessage]:
        """`messages`, awaited."""
        _check(session_id, last=last)
        return await _messages(self.awaited, session_id, last)

    def tail(self, session_id: str, size: LogSize, *, token_counter: TokenCounter | None = None) -> list[BaseMessage]:
        """The newest messages of a session, in order, without reading the older ones.

        A tail is raw: it may begin with a tool result. What goes to a model goes through `trim_messages` first.

        Args:
            session_id: The session to read.
            size: `("messages", n)`: the last n. `("rounds", n)`: from the n-th user message from the end on.
                `("tokens", n)`: as many of the last as have together at most n tokens.
            token_counter: Counts tokens; needed for a size in tokens, unless the default counter will do.

        Raises:
            ValueError: `size` is none of these.
        """
        _check(session_id)
        return run_sync(_tail(self.blocking, session_id, size, token_counter))

    async def atail(
        self, session_id: str, size: LogSize, *, token_counter: TokenCounter | None = None
    ) -> list[BaseMessage]:
        """`tail`, awaited."""
        _check(session_id)
        return await _tail(self.awaited, session_id, size, token_counter)

    def newest_first(self, session_id: str) -> Iterator[LogEntry]:
        """Walk a session from its newest message to its oldest, reading no further than the walk goes."""
        before: int | None = None
        piece = _PIECE
        while entries := self.last(session_id, piece, before):
            yield from reversed(entries)
            before = entries[0].number
            piece *= 2

    def version(self, session_id: str) -> int:
        """The number of a session's last message; 0 for a session that does not exist."""
        return last_number(self.last(session_id))

    async def aversion(self, session_id: str) -> int:
        """`version`, awaited."""
        return last_number(await self.alast(session_id))


def last_number(entries: Sequence[LogEntry]) -> int:
    """The number of the last entry, 0 for none."""
    return entries[-1].number if entries else 0


def _check(*session_ids: str, **counts: int | None) -> None:
    for session_id in session_ids:
        check_session_id(session_id)
    for name, count in counts.items():
        check_count(name, count)


async def _messages(store: LogStore, session_id: str, last: int | None) -> list[BaseMessage]:
    entries = await (store.entries(session_id) if last is None else store.last(session_id, last))
    return [entry.message for entry in entries]


async def _tail(
    store: LogStore, session_id: str, size: LogSize, token_counter: TokenCounter | None
) -> list[BaseMessage]:
    unit, amount = _checked_size(size)
    if unit == "messages":
        return await _messages(store, session_id, amount)
    cost = _cost_function(unit, token_counter)
    taken: list[BaseMessage] = []
    spent, before, piece = 0, None, _PIECE
    while amount and (entries := await store.last(session_id, piece, before)):
        for entry in reversed(entries):
            spent += cost(entry.message)
            if unit == "tokens" and spent > amount:
                return taken[::-1]
            taken.append(entry.message)
            if unit == "rounds" and spent == amount:
                return taken[::-1]
        before, piece = entries[0].number, 2 * piece
    return taken[::-1]


def _checked_size(size: Any) -> LogSize:  # noqa: ANN401  # callers without type checks too
    if (
        not isinstance(size, tuple)
        or len(size) != len(("unit", "n"))
        or size[0] not in {"tokens", "messages", "rounds"}
    ):
        msg = f'a size is ("tokens", n), ("messages", n) or ("rounds", n), got {size!r}'
        raise ValueError(msg)
    check_count(f"the size in {size[0]}", size[1])
    checked: LogSize = size
    return checked


def _cost_function(unit: str, token_counter: TokenCounter | None) -> Callable[[BaseMessage], int]:
    if unit == "rounds":
        return lambda message: int(is_user_turn(message))
    if token_counter is None:
        from langchain_tiered_memory.messages.tokens import default_counter  # noqa: PLC0415  # tiktoken only where it counts

        token_counter = default_counter()
    return token_counter.count_message


def stored_in_part(session_id: str, records: Iterable[Record]) -> StoredInPart | None:
    """What a store tells after it has appended records of which something was left out."""
    left_out = tuple(f"{record.key}: {what}" for record in records for what in record.left_out)
    return StoredInPart(session_id=session_id, left_out=left_out) if left_out else None


class _InThreads:
    """A store that blocks, for an event loop: each verb in a thread."""

    def __init__(self, store: LogStore) -> None:
        self._store = store

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        return await asyncio.to_thread(run_sync, self._store.append(session_id, list(messages), expected_version))

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        return await asyncio.to_thread(run_sync, self._store.entries(session_id, after, limit))

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        return await asyncio.to_thread(run_sync, self._store.last(session_id, count, before))

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        return await asyncio.to_thread(run_sync, self._store.known(session_id, ids))

    async def sessions(self, prefix: str = "") -> list[str]:
        return await asyncio.to_thread(run_sync, self._store.sessions(prefix))

    async def erase(self, *session_ids: str) -> int:
        return await asyncio.to_thread(run_sync, self._store.erase(*session_ids))

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        return await asyncio.to_thread(run_sync, self._store.nodes(session_id, after))

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        return await asyncio.to_thread(run_sync, self._store.append_nodes(session_id, nodes, expected_version))
