"""The numbers of a session's messages by their ids, for as many of the newest as a process need remember."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final

__all__ = ["KnownIds"]

_MOST: Final = 1_024
_FORGOTTEN: Final = 256


class KnownIds:
    """Which messages a log holds, as far as it was read; a session of years takes no more room than one of days.

    Attributes:
        complete: Whether an id that is not known is in no message of the log that was read.
    """

    __slots__ = ("_numbers", "complete")

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self.complete = True

    def get(self, key: str) -> int | None:
        """The number of the message with this key; `None` where it is not known."""
        return self._numbers.get(key)

    def add(self, numbered: Iterable[tuple[str, int]]) -> None:
        """Learn numbers of messages; what is known already stays."""
        for key, number in numbered:
            self._numbers.setdefault(key, number)
        if len(self._numbers) > _MOST:
            for key in list(islice(self._numbers, _FORGOTTEN)):
                del self._numbers[key]
            self.complete = False
