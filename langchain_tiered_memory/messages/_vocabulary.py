"""Finds tiktoken's vocabularies: by model name, lazily, with a deadline, and without a second try after a failure."""

from __future__ import annotations

import sys
import threading
import warnings
from concurrent.futures import Future
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tiktoken import Encoding

__all__ = ["VocabularyMissingWarning", "encoding_name", "load_encoding"]

# tiktoken downloads without a timeout; where packets are dropped, the system would try for more than two minutes.
_LOAD_SECONDS: Final = 20.0
_REASON: Final = 200  # characters of the failure's own words that a warning repeats
_FINE_TUNED: Final = "ft"

_missing: dict[str, str] = {}
_lock = threading.Lock()


class VocabularyMissingWarning(UserWarning):
    """Warned once per encoding when its vocabulary cannot be had and tokens are estimated instead."""


def encoding_name(model_or_encoding: str) -> tuple[str, str]:
    """The encoding and the bare model name that a model or encoding is called by.

    Understands what LangChain and OpenAI write: `"gpt-4o"`, dated and fine-tuned names (`"ft:gpt-4o:org::id"`),
    `"openai:gpt-4o"`, `"azure/gpt-4o"` and encodings (`"cl100k_base"`, or one of an installed tiktoken plugin).

    Raises:
        ValueError: If nothing is known under that name: a wrong vocabulary would be silently wrong.
    """
    from tiktoken.model import encoding_name_for_model  # noqa: PLC0415 - only imported where a counter is made

    encodings = _encodings()
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
        f"encoding ({', '.join(encodings)}), or use EstimatingCounter(), which needs no vocabulary; "
        f"a chat model itself can be given as token_counter too."
    )
    raise ValueError(msg)


def _encodings() -> list[str]:
    """The encodings that tiktoken and its plugins know."""
    from tiktoken import registry  # noqa: PLC0415 - as above

    # tiktoken holds its registry's lock while it downloads, perhaps for ever; what it knows can be read without.
    known = registry.ENCODING_CONSTRUCTORS
    return list(known) if known is not None else registry.list_encoding_names()


def _spellings(name: str) -> list[str]:
    """The name as it is, then without provider, then the base model that was fine-tuned."""
    whole = name.strip().lower()
    bare = whole.rpartition("/")[2]
    provider, colon, rest = bare.partition(":")
    if colon and provider != _FINE_TUNED:
        bare = rest
    if bare.startswith(f"{_FINE_TUNED}:"):
        # tiktoken takes every "ft:gpt-4..." for GPT-4, GPT-4.1 too; the base model's own name tells them apart.
        return [bare.split(":")[1]]
    return list(dict.fromkeys((whole, bare)))


def load_encoding(name: str) -> Encoding | None:
    """The vocabulary of an encoding, or `None` (and one warning with the cure) where it cannot be had."""
    if name in _missing:
        return None
    loaded: Future[Encoding] = Future()
    threading.Thread(target=_load, args=(name, loaded), name=f"load-{name}", daemon=True).start()
    try:
        return loaded.result(_LOAD_SECONDS)
    # requests' errors and a timeout are OSErrors, a wrong hash or a broken line is a ValueError, and requests itself
    # may be missing.
    except (OSError, ValueError, ImportError) as error:
        _warn_once(name, error)
        return None


def _load(name: str, loaded: Future[Encoding]) -> None:
    import tiktoken  # noqa: PLC0415

    try:
        loaded.set_result(tiktoken.get_encoding(name))
    except BaseException as error:  # noqa: BLE001 - carried over to the thread that waits, and raised there
        loaded.set_exception(error)


def _warn_once(name: str, error: Exception) -> None:
    with _lock:
        if name in _missing:
            return
        reason = " ".join(str(error).split())
        reason = reason if len(reason) <= _REASON else f"{reason[:_REASON]}..."
        _missing[name] = f"{type(error).__name__}: {reason}" if reason else type(error).__name__
    msg = (
        f"The vocabulary of {name} could not be loaded ({_missing[name]}), so tokens are estimated instead. "
        f"For exact counts set TIKTOKEN_CACHE_DIR to a folder that holds the vocabulary, or install a tiktoken plugin "
        f"that ships it (a module in the tiktoken_ext namespace), and start again."
    )
    warnings.warn(msg, VocabularyMissingWarning, stacklevel=_levels_to_caller())


def _levels_to_caller() -> int:
    """How far up the first frame of the user's is, so that the warning shows their own line."""
    between = {__name__.partition(".")[0], "langchain_core", "pydantic"}
    frame, level = sys._getframe(1), 1  # noqa: SLF001 - what warnings' own skip_file_prefixes does from Python 3.12 on
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in between:
        frame, level = frame.f_back, level + 1
    return level
