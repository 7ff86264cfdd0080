"""The errors of the package, one tree that a caller can plan for, and its warnings.

```text
TieredMemoryError
├── BudgetExceededError    (ValueError)   what must be sent is larger than the budget
├── ProtocolError          (ValueError)   a message list of which nothing can be sent to a model
├── TranscriptError        (ValueError)   a transcript file that cannot be read as a conversation
├── ProcedureError         (ValueError)   a procedure that cannot be read, or contradicts another (procedural)
├── DatasetError           (ValueError)   a data set that cannot be read (evaluation)
├── EvaluationFailed       (AssertionError)   a report that fell short of its figures (evaluation)
├── SummarizationError                    a summarizer gave nothing that can be used
├── VersionConflictError                  somebody else wrote first
├── MemoryStoreError                      a store could not be reached, read or written
└── ScopeError             (ValueError)   a scope that names no user, or one that cannot be stored
```

An error that is also a `ValueError` says that the call was wrong: the same call will fail again. The others may
succeed when tried again. `VocabularyMissingWarning` (`UserWarning`) says that tokens are estimated.
"""

from __future__ import annotations

from functools import partial
from typing import Any

__all__ = [
    "BudgetExceededError",
    "MemoryStoreError",
    "ProtocolError",
    "ScopeError",
    "SummarizationError",
    "TieredMemoryError",
    "TranscriptError",
    "VersionConflictError",
    "VocabularyMissingWarning",
]


class TieredMemoryError(Exception):
    """Raised for everything that this package can name as its own failure; catch it to catch them all."""


class BudgetExceededError(TieredMemoryError, ValueError):
    """Raised when the messages that may not be dropped are larger than the budget.

    Attributes:
        needed: What those messages take, in `unit`.
        limit: What the budget allows, in `unit`.
        over: `needed - limit`: how much the budget must grow.
        unit: `"tokens"`, `"messages"` or `"rounds"`.
    """

    def __init__(self, message: str, *, needed: int, limit: int, unit: str = "tokens") -> None:
        super().__init__(message)
        self.needed = needed
        self.limit = limit
        self.over = needed - limit
        self.unit = unit

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle with the figures, as a pool of processes does."""
        return partial(type(self), needed=self.needed, limit=self.limit, unit=self.unit), self.args

    @classmethod
    def of(cls, what: str, *, needed: int, limit: int, unit: str = "tokens") -> BudgetExceededError:
        """The error that says how much too large something is, and what would help."""
        return cls(
            f"{what} takes {needed} {unit}, {needed - limit} more than the limit of {limit}: "
            f"raise max_tokens to {needed}, shorten the newest user turn, or pin less",
            needed=needed,
            limit=limit,
            unit=unit,
        )


class ProtocolError(TieredMemoryError, ValueError):
    """Raised when a message list breaks the providers' rules and nothing would be left of it after a repair."""


class TranscriptError(TieredMemoryError, ValueError):
    """Raised when a transcript cannot be read; names the file, the record and the repair."""


class SummarizationError(TieredMemoryError):
    """Raised when a summarizer failed, or wrote something that may not replace what it read."""


class VersionConflictError(TieredMemoryError):
    """Raised when a write expected a version that is no longer the newest.

    Attributes:
        expected: The version that the writer had read.
        actual: The version that the store has now.
        current: What the store has now: a `Fact` for a fact, `None` where there is none, and for a log.
    """

    def __init__(
        self,
        message: str,
        *,
        expected: int,
        actual: int,
        current: Any = None,  # noqa: ANN401  # each tier has its own records
    ) -> None:
        super().__init__(message)
        self.expected = expected
        self.actual = actual
        self.current = current

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle with the versions, as a pool of processes does."""
        made = partial(type(self), expected=self.expected, actual=self.actual, current=self.current)
        return made, self.args


class MemoryStoreError(TieredMemoryError):
    """Raised when a store could not be reached, was locked, or holds something that cannot be read."""


class ScopeError(TieredMemoryError, ValueError):
    """Raised when a read or write of long-term memory names no usable scope."""


class VocabularyMissingWarning(UserWarning):
    """Warned once per encoding when its vocabulary cannot be had and tokens are estimated instead."""
