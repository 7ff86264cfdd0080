"""The arguments of `trim_messages`: their types, and each checked and brought into the form that a trim works with."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

from langchain_core.messages import BaseMessage, MessageLikeRepresentation, convert_to_messages
from langchain_core.prompt_values import PromptValue

from langchain_tiered_memory.messages.window import Matcher, Side

__all__ = [
    "CounterLike",
    "MessageTypes",
    "MessagesInput",
    "Oversized",
    "Pin",
    "Size",
    "SplitterLike",
    "as_messages",
    "matcher_of",
    "one_of",
    "pinned_by",
    "size_of",
    "splitter_of",
]

MessagesInput: TypeAlias = Iterable[MessageLikeRepresentation] | PromptValue
MessageTypes: TypeAlias = str | type[BaseMessage] | Sequence[str | type[BaseMessage]]
Size: TypeAlias = int | tuple[Literal["tokens", "messages", "rounds"], int]
Pin: TypeAlias = Callable[[BaseMessage], bool] | Collection[str]
Oversized: TypeAlias = Literal["shrink", "raise"]
CounterLike: TypeAlias = Any
"""Whatever `as_counter` takes."""
SplitterLike: TypeAlias = Any
"""A function from str to list[str], or a LangChain `TextSplitter`, whose package is not a dependency."""

_UNITS: Final = ("tokens", "messages", "rounds")


def as_messages(messages: MessagesInput) -> Sequence[BaseMessage]:
    """The messages; a list is not read through, so that a trim need not look at all of a long history."""
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    if (
        isinstance(messages, list)
        and messages
        and isinstance(messages[0], BaseMessage)
        and isinstance(messages[-1], BaseMessage)
    ):
        return messages
    return convert_to_messages(messages)


def size_of(max_tokens: Any) -> tuple[str, int]:  # noqa: ANN401 -- what a caller passes
    unit, size = ("tokens", max_tokens)
    if isinstance(max_tokens, list | tuple) and len(max_tokens) == len(("unit", "size")):
        unit, size = max_tokens
    if unit not in _UNITS or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        msg = (
            f"max_tokens={max_tokens!r} is no budget: give a number of tokens from 0 up, "
            "or ('tokens', n), ('messages', n) or ('rounds', n)"
        )
        raise ValueError(msg)
    return unit, size


def one_of(name: str, value: Any, allowed: tuple[str, ...]) -> Any:  # noqa: ANN401 -- the value checked
    if value not in allowed:
        msg = f"{name}={value!r} is not known: use {' or '.join(map(repr, allowed))}"
        raise ValueError(msg)
    return value


def pinned_by(pin: Pin | None) -> Matcher | None:
    if pin is None or callable(pin):
        return pin
    ids = frozenset([pin] if isinstance(pin, str) else pin)
    return (lambda message: message.id in ids) if ids else None


def matcher_of(types: MessageTypes | None, strategy: Side = "last") -> Matcher | None:
    if not types:
        return None
    if strategy == "first":
        msg = "start_on parameter is only valid with strategy='last'"
        raise ValueError(msg)
    listed = [types] if isinstance(types, str | type) else types
    names = frozenset(one for one in listed if isinstance(one, str))
    classes = tuple(one for one in listed if isinstance(one, type))
    return lambda message: message.type in names or isinstance(message, classes)


def splitter_of(text_splitter: SplitterLike) -> Callable[[str], list[str]]:
    if text_splitter is None:
        return _split_lines
    split: Any = getattr(text_splitter, "split_text", text_splitter)
    if not callable(split):
        msg = f"text_splitter={text_splitter!r} splits nothing: give a function from str to list[str] or a TextSplitter"
        raise ValueError(msg)  # noqa: TRY004 -- langchain_core has it a ValueError
    return cast("Callable[[str], list[str]]", split)


def _split_lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
