"""What the algorithms of an episodic memory work with: its collection in Milvus, its model, its clock, its hooks."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeVar

from langchain_tiered_memory._sync import BLOCKING, Caller
from langchain_tiered_memory._times import now_of
from langchain_tiered_memory.episodic.embeddings import dimension_of, model_name_of
from langchain_tiered_memory.episodic.milvus import EpisodeCollection
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection
from langchain_tiered_memory.events import EpisodesAvailable, EpisodesUnavailable, EventHook, MemoryEvent, aemit, emit

if TYPE_CHECKING:
    from datetime import datetime

    from langchain_core.embeddings import Embeddings

    from langchain_tiered_memory.episodic.ranking import Cosines
    from langchain_tiered_memory.episodic.rounds import KeyFunction
    from langchain_tiered_memory.messages.text import Prefixes
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["CollectionProvider", "MemoryContext", "SequenceNumbers", "checked_name"]

T = TypeVar("T")

_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]{0,199}")
_SESSIONS: Final = 1_024
"""Sessions whose last number is kept; that of another is counted again."""


def checked_name(name: object) -> str:
    """The name of a collection.

    Raises:
        ValueError: It is none that Milvus takes.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        msg = f"collection={name!r}: a collection's name has letters, digits and underscores, and begins with no digit"
        raise ValueError(msg)
    return name


class CollectionProvider:
    """Opens the collection of a memory when it is needed, and knows its dimension from the first vector.

    A collection belongs to one model. What needs no vector (counting, forgetting, exporting) must work whatever model
    it belongs to: nobody should have to set up an embedding model to have a user's data erased.

    Args:
        connection: To the Milvus that it lies in.
        name: The collection's name.
        embeddings: The model; `None` for words only.
        timeout: Seconds that one call may take.
    """

    def __init__(
        self, connection: MilvusConnection, *, name: str, embeddings: Embeddings | None, timeout: float
    ) -> None:
        model: object = embeddings
        if isinstance(model, str):
            msg = f"embeddings={model!r} is no model: give an Embeddings object, or None for words alone"
            raise ValueError(msg)  # noqa: TRY004  # a wrong value, as in `TieredMemory`
        self.connection = connection
        self.name = name
        self.embeddings = embeddings
        self._timeout = timeout
        self._lock = threading.Lock()
        self._stored: EpisodeCollection | None = None
        self._ours = None if embeddings is not None else self.collection(name, None, None)
        self._probe = self.collection(name, None, None)

    def collection(self, name: str, dimension: int | None, model: str | None) -> EpisodeCollection:
        """A collection under this memory's address; nothing is opened yet."""
        return EpisodeCollection(
            self.connection, BLOCKING, name, dimension=dimension, model=model, timeout=self._timeout
        )

    def of_model(self, dimension: int) -> EpisodeCollection:
        """The collection for vectors of this memory's model."""
        with self._lock:
            if self._ours is None:
                model = None if self.embeddings is None else model_name_of(self.embeddings)
                self._ours = self.collection(self.name, dimension, model)
            return self._ours

    async def found(self, caller: Caller, timeout: float | None = None) -> EpisodeCollection | None:  # noqa: ASYNC109  # a deadline
        """The collection as it is stored, whatever its model; `None` where there is none yet."""
        if self._stored is None and self._ours is not None and self._ours.is_open:
            self._stored = self._ours
        if self._stored is None:
            probe = (self._ours or self._probe).calling(caller)
            if not await probe.exists(timeout=timeout):
                return None
            model, dimension = await probe.described(timeout=timeout)
            with self._lock:
                if self._stored is None:
                    self._stored = self.collection(self.name, dimension, model)
        return self._stored.calling(caller)

    async def for_search(
        self,
        caller: Caller,
        vector: Sequence[float] | None,
        timeout: float | None = None,  # noqa: ASYNC109  # as above
    ) -> EpisodeCollection | None:
        """The collection to search, by a vector if there is one; `None` where there is none yet."""
        if self._ours is not None:
            return self._ours.calling(caller)
        return await self.found(caller, timeout) if vector is None else self.of_model(len(vector)).calling(caller)

    async def for_writing(self, caller: Caller, vectors: Sequence[Sequence[float] | None]) -> EpisodeCollection:
        """The collection to write to, by the first vector there is."""
        if self._ours is not None:
            return self._ours.calling(caller)
        dimension = next((len(vector) for vector in vectors if vector is not None), 0)
        if not dimension and (stored := await self.found(caller)) is not None:
            return stored
        if not dimension and self.embeddings is not None:
            dimension = await dimension_of(caller, self.embeddings)
        return self.of_model(dimension).calling(caller)

    def put(self, embeddings: Embeddings | None, dimension: int | None) -> None:
        """From now on speak to a collection of another model."""
        with self._lock:
            self.embeddings = embeddings
            model = None if embeddings is None else model_name_of(embeddings)
            known = embeddings is None or dimension is not None
            self._ours = self.collection(self.name, dimension, model) if known else None
            self._stored = None
            self._probe = self.collection(self.name, None, None)


class SequenceNumbers:
    """The number of the last episode of each session, so that the next one stands behind it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[str, str], int] = OrderedDict()

    def known(self, scope: MemoryScope) -> bool:
        """Whether the last number is known."""
        return (scope.user_key, scope.session_key) in self._last

    def take(self, scope: MemoryScope, count: int, least: int = 0) -> int:
        """The first of some numbers that nobody else in this process is given."""
        session = (scope.user_key, scope.session_key)
        with self._lock:
            last = max(self._last.pop(session, 0), least)
            self._last[session] = last + count
            while len(self._last) > _SESSIONS:
                self._last.popitem(last=False)
            return last + 1

    def clear(self) -> None:
        """Know nothing: something was deleted, or is about to be counted anew."""
        with self._lock:
            self._last.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """What the algorithms of one memory share, and whether they block or are awaited.

    Attributes:
        caller: Whether they block or are awaited.
        provider: Of the collection.
        clock: Gives the time.
        key: By what an episode is found; `None` for the default.
        prefixes: What speakers without a name are called.
        hooks: Are told what happens.
        numbers: The numbers of the last episodes.
        cosines: What cosines the embedding model gives random pairs, by its name.
    """

    caller: Caller
    provider: CollectionProvider
    clock: Clock
    key: KeyFunction | None
    prefixes: Prefixes
    hooks: Sequence[EventHook]
    numbers: SequenceNumbers = field(default_factory=SequenceNumbers)
    cosines: dict[str, Cosines] = field(default_factory=dict)

    def calling(self, caller: Caller) -> MemoryContext:
        """The same, through another caller."""
        return replace(self, caller=caller)

    @property
    def unnamed(self) -> tuple[str, ...]:
        """What speakers without a name are called."""
        return self.prefixes.human, self.prefixes.ai, self.prefixes.tool

    def now(self) -> datetime:
        """The present, in UTC."""
        return now_of(self.clock)

    async def emit(self, event: MemoryEvent) -> None:
        """Send an event to logging, callbacks and hooks."""
        await self.caller.call(emit, aemit, event, self.hooks)

    async def run(self, work: Coroutine[object, None, T]) -> T:
        """Run an algorithm, and tell once when Milvus went away, and once when it is back."""
        try:
            return await work
        finally:
            change = self.provider.connection.outage.change()
            if change is not None:
                began, error = change
                kind = EpisodesUnavailable if began else EpisodesAvailable
                await self.emit(kind(session_id="", error=error))

    async def stored_collection(self, timeout: float | None = None) -> EpisodeCollection | None:  # noqa: ASYNC109  # as above
        """The collection as it is stored; `None` where there is none yet."""
        return await self.provider.found(self.caller, timeout)
