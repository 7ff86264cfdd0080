"""The collection in Milvus' terms: its schema, the record in it of what it was made for, and how it is opened."""

from __future__ import annotations

import json
import re
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._sync import BLOCKING, run_sync
from langchain_tiered_memory.episodic.analysis import ANALYSIS
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection, MilvusError, MilvusRequest
from langchain_tiered_memory.episodic.milvus_lite import Untyped
from langchain_tiered_memory.episodic.rows import LONGEST_ENTITY, LONGEST_ID, escaped, plain
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["SPARSE", "VECTOR", "CollectionSchema", "Opened", "knows_bm25"]

VECTOR: Final = "vector"
SPARSE: Final = "words"
_LAYOUT: Final = 1
_FIRST_ANALYSIS: Final = "1"  # which was not written down yet
_PROPERTY: Final = "tiered_memory"
_LONGEST_VARCHAR: Final = 65_535
_SMALLEST_DIMENSION: Final = 2
_PARTITIONS: Final = 16
_BM25_SINCE: Final = (2, 5)
_BM25: Final = {"bm25_k1": 0.9, "bm25_b": 0.4}
"""For short texts (rounds of a conversation), where k1 = 1.2 and b = 0.75 find 1.4 points less of LoCoMo's evidence."""
_NEXT: Final = "_next"
"""Behind the name of a collection: a whole one that is about to take its place."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A collection that is there, checked and loaded, and what the Milvus at the other end can do with it.

    Attributes:
        version: What Milvus calls itself.
        bm25: Whether the collection can be searched by words; where not, a search gives no lexical hits.
        dense: Whether the collection has vectors.
        partitions: In how many partitions the users are spread.
    """

    version: str
    bm25: bool
    dense: bool
    partitions: int


@dataclass(frozen=True, slots=True)
class _Making:
    """What a collection was made for, as it is written down in it."""

    model: str | None
    dimension: int | None
    partitions: int = _PARTITIONS
    layout: int = _LAYOUT
    analysis: str = ANALYSIS

    def text(self) -> str:
        return json.dumps({**asdict(self), "model": None if self.model is None else escaped(self.model)})

    @classmethod
    def read(cls, name: str, described: Mapping[str, Any]) -> _Making:
        """Read it from a collection's description.

        Raises:
            MemoryStoreError: It was not made by this package, or by a later version of it.
        """
        # A server keeps both, Milvus Lite keeps properties only.
        text = dict(described.get("properties") or {}).get(_PROPERTY) or described.get("description") or ""
        try:
            given = json.loads(text)
            model = None if given["model"] is None else plain(given["model"])
            analysis = str(given.get("analysis", _FIRST_ANALYSIS))
            making = cls(model, given["dimension"], int(given["partitions"]), int(given["layout"]), analysis)
        except (ValueError, KeyError, TypeError) as error:
            msg = f"the collection {name!r} holds something else than episodes: give another name (collection=...)"
            raise MemoryStoreError(msg) from error
        if making.layout > _LAYOUT:
            msg = f"the collection {name!r} has layout {making.layout}, this version knows {_LAYOUT}: update it"
            raise MemoryStoreError(msg)
        return making


class CollectionSchema:
    """Makes, opens, checks, moves and drops one collection; sync, since it is done once and takes a while.

    Args:
        connection: To its Milvus.
        name: The collection's name.
        model: The embedding model's name; `None` for words only.
        dimension: Of the vectors; `None` for words only.
    """

    def __init__(self, connection: MilvusConnection, name: str, *, model: str | None, dimension: int | None) -> None:
        if (dimension is None) != (model is None) or (dimension is not None and dimension < _SMALLEST_DIMENSION):
            msg = (
                f"dimension={dimension!r}, model={model!r}: give a model of {_SMALLEST_DIMENSION} dimensions or more, "
                "which is what Milvus takes, or neither for words only"
            )
            raise ValueError(msg)
        self.name = name
        self.model = model
        self.dimension = dimension
        self.opened: Opened | None = None
        self._connection = connection
        self._guard = threading.Lock()

    def _call(self, name: str, work: Callable[[Untyped, float], Untyped], deadline: float) -> Untyped:
        return run_sync(self._connection.request(BLOCKING, MilvusRequest(name, work), deadline))

    def _has(self, name: str, deadline: float) -> bool:
        return bool(self._call("has_collection", lambda c, s: c.has_collection(name, timeout=s), deadline))

    def _describe(self, deadline: float) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._call(
            "describe_collection", lambda c, s: c.describe_collection(self.name, timeout=s), deadline
        )
        return found

    # --- opening ------------------------------------------------------------------------------------------------------

    def open(self, deadline: float) -> Opened:
        """The collection, made if it is not there; what a killed process left half done is finished.

        Raises:
            MemoryStoreError: Milvus cannot be reached, or the collection is for another model or of somebody else.
        """
        with self._guard:
            if self.opened is not None:
                return self.opened
            version = str(self._call("get_server_version", lambda c, s: c.get_server_version(timeout=s), deadline))
            self._finish_replacing(self.name, deadline)
            if not self._has(self.name, deadline):
                self._create(version, deadline)
            described = self._describe(deadline)
            making = _Making.read(self.name, described)
            self._check(making)
            fields = {field["name"] for field in described.get("fields", ())}
            found = Opened(version, SPARSE in fields, VECTOR in fields, making.partitions)
            self._complete(found, deadline)
            self.opened = found
        if making.analysis != ANALYSIS:
            msg = (
                f"the search terms in {self.name!r} were made by rules of version {making.analysis}, questions go by "
                f"version {ANALYSIS}: words may be missed until you reindex() its episodes"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        if not found.bm25:
            msg = (
                f"Milvus at {self._connection.name} ({version}) holds no index of words for {self.name!r}: episodes "
                "are found by vector only. Milvus 2.5 and Milvus Lite have one; after an update, reindex()"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        return found

    def _check(self, making: _Making) -> None:
        if (making.model, making.dimension) != (self.model, self.dimension):
            msg = (
                f"the collection {self.name!r} holds {_shown(making.model, making.dimension)}, and is opened for "
                f"{_shown(self.model, self.dimension)}: the two cannot be compared. Open it with the embedding "
                "model that it was made with, or reindex() its episodes with the new one"
            )
            raise MemoryStoreError(msg)

    def _create(self, version: str, deadline: float) -> None:
        lite = self._connection.is_lite
        bm25 = knows_bm25(version, lite=lite)
        if not bm25 and self.dimension is None:
            msg = (
                f"Milvus at {self._connection.name} ({version}) cannot search by words, and there is no embedding "
                "model: give embeddings=, or use Milvus 2.5 or Milvus Lite"
            )
            raise MemoryStoreError(msg)
        making = _Making(self.model, self.dimension)
        options = {
            "schema": _schema_of(making, lite=lite, bm25=bm25),
            "properties": {_PROPERTY: making.text()},
            # The parts of an episode go through one channel, so that all of them are written or none.
            "num_shards": 1,
            "consistency_level": "Session",
        }
        self._add(
            "create_collection",
            lambda c, s: c.create_collection(self.name, timeout=s, **options),
            lambda: self._has(self.name, deadline),
            deadline,
        )

    def _add(
        self, name: str, work: Callable[[Untyped, float], Untyped], is_there: Callable[[], bool], deadline: float
    ) -> None:
        """Make something, unless somebody was faster."""
        try:
            self._call(name, work, deadline)
        except MilvusError:
            if not is_there():
                raise

    def _complete(self, found: Opened, deadline: float) -> None:
        """Partitions and indexes that are missing, and the loading, without which nothing can be searched."""
        there = self._call("list_partitions", lambda c, s: c.list_partitions(self.name, timeout=s), deadline)
        for number in range(found.partitions):
            if (partition := f"p{number}") not in there:
                self._add_partition(partition, deadline)
        indexed = self._indexes(deadline)
        wanted = _indexes_of(found, zilliz="zilliz" in self._connection.name.lower())
        for field in wanted.keys() - indexed:
            self._add_index(field, wanted[field], deadline)
        self._call("load_collection", lambda c, s: c.load_collection(self.name, timeout=s), deadline)

    def _add_partition(self, partition: str, deadline: float) -> None:
        def is_there() -> bool:
            asked = self._call("has_partition", lambda c, s: c.has_partition(self.name, partition, timeout=s), deadline)
            return bool(asked)

        self._add(
            "create_partition", lambda c, s: c.create_partition(self.name, partition, timeout=s), is_there, deadline
        )

    def _add_index(self, field: str, parameters: Untyped, deadline: float) -> None:
        # Not waited for: pymilvus would sleep half a second at least, and loading waits for what it needs.
        def work(client: Untyped, seconds: float) -> Untyped:
            return client.create_index(self.name, parameters, sync=False, timeout=seconds)

        self._add("create_index", work, lambda: field in self._indexes(deadline), deadline)

    def _indexes(self, deadline: float) -> set[str]:
        return set(self._call("list_indexes", lambda c, s: c.list_indexes(self.name, timeout=s), deadline))

    # --- the collection as a whole ------------------------------------------------------------------------------------

    def exists(self, deadline: float) -> bool:
        """Whether it is there; makes nothing."""
        self._finish_replacing(self.name, deadline)
        return self._has(self.name, deadline)

    def described(self, deadline: float) -> tuple[str | None, int | None]:
        """The model and the dimension that it was made for, whatever this object was told; `None` where it is not."""
        if not self.exists(deadline):
            return None, None
        making = _Making.read(self.name, self._describe(deadline))
        return making.model, making.dimension

    def drop(self, deadline: float) -> None:
        """Remove it, everybody's rows with it."""
        self.opened = None
        self._drop(self.name, deadline)

    def _drop(self, name: str, deadline: float) -> None:
        self._call("drop_collection", lambda c, s: c.drop_collection(name, timeout=s), deadline)

    def _rename(self, old: str, new: str, deadline: float) -> None:
        self._call("rename_collection", lambda c, s: c.rename_collection(old, new, timeout=s), deadline)

    def replace(self, name: str, deadline: float) -> None:
        """Take the place of another collection, which is dropped.

        What is killed in the middle leaves the whole collection under a name by which `open` knows what to do.
        """
        self.opened = None
        self._rename(self.name, name + _NEXT, deadline)
        self._finish_replacing(name, deadline)

    def _finish_replacing(self, name: str, deadline: float) -> None:
        if not self._has(name + _NEXT, deadline):
            return
        if self._has(name, deadline):
            self._drop(name, deadline)
        self._rename(name + _NEXT, name, deadline)


def _shown(model: str | None, dimension: int | None) -> str:
    return "words only" if dimension is None else f"vectors of the model {model!r} ({dimension} dimensions)"


# --- Milvus' terms ----------------------------------------------------------------------------------------------------


def knows_bm25(version: str, *, lite: bool) -> bool:
    """Whether a Milvus of this version searches by words."""
    found = re.search(r"(\d+)\.(\d+)", version)
    return lite or found is None or (int(found[1]), int(found[2])) >= _BM25_SINCE


def _schema_of(making: _Making, *, lite: bool, bm25: bool) -> Untyped:
    """The schema of a new collection."""
    pymilvus = import_optional("pymilvus", needed_by="EpisodicMemory")
    kinds = pymilvus.DataType
    schema = pymilvus.MilvusClient.create_schema(enable_dynamic_field=False, description=making.text())
    for name in ("id", "user_key", "session_key", "episode", "kind", "superseded_by"):
        schema.add_field(name, kinds.VARCHAR, is_primary=name == "id", max_length=LONGEST_ID + len("#1234567890"))
    schema.add_field("entity", kinds.VARCHAR, max_length=LONGEST_ENTITY)
    for name in ("content", "tenant", "user", "session"):
        schema.add_field(name, kinds.VARCHAR, max_length=_LONGEST_VARCHAR)
    # The terms come analysed; a server is told to cut at blanks only, which Milvus Lite does not know.
    analyzer = {"tokenizer": "standard" if lite else "whitespace"}
    searched = {"enable_analyzer": True, "analyzer_params": analyzer} if bm25 else {}
    schema.add_field("terms", kinds.VARCHAR, max_length=_LONGEST_VARCHAR, **searched)
    for name in ("part", "parts", "number", "created_at", "valid_from", "valid_until"):
        schema.add_field(name, kinds.INT64)
    schema.add_field("metadata", kinds.JSON)
    if making.dimension is not None:
        schema.add_field("embedded", kinds.BOOL)
        schema.add_field(VECTOR, kinds.FLOAT_VECTOR, dim=making.dimension)
    if bm25:
        schema.add_field(SPARSE, kinds.SPARSE_FLOAT_VECTOR)
        kind = pymilvus.FunctionType.BM25
        names = {"input_field_names": ["terms"], "output_field_names": [SPARSE]}
        schema.add_function(pymilvus.Function(name="bm25", function_type=kind, **names))
    return schema


def _indexes_of(found: Opened, *, zilliz: bool) -> dict[str, Untyped]:
    """The indexes of a collection, by field.

    Vectors are compared one by one (FLAT): under a filter AUTOINDEX, HNSW and IVF_FLAT lose rows, on Milvus Lite up to
    45 % and HNSW on a server 29 % at a tenth of the rows. A partition is small enough for it. Zilliz Cloud has
    AUTOINDEX only.
    """
    pymilvus = import_optional("pymilvus", needed_by="EpisodicMemory")
    wanted: dict[str, Untyped] = {}
    if found.dense:
        wanted[VECTOR] = pymilvus.MilvusClient.prepare_index_params()
        wanted[VECTOR].add_index(VECTOR, index_type="AUTOINDEX" if zilliz else "FLAT", metric_type="IP")
    if found.bm25:
        wanted[SPARSE] = pymilvus.MilvusClient.prepare_index_params()
        kind = "AUTOINDEX" if zilliz else "SPARSE_INVERTED_INDEX"
        wanted[SPARSE].add_index(SPARSE, index_type=kind, metric_type="BM25", params=_BM25)
    return wanted
