"""Episodes to rows: found by their words and by their vectors, which come in batches and are checked before they go."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory.episodic._rounds import Key
from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings

__all__ = ["Wait", "dimension_of", "embed_keys", "embed_query"]

_BATCH: Final = 64
_TRIES: Final = 3
_PAUSE: Final = 0.25
"""Seconds before the second try; twice as long before the third."""


@dataclass(frozen=True, slots=True)
class Wait:
    """Lets some time pass."""

    seconds: float

    def run(self) -> None:
        """Sleep."""
        time.sleep(self.seconds)

    async def arun(self) -> None:
        """Sleep, and let others work."""
        await asyncio.sleep(self.seconds)


def embed_keys(embeddings: Embeddings | None, keys: Sequence[Key]) -> Steps[list[list[float] | None]]:
    """The vectors of keys, each different text once; nothing is written before all of them are there.

    Args:
        embeddings: The model; `None` for a memory of words only.
        keys: What the episodes are found by.

    Raises:
        MemoryStoreError: The model kept failing, or gave something that is no vector for each text.
    """
    if embeddings is None:
        return [None] * len(keys)
    texts = [text for text in dict.fromkeys(key.text for key in keys) if text.strip()]
    vectors: dict[str, list[float]] = {}
    for start in range(0, len(texts), _BATCH):
        batch = texts[start : start + _BATCH]
        answer = yield from _tried(embeddings, "embed_documents", batch)
        vectors.update(zip(batch, _checked(embeddings, answer, len(batch)), strict=True))
    if len({len(vector) for vector in vectors.values()}) > 1:
        msg = f"{_named(embeddings)} gave vectors of different lengths; nothing was written"
        raise MemoryStoreError(msg)
    # A text of which the model knows nothing has no direction, and is found by its words alone.
    found = (vectors.get(key.text) for key in keys)
    return [vector if vector and any(vector) else None for vector in found]


def embed_query(embeddings: Embeddings, text: str) -> Steps[list[float] | None]:
    """The vector of a question; `None` where the model knows nothing of it.

    Raises:
        MemoryStoreError: As `embed_keys`.
    """
    answer = yield from _tried(embeddings, "embed_query", text)
    (vector,) = _checked(embeddings, [answer], 1)
    return vector if any(vector) else None


def dimension_of(embeddings: Embeddings) -> Steps[int]:
    """The dimension of a model's vectors.

    Raises:
        MemoryStoreError: As `embed_keys`.
    """
    (vector,) = _checked(embeddings, [(yield from _tried(embeddings, "embed_query", "dimension"))], 1)
    return len(vector)


def _tried(embeddings: Embeddings, method: str, argument: object) -> Steps[Any]:
    pause = _PAUSE
    for attempt in range(1, _TRIES + 1):
        try:
            return (yield Call(embeddings, method, (argument,)))
        except Exception as error:  # an embedder raises whatever its provider does
            if attempt == _TRIES:
                msg = (
                    f"{_named(embeddings)}.{method} failed {_TRIES} times, last with {type(error).__name__}: {error}. "
                    "Nothing was written; the same call may be made again"
                )
                raise MemoryStoreError(msg) from error
        yield Wait(pause)
        pause *= 2
    raise AssertionError  # pragma: no cover  # the last try returns or raises


def _checked(embeddings: Embeddings, answer: Any, expected: int) -> list[list[float]]:  # noqa: ANN401  # what a model gives
    """Vectors as lists of finite numbers: Milvus Lite would take NaN, and find the row nowhere and everywhere."""
    try:
        vectors = [[float(number) for number in vector] for vector in answer]
    except (TypeError, ValueError) as error:
        msg = f"{_named(embeddings)} gave {type(answer).__name__} and no list of vectors; nothing was written"
        raise MemoryStoreError(msg) from error
    if len(vectors) != expected or not all(vectors):
        msg = f"{_named(embeddings)} gave {len(vectors)} vectors for {expected} texts; nothing was written"
        raise MemoryStoreError(msg)
    if not all(math.isfinite(number) for vector in vectors for number in vector):
        msg = f"{_named(embeddings)} gave a vector with NaN or infinity in it; nothing was written"
        raise MemoryStoreError(msg)
    return vectors


def _named(embeddings: Embeddings) -> str:
    return type(embeddings).__name__
