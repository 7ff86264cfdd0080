"""The message log as a LangChain chat history, for `RunnableWithMessageHistory` and whatever else takes one.

langchain-core 2 will have neither `BaseChatMessageHistory` nor `RunnableWithMessageHistory`; nothing else in this
package uses them.
"""

from __future__ import annotations

import asyncio
import inspect
import sys
import threading
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final, Self
from uuid import uuid4

from langchain_core.callbacks.manager import CallbackManagerForChainRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, get_buffer_string
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig

from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory.context.remember import INCOMPLETE, incomplete
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import AnswerInterrupted, AppendFailed, EventHook, ViewCut, aemit, emit, hooks_of
from langchain_tiered_memory.integrations.history_view import fitted, source_of
from langchain_tiered_memory.messages.matching import said_in
from langchain_tiered_memory.messages.protocol import is_inserted, is_synthetic, is_user_turn, kind_of
from langchain_tiered_memory.messages.trimming import CounterLike, Size, trim_messages
from langchain_tiered_memory.working.append import append_run
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.log_in_memory import InMemoryMessageLog
from langchain_tiered_memory.working.records import check_session_id
from langchain_tiered_memory.working.serialization import whole_message

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["INCOMPLETE", "TieredChatMessageHistory"]

_EXPECTED: Final = 256
"""Messages that chains appended and whose runs have not ended, of which this many are known."""
_NOTHING: Final = object()
_STREAMING: Final = Runnable._transform_stream_with_config.__code__  # noqa: SLF001  # recognised, never called
_ENDING: Final = CallbackManagerForChainRun.on_chain_end.__code__


class TieredChatMessageHistory(BaseChatMessageHistory):
    """One session of a message log as a LangChain chat history: everything is kept, and what fits the budget is shown.

    `messages` is the view that a model gets: the newest messages within `max_tokens`, with tool calls and their results
    together and leading system messages always there. `transcript` is everything. A history object pins the view that
    it returned until its own next append or clear; `transcript` is always read anew.

    It works with `RunnableWithMessageHistory` in every mode: lists and dicts, streams, batches, and concurrent calls of
    one session, whether the factory makes a history per call or shares one. A failed append, whose exception
    `RunnableWithMessageHistory` swallows, reaches the hooks, the log of `logging` and the run's callbacks as an
    `AppendFailed` event.

    What `RunnableWithMessageHistory` never hands over cannot be kept: when the chain raises, neither question nor
    answer is saved. A stream that is closed counts as raising where it is async, comes straight from a chat model, or
    is closed at its first chunk. Otherwise what came of the answer is stored with `response_metadata["incomplete"]`.

    ```python
    from langchain_tiered_memory import InMemoryMessageLog, TieredChatMessageHistory

    log = InMemoryMessageLog()
    history = TieredChatMessageHistory("session-1", log, max_tokens=2_000)
    history.add_user_message("Hello")
    assert [message.content for message in history.messages] == ["Hello"]
    ```

    Args:
        session_id: The session.
        log: Where the messages are; without one, in memory and gone with this object.
        max_tokens: The budget of the view: tokens, or `("messages", n)` or `("rounds", n)`. Without one, the view is
            the whole transcript, with open calls closed.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        memory: A Runnable from messages to messages that makes the view of the transcript, for instance one that
            summarises; called with `session_id` in its config. One whose `message_log` is this history's log is called
            with an empty list, since it has the messages already. The budget then holds for what it made.
        hooks: Called with each event.
        after_append: Awaited after each append, with what calls stores.

    Raises:
        TypeError: `session_id` is no text.
        ValueError: `session_id` or `max_tokens` cannot be used.
    """

    def __init__(
        self,
        session_id: str,
        log: MessageLog | None = None,
        max_tokens: Size | None = None,
        token_counter: CounterLike = None,
        memory: Runnable[list[BaseMessage], list[BaseMessage]] | None = None,
        *,
        hooks: Iterable[EventHook] = (),
        after_append: Callable[[Caller], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__()
        check_session_id(session_id)
        if not session_id.strip():
            msg = f"a session id is text that is not blank, got {session_id!r}"
            raise ValueError(msg)
        if max_tokens is not None:
            trim_messages([], max_tokens=max_tokens)  # refuses what is no budget, here and not in the middle of a run
        self.session_id = session_id
        self.log = log if log is not None else InMemoryMessageLog()
        self.max_tokens = max_tokens
        self.token_counter = token_counter
        self.memory = memory
        self._hooks = hooks_of(hooks)
        self._after_append = after_append
        self._pinned: list[BaseMessage] | None = None
        # The ids of all messages that a view of this object had. A run brings them back with its input, and they are
        # not stored even where the session has been erased meanwhile.
        self._shown: set[str] = set()
        # What a chain has appended itself, the newest last; see `expect`.
        self._expected: deque[BaseMessage] = deque(maxlen=_EXPECTED)
        self._runs: weakref.WeakSet[_Loaded] = weakref.WeakSet()
        self._lock = threading.Lock()

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base class has an attribute here
        """The view within the budget, pinned until this object's next append."""
        view, fresh = self._shortest(), None
        if view is None:
            if self._pinned is None:
                self._pinned = fresh = self._read()
            view = self._pinned
        return _View(view, self, fresh)

    async def aget_messages(self) -> list[BaseMessage]:
        """`messages`, awaited."""
        fresh = await self._aread()
        view = self._shortest()
        if view is None:
            self._pinned = view = self._pinned if self._pinned is not None else fresh
        return _View(view, self, fresh)

    @property
    def transcript(self) -> list[BaseMessage]:
        """Everything that was said in the session, read anew each time."""
        return self.log.messages(self.session_id)

    async def aget_transcript(self) -> list[BaseMessage]:
        """`transcript`, awaited."""
        return await self.log.amessages(self.session_id)

    def __str__(self) -> str:
        """The view as text, as langchain-core writes it."""
        return get_buffer_string(self.messages)

    def load(self, view: list[BaseMessage] | None) -> list[BaseMessage]:
        """A run's own copy of the view, read anew; the run adds its input to it."""
        self._pinned = view = view if view is not None else self._read()
        loaded = _Loaded(view)
        loaded.size = len(view)
        with self._lock:
            self._runs.add(loaded)
        return loaded

    def _shortest(self) -> list[BaseMessage] | None:
        """The shortest view that a run under way was given, to which it has added its input."""
        # RunnableWithMessageHistory reads `.messages` a second time when a run ends, only to cut as many messages off
        # the run's input. If another run of this object has appended meanwhile, that number would be too large, and
        # the question lost (langchain-ai/langchain#14458 slices, #14629 tells why). Cutting off too few is harmless:
        # what the log has is known by its id.
        with self._lock:
            views = [run[: run.size] for run in self._runs if len(run) > run.size]
        return min(views, key=len, default=None)

    @property
    def _reads_log_itself(self) -> bool:
        """Whether the memory keeps its messages in this very log, so that it reads what is new and no more."""
        return self.memory is not None and getattr(self.memory, "message_log", None) is self.log

    def _source(self) -> list[BaseMessage]:
        """What the view is made of, or the memory makes it of."""
        if self._reads_log_itself:
            return []
        budget = self.max_tokens if self.memory is None else None
        return source_of(self.log, self.session_id, budget, self.token_counter)

    def _read(self) -> list[BaseMessage]:
        source = self._source()
        made = source if self.memory is None else _with_ids(self.memory.invoke(source, self._config()))
        view, event = self._fit(made)
        if event is not None:
            emit(event, self._hooks)
        return view

    async def _aread(self) -> list[BaseMessage]:
        source = await asyncio.to_thread(self._source)
        made = source if self.memory is None else _with_ids(await self.memory.ainvoke(source, self._config()))
        view, event = await asyncio.to_thread(self._fit, made)
        if event is not None:
            await aemit(event, self._hooks)
        return view

    def _config(self) -> RunnableConfig:
        return {"configurable": {"session_id": self.session_id}}

    def _fit(self, messages: list[BaseMessage]) -> tuple[list[BaseMessage], ViewCut | None]:
        view, event = fitted(self.session_id, messages, self.max_tokens, self.token_counter)
        self._shown.update(message.id for message in view if message.id)
        return view, event

    # --- writing ------------------------------------------------------------------------------------------------------

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages to the log; those that it holds already (by id) change nothing.

        A round, a question with its answer, may bring back what the log has of the conversation before it, as
        `RunnableWithMessageHistory` does; only what is new of it is appended. Messages that the memory itself made,
        summaries and results that close an interrupted call, are left out.

        Raises:
            MemoryStoreError: The store could not be written.
            TypeError: A message is none.
        """
        chunk = _chunk_of_closed_stream(sys._getframe(1))  # noqa: SLF001  # there is no other way to know
        batch = list(map(whole_message, messages if chunk is _NOTHING else _interrupted(messages, chunk)))
        run_sync(self._add(BLOCKING, messages, batch))
        if chunk is not _NOTHING:
            emit(AnswerInterrupted(session_id=self.session_id), self._hooks)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """`add_messages`, awaited."""
        await self._add(AWAITING, messages, list(map(whole_message, messages)))

    def expect(self, messages: Iterable[BaseMessage]) -> None:
        """Learn what a chain has appended of its run's input, under the ids that it gave it.

        An assembler puts a question into the log before the model is asked. When the run ends, the question comes here
        as it came in, without an id, and would be stored once more.
        """
        self._expected.extend(messages)

    def clear(self) -> None:
        """Erase the session from the log."""
        self.log.erase(self.session_id)
        self._forget()

    async def aclear(self) -> None:
        """`clear`, awaited."""
        await self.log.aerase(self.session_id)
        self._forget()

    def _forget(self) -> None:
        self._pinned = None
        self._shown.clear()

    async def _add(self, caller: Caller, given: Sequence[BaseMessage], batch: list[BaseMessage]) -> None:
        store = self.log.blocking if caller is BLOCKING else self.log.awaited
        said = [message for message in batch if not is_inserted(message)]
        turn = max((place for place, message in enumerate(said) if is_user_turn(message)), default=-1)
        try:
            if turn >= 0 and any(kind_of(message) == "assistant" for message in said[turn:]):
                while said and said[0].id in self._shown:
                    said.pop(0)
                await append_run(store, self.session_id, [self._as_expected(message) for message in said])
            else:
                await store.append(self.session_id, said)
        except (MemoryStoreError, TypeError) as error:  # told, since a run swallows it
            failed = AppendFailed(session_id=self.session_id, messages=tuple(batch), error=error)
            await caller.call(emit, aemit, failed, self._hooks)
            raise
        self._pinned = None
        own = set(map(id, given))
        with self._lock:
            for run in [run for run in self._runs if any(id(message) in own for message in run[run.size :])]:
                self._runs.discard(run)
        if self._after_append is not None:
            await self._after_append(caller)

    def _as_expected(self, message: BaseMessage) -> BaseMessage:
        """A message without an id as the chain has appended it, where it has."""
        if message.id:
            return message
        key = said_in(message)
        for expected in reversed(tuple(self._expected)):
            if said_in(expected) == key:
                self._expected.remove(expected)
                return expected
        return message


class _View(list[BaseMessage]):
    """A view that knows that a run takes a copy of it."""

    def __init__(
        self, messages: Iterable[BaseMessage], history: TieredChatMessageHistory, fresh: list[BaseMessage] | None
    ) -> None:
        super().__init__(messages)
        self._history = history
        self._fresh = fresh

    def copy(self) -> list[BaseMessage]:
        """The messages for a run that begins."""
        return self._history.load(self._fresh)


class _Loaded(list[BaseMessage]):
    """What a run was given, to which it adds its input; counts as under way for as long as anybody has it."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # one list is not another because it says the same
    size = 0

    def __eq__(self, other: object) -> bool:
        return self is other

    def __iadd__(self, messages: Iterable[BaseMessage]) -> Self:  # type: ignore[override,misc]  # as a run does it
        given = list(messages)
        if given and kind_of(given[0]) == "result":  # which comes after all, so that no open call need be closed
            self[:] = [message for message in self if not is_synthetic(message)]
            self.size = len(self)
        return super().__iadd__(given)


def _with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Messages that a memory made get ids of their own, by which they are known when a run brings them back."""
    return [m if m.id else m.model_copy(update={"id": f"view-{uuid4()}"}) for m in messages]


def _chunk_of_closed_stream(leaving: FrameType) -> object:
    """The chunk that was out when the consumer closed the stream whose run ends here; `_NOTHING` if it ended by itself.

    `_transform_stream_with_config` takes a closed stream for a finished one, and the chunk that the consumer got last
    is not even in its output. But the iterator that it read from is only suspended, where a finished one is gone.
    """
    frame: FrameType | None = leaving
    while frame is not None and frame.f_code is not _ENDING:
        frame = frame.f_back
    stream = frame.f_back if frame is not None else None
    if stream is None or stream.f_code is not _STREAMING:
        return _NOTHING
    iterator = stream.f_locals.get("iterator")
    if not inspect.isgenerator(iterator) or inspect.getgeneratorstate(iterator) != inspect.GEN_SUSPENDED:
        return _NOTHING
    return stream.f_locals.get("chunk", _NOTHING)


def _interrupted(messages: Sequence[BaseMessage], chunk: object) -> list[BaseMessage]:
    """A run's messages with the answer at their end completed by its last chunk, and marked as incomplete."""
    *before, answer = messages
    if isinstance(chunk, str) and isinstance(answer.content, str):
        answer = answer.model_copy(update={"content": answer.content + chunk})
    elif isinstance(chunk, AIMessageChunk):
        answer = answer + chunk if isinstance(answer, AIMessageChunk) else chunk
    if not isinstance(answer, AIMessage):
        return list(messages)
    return [*before, incomplete(whole_message(answer))]
