"""The rolling, layered summary of a conversation, as a Runnable from messages to messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.config import (
    ensure_config,
    get_callback_manager_for_config,
    var_child_runnable_config,
)

from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.messages.trimming import CounterLike, MessagesInput, Pin
from langchain_tiered_memory.types import ContextSize
from langchain_tiered_memory.working.compaction.algorithm import AWAITED, BLOCKING, Compactor, Port
from langchain_tiered_memory.working.compaction.session import Sessions
from langchain_tiered_memory.working.compaction.settings import (
    SummarizerGuard,
    SummaryShares,
    SummaryText,
    budget_of,
    settings_of,
)
from langchain_tiered_memory.working.compaction.sizes import limits_of
from langchain_tiered_memory.working.log import LogStore, MessageLog
from langchain_tiered_memory.working.log_in_memory import InMemoryMessageLog
from langchain_tiered_memory.working.records import check_session_id
from langchain_tiered_memory.working.summarizers import SummarizerLike, internal_config

__all__ = ["CompactionSize", "SummaryMemory", "View"]

CompactionSize: TypeAlias = ContextSize | Mapping[str, float] | list[ContextSize | Mapping[str, float]]
"""A size, a dict of sizes that must hold together, or a list of which one must hold."""


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a session.

    Attributes:
        messages: The system messages, the summary and the recent rounds.
        first: The number in the log of the oldest message that stands in it verbatim; `None` for a list without one.
    """

    messages: list[BaseMessage]
    first: int | None = None


class SummaryMemory(Runnable[MessagesInput, list[BaseMessage]]):
    """Keeps a conversation of any length within a budget: what leaves the window is summarised, once, and stays known.

    A window that only slides forgets, and one that is summarised anew at every step pays for each message many times
    over and loses the provider's prompt cache each time. This memory lets the view grow to a high-water mark, then goes
    down to a low one in one step, and changes nothing in between but the end. What leaves becomes a summary node; nodes
    are folded into coarser ones as they age; what the coarsest level can't hold is handed on, as an `EpisodeHandedOn`
    event. Rules and exact values are quoted below the summary wherever its text lacks them, and so are lines of tool
    results that name what the open question asks for. Nothing is ever taken from the log.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory import SummaryMemory

    memory = SummaryMemory(trigger=("messages", 4), keep=("rounds", 1), session_id="ada")
    chat = [HumanMessage("Never call before 9."), AIMessage("I never will."), HumanMessage("Good."), AIMessage("So?")]
    view = memory.invoke(chat)
    assert "Never call before 9." in view[0].text and view[1:] == chat[2:]
    ```

    `invoke` takes the conversation so far. With a session (`session_id`, or `configurable["session_id"]` of a call,
    which goes first) what the log lacks of it is appended: by id, and by position and content where ids are missing.
    An empty list shows the session as it is, ready for the next message: a call that still waits for its result is
    closed in it. Without a session it is one pass over the list, and nothing is remembered.

    What was said stays as it was said first. A message with an id is known by it, whatever it says later, and whatever
    else the list still holds. Of a list without ids the first and the last 16 messages that are known are compared:
    with what differs there a new continuation begins, and a change further in the middle is not seen. A
    `RemoveMessage` takes a message out of the view until a summary has taken its place; after that it is too late, and
    a `RemovalTooLate` event says so.

    A summarizer that fails changes nothing: a deterministic trim keeps the budget, with the rules of what it took away
    quoted, an event says why, and the next try waits, each time twice as long. After some failures in a row the
    fallback writes in its stead, until the summarizer works again.

    Args:
        summarizer: A chat model (a cheaper one than the agent's is the normal case), a Runnable that takes messages, a
            function `(previous_summary, messages) -> str`, sync or async, or by default an `ExtractiveSummarizer`,
            which needs no model. `previous_summary` is what the new summary takes the place of, "" for nothing.
        trigger: When to compact: `("tokens", n)`, `("messages", n)`, `("rounds", n)` or `("fraction", f)` of the budget
            is reached. A dict of them must hold together, of a list one must hold. Going over the budget always counts.
        keep: What stays verbatim, in the same words: of messages and rounds at least that many, of tokens at most, in
            whole units that begin with a user turn; less where `shares.low_water` could not be reached otherwise.
        max_tokens: The budget of a view, tools included. By default 0.7 of the window of `model`.
        log: Holds messages and summary nodes; in memory by default, one for all sessions of this object.
        session_id: The session, unless a call names another.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        model: The chat model that the view is for; its profile tells the window.
        tools: Tools that go with each request; their schemas take their share of the budget.
        pin: Messages that always stay: their ids, or a function that says so of a message.
        shares: How the budget is divided among summary, quotations and messages.
        guard: What to do where the summarizer fails or a turn is too large.
        text: How summaries are written, and how they stand in the view.
        hooks: Called with each event.

    Raises:
        TypeError: `hooks` is no list of functions.
        ValueError: An argument is not of its form, or contradicts another; names value and repair.
    """

    def __init__(
        self,
        summarizer: SummarizerLike = None,
        trigger: CompactionSize = ("fraction", 0.8),
        keep: CompactionSize = ("rounds", 3),
        max_tokens: int | None = None,
        log: MessageLog | None = None,
        session_id: str | None = None,
        *,
        token_counter: CounterLike = None,
        model: BaseLanguageModel[Any] | Runnable[Any, Any] | None = None,
        tools: Sequence[Any] | None = None,
        pin: Pin | None = None,
        shares: SummaryShares | None = None,
        guard: SummarizerGuard | None = None,
        text: SummaryText | None = None,
        hooks: Iterable[EventHook] = (),
    ) -> None:
        given: object = log  # callers without type checks too
        if given is not None and not isinstance(given, MessageLog):
            msg = f"log={log!r} is no MessageLog: give an InMemoryMessageLog, an SQLMessageLog, or None"
            raise ValueError(msg)
        if session_id is not None:
            check_session_id(session_id)
        shares, guard = shares or SummaryShares(), guard or SummarizerGuard()
        budget = budget_of(max_tokens, model if model is not None else token_counter)
        self.session_id = session_id
        self._settings = settings_of(
            summarizer,
            limits_of(trigger, keep, shares.low_water, budget),
            token_counter=token_counter,
            tools=tools,
            pin=pin,
            shares=shares,
            guard=guard,
            text=text or SummaryText(),
            hooks=hooks_of(hooks),
        )
        self._has_own_log = log is None
        self._log = log if log is not None else InMemoryMessageLog(clock=self._settings.clock)
        self._sessions = Sessions()

    @property
    def message_log(self) -> MessageLog:
        """The log that holds the messages and nodes: the one that was given, or this object's own."""
        return self._log

    @property
    def has_own_log(self) -> bool:
        """Whether no log was given, so that a call without a session is one pass over its list."""
        return self._has_own_log

    # --- for whoever has a budget of their own, such as an assembler --------------------------------------------------

    def view_within(
        self,
        messages: Sequence[BaseMessage],
        session_id: str | None,
        config: Callable[[], RunnableConfig],
        *,
        room: int,
        log: MessageLog | None = None,
    ) -> View:
        """The view of a call that has less room than the memory's own budget.

        Args:
            messages: The conversation so far, or what of it is new.
            session_id: The session; `None` for one pass over the list.
            config: Gives the configuration of a summarizer's runs, where there is one.
            room: Tokens that the view may take, if that is less than its own budget.
            log: Holds the session instead of the memory's own log.
        """
        store = (log or self._log).blocking
        return run_sync(self._view(messages, session_id, config, BLOCKING, store, room=room, is_own=log is None))

    async def aview_within(
        self,
        messages: Sequence[BaseMessage],
        session_id: str | None,
        config: Callable[[], RunnableConfig],
        *,
        room: int,
        log: MessageLog | None = None,
    ) -> View:
        """`view_within`, awaited."""
        store = (log or self._log).awaited
        return await self._view(messages, session_id, config, AWAITED, store, room=room, is_own=log is None)

    async def _view(
        self,
        messages: Sequence[BaseMessage],
        session_id: str | None,
        config: Callable[[], RunnableConfig],
        port: Port,
        store: LogStore,
        *,
        room: int | None = None,
        is_own: bool = True,
    ) -> View:
        settings = self._settings if room is None else self._settings.within(room)
        compactor = Compactor(settings, port, config)
        if session_id is None:
            return View(await compactor.of_list(messages))
        view, session = await compactor.of_session(
            store, session_id, messages, self._sessions if is_own else Sessions()
        )
        return View(view, session.first_in(view))

    # --- running ------------------------------------------------------------------------------------------------------

    def invoke(
        self,
        input: MessagesInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage]:
        """The view of a conversation, after a compaction where one is due.

        Args:
            input: The conversation so far, anything that langchain_core converts to messages, or a prompt value.
            config: The run's configuration; `configurable["session_id"]` names the session.
            **kwargs: Not used.

        Returns:
            Leading system messages, the summary, and the recent messages as they are.

        Raises:
            BudgetExceededError: What may not be dropped is larger than the budget.
            MemoryStoreError: The log could not be read or written.
            ValueError: A log was given and no session.
        """
        unheard = _unheard(config)
        if unheard is not None:
            return _invoke(input, None, unheard, memory=self)
        return self._call_with_config(_INNER[0], input, config, memory=self)

    async def ainvoke(
        self,
        input: MessagesInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage]:
        """`invoke`, awaited."""
        unheard = _unheard(config)
        if unheard is not None:
            return await _ainvoke(input, None, unheard, memory=self)
        return await self._acall_with_config(_INNER[1], input, config, memory=self)

    def _session_of(self, config: RunnableConfig) -> str | None:
        session_id: str | None = config.get("configurable", {}).get("session_id") or self.session_id
        if session_id is not None:
            check_session_id(session_id)
        elif not self._has_own_log:
            msg = 'a log was given and no session: pass session_id=..., or {"configurable": {"session_id": ...}}'
            raise ValueError(msg)
        return session_id

    async def _shown(
        self,
        messages: MessagesInput,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun | None,
        config: RunnableConfig,
        port: Port,
        store: LogStore,
    ) -> list[BaseMessage]:
        def internal() -> RunnableConfig:
            return internal_config(run_manager.get_child() if run_manager is not None else None)

        view = await self._view(_as_messages(messages), self._session_of(config), internal, port, store)
        return view.messages


def _invoke(
    messages: MessagesInput,
    run_manager: CallbackManagerForChainRun | None,
    config: RunnableConfig,
    *,
    memory: SummaryMemory,
) -> list[BaseMessage]:
    store = memory.message_log.blocking
    return run_sync(memory._shown(messages, run_manager, config, BLOCKING, store))  # noqa: SLF001  # its own other half


async def _ainvoke(
    messages: MessagesInput,
    run_manager: AsyncCallbackManagerForChainRun | None,
    config: RunnableConfig,
    *,
    memory: SummaryMemory,
) -> list[BaseMessage]:
    store = memory.message_log.awaited
    return await memory._shown(messages, run_manager, config, AWAITED, store)  # noqa: SLF001  # as above


# A Runnable looks at the signature twice a call; worked out each time, that is a tenth of what a call takes.
_INNER: Final[tuple[Any, Any]] = (_invoke, _ainvoke)
for _function in _INNER:
    _function.__signature__ = inspect.signature(_function)


def _unheard(config: RunnableConfig | None) -> RunnableConfig | None:
    """The whole configuration of a call of which no callback and no tracer would learn; `None` where one would.

    To keep the books of a run takes longer than what a call does between two compactions.
    """
    whole = ensure_config(config)
    around = (var_child_runnable_config.get() or {}).get("callbacks")
    heard = getattr(around, "handlers", around) or get_callback_manager_for_config(whole).handlers
    return None if heard else whole


def _as_messages(messages: MessagesInput) -> Sequence[BaseMessage]:
    if isinstance(messages, str):  # as a chat model takes it
        return [HumanMessage(messages)]
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    if isinstance(messages, list) and all(isinstance(message, BaseMessage) for message in messages[-1:]):
        return messages if not messages or isinstance(messages[0], BaseMessage) else convert_to_messages(messages)
    return convert_to_messages(messages)
