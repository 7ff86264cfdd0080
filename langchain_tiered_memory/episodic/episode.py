"""An episode: something that happened, word for word, whose it is, and from when until when it is true."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from langchain_tiered_memory._digests import digest_of
from langchain_tiered_memory._times import FOREVER, from_micros, in_utc, micros_of
from langchain_tiered_memory.episodic.rows import LONGEST_ENTITY, Row, escaped, escaped_json
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "CURSOR",
    "EPISODE_KINDS",
    "LONGEST_METADATA",
    "OWN_FIELDS",
    "RESERVED",
    "USER_FIELDS",
    "Episode",
    "Kind",
    "Role",
    "Said",
    "checked_entity",
    "checked_metadata",
    "checked_scope",
    "episode_of",
    "id_of_content",
    "id_of_place",
    "own_of",
    "row_of",
    "row_of_notes",
    "speakers_in",
    "told_in",
    "transcript_of",
]

Kind: TypeAlias = Literal["round", "text", "summary"]
Role: TypeAlias = Literal["user", "assistant", "tool"]

EPISODE_KINDS: Final[tuple[Kind, ...]] = ("round", "text", "summary")
"""The kinds of rows that are episodes; every other kind is bookkeeping and is never recalled, exported or counted."""

CURSOR: Final = "cursor"
"""The kind of the rows that say how far a log was read."""
RESERVED: Final = frozenset(
    (
        "id", "score", "kind", "session", "round", "first", "last", "entity", "created_at", "valid_from", "valid_until",
        "superseded_by", "outdated_by", "explain",
    )
)  # fmt: skip
"""What a recalled Document says in its metadata beside what the user gave."""
LONGEST_METADATA: Final = 32_000
"""UTF-8 bytes of a user's metadata as JSON; Milvus' own limit is shared with what the memory notes."""
USER_FIELDS: Final = "user"
"""Where in a row's metadata the user's stands."""
OWN_FIELDS: Final = "own"
"""Where in a row's metadata stands what the memory noted itself."""
_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
_SPEAKER_FIELDS: Final = ("speaker", "name", "author")
_LONGEST_SAID: Final = 20_000
"""Characters of the notes on who said what in a round; where they are longer only the whole text is kept."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a round, as text.

    Attributes:
        role: Who spoke: the user, the assistant, or a tool.
        speaker: What the speaker is called.
        text: What was said, with a line in brackets for a picture or a call.
    """

    role: Role
    speaker: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Something that happened in a conversation, or was worth keeping of one, word for word.

    An episode is true from `valid_from` on and until `valid_until`, which is given, or follows when another takes its
    place. It is never changed by that and never lost: who asks for another time finds what was true then.

    ```python
    from datetime import UTC, datetime
    from langchain_tiered_memory import Episode, MemoryScope

    said = datetime(2026, 3, 1, tzinfo=UTC)
    old = Episode(id="1", scope=MemoryScope("ada"), content="I live in Rome.", created_at=said, valid_from=said)
    later = said.replace(month=5)
    assert old.superseded("2", later).is_valid(said) and not old.superseded("2", later).is_valid(later)
    ```

    Attributes:
        id: Tells it apart from every other.
        scope: Whose it is; a session of `None` where it belongs to none.
        content: The text, word for word: a round as a transcript.
        created_at: When it happened, in UTC.
        valid_from: The first moment at which it is true.
        valid_until: The first moment at which it is true no more; `None` for no end.
        superseded_by: The id of the episode that took its place.
        kind: `"round"` of a conversation, a `"text"`, or a `"summary"` of messages that left the window.
        round: Which round of its session it is, from 1; texts are counted with the rounds.
        first: The number of its first message in the log; 0 where it was not taken from one.
        last: The number of its last message.
        entity: What it is about.
        metadata: What else the caller gave, as JSON holds it.
        said: The messages of a round one by one.
    """

    id: str
    scope: MemoryScope
    content: str
    created_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    superseded_by: str | None = None
    kind: Kind = "text"
    round: int = 0
    first: int = 0
    last: int = 0
    entity: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    said: tuple[Said, ...] = ()

    def is_valid(self, at: datetime) -> bool:
        """Whether it is true at a moment."""
        return self.valid_from <= at and (self.valid_until is None or at < self.valid_until)

    def superseded(self, by: str, at: datetime) -> Episode:
        """The same episode after another has taken its place.

        Args:
            by: The id of the other.
            at: From when on the other is true. If this one ended before, it still did.
        """
        end = max(self.valid_from, at)
        if self.valid_until is not None:
            end = min(end, self.valid_until)
        return replace(self, superseded_by=by, valid_until=end)

    def to_dict(self) -> dict[str, Any]:
        """The episode as JSON holds it; times in ISO 8601, UTC."""
        return {
            "id": self.id,
            "tenant": self.scope.tenant,
            "user": self.scope.user,
            "session": self.scope.session,
            "kind": self.kind,
            "content": self.content,
            "created_at": self.created_at.isoformat(),
            "valid_from": self.valid_from.isoformat(),
            "valid_until": None if self.valid_until is None else self.valid_until.isoformat(),
            "superseded_by": self.superseded_by,
            "round": self.round,
            "first": self.first,
            "last": self.last,
            "entity": self.entity,
            "metadata": dict(self.metadata),
            "said": [[said.role, said.speaker, said.text] for said in self.said],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Episode:
        """Read what `to_dict` wrote.

        Raises:
            ValueError: It is no episode; says what is missing or wrong.
        """
        try:
            until = data["valid_until"]
            if data["kind"] not in EPISODE_KINDS:
                msg = f"kind is one of {', '.join(EPISODE_KINDS)}, got {data['kind']!r}"
                raise ValueError(msg)  # noqa: TRY301  # one place says that it is no episode
            return cls(
                id=data["id"],
                scope=MemoryScope(data["user"], data["tenant"], data["session"]),
                content=data["content"],
                created_at=in_utc(datetime.fromisoformat(data["created_at"]), "created_at"),
                valid_from=in_utc(datetime.fromisoformat(data["valid_from"]), "valid_from"),
                valid_until=None if until is None else in_utc(datetime.fromisoformat(until), "valid_until"),
                superseded_by=data["superseded_by"],
                kind=data["kind"],
                round=data["round"],
                first=data["first"],
                last=data["last"],
                entity=data["entity"],
                metadata=checked_metadata(data["metadata"]),
                said=tuple(Said(*said) for said in data["said"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            msg = f"no episode as to_dict() writes one: {type(error).__name__}: {error}"
            raise ValueError(msg) from error


# --- ids --------------------------------------------------------------------------------------------------------------


def id_of_place(scope: MemoryScope, session_id: str, kind: str, *place: int) -> str:
    """The id of a row of some kind from a place of a log, given as numbers, the same whenever it is read again."""
    return digest_of(scope.user_key, scope.session_key, "place", session_id, kind, *map(str, place))


def id_of_content(scope: MemoryScope, created_at: datetime | None, *parts: str) -> str:
    """The id of what is remembered without a log: the same for the same content in the same scope.

    Args:
        scope: Whose it is.
        created_at: When it happened, if the caller said so: at another time the same words are another episode.
        *parts: What makes it what it is.
    """
    when = "" if created_at is None else str(micros_of(created_at))
    return digest_of(scope.user_key, scope.session_key, "content", when, *parts)


# --- what callers give ---------------------------------------------------------------------------------------------


def checked_scope(scope: Any) -> MemoryScope:  # noqa: ANN401  # callers without type checks too
    """A scope, for there is no reading and writing without one.

    Raises:
        ScopeError: It is none.
    """
    if not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r} is no MemoryScope: pass scope=MemoryScope(user=...); nobody's memory is everybody's"
        raise ScopeError(msg)
    return scope


def checked_entity(entity: Any) -> str | None:  # noqa: ANN401  # callers without type checks too
    """The name of what an episode is about.

    Raises:
        ValueError: It is none, or too long.
    """
    if entity is None:
        return None
    if not isinstance(entity, str) or not entity.strip():
        msg = f"entity={entity!r:.80} is no name of what this is about: give a text, or None"
        raise ValueError(msg)
    if (size := len(escaped(entity).encode())) > LONGEST_ENTITY:
        msg = f"entity={entity:.40}... takes {size:,} bytes, a row holds {LONGEST_ENTITY:,}: give a shorter name"
        raise ValueError(msg)
    return entity


def checked_metadata(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """A copy of what a user gave, as JSON holds it.

    Raises:
        ValueError: JSON does not hold it, or it uses a name that a recalled Document has for itself.
    """
    if metadata is None:
        return {}
    if not isinstance(metadata, Mapping) or not all(isinstance(key, str) for key in metadata):
        msg = f"metadata is a dict with texts as keys, got {metadata!r:.200}"
        raise ValueError(msg)
    if taken := sorted(RESERVED.intersection(metadata)):
        msg = f"metadata names {', '.join(taken)}, which a recalled Document says itself: call it something else"
        raise ValueError(msg)
    try:
        text = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        msg = f"metadata is what JSON holds (texts, numbers, booleans, None, lists, dicts): {error}"
        raise ValueError(msg) from error
    if (size := len(text.encode("utf-8", "surrogatepass"))) > LONGEST_METADATA:
        msg = f"metadata takes {size:,} bytes as JSON, an episode holds {LONGEST_METADATA:,}: keep a reference to it"
        raise ValueError(msg)
    copied: dict[str, Any] = json.loads(text)
    escaped_json(copied)  # an integer of more than 64 bits is JSON, and no store takes it
    return copied


def transcript_of(said: Sequence[Said]) -> str:
    """Messages as the content of a round."""
    return "\n".join(f"{one.speaker}: {one.text}" for one in said)


# --- rows ------------------------------------------------------------------------------------------------------------


def row_of(episode: Episode, *, terms: str, vector: Sequence[float] | None) -> Row:
    """An episode as a row, with what a search by words and one by vector compare, before it is split into parts."""
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
        metadata={USER_FIELDS: dict(episode.metadata), OWN_FIELDS: own}
        if own
        else {USER_FIELDS: dict(episode.metadata)},
    )


def episode_of(row: Row) -> Episode:
    """Read an episode from its row, its parts joined."""
    own = row.metadata.get(OWN_FIELDS, _NOTHING)
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
    return row.metadata.get(OWN_FIELDS, _NOTHING)  # type: ignore[no-any-return]  # written by row_of


def speakers_in(row: Row, unnamed: Collection[str]) -> tuple[str, ...]:
    """The names of those who speak in an episode, as its messages or its metadata give them, but for `unnamed` ones."""
    names: list[str] = []
    for role, speaker, _ in row.metadata.get(OWN_FIELDS, _NOTHING).get("said", ()):
        if role != "tool" and speaker not in unnamed:
            names.append(speaker)
    user = row.metadata.get(USER_FIELDS, _NOTHING)
    for field_ in _SPEAKER_FIELDS:
        value = user.get(field_)
        if isinstance(value, str) and value not in unnamed:
            names.append(value)
    return tuple(dict.fromkeys(names))


def told_in(row: Row) -> int | None:
    """How many characters of a round are the user's, before the first answer; `None` where that is not known."""
    end = 0
    for role, speaker, length in row.metadata.get(OWN_FIELDS, _NOTHING).get("said", ()):
        if role != "user":
            break
        end += len(speaker) + len(": ") + length + len("\n")
    return end if end or row.kind == "round" else None


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
        metadata={OWN_FIELDS: dict(notes)},
    )
