"""The fact store in SQLite or PostgreSQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from langchain_tiered_memory._database import Database, Synchronous
from langchain_tiered_memory._lifecycle import DatabaseBacked
from langchain_tiered_memory.semantic._readers import Readers
from langchain_tiered_memory.semantic._writing import conflict_of
from langchain_tiered_memory.semantic.keys import Key, escape, key_of, unescape
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row, Validity
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.semantic.timeline import is_live
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from langchain_tiered_memory._times import Duration
    from langchain_tiered_memory.types import Clock

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


def _bind(name: str, type_: Any = sa.Text) -> sa.BindParameter[Any]:  # noqa: ANN401  # SQLAlchemy's types and their classes
    return sa.bindparam(name, type_=type_)


_OF_USER: Final = _C.user_key == _bind("user_key")
_OF_OWNER: Final = sa.and_(_OF_USER, _C.session_key == _bind("session_key"))
_OF_FACT: Final = sa.and_(_OF_OWNER, _C.fact_key == _bind("fact_key"))
_LEADS: Final = _C.leads == sa.literal_column("1")
_ROW: Final = [_C[name] for name in Row._fields]
_NAMED: Final = [_C.tenant, _C.user_id, _C.session_id, _C.entity, _C.attribute, *_ROW]
_NO_OFFSET: Final[Any] = sa.literal_column("0")  # else the SQLite dialect adds a parameter for it
_ONE: Final[Any] = sa.literal_column("1")
_ATTEMPTS: Final = 64

_HEAD: Final = sa.select(*_ROW).where(_OF_FACT, _LEADS).order_by(_C.version.desc()).limit(_ONE).offset(_NO_OFFSET)
_ROWS: Final = sa.select(*_ROW).where(_OF_FACT)
_MATCHES: Final = sa.and_(
    sa.or_(_bind("any_entity", sa.SmallInteger) == _ONE, _C.entity == _bind("entity")),
    sa.func.substr(_C.attribute, _ONE, _bind("prefix_length", sa.Integer)) == _bind("prefix"),
)
_ORDER: Final = (_C.session_key, _C.entity, _C.attribute, _C.version)
_OWNED: Final = sa.select(*_NAMED).where(_OF_OWNER, _MATCHES).order_by(*_ORDER)
_OWNED_BY_USER: Final = sa.select(*_NAMED).where(_OF_USER, _MATCHES).order_by(*_ORDER)
_newest = (
    sa.select(_C.fact_key, sa.func.max(_C.version).label("version"))
    .where(_OF_OWNER, _LEADS, _MATCHES)
    .group_by(_C.fact_key)
    .subquery()
)
_OWNED_HEADS: Final = (
    sa.select(*_NAMED)
    .join_from(_FACTS, _newest, sa.and_(_C.fact_key == _newest.c.fact_key, _C.version == _newest.c.version))
    .where(_OF_OWNER)
)
_ERASE_BY_USER: Final = sa.delete(_FACTS).where(_OF_USER).returning(_C.deleted)
_ERASE: Final = sa.delete(_FACTS).where(_OF_OWNER).returning(_C.deleted)
_LOCK: Final = sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(_bind("user_key"), _NO_OFFSET)))


def _insert(dialect: Any) -> sa.Executable:  # noqa: ANN401  # two functions of the same shape without a common type
    """One statement that finds what leads, checks it, and writes the next version, or nothing where it may not."""
    head = (
        sa.select(_C.version, _C.valid_until, _C.deleted, _C.high_turn)
        .where(_OF_FACT, _LEADS)
        .order_by(_C.version.desc())
        .limit(_ONE)
        .offset(_NO_OFFSET)
        .subquery("head")
    )
    version = sa.func.coalesce(sa.func.max(_C.version), _NO_OFFSET).label("version")
    last = sa.select(version).where(_OF_FACT).subquery("last")
    now, turn = _bind("updated_at", sa.BigInteger), _bind("turn_id", sa.BigInteger)
    until = _bind("valid_until", sa.BigInteger)
    live = sa.and_(head.c.deleted == _NO_OFFSET, head.c.valid_until > now)
    high = sa.func.coalesce(head.c.high_turn, sa.literal_column("-1"))
    leads = sa.and_(sa.or_(turn.is_(None), turn >= high), until > now)
    values: dict[str, Any] = {column.name: _bind(column.name, column.type) for column in _FACTS.columns}
    values["version"] = last.c.version + _ONE
    values["leads"] = sa.case((leads, _ONE), else_=_NO_OFFSET)
    values["high_turn"] = sa.case((sa.and_(leads, turn > high), turn), else_=high)
    expected = _bind("expected", sa.BigInteger)
    allowed = sa.or_(
        expected == sa.literal_column("-1"),
        expected == sa.case((live, head.c.version), else_=_NO_OFFSET),
    )
    chosen = sa.select(*values.values()).select_from(last.outerjoin(head, sa.true())).where(allowed)
    # In PostgreSQL two writers may find the same next version: the second one writes nothing.
    statement = dialect(_FACTS).from_select(list(values), chosen).on_conflict_do_nothing()
    return statement.returning(_C.version, _C.leads)  # type: ignore[no-any-return]  # as above


_INSERTS: Final = {True: _insert(sqlite_insert), False: _insert(postgresql_insert)}


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
        validities: Mapping[Validity, Duration | None] | None = None,
    ) -> None:
        super().__init__(clock=clock, validities=validities)
        self._arguments = {
            "url": url,
            "busy_timeout": busy_timeout,
            "synchronous": synchronous,
            "clock": clock,
            "validities": validities,
        }
        self._database = Database(url, _METADATA, busy_timeout=busy_timeout, synchronous=synchronous)
        self._readers = Readers(self._database)

    def close(self) -> None:
        """Close the connections. An in-memory database is gone with them."""
        self._readers.close()
        self._database.close()

    # --- writing ------------------------------------------------------------------------------------------------------

    def _put(self, key: Key, change: Change) -> Outcome:
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
        for attempt in range(_ATTEMPTS):
            written = self._write(parameters, in_turn=attempt > 0)
            if written:
                ((version, leads),) = written
                return Outcome(change.row(version, leads))
            (head,) = self._heads([key])
            actual = head.version if is_live(head, change.now) else 0
            if change.expected is not None and change.expected != actual:
                break
        else:
            raise conflict_of(key, change, head)
        return Outcome(None, head)

    def _write(self, parameters: dict[str, Any], *, in_turn: bool) -> Sequence[Any]:
        """Write, and give version and `leads`, or nothing; PostgreSQL's writers take turns once one came second."""
        database = self._database
        statement = _INSERTS[database.is_sqlite]
        if database.is_sqlite:
            return database.write_one(statement, parameters)
        if not in_turn:
            with database.reading() as cursor:  # each statement is a transaction by itself
                cursor.execute(database.sql(statement), parameters)
                return cursor.fetchall()
        with database.writing() as cursor:
            cursor.execute(database.sql(_LOCK), parameters)
            cursor.execute(database.sql(statement), parameters)
            return cursor.fetchall()

    def _erase(self, owner: MemoryScope) -> int:
        parameters = {"user_key": owner.user_key, "session_key": owner.session_key}
        statement = _ERASE_BY_USER if owner.session is None else _ERASE
        with self._database.writing() as cursor:
            cursor.execute(self._database.sql(statement), parameters)
            return sum(not deleted for (deleted,) in cursor.fetchall())

    # --- reading ------------------------------------------------------------------------------------------------------

    def _heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        read = self._readers.read
        found = []
        for key in keys:
            rows = read(_HEAD, {"user_key": key.user_key, "session_key": key.session_key, "fact_key": key.fact_key})
            found.append(Row._make(rows[0]) if rows else None)
        return found

    def _rows(self, key: Key) -> Sequence[Row]:
        return [Row._make(row) for row in self._readers.read(_ROWS, _columns_of(key))]

    def _owned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return self._select(_OWNED_HEADS, owner, entity, prefix)

    def _owned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as in the port
    ) -> Sequence[Owned]:
        by_user = sessions and owner.session is None
        return self._select(_OWNED_BY_USER if by_user else _OWNED, owner, entity, prefix)

    def _select(
        self, statement: sa.Executable, owner: MemoryScope, entity: str | None, prefix: str | None
    ) -> Sequence[Owned]:
        start = escape(prefix or "")
        parameters = {
            "user_key": owner.user_key,
            "session_key": owner.session_key,
            "any_entity": int(entity is None),
            "entity": escape(entity or ""),
            "prefix": start,
            "prefix_length": len(start),
        }
        return [_owned(*row) for row in self._readers.read(statement, parameters)]


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
