"""Opens a SQLite or PostgreSQL database and runs precompiled statements on it, as thinly as it goes.

SQLAlchemy opens the connections, keeps the pool and compiles each statement once for its dialect; the statements then
run on the driver's own cursor. Measured per append in SQLite: 45 µs on a bare cursor, 45 as here, 95 through
`exec_driver_sql`, 120 through `Connection.execute`.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import StaticPool

from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
    from sqlalchemy.pool import PoolProxiedConnection

__all__ = ["Database", "DatabaseBacked", "Synchronous"]

Synchronous: TypeAlias = Literal["NORMAL", "FULL"]

_DRIVERS: Final = {"postgres": "postgresql+psycopg", "postgresql": "postgresql+psycopg"}
_DIALECTS: Final = ("sqlite", "postgresql")
_MEMORY: Final = (None, "", ":memory:")
_SMALL: Final = 32_000_000
"""Bytes up to which a SQLite file is rewritten after every erasure; a larger one after some, or when it is closed."""
_SHARE: Final = 8
_OWED: Final = 1
"""`user_version` of a SQLite file that is still to be rewritten."""


class Database:
    """A SQLite or PostgreSQL database, opened on first use, that threads may share and a forked process opens anew.

    In a SQLite file one connection writes and a pool of others reads, so that a long read stops no write and the
    threads of this process queue for the write lock instead of polling for it. In memory there is one connection for
    both. Every write transaction takes the write lock at its beginning: one that reads first and upgrades its lock
    later would be refused with "database is locked" whatever the timeout.

    Args:
        url: An SQLAlchemy URL.
        metadata: The tables to create where they are missing.
        busy_timeout: Seconds to wait for a lock that another process holds.
        synchronous: SQLite's level of care for a power cut; a killed process loses nothing with either.
    """

    def __init__(
        self, url: str, metadata: sqlalchemy.MetaData, *, busy_timeout: float, synchronous: Synchronous
    ) -> None:
        self._url = _checked_url(url)
        self._metadata = metadata
        if isinstance(busy_timeout, bool) or not busy_timeout >= 0:
            msg = f"busy_timeout is seconds from 0 up, got {busy_timeout!r}"
            raise ValueError(msg)
        if synchronous not in {"NORMAL", "FULL"}:
            msg = f'synchronous is "NORMAL" or "FULL", got {synchronous!r}'
            raise ValueError(msg)
        self._busy_timeout = busy_timeout
        self._synchronous = synchronous
        self.name = self._url.render_as_string(hide_password=True)
        self.is_sqlite = self._url.get_backend_name() == "sqlite"
        self.is_in_memory = self.is_sqlite and (
            self._url.database in _MEMORY or self._url.query.get("mode") == "memory"
        )
        self._closed = False
        self._process = os.getpid()
        self._reset()

    def _reset(self) -> None:
        self._engine: sqlalchemy.Engine | None = None
        self._writer: PoolProxiedConnection | None = None
        self._opening = threading.Lock()
        self._writing = threading.RLock()
        self._compiled: dict[sqlalchemy.Executable, str] = {}
        self._erased = 0

    # --- statements ---------------------------------------------------------------------------------------------------

    def sql(self, statement: sqlalchemy.Executable) -> str:
        """A statement in this database's dialect, compiled once; it takes its parameters by name."""
        text = self._compiled.get(statement)
        if text is None:
            text = str(statement.compile(dialect=self.engine.dialect))  # type: ignore[attr-defined]  # Executable lacks compile
            self._compiled[statement] = text
        return text

    @contextmanager
    def reading(self) -> Iterator[DBAPICursor]:
        """A cursor for reading; each statement sees what was committed when it began."""
        with self._translated(), self._reader() as connection:
            cursor = connection.cursor()
            try:
                yield cursor
            finally:
                cursor.close()

    def write_one(self, statement: sqlalchemy.Executable, parameters: dict[str, Any]) -> list[Any]:
        """Run one statement in SQLite, which makes a transaction of it by itself, and return its rows.

        The path of almost every append, and therefore without the context managers of the others.
        """
        text = self.sql(statement)
        try:
            with self._writing:
                cursor = self._sqlite_writer().cursor()
                cursor.execute(text, parameters)
                return cursor.fetchall()  # type: ignore[return-value]  # a list in sqlite3
        except self._driver_error as error:
            raise self._failure(error) from error

    @contextmanager
    def writing(self) -> Iterator[DBAPICursor]:
        """A cursor in a transaction that is committed at the end, and rolled back where an exception leaves it."""
        with self._translated(), self._write_connection() as connection:
            cursor = connection.cursor()
            try:
                cursor.execute("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
                try:
                    yield cursor
                    cursor.execute("COMMIT")
                except BaseException:
                    self._roll_back(connection)
                    raise
            finally:
                cursor.close()

    def _roll_back(self, connection: DBAPIConnection) -> None:
        try:
            connection.cursor().execute("ROLLBACK")
        except self._driver_error:
            # The connection is lost, or a failed COMMIT has ended the transaction: either way nothing is open.
            if not self.is_sqlite:
                return

    # --- what was erased ----------------------------------------------------------------------------------------------

    def mark_erased(self, cursor: DBAPICursor) -> None:
        """Note in the transaction that deletes rows that their bytes are still to be removed by `scrub`."""
        if self.is_sqlite and not self.is_in_memory:
            cursor.execute(f"PRAGMA user_version={_OWED}")

    def scrub(self, size: int = 0) -> None:
        """Remove what was deleted from the bytes of a SQLite file; call it after the transaction that deleted.

        SQLite overwrites deleted rows, but copies of them stay where pages were split. Only rewriting the file removes
        these. That takes as long as the file is large, so a file over 32 MB is rewritten once an eighth of it was
        erased, and otherwise when it is closed. What could not be done now, because others read or the process died, is
        done by whoever erases or closes next.

        Args:
            size: About how many bytes were deleted.
        """
        if not self.is_sqlite or self.is_in_memory:
            return
        with self._translated(), self._writing:
            cursor: Any = self._sqlite_writer().cursor()
            self._erased += size
            ((length,),) = cursor.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            if length <= max(_SMALL, _SHARE * self._erased):
                self._rewrite(cursor)
            else:
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            cursor.close()

    def _rewrite(self, cursor: Any) -> None:  # noqa: ANN401  # a cursor of sqlite3, of which SQLAlchemy types little
        if cursor.execute("PRAGMA user_version").fetchone() != (_OWED,):
            return
        cursor.execute("VACUUM")
        # Waits for readers as long as for any lock.
        ((is_busy, _, _),) = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        if not is_busy:
            cursor.execute("PRAGMA user_version=0")
            self._erased = 0

    def _finish_erasures(self) -> None:
        if self.is_sqlite and not self.is_in_memory and self._writer is not None:
            cursor: Any = self._sqlite_writer().cursor()
            self._rewrite(cursor)
            cursor.close()

    # --- connections --------------------------------------------------------------------------------------------------

    @property
    def engine(self) -> sqlalchemy.Engine:
        """The engine of this process, opened now if it is not open yet."""
        if self._process != os.getpid():
            self._forget_parent()
        if self._closed:
            msg = f"{self.name} is closed: open it anew to go on"
            raise MemoryStoreError(msg)
        if self._engine is None:
            with self._opening:
                if self._engine is None:
                    self._engine = self._open()
        return self._engine

    def close(self) -> None:
        """Close every connection; whoever uses the database afterwards gets an error."""
        with self._writing:
            if self._process == os.getpid() and not self._closed and self._engine is not None:
                with self._translated():
                    self._finish_erasures()
            self._closed = True
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            if self._engine is not None:
                self._engine.dispose()
                self._engine = None

    def _forget_parent(self) -> None:
        """Leave the parent's connections alone: a forked process that used them would corrupt the database."""
        if self.is_in_memory:
            msg = f"{self.name} belongs to the process that opened it: give a forked process a file"
            raise MemoryStoreError(msg)
        if self._engine is not None:
            self._engine.dispose(close=False)
        self._inherited = self._writer  # kept, since dropping it would close it
        self._process = os.getpid()
        self._reset()

    def _open(self) -> sqlalchemy.Engine:
        with self._translated(opening=True):
            engine = self._create_engine()
            # Two processes that open a new file at once may both be refused, whatever the busy timeout.
            self._retry_locked(lambda: self._create_tables(engine))
            return engine

    def _create_engine(self) -> sqlalchemy.Engine:
        options: dict[str, Any] = {"isolation_level": "AUTOCOMMIT"}
        if not self.is_sqlite:
            import_optional("psycopg", needed_by=f"the database {self.name!r}")
            return sqlalchemy.create_engine(self._url, pool_pre_ping=True, **options)
        if self.is_in_memory:
            options["poolclass"] = StaticPool
        elif self._url.database and not self._url.database.startswith("file:"):
            Path(self._url.database).parent.mkdir(parents=True, exist_ok=True)
        arguments = {"timeout": self._busy_timeout, "check_same_thread": False}
        engine = sqlalchemy.create_engine(self._url, paramstyle="named", connect_args=arguments, **options)
        sqlalchemy.event.listen(engine, "connect", self._set_up_sqlite)
        return engine

    def _set_up_sqlite(self, connection: DBAPIConnection, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.execute(f"PRAGMA synchronous={self._synchronous}")
        cursor.execute("PRAGMA secure_delete=ON")
        cursor.close()

    def _create_tables(self, engine: sqlalchemy.Engine) -> None:
        with engine.connect() as connection:
            if all(sqlalchemy.inspect(connection).has_table(table.name) for table in self._metadata.sorted_tables):
                return
            connection.exec_driver_sql("BEGIN IMMEDIATE" if self.is_sqlite else "BEGIN")
            if not self.is_sqlite:
                # PostgreSQL's CREATE TABLE IF NOT EXISTS fails where two run at once.
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7245871)")
            self._metadata.create_all(connection, checkfirst=True)
            connection.exec_driver_sql("COMMIT")

    def _retry_locked(self, work: Callable[[], None]) -> None:
        give_up = time.monotonic() + self._busy_timeout
        while True:
            try:
                return work()
            except sqlalchemy.exc.OperationalError as error:
                if not (self.is_sqlite and "locked" in str(error.orig)) or time.monotonic() > give_up:
                    raise
                time.sleep(0.01)

    @contextmanager
    def _reader(self) -> Iterator[DBAPIConnection]:
        engine = self.engine
        if self.is_in_memory:
            with self._write_connection() as connection:
                yield connection
        else:
            with _leased(engine) as connection:
                yield connection

    @contextmanager
    def _write_connection(self) -> Iterator[DBAPIConnection]:
        engine = self.engine
        if self.is_sqlite:
            with self._writing:
                yield self._sqlite_writer()
        else:
            with _leased(engine) as connection:
                yield connection

    def _sqlite_writer(self) -> DBAPIConnection:
        engine = self.engine
        if self._writer is None:
            self._writer = engine.raw_connection()
        return self._writer.dbapi_connection  # type: ignore[return-value]  # None only after it is closed

    # --- errors -------------------------------------------------------------------------------------------------------

    @property
    def _driver_error(self) -> type[Exception]:
        error: type[Exception] = self.engine.dialect.loaded_dbapi.Error
        return error

    @contextmanager
    def _translated(self, *, opening: bool = False) -> Iterator[None]:
        errors = (SQLAlchemyError, OSError) if opening else (SQLAlchemyError, self._driver_error)
        try:
            yield
        except errors as error:
            raise self._failure(error) from error

    def _failure(self, error: Exception) -> MemoryStoreError:
        reason = getattr(error, "orig", None) or error
        hint = ""
        if self.is_sqlite and "locked" in str(reason):
            hint = (
                f". Another process held the write lock for more than {self._busy_timeout:g} s: let it finish, "
                "or give busy_timeout more seconds"
            )
        return MemoryStoreError(f"{self.name}: {str(reason).strip()}{hint}")


@contextmanager
def _leased(engine: sqlalchemy.Engine) -> Iterator[DBAPIConnection]:
    leased = engine.raw_connection()
    try:
        yield leased.dbapi_connection  # type: ignore[misc]  # None only after it is closed
    finally:
        leased.close()


def _checked_url(url: str) -> sqlalchemy.URL:
    try:
        parsed = sqlalchemy.make_url(url)
        if parsed.drivername in _DRIVERS:
            parsed = parsed.set(drivername=_DRIVERS[parsed.drivername])
        backend = parsed.get_backend_name()
        is_async = backend in _DIALECTS and parsed.drivername.rpartition("+")[2] in {"aiosqlite", "asyncpg"}
    except SQLAlchemyError as error:
        msg = (
            f"cannot read a database's address in {url!r}: write sqlite:///memory.db or postgresql+psycopg://host/name"
        )
        raise MemoryStoreError(msg) from error
    shown = parsed.render_as_string(hide_password=True)
    if backend not in _DIALECTS:
        msg = f"{shown}: only sqlite and postgresql are supported, not {backend}"
        raise MemoryStoreError(msg)
    if is_async:
        msg = f"{shown}: give the driver that blocks (sqlite:///, postgresql+psycopg://); the async methods use threads"
        raise MemoryStoreError(msg)
    return parsed


class DatabaseBacked(PickledByArguments):
    """Lives in a database, and so travels only where that can be opened too."""

    _called: ClassVar[str] = "store"  # in errors
    _database: Database

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._database.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        if self._database.is_in_memory:
            msg = (
                f"{self!r} lives in this process's memory and cannot be sent elsewhere: give the {self._called} a file"
            )
            raise TypeError(msg)
        return super().__getstate__()
