"""Puts the procedures into a prompt: at the beginning of the one system message that leads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue

from langchain_tiered_memory.messages.protocol import is_summary, kind_of

__all__ = ["MessagesInput", "as_messages", "in_front_of", "injected"]

MessagesInput: TypeAlias = Any
"""What a chat model takes: text, messages in any form, or a prompt value."""


def injected(text: str, messages: list[BaseMessage]) -> list[BaseMessage]:
    """The messages with the text in front; the same list when it is there already, or empty."""
    if not text:
        return messages
    first = messages[0] if messages else None
    # A summary goes when it has grown too old; the procedures must not go with it.
    if first is None or kind_of(first) != "system" or (is_summary(first) and _is_of_its_own(first)):
        return [SystemMessage(text), *messages]
    leading = in_front_of(text, first)
    return messages if leading is first else [leading, *messages[1:]]


def in_front_of(text: str, message: Any) -> Any:  # noqa: ANN401  # a message of the class that came
    """A copy of a message that begins with the text; the message itself when it does already, or there is none."""
    if not text or _begins_with(text, message):
        return message
    content = message.content
    joined: str | list[Any]
    if isinstance(content, str):
        joined = f"{text}\n\n{content}" if content else text
    else:
        joined = [{"type": "text", "text": text}, *content]
    return message.model_copy(update={"content": joined})


def _begins_with(text: str, message: BaseMessage) -> bool:
    """Whether a message holds the procedures already: nothing else writes all of them at its beginning."""
    content = message.content
    if isinstance(content, str):
        return content == text or content.startswith(f"{text}\n\n")
    first = content[0] if content else None
    return first == text or (isinstance(first, dict) and first.get("text") == text)


def _is_of_its_own(summary: BaseMessage) -> bool:
    """Whether a summary stands alone, and not at the end of the application's prompt."""
    return bool(summary.id) and str(summary.id).startswith("summary-")


def as_messages(given: MessagesInput) -> list[BaseMessage]:
    """What a chat model takes, as messages; a list of messages is given back as it is."""
    if isinstance(given, str):
        return [HumanMessage(given)]
    if isinstance(given, PromptValue):
        return given.to_messages()
    if isinstance(given, list) and all(isinstance(message, BaseMessage) for message in given):
        return given
    if isinstance(given, Mapping | BaseMessage | bytes) or not isinstance(given, Iterable):
        # A mapping's keys, and a message's fields, would be taken for messages.
        msg = f"{given!r:.80} is no prompt: give text, a list of messages, or a prompt value"
        raise TypeError(msg)
    return convert_to_messages(given if isinstance(given, Sequence) else list(given))
