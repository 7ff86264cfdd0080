"""The fact store in this process's memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row, Validity
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.semantic.timeline import is_live

if TYPE_CHECKING:
    from langchain_tiered_memory._times import Duration
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["InMemoryFactStore"]

P = ParamSpec("P")
T = TypeVar("T")


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

    def __init__(
        self, *, clock: Clock | None = None, validities: Mapping[Validity, Duration | None] | None = None
    ) -> None:
        super().__init__(clock=clock, validities=validities)
        self._lock = threading.Lock()
        self._stored: dict[Key, list[Row]] = {}

    def _put(self, key: Key, change: Change) -> Outcome:
        with self._lock:
            rows = self._stored.get(key, [])
            head = _head(rows)
            actual = head.version if head is not None and is_live(head, change.now) else 0
            if change.expected is not None and change.expected != actual:
                return Outcome(None, head)
            turns = [row.turn_id for row in rows if row.leads and row.turn_id is not None]
            late = change.turn_id is not None and change.turn_id < max(turns, default=-1)
            row = change.row(len(rows) + 1, int(not late and change.valid_until > change.now))
            self._stored[key] = [*rows, row]
            return Outcome(row)

    def _heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        with self._lock:
            return [_head(self._stored.get(key, [])) for key in keys]

    def _rows(self, key: Key) -> Sequence[Row]:
        with self._lock:
            return self._stored.get(key, [])

    def _owned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        with self._lock:
            heads = [(key, _head(self._stored[key])) for key in self._keys(owner, entity, prefix)]
            return [Owned(key, head) for key, head in heads if head is not None]

    def _owned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as in the port
    ) -> Sequence[Owned]:
        with self._lock:
            keys = self._keys(owner, entity, prefix, sessions=sessions)
            return [Owned(key, row) for key in keys for row in self._stored[key]]

    def _keys(
        self, owner: MemoryScope, entity: str | None, prefix: str | None, *, sessions: bool = False
    ) -> Sequence[Key]:
        user_key, session_key = owner.user_key, owner.session_key
        every_session = sessions and owner.session is None
        return [
            key
            for key in self._stored
            if key.user_key == user_key
            and (every_session or key.session_key == session_key)
            and (entity is None or key.entity == entity)
            and (prefix is None or key.attribute.startswith(prefix))
        ]

    def _erase(self, owner: MemoryScope) -> int:
        with self._lock:
            keys = self._keys(owner, None, None, sessions=True)
            return sum(not row.deleted for key in keys for row in self._stored.pop(key))

    async def _away(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)


def _head(rows: Sequence[Row]) -> Row | None:
    return next((row for row in reversed(rows) if row.leads), None)
