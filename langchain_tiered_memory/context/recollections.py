"""What was recalled for the newest turns, remembered for as long as they last."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any, Final

from langchain_core.documents import Document

from langchain_tiered_memory.types import MemoryScope

__all__ = ["Recollections"]

_REMEMBERED: Final = 256
"""How many turns."""


class Recollections:
    """What was recalled for the newest user turns, so that a turn with many tool calls is answered by one recall.

    The prompt of a tool loop only grows at its end: recalled anew at each step, it would change in its middle.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_turn: OrderedDict[tuple[Any, ...], list[Document]] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), ())

    def get(self, key: tuple[Any, ...]) -> list[Document] | None:
        """What was recalled for a turn, if it is still known."""
        with self._lock:
            return self._by_turn.get(key)

    def put(self, key: tuple[Any, ...], documents: list[Document]) -> None:
        """Remember what was recalled for a turn."""
        with self._lock:
            self._by_turn[key] = documents
            self._by_turn.move_to_end(key)
            while len(self._by_turn) > _REMEMBERED:
                self._by_turn.popitem(last=False)

    def forget(self, scope: MemoryScope) -> None:
        """Let go of what was recalled for a user, because it is erased."""
        with self._lock:
            for key in [key for key in self._by_turn if key[0].user_key == scope.user_key]:
                del self._by_turn[key]
