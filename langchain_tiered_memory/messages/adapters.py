"""Makes a counter of whatever a user passes as `token_counter`."""

from __future__ import annotations

import functools
import inspect
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered_memory.types import TokenCounter

__all__ = ["ListCounter", "MessageFunctionCounter", "adapt"]

# Implementations of get_num_tokens_from_messages that take `tools`, warn, and do not count them.
_IGNORE_TOOLS: Final = frozenset(("langchain_core.language_models.base", "langchain_openai.chat_models.base"))


@dataclass(frozen=True, slots=True)
class _FunctionCounter:
    """What both adapters share: a function counts messages, another counter estimates what it cannot count."""

    function: Callable[..., int]
    texts: TokenCounter | None
    """Estimates texts and tools; `None` where messages are counted and not tokens."""

    @property
    def request_overhead(self) -> int:
        """0: a function knows messages only, and what a model's own adds is inside every count."""
        return 0

    def count_text(self, text: str) -> int:
        """Estimated tokens of a bare text, or 1 for a text that becomes a message."""
        return self.texts.count_text(text) if self.texts else int(bool(text))

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Estimated tokens of tool schemas, or 0: tools are no messages."""
        return self.texts.count_tools(tools) if self.texts else 0

    def _checked(self, count: Any) -> int:  # noqa: ANN401 - whatever a user's function returned
        # numpy's integers are integers too.
        if isinstance(count, bool) or not hasattr(type(count), "__index__") or count.__index__() < 0:
            name = getattr(self.function, "__qualname__", repr(self.function))
            msg = f"token_counter {name} returned {count!r}: a count is an int from 0 up; return len(...) of the tokens"
            raise ValueError(msg)
        return int(count)


@dataclass(frozen=True, slots=True)
class ListCounter(_FunctionCounter):
    """A counter that must see a whole list, such as a model's own or a provider's count-tokens API.

    Nothing is known about how its parts add up, so every answer is a call: hand it lists that a provider would accept,
    in order and with whole units (langchain-ai/langchain#29637).

    Attributes:
        function: Counts a list of messages; also takes `tools=` if `takes_tools`.
        texts: Estimates bare texts, and tools where the function does not count them.
        tools: The tools that are bound to the model, counted with every list.
        takes_tools: Whether `function` counts tools itself.
    """

    tools: tuple[Any, ...] = ()
    takes_tools: bool = False

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
            return self._checked(self.function(messages, tools=sent))
        return self._checked(self.function(messages)) + self.count_tools(sent)


@dataclass(frozen=True, slots=True)
class MessageFunctionCounter(_FunctionCounter):
    """A `TokenCounter` of a function that counts one message; nothing is cached, since it may depend on anything."""

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Sum of the function over the messages."""
        return sum(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        """What the function says of one message; `ValueError` if it is anything but an int from 0 up."""
        return self._checked(self.function(message))


def adapt(obj: Any, texts: TokenCounter) -> TokenCounter | ListCounter:  # noqa: ANN401 - whatever a user passes
    """See `tokens.as_counter`; `texts` counts the texts and tools that a function cannot count."""
    if isinstance(obj, (ListCounter, TokenCounter)):
        return obj
    if obj is count_tokens_approximately or (isinstance(obj, str) and obj == "approximate"):
        # It rounds up message by message, so the sum is that of the list.
        return MessageFunctionCounter(lambda message: count_tokens_approximately([message]), texts)
    if hasattr(obj, "get_num_tokens_from_messages"):
        return _of_model(obj, texts)
    if obj is len:
        return MessageFunctionCounter(lambda _message: 1, None)
    if callable(obj):
        return MessageFunctionCounter(obj, texts) if _takes_message(obj) else ListCounter(obj, texts)
    msg = (
        "'token_counter' expected to be a model that implements 'get_num_tokens_from_messages()' or a function. "
        f"Received object of type {type(obj)}."
    )
    if isinstance(obj, str):
        msg = f"Invalid token_counter shortcut '{obj}'. Available shortcuts: 'approximate'."
    raise ValueError(msg)


def _of_model(model: Any, texts: TokenCounter) -> ListCounter:  # noqa: ANN401 - a model or a binding around one
    tools: Sequence[Any] = ()
    while hasattr(model, "bound"):  # a RunnableBinding, e.g. of bind_tools or with_retry, perhaps around another
        tools = tools or (getattr(model, "kwargs", None) or {}).get("tools") or ()
        model = model.bound
    method = model.get_num_tokens_from_messages
    counts_tools = method.__module__ not in _IGNORE_TOOLS and any(
        one.name == "tools" or one.kind is inspect.Parameter.VAR_KEYWORD for one in _parameters(method)
    )
    return ListCounter(method, texts, tools=tuple(tools), takes_tools=counts_tools)


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # no signature to be had, as of some builtins
        return []


def _takes_message(function: Callable[..., Any]) -> bool:
    """Whether the first parameter is annotated as a message class or a union of such, postponed or not.

    langchain-core compares the raw annotation, which is a string under `from __future__ import annotations`, and then
    hands the whole list to the function (langchain-ai/langchain#35629).
    """
    first = next(iter(_parameters(function)), None)
    if first is None:
        return False
    inner = function.func if isinstance(function, functools.partial) else function
    target = inner if inspect.isroutine(inner) else vars(type(inner)).get("__call__", inner)
    try:
        annotation = typing.get_type_hints(target).get(first.name)
    except (NameError, TypeError, AttributeError):  # a name that only a type checker can see
        annotation = first.annotation
    if isinstance(annotation, str):
        return annotation.rpartition(".")[2].strip("'\" ") == "BaseMessage"
    is_union = typing.get_origin(annotation) in (typing.Union, types.UnionType)
    kinds = [one for one in (typing.get_args(annotation) if is_union else (annotation,)) if one is not type(None)]
    return bool(kinds) and all(isinstance(one, type) and issubclass(one, BaseMessage) for one in kinds)
