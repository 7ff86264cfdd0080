"""The collection's schema in Milvus' terms, and the record in it of what it was made for."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.episodic._escaping import escaped, plain
from langchain_tiered_memory.episodic.analysis import ANALYSIS
from langchain_tiered_memory.episodic.rows import LONGEST_ENTITY, LONGEST_ID
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = [
    "SPARSE",
    "VECTOR",
    "Capabilities",
    "Making",
    "capabilities_of",
    "indexes_of",
    "knows_bm25",
    "making_of",
    "partition_of",
    "schema_of",
]

VECTOR: Final = "vector"
SPARSE: Final = "words"
_LAYOUT: Final = 1
_FIRST_ANALYSIS: Final = "1"  # which was not written down yet
_PROPERTY: Final = "tiered_memory"
_LONGEST_VARCHAR: Final = 65_535
_PARTITIONS_LITE: Final = 16
_PARTITIONS_SERVER: Final = 16
_BM25_SINCE: Final = (2, 5)
_BM25: Final = {"bm25_k1": 0.9, "bm25_b": 0.4}
"""For short texts (rounds of a conversation), where k1 = 1.2 and b = 0.75 find 1.4 points less of LoCoMo's evidence."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What the Milvus at the other end can do, found out at open.

    Attributes:
        lite: Whether it is Milvus Lite, embedded in this process.
        version: What it calls itself.
        bm25: Whether the collection can be searched by words; where not, a search gives no lexical hits.
        dense: Whether the collection has vectors.
    """

    lite: bool
    version: str
    bm25: bool
    dense: bool


@dataclass(frozen=True, slots=True)
class Making:
    """What a collection was made for, as it is written down in it.

    Attributes:
        model: The embedding model's name; `None` for words only.
        dimension: Of its vectors; `None` for words only.
        partitions: In how many partitions the users are spread.
        layout: The version of the schema.
        analysis: The version of the rules by which texts became search terms.
    """

    model: str | None
    dimension: int | None
    partitions: int
    layout: int = _LAYOUT
    analysis: str = ANALYSIS

    @classmethod
    def new(cls, model: str | None, dimension: int | None, *, lite: bool) -> Making:
        """What a collection made now is made for."""
        return cls(model, dimension, _PARTITIONS_LITE if lite else _PARTITIONS_SERVER)

    def text(self) -> str:
        """As it is written down."""
        return json.dumps({**asdict(self), "model": None if self.model is None else escaped(self.model)})

    def properties(self) -> dict[str, str]:
        """As a property, which Milvus Lite keeps too."""
        return {_PROPERTY: self.text()}

    def names(self) -> list[str]:
        """The names of its partitions."""
        return [f"p{number}" for number in range(self.partitions)]


def making_of(name: str, described: Mapping[str, Any]) -> Making:
    """What a collection was made for, from its description.

    Raises:
        MemoryStoreError: It was not made by this package, or by a later version of it.
    """
    # A server keeps both, Milvus Lite keeps properties only.
    text = dict(described.get("properties") or {}).get(_PROPERTY) or described.get("description") or ""
    try:
        given = json.loads(text)
        model = None if given["model"] is None else plain(given["model"])
        analysis = str(given.get("analysis", _FIRST_ANALYSIS))
        making = Making(model, given["dimension"], int(given["partitions"]), int(given["layout"]), analysis)
    except (ValueError, KeyError, TypeError) as error:
        msg = f"the collection {name!r} holds something else than episodes: give another name (collection=...)"
        raise MemoryStoreError(msg) from error
    if making.layout > _LAYOUT:
        msg = f"the collection {name!r} has layout {making.layout}, this version knows {_LAYOUT}: update the package"
        raise MemoryStoreError(msg)
    return making


def partition_of(user_key: str, partitions: int) -> str:
    """The partition that a user's rows lie in.

    Named ones rather than Milvus' own partition key, by which Milvus Lite skips nothing, and under which server 2.3.5
    loses rows that are upserted: it files them where a filter on the key does not look.
    """
    return f"p{zlib.crc32(user_key.encode()) % partitions}"


def schema_of(making: Making, *, lite: bool, bm25: bool) -> Any:  # noqa: ANN401  # pymilvus' own class
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
        function = pymilvus.Function(
            name="bm25",
            function_type=pymilvus.FunctionType.BM25,
            input_field_names=["terms"],
            output_field_names=[SPARSE],
        )
        schema.add_function(function)
    return schema


def indexes_of(*, dense: bool, bm25: bool, zilliz: bool) -> dict[str, Any]:
    """The indexes of a collection, by field.

    Vectors are compared one by one (FLAT): under a filter AUTOINDEX, HNSW and IVF_FLAT lose rows, on Milvus Lite up to
    45 % and HNSW on a server 29 % at a tenth of the rows. A partition is small enough for it. Zilliz Cloud has
    AUTOINDEX only.
    """
    pymilvus = import_optional("pymilvus", needed_by="EpisodicMemory")
    wanted: dict[str, Any] = {}
    if dense:
        wanted[VECTOR] = pymilvus.MilvusClient.prepare_index_params()
        wanted[VECTOR].add_index(VECTOR, index_type="AUTOINDEX" if zilliz else "FLAT", metric_type="IP")
    if bm25:
        wanted[SPARSE] = pymilvus.MilvusClient.prepare_index_params()
        kind = "AUTOINDEX" if zilliz else "SPARSE_INVERTED_INDEX"
        wanted[SPARSE].add_index(SPARSE, index_type=kind, metric_type="BM25", params=_BM25)
    return wanted


def knows_bm25(version: str, *, lite: bool) -> bool:
    """Whether a Milvus of this version searches by words."""
    found = re.search(r"(\d+)\.(\d+)", version)
    return lite or found is None or (int(found[1]), int(found[2])) >= _BM25_SINCE


def capabilities_of(described: Mapping[str, Any], version: str, *, lite: bool) -> Capabilities:
    """What can be done with a collection, from its description."""
    fields = {field["name"] for field in described.get("fields", ())}
    return Capabilities(lite=lite, version=version, bm25=SPARSE in fields, dense=VECTOR in fields)
