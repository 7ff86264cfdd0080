"""The small types that more than one tier speaks of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = ["Clock", "ContextSize", "TokenCounter"]

Clock: TypeAlias = Callable[[], datetime]
"""Gives the present time as an aware datetime in UTC; injected wherever time matters, so that tests can turn it."""

ContextSize: TypeAlias = (
    tuple[Literal["tokens"], int]
    | tuple[Literal["messages"], int]
    | tuple[Literal["rounds"], int]
    | tuple[Literal["fraction"], float]
)
"""LangChain's way to name a size: `("tokens", 3000)`, `("messages", 20)`, `("rounds", 3)`, `("fraction", 0.8)`."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts what a request costs, message by message.

    The whole is the sum of its parts, `request_overhead + sum(count_message(m))`, so that a message is counted once
    in its life and a window can be found by one backward scan.
    """

    @property
    def request_overhead(self) -> int:
        """Tokens that a request costs apart from its messages and tools."""

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a whole request with these messages."""

    def count_message(self, message: BaseMessage) -> int:
        """Tokens of one message, its share of the chat format included."""

    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of the tool schemas that go with a request; 0 for none."""
