"""One call of an agent's model: whose it is, what the memory shows of the state, and what goes back into the state."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, NotRequired, cast

from langchain.agents.middleware.types import (
    AgentState,
    ExtendedModelResponse,
    ModelCallResult,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, SystemMessage
from langchain_core.runnables import ensure_config
from langgraph.runtime import Runtime
from langgraph.types import Command

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.context.assembly import Assembled, Assembly
from langchain_tiered_memory.context.requests import ContextRequest, query_of
from langchain_tiered_memory.context.tiers import Tiers
from langchain_tiered_memory.integrations._state_log import StateLog
from langchain_tiered_memory.messages.window import leading_system
from langchain_tiered_memory.types import DEFAULT_TENANT, MemoryScope
from langchain_tiered_memory.wiring.following import Follower
from langchain_tiered_memory.wiring.naming import session_key
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.summarizers import internal_config

__all__ = ["STATE", "AgentCall", "AgentRun", "TieredMemoryState", "foreign_in", "run_of"]

STATE: Final = "tiered_memory"
"""The private part of an agent's state that is the memory's."""
_TOOLS: Final = "tools:"
"""How langgraph's path of a run names the tools of an agent around it."""


class TieredMemoryState(AgentState[Any]):
    """The agent's state with what the memory remembers of it: plain JSON, which no input and no output shows."""

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
    def has_session(self) -> bool:
        """Whether anything names the session."""
        return bool(self.session_id)


def run_of(runtime: Runtime[Any] | None, state: Mapping[str, Any]) -> AgentRun:
    """Whose a run is, by its context, else by its configuration, else by its state.

    Raises:
        ScopeError: An id is no text, or empty.
    """
    configurable = ensure_config().get("configurable") or {}
    context = getattr(runtime, "context", None)

    def named(key: str) -> Any:  # noqa: ANN401  # whatever was passed
        value = context.get(key) if isinstance(context, Mapping) else getattr(context, key, None)
        return configurable.get(key) if value is None else value

    session_id = named("session_id") or configurable.get("thread_id") or _kept_in(state).get("session_id", "")
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


class AgentCall:
    """One call of the model.

    Args:
        tiers: What the memory has.
        request: What the agent would send.
        run: Whose it is.
        follower: Makes episodes of what leaves the summary; `None` to leave that out.
    """

    def __init__(
        self, tiers: Tiers, request: ModelRequest[Any], run: AgentRun, follower: Follower | None = None
    ) -> None:
        kept = _kept_in(request.state)
        self._request = request
        self._run = run
        self._rows: list[str] = list(kept.get("nodes", ()))
        if kept.get("anchor") is not None and kept["anchor"] != _anchor(request.messages, kept.get("covered", 0)):
            self._rows = []  # others have rewritten the state, so that the nodes stand for messages that are not there
        self._taken: int = min(kept.get("taken", 0), len(self._rows))
        self._kept = kept
        self._follower = follower
        self._log = StateLog(request.messages, self._rows, utc_now())
        # After a compaction the prompt is another one anyway, and what has left the summary can be recalled.
        self._tiers = replace(
            tiers, log=self._log, meter=BudgetCounter(tiers.meter.counter, request.tools), stage=len(self._rows)
        )

    def steps(self) -> Steps[Assembled]:
        """What the model is shown."""
        request = self._request
        system = [request.system_message] if request.system_message is not None else []
        said: list[BaseMessage] = [*system, *request.messages]
        if self._tiers.need_scope and self._run.scope is None:
            MemoryScope.from_config(None)  # says what is missing
        asked = ContextRequest(said, self._run.scope, self._run.session_id, query_of(said))
        assembled = yield from Assembly(self._tiers, lambda: internal_config(None)).of(asked)
        yield from self._handed_on()
        return assembled

    def _handed_on(self) -> Steps[None]:
        """Make episodes of what left the summary in this call, so that the next one may recall it."""
        if self._run.scope is None or self._follower is None:
            return
        nodes: list[SummaryNode] = yield Call(self._log, "nodes", (self._run.session_id, self._taken))
        foreign = foreign_in(self._request.messages, self._kept)
        nodes = [node for node in nodes if node.first > foreign or not foreign]
        name = session_key(self._run.session_id, self._run.scope)
        if (yield from self._follower.took(name, nodes, self._run.scope)):
            self._taken = len(self._log.rows)

    def shown(self, assembled: Assembled) -> ModelRequest[Any]:
        """The request with what the model is shown instead."""
        leading = leading_system(assembled.messages)
        rest = assembled.messages[len(leading) :]
        return self._request.override(system_message=_one_system(leading), messages=cast("list[AnyMessage]", rest))

    def extended(self, response: ModelCallResult[Any]) -> ModelCallResult[Any]:
        """The response, with the nodes that were written for it as an update of the state."""
        if self._log.rows == list(self._kept.get("nodes", ())) and self._taken == self._kept.get("taken", 0):
            return response
        covered = self._log.covered
        update = {**self._kept, "nodes": self._log.rows, "taken": self._taken, "covered": covered}
        update["anchor"] = _anchor(self._request.messages, covered)
        if isinstance(response, AIMessage):
            response = ModelResponse(result=[response])
        if isinstance(response, ExtendedModelResponse):
            inner: Any = response.command.update if response.command is not None else None
            update_all = {**(inner or {}), STATE: update}
            return ExtendedModelResponse(response.model_response, Command(update=update_all))
        return ExtendedModelResponse(response, Command(update={STATE: update}))


def _kept_in(state: Mapping[str, Any]) -> dict[str, Any]:
    """What the memory keeps in an agent's state."""
    kept: dict[str, Any] | None = state.get(STATE)
    return kept or {}


def foreign_in(messages: Sequence[BaseMessage], kept: Mapping[str, Any]) -> int:
    """How many of a state's first messages the session's log does not have: they were erased, or are another user's."""
    last = kept.get("foreign")
    return next((place for place, message in enumerate(messages, start=1) if last and message.id == last), 0)


def _anchor(messages: Sequence[BaseMessage], covered: int) -> list[Any]:
    """What tells that the first messages of a state are still those that the nodes were written for, word for word."""
    if not messages or covered < 1 or covered > len(messages):
        return []
    hashed = hashlib.sha256()
    for message in messages[:covered]:
        hashed.update(repr((message.id, message.content)).encode("utf-8", "surrogatepass") + b"\0")
    return [str(messages[0].id), str(messages[covered - 1].id), hashed.hexdigest()[:16]]


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
