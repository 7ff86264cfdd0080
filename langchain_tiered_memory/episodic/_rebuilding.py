"""Writes the episodes anew for another embedding model, beside the old ones, and then in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory.episodic._keeping import Keeper
from langchain_tiered_memory.episodic._mapping import episode_of
from langchain_tiered_memory.episodic._paging import Joiner, Pages
from langchain_tiered_memory.episodic._rounds import key_of
from langchain_tiered_memory.episodic._writing import dimension_of, embed_keys
from langchain_tiered_memory.episodic.embeddings import model_name_of
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.records import EPISODE_KINDS
from langchain_tiered_memory.episodic.rows import Row, split_parts
from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

    from langchain_tiered_memory.episodic.collection import EpisodeCollection

__all__ = ["rebuild"]

_BATCH: Final = 64
_EVERYBODY: Final = Where(user_key=None)


def rebuild(keeper: Keeper, embeddings: Embeddings | None) -> Steps[int]:
    """Write every row anew with the vectors of a model, and give how many episodes that were.

    Raises:
        MemoryStoreError: A model or Milvus failed, or somebody wrote meanwhile; the old collection stands.
    """
    shelf = keeper.shelf
    dimension = None if embeddings is None else (yield from dimension_of(embeddings))
    source = yield from shelf.found()
    if source is None:
        for old in shelf.put(embeddings, dimension):
            yield Call(old, "close")
        return 0
    model = None if embeddings is None else model_name_of(embeddings)
    target = shelf.collection(f"{shelf.name}_reindex", dimension, model)
    if (yield Call(target, "exists")):  # what a rebuild that was killed has left
        yield Call(target, "drop")
    try:
        episodes = yield from _copy(keeper, source, target, embeddings)
        yield from _compare(source, target)
    except MemoryStoreError:
        if (yield Call(target, "exists")):
            yield Call(target, "drop")
        yield Call(target, "close")
        raise
    yield Call(target, "replace", (shelf.name,))
    for old in [*shelf.put(embeddings, dimension), target]:
        yield Call(old, "close")
    return episodes


def _copy(
    keeper: Keeper, source: EpisodeCollection, target: EpisodeCollection, embeddings: Embeddings | None
) -> Steps[int]:
    pages = Pages(source, _EVERYBODY)
    joiner = Joiner()
    episodes = 0
    while (page := (yield pages)) is not None:
        whole = joiner.joined(page)
        for start in range(0, len(whole), _BATCH):
            some = whole[start : start + _BATCH]
            episodes += sum(row.kind in EPISODE_KINDS for row in some)
            rows = yield from _anew(keeper, some, embeddings)
            yield Call(target, "upsert", (rows,))
    joiner.rest()
    return episodes


def _anew(keeper: Keeper, rows: Sequence[Row], embeddings: Embeddings | None) -> Steps[list[Row]]:
    """Some rows with new terms and vectors; what is no episode stays as it is."""
    episodes = [row for row in rows if row.kind in EPISODE_KINDS]
    keys = [key_of(episode_of(row), keeper.key, keeper.prefixes) for row in episodes]
    vectors = yield from embed_keys(embeddings, keys)
    found = [
        replace(row, terms=key.terms, vector=vector) for row, key, vector in zip(episodes, keys, vectors, strict=True)
    ]
    others = [row for row in rows if row.kind not in EPISODE_KINDS]
    return [part for row in (*found, *others) for part in split_parts(row)]


def _compare(source: EpisodeCollection, target: EpisodeCollection) -> Steps[None]:
    """See that nothing is missing before the old collection goes."""
    before = yield Call(source, "count", (_EVERYBODY,))
    after = yield Call(target, "count", (_EVERYBODY,))
    if before != after:
        msg = (
            f"the collection has {before} rows and its copy {after}: somebody wrote meanwhile. The old collection "
            "stands as it was; let nobody write, and reindex again"
        )
        raise MemoryStoreError(msg)
