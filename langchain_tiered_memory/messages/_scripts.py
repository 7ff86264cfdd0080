"""Estimates tokens without a vocabulary, from the scripts and the kinds of text that a text is made of.

The text is cut into the same pieces as o200k_base cuts it into (words with the space before them, up to three digits,
punctuation, white space), and each piece is charged by what such pieces cost on average:

* digits, white space and short punctuation are one token a piece, which is exact;
* a word of Latin or Cyrillic letters is one token and a share for every pair of letters between which tokens are likely
  to end (`_splits.py`), so that English, Turkish, identifiers and base64 differ as they do in truth;
* other scripts are charged per run and per letter; Chinese characters also by how common they are, which the layout of
  the old GB 2312 standard tells: its first level holds the 3,755 most frequent ones;
* pictographs are charged one by one, with their joiners and modifiers.

The prices were fitted to o200k_base over texts of 30 languages, code and data, and raised by 2 %, because too many is
the safe side. tests/benchmarks/bench_tokens.py prints what they are worth.
"""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from operator import add
from typing import Final, NamedTuple

from langchain_tiered_memory.messages._splits import CYRILLIC, LATIN, SplitTable

__all__ = ["estimate_tokens"]

_MARK: Final = "\ue000"  # stands where letters that are already charged were
_LOWER: Final = "a-zß-öø-ÿ\u0100-\u024f\u0300-\u036f\u1e00-\u1eff"
_UPPER: Final = "A-ZÀ-ÖØ-Þ"
_PIECE: Final = re.compile(
    rf"[^\r\n\d{_UPPER}{_LOWER}{_MARK}]?(?:[{_UPPER}]*[{_LOWER}]+|[{_UPPER}]+)"
    rf"|\d{{1,3}}"
    rf"| ?[^\s\d{_UPPER}{_LOWER}{_MARK}]+[\r\n/]*"
    rf"|\s*[\r\n]+|\s+(?!\S)|\s+"
)


class _Script(NamedTuple):
    """What a script's letters cost: per run of them, per letter, and per letter beyond the sixth of a run."""

    letters: str
    per_run: float
    per_letter: float
    per_late_letter: float = 0.0


_HAN: Final = "\u3005-\u3007\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CYRILLIC: Final = "\u0400-\u052f"
# Written without spaces between words.
_RUNNING: Final = (
    _Script("\u3041-\u309f\u30fc", 0.84, 0.32),  # Hiragana
    _Script("\u30a0-\u30fb\u30fd-\u30ff\u31f0-\u31ff\uff66-\uff9f", 0.40, 0.25),  # Katakana
    _Script("\u0e01-\u0e3a\u0e40-\u0e4e", 0.0, 0.385),  # Thai
)
# Written with spaces; the one before a word belongs to it.
_SPACED: Final = (
    _Script("\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f", 1.10, 0.367),  # Hangul
    _Script("\u0370-\u03ff\u1f00-\u1fff", 0.50, 0.275, 0.13),  # Greek
    _Script(
        "\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ed\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc", 0.0, 0.345, 0.11
    ),  # Arabic, Persian, Urdu
    _Script("\u0590-\u05bd\u05bf-\u05f4", 0.0, 0.47),  # Hebrew
    _Script("\u0900-\u0963\u0970-\u097f", 0.0, 0.364, 0.20),  # Devanagari
    _Script("\u0980-\u0dff", 0.0, 0.55, 0.10),  # Bengali to Sinhala
    _Script("\u0530-\u058f\u10a0-\u10ff", 0.0, 0.60),  # Armenian and Georgian
    _Script("\u0700-\u074f\u0780-\u08ff\u0e80-\u109f\u1200-\u1dff\u2c00-\u2dff\ua000-\uabff", 0.0, 1.2),  # the rest
)
_LATE: Final = 6
_HAN_RUNS: Final = re.compile(f"[{_HAN}]+")
_CYRILLIC_RUNS: Final = re.compile(f" ?[{_CYRILLIC}]+")
_RUNS: Final = tuple(
    [(script, re.compile(f"[{script.letters}]+")) for script in _RUNNING]
    + [(script, re.compile(f" ?[{script.letters}]+")) for script in _SPACED]
)
_ALL_RUNS: Final = re.compile(
    f" ?[{_CYRILLIC}{''.join(script.letters for script in _SPACED)}]+"
    f"|[{_HAN}{''.join(script.letters for script in _RUNNING)}]+"
)
_HAN_RUN: Final = 0.27
_HAN_COMMON: Final = 0.69
_HAN_SECOND_LEVEL: Final = 2.0
_HAN_OTHER: Final = 1.17  # traditional forms above all
_SECOND_LEVEL: Final = bytes(range(0xD8, 0x100))  # first bytes of GB 2312's second level


class _Shape(NamedTuple):
    """What words of one shape cost: each, per split that their letter pairs expect, and per pair."""

    word: float
    split: float
    pair: float
    short_pair: float = 0.0  # per pair of a word of less than four letters


# By what stands before the word (nothing, a space, another character) and by its case.
_LATIN_SHAPES: Final = {
    "none lower": _Shape(0.99, 3.06, -0.143),
    "none Title": _Shape(0.99, 3.06, -0.143),
    "none UPPER": _Shape(0.99, 2.65, -0.172, 0.375),
    "space lower": _Shape(1.0, 2.1, -0.110),
    "space Title": _Shape(1.0, 1.734, -0.061),
    "space UPPER": _Shape(0.99, 0.70, -0.040, 0.11),
    "other lower": _Shape(0.99, 1.79, -0.096),
    "other Title": _Shape(1.02, 2.10, -0.152, 0.5),
    "other UPPER": _Shape(1.04, 2.86, 0.136),
}
_CYRILLIC_SHAPES: Final = {"lower": _Shape(1.02, 1.219, -0.057, 0.02), "UPPER": _Shape(1.08, 3.48, 1.02, 0.61)}
_LEAST_SPLIT: Final = 0.004  # per pair, for words that the linear price would make cheaper than one token
_MOST_SPLIT: Final = 0.55  # per pair: random letters make a token of two on average
_SHORT_WORD: Final = 4
_MOST_WORDS: Final = 40_000


def estimate_tokens(text: str) -> int:
    """Tokens that o200k_base would take for `text`, on average a few per cent too many."""
    tokens = 0.0
    if not text.isascii():
        text, tokens = _other_scripts(text)
    words: list[tuple[str, int]] = []
    for piece, times in Counter(_PIECE.findall(text)).items():
        last = piece[-1]
        if last.isalpha() or "\u0300" <= last <= "\u036f":
            words.append((piece, times))
        elif last.isdigit() and piece.isdigit():
            tokens += times
        elif last.isspace() and piece.isspace():
            tokens += times * (1 + len(piece) // 96)
        else:
            tokens += times * _punctuation_tokens(piece)
    return round(tokens * 1.01 + _word_tokens(words, LATIN, _LATIN_SHAPES)) or (1 if text else 0)


def _other_scripts(text: str) -> tuple[str, float]:
    """Charge the letters of all scripts but Latin, and put a mark in their place."""
    tokens = 0.0
    letters = "".join(set(text))  # what a text holds is seen here faster than by searching it for each script
    if _HAN_RUNS.search(letters):
        tokens += _han_tokens(_HAN_RUNS.findall(text))
    if _CYRILLIC_RUNS.search(letters):
        tokens += _word_tokens(Counter(_CYRILLIC_RUNS.findall(text)).items(), CYRILLIC, _CYRILLIC_SHAPES)
    for script, pattern in _RUNS:
        if pattern.search(letters):
            runs = pattern.findall(text)
            together = "".join(runs)
            tokens += len(runs) * script.per_run + (len(together) - together.count(" ")) * script.per_letter
            if script.per_late_letter:
                tokens += sum(length - _LATE for length in map(len, runs) if length > _LATE) * script.per_late_letter
    return _ALL_RUNS.sub(_MARK, text), tokens


def _han_tokens(runs: list[str]) -> float:
    together = "".join(runs)
    first_bytes = together.encode("gb2312", "ignore")[::2]
    common = len(first_bytes.translate(None, _SECOND_LEVEL))
    second = len(first_bytes) - common
    other = len(together) - len(first_bytes)
    return len(runs) * _HAN_RUN + common * _HAN_COMMON + second * _HAN_SECOND_LEVEL + other * _HAN_OTHER


def _word_tokens(words: Iterable[tuple[str, int]], table: SplitTable, shapes: dict[str, _Shape]) -> float:
    """Tokens of words of an alphabet with a table of splits."""
    by_shape: defaultdict[str, list[float]] = defaultdict(lambda: [0, 0.0, 0, 0])
    chance = table.__getitem__
    for piece, times in _sample(words):
        word = piece if piece[0].isalpha() else piece[1:] or piece
        sums = by_shape[_shape_of(piece, word, shapes)]
        sums[0] += times
        if len(word) >= _SHORT_WORD:
            folded = table.fold(word)
            sums[1] += times * sum(map(chance, map(add, folded, folded[1:])))
            sums[2] += times * (len(word) - 1)
        else:
            sums[3] += times * (len(word) - 1)
    tokens = 0.0
    for name, (count, splits, pairs, short_pairs) in by_shape.items():
        shape = shapes[name]
        extra = splits * shape.split + pairs * shape.pair
        extra = min(max(extra, pairs * _LEAST_SPLIT), pairs * _MOST_SPLIT)
        tokens += count * shape.word + extra + short_pairs * shape.short_pair
    return tokens


def _sample(words: Iterable[tuple[str, int]]) -> Iterable[tuple[str, float]]:
    """The words, or a part that stands for all where so many come only once that the mean of a part is as good."""
    words = list(words)
    if len(words) <= _MOST_WORDS:
        return words
    once = [word for word, times in words if times == 1]
    chosen = once[:: len(once) // _MOST_WORDS + 1]
    share = len(once) / max(len(chosen), 1)
    return [*((word, times) for word, times in words if times > 1), *((word, share) for word in chosen)]


def _shape_of(piece: str, word: str, shapes: dict[str, _Shape]) -> str:
    if word.islower() or not word.isalpha():
        case = "lower"
    elif word[1:].islower() or len(word) == 1:
        case = "Title"
    else:
        case = "UPPER"
    if len(shapes) == len(_CYRILLIC_SHAPES):
        return "UPPER" if case == "UPPER" else "lower"
    before = "none" if len(word) == len(piece) else "space" if piece[0] == " " else "other"
    return f"{before} {case}"


# --- punctuation and pictographs ------------------------------------------------------------------------------------

# Symbols that o200k_base has as tokens of their own; others take two or three.
_SINGLE: Final = frozenset(
    "←↑→↓⇒∀∆−∙√∞∨≈≤≥≫①②③④⑤─━│┃├┣═║╗╝▀▄█▋░▒▓■□▪▫▬▲△▶▷►▼▽◆◇○◎●★☆♀♂♡♥♦♪♫✅✓✔✨❤➡⭐🏻🏼👇👉👌👍👏💕🔥😀😁😂😉😊😍😘😭🙂🙏🤣"
)
_TYPOGRAPHIC: Final = 0.0
# (first, last, tokens per character); the first block that holds a character counts.
_BLOCKS: Final = (
    (0x200D, 0x200D, 1.0),  # the joiner of families and professions
    (0xFE00, 0xFE0F, 0.4),  # picture or text style, part of the token of the most usual hearts and suns
    (0x0080, 0x00FF, _TYPOGRAPHIC),
    (0x0600, 0x0E7F, _TYPOGRAPHIC),
    (0x2000, 0x206F, _TYPOGRAPHIC),
    (0x3000, 0x303F, _TYPOGRAPHIC),
    (0xFF00, 0xFFEF, _TYPOGRAPHIC),
    (0x2070, 0x2BFF, 1.8),
    (0x1F1E6, 0x1F1FF, 2.0),  # half a flag
    (0x1F3FB, 0x1F3FF, 2.0),  # skin tones
    (0x1F600, 0x1F64F, 1.95),  # faces
    (0x1F000, 0x1FFFF, 2.33),
)
_ANY_SYMBOL: Final = 1.6
_PICTOGRAPHS: Final = "\u2600"  # from here on a line break or a space beside them is a token of its own


@functools.lru_cache(4096)
def _symbol_price(character: str) -> float:
    if character in _SINGLE:
        return 1.0
    code = ord(character)
    return next((price for first, last, price in _BLOCKS if first <= code <= last), _ANY_SYMBOL)


def _punctuation_tokens(piece: str) -> float:
    """Tokens of a piece without letters: short ones are one, ornaments grow slowly, random ones per character."""
    core = piece.strip(" \r\n")
    length = len(core)
    if length <= 2 and core.isascii():  # noqa: PLR2004 - o200k_base has all pairs that occur
        return 1.0
    repeated = core == core[0] * length
    if core.isascii():
        if repeated:
            return 1.0 + length // 48
        return 1.0 + 0.22 * (min(length, 5) - 2) + 0.64 * max(0, length - 5)
    if repeated and length > 2 and core[0] < _PICTOGRAPHS:  # noqa: PLR2004
        return max(1.0, _symbol_price(core[0])) * (1 + (length - 1) / 4)
    tokens, typographic, pictographs = 0.0, 0, False
    for character in core:
        price = 0.0 if character < "\x80" else _symbol_price(character)
        tokens += price
        typographic += price == _TYPOGRAPHIC
        pictographs = pictographs or (price > 0 and character >= _PICTOGRAPHS)
    if pictographs:
        tokens += 0.4 * (piece[0] == " ") + (piece[-1] in "\r\n")
    if typographic:
        tokens += (0.7 if tokens else 1.0) + 0.45 * max(0, typographic - 2)
    return max(1.0, tokens)
