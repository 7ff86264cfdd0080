"""How a request is laid out: its parts in their order, what seldom changes first."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.context.rendering import Fitted
from langchain_tiered_memory.messages.protocol import is_summary, is_user_turn

__all__ = ["Layout", "newest_turn"]


@dataclass(frozen=True, slots=True)
class Layout:
    """A request as it is laid out, from what seldom changes to what is new.

    Attributes:
        head: The system messages.
        leading: How many of the conversation's own are in them.
        facts: What is known.
        view: The summary and the rounds, the newest last.
        episodes: What was recalled; stands before the newest user turn.
    """

    head: Sequence[BaseMessage]
    leading: int
    facts: Fitted
    view: Sequence[BaseMessage]
    episodes: Fitted

    @property
    def summaries(self) -> Sequence[BaseMessage]:
        """The summary, in whatever role."""
        return [message for message in self.view[: self._start] if is_summary(message)]

    @property
    def rounds(self) -> Sequence[BaseMessage]:
        """What was said before the newest user turn."""
        return [message for message in self.view[: self._start] if not is_summary(message)]

    @property
    def turn(self) -> Sequence[BaseMessage]:
        """The newest user turn and what followed it."""
        return self.view[self._start :]

    @property
    def _start(self) -> int:
        return len(self.view) - len(newest_turn(self.view))

    @property
    def messages(self) -> list[BaseMessage]:
        """The request."""
        start = self._start
        known = [self.facts.message] if self.facts.message is not None else []
        quoted = [self.episodes.message] if self.episodes.message is not None else []
        return [*self.head, *known, *self.view[:start], *quoted, *self.view[start:]]

    def fingerprint(self) -> str:
        """A digest of what stands before the rounds."""
        hashed = hashlib.sha256()
        for message in (*self.head, self.facts.message, *self.summaries):
            if message is not None:
                hashed.update(repr(message.content).encode("utf-8", "surrogatepass") + b"\0")
        return hashed.hexdigest()[:16]


def newest_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The newest user turn and what follows it."""
    start = next((place for place in range(len(messages) - 1, -1, -1) if is_user_turn(messages[place])), len(messages))
    return messages[start:]
