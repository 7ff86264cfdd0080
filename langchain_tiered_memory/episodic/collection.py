"""The episode collection in Milvus: Milvus Lite in a folder, a server, or Zilliz Cloud, through one client."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Final

from langchain_tiered_memory._driving import adrive, drive
from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory.episodic._clients import Clients
from langchain_tiered_memory.episodic._managing import Manager
from langchain_tiered_memory.episodic._operations import Hits, Mention, Operations, Order
from langchain_tiered_memory.episodic._schema import Capabilities
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.rows import Row

__all__ = ["Capabilities", "EpisodeCollection", "Hits", "Mention", "Order"]

_SMALLEST_DIMENSION: Final = 2
_NAME: Final = re.compile("[A-Za-z_][A-Za-z0-9_]{0,199}")


class EpisodeCollection(Closing):
    """The rows of all episodes of all scopes in one Milvus collection.

    Exists so that what Milvus is (and what Milvus Lite and older servers are not) is known in one place. Every method
    has an `a` twin (`aupsert`, `asearch`, ...). Construction touches nothing: the first call connects, makes the
    collection where it is missing, checks it and loads it. What was written by this process is seen by its reads.

    Threads may share an object, and so may event loops one after the other. After a fork a child opens connections of
    its own to a server; Milvus Lite serves only the process that opened it, and says so.

    ```python
    from langchain_tiered_memory.episodic.collection import EpisodeCollection
    from langchain_tiered_memory.episodic.filters import Where
    from langchain_tiered_memory.episodic.rows import Row

    with EpisodeCollection("./memory.db", dimension=2, model="compass") as episodes:
        episodes.upsert([Row(id="e1", user_key="ada", content="Go north.", terms="go north", vector=[0, 1])])
        assert episodes.search(Where(user_key="ada"), vector=[1, 1]).dense[0][0].content == "Go north."
    ```

    Args:
        uri: A path (`"./memory.db"`: Milvus Lite), `"http://host:19530"`, or a Zilliz Cloud URI.
        token: `"user:password"` or an API key.
        name: The collection's name: letters, digits and underscores.
        dimension: Of the vectors; `None` = words only.
        model: The name of the embedding model, written down and compared at open; `None` = words only.
        timeout: Seconds that one call may take, its retries included; each call may say its own.

    Raises:
        MemoryStoreError: (any method) Milvus cannot be reached, is locked by another process, refused a call, or the
            collection was made for another model or dimension. Never an exception of pymilvus.
        ValueError: Only one of dimension and model is given; (any method) a row or a condition is not well-formed, and
            nothing was sent.
    """

    def __init__(
        self,
        uri: str = "./memory.db",
        *,
        token: str | None = None,
        name: str = "episodes",
        dimension: int | None = None,
        model: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        if (dimension is None) != (model is None):
            msg = f"dimension={dimension!r} and model={model!r} go together: give both, or neither for words only"
            raise ValueError(msg)
        if dimension is not None and dimension < _SMALLEST_DIMENSION:
            msg = f"dimension={dimension!r}: Milvus takes vectors of {_SMALLEST_DIMENSION} dimensions or more"
            raise ValueError(msg)
        if not timeout > 0:
            msg = f"timeout={timeout!r}: give seconds, more than 0"
            raise ValueError(msg)
        if not _NAME.fullmatch(name):
            msg = f"name={name!r}: a collection's name has letters, digits and underscores, and begins with no digit"
            raise ValueError(msg)
        self.name = name
        self._clients = Clients(uri, token=token, timeout=timeout)
        self._manager = Manager(self._clients, name, model=model, dimension=dimension)
        self._rows = Operations(self._clients, self._manager, dimension=dimension, timeout=timeout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._clients.name!r}, name={self.name!r})"

    # --- rows ---------------------------------------------------------------------------------------------------------

    def upsert(self, rows: Sequence[Row], *, timeout: float | None = None) -> None:
        """Write rows, the parts of an episode in one request; a row with the id of a stored one takes its place.

        When it returns, they are stored. When it raises, all parts of an episode are or none; the same call again is
        safe. Content must fit a row: see `rows.split_parts`. The parts of an episode must follow each other.
        """
        drive(self._rows.upsert(rows, timeout))

    async def aupsert(self, rows: Sequence[Row], *, timeout: float | None = None) -> None:  # noqa: ASYNC109  # a deadline
        """`upsert`, awaited."""
        await adrive(self._rows.upsert(rows, timeout))

    def search(
        self,
        where: Where,
        *,
        vector: Sequence[float] | None = None,
        terms: str | None = None,
        limit: int = 100,
        timeout: float | None = None,
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
        return drive(self._rows.search(where, vector, terms, limit, timeout))

    async def asearch(
        self,
        where: Where,
        *,
        vector: Sequence[float] | None = None,
        terms: str | None = None,
        limit: int = 100,
        timeout: float | None = None,  # noqa: ASYNC109  # a deadline that Milvus is told
    ) -> Hits:
        """`search`, awaited."""
        return await adrive(self._rows.search(where, vector, terms, limit, timeout))

    def fetch(
        self,
        ids: Sequence[str],
        *,
        user_key: str | None = None,
        vectors: bool = False,
        strong: bool = False,
        timeout: float | None = None,
    ) -> list[Row]:
        """Rows by primary key, in the order of `ids`; ids that are not there are left out.

        Args:
            ids: Any number.
            user_key: Whose rows they are; makes it quicker and keeps others' rows out.
            vectors: Whether to give the vectors too, at length 1.
            strong: See also what other processes wrote just now (slower: about 200 ms on a server).
            timeout: As in `search`.
        """
        return drive(self._rows.fetch(ids, user_key, timeout, vectors=vectors, strong=strong))

    async def afetch(
        self,
        ids: Sequence[str],
        *,
        user_key: str | None = None,
        vectors: bool = False,
        strong: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  # as above
    ) -> list[Row]:
        """`fetch`, awaited."""
        return await adrive(self._rows.fetch(ids, user_key, timeout, vectors=vectors, strong=strong))

    def select(
        self,
        where: Where,
        *,
        limit: int | None = None,
        order: Order | None = None,
        newest: bool = False,
        vectors: bool = False,
        strong: bool = False,
        timeout: float | None = None,
    ) -> list[Row]:
        """All rows that match, however many, or the first `limit` in an order.

        Args:
            where: The filter.
            limit: At most so many.
            order: `"number"` (by session, number, part) or `"created_at"`; `None`: by id.
            newest: Turn the order round, so that `limit` keeps the last ones; they come newest first.
            vectors: As in `fetch`.
            strong: As in `fetch`.
            timeout: As in `search`.
        """
        steps = self._rows.select(where, limit, order, timeout, newest=newest, vectors=vectors, strong=strong)
        return drive(steps)

    async def aselect(
        self,
        where: Where,
        *,
        limit: int | None = None,
        order: Order | None = None,
        newest: bool = False,
        vectors: bool = False,
        strong: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  # as above
    ) -> list[Row]:
        """`select`, awaited."""
        steps = self._rows.select(where, limit, order, timeout, newest=newest, vectors=vectors, strong=strong)
        return await adrive(steps)

    def pages(self, where: Where, *, vectors: bool = False, size: int = 500) -> Iterator[list[Row]]:
        """All rows that match, by id, in lists of at most `size`: to export, to reindex."""
        after = ""
        while page := drive(self._rows.page(where, after, size, None, vectors=vectors)):
            yield page
            after = page[-1].id

    async def apages(self, where: Where, *, vectors: bool = False, size: int = 500) -> AsyncIterator[list[Row]]:
        """`pages`, for `async for`."""
        after = ""
        while page := await adrive(self._rows.page(where, after, size, None, vectors=vectors)):
            yield page
            after = page[-1].id

    def count(self, where: Where, *, strong: bool = True, timeout: float | None = None) -> int:
        """How many rows match; with `Where(part=0)`, how many episodes."""
        return drive(self._rows.count(where, timeout, strong=strong))

    async def acount(self, where: Where, *, strong: bool = True, timeout: float | None = None) -> int:  # noqa: ASYNC109  # as above
        """`count`, awaited."""
        return await adrive(self._rows.count(where, timeout, strong=strong))

    def delete(self, where: Where, *, timeout: float | None = None) -> int:
        """Remove the rows that match, and give how many episodes they were of; when it returns, none is left.

        That none is left is seen at the level Strong, so the count holds across processes.

        Raises:
            ScopeError: The filter names no user.
        """
        return drive(self._rows.delete(where, timeout))

    async def adelete(self, where: Where, *, timeout: float | None = None) -> int:  # noqa: ASYNC109  # as above
        """`delete`, awaited."""
        return await adrive(self._rows.delete(where, timeout))

    def update(self, ids: Sequence[str], *, timeout: float | None = None, **fields: Any) -> int:  # noqa: ANN401  # fields of Row
        """Change fields of stored rows, of all parts of an episode where it is named; gives how many ids were there.

        What may be changed: `valid_from`, `valid_until`, `superseded_by`, `entity`, `metadata`, `kind`, `number`,
        `created_at`. Read before and seen after at the level Strong.
        """
        return drive(self._rows.update(ids, fields, timeout))

    async def aupdate(self, ids: Sequence[str], *, timeout: float | None = None, **fields: Any) -> int:  # noqa: ANN401, ASYNC109  # as above
        """`update`, awaited."""
        return await adrive(self._rows.update(ids, fields, timeout))

    # --- the collection as a whole ------------------------------------------------------------------------------------

    def capabilities(self) -> Capabilities:
        """What this Milvus can do; opens it. One that finds nothing by words is warned about, once for each object."""
        return drive(self._rows.open(self._rows.deadline(None))).capabilities

    async def acapabilities(self) -> Capabilities:
        """`capabilities`, awaited."""
        return (await adrive(self._rows.open(self._rows.deadline(None)))).capabilities

    def exists(self, *, timeout: float | None = None) -> bool:
        """Whether the collection is there; makes nothing in it."""
        return self._manager.exists(self._rows.deadline(timeout))

    async def aexists(self, *, timeout: float | None = None) -> bool:  # noqa: ASYNC109  # as above
        """`exists`, awaited."""
        return await asyncio.to_thread(self.exists, timeout=timeout)

    def described(self, *, timeout: float | None = None) -> tuple[str | None, int | None]:
        """Model and dimension that the stored collection was made for, whatever this object was told."""
        return self._manager.described(self._rows.deadline(timeout))

    async def adescribed(self, *, timeout: float | None = None) -> tuple[str | None, int | None]:  # noqa: ASYNC109  # as above
        """`described`, awaited."""
        return await asyncio.to_thread(self.described, timeout=timeout)

    def drop(self) -> None:
        """Remove the whole collection, everybody's rows with it."""
        self._manager.drop(self._rows.deadline(None))

    async def adrop(self) -> None:
        """`drop`, awaited."""
        await asyncio.to_thread(self.drop)

    def replace(self, name: str) -> None:
        """Take the place of the collection `name`, which is dropped: the last step of a reindex.

        A process that is killed in the middle leaves one of the two whole collections, and the next open of `name`
        finishes the work. Objects that have `name` open should be closed.
        """
        self._manager.replace(name, self._rows.deadline(None))

    async def areplace(self, name: str) -> None:
        """`replace`, awaited."""
        await asyncio.to_thread(self.replace, name)

    def close(self) -> None:
        """Close the connections; the next call opens them again. Milvus Lite is let go for other processes."""
        self._manager.forget()
        self._clients.close()

    async def aclose(self) -> None:
        """`close`, with the client of this event loop."""
        self._manager.forget()
        await self._clients.aclose()
