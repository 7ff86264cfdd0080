"""Patterns taken apart, so that of each only those parts are tried that a sentence can match by its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final, TypeAlias

from langchain_tiered_memory.working.wording.verbs_en import Form

__all__ = ["Search", "searches_by_word"]

Search: TypeAlias = Callable[[str], re.Match[str] | None]

_BORDER: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]", re.DOTALL)
_NO_LETTERS: Final = re.compile(r"\\.|\[[^\]]*\]|\w\?")
_LETTERS: Final = re.compile(r"[a-z]+(?:'[a-z]+)?")


def searches_by_word(forms: Iterable[Form]) -> Mapping[str, tuple[Search, ...]]:
    """What to search a sentence for where a word occurs in it, for each word of some forms.

    A regular expression of many branches tries all of them at every letter; a branch by itself, looked for only where
    one of its words occurs, takes a fraction of that.
    """
    found: dict[str, list[Search]] = {}
    for form in forms:
        for branch in _branches(form.forms):
            pattern = re.compile(branch)
            search = pattern.match if branch.startswith("^") else pattern.search
            for word in _words_of(branch, form.words.split()):
                found.setdefault(word, []).append(search)
    return {word: tuple(searches) for word, searches in found.items()}


def _branches(pattern: str) -> list[str]:
    """The alternatives of a pattern that stand in no group."""
    parts: list[str] = []
    depth = start = 0
    for border in _BORDER.finditer(pattern):
        if border[0] == "|" and not depth:
            parts.append(pattern[start : border.start()])
            start = border.end()
        else:
            depth += (border[0] == "(") - (border[0] == ")")
    return [*parts, pattern[start:]]


def _words_of(branch: str, words: Iterable[str]) -> list[str]:
    """Those of a form's words that a branch may match: which begin with letters that it spells out."""
    spelled = set(_LETTERS.findall(_NO_LETTERS.sub("~", branch)))
    return [word for word in words if any(word.startswith(letters) for letters in spelled)]
