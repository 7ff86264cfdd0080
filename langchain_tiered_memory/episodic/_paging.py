"""Reads a collection from one end to the other, long episodes put together, on an event loop and off it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_tiered_memory.episodic.rows import Row, join_parts

__all__ = ["Joiner", "Pages"]


@dataclass(slots=True)
class Pages:
    """Gives the next page of rows each time it is run; `None` at the end.

    Attributes:
        collection: What to read.
        where: Which rows.
        options: Further arguments of `pages`.
    """

    collection: Any
    where: Any
    options: dict[str, Any] = field(default_factory=dict)
    _walk: Iterator[list[Row]] | None = None
    _awalk: AsyncIterator[list[Row]] | None = None

    def run(self) -> list[Row] | None:
        """Read it."""
        if self._walk is None:
            self._walk = iter(self.collection.pages(self.where, **self.options))
        return next(self._walk, None)

    async def arun(self) -> list[Row] | None:
        """Read it, awaited."""
        if self._awalk is None:
            self._awalk = aiter(self.collection.apages(self.where, **self.options))
        return await anext(self._awalk, None)


class Joiner:
    """Puts the parts of long episodes together, whichever pages they come on."""

    def __init__(self) -> None:
        self._parts: dict[str, list[Row]] = {}

    def joined(self, rows: Sequence[Row]) -> list[Row]:
        """The episodes that are whole by now."""
        whole = []
        for row in rows:
            if row.parts == 1:
                whole.append(row)
                continue
            parts = self._parts.setdefault(row.episode, [])
            parts.append(row)
            if len(parts) == row.parts:
                whole.append(join_parts(self._parts.pop(row.episode)))
        return whole

    def rest(self) -> list[Row]:
        """What never became whole; an error where there is any.

        Raises:
            MemoryStoreError: A part of an episode is missing.
        """
        return [join_parts(parts) for parts in self._parts.values()]
