"""The message log: what was said in each session, append-only, numbered, and never lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory.working._sync_log import LogSize, SyncLog
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry, Record, nodes_conflict, version_conflict

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock, TokenCounter

__all__ = ["InMemoryMessageLog", "LogEntry", "LogSize", "MessageLog", "Record"]

P = ParamSpec("P")
T = TypeVar("T")


class MessageLog(Closing, SyncLog):
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
