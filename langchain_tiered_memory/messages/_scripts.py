"""Estimates tokens without a vocabulary, from the scripts and the kinds of text that a text is made of.

The text is cut into the same pieces as o200k_base cuts it into (words with the space before them, up to three digits,
punctuation, white space), and each piece is charged by what such pieces cost:

* digits, white space and short punctuation are one token a piece, which is exact;
* words of alphabets (Latin, Cyrillic, Greek, Arabic, Hebrew, Devanagari) and of Hangul are one token and a share that
  grows with the weights of their letter pairs, so that common words, names, identifiers and random letters differ as
  they do in truth;
* Chinese, Japanese and Thai are charged pair by pair;
* other scripts are charged per letter, and pictographs one by one, with their joiners and modifiers.

`_splits.py` says how the tables are used, `_splits_rows.py` and `_splits_levels.py` what they were learnt from.
tests/benchmarks/bench_tokens.py prints what the estimates are worth.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from typing import Final, NamedTuple

from langchain_tiered_memory.messages._splits import PairPrices, WordTable, run_tokens, word_tokens
from langchain_tiered_memory.messages._splits_levels import EAST_ASIAN, HANGUL, THAI
from langchain_tiered_memory.messages._splits_rows import ARABIC, CYRILLIC, DEVANAGARI, GREEK, HEBREW, LATIN
from langchain_tiered_memory.messages._symbols import prefix_tokens, punctuation_tokens

__all__ = ["estimate_tokens"]

_MARK: Final = "\ue000"  # stands where letters that are already charged were
_COMBINING: Final = "\u0300-\u036f"
_LOWER: Final = f"a-zß-öø-ÿ\u0100-\u024f{_COMBINING}\u1e00-\u1eff"
_UPPER: Final = "A-ZÀ-ÖØ-Þ"
_CONTRACTED: Final = f"(?:'(?:[stmd]|re|ve|ll|[STMD]|RE|VE|LL)(?![{_UPPER}{_LOWER}]))?"
_PIECE: Final = re.compile(
    rf"[^\r\n\d{_UPPER}{_LOWER}{_MARK}]?(?:[{_UPPER}]*[{_LOWER}]+|[{_UPPER}]+){_CONTRACTED}"
    rf"|\d{{1,3}}"
    rf"| ?[^\s\d{_UPPER}{_LOWER}{_MARK}]+[\r\n/]*"
    rf"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_MARKS: Final = re.compile(f"[{_COMBINING}]")
_PER_MARK: Final = (
    1.0  # an accent of its own is a token more than the letter that has it, and half of one it breaks off
)

_TURKISH: Final = re.compile("[ığşİĞŞ]")
_PER_TURKISH: Final = 0.35  # words with them are cut finer than others whose letters fold to the same pairs


class _Alphabet(NamedTuple):
    """A script written with spaces; the one before a word belongs to it."""

    letters: str
    table: WordTable
    scale: float


class _Running(NamedTuple):
    """A script written without spaces."""

    letters: str
    prices: PairPrices
    scale: float
    space: float  # what a space before a run costs: some are part of its first token


class _Script(NamedTuple):
    """A script without a table: what it costs per letter, and per run of letters."""

    letters: str
    per_letter: float
    per_run: float = 0.0


# The scales lift the fit by what too few would cost: held-out texts shall be a few per cent too many, not too few.
_LATIN_SCALE: Final = 0.985
_ALPHABETS: Final = (
    _Alphabet("\u0400-\u052f", CYRILLIC, 1.01),
    _Alphabet("\uac00-\ud7a3", HANGUL, 1.05),
    _Alphabet("\u0370-\u03ff\u1f00-\u1fff", GREEK, 1.02),
    _Alphabet("\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ed\u0750-\u077f", ARABIC, 1.02),
    _Alphabet("\u0590-\u05bd\u05bf-\u05f4", HEBREW, 1.02),
    _Alphabet("\u0900-\u0963\u0970-\u097f", DEVANAGARI, 1.04),
)
_RUNNING: Final = (
    _Running(
        "\u3005-\u3007\u3041-\u309f\u30a0-\u30fa\u30fc-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff",
        EAST_ASIAN,
        1.02,
        0.6,
    ),
    _Running("\u0e01-\u0e3a\u0e40-\u0e4e", THAI, 1.01, 0.15),
)
_OTHERS: Final = (
    _Script("\u1100-\u11ff", 3.0),  # jamo of decomposed Hangul, which have no tokens
    _Script("\u3130-\u318f", 0.75, 0.8),  # jamo standing alone, as in laughter
    _Script("\uff66-\uff9f", 1.88),  # half-width katakana
    _Script("\uff21-\uff3a\uff41-\uff5a", 1.55),  # full-width Latin
    _Script("\ufb50-\ufdff\ufe70-\ufefc", 2.3),  # Arabic presentation forms
    _Script("\u0530-\u058f", 0.29, 0.85),  # Armenian
    _Script("\u10a0-\u10ff", 0.35, 0.70),  # Georgian
    _Script("\u0980-\u09ff", 0.37, 0.55),  # Bengali
    _Script("\u0a80-\u0aff", 0.45, 0.25),  # Gujarati
    _Script("\u0b80-\u0bff", 0.28, 1.05),  # Tamil
    _Script("\u0c00-\u0c7f", 0.42, 0.80),  # Telugu
    _Script("\u0c80-\u0cff", 0.35, 0.90),  # Kannada
    _Script("\u0d00-\u0d7f", 0.30, 1.05),  # Malayalam
    _Script("\u0a00-\u0a7f\u0b00-\u0b7f\u0d80-\u0dff", 0.70),  # Gurmukhi, Odia, Sinhala
    _Script("\u1780-\u17ff", 0.60, 0.35),  # Khmer
    _Script("\u1000-\u109f", 0.51, 0.75),  # Burmese
    _Script("\u0700-\u074f\u0780-\u08ff\u0e80-\u0fff\u1200-\u177f\u1800-\u1dff\u2c00-\u2dff\ua000-\uabff", 2.0),
)


def _pattern(letters: str) -> re.Pattern[str]:
    return re.compile(f" ?[{letters}]+")


_ALPHABET_WORDS: Final = [_pattern(one.letters) for one in _ALPHABETS]
_RUNNING_RUNS: Final = [_pattern(one.letters) for one in _RUNNING]
_OTHER_RUNS: Final = _pattern("".join(one.letters for one in _OTHERS))
_BY_FIRST_LETTER: Final = sorted((part[0], one) for one in _OTHERS for part in re.findall(r"(?s).-.", one.letters))
_FIRST_LETTERS: Final = [first for first, _ in _BY_FIRST_LETTER]
_SCRIPTS: Final = [script for _, script in _BY_FIRST_LETTER]
_ALL_RUNS: Final = re.compile(
    f" ?[{''.join(one.letters for one in (*_ALPHABETS, *_OTHERS))}]+| ?[{''.join(one.letters for one in _RUNNING)}]+"
)


def estimate_tokens(text: str) -> int:
    """Tokens that o200k_base would take for `text`, on average a few per cent too many."""
    tokens = 0.0
    if not text.isascii():
        tokens += _PER_MARK * len(_MARKS.findall(text)) + _PER_TURKISH * len(_TURKISH.findall(text))
        text, more = _other_scripts(text)
        tokens += more
    words: list[tuple[str, int]] = []
    for piece, times in Counter(_PIECE.findall(text)).items():
        last = piece[-1]
        if last.isalpha() or "\u0300" <= last <= "\u036f":
            words.append((piece, times))
            if piece[0] > "\x7f" and not (piece[0].isalpha() or "\u0300" <= piece[0] <= "\u036f"):
                tokens += times * prefix_tokens(piece[0])
        elif last.isdigit() and piece.isdigit():
            tokens += times * (1 if piece.isascii() else len(piece))
        elif last.isspace() and piece.isspace():
            tokens += times * _space_tokens(piece)
        else:
            tokens += times * punctuation_tokens(piece)
    return round(tokens + _LATIN_SCALE * word_tokens(words, LATIN)) or (1 if text else 0)


def _script_of(letter: str) -> _Script:
    return _SCRIPTS[bisect.bisect(_FIRST_LETTERS, letter) - 1]


def _other_scripts(text: str) -> tuple[str, float]:
    """Charge the letters of all scripts but Latin, and put a mark in their place."""
    tokens = 0.0
    letters = "".join(set(text))  # what a text holds is seen here faster than by searching it for each script
    for alphabet, pattern in zip(_ALPHABETS, _ALPHABET_WORDS, strict=True):
        if pattern.search(letters):
            tokens += alphabet.scale * word_tokens(Counter(pattern.findall(text)).items(), alphabet.table)
    for running, pattern in zip(_RUNNING, _RUNNING_RUNS, strict=True):
        if pattern.search(letters):
            runs = pattern.findall(text)
            spaces = sum(run[0] == " " for run in runs)
            charged = run_tokens([run.lstrip(" ") for run in runs] if spaces else runs, running.prices)
            tokens += running.scale * charged + spaces * running.space
    if _OTHER_RUNS.search(letters):
        for run, times in Counter(_OTHER_RUNS.findall(text)).items():
            script = _script_of(run[-1])
            tokens += times * (script.per_run + script.per_letter * len(run.lstrip(" ")))
    return _ALL_RUNS.sub(_MARK, text), tokens


def _space_tokens(piece: str) -> float:
    """Tokens of white space: o200k_base has runs of some eighty spaces, sixteen line breaks or tabs, four CR LF."""
    length = len(piece)
    if length <= 16:  # noqa: PLR2004
        return 1.0 + (length // 6 if "\r" in piece else 0)
    if "\r\n" in piece:
        return 1.0 + length / 8
    if " " in piece and "\n" in piece:
        return 1.0 + length / 96 + piece.count("\n") / 2
    return 1.0 + length // (96 if " " in piece else 16)
