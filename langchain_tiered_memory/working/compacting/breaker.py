"""Keeps a summarizer that fails from being asked again before every call."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

__all__ = ["Breaker", "Failing"]

_LONGEST: Final = timedelta(hours=1)
_SESSIONS: Final = 4_096


@dataclass(frozen=True, slots=True)
class Failing:
    """How a session's summarizer is doing.

    Attributes:
        failures: How many tries have failed in a row.
        retry_at: When the next one may be made.
    """

    failures: int
    retry_at: datetime


class Breaker:
    """Waits after each failure of a session twice as long as after the one before, at most an hour.

    Args:
        backoff: Seconds to wait after the first failure.
    """

    def __init__(self, backoff: float) -> None:
        self._backoff = backoff
        self._lock = threading.Lock()
        self._failing: dict[str, Failing] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._backoff,))

    def failures(self, session_id: str) -> int:
        """How many tries have failed in a row."""
        failing = self._failing.get(session_id)
        return failing.failures if failing else 0

    def is_open(self, session_id: str, now: datetime) -> bool:
        """Whether the next try must wait."""
        failing = self._failing.get(session_id)
        return failing is not None and now < failing.retry_at

    def fail(self, session_id: str, now: datetime) -> Failing:
        """Take note of a failure."""
        with self._lock:
            failures = self.failures(session_id) + 1
            wait = min(timedelta(seconds=self._backoff) * 2 ** min(failures - 1, 32), _LONGEST)
            if len(self._failing) >= _SESSIONS and session_id not in self._failing:
                self._failing.pop(next(iter(self._failing)))
            failing = self._failing[session_id] = Failing(failures, now + wait)
            return failing

    def succeed(self, session_id: str) -> None:
        """Take note that it works again."""
        with self._lock:
            self._failing.pop(session_id, None)
