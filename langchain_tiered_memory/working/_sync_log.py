"""The half of a message log that says what it does; `log` adds the async twins and what may be forgotten."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

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
    records_of,
)

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock, TokenCounter

__all__ = ["LogSize", "SyncLog", "nodes_of", "records_to_append", "rows_to_append"]

LogSize: TypeAlias = tuple[Literal["tokens", "messages", "rounds"], int]
"""How much of a log's tail to read: `("tokens", 2000)`, `("messages", 20)` or `("rounds", 3)`."""

_PIECE: Final = 32


class SyncLog(ABC):
    """What `MessageLog` does, without its async twins.

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
        records = records_to_append(session_id, messages, expected_version, self._clock)
        return self._append(session_id, records, expected_version)

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
        rows, last = rows_to_append(session_id, nodes, expected_version)
        return self._append_nodes(session_id, rows, expected_version, last)

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
        return nodes_of(session_id, after, self._nodes(session_id, after))

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

    @abstractmethod
    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        """Append rows of text behind the `expected_version` that are there, in one atomic step; give their number.

        Raises `VersionConflictError` (see `nodes_conflict`) before anything is written, where there are more or fewer,
        or where the session has no record of the number `last`.
        """

    @abstractmethod
    def _nodes(self, session_id: str, after: int) -> list[str]:
        """The rows behind the first `after` ones, in order."""


# --- what both twins of a method do -----------------------------------------------------------------------------------


def records_to_append(
    session_id: str, messages: Sequence[BaseMessage], expected_version: int | None, clock: Clock
) -> list[Record]:
    """The messages as a store gets them, once all that `append` is given has been checked."""
    check_session_id(session_id)
    check_count("expected_version", expected_version)
    return records_of(messages, clock())


def rows_to_append(session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> tuple[list[str], int]:
    """The nodes as a store gets them, and the last message that they cover; `append_nodes` is checked likewise."""
    check_session_id(session_id)
    check_count("expected_version", -1 if expected_version is None else expected_version)
    return [encode_node(node) for node in nodes], max((node.last for node in nodes), default=0)


def nodes_of(session_id: str, after: int, rows: Sequence[str]) -> list[SummaryNode]:
    """The nodes that a store gave, the first `after` ones left out."""
    return [decode_node(session_id, number, row) for number, row in enumerate(rows, start=after + 1)]


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
