"""Everything that is kept of somebody, in all tiers: as plain data, or gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import message_to_dict

from langchain_tiered_memory._driving import Call, Steps, adrive, drive
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.records import Fact
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.wiring.naming import is_of, prefixes_of, session_of
from langchain_tiered_memory.working.log import LogEntry, MessageLog

__all__ = ["Erased", "aexported", "erased", "exported"]


@dataclass(frozen=True, slots=True)
class Erased:
    """What an erasure took away, each tier read back afterwards.

    Attributes:
        sessions: Sessions that are gone, with their summaries.
        messages: Messages that were in them.
        episodes: Episodes.
        facts: Versions of facts.
    """

    sessions: int
    messages: int
    episodes: int
    facts: int

    @property
    def total(self) -> int:
        """Records that went."""
        return self.messages + self.episodes + self.facts


def erased(log: MessageLog, episodes: EpisodicMemory, facts: FactStore, scope: MemoryScope) -> Steps[Erased]:
    """Erase a scope in all tiers, and read each back.

    The log goes first: what is not in it cannot become an episode again.

    Raises:
        MemoryStoreError: A store does not answer, or holds something still, which others may be writing.
    """
    names: list[str] = yield from _sessions(log, scope)
    messages: int = yield Call(log, "erase", tuple(names))
    gone_episodes: int = yield Call(episodes, "forget", (), {"scope": scope, "cursors": True})
    gone_facts: int = yield Call(facts, "erase", (scope,))
    left = {
        "sessions": len((yield from _sessions(log, scope))),
        "episodes": (yield Call(episodes, "count", (scope,))),
        "facts": len((yield Call(facts, "export", (scope,)))),
    }
    if any(left.values()):
        found = ", ".join(f"{count} {what}" for what, count in left.items() if count)
        msg = f"{scope} still has {found} after it was erased: stop whoever is writing for it, and erase again"
        raise MemoryStoreError(msg)
    return Erased(len(names), messages, gone_episodes, gone_facts)


def _sessions(log: MessageLog, scope: MemoryScope) -> Steps[list[str]]:
    """The names of a scope's sessions in the log."""
    found: list[str] = []
    for prefix in prefixes_of(scope):
        names: list[str] = yield Call(log, "sessions", (prefix,))
        found += [name for name in names if is_of(name, scope)]
    return found


def exported(
    log: MessageLog, episodes: EpisodicMemory, facts: FactStore, scope: MemoryScope
) -> Iterator[dict[str, Any]]:
    """Everything that is kept of a scope, record by record, as JSON can hold it."""
    for name in drive(_sessions(log, scope)):
        for entry in log.entries(name):
            yield {"tier": "working", "session": session_of(name), **_entry(entry)}
    for episode in episodes.export(scope):
        yield {"tier": "episodic", **episode.to_dict()}
    for fact in facts.export(scope):
        yield {"tier": "semantic", **_fact(fact)}


async def aexported(
    log: MessageLog, episodes: EpisodicMemory, facts: FactStore, scope: MemoryScope
) -> AsyncIterator[dict[str, Any]]:
    """`exported`, awaited."""
    for name in await adrive(_sessions(log, scope)):
        for entry in await log.aentries(name):
            yield {"tier": "working", "session": session_of(name), **_entry(entry)}
    async for episode in episodes.aexport(scope):
        yield {"tier": "episodic", **episode.to_dict()}
    for fact in await facts.aexport(scope):
        yield {"tier": "semantic", **_fact(fact)}


def _entry(entry: LogEntry) -> dict[str, Any]:
    return {
        "number": entry.number,
        "created_at": entry.created_at.isoformat(),
        "message": message_to_dict(entry.message),
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "session": fact.scope.session,
        "entity": fact.entity,
        "attribute": fact.attribute,
        "value": fact.value,
        "valid_from": fact.valid_from.isoformat(),
        "valid_until": fact.valid_until.isoformat() if fact.valid_until is not None else None,
        "version": fact.version,
        "source": fact.source,
        "updated_at": fact.updated_at.isoformat(),
    }
