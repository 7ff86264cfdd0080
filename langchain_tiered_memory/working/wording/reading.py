"""A text made ready for the patterns that look at it, and the few questions that all of them ask first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias

from langchain_core.messages import BaseMessage

__all__ = ["Language", "Reading", "dominant_language", "one_line", "plain", "read", "said_text", "weight"]

Language: TypeAlias = Literal["en", "zh"]

_SAMPLE: Final = 4_000
"""Characters of each message that are looked at to tell the language."""
_WORD_LENGTH: Final = 6
"""Characters that a word of English takes on average, with the space behind it."""

_STRAIGHT: Final = str.maketrans({"’": "'", "‘": "'", "＇": "'", "`": "'"})
_APART: Final = bytes(ord(chr(code).lower()) if chr(code).isalpha() and code < 128 else 32 for code in range(256))  # noqa: PLR2004
"""Makes every ASCII letter a small one, and everything else a space."""
_APOSTROPHES_TOO: Final = bytes(39 if code in b"'`" else _APART[code] for code in range(256))
"""The same, with apostrophes as they are."""
_HAN = re.compile(r"[㐀-鿿]")
_KANA = re.compile(r"[ぁ-ヿ]")
_LATIN_WORDS = re.compile(r"[a-z]+(?:'[a-z]+)?")
_BARE_WORDS: Final = frozenset(
    """arent cant couldnt didnt doesnt dont hadnt hasnt havent isnt mustnt neednt shouldnt wasnt werent wont
    wouldnt""".split()  # noqa: SIM905
)
"""What is typed in haste for "don't" and the like."""
_BARE = re.compile(r"\b(are|ca|could|did|do|does|had|has|have|is|must|need|should|was|were|wo|would)nt\b")
_LATIN_WORD = re.compile(r"[A-Za-zÀ-ɏ]+")


def weight(text: str) -> int:
    """The size of a text in UTF-8 bytes, in which a Chinese letter says about as much as three Latin ones."""
    return len(text.encode("utf-8", "surrogatepass"))


class Reading(NamedTuple):
    """A piece of a sentence with what every pattern asks of it first, found once.

    Attributes:
        text: The piece as it stands.
        low: The same in lower case with straight apostrophes, "dont" as "don't", as patterns of English want it.
        words: Its words of Latin letters.
        han: Whether it has Chinese letters.
    """

    text: str
    low: str
    words: list[str]
    han: bool


def read(text: str) -> Reading:
    """Read a piece of a sentence."""
    reading = _read(text)
    if _BARE_WORDS.isdisjoint(reading.words):
        return reading
    words = [word[:-2] + "n't" if word in _BARE_WORDS else word for word in reading.words]
    return reading._replace(low=_BARE.sub(r"\1n't", reading.low), words=words)


def _read(text: str) -> Reading:
    if not text.isascii():
        low = plain(text)
        return Reading(text, low, _LATIN_WORDS.findall(low), _HAN.search(text) is not None)
    if "'" in text or "`" in text:
        words = text.encode().translate(_APOSTROPHES_TOO).decode().split()
        apart = (_LATIN_WORDS.findall(word) if "'" in word else (word,) for word in words)
        return Reading(text, plain(text), [word for part in apart for word in part], han=False)
    # The same words, eight times as fast.
    return Reading(text, text.lower(), text.encode().translate(_APART).decode().split(), han=False)


def plain(text: str) -> str:
    """The text in lower case with straight apostrophes, as patterns of English want it."""
    return text.lower() if text.isascii() and "`" not in text else text.lower().translate(_STRAIGHT)


def one_line(text: str) -> str:
    """The text with each run of white space, line breaks too, as one space."""
    # The one white space that is printable is the plain space, and most texts have nothing to be changed.
    return text.strip() if text.isprintable() and "  " not in text else " ".join(text.split())


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
    han = kana = 0
    latin = 0.0
    for text in texts:
        sample = text[:_SAMPLE]
        if sample.isascii():
            latin += len(sample) / _WORD_LENGTH  # near enough, and a hundred times as fast as counting words
            continue
        han += len(_HAN.findall(sample))
        kana += len(_KANA.findall(sample))
        latin += len(_LATIN_WORD.findall(sample))
    # A Chinese word is about one and a half letters.
    return "zh" if han > 1.5 * latin and han > 4 * kana else "en"
