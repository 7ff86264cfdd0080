"""Remembers what it is given as episodes: rounds of messages, texts, and what the summary hands on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypedDict

from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages
from langchain_core.prompt_values import PromptValue

from langchain_tiered_memory._times import FOREVER, Duration, Moment, from_micros, in_utc, micros_of, seconds_of
from langchain_tiered_memory.episodic.embeddings import embed_texts
from langchain_tiered_memory.episodic.episode import (
    EPISODE_KINDS,
    Episode,
    Said,
    checked_entity,
    checked_metadata,
    episode_of,
    id_of_content,
    id_of_place,
    row_of,
    transcript_of,
)
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.provider import MemoryContext
from langchain_tiered_memory.episodic.rounds import key_of, said_of
from langchain_tiered_memory.episodic.rows import Row, split_parts
from langchain_tiered_memory.events import EpisodeHandedOn, EpisodesRemembered
from langchain_tiered_memory.messages.text import Prefixes
from langchain_tiered_memory.messages.units import split_rounds
from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "DetailOptions",
    "Details",
    "Validity",
    "remember",
    "stored_episodes",
    "take",
    "validity_of",
    "write_episodes",
]

_MICROSECOND: Final = timedelta(microseconds=1)


# --- validity ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Validity:
    """When something happened, and from when until when it is true."""

    created_at: datetime
    valid_from: datetime
    valid_until: datetime | None


def validity_of(
    now: datetime,
    *,
    created_at: Moment | None = None,
    valid_from: Moment | None = None,
    valid_until: Moment | None = None,
    ttl: Duration | None = None,
) -> Validity:
    """Work out when an episode is true.

    Without `valid_from` it is true from when it happened; but what was written is true now, whatever the clock of
    another machine stamped it with, so it begins no later than now.

    Args:
        now: The present time.
        created_at: When it happened; now if not given.
        valid_from: From when on it is true.
        valid_until: Until when it is true, that moment excluded.
        ttl: How long it is true, from `valid_from` on, instead of `valid_until`.

    Raises:
        ValueError: A time is no time, both ends were given, or the end lies before the beginning.
    """
    created = now if created_at is None else in_utc(created_at, "created_at")
    begins = min(created, now) if valid_from is None else in_utc(valid_from, "valid_from")
    if ttl is not None:
        if valid_until is not None:
            msg = f"valid_until={valid_until!r} and ttl={ttl!r} both say when it ends: give one of them"
            raise ValueError(msg)
        seconds = seconds_of(ttl, "ttl")
        # Through seconds since 1970 a microsecond could be lost, so only the duration is given as a number.
        ends: datetime | None = from_micros(min(micros_of(begins) + round(seconds * 1_000_000), FOREVER))
    else:
        ends = None if valid_until is None else in_utc(valid_until, "valid_until")
    if ends is not None and ends <= begins:
        if valid_from is not None:
            msg = f"valid_until={ends.isoformat()} is not after valid_from={begins.isoformat()}: it would never be true"
            raise ValueError(msg)
        begins = ends  # it was over when it was written: kept, and true at no time
    return Validity(created, begins, ends)


# --- remembering ------------------------------------------------------------------------------------------------------


class DetailOptions(TypedDict, total=False):
    """What a caller may say of what is to be remembered; see `EpisodicMemory.remember`."""

    created_at: Moment | None
    valid_from: Moment | None
    valid_until: Moment | None
    ttl: Duration | None
    entity: str | None
    metadata: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """What a caller said of what is to be remembered."""

    scope: MemoryScope
    created_at: Moment | None = None
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    ttl: Duration | None = None
    entity: str | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def says_when(self) -> bool:
        """Whether it says from when or until when it is true."""
        return not (self.valid_from is None and self.valid_until is None and self.ttl is None)

    def is_anew(self, known: Episode, draft: Episode, now: datetime) -> bool:
        """Whether what is stored and over is said again, as something new, and not just remembered a second time."""
        if not self.says_when:
            return self.created_at is None and not known.is_valid(now)
        # What was merely over is given its new times; what was replaced stays so, and is true again from then on.
        if known.superseded_by is None or known.valid_until is None:
            return False
        return draft.valid_from >= known.valid_until and draft.valid_until != draft.valid_from


async def remember(
    context: MemoryContext,
    given: str | BaseMessage | PromptValue | Sequence[MessageLikeRepresentation],
    details: Details,
) -> list[str]:
    """Keep a text or the rounds of messages, each unless it is there already; gives the ids of the episodes."""
    now = context.now()
    drafts = _drafts(given, details, now, context.prefixes)
    stored = await stored_episodes(context, details.scope, [draft.id for draft in drafts])
    ids: list[str] = []
    new: list[Episode] = []
    for draft in drafts:
        episode, known = draft, stored.get(draft.id)
        if known is not None and details.is_anew(known, draft, now):
            episode, known = await _said_again(context, draft, now)
        if known is None:
            new.append(episode)
        elif details.says_when:
            await _move(context, known, episode)
        ids.append(episode.id)
    if new:
        first = await _numbers(context, details.scope, len(new))
        await write_episodes(context, [replace(episode, round=first + n) for n, episode in enumerate(new)])
    return ids


async def take(context: MemoryContext, handed_on: EpisodeHandedOn, scope: MemoryScope) -> str:
    """Keep what left the summary of a session, once; gives the episode's id."""
    scope = scope if scope.session is not None else replace(scope, session=handed_on.session_id or None)
    place = (handed_on.first, handed_on.last)
    what = "constraints" if handed_on.constraints else "summary"
    text = id_of_content(scope, None, handed_on.text)
    episode_id = id_of_place(scope, f"{handed_on.session_id}\n{text}", what, *place)
    if await stored_episodes(context, scope, [episode_id]):
        return episode_id
    validity = validity_of(context.now(), created_at=handed_on.created_at)
    episode = Episode(
        id=episode_id,
        scope=scope,
        content=handed_on.text,
        created_at=validity.created_at,
        valid_from=validity.valid_from,
        kind="summary",
        first=place[0],
        last=place[1],
        metadata={"constraints": list(handed_on.constraints)} if handed_on.constraints else {},
    )
    await write_episodes(context, [episode])
    return episode_id


async def stored_episodes(context: MemoryContext, scope: MemoryScope, ids: Sequence[str]) -> dict[str, Episode]:
    """Those of some episodes that are stored, by their ids; of a long one only the beginning of its content."""
    if not ids:
        return {}
    collection = await context.stored_collection()
    if collection is None:
        return {}
    rows = await collection.fetch(list(dict.fromkeys(ids)), user_key=scope.user_key)
    return {row.id: episode_of(row) for row in rows}


async def write_episodes(context: MemoryContext, episodes: Sequence[Episode], also: Sequence[Row] = ()) -> None:
    """Embed episodes, and when all are, write them in one request, other rows behind them.

    Raises:
        MemoryStoreError: The embedding model or Milvus failed; nothing of an episode is written by halves.
    """
    keys = [key_of(episode, context.key, context.prefixes) for episode in episodes]
    vectors = await embed_texts(context.caller, context.provider.embeddings, [key.text for key in keys])
    collection = await context.provider.for_writing(context.caller, vectors)
    rows = [
        part
        for episode, key, vector in zip(episodes, keys, vectors, strict=True)
        for part in split_parts(row_of(episode, terms=key.terms, vector=vector))
    ]
    await collection.upsert([*rows, *also])
    if episodes:
        scope = episodes[0].scope
        event = EpisodesRemembered(
            session_id=scope.session or "",
            tenant_id=scope.tenant,
            user_id=scope.user,
            ids=tuple(episode.id for episode in episodes),
        )
        await context.emit(event)


async def _numbers(context: MemoryContext, scope: MemoryScope, count: int) -> int:
    """The first of some numbers behind the last episode of a session."""
    stored = 0
    if not context.numbers.known(scope) and (collection := await context.stored_collection()) is not None:
        where = Where(user_key=scope.user_key, session_key=scope.session_key, kinds=EPISODE_KINDS, part=0)
        stored = await collection.count(where, strong=False)
    return context.numbers.take(scope, count, stored)


async def _said_again(context: MemoryContext, draft: Episode, now: datetime) -> tuple[Episode, Episode | None]:
    """What was true once and then no more, said again: something new, and what was stays what it was.

    Returns:
        The episode, and how it is stored, if it has been said again before and is still true.
    """
    generation = 0
    at = max(now, draft.valid_from)
    while True:
        generation += 1
        episode_id = id_of_content(draft.scope, None, draft.id, "again", str(generation))
        known = (await stored_episodes(context, draft.scope, [episode_id])).get(episode_id)
        if known is None or known.is_valid(at):
            return replace(draft, id=episode_id), known


async def _move(context: MemoryContext, known: Episode, draft: Episode) -> None:
    """Give an episode that is remembered again the times that it was given now."""
    collection = await context.stored_collection()
    if known.superseded_by is None and collection is not None:
        until = FOREVER if draft.valid_until is None else micros_of(draft.valid_until)
        begins = micros_of(min(draft.valid_from, known.valid_from))
        await collection.update([known.id], {"valid_from": begins, "valid_until": until})


# --- drafts -----------------------------------------------------------------------------------------------------------


def _drafts(given: object, details: Details, now: datetime, prefixes: Prefixes) -> list[Episode]:
    """The episodes that something given holds, as they would be if none of them were stored."""
    validity = validity_of(
        now,
        created_at=details.created_at,
        valid_from=details.valid_from,
        valid_until=details.valid_until,
        ttl=details.ttl,
    )
    metadata = checked_metadata(details.metadata)
    entity = checked_entity(details.entity)
    about = (entity or "", json.dumps(metadata, sort_keys=True) if metadata else "")
    when = validity.created_at if details.created_at is not None else None
    seen: dict[str, int] = {}
    drafts: list[Episode] = []
    for content, said, parts in _contents(given, prefixes):
        plain = id_of_content(details.scope, when, *parts, *about)
        again = seen[plain] = seen.get(plain, -1) + 1
        episode = Episode(
            id=id_of_content(details.scope, when, *parts, *about, str(again)) if again else plain,
            scope=details.scope,
            content=content,
            # One after the other, so that of two rounds of one call the later is the newer.
            created_at=_later(validity.created_at, len(drafts)),
            valid_from=validity.valid_from,
            valid_until=validity.valid_until,
            kind="round" if said else "text",
            entity=entity,
            metadata=metadata,
            said=tuple(said),
        )
        drafts.append(episode)
    return drafts


def _contents(given: object, prefixes: Prefixes) -> list[tuple[str, list[Said], list[str]]]:
    """Content, messages and what makes it the same again, of each episode that something given holds."""
    if isinstance(given, str):
        return [(given, [], ["text", given])] if given.strip() else []
    if not isinstance(given, BaseMessage | PromptValue | Sequence) or isinstance(given, bytes | bytearray):
        msg = f"remember takes a text, a message, or a list of messages, got {type(given).__name__}: {given!r:.80}"
        raise TypeError(msg)
    messages = [given] if isinstance(given, BaseMessage) else convert_to_messages(given)
    found = []
    for one in split_rounds(messages):
        if said := said_of(one, prefixes):
            ids = [message.id for message in one if message.id]
            parts = [part for spoken in said for part in (spoken.role, spoken.speaker, spoken.text)]
            found.append((transcript_of(said), said, ["round", *parts, "ids", *ids]))
    return found


def _later(moment: datetime, steps: int) -> datetime:
    try:
        return moment + steps * _MICROSECOND
    except OverflowError:  # the last moment there is
        return moment
