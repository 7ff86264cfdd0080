"""Embeddings that need no key and no network, and the name of whatever model somebody passes."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from langchain_core.embeddings import Embeddings

from langchain_tiered_memory._optional import import_optional

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LocalEmbeddings", "model_name_of"]

_NAMES: Final = ("model_name", "model", "model_id", "deployment", "repo_id")
"""Where LangChain's embeddings keep the name of their model, the commonest first."""
_WRAPPED: Final = "underlying_embeddings"  # CacheBackedEmbeddings: its vectors are those of the model inside
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
