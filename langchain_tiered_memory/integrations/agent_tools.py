"""Tools by which an agent's model asks its memory, or tells it something, within the scope of the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool

from langchain_tiered_memory.episodic.quoting import quote_episodes
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError, VersionConflictError
from langchain_tiered_memory.events import logger
from langchain_tiered_memory.indexer import timeout_of
from langchain_tiered_memory.integrations.agent_calls import run_of
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.types import MemoryScope

__all__ = ["memory_tools"]

_RECALLED: Final = 5
_NOTHING: Final = "Nothing is remembered about that."


def memory_tools(memory: TieredMemory, names: Iterable[str]) -> list[BaseTool]:
    """The tools of these names.

    Raises:
        ValueError: A name is not known.
    """
    known = {"recall_memory": _recall_tool, "save_fact": _fact_tool}
    wanted = list(names)
    for name in wanted:
        if name not in known:
            msg = f"tools={wanted!r} names {name!r}, which is not known: use {' and '.join(map(repr, known))}"
            raise ValueError(msg)
    return [known[name](memory) for name in wanted]


def _scope_of(runtime: ToolRuntime[Any, Any]) -> MemoryScope:
    scope = run_of(runtime, runtime.state).scope  # type: ignore[arg-type]  # it has the context of a Runtime
    if scope is None:
        msg = 'no user: call the agent with {"configurable": {"user_id": ...}}, or with a context that has a user_id'
        raise ScopeError(msg)
    return scope


def _recall_tool(memory: TieredMemory) -> BaseTool:
    def recall_memory(query: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Look up what was said in earlier conversations with this user."""
        scope = _scope_of(runtime).whole_user()
        try:
            found = memory.episodes.recall(query, scope=scope, k=_RECALLED, timeout=timeout_of(memory.episodes))
        except MemoryStoreError as error:
            return _unreachable(error)
        return quote_episodes(found) or _NOTHING

    async def arecall_memory(query: str, runtime: ToolRuntime[Any, Any]) -> str:
        """As above."""
        scope = _scope_of(runtime).whole_user()
        try:
            found = await memory.episodes.arecall(query, scope=scope, k=_RECALLED, timeout=timeout_of(memory.episodes))
        except MemoryStoreError as error:
            return _unreachable(error)
        return quote_episodes(found) or _NOTHING

    return StructuredTool.from_function(recall_memory, coroutine=arecall_memory, name="recall_memory")


def _fact_tool(memory: TieredMemory) -> BaseTool:
    def save_fact(entity: str, attribute: str, value: str, runtime: ToolRuntime[Any, Any]) -> str:
        """Keep a fact about this user or their world for later conversations; a newer value replaces an older one."""
        scope = _scope_of(runtime).whole_user()
        try:
            fact = memory.facts.put(scope, entity, attribute, value, source="save_fact")
        except VersionConflictError:
            return _conflict(entity, attribute)
        except ValueError as error:  # what the model gave is no fact, which it can mend
            return f"Not saved: {error}"
        return f"Saved: {entity}.{attribute}, version {fact.version}."

    async def asave_fact(entity: str, attribute: str, value: str, runtime: ToolRuntime[Any, Any]) -> str:
        """As above."""
        scope = _scope_of(runtime).whole_user()
        try:
            fact = await memory.facts.aput(scope, entity, attribute, value, source="save_fact")
        except VersionConflictError:
            return _conflict(entity, attribute)
        except ValueError as error:  # what the model gave is no fact, which it can mend
            return f"Not saved: {error}"
        return f"Saved: {entity}.{attribute}, version {fact.version}."

    return StructuredTool.from_function(save_fact, coroutine=asave_fact, name="save_fact")


def _unreachable(error: MemoryStoreError) -> str:
    # The agent goes on without, as a request does; what the error says may name servers, and is not for a model.
    logger.warning("recall_memory: %s", error)
    return "The memory does not answer at present. Go on without it."


def _conflict(entity: str, attribute: str) -> str:
    return f"Not saved: others are writing {entity}.{attribute} at this moment. Try again."
