"""Rows and ids in requests of a bearable size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, TypeAlias

__all__ = ["Fields", "batches", "chunks"]

Fields: TypeAlias = Mapping[str, Any]
"""A row as Milvus takes it, or gives it."""

_ROWS: Final = 500
_BYTES: Final = 8_000_000
"""Below the 64 MB that a server takes in one message, however the texts are encoded."""


def chunks(ids: Sequence[str]) -> Iterator[list[str]]:
    """Ids, so many at a time that their rows fit one answer."""
    for start in range(0, len(ids), _ROWS):
        yield list(ids[start : start + _ROWS])


def batches(fields: Iterable[Fields]) -> Iterator[list[Fields]]:
    """Rows in requests of a bearable size, those of one episode in one request."""
    batch: list[Fields] = []
    size = 0
    for _, parts in groupby(fields, key=lambda one: one["episode"]):
        episode = list(parts)
        weight = sum(4 * (len(one["content"]) + len(one["terms"]) + 5_000) for one in episode)
        if batch and (len(batch) + len(episode) > _ROWS or size + weight > _BYTES):
            yield batch
            batch, size = [], 0
        batch += episode
        size += weight
    if batch:
        yield batch
