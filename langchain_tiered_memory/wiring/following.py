"""How the episodes follow the log: what was said becomes an episode once, sooner or later."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory._driving import Call, Steps, Tell
from langchain_tiered_memory.context.remembering import INCOMPLETE
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EpisodeHandedOn, EpisodicEvent, EventHook, hooks_of
from langchain_tiered_memory.messages.protocol import is_inserted, is_user_turn, kind_of
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.wiring.naming import is_of, prefixes_of, session_key, session_of
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.nodes import SummaryNode

__all__ = ["EpisodesBehind", "Follower", "patience", "unanswered"]

_OF_A_SERVER: Final = 1.5
_EMBEDDED: Final = 15.0


def patience(episodes: EpisodicMemory) -> float:
    """Seconds that a request or an answer waits for Milvus, before it goes without.

    A server that does not answer is away. What runs in this process is not: on a busy machine it only opens slowly.
    """
    return _EMBEDDED if episodes.is_embedded else _OF_A_SERVER


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesBehind(EpisodicEvent):
    """An answer is in the log and not in the episodes yet, because Milvus or the embedding model does not answer.

    Attributes:
        sessions: How many sessions wait to be made up for.
        error: Why.
    """

    sessions: int
    error: Exception
    name: ClassVar[str] = "tiered_memory.episodes_behind"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: episodes are behind the log in {self.sessions} sessions: {self.error}"


class Follower:
    """Keeps the episodes up with the log.

    The log is the truth, and an episode follows from it; so Milvus may be down, and an answer is kept all the same.
    What it missed is made up for with the next answer of anybody, or by `catch_up`.

    Args:
        log: Holds what was said.
        episodes: Follow it.
        hooks: Are told when the episodes are behind.
    """

    def __init__(self, log: MessageLog, episodes: EpisodicMemory, hooks: Sequence[EventHook]) -> None:
        self._log = log
        self._episodes = episodes
        self._hooks = hooks_of(hooks)
        self._behind: dict[str, MemoryScope] = {}
        self._nodes_seen: dict[str, int] = {}

    def saved(self, session_id: str, messages: Sequence[BaseMessage], scope: MemoryScope | None) -> Steps[None]:
        """Append messages to a session, and make episodes of its finished rounds where it belongs to somebody."""
        name = session_key(session_id, scope)
        said = [message for message in messages if not is_inserted(message)]
        yield Call(self._log, "append", (name, (yield from self._told_apart(name, said))))
        if scope is not None:
            yield from self.followed(session_id, scope)

    def _told_apart(self, name: str, said: Sequence[BaseMessage]) -> Steps[list[BaseMessage]]:
        """Answers to a question that is still open, none of which can be an old message, whatever its id says.

        A model that gives out one message object again and again has made a new answer each time.
        """
        ids = [message.id for message in said if message.id]
        known: set[str] = yield Call(self._log, "known", (name, ids))
        newest: list[BaseMessage] = yield Call(self._log, "messages", (name, 1))
        if not known or not newest or not is_user_turn(newest[-1]):
            return list(said)
        return [
            message.model_copy(update={"id": None})
            if message.id in known and kind_of(message) == "assistant"
            else message
            for message in said
        ]

    def followed(self, session_id: str, scope: MemoryScope) -> Steps[None]:
        """Make episodes of a session's finished rounds; where that fails, say so, and try again the next time."""
        owner = MemoryScope(scope.user, scope.tenant, session_id)
        own = session_key(session_id, owner)
        self._behind[own] = owner
        # This one first: one that fails for a reason of its own must not keep the others from being followed.
        for name, one in sorted(self._behind.items(), key=lambda item: item[0] != own):
            try:
                # An answer must not wait for as long as a large write may take.
                yield from self._indexed(name, one, patience(self._episodes))
            except MemoryStoreError as error:
                yield Tell(self._late(session_id, scope, error), self._hooks)
                return
            self._behind.pop(name, None)

    def _late(self, session_id: str, scope: MemoryScope, error: MemoryStoreError) -> EpisodesBehind:
        return EpisodesBehind(
            session_id=session_id,
            tenant_id=scope.tenant,
            user_id=scope.user,
            sessions=len(self._behind),
            error=error,
        )

    def took(self, name: str, nodes: Sequence[SummaryNode], scope: MemoryScope) -> Steps[bool]:
        """Make episodes of what left a summary for good; where that fails, say so, and tell that it is not done.

        Args:
            name: What the session is called in the log.
            nodes: Nodes that were written; those that are still in the summary are left alone.
            scope: Whose they are, and of which session.
        """
        try:
            if any(node.handed_on for node in nodes):
                yield from self._answers(name, scope)
            yield from self._taken(name, nodes, scope)
        except MemoryStoreError as error:
            yield Tell(self._late(scope.session or "", scope, error), self._hooks)
            return False
        return True

    def caught_up(self, scope: MemoryScope) -> Steps[int]:
        """Make episodes of whatever a user's sessions have beyond them, and count the new ones."""
        count = 0
        for prefix in prefixes_of(scope):
            names: list[str] = yield Call(self._log, "sessions", (prefix,))
            for name in names:
                if is_of(name, scope):
                    count += yield from self._indexed(name, MemoryScope(scope.user, scope.tenant, session_of(name)))
                    self._behind.pop(name, None)
        return count

    def forget(self, scope: MemoryScope) -> None:
        """Let go of what is known of a scope, because it is erased."""
        for known in (self._behind, self._nodes_seen):
            for name in [name for name in list(known) if is_of(name, scope)]:  # others may be writing
                known.pop(name, None)

    def _answers(self, name: str, owner: MemoryScope) -> Steps[None]:
        """Ask Milvus something small first: an answer must not wait for as long as a large write may take.

        Raises:
            MemoryStoreError: It does not answer soon.
        """
        yield Call(self._episodes, "behind", (self._log, name), {"scope": owner, "timeout": patience(self._episodes)})

    def _indexed(self, name: str, owner: MemoryScope, timeout: float | None = None) -> Steps[int]:
        """Make episodes of one session's finished rounds, and of what left its summary for good."""
        options = {"scope": owner, "timeout": timeout}
        count: int = yield Call(self._episodes, "index", (self._log, name), options)
        seen = self._nodes_seen.get(name, 0)
        nodes: list[SummaryNode] = yield Call(self._log, "nodes", (name, seen))
        yield from self._taken(name, nodes, owner)
        self._nodes_seen[name] = seen + len(nodes)
        return count

    def _taken(self, name: str, nodes: Sequence[SummaryNode], owner: MemoryScope) -> Steps[None]:
        for node in nodes:
            if node.handed_on:
                yield Call(self._episodes, "take", (_handed_on(name, node),), {"scope": owner})


def _handed_on(name: str, node: SummaryNode) -> EpisodeHandedOn:
    return EpisodeHandedOn(
        session_id=name,
        text=node.text,
        first=node.first,
        last=node.spans[-1][1] if node.spans else 0,
        created_at=node.created_at,
    )


def unanswered(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The user turns to which no whole answer came before the next one, or before the end.

    A call is none while its result is not there.
    """
    open_turn: BaseMessage | None = None
    found: list[BaseMessage] = []
    calls: set[str | None] = set()
    for message in messages:
        if is_user_turn(message):
            found += [open_turn] if open_turn is not None else []
            open_turn = message
        elif kind_of(message) == "assistant" and not message.response_metadata.get(INCOMPLETE):
            calls = {call["id"] for call in getattr(message, "tool_calls", ())}
            open_turn = open_turn if calls else None
        elif isinstance(message, ToolMessage) and message.tool_call_id in calls:
            calls.discard(message.tool_call_id)
            open_turn = open_turn if calls else None
    return [*found, open_turn] if open_turn is not None else found
