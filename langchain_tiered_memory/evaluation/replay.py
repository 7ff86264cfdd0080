"""A recorded conversation seen again as a chain saw it: one model call after another, each within a budget."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import Runnable

from langchain_tiered_memory.errors import BudgetExceededError, TranscriptError
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport
from langchain_tiered_memory.events import Compaction, CompactionFailed, MemoryCallbackHandler, MemoryEvent
from langchain_tiered_memory.messages.protocol import is_user_turn, kind_of
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.tokens import ListCounter, TiktokenCounter, as_counter
from langchain_tiered_memory.messages.trimming import trim_messages
from langchain_tiered_memory.types import TokenCounter

__all__ = ["Trimmer", "model_calls", "replay"]

Trimmer: TypeAlias = Callable[[list[BaseMessage]], Sequence[BaseMessage]]
"""A strategy: what to send of a history. It may keep state of its own from call to call, as a summary memory does."""


def model_calls(messages: Sequence[BaseMessage]) -> list[int]:
    """Find the assistant messages that answered a model call, also inside tool loops.

    An assistant message with nothing but system messages before it is a greeting that somebody wrote: no model is
    called without a message.

    Returns:
        Their positions.
    """
    calls, spoken = [], False
    for position, message in enumerate(messages):
        kind = kind_of(message)
        if kind == "assistant" and spoken:
            calls.append(position)
        spoken = spoken or kind != "system"
    return calls


def replay(
    messages: Sequence[BaseMessage],
    *,
    max_tokens: int,
    token_counter: Any = None,  # noqa: ANN401  # anything as_counter takes
    strategy: Literal["first", "last"] = "last",
    include_system: bool = True,
    trimmer: Trimmer | Runnable[Any, Any] | None = None,
    tools: Sequence[Any] | None = None,
    on_call: Callable[[ReplayCall], None] | None = None,
) -> ReplayReport:
    """Replay a recorded conversation, so that a strategy can be judged on what users really said.

    Before each assistant message a model was called. At each of these calls the strategy gets the history up to it, as
    a chain would hand it over, and what it answers is counted, compared with the call before, and checked by
    `validate_messages`. Each message of the conversation is counted once.

    Args:
        messages: The conversation.
        max_tokens: The budget of a call in tokens, tool schemas included.
        token_counter: What counts, anything that `as_counter` takes; o200k_base if not given.
        strategy: Which end of the history `trim_messages` keeps.
        include_system: Whether leading system messages are kept in any case.
        trimmer: Another strategy in place of `trim_messages`, a function or a Runnable, called once a call, in order.
            What a `SummaryMemory` with a session compacts is reported with the call.
        tools: Tool schemas that go with every call.
        on_call: Is told of each call when it is done, for a progress bar.

    Raises:
        BudgetExceededError: A call cannot be brought under the budget; names the call, and by how much.
        TranscriptError: The conversation has no model call.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> chat = [HumanMessage("Hi"), AIMessage("Hello!"), HumanMessage("Who are you?"), AIMessage("A model.")]
        >>> report = replay(chat, max_tokens=1000, token_counter=len)
        >>> [(call.full_messages, call.sent_messages) for call in report.calls]
        [(1, 1), (3, 3)]
    """
    history = list(messages)
    positions = model_calls(history)
    if not positions:
        msg = "no model call to replay: no assistant message follows another message; pass a conversation with answers"
        raise TranscriptError(msg)
    counter = as_counter(token_counter)
    name: str = strategy
    if trimmer is None:

        def trimmer(before: list[BaseMessage]) -> list[BaseMessage]:
            return trim_messages(
                before,
                max_tokens=max_tokens,
                token_counter=counter,
                strategy=strategy,
                include_system=include_system,
                tools=tools,
            )
    elif isinstance(trimmer, Runnable):
        name = trimmer.get_name()
        trimmer = _Watched(trimmer)
    else:
        name = str(getattr(trimmer, "__name__", type(trimmer).__name__))
    meter = _Meter(counter, tools or ())
    run = _Replay(history, trimmer, meter)
    calls = []
    for number, position in enumerate(positions, start=1):
        call = run.call(number, position)
        calls.append(call)
        if on_call is not None:
            on_call(call)
    return ReplayReport(
        calls=tuple(calls),
        messages=len(history),
        rounds=sum(map(is_user_turn, history)),
        max_tokens=max_tokens,
        strategy=name,
        counter=_described(counter),
        tool_tokens=meter.tools,
        transcript_faults=tuple(validate_messages(history)),
    )


def _described(counter: TokenCounter | ListCounter) -> str:
    """Name a counter, and say so where it has to estimate what it would count exactly with its vocabulary."""
    if isinstance(counter, TiktokenCounter) and not counter.vocabulary.exact:
        return f"{counter!r}, estimated: its vocabulary could not be loaded"
    return repr(counter)


class _Meter:
    """Counts requests from the counts of their messages, each taken once, where the counter can be taken apart."""

    def __init__(self, counter: TokenCounter | ListCounter, tools: Sequence[Any]) -> None:
        self._counter = counter
        self.tools = counter.count_tools(tools) if tools else 0
        counter.count_text("")  # a vocabulary is loaded once in a process, not once in a conversation
        self._fixed = counter.request_overhead + self.tools

    def request(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a request with these messages."""
        return self._counter(messages) + self.tools

    def prefix(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of the first messages of a request, without what the request costs as such."""
        if isinstance(self._counter, ListCounter):
            return self._counter(messages) if messages else 0
        return sum(map(self._counter.count_message, messages))

    def longer(self, tokens: int | None, whole: list[BaseMessage], new: Sequence[BaseMessage]) -> int:
        """Tokens of a request that grew by new messages to the whole: what is known plus what is new."""
        if isinstance(self._counter, ListCounter):
            return self.request(whole)
        return (self._fixed if tokens is None else tokens) + sum(map(self._counter.count_message, new))


class _Watched:
    """A Runnable as a strategy, and the events of its last call."""

    def __init__(self, runnable: Runnable[Any, Any]) -> None:
        self._runnable = runnable
        self.events: Sequence[MemoryEvent] = ()

    def __call__(self, before: list[BaseMessage]) -> Sequence[BaseMessage]:
        seen = MemoryCallbackHandler()
        sent: Sequence[BaseMessage] = self._runnable.invoke(before, {"callbacks": [seen]})
        self.events = seen.events
        return sent


class _Replay:
    """The state between two calls: what was sent last, and which messages are in the window."""

    def __init__(self, history: list[BaseMessage], trimmer: Trimmer, meter: _Meter) -> None:
        self._history = history
        self._trimmer = trimmer
        self._meter = meter
        self._places = _Places()
        self._end = 0
        self._rounds = 0
        self._full: int | None = None
        self._sent: Sequence[BaseMessage] = ()
        self._inside: set[int] = set()

    def call(self, number: int, position: int) -> ReplayCall:
        """Make the call whose answer stands at a position, and measure it."""
        new = self._history[self._end : position]
        before = self._history[:position]
        self._rounds += sum(map(is_user_turn, new))
        self._places.add(new, self._end)
        self._inside.update(range(self._end, position))
        self._end = position
        sent, seconds = self._trim(number, position, before)  # before any count, so that it pays for its own
        self._full = self._meter.longer(self._full, before, new)
        here, altered, added = self._places.find(sent)
        left = tuple(sorted(self._inside - here))
        shared = self._shared(sent)
        self._inside, self._sent = here, sent
        events = self._trimmer.events if isinstance(self._trimmer, _Watched) else ()
        return ReplayCall(
            number=number,
            round=self._rounds,
            position=position,
            full_messages=position,
            full_tokens=self._full,
            sent_messages=len(sent),
            sent_tokens=self._meter.request(sent),
            shared_tokens=self._meter.prefix(sent[:shared]),
            left=left,
            altered=altered,
            added=added,
            faults=tuple(validate_messages(sent)),
            seconds=seconds,
            compactions=tuple(event for event in events if isinstance(event, Compaction)),
            failures=tuple(event for event in events if isinstance(event, CompactionFailed)),
        )

    def _trim(self, number: int, position: int, before: list[BaseMessage]) -> tuple[Sequence[BaseMessage], float]:
        start = time.perf_counter()
        try:
            sent = self._trimmer(before)
        except BudgetExceededError as error:
            msg = (
                f"call {number} (round {self._rounds}, before message {position}) does not fit: it needs "
                f"{error.needed:,} {error.unit} and may take {error.limit:,}, {error.over:,} too many; {error}"
            )
            raise BudgetExceededError(msg, needed=error.needed, limit=error.limit, unit=error.unit) from error
        return sent, time.perf_counter() - start

    def _shared(self, sent: Sequence[BaseMessage]) -> int:
        shared = 0
        for ours, theirs in zip(sent, self._sent, strict=False):
            if ours is not theirs and ours != theirs:
                break
            shared += 1
        return shared


class _Places:
    """Finds where in the history a message that is sent comes from, also when it is a shortened copy."""

    def __init__(self) -> None:
        self._same: defaultdict[int, list[int]] = defaultdict(list)
        self._named: defaultdict[tuple[str, str], list[int]] = defaultdict(list)

    def add(self, messages: Sequence[BaseMessage], start: int) -> None:
        """Learn the places of new messages."""
        for position, message in enumerate(messages, start):
            self._same[id(message)].append(position)
            for name in self._names(message):
                self._named[name].append(position)

    def find(self, sent: Sequence[BaseMessage]) -> tuple[set[int], int, int]:
        """The positions of what is sent, and how many messages of it are altered or found nowhere."""
        here: set[int] = set()
        altered = added = 0
        for message in reversed(sent):
            same = _newest_free(self._same.get(id(message), ()), here)
            if same is not None:
                here.add(same)
                continue
            copies = (_newest_free(self._named.get(name, ()), here) for name in self._names(message))
            copy = next((position for position in copies if position is not None), None)
            if copy is None:
                added += 1
            else:
                here.add(copy)
                altered += 1
        return here, altered, added

    @staticmethod
    def _names(message: BaseMessage) -> list[tuple[str, str]]:
        names = [("id", message.id)] if message.id is not None else []
        return [*names, ("call", message.tool_call_id)] if isinstance(message, ToolMessage) else names


def _newest_free(positions: Sequence[int], taken: set[int]) -> int | None:
    return next((position for position in reversed(positions) if position not in taken), None)
