"""The message log in SQLite or PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from langchain_core.messages import BaseMessage

from langchain_tiered_memory._sql import Database, DatabaseBacked, Synchronous
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.events import EventHook, emit, hooks_of
from langchain_tiered_memory.working.log import LogEntry, MessageLog, stored_in_part
from langchain_tiered_memory.working.nodes import SummaryNode, decode_node, encode_node
from langchain_tiered_memory.working.records import (
    entry_of,
    key_of,
    lacks,
    nodes_conflict,
    range_of,
    records_of,
    version_conflict,
)

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPICursor

    from langchain_tiered_memory.types import Clock

__all__ = ["SQLMessageLog"]

# Compared by code points, so that the sessions of a prefix lie side by side in the index.
_NAME: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
_METADATA: Final = sa.MetaData()
sa.Table(
    "tiered_memory_messages",
    _METADATA,
    sa.Column("session_id", _NAME, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("message_key", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.UniqueConstraint("session_id", "message_key", name="tiered_memory_messages_once"),
    # A session's messages lie side by side, and its tail is read from one place.
    sqlite_with_rowid=False,
)
sa.Table(
    "tiered_memory_summaries",
    _METADATA,
    sa.Column("session_id", _NAME, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)

# Finds the next number and takes it, unless the message is there already.
_INSERT_TEXT: Final = """
INSERT INTO tiered_memory_messages (session_id, number, message_key, created_at, body)
VALUES (
  :session_id,
  (SELECT coalesce(max(number), 0) + 1 FROM tiered_memory_messages WHERE session_id = :session_id),
  :message_key, :created_at, :body
)
ON CONFLICT (session_id, message_key) DO NOTHING"""
_INSERT: Final = sa.text(_INSERT_TEXT)
_INSERT_RETURNING: Final = sa.text(_INSERT_TEXT + " RETURNING number")
_VERSION: Final = sa.text("SELECT coalesce(max(number), 0) FROM tiered_memory_messages WHERE session_id = :session_id")
_OLDEST: Final = sa.text("""
SELECT number, created_at, body FROM tiered_memory_messages
WHERE session_id = :session_id AND number > :after ORDER BY number LIMIT :limit""")
_NEWEST: Final = sa.text("""
SELECT number, created_at, body FROM tiered_memory_messages
WHERE session_id = :session_id AND number < :before ORDER BY number DESC LIMIT :limit""")
_KNOWN: Final = {
    True: sa.text("""
SELECT message_key FROM tiered_memory_messages
WHERE session_id = :session_id AND message_key IN (SELECT value FROM json_each(:keys))"""),
    False: sa.text("""
SELECT message_key FROM tiered_memory_messages
WHERE session_id = :session_id AND message_key = ANY(CAST(:keys AS text[]))"""),
}
# Steps from one session to the next by the index, however many messages each has.
_SESSIONS: Final = sa.text("""
WITH RECURSIVE found(session_id) AS (
  SELECT min(session_id) FROM tiered_memory_messages WHERE session_id >= :low AND session_id < :high
  UNION ALL
  SELECT (
    SELECT min(session_id) FROM tiered_memory_messages
    WHERE session_id > found.session_id AND session_id < :high
  ) FROM found WHERE found.session_id IS NOT NULL
)
SELECT session_id FROM found WHERE session_id IS NOT NULL""")
_SIZE: Final = sa.text(
    "SELECT coalesce(sum(length(body)), 0) FROM tiered_memory_messages WHERE session_id = :session_id"
)
_ERASE: Final = sa.text("DELETE FROM tiered_memory_messages WHERE session_id = :session_id")
_ERASE_NODES: Final = sa.text("DELETE FROM tiered_memory_summaries WHERE session_id = :session_id")
_NODES_VERSION: Final = sa.text(
    "SELECT coalesce(max(number), 0) FROM tiered_memory_summaries WHERE session_id = :session_id"
)
_INSERT_NODE: Final = sa.text(
    "INSERT INTO tiered_memory_summaries (session_id, number, body) VALUES (:session_id, :number, :body)"
)
_NODES: Final = sa.text("""
SELECT number, body FROM tiered_memory_summaries
WHERE session_id = :session_id AND number > :after ORDER BY number""")
# SQLite has one writer at a time; PostgreSQL's writers to one session take turns by this lock.
_LOCK: Final = sa.text("SELECT pg_advisory_xact_lock(hashtextextended(:session_id, 0))")
_NO_LIMIT: Final = (1 << 63) - 1


class SQLMessageLog(DatabaseBacked, MessageLog):
    """A message log in a SQLite file or a PostgreSQL database, shared by any number of threads and processes.

    Once `append` has returned, the messages survive the death of this process, however it dies. Whether they survive
    a power cut is the database's business: SQLite with `synchronous="NORMAL"` may lose the last commits of a machine
    that loses power (and stays intact), with `"FULL"` it waits for the disk at each append and loses none.

    What is erased is overwritten in the SQLite file and its write-ahead log. A file over 32 MB is rewritten only once
    an eighth of it was erased, or when the log is closed; until then parts of erased text may stand in it. PostgreSQL
    deletes the rows, and reuses their space after its own vacuum.

    The database is opened on first use. A file that does not exist is created, and so is the folder that it lies in.
    After a fork the child opens connections of its own; a log may be pickled, and is opened anew where it arrives.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import SQLMessageLog

    with SQLMessageLog("sqlite://") as log:  # in memory; sqlite:///memory.db is a file
        assert log.append("session-1", [HumanMessage("Hello")], expected_version=0) == 1
    ```

    Args:
        url: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` (in memory, gone with the log), or
            `postgresql+psycopg://user:password@host/database`.
        busy_timeout: Seconds to wait while another process writes to the SQLite file.
        synchronous: How much care SQLite takes against a power cut: `"NORMAL"` or `"FULL"`.
        clock: Gives the time that an entry is stamped with; the system's UTC time if not given.
        hooks: Called with each event.

    Raises:
        MemoryStoreError: The URL cannot be used; later, the database cannot be reached, read or written.
    """

    _called = "log"

    def __init__(
        self,
        url: str,
        *,
        busy_timeout: float = 30.0,
        synchronous: Synchronous = "NORMAL",
        clock: Clock | None = None,
        hooks: Iterable[EventHook] = (),
    ) -> None:
        told = hooks_of(hooks)
        self._arguments = {
            "url": url,
            "busy_timeout": busy_timeout,
            "synchronous": synchronous,
            "clock": clock,
            "hooks": told,
        }
        self._database = Database(url, _METADATA, busy_timeout=busy_timeout, synchronous=synchronous)
        super().__init__(_Store(self._database, clock or utc_now, told))

    def close(self) -> None:
        """Close the connections. An in-memory database is gone with them."""
        self._database.close()


class _Store:
    def __init__(self, database: Database, clock: Clock, hooks: tuple[EventHook, ...]) -> None:
        self._database = database
        self._clock = clock
        self._hooks = hooks

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        records = records_of(messages, self._clock())
        rows = [
            {"session_id": session_id, "message_key": one.key, "created_at": one.time, "body": one.body}
            for one in records
        ]
        if len(rows) == 1 and expected_version is None and self._database.is_sqlite:
            added = self._database.write_one(_INSERT_RETURNING, rows[0])
            version = int(added[0][0]) if added else self._version(session_id)
        else:
            version = self._append_all(session_id, rows, expected_version)
        if (event := stored_in_part(session_id, records)) is not None:
            emit(event, self._hooks)
        return version

    def _append_all(self, session_id: str, rows: list[dict[str, Any]], expected_version: int | None) -> int:
        with self._database.writing() as cursor:
            self._lock(cursor, session_id)
            if expected_version is not None:
                actual = self._number(cursor, _VERSION, session_id)
                if actual != expected_version:
                    raise version_conflict(session_id, expected_version, actual)
            if rows:
                cursor.executemany(self._database.sql(_INSERT), rows)
            return self._number(cursor, _VERSION, session_id)

    def _lock(self, cursor: DBAPICursor, session_id: str) -> None:
        if not self._database.is_sqlite:
            cursor.execute(self._database.sql(_LOCK), {"session_id": session_id})

    def _number(self, cursor: DBAPICursor, statement: sa.Executable, session_id: str) -> int:
        cursor.execute(self._database.sql(statement), {"session_id": session_id})
        ((number,),) = cursor.fetchall()
        return int(number)

    def _version(self, session_id: str) -> int:
        with self._database.reading() as cursor:
            return self._number(cursor, _VERSION, session_id)

    def _rows(self, statement: sa.Executable, **parameters: Any) -> Sequence[Any]:  # noqa: ANN401  # what SQL takes
        with self._database.reading() as cursor:
            cursor.execute(self._database.sql(statement), parameters)
            return cursor.fetchall()

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        most = _NO_LIMIT if limit is None else limit
        return [
            entry_of(session_id, *row) for row in self._rows(_OLDEST, session_id=session_id, after=after, limit=most)
        ]

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        end = _NO_LIMIT if before is None else before
        rows = self._rows(_NEWEST, session_id=session_id, before=end, limit=count)
        return [entry_of(session_id, *row) for row in reversed(rows)]

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        keys = {key_of(one): one for one in ids}
        is_sqlite = self._database.is_sqlite
        wanted = json.dumps(list(keys)) if is_sqlite else list(keys)
        rows = self._rows(_KNOWN[is_sqlite], session_id=session_id, keys=wanted) if keys else ()
        return {keys[key] for (key,) in rows}

    async def sessions(self, prefix: str = "") -> list[str]:
        low, high = range_of(prefix)
        return [str(session_id) for (session_id,) in self._rows(_SESSIONS, low=low, high=high)]

    async def erase(self, *session_ids: str) -> int:
        count = size = 0
        with self._database.writing() as cursor:
            for session_id in sorted(set(session_ids)):  # in one order, so that two erasures cannot wait for each other
                self._lock(cursor, session_id)
                size += self._number(cursor, _SIZE, session_id)
                cursor.execute(self._database.sql(_ERASE_NODES), {"session_id": session_id})
                cursor.execute(self._database.sql(_ERASE), {"session_id": session_id})
                count += int(cursor.rowcount)
            if count:
                self._database.mark_erased(cursor)
        self._database.scrub(size)
        return count

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        return [decode_node(session_id, *row) for row in self._rows(_NODES, session_id=session_id, after=after)]

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        values = [
            {"session_id": session_id, "number": number, "body": encode_node(node)}
            for number, node in enumerate(nodes, start=expected_version + 1)
        ]
        with self._database.writing() as cursor:
            self._lock(cursor, session_id)
            actual = self._number(cursor, _NODES_VERSION, session_id)
            if actual != expected_version or lacks(nodes, self._number(cursor, _VERSION, session_id)):
                raise nodes_conflict(session_id, expected_version, actual)
            if values:
                cursor.executemany(self._database.sql(_INSERT_NODE), values)
            return actual + len(values)
