"""Text to search terms: what a text and a question about it have in common, as words that a search engine can count.

A store's full-text index compares words letter by letter. So that "Where do her paintings hang?" finds "I painted that
in May", both are brought to the same terms here, and the index has nothing left to do but to cut at spaces
(`search_text`). The rules are the same for a stored text and for a question:

* Unicode is normalised (NFKC) and lower-cased; accents are dropped after stemming.
* Words are stemmed by Snowball's stemmer of their language. The script tells it for Cyrillic, Greek, Arabic, Devanagari
  and others; in Latin letters the text's function words do, English by default. Text in another language than English
  is indexed by its English stems too, because a question of one or two words does not show its language.
* Function words (stop words) are left out, unless there is nothing else.
* Chinese, Japanese, Korean and the scripts of South-East Asia put no space between words, or glue particles to them:
  they are indexed by pairs of neighbouring characters, Chinese by single characters too, Korean by whole words too.
  A Chinese date or weekday is a term as a whole too, however it is written ("5月6号", "5月6日").
* Numbers, dates, ids, e-mail addresses, paths and camelCase names are kept whole and in their parts.

The work is linear in the text and deterministic. `ANALYSIS` names the rules: a collection that was written under others
has to be indexed again.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.episodic.languages import languages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["ANALYSIS", "LONGEST_TERM", "language_of", "search_text", "terms_of"]

ANALYSIS: Final = "2"
"""The version of these rules. A stored search text is only comparable with terms of the same version."""
LONGEST_TERM: Final = 64
"""Characters of a term. What is longer is no word, and is told apart by its beginning and its parts."""

_SAMPLE: Final = 400  # words that are looked at to tell a text's language
_EVIDENCE: Final = 1.0  # how much more a language needs than English: more than one function word of its own

# Letters with the marks that belong to them: Python's \w leaves out the vowel signs of many scripts.
_LETTER: Final = (
    r"\w\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc"
    r"\u0900-\u0963\u0966-\u0df3\u0e01-\u0e3a\u0e40-\u0e4e\u0eb0-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u200c\u200d"
)
_TIED: Final = re.compile(rf"[{_LETTER}]+(?:(?:['’.@/\\+#&=?%~:-]|://|::|:\\|(?<=\d),(?=\d))[{_LETTER}]+)*")
"""A run of letters and digits, with the runs that punctuation without a space ties to it: an address, a path, 1,000."""
_RUN: Final = re.compile(rf"(?:(?!_)[{_LETTER}])+")
_INNER: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_A-Za-z]+")
"""The parts of a name such as getUserName, HTTPServer or abc123."""
_APOSTROPHE: Final = re.compile("['’]")
_ENDINGS: Final = frozenset(["s", "t", "m", "d", "ll", "re", "ve"])
"""What English puts after an apostrophe."""
_ELIDED: Final = frozenset(
    ["l", "d", "j", "c", "m", "n", "s", "t", "o", "qu", "jusqu", "lorsqu", "dell", "all", "nell"]
)
"""What French, Italian, Catalan and Irish names put before one."""

_UNSPACED: Final = re.compile(
    "[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]+"  # Hangul
    "|[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
    "|[\u0e00-\u0eff]+|[\u1000-\u109f]+|[\u1780-\u17ff]+"  # Thai and Lao, Burmese, Khmer
)
_CJK_FIRST: Final = "\u0e00"
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HANGUL: Final = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3]")
_MARKS: Final = re.compile("[\u0300-\u036f]")

_SCRIPTS: Final = (  # the range of a word's first letter, and the stemmer for it; "" where there is none
    ("\u0370", "\u03ff", "greek"),
    ("\u1f00", "\u1fff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_STEMMING: Final = threading.Lock()  # Snowball's stemmers keep the word that they work on


def terms_of(text: str) -> list[str]:
    """The search terms of a text, in its order and as often as they occur.

    ```python
    from langchain_tiered_memory.episodic.analysis import terms_of

    assert terms_of("Where do her paintings hang?") == ["paint", "hang"]
    assert terms_of("Mail ada@example.org!") == ["mail", "ada@example.org", "ada", "exampl", "org"]
    assert terms_of("我喜欢茶") == ["我喜", "喜欢", "欢茶", "喜", "欢", "茶"]
    ```

    Args:
        text: Any text, of any length and with any characters.

    Returns:
        Terms of 1 to `LONGEST_TERM` characters, none of which holds white space or a character that a store refuses.

    Raises:
        ImportError: snowballstemmer is not installed.
    """
    text = unicodedata.normalize("NFKC", text)
    whole: list[str] = []
    if not text.isascii():
        chinese = languages()["zh"]
        for pattern, same in chinese.same:
            text = pattern.sub(same, text)
        whole = chinese.whole.findall(text) if chinese.whole else []
    runs = _TIED.findall(text)
    words = [word.lower() for run in runs for word in _RUN.findall(run)]
    language = _language(words)
    stop = _stop_words()[language]
    terms = whole + [term for run in runs for term in _terms_of_run(run, language, stop)]
    return terms or [term for run in runs for term in _terms_of_run(run, language, frozenset())]


def search_text(terms: Iterable[str], *, max_bytes: int | None = None) -> str:
    """The terms as one text, to be cut at spaces again by a whitespace analyser.

    Args:
        terms: What `terms_of` gave.
        max_bytes: The most UTF-8 bytes that the store takes. A text of a hundred thousand characters may have more
            terms; then each is written once, since a word counts less each time it is repeated, and what is over is
            left out.
    """
    terms = list(terms)
    joined = " ".join(terms)
    if max_bytes is None or len(joined.encode()) <= max_bytes:
        return joined
    kept, size = [], -1
    for term in dict.fromkeys(terms):
        size += len(term.encode()) + 1
        if size > max_bytes:
            break
        kept.append(term)
    return " ".join(kept)


def language_of(text: str) -> str:
    """The language of a text in Latin letters by snowballstemmer's name for it; English where it does not show."""
    return _language([word.lower() for word in _RUN.findall(unicodedata.normalize("NFKC", text))])


def _language(words: Sequence[str]) -> str:
    """The language whose function words speak for it; a word of several languages counts a share for each.

    One such word may be a name (Ada is an Indonesian verb) and a letter part of a path, so it takes two words.
    """
    speaks = _languages_by_word()
    scores: dict[str, float] = {"english": 0.0}
    for word in dict.fromkeys(words[:_SAMPLE]):
        languages = speaks.get(word, ()) if len(word) > 1 else ()
        for language in languages:
            scores[language] = scores.get(language, 0.0) + 1 / len(languages)
    best = max(scores, key=lambda language: (scores[language], language))
    return best if scores[best] > scores["english"] + _EVIDENCE else "english"


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    """The stop words of languages in Latin letters, which also say what language a text is in."""
    return {one.name: one.stop_words for one in languages().values() if one.code != "zh"}


@cache
def _languages_by_word() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for language, words in _stop_words().items():
        for word in words:
            found.setdefault(word, []).append(language)
    return found


def _terms_of_run(run: str, language: str, stop: frozenset[str]) -> Iterator[str]:
    """The terms of a run of letters and digits, whole where it is more than a word, and of its parts."""
    parts = _RUN.findall(run)
    if len(parts) == 1 and len(parts[0]) == len(run):
        yield from _terms_of_part(run, language, stop)
        return
    if _APOSTROPHE.search(run):
        for piece in _without_elisions(_APOSTROPHE.split(run)):
            yield from _terms_of_run(piece, language, stop)
        return
    # A letter alone is no word, but tells "hall-a" from "hall-b".
    labelled = any(len(part) == 1 for part in parts) or not run.replace("-", "").isalpha()
    if parts and labelled and not _UNSPACED.search(run):
        yield _plain(run.lower().strip("_")[:LONGEST_TERM])
    for part in parts:
        yield from _terms_of_part(part, language, stop)


def _without_elisions(pieces: list[str]) -> Iterator[str]:
    """The words around apostrophes, without what grammar ties to them: don't, Ada's, l'eau, qu'il."""
    for n, piece in enumerate(pieces):
        word = piece.lower()
        if n and word in _ENDINGS:
            continue
        if n + 1 < len(pieces) and (word in _ELIDED or (word.endswith("n") and pieces[n + 1].lower() == "t")):
            continue
        yield piece


def _terms_of_part(part: str, language: str, stop: frozenset[str]) -> Iterator[str]:
    """The terms of a run of nothing but letters and digits."""
    if part >= _CJK_FIRST or not part.isascii():
        end = 0
        for match in _UNSPACED.finditer(part):
            if match.start() > end:
                yield from _terms_of_word(part[end : match.start()], language, stop)
            yield from _characters(match.group(), stop)
            end = match.end()
        if end:
            if end < len(part):
                yield from _terms_of_word(part[end:], language, stop)
            return
    yield from _terms_of_word(part, language, stop)
    inner = _INNER.findall(part) if part.isascii() else ()
    if len(inner) > 1:
        for piece in inner:
            yield from _terms_of_word(piece, language, stop)


def _characters(run: str, stop: frozenset[str]) -> Iterator[str]:
    """Pairs of characters of a script without spaces."""
    if len(run) == 1:
        yield run
        return
    if _HANGUL.match(run):
        yield run[:LONGEST_TERM]
        if len(run) == 2:  # noqa: PLR2004  # it is its only pair
            return
    yield from (run[n : n + 2] for n in range(len(run) - 1))
    alone = languages()["zh"].stop_words if stop else ()
    yield from (character for character in _HAN.findall(run) if character not in alone)


def _terms_of_word(word: str, language: str, stop: frozenset[str]) -> Iterator[str]:
    """A word's stem, and its English one where the text is in another language of the same letters."""
    word = word.lower()
    if word in stop:
        return
    if not any(character.isalnum() for character in word):
        return
    if word.isdecimal():
        yield "".join(str(unicodedata.decimal(character)) for character in word[:LONGEST_TERM])
        return
    first = _stem(word, _language_of_word(word, language))
    yield first
    if language != "english" and word[0] <= "\u024f" and (second := _stem(word, "english")) != first:
        yield second


def _language_of_word(word: str, language: str) -> str:
    if word[0] < "\u0370":
        return language
    return next((name for start, end, name in _SCRIPTS if start <= word[0] <= end), "")


@lru_cache(maxsize=65_536)
def _stem(word: str, language: str) -> str:
    """The stem of a lower-case word, without accents; the beginning of what is too long to be one."""
    if language and len(word) <= LONGEST_TERM:
        with _STEMMING:
            word = _stemmer(language).stemWord(word) or word
    return _plain(word[:LONGEST_TERM])


@cache
def _stemmer(language: str) -> Any:  # noqa: ANN401  # the library has no types
    # Not `snowballstemmer.stemmer()`: that takes PyStemmer where it finds it, and another release of the algorithms
    # would make terms on one machine that do not match those of another.
    import_optional("snowballstemmer", needed_by="EpisodicMemory")
    module = import_optional(f"snowballstemmer.{language}_stemmer", needed_by="EpisodicMemory")
    return getattr(module, f"{language.capitalize()}Stemmer")()


def _plain(word: str) -> str:
    """A word without the accents of Latin and Greek letters."""
    if word.isascii():
        return word
    if word[0] < "\u0400" or "\u1e00" <= word[0] <= "\u1fff":
        word = _MARKS.sub("", unicodedata.normalize("NFKD", word))
    return "".join(word.split()) or "_"
