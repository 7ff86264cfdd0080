"""Makes, opens, checks, moves and drops a collection; sync, since it is done once and takes a while."""

from __future__ import annotations

import threading
import warnings
from typing import Any, Final

from langchain_tiered_memory._driving import drive
from langchain_tiered_memory.episodic._clients import Clients, RefusedError, tried
from langchain_tiered_memory.episodic._schema import (
    Capabilities,
    Making,
    capabilities_of,
    indexes_of,
    knows_bm25,
    making_of,
    partition_of,
    schema_of,
)
from langchain_tiered_memory.episodic.analysis import ANALYSIS
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["Manager", "Opened"]

_NEXT: Final = "_next"
"""Behind the name of a collection: a whole one that is about to take its place."""


class Opened:
    """A collection that is there, checked and loaded.

    Attributes:
        capabilities: What can be done with it.
        making: What it was made for.
    """

    def __init__(self, capabilities: Capabilities, making: Making) -> None:
        self.capabilities = capabilities
        self.making = making

    def partition(self, user_key: str) -> str:
        """Where a user's rows lie."""
        return partition_of(user_key, self.making.partitions)


class Manager:
    """One collection of one Milvus.

    Args:
        clients: Of that Milvus.
        name: The collection's name.
        model: The embedding model's name; `None` for words only.
        dimension: Of the vectors; `None` for words only.
    """

    def __init__(self, clients: Clients, name: str, *, model: str | None, dimension: int | None) -> None:
        self.name = name
        self._clients = clients
        self._model = model
        self._dimension = dimension
        self._guard = threading.Lock()
        self._opened: Opened | None = None

    @property
    def opened(self) -> Opened | None:
        """What was opened, if it was."""
        return self._opened

    def forget(self) -> None:
        """Look again at the next call."""
        self._opened = None

    def _call(self, method: str, deadline: float, **arguments: Any) -> Any:  # noqa: ANN401  # any call of pymilvus
        return drive(tried(self._clients, method, arguments, deadline))

    # --- opening ------------------------------------------------------------------------------------------------------

    def open(self, deadline: float) -> Opened:
        """The collection, made if it is not there; what a killed process left half done is finished.

        Raises:
            MemoryStoreError: Milvus cannot be reached, or the collection is for another model or of somebody else.
        """
        with self._guard:
            if self._opened is not None:
                return self._opened
            version = str(self._call("get_server_version", deadline))
            self._finish_replacing(self.name, deadline)
            if not self._has(self.name, deadline):
                self._create(version, deadline)
            described = self._call("describe_collection", deadline, collection_name=self.name)
            making = making_of(self.name, described)
            self._check(making)
            found = Opened(capabilities_of(described, version, lite=self._clients.is_lite), making)
            self._complete(found, deadline)
            self._opened = found
        if making.analysis != ANALYSIS:
            msg = (
                f"the search terms in {self.name!r} were made by rules of version {making.analysis}, questions go by "
                f"version {ANALYSIS}: words may be missed until you reindex() its episodes"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        if not found.capabilities.bm25:
            msg = (
                f"Milvus at {self._clients.name} ({version}) holds no index of words for {self.name!r}: episodes are "
                "found by vector only. Milvus 2.5 and Milvus Lite have one; after an update, reindex()"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        return found

    def _create(self, version: str, deadline: float) -> None:
        lite = self._clients.is_lite
        bm25 = knows_bm25(version, lite=lite)
        if not bm25 and self._dimension is None:
            msg = (
                f"Milvus at {self._clients.name} ({version}) cannot search by words, and there is no embedding model: "
                "give embeddings=, or use Milvus 2.5 or Milvus Lite"
            )
            raise MemoryStoreError(msg)
        making = Making.new(self._model, self._dimension, lite=lite)
        try:
            self._call(
                "create_collection",
                deadline,
                collection_name=self.name,
                schema=schema_of(making, lite=lite, bm25=bm25),
                properties=making.properties(),
                # The parts of an episode go through one channel, so that all of them are written or none.
                num_shards=1,
                consistency_level="Session",
            )
        except RefusedError:
            if not self._has(self.name, deadline):  # else somebody was faster
                raise

    def _complete(self, found: Opened, deadline: float) -> None:
        """Partitions and indexes that are missing, and the loading, without which nothing can be searched."""
        there = set(self._call("list_partitions", deadline, collection_name=self.name))
        for partition in found.making.names():
            if partition not in there:
                self._add_partition(partition, deadline)
        zilliz = "zilliz" in self._clients.name.lower()
        wanted = indexes_of(dense=found.capabilities.dense, bm25=found.capabilities.bm25, zilliz=zilliz)
        indexed = set(self._call("list_indexes", deadline, collection_name=self.name))
        for field, parameters in wanted.items():
            if field not in indexed:
                # Not waited for: pymilvus would sleep half a second at least, and loading waits for what it needs.
                options = {"index_params": parameters, "sync": False}
                try:
                    self._call("create_index", deadline, collection_name=self.name, **options)
                except RefusedError:
                    if field not in self._call("list_indexes", deadline, collection_name=self.name):
                        raise  # else somebody was faster, as with a partition
        self._call("load_collection", deadline, collection_name=self.name)

    def _add_partition(self, partition: str, deadline: float) -> None:
        options = {"collection_name": self.name, "partition_name": partition}
        try:
            self._call("create_partition", deadline, **options)
        except RefusedError:
            if not self._call("has_partition", deadline, **options):  # else somebody was faster
                raise

    def _check(self, making: Making) -> None:
        if (making.model, making.dimension) != (self._model, self._dimension):
            msg = (
                f"the collection {self.name!r} holds {_shown(making.model, making.dimension)}, and is opened for "
                f"{_shown(self._model, self._dimension)}: the two cannot be compared. Open it with the embedding "
                "model that it was made with, or reindex() its episodes with the new one"
            )
            raise MemoryStoreError(msg)

    # --- the collection as a whole ------------------------------------------------------------------------------------

    def _has(self, name: str, deadline: float) -> bool:
        return bool(self._call("has_collection", deadline, collection_name=name))

    def exists(self, deadline: float) -> bool:
        """Whether it is there; makes nothing."""
        self._finish_replacing(self.name, deadline)
        return self._has(self.name, deadline)

    def described(self, deadline: float) -> tuple[str | None, int | None]:
        """The model and the dimension that it was made for, whatever this object was told; `None` where it is not."""
        if not self.exists(deadline):
            return None, None
        making = making_of(self.name, self._call("describe_collection", deadline, collection_name=self.name))
        return making.model, making.dimension

    def drop(self, deadline: float) -> None:
        """Remove it, everybody's rows with it."""
        self.forget()
        self._call("drop_collection", deadline, collection_name=self.name)

    def replace(self, name: str, deadline: float) -> None:
        """Take the place of another collection, which is dropped.

        What is killed in the middle leaves the whole collection under a name by which `open` knows what to do.
        """
        self.forget()
        self._call("rename_collection", deadline, old_name=self.name, new_name=name + _NEXT)
        self._finish_replacing(name, deadline)

    def _finish_replacing(self, name: str, deadline: float) -> None:
        if not self._has(name + _NEXT, deadline):
            return
        if self._has(name, deadline):
            self._call("drop_collection", deadline, collection_name=name)
        self._call("rename_collection", deadline, old_name=name + _NEXT, new_name=name)


def _shown(model: str | None, dimension: int | None) -> str:
    return "words only" if dimension is None else f"vectors of the model {model!r} ({dimension} dimensions)"
