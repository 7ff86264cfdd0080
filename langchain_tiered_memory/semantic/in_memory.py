"""The fact store in this process's memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
from langchain_tiered_memory.semantic.store import FactStore, Validities
from langchain_tiered_memory.semantic.timeline import is_live
from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["InMemoryFactStore"]


class InMemoryFactStore(FactStore):
    """Facts in this process's memory, for tests, notebooks and whatever may be forgotten.

    It keeps values in the same form as the other stores do, so that what works here works there.

    ```python
    from langchain_tiered_memory import InMemoryFactStore, MemoryScope

    facts, ada = InMemoryFactStore(), MemoryScope(user="ada")
    facts.put(ada, "trip", "otp", "123456", ttl=300)
    assert [fact.attribute for fact in facts.list(ada, entity="trip")] == ["otp"]
    ```

    Args:
        clock: Gives the time; the system's UTC time if not given.
        validities: How long a fact of each class holds, where not 7 days, 90 days and without end (`None`).
    """

    def __init__(self, *, clock: Clock | None = None, validities: Validities | None = None) -> None:
        rows = _MemoryRows()
        super().__init__(rows, rows, clock=clock, validities=validities)


class _MemoryRows:
    """Implements `FactRows` with a dict."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stored: dict[Key, list[Row]] = {}

    async def put(self, key: Key, change: Change) -> Outcome:
        with self._lock:
            rows = self._stored.get(key, [])
            head = _head(rows)
            actual = head.version if is_live(head, change.now) else 0
            if change.expected is not None and change.expected != actual:
                return Outcome(None, head)
            turns = [row.turn_id for row in rows if row.leads and row.turn_id is not None]
            late = change.turn_id is not None and change.turn_id < max(turns, default=-1)
            row = change.row(len(rows) + 1, int(not late and change.valid_until > change.now))
            self._stored[key] = [*rows, row]
            return Outcome(row)

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        with self._lock:
            return [_head(self._stored.get(key, [])) for key in keys]

    async def rows(self, key: Key) -> Sequence[Row]:
        with self._lock:
            return self._stored.get(key, [])

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        with self._lock:
            keys = [key for owner in owners for key in self._keys_of(owner) if key.is_about(entity, prefix)]
            heads = [(key, _head(self._stored[key])) for key in keys]
            return [Owned(key, head) for key, head in heads if head is not None]

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        with self._lock:
            return [Owned(key, row) for key in self._keys_of(owner, sessions=sessions) for row in self._stored[key]]

    async def erase(self, owner: MemoryScope) -> int:
        with self._lock:
            keys = self._keys_of(owner, sessions=owner.session is None)
            return sum(not row.deleted for key in keys for row in self._stored.pop(key))

    def _keys_of(self, owner: MemoryScope, *, sessions: bool = False) -> list[Key]:
        user_key, session_key = owner.user_key, owner.session_key
        return [
            key for key in self._stored if key.user_key == user_key and (sessions or key.session_key == session_key)
        ]


def _head(rows: Sequence[Row]) -> Row | None:
    return next((row for row in reversed(rows) if row.leads), None)
