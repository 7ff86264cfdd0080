"""The memory of an agent: what its model sees, while the agent's state keeps every message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware.types import AgentMiddleware, ModelCallResult, ModelRequest, ModelResponse

from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory.integrations.agent_calls import (
    STATE,
    TieredMemoryState,
    append_state,
    run_of,
    shown_to_model,
)
from langchain_tiered_memory.integrations.agent_tools import memory_tools
from langchain_tiered_memory.memory import TieredMemory

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

__all__ = ["TieredMemoryMiddleware"]


class TieredMemoryMiddleware(AgentMiddleware[TieredMemoryState, Any, Any]):
    """Gives an agent four tiers of memory: its model sees a context within the budget, its state keeps every message.

    Middleware that cuts the state loses messages for good, and one that only summarises forgets what it left out. This
    one changes what the model is shown and nothing else.

    ```python
    from langchain.agents import create_agent
    from langchain_tiered_memory import TieredMemory, TieredMemoryMiddleware

    memory = TieredMemory("./memory", max_tokens=4_000, embeddings=None)
    agent = create_agent(model, tools=[], middleware=[TieredMemoryMiddleware(memory)])
    agent.invoke({"messages": [("user", "Hello")]}, {"configurable": {"thread_id": "s1", "user_id": "ada"}})
    ```

    **Threads and sessions.** A thread is a session: the session is `session_id` in the runtime's context or the call's
    `configurable`, else the `thread_id`. What the model is shown of it comes from the memory's log, so an agent
    remembers its own thread with a checkpointer and without one, after a restart, and where the state was lost or
    trimmed. A message that the state still holds is shown as it stands there. A run that names neither has a session
    of its own. The user is `user_id` (and `tenant_id`) in the same places.

    Before the agent starts, the user's message goes into the log; before each call of the model and when it has
    answered, the rest does, and the finished rounds become episodes. What a checkpointer holds is the application's:
    `TieredMemory.erase` forgets a user, and `checkpointer.delete_thread` their thread; a thread that goes on all the
    same gives nothing back to the memory of what was erased.

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
        return handler(run_sync(self._shown(BLOCKING, request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult[Any]:
        """`wrap_model_call`, awaited."""
        return await handler(await self._shown(AWAITING, request))

    async def _shown(self, caller: Caller, request: ModelRequest[Any]) -> ModelRequest[Any]:
        memory = self._memory
        return await shown_to_model(caller, self._tiers, request, memory.indexer, memory.summary.message_log)

    # --- what is kept -------------------------------------------------------------------------------------------------

    def before_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the user's message into the log before the model is asked."""
        return run_sync(self._kept(BLOCKING, state, runtime))

    async def abefore_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`before_agent`, awaited."""
        return await self._kept(AWAITING, state, runtime)

    def after_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Put the answer into the log, and make episodes of the rounds that are finished."""
        return run_sync(self._kept(BLOCKING, state, runtime, is_answered=True))

    async def aafter_agent(self, state: TieredMemoryState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """`after_agent`, awaited."""
        return await self._kept(AWAITING, state, runtime, is_answered=True)

    async def _kept(
        self, caller: Caller, state: TieredMemoryState, runtime: Runtime[Any], *, is_answered: bool = False
    ) -> dict[str, Any] | None:
        run = run_of(runtime, state)
        kept = dict(state.get(STATE) or {})
        if not run.session_id:
            run = replace(run, session_id=self._memory.new_session())
            kept["session_id"] = run.session_id
        await append_state(caller, self._memory.summary.message_log, run, state["messages"], kept)
        if is_answered and run.scope is not None:
            await self._memory.indexer.index(caller, run.session_id, run.scope)
        return {STATE: kept} if kept != (state.get(STATE) or {}) else None
