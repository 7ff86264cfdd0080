"""What punctuation, symbols and pictographs cost."""

from __future__ import annotations

import functools
import re
from typing import Final

from langchain_tiered_memory.messages._splits import PairPrices

__all__ = ["prefix_tokens", "punctuation_tokens"]

# ASCII punctuation is charged by pairs, as in `_splits_levels.py`: those that programs, data and markup are full of
# (counted in Python, JavaScript, C, shell, HTML and JSON) go together, random ones make two tokens of three characters.
_PUNCTUATION_PAIRS: Final = {
    0.0: (
        '\n\n ! " # $ % & \' ( ) * + - . / : ; < = > ? @ [ \\ ] _ ` { | }!!!="\n""")",":">"]"}#\n##'
        "$_${%%&&'\n')',':';']'}(\n(!(\"($(&('((()(*(@([({)\n)))+),).):);*\n***/++,\n,$,{--->.\n.../._/\n/*//"
        ':\n:"::;\n<!</<?="=$=\'===[={>\n><?:??[\n["[\'[:[]\\\n]\n],].];][]]__{\n{"{}|\n||}\n}`'
    ),
    0.1: (
        '\n/"#"$".";"\\#!$(%;\'\'\'.\'>\'\\(_(`)()\\){*)+\n+=,".":/;&;;<<=>=@>&>,>=>>>{?.@@[$[*[[])]:]=_(_,'
        "_;_|``{'{{}\"})},};}>~~"
    ),
    0.25: ("!?'_)*)])},@.*.</>:[=(=`]+_)|'"),
    0.4: ('"+/^=~[^]}'),
    0.55: ("}]"),
    0.7: ("_["),
    0.85: ("|-}}"),
    1.0: ("\x1b[ \x1b!{#-#\\$\"$'%$%{&$&/&[&\\'|(,*'+{-:-|:|<\"<\\=+=,@,\\%\\)\\+\\=\\>\\@\\{\\|`-{.|["),
}
_PUNCTUATION: Final = {
    0.50: ('"$,-\\'),
    0.65: ("'/:{"),
    0.80: ("!+?]`|"),
    0.95: ("}"),
    1.00: ("~"),
}
_ASCII: Final = PairPrices(_PUNCTUATION_PAIRS, _PUNCTUATION, lambda _: 0.7, start=None)
_REPEATED: Final = re.compile(r"(.)\1{3,}")
_PER_REPEATED: Final = 1 / 56  # o200k_base has lines of up to 64 dashes, stars and dots as tokens

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
    (0x2500, 0x257F, 1.15),  # box drawing
    (0x2300, 0x23FF, 2.7),
    (0x2800, 0x2BFF, 2.9),
    (0x2070, 0x2BFF, 2.0),
    (0x1F1E6, 0x1F1FF, 2.0),  # half a flag
    (0x1F3FB, 0x1F3FF, 2.0),  # skin tones
    (0x1F600, 0x1F64F, 1.95),  # faces
    (0x1F000, 0x1FFFF, 2.33),
)
_ANY_SYMBOL: Final = 1.6
_PICTOGRAPHS: Final = "\u2600"  # from here on a line break or a space beside them is a token of its own


@functools.lru_cache(16384)
def _symbol_price(character: str) -> float:
    if character in _SINGLE:
        return 1.0
    code = ord(character)
    return next((price for first, last, price in _BLOCKS if first <= code <= last), _ANY_SYMBOL)


def prefix_tokens(character: str) -> float:
    """Tokens that a symbol directly before a word adds; a quotation mark is mostly charged with the word."""
    return max(0.0, _symbol_price(character) - 0.3)


def _ascii_tokens(piece: str) -> float:
    short = _REPEATED.sub(r"\1\1\1", piece)
    together = _ASCII.total(short) - _ASCII.letters[short[0]]
    return 1.0 + together + (len(piece) - len(short)) * _PER_REPEATED


def punctuation_tokens(piece: str) -> float:
    """Tokens of a piece without letters: short ones are one, ornaments grow slowly, random ones per character."""
    if piece.isascii():
        return _ascii_tokens(piece)
    core = piece.strip(" \r\n")
    length = len(core)
    repeated = core == core[0] * length
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
