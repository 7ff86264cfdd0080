"""An agent's state as a message log, so that a summary memory works on what a checkpointer holds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from langchain_core.messages import BaseMessage, RemoveMessage

from langchain_tiered_memory.working.log import LogEntry, MessageLog
from langchain_tiered_memory.working.records import Record, key_of, nodes_conflict, records_of, version_conflict

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
        super().__init__(clock=lambda: now)
        self._messages = [message for message in messages if not isinstance(message, RemoveMessage)]
        self._now = now
        self.rows = list(rows)

    @property
    def covered(self) -> int:
        """The number of the last message that a node stands for, 0 for none."""
        return max((node.last for node in self.nodes("state")), default=0)

    def _entries(
        self,
        session_id: str,  # noqa: ARG002  # there is one
        *,
        after: int = 0,
        before: int | None = None,
        limit: int | None = None,
        newest: bool = False,
    ) -> list[LogEntry]:
        end = len(self._messages) if before is None else min(before - 1, len(self._messages))
        if limit is not None:
            after, end = (max(after, end - limit), end) if newest else (after, min(after + limit, end))
        chosen = enumerate(self._messages[after:end], start=after + 1)
        return [LogEntry(number, message, self._now) for number, message in chosen]

    def _append(self, session_id: str, records: list[Record], expected_version: int | None) -> int:
        known = {key_of(message.id) for message in self._messages if message.id}
        new = [record for record in records if record.key not in known]
        if new or (expected_version is not None and expected_version != len(self._messages)):
            raise version_conflict(session_id, expected_version or 0, len(self._messages))
        return len(self._messages)

    def _read(
        self,
        session_id: str,
        after: int,
        before: int | None,
        limit: int | None,
        newest: bool,  # noqa: FBT001  # as in the port
    ) -> list[tuple[int, int, str]]:
        entries = self._entries(session_id, after=after, before=before, limit=limit, newest=newest)
        records = records_of([entry.message for entry in entries], self._now)
        return [(entry.number, record.time, record.body) for entry, record in zip(entries, records, strict=True)]

    def _version(self, session_id: str) -> int:  # noqa: ARG002  # as above
        return len(self._messages)

    def _known(self, session_id: str, keys: list[str]) -> list[str]:  # noqa: ARG002  # as above
        known = {key_of(message.id) for message in self._messages if message.id}
        return [key for key in keys if key in known]

    def _sessions(self) -> list[str]:
        return []

    def _erase(self, session_id: str) -> int:  # noqa: ARG002  # as above
        return 0

    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        if expected_version != len(self.rows) or last > len(self._messages):
            raise nodes_conflict(session_id, expected_version, len(self.rows))
        self.rows += rows
        return len(self.rows)

    def _nodes(self, session_id: str, after: int) -> list[str]:  # noqa: ARG002  # as above
        return self.rows[after:]
