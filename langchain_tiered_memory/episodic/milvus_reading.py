"""Reads the episode collection: searches by vector and by words, rows by id, by filter and in order."""

from __future__ import annotations

import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, ClassVar, Final, Self, TypeAlias
from weakref import WeakValueDictionary

from langchain_tiered_memory._sync import Caller
from langchain_tiered_memory.episodic.filters import Where, literal
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection, MilvusRequest
from langchain_tiered_memory.episodic.milvus_lite import Untyped
from langchain_tiered_memory.episodic.milvus_schema import SPARSE, VECTOR, CollectionSchema, Opened
from langchain_tiered_memory.episodic.rows import (
    FIELDS,
    FIELDS_OF_HITS,
    Row,
    episode_id,
    row_of_fields,
    row_of_hit,
    unit_vector,
)
from langchain_tiered_memory.errors import ScopeError

__all__ = ["PAGE", "CollectionReader", "Fields", "Hits", "LexicalHit", "chunks"]

Fields: TypeAlias = Mapping[str, Any]
"""A row as Milvus takes it, or gives it."""

_MOST_HITS: Final = 16_384
"""Milvus' own limit of one search, and of one query."""
PAGE: Final = 500
"""Rows that are read or written at a time."""
_STRONG: Final = "Strong"
_EVENTUALLY: Final = "Eventually"
_SESSION: Final = "Session"
"""Sees what this process wrote, which on a server costs up to 200 ms once after a write; Strong costs it every time."""
_RECENT: Final = 20_000
"""Ids that are kept of a kind; a server takes in a row within a second, far sooner than so many others come."""


@dataclass(frozen=True, slots=True)
class LexicalHit:
    """An episode that holds the words that were looked for, and where it stands; what it says is not read.

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

    dense: list[tuple[Row, float]] = field(default_factory=list)
    lexical: list[tuple[LexicalHit, float]] = field(default_factory=list)


class CollectionReader:
    """What is read of a collection; see `EpisodeCollection`."""

    def __init__(
        self,
        connection: MilvusConnection,
        caller: Caller,
        name: str = "episodes",
        *,
        dimension: int | None = None,
        model: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        self._connection = connection
        self._caller = caller
        self._timeout = timeout
        self._schema = CollectionSchema(connection, name, model=model, dimension=dimension)
        self._recent = _RecentWrites.of(connection.name, name)

    @property
    def is_open(self) -> bool:
        """Whether it was opened, and so is there."""
        return self._schema.opened is not None

    def calling(self, caller: Caller) -> Self:
        """The same collection, opened once for both, through another caller."""
        other = object.__new__(type(self))
        other.__dict__ |= self.__dict__ | {"_caller": caller}
        return other

    def _deadline(self, timeout: float | None) -> float:
        return time.monotonic() + (self._timeout if timeout is None else timeout)

    async def _open(self, deadline: float) -> Opened:
        opened = self._schema.opened
        return opened if opened is not None else await self._caller.in_thread(self._schema.open, deadline)

    async def _partition(self, user_key: str, deadline: float) -> str:
        """The partition that a user's rows lie in.

        Named ones rather than Milvus' own partition key, by which Milvus Lite skips nothing, and under which server
        2.3.5 loses rows that are upserted: it files them where a filter on the key does not look.
        """
        return f"p{zlib.crc32(user_key.encode()) % (await self._open(deadline)).partitions}"

    async def _ask(self, request: MilvusRequest, deadline: float) -> Untyped:
        async def reopen() -> None:
            # Somebody dropped or released it, or a server that was started anew has not got round to it yet.
            self._schema.opened = None
            await self._open(deadline)

        return await self._connection.request(self._caller, request, deadline, reopen=reopen)

    # --- searching ----------------------------------------------------------------------------------------------------

    async def search(
        self,
        where: Where,
        *,
        vector: Sequence[float] | None = None,
        terms: str | None = None,
        limit: int = 100,
        timeout: float | None = None,  # noqa: ASYNC109  # as above
    ) -> Hits:
        """The rows nearest by vector, and the episodes that share words, each at most `limit`, inside a filter.

        With `where.ids` or `where.among` it scores just these rows: the way to have the cosine of neighbours, and of
        what was found by words.

        Args:
            where: The filter; must name a user.
            vector: The query's embedding; not given: no dense hits.
            terms: The query's analysed words; not given or "": no lexical hits.
            limit: At most 16,384.
            timeout: Seconds that this call may take, opening and retries included.

        Raises:
            ScopeError: The filter names no user.
        """
        if where.user_key is None:
            msg = "a search must name whose rows it may find: Where.of(scope, ...)"
            raise ScopeError(msg)
        if not 0 < limit <= _MOST_HITS:
            msg = f"limit={limit!r}: give a number from 1 to {_MOST_HITS:,}"
            raise ValueError(msg)
        if vector is not None and self._schema.dimension is None:
            msg = "this collection has no vectors, it is searched by terms only"
            raise ValueError(msg)
        deadline = self._deadline(timeout)
        hits = Hits()
        if vector is not None:
            query = unit_vector(vector, self._schema.dimension or 0, "the query's vector")
            found = await self._search(where, VECTOR, query, FIELDS_OF_HITS, limit, deadline)
            for hit in found:
                row = row_of_hit(str(hit["id"]), where.user_key, hit["entity"])
                hits.dense.append((row, max(-1.0, min(1.0, float(hit["distance"])))))
        if terms and terms.strip() and (await self._open(deadline)).bm25:
            found = await self._search(where, SPARSE, terms, ("session_key", "number", "part"), limit, deadline)
            hits.lexical.extend(_lexical_hits(found))
        return hits

    async def _search(
        self,
        where: Where,
        field_: str,
        query: str | list[float],
        fields: Sequence[str],
        limit: int,
        deadline: float,
    ) -> Sequence[Mapping[str, Any]]:
        name = self._schema.name
        partition = await self._partition(where.user_key or "", deadline)
        options = {
            "filter": where.expression() + (" and embedded == true" if field_ == VECTOR else ""),
            "limit": limit,
            "partition_names": [partition],
            "consistency_level": self._level(where),
            "output_fields": list(fields),
        }

        def work(client: Untyped, seconds: float) -> Untyped:
            return client.search(name, [query], anns_field=field_, timeout=seconds, **options)

        found = await self._ask(MilvusRequest("search", work, name, partition), deadline)
        hits: Sequence[Mapping[str, Any]] = found[0]
        return hits

    # --- reading ------------------------------------------------------------------------------------------------------

    async def fetch(
        self,
        ids: Sequence[str],
        *,
        user_key: str | None = None,
        vectors: bool = False,
        strong: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  # as above
    ) -> list[Row]:
        """Rows by primary key, in the order of `ids`; ids that are not there are left out.

        Args:
            ids: Any number.
            user_key: Whose rows they are; makes it quicker and keeps others' rows out.
            vectors: Whether to give the vectors too, at length 1.
            strong: See also what other processes wrote just now (slower: about 200 ms on a server).
            timeout: As in `search`.
        """
        deadline = self._deadline(timeout)
        found: dict[str, Row] = {}
        for batch in chunks(list(dict.fromkeys(ids))):
            where = Where(user_key=user_key, ids=tuple(batch))
            level = self._level(where, strong=strong)
            fields = (*FIELDS, "embedded", VECTOR) if vectors and self._schema.dimension is not None else FIELDS
            # Milvus Lite looks rows up where only ids are asked for, and else walks through the partition.
            expression = replace(where, user_key=None).expression() if self._connection.is_lite else where.expression()
            for one in await self._query(where, expression, deadline, fields=fields, level=level):
                row = row_of_fields(one)
                if user_key in {None, row.user_key}:
                    found[row.id] = row
        return [found[one] for one in ids if one in found]

    async def select(self, where: Where, *, strong: bool = False, timeout: float | None = None) -> list[Row]:  # noqa: ASYNC109  # as above
        """All rows that match, however many, by id."""
        return [
            row_of_fields(one) for one in await self._all(where, self._deadline(timeout), fields=FIELDS, strong=strong)
        ]

    async def pages(self, where: Where, *, size: int = PAGE) -> AsyncGenerator[list[Row], None]:
        """All rows that match, by id, in lists of at most `size`: to export, to reindex."""
        after = ""
        while found := await self._page(where, after, size, self._deadline(None), fields=FIELDS):
            yield [row_of_fields(one) for one in found]
            after = found[-1]["id"]

    async def count(self, where: Where, *, strong: bool = True, timeout: float | None = None) -> int:  # noqa: ASYNC109  # as above
        """How many rows match; with `Where(part=0)`, how many episodes."""
        level = self._level(where, strong=strong)
        deadline = self._deadline(timeout)
        answer = await self._query(where, where.expression(), deadline, fields=("count(*)",), level=level)
        return int(answer[0]["count(*)"])

    def _level(self, where: Where, *, strong: bool = False) -> str:
        """How new what is read must be: at least what this process wrote of it."""
        if strong:
            return _STRONG
        # Session waits for whatever this process wrote last, up to 200 ms, though it is not asked for.
        users = None if where.user_key is None else (where.user_key,)
        return _SESSION if self._recent.has_any(where.ids, users) else _EVENTUALLY

    async def _all(self, where: Where, deadline: float, *, fields: Sequence[str], strong: bool = False) -> list[Fields]:
        """Page after page, since one query gives at most 16,384 rows."""
        found: list[Fields] = []
        while page := await self._page(
            where, found[-1]["id"] if found else "", PAGE, deadline, fields=fields, strong=strong
        ):
            found += page
            if len(page) < PAGE:
                break
        return found

    async def _page(
        self, where: Where, after: str, size: int, deadline: float, *, fields: Sequence[str], strong: bool = False
    ) -> list[Fields]:
        beyond = f"id > {literal(after)}" if after else ""
        expression = " and ".join(part for part in (where.expression(), beyond) if part)
        # A server gives the first rows by id; Milvus Lite does when it is told that pages are being turned.
        options: dict[str, Any] = {"limit": size, **({"iterator": "True"} if self._connection.is_lite else {})}
        level = self._level(where, strong=strong)
        page = await self._query(where, expression, deadline, fields=fields, level=level, **options)
        return sorted(page, key=itemgetter("id"))

    async def _query(
        self,
        where: Where,
        expression: str,
        deadline: float,
        *,
        fields: Sequence[str],
        level: str,
        **options: int | str,
    ) -> Sequence[Fields]:
        name = self._schema.name
        partition = "" if where.user_key is None else await self._partition(where.user_key, deadline)
        asked: dict[str, Any] = {**options, **({"partition_names": [partition]} if partition else {})}

        def work(client: Untyped, seconds: float) -> Untyped:
            return client.query(
                name, expression, output_fields=list(fields), consistency_level=level, timeout=seconds, **asked
            )

        found: Sequence[Fields] = await self._ask(MilvusRequest("query", work, name, partition), deadline)
        return found

    async def opened(self) -> Opened:
        """What this Milvus can do; opens it. One that finds nothing by words is warned about, once for each object."""
        return await self._open(self._deadline(None))


def _lexical_hits(found: Iterable[Mapping[str, Any]]) -> list[tuple[LexicalHit, float]]:
    """Hits by words, of which several may be parts of one episode; the best comes first."""
    best: dict[str, tuple[LexicalHit, float]] = {}
    for hit in found:
        given = hit["entity"]
        row_id = str(hit["id"])
        episode = episode_id(row_id, int(given["part"]))
        lexical = LexicalHit(row_id, episode, given["session_key"], given["number"])
        best.setdefault(episode, (lexical, abs(float(hit["distance"]))))  # Milvus Lite gives the score below 0
    return list(best.values())


def chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    """Ids, so many at a time that their rows fit one answer."""
    for start in range(0, len(ids), PAGE):
        yield list(ids[start : start + PAGE])


class _RecentWrites:
    """What this process wrote or deleted lately in one collection, so that only reads of it wait for it.

    One for all objects of a collection in this process, as Milvus' level Session is.
    """

    _known: ClassVar[WeakValueDictionary[tuple[str, str], _RecentWrites]] = WeakValueDictionary()
    _guard: ClassVar[threading.Lock] = threading.Lock()

    def __init__(self) -> None:
        self._rows: OrderedDict[str, None] = OrderedDict()
        self._users: OrderedDict[str, None] = OrderedDict()

    @classmethod
    def of(cls, uri: str, collection: str) -> _RecentWrites:
        with cls._guard:
            return cls._known.setdefault((uri, collection), cls())

    def add(self, rows: Iterable[str], users: Iterable[str]) -> None:
        """Note ids before they are sent."""
        with self._guard:
            for known, ids in ((self._rows, rows), (self._users, users)):
                for one in ids:
                    known[one] = None
                    known.move_to_end(one)
                while len(known) > _RECENT:
                    known.popitem(last=False)

    def has_any(self, rows: Iterable[str] | None, users: Iterable[str] | None) -> bool:
        """Whether one of these rows of one of these users is among them; `None` stands for all."""
        with self._guard:
            return (rows is None or any(one in self._rows for one in rows)) and (
                users is None or any(one in self._users for one in users)
            )
