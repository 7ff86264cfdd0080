"""The fact stores that are algorithms for `_driving`: written once as steps, driven here in both ways."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_tiered_memory._driving import Steps, adrive, drive
from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
from langchain_tiered_memory.semantic.store import FactStore

if TYPE_CHECKING:
    from langchain_tiered_memory.types import MemoryScope

__all__ = ["DrivenFactStore"]


class DrivenFactStore(FactStore):
    """A fact store that needs a server or another store in the middle of what it does.

    What each method takes and gives, `FactBackend` says of its namesake.
    """

    @abstractmethod
    def _putting(self, key: Key, change: Change) -> Steps[Outcome]:
        """`_put`."""

    @abstractmethod
    def _erasing(self, owner: MemoryScope) -> Steps[int]:
        """`_erase`."""

    @abstractmethod
    def _reading_heads(self, keys: Sequence[Key]) -> Steps[Sequence[Row | None]]:
        """`_heads`."""

    @abstractmethod
    def _reading_rows(self, key: Key) -> Steps[Sequence[Row]]:
        """`_rows`."""

    @abstractmethod
    def _reading_owned_heads(
        self, owner: MemoryScope, entity: str | None, prefix: str | None
    ) -> Steps[Sequence[Owned]]:
        """`_owned_heads`."""

    @abstractmethod
    def _reading_owned(
        self, owner: MemoryScope, entity: str | None, prefix: str | None, *, sessions: bool
    ) -> Steps[Sequence[Owned]]:
        """`_owned`."""

    # --- both ways ----------------------------------------------------------------------------------------------------

    def _put(self, key: Key, change: Change) -> Outcome:
        return drive(self._putting(key, change))

    async def _aput(self, key: Key, change: Change) -> Outcome:
        return await adrive(self._putting(key, change))

    def _erase(self, owner: MemoryScope) -> int:
        return drive(self._erasing(owner))

    async def _aerase(self, owner: MemoryScope) -> int:
        return await adrive(self._erasing(owner))

    def _heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        return drive(self._reading_heads(keys))

    async def _aheads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        return await adrive(self._reading_heads(keys))

    def _rows(self, key: Key) -> Sequence[Row]:
        return drive(self._reading_rows(key))

    async def _arows(self, key: Key) -> Sequence[Row]:
        return await adrive(self._reading_rows(key))

    def _owned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return drive(self._reading_owned_heads(owner, entity, prefix))

    async def _aowned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return await adrive(self._reading_owned_heads(owner, entity, prefix))

    def _owned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as in the port
    ) -> Sequence[Owned]:
        return drive(self._reading_owned(owner, entity, prefix, sessions=sessions))

    async def _aowned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as in the port
    ) -> Sequence[Owned]:
        return await adrive(self._reading_owned(owner, entity, prefix, sessions=sessions))
