"""The message log in SQLite or PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from langchain_tiered_memory._database import Database, Synchronous
from langchain_tiered_memory._lifecycle import DatabaseBacked
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.records import Record, nodes_conflict, version_conflict

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPICursor

    from langchain_tiered_memory.types import Clock

__all__ = ["SQLMessageLog"]

_METADATA: Final = sa.MetaData()
_MESSAGES: Final = sa.Table(
    "tiered_memory_messages",
    _METADATA,
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("message_key", sa.Text, nullable=False),
    sa.Column("created_at", sa.BigInteger, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.UniqueConstraint("session_id", "message_key", name="tiered_memory_messages_once"),
    # A session's messages lie side by side, and its tail is read from one place.
    sqlite_with_rowid=False,
    # From Python 3.12 on, sqlite3 refuses an `executemany` whose statement returns rows.
    implicit_returning=False,
)
_NODES: Final = sa.Table(
    "tiered_memory_summaries",
    _METADATA,
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("number", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sqlite_with_rowid=False,
    implicit_returning=False,  # as above
)
_COLUMNS: Final = _MESSAGES.c
_SESSION: Final = sa.bindparam("session_id", type_=sa.Text)
_OF_SESSION: Final = _COLUMNS.session_id == _SESSION
_NUMBER: Final = sa.func.coalesce(sa.func.max(_COLUMNS.number), sa.literal_column("0"))


def _insert(dialect: Any) -> sa.Executable:  # noqa: ANN401  # two functions of the same shape without a common type
    """One statement that finds the next number and takes it, unless the message is there already."""
    values: dict[str, Any] = {column.name: sa.bindparam(column.name, type_=column.type) for column in _MESSAGES.columns}
    values["number"] = sa.select(_NUMBER + sa.literal_column("1")).where(_OF_SESSION).scalar_subquery()
    statement = dialect(_MESSAGES).values(values)
    once = [_COLUMNS.session_id, _COLUMNS.message_key]
    return statement.on_conflict_do_nothing(index_elements=once)  # type: ignore[no-any-return]  # as above


_INSERTS: Final = {True: _insert(sqlite_insert), False: _insert(postgresql_insert)}
_INSERT_RETURNING: Final[sa.Executable] = _INSERTS[True].returning(_COLUMNS.number)  # type: ignore[attr-defined]  # Executable lacks it
_VERSION: Final = sa.select(_NUMBER).where(_OF_SESSION)
_KNOWN: Final = sa.select(_COLUMNS.message_key).where(
    _OF_SESSION, _COLUMNS.message_key == sa.bindparam("message_key", type_=sa.Text)
)
_SESSIONS: Final = sa.select(_COLUMNS.session_id).distinct()
_ERASE: Final = sa.delete(_MESSAGES).where(_OF_SESSION)
_NODES_OF_SESSION: Final = _NODES.c.session_id == _SESSION
_NODES_VERSION: Final = sa.select(sa.func.coalesce(sa.func.max(_NODES.c.number), sa.literal_column("0"))).where(
    _NODES_OF_SESSION
)
_INSERT_NODE: Final = sa.insert(_NODES).values(
    {column.name: sa.bindparam(column.name, type_=column.type) for column in _NODES.columns}
)
_READ_NODES: Final = (
    sa.select(_NODES.c.body)
    .where(_NODES_OF_SESSION, _NODES.c.number > sa.bindparam("after", type_=sa.BigInteger))
    .order_by(_NODES.c.number)
)
_ERASE_NODES: Final = sa.delete(_NODES).where(_NODES_OF_SESSION)
_LOCK_SESSION: Final = sa.select(
    sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(_SESSION, sa.literal_column("0")))
)

_between = sa.select(_COLUMNS.number, _COLUMNS.created_at, _COLUMNS.body).where(
    _OF_SESSION,
    _COLUMNS.number > sa.bindparam("after", type_=sa.BigInteger),
    _COLUMNS.number < sa.bindparam("before", type_=sa.BigInteger),
)
_LIMIT: Final = sa.bindparam("limit", type_=sa.BigInteger)
_NO_OFFSET: Final[Any] = sa.literal_column("0")  # else the SQLite dialect adds a parameter for it
_OLDEST: Final = _between.order_by(_COLUMNS.number).limit(_LIMIT).offset(_NO_OFFSET)
_NEWEST: Final = _between.order_by(_COLUMNS.number.desc()).limit(_LIMIT).offset(_NO_OFFSET)
_NO_LIMIT: Final = (1 << 63) - 1


class SQLMessageLog(DatabaseBacked, MessageLog):
    """A message log in a SQLite file or a PostgreSQL database, shared by any number of threads and processes.

    Once `append` has returned, the messages survive the death of this process, however it dies. Whether they survive
    a power cut is the database's business: SQLite with `synchronous="NORMAL"` may lose the last commits of a machine
    that loses power (and stays intact), with `"FULL"` it waits for the disk at each append and loses none.

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
    ) -> None:
        super().__init__(clock=clock)
        self._arguments = {"url": url, "busy_timeout": busy_timeout, "synchronous": synchronous, "clock": clock}
        self._database = Database(url, _METADATA, busy_timeout=busy_timeout, synchronous=synchronous)

    def close(self) -> None:
        """Close the connections. An in-memory database is gone with them."""
        self._database.close()

    def _append(self, session_id: str, records: list[Record], expected_version: int | None) -> int:
        database = self._database
        rows = [_parameters(session_id, record) for record in records]
        if len(rows) == 1 and expected_version is None and database.is_sqlite:
            added = database.write_one(_INSERT_RETURNING, rows[0])
            return int(added[0][0]) if added else self._version(session_id)
        with database.writing() as cursor:
            if not database.is_sqlite:
                # SQLite has one writer at a time; PostgreSQL's writers to one session take turns by this lock.
                cursor.execute(database.sql(_LOCK_SESSION), {"session_id": session_id})
            if expected_version is not None:
                actual = self._select_version(cursor, session_id)
                if actual != expected_version:
                    raise version_conflict(session_id, expected_version, actual)
            if rows:
                cursor.executemany(database.sql(_INSERTS[database.is_sqlite]), rows)
            return self._select_version(cursor, session_id)

    def _select_version(self, cursor: DBAPICursor, session_id: str, statement: sa.Executable = _VERSION) -> int:
        cursor.execute(self._database.sql(statement), {"session_id": session_id})
        ((version,),) = cursor.fetchall()
        return int(version)

    def _read(
        self,
        session_id: str,
        after: int,
        before: int | None,
        limit: int | None,
        newest: bool,  # noqa: FBT001  # as in the port
    ) -> list[tuple[int, int, str]]:
        parameters = {
            "session_id": session_id,
            "after": after,
            "before": _NO_LIMIT if before is None else before,
            "limit": _NO_LIMIT if limit is None else limit,
        }
        with self._database.reading() as cursor:
            cursor.execute(self._database.sql(_NEWEST if newest else _OLDEST), parameters)
            rows: list[tuple[int, int, str]] = cursor.fetchall()  # type: ignore[assignment]  # the columns selected
        if newest:
            rows.reverse()
        return rows

    def _version(self, session_id: str) -> int:
        with self._database.reading() as cursor:
            return self._select_version(cursor, session_id)

    def _known(self, session_id: str, keys: list[str]) -> list[str]:
        known = []
        with self._database.reading() as cursor:
            for key in keys:
                cursor.execute(self._database.sql(_KNOWN), {"session_id": session_id, "message_key": key})
                if cursor.fetchall():
                    known.append(key)
        return known

    def _sessions(self) -> list[str]:
        with self._database.reading() as cursor:
            cursor.execute(self._database.sql(_SESSIONS))
            return [str(session_id) for (session_id,) in cursor.fetchall()]

    def _erase(self, session_id: str) -> int:
        with self._database.writing() as cursor:
            if not self._database.is_sqlite:
                cursor.execute(self._database.sql(_LOCK_SESSION), {"session_id": session_id})
            cursor.execute(self._database.sql(_ERASE_NODES), {"session_id": session_id})
            cursor.execute(self._database.sql(_ERASE), {"session_id": session_id})
            return int(cursor.rowcount)

    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        database = self._database
        with database.writing() as cursor:
            if not database.is_sqlite:
                cursor.execute(database.sql(_LOCK_SESSION), {"session_id": session_id})
            actual = self._select_version(cursor, session_id, _NODES_VERSION)
            if actual != expected_version or last > self._select_version(cursor, session_id):
                raise nodes_conflict(session_id, expected_version, actual)
            numbered = enumerate(rows, start=actual + 1)
            values = [{"session_id": session_id, "number": number, "body": row} for number, row in numbered]
            if values:
                cursor.executemany(database.sql(_INSERT_NODE), values)
            return actual + len(values)

    def _nodes(self, session_id: str, after: int) -> list[str]:
        with self._database.reading() as cursor:
            cursor.execute(self._database.sql(_READ_NODES), {"session_id": session_id, "after": after})
            return [str(body) for (body,) in cursor.fetchall()]


def _parameters(session_id: str, record: Record) -> dict[str, Any]:
    return {
        "session_id": session_id,
        "message_key": record.key,
        "created_at": record.time,
        "body": record.body,
    }
