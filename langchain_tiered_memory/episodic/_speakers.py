"""Who says something, and whom a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from langchain_tiered_memory.episodic._stopwords import STOP_WORDS

__all__ = ["named_in", "speakers_of"]

_PREFIX: Final = re.compile(r"([^\W\d_][^:\n]{0,39}):\s")
_WORD: Final = re.compile(r"\w+")


def speakers_of(names: Sequence[str], text: str) -> Sequence[str]:
    """Who says a text: the names it came with, or the one that stands before it."""
    if names:
        return names
    match = _PREFIX.match(text)
    return (match[1],) if match else ()


def named_in(question: str, names: Iterable[str]) -> set[str]:
    """The names that a question has, whole or by their first word.

    A name that is a function word too ("Will") counts where it looks like a name: with its capital, and not at the
    beginning.
    """
    words = _WORD.findall(question)
    lower = {word.lower() for word in words}
    found = set()
    for name in dict.fromkeys(names):
        match = _WORD.search(name)
        if match is None:
            continue
        first = match[0]
        if first.lower() in STOP_WORDS["english"]:
            named = first in words[1:]
        else:  # a script without spaces has no words to compare
            named = first.lower() in lower or (not first.isascii() and name in question)
        if named:
            found.add(name)
    return found
