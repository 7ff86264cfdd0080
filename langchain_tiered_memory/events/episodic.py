"""Events of the episodic tier: what was remembered, recalled and forgotten of a user."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import ClassVar

from langchain_tiered_memory.events.event import MemoryEvent

__all__ = [
    "EpisodesAvailable",
    "EpisodesForgotten",
    "EpisodesRecalled",
    "EpisodesRemembered",
    "EpisodesUnavailable",
    "EpisodicEvent",
    "RecallDegraded",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodicEvent(MemoryEvent):
    """Something that happened to a user's episodes; `session_id` is "" where it is about all their sessions.

    Attributes:
        tenant_id: The tenant.
        user_id: The user.
    """

    tenant_id: str
    user_id: str
    name: ClassVar[str] = "tiered_memory.episodes"
    level: ClassVar[int] = logging.DEBUG

    def describe(self) -> str:
        """Say it in one line."""
        session = f", session {self.session_id!r}" if self.session_id else ""
        return f"user {self.user_id!r}{session}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesRemembered(EpisodicEvent):
    """Episodes were written.

    Attributes:
        ids: Their ids.
    """

    ids: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.episodes_remembered"

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {len(self.ids)} episodes remembered"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesRecalled(EpisodicEvent):
    """A question was answered from the episodes.

    Attributes:
        ids: The ids of what was given, best first.
        seconds: How long it took, the embedding of the question included.
    """

    ids: tuple[str, ...]
    seconds: float
    name: ClassVar[str] = "tiered_memory.episodes_recalled"

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {len(self.ids)} episodes recalled in {self.seconds * 1_000:.0f} ms"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesForgotten(EpisodicEvent):
    """Episodes were deleted for good.

    Attributes:
        count: How many.
    """

    count: int
    name: ClassVar[str] = "tiered_memory.episodes_forgotten"
    level: ClassVar[int] = logging.INFO

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: {self.count} episodes forgotten"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallDegraded(EpisodicEvent):
    """The embedding model failed, so a question was answered by its words alone.

    Attributes:
        error: Why.
    """

    error: Exception
    name: ClassVar[str] = "tiered_memory.recall_degraded"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: recalled by words alone: {self.error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesUnavailable(MemoryEvent):
    """Milvus went away. Said once for each outage, with the call that met it first.

    Attributes:
        error: Why.
    """

    error: Exception
    name: ClassVar[str] = "tiered_memory.episodes_unavailable"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"episodes are unavailable: {self.error}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesAvailable(MemoryEvent):
    """Milvus is back. Said once at the end of each outage.

    Attributes:
        error: What the outage began with.
    """

    error: Exception
    name: ClassVar[str] = "tiered_memory.episodes_available"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"episodes are available again, after: {self.error}"
