"""What one row of the episode collection holds, as data, and how it maps to the fields of Milvus."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Any, Final

from langchain_tiered_memory._times import FOREVER
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = [
    "FIELDS",
    "FIELDS_OF_HITS",
    "LARGEST_INT",
    "LONGEST_CONTENT",
    "LONGEST_ENTITY",
    "LONGEST_ID",
    "LONGEST_METADATA",
    "Row",
    "episode_id",
    "escaped",
    "escaped_json",
    "fields_of",
    "join_parts",
    "part_id",
    "plain",
    "row_of_fields",
    "row_of_hit",
    "split_parts",
    "unit_vector",
]

LARGEST_INT: Final = (1 << 63) - 1
_ESCAPE: Final = "\ufdd0"
"""Begins an escape. A noncharacter: no text that people exchange has it, and where one does, it is escaped itself."""
_ESCAPE_IN_REPR: Final = repr(_ESCAPE)[1:-1]
_UNSENDABLE: Final = re.compile("[\x00\ud800-\udfff\ufdd0]")
_ESCAPED: Final = re.compile("\ufdd0([0-9a-f]{4})")

LONGEST_CONTENT: Final = 60_000
"""UTF-8 bytes of content, and of terms, in a row. A server counts bytes and ends at 65,535, Lite counts characters."""
_LONGEST_CHARACTER: Final = 7
"""Bytes of a character that is escaped."""
LONGEST_ID: Final = 128
"""ASCII characters of an id."""
LONGEST_ENTITY: Final = 4_096
"""UTF-8 bytes of an entity."""
LONGEST_METADATA: Final = 60_000
"""UTF-8 bytes of metadata as JSON; a server ends at 65,536."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One stored part of an episode; an episode whose content fits is one part.

    Attributes:
        id: The primary key: the episode's id for part 0, `part_id(episode, n)` for the others. ASCII, at most
            `LONGEST_ID` characters.
        user_key: `MemoryScope.user_key`.
        session_key: `MemoryScope.session_key`; "" = of no session.
        content: The text, of any length and any characters; `split_parts` makes rows of it that fit.
        episode: The episode's id; `id` if not given.
        part: The number of this part, from 0.
        parts: How many parts the episode has.
        tenant: The tenant's readable id; for a person who looks at the collection, never compared.
        user: The user's readable id.
        session: The session's readable id.
        number: The place in its session, from 1; 0 where it has none.
        kind: `"round"`, `"text"`, `"summary"`, `"cursor"`, or another short word.
        terms: The words that a lexical search compares, analysed, separated by blanks; "" for a row it should not find.
        vector: Of the collection's dimension, finite, not all zeros, of any length (it is normalised); `None` for a
            row that a search by vector should not find.
        created_at: Microseconds since 1970, UTC; as the other times.
        valid_from: The first microsecond at which it is true.
        valid_until: The first microsecond at which it is true no more; `FOREVER` = no end.
        superseded_by: The id of the episode that took its place; "" = none.
        entity: What it is about.
        metadata: What JSON can hold.
    """

    id: str
    user_key: str
    session_key: str = ""
    content: str = ""
    episode: str = ""
    part: int = 0
    parts: int = 1
    tenant: str = ""
    user: str = ""
    session: str = ""
    number: int = 0
    kind: str = "text"
    terms: str = ""
    vector: Sequence[float] | None = None
    created_at: int = 0
    valid_from: int = 0
    valid_until: int = FOREVER
    superseded_by: str = ""
    entity: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


_TEXTS: Final = ("content", "terms", "tenant", "user", "session", "entity")
_KEYS: Final = ("id", "user_key", "session_key", "episode", "kind", "superseded_by")
_NUMBERS: Final = ("part", "parts", "number", "created_at", "valid_from", "valid_until")
_texts_of: Final = itemgetter(*_TEXTS)
_keys_of: Final = itemgetter(*_KEYS, *_NUMBERS)
FIELDS: Final = (*_KEYS, *_TEXTS, *_NUMBERS, "metadata")
"""The fields that a read gives, by the names that they have in Milvus and in `Row`; the vector only on request."""
FIELDS_OF_HITS: Final = tuple(name for name in FIELDS if name not in {"id", "episode", "user_key"})
"""Of a hit, what is not known without asking: Milvus Lite takes 3 µs for each field of each hit."""


# --- parts ------------------------------------------------------------------------------------------------------------


def part_id(episode: str, part: int) -> str:
    """The primary key of a part of an episode."""
    return f"{episode}#{part}" if part else episode


def episode_id(row_id: str, part: int) -> str:
    """The episode that a row is a part of."""
    return row_id.removesuffix(f"#{part}") if part else row_id


def split_parts(row: Row) -> list[Row]:
    """A row whose content may be too long for Milvus, as rows that fit, in order.

    Content is cut between characters, by the UTF-8 bytes that it takes when it is sent. The vector stays with part 0;
    terms do too as long as they fit, and what is left of them goes with the next parts.
    """
    if (
        len(row.content) * _LONGEST_CHARACTER <= LONGEST_CONTENT
        and len(row.terms) * _LONGEST_CHARACTER <= LONGEST_CONTENT
    ):
        return [replace(row, episode=row.episode or row.id)]
    contents = list(_pieces(row.content)) or [""]
    terms = list(_packed(row.terms.split())) or [""]
    parts = max(len(contents), len(terms))
    episode = row.episode or row.id
    if parts == 1:
        return [replace(row, episode=episode)]
    return [
        replace(
            row,
            id=part_id(episode, part),
            episode=episode,
            part=part,
            parts=parts,
            content=contents[part] if part < len(contents) else "",
            terms=terms[part] if part < len(terms) else "",
            vector=None if part else row.vector,
        )
        for part in range(parts)
    ]


def join_parts(rows: Iterable[Row]) -> Row:
    """The one row that `split_parts` made these parts of, in any order.

    Raises:
        MemoryStoreError: A part is missing, or they are of different episodes.
    """
    parts = sorted(rows, key=lambda row: row.part)
    if not parts:
        msg = "there is no part of an episode to put together"
        raise MemoryStoreError(msg)
    first = parts[0]
    if {row.episode for row in parts} != {first.episode} or [row.part for row in parts] != list(range(first.parts)):
        have = ", ".join(row.id for row in parts[:5])
        msg = f"episode {first.episode!r} has {first.parts} parts, and these cannot be put together: {have}"
        raise MemoryStoreError(msg)
    if first.parts == 1:
        return first
    return replace(
        first,
        part=0,
        parts=1,
        content="".join(row.content for row in parts),
        terms=" ".join(row.terms for row in parts if row.terms),
    )


def _size(text: str) -> int:
    """Bytes that a text takes when it is sent."""
    return len(escaped(text).encode())


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces that fit, cut between characters."""
    if len(text) * _LONGEST_CHARACTER <= LONGEST_CONTENT or _size(text) <= LONGEST_CONTENT:
        if text:
            yield text
        return
    start = 0
    size = 0
    for index, character in enumerate(text):
        grown = size + (1 if "\x00" < character < "\x80" else _size(character))
        if grown > LONGEST_CONTENT:
            yield text[start:index]
            start, size = index, grown - size
        else:
            size = grown
    yield text[start:]


def _packed(words: Iterable[str]) -> Iterator[str]:
    """Words in texts that fit; a word that alone is too long is cut."""
    packed: list[str] = []
    size = 0
    for word in words:
        for piece in _pieces(word):
            taken = _size(piece) + 1
            if packed and size + taken > LONGEST_CONTENT:
                yield " ".join(packed)
                packed, size = [], 0
            packed.append(piece)
            size += taken
    if packed:
        yield " ".join(packed)


# --- rows and fields --------------------------------------------------------------------------------------------------


def unit_vector(vector: Sequence[float], dimension: int, name: str) -> list[float]:
    """A vector of length 1 in the same direction, so that an inner product is a cosine.

    Raises:
        ValueError: It is of another dimension, holds NaN or infinity, or is all zeros; Milvus Lite would take these.
    """
    numbers = list(map(float, vector))
    if len(numbers) != dimension:
        msg = f"{name} has {len(numbers)} dimensions, the collection has {dimension}"
        raise ValueError(msg)
    length = math.hypot(*numbers)
    if math.isinf(length):  # of very large numbers, unless one of them is infinite
        largest = max(map(abs, numbers))
        numbers = [number / largest for number in numbers]
        length = math.hypot(*numbers)
    if not math.isfinite(length) or length == 0:
        msg = f"{name} is no direction: a vector must be finite and not all zeros"
        raise ValueError(msg)
    return [number / length for number in numbers]


def fields_of(row: Row, dimension: int | None) -> dict[str, Any]:
    """A row as Milvus takes it.

    Args:
        row: The row.
        dimension: Of the collection's vectors; `None` where it has none.

    Raises:
        ValueError: A field is too long, out of range, or not of its type.
    """
    row = row if row.episode else replace(row, episode=row.id)
    if row.id != part_id(row.episode, row.part):
        right = part_id(row.episode, row.part)
        msg = f"id={row.id!r}: part {row.part} of episode {row.episode!r} has the id {right!r}"
        raise ValueError(msg)
    given: dict[str, Any] = {name: _checked_key(row, name) for name in _KEYS}
    given |= {name: escaped(getattr(row, name)) for name in _TEXTS}
    for name in _NUMBERS:
        value = given[name] = getattr(row, name)
        if type(value) is not int or abs(value) > LARGEST_INT:
            msg = f"row {row.id!r}: {name}={value!r} is no integer of 64 bits"
            raise ValueError(msg)
    for name, longest in (("content", LONGEST_CONTENT), ("terms", LONGEST_CONTENT), ("entity", LONGEST_ENTITY)):
        text = given[name]
        if len(text) * 4 > longest and (size := len(text.encode())) > longest:
            msg = f"row {row.id!r}: {name} takes {size:,} bytes, a row holds {longest:,}: see split_parts"
            raise ValueError(msg)
    metadata = escaped_json(dict(row.metadata))
    if (size := len(json.dumps(metadata, ensure_ascii=False).encode())) > LONGEST_METADATA:
        msg = f"row {row.id!r}: metadata takes {size:,} bytes as JSON, a row holds {LONGEST_METADATA:,}"
        raise ValueError(msg)
    given["metadata"] = metadata
    if dimension is not None:
        embedded = row.vector is not None
        given["embedded"] = embedded
        # There is no null before Milvus 2.5; a search leaves these rows out by `embedded`.
        given["vector"] = unit_vector(row.vector or (), dimension, "vector") if embedded else [0.0] * dimension
    elif row.vector is not None:
        msg = f"row {row.id!r} has a vector, the collection has none: it was opened without a dimension"
        raise ValueError(msg)
    return given


def _checked_key(row: Row, name: str) -> str:
    value = getattr(row, name)
    if not isinstance(value, str) or len(value) > LONGEST_ID or not value.isascii() or not value.isprintable():
        msg = f"{name}={value!r}: give at most {LONGEST_ID} printable ASCII characters"
        raise ValueError(msg)
    if not value and name in {"id", "user_key", "kind"}:
        msg = f"a row needs {name}: {row!r}"
        raise ValueError(msg)
    return value


def row_of_hit(row_id: str, user_key: str, given: Mapping[str, Any]) -> Row:
    """A row from the fields that a search gives."""
    episode = episode_id(row_id, given["part"]) if given["part"] else row_id
    return row_of_fields({**given, "id": row_id, "episode": episode, "user_key": user_key})


def row_of_fields(given: Mapping[str, Any]) -> Row:
    """A row from the fields that Milvus gives."""
    vector = given.get("vector") if given.get("embedded", True) else None
    metadata = given["metadata"]
    if isinstance(metadata, str | bytes):  # as an older client gives it
        metadata = json.loads(metadata)
    if _ESCAPE_IN_REPR in repr(metadata):
        metadata = _plain_json(metadata)
    texts = _texts_of(given)
    if _ESCAPE in "".join(texts):
        texts = tuple(map(plain, texts))
    named = dict(zip((*_KEYS, *_NUMBERS, *_TEXTS), (*_keys_of(given), *texts), strict=True))
    return Row(**named, metadata=metadata, vector=None if vector is None else list(map(float, vector)))


# --- texts that Milvus and protobuf do not take -----------------------------------------------------------------------


def escaped(text: str) -> str:
    """A text in which what Milvus and protobuf refuse (NUL, lone surrogates) is written out; `plain` undoes it."""
    return _UNSENDABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def plain(text: str) -> str:
    """The text that `escaped` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def escaped_json(value: Any, where: str = "metadata") -> Any:  # noqa: ANN401  # what JSON can hold
    """A value as JSON holds it, its texts escaped.

    Raises:
        ValueError: JSON cannot hold it, or Milvus cannot: NaN, or an integer of more than 64 bits.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, int) and abs(value) <= LARGEST_INT:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {escaped(key): escaped_json(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [escaped_json(item, f"{where}[{index}]") for index, item in enumerate(value)]
    msg = f"{where}={value!r} cannot be stored: give texts, finite numbers of 64 bits, true, false, None, lists, dicts"
    raise ValueError(msg)


def _plain_json(value: Any) -> Any:  # noqa: ANN401  # as above
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(key): _plain_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_json(item) for item in value]
    return value
