"""Counts tokens of any text in bounded time and stack, whatever tiktoken's regex makes of it.

tiktoken splits a text into pieces by a regex and merges bytes inside each piece. One huge piece (a word of 100,000
letters, a run of spaces, a line of Chinese without punctuation) is slow, and from about a million spaces the regex
engine's stack overflows: a panic that no `except Exception` sees. So a long text is encoded window by window.

A window ends where every encoding's regex is sure to split, which changes nothing. Where a window holds no such place,
it ends at the start of a token that stands well before the window's end: byte pair merges look only at their
neighbourhood, so that token stands there in the whole text too, and what follows it can be encoded on its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["STRAIGHT", "count_pieces"]

STRAIGHT: Final = 16_384  # characters that are encoded in one go, of which no content is slow
_WINDOW: Final = 8_192
_TAIL_BYTES: Final = 512  # more than the longest token (128 bytes) several times over

# A piece of any tiktoken encoding ends after a letter or digit that punctuation or white space follows (an apostrophe
# may open a contraction, so it does not count), and before a space that follows something else than white space.
_SPLIT: Final = re.compile(
    r"(?<=[a-zA-Z0-9\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3])"
    r"(?=[\s!\"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~\u3001\u3002\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f])"
    r"|(?<=\S)(?= )"
)


def count_pieces(encoding: Encoding, text: str) -> int:
    """Tokens of `text`, special tokens in it taken as plain text."""
    if len(text) <= STRAIGHT:
        return len(encoding.encode_ordinary(text))
    # Lone surrogates become U+FFFD, as tiktoken itself does, but before positions are taken.
    if not text.isascii():
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    tokens, at = 0, 0
    while len(text) - at > STRAIGHT:
        cut = _SPLIT.search(text, at + _WINDOW, at + STRAIGHT)
        if cut is not None:
            tokens += len(encoding.encode_ordinary(text[at : cut.start()]))
            at = cut.start()
        else:
            counted, used = _stable_part(encoding, text[at : at + STRAIGHT])
            tokens += counted
            at += used
    return tokens + len(encoding.encode_ordinary(text[at:]))


def _stable_part(encoding: Encoding, window: str) -> tuple[int, int]:
    """How many tokens at the start of `window` do not depend on where it ends, and how many characters they cover."""
    tokens = encoding.encode_ordinary(window)
    tail = b""
    for dropped in range(1, len(tokens)):
        tail = encoding.decode_single_token_bytes(tokens[-dropped]) + tail
        if len(tail) >= _TAIL_BYTES and tail[0] & 0xC0 != 0x80:  # noqa: PLR2004 - a UTF-8 continuation byte
            return len(tokens) - dropped, len(window) - len(tail.decode())
    return len(tokens), len(window)
