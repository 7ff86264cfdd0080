"""The message log as a LangChain chat history, for `RunnableWithMessageHistory` and whatever else takes one.

langchain-core 2 will have neither `BaseChatMessageHistory` nor `RunnableWithMessageHistory`; nothing else in this
package uses them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    RemoveMessage,
    get_buffer_string,
)
from langchain_core.runnables import Runnable
from langchain_core.runnables.config import RunnableConfig
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory.errors import BudgetExceededError, ProtocolError, VersionConflictError
from langchain_tiered_memory.events import AnswerInterrupted, AppendFailed, EventHook, ViewCut, aemit, emit
from langchain_tiered_memory.integrations._runs import (
    INCOMPLETE,
    NOTHING,
    chunk_of_closed_stream,
    interrupted,
    is_same,
    news,
)
from langchain_tiered_memory.messages.protocol import (
    call_ids,
    is_summary,
    is_synthetic,
    is_user_turn,
    kind_of,
    result_ids,
)
from langchain_tiered_memory.messages.tokens import ListCounter, as_counter
from langchain_tiered_memory.messages.trimming import Size, trim_messages
from langchain_tiered_memory.messages.window import leading_system
from langchain_tiered_memory.working.log import InMemoryMessageLog, MessageLog
from langchain_tiered_memory.working.records import LogEntry, check_session_id
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
_PIECE: Final = 16  # characters by which a message that is larger than the view is cut
_REMOVE_ALL: Final = "__remove_all__"  # langgraph's id of a RemoveMessage that takes everything away


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
            summarises; called with `session_id` in its config. The budget then holds for what it made.
        hooks: Called with each event.

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
        self._hooks = tuple(hooks)
        self._pinned: list[BaseMessage] | None = None
        # The ids of all messages that a view of this object had. A run brings them back with its input, and they are
        # not stored even where the session has been erased meanwhile.
        self._shown: set[str] = set()

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
            fitted, event = self._fit(self._remember(self._source()))
            view = self._pin(fitted)
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
            fitted, event = await asyncio.to_thread(self._fit, source)
            view = self._pin(fitted)
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

    def _source(self) -> list[BaseMessage]:
        """What the view is made of: the transcript, or as much of its end as the budget can reach."""
        removed: set[str] = set()
        cost = None if self.memory is not None else self._cost()
        limit = self.max_tokens[1] if isinstance(self.max_tokens, tuple) else self.max_tokens
        taken: list[BaseMessage] = []
        leading: list[BaseMessage] = []
        results: dict[str, int] = {}  # costs of results whose call has not been reached; without it they are dropped
        spent = 0
        for entry in _visible(self.log.newest_first(self.session_id), removed):
            taken.append(entry.message)
            if cost is None or limit is None:
                continue
            spent += _cost_in_unit(entry.message, cost(entry.message), results)
            # A tail that begins with a user turn and is over the budget is trimmed exactly as the whole would be.
            if spent > limit and is_user_turn(entry.message):
                leading = self._leading_system(entry.number, removed)
                break
        return [*leading, *reversed(taken)]

    def _cost(self) -> Callable[[BaseMessage], int] | None:
        """What a message takes of the budget; `None` where a tail cannot be measured, so that all must be read."""
        if self.max_tokens is None:
            return None
        unit = self.max_tokens[0] if isinstance(self.max_tokens, tuple) else "tokens"
        if unit == "rounds":
            return lambda message: int(is_user_turn(message))
        if unit == "messages" or self.token_counter is len:
            return lambda _: 1
        counter = as_counter(self.token_counter)
        return None if isinstance(counter, ListCounter) else counter.count_message

    def _leading_system(self, before: int, removed: set[str]) -> list[BaseMessage]:
        leading: list[BaseMessage] = []
        for number in range(1, before):
            (entry,) = self.log.entries(self.session_id, after=number - 1, limit=1) or (None,)
            if entry is None or kind_of(entry.message) != "system":
                break
            leading.append(entry.message)
        return [message for message in leading if message.id not in removed]

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
        if self.max_tokens is None:
            return messages, None
        arguments: dict[str, Any] = {
            "max_tokens": self.max_tokens,
            "token_counter": self.token_counter,
            "include_system": True,
        }
        try:
            return trim_messages(messages, **arguments), None
        except ProtocolError:
            return [], None  # only results whose call was never stored; the question to come stands alone
        except BudgetExceededError as error:
            # The newest turn of the log is an old one as soon as the next question comes. Raising here would leave a
            # session with one long message unusable for good.
            event = ViewCut(session_id=self.session_id, needed=error.needed, limit=error.limit)
            try:
                return trim_messages(messages, allow_partial=True, text_splitter=_pieces, **arguments), event
            except BudgetExceededError:
                # Calls that were never answered are cut by nobody; without them, what is left is the instructions.
                lead = leading_system(messages)
                return (trim_messages(lead, **arguments) if lead else []), event

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
        except Exception as error:
            await aemit(AppendFailed(session_id=self.session_id, messages=tuple(batch), error=error), self._hooks)
            raise

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
        except Exception as error:
            emit(AppendFailed(session_id=self.session_id, messages=tuple(batch), error=error), self._hooks)
            raise
        if chunk is not NOTHING:
            emit(AnswerInterrupted(session_id=self.session_id), self._hooks)

    def _keep_question(self, leaving: FrameType) -> None:
        """Store what a stream leaves that was closed at its first chunk, after which nothing calls `add_messages`."""
        chunk = chunk_of_closed_stream(leaving)
        run = leaving.f_locals.get("run")
        if chunk is not NOTHING and run is not None and (run.outputs or {}).get("output") is None:
            self._add([*leaving.f_locals["input_messages"], AIMessage("")], leaving)

    def _store(self, batch: list[BaseMessage], *, from_run: bool) -> None:
        batch = [message for message in batch if not (is_summary(message) or is_synthetic(message))]
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
        rest = batch[start:]
        while True:
            length = self._length_of_transcript(rest)
            known = self._shown | self.log.stored_ids(self.session_id, [m.id for m in rest if m.id])
            try:
                self.log.append(self.session_id, news(rest[length:], known), length or None)
            except VersionConflictError:
                continue  # somebody else has appended, so what was compared by position must be compared again
            return

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


def _pieces(text: str) -> list[str]:
    """A text in pieces small enough that one of them fits any sensible budget."""
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _visible(entries: Iterable[LogEntry], removed: set[str]) -> Iterator[LogEntry]:
    """Entries from the newest on, without what a later RemoveMessage took away; fills in what that was."""
    for entry in entries:
        message = entry.message
        if isinstance(message, RemoveMessage):
            if message.id == _REMOVE_ALL:
                return
            removed.add(str(message.id))
        elif message.id not in removed:
            yield entry


def _cost_in_unit(message: BaseMessage, cost: int, results: dict[str, int]) -> int:
    """What a message adds to the units behind it: a call adds its results too, of several for one call the cheapest."""
    answered = result_ids(message)
    if answered:
        for call_id in answered:
            results[call_id] = min(results.get(call_id, cost), cost) if call_id == answered[0] else 0
        return 0
    return cost + sum(results.pop(call_id, 0) for call_id in call_ids(message))


def _with_ids(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """Messages that a memory made get ids of their own, by which they are known when a run brings them back."""
    return [m if m.id else m.model_copy(update={"id": f"view-{uuid4()}"}) for m in messages]
