"""Which conversations a file holds, in which format, and the one that is wanted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._transcript_exports import decode_chatgpt, decode_locomo
from langchain_tiered_memory.messages._transcript_records import (
    OPENAI_ROLES,
    decode_langchain,
    decode_role,
    is_langchain_record,
)
from langchain_tiered_memory.messages._transcript_source import Record, fail, kind_of

__all__ = [
    "FORMATS",
    "Conversation",
    "TranscriptFormat",
    "choose_conversation",
    "decode_conversation",
    "find_conversations",
]

TranscriptFormat: TypeAlias = Literal["langchain", "openai", "plain", "chatgpt", "locomo"]
FORMATS: tuple[TranscriptFormat, ...] = ("langchain", "openai", "plain", "chatgpt", "locomo")
_TREES: tuple[tuple[str, TranscriptFormat], ...] = (("mapping", "chatgpt"), ("conversation", "locomo"))
_LISTED = 20  # conversations that an error names before it says how many more there are
_DIGITS = 18  # of a number that may choose a conversation


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation found in a file and not read yet."""

    records: list[Record] | dict[str, Any]
    where: str
    format: TranscriptFormat | None
    id: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


def find_conversations(records: list[Record], source: str) -> list[Conversation]:
    """Find the conversations of a file: one object or list, or one record a line."""
    if len(records) == 1:
        value = records[0].value
        if isinstance(value, dict):
            return [_conversation(value, "", source) or Conversation([Record(value, "record 0")], "", None)]
        if not isinstance(value, list):
            repair = "pass a list of messages, or an object with messages"
            fail(source, "", f"it holds {kind_of(value)}, not a conversation", repair)
        records = [Record(item, f"record {index}") for index, item in enumerate(value)]
        if not records:
            fail(source, "", "it holds no messages", "pass a conversation that has begun")
    found = [_conversation(record.value, record.where, source) for record in records]
    if not any(found):
        return [Conversation(records, "", None)]
    for record, conversation in zip(records, found, strict=True):
        if conversation is None:
            problem = f"it is {kind_of(record.value)}, not a conversation as the other records are"
            fail(source, record.where, problem, "keep messages and whole conversations in files of their own")
    return [conversation for conversation in found if conversation is not None]


def _conversation(value: object, where: str, source: str) -> Conversation | None:
    """Take a value for a whole conversation, or say that it is something else: a message, most likely."""
    if isinstance(value, list) and not _is_pair(value):
        return Conversation(_numbered(value, where), where, None)
    if not isinstance(value, dict) or "role" in value:
        return None
    own_id = next((value[key] for key in ("conversation_id", "id", "sample_id", "custom_id") if value.get(key)), None)
    title = value.get("title")
    named: dict[str, Any] = {"id": None if own_id is None else str(own_id), "title": title and str(title)}
    for key, kind in _TREES:
        if isinstance(value.get(key), dict):
            told = {name: item for name, item in value.items() if name not in {"mapping", "current_node"}}
            return Conversation(value, where, kind, **named, metadata=told if kind == "chatgpt" else {})
    if "mapping" in value and "messages" not in value and not is_langchain_record(value):
        return Conversation(value, where, "chatgpt", **named)  # a broken one, which its reader explains
    if "messages" not in value:
        return None
    if not isinstance(value["messages"], list):
        fail(source, where, f"messages is {kind_of(value['messages'])}", "make it a list of messages")
    metadata = {key: item for key, item in value.items() if key != "messages"}
    return Conversation(_numbered(value["messages"], where), where, None, **named, metadata=metadata)


def _numbered(values: list[Any], where: str) -> list[Record]:
    prefix = f"{where}, " if where else ""
    return [Record(value, f"{prefix}message {index}") for index, value in enumerate(values)]


def choose_conversation(found: list[Conversation], wanted: int | str | None, source: str) -> Conversation:
    if wanted is None:
        if len(found) == 1:
            return found[0]
        problem = f"it holds {len(found)} conversations"
        fail(source, "", problem, f"choose one by its number, id or title: {_listing(found)}")
    if isinstance(wanted, bool) or not isinstance(wanted, int | str) or (isinstance(wanted, int) and wanted < 0):
        problem = f"conversation={wanted!r} names no conversation"
        fail(source, "", problem, f"pass its number from 0, its id or its title: {_listing(found)}")
    named = [one for one in found if wanted in (one.id, one.title)]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        numbers = ", ".join(str(found.index(one)) for one in named)
        fail(source, "", f"{len(named)} conversations are called {wanted!r}", f"choose by number: {numbers}")
    if isinstance(wanted, int) or (wanted.isascii() and wanted.isdecimal() and len(wanted) <= _DIGITS):
        number = int(wanted)
    else:
        number = len(found)
    if number >= len(found):
        fail(source, "", f"no conversation {wanted!r} is in it", f"choose one of {_listing(found)}")
    return found[number]


def _listing(found: list[Conversation]) -> str:
    shown = []
    for number, one in enumerate(found[:_LISTED]):
        names = [repr(name) for name in (one.id, one.title) if name]
        shown.append(f"{number} ({', '.join(names)})" if names else str(number))
    more = f", and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(shown) + more


def decode_conversation(
    chosen: Conversation, wanted: TranscriptFormat | None, source: str
) -> tuple[list[BaseMessage], TranscriptFormat]:
    where = chosen.where
    if isinstance(chosen.records, dict):
        if wanted is not None and wanted != chosen.format:
            fail(source, where, f"it looks like {chosen.format}, not {wanted}", f"read it as {chosen.format}")
        if chosen.format == "chatgpt":
            return decode_chatgpt(chosen.records, source, where), "chatgpt"
        return decode_locomo(chosen.records, source, where), "locomo"
    if wanted in {"chatgpt", "locomo"}:
        fail(source, where, f"it is a list of messages, not {wanted}", "leave the format to be told from the structure")
    values = [_as_dict(record, source) for record in chosen.records]
    read_as = wanted or _detect(values)
    messages = []
    for record, value in zip(chosen.records, values, strict=True):
        place = _place(record, value)
        if read_as == "langchain":
            if not is_langchain_record(value):
                _refuse(value, source, place, read_as)
            messages.append(decode_langchain(value, source, place))
        else:
            if "role" not in value:
                _refuse(value, source, place, read_as)
            messages.append(decode_role(value, source, place, plain=read_as == "plain"))
    return messages, read_as


def _as_dict(record: Record, source: str) -> dict[str, Any]:
    value = record.value
    if isinstance(value, dict):
        return value
    if not _is_pair(value):
        fail(source, record.where, f"it is {kind_of(value)}, not a message", 'write {"role": ..., "content": ...}')
    return {"role": value[0], "content": value[1]}


def _is_pair(value: object) -> bool:
    """Tell ["user", "hello"] from a list of messages."""
    return isinstance(value, list) and [type(item) for item in value] == [str, str]


def _place(record: Record, value: dict[str, Any]) -> str:
    data = value.get("data")
    own_id = value.get("id") or (data.get("id") if isinstance(data, dict) else None)
    return f"{record.where} (id {own_id!r})" if isinstance(own_id, str) else record.where


def _detect(values: list[dict[str, Any]]) -> TranscriptFormat:
    first = values[0] if values else {}
    if is_langchain_record(first) and ("role" not in first or str(first["type"]).lower().startswith("chat")):
        return "langchain"
    roles = {value.get("role") for value in values if isinstance(value.get("role"), str)}
    return "openai" if roles <= set(OPENAI_ROLES) else "plain"


def _refuse(value: dict[str, Any], source: str, where: str, read_as: str) -> None:
    keys = ", ".join(map(repr, list(value)[:6])) or "no keys"
    shape = '{"type": ..., "data": {...}}' if read_as == "langchain" else '{"role": ..., "content": ...}'
    fail(source, where, f"it has {keys}, which is no message of the format {read_as}", f"write {shape}")
