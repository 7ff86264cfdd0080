"""Transcripts: messages to text for a summariser, and conversations from files and back into them.

A conversation is read wholly or not at all, and written only in a form from which the same messages can be read again:
where a format has no place for something, writing says so instead of dropping it.

| format | what it is | written |
|---|---|---|
| `"langchain"` | `messages_to_dict`, `model_dump` or `dumpd` of messages; carries every field of every class | yes |
| `"openai"` | chat completions: role, content, `tool_calls`; `{"messages": [...]}`, a list, or JSON lines | yes |
| `"plain"` | role and content only; "human", "ai", "bot" and "model" are understood too | yes |
| `"chatgpt"` | the `conversations.json` of a ChatGPT export | yes |
| `"locomo"` | the LoCoMo data set | no |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, get_buffer_string

from langchain_tiered_memory.errors import TranscriptError
from langchain_tiered_memory.messages._transcript_chatgpt import encode_chatgpt
from langchain_tiered_memory.messages._transcript_layout import (
    FORMATS,
    TranscriptFormat,
    choose_conversation,
    decode_conversation,
    find_conversations,
)
from langchain_tiered_memory.messages._transcript_records import (
    MESSAGE_TYPES,
    decode_langchain,
    decode_role,
    encode_langchain,
    encode_role,
    plain_fields,
)
from langchain_tiered_memory.messages._transcript_source import atomic_write, fail, load_values
from langchain_tiered_memory.messages._transcript_text import label_of, render

__all__ = [
    "FORMATS",
    "PREFIXES",
    "Prefixes",
    "Transcript",
    "TranscriptFormat",
    "parse_transcript",
    "read_transcript",
    "to_text",
    "write_text",
    "write_transcript",
]

_WRITTEN = ("langchain", "openai", "plain", "chatgpt")


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation as it was read.

    Attributes:
        messages: The conversation.
        format: The format it was read from.
        source: The file, as errors name it.
        id: The conversation's own id, where the format has one.
        title: Its title, where the format has one.
        metadata: What else the file says of the conversation (an OpenAI request's `tools` and `model`, for instance).
    """

    messages: tuple[BaseMessage, ...]
    format: TranscriptFormat
    source: str
    id: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.messages)

    def __iter__(self) -> Iterator[BaseMessage]:
        return iter(self.messages)


# --- text ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Prefixes:
    """How the speakers of a conversation are called in its text."""

    human: str = "Human"
    ai: str = "AI"
    system: str = "System"
    tool: str = "Tool"
    function: str = "Function"


PREFIXES: Mapping[str, Prefixes] = {
    "en": Prefixes(),
    "zh": Prefixes(human="用户", ai="助手", system="系统", tool="工具", function="函数"),
}
"""The ready-made prefixes, by language."""


def to_text(
    messages: Sequence[BaseMessage],
    human_prefix: str | None = None,
    ai_prefix: str | None = None,
    *,
    prefixes: Prefixes | str = "en",
    separator: str = "\n",
    format: Literal["prefix", "xml"] = "prefix",  # noqa: A002  # langchain_core's name for it
) -> str:
    """Write messages as text, as langchain_core's `get_buffer_string` does, without what that one leaves out.

    A summariser that is handed raw messages needs their tools declared, and one that reads `get_buffer_string` never
    learns of pictures, of which result answers which call, or of reasoning (langchain-ai/langchain#38174,
    langchain-ai/langchain-aws#591). Here a medium is a placeholder with its URL or id, base64 a short hash, and calls,
    results, refusals and reasoning are written out.

    Args:
        messages: The messages; they are not changed.
        human_prefix: Overrides the prefix of user messages.
        ai_prefix: Overrides the prefix of assistant messages.
        prefixes: All prefixes in one setting: "en", "zh" ("用户", "助手", ...) or your own `Prefixes`.
        separator: What stands between two messages.
        format: "prefix" (`Human: text`) or "xml" (`<message type="human">`, escaped, so that no text poses as a turn).

    Raises:
        ValueError: The language or the format is unknown.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> to_text([HumanMessage([{"type": "image", "url": "https://example.org/map.png"}])], prefixes="zh")
        '用户: [image: https://example.org/map.png]'
    """
    names = PREFIXES.get(prefixes) if isinstance(prefixes, str) else prefixes
    if names is None:
        msg = f"prefixes={prefixes!r} is unknown; use one of {', '.join(PREFIXES)} or your own Prefixes"
        raise ValueError(msg)
    human, ai = human_prefix or names.human, ai_prefix or names.ai
    lines = []
    for message in messages:
        label = label_of(message)
        text = render(message)
        behind = f" {label}" if label and format == "prefix" else ""
        if label and format == "xml":
            text = f"[{label}] {text}"
        copy = _spoken(message, text, behind)
        lines.append(
            get_buffer_string(
                [copy],
                human + behind,
                ai + behind,
                system_prefix=names.system + behind,
                function_prefix=names.function + behind,
                tool_prefix=names.tool + behind,
                format=format,
            )
        )
    return separator.join(lines)


def _spoken(message: BaseMessage, text: str, behind: str) -> BaseMessage:
    """Copy a message with its whole content as text and without calls, which `get_buffer_string` would add again."""
    update: dict[str, Any] = {"content": text}
    if isinstance(message, AIMessage):
        update |= {"tool_calls": [], "additional_kwargs": {}}
    if isinstance(message, ChatMessage):
        update["role"] = message.role + behind
    return message.model_copy(update=update)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_transcript(
    path: str | os.PathLike[str],
    conversation: int | str | None = None,
    *,
    format: TranscriptFormat | None = None,  # noqa: A002  # the word for it
) -> Transcript:
    """Read one conversation from a file, wholly or not at all.

    Args:
        path: The file: JSON or JSON lines, in UTF-8, UTF-16 or UTF-32.
        conversation: Which one, in a file of several: its id, its title, or its number from 0.
        format: Take the file for this format instead of telling it from its structure.

    Raises:
        TranscriptError: The file cannot be read; the message names the file, the record and the repair.

    Example:
        >>> transcript = read_transcript("conversations.json", "Trip to Kyoto")  # doctest: +SKIP
        >>> len(transcript.messages)  # doctest: +SKIP
        42
    """
    _check_path(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or error
        fail(str(path), "", f"it cannot be read ({reason})", "pass the path of a transcript", error)
    return parse_transcript(data, conversation, format=format, source=str(path))


def parse_transcript(
    data: bytes | str,
    conversation: int | str | None = None,
    *,
    format: TranscriptFormat | None = None,  # noqa: A002  # the word for it
    source: str = "<input>",
) -> Transcript:
    """Read one conversation from what a file holds; see `read_transcript`.

    Args:
        data: The content of a file.
        conversation: Which one, if there are several: its id, its title, or its number from 0.
        format: Take it for this format instead of telling it from the structure.
        source: What errors call the input.

    Raises:
        TranscriptError: The input cannot be read as a conversation.
    """
    if format is not None and format not in FORMATS:
        fail(source, "", f"format={format!r} is unknown", f"use one of {', '.join(FORMATS)}")
    found = find_conversations(load_values(data, source), source)
    chosen = choose_conversation(found, conversation, source)
    try:
        messages, read_as = decode_conversation(chosen, format, source)
    except RecursionError as error:
        fail(source, chosen.where, "it is nested too deep to be read", "no conversation needs that", error)
    if not messages:
        fail(source, chosen.where, "it holds no messages", "pass a conversation that has begun")
    return Transcript(tuple(messages), read_as, source, chosen.id, chosen.title, chosen.metadata)


def _check_path(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        problem = f"path={path!r} is no path"
        fail("transcript", "", problem, 'pass the path of a transcript as a string or a Path, "chat.json" for instance')


# --- writing ---------------------------------------------------------------------------------------------------------


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
        >>> from langchain_core.messages import HumanMessage
        >>> write_transcript([HumanMessage("hi")], "/tmp/hi.jsonl", format="openai")  # doctest: +SKIP
    """
    _check_path(path)
    target = str(path)
    if format not in _WRITTEN:
        fail(target, "", f"format={format!r} cannot be written", f"use one of {', '.join(_WRITTEN)}")
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


_REPAIR_OF_LOSS = {
    "chatgpt": 'write format="langchain", which has a place for every field, or pass lossy=True',
    "langchain": "use values that JSON keeps: strings, numbers, lists, and objects with strings as keys",
    "openai": 'write format="langchain", which has a place for every field, or pass lossy=True',
    "plain": 'write format="openai" or "langchain", which have a place for more, or pass lossy=True',
}


def _differing(message: BaseMessage, read: BaseMessage) -> list[str]:
    if type(message) is not type(read):
        return [f"class {type(message).__name__}"]
    ours, theirs = plain_fields(message), plain_fields(read)
    return [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
