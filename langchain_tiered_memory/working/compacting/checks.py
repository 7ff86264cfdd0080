"""What a summary must not be, if it is to take the place of what it was made from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from langchain_tiered_memory.errors import SummarizationError

__all__ = ["check_text", "is_looping", "shortened", "was_cut_off"]

_CUT_OFF: Final = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"}
)
_REASONS: Final = ("finish_reason", "stop_reason", "done_reason", "finishReason")
_WORDS: Final = re.compile(r"[㐀-鿿぀-ヿ가-힯]|\w+", re.UNICODE)
_GRAM: Final = 4
_FEW: Final = 40
"""Words below which a text is too short to tell a loop from a list."""
_DISTINCT: Final = 0.4
"""Share of distinct runs of four words below which a text repeats itself; prose and lists of facts are over 0.8."""
_END: Final = re.compile(r"[.!?。！？…][\"'”’」』)）\]]*(?=\s|$|[㐀-鿿])|\n")


def check_text(text: object, metadata: Mapping[str, Any] | None = None) -> str:
    """The summary without white space around it.

    Args:
        text: What the summarizer gave.
        metadata: What a model said about its answer (`response_metadata`).

    Raises:
        SummarizationError: It is no text, empty, cut off, or repeats itself.
    """
    if not isinstance(text, str):
        msg = f"the summarizer gave {type(text).__name__}, not text"
        raise SummarizationError(msg)
    if was_cut_off(metadata or {}):
        msg = "the summary was cut off at the model's output limit: raise the limit, or ask for shorter summaries"
        raise SummarizationError(msg)
    stripped = text.strip()
    if not stripped:
        msg = "the summarizer gave an empty text"
        raise SummarizationError(msg)
    if is_looping(stripped):
        msg = f"the summary repeats itself: {stripped[-80:]!r}"
        raise SummarizationError(msg)
    return stripped


def was_cut_off(metadata: Mapping[str, Any]) -> bool:
    """Whether a model says of its answer that the output limit ended it."""
    reasons = [metadata.get(key) for key in _REASONS]
    details = metadata.get("incomplete_details")
    if isinstance(details, Mapping):
        reasons.append(details.get("reason"))
    return any(str(reason).lower().rpartition(".")[2] in _CUT_OFF for reason in reasons if reason)


def is_looping(text: str) -> bool:
    """Whether a text says the same again and again, as a small model at its end does.

    The end counts by itself too, since a good beginning may run into a loop.
    """
    words = _WORDS.findall(text.casefold())
    return _repeats(words) or (len(words) > 2 * _FEW and _repeats(words[len(words) // 2 :]))


def _repeats(words: list[str]) -> bool:
    if len(words) < _FEW:
        return False
    grams = [tuple(words[start : start + _GRAM]) for start in range(len(words) - _GRAM + 1)]
    return len(set(grams)) < _DISTINCT * len(grams)


def shortened(text: str, cap: int, count: Callable[[str], int]) -> str:
    """The beginning of a text that fits a cap, to the end of a sentence where one ends in its second half."""
    if count(text) <= cap:
        return text
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
