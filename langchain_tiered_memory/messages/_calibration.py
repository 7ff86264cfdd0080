"""Corrects a counter by the usage that a provider reported."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import combinations
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages._cache import CacheInfo
from langchain_tiered_memory.messages._counting import CachingCounter

__all__ = ["CalibratedCounter", "fitted", "observed"]

_LEAST_SCALE: Final = 0.5
_MOST_SCALE: Final = 2.0
_MOST_OBSERVATIONS: Final = 64


class CalibratedCounter:
    """A counter corrected by what a provider charged: `fixed overhead + scale x content`.

    A pure ratio explodes as soon as a request held something that was not in the list (langchain-ai/langchain#35002: a
    hidden prompt made every later count 200 times too large). Here one observation teaches only the overhead. From two
    that differ enough in size the scale is the median slope of all pairs (Theil and Sen's estimator, which a third of
    wild observations cannot move), bounded between 0.5 and 2; the overhead is the median of what is left.

    ```python
    from langchain_tiered_memory.messages.tokens import EstimatingCounter

    counter = EstimatingCounter().calibrate(observations=[(50, 10_000), (1_050, 11_100)])
    counter.request_overhead, counter.scale
    ```

    Attributes:
        counter: The counter that is corrected.
        overhead: Tokens that each request costs beyond what `counter` counts.
        scale: What each token counted really costs.
    """

    def __init__(self, counter: CachingCounter, *, overhead: int = 0, scale: float = 1.0) -> None:
        self.counter = counter
        self.overhead = overhead
        self.scale = scale

    def __repr__(self) -> str:
        return f"CalibratedCounter({self.counter!r}, overhead={self.overhead}, scale={self.scale:.4g})"

    @property
    def request_overhead(self) -> int:
        """Tokens of a request apart from its messages and tools: the counter's own and what was learnt."""
        return self._scaled(self.counter.request_overhead) + self.overhead

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a request with these messages."""
        return self.request_overhead + sum(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        """Tokens of one message."""
        return self._scaled(self.counter.count_message(message))

    def count_messages(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Tokens of each message, without the request's overhead."""
        return list(map(self.count_message, messages))

    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""
        return self._scaled(self.counter.count_text(text))

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of tool schemas."""
        return self._scaled(self.counter.count_tools(tools))

    def cache_info(self) -> CacheInfo:
        """The cache of the counter that is corrected."""
        return self.counter.cache_info()

    def _scaled(self, tokens: int) -> int:
        return tokens if self.scale == 1.0 else math.ceil(tokens * self.scale)


def observed(
    counter: CachingCounter, messages: Sequence[BaseMessage], tools: Sequence[Any] | None
) -> list[tuple[int, int]]:
    """Pairs of counted and reported tokens, of the provider that answered last."""
    pairs: list[tuple[Any, int, int]] = []
    counted = counter.request_overhead + counter.count_tools(tools or ())
    for message in messages:
        if isinstance(message, AIMessage) and message.usage_metadata:
            reported = message.usage_metadata.get("input_tokens")
            if isinstance(reported, int) and reported > 0:
                pairs.append((message.response_metadata.get("model_provider"), counted, reported))
        counted += counter.count_message(message)
    return [(mine, theirs) for provider, mine, theirs in pairs if provider == pairs[-1][0]]


def fitted(pairs: Sequence[tuple[int, int]]) -> tuple[int, float]:
    """Overhead and scale that explain pairs of (counted, reported)."""
    recent = list(pairs)[-_MOST_OBSERVATIONS:]
    if not recent:
        return 0, 1.0
    most = max(counted for counted, _ in recent)
    slopes = [
        (reported_b - reported_a) / (counted_b - counted_a)
        for (counted_a, reported_a), (counted_b, reported_b) in combinations(recent, 2)
        if abs(counted_b - counted_a) * 10 >= most  # closer pairs say more about noise than about scale
    ]
    scale = min(_MOST_SCALE, max(_LEAST_SCALE, statistics.median(slopes))) if slopes else 1.0
    overhead = statistics.median(reported - scale * counted for counted, reported in recent)
    return max(0, math.ceil(overhead)), scale
