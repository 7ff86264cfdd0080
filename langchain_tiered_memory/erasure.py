"""Everything that is kept of somebody, in all tiers: as plain data, or gone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import message_to_dict

from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.records import Fact
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.session_names import is_of, prefixes_of, session_of
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.log import LogEntry, MessageLog

__all__ = ["Erased", "Erasure"]


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


class Erasure:
    """Erases and exports a scope in all tiers.

    Args:
        log: The working tier.
        episodes: The episodic tier.
        facts: The semantic tier.
    """

    def __init__(self, log: MessageLog, episodes: EpisodicMemory, facts: FactStore) -> None:
        self._log = log
        self._episodes = episodes
        self._facts = facts

    async def sessions(self, caller: Caller, scope: MemoryScope) -> list[str]:
        """The names of a scope's sessions in the log, found by an index."""
        found: list[str] = []
        for prefix in prefixes_of(scope):
            names = await caller.call(self._log.sessions, self._log.asessions, prefix)
            found += [name for name in names if is_of(name, scope)]
        return found

    async def erase(self, caller: Caller, scope: MemoryScope) -> Erased:
        """Erase a scope in all tiers, and read each back.

        The log goes first: what is not in it cannot become an episode again.

        Raises:
            MemoryStoreError: A store does not answer, or holds something still, which others may be writing.
        """
        log, episodes, facts = self._log, self._episodes, self._facts
        names = await self.sessions(caller, scope)
        messages = await caller.call(log.erase, log.aerase, *names)
        gone_episodes = await caller.call(episodes.forget, episodes.aforget, scope=scope, cursors=True)
        gone_facts = await caller.call(facts.erase, facts.aerase, scope)
        left = {
            "sessions": len(await self.sessions(caller, scope)),
            "episodes": await caller.call(episodes.count, episodes.acount, scope),
            "facts": len(await caller.call(facts.export, facts.aexport, scope)),
        }
        if any(left.values()):
            found = ", ".join(f"{count} {what}" for what, count in left.items() if count)
            msg = f"{scope} still has {found} after it was erased: stop whoever is writing for it, and erase again"
            raise MemoryStoreError(msg)
        return Erased(len(names), messages, gone_episodes, gone_facts)

    def export(self, scope: MemoryScope) -> Iterator[dict[str, Any]]:
        """Everything that is kept of a scope, record by record, as JSON can hold it."""
        for name in run_sync(self.sessions(BLOCKING, scope)):
            yield from (_entry(name, entry) for entry in self._log.entries(name))
        for episode in self._episodes.export(scope):
            yield {"tier": "episodic", **episode.to_dict()}
        yield from map(_fact, self._facts.export(scope))

    async def aexport(self, scope: MemoryScope) -> AsyncIterator[dict[str, Any]]:
        """`export`, awaited record by record."""
        for name in await self.sessions(AWAITING, scope):
            for entry in await self._log.aentries(name):
                yield _entry(name, entry)
        async for episode in self._episodes.aexport(scope):
            yield {"tier": "episodic", **episode.to_dict()}
        for fact in await self._facts.aexport(scope):
            yield _fact(fact)


def _entry(name: str, entry: LogEntry) -> dict[str, Any]:
    return {
        "tier": "working",
        "session": session_of(name),
        "number": entry.number,
        "created_at": entry.created_at.isoformat(),
        "message": message_to_dict(entry.message),
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "tier": "semantic",
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
