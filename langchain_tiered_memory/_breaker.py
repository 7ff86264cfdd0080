"""One circuit breaker for models and stores: what keeps failing is not asked again before every call."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

__all__ = ["Breaker", "Failing"]

_LONGEST: Final = timedelta(hours=1)
_KEYS: Final = 4_096


@dataclass(frozen=True, slots=True)
class Failing:
    """What is known of a key that fails.

    Attributes:
        failures: How many tries have failed in a row.
        retry_at: When the next one may be made.
    """

    failures: int
    retry_at: datetime


class Breaker:
    """Waits after each failure of a key (a session, a server) twice as long as after the one before.

    Args:
        backoff: Seconds to wait after the first failure.
        longest: The longest wait, an hour unless told otherwise.
    """

    def __init__(self, backoff: float, *, longest: timedelta = _LONGEST) -> None:
        self._backoff = backoff
        self._longest = longest
        self._lock = threading.Lock()
        self._failing: dict[str, Failing] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self._backoff, self._longest))

    def failures(self, key: str) -> int:
        """How many tries have failed in a row."""
        failing = self._failing.get(key)
        return failing.failures if failing else 0

    def is_open(self, key: str, now: datetime) -> bool:
        """Whether the next try must wait."""
        failing = self._failing.get(key)
        return failing is not None and now < failing.retry_at

    def fail(self, key: str, now: datetime) -> Failing:
        """Record a failure."""
        with self._lock:
            failures = self.failures(key) + 1
            wait = min(timedelta(seconds=self._backoff) * 2 ** min(failures - 1, 32), self._longest)
            if len(self._failing) >= _KEYS and key not in self._failing:
                self._failing.pop(next(iter(self._failing)))
            failing = self._failing[key] = Failing(failures, now + wait)
            return failing

    def succeed(self, key: str) -> bool:
        """Record a success, and say whether it ends a series of failures."""
        with self._lock:
            return self._failing.pop(key, None) is not None


def _restored(backoff: float, longest: timedelta) -> Breaker:
    return Breaker(backoff, longest=longest)
