"""What a word or a run of letters costs, from what each pair of its characters weighs.

A tokenizer keeps frequent sequences whole and cuts rare ones, so the pairs of a text tell how finely it will be cut:
"in" and "er" are seldom cut, "qz" nearly always. That tells prose from identifiers, English from Turkish and common
words from names, without a word list.

* Words between spaces (`WordTable`): tokens are `1 + log(1 + e^z)`, where z is linear in the pairs' weights and in the
  length, so that a common word is one token and a long rare one grows evenly.
* Writing without spaces (`PairPrices`): a pair's price is the mean number of tokens that begin in its second character.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from itertools import repeat
from operator import add
from typing import Final, NamedTuple

__all__ = ["PairPrices", "Shape", "WordTable", "run_tokens", "word_tokens"]

_LEAST_WEIGHT: Final = -2.0
_STEP: Final = 0.15
_MOST_PER_LETTER: Final = 0.75  # random letters make tokens of two or a few more
_LONG_WORD: Final = 24  # from here on that bound holds; no fitted word was longer
_REPEATED: Final = re.compile(r"(.)\1{4,}")
_PER_REPEATED: Final = 1 / 8  # o200k_base has up to eight or sixteen of most letters as a token
_LARGE: Final = 30.0  # where log(1 + e^z) is z
_MOST_WORDS: Final = 10_000


class Shape(NamedTuple):
    """How words of one shape weigh: each, per unit of their pairs' weight, and per character."""

    word: float
    pairs: float
    length: float


def _by_size(levels: Mapping[float, str], size: int) -> dict[str, float]:
    return {text[at : at + size]: value for value, text in levels.items() for at in range(0, len(text), size)}


class _LetterPrices(dict[str, float]):
    """Prices of single characters; those not listed get their class's when they first come."""

    def __init__(self, listed: Mapping[str, float], of_class: Callable[[str], float]) -> None:
        super().__init__(listed)
        self._of_class = of_class

    def __missing__(self, character: str) -> float:
        price = self[character] = self._of_class(character)
        return price


class PairPrices:
    """Prices by pair of characters: of the listed pairs, else of the second character, else of its class.

    They are kept as prices of characters and as what the listed pairs and triples change, because most make none.

    Args:
        pairs: The listed pairs by price, written one after another.
        letters: The listed single characters by price.
        of_class: The price of any other character.
        start: What `^`, the beginning of a run or word, adds outside listed pairs; `None` if it is a character.
        triples: Triples whose last character has another price than its pair says, by price.
    """

    def __init__(
        self,
        pairs: Mapping[float, str],
        letters: Mapping[float, str],
        of_class: Callable[[str], float],
        *,
        start: float | None = 0.0,
        triples: Mapping[float, str] | None = None,
    ) -> None:
        of_letters = _by_size(letters, 1) | ({} if start is None else {"^": start, " ": 0.0})
        self.letters = _LetterPrices(of_letters, of_class)
        of_pairs = _by_size(pairs, 2)
        added = {"^": start or 0.0}
        self.pairs = {pair: price - self.letters[pair[1]] - added.get(pair[0], 0.0) for pair, price in of_pairs.items()}
        self.triples = {
            triple: price - of_pairs.get(triple[1:], self.letters[triple[2]])
            for triple, price in _by_size(triples or {}, 3).items()
        }

    def total(self, text: str) -> float:
        """The sum of the prices of all characters of a text."""
        pairs = list(map(add, text, text[1:]))
        tokens = sum(map(self.letters.__getitem__, text)) + sum(map(self.pairs.get, pairs, repeat(0.0)))
        if self.triples:
            tokens += sum(map(self.triples.get, map(add, pairs, text[2:]), repeat(0.0)))
        return tokens


class WordTable:
    """The weights of a script's pairs, and the shapes its words come in.

    Args:
        letters: The alphabet of `rows`, or the weights themselves for a script of syllables.
        rows: A row of digits for each first letter; see `_splits_rows.py`.
        triples: What some triples weigh beyond their pairs, by weight.
        shapes: By case ("lower", "Title", "UPPER"), or by what stands before the word and its case ("space lower").
    """

    def __init__(
        self,
        letters: str | PairPrices,
        rows: tuple[str, ...] = (),
        shapes: Mapping[str, Shape] | None = None,
        triples: Mapping[float, str] | None = None,
    ) -> None:
        self.shapes = dict(shapes or {})
        self.triples = _by_size(triples or {}, 3)
        self.cased = len(self.shapes) > 1
        self.by_prefix = "none lower" in self.shapes
        self._others: re.Pattern[str] | None = None
        self.weights: dict[str, float] = {}
        self.syllables = letters if isinstance(letters, PairPrices) else None
        if isinstance(letters, PairPrices):
            return
        pairs = (first + second for first in f"^ {letters}~" for second in f"{letters}~$")
        digits = zip(pairs, "".join(rows), strict=True)
        self.weights = {pair: _LEAST_WEIGHT + _STEP * int(digit, 36) for pair, digit in digits}
        self._others = re.compile(f"[^{letters}]")

    def spell(self, piece: str, word: str) -> str:
        """The characters whose pairs are looked up: what stands before the word, its letters folded, its end."""
        before = " " if piece[0] == " " else "^"
        if self._others is None:
            return before + word
        return f"{before}{self._others.sub('~', word.lower())}$"

    def weigh(self, spelt: str) -> float:
        """The weight of a spelt word."""
        if self.syllables is not None:
            return self.syllables.total(spelt)
        pairs = list(map(add, spelt, spelt[1:]))
        weight = sum(map(self.weights.__getitem__, pairs))
        if self.triples:
            weight += sum(map(self.triples.get, map(add, pairs, spelt[2:]), repeat(0.0)))
        return weight

    def shape_of(self, piece: str, word: str) -> str:
        """The name of a word's shape."""
        if not self.cased or word.islower() or word.lower() == word:
            case = "lower"
        elif len(word) == 1 or word[1:].islower():
            case = "Title"
        else:
            case = "UPPER"
        if not self.by_prefix:
            return case
        before = "none" if len(word) == len(piece) else "space" if piece[0] == " " else "other"
        return f"{before} {case}"


def word_tokens(words: Iterable[tuple[str, int]], table: WordTable) -> float:
    """Tokens of words, each with the space or other character before it and how often it comes."""
    tokens = 0.0
    for piece, times in _sample(words):
        word = (
            piece if piece[0].isalpha() or piece[0] == "'" or "\u0300" <= piece[0] <= "\u036f" else piece[1:] or piece
        )
        shape = table.shapes[table.shape_of(piece, word)]
        weight = table.weigh(table.spell(piece, word))
        z = shape.word + shape.pairs * weight + shape.length * len(piece)
        more = z if z > _LARGE else math.log1p(math.exp(z))
        if len(word) > _LONG_WORD and table.syllables is None:
            short = _REPEATED.sub(r"\1\1\1\1", word)
            more = min(more, _MOST_PER_LETTER * len(short) + _PER_REPEATED * (len(word) - len(short)))
        tokens += times * (1.0 + more)
    return tokens


def run_tokens(runs: list[str], prices: PairPrices) -> float:
    """Tokens of runs of characters that are written without spaces."""
    return prices.total("^^" + "^^".join(runs))


def _sample(words: Iterable[tuple[str, int]]) -> Iterable[tuple[str, float]]:
    """The words, or a part that stands for all where so many come only once that the mean of a part is as good."""
    words = list(words)
    if len(words) <= _MOST_WORDS:
        return words
    once = [word for word, times in words if times == 1]
    chosen = once[:: len(once) // _MOST_WORDS + 1]
    share = len(once) / max(len(chosen), 1)
    return [*((word, times) for word, times in words if times > 1), *((word, share) for word in chosen)]
