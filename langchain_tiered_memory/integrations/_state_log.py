"""An agent's state as a message log, so that a summary memory works on what a checkpointer holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.working.log import LogEntry, MessageLog
from langchain_tiered_memory.working.nodes import SummaryNode, decode_node, encode_node
from langchain_tiered_memory.working.records import lacks, nodes_conflict, version_conflict

__all__ = ["StateLog"]


class StateLog(MessageLog):
    """The messages of one agent's state and the summary nodes beside them, for the length of one model call.

    The state is what happened; it is given, and nothing is appended to it here. The nodes are rows of JSON text, which
    go back into the state when the call is done.

    Args:
        messages: The messages of the state.
        rows: The nodes that were written so far.
        now: When the call began, in UTC.
    """

    def __init__(self, messages: Sequence[BaseMessage], rows: Sequence[str], now: datetime) -> None:
        store = _Store([one for one in messages if not isinstance(one, RemoveMessage)], list(rows), now)
        super().__init__(store, store)
        self.rows = store.rows

    @property
    def covered(self) -> int:
        """The number of the last message that a node stands for, 0 for none."""
        return max((node.last for node in self.nodes("state")), default=0)


class _Store:
    def __init__(self, messages: list[BaseMessage], rows: list[str], now: datetime) -> None:
        self._entries = [LogEntry(number, message, now) for number, message in enumerate(messages, start=1)]
        self.rows = rows

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        version = len(self._entries)
        known = await self.known(session_id, [str(message.id) for message in messages])
        if expected_version not in {None, version} or any(message.id not in known for message in messages):
            raise version_conflict(session_id, expected_version or 0, version)
        return version

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:  # noqa: ARG002  # there is one
        return self._entries[after : None if limit is None else after + limit]

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:  # noqa: ARG002  # as above
        end = len(self._entries) if before is None else min(max(before - 1, 0), len(self._entries))
        return self._entries[max(0, end - count) : end]

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:  # noqa: ARG002  # as above
        return {entry.message.id for entry in self._entries if entry.message.id} & set(ids)

    async def sessions(self, prefix: str = "") -> list[str]:  # noqa: ARG002  # as above
        return []

    async def erase(self, *session_ids: str) -> int:
        msg = f"an agent's state is erased by whoever holds it, not here: {session_ids!r}"
        raise MemoryStoreError(msg)

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        return [decode_node(session_id, n, row) for n, row in enumerate(self.rows[after:], start=after + 1)]

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        if expected_version != len(self.rows) or lacks(nodes, len(self._entries)):
            raise nodes_conflict(session_id, expected_version, len(self.rows))
        self.rows.extend(map(encode_node, nodes))
        return len(self.rows)
