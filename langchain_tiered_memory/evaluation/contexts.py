"""Targets that build the whole request: a memory of all tiers, and one that trims or summarises a conversation."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable

from langchain_tiered_memory.evaluation.cases import MemoryRecord
from langchain_tiered_memory.evaluation.replay import replay
from langchain_tiered_memory.evaluation.targets import (
    CallableTarget,
    EpisodicTarget,
    FactTarget,
    MemoryTarget,
    RetrieverTarget,
    Told,
    Values,
)
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import MemoryScope, TokenCounter

__all__ = ["ContextTarget", "TieredTarget", "as_target"]

_UNBOUNDED: Final = 1_000_000_000
"""A budget for a Runnable that has its own."""
_SAID: Final = "Noted."
"""The answer to a message that the records hold no answer to."""


class TieredTarget:
    """A memory of several tiers, by its `episodes`, `facts` and `assembler()`.

    Records go to the episodes, and those with an attribute to the facts too. What comes back is what the episodes
    recall; the context is what the assembler makes of the question, in a session of its own. Its clock has to show the
    data set's present, or what is over by then is not in it.

    Args:
        memory: The memory.
        name: What it is called in a report.
        counter: Counts the tokens of a context; an `EstimatingCounter` if not given.
        workers: How many threads may ask it at a time.
    """

    def __init__(
        self,
        memory: Any,  # noqa: ANN401  # by what it can do
        *,
        name: str | None = None,
        counter: TokenCounter | None = None,
        workers: int | None = None,
    ) -> None:
        self.name = name or "tiered memory"
        self.workers = workers
        self._episodes = EpisodicTarget(memory.episodes)
        self._facts = FactTarget(memory.facts)
        self._assembler = memory.assembler()
        self._counter = counter or EstimatingCounter()

    def tell(self, units: Told) -> None:
        """Remember everything, and put the facts."""
        every = list(units)
        self._episodes.tell(every)
        self._facts.tell(every)

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Recall, and assemble the request of the question."""
        scope: MemoryScope = inputs["scope"]
        answer = self._episodes.ask(inputs)
        if inputs.get("past"):  # a request is made of what is true when it is made
            return answer
        configurable = {
            "user_id": scope.user,
            "tenant_id": scope.tenant,
            "session_id": f"evaluation {inputs.get('case', inputs['question'])}",
        }
        request = self._assembler.invoke({"question": inputs["question"]}, {"configurable": configurable})
        messages = request if isinstance(request, list) else request.to_messages()
        answer["context"] = "\n".join(str(message.text) for message in messages)
        answer["tokens"] = self._counter(messages)
        return answer


class ContextTarget:
    """A Runnable over messages, such as a `SummaryMemory` or a `MessageTrimmer`.

    Each user's conversation is replayed through it, one model call after another. What it makes of the whole is the
    context of every question: which constraints and which evidence are still in it, what it takes, how much a prompt
    cache can serve. It returns no records.

    Args:
        runnable: The strategy.
        name: What it is called in a report.
        max_tokens: The budget of a call; without it the strategy's own.
        counter: Counts tokens; an `EstimatingCounter` if not given.
    """

    workers = 1

    def __init__(
        self,
        runnable: Runnable[Any, Any],
        *,
        name: str | None = None,
        max_tokens: int | None = None,
        counter: TokenCounter | None = None,
    ) -> None:
        self.name = name or runnable.get_name()
        self._runnable = runnable
        self._max_tokens = max_tokens or _UNBOUNDED
        self._counter = counter or EstimatingCounter()
        self._told: dict[str, list[MemoryRecord]] = {}
        self._replayed: dict[str, _Replayed] = {}
        self._lock = threading.Lock()

    def tell(self, units: Told) -> None:
        """Keep each user's conversation, in order."""
        for unit in units:
            self._told.setdefault(unit[0].scope.user_key, []).extend(unit)

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Give the context that the question meets: what is left of the whole conversation of its user."""
        scope: MemoryScope = inputs["scope"]
        with self._lock:
            replayed = self._replayed.get(scope.user_key)
            if replayed is None:
                replayed = self._replay(scope)
                self._replayed[scope.user_key] = replayed
        question = HumanMessage(inputs["question"])
        return {
            "ids": [],
            "texts": [],
            "context": "\n".join(str(message.text) for message in (*replayed.view, question)),
            "tokens": replayed.tokens or self._counter([question]),
            "shared_prefix": replayed.shared,
        }

    def _replay(self, scope: MemoryScope) -> _Replayed:
        history = _conversation(self._told.get(scope.user_key, ()))
        if not history:
            return _Replayed([], None, None)
        report = replay(
            history,
            max_tokens=self._max_tokens,
            token_counter=self._counter,
            trimmer=lambda before: self._run(before, scope),
        )
        # The question itself goes no further: were it seen, the next one would be asked of another conversation.
        view = self._run(history, scope)
        return _Replayed(view, report.sent_tokens / len(report.calls), report.shared_share)

    def _run(self, messages: Sequence[BaseMessage], scope: MemoryScope) -> list[BaseMessage]:
        configurable = {"user_id": scope.user, "tenant_id": scope.tenant, "session_id": f"evaluation {scope.user_key}"}
        sent = self._runnable.invoke(list(messages), {"configurable": configurable})
        if isinstance(sent, Mapping):  # a graph's state
            sent = sent["messages"]
        return list(sent if isinstance(sent, list) else sent.to_messages())


@dataclass(frozen=True, slots=True)
class _Replayed:
    """What is left of a conversation at its end, the mean tokens of its calls, and how much of them was shared."""

    view: list[BaseMessage]
    tokens: float | None
    shared: float | None


def _conversation(records: Sequence[MemoryRecord]) -> list[BaseMessage]:
    """Records as a conversation in which each user's message has an answer."""
    messages: list[BaseMessage] = []
    for position, record in enumerate(records):
        messages.append(record.to_message())
        following = records[position + 1] if position + 1 < len(records) else None
        if record.role == "user" and (following is None or following.role == "user"):
            messages.append(AIMessage(_SAID, id=f"{record.id} answer"))
    return messages


# --- by what it is ----------------------------------------------------------------------------------------------------


def as_target(
    given: Any,  # noqa: ANN401  # by what it can do
    *,
    name: str | None = None,
    max_tokens: int | None = None,
    counter: TokenCounter | None = None,
) -> MemoryTarget:
    """The target that something is.

    Args:
        given: A `TieredMemory`, `EpisodicMemory`, `FactStore`, a retriever, a Runnable over messages such as a
            `SummaryMemory`, a `MemoryTarget`, or a callable; told apart by what they can do.
        name: What it is called in a report.
        max_tokens: The budget that a Runnable over messages is replayed with.
        counter: Counts the tokens of a context.

    Raises:
        TypeError: It is none of these.
    """
    found: MemoryTarget | None = None
    if isinstance(given, MemoryTarget):
        found = given
    elif _can(given, "assembler") and hasattr(given, "episodes") and hasattr(given, "facts"):
        found = TieredTarget(given, name=name, counter=counter)
    elif _can(given, "remember", "recall"):
        found = EpisodicTarget(given, name=name)
    elif _can(given, "put", "get"):
        found = FactTarget(given, name=name)
    elif isinstance(given, BaseRetriever):
        found = RetrieverTarget(given, name=name)
    elif isinstance(given, Runnable):
        found = ContextTarget(given, name=name, max_tokens=max_tokens, counter=counter)
    elif callable(given) and not inspect.isclass(given):
        found = CallableTarget(given, name=name)
    if found is not None:
        return found
    msg = (
        f"{given!r:.200} cannot be evaluated: pass a TieredMemory, an EpisodicMemory, a FactStore, a retriever, a "
        "Runnable over messages, or a function of inputs"
    )
    raise TypeError(msg)


def _can(given: object, *methods: str) -> bool:
    return not inspect.isclass(given) and all(callable(getattr(given, method, None)) for method in methods)
