"""The fact store in SQLite or PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from langchain_tiered_memory._sql import Database, DatabaseBacked, Synchronous
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.keys import Key, escape, key_of, unescape
from langchain_tiered_memory.semantic.operations import FactRows
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
from langchain_tiered_memory.semantic.store import FactStore, Validities
from langchain_tiered_memory.semantic.timeline import is_live
from langchain_tiered_memory.types import Clock, MemoryScope

if TYPE_CHECKING:
    from sqlalchemy.pool import PoolProxiedConnection

__all__ = ["SQLFactStore"]

_METADATA: Final = sa.MetaData()
_FACTS: Final = sa.Table(
    "tiered_memory_facts",
    _METADATA,
    sa.Column("user_key", sa.Text, primary_key=True),
    sa.Column("session_key", sa.Text, primary_key=True),
    sa.Column("fact_key", sa.Text, primary_key=True),
    sa.Column("version", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("valid_from", sa.BigInteger, nullable=False),
    sa.Column("valid_until", sa.BigInteger, nullable=False),
    sa.Column("updated_at", sa.BigInteger, nullable=False),
    sa.Column("turn_id", sa.BigInteger),
    sa.Column("source", sa.Text),
    sa.Column("deleted", sa.SmallInteger, nullable=False),
    sa.Column("leads", sa.SmallInteger, nullable=False),
    sa.Column("high_turn", sa.BigInteger, nullable=False),
    sa.Column("tenant", sa.Text, nullable=False),
    sa.Column("user_id", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text),
    sa.Column("entity", sa.Text, nullable=False),
    sa.Column("attribute", sa.Text, nullable=False),
    # The versions of a fact lie side by side, and so do the facts of a user: the present one is one step in one tree.
    sqlite_with_rowid=False,
)
_C: Final = _FACTS.c


def _bind(name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=sa.Text)


def _bind_number(name: str) -> sa.BindParameter[Any]:
    return sa.bindparam(name, type_=sa.BigInteger)


_OF_USER: Final = _C.user_key == _bind("user_key")
_OF_OWNER: Final = sa.and_(_OF_USER, _C.session_key == _bind("session_key"))
_OF_FACT: Final = sa.and_(_OF_OWNER, _C.fact_key == _bind("fact_key"))
_ROW: Final = [_C[name] for name in Row._fields]
_NAMED: Final = [_C.tenant, _C.user_id, _C.session_id, _C.entity, _C.attribute, *_ROW]
_ZERO: Final = sa.literal_column("0", sa.BigInteger)  # written out: a bound constant costs as much as it says
_ONE: Final = sa.literal_column("1", sa.BigInteger)
_LEADS: Final = _C.leads == _ONE
_ATTEMPTS: Final = 64
_IDLE: Final = 4
"""Connections kept at hand: fewer than the pool has, so that whoever waits for the pool gets one of it."""

_HEAD: Final = sa.select(*_ROW).where(_OF_FACT, _LEADS).order_by(_C.version.desc()).limit(_ONE).offset(_ZERO)
_ROWS: Final = sa.select(*_ROW).where(_OF_FACT)
_ORDER: Final = (_C.session_key, _C.entity, _C.attribute, _C.version)
_OWNED: Final = sa.select(*_NAMED).where(_OF_OWNER).order_by(*_ORDER)
_OWNED_BY_USER: Final = sa.select(*_NAMED).where(_OF_USER).order_by(*_ORDER)
# By a window over the primary key's own order, so that the plan is the same before the table is analysed.
_newest = (
    sa.select(
        *_NAMED,
        sa.func.row_number().over(partition_by=(_C.session_key, _C.fact_key), order_by=_C.version.desc()).label("age"),
    )
    .where(
        _OF_USER,
        sa.or_(_C.session_key == _bind("session_key"), _C.session_key == _bind("other_key")),
        _LEADS,
        sa.or_(_bind_number("any_entity") == _ONE, _C.entity == _bind("entity")),
        sa.func.substr(_C.attribute, _ONE, sa.bindparam("prefix_length", type_=sa.Integer)) == _bind("prefix"),
    )
    .subquery()
)
_HEADS_OF: Final = sa.select(*[_newest.c[column.name] for column in _NAMED]).where(_newest.c.age == _ONE)
_ERASE_BY_USER: Final = sa.delete(_FACTS).where(_OF_USER).returning(_C.deleted)
_ERASE: Final = sa.delete(_FACTS).where(_OF_OWNER).returning(_C.deleted)
_LOCK: Final = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(_bind("user_key"), _ZERO)))


def _insert(dialect: Callable[[sa.Table], Any]) -> sa.Executable:
    """One statement that finds what leads, checks it, and writes the next version, or nothing where it may not."""
    head = (
        sa.select(_C.version, _C.valid_until, _C.deleted, _C.high_turn)
        .where(_OF_FACT, _LEADS)
        .order_by(_C.version.desc())
        .limit(_ONE)
        .offset(_ZERO)
        .subquery("head")
    )
    version = sa.func.coalesce(sa.func.max(_C.version), _ZERO).label("version")
    last = sa.select(version).where(_OF_FACT).subquery("last")
    now, until, turn = _bind_number("updated_at"), _bind_number("valid_until"), _bind_number("turn_id")
    live = sa.and_(head.c.deleted == _ZERO, head.c.valid_until > now)
    high = sa.func.coalesce(head.c.high_turn, sa.literal_column("-1"))
    leads = sa.and_(sa.or_(turn.is_(None), turn >= high), until > now)
    values: dict[str, Any] = {column.name: sa.bindparam(column.name, type_=column.type) for column in _FACTS.columns}
    values["version"] = last.c.version + _ONE
    values["leads"] = sa.case((leads, _ONE), else_=_ZERO)
    values["high_turn"] = sa.case((sa.and_(leads, turn > high), turn), else_=high)
    expected = _bind_number("expected")
    allowed = sa.or_(
        expected == sa.literal_column("-1"),
        expected == sa.case((live, head.c.version), else_=_ZERO),
    )
    chosen = sa.select(*values.values()).select_from(last.outerjoin(head, sa.true())).where(allowed)
    # In PostgreSQL two writers may find the same next version: the second one writes nothing.
    statement = dialect(_FACTS).from_select(list(values), chosen).on_conflict_do_nothing()
    return statement.returning(_C.version, _C.leads)  # type: ignore[no-any-return]  # dialects share no type


_INSERTS: Final = {True: _insert(sqlite_insert), False: _insert(postgresql_insert)}

_ROW_BYTES: Final = 512
"""About what a fact takes in a file."""


class SQLFactStore(DatabaseBacked, FactStore):
    """Facts in a SQLite file or a PostgreSQL database, shared by any number of threads and processes.

    Every write is one statement that appends a row, so that the history is the table itself and nothing written is ever
    changed. Once `put` has returned, the fact survives the death of this process, however it dies; for a power cut see
    `synchronous`. The database is opened on first use, anew after a fork, and anew where a pickled store arrives.

    ```python
    from langchain_tiered_memory import MemoryScope, SQLFactStore

    with SQLFactStore("sqlite://") as facts:  # in memory; sqlite:///facts.db is a file
        ada = MemoryScope(user="ada")
        facts.put(ada, "ada", "home_city", "Berlin", expected_version=0)
        assert facts.get(ada, "ada", "home_city").value == "Berlin"
    ```

    Args:
        url: `sqlite:///relative.db`, `sqlite:////absolute.db`, `sqlite://` (in memory, gone with the store), or
            `postgresql+psycopg://user:password@host/database`.
        busy_timeout: Seconds to wait while another process writes to the SQLite file.
        synchronous: How much care SQLite takes against a power cut: with `"NORMAL"` the last writes may be lost,
            with `"FULL"` none.
        clock: Gives the time; the system's UTC time if not given.
        validities: How long a fact of each class holds, where not 7 days, 90 days and without end (`None`).

    Raises:
        MemoryStoreError: The URL cannot be used; later, the database cannot be reached, read or written.
    """

    def __init__(
        self,
        url: str,
        *,
        busy_timeout: float = 30.0,
        synchronous: Synchronous = "NORMAL",
        clock: Clock | None = None,
        validities: Validities | None = None,
    ) -> None:
        self._arguments = {
            "url": url,
            "busy_timeout": busy_timeout,
            "synchronous": synchronous,
            "clock": clock,
            "validities": validities,
        }
        self._database = Database(url, _METADATA, busy_timeout=busy_timeout, synchronous=synchronous)
        self._kept = _SQLRows(self._database)
        super().__init__(self._kept, _InThread(self._kept), clock=clock, validities=validities)

    def close(self) -> None:
        """Close the connections. An in-memory database is gone with them."""
        self._kept.close()
        self._database.close()


class _SQLRows:
    """Implements `FactRows` with statements that block."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._idle: deque[PoolProxiedConnection] = deque()

    async def put(self, key: Key, change: Change) -> Outcome:
        parameters = {
            **_columns_of(key),
            "value": change.value,
            "valid_from": change.valid_from,
            "valid_until": change.valid_until,
            "updated_at": change.now,
            "turn_id": change.turn_id,
            "source": change.source,
            "deleted": change.deleted,
            "expected": -1 if change.expected is None else change.expected,
        }
        head: Row | None = None
        for attempt in range(_ATTEMPTS):
            written = self._write(parameters, in_turn=attempt > 0)
            if written:
                ((version, leads),) = written
                return Outcome(change.row(version, leads))
            (head,) = await self.heads([key])
            actual = head.version if is_live(head, change.now) else 0
            if change.expected is not None and change.expected != actual:
                break
        return Outcome(None, head)

    def _write(self, parameters: dict[str, Any], *, in_turn: bool) -> Sequence[Any]:
        """Write, and give version and `leads`, or nothing; PostgreSQL's writers take turns once one came second."""
        database = self._database
        statement = _INSERTS[database.is_sqlite]
        if database.is_sqlite:
            return database.write_one(statement, parameters)
        with database.writing() if in_turn else database.reading() as cursor:  # by itself a statement is a transaction
            if in_turn:
                cursor.execute(database.sql(_LOCK), parameters)
            cursor.execute(database.sql(statement), parameters)
            return cursor.fetchall()

    async def erase(self, owner: MemoryScope) -> int:
        statement = _ERASE_BY_USER if owner.session is None else _ERASE
        with self._database.writing() as cursor:
            cursor.execute(self._database.sql(statement), _owner_parameters(owner))
            gone = cursor.fetchall()
            if gone:
                self._database.mark_erased(cursor)
        self._database.scrub(_ROW_BYTES * len(gone))
        return sum(not deleted for (deleted,) in gone)

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        found = []
        for key in keys:
            parameters = {"user_key": key.user_key, "session_key": key.session_key, "fact_key": key.fact_key}
            rows = self._read(_HEAD, parameters)
            found.append(Row._make(rows[0]) if rows else None)
        return found

    async def rows(self, key: Key) -> Sequence[Row]:
        return [Row._make(row) for row in self._read(_ROWS, _columns_of(key))]

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        start = escape(prefix or "")
        parameters = {
            **_owner_parameters(owners[0]),
            "other_key": owners[-1].session_key,
            "any_entity": int(entity is None),
            "entity": escape(entity or ""),
            "prefix": start,
            "prefix_length": len(start),
        }
        return [_owned(*row) for row in self._read(_HEADS_OF, parameters)]

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        statement = _OWNED_BY_USER if sessions else _OWNED
        return [_owned(*row) for row in self._read(statement, _owner_parameters(owner))]

    def _read(self, statement: sa.Executable, parameters: Mapping[str, Any]) -> Sequence[Any]:
        """All rows that a statement gives.

        Of a SQLite file a few connections stay open between reads: to lease one from SQLAlchemy's pool and give it back
        takes two to three times as long as to read a row by its key.
        """
        database = self._database
        if not database.is_sqlite or database.is_in_memory:
            with database.reading() as cursor:
                cursor.execute(database.sql(statement), dict(parameters))
                return cursor.fetchall()
        if self._process != os.getpid():
            self._inherited = self._idle  # kept, since dropping them would close the parent's
            self._reset()
        text = database.sql(statement)
        try:
            leased = self._idle.pop()
        except IndexError:
            leased = database.engine.raw_connection()
        try:
            return leased.dbapi_connection.execute(text, parameters).fetchall()  # type: ignore[union-attr, no-any-return]  # sqlite3's
        except database.engine.dialect.loaded_dbapi.Error as error:
            msg = f"{database.name}: {error}"
            raise MemoryStoreError(msg) from error
        finally:
            if len(self._idle) < _IDLE:
                self._idle.append(leased)
            else:
                leased.close()

    def close(self) -> None:
        """Close the connections at hand."""
        while self._idle:
            self._idle.pop().close()


class _InThread:
    """Implements `FactRows` by rows that block, each call in a thread off the event loop."""

    def __init__(self, rows: FactRows) -> None:
        self._rows = rows

    async def put(self, key: Key, change: Change) -> Outcome:
        return await asyncio.to_thread(run_sync, self._rows.put(key, change))

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        return await asyncio.to_thread(run_sync, self._rows.heads(keys))

    async def rows(self, key: Key) -> Sequence[Row]:
        return await asyncio.to_thread(run_sync, self._rows.rows(key))

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return await asyncio.to_thread(run_sync, self._rows.heads_of(owners, entity, prefix))

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        return await asyncio.to_thread(run_sync, self._rows.rows_of(owner, sessions=sessions))

    async def erase(self, owner: MemoryScope) -> int:
        return await asyncio.to_thread(run_sync, self._rows.erase(owner))


def _owner_parameters(owner: MemoryScope) -> dict[str, str]:
    return {"user_key": owner.user_key, "session_key": owner.session_key}


@lru_cache(maxsize=4_096)  # a digest costs as much as the statement
def _columns_of(key: Key) -> Mapping[str, Any]:
    scope = key.scope
    return {
        "user_key": key.user_key,
        "session_key": key.session_key,
        "fact_key": key.fact_key,
        "tenant": escape(scope.tenant),
        "user_id": escape(scope.user),
        "session_id": None if scope.session is None else escape(scope.session),
        "entity": escape(key.entity),
        "attribute": escape(key.attribute),
    }


def _owned(tenant: str, user: str, session: str | None, entity: str, attribute: str, *row: Any) -> Owned:  # noqa: ANN401  # a row
    scope = MemoryScope(unescape(user), unescape(tenant), None if session is None else unescape(session))
    return Owned(key_of(scope, unescape(entity), unescape(attribute)), Row._make(row))
