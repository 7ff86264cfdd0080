"""Reads, counts, deletes and replaces episodes by their ids or by their scope."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from langchain_tiered_memory._driving import Call, Steps, Tell
from langchain_tiered_memory._times import Moment, in_utc, micros_of
from langchain_tiered_memory.episodic._indexing import CURSOR
from langchain_tiered_memory.episodic._keeping import Keeper
from langchain_tiered_memory.episodic._mapping import episode_of
from langchain_tiered_memory.episodic._paging import Joiner
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.records import EPISODE_KINDS, Episode
from langchain_tiered_memory.events import EpisodesForgotten
from langchain_tiered_memory.types import MemoryScope

__all__ = ["all_of", "count", "forget", "get", "supersede"]


def all_of(scope: MemoryScope) -> Where:
    """All episodes of a scope, true now or not."""
    return Where.of(scope, kinds=EPISODE_KINDS)


def get(keeper: Keeper, ids: Sequence[str], scope: MemoryScope) -> Steps[list[Episode]]:
    """Episodes by their ids, in that order; those that are not there are left out."""
    wanted = _checked_ids(ids)
    collection = yield from keeper.shelf.found()
    if collection is None or not wanted:
        return []
    where = Where.of(scope, kinds=EPISODE_KINDS, episodes=wanted)
    joiner = Joiner()
    whole = {row.id: episode_of(row) for row in joiner.joined((yield Call(collection, "select", (where,))))}
    joiner.rest()
    return [whole[one] for one in wanted if one in whole]


def count(keeper: Keeper, scope: MemoryScope) -> Steps[int]:
    """How many episodes a scope has."""
    collection = yield from keeper.shelf.found()
    if collection is None:
        return 0
    found: int = yield Call(collection, "count", (Where.of(scope, kinds=EPISODE_KINDS, part=0),))
    return found


def forget(keeper: Keeper, ids: str | Sequence[str] | None, scope: MemoryScope, *, cursors: bool) -> Steps[int]:
    """Delete some episodes of a scope, or all; gives how many there were."""
    wanted = None if ids is None else _checked_ids(ids)
    collection = yield from keeper.shelf.found()
    if collection is None:
        return 0
    gone: int = 0
    if wanted != ():
        gone = yield Call(collection, "delete", (Where.of(scope, kinds=EPISODE_KINDS, episodes=wanted),))
    if cursors:
        yield Call(collection, "delete", (Where.of(scope, kinds=(CURSOR,)),))
    keeper.places.clear()
    event = EpisodesForgotten(session_id=scope.session or "", tenant_id=scope.tenant, user_id=scope.user, count=gone)
    yield Tell(event, keeper.hooks)
    return gone


def supersede(keeper: Keeper, old_id: str, new_id: str, scope: MemoryScope, at: Moment | None) -> Steps[None]:
    """Let an episode end where another begins, which takes its place.

    Raises:
        ValueError: One of them does not exist in the scope, they are the same, or the old one took the new one's place.
    """
    if old_id == new_id:
        msg = f"episode {old_id!r} cannot take its own place"
        raise ValueError(msg)
    found = {episode.id: episode for episode in (yield from get(keeper, [old_id, new_id], scope))}
    if missing := [one for one in (old_id, new_id) if one not in found]:
        msg = f"user {scope.user!r} has no episode {missing[0]!r} in this scope; nothing was changed"
        raise ValueError(msg)
    yield from _check_order(keeper, found[old_id], found[new_id], scope)
    begins = found[new_id].valid_from if at is None else in_utc(at, "at")
    over = found[old_id].superseded(new_id, begins)
    collection = yield from keeper.shelf.found()
    ends = {"valid_until": micros_of(over.valid_until or begins), "superseded_by": new_id}
    yield Call(collection, "update", ([old_id],), ends)


def _check_order(keeper: Keeper, old: Episode, new: Episode, scope: MemoryScope) -> Steps[None]:
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
        found = yield from get(keeper, [later], scope)
        later = found[0].superseded_by if found else None


def _checked_ids(given: Any) -> tuple[str, ...]:  # noqa: ANN401  # callers without type checks too
    ids = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, Iterable) else (given,)
    if wrong := [one for one in ids if not isinstance(one, str)]:
        msg = f"{wrong[0]!r:.80} is no id of an episode: give a text as `remember` gave it, or a list of such"
        raise ValueError(msg)
    return tuple(dict.fromkeys(ids))
