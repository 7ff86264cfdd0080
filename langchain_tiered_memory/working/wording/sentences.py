"""Sentences of a message, each with whether its speaker wrote it or only pasted it.

Everything here is linear in the length of the text. Patterns of the modules above only ever see a piece of bounded
length (`pieces`), so that no text, however hostile, makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage

__all__ = [
    "Language",
    "Sentence",
    "dominant_language",
    "one_line",
    "pieces",
    "plain",
    "said_text",
    "split_sentences",
    "weight",
]

Language: TypeAlias = Literal["en", "zh"]

_OWN_EDGE: Final = 1_000
"""In a long message, the bytes at its start and at its end that count as its speaker's own words.

A pasted document stands between, before or behind what is said about it.
"""
_LONG_MESSAGE: Final = 3_000
"""Bytes of a message from which on its middle counts as pasted: a person's own list of fifty rules is shorter."""
_LONGEST_ATOM: Final = 300
"""Characters of a word above which it is a blob; a longer link is still a value."""
_LONGEST_LINK: Final = 2_048
_WRAPPED_AT: Final = 45
"""Characters of a line that may have been broken by an editor and not by its writer."""
_READ: Final = 64_000
"""Characters of a text that are read; a paste as long as a book holds no more rules than its first chapters do."""
_QUOTED_SENTENCES: Final = 480
"""Characters within which a quotation may hold the end of a sentence."""
_LONGEST_CODE: Final = 200
_RECORD: Final = 120
"""Characters of a line in brackets above which it is a record, not a remark."""
_OPENS_RECORD: Final = ("{", "[")
_CODE_LINES: Final = 3
"""Lines that look like code from which on they are: one alone is more likely "budget = 700"."""
_SAMPLE: Final = 4_000
"""Characters of each message that are looked at to tell the language."""

_STRAIGHT: Final = str.maketrans({"’": "'", "‘": "'", "＇": "'", "`": "'"})
_FENCE = re.compile(r"\s*(?:```|~~~)")
_BULLET = re.compile(
    r"\s*(?:(?:[-*•·+–—]|\d{1,3}[.)]|[A-Za-z][.)])\s+"
    r"|[•·]|\d{1,3}、|[一二三四五六七八九十]{1,3}、|[(（](?:\d{1,2}|[一二三四五六七八九十]{1,2})[)）]\s*)"
)
_HEADING_MARK = re.compile(r"\s*#{1,6}\s+")
_RULES_HEADING = re.compile(
    r"\b(?:rules?|constraints?|requirements?|restrictions?|limits|guidelines?|don'?ts|do not|must|never|always"
    r"|conditions?|instructions?|policy|policies|conventions?|remember|forbidden|only|keep in mind)\b"
    r"|规则|要求|限制|约束|注意|禁止|必须|不要|不得|条件|规定|原则|须知|約束|規則|必須|記住|记住",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"(?:async\s+)?def\s+\w+\(|class\s+\w+[:({]|import\s+[\w.]+(?:\s+as\s+\w+)?;?$|from\s+[\w.]+\s+import\s|#include\b"
    r"|(?:const|let|var)\s+\w+\s*=|function\s*\w*\(|(?:public|private|static)\s+\w+\s+\w+|@\w+$|\$\s\w|//|/\*|\*/|#!"
    r"|(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|CREATE\s+TABLE)\b|</?\w[^>]*>|\"[^\"]*\"\s*:|[{}\[\]()<>;,]+$"
    r"|(?:if|for|while|switch|catch|elif)\s*\(|[\w.]+\s*(?:=|\+=|:=)\s*\S|[\w.]+\(.*\)[;{]?$|.*[=(){}\[\]<>].*;$|.*[{}]$"
)
_END = re.compile(r"[。！？.!?…]++[\"'”’」』)）\]】*_]*+")  # possessive: there is no way back to try
_CLOSING_QUOTES: Final = "\"'”’」』"
_CHINESE_ENDS: Final = "。！？"
_ABBREVIATIONS: Final = frozenset(
    """e.g i.e etc vs mr mrs ms dr prof no nr st approx ca cf al fig max min tel ext inc ltd vol p pp art sec jan feb
    mar apr jun jul aug sep sept oct nov dec a.m p.m""".split()  # noqa: SIM905
)
_LEADS_ON: Final = frozenset(
    """a an the and or but of to at by in on for with from than before after until within between under over not only
    never always is are must should""".split()  # noqa: SIM905
)
"""Words that no line ends with, unless an editor broke it."""
_LONGEST_ABBREVIATION: Final = 8
_CLAUSE_END = re.compile(r"[;；，、]|[,:](?=\s)|：|\s[–—-]\s")
_ATOM = re.compile(r"[^\s一-鿿]+\s*|[一-鿿]\s*|\s+")
_HAN = re.compile(r"[㐀-鿿]")
_KANA = re.compile(r"[ぁ-ヿ]")
_LATIN_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)?")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")


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


def weight(text: str) -> int:
    """The size of a text in UTF-8 bytes, in which a Chinese letter says about as much as three Latin ones."""
    return len(text.encode("utf-8", "surrogatepass"))


class Reading(NamedTuple):
    """A piece of a sentence with what every pattern asks of it first, found once.

    Attributes:
        text: The piece as it stands.
        low: The same in lower case with straight apostrophes, as patterns of English want it.
        words: Its words of Latin letters.
        han: Whether it has Chinese letters.
    """

    text: str
    low: str
    words: list[str]
    han: bool


def read(text: str) -> Reading:
    """Read a piece of a sentence."""
    low = plain(text)
    return Reading(text, low, _LATIN_WORDS.findall(low), not text.isascii() and _HAN.search(text) is not None)


def plain(text: str) -> str:
    """The text in lower case with straight apostrophes, as patterns of English want it."""
    return text.lower() if text.isascii() and "`" not in text else text.lower().translate(_STRAIGHT)


def one_line(text: str) -> str:
    """The text with each run of white space, line breaks too, as one space."""
    return " ".join(text.split())


def said_text(message: BaseMessage) -> str:
    """The text that a message says: its text blocks, those of results too, without media, reasoning and calls."""
    content = message.content
    if isinstance(content, str):
        return content
    return "\n".join(text for block in content for text in _texts(block))


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
    han = latin = kana = 0
    for text in texts:
        sample = text[:_SAMPLE]
        han += len(_HAN.findall(sample))
        kana += len(_KANA.findall(sample))
        latin += len(_LATIN_WORD.findall(sample))
    # A Chinese word is about one and a half letters.
    return "zh" if han > 1.5 * latin and han > 4 * kana else "en"


# --- sentences -------------------------------------------------------------------------------------------------------


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
    size = weight(text)
    long = size > _LONG_MESSAGE
    place = 0
    for line in _joined_lines(text):
        if line.code:
            yield Sentence(one_line(line.text), own=False, code=True)
            place += weight(line.text) + 1
            continue
        for part in _parts(line.text):
            end = place + weight(part)
            inside = place > _OWN_EDGE and end < size - _OWN_EDGE
            own = line.own and not (long and (inside or end - place > _LONG_MESSAGE))
            place = end + 1
            if whole := one_line(part):
                yield Sentence(whole, own=own, listed=line.listed)


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


def _joined_lines(text: str) -> Iterator[Sentence]:
    """The lines of a text, with those joined that an editor broke."""
    headed = False
    held: list[str] = []  # the parts of a line that may go on
    kind = Sentence("")
    for bare, code, quoted in _lines(text):
        marker = None if code or not bare else _BULLET.match(bare[:20])
        if held and bare and not code and not marker and _goes_on(held[-1], bare, quoted=quoted, own=kind.own):
            held.append(bare)
            continue
        if held:
            yield kind._replace(text=" ".join(held))
            held = []
        if code:
            yield Sentence(bare, own=False, code=True)
        elif bare:
            mark = marker or _HEADING_MARK.match(bare[:20])
            headed = headed if marker else _heads_rules(bare)
            kind = Sentence("", own=not quoted, listed=bool(marker) and headed)
            held = [bare[mark.end() if mark else 0 :]]
    if held:
        yield kind._replace(text=" ".join(held))


def _lines(text: str) -> list[tuple[str, bool, bool]]:
    """Each line without what surrounds it, whether it is code, and whether it is quoted."""
    fenced = False
    found: list[tuple[str, bool, bool]] = []
    doubtful: list[int] = []  # lines that look like code and stand in no fence
    for line in text.splitlines():
        if _FENCE.match(line[:20]):
            fenced = not fenced
            found.append(("", False, False))
            continue
        quoted = line.startswith(">")
        bare = line.lstrip("> \t").rstrip() if quoted else line.strip()
        if bare[:1] in _OPENS_RECORD and bare[-1:] in "]}" and len(bare) > _RECORD:
            found.append((bare, True, quoted))
            continue
        # Of a line longer than code is written, a look at its start is enough.
        looked_at = bare if len(bare) <= _LONGEST_CODE else bare[:_WRAPPED_AT]
        if bare and not fenced and _CODE_LINE.match(looked_at) and not _BULLET.match(bare[:20]):
            doubtful.append(len(found))
        found.append((bare, fenced and bool(bare), quoted))
    if len(doubtful) >= _CODE_LINES:
        for index in doubtful:
            bare, _, quoted = found[index]
            found[index] = bare, True, quoted
    return found


def _heads_rules(line: str) -> bool:
    bare = line.rstrip("*_ ")
    return bare.endswith((":", "：")) and len(bare) <= _WRAPPED_AT * 3 and bool(_RULES_HEADING.search(bare))


def _goes_on(before: str, line: str, *, quoted: bool, own: bool) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    if quoted == own or before.endswith((".", "!", "?", "。", "！", "？", "；", ";")):
        return False
    if before.endswith((":", "：")):
        return True
    if before.endswith(",") or before.rsplit(maxsplit=1)[-1].lower() in _LEADS_ON:
        return True
    return len(before) >= _WRAPPED_AT and (line[:1].islower() or line[:1].isdigit()) and before[-1].isascii()


def _parts(line: str) -> Iterator[str]:
    """The sentences of a line; one that ends inside a quotation goes on to its end."""
    start = 0
    for match in _END.finditer(line):
        end = match.end()
        mark = line[match.start()]
        follower = line[end : end + 1]
        if mark not in _CHINESE_ENDS and not (follower == "" or follower.isspace() or "一" <= follower <= "鿿"):
            continue
        if end - match.start() > 1 and line[end - 1] in _CLOSING_QUOTES and line[end : end + 2].strip().islower():
            continue  # what was quoted ended, not what quotes it
        if (
            mark == "."
            and end - match.start() == 1
            and _abbreviated(line[max(start, end - 2 - _LONGEST_ABBREVIATION) : end - 1])
        ):
            continue
        if end - start <= _QUOTED_SENTENCES and _open_quote(line[start:end]) and _closes(line, end):
            continue
        yield line[start:end]
        start = end
    if start < len(line):
        yield line[start:]


def _abbreviated(before: str) -> bool:
    """Whether a full stop only shortens the word before it: "e.g.", "Dr.", an initial, or a number that counts."""
    word = before.rsplit(maxsplit=1)[-1].lstrip("(\"'") if before.strip() else ""
    if len(word) == 1:
        return word.isupper() and word != "I"
    return word.lower() in _ABBREVIATIONS or (before == word and word.isdecimal() and len(word) <= 3)  # noqa: PLR2004


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
    if len(text) <= limit and weight(text) <= limit:
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
