"""What a bare text costs: exactly, by the first vocabulary that can be had, or roughly where there is none.

toktok (the extra `offline`) carries its vocabularies inside its wheel, needs no network, and takes time linear in the
text. tiktoken is the second choice: it reads its vocabulary from TIKTOKEN_CACHE_DIR or downloads it once. Both give the
same counts. Libraries and vocabularies are loaded by the first count, once in a process.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final, NamedTuple

from langchain_tiered_memory.errors import VocabularyMissingWarning

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["Vocabulary", "encoding_name", "load_vocabulary", "rough_tokens"]

_BUNDLED: Final = ("o200k_base", "cl100k_base", "o200k_harmony")
# tiktoken downloads without a timeout; where packets are dropped, the system would try for more than two minutes. A
# slow download goes on in its thread and is in tiktoken's cache at the next start.
_LOAD_SECONDS: Final = 4.0


class Vocabulary(NamedTuple):
    """An encoding, ready to count.

    Attributes:
        count: Tokens of a text, special tokens in it taken as the text they are.
        exact: Whether the counts are those of the encoding; otherwise they are `rough_tokens`.
    """

    count: Callable[[str], int]
    exact: bool


_loaded: Final[dict[str, Vocabulary]] = {}
_lock: Final = threading.Lock()


def load_vocabulary(name: str) -> Vocabulary:
    """The vocabulary of an encoding: toktok's, else tiktoken's, else the rough rule and one warning with the cure."""
    with _lock:
        if name in _loaded:
            return _loaded[name]
        failure = ""
        try:
            count = _toktok(name) or functools.partial(_count_in_windows, _tiktoken(name))
        # requests' errors and a timeout are OSErrors, a wrong hash or a broken line is a ValueError, and requests
        # itself may be missing.
        except (OSError, ValueError, ImportError) as error:
            failure, count = type(error).__name__, rough_tokens
        found = _loaded[name] = Vocabulary(count, exact=not failure)
    if failure:
        cure = "pip install 'langchain-tiered-memory[offline]'" if name in _BUNDLED else "set TIKTOKEN_CACHE_DIR"
        msg = f"The vocabulary of {name} could not be loaded ({failure}), so tokens are estimated. Cure: {cure}"
        warnings.warn(msg, VocabularyMissingWarning, stacklevel=2)
    return found


def _toktok(name: str) -> Callable[[str], int] | None:
    try:
        import toktok  # noqa: PLC0415 - optional, and 4.5 MB
    except ImportError:
        return None
    if name not in _BUNDLED:
        return None
    # The encoding object counts a message in 0.3 µs; the public `batch_count` takes 10 µs to set up for each call.
    count: Callable[[str], int] = toktok._encoding(name).count  # noqa: SLF001 - see above; pinned by the extra

    def counted(text: str) -> int:
        try:
            return count(text)
        except UnicodeEncodeError:  # lone surrogates: tiktoken takes each for U+FFFD
            return count(_without_surrogates(text))

    return counted


def _tiktoken(name: str) -> Encoding:
    loaded: Future[Encoding] = Future()

    def load() -> None:
        import tiktoken  # noqa: PLC0415 - slow to import, and not needed beside toktok

        try:
            loaded.set_result(tiktoken.get_encoding(name))
        except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits, and raised there
            loaded.set_exception(error)

    threading.Thread(target=load, name=f"load-{name}", daemon=True).start()
    return loaded.result(_LOAD_SECONDS)


def _without_surrogates(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


# --- tiktoken on long texts -----------------------------------------------------------------------------------------

_STRAIGHT: Final = 16_384  # characters that tiktoken encodes in one go
_TAIL_BYTES: Final = 512  # more than the longest token (128 bytes) several times over
# A piece of any tiktoken encoding ends after a letter or digit that punctuation or white space follows, and before a
# space that follows something else than white space.
_SPLIT: Final = re.compile(r"(?<=[a-zA-Z0-9\u4e00-\u9fff])(?=[\s!\"#$%&()*+,\-./:;<=>?@\[\\\]^_`{|}~])|(?<=\S)(?= )")


def _count_in_windows(encoding: Encoding, text: str) -> int:
    """Tokens of `text` by tiktoken, whose regex overflows its stack (a panic) on a million spaces in one piece.

    A window ends where every encoding is sure to split. Where it holds no such place, it ends at the start of a token
    well before its end: byte pair merges look only at their neighbourhood, so the token starts there in the whole text.
    """
    if len(text) > _STRAIGHT and not text.isascii():
        text = _without_surrogates(text)
    tokens, at = 0, 0
    while len(text) - at > _STRAIGHT:
        cut = _SPLIT.search(text, at + _STRAIGHT // 2, at + _STRAIGHT)
        end = cut.start() if cut else at + _STRAIGHT
        ids = encoding.encode_ordinary(text[at:end])
        tail, kept = b"", len(ids)
        while not cut and kept > 1 and (len(tail) < _TAIL_BYTES or tail[0] & 0xC0 == 0x80):  # noqa: PLR2004 - UTF-8
            kept -= 1
            tail = encoding.decode_single_token_bytes(ids[kept]) + tail
        tokens, at = tokens + kept, end - len(tail.decode())
    return tokens + len(encoding.encode_ordinary(text[at:]))


# --- without a vocabulary -------------------------------------------------------------------------------------------

# Tokens for each match of a pattern, and for each character of it; the classes of characters do not overlap, but for
# the two that add to what long runs of letters cost.
_LETTER: Final = "\u00c0-\u024f\u1e00-\u1eff"
_SCRIPTS: Final = "\u0370-\u052f\u0590-\u06ff\u0900-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3"
_RATES: Final = (
    (rf"[A-Z]?[a-z{_LETTER}]+|[A-Z]+", 0.75, 0.1),  # words, and the parts of identifiers
    (f"[{_LETTER}]", 0.75, 0),  # accents
    (r"[a-zA-Z]{20,}", 0, 0.5),  # no words
    (r"\d[a-zA-Z+/]|[a-zA-Z+/]\d", 0.25, 0),  # hexadecimal, base64
    (r"\d{1,3}", 1.05, 0),
    (r"[\x00-\x08\x0b-\x0c\x0e-\x1f!-/:-@\[-`{-\x7f]+", 0.6, 0.5),  # punctuation, control characters
    (r"[\r\n]+|[ \t]{2,}", 1, 0.02),
    (r"[\u0370-\u052f\u0590-\u06ff]", 0.42, 0),  # Greek, Cyrillic, Hebrew, Arabic
    (r"[\u0900-\u0dff]", 0.5, 0),  # scripts of India
    (r"[\u0e00-\u0eff]", 0.55, 0),  # Thai, Lao
    (r"[\u3040-\u30ff]", 0.85, 0),  # Kana
    (r"[\u3400-\u9fff]", 0.9, 0),  # Han
    (r"[\uac00-\ud7a3]", 0.85, 0),  # Hangul
    (rf"[^\x00-\x7f{_LETTER}{_SCRIPTS}]", 1.8, 0),  # pictographs, symbols, full-width forms, all other scripts
)


def rough_tokens(text: str) -> int:
    """About what `text` costs in o200k_base, by scripts and kinds of characters, for where there is no vocabulary.

    Between 0.9 and 1.6 times the truth in prose of thirteen languages, code, JSON, logs, tables, hexadecimal, base64
    and emoji, and above it in most. It falls short where short words are random letters.
    """
    tokens = 0.0
    for pattern, each, per_character in _RATES:
        found = re.findall(pattern, text)
        tokens += each * len(found) + (per_character * sum(map(len, found)) if per_character else 0)
    return math.ceil(tokens)


# --- names of models ------------------------------------------------------------------------------------------------


def encoding_name(model_or_encoding: str) -> tuple[str, str]:
    """The encoding and the bare model name that a model or encoding is called by.

    Understands what LangChain and OpenAI write: `"gpt-4o"`, dated and fine-tuned names (`"ft:gpt-4o:org::id"`),
    `"openai:gpt-4o"`, `"azure/gpt-4o"` and encodings (`"cl100k_base"`, or one of an installed tiktoken plugin).

    Raises:
        ValueError: If nothing is known under that name: a wrong vocabulary would be silently wrong.
    """
    if model_or_encoding in _BUNDLED:
        return model_or_encoding, model_or_encoding
    from tiktoken import registry  # noqa: PLC0415 - only where a counter is made for a model
    from tiktoken.model import encoding_name_for_model  # noqa: PLC0415 - as above

    # tiktoken holds its registry's lock while it downloads, perhaps for ever; what it knows can be read without.
    encodings = list(registry.ENCODING_CONSTRUCTORS or registry.list_encoding_names())
    if model_or_encoding in encodings:
        return model_or_encoding, model_or_encoding
    for name in _spellings(model_or_encoding):
        for candidate in (name, f"{name}-"):  # tiktoken knows some families by their dated names only
            try:
                return encoding_name_for_model(candidate), name
            except KeyError:
                continue
    msg = (
        f"No tiktoken encoding is known for {model_or_encoding!r}. Pass an OpenAI model name such as 'gpt-4o', an "
        f"encoding ({', '.join(encodings)}), or use EstimatingCounter() for other vendors' models; "
        f"a chat model itself can be given as token_counter too."
    )
    raise ValueError(msg)


def _spellings(name: str) -> list[str]:
    """The name as it is, then without provider, then the base model that was fine-tuned."""
    whole = name.strip().lower()
    provider, _, rest = whole.rpartition("/")[2].partition(":")
    bare = rest if rest and provider != "ft" else whole.rpartition("/")[2]
    # tiktoken takes every "ft:gpt-4..." for GPT-4, GPT-4.1 too; the base model's own name tells them apart.
    return [bare.split(":")[1]] if bare.startswith("ft:") else [whole, bare]
