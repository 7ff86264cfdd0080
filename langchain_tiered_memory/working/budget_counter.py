"""What messages and texts take of a budget, whatever counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, HumanMessage

from langchain_tiered_memory.messages.text import to_text
from langchain_tiered_memory.messages.tokens import ListCounter, MessageFunctionCounter, as_counter

__all__ = ["BudgetCounter"]

_LINES: Final = 1_024
"""Lines whose counts are held; most lines of a block of constraints stand in the next one too."""
_REMEMBERED: Final = 10_000
"""Messages whose counts by a user's own function are held; a `TokenCounter` has a cache of its own."""


class BudgetCounter:
    """Counts tokens, with the tools that go with each request.

    Args:
        token_counter: Anything that `as_counter` takes. One that must see whole lists is asked for whole lists where
            a view is measured; what one message adds to a list is then an estimate, made behind a user message so
            that no provider refuses to count it.
        tools: The tools that go with every request.
    """

    def __init__(self, token_counter: Any, tools: Sequence[Any] | None) -> None:  # noqa: ANN401  # what a user passes
        self.counter = as_counter(token_counter)
        self._tools = list(tools or ())
        self._fixed: int | None = None
        self._known: dict[int, tuple[int, BaseMessage]] = {}
        self._lines: dict[str, int] = {}

    @property
    def additive(self) -> bool:
        """Whether a request takes what its parts take."""
        return not isinstance(self.counter, ListCounter)

    @property
    def fixed(self) -> int:
        """What a request takes before its first message."""
        if self._fixed is None:
            self._fixed = self.counter.request_overhead + self.counter.count_tools(self._tools)
        return self._fixed

    @property
    def tools(self) -> int:
        """What the tools take."""
        return self.fixed - self.counter.request_overhead

    def view(self, messages: Sequence[BaseMessage]) -> int:
        """What a request with these messages takes."""
        if isinstance(self.counter, ListCounter):
            return self.counter.count(list(messages), tools=self._tools or None)
        return self.fixed + sum(map(self.message, messages))

    def message(self, message: BaseMessage) -> int:
        """What one message takes, or about adds to a request where only whole requests can be counted."""
        if not isinstance(self.counter, ListCounter | MessageFunctionCounter):
            return self.counter.count_message(message)
        known = self._known.get(id(message))
        if known is None or known[1] is not message:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            known = self._known[id(message)] = (
                self._by_function(message),
                message,
            )  # held, so that its id stays its own
        return known[0]

    def messages(self, messages: Sequence[BaseMessage]) -> int:
        """What messages take together, without what a request takes anyway."""
        return sum(map(self.message, messages))

    def text(self, text: str) -> int:
        """What a bare text takes."""
        if isinstance(self.counter, ListCounter | MessageFunctionCounter):
            return self._by_function(HumanMessage(text)) - self._by_function(HumanMessage(""))
        return self.counter.count_text(text)

    def line(self, text: str) -> int:
        """`text`, remembered."""
        known = self._lines.get(text)
        if known is None:
            if len(self._lines) >= _LINES:
                self._lines.clear()
            known = self._lines[text] = self.text(text)
        return known

    def _by_function(self, message: BaseMessage) -> int:
        if isinstance(self.counter, ListCounter):
            # As a user's words, since a provider refuses to count a result without its call.
            return self.counter.count([HumanMessage(to_text([message]))], tools=())
        return self.counter.count_message(message)
