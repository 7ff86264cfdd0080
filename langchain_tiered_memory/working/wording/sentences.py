"""Sentences of a message, each with whether its speaker wrote it or only pasted it.

Everything here is linear in the length of the text. Patterns of the modules above only ever see a piece of bounded
length (`pieces`), so that no text, however hostile, makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from langchain_tiered_memory.working.wording.lines import joined_lines
from langchain_tiered_memory.working.wording.reading import Language, dominant_language, one_line, weight

__all__ = ["Language", "Sentence", "dominant_language", "pieces", "split_sentences"]

_OWN_EDGE: Final = 1_000
"""In a long message, the bytes at its start and at its end that count as its speaker's own words.

A pasted document stands between, before or behind what is said about it.
"""
_LONG_MESSAGE: Final = 3_000
"""Bytes of a message from which on its middle counts as pasted: a person's own list of fifty rules is shorter."""
_LONGEST_ATOM: Final = 300
"""Characters of a word above which it is a blob; a longer link is still a value."""
_LONGEST_LINK: Final = 2_048
_READ: Final = 64_000
"""Characters of a text that are read; a paste as long as a book holds no more rules than its first chapters do."""
_QUOTED_SENTENCES: Final = 480
"""Characters within which a quotation may hold the end of a sentence."""

_END = re.compile(r"[。！？.!?…]++[\"'”’」』)）\]】*_]*+")  # possessive: there is no way back to try
_END_ASCII = re.compile(r"[.!?]++[\"')\]*_]*+(?= |$)")
"""The same where every letter is ASCII: then a space or the end has to follow."""
_CLOSING_QUOTES: Final = "\"'”’」』"
_CHINESE_ENDS: Final = "。！？"
_ABBREVIATIONS: Final = frozenset(
    """e.g i.e etc vs mr mrs ms dr prof no nr st approx ca cf al fig max min tel ext inc ltd vol p pp art sec jan feb
    mar apr jun jul aug sep sept oct nov dec a.m p.m""".split()  # noqa: SIM905
)
_LONGEST_ABBREVIATION: Final = 8
_CLAUSE_END = re.compile(r"[;；，、]|[,:](?=\s)|：|\s[–—-]\s")
_ATOM = re.compile(r"[^\s一-鿿]+\s*|[一-鿿]\s*|\s+")


class Sentence(NamedTuple):
    """One sentence, on one line.

    Attributes:
        text: The speaker's words; only white space was normalised and a list marker taken off.
        own: Whether the speaker wrote it; code, quoted lines and the middle of a long paste are not their own words.
        code: Whether it is a line of code or data.
        listed: Whether it is an item of a list that is headed as rules.
    """

    text: str
    own: bool = True
    code: bool = False
    listed: bool = False


def split_sentences(text: str) -> Iterator[Sentence]:
    """Split a text into sentences, in order.

    A line break ends a sentence, except where an editor broke the line; so do marks that end one in English and in
    Chinese. A full stop in an abbreviation, a number or a quotation does not.

    Args:
        text: What a message says. Of one over 64,000 characters the middle is left out.

    Yields:
        The sentences, none of them empty.
    """
    text = _without_middle(text)
    # Where no letter takes more than 4 bytes, the length tells enough of most messages.
    long = 4 * len(text) > _LONG_MESSAGE and weight(text) > _LONG_MESSAGE
    size = weight(text) if long else 0
    place = 0
    for line in joined_lines(text):
        whole = one_line(line.text)
        if line.code:
            yield Sentence(whole, own=False, code=True)
            place += weight(whole) + 1
            continue
        for part in _parts(whole):
            own = line.own
            if long:
                end = place + weight(part)
                inside = place > _OWN_EDGE and end < size - _OWN_EDGE
                own = own and not (inside or end - place > _LONG_MESSAGE)
                place = end + 1
            if bare := part.strip():
                yield Sentence(bare, own, listed=line.listed)


def _without_middle(text: str) -> str:
    """A text, or the beginning and the end of a very long one, cut at white space and with its fences closed."""
    if len(text) <= _READ:
        return text
    head, tail = text[: _READ - 2 * _OWN_EDGE], text[-2 * _OWN_EDGE :]
    head = head[: max(head.rfind(space) for space in " \n") + 1]
    starts = [place for place in (tail.find(space) for space in " \n") if place >= 0]
    tail = tail[min(starts) :] if starts else ""
    between = "\n```\n" if head.count("```") % 2 else "\n"
    if tail.count("```") % 2:
        between += "```\n"
    return head + between + tail


def _parts(line: str) -> Iterator[str]:
    """The sentences of a line; one that ends inside a quotation goes on to its end."""
    start = 0
    ascii_only = line.isascii()
    quotes = '"' in line or (not ascii_only and ("“" in line or "「" in line))
    for match in (_END_ASCII if ascii_only else _END).finditer(line):
        first, end = match.span()
        mark = line[first]
        if not ascii_only and mark not in _CHINESE_ENDS and not _may_follow(line[end : end + 1]):
            continue
        if end - first > 1:
            if line[end - 1] in _CLOSING_QUOTES and line[end : end + 2].strip().islower():
                continue  # what was quoted ended, not what quotes it
        elif mark == "." and _abbreviated(line[start:first]):
            continue
        if quotes and end - start <= _QUOTED_SENTENCES and _open_quote(line[start:end]) and _closes(line, end):
            continue
        yield line[start:end]
        start = end
    if start < len(line):
        yield line[start:]


def _may_follow(letter: str) -> bool:
    """Whether this may stand behind a mark that ends a sentence: a space, nothing, or a Chinese letter."""
    return letter in {"", " "} or "一" <= letter <= "鿿"


def _abbreviated(before: str) -> bool:
    """Whether a full stop only shortens the word before it: "e.g.", "Dr.", an initial, or a number that counts."""
    word = before[before.rfind(" ") + 1 :]
    if len(word) > _LONGEST_ABBREVIATION:
        return False
    if word == before and word.isdecimal() and len(word) <= 3:  # noqa: PLR2004
        return True
    word = word.lstrip("(\"'")
    if len(word) == 1:
        return word.isupper() and word != "I"
    return word.lower() in _ABBREVIATIONS


def _open_quote(text: str) -> bool:
    return text.count('"') % 2 == 1 or text.count("“") > text.count("”") or text.count("「") > text.count("」")


def _closes(line: str, start: int) -> bool:
    return any(mark in line[start : start + _QUOTED_SENTENCES] for mark in ('"', "”", "」"))


def pieces(text: str, limit: int) -> list[str]:
    """A sentence as it is where it is short enough, else its clauses, put together as far as they fit.

    Args:
        text: A sentence, on one line.
        limit: The largest size of a piece, in bytes (`weight`).

    Returns:
        The pieces in order. A word too long to be anything but a blob is in none of them, a link whole in its own.
    """
    if len(text) <= limit and (text.isascii() or weight(text) <= limit):
        return [text]
    found: list[str] = []
    for clause in _merged(_clauses(text), limit):
        if weight(clause) <= limit:
            found.append(clause)
        else:
            found += _merged((atom[0] for atom in _ATOM.finditer(clause) if _is_word(atom[0])), limit)
    return [piece for piece in map(str.strip, found) if piece]


def _is_word(atom: str) -> bool:
    return len(atom) <= _LONGEST_ATOM or (len(atom) <= _LONGEST_LINK and "://" in atom[:40])


def _clauses(text: str) -> Iterator[str]:
    start = 0
    for match in _CLAUSE_END.finditer(text):
        yield text[start : match.end()]
        start = match.end()
    yield text[start:]


def _merged(parts: Iterable[str], limit: int) -> list[str]:
    merged: list[str] = []
    held: list[str] = []
    size = 0
    for part in parts:
        more = weight(part)
        if held and size + more > limit:
            merged.append("".join(held))
            held, size = [], 0
        held.append(part)
        size += more
    if held:
        merged.append("".join(held))
    return merged
