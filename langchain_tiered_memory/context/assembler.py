"""The context of a request as a Runnable: from messages or a question to what goes to the model."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.messages import BaseMessage
from langchain_core.prompt_values import ChatPromptValue, PromptValue
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.base import RunnableSerializable
from pydantic import ConfigDict, PrivateAttr

from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory.context.assembly import Assembled, Assembly, FactLister, RecallCache, Recaller, Tiers
from langchain_tiered_memory.context.budget import ContextBudget
from langchain_tiered_memory.context.request import AssemblerInput, request_of
from langchain_tiered_memory.episodic.ranking import MIN_SCORE
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.messages.trimming import CounterLike, Oversized, Pin
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.memory import SummaryMemory
from langchain_tiered_memory.working.compaction.settings import SummarizerGuard
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.summarizers import internal_config

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

__all__ = ["DEFAULT_MIN_SCORE", "ContextAssembler", "ToolLike"]

ToolLike: TypeAlias = "BaseTool | dict[str, Any] | type | Callable[..., object]"
"""What a chat model binds as a tool."""

DEFAULT_MIN_SCORE: Final = MIN_SCORE
"""What an episode must score to go into a request, unless told otherwise."""


class ContextAssembler(RunnableSerializable[AssemblerInput, list[BaseMessage] | PromptValue]):
    """Puts a request together from four tiers of memory, under one token budget, before every call of the model.

    Each tier alone can keep a promise about itself; only what sees all of them can promise that a request fits. In a
    request stand, in this order: the system prompt with the procedures, the known facts, the summary of what left the
    window, the recent rounds, the recalled episodes, and the newest user turn with its tool calls. What seldom changes
    stands first, so that a provider's cache of the prompt holds.

    Where the tiers want more than there is, each is sure of its share; what one does not use goes to the others. Then
    the oldest rounds go first (into the summary, where there is one), then the episodes that match least, then the
    oldest summary. Procedures, pinned messages, the newest user turn and a tool call that waits for its results stay.

    ```python
    from langchain_core.messages import SystemMessage
    from langchain_tiered_memory import ContextAssembler, ContextBudget

    assembler = ContextAssembler(ContextBudget(max_tokens=2_000))
    request = assembler.invoke({"messages": [SystemMessage("Be brief."), ("user", "Hello")]})
    assert [message.type for message in request] == ["system", "human"]
    ```

    The input is a list of messages, or a dict with `"messages"` or `"question"` (a text or content blocks), and, if
    needed, `"history"`, `"scope"` and `"session_id"`. Whose memory it is also comes from the call's `configurable`:
    `user_id`, `tenant_id`, `session_id`. With a log, the messages that it lacks are appended to it first, so that a
    question is kept whatever becomes of the answer. What is new is found by one rule, `match_messages`, whatever an
    application passes: a whole history or its end, with ids or without, again when it retries. A question that is asked
    again after its answer is another message; a system message behind the conversation is part of this request only.

    A tier whose store does not answer is left out, and the report says so under `degraded`. An episode or a fact that
    is too large for its room is cut or left out, and the next ones go in.

    Args:
        budget: What a request may take: a `ContextBudget`, or a number of tokens.
        log: Holds the sessions. Without `summary`, it gets one that needs no model.
        summary: Makes the view of a session, and keeps what leaves it.
        episodes: Recalls: an `EpisodicMemory`, or what has its `recall`.
        facts: Knows: a `FactStore`.
        procedures: Stand in the system prompt, whole; their tools count as bound to the model.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        tools: The tools that go with each request; their schemas take their share of the budget.
        k: How many episodes are recalled at most.
        min_score: What an episode must score to go in, from 0 to 1; one that shares nothing with the question does not.
        recall: What else `recall` is told, by name: `max_age`, `filter`, `kinds`, `timeout` and so on.
        pin: Messages that always stay, where there is neither log nor summary, which has its own.
        oversized: What to do with tool results that alone exceed the budget, likewise.
        output: `"messages"` for a list, `"prompt"` for a prompt value.
        hooks: Called with the report of each request.
        session_key: How a session is called in the log, by its id and scope; by default its id.
        recall_cache: What was recalled for the newest turns, to share it among assemblers.

    Raises:
        BudgetExceededError: The procedures and tools alone are larger than the budget.
        ValueError: An argument is not of its form, or contradicts another.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    budget: Any
    log: Any = None
    summary: Any = None
    episodes: Any = None
    facts: Any = None
    procedures: Any = None
    token_counter: Any = None
    tools: Any = None
    k: Any = 16
    min_score: Any = DEFAULT_MIN_SCORE
    recall: Any = None
    pin: Any = None
    oversized: Any = "shrink"
    output: Any = "messages"
    hooks: Any = ()
    session_key: Any = None
    recall_cache: Any = None

    _tiers: Tiers = PrivateAttr()

    def __init__(  # noqa: PLR0913  # what a user may set, once
        self,
        budget: ContextBudget | int,
        log: MessageLog | None = None,
        summary: SummaryMemory | None = None,
        episodes: Recaller | None = None,
        facts: FactLister | None = None,
        procedures: ProceduralMemory | None = None,
        *,
        token_counter: CounterLike = None,
        tools: Sequence[ToolLike] | None = None,
        k: int = 16,
        min_score: float = DEFAULT_MIN_SCORE,
        recall: Mapping[str, Any] | None = None,
        pin: Pin | None = None,
        oversized: Oversized = "shrink",
        output: Literal["messages", "prompt"] = "messages",
        hooks: Iterable[EventHook] = (),
        session_key: Callable[[str, MemoryScope | None], str] | None = None,
        recall_cache: RecallCache | None = None,
        **kwargs: Any,  # noqa: ANN401  # fields of the base class
    ) -> None:
        hooks = hooks_of(hooks)  # once: a copy of this object is made of the same
        given = dict(locals())
        fields = {name: given[name] for name in type(self).model_fields if name in given}
        super().__init__(**fields, **kwargs)
        if procedures is not None:  # here, since pydantic turns an error of its own hooks into another
            procedures.check_budget(self._tiers.budget.limit, self._tiers.meter.counter)

    def model_post_init(self, _context: Any, /) -> None:  # noqa: ANN401  # pydantic's signature
        """Check what was passed, so that a mistake shows here and not in the middle of a conversation."""
        budget = self.budget if isinstance(self.budget, ContextBudget) else ContextBudget(max_tokens=self.budget)
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            msg = f"k={self.k!r} is no number of episodes: give a whole number from 1 up, or no episodes="
            raise ValueError(msg)
        if (
            isinstance(self.min_score, bool)
            or not isinstance(self.min_score, int | float)
            or not 0 <= self.min_score <= 1
        ):
            msg = f"min_score={self.min_score!r} is no score: give a number from 0 to 1"
            raise ValueError(msg)
        if self.oversized not in {"shrink", "raise"}:
            msg = f'oversized={self.oversized!r} is not known: use "shrink" or "raise"'
            raise ValueError(msg)
        if self.output not in {"messages", "prompt"}:
            msg = f'output={self.output!r} is not known: use "messages" or "prompt"'
            raise ValueError(msg)
        if self.log is not None and self.summary is not None and self.summary.message_log is not self.log:
            msg = "log= and the summary's own log differ: give the summary log=..., and only one of both here"
            raise ValueError(msg)
        tools = [*(self.tools or ()), *(self.procedures.tools if self.procedures is not None else ())]
        meter = BudgetCounter(self.token_counter, tools)
        summary = self.summary
        self._tiers = Tiers(
            budget=budget,
            meter=meter,
            summary=summary,
            episodes=self.episodes,
            facts=self.facts,
            procedures=self.procedures,
            k=self.k,
            min_score=self.min_score,
            recall=dict(self.recall or {}),
            pin=self.pin,
            oversized=self.oversized,
            hooks=tuple(self.hooks),
            session_key=self.session_key or _its_id,
            needs_session=self.log is not None or (summary is not None and not summary.has_own_log),
            cache=self.recall_cache or RecallCache(),
        )
        room = budget.limit - meter.view(self._tiers.head(()))
        if room < 1 and self.procedures is None:
            msg = f"system prompt and tools take {budget.limit - room} tokens of {budget.limit}, which leaves nothing"
            raise ValueError(msg)
        if self.log is not None and summary is None:
            self._tiers = self._with_summary(room)

    def _with_summary(self, room: int) -> Tiers:
        """The tiers with a summary over the log that needs no model."""
        summary = SummaryMemory(
            log=self.log,
            max_tokens=room,
            token_counter=self.token_counter,
            pin=self.pin,
            guard=SummarizerGuard(oversized=self.oversized),
        )
        return replace(self._tiers, summary=summary)

    @property
    def tiers(self) -> Tiers:
        """What the assembler works with, for adapters that bring a log of their own."""
        return self._tiers

    # --- running ------------------------------------------------------------------------------------------------------

    def invoke(
        self,
        input: AssemblerInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage] | PromptValue:
        """The messages that go to the model.

        Args:
            input: Messages, or a dict with `"messages"` or `"question"`.
            config: The run's configuration; its `configurable` may name `user_id`, `tenant_id` and `session_id`.
            **kwargs: Not used.

        Raises:
            BudgetExceededError: What may not be left out is larger than the budget; says by how much.
            MemoryStoreError: The log could not be read or written.
            ScopeError: A tier belongs to a user, and none is named.
            ValueError: The input is not of its form, or there is a log and no session is named.
        """
        request: list[BaseMessage] | PromptValue = self._call_with_config(_INNER[0], input, config, assembler=self)
        return request

    async def ainvoke(
        self,
        input: AssemblerInput,  # noqa: A002  # Runnable's name
        config: RunnableConfig | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002  # a Runnable takes them
    ) -> list[BaseMessage] | PromptValue:
        """`invoke`, awaited."""
        request: list[BaseMessage] | PromptValue = await self._acall_with_config(
            _INNER[1], input, config, assembler=self
        )
        return request

    def assemble(
        self,
        input: AssemblerInput,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
    ) -> Assembled:
        """What `invoke` gives, with the report of what is in it and what is not."""
        assembled: Any = self._call_with_config(_INNER[0], input, config, assembler=self, whole=True)
        return cast("Assembled", assembled)

    async def aassemble(
        self,
        input: AssemblerInput,  # noqa: A002  # as above
        config: RunnableConfig | None = None,
    ) -> Assembled:
        """`assemble`, awaited."""
        assembled: Any = await self._acall_with_config(_INNER[1], input, config, assembler=self, whole=True)
        return cast("Assembled", assembled)

    async def _assemble(
        self,
        given: AssemblerInput,
        config: RunnableConfig,
        run_manager: CallbackManagerForChainRun | AsyncCallbackManagerForChainRun,
        caller: Caller,
    ) -> Assembled:
        request = request_of(given, config, needs_scope=self._tiers.need_scope)
        return await Assembly(self._tiers, caller, lambda: internal_config(run_manager.get_child())).of(request)

    def _shown(self, assembled: Assembled) -> list[BaseMessage] | PromptValue:
        return ChatPromptValue(messages=assembled.messages) if self.output == "prompt" else assembled.messages


def _invoke(
    given: AssemblerInput,
    run_manager: CallbackManagerForChainRun,
    config: RunnableConfig,
    *,
    assembler: ContextAssembler,
    whole: bool = False,
) -> Any:  # noqa: ANN401  # messages, a prompt value, or an Assembled
    assembled = run_sync(assembler._assemble(given, config, run_manager, BLOCKING))  # noqa: SLF001  # its own other half
    return assembled if whole else assembler._shown(assembled)  # noqa: SLF001  # as above


async def _ainvoke(
    given: AssemblerInput,
    run_manager: AsyncCallbackManagerForChainRun,
    config: RunnableConfig,
    *,
    assembler: ContextAssembler,
    whole: bool = False,
) -> Any:  # noqa: ANN401  # as above
    assembled = await assembler._assemble(given, config, run_manager, AWAITING)  # noqa: SLF001  # as above
    return assembled if whole else assembler._shown(assembled)  # noqa: SLF001  # as above


# A Runnable looks at the signature twice a call, which takes longer worked out each time.
_INNER: Final[tuple[Any, Any]] = (_invoke, _ainvoke)
for _function in _INNER:
    _function.__signature__ = inspect.signature(_function)


def _its_id(session_id: str, _scope: MemoryScope | None) -> str:
    return session_id
