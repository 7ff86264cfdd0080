"""Has a summary written: in parts that fit the summarizer's window, and checked before it may replace anything.

Written as generators, see `algorithm`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import RunnableConfig

from langchain_tiered_memory.errors import SummarizationError
from langchain_tiered_memory.working.compacting.checks import check_text, shortened
from langchain_tiered_memory.working.compacting.meter import Meter
from langchain_tiered_memory.working.compacting.splitting import split_parts
from langchain_tiered_memory.working.summarizers import Answer, Request, Summarizer

__all__ = ["Ask", "Writer"]

_LEAST_ROOM: Final = 64
"""Tokens of messages that a part has at least, so that a window that is told too small still gets somewhere."""
_SHORTER: Final = 0.5
"""The share of its input that a model is asked for at most."""
_ASKED_AGAIN: Final = 0.75
"""The share of a limit that is asked for when a summary was over it."""


@dataclass(frozen=True, slots=True)
class Ask:
    """Asks the driver of an algorithm for a summary."""

    summarizer: Summarizer
    request: Request
    config: RunnableConfig

    def run(self) -> Answer:
        """Have it written."""
        return self.summarizer.run(self.request, self.config)

    async def arun(self) -> Answer:
        """Have it written, awaited."""
        return await self.summarizer.arun(self.request, self.config)


@dataclass(slots=True)
class Writer:
    """Writes one summary after another with one summarizer, and keeps count.

    Attributes:
        summarizer: Writes.
        window: The input tokens that the summarizer can read; `None` where nobody knows.
        meter: Counts.
        config: The configuration of the summarizer's runs.
        calls: Calls so far.
        read: Tokens that the summarizer was given.
        written: Tokens that it wrote.
    """

    summarizer: Summarizer
    window: int | None
    meter: Meter
    config: RunnableConfig
    calls: int = 0
    read: int = 0
    written: int = 0

    def write(self, request: Request) -> Generator[Ask, Any, str]:
        """Write a summary of any size of input.

        Raises:
            SummarizationError: The summarizer failed, or wrote something that may not be used.
        """
        overhead = self.summarizer.overhead(self.meter.text)
        running = request.previous
        parts: Sequence[Sequence[BaseMessage]] = [request.messages]
        if self.window is not None:
            # What was written so far goes in with each part, and what is to be written needs room too.
            taken = overhead + max(self.meter.line(running), request.max_tokens) + request.max_tokens
            room = max(self.window - taken, _LEAST_ROOM)
            parts = list(split_parts(request.messages, room, self.meter.message))
        for part in parts:
            running = yield from self._one(replace(request, previous=running, messages=tuple(part)), overhead)
        return running

    def _one(self, request: Request, overhead: int) -> Generator[Ask, Any, str]:
        given = self.meter.line(request.previous) + self.meter.messages(request.messages)
        # Of a few words a summary at the usual length would be longer than they are, and could not be used.
        limit = min(request.max_tokens, max(1, int(_SHORTER * given)))
        asked = replace(request, max_tokens=limit) if self.summarizer.knows_limit else request
        text = yield from self._asked(asked, given + overhead)
        tokens = self.meter.line(text)
        if tokens > given:
            msg = f"the summary takes {tokens} tokens, more than the {given} that it was to replace"
            raise SummarizationError(msg)
        if tokens > request.max_tokens and self.summarizer.knows_limit:
            text = yield from self._shorter(text, tokens, request, overhead)
        if self.meter.line(text) <= request.max_tokens:
            return text
        return shortened(text, request.max_tokens, self.meter.text)

    def _shorter(self, text: str, tokens: int, request: Request, overhead: int) -> Generator[Ask, Any, str]:
        """What the summarizer makes of a summary that is too long; the summary itself if that is no better."""
        limit = max(1, int(_ASKED_AGAIN * request.max_tokens))
        again = replace(request, previous=text, messages=(), max_tokens=limit)
        try:
            shorter = yield from self._asked(again, tokens + overhead)
        except SummarizationError:
            return text
        return shorter if self.meter.line(shorter) < tokens else text

    def _asked(self, request: Request, given: int) -> Generator[Ask, Any, str]:
        answer: Answer = yield Ask(self.summarizer, request, self.config)
        self.calls += self.summarizer.calls_out
        read, written = answer.tokens or (given, self.meter.line(str(answer.text)))
        self.read += read
        self.written += written
        return check_text(answer.text, answer.metadata)
