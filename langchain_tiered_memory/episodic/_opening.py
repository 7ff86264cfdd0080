"""Which collection an episodic memory speaks to: its own model's, or whatever is stored where no vector is needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory.episodic._clients import is_server
from langchain_tiered_memory.episodic._writing import dimension_of
from langchain_tiered_memory.episodic.collection import EpisodeCollection
from langchain_tiered_memory.episodic.embeddings import model_name_of

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Shelf"]


class Shelf:
    """Opens the collection of a memory when it is needed, and knows its dimension from the first vector.

    A collection belongs to one model. What needs no vector (counting, forgetting, exporting) must work whatever model
    it belongs to: nobody should have to set up an embedding model to have a user's data erased.

    Args:
        uri: Where Milvus is.
        token: What it wants to be shown.
        name: The collection's name.
        embeddings: The model; `None` for words only.
        timeout: Seconds that one call may take.

    Attributes:
        is_embedded: Whether Milvus runs in this process, out of a file.

    Raises:
        ValueError: The address is none of a Milvus.
    """

    def __init__(
        self, uri: str, *, token: str | None, name: str, embeddings: Embeddings | None, timeout: float
    ) -> None:
        self.is_embedded = not is_server(uri)
        self._uri = uri
        self._token = token
        self._timeout = timeout
        self._lock = threading.Lock()
        self._ours: EpisodeCollection | None = None
        self._stored: EpisodeCollection | None = None
        self._probe: EpisodeCollection | None = None
        self.name = name
        self.embeddings = embeddings
        if embeddings is None:
            self._ours = self.collection(name, None, None)

    @property
    def uri(self) -> str:
        """Where Milvus is, without what could be a password."""
        scheme, separator, rest = self._uri.rpartition("://")
        return f"{scheme}{separator}{rest.rpartition('@')[2]}"

    def collection(self, name: str, dimension: int | None, model: str | None) -> EpisodeCollection:
        """A collection under this memory's address; nothing is opened yet."""
        return EpisodeCollection(
            self._uri, token=self._token, name=name, dimension=dimension, model=model, timeout=self._timeout
        )

    def of_model(self, dimension: int) -> EpisodeCollection:
        """The collection for vectors of this memory's model."""
        with self._lock:
            if self._ours is None:
                model = None if self.embeddings is None else model_name_of(self.embeddings)
                self._ours = self.collection(self.name, dimension, model)
            return self._ours

    def found(self, timeout: float | None = None) -> Steps[EpisodeCollection | None]:
        """The collection as it is stored, whatever its model; `None` where there is none yet.

        Args:
            timeout: Seconds that one call may take; the memory's own if not given.
        """
        if self._stored is not None:
            return self._stored
        probe = self._ours or self._probing()
        if not (yield Call(probe, "exists", options={"timeout": timeout})):
            return None
        model, dimension = yield Call(probe, "described", options={"timeout": timeout})
        with self._lock:
            if self._stored is None:
                self._stored = self.collection(self.name, dimension, model)
            return self._stored

    def _probing(self) -> EpisodeCollection:
        """What looks whether there is a collection; kept, so that closing lets go of Milvus Lite for others."""
        with self._lock:
            if self._probe is None:
                self._probe = self.collection(self.name, None, None)
            return self._probe

    def for_search(
        self, vector: Sequence[float] | None, timeout: float | None = None
    ) -> Steps[EpisodeCollection | None]:
        """The collection to search, by a vector if there is one; `None` where there is none yet."""
        if self._ours is not None:
            return self._ours
        return (yield from self.found(timeout)) if vector is None else self.of_model(len(vector))

    def for_writing(self, vectors: Sequence[Sequence[float] | None]) -> Steps[EpisodeCollection]:
        """The collection to write to, by the first vector there is."""
        dimension = next((len(vector) for vector in vectors if vector is not None), 0)
        if self._ours is not None:
            return self._ours
        if not dimension and (stored := (yield from self.found())) is not None:
            return stored
        if not dimension and self.embeddings is not None:
            dimension = yield from dimension_of(self.embeddings)
        return self.of_model(dimension)

    def put(self, embeddings: Embeddings | None, dimension: int | None) -> list[EpisodeCollection]:
        """From now on speak to a collection of another model; gives what is to be closed."""
        with self._lock:
            old = [one for one in (self._ours, self._stored, self._probe) if one is not None]
            self.embeddings = embeddings
            model = None if embeddings is None else model_name_of(embeddings)
            known = embeddings is None or dimension is not None
            self._ours = self.collection(self.name, dimension, model) if known else None
            self._stored = self._probe = None
        return old

    def closing(self) -> Steps[None]:
        """Close what is open; the next call opens it again."""
        for one in (self._ours, self._stored, self._probe):
            if one is not None:
                yield Call(one, "close")
