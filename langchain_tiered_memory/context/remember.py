"""The last link of a chain: what the model answered goes into the log, whole or as far as it came."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from pydantic import BaseModel

from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory.working.serialization import whole_message

__all__ = ["INCOMPLETE", "RememberRound", "answers_in", "incomplete"]

INCOMPLETE: Final = "incomplete"
"""The key in `response_metadata` that marks an answer whose stream ended before the answer did."""

_KEYS: Final = ("output", "raw", "answer")
"""Where chains put an answer beside other things: an agent executor, `include_raw`, a retrieval chain."""

Saver: TypeAlias = Callable[[Caller, Sequence[BaseMessage], RunnableConfig], Awaitable[None]]


class RememberRound(Runnable[Any, Any]):
    """Hands an answer on as it is, and keeps it.

    Put behind the model, it sees what the user sees. A stream passes through chunk by chunk and is kept when it ends;
    one that is closed early, cancelled or broken is kept as far as it came, marked as incomplete. Whatever a chain
    gives is kept: a message or a text as it is, structured output as its JSON.

    Args:
        save: Keeps messages.
    """

    def __init__(self, save: Saver) -> None:
        self._save = save

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def invoke(
        self,
        input: Any,  # noqa: A002, ANN401  # Runnable's name; an answer in any form
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> Any:  # noqa: ANN401  # what came in
        """Keep an answer.

        Args:
            input: A message, a text, a list of messages, a dict with one of these, or any other output of a chain.
            config: The run's configuration, whose `configurable` names session and user.
            **kwargs: Not used.

        Raises:
            ScopeError: The configuration names no user, and the session belongs to somebody.
            ValueError: The configuration names no session.
        """

        def keep(answer: Any, run_manager: CallbackManagerForChainRun, config: RunnableConfig) -> Any:  # noqa: ANN401, ARG001  # as above; told apart by it
            run_sync(self._kept(BLOCKING, answers_in(answer), config))
            return answer

        return self._call_with_config(keep, input, config)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002, ANN401  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # as above
    ) -> Any:  # noqa: ANN401  # as above
        """`invoke`, awaited."""

        async def keep(answer: Any, run_manager: AsyncCallbackManagerForChainRun, config: RunnableConfig) -> Any:  # noqa: ANN401, ARG001  # as above
            await self._kept(AWAITING, answers_in(answer), config)
            return answer

        return await self._acall_with_config(keep, input, config)

    def transform(
        self,
        input: Iterator[Any],  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # as above
    ) -> Iterator[Any]:
        """Hand chunks on, and keep the answer that they make."""
        config = ensure_config(config)
        whole: Any = None
        try:
            for chunk in input:
                whole = chunk if whole is None else _joined(whole, chunk)
                yield chunk
        except BaseException:
            self._keep_broken_off(whole, config)
            raise
        if whole is not None:
            self.invoke(whole, config)  # so that a trace shows it by its name, as it does without a stream

    async def atransform(
        self,
        input: AsyncIterator[Any],  # noqa: A002  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # as above
    ) -> AsyncIterator[Any]:
        """`transform`, awaited."""
        config = ensure_config(config)
        whole: Any = None
        try:
            async for chunk in input:
                whole = chunk if whole is None else _joined(whole, chunk)
                yield chunk
        except BaseException:
            # In a thread, which goes on whatever becomes of the task: who cancels it may do so again.
            await asyncio.shield(asyncio.to_thread(self._keep_broken_off, whole, config))
            raise
        if whole is not None:
            await self.ainvoke(whole, config)

    def _keep_broken_off(self, whole: Any, config: RunnableConfig) -> None:  # noqa: ANN401  # as above
        """Keep what came before the consumer closed the stream, or the model broke off: it was seen."""
        if whole is not None:
            run_sync(self._kept(BLOCKING, [incomplete(message) for message in answers_in(whole)], config))

    async def _kept(self, caller: Caller, messages: Sequence[BaseMessage], config: RunnableConfig) -> None:
        if messages:
            await self._save(caller, messages, config)


def _joined(whole: Any, chunk: Any) -> Any:  # noqa: ANN401  # chunks of any kind
    if isinstance(whole, list):
        return [*whole, *(chunk if isinstance(chunk, list) else [chunk])]
    try:
        return whole + chunk
    except TypeError:
        return chunk  # as langchain_core does with chunks that do not add up: the last one counts


def answers_in(output: Any) -> list[BaseMessage]:  # noqa: ANN401  # whatever a chain gives
    """The messages that a chain's output is; for structured output a message with its JSON, none for `None`."""
    if isinstance(output, Mapping):
        if isinstance(output.get("messages"), list):
            output = output["messages"]
        elif isinstance(output.get("raw"), AIMessage) and output["raw"].tool_calls and output.get("parsed") is not None:
            output = output["parsed"]  # the call in `raw` is the form of the answer: nobody will give it a result
        else:
            output = next((output[key] for key in _KEYS if isinstance(output.get(key), str | BaseMessage)), output)
    if output is None:
        return []
    if isinstance(output, str):
        return [AIMessage(output)]
    listed = output if isinstance(output, list) and output else [output]
    if all(isinstance(message, BaseMessage) for message in listed):
        return [whole_message(message) for message in listed]
    return [AIMessage(json.dumps(output, default=_plain, ensure_ascii=False))]


def _plain(value: Any) -> Any:  # noqa: ANN401  # whatever structured output holds
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else str(value)


def incomplete(message: BaseMessage) -> BaseMessage:
    """A message marked as one that broke off; calls in it, which nobody will answer, are calls no more."""
    update: dict[str, Any] = {"response_metadata": {**message.response_metadata, INCOMPLETE: True}}
    if isinstance(message, AIMessage):
        error = "the stream was closed before the call was complete"
        cut = [
            {
                "type": "invalid_tool_call",
                "name": call["name"],
                "args": json.dumps(call["args"]),
                "id": call["id"],
                "error": error,
            }
            for call in message.tool_calls
        ]
        update |= {"tool_calls": [], "invalid_tool_calls": [*cut, *message.invalid_tool_calls]}
    return message.model_copy(update=update)
