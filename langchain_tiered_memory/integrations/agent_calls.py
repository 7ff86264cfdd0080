"""One run of an agent and one call of its model: whose it is, and what the memory shows instead of the state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, NotRequired, cast

from langchain.agents.middleware.types import AgentState, ModelRequest, PrivateStateAttr
from langchain_core.messages import AnyMessage, BaseMessage, SystemMessage
from langchain_core.runnables import ensure_config
from langgraph.runtime import Runtime

from langchain_tiered_memory._sync import BLOCKING, Caller
from langchain_tiered_memory.context.assembly import Assembled, Assembly, Tiers
from langchain_tiered_memory.context.request import ContextRequest
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.indexer import Indexer
from langchain_tiered_memory.messages.protocol import is_inserted, leading_system
from langchain_tiered_memory.session_names import session_key
from langchain_tiered_memory.types import DEFAULT_TENANT, MemoryScope
from langchain_tiered_memory.working.append import append_new
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.log import LogEntry, LogStore, MessageLog
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.summarizers import internal_config

__all__ = ["STATE", "AgentRun", "TieredMemoryState", "append_state", "run_of", "shown_to_model"]

STATE: Final = "tiered_memory"
"""The private part of an agent's state that is the memory's."""
_TOOLS: Final = "tools:"
"""How langgraph's path of a run names the tools of an agent around it."""


class TieredMemoryState(AgentState[Any]):
    """The agent's state with what the memory keeps in it: plain JSON, which no input and no output shows.

    `session_id` is the session of a run that nothing names; `kept` is the id of the last message that went into the
    log, and `foreign` that of the last one which the log lacks because it was erased, or was said by another user.
    """

    tiered_memory: NotRequired[Annotated[dict[str, Any], PrivateStateAttr]]


@dataclass(frozen=True, slots=True)
class AgentRun:
    """Whose a run of an agent is.

    Attributes:
        session_id: Its session; `""` where nothing names one.
        scope: Whose memory it is; `None` where nothing names a user.
    """

    session_id: str
    scope: MemoryScope | None

    @property
    def name(self) -> str:
        """What the session is called in the log."""
        return session_key(self.session_id, self.scope)


def run_of(runtime: Runtime[Any] | None, state: Mapping[str, Any]) -> AgentRun:
    """Whose a run is, by its context, else by its configuration, else by its state.

    The session is `session_id` there, else the `thread_id`: a thread and its session are one.

    Raises:
        ScopeError: An id is no text, or empty.
    """
    configurable = ensure_config().get("configurable") or {}
    context = getattr(runtime, "context", None)

    def named(key: str) -> Any:  # noqa: ANN401  # whatever was passed
        value = context.get(key) if isinstance(context, Mapping) else getattr(context, key, None)
        return configurable.get(key) if value is None else value

    session_id = named("session_id") or configurable.get("thread_id") or (state.get(STATE) or {}).get("session_id", "")
    session_id = str(session_id) + (_asked_by(configurable) if session_id else "")
    user_id = named("user_id")
    if user_id is None:
        return AgentRun(session_id, None)
    tenant_id = named("tenant_id")
    tenant = DEFAULT_TENANT if tenant_id is None else tenant_id
    return AgentRun(session_id, MemoryScope(user_id, tenant, session_id or None))


def _asked_by(configurable: Mapping[str, Any]) -> str:
    """What tells an agent that another asked by a tool from that other, whose thread it has; `""` for any other agent.

    What agents say to each other is no part of what the user and the first of them said.
    """
    above = str(configurable.get("checkpoint_ns") or "").split("|")[:-1]
    return "".join(f"/{part}" for part in above if part.startswith(_TOOLS))


async def append_state(
    caller: Caller, log: MessageLog, run: AgentRun, messages: Sequence[BaseMessage], kept: dict[str, Any]
) -> None:
    """Append what the log lacks of a state's messages, and note in `kept` how far the state is in it.

    What stands before that note and is not in the session's log was erased, or is another user's who had the thread
    before; either way it is not kept for this one.
    """
    store = log.blocking if caller is BLOCKING else log.awaited
    said = [message for message in messages if not is_inserted(message)]
    mark = kept.get("kept")
    if mark is not None and not await store.known(run.name, [mark]):
        kept["foreign"] = mark
    matched = await append_new(store, run.name, _own(said, kept), own_ids=False)
    if matched.new:
        kept["kept"] = str(matched.new[-1].id)


def _own(messages: Sequence[BaseMessage], kept: Mapping[str, Any]) -> Sequence[BaseMessage]:
    """The messages behind those that are not this user's, or were erased."""
    last = kept.get("foreign")
    foreign = next((place for place, one in enumerate(messages, start=1) if last and one.id == last), 0)
    return messages[foreign:]


async def shown_to_model(
    caller: Caller, tiers: Tiers, request: ModelRequest[Any], indexer: Indexer, log: MessageLog
) -> ModelRequest[Any]:
    """The request with what the memory shows of the thread, instead of what the state still holds of it.

    The thread is read from the log, since a state may have been lost or trimmed. Where the state has a message, it is
    shown as it stands there: another middleware may have taken something out of it.
    """
    run = run_of(request.runtime, request.state)
    if tiers.need_scope and run.scope is None:
        MemoryScope.from_config(None)  # says what is missing
    kept: dict[str, Any] = dict(cast("Mapping[str, Any]", request.state).get(STATE) or {})
    in_state = {message.id for message in request.state.get("messages", ())}
    said = [message for message in request.messages if message.id in in_state or is_inserted(message)]
    # What another middleware put into this call alone is no part of the thread.
    added = [message for message in request.messages if message.id not in in_state and not is_inserted(message)]
    system = [request.system_message] if request.system_message is not None else []
    shown = replace(
        tiers,
        log=_AsInState(log, {str(message.id): message for message in said}),
        # After a compaction the prompt is another one anyway, and what has left the summary can be recalled.
        stage=indexer.nodes_taken(run.name),
        meter=BudgetCounter(tiers.meter.counter, request.tools),
    )
    asked = ContextRequest([*system, *_own(said, kept)], run.scope, run.session_id, own_ids=False)
    assembled = await Assembly(shown, caller, lambda: internal_config(None)).of(asked)
    if run.scope is not None:
        with suppress(MemoryStoreError):  # what the episodes miss now, they get with the run's end, which reports it
            await indexer.take_nodes(caller, run.name, run.scope)
    return _with_messages(request, assembled, added)


def _with_messages(request: ModelRequest[Any], assembled: Assembled, added: Sequence[BaseMessage]) -> ModelRequest[Any]:
    leading = leading_system(assembled.messages)
    rest = [*assembled.messages[len(leading) :], *added]
    if not rest:  # an agent that speaks first
        rest = list(request.messages)
    return request.override(system_message=_one_system(leading), messages=cast("list[AnyMessage]", rest))


def _one_system(leading: Sequence[BaseMessage]) -> SystemMessage | None:
    """Several system messages as the one that an agent's request has room for."""
    if not leading:
        return None
    if len(leading) == 1 and isinstance(leading[0], SystemMessage):
        return leading[0]
    if all(isinstance(message.content, str) for message in leading):
        return SystemMessage("\n\n".join(str(message.content) for message in leading))
    blocks: list[Any] = []
    for message in leading:
        content = message.content
        blocks += [{"type": "text", "text": content}] if isinstance(content, str) else content
    return SystemMessage(blocks)


class _AsInState(MessageLog):
    """A log whose messages are shown as they stand in an agent's state, where they do."""

    def __init__(self, log: MessageLog, messages: Mapping[str, BaseMessage]) -> None:
        super().__init__(_Shown(log.blocking, messages), _Shown(log.awaited, messages))


class _Shown:
    def __init__(self, store: LogStore, messages: Mapping[str, BaseMessage]) -> None:
        self._store = store
        self._messages = messages

    def _as_in_state(self, entries: Sequence[LogEntry]) -> list[LogEntry]:
        return [replace(entry, message=self._messages.get(str(entry.message.id), entry.message)) for entry in entries]

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        return self._as_in_state(await self._store.entries(session_id, after, limit))

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        return self._as_in_state(await self._store.last(session_id, count, before))

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        return await self._store.append(session_id, messages, expected_version)

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        return await self._store.known(session_id, ids)

    async def sessions(self, prefix: str = "") -> list[str]:
        return await self._store.sessions(prefix)

    async def erase(self, *session_ids: str) -> int:
        return await self._store.erase(*session_ids)

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        return await self._store.nodes(session_id, after)

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        return await self._store.append_nodes(session_id, nodes, expected_version)
