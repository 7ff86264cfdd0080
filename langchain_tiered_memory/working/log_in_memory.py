"""The message log in this process's memory."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.events import EventHook, emit, hooks_of
from langchain_tiered_memory.working.log import LogEntry, MessageLog, stored_in_part
from langchain_tiered_memory.working.nodes import SummaryNode, decode_node, encode_node
from langchain_tiered_memory.working.records import (
    Record,
    entry_of,
    key_of,
    lacks,
    nodes_conflict,
    records_of,
    version_conflict,
)

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock

__all__ = ["InMemoryMessageLog"]


class InMemoryMessageLog(MessageLog):
    """A message log in this process's memory, for tests, notebooks and whatever may be forgotten.

    It keeps messages in the same form as the stores do, so that what works here works there: a reader gets messages
    of its own, and what a store could not hold is left out here too.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import InMemoryMessageLog

    log = InMemoryMessageLog()
    log.append("session-1", [HumanMessage("Hello", id="m1")])
    assert log.append("session-1", [HumanMessage("Hello", id="m1")]) == 1  # the same message again
    ```

    Args:
        clock: Gives the time that an entry is stamped with; the system's UTC time if not given.
        hooks: Called with each event.
    """

    def __init__(self, *, clock: Clock | None = None, hooks: Iterable[EventHook] = ()) -> None:
        store = _Store(clock or utc_now, hooks_of(hooks))
        super().__init__(store, store)


@dataclass(slots=True)
class _Session:
    records: list[Record] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    nodes: list[str] = field(default_factory=list)


_NO_SESSION: Final = _Session()


class _Store:
    def __init__(self, clock: Clock, hooks: tuple[EventHook, ...]) -> None:
        self._clock = clock
        self._hooks = hooks
        self._lock = threading.Lock()
        self._by_id: dict[str, _Session] = {}

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        records = records_of(messages, self._clock())
        with self._lock:
            session = self._by_id.get(session_id) or _Session()
            if expected_version not in {None, len(session.records)}:
                raise version_conflict(session_id, expected_version or 0, len(session.records))
            first = len(session.records)
            for record in records:
                if record.key not in session.keys:
                    session.keys.add(record.key)
                    session.records.append(record)
            if session.records:
                self._by_id[session_id] = session
            version = len(session.records)
            new = session.records[first:]
        if (event := stored_in_part(session_id, new)) is not None:
            emit(event, self._hooks)
        return version

    def _session(self, session_id: str) -> _Session:
        return self._by_id.get(session_id, _NO_SESSION)

    def _entries(self, session_id: str, start: int, end: int | None) -> list[LogEntry]:
        with self._lock:
            records = self._session(session_id).records[start:end]
        return [entry_of(session_id, n, one.time, one.body) for n, one in enumerate(records, start=start + 1)]

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        return self._entries(session_id, after, None if limit is None else after + limit)

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        length = len(self._session(session_id).records)
        end = length if before is None else min(max(before - 1, 0), length)
        return self._entries(session_id, max(0, end - count), end)

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        with self._lock:
            return {one for one in ids if key_of(one) in self._session(session_id).keys}

    async def sessions(self, prefix: str = "") -> list[str]:
        with self._lock:
            return sorted(one for one in self._by_id if one.startswith(prefix))

    async def erase(self, *session_ids: str) -> int:
        with self._lock:
            gone = [self._by_id.pop(one, _NO_SESSION) for one in session_ids]
            return sum(len(session.records) for session in gone)

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        with self._lock:
            rows = self._session(session_id).nodes[after:]
        return [decode_node(session_id, number, row) for number, row in enumerate(rows, start=after + 1)]

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        rows = [encode_node(node) for node in nodes]
        with self._lock:
            session = self._session(session_id)
            if expected_version != len(session.nodes) or lacks(nodes, len(session.records)):
                raise nodes_conflict(session_id, expected_version, len(session.nodes))
            session.nodes.extend(rows)
            return len(session.nodes)
