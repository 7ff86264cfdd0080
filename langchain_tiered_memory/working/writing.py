"""Has a summary written: in parts that fit the summarizer's window, and checked before it may replace anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage
from langchain_core.runnables.config import RunnableConfig

from langchain_tiered_memory.errors import SummarizationError
from langchain_tiered_memory.messages.text import to_text
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.plan import split_parts
from langchain_tiered_memory.working.summarizers import Answer, Request, Summarizer

__all__ = ["Ask", "Writer"]

Ask: TypeAlias = Callable[[Summarizer, Request, RunnableConfig], Awaitable[Answer]]
"""Runs a summarizer, blocking or awaited."""

_LEAST_ROOM: Final = 64
"""Tokens of messages that a part has at least, so that a window that is told too small still gets somewhere."""
_SHORTER: Final = 0.5
"""The share of its input that a model is asked for at most."""
_ASKED_AGAIN: Final = 0.75
"""The share of a limit that is asked for when a summary was over it."""
_CUT_OFF: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_REASONS: Final = ("finish_reason", "stop_reason", "done_reason", "finishReason")
_WORDS: Final = re.compile(r"[㐀-鿿぀-ヿ가-힯]|\w+", re.UNICODE)
_GRAM: Final = 4
_FEW: Final = 40
"""Words below which a text is too short to tell a loop from a list."""
_REPEATED: Final = 0.6
"""Share of runs of four words that are said again, from which on a text loops; prose and lists stay under 0.2."""
_END: Final = re.compile(r"[.!?。！？…][\"'”’」』)）\]]*(?=\s|$|[㐀-鿿])|\n")


@dataclass(slots=True)
class Writer:
    """Writes one summary after another with one summarizer, and keeps count.

    Attributes:
        summarizer: Writes.
        ask: Runs it.
        window: The input tokens that the summarizer can read; `None` where nobody knows.
        counter: Counts.
        config: The configuration of the summarizer's runs.
        calls: Calls so far; the extractive summarizer makes none.
        read: Tokens that the summarizer was given.
        written: Tokens that it wrote.
    """

    summarizer: Summarizer
    ask: Ask
    window: int | None
    counter: BudgetCounter
    config: RunnableConfig
    calls: int = 0
    read: int = 0
    written: int = 0

    async def write(self, request: Request) -> str:
        """Write a summary of any size of input.

        Raises:
            SummarizationError: The summarizer failed, or wrote something that may not be used.
        """
        overhead = self.summarizer.overhead(self.counter.text)
        running = request.previous
        parts: Sequence[Sequence[BaseMessage]] = [request.messages]
        if self.window is not None:
            # What was written so far goes in with each part, and what is to be written needs room too.
            taken = overhead + max(self.counter.line(running), request.max_tokens) + request.max_tokens
            room = max(self.window - taken, _LEAST_ROOM)
            parts = list(split_parts(request.messages, room, self.counter.message))
        for part in parts:
            running = await self._one(replace(request, previous=running, messages=tuple(part)), overhead)
        return running

    async def _one(self, request: Request, overhead: int) -> str:
        given = self.counter.line(request.previous) + self.counter.messages(request.messages)
        # Of a few words a summary at the usual length would be longer than they are, and could not be used.
        limit = min(request.max_tokens, max(1, int(_SHORTER * given)))
        asked = replace(request, max_tokens=limit) if self.summarizer.knows_limit else request
        text = await self._asked(asked, given + overhead)
        tokens = self.counter.line(text)
        if tokens > given:
            msg = f"the summary takes {tokens} tokens, more than the {given} that it was to replace"
            raise SummarizationError(msg)
        if tokens > request.max_tokens and self.summarizer.knows_limit:
            text = await self._shorter(text, tokens, request, overhead)
        if self.counter.line(text) <= request.max_tokens:
            return text
        return _shortened(text, request.max_tokens, self.counter.text)

    async def _shorter(self, text: str, tokens: int, request: Request, overhead: int) -> str:
        """What the summarizer makes of a summary that is too long; the summary itself if that is no better."""
        limit = max(1, int(_ASKED_AGAIN * request.max_tokens))
        again = replace(request, previous=text, messages=(), max_tokens=limit)
        try:
            shorter = await self._asked(again, tokens + overhead)
        except SummarizationError:
            return text
        return shorter if self.counter.line(shorter) < tokens else text

    async def _asked(self, request: Request, given: int) -> str:
        answer = await self.ask(self.summarizer, request, self.config)
        self.calls += self.summarizer.calls_out
        read, written = answer.tokens or (given, self.counter.line(str(answer.text)))
        self.read += read
        self.written += written
        return _checked(answer, request)


def _checked(answer: Answer, request: Request) -> str:
    """The summary without white space around it.

    Raises:
        SummarizationError: It is no text, empty, cut off, or says again and again what the conversation does not.
    """
    text = answer.text
    if not isinstance(text, str):
        msg = f"the summarizer gave {type(text).__name__}, not text"
        raise SummarizationError(msg)
    if _was_cut_off(answer.metadata):
        msg = "the summary was cut off at the model's output limit: raise the limit, or ask for shorter summaries"
        raise SummarizationError(msg)
    stripped = text.strip()
    if not stripped:
        msg = "the summarizer gave an empty text"
        raise SummarizationError(msg)
    if _is_looping(stripped, request):
        msg = f"the summary repeats itself: {stripped[-80:]!r}"
        raise SummarizationError(msg)
    return stripped


def _was_cut_off(metadata: Mapping[str, Any]) -> bool:
    """Whether a model says of its answer that the output limit ended it."""
    reasons = [metadata.get(key) for key in _REASONS]
    details = metadata.get("incomplete_details")
    if isinstance(details, Mapping):
        reasons.append(details.get("reason"))
    return any(str(reason).lower().rpartition(".")[2] in _CUT_OFF for reason in reasons if reason)


def _is_looping(text: str, request: Request) -> bool:
    """Whether a text says the same again and again, as a small model at its end does.

    The end counts by itself too, since a good beginning may run into a loop. What the conversation itself repeats
    (templates, tables, logs, code) may be repeated as often.
    """
    words = _WORDS.findall(text.casefold())
    parts = [words, words[len(words) // 2 :]] if len(words) > 2 * _FEW else [words]
    if not any(_repeats(part, Counter()) for part in parts):
        return False
    said = _WORDS.findall(f"{request.previous}\n{to_text(request.messages)}".casefold())
    return any(_repeats(part, _grams(said)) for part in parts)


def _grams(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + _GRAM]) for start in range(len(words) - _GRAM + 1))


def _repeats(words: Sequence[str], said: Counter[tuple[str, ...]]) -> bool:
    if len(words) < _FEW:
        return False
    grams = _grams(words)
    again = sum(max(0, count - max(1, said[gram])) for gram, count in grams.items())
    return again > _REPEATED * grams.total()


def _shortened(text: str, cap: int, count: Callable[[str], int]) -> str:
    """The beginning of a text that fits a cap, to the end of a sentence where one ends in its second half."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count(text[:middle].rstrip() + " …") <= cap:
            low = middle
        else:
            high = middle - 1
    cut = text[:low]
    ends = [match.end() for match in _END.finditer(cut) if match.end() > low // 2]
    if ends:
        return cut[: ends[-1]].rstrip()
    in_a_word = not text[low : low + 1].isspace() and not cut[-1:].isspace()
    if in_a_word and len(cut.split()) > 1:
        cut = cut.rsplit(None, 1)[0]
    return cut.rstrip() + " …"
