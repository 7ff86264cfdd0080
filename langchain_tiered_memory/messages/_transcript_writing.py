"""Conversations into files, each read again to see that it is the same."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any, Final, Literal

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import TranscriptError
from langchain_tiered_memory.messages._transcript_chatgpt import encode_chatgpt
from langchain_tiered_memory.messages._transcript_reading import Transcript, check_path, parse_transcript
from langchain_tiered_memory.messages._transcript_records import (
    MESSAGE_TYPES,
    decode_langchain,
    decode_role,
    encode_langchain,
    encode_role,
    plain_fields,
)
from langchain_tiered_memory.messages._transcript_source import atomic_write, fail

__all__ = ["write_text", "write_transcript"]

_REPAIR_OF_LOSS: Final = {
    "langchain": "use values that JSON keeps: strings, numbers, lists, and objects with strings as keys",
    "openai": 'write format="langchain", which has a place for every field, or pass lossy=True',
    "plain": 'write format="openai" or "langchain", which have a place for more, or pass lossy=True',
    "chatgpt": 'write format="langchain", which has a place for every field, or pass lossy=True',
}


def write_transcript(
    messages: Sequence[BaseMessage] | Transcript,
    path: str | os.PathLike[str],
    *,
    format: Literal["langchain", "openai", "plain", "chatgpt"] = "langchain",  # noqa: A002  # the word for it
    lines: bool | None = None,
    lossy: bool = False,
) -> None:
    """Write a conversation so that reading it gives the same messages; a whole file, or the old one stays.

    Args:
        messages: The messages, or a `Transcript`, whose metadata an OpenAI file keeps, and whose title and id a ChatGPT
            export keeps too.
        path: The file; its folder must exist.
        format: "langchain" carries every field of every class; "openai", "plain" and "chatgpt" (a `conversations.json`
            of one conversation) what those have a place for.
        lines: Write one message a line (of a ChatGPT export, the conversation); by default where the name ends in
            `.jsonl` or `.ndjson`.
        lossy: Leave out what the format has no place for, instead of raising.

    Raises:
        TranscriptError: The format cannot carry something, or the file cannot be written; names the message and field.

    Example:
        ```python
        from pathlib import Path
        from langchain_core.messages import HumanMessage
        from langchain_tiered_memory import write_transcript

        write_transcript([HumanMessage("Hello")], "chat.jsonl", format="plain")
        assert Path("chat.jsonl").read_text(encoding="utf-8").strip() == '{"role": "user", "content": "Hello"}'
        ```
    """
    check_path(path)
    target = str(path)
    if format not in _REPAIR_OF_LOSS:
        fail(target, "", f"format={format!r} cannot be written", f"use one of {', '.join(_REPAIR_OF_LOSS)}")
    items = list(messages)
    if not items:
        fail(target, "", "there are no messages to write", "write a conversation that has begun")
    by_line = target.endswith((".jsonl", ".ndjson")) if lines is None else lines
    if format == "chatgpt":
        write_text(path, _chatgpt_text(messages, items, target, by_line=by_line, lossy=lossy))
        return
    records = [_encode(message, format, index, target, lossy=lossy) for index, message in enumerate(items)]
    keeps = isinstance(messages, Transcript) and format == "openai" and messages.format != "chatgpt"
    metadata = dict(messages.metadata) if isinstance(messages, Transcript) and keeps else {}
    if metadata and by_line:
        body = {"messages": records, **metadata}
        text = json.dumps(body, ensure_ascii=False) + "\n"  # the fine-tuning layout: one conversation a line
    elif by_line:
        text = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    else:
        whole = {"messages": records, **metadata} if format == "openai" else records
        text = json.dumps(whole, ensure_ascii=False, indent=2) + "\n"
    write_text(path, text)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file, or leave the old one as it was.

    Raises:
        TranscriptError: The file cannot be written.
    """
    try:
        atomic_write(path, text)
    except OSError as error:
        problem = f"it cannot be written ({error.strerror or error})"
        fail(str(path), "", problem, "pass a path in a folder that exists and can be written", error)


def _encode(message: BaseMessage, format_: str, index: int, target: str, *, lossy: bool) -> dict[str, Any]:
    """Write one message, and read it again to see that it is the same."""
    where = _where(message, index)
    _check_class(message, target, where)
    try:
        record = encode_langchain(message) if format_ == "langchain" else encode_role(message)
        if format_ == "plain":
            record = {"role": record["role"], "content": record["content"] or ""}
        written: dict[str, Any] = json.loads(json.dumps(record))
        read = (decode_langchain if format_ == "langchain" else decode_role)(written, target, where)
    except TranscriptError as error:
        fail(target, where, f"the format {format_} cannot carry it ({error})", _REPAIR_OF_LOSS[format_], error)
    except (TypeError, ValueError, RecursionError) as error:
        fail(
            target,
            where,
            f"it is not JSON data ({error})",
            "turn that value into strings, numbers, lists and objects",
            error,
        )
    if lossy:
        return written
    lost = _differing(message, read)
    if lost:
        fail(target, where, f"the format {format_} cannot carry its {', '.join(lost)}", _REPAIR_OF_LOSS[format_])
    return written


def _chatgpt_text(
    messages: Sequence[BaseMessage] | Transcript, items: list[BaseMessage], target: str, *, by_line: bool, lossy: bool
) -> str:
    """Write a ChatGPT export, and read it again whole: which result answers which call is told by all of its nodes."""
    for index, message in enumerate(items):
        _check_class(message, target, _where(message, index))
    whole = messages if isinstance(messages, Transcript) else None
    metadata = whole.metadata if whole is not None and whole.format == "chatgpt" else {}
    title, own_id = (whole.title, whole.id) if whole is not None else (None, None)
    body = encode_chatgpt(items, target, title=title, conversation_id=own_id, metadata=metadata)
    text = json.dumps(body, ensure_ascii=False) if by_line else json.dumps([body], ensure_ascii=False, indent=2)
    try:
        read = parse_transcript(text.encode("utf-8", "backslashreplace"), format="chatgpt", source=target).messages
    except TranscriptError as error:
        problem = f"the format chatgpt cannot carry these messages ({error})"
        fail(target, "", problem, 'write format="langchain", which has a place for every field', error)
    if lossy:
        return text + "\n"
    for index, message in enumerate(items):
        lost = _differing(message, read[index]) if index < len(read) else ["place in the conversation"]
        if lost:
            problem = f"the format chatgpt cannot carry its {', '.join(lost)}"
            fail(target, _where(message, index), problem, _REPAIR_OF_LOSS["chatgpt"])
    if len(read) > len(items):
        problem = f"the format chatgpt would give {len(read)} messages for these {len(items)}"
        fail(target, "", problem, _REPAIR_OF_LOSS["chatgpt"])
    return text + "\n"


def _where(message: BaseMessage, index: int) -> str:
    return f"message {index}" + (f" (id {message.id!r})" if message.id else "")


def _check_class(message: BaseMessage, target: str, where: str) -> None:
    if type(message) not in MESSAGE_TYPES.values():
        problem = f"a {type(message).__name__} is of no known message class"
        fail(target, where, problem, "convert it to one of langchain_core")


def _differing(message: BaseMessage, read: BaseMessage) -> list[str]:
    if type(message) is not type(read):
        return [f"class {type(message).__name__}"]
    ours, theirs = plain_fields(message), plain_fields(read)
    return [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
