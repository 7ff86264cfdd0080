"""Whether a server may lose what it has acknowledged, as far as its settings say."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from langchain_tiered_memory.events import MemoryEvent

__all__ = ["StoreMayForget", "reasons_in"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMayForget(MemoryEvent):
    """A server is set up so that it may lose what it has acknowledged; told once per store, at its first use.

    Attributes:
        store: The server's address, without the password.
        reasons: What about it, one sentence each.
    """

    store: str
    reasons: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.store_may_forget"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{self.store} may forget what it acknowledged: {'; '.join(self.reasons)}"


def reasons_in(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Why a server may lose acknowledged data, out of its INFO; `()` where it does not."""
    reasons = []
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        when = "is full" if info.get("maxmemory") else "is given a maxmemory and full"
        reasons.append(
            f"maxmemory-policy is {policy}, so it drops keys when it {when} (set maxmemory-policy noeviction)"
        )
    if not info.get("aof_enabled", 1):
        reasons.append(
            "appendonly is no, so it forgets the writes since its last snapshot when it stops (set appendonly yes)"
        )
    return tuple(reasons)
