"""Makes a counter of whatever a user passes as `token_counter`."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered_memory.types import TokenCounter

__all__ = ["ListCounter", "MessageFunctionCounter", "adapt"]

# Implementations of get_num_tokens_from_messages that take `tools`, warn, and do not count them.
_IGNORE_TOOLS: Final = frozenset(("langchain_core.language_models.base", "langchain_openai.chat_models.base"))


class TextCounter(Protocol):
    """What an adapter needs for texts and tools that its function cannot count."""

    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of tool schemas."""


@dataclass(frozen=True, slots=True)
class ListCounter:
    """A counter that must see a whole list, such as a model's own or a provider's count-tokens API.

    Nothing is known about how its parts add up, so every answer is a call: hand it lists that a provider would accept,
    in order and with whole units (langchain-ai/langchain#29637).

    Attributes:
        function: Counts a list of messages; also takes `tools=` if `takes_tools`.
        texts: Estimates bare texts, and tools where the function does not count them.
        tools: The tools that are bound to the model, counted with every list.
        takes_tools: Whether `function` counts tools itself.
    """

    function: Callable[..., int]
    texts: TextCounter
    tools: tuple[Any, ...] = ()
    takes_tools: bool = False

    @property
    def request_overhead(self) -> int:
        """0: what a request costs apart from its messages is inside every count."""
        return 0

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a request with these messages and the bound tools."""
        return self.count(list(messages))

    def count(self, messages: list[BaseMessage], *, tools: Sequence[Any] | None = None) -> int:
        """Tokens of a request with these messages and `tools`, or the bound ones if none are given.

        Raises:
            ValueError: If the function returned anything but an int from 0 up.
        """
        sent = list(self.tools if tools is None else tools)
        if sent and self.takes_tools:
            return _checked(self.function(messages, tools=sent), self.function)
        return _checked(self.function(messages), self.function) + self.texts.count_tools(sent)

    def count_text(self, text: str) -> int:
        """Estimated tokens of a bare text."""
        return self.texts.count_text(text)

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Estimated tokens of tool schemas."""
        return self.texts.count_tools(tools)


@dataclass(frozen=True, slots=True)
class MessageFunctionCounter:
    """A `TokenCounter` of a function that counts one message.

    Nothing is cached, since the function may depend on anything.

    Attributes:
        function: Counts one message.
        texts: Estimates bare texts and tools.
    """

    function: Callable[[BaseMessage], int]
    texts: TextCounter

    @property
    def request_overhead(self) -> int:
        """0: the function knows messages only."""
        return 0

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Sum of the function over the messages."""
        return sum(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        """What the function says of one message.

        Raises:
            ValueError: If it said anything but an int from 0 up.
        """
        return _checked(self.function(message), self.function)

    def count_text(self, text: str) -> int:
        """Estimated tokens of a bare text."""
        return self.texts.count_text(text)

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Estimated tokens of tool schemas."""
        return self.texts.count_tools(tools)


def _checked(result: Any, function: Callable[..., Any]) -> int:  # noqa: ANN401 - whatever a user's function returned
    if type(result) is int and result >= 0:
        return result
    # numpy's integers are integers too.
    if isinstance(result, bool) or not hasattr(type(result), "__index__") or result.__index__() < 0:
        name = getattr(function, "__qualname__", repr(function))
        msg = f"token_counter {name} returned {result!r}: a count is an int from 0 up; return len(...) of the tokens"
        raise ValueError(msg)
    return int(result)


def _approximately(message: BaseMessage) -> int:
    return count_tokens_approximately([message])  # rounds up message by message, so the sum is that of the list


class _NoTexts:
    """For counters in messages instead of tokens: texts and tools take no place among them."""

    def count_text(self, text: str) -> int:
        """1 for a text that becomes a message."""
        return 1 if text else 0

    def count_tools(self, _tools: Sequence[Any]) -> int:
        """0: tools are no messages."""
        return 0


def adapt(obj: Any, texts: TextCounter) -> TokenCounter | ListCounter:  # noqa: ANN401 - whatever a user passes
    """See `tokens.as_counter`; `texts` counts the texts and tools that a function cannot count."""
    if isinstance(obj, str):
        if obj == "approximate":
            return MessageFunctionCounter(_approximately, texts)
        msg = f"Invalid token_counter shortcut '{obj}'. Available shortcuts: 'approximate'."
        raise ValueError(msg)
    if isinstance(obj, (ListCounter, TokenCounter)):
        return obj
    if hasattr(obj, "get_num_tokens_from_messages"):
        return _of_model(obj, texts)
    if obj is len:
        return MessageFunctionCounter(lambda _message: 1, _NoTexts())
    if obj is count_tokens_approximately:
        return MessageFunctionCounter(_approximately, texts)
    if callable(obj):
        return MessageFunctionCounter(obj, texts) if _takes_message(obj) else ListCounter(obj, texts)
    msg = (
        "'token_counter' expected to be a model that implements 'get_num_tokens_from_messages()' or a function. "
        f"Received object of type {type(obj)}."
    )
    raise ValueError(msg)


def _of_model(model: Any, texts: TextCounter) -> ListCounter:  # noqa: ANN401 - a model or a binding around one
    tools: Sequence[Any] = ()
    inner = model
    while hasattr(inner, "bound"):  # a RunnableBinding, e.g. of bind_tools or with_retry, perhaps around another
        kwargs = getattr(inner, "kwargs", None) or {}
        tools = tools or kwargs.get("tools") or ()
        inner = inner.bound
    method = inner.get_num_tokens_from_messages
    return ListCounter(method, texts, tools=tuple(tools), takes_tools=_counts_tools(method))


def _counts_tools(method: Callable[..., Any]) -> bool:
    if getattr(method, "__module__", None) in _IGNORE_TOOLS:
        return False
    parameters = _parameters(method)
    return any(one.name == "tools" or one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # no signature to be had, as of some builtins
        return []


def _takes_message(function: Callable[..., Any]) -> bool:
    """Whether a function counts one message: its first parameter is annotated as a message, postponed or not.

    langchain-core compares the raw annotation, which is a string under `from __future__ import annotations`, and then
    hands the whole list to the function (langchain-ai/langchain#35629).
    """
    first = next(iter(_parameters(function)), None)
    if first is None:
        return False
    annotation = first.annotation
    if isinstance(annotation, str):
        target = function if inspect.isroutine(function) else vars(type(function)).get("__call__", function)
        try:
            annotation = typing.get_type_hints(target).get(first.name, annotation)
        except (NameError, TypeError, AttributeError):  # a name that only a type checker can see, or a partial
            annotation = annotation.rpartition(".")[2].strip("'\" ")
    return annotation == "BaseMessage" or _is_message_type(annotation)


def _is_message_type(annotation: Any) -> bool:  # noqa: ANN401 - an annotation
    """Whether it is a message class, or a union of such (`AnyMessage`, `HumanMessage | AIMessage`, `... | None`)."""
    if isinstance(annotation, type):
        return issubclass(annotation, BaseMessage)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _is_message_type(typing.get_args(annotation)[0])
    if origin not in (typing.Union, types.UnionType):
        return False
    return all(_is_message_type(one) for one in typing.get_args(annotation) if one is not type(None))
