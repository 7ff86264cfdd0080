"""What a fact store has to be able to do, and its async twins: the part that a store writes itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_tiered_memory._lifecycle import Closing

if TYPE_CHECKING:
    from langchain_tiered_memory.semantic.keys import Key
    from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
    from langchain_tiered_memory.types import MemoryScope

__all__ = ["Do", "FactBackend"]


@dataclass(frozen=True, slots=True)
class Do:
    """Has a store do one of its methods that begin with an underscore, or its async twin, `_a` and the name."""

    store: FactBackend
    method: str
    arguments: tuple[Any, ...]

    def run(self) -> Any:  # noqa: ANN401  # what the method gives
        """Do it."""
        return getattr(self.store, f"_{self.method}")(*self.arguments)

    async def arun(self) -> Any:  # noqa: ANN401  # as above
        """Do its twin, awaited."""
        return await getattr(self.store, f"_a{self.method}")(*self.arguments)


class FactBackend(Closing, ABC):
    """Keeps rows of facts; what they mean is decided above."""

    @abstractmethod
    def _put(self, key: Key, change: Change) -> Outcome:
        """Store a change as the key's next version, in one atomic step.

        Refused, with the newest row that leads, where `change.expected` is given and is not that row's version, or 0
        where that row is not live (see `is_live`). The new row leads unless it is over already
        (`valid_until <= now`) or a row that leads has a greater `turn_id`.

        Raises:
            VersionConflictError: Nothing was expected, and others wrote first again and again.
        """

    @abstractmethod
    def _heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        """The newest row that leads, of each key."""

    @abstractmethod
    def _rows(self, key: Key) -> Sequence[Row]:
        """All rows of a key."""

    @abstractmethod
    def _owned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        """The newest rows that lead, of all keys of exactly this scope, or those of an entity or a prefix."""

    @abstractmethod
    def _owned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # two callers
    ) -> Sequence[Owned]:
        """All rows of a scope, key by key; with `sessions` and a scope without one, those of its sessions too."""

    @abstractmethod
    def _erase(self, owner: MemoryScope) -> int:
        """Delete all rows of a scope, of a user's sessions too, and count those that are no deletions."""

    async def _aput(self, key: Key, change: Change) -> Outcome:
        return await self._away(self._put, key, change)

    async def _aheads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        return await self._away(self._heads, keys)

    async def _arows(self, key: Key) -> Sequence[Row]:
        return await self._away(self._rows, key)

    async def _aowned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return await self._away(self._owned_heads, owner, entity, prefix)

    async def _aowned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as above
    ) -> Sequence[Owned]:
        return await self._away(self._owned, owner, entity, prefix, sessions)

    async def _aerase(self, owner: MemoryScope) -> int:
        return await self._away(self._erase, owner)
