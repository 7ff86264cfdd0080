"""The sentences of a message, each with whether its speaker wrote it or only pasted it.

Everything here is linear in the length of the text, and every pattern is compiled on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage

__all__ = [
    "Language",
    "Sentence",
    "compiled",
    "dominant_language",
    "is_question",
    "one_line",
    "pieces",
    "said_text",
    "split_sentences",
    "weight",
]

Language: TypeAlias = Literal["en", "zh"]

_SAMPLE: Final = 4_000
"""Characters of each message that are looked at to tell the language."""
_READ: Final = 64_000
"""Characters of a text that are read; of a longer one the middle is left out."""
_LONG_MESSAGE: Final = 3_000
"""Bytes of a message from which on its middle counts as pasted."""
_OWN_EDGE: Final = 1_000
"""The bytes at the start and at the end of a long message that count as its speaker's own words."""
_WRAPPED_AT: Final = 45
"""Characters of a line that an editor may have broken."""
_RECORD: Final = 120
"""Characters of a line in brackets from which on it is a record, not a remark."""
_CODE_LINES: Final = 3
"""Lines that look like code from which on they are; a single one is more likely "budget = 700"."""
_LONGEST_CODE: Final = 200
_LONGEST_WORD: Final = 300
"""Characters of a word above which it is a blob; a link may be longer."""
_LONGEST_LINK: Final = 2_048
_QUOTATION: Final = r"\"[^\"]{1,480}\"|“[^“”]{1,480}”|「[^「」]{1,480}」"
"""A quotation, which may hold the end of a sentence."""

_BULLET: Final = (
    r"\s*(?:(?:[-*•·+–—]|\d{1,3}[.)]|[A-Za-z][.)])\s+|[•·]|\d{1,3}、|[一二三四五六七八九十]{1,3}、"
    r"|[(（](?:\d{1,2}|[一二三四五六七八九十]{1,2})[)）]\s*|#{1,6}\s+)"
)
_RULES_HEADING: Final = (
    r"(?i)\b(?:rules?|constraints?|requirements?|restrictions?|guidelines?|don'?ts|must|never|always|conditions?"
    r"|instructions?|polic(?:y|ies)|conventions?|remember|forbidden|keep in mind)\b"
    r"|规则|要求|限制|约束|注意|禁止|必须|不要|不得|条件|规定|原则|须知|約束|規則|必須|記住|记住"
)
_CODE: Final = (
    r"(?:async\s+)?def\s+\w+\(|class\s+\w+[:({]|import\s+[\w.]+|from\s+[\w.]+\s+import\s|#include\b|#!|//|/\*|\*/"
    r"|(?:const|let|var)\s+\w+\s*=|function\s*\w*\(|(?:public|private|static)\s+\w+\s+\w+|@\w+$|\$\s\w|</?\w[^>]*>"
    r"|(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|CREATE\s+TABLE)\b|\"[^\"]*\"\s*:|[{}\[\]()<>;,]+$"
    r"|(?:if|for|while|switch|catch|elif)\s*\(|[\w.]+\s*(?:=|\+=|:=)\s*\S|[\w.]+\(.*\)[;{]?$|.*[=(){}\[\]<>].*;$|.*[{}]$"
)
_LEADS_ON: Final = (
    r"(?i)(?:[,:：]|\b(?:an?|the|and|or|but|of|to|at|by|in|on|for|with|from|than|before|after|until|within|between"
    r"|under|over|not|only|never|always|is|are|must|should))$"
)
"""How no line ends, unless an editor broke it."""
_END: Final = r"[。！？.!?…]++[\"'”’」』)）\]】*_]*+"  # possessive: nothing to backtrack into
_END_ASCII: Final = r"[.!?]++[\"')\]*_]*+(?= |$)"
_ABBREVIATION: Final = (
    r"(?i:(?:^|[\s(\"'])(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|prof|no|nr|st|approx|ca|cf|al|fig|max|min|tel|ext|inc|ltd|vol"
    r"|pp?|art|sec|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|[ap]\.m)|^\d{1,3})$|(?:^|[\s(\"'])[A-HJ-Z]$"
)
_CLAUSE_END: Final = r"[;；，、]|[,:](?=\s)|：|\s[–—-]\s"
_WORD: Final = r"[^\s一-鿿]+\s*|[一-鿿]\s*|\s+"


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of this package, compiled when it is first needed and kept."""
    return re.compile(pattern)


def weight(text: str) -> int:
    """The size of a text in UTF-8 bytes, in which a Chinese letter says about as much as three Latin ones."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def one_line(text: str) -> str:
    """The text with each run of white space, line breaks too, as one space."""
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


def is_question(text: str) -> bool:
    """Whether a sentence asks something."""
    return text.rstrip("\"'”’」』)）]】*_ ").endswith(("?", "？"))


def said_text(message: BaseMessage) -> str:
    """The text that a message says: its text blocks, those of results too, without media, reasoning and calls."""
    content = message.content
    return content if isinstance(content, str) else "\n".join(text for block in content for text in _texts(block))


def _texts(block: object) -> Iterator[str]:
    if isinstance(block, str):
        yield block
    elif isinstance(block, dict):
        kind = block.get("type")
        if kind in ("text", "input_text", "output_text", "text-plain", None) and isinstance(block.get("text"), str):
            yield block["text"]
        elif kind == "tool_result":
            inner = block.get("content")
            for part in inner if isinstance(inner, list) else [inner]:
                yield from _texts(part)


def dominant_language(texts: Iterable[str]) -> Language:
    """The language for labels and headings: Chinese where Chinese letters outweigh Latin words, else English."""
    han = kana = 0
    words = 0.0
    for text in texts:
        sample = text[:_SAMPLE]
        if sample.isascii():
            words += len(sample) / 6  # about the length of an English word
            continue
        han += len(compiled("[㐀-鿿]").findall(sample))
        kana += len(compiled("[ぁ-ヿ]").findall(sample))
        words += len(compiled("[A-Za-zÀ-ɏ]+").findall(sample))
    return "zh" if han > 1.5 * words and han > 4 * kana else "en"  # a Chinese word has about 1.5 letters


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
    if len(text) > _READ:
        text = _without_middle(text)
    size, end = weight(text), 0
    for line in _joined_lines(text):
        for part in [line.text] if line.code else _parts(line.text):
            start, end = end, end + weight(part) + 1
            inside = start > _OWN_EDGE and end <= size - _OWN_EDGE
            pasted = size > _LONG_MESSAGE and (inside or end - start > _LONG_MESSAGE)
            if bare := part.strip():
                yield line._replace(text=bare, own=line.own and not pasted)


def _without_middle(text: str) -> str:
    """The beginning and the end of a very long text, cut at white space and with its fences closed."""
    head, tail = text[: _READ - 2 * _OWN_EDGE], text[-2 * _OWN_EDGE :]
    head = head[: max(head.rfind(" "), head.rfind("\n")) + 1]
    tail = "".join(compiled(r"(?s)\s.*").findall(tail))
    fence = "```\n" * ((head.count("```") + tail.count("```")) % 2)
    return f"{head}\n{fence}{tail}"


def _joined_lines(text: str) -> Iterator[Sentence]:
    """The lines of a text, with those joined that an editor broke."""
    headed = False
    held: list[Sentence] = []  # a line that may go on, and those that go on with it
    for line in _lines(text):
        mark = None if line.code else compiled(_BULLET).match(line.text)
        goes_on = held and line.text and not (line.code or mark) and line.own == held[0].own
        if goes_on and _goes_on(held[-1].text, line.text):
            held.append(line)
            continue
        if held:
            yield held[0]._replace(text=one_line(" ".join(one.text for one in held)))
            held = []
        if line.code:
            yield line._replace(text=one_line(line.text))
        elif line.text:
            item = mark is not None and line.text[0] != "#"
            headed = headed if item else _heads_rules(line.text)
            held = [line._replace(text=line.text[mark.end() :] if mark else line.text, listed=item and headed)]
    if held:
        yield held[0]._replace(text=one_line(" ".join(one.text for one in held)))


def _lines(text: str) -> list[Sentence]:
    """Each line without what surrounds it: whether it is quoted, and whether it is code."""
    lines = text.splitlines()
    fenced = False
    found: list[Sentence] = []
    doubtful: list[int] = []  # lines that look like code and stand in no fence
    for line in lines:
        fence = line.lstrip()[:3] in ("```", "~~~")
        fenced ^= fence
        quoted = line[:1] == ">"
        bare = "" if fence else line.lstrip("> \t").rstrip() if quoted else line.strip()
        record = bare[:1] in ("{", "[") and bare[-1:] in ("]", "}") and len(bare) > _RECORD
        code = bool(bare) and (record or fenced)
        if bare and not code and len(lines) >= _CODE_LINES and not compiled(_BULLET).match(bare):
            start = bare if len(bare) <= _LONGEST_CODE else bare[:_WRAPPED_AT]
            if compiled(_CODE).match(start):
                doubtful.append(len(found))
        found.append(Sentence(bare, own=not (quoted or code), code=code))
    for index in doubtful if len(doubtful) >= _CODE_LINES else ():
        found[index] = found[index]._replace(own=False, code=True)
    return found


def _heads_rules(line: str) -> bool:
    bare = line.rstrip("*_ ")
    return bare.endswith((":", "：")) and len(bare) <= 3 * _WRAPPED_AT and bool(compiled(_RULES_HEADING).search(bare))


def _goes_on(before: str, line: str) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    if before.endswith((".", "!", "?", "。", "！", "？", "；", ";")):
        return False
    if compiled(_LEADS_ON).search(before[-16:]):
        return True
    return len(before) >= _WRAPPED_AT and (line[:1].islower() or line[:1].isdigit()) and before[-1].isascii()


def _parts(line: str) -> Iterator[str]:
    """The sentences of a line; one that ends inside a quotation goes on to its end."""
    start = 0
    quotes = [match.span() for match in compiled(_QUOTATION).finditer(line)]
    for match in compiled(_END_ASCII if line.isascii() else _END).finditer(line):
        first, end = match.span()
        behind = line[end : end + 1]
        if line[first] not in "。！？" and not (behind in {"", " "} or "一" <= behind <= "鿿"):
            continue
        if end - first > 1 and line[end - 1] in "\"'”’」』" and line[end : end + 2].strip().islower():
            continue  # what was quoted ended, not what quotes it
        if line[first:end] == "." and compiled(_ABBREVIATION).search(line[max(start, first - 9) : first]):
            continue
        while quotes and quotes[0][1] < end:
            quotes.pop(0)
        if quotes and quotes[0][0] < first and end < quotes[0][1]:
            continue
        yield line[start:end]
        start = end
    if start < len(line):
        yield line[start:]


def pieces(text: str, limit: int) -> list[str]:
    """A sentence as it is where it is short enough, else its clauses, put together as far as they fit.

    Args:
        text: A sentence, on one line.
        limit: The largest size of a piece, in bytes (`weight`).

    Returns:
        The pieces in order. A word too long to be anything but a blob is in none of them, a link whole in its own.
    """
    if weight(text) <= limit:
        return [text]
    ends = [match.end() for match in compiled(_CLAUSE_END).finditer(text)]
    clauses = [text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True)]
    found: list[str] = []
    for clause in _merged(clauses, limit):
        if weight(clause) <= limit:
            found.append(clause)
            continue
        words = (match[0] for match in compiled(_WORD).finditer(clause))
        found += _merged((word for word in words if len(word) <= _LONGEST_WORD or _is_link(word)), limit)
    return [piece for piece in map(str.strip, found) if piece]


def _is_link(word: str) -> bool:
    return len(word) <= _LONGEST_LINK and "://" in word[:40]


def _merged(parts: Iterable[str], limit: int) -> list[str]:
    merged: list[str] = []
    size = limit
    for part in parts:
        size += weight(part)
        if merged and size <= limit:
            merged[-1] += part
        else:
            merged.append(part)
            size = weight(part)
    return merged
