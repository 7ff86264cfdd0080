"""What this process wrote lately, so that a read waits for its own writes only where it asks for one of them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

__all__ = ["RecentIds", "RecentWrites", "recent_writes"]

_MOST: Final = 20_000
"""Ids that are kept of a kind; a server takes in a row within a second, far sooner than so many others come."""

_known: dict[tuple[str, str], RecentWrites] = {}
_guard = threading.Lock()


class RecentIds:
    """The last ids of a kind."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._ids: OrderedDict[str, None] = OrderedDict()

    def add(self, ids: Iterable[str]) -> None:
        """Note ids, before they are sent."""
        with self._guard:
            for one in ids:
                self._ids[one] = None
                self._ids.move_to_end(one)
            while len(self._ids) > _MOST:
                self._ids.popitem(last=False)

    def has_any(self, ids: Iterable[str]) -> bool:
        """Whether one of these is among them."""
        with self._guard:
            return any(one in self._ids for one in ids)


@dataclass(frozen=True, slots=True)
class RecentWrites:
    """What this process wrote or deleted in one collection, through whichever object.

    Attributes:
        rows: Ids of rows.
        users: Whose they are.
    """

    rows: RecentIds = field(default_factory=RecentIds)
    users: RecentIds = field(default_factory=RecentIds)


def recent_writes(uri: str, collection: str) -> RecentWrites:
    """Those of a collection, the same for every object of this process, as Milvus' level Session is."""
    with _guard:
        return _known.setdefault((uri, collection), RecentWrites())
