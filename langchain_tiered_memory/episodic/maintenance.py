"""Reads, counts, exports, deletes and replaces episodes, and writes them all anew for another model."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._times import Moment, in_utc, micros_of
from langchain_tiered_memory.episodic.embeddings import dimension_of, embed_texts, model_name_of
from langchain_tiered_memory.episodic.episode import CURSOR, EPISODE_KINDS, Episode, episode_of
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.provider import MemoryContext
from langchain_tiered_memory.episodic.rounds import key_of
from langchain_tiered_memory.episodic.rows import Row, join_parts, split_parts
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EpisodesForgotten
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from langchain_tiered_memory.episodic.milvus import EpisodeCollection

__all__ = ["count", "export", "forget", "get", "reindex", "supersede"]

_BATCH: Final = 64
_COPY: Final = "_reindex"
"""Behind the name of a collection: its copy for another model, while it is written."""
_EVERYBODY: Final = Where(user_key=None)


async def get(context: MemoryContext, ids: Sequence[str], scope: MemoryScope) -> list[Episode]:
    """Episodes by their ids, in that order; those that are not there are left out."""
    wanted = _checked_ids(ids)
    collection = await context.stored_collection()
    if collection is None or not wanted:
        return []
    rows = await collection.select(Where.of(scope, kinds=EPISODE_KINDS, episodes=wanted))
    parts = _PartJoiner()
    found = {row.id: episode_of(row) for row in parts.joined(rows)}
    parts.check_empty()
    return [found[one] for one in wanted if one in found]


async def count(context: MemoryContext, scope: MemoryScope) -> int:
    """How many episodes a scope has."""
    collection = await context.stored_collection()
    return 0 if collection is None else await collection.count(Where.of(scope, kinds=EPISODE_KINDS, part=0))


async def export(context: MemoryContext, scope: MemoryScope) -> AsyncIterator[Episode]:
    """Every episode of a scope, read page by page."""
    collection = await context.stored_collection()
    if collection is None:
        return
    parts = _PartJoiner()
    async for page in collection.pages(Where.of(scope, kinds=EPISODE_KINDS)):
        for row in parts.joined(page):
            yield episode_of(row)
    parts.check_empty()


async def forget(context: MemoryContext, ids: str | Sequence[str] | None, scope: MemoryScope, *, cursors: bool) -> int:
    """Delete some episodes of a scope, or all; gives how many there were."""
    wanted = None if ids is None else _checked_ids(ids)
    collection = await context.stored_collection()
    if collection is None:
        return 0
    gone = 0
    if wanted != ():
        gone = await collection.delete(Where.of(scope, kinds=EPISODE_KINDS, episodes=wanted))
    if cursors:
        await collection.delete(Where.of(scope, kinds=(CURSOR,)))
    await _drop_copy(context)
    context.numbers.clear()
    await context.emit(
        EpisodesForgotten(session_id=scope.session or "", tenant_id=scope.tenant, user_id=scope.user, count=gone)
    )
    return gone


async def supersede(context: MemoryContext, old_id: str, new_id: str, scope: MemoryScope, at: Moment | None) -> None:
    """Let an episode end where another begins, which takes its place.

    Raises:
        ValueError: One of them does not exist in the scope, they are the same, or the old one took the new one's place.
    """
    if old_id == new_id:
        msg = f"episode {old_id!r} cannot take its own place"
        raise ValueError(msg)
    found = {episode.id: episode for episode in await get(context, [old_id, new_id], scope)}
    if missing := [one for one in (old_id, new_id) if one not in found]:
        msg = f"user {scope.user!r} has no episode {missing[0]!r} in this scope; nothing was changed"
        raise ValueError(msg)
    await _check_order(context, found[old_id], found[new_id], scope)
    begins = found[new_id].valid_from if at is None else in_utc(at, "at")
    over = found[old_id].superseded(new_id, begins)
    collection = await context.stored_collection()
    if collection is not None:
        ends = micros_of(over.valid_until or begins)
        await collection.update([old_id], {"valid_until": ends, "superseded_by": new_id})


async def _check_order(context: MemoryContext, old: Episode, new: Episode, scope: MemoryScope) -> None:
    """See that two do not take each other's place, be it by way of others: none of them would be true any more."""
    seen = {new.id}
    later = new.superseded_by
    while later is not None and later not in seen:
        if later == old.id:
            msg = (
                f"episode {new.id!r} cannot take the place of {old.id!r}, which took its place: nothing was changed. "
                "What is true again is remembered again, as an episode of its own"
            )
            raise ValueError(msg)
        seen.add(later)
        found = await get(context, [later], scope)
        later = found[0].superseded_by if found else None


def _checked_ids(given: Any) -> tuple[str, ...]:  # noqa: ANN401  # callers without type checks too
    ids = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if wrong := [one for one in ids if not isinstance(one, str)]:
        msg = f"{wrong[0]!r:.80} is no id of an episode: give a text as `remember` gave it, or a list of such"
        raise ValueError(msg)
    return tuple(dict.fromkeys(ids))


class _PartJoiner:
    """Puts the parts of long episodes together, whichever pages they come on."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Row]] = {}

    def joined(self, rows: Sequence[Row]) -> list[Row]:
        """The episodes that are whole by now."""
        whole = []
        for row in rows:
            if row.parts == 1:
                whole.append(row)
                continue
            parts = self._parts.setdefault(row.episode, [])
            parts.append(row)
            if len(parts) == row.parts:
                whole.append(join_parts(self._parts.pop(row.episode)))
        return whole

    def check_empty(self) -> None:
        """Raise MemoryStoreError if a part of an episode is missing."""
        for parts in self._parts.values():
            join_parts(parts)


# --- another model ----------------------------------------------------------------------------------------------------


async def reindex(context: MemoryContext, embeddings: Embeddings | None) -> int:
    """Write every row anew with the vectors of a model, and give how many episodes that was.

    Raises:
        MemoryStoreError: A model or Milvus failed, or somebody wrote meanwhile; the old collection stands.
    """
    provider = context.provider
    dimension = None if embeddings is None else await dimension_of(context.caller, embeddings)
    source = await context.stored_collection()
    if source is None:
        provider.put(embeddings, dimension)
        return 0
    model = None if embeddings is None else model_name_of(embeddings)
    await _drop_copy(context)
    target = provider.collection(f"{provider.name}{_COPY}", dimension, model).calling(context.caller)
    try:
        episodes = await _copy(context, source, target, embeddings)
        await _compare(source, target)
    except MemoryStoreError:
        await _drop_copy(context)
        raise
    await target.replace(provider.name)
    provider.put(embeddings, dimension)
    return episodes


async def _drop_copy(context: MemoryContext) -> None:
    """Remove what a rebuild that was killed has left, with everybody's words in it."""
    provider = context.provider
    left = provider.collection(f"{provider.name}{_COPY}", None, None).calling(context.caller)
    if await left.exists():
        await left.drop()


async def _copy(
    context: MemoryContext, source: EpisodeCollection, target: EpisodeCollection, embeddings: Embeddings | None
) -> int:
    parts = _PartJoiner()
    episodes = 0
    async for page in source.pages(_EVERYBODY):
        whole = parts.joined(page)
        for start in range(0, len(whole), _BATCH):
            some = whole[start : start + _BATCH]
            episodes += sum(row.kind in EPISODE_KINDS for row in some)
            await target.upsert(await _anew(context, some, embeddings))
    parts.check_empty()
    return episodes


async def _anew(context: MemoryContext, rows: Sequence[Row], embeddings: Embeddings | None) -> list[Row]:
    """Some rows with new terms and vectors; what is no episode stays as it is."""
    episodes = [row for row in rows if row.kind in EPISODE_KINDS]
    keys = [key_of(episode_of(row), context.key, context.prefixes) for row in episodes]
    vectors = await embed_texts(context.caller, embeddings, [key.text for key in keys])
    found = [
        replace(row, terms=key.terms, vector=vector) for row, key, vector in zip(episodes, keys, vectors, strict=True)
    ]
    others = [row for row in rows if row.kind not in EPISODE_KINDS]
    return [part for row in (*found, *others) for part in split_parts(row)]


async def _compare(source: EpisodeCollection, target: EpisodeCollection) -> None:
    """See that nothing is missing before the old collection goes."""
    before, after = await source.count(_EVERYBODY), await target.count(_EVERYBODY)
    if before != after:
        msg = (
            f"the collection has {before} rows and its copy {after}: somebody wrote meanwhile. The old collection "
            "stands as it was; let nobody write, and reindex again"
        )
        raise MemoryStoreError(msg)
