"""Conversations from files and back into them.

A conversation is read wholly or not at all, and written only in a form from which the same messages can be read again:
where a format has no place for something, writing says so instead of dropping it.

| format | what it is | written |
|---|---|---|
| `"langchain"` | `messages_to_dict`, `model_dump` or `dumpd` of messages; carries every field of every class | yes |
| `"openai"` | chat completions: requests, message lists, JSON lines, batch files, answers | yes |
| `"plain"` | role and content only; "human", "ai", "bot", "model" and "gpt" are roles too | yes |
| `"chatgpt"` | the `conversations.json` of a ChatGPT export | yes |
| `"responses"` | OpenAI's Responses API: requests, items, answers | no |
| `"anthropic"` | Anthropic's Messages API: requests, message lists, answers | no |
| `"gemini"` | Gemini's contents: requests, lists, answers | no |
| `"sharegpt"` | `{"conversations": [{"from": ..., "value": ...}]}` | no |
| `"claude"` | the `conversations.json` of a Claude.ai export | no |
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import TranscriptError
from langchain_tiered_memory.messages.transcripts import (
    anthropic,
    chatgpt,
    claude,
    gemini,
    langchain,
    openai,
    plain,
    responses,
)
from langchain_tiered_memory.messages.transcripts.files import Place, kind_of, load_values, write_text
from langchain_tiered_memory.messages.transcripts.records import Format, Opened

__all__ = ["FORMATS", "Transcript", "TranscriptFormat", "parse_transcript", "read_transcript", "write_transcript"]

TranscriptFormat: TypeAlias = Literal[
    "langchain", "chatgpt", "claude", "sharegpt", "gemini", "anthropic", "responses", "openai", "plain"
]
# The more particular ones first: a list that OpenAI and Anthropic would both take is taken for OpenAI's.
_FORMATS: Final[dict[TranscriptFormat, Format]] = {
    "langchain": langchain,
    "chatgpt": chatgpt,
    "claude": claude,
    "sharegpt": plain.ShareGPT,
    "gemini": gemini,
    "anthropic": anthropic,
    "responses": responses,
    "openai": openai,
    "plain": plain,
}
FORMATS: Final[tuple[TranscriptFormat, ...]] = tuple(_FORMATS)
_WRITTEN: Final = ("langchain", "openai", "plain", "chatgpt")
_LISTED: Final = 20  # conversations that an error names before it says how many more there are
_EMPTY: Final = "pass a conversation that has begun"


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
        metadata: What else the file says of the conversation (a request's `tools` and `model`, for instance).
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


@dataclass(frozen=True, slots=True)
class _Found:
    """A conversation in a file: what is opened, in which format where that is certain, and its place."""

    opened: Opened
    format: TranscriptFormat | None
    place: Place


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
    _check_path(path)
    try:
        data = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # a ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or error
        Place(str(path)).fail(f"it cannot be read ({reason})", "pass the path of a transcript", error)
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
    place = Place(source)
    if format is not None and format not in FORMATS:
        place.fail(f"format={format!r} is unknown", f"use one of {', '.join(FORMATS)}")
    chosen = _choose(_find(load_values(data, source), format, place), conversation, place)
    opened = chosen.opened
    records = [_pair_as_record(record) for record in opened.records]
    objects = [record if isinstance(record, dict) else {} for record in records]
    told: list[TranscriptFormat] = [name for name, kind in _FORMATS.items() if objects and kind.takes(objects)]
    read_as: TranscriptFormat = chosen.format or format or [*told, "openai"][0]
    if format is not None and format != read_as:
        chosen.place.fail(f"it looks like {read_as}, not {format}", f"read it as {read_as}")
    try:
        messages = _FORMATS[read_as].read(records, chosen.place)
    except RecursionError as error:
        chosen.place.fail("it is nested too deep to be read", "no conversation needs that", error)
    if not messages:
        chosen.place.fail("it holds no messages", _EMPTY)
    return Transcript(tuple(messages), read_as, source, opened.id, opened.title, opened.metadata)


def _find(values: list[tuple[Any, int]], wanted: TranscriptFormat | None, place: Place) -> list[_Found]:
    """The conversations of a file: one object or list, or one record a line."""
    located = [(value, place.at(f"line {line}")) for value, line in values]
    if len(values) == 1:
        value = values[0][0]
        if isinstance(value, dict):
            return [_open(value, wanted, place) or _Found(Opened([value]), None, place)]
        if not isinstance(value, list):
            place.fail(f"it holds {kind_of(value)}, not a conversation", "pass messages, or an object that holds them")
        located = [(item, place.at(f"record {index}")) for index, item in enumerate(value)]
    if not located:
        place.fail("it holds no messages", _EMPTY)
    found = [_open(value, wanted, where) for value, where in located]
    if not any(found):
        return [_Found(Opened([value for value, _ in located]), None, place)]
    for one, (value, where) in zip(found, located, strict=True):
        if one is None:
            problem = f"it is {kind_of(value)}, not a conversation as the other records are"
            where.fail(problem, "keep messages and whole conversations in files of their own")
    return [one for one in found if one is not None]


def _open(value: object, wanted: TranscriptFormat | None, place: Place) -> _Found | None:
    """A value as a whole conversation; `None` where it is something else: a message, most likely."""
    if isinstance(value, list) and _pair_as_record(value) is value:
        return _Found(Opened(value), None, place)
    if not isinstance(value, dict):
        return None
    for name in FORMATS if wanted is None else (wanted,):
        opened = _FORMATS[name].open_conversation(value, place)
        if opened is not None:
            # Whatever stands under "messages" says of itself whose it is.
            return _Found(opened, None if name == "openai" and "messages" in value else name, place)
    opened = openai.open_conversation(value, place) if wanted in {"langchain", "plain"} else None
    return _Found(opened, None, place) if opened is not None else None


def _pair_as_record(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """["user", "hello"] as a record; anything else as it is."""
    if isinstance(value, list) and [type(item) for item in value] == [str, str]:
        return {"role": value[0], "content": value[1]}
    return value


def _choose(found: list[_Found], wanted: int | str | None, place: Place) -> _Found:
    if wanted is None:
        if len(found) == 1:
            return found[0]
        problem = f"it holds {len(found)} conversations"
        place.fail(problem, f"choose one by its number, id or title: {_listing(found)}")
    if isinstance(wanted, bool) or not isinstance(wanted, int | str) or (isinstance(wanted, int) and wanted < 0):
        problem = f"conversation={wanted!r} names no conversation"
        place.fail(problem, f"pass its number from 0, its id or its title: {_listing(found)}")
    named = [one for one in found if wanted in (one.opened.id, one.opened.title)]
    if len(named) == 1:
        return named[0]
    if len(named) > 1:
        numbers = ", ".join(str(found.index(one)) for one in named)
        place.fail(f"{len(named)} conversations are called {wanted!r}", f"choose by number: {numbers}")
    text = str(wanted)
    if not (text.isascii() and text.isdecimal() and len(text) < 10) or int(text) >= len(found):  # noqa: PLR2004  # digits
        place.fail(f"no conversation {wanted!r} is in it", f"choose one of {_listing(found)}")
    return found[int(text)]


def _listing(found: list[_Found]) -> str:
    shown = []
    for number, one in enumerate(found[:_LISTED]):
        names = [repr(name) for name in (one.opened.id, one.opened.title) if name]
        shown.append(f"{number} ({', '.join(names)})" if names else str(number))
    more = f", and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return ", ".join(shown) + more


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
        format: "langchain" and "chatgpt" (a `conversations.json` of one conversation) carry every field of every class;
            "openai" and "plain" what those have a place for.
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
    _check_path(path)
    place = Place(str(path))
    if format not in _WRITTEN:
        place.fail(f"format={format!r} cannot be written", f"use one of {', '.join(_WRITTEN)}")
    items = list(messages)
    if not items:
        place.fail("there are no messages to write", "write a conversation that has begun")
    own = "langchain" if format == "chatgpt" else format
    records = [_encode(message, own, index, place, lossy=lossy) for index, message in enumerate(items)]
    by_line = place.source.endswith((".jsonl", ".ndjson")) if lines is None else lines
    read_as = messages.format if isinstance(messages, Transcript) else None
    own_id, title = (messages.id, messages.title) if isinstance(messages, Transcript) else (None, None)
    metadata = messages.metadata if isinstance(messages, Transcript) else {}
    whole: Any = records
    if format == "chatgpt":
        kept = metadata if read_as == "chatgpt" else {}
        whole = [chatgpt.write_conversation(items, Opened((), own_id, title, kept))]
    elif format == "openai" and not (by_line and (not metadata or read_as == "chatgpt")):
        # A line holds the whole conversation, as for fine-tuning, where there is more to it than messages.
        whole = {"messages": records, **(metadata if read_as != "chatgpt" else {})}
    if not by_line:
        text = json.dumps(whole, ensure_ascii=False, indent=2)
    else:
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in (whole if isinstance(whole, list) else [whole]))
    write_text(path, text + "\n")


def _encode(message: BaseMessage, name: str, index: int, place: Place, *, lossy: bool) -> dict[str, Any]:
    """Write one message, and read it again to see that it is the same."""
    here = place.at(f"message {index}" + (f" (id {message.id!r})" if message.id else ""))
    if type(message) not in langchain.CLASSES:
        here.fail(f"a {type(message).__name__} is of no known message class", "convert it to one of langchain_core")
    more = "use values that JSON keeps" if name == "langchain" else 'write format="langchain", or pass lossy=True'
    try:
        record = langchain.write_message(message) if name == "langchain" else openai.write_message(message, here)
        if name == "plain":
            record = {"role": record["role"], "content": record["content"] or ""}
        written: dict[str, Any] = json.loads(json.dumps(record))
        read = (langchain if name == "langchain" else openai).read_message(written, here)
    except TranscriptError as error:
        here.fail(f"the format {name} cannot carry it ({error})", more, error)
    except (TypeError, ValueError, RecursionError) as error:
        here.fail(f"it is not JSON data ({error})", "turn that value into strings, numbers, lists and objects", error)
    ours, theirs = langchain.fields_of(message), langchain.fields_of(read)
    lost = [key for key in {**ours, **theirs} if ours.get(key) != theirs.get(key)]
    if type(message) is not type(read):
        lost = [f"class {type(message).__name__}"]
    if lost and not lossy:
        here.fail(f"the format {name} cannot carry its {', '.join(lost)}", more)
    return written


def _check_path(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        problem = f"path={path!r} is no path"
        Place("transcript").fail(
            problem, 'pass the path of a transcript as a string or a Path, "chat.json" for instance'
        )
