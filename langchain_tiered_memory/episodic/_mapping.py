"""Episodes as rows and back: what is the user's stands apart from what is the memory's own."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from langchain_tiered_memory._times import FOREVER, from_micros, micros_of
from langchain_tiered_memory.episodic.records import Episode, Said
from langchain_tiered_memory.episodic.rows import Row
from langchain_tiered_memory.types import MemoryScope

__all__ = ["USER_FIELDS", "episode_of", "own_of", "row_of", "row_of_notes", "speakers_in"]

USER_FIELDS: Final = "user"
"""Where in a row's metadata the user's stands."""
_OWN: Final = "own"
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_SPEAKER_FIELDS: Final = ("speaker", "name", "author")
_LONGEST_SAID: Final = 20_000
"""Characters of the notes on who said what in a round; where they are longer only the whole text is kept."""


def row_of(episode: Episode, *, terms: str, vector: Sequence[float] | None) -> Row:
    """An episode as a row, before it is split into parts.

    Args:
        episode: The episode.
        terms: The words that a lexical search compares.
        vector: What a search by vector compares.
    """
    own: dict[str, Any] = {}
    if episode.first or episode.last:
        own |= {"first": episode.first, "last": episode.last}
    said = [[said.role, said.speaker, len(said.text)] for said in episode.said]
    if said and len(json.dumps(said)) <= _LONGEST_SAID:
        own["said"] = said
    scope = episode.scope
    return Row(
        id=episode.id,
        user_key=scope.user_key,
        session_key=scope.session_key,
        content=episode.content,
        episode=episode.id,
        tenant=scope.tenant,
        user=scope.user,
        session=scope.session or "",
        number=episode.round,
        kind=episode.kind,
        terms=terms,
        vector=vector,
        created_at=micros_of(episode.created_at),
        valid_from=micros_of(episode.valid_from),
        valid_until=FOREVER if episode.valid_until is None else micros_of(episode.valid_until),
        superseded_by=episode.superseded_by or "",
        entity=episode.entity or "",
        metadata={USER_FIELDS: dict(episode.metadata), _OWN: own} if own else {USER_FIELDS: dict(episode.metadata)},
    )


def episode_of(row: Row) -> Episode:
    """Read an episode from its row, its parts joined."""
    own = row.metadata.get(_OWN, _NOTHING)
    scope = MemoryScope(row.user, row.tenant, row.session or None)
    return Episode(
        id=row.episode or row.id,
        scope=scope,
        content=row.content,
        created_at=from_micros(row.created_at),
        valid_from=from_micros(row.valid_from),
        valid_until=None if row.valid_until >= FOREVER else from_micros(row.valid_until),
        superseded_by=row.superseded_by or None,
        kind=row.kind,  # type: ignore[arg-type]  # written by row_of
        round=row.number,
        first=own.get("first", 0),
        last=own.get("last", 0),
        entity=row.entity or None,
        metadata=dict(row.metadata.get(USER_FIELDS, _NOTHING)),
        said=_said_in(row.content, own.get("said", ())),
    )


def _said_in(content: str, spans: Sequence[Sequence[Any]]) -> tuple[Said, ...]:
    """The messages that `transcript_of` wrote, by the lengths of their texts."""
    said = []
    start = 0
    for role, speaker, length in spans:
        start += len(speaker) + len(": ")
        said.append(Said(role, speaker, content[start : start + length]))
        start += length + len("\n")
    return tuple(said)


def own_of(row: Row) -> Mapping[str, Any]:
    """What the memory itself noted in a row."""
    noted: Mapping[str, Any] = row.metadata.get(_OWN, _NOTHING)
    return noted


def speakers_in(row: Row, unnamed: Collection[str]) -> tuple[str, ...]:
    """The names of those who speak in an episode, as its messages or its metadata give them.

    Args:
        row: The episode.
        unnamed: What speakers without a name are called.
    """
    names = [speaker for role, speaker, _ in own_of(row).get("said", ()) if role != "tool"]
    user = row.metadata.get(USER_FIELDS, _NOTHING)
    names += [value for field in _SPEAKER_FIELDS if isinstance(value := user.get(field), str)]
    return tuple(dict.fromkeys(name for name in names if name not in unnamed))


def row_of_notes(row_id: str, scope: MemoryScope, kind: str, notes: Mapping[str, Any]) -> Row:
    """A row that is no episode: what the memory notes for itself.

    It names nobody, so that it may outlive the episodes.
    """
    return Row(
        id=row_id,
        user_key=scope.user_key,
        session_key=scope.session_key,
        episode=row_id,
        kind=kind,
        metadata={_OWN: dict(notes)},
    )
