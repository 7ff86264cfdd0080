"""The memory of an agent: what its model sees, while the agent's state keeps every message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest, ModelResponse
from langgraph.runtime import Runtime

from langchain_tiered_memory._driving import Call, Steps, adrive, drive
from langchain_tiered_memory.integrations._agent_calls import (
    STATE,
    AgentCall,
    TieredMemoryState,
    foreign_in,
    run_of,
)
from langchain_tiered_memory.integrations._agent_tools import memory_tools
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.protocol import is_inserted
from langchain_tiered_memory.wiring.naming import session_key

__all__ = ["TieredMemoryMiddleware"]


class TieredMemoryMiddleware(AgentMiddleware[TieredMemoryState, Any, Any]):
    """Gives an agent four tiers of memory: its model sees a context within the budget, its state keeps every message.

    Middleware that cuts the state loses messages for good, and one that only summarises forgets what it left out. This
    one changes what the model is shown and nothing else. What it summarised is kept in a private part of the state, so
    that a checkpointer holds it with the messages that it stands for.

    ```python
    from langchain.agents import create_agent
    from langchain_tiered_memory import TieredMemory, TieredMemoryMiddleware

    memory = TieredMemory("./memory", max_tokens=4_000, embeddings=None)
    agent = create_agent(model, tools=[], middleware=[TieredMemoryMiddleware(memory)])
    agent.invoke({"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "s1", "user_id": "ada"}})
    ```

    Whose memory it is comes from the runtime's context (`user_id`, `tenant_id`) or the call's `configurable`; the
    session is `session_id` there, else the `thread_id`. Before the agent starts, the user's message goes into the
    memory's log; when it has answered, the rest does, and the finished rounds become episodes. What a checkpointer
    holds is the application's: `TieredMemory.erase` forgets a user, and `checkpointer.delete_thread` their thread; a
    thread that goes on all the same gives nothing back to the memory of what was erased.

    Args:
        memory: The memory.
        tools: Names of tools to give to the model: `"recall_memory"` and `"save_fact"`.

    Raises:
        ValueError: A tool is not known.
    """

    state_schema = TieredMemoryState

    def __init__(self, memory: TieredMemory, *, tools: Iterable[str] = ()) -> None:
        super().__init__()
        self._memory = memory
        self._tiers = memory.assembler().tiers
        self.tools = memory_tools(memory, tools)

    # --- what the model sees ------------------------------------------------------------------------------------------

    def wrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], ModelResponse[Any]],
    ) -> ModelCallResult[Any]:
        """Call the model with what the memory shows of the conversation."""
        call = self._call(request)
        assembled = drive(call.steps())
        return call.extended(handler(call.shown(assembled)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult[Any]:
        """`wrap_model_call`, awaited."""
        call = self._call(request)
        assembled = await adrive(call.steps())
        return call.extended(await handler(call.shown(assembled)))

    def _call(self, request: ModelRequest[Any]) -> AgentCall:
        run = run_of(request.runtime, request.state)
        return AgentCall(self._tiers, request, run, self._memory.follower)

    # --- what is kept -------------------------------------------------------------------------------------------------

    def before_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the user's message into the log before the model is asked."""
        return drive(self._kept(state, runtime, answered=False))

    async def abefore_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, awaited."""
        return await adrive(self._kept(state, runtime, answered=False))

    def after_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the answer into the log, and make episodes of the rounds that are finished."""
        return drive(self._kept(state, runtime, answered=True))

    async def aafter_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`after_agent`, awaited."""
        return await adrive(self._kept(state, runtime, answered=True))

    def _kept(self, state: TieredMemoryState, runtime: Runtime[Any], *, answered: bool) -> Steps[dict[str, Any] | None]:
        """Append what the log lacks of the state's messages.

        The state remembers how far it was kept. What stands before that and is not in the session's log was erased, or
        is another user's who had the thread before; either way it is not kept for this one.
        """
        run = run_of(runtime, state)
        kept = dict(state.get(STATE) or {})
        if not run.has_session:
            run = replace(run, session_id=self._memory.new_session())
            kept["session_id"] = run.session_id
        name = session_key(run.session_id, run.scope)
        messages = state["messages"]
        said = [message for message in messages if not is_inserted(message)]
        known: set[str] = yield Call(self._memory.log, "known", (name, [str(message.id) for message in said]))
        mark = kept.get("kept")
        if mark is not None and mark not in known:
            kept["foreign"] = mark
        foreign = {message.id for message in messages[: foreign_in(messages, kept)]}
        new = [message for message in said if message.id not in known | foreign]
        yield Call(self._memory.log, "append", (name, new))
        if said:
            kept["kept"] = str(said[-1].id)
        if answered and run.scope is not None:
            yield from self._memory.follower.followed(run.session_id, run.scope)
        return {STATE: kept} if kept != (state.get(STATE) or {}) else None
