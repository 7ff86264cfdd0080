"""Connections of a SQLite file that stay open between reads.

To lease a connection from SQLAlchemy's pool and give it back takes two to three times as long as to read a row by its
key. A few that are kept at hand take nothing.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    import sqlalchemy
    from sqlalchemy.pool import PoolProxiedConnection

    from langchain_tiered_memory._database import Database

__all__ = ["Readers"]

_KEPT: Final = 4
"""Fewer than the pool has, so that whoever waits for the pool gets one of it."""


class Readers:
    """Reads whole answers from a database.

    Args:
        database: Where to read. Of a database in memory, and of PostgreSQL, the database's own connections are used.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._direct = database.is_sqlite and not database.is_in_memory
        self._reset()

    def _reset(self) -> None:
        self._process = os.getpid()
        self._idle: deque[PoolProxiedConnection] = deque()

    def read(self, statement: sqlalchemy.Executable, parameters: Mapping[str, Any]) -> Sequence[Any]:
        """All rows that a statement gives.

        Raises:
            MemoryStoreError: The database could not be reached or read.
        """
        database = self._database
        if not self._direct:
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
            if len(self._idle) < _KEPT:
                self._idle.append(leased)
            else:
                leased.close()

    def close(self) -> None:
        """Close the connections at hand."""
        while self._idle:
            self._idle.pop().close()
