"""What the formats share: the conversation as one of them opened it, and the checks of a record."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from langchain_core.messages import AIMessage, BaseMessage, InvalidToolCall, ToolCall

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of

__all__ = [
    "Format",
    "Opened",
    "as_object",
    "call_of",
    "content_of",
    "join_assistant",
    "nearest",
    "text_of",
]


@dataclass(frozen=True, slots=True)
class Opened:
    """A conversation whose records are found and not read yet.

    Attributes:
        records: The records of its messages, in order, in the form of its format.
        id: The conversation's own id, where the format has one.
        title: Its title, where the format has one.
        metadata: What else stands beside the messages.
    """

    records: Sequence[Any]
    id: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)


class Format(Protocol):
    """A format of conversations; each is a module with these names."""

    NAME: str

    def open_conversation(self, value: dict[str, Any], place: Place) -> Opened | None:
        """The conversation that an object is, or `None` where it is of another format."""

    def takes(self, records: Sequence[dict[str, Any]]) -> bool:
        """Whether a list of records, without anything around it, is a conversation of this format."""

    def read(self, records: Sequence[Any], place: Place) -> list[BaseMessage]:
        """The messages of records.

        Raises:
            TranscriptError: A record cannot be read; names it.
        """


def as_object(value: object, place: Place, shape: str) -> dict[str, Any]:
    """A record that has to be an object.

    Raises:
        TranscriptError: It is something else.
    """
    if not isinstance(value, dict):
        place.fail(f"it is {kind_of(value)}, not a message", f"write {shape}")
    return value


def content_of(content: object, place: Place) -> str | list[Any]:
    """The content of a message: text, or a list of blocks.

    Raises:
        TranscriptError: It is something else.
    """
    if not isinstance(content, str | list):
        place.fail(f"content is {kind_of(content)}", "make it a string or a list of content blocks")
    if isinstance(content, list):
        for index, block in enumerate(content):
            if not isinstance(block, str | dict):
                problem = f"content block {index} is {kind_of(block)}"
                place.fail(problem, 'make it a string or an object such as {"type": "text", "text": ...}')
    return content


def text_of(value: object, name: str, place: Place) -> str | None:
    """A field that is text where it is there.

    Raises:
        TranscriptError: It is something else.
    """
    if not isinstance(value, str | None):
        place.fail(f"{name} is {kind_of(value)}", "make it a string or leave it out")
    return value


def call_of(name: object, arguments: object, call_id: object, place: Place) -> ToolCall | InvalidToolCall:
    """A tool call; an invalid one where its arguments are text that is no JSON object.

    Raises:
        TranscriptError: It has no name or no id.
    """
    if not isinstance(call_id, str) or not call_id:
        place.fail("it has no id", "give it one, and give the result that answers it the same id")
    if not isinstance(name, str) or not name:
        place.fail("it names no function", 'write its "name"')
    parsed = arguments
    if arguments is None or arguments == "":  # how models call a tool without parameters
        parsed = {}
    elif isinstance(arguments, str):
        try:
            parsed = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            parsed = None
    if isinstance(parsed, dict):
        return ToolCall(name=name, args=parsed, id=call_id, type="tool_call")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return InvalidToolCall(name=name, args=text, id=call_id, error=None, type="invalid_tool_call")


def join_assistant(messages: list[BaseMessage], message: AIMessage) -> None:
    """Append what an assistant said or called; as a part of its message before, where that is the last one."""
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage):
        messages.append(message)
        return
    blocks = [*_blocks(last.content), *_blocks(message.content)]
    only_text = not isinstance(last.content, list) and not message.content
    messages[-1] = last.model_copy(
        update={
            "content": last.content if only_text else blocks,
            "tool_calls": [*last.tool_calls, *message.tool_calls],
            "invalid_tool_calls": [*last.invalid_tool_calls, *message.invalid_tool_calls],
            "id": last.id or message.id,
        }
    )


def _blocks(content: str | list[Any]) -> list[Any]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return content


def nearest(name: str, known: Iterable[str]) -> str:
    """The repair of a name that is not among those known."""
    known = list(known)
    close = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f'did you mean "{close[0]}"? ' if close else ""
    return f"{hint}It must be one of {', '.join(known)}"
