"""The episode collection in Milvus: Milvus Lite in a folder, a server, or Zilliz Cloud, through one client."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.milvus_connection import MilvusRequest
from langchain_tiered_memory.episodic.milvus_lite import Untyped
from langchain_tiered_memory.episodic.milvus_reading import PAGE, CollectionReader, Fields, chunks
from langchain_tiered_memory.episodic.rows import Row, fields_of, part_id
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError

__all__ = ["EpisodeCollection"]

_CHANGEABLE: Final = frozenset(
    ("valid_from", "valid_until", "superseded_by", "entity", "metadata", "kind", "number", "created_at")
)
_BATCH_BYTES: Final = 8_000_000
"""Below the 64 MB that a server takes in one message, however the texts are encoded."""
_ROUNDS: Final = 5
"""How often a deletion looks whether somebody wrote new rows meanwhile."""


class EpisodeCollection(CollectionReader):
    """The rows of all episodes of all scopes in one Milvus collection.

    Exists so that what Milvus is (and what Milvus Lite and older servers are not) is known in one place. Its methods
    are coroutines that go through a `Caller`: with `BLOCKING` they never suspend, and `run_sync` runs them without an
    event loop. The first call connects, makes the collection where it is missing, checks it and loads it. What was
    written by this process is seen by its reads.

    ```python
    from langchain_tiered_memory._sync import BLOCKING, run_sync
    from langchain_tiered_memory.episodic.filters import Where
    from langchain_tiered_memory.episodic.milvus import EpisodeCollection
    from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection
    from langchain_tiered_memory.episodic.rows import Row

    episodes = EpisodeCollection(MilvusConnection("./memory.db"), BLOCKING, dimension=2, model="compass")
    run_sync(episodes.upsert([Row(id="e1", user_key="ada", content="Go north.", terms="go north", vector=[0, 1])]))
    assert run_sync(episodes.search(Where(user_key="ada"), vector=[1, 1])).dense[0][0].content == "Go north."
    ```

    Args:
        connection: To the Milvus that it lies in.
        caller: Whether its calls block or are awaited.
        name: The collection's name.
        dimension: Of the vectors; `None` = words only.
        model: The name of the embedding model, written down and compared at open; `None` = words only.
        timeout: Seconds that one call may take, its retries included; each call may say its own.

    Raises:
        MemoryStoreError: (any method) Milvus cannot be reached, is locked by another process, refused a call, or the
            collection was made for another model or dimension. Never an exception of pymilvus.
        ValueError: (any method) A row or a condition is not well-formed, and nothing was sent.
    """

    # --- writing ------------------------------------------------------------------------------------------------------

    async def upsert(self, rows: Sequence[Row], *, timeout: float | None = None) -> None:  # noqa: ASYNC109  # a deadline
        """Write rows, the parts of an episode in one request; a row with the id of a stored one takes its place.

        When it returns, they are stored. When it raises, all parts of an episode are or none; the same call again is
        safe. Content must fit a row: see `rows.split_parts`. The parts of an episode must follow each other.
        """
        # A row that is not well-formed stops all of them.
        fields = [fields_of(row, self._schema.dimension) for row in rows]
        if fields:
            await self._put(fields, self._deadline(timeout))

    async def _put(self, fields: Sequence[Fields], deadline: float) -> None:
        name = self._schema.name
        partitions: dict[str, dict[str, Fields]] = {}
        for one in fields:  # of two with one id the last counts
            partition = await self._partition(one["user_key"], deadline)
            partitions.setdefault(partition, {})[one["id"]] = one
        for partition, of_partition in partitions.items():
            for batch in _batches(of_partition.values()):
                self._recent.add((one["id"] for one in batch), (one["user_key"] for one in batch))

                def work(client: Untyped, seconds: float, rows: list[Fields] = batch, part: str = partition) -> Untyped:
                    return client.upsert(name, rows, partition_name=part, timeout=seconds)

                await self._ask(MilvusRequest("upsert", work, name, partition, len(batch)), deadline)

    async def update(self, ids: Sequence[str], changes: Mapping[str, Any]) -> int:
        """Change fields of stored rows, of all parts of an episode where it is named; gives how many ids were there.

        What may be changed: `valid_from`, `valid_until`, `superseded_by`, `entity`, `metadata`, `kind`, `number`,
        `created_at`. Read before and seen after at the level Strong.
        """
        if unknown := changes.keys() - _CHANGEABLE:
            msg = f"{', '.join(sorted(unknown))} cannot be changed; what can: {', '.join(sorted(_CHANGEABLE))}"
            raise ValueError(msg)
        rows = await self.fetch(list(dict.fromkeys(ids)), vectors=True, strong=True)
        others = [part_id(row.episode, part) for row in rows for part in range(1, row.parts) if row.part == 0]
        parts = await self.fetch(others, vectors=True, strong=True)
        changed = {row.id: replace(row, **changes) for row in (*rows, *parts)}
        if not changed or not changes:
            return len(rows)
        await self.upsert(list(changed.values()))
        stored = await self.fetch(list(changed), strong=True)
        if stored != [replace(row, vector=None) for row in changed.values()]:
            msg = f"{len(changed)} rows were changed, and others stand there: somebody wrote them meanwhile; try again"
            raise MemoryStoreError(msg)
        return len(rows)

    async def delete(self, where: Where, *, timeout: float | None = None) -> int:  # noqa: ASYNC109  # as above
        """Remove the rows that match, and give how many episodes they were of; when it returns, none is left.

        That none is left is seen at the level Strong, so the count holds across processes. Milvus Lite only marks what
        is deleted, so the files that hold it are written anew.

        Raises:
            ScopeError: The filter names no user.
        """
        if where.user_key is None:
            msg = "a deletion must name whose rows go: Where.of(scope, ...); drop() removes everybody's"
            raise ScopeError(msg)
        name = self._schema.name
        deadline = self._deadline(timeout)
        partition = await self._partition(where.user_key, deadline)
        episodes: set[str] = set()
        for _ in range(_ROUNDS):
            left = await self._all(where, deadline, fields=("id", "episode"), strong=True)
            if not left:
                await self._connection.erase_bytes(self._caller, name, partition, deadline)
                return len(episodes)
            episodes.update(one["episode"] for one in left)
            for batch in chunks([one["id"] for one in left]):
                self._recent.add(batch, [where.user_key])

                def work(client: Untyped, seconds: float, ids: list[str] = batch) -> Untyped:
                    return client.delete(name, ids=ids, partition_name=partition, timeout=seconds)

                await self._ask(MilvusRequest("delete", work, name, partition, len(batch)), deadline)
        msg = f"rows were written as fast as they were deleted: {len(episodes)} episodes are gone, others have come"
        raise MemoryStoreError(msg)

    # --- the collection as a whole ------------------------------------------------------------------------------------

    async def exists(self, *, timeout: float | None = None) -> bool:  # noqa: ASYNC109  # as above
        """Whether the collection is there; makes nothing in it."""
        return await self._caller.in_thread(self._schema.exists, self._deadline(timeout))

    async def described(self, *, timeout: float | None = None) -> tuple[str | None, int | None]:  # noqa: ASYNC109  # as above
        """Model and dimension that the stored collection was made for, whatever this object was told."""
        return await self._caller.in_thread(self._schema.described, self._deadline(timeout))

    async def drop(self) -> None:
        """Remove the whole collection, everybody's rows with it."""
        await self._caller.in_thread(self._schema.drop, self._deadline(None))

    async def replace(self, name: str) -> None:
        """Take the place of the collection `name`, which is dropped: the last step of a reindex.

        A process that is killed in the middle leaves one of the two whole collections, and the next open of `name`
        finishes the work.
        """
        await self._caller.in_thread(self._schema.replace, name, self._deadline(None))


def _batches(fields: Iterable[Fields]) -> Iterator[list[Fields]]:
    """Rows in requests of a bearable size, those of one episode in one request."""
    batch: list[Fields] = []
    size = 0
    for _, parts in groupby(fields, key=itemgetter("episode")):
        episode = list(parts)
        weight = sum(4 * (len(one["content"]) + len(one["terms"]) + 5_000) for one in episode)
        if batch and (len(batch) + len(episode) > PAGE or size + weight > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch += episode
        size += weight
    if batch:
        yield batch
