"""Token counters: exact by tiktoken, estimated without a vocabulary, or a model's own; and what users may pass as one.

Every counter here charges message by message (`TokenCounter`), so that a message is counted once in its life. Only a
`ListCounter` wraps something that must see a whole list.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._adapters import ListCounter, MessageFunctionCounter, adapt
from langchain_tiered_memory.messages._cache import CacheInfo
from langchain_tiered_memory.messages._calibration import CalibratedCounter, fitted, observed
from langchain_tiered_memory.messages._counting import CachingCounter
from langchain_tiered_memory.messages._media import MediaPrices, prices_for_model
from langchain_tiered_memory.messages._pieces import STRAIGHT, count_pieces
from langchain_tiered_memory.messages._scripts import estimate_tokens
from langchain_tiered_memory.messages._tools import ToolFormat
from langchain_tiered_memory.messages._vocabulary import VocabularyMissingWarning, encoding_name, load_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

    from langchain_tiered_memory.types import TokenCounter

__all__ = [
    "CacheInfo",
    "CalibratedCounter",
    "EstimatingCounter",
    "ListCounter",
    "MediaPrices",
    "MessageFunctionCounter",
    "TiktokenCounter",
    "VocabularyMissingWarning",
    "as_counter",
    "count_tokens",
    "default_counter",
]

_MAX_ENTRIES: Final = 100_000
_MAX_CHARACTERS: Final = 32_000_000
_OLDEST_CHAT_MODEL: Final = "gpt-3.5-turbo-0301"


class _Counter(CachingCounter):
    """What both counters share: calibration, and a pickle that leaves cache and lock behind."""

    def calibrate(
        self,
        messages: Sequence[BaseMessage] = (),
        *,
        observations: Iterable[tuple[int, int]] = (),
        tools: Sequence[Any] | None = None,
    ) -> CalibratedCounter:
        """A counter that agrees with the usage a provider reported; this one stays as it is.

        See `CalibratedCounter` for the model and its bounds.

        Args:
            messages: A conversation as it was sent, whose assistant messages carry `usage_metadata`.
            observations: Further pairs of (tokens counted for a request, input tokens reported for it).
            tools: The tools that went with the requests of `messages`.

        Returns:
            The calibrated counter; it shares this one's cache.
        """
        pairs = [*observations, *observed(self, messages, tools)]
        overhead, scale = fitted(pairs)
        return CalibratedCounter(self, overhead=overhead, scale=scale)


class TiktokenCounter(_Counter):
    """Counts exactly what OpenAI's chat format charges.

    Texts by tiktoken's vocabulary; messages, names, calls and tool schemas by the formulas of OpenAI's cookbook; media
    by kind, size and detail. Every message content is encoded once and remembered. The vocabulary is loaded at the
    first count; where it cannot be had, one `VocabularyMissingWarning` says so and tokens are estimated.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import TiktokenCounter

    counter = TiktokenCounter("gpt-4o")
    counter([HumanMessage("How far is the moon?")])  # 3 per request, 3 per message, its role and its text
    ```

    Args:
        model_or_encoding: `"gpt-4o"`, `"openai:gpt-4o-mini"`, `"ft:gpt-4o:org::id"`, or an encoding (`"o200k_base"`).
        media: What media cost, if not what OpenAI publishes for that model.
        max_entries: Most message contents whose counts are held.
        max_characters: Most characters of contents that are held.

    Raises:
        ValueError: If no encoding is known for the name.
    """

    def __init__(
        self,
        model_or_encoding: str = "o200k_base",
        *,
        media: MediaPrices | None = None,
        max_entries: int = _MAX_ENTRIES,
        max_characters: int = _MAX_CHARACTERS,
    ) -> None:
        self.encoding_name, self.model = encoding_name(model_or_encoding)
        super().__init__(
            media=media or prices_for_model(self.model), max_entries=max_entries, max_characters=max_characters
        )
        self._encoding: Encoding | None = None
        # That model's format spelt the frame of a message out, and gave a name in place of the role.
        if self.model == _OLDEST_CHAT_MODEL:
            self._per_message, self._per_name = 4, -1

    def __repr__(self) -> str:
        return f"TiktokenCounter({self.model!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        limits = self._by_content.max_entries, self._by_content.max_weight
        return _new_tiktoken_counter, (self.model, self._media, *limits)

    @property
    def _tool_format(self) -> ToolFormat:
        return ToolFormat() if self.encoding_name.startswith("o200k") else ToolFormat(function=10)

    def count_text(self, text: str) -> int:
        """Tokens of a bare text; special tokens in it are counted as the text they are."""
        encoding = self._encoding
        if encoding is None:
            encoding = self._encoding = load_encoding(self.encoding_name)
            if encoding is None:
                return estimate_tokens(text)
        if len(text) <= STRAIGHT:
            return len(encoding.encode_ordinary(text))
        return count_pieces(encoding, text)


class EstimatingCounter(_Counter):
    """Estimates tokens from scripts and kinds of text, without a vocabulary, a download or a dependency.

    Four characters per token hold for English prose only; Chinese, JSON, identifiers or emoji take two to six times as
    many. This counter goes by what each stretch of text is, and errs on the side of too many.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import EstimatingCounter

    EstimatingCounter().count_message(HumanMessage("月球离地球有多远?"))
    ```

    Args:
        media: What media cost; OpenAI's prices for GPT-4o if not given.
        max_entries: Most message contents whose counts are held.
        max_characters: Most characters of contents that are held.
    """

    def __init__(
        self,
        *,
        media: MediaPrices | None = None,
        max_entries: int = _MAX_ENTRIES,
        max_characters: int = _MAX_CHARACTERS,
    ) -> None:
        super().__init__(media=media, max_entries=max_entries, max_characters=max_characters)

    def __repr__(self) -> str:
        return "EstimatingCounter()"

    def __reduce__(self) -> tuple[Any, ...]:
        return _new_estimating_counter, (self._media, self._by_content.max_entries, self._by_content.max_weight)

    def count_text(self, text: str) -> int:
        """Estimated tokens of a bare text."""
        return estimate_tokens(text)


def _new_tiktoken_counter(model: str, media: MediaPrices, entries: int, characters: int) -> TiktokenCounter:
    return TiktokenCounter(model, media=media, max_entries=entries, max_characters=characters)


def _new_estimating_counter(media: MediaPrices, entries: int, characters: int) -> EstimatingCounter:
    return EstimatingCounter(media=media, max_entries=entries, max_characters=characters)


# --- what users pass ------------------------------------------------------------------------------------------------


@functools.cache
def default_counter() -> TiktokenCounter:
    """The counter that is used where none was given: o200k_base, one for the process, so that its cache is shared."""
    return TiktokenCounter("o200k_base")


def as_counter(obj: Any = None) -> TokenCounter | ListCounter:  # noqa: ANN401 - anything a user may pass
    """Turn what langchain-core's `trim_messages` takes as `token_counter` into a counter.

    Args:
        obj: A `TokenCounter`, `None` for the default one, `"approximate"`, `len`, a function of one message (its first
            parameter annotated `BaseMessage`) or of a list, a chat model, or one with bound tools.

    Returns:
        A `TokenCounter` wherever the whole is the sum of its messages, else a `ListCounter`.

    Raises:
        ValueError: If `obj` is none of these, in langchain-core's words.
    """
    return default_counter() if obj is None else adapt(obj, EstimatingCounter())


def count_tokens(
    messages: Sequence[BaseMessage],
    counter: Any = None,  # noqa: ANN401 - anything as_counter takes
    *,
    tools: Sequence[Any] | None = None,
) -> int:
    """Tokens of a request with these messages and tools.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.messages.tokens import count_tokens

    count_tokens([HumanMessage("How far is the moon?")])
    ```

    Args:
        messages: What is sent.
        counter: Anything that `as_counter` takes.
        tools: The tools bound to the model, which are charged with every request.
    """
    resolved = as_counter(counter)
    if isinstance(resolved, ListCounter):
        return resolved.count(list(messages), tools=tools)
    return resolved(messages) + resolved.count_tools(tools or ())
