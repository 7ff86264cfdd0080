"""What is done with the rows of a collection, as algorithms that a sync and an async driver run."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter, itemgetter
from typing import Any, Final, Literal, TypeAlias

from langchain_tiered_memory._driving import Steps
from langchain_tiered_memory.episodic._batching import Fields, batches, chunks
from langchain_tiered_memory.episodic._clients import Clients, RefusedError, tried
from langchain_tiered_memory.episodic._managing import Manager, Opened
from langchain_tiered_memory.episodic._recent import recent_writes
from langchain_tiered_memory.episodic._schema import SPARSE, VECTOR
from langchain_tiered_memory.episodic.filters import Where, literal
from langchain_tiered_memory.episodic.rows import (
    FIELDS,
    FIELDS_OF_HITS,
    Row,
    episode_id,
    fields_of,
    part_id,
    row_of_fields,
    row_of_hit,
    unit_vector,
)
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError

__all__ = ["Hits", "Mention", "Operations", "Order"]

Order: TypeAlias = Literal["number", "created_at"]
Scored: TypeAlias = tuple[Row, float]

_CHANGEABLE: Final = frozenset(
    ("valid_from", "valid_until", "superseded_by", "entity", "metadata", "kind", "number", "created_at")
)
_MOST_HITS: Final = 16_384
"""Milvus' own limit of one search, and of one query."""
_PAGE: Final = 500
_ROUNDS: Final = 5
"""How often a deletion looks whether somebody wrote new rows meanwhile."""
_STRONG: Final = "Strong"
_EVENTUALLY: Final = "Eventually"
_SESSION: Final = "Session"
"""Sees what this process wrote, which on a server costs up to 200 ms once after a write; Strong costs it every time."""


@dataclass(frozen=True, slots=True)
class Mention:
    """Which episode holds the words that were looked for, and where it stands; what it says is not read.

    Whoever searches by words wants the cosines of these too, and reads the rows with them: once, not twice.

    Attributes:
        id: Of the row, the part of the episode that holds most of them.
        episode: Its id.
        session_key: As in `Row`.
        number: As in `Row`.
    """

    id: str
    episode: str
    session_key: str
    number: int


@dataclass(frozen=True, slots=True)
class Hits:
    """What a search found, best first, without vectors.

    Attributes:
        dense: By vector, with the cosine (-1 to 1).
        lexical: By words, each episode once, with Milvus' BM25 score of its best part (above 0, no upper end). Milvus
            Lite computes it with the statistics of each of its files, so that scores find candidates well and compare
            them badly.
    """

    dense: list[Scored] = field(default_factory=list)
    lexical: list[tuple[Mention, float]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Open:
    """A step: open the collection."""

    manager: Manager
    deadline: float

    def run(self) -> Opened:
        """Open it."""
        return self.manager.open(self.deadline)

    async def arun(self) -> Opened:
        """Open it, the event loop free meanwhile."""
        return await asyncio.to_thread(self.manager.open, self.deadline)


class Operations:
    """Reads and writes the rows of one collection.

    Args:
        clients: Of the Milvus that it lies in.
        manager: Of the collection.
        dimension: Of its vectors; `None` for none.
        timeout: Seconds that an operation may take where it says nothing else.
    """

    def __init__(self, clients: Clients, manager: Manager, *, dimension: int | None, timeout: float) -> None:
        self._clients = clients
        self._manager = manager
        self._dimension = dimension
        self._timeout = timeout
        self._recent = recent_writes(clients.name, manager.name)

    def deadline(self, timeout: float | None) -> float:
        """When an operation that begins now is to be over."""
        return time.monotonic() + (self._timeout if timeout is None else timeout)

    def open(self, deadline: float) -> Steps[Opened]:
        """The collection, opened."""
        opened = self._manager.opened
        return opened if opened is not None else (yield _Open(self._manager, deadline))

    def _ask(self, method: str, deadline: float, **arguments: Any) -> Steps[Any]:  # noqa: ANN401  # any call of pymilvus
        arguments["collection_name"] = self._manager.name
        while True:
            try:
                return (yield from tried(self._clients, method, arguments, deadline))
            except RefusedError as error:
                if not error.is_gone or time.monotonic() >= deadline:
                    raise
            # Somebody dropped or released it, or a server that was started anew has not got round to it yet.
            self._manager.forget()
            yield from self.open(deadline)

    # --- writing ------------------------------------------------------------------------------------------------------

    def upsert(self, rows: Sequence[Row], timeout: float | None) -> Steps[None]:
        """Write rows; those of an episode that follow each other in one request."""
        fields = [fields_of(row, self._dimension) for row in rows]  # a row that is not well-formed stops all of them
        if fields:
            yield from self._put(fields, self.deadline(timeout))

    def _put(self, fields: Sequence[Fields], deadline: float) -> Steps[None]:
        opened = yield from self.open(deadline)
        partitions: dict[str, dict[str, Fields]] = {}
        for one in fields:  # of two with one id the last counts
            partitions.setdefault(opened.partition(one["user_key"]), {})[one["id"]] = one
        for partition, of_partition in partitions.items():
            for batch in batches(of_partition.values()):
                self._recent.rows.add(one["id"] for one in batch)
                self._recent.users.add(one["user_key"] for one in batch)
                yield from self._ask("upsert", deadline, data=batch, partition_name=partition)

    def update(self, ids: Sequence[str], changes: dict[str, Any], timeout: float | None) -> Steps[int]:
        """Change fields of the rows with these ids, and of their other parts; see that it was done."""
        if unknown := changes.keys() - _CHANGEABLE:
            msg = f"{', '.join(sorted(unknown))} cannot be changed; what can: {', '.join(sorted(_CHANGEABLE))}"
            raise ValueError(msg)
        deadline = self.deadline(timeout)
        given = list(dict.fromkeys(ids))
        rows = yield from self._fetch(Where(user_key=None), given, deadline, vectors=True, strong=True)
        others = [part_id(row.episode, part) for row in rows for part in range(1, row.parts) if row.part == 0]
        parts = yield from self._fetch(Where(user_key=None), others, deadline, vectors=True, strong=True)
        found = {row.id: row for row in (*rows, *parts)}
        if not found or not changes:
            return len(rows)
        changed = {row.id: replace(row, **changes) for row in found.values()}
        yield from self._put([fields_of(row, self._dimension) for row in changed.values()], deadline)
        stored = yield from self._fetch(Where(user_key=None), list(changed), deadline, vectors=False, strong=True)
        if [replace(row, vector=None) for row in stored] != [replace(row, vector=None) for row in changed.values()]:
            msg = f"{len(changed)} rows were changed, and others stand there: somebody wrote them meanwhile; try again"
            raise MemoryStoreError(msg)
        return len(rows)

    def delete(self, where: Where, timeout: float | None) -> Steps[int]:
        """Remove rows until none is left that matches; gives how many episodes they were of."""
        if where.user_key is None:
            msg = "a deletion must name whose rows go: Where.of(scope, ...); drop() removes everybody's"
            raise ScopeError(msg)
        deadline = self.deadline(timeout)
        opened = yield from self.open(deadline)
        partition = opened.partition(where.user_key)
        episodes: set[str] = set()
        for _ in range(_ROUNDS):
            left = yield from self._all(where, deadline, fields=("id", "episode"), strong=True)
            if not left:
                return len(episodes)
            episodes.update(one["episode"] for one in left)
            for batch in chunks([one["id"] for one in left]):
                self._recent.rows.add(batch)
                self._recent.users.add([where.user_key])
                yield from self._ask("delete", deadline, ids=batch, partition_name=partition)
        msg = f"rows were written as fast as they were deleted: {len(episodes)} episodes are gone, others have come"
        raise MemoryStoreError(msg)

    # --- searching ----------------------------------------------------------------------------------------------------

    def search(
        self, where: Where, vector: Sequence[float] | None, terms: str | None, limit: int, timeout: float | None
    ) -> Steps[Hits]:
        """The nearest rows, and those that share words."""
        if where.user_key is None:
            msg = "a search must name whose rows it may find: Where.of(scope, ...)"
            raise ScopeError(msg)
        if not 0 < limit <= _MOST_HITS:
            msg = f"limit={limit!r}: give a number from 1 to {_MOST_HITS:,}"
            raise ValueError(msg)
        if vector is not None and self._dimension is None:
            msg = "this collection has no vectors, it is searched by terms only"
            raise ValueError(msg)
        query = None if vector is None else unit_vector(vector, self._dimension or 0, "the query's vector")
        deadline = self.deadline(timeout)
        opened = yield from self.open(deadline)
        expression = where.expression()
        options = {
            "limit": limit,
            "partition_names": [opened.partition(where.user_key)],
            "consistency_level": self._level(where),
        }
        hits = Hits()
        if query is not None:
            dense = {"data": [query], "anns_field": VECTOR, "filter": f"{expression} and embedded == true"}
            found = yield from self._ask("search", deadline, **options, **dense, output_fields=list(FIELDS_OF_HITS))
            hits.dense.extend((row, max(-1.0, min(1.0, score))) for row, score in _scored(found, where.user_key))
        if terms and terms.strip() and opened.capabilities.bm25:
            words = {"data": [terms], "anns_field": SPARSE, "filter": expression}
            found = yield from self._ask("search", deadline, **options, **words, output_fields=list(_WHERE))
            hits.lexical.extend(_mentioned(found))
        return hits

    # --- reading ------------------------------------------------------------------------------------------------------

    def fetch(
        self, ids: Sequence[str], user_key: str | None, timeout: float | None, *, vectors: bool, strong: bool
    ) -> Steps[list[Row]]:
        """Rows by their ids, in that order."""
        where = Where(user_key=user_key)
        return (yield from self._fetch(where, ids, self.deadline(timeout), vectors=vectors, strong=strong))

    def _fetch(
        self, where: Where, ids: Sequence[str], deadline: float, *, vectors: bool, strong: bool
    ) -> Steps[list[Row]]:
        found: dict[str, Row] = {}
        # Milvus Lite looks rows up where only ids are asked for, and else walks through the partition.
        plain = self._clients.is_lite and where == Where(user_key=where.user_key)
        for batch in chunks(list(dict.fromkeys(ids))):
            asked = replace(where, ids=tuple(batch))
            fields = self._fields(vectors=vectors)
            level = self._level(asked, strong=strong)
            answer = yield from self._query(asked, deadline, fields=fields, level=level, plain=plain)
            found |= {one["id"]: row_of_fields(one) for one in answer}
        mine = {one: row for one, row in found.items() if where.user_key in {None, row.user_key}}
        return [mine[one] for one in ids if one in mine]

    def select(
        self,
        where: Where,
        limit: int | None,
        order: Order | None,
        timeout: float | None,
        *,
        newest: bool,
        vectors: bool,
        strong: bool,
    ) -> Steps[list[Row]]:
        """All rows that match, or the first of them in an order."""
        if limit is not None and limit <= 0:
            return []
        deadline = self.deadline(timeout)
        fields = self._fields(vectors=vectors)
        if limit is None or order is None:
            found = yield from self._all(where, deadline, fields=fields, strong=strong, limit=limit)
            return _in_order([row_of_fields(one) for one in found], order, newest=newest)
        # To put them in order all must be looked at, but not read whole.
        keys = yield from self._all(where, deadline, fields=_PLACE, strong=strong)
        first = sorted(keys, key=itemgetter(*_ORDERS[order]), reverse=newest)[:limit]
        ids = [one["id"] for one in first]
        return (yield from self._fetch(where, ids, deadline, vectors=vectors, strong=strong))

    def page(self, where: Where, after: str, size: int, timeout: float | None, *, vectors: bool) -> Steps[list[Row]]:
        """The next rows by id."""
        fields = self._fields(vectors=vectors)
        found = yield from self._page(where, after, size, self.deadline(timeout), fields=fields, strong=False)
        return [row_of_fields(one) for one in found]

    def count(self, where: Where, timeout: float | None, *, strong: bool) -> Steps[int]:
        """How many rows match."""
        level = self._level(where, strong=strong)
        answer = yield from self._query(where, self.deadline(timeout), fields=("count(*)",), level=level)
        return int(answer[0]["count(*)"])

    def _level(self, where: Where, *, strong: bool = False) -> str:
        """How new what is read must be: at least what this process wrote of it."""
        if strong:
            return _STRONG
        # Session waits for whatever this process wrote last, up to 200 ms, though it is not asked for.
        recent = self._recent
        if where.ids is not None and not recent.rows.has_any(where.ids):
            return _EVENTUALLY
        if where.user_key is not None and not recent.users.has_any([where.user_key]):
            return _EVENTUALLY
        return _SESSION

    def _fields(self, *, vectors: bool) -> tuple[str, ...]:
        return (*FIELDS, "embedded", VECTOR) if vectors and self._dimension is not None else FIELDS

    def _all(
        self, where: Where, deadline: float, *, fields: Sequence[str], strong: bool, limit: int | None = None
    ) -> Steps[list[Fields]]:
        """Page after page, since one query gives at most 16,384 rows."""
        found: list[Fields] = []
        after = ""
        while limit is None or len(found) < limit:
            size = _PAGE if limit is None else min(_PAGE, limit - len(found))
            page = yield from self._page(where, after, size, deadline, fields=fields, strong=strong)
            found += page
            if len(page) < size:
                break
            after = page[-1]["id"]
        return found

    def _page(
        self, where: Where, after: str, size: int, deadline: float, *, fields: Sequence[str], strong: bool
    ) -> Steps[list[Fields]]:
        beyond = f"id > {literal(after)}" if after else ""
        # A server gives the first rows by id; Milvus Lite does when it is told that pages are being turned.
        options: dict[str, Any] = {"limit": size, **({"iterator": "True"} if self._clients.is_lite else {})}
        level = self._level(where, strong=strong)
        page = yield from self._query(where, deadline, fields=fields, level=level, beyond=beyond, **options)
        return sorted(page, key=lambda one: str(one["id"]))

    def _query(
        self,
        where: Where,
        deadline: float,
        *,
        fields: Sequence[str],
        level: str,
        beyond: str = "",
        plain: bool = False,
        **options: Any,  # noqa: ANN401  # as in _ask
    ) -> Steps[list[Fields]]:
        opened = yield from self.open(deadline)
        if where.user_key is not None:
            options["partition_names"] = [opened.partition(where.user_key)]
        asked = replace(where, user_key=None) if plain else where
        expression = " and ".join(part for part in (asked.expression(), beyond) if part)
        answer = yield from self._ask(
            "query",
            deadline,
            filter=expression,
            output_fields=list(fields),
            consistency_level=level,
            **options,
        )
        return list(answer)


_WHERE: Final = ("session_key", "number", "part")


def _mentioned(found: Any) -> list[tuple[Mention, float]]:  # noqa: ANN401  # pymilvus' own class
    """Hits by words, of which several may be parts of one episode; the best comes first."""
    best: dict[str, tuple[Mention, float]] = {}
    for hit in found[0]:
        given = hit["entity"]
        row_id = str(hit["id"])
        episode = episode_id(row_id, int(given["part"]))
        mention = Mention(row_id, episode, given["session_key"], given["number"])
        best.setdefault(episode, (mention, abs(float(hit["distance"]))))  # Milvus Lite gives the score below 0
    return list(best.values())


def _scored(found: Any, user_key: str) -> list[Scored]:  # noqa: ANN401  # pymilvus' own class
    return [(row_of_hit(str(hit["id"]), user_key, hit["entity"]), float(hit["distance"])) for hit in found[0]]


_PLACE: Final = ("session_key", "number", "part", "created_at", "id")
"""What rows are put in order by."""
_ORDERS: Final[Mapping[Order, Sequence[str]]] = {
    "number": ("session_key", "number", "part", "id"),
    "created_at": ("created_at", "session_key", "number", "part", "id"),
}


def _in_order(rows: list[Row], order: Order | None, *, newest: bool) -> list[Row]:
    if order is None:
        return rows[::-1] if newest else rows
    return sorted(rows, key=attrgetter(*_ORDERS[order]), reverse=newest)
