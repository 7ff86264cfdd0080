"""The message log: what was said in each session, append-only, numbered, and never lost."""

from __future__ import annotations

import asyncio
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, ParamSpec, Self, TypeAlias, TypeVar

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.working.nodes import SummaryNode, decode_node, encode_node
from langchain_tiered_memory.working.records import (
    LogEntry,
    Record,
    check_count,
    check_session_id,
    entry_of,
    key_of,
    nodes_conflict,
    records_of,
    version_conflict,
)

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock, TokenCounter

__all__ = ["InMemoryMessageLog", "LogEntry", "LogSize", "MessageLog", "Record"]

P = ParamSpec("P")
T = TypeVar("T")

LogSize: TypeAlias = tuple[Literal["tokens", "messages", "rounds"], int]
"""How much of a log's tail to read: `("tokens", 2000)`, `("messages", 20)` or `("rounds", 3)`."""

_PIECE: Final = 32


class MessageLog(ABC):
    """The messages of many sessions, each numbered in the order in which it was appended.

    What the memory shows to a model changes all the time; what happened does not. The log holds what happened, and
    everything else is derived from it and can be made again. So it never changes or drops a message, except when a
    whole session is erased.

    Beside the messages it holds the summaries that were made of them (`append_nodes`, `nodes`): numbered, append-only
    and erased with their session too.

    A store derives from this class and writes eight small methods, those that begin with an underscore. Each method has
    an async twin that does its work in a thread, off the event loop.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory import InMemoryMessageLog

    log = InMemoryMessageLog()
    version = log.append("session-1", [HumanMessage("Hello"), AIMessage("Hi!")])
    assert (version, len(log.messages("session-1", last=1))) == (2, 1)
    ```

    Args:
        clock: Gives the time that an entry is stamped with; the system's UTC time if not given.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock: Clock = clock or utc_now

    # --- writing ------------------------------------------------------------------------------------------------------

    def append(self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None) -> int:
        """Append messages in one atomic step: all of them, or on an error none.

        A message whose id is stored already is left out, so that the same append may be sent again. A message without
        an id is stored with a new one; the message that was passed stays as it is. A chunk is stored as the whole
        message, and a message of a subclass as the nearest class of langchain-core with its fields kept as extras. A
        `RemoveMessage` is a message of its own, although it bears the id of another.

        Args:
            session_id: Names the session; any text of 1 to 512 characters without NUL.
            messages: What to append, in order; nothing is fine.
            expected_version: Refuse to write unless this is the session's version; 0 for a session that must be new.

        Returns:
            The session's version: the number of its last message, 0 when it has none.

        Raises:
            VersionConflictError: The session's version is not `expected_version`.
            TypeError: A message is no message, or holds something that could not be read back.
            ValueError: `session_id` or `expected_version` cannot be used.
            MemoryStoreError: The store could not be reached or written.
        """
        check_session_id(session_id)
        check_count("expected_version", expected_version)
        return self._append(session_id, records_of(messages, self._clock()), expected_version)

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
            VersionConflictError: The session has another number of nodes, or no messages that far (it was erased).
            ValueError: `session_id` or `expected_version` cannot be used.
            MemoryStoreError: The store could not be reached or written.
        """
        check_session_id(session_id)
        check_count("expected_version", -1 if expected_version is None else expected_version)
        last = max((node.last for node in nodes), default=0)
        return self._append_nodes(session_id, [encode_node(node) for node in nodes], expected_version, last)

    def erase(self, session_id: str) -> int:
        """Delete a session with its summaries, and say how many messages went; its numbers begin at 1 again."""
        check_session_id(session_id)
        return self._erase(session_id)

    # --- reading ------------------------------------------------------------------------------------------------------

    def messages(self, session_id: str, last: int | None = None) -> list[BaseMessage]:
        """Every message of a session in order, or its last ones; `[]` for a session that does not exist."""
        check_count("last", last)
        return [entry.message for entry in self._entries(session_id, limit=last, newest=last is not None)]

    def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """Numbered messages in order, from the first one after a number on.

        Exists for whoever works through a session piece by piece and keeps the last number as a cursor.

        Args:
            session_id: The session to read.
            after: The last number that is not wanted.
            limit: How many at most; everything if not given.
        """
        check_count("after", after)
        check_count("limit", limit)
        return self._entries(session_id, after=after, limit=limit)

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
        unit, amount = _checked_size(size)
        taken: list[BaseMessage] = []
        if unit == "messages":
            return self.messages(session_id, last=amount)
        cost = _cost_function(unit, token_counter)
        spent = 0
        for entry in self.newest_first(session_id):
            spent += cost(entry.message)
            if unit == "tokens" and spent > amount:
                break
            if unit == "rounds" and amount == 0:
                break
            taken.append(entry.message)
            if unit == "rounds" and spent == amount:
                break
        taken.reverse()
        return taken

    def newest_first(self, session_id: str) -> Iterator[LogEntry]:
        """Walk a session from its newest message to its oldest, reading no further than the walk goes."""
        before: int | None = None
        piece = _PIECE
        while True:
            entries = self._entries(session_id, before=before, limit=piece, newest=True)
            yield from reversed(entries)
            if len(entries) < piece:
                return
            before = entries[0].number
            piece *= 2

    def version(self, session_id: str) -> int:
        """The number of a session's last message; 0 for a session that does not exist."""
        check_session_id(session_id)
        return self._version(session_id)

    def stored_ids(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """Those of some message ids that the session holds."""
        check_session_id(session_id)
        keys = {key_of(message_id): message_id for message_id in ids}
        return {keys[key] for key in self._known(session_id, list(keys))}

    def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """The summaries of a session in the order in which they were written, without the first `after` ones.

        All of them, also those that were replaced since or handed on; `live_nodes` tells which stand in the view.

        Raises:
            MemoryStoreError: The store could not be read, or holds something that is no summary.
        """
        check_session_id(session_id)
        check_count("after", after)
        rows = self._nodes(session_id, after)
        return [decode_node(session_id, number, row) for number, row in enumerate(rows, start=after + 1)]

    def sessions(self) -> list[str]:
        """The ids of all sessions that hold a message, sorted."""
        return sorted(self._sessions())

    def _entries(
        self,
        session_id: str,
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[LogEntry]:
        check_session_id(session_id)
        rows = self._read(session_id, after, before, limit, newest)
        return [entry_of(session_id, *row) for row in rows]

    # --- async twins --------------------------------------------------------------------------------------------------

    async def aappend(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        """`append`, awaited. A task that is cancelled meanwhile may still have written everything."""
        return await self._away(self.append, session_id, list(messages), expected_version)

    async def aappend_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        """`append_nodes`, awaited. A task that is cancelled meanwhile may still have written all of them."""
        return await self._away(self.append_nodes, session_id, list(nodes), expected_version)

    async def anodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """`nodes`, awaited."""
        return await self._away(self.nodes, session_id, after)

    async def aerase(self, session_id: str) -> int:
        """`erase`, awaited."""
        return await self._away(self.erase, session_id)

    async def amessages(self, session_id: str, last: int | None = None) -> list[BaseMessage]:
        """`messages`, awaited."""
        return await self._away(self.messages, session_id, last)

    async def aentries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """`entries`, awaited."""
        return await self._away(self.entries, session_id, after, limit)

    async def atail(
        self, session_id: str, size: LogSize, *, token_counter: TokenCounter | None = None
    ) -> list[BaseMessage]:
        """`tail`, awaited."""
        return await self._away(self.tail, session_id, size, token_counter=token_counter)

    async def aversion(self, session_id: str) -> int:
        """`version`, awaited."""
        return await self._away(self.version, session_id)

    async def astored_ids(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """`stored_ids`, awaited."""
        return await self._away(self.stored_ids, session_id, ids)

    async def asessions(self) -> list[str]:
        """`sessions`, awaited."""
        return await self._away(self.sessions)

    async def _away(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do blocking work off the event loop; a store that never blocks does it at once."""
        return await asyncio.to_thread(work, *args, **kwargs)

    # --- opening and closing ------------------------------------------------------------------------------------------

    def close(self) -> None:  # noqa: B027  # a store without connections has nothing to close
        """Give back what the log holds open. Closing twice is fine."""

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._away(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # --- what a store does --------------------------------------------------------------------------------------------

    @abstractmethod
    def _append(self, session_id: str, records: list[Record], expected_version: int | None) -> int:
        """Append the records whose key is new, each under the next number, in one atomic step; give the version.

        Raises `VersionConflictError` (see `version_conflict`) before anything is written.
        """

    @abstractmethod
    def _read(
        self,
        session_id: str,
        after: int,
        before: int | None,
        limit: int | None,
        newest: bool,  # noqa: FBT001  # one caller
    ) -> list[tuple[int, int, str]]:
        """Number, time and body of the records between two numbers, in order; with `newest` the last `limit`."""

    @abstractmethod
    def _version(self, session_id: str) -> int:
        """The last number of a session, or 0."""

    @abstractmethod
    def _known(self, session_id: str, keys: list[str]) -> list[str]:
        """Those of the keys that are stored."""

    @abstractmethod
    def _sessions(self) -> list[str]:
        """Every session that holds a record."""

    @abstractmethod
    def _erase(self, session_id: str) -> int:
        """Delete all records and nodes of a session, and count the records."""

    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        """Append rows of text behind the `expected_version` that are there, in one atomic step; give their number.

        Raises `VersionConflictError` (see `nodes_conflict`) before anything is written, where there are more or fewer,
        or where the session has no record of the number `last`.
        """
        raise NotImplementedError(self._without_nodes())

    def _nodes(self, session_id: str, after: int) -> list[str]:
        """The rows behind the first `after` ones, in order."""
        raise NotImplementedError(self._without_nodes())

    def _without_nodes(self) -> str:
        return (
            f"{type(self).__name__} stores no summaries: write its methods _append_nodes and _nodes, "
            "or give SummaryMemory another log"
        )


@dataclass(slots=True)
class _Session:
    rows: list[tuple[int, int, str]] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    nodes: list[str] = field(default_factory=list)


class InMemoryMessageLog(MessageLog):
    """A message log in this process's memory, for tests, notebooks and whatever may be forgotten.

    It keeps messages in the same form as the stores do, so that what works here works there: a reader gets messages
    of its own, and what could not be read back is refused.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import InMemoryMessageLog

    log = InMemoryMessageLog()
    log.append("session-1", [HumanMessage("Hello", id="m1")])
    assert log.append("session-1", [HumanMessage("Hello", id="m1")]) == 1  # the same message again
    ```

    Args:
        clock: Gives the time that an entry is stamped with; the system's UTC time if not given.
    """

    def __init__(self, *, clock: Clock | None = None) -> None:
        super().__init__(clock=clock)
        self._lock = threading.Lock()
        self._by_session: dict[str, _Session] = {}

    def _append(self, session_id: str, records: list[Record], expected_version: int | None) -> int:
        with self._lock:
            session = self._by_session.get(session_id) or _Session()
            version = len(session.rows)
            if expected_version is not None and expected_version != version:
                raise version_conflict(session_id, expected_version, version)
            for record in records:
                if record.key not in session.keys:
                    session.keys.add(record.key)
                    session.rows.append((len(session.rows) + 1, record.time, record.body))
            if session.rows:
                self._by_session[session_id] = session
            return len(session.rows)

    def _read(
        self,
        session_id: str,
        after: int,
        before: int | None,
        limit: int | None,
        newest: bool,  # noqa: FBT001  # as in the port
    ) -> list[tuple[int, int, str]]:
        with self._lock:
            session = self._by_session.get(session_id)
            rows = session.rows if session else []
            # The record with number n stands at n - 1.
            end = len(rows) if before is None else min(before - 1, len(rows))
            if limit is None:
                return rows[after:end]
            return rows[max(after, end - limit) : end] if newest else rows[after : min(after + limit, end)]

    def _version(self, session_id: str) -> int:
        with self._lock:
            session = self._by_session.get(session_id)
            return len(session.rows) if session else 0

    def _known(self, session_id: str, keys: list[str]) -> list[str]:
        with self._lock:
            session = self._by_session.get(session_id)
            return [key for key in keys if session and key in session.keys]

    def _sessions(self) -> list[str]:
        with self._lock:
            return list(self._by_session)

    def _erase(self, session_id: str) -> int:
        with self._lock:
            session = self._by_session.pop(session_id, None)
            return len(session.rows) if session else 0

    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        with self._lock:
            session = self._by_session.get(session_id) or _Session()
            actual = len(session.nodes)
            if actual != expected_version or last > len(session.rows):
                raise nodes_conflict(session_id, expected_version, actual)
            session.nodes += rows
            return len(session.nodes)

    def _nodes(self, session_id: str, after: int) -> list[str]:
        with self._lock:
            session = self._by_session.get(session_id)
            return session.nodes[after:] if session else []

    async def _away(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)


def _checked_size(size: Any) -> LogSize:  # noqa: ANN401  # callers without type checks too
    valid = isinstance(size, tuple) and len(size) == 2 and size[0] in {"tokens", "messages", "rounds"}  # noqa: PLR2004  # a pair
    if not valid:
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
