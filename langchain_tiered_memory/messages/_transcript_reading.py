"""Conversations out of files: told by their structure, read wholly or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._transcript_layout import (
    FORMATS,
    TranscriptFormat,
    choose_conversation,
    decode_conversation,
    find_conversations,
)
from langchain_tiered_memory.messages._transcript_source import fail, load_values

__all__ = ["Transcript", "check_path", "parse_transcript", "read_transcript"]


@dataclass(frozen=True, slots=True)
class Transcript:
    """One conversation as it was read; it iterates over its messages.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import read_transcript, write_transcript

    write_transcript([HumanMessage("Hello")], "chat.json", format="openai")
    transcript = read_transcript("chat.json")
    assert (len(transcript), transcript.format) == (1, "openai")
    ```

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
        ```python
        from pathlib import Path
        from langchain_tiered_memory import read_transcript

        Path("chat.jsonl").write_text('{"role": "user", "content": "Hello"}', encoding="utf-8")
        assert [message.content for message in read_transcript("chat.jsonl")] == ["Hello"]
        ```
    """
    check_path(path)
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

    Example:
        >>> parse_transcript('[{"role": "user", "content": "Hello"}]').messages[0].content
        'Hello'
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


def check_path(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        problem = f"path={path!r} is no path"
        fail("transcript", "", problem, 'pass the path of a transcript as a string or a Path, "chat.json" for instance')
