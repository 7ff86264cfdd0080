"""The message log as a LangChain chat history, for `RunnableWithMessageHistory` and whatever else takes one.

langchain-core 2 will have neither `BaseChatMessageHistory` nor `RunnableWithMessageHistory`; nothing else in this
package uses them.
"""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, get_buffer_string
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory._driving import Steps, adrive, drive
from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.events import AnswerInterrupted, AppendFailed, EventHook, ViewCut, aemit, emit, hooks_of
from langchain_tiered_memory.integrations._runs import (
    INCOMPLETE,
    NOTHING,
    chunk_of_closed_stream,
    interrupted,
    is_same,
    news,
)
from langchain_tiered_memory.integrations._views import fitted, source_of
from langchain_tiered_memory.messages.protocol import is_inserted, kind_of
from langchain_tiered_memory.messages.trimming import Size, trim_messages
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.log_in_memory import InMemoryMessageLog
from langchain_tiered_memory.working.records import check_session_id
from langchain_tiered_memory.working.serialization import whole_message

if TYPE_CHECKING:
    from types import FrameType

__all__ = ["INCOMPLETE", "TieredChatMessageHistory"]

# RunnableWithMessageHistory reads `.messages` a second time when the run ends, only to cut as many messages off the
# run's input. That number is wrong as soon as another run of the session has appended: of 50 x 8 concurrent calls with
# list input, 350 questions were lost (langchain-ai/langchain#14458 slices, #14629 tells why). A history cannot know for
# which run it is read, but it can know by whom: the read at the end gets an empty list, so that nothing is cut off, and
# `add_messages` drops by message id what the log holds. tests/unit_tests/integrations hold the installed version to it.
_ENTERING: Final = {
    RunnableWithMessageHistory._enter_history.__code__,  # noqa: SLF001  # recognised, never called
    RunnableWithMessageHistory._aenter_history.__code__,  # noqa: SLF001  # as above
}
_LEAVING: Final = {
    RunnableWithMessageHistory._exit_history.__code__,  # noqa: SLF001  # as above
    RunnableWithMessageHistory._aexit_history.__code__,  # noqa: SLF001  # as above
}


_EXPECTED: Final = 256
"""Messages that chains appended and whose runs have not ended, of which this many are known."""


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
    answer is saved. A closed stream counts as raising where it is async or comes straight from a chat model. Otherwise
    the question is stored, and what came of the answer with `response_metadata["incomplete"]`; only with
    `history_messages_key` must a second chunk have been asked for.

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
            the whole transcript as it is.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        memory: A Runnable from messages to messages that makes the view of the transcript, for instance one that
            summarises; called with `session_id` in its config. One whose `message_log` is this history's log is called
            with an empty list, since it has the messages already. The budget then holds for what it made.
        hooks: Called with each event.
        after_append: Gives an algorithm of `_driving` to run after each append.

    Raises:
        TypeError: `session_id` is no text.
        ValueError: `session_id` or `max_tokens` cannot be used.
    """

    def __init__(
        self,
        session_id: str,
        log: MessageLog | None = None,
        max_tokens: Size | None = None,
        token_counter: Any = None,  # noqa: ANN401  # whatever as_counter takes
        memory: Runnable[list[BaseMessage], list[BaseMessage]] | None = None,
        *,
        hooks: Iterable[EventHook] = (),
        after_append: Callable[[], Steps[None]] | None = None,
    ) -> None:
        super().__init__()
        check_session_id(session_id)
        if max_tokens is not None:
            trim_messages([], max_tokens=max_tokens)  # refuses what is no budget, here and not in the middle of a run
        self.session_id = session_id
        self.log = log if log is not None else InMemoryMessageLog()
        self.max_tokens = max_tokens
        self.token_counter = token_counter
        self.memory = memory
        self._hooks = hooks_of(hooks)
        self._after_append = after_append or _nothing
        self._pinned: list[BaseMessage] | None = None
        # The ids of all messages that a view of this object had. A run brings them back with its input, and they are
        # not stored even where the session has been erased meanwhile.
        self._shown: set[str] = set()
        # What a chain has appended itself, the newest last; see `expect`.
        self._expected: deque[BaseMessage] = deque(maxlen=_EXPECTED)

    # --- reading ------------------------------------------------------------------------------------------------------

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # the base class has an attribute here
        """The view within the budget, pinned until this object's next append."""
        caller = sys._getframe(1)  # noqa: SLF001  # see _LEAVING
        if caller.f_code in _LEAVING:
            self._keep_question(caller)
            return []
        view = None if caller.f_code in _ENTERING else self._pinned
        if view is None:
            shown, event = self._fit(self._remember(self._source()))
            view = self._pin(shown)
            if event is not None:
                emit(event, self._hooks)
        return list(view)

    async def aget_messages(self) -> list[BaseMessage]:
        """`messages`, awaited."""
        caller = sys._getframe(1)  # noqa: SLF001  # see _LEAVING
        if caller.f_code in _LEAVING:
            return []
        view = None if caller.f_code in _ENTERING else self._pinned
        if view is None:
            source = await self._aremember(await asyncio.to_thread(self._source))
            shown, event = await asyncio.to_thread(self._fit, source)
            view = self._pin(shown)
            if event is not None:
                await aemit(event, self._hooks)
        return list(view)

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

    def _remember(self, source: list[BaseMessage]) -> list[BaseMessage]:
        if self.memory is None:
            return source
        return _with_ids(self.memory.invoke(source, self._config()))

    async def _aremember(self, source: list[BaseMessage]) -> list[BaseMessage]:
        if self.memory is None:
            return source
        return _with_ids(await self.memory.ainvoke(source, self._config()))

    def _config(self) -> RunnableConfig:
        return {"configurable": {"session_id": self.session_id}}

    def _fit(self, messages: list[BaseMessage]) -> tuple[list[BaseMessage], ViewCut | None]:
        return fitted(self.session_id, messages, self.max_tokens, self.token_counter)

    def _pin(self, view: list[BaseMessage]) -> list[BaseMessage]:
        self._shown.update(message.id for message in view if message.id)
        self._pinned = view
        return view

    # --- writing ------------------------------------------------------------------------------------------------------

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages to the log; those that it holds already (by id) change nothing.

        Messages that the memory itself made, summaries and results that close an interrupted call, are left out.

        Raises:
            TypeError: A message holds something that could not be read back.
            MemoryStoreError: The store could not be written.
        """
        self._add(messages, sys._getframe(1))  # noqa: SLF001  # see _LEAVING

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """`add_messages`, awaited."""
        from_run = sys._getframe(1).f_code in _LEAVING  # noqa: SLF001  # see _LEAVING
        batch = list(map(whole_message, messages))
        try:
            await asyncio.to_thread(self._store, batch, from_run=from_run)
        except Exception as error:  # told and raised again, since a run swallows it whatever it is
            await aemit(AppendFailed(session_id=self.session_id, messages=tuple(batch), error=error), self._hooks)
            raise
        await adrive(self._after_append())

    def expect(self, messages: Iterable[BaseMessage]) -> None:
        """Learn that a chain has these from its run's input and appends them itself, with the ids that it gave them.

        An assembler puts a question into the log before the model is asked. When the run ends, the question comes here
        as it came in, without an id, and would be stored once more.
        """
        self._expected.extend(messages)

    def clear(self) -> None:
        """Erase the session from the log."""
        self.log.erase(self.session_id)
        self._pinned = None

    async def aclear(self) -> None:
        """`clear`, awaited."""
        await self.log.aerase(self.session_id)
        self._pinned = None

    def _add(self, messages: Sequence[BaseMessage], caller: FrameType) -> None:
        from_run = caller.f_code in _LEAVING
        chunk = chunk_of_closed_stream(caller) if from_run else NOTHING
        batch = list(map(whole_message, messages if chunk is NOTHING else interrupted(messages, chunk)))
        try:
            self._store(batch, from_run=from_run)
        except Exception as error:  # told and raised again, since a run swallows it whatever it is
            emit(AppendFailed(session_id=self.session_id, messages=tuple(batch), error=error), self._hooks)
            raise
        drive(self._after_append())
        if chunk is not NOTHING:
            emit(AnswerInterrupted(session_id=self.session_id), self._hooks)

    def _keep_question(self, leaving: FrameType) -> None:
        """Store what a stream leaves that was closed at its first chunk, after which nothing calls `add_messages`."""
        chunk = chunk_of_closed_stream(leaving)
        run = leaving.f_locals.get("run")
        if chunk is not NOTHING and run is not None and (run.outputs or {}).get("output") is None:
            self._add([*leaving.f_locals["input_messages"], AIMessage("")], leaving)

    def _store(self, batch: list[BaseMessage], *, from_run: bool) -> None:
        batch = [message for message in batch if not is_inserted(message)]
        if from_run:
            self._store_run(batch)
        else:
            self.log.append(self.session_id, batch)
        self._pinned = None

    def _store_run(self, batch: list[BaseMessage]) -> None:
        """Append what a run brought that is new: its input has the view in it, and perhaps the whole transcript."""
        start = 0
        while start < len(batch) and batch[start].id in self._shown:
            start += 1
        rest = [self._as_expected(message) for message in batch[start:]]
        expected = {str(message.id) for message, given in zip(rest, batch[start:], strict=True) if message is not given}
        answered = self._said_since(expected)
        rest = [message for message in rest if message.id not in answered]
        while True:
            length = self._length_of_transcript(rest)
            # A question that was expected counts as new, so that its answer does; to append it again changes nothing.
            known = (self._shown | self.log.known(self.session_id, [m.id for m in rest if m.id])) - expected
            try:
                self.log.append(self.session_id, news(rest[length:], known), length or None)
            except VersionConflictError:
                continue  # somebody else has appended, so what was compared by position must be compared again
            return

    def _said_since(self, questions: set[str]) -> set[str]:
        """The ids of what the log has behind the first of some questions: a chain may keep its answer too."""
        since: set[str] = set()
        entries = self.log.newest_first(self.session_id)
        while questions:
            message_id = str(next(entries).message.id)
            if message_id not in questions:
                since.add(message_id)
            questions = questions - {message_id}
        return since

    def _as_expected(self, message: BaseMessage) -> BaseMessage:
        """A message without an id as the chain has appended it, where it has."""
        alike = [] if message.id else [one for one in tuple(self._expected) if is_same(message, one)]
        # Another run of this object may have asked the same, and not yet have appended it.
        stored = self.log.known(self.session_id, [str(one.id) for one in alike]) if alike else set()
        for expected in reversed(alike):
            if expected.id in stored:
                with suppress(ValueError):  # taken by another run just now
                    self._expected.remove(expected)
                    return expected
        return message

    def _length_of_transcript(self, batch: list[BaseMessage]) -> int:
        """How many messages of a batch are the whole log again, sent as input by whoever keeps a transcript too.

        Messages with an id are found by it. Without one, only the whole log counts, with at least one answer in it and
        something to follow: "hi" said twice is two messages (langchain-ai/langchain#14458).
        """
        version = self.log.version(self.session_id)
        if version >= len(batch) or all(message.id for message in batch[:version]):
            return 0
        logged = self.log.messages(self.session_id)
        kinds = {kind_of(message) for message in logged}
        again = len(logged) < len(batch) and all(map(is_same, batch, logged))
        return len(logged) if again and {"user", "assistant"} <= kinds else 0


def _with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Messages that a memory made get ids of their own, by which they are known when a run brings them back."""
    return [m if m.id else m.model_copy(update={"id": f"view-{uuid4()}"}) for m in messages]


def _nothing() -> Steps[None]:
    yield from ()
