"""Embeddings that need no key and no network, and the name of whatever model somebody passes."""

from __future__ import annotations

import asyncio
import logging
import math
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from langchain_core.embeddings import Embeddings

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._sync import Caller
from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from langchain_tiered_memory.episodic.ranking import Kind

__all__ = ["LocalEmbeddings", "clean", "dimension_of", "embed_question", "embed_texts", "kind_of", "model_name_of"]

T = TypeVar("T")

_NAMES: Final = ("model_name", "model", "model_id", "deployment", "repo_id")
"""Where LangChain's embeddings keep the name of their model, the commonest first."""
_WRAPPED: Final = "underlying_embeddings"  # CacheBackedEmbeddings: its vectors are those of the model inside
_BATCH: Final = 64  # texts that are embedded at a time
_TRIES: Final = 3
_PAUSE: Final = 0.25
"""Seconds before the second try; twice as long before the third."""
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_PIECE: Final = 16_384  # characters whose token vectors are held in memory at once


class LocalEmbeddings(Embeddings):
    """Embeddings from a static model inside the wordllama wheel: no key, no download, no torch.

    A text's vector is the mean of its tokens' vectors, so it costs well under a millisecond and knows words, not
    sentences. It is meant to stand beside a search by words, where it adds one to two points of recall
    (tests/benchmarks/bench_locomo.py); a real embedding model adds more.

    ```python
    from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings

    vector = LocalEmbeddings().embed_query("What does Ada drink?")
    assert len(vector) == LocalEmbeddings.dimension == 256
    ```

    Any text is taken: lone surrogates and NUL are read as other unknown characters, a long text is read whole, piece by
    piece in bounded memory, and a text without a token (an empty one) has a vector of its own, since a store takes no
    vector of length 0. The model is loaded on first use, once, and may be used by any number of threads.

    Attributes:
        model_name: Which model it is, as stores record it.
        dimension: Numbers in a vector; each vector has the length 1.

    Raises:
        ImportError: On first use: wordllama is not installed; names the extra.
    """

    model_name: Final = "wordllama-l2_supercat-256"
    dimension: Final = 256

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: Any = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector for each text, in order."""
        return [self._vector(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one text; questions and texts are embedded alike."""
        vector: list[float] = self._vector(text).tolist()
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """`embed_documents` in a thread, off the event loop."""
        return await asyncio.to_thread(self.embed_documents, texts)

    async def aembed_query(self, text: str) -> list[float]:
        """`embed_query` in a thread, off the event loop."""
        return await asyncio.to_thread(self.embed_query, text)

    def knows(self, text: str) -> bool:
        """Whether it has something to say of a text: half of its letters are Latin, which it was trained on."""
        letters = [letter for letter in text[:_PIECE] if letter.isalpha()]
        return 2 * sum(letter < "\u0250" for letter in letters) >= len(letters)

    def __getstate__(self) -> dict[str, Any]:
        """Nothing but the class: the model is loaded again where it is unpickled."""
        return {}

    def __setstate__(self, _: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]  # there is no other state

    def _vector(self, text: str) -> NDArray[np.float32]:
        model = self._loaded()
        import numpy as np  # noqa: PLC0415  # comes with wordllama, and takes time to import

        total = np.zeros(self.dimension, dtype=np.float64)
        for piece in _pieces(text):
            tokens = model.tokenizer.encode(piece, add_special_tokens=False).ids
            total += model.embedding[tokens].sum(axis=0, dtype=np.float64)
        length = float(np.linalg.norm(total))
        if length == 0.0:
            total, length = np.ones(self.dimension), self.dimension**0.5
        vector: NDArray[np.float32] = (total / length).astype(np.float32)
        return vector

    def _loaded(self) -> Any:  # noqa: ANN401  # the library has no types
        if self._model is not None:
            return self._model
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:  # noqa: ANN401  # as above
    """The model out of the wheel; never out of a cache in the user's home, nor from the network."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    wordllama = import_optional("wordllama", needed_by="LocalEmbeddings")
    # Importing it sets up the application's logging (logging.basicConfig), which is not a library's to do.
    root.handlers[:] = handlers
    root.setLevel(level)
    model = wordllama.WordLlama.load(cache_dir=Path(str(wordllama.__file__)).parent, dim=256, disable_download=True)
    model.tokenizer.no_padding()
    return model


def _pieces(text: str) -> Iterator[str]:
    """The text as the tokenizer takes it, in pieces that end at a space where there is one."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", " ")
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            space = text.rfind(" ", start, end)
            end = space if space > start else end
        yield text[start:end]
        start = end


def model_name_of(embeddings: Embeddings) -> str:
    """The name of the model behind an `Embeddings`: its class, and what it says its model is.

    Vectors of two models are not comparable, so a store records the name and compares it when it is opened. A cache
    around a model goes by the model's name.
    """
    inner = getattr(embeddings, _WRAPPED, None)
    if isinstance(inner, Embeddings):
        return model_name_of(inner)
    kind = type(embeddings).__name__
    for attribute in _NAMES:
        name = getattr(embeddings, attribute, None)
        if isinstance(name, str) and name:
            return f"{kind}:{name}"
    return kind


def kind_of(embeddings: Embeddings | None) -> Kind:
    """Which weights the ranking has for an embedding model."""
    if embeddings is None:
        return "none"
    inner = getattr(embeddings, _WRAPPED, None)
    if isinstance(inner, Embeddings):
        return kind_of(inner)
    return "static" if isinstance(embeddings, LocalEmbeddings) else "transformer"


def clean(text: str) -> str:
    """A text that every embedding model and store takes: lone surrogates and NUL are no characters to them."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", " ")


# --- embedding, with other tries --------------------------------------------------------------------------------------


async def embed_texts(caller: Caller, embeddings: Embeddings | None, texts: Sequence[str]) -> list[list[float] | None]:
    """The vector of each text, each different text embedded once, so that all are there before anything is written.

    `None` stands for a text of which the model knows nothing, or for all of them where there is no model.

    Raises:
        MemoryStoreError: The model kept failing, or gave something that is no vector for each text.
    """
    if embeddings is None:
        return [None] * len(texts)
    different = [text for text in dict.fromkeys(texts) if text.strip()]
    vectors: dict[str, list[float]] = {}
    for start in range(0, len(different), _BATCH):
        batch = different[start : start + _BATCH]
        answer = await _tried(caller, embeddings, embeddings.embed_documents, embeddings.aembed_documents, batch)
        vectors.update(zip(batch, _checked(embeddings, answer, len(batch)), strict=True))
    if len({len(vector) for vector in vectors.values()}) > 1:
        msg = f"{type(embeddings).__name__} gave vectors of different lengths; nothing was written"
        raise MemoryStoreError(msg)
    found = (vectors.get(text) for text in texts)
    return [vector if vector and any(vector) else None for vector in found]


async def embed_question(caller: Caller, embeddings: Embeddings, text: str) -> list[float] | None:
    """The vector of a question; `None` where the model knows nothing of it.

    Raises:
        MemoryStoreError: As `embed_texts`.
    """
    if isinstance(embeddings, LocalEmbeddings) and not embeddings.knows(text):
        return None
    answer = await _tried(caller, embeddings, embeddings.embed_query, embeddings.aembed_query, clean(text))
    (vector,) = _checked(embeddings, [answer], 1)
    return vector if any(vector) else None


async def dimension_of(caller: Caller, embeddings: Embeddings) -> int:
    """The dimension of a model's vectors.

    Raises:
        MemoryStoreError: As `embed_texts`.
    """
    answer = await _tried(caller, embeddings, embeddings.embed_query, embeddings.aembed_query, "dimension")
    return len(_checked(embeddings, [answer], 1)[0])


async def _tried(
    caller: Caller,
    embeddings: Embeddings,
    embed: Callable[[T], object],
    aembed: Callable[[T], Awaitable[object]],
    given: T,
) -> object:
    import tenacity  # noqa: PLC0415  # comes with langchain-core

    attempts = tenacity.AsyncRetrying(
        sleep=caller.sleep,
        stop=tenacity.stop_after_attempt(_TRIES),
        wait=tenacity.wait_exponential(_PAUSE),
        retry=tenacity.retry_if_exception_type(Exception),
        reraise=True,
    )
    try:
        return await attempts(caller.call, embed, aembed, given)
    except Exception as error:  # an embedder raises whatever its provider does
        msg = (
            f"{type(embeddings).__name__}.{embed.__name__} failed {_TRIES} times, last with {type(error).__name__}: "
            f"{error}. Nothing was written; the same call may be made again"
        )
        raise MemoryStoreError(msg) from error


def _checked(embeddings: Embeddings, answer: object, expected: int) -> list[list[float]]:
    """Vectors as lists of finite numbers: Milvus Lite would take NaN, and find the row nowhere and everywhere."""
    named = type(embeddings).__name__
    try:
        vectors = [list(map(float, vector)) for vector in answer]  # type: ignore[attr-defined]  # else below
    except (TypeError, ValueError) as error:
        msg = f"{named} gave {type(answer).__name__} and no list of vectors; nothing was written"
        raise MemoryStoreError(msg) from error
    if len(vectors) != expected or not all(vectors):
        msg = f"{named} gave {len(vectors)} vectors for {expected} texts; nothing was written"
        raise MemoryStoreError(msg)
    if not all(all(map(math.isfinite, vector)) for vector in vectors):
        msg = f"{named} gave a vector with NaN or infinity in it; nothing was written"
        raise MemoryStoreError(msg)
    return vectors
