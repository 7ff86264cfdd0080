"""From the log to the episodes: what was said becomes an episode once, sooner or later."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory._sync import BLOCKING, Caller
from langchain_tiered_memory.context.remember import INCOMPLETE
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import (
    AppendFailed,
    EpisodeHandedOn,
    EpisodicEvent,
    EventHook,
    aemit,
    emit,
    hooks_of,
)
from langchain_tiered_memory.messages.protocol import is_inserted, is_user_turn, kind_of
from langchain_tiered_memory.session_names import is_of, prefixes_of, session_key, session_of
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.append import append_run
from langchain_tiered_memory.working.log import MessageLog

__all__ = ["EpisodesBehind", "Indexer", "timeout_of", "unanswered"]

_SERVER: Final = 1.5
_EMBEDDED: Final = 15.0
_MORE: Final = 2
"""Sessions of an outage that an answer makes up for besides its own."""
_REMEMBERED: Final = 4_096
"""Sessions whose state is held in this process."""


def timeout_of(episodes: EpisodicMemory) -> float:
    """Seconds that a request or an answer waits for Milvus, before it goes without.

    A server that does not answer is away. What runs in this process is not: on a busy machine it only opens slowly.
    """
    return _EMBEDDED if episodes.is_embedded else _SERVER


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodesBehind(EpisodicEvent):
    """An answer is in the log and not in the episodes yet, because Milvus or the embedding model does not answer.

    Sent once, when the first session begins to wait.

    Attributes:
        sessions: How many sessions wait to be indexed.
        error: Why.
    """

    sessions: int
    error: Exception
    name: ClassVar[str] = "tiered_memory.episodes_behind"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{EpisodicEvent.describe(self)}: episodes are behind the log in {self.sessions} sessions: {self.error}"


class _Waiting:
    """Sessions that were not indexed, by user: the users take turns, and so do the sessions of one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._by_user: OrderedDict[str, OrderedDict[str, MemoryScope]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, list(self._by_user.values())))

    def add(self, name: str, scope: MemoryScope) -> None:
        """Let a session wait, at the end of its user's."""
        with self._lock:
            self._by_user.setdefault(scope.user_key, OrderedDict())[name] = scope
            while len(self._by_user) > _REMEMBERED:  # `catch_up` finds them in the log
                self._by_user.popitem(last=False)

    def take(self, count: int) -> list[tuple[str, MemoryScope]]:
        """The next sessions, of as many users as there are."""
        taken: list[tuple[str, MemoryScope]] = []
        with self._lock:
            while self._by_user and len(taken) < count:
                user, sessions = self._by_user.popitem(last=False)
                taken.append(sessions.popitem(last=False))
                if sessions:
                    self._by_user[user] = sessions
        return taken

    def forget(self, scope: MemoryScope, name: str | None = None) -> None:
        """Let go of one session, or of all of a scope."""
        with self._lock:
            sessions = self._by_user.get(scope.user_key, OrderedDict())
            for one in [one for one in sessions if (is_of(one, scope) if name is None else one == name)]:
                del sessions[one]
            if not sessions:
                self._by_user.pop(scope.user_key, None)


class Indexer:
    """Makes episodes of what the log has beyond them.

    The log is the truth, and an episode follows from it; so Milvus may be down, and an answer is kept all the same.
    The sessions that it missed are made up for by the next answers of anybody, a few with each, or by `catch_up`.

    Args:
        log: Holds what was said.
        episodes: Are made of it.
        hooks: Called when the episodes are behind.
    """

    def __init__(self, log: MessageLog, episodes: EpisodicMemory, hooks: Sequence[EventHook]) -> None:
        self._log = log
        self._episodes = episodes
        self._hooks = hooks_of(hooks)
        self._waiting = _Waiting()
        self._nodes_seen: OrderedDict[str, int] = OrderedDict()

    async def append(
        self,
        caller: Caller,
        session_id: str,
        messages: Sequence[BaseMessage],
        scope: MemoryScope | None,
        *,
        is_run: bool = False,
    ) -> None:
        """Append messages to a session, and make episodes of its finished rounds where it belongs to somebody.

        Args:
            caller: Calls the stores.
            session_id: The session.
            messages: What to append.
            scope: Whose session it is.
            is_run: Whether this is what a chain gave. Then the log may have some of it already, and an answer is not
                lost to its reader because the log cannot be written: an `AppendFailed` event says so.
        """
        name = session_key(session_id, scope)
        store = self._log.blocking if caller is BLOCKING else self._log.awaited
        said = [message for message in messages if not is_inserted(message)]
        if is_run:
            try:
                await append_run(store, name, said, own_ids=False)
            except MemoryStoreError as error:
                failed = AppendFailed(session_id=session_id, messages=tuple(said), error=error)
                await caller.call(emit, aemit, failed, self._hooks)
                return
        else:
            await store.append(name, said)
        if scope is not None:
            await self.index(caller, session_id, scope)

    async def index(self, caller: Caller, session_id: str, scope: MemoryScope) -> None:
        """Make episodes of a session's finished rounds, and of a few sessions that wait since an outage.

        Where the episodes do not answer, the session waits.
        """
        owner = MemoryScope(scope.user, scope.tenant, session_id)
        name = session_key(session_id, owner)
        is_first = not len(self._waiting)
        self._waiting.forget(owner, name)
        # This one first: one that fails for a reason of its own must not keep the others from being indexed.
        todo = [(name, owner), *self._waiting.take(_MORE)]
        for place, (one, whose) in enumerate(todo):
            try:
                await self._index(caller, one, whose, timeout_of(self._episodes))
            except MemoryStoreError as error:
                for late, its in todo[place:]:
                    self._waiting.add(late, its)
                if is_first:
                    await self._report_behind(caller, owner, error)
                return

    async def _report_behind(self, caller: Caller, owner: MemoryScope, error: MemoryStoreError) -> None:
        event = EpisodesBehind(
            session_id=owner.session or "",
            tenant_id=owner.tenant,
            user_id=owner.user,
            sessions=len(self._waiting),
            error=error,
        )
        await caller.call(emit, aemit, event, self._hooks)

    async def catch_up(self, caller: Caller, scope: MemoryScope) -> int:
        """Make episodes of whatever a user's sessions have beyond them, and count the new ones."""
        count = 0
        for prefix in prefixes_of(scope):
            for name in await caller.call(self._log.sessions, self._log.asessions, prefix):
                if is_of(name, scope):
                    owner = MemoryScope(scope.user, scope.tenant, session_of(name))
                    count += await self._index(caller, name, owner, None)
                    self._waiting.forget(owner, name)
        return count

    def nodes_taken(self, name: str) -> int:
        """How many nodes of a session's summary were looked at by `take_nodes`."""
        return self._nodes_seen.get(name, 0)

    async def take_nodes(self, caller: Caller, name: str, owner: MemoryScope) -> None:
        """Make episodes of what left a session's summary for good."""
        seen = self._nodes_seen.get(name, 0)
        nodes = await caller.call(self._log.nodes, self._log.anodes, name, seen)
        if any(node.handed_on for node in nodes):
            # An answer must not wait for as long as a large write may take: something small first.
            behind, abehind = self._episodes.behind, self._episodes.abehind
            within = timeout_of(self._episodes)
            await caller.call(behind, abehind, self._log, name, scope=owner, timeout=within)
        for node in nodes:
            if node.handed_on:
                handed_on = EpisodeHandedOn(
                    session_id=name,
                    text=node.text,
                    first=node.first,
                    last=node.spans[-1][1] if node.spans else 0,
                    created_at=node.created_at,
                )
                await caller.call(self._episodes.take, self._episodes.atake, handed_on, scope=owner)
        self._nodes_seen[name] = seen + len(nodes)
        self._nodes_seen.move_to_end(name)
        while len(self._nodes_seen) > _REMEMBERED:
            self._nodes_seen.popitem(last=False)

    def forget(self, scope: MemoryScope) -> None:
        """Let go of what is known of a scope, because it is erased."""
        self._waiting.forget(scope)
        for name in [name for name in list(self._nodes_seen) if is_of(name, scope)]:  # others may be writing
            self._nodes_seen.pop(name, None)

    async def _index(self, caller: Caller, name: str, owner: MemoryScope, within: float | None) -> int:
        """Make episodes of one session's finished rounds, and of what left its summary for good."""
        episodes = self._episodes
        index, aindex = episodes.index, episodes.aindex
        count = await caller.call(index, aindex, self._log, name, scope=owner, timeout=within)
        await self.take_nodes(caller, name, owner)
        return count


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
