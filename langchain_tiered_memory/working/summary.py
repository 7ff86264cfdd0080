"""The rolling, layered summary of a conversation, as a Runnable from messages to messages."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableSerializable
from langchain_core.runnables.config import (
    ensure_config,
    get_callback_manager_for_config,
    var_child_runnable_config,
)
from pydantic import ConfigDict, PrivateAttr

from langchain_tiered_memory._driving import Steps, adrive, drive
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.events import EpisodeHandedOn, EventHook, hooks_of
from langchain_tiered_memory.messages.transcript import Prefixes
from langchain_tiered_memory.messages.trimming import CounterLike, MessagesInput, Oversized, Pin
from langchain_tiered_memory.types import Clock
from langchain_tiered_memory.working.compacting.algorithm import Compactor
from langchain_tiered_memory.working.compacting.sessions import Sessions
from langchain_tiered_memory.working.compacting.settings import Settings, settings_of
from langchain_tiered_memory.working.compacting.views import Role
from langchain_tiered_memory.working.constraints import ConstraintDetector
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.log_in_memory import InMemoryMessageLog
from langchain_tiered_memory.working.records import check_session_id
from langchain_tiered_memory.working.summarizers import SummarizerLike, internal_config
from langchain_tiered_memory.working.wording.sentences import Language

__all__ = ["SummaryMemory", "View"]

_EXTRACTIVE: Final = "extractive"


@dataclass(frozen=True, slots=True)
class View:
    """What is shown of a session.

    Attributes:
        messages: The system messages, the summary and the recent rounds.
        first: The number in the log of the oldest message that stands in it verbatim; `None` for a list without one.
    """

    messages: list[BaseMessage]
    first: int | None = None


class SummaryMemory(RunnableSerializable[MessagesInput, list[BaseMessage]]):
    """Keeps a conversation of any length within a budget: what leaves the window is summarised, once, and stays known.

    A window that only slides forgets, and one that is summarised anew at every step pays for each message many times
    over and loses the provider's prompt cache each time. This memory lets the view grow to a high-water mark, then goes
    down to a low one in one step, and changes nothing in between but the end. What leaves becomes a summary node; nodes
    are folded into coarser ones as they age; what the coarsest level can't hold is handed on. Rules and exact values
    are quoted below the summary wherever its text lacks them. Nothing is ever taken from the log.

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
    An empty list shows the session as it is. Without a session it is one pass over the list, and nothing is remembered.

    What was said stays as it was said first. A message with an id is known by it, whatever it says later. Of a list
    without ids the first and the last 16 messages that are known are compared: with what differs there a new
    continuation begins, and a change further in the middle is not seen. A `RemoveMessage` takes a message out of the
    view until a summary has taken its place; after that it is too late, and a `RemovalTooLate` event says so.

    A summarizer that fails changes nothing: a deterministic trim keeps the budget, an event says why, and the next try
    waits, each time twice as long. After `fallback_after` failures in a row the fallback writes in its stead, until the
    summarizer works again.

    Args:
        summarizer: A chat model (a cheaper one than the agent's is the normal case), a Runnable that takes messages, a
            function `(previous_summary, messages) -> str`, sync or async, or by default an `ExtractiveSummarizer`,
            which needs no model. `previous_summary` is what the new summary takes the place of, "" for nothing.
        trigger: When to compact: `("tokens", n)`, `("messages", n)`, `("rounds", n)` or `("fraction", f)` of the budget
            is reached. A dict of them must hold together, of a list one must hold. Going over the budget always counts.
        keep: What stays verbatim, in the same words: of messages and rounds at least that many, of tokens at most, in
            whole units that begin with a user turn; less where `low_water` could not be reached otherwise.
        low_water: The share of the budget that a view takes at most after a compaction, if what must stay allows it.
        max_tokens: The budget of a view, tools included. By default 0.7 of the window of `model`.
        log: Holds messages and summary nodes; in memory by default, one for all sessions of this object.
        session_id: The session, unless a call names another.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        model: The chat model that the view is for; its profile tells the window.
        role: As what the summary stands in the view: `"system"`, `"human"`, or `"merge"` for the end of the prompt.
        tools: Tools that go with each request; their schemas take their share of the budget.
        pin: Messages that always stay: their ids, or a function that says so of a message.
        oversized: What to do when tool results at the end do not fit: `"shrink"` the longest, or `"raise"`.
        fan_out: How many nodes of a level become one of the next.
        summary_share: What all summary nodes may take together, as a share of the tokens at which compaction starts.
        constraint_share: What quoted constraints and values may take, likewise.
        level_shares: How `summary_share` is divided among the levels, from the newest to the coarsest.
        detector: Finds the constraints and exact values of a message.
        prompt: Instructions for a model, for all languages or by language ("en", "zh"). `{max_tokens}`, `{messages}`
            and `{previous_summary}` are replaced; every other brace is only a brace.
        language: "en" or "zh" for labels and prompts; by default that of the conversation.
        prefixes: How the speakers are called in the transcript that a model reads.
        summarizer_window: Input tokens that the summarizer can read; by default what its profile says. Longer input is
            split at unit boundaries and folded.
        timeout: Seconds that one summary may take.
        fallback: What writes when the summarizer keeps failing; `None` for nothing.
        fallback_after: After how many failures in a row.
        backoff: Seconds to wait after the first failure.
        hooks: Called with each event.
        on_handoff: Called with what leaves the summary for good.
        clock: Gives the time.

    Raises:
        TypeError: `hooks` is no list of functions.
        ValueError: An argument is not of its form, or contradicts another; names value and repair.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    summarizer: Any = None
    trigger: Any = ("fraction", 0.8)
    keep: Any = ("rounds", 3)
    low_water: Any = 0.5
    max_tokens: Any = None
    log: Any = None
    session_id: Any = None
    token_counter: Any = None
    model: Any = None
    role: Any = "system"
    tools: Any = None
    pin: Any = None
    oversized: Any = "shrink"
    fan_out: Any = 4
    summary_share: Any = 0.2
    constraint_share: Any = 0.1
    level_shares: Any = (0.4, 0.35, 0.25)
    detector: Any = None
    prompt: Any = None
    language: Any = None
    prefixes: Any = None
    summarizer_window: Any = None
    timeout: Any = None
    fallback: Any = _EXTRACTIVE
    fallback_after: Any = 3
    backoff: Any = 30.0
    hooks: Any = ()
    on_handoff: Any = None
    clock: Any = None

    _settings: Settings = PrivateAttr()
    _log: MessageLog = PrivateAttr()
    _sessions: Sessions = PrivateAttr(default_factory=Sessions)

    def __init__(  # noqa: PLR0913  # what a user may set, once
        self,
        summarizer: SummarizerLike = None,
        trigger: Any = ("fraction", 0.8),  # noqa: ANN401  # three forms of four kinds, checked below
        keep: Any = ("rounds", 3),  # noqa: ANN401  # as above
        low_water: float = 0.5,
        max_tokens: int | None = None,
        log: MessageLog | None = None,
        session_id: str | None = None,
        *,
        token_counter: CounterLike = None,
        model: Any = None,  # noqa: ANN401  # a chat model, with or without anything around it
        role: Role = "system",
        tools: Sequence[Any] | None = None,
        pin: Pin | None = None,
        oversized: Oversized = "shrink",
        fan_out: int = 4,
        summary_share: float = 0.2,
        constraint_share: float = 0.1,
        level_shares: Sequence[float] = (0.4, 0.35, 0.25),
        detector: ConstraintDetector | None = None,
        prompt: str | Mapping[str, str] | None = None,
        language: Language | None = None,
        prefixes: Prefixes | str | None = None,
        summarizer_window: int | None = None,
        timeout: float | None = None,
        fallback: SummarizerLike = _EXTRACTIVE,
        fallback_after: int = 3,
        backoff: float = 30.0,
        hooks: Iterable[EventHook] = (),
        on_handoff: Callable[[EpisodeHandedOn], object] | None = None,
        clock: Clock | None = None,
        **kwargs: Any,  # noqa: ANN401  # fields of the base class
    ) -> None:
        given = dict(locals())
        fields = {name: given[name] for name in type(self).model_fields if name in given}
        super().__init__(**fields, **kwargs)

    def model_post_init(self, _context: Any, /) -> None:  # noqa: ANN401  # pydantic's signature
        """Check what was passed, so that a mistake shows here and not in the middle of a conversation."""
        if self.log is not None and not isinstance(self.log, MessageLog):
            msg = f"log={self.log!r} is no MessageLog: give an InMemoryMessageLog, an SQLMessageLog, or None"
            raise ValueError(msg)
        if self.session_id is not None:
            check_session_id(self.session_id)
        clock = self.clock or utc_now
        values = {name: getattr(self, name) for name in type(self).model_fields if name not in _NOT_SETTINGS}
        if values["fallback"] == _EXTRACTIVE:
            values["fallback"] = None
            values["fall_back"] = self.summarizer is not None
        else:
            values["fall_back"] = self.fallback is not None
        self._settings = settings_of(**values | {"clock": clock, "hooks": hooks_of(self.hooks)})
        self._log = self.log if self.log is not None else InMemoryMessageLog(clock=clock)

    @property
    def message_log(self) -> MessageLog:
        """The log that holds the messages and nodes: the one that was given, or this object's own."""
        return self._log

    def steps_within(
        self,
        messages: Sequence[BaseMessage],
        session_id: str | None,
        config: Callable[[], RunnableConfig],
        *,
        room: int,
        log: MessageLog | None = None,
    ) -> Steps[View]:
        """The algorithm of a call for whoever has a budget and a driver of their own, such as an assembler.

        Args:
            messages: The conversation so far, or what of it is new.
            session_id: The session; `None` for one pass over the list.
            config: Gives the configuration of a summarizer's runs, where there is one.
            room: Tokens that the view may take, if that is less than its own budget.
            log: Holds the session instead of the memory's own log.
        """
        compactor = Compactor(self._settings.within(room), config)
        if session_id is None:
            return View((yield from compactor.of_list(messages)))
        sessions = self._sessions if log is None else Sessions()
        view = yield from compactor.of_session(log or self._log, session_id, messages, sessions)
        session = sessions.get(session_id)
        return View(view, None if session is None else session.first_in(view))

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
            return drive(self._steps(input, unheard, None))
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
            return await adrive(self._steps(input, unheard, None))
        return await self._acall_with_config(_INNER[1], input, config, memory=self)

    def _steps(
        self,
        messages: MessagesInput,
        config: RunnableConfig,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun | None,
    ) -> Steps[list[BaseMessage]]:
        """The algorithm of one call, for a driver."""
        compactor = Compactor(
            self._settings, lambda: internal_config(run_manager.get_child() if run_manager is not None else None)
        )
        said = _as_messages(messages)
        session_id = config.get("configurable", {}).get("session_id") or self.session_id
        if session_id is not None:
            check_session_id(session_id)
            return compactor.of_session(self._log, session_id, said, self._sessions)
        if self.log is not None:
            msg = 'a log was given and no session: pass session_id=..., or {"configurable": {"session_id": ...}}'
            raise ValueError(msg)
        return compactor.of_list(said)


def _invoke(
    messages: MessagesInput, run_manager: CallbackManagerForChainRun, config: RunnableConfig, *, memory: SummaryMemory
) -> list[BaseMessage]:
    return drive(memory._steps(messages, config, run_manager))  # noqa: SLF001  # the memory's own other half


async def _ainvoke(
    messages: MessagesInput,
    run_manager: AsyncCallbackManagerForChainRun,
    config: RunnableConfig,
    *,
    memory: SummaryMemory,
) -> list[BaseMessage]:
    return await adrive(memory._steps(messages, config, run_manager))  # noqa: SLF001  # as above


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


_NOT_SETTINGS: Final = ("name", "log", "session_id")


def _as_messages(messages: MessagesInput) -> Sequence[BaseMessage]:
    if isinstance(messages, str):  # as a chat model takes it
        return [HumanMessage(messages)]
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    if isinstance(messages, list) and all(isinstance(message, BaseMessage) for message in messages[-1:]):
        return messages if not messages or isinstance(messages[0], BaseMessage) else convert_to_messages(messages)
    return convert_to_messages(messages)
