"""What a run of a chain hands to a chat history: which of it is new, and whether its stream was closed early."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FrameType
from typing import Any, Final

from langchain_core.callbacks.manager import CallbackManagerForChainRun
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.runnables import Runnable

from langchain_tiered_memory.context.remembering import INCOMPLETE, incomplete
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.working.serialization import nearest_class, whole_message

__all__ = ["INCOMPLETE", "NOTHING", "chunk_of_closed_stream", "interrupted", "is_same", "news"]

_STREAMING: Final = Runnable._transform_stream_with_config.__code__  # noqa: SLF001  # recognised, never called
_ENDING: Final = CallbackManagerForChainRun.on_chain_end.__code__
NOTHING: Final = object()


def is_same(message: BaseMessage, logged: BaseMessage) -> bool:
    """Whether a message is one of the log: by its id, or without one by what was said."""
    if message.id:
        return message.id == logged.id
    parts = ("content", "name", "tool_calls", "tool_call_id", "role")
    return nearest_class(message) is nearest_class(logged) and all(
        getattr(message, part, None) == getattr(logged, part, None) for part in parts
    )


def news(batch: list[BaseMessage], known: set[str]) -> list[BaseMessage]:
    """What of a run's messages the log does not hold.

    An answer that follows a question which is new cannot be an old one, even if its id says so: a model that gives out
    one message object again and again has made a new answer, which gets an id of its own.
    """
    last_old_turn = max((i for i, m in enumerate(batch) if m.id in known and is_user_turn(m)), default=-1)
    fresh: list[BaseMessage] = []
    pending: set[str] = set()
    asked = False
    for index, message in enumerate(batch):
        is_new = message.id not in known
        if is_user_turn(message):
            asked = is_new
        if is_new and message.id not in pending:
            fresh.append(message)
            pending.update([message.id] if message.id else [])
        elif not is_new and asked and index > last_old_turn and isinstance(message, AIMessage):
            fresh.append(message.model_copy(update={"id": None}))
    return fresh


def chunk_of_closed_stream(leaving: FrameType) -> Any:  # noqa: ANN401  # the chunk, or NOTHING
    """The chunk that was out when the consumer closed the stream whose run ends here; `NOTHING` if it ended by itself.

    `_transform_stream_with_config` takes a closed stream for a finished one, and the chunk that the consumer got last
    is not even in its output. But the iterator that it read from is only suspended, where a finished one is gone.
    """
    frame: FrameType | None = leaving
    while frame is not None and frame.f_code is not _ENDING:
        frame = frame.f_back
    stream = frame.f_back if frame is not None else None
    if stream is None or stream.f_code is not _STREAMING:
        return NOTHING
    iterator = stream.f_locals.get("iterator")
    if not inspect.isgenerator(iterator) or inspect.getgeneratorstate(iterator) != inspect.GEN_SUSPENDED:
        return NOTHING
    return stream.f_locals.get("chunk", NOTHING)


def interrupted(messages: Sequence[BaseMessage], chunk: Any) -> list[BaseMessage]:  # noqa: ANN401  # any output
    """A run's messages with the answer at their end completed by its last chunk, and marked as incomplete."""
    *before, answer = messages
    if isinstance(chunk, str) and isinstance(answer.content, str):
        answer = answer.model_copy(update={"content": answer.content + chunk})
    elif isinstance(chunk, AIMessageChunk):
        answer = answer + chunk if isinstance(answer, AIMessageChunk) else chunk
    if not isinstance(answer, AIMessage):
        return list(messages)
    return [*before, incomplete(whole_message(answer))]
