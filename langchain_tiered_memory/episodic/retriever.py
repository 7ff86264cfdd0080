"""Episodic memory in LangChain's chains: a retriever, and two Runnables that save a round and load what is relevant."""

from __future__ import annotations

from asyncio import create_task
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final, Protocol, runtime_checkable

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, convert_to_messages
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.runnables.config import set_config_context
from pydantic import ConfigDict, Field, StrictBool

from langchain_tiered_memory.episodic.quoting import Language, quote_episodes
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.types import MemoryScope

__all__ = ["EpisodicRetriever", "loader_of", "quote_episodes", "saver_of"]

_SETTINGS: Final = (
    "as_of", "max_age", "include_expired", "filter", "rounds", "created_from", "created_to", "entity", "kinds",
    "min_score", "explain", "timeout",
)  # fmt: skip
"""What a retriever hands to `EpisodicMemory.recall` beside the question, the scope and `k`."""


@runtime_checkable
class RecallingMemory(Protocol):
    """Recalls, as `EpisodicMemory` does."""

    @property
    def recall(self) -> Callable[..., list[Document]]:
        """`EpisodicMemory.recall`."""

    @property
    def arecall(self) -> Callable[..., Coroutine[Any, Any, list[Document]]]:
        """`EpisodicMemory.arecall`."""


class EpisodicRetriever(BaseRetriever):
    """Retrieves the episodes that answer a question, for the user of the run.

    The owner is the retriever's `scope`, the call's `scope`, or the `user_id` (and `tenant_id`) in the run's
    `configurable`; the retriever keeps nothing from one call to the next. The run's `session_id` names the current
    conversation. Long-term memory is for the others, so it restricts nothing unless `this_session` is set.

    ```python
    from langchain_tiered_memory import EpisodicMemory, MemoryScope

    memory = EpisodicMemory("./memory.db")
    memory.remember("I am allergic to nuts.", scope=MemoryScope(user="ada"))
    retriever = memory.as_retriever(k=3)
    found = retriever.invoke("What am I allergic to?", {"configurable": {"user_id": "ada"}})
    assert found[0].page_content == "I am allergic to nuts."
    ```

    Args:
        memory: The memory.
        k: The most episodes.
        scope: The owner; by default the user of the run. A run for another user is refused.
        this_session: Whether the run's `session_id` restricts recall to that session.
        as_of: This and all further fields are arguments of `EpisodicMemory.recall`.

    Raises:
        ScopeError: Nobody named a user, or the run names another than the retriever's own.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: RecallingMemory
    k: int = Field(default=5, ge=1, strict=True)
    scope: MemoryScope | None = None
    this_session: bool = False
    as_of: datetime | float | None = None
    max_age: timedelta | float | None = None
    include_expired: StrictBool = False
    filter: Mapping[str, Any] | Sequence[tuple[Any, str, Any]] | None = None
    rounds: tuple[int | None, int | None] | None = None
    created_from: datetime | float | None = None
    created_to: datetime | float | None = None
    entity: str | None = None
    kinds: Sequence[str] | None = None
    min_score: float = Field(default=0.0, ge=0.0, le=1.0)
    explain: StrictBool = False
    timeout: float | None = None

    def invoke(
        self,
        input: str,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401  # settings of this call
    ) -> list[Document]:
        """The episodes that answer a question; settings may be given for one call, such as `k=3`."""
        return super().invoke(input, config, **self._asked(config, kwargs))

    async def ainvoke(
        self,
        input: str,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401  # as above
    ) -> list[Document]:
        """`invoke`, awaited."""
        return await super().ainvoke(input, config, **self._asked(config, kwargs))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        **asked: Any,  # noqa: ANN401  # what `_asked` gave
    ) -> list[Document]:
        # Inside of the run, so that its callbacks learn of the memory's events.
        with set_config_context({"callbacks": run_manager.get_child()}) as context:
            return context.run(partial(self.memory.recall, query, **asked))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        **asked: Any,  # noqa: ANN401  # as above
    ) -> list[Document]:
        with set_config_context({"callbacks": run_manager.get_child()}) as context:
            return await create_task(self.memory.arecall(query, **asked), context=context)

    def _asked(self, config: RunnableConfig | None, given: Mapping[str, Any]) -> dict[str, Any]:
        """What this call asks for. Nothing of it is kept: the next call may be another user's (run-llama#22701)."""
        asked = {name: given.get(name, getattr(self, name)) for name in ("k", *_SETTINGS)}
        others = {name: value for name, value in given.items() if name not in asked and name != "scope"}
        scope = scope_of_run(given.get("scope", self.scope), config, this_session=self.this_session)
        return {**others, **asked, "scope": scope}


def scope_of_run(
    scope: MemoryScope | None, config: Mapping[str, Any] | None, *, this_session: bool = True
) -> MemoryScope:
    """Whose memory a run is about.

    Args:
        scope: What was set, if anything was.
        config: The run's configuration.
        this_session: Whether the run's session counts, where nothing was set.

    Raises:
        ScopeError: Nothing names a user, or the run names another than what was set.
    """
    named = ((config or {}).get("configurable") or {}).get("user_id")
    if scope is None:
        run = MemoryScope.from_config(config)
        return run if this_session else run.whole_user()
    if named is not None and MemoryScope.from_config(config).user_key != scope.user_key:
        msg = f"the run is about user {named!r}, and scope={scope!r} was set: set no scope, or one of the run's user"
        raise ScopeError(msg)
    return scope


# --- saving and loading -----------------------------------------------------------------------------------------------


class Remembering(Protocol):
    """Remembers messages, as `EpisodicMemory` does."""

    def remember(self, text_or_messages: Sequence[BaseMessage], /, *, scope: MemoryScope) -> list[str]:
        """Keep messages; gives the ids of the episodes."""

    async def aremember(self, text_or_messages: Sequence[BaseMessage], /, *, scope: MemoryScope) -> list[str]:
        """`remember`, awaited."""


def saver_of(
    memory: Remembering, *, scope: MemoryScope | None, input_key: str, output_key: str
) -> Runnable[dict[str, Any], dict[str, Any]]:
    """A Runnable that keeps the round in a dict and passes the dict on."""

    def save(round_: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        memory.remember(_round(round_, input_key, output_key), scope=scope_of_run(scope, config))
        return round_

    async def asave(round_: dict[str, Any], config: RunnableConfig) -> dict[str, Any]:
        await memory.aremember(_round(round_, input_key, output_key), scope=scope_of_run(scope, config))
        return round_

    return RunnableLambda(save, asave, name="save_episode")


def loader_of(retriever: EpisodicRetriever, *, input_key: str, language: Language = "en") -> Runnable[Any, str]:
    """A Runnable from a question, or a dict that holds one, to quoted episodes."""

    def load(question: Any, config: RunnableConfig) -> str:  # noqa: ANN401  # a text, a message or a dict
        return quote_episodes(retriever.invoke(_question(question, input_key), config), language=language)

    async def aload(question: Any, config: RunnableConfig) -> str:  # noqa: ANN401  # as above
        return quote_episodes(await retriever.ainvoke(_question(question, input_key), config), language=language)

    return RunnableLambda(load, aload, name="load_episodes")


def _question(given: Any, input_key: str) -> str:  # noqa: ANN401  # as above
    value = _value(given, input_key) if isinstance(given, Mapping) else given
    last = _last(value)
    return str(last.text) if isinstance(last, BaseMessage) else str(last)


def _round(given: Any, input_key: str, output_key: str) -> list[BaseMessage]:  # noqa: ANN401  # callers without type checks too
    if not isinstance(given, Mapping):
        msg = f"a round to save is a dict with {input_key!r} and {output_key!r}, got {type(given).__name__}"
        raise TypeError(msg)
    said, answer = _last(_value(given, input_key)), _last(_value(given, output_key))
    return [
        said if isinstance(said, BaseMessage) else HumanMessage(str(said)),
        answer if isinstance(answer, BaseMessage) else AIMessage(str(answer)),
    ]


def _value(given: Mapping[str, Any], key: str) -> Any:  # noqa: ANN401  # whatever a chain passes
    if key not in given:
        msg = f"{key!r} is missing: the input has {', '.join(map(repr, given)) or 'nothing'}; name the right key"
        raise ValueError(msg)
    return given[key]


def _last(value: Any) -> Any:  # noqa: ANN401  # as above
    last = value[-1] if isinstance(value, list) and value else value
    if last is None or last == []:
        msg = f"got {value!r} where somebody's words should be: give a text, a message, or messages"
        raise ValueError(msg)
    if isinstance(last, dict) and last.keys() >= {"role", "content"}:
        return convert_to_messages([last])[0]
    return last
