"""The last link of a chain: what the model answered goes into the log, whole or as far as it came."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import AIMessage, BaseMessage, BaseMessageChunk
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from langchain_tiered_memory._driving import Steps, adrive, drive
from langchain_tiered_memory.working.serialization import whole_message

__all__ = ["INCOMPLETE", "RememberRound", "incomplete"]

INCOMPLETE: Final = "incomplete"
"""The key in `response_metadata` that marks an answer whose stream ended before the answer did."""

Saver: TypeAlias = Callable[[Sequence[BaseMessage], RunnableConfig], Steps[None]]


class RememberRound(Runnable[Any, Any]):
    """Hands an answer on as it is, and keeps it.

    Put behind the model, it sees what the user sees. A stream passes through chunk by chunk and is kept when it ends;
    one that is closed early, cancelled or broken is kept as far as it came, marked as incomplete.

    Args:
        save: Keeps messages; an algorithm that `_driving` runs.
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
            input: A message, a text, a list of messages, or a dict with `"messages"`.
            config: The run's configuration, whose `configurable` names session and user.
            **kwargs: Not used.

        Raises:
            MemoryStoreError: The log could not be written.
            TypeError: The input is no answer.
        """
        return self._call_with_config(_INNER[0], input, config, keeper=self)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002, ANN401  # as above
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # as above
    ) -> Any:  # noqa: ANN401  # as above
        """`invoke`, awaited."""
        return await self._acall_with_config(_INNER[1], input, config, keeper=self)

    def keep(self, answer: Any, config: RunnableConfig) -> Steps[None]:  # noqa: ANN401  # as above
        """The algorithm of one call, for a driver."""
        return self._save(_messages_of(answer), config)

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
            # Not awaited: whoever is being cancelled would be cancelled here too, and the answer lost.
            self._keep_broken_off(whole, config)
            raise
        if whole is not None:
            await self.ainvoke(whole, config)

    def _keep_broken_off(self, whole: Any, config: RunnableConfig) -> None:  # noqa: ANN401  # as above
        """Keep what came before the consumer closed the stream, or the model broke off: it was seen."""
        if whole is not None:
            drive(self._save([incomplete(message) for message in _messages_of(whole)], config))


def _kept(
    answer: Any,  # noqa: ANN401  # an answer in any form
    run_manager: CallbackManagerForChainRun,  # noqa: ARG001  # langchain_core tells signatures apart by it
    config: RunnableConfig,
    *,
    keeper: RememberRound,
) -> Any:  # noqa: ANN401  # what came in
    drive(keeper.keep(answer, config))
    return answer


async def _akept(
    answer: Any,  # noqa: ANN401  # as above
    run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG001  # as above
    config: RunnableConfig,
    *,
    keeper: RememberRound,
) -> Any:  # noqa: ANN401  # as above
    await adrive(keeper.keep(answer, config))
    return answer


_INNER: Final[tuple[Any, Any]] = (_kept, _akept)


def _joined(whole: Any, chunk: Any) -> Any:  # noqa: ANN401  # chunks of any kind
    if isinstance(whole, list):
        return [*whole, *(chunk if isinstance(chunk, list) else [chunk])]
    try:
        return whole + chunk
    except TypeError:
        return chunk  # as langchain_core does with chunks that do not add up: the last one counts


def _messages_of(answer: Any) -> list[BaseMessage]:  # noqa: ANN401  # an answer in any form
    if isinstance(answer, str):
        return [AIMessage(answer)]
    if isinstance(answer, BaseMessage):
        return [whole_message(answer) if isinstance(answer, BaseMessageChunk) else answer]
    if isinstance(answer, dict) and isinstance(answer.get("messages"), list):
        answer = answer["messages"]
    if isinstance(answer, list) and all(isinstance(message, BaseMessage) for message in answer):
        return [one for message in answer for one in _messages_of(message)]
    msg = f"an answer is a message, a text, a list of messages or a dict with them, got {type(answer).__name__}"
    raise TypeError(msg)


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
