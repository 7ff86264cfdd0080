"""A Lua script, as Redis knows it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

__all__ = ["Script"]


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script, which Redis runs in one atomic step and keeps under its digest.

    Attributes:
        text: The source; it gets `KEYS` and `ARGV`.
        repeatable: Whether running it twice is as good as running it once. Then it is sent again when the connection
            was lost before the answer came; otherwise that is an error, since nobody knows whether it ran.
        sha: What Redis knows it by.
    """

    text: str
    repeatable: bool = False
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the digest that Redis takes."""
        digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha", digest)
