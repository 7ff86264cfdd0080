"""Keeps what it is given as episodes: rounds of messages, texts, and what the summary hands on."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import BaseMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue

from langchain_tiered_memory._driving import Call, Steps, Tell
from langchain_tiered_memory._times import FOREVER, micros_of, now_of
from langchain_tiered_memory.episodic._mapping import episode_of, row_of
from langchain_tiered_memory.episodic._opening import Shelf
from langchain_tiered_memory.episodic._rounds import KeyFunction, key_of, said_of
from langchain_tiered_memory.episodic._writing import embed_keys
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.records import (
    EPISODE_KINDS,
    Episode,
    Validity,
    checked_entity,
    checked_metadata,
    id_of_content,
    id_of_place,
    transcript_of,
    validity_of,
)
from langchain_tiered_memory.episodic.rows import Row, split_parts
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.events import EpisodeHandedOn, EpisodesRemembered
from langchain_tiered_memory.messages.transcript import Prefixes
from langchain_tiered_memory.messages.units import split_rounds
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from langchain_tiered_memory.events import EventHook
    from langchain_tiered_memory.types import Clock

__all__ = ["Keeper", "Keeping", "Places", "checked_scope"]

_THREADS: Final = 1_024
_MICROSECOND: Final = timedelta(microseconds=1)


def checked_scope(scope: Any) -> MemoryScope:  # noqa: ANN401  # callers without type checks too
    """A scope, for there is no reading and writing without one.

    Raises:
        ScopeError: It is none.
    """
    if not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r} is no MemoryScope: pass scope=MemoryScope(user=...); nobody's memory is everybody's"
        raise ScopeError(msg)
    return scope


class Places:
    """The number of the last episode of each thread, so that the next one stands behind it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[str, str], int] = OrderedDict()

    def known(self, scope: MemoryScope) -> bool:
        """Whether the last number is known."""
        return _thread(scope) in self._last

    def take(self, scope: MemoryScope, count: int, least: int = 0) -> int:
        """The first of some numbers that nobody else in this process is given."""
        with self._lock:
            last = max(self._last.pop(_thread(scope), 0), least)
            self._last[_thread(scope)] = last + count
            while len(self._last) > _THREADS:
                self._last.popitem(last=False)
            return last + 1

    def clear(self) -> None:
        """Know nothing: something was deleted, or is about to be counted anew."""
        with self._lock:
            self._last.clear()


def _thread(scope: MemoryScope) -> tuple[str, str]:
    return scope.user_key, scope.session_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """What a caller said of what is to be remembered."""

    scope: MemoryScope
    created_at: Any = None
    valid_from: Any = None
    valid_until: Any = None
    ttl: Any = None
    entity: str | None = None
    metadata: Mapping[str, Any] | None = None

    @property
    def says_when(self) -> bool:
        """Whether it says from when or until when it is true."""
        return not (self.valid_from is None and self.valid_until is None and self.ttl is None)

    def validity(self, now: datetime) -> Validity:
        """When it happened, and from when until when it is true."""
        return validity_of(
            now,
            created_at=self.created_at,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            ttl=self.ttl,
        )

    def is_anew(self, known: Episode, draft: Episode, now: datetime) -> bool:
        """Whether what is stored and over is said again, as something new, and not just remembered a second time."""
        if not self.says_when:
            return self.created_at is None and not known.is_valid(now)
        # What was merely over is given its new times; what was replaced stays so, and is true again from then on.
        if known.superseded_by is None or known.valid_until is None:
            return False
        return draft.valid_from >= known.valid_until and draft.valid_until != draft.valid_from


@dataclass(slots=True)
class Keeper:
    """Writes episodes.

    Attributes:
        shelf: The collection.
        clock: Gives the time.
        key: By what an episode is found; `None` for the default.
        prefixes: What speakers without a name are called.
        hooks: Are told.
        places: The numbers of the last episodes.
    """

    shelf: Shelf
    clock: Clock
    key: KeyFunction | None
    prefixes: Prefixes
    hooks: Sequence[EventHook]
    places: Places = field(default_factory=Places)

    @property
    def unnamed(self) -> tuple[str, ...]:
        """What speakers without a name are called."""
        return self.prefixes.human, self.prefixes.ai, self.prefixes.tool

    # --- remembering --------------------------------------------------------------------------------------------------

    def remember(self, given: Any, keeping: Keeping) -> Steps[list[str]]:  # noqa: ANN401  # a text or messages
        """Keep a text or the rounds of messages, each unless it is there already."""
        now = now_of(self.clock)
        drafts = self._drafts(given, keeping, keeping.validity(now))
        stored = yield from self.stored(keeping.scope, [draft.id for draft in drafts])
        ids: list[str] = []
        new: list[Episode] = []
        for draft in drafts:
            known = stored.get(draft.id)
            if known is None:
                new.append(draft)
            elif keeping.is_anew(known, draft, now):
                draft, known = yield from self._anew(draft, now)  # noqa: PLW2901  # the same, said again
                new += [draft] * (known is None)
            if known is not None and keeping.says_when:
                yield from self._move(known, draft)
            ids.append(draft.id)
        if new:
            first = yield from self._numbers(keeping.scope, len(new))
            yield from self.write([replace(draft, round=first + n) for n, draft in enumerate(new)])
        return ids

    def take(self, handed_on: EpisodeHandedOn, scope: MemoryScope) -> Steps[str]:
        """Keep what left the summary of a session, once."""
        scope = scope if scope.session is not None else replace(scope, session=handed_on.session_id or None)
        place = (handed_on.first, handed_on.last)
        what = "constraints" if handed_on.constraints else "summary"
        text = id_of_content(scope, None, handed_on.text)
        episode_id = id_of_place(scope, f"{handed_on.session_id}\n{text}", what, *place)
        if (yield from self.stored(scope, [episode_id])):
            return episode_id
        validity = validity_of(now_of(self.clock), created_at=handed_on.created_at)
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
        yield from self.write([episode])
        return episode_id

    def stored(self, scope: MemoryScope, ids: Sequence[str]) -> Steps[dict[str, Episode]]:
        """Those of some episodes that are stored, by their ids; of a long one only the beginning of its content."""
        collection = yield from self.shelf.found()
        if collection is None or not ids:
            return {}
        rows = yield Call(collection, "fetch", (list(dict.fromkeys(ids)),), {"user_key": scope.user_key})
        return {row.id: episode_of(row) for row in rows}

    def write(self, episodes: Sequence[Episode], also: Sequence[Row] = ()) -> Steps[None]:
        """Embed episodes, and when all are, write them in one request, other rows behind them.

        Raises:
            MemoryStoreError: The embedding model or Milvus failed; nothing of an episode is written by halves.
        """
        keys = [key_of(episode, self.key, self.prefixes) for episode in episodes]
        vectors = yield from embed_keys(self.shelf.embeddings, keys)
        collection = yield from self.shelf.for_writing(vectors)
        rows = [
            part
            for episode, key, vector in zip(episodes, keys, vectors, strict=True)
            for part in split_parts(row_of(episode, terms=key.terms, vector=vector))
        ]
        yield Call(collection, "upsert", ([*rows, *also],))
        if episodes:
            yield self._remembered(episodes)

    def _remembered(self, episodes: Sequence[Episode]) -> Tell:
        scope = episodes[0].scope
        event = EpisodesRemembered(
            session_id=scope.session or "",
            tenant_id=scope.tenant,
            user_id=scope.user,
            ids=tuple(episode.id for episode in episodes),
        )
        return Tell(event, self.hooks)

    def _numbers(self, scope: MemoryScope, count: int) -> Steps[int]:
        if self.places.known(scope):
            return self.places.take(scope, count)
        collection = yield from self.shelf.found()
        stored = 0
        if collection is not None:
            where = Where(user_key=scope.user_key, session_key=scope.session_key, kinds=EPISODE_KINDS, part=0)
            stored = yield Call(collection, "count", (where,), {"strong": False})
        return self.places.take(scope, count, stored)

    def _anew(self, draft: Episode, now: datetime) -> Steps[tuple[Episode, Episode | None]]:
        """What was true once and then no more, said again: something new, and what was stays what it was.

        Returns:
            The episode, and how it is stored, if it has been said again before and is still true.
        """
        generation = 0
        at = max(now, draft.valid_from)
        while True:
            generation += 1
            episode_id = id_of_content(draft.scope, None, draft.id, "again", str(generation))
            known = (yield from self.stored(draft.scope, [episode_id])).get(episode_id)
            if known is None or known.is_valid(at):
                return replace(draft, id=episode_id), known

    def _move(self, known: Episode, draft: Episode) -> Steps[None]:
        """Give an episode that is remembered again the times that it was given now."""
        if known.superseded_by is not None:
            return
        collection = yield from self.shelf.found()
        until = FOREVER if draft.valid_until is None else micros_of(draft.valid_until)
        begins = min(draft.valid_from, known.valid_from)
        yield Call(
            collection,
            "update",
            ([known.id],),
            {"valid_from": micros_of(begins), "valid_until": until},
        )

    # --- drafts -------------------------------------------------------------------------------------------------------

    def _drafts(self, given: Any, keeping: Keeping, validity: Validity) -> list[Episode]:  # noqa: ANN401  # as above
        metadata = checked_metadata(keeping.metadata)
        entity = checked_entity(keeping.entity)
        about = (entity or "", json.dumps(metadata, sort_keys=True) if metadata else "")
        when = validity.created_at if keeping.created_at is not None else None
        seen: dict[str, int] = {}
        drafts: list[Episode] = []
        for content, said, parts in self._contents(given):
            plain = id_of_content(keeping.scope, when, *parts, *about)
            again = seen[plain] = seen.get(plain, -1) + 1
            episode = Episode(
                id=id_of_content(keeping.scope, when, *parts, *about, str(again)) if again else plain,
                scope=keeping.scope,
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

    def _contents(self, given: Any) -> list[tuple[str, list[Any], list[str]]]:  # noqa: ANN401  # as above
        """Content, messages and what makes it the same again, of each episode that something given holds."""
        if isinstance(given, str):
            return [(given, [], ["text", given])] if given.strip() else []
        if not isinstance(given, BaseMessage | PromptValue | Sequence) or isinstance(given, bytes | bytearray):
            msg = f"remember takes a text, a message, or a list of messages, got {type(given).__name__}: {given!r:.80}"
            raise TypeError(msg)
        messages = [given] if isinstance(given, BaseMessage) else convert_to_messages(given)
        found = []
        for one in split_rounds(messages):
            if said := said_of(one, self.prefixes):
                ids = [message.id for message in one if message.id]
                parts = [part for spoken in said for part in (spoken.role, spoken.speaker, spoken.text)]
                found.append((transcript_of(said), said, ["round", *parts, "ids", *ids]))
        return found


def _later(moment: datetime, steps: int) -> datetime:
    try:
        return moment + steps * _MICROSECOND
    except OverflowError:  # the last moment there is
        return moment
