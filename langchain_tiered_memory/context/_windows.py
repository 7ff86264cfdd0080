"""The windows of models that are known by name, for where a model's profile says nothing."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

__all__ = ["KNOWN_WINDOWS", "window_of_name"]

KNOWN_WINDOWS: Final = MappingProxyType(
    {
        "gpt-3.5-turbo": 16_385,
        "gpt-4": 8_192,
        "gpt-4-32k": 32_768,
        "gpt-4-turbo": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-4o": 128_000,
        "gpt-5": 272_000,
        "o1": 200_000,
        "o3": 200_000,
        "o4-mini": 200_000,
        "claude-3": 200_000,
        "claude-haiku-4": 200_000,
        "claude-opus-4": 200_000,
        "claude-sonnet-4": 200_000,
        "gemini-1.5-flash": 1_048_576,
        "gemini-1.5-pro": 2_097_152,
        "gemini-2.0-flash": 1_048_576,
        "gemini-2.5": 1_048_576,
        "llama-3.1": 131_072,
        "llama3.1": 131_072,
    }
)
"""Tokens that models of a family can read, by the beginning of their names, as their makers document them."""

_BORDERS: Final = "-.:@_"


def window_of_name(name: str) -> int | None:
    """The window of a model by its name, the longest beginning that is known; `None` if none is.

    What stands before the last slash or a provider's colon does not count.

    >>> window_of_name("openai:gpt-4o-mini")
    128000
    """
    bare = name.strip().lower().rpartition("/")[2]
    _, colon, behind = bare.partition(":")
    for candidate in (bare, behind if colon else ""):
        known = [
            family
            for family in KNOWN_WINDOWS
            if candidate.startswith(family) and candidate[len(family) : len(family) + 1] in {"", *_BORDERS}
        ]
        if known:
            return KNOWN_WINDOWS[max(known, key=len)]
    return None
