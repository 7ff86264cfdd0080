"""The public API as a typed program uses it: checked by `mypy --strict`, never run.

A signature that loses its types, or a name that a type checker cannot see behind the lazy imports, fails `make check`.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, assert_type

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, HumanMessage

import langchain_tiered_memory as package
from langchain_tiered_memory import (
    BudgetExceededError,
    CachedFactStore,
    Compaction,
    ContextAssembler,
    ContextBudget,
    ContextReport,
    Episode,
    EpisodicMemory,
    EpisodicRetriever,
    EstimatingCounter,
    ExtractiveSummarizer,
    Fact,
    FactStore,
    InMemoryFactStore,
    InMemoryMessageLog,
    LocalEmbeddings,
    MemoryCallbackHandler,
    MemoryScope,
    MemoryStoreError,
    MessageLog,
    MessageTrimmer,
    ProceduralMemory,
    ProtocolError,
    RedisFactStore,
    RedisMessageLog,
    ScopeError,
    SQLFactStore,
    SQLMessageLog,
    SummarizationError,
    SummarizerGuard,
    SummaryMemory,
    SummaryShares,
    SummaryText,
    TieredChatMessageHistory,
    TieredMemory,
    TieredMemoryError,
    TieredMemoryMiddleware,
    TiktokenCounter,
    TranscriptError,
    VersionConflictError,
    count_tokens,
    read_transcript,
    repair_messages,
    trim_messages,
    validate_messages,
    write_transcript,
)
from langchain_tiered_memory.messages.repair import MessageFault
from langchain_tiered_memory.messages.transcripts.conversation import Transcript
from langchain_tiered_memory.types import Clock, ContextSize, TokenCounter
from langchain_tiered_memory.working.constraints import Constraint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langchain_core.prompt_values import PromptValue
    from langchain_core.runnables import Runnable

MESSAGES: list[BaseMessage] = [HumanMessage("Hello")]


def trimming(prompt: PromptValue, model: Runnable[list[BaseMessage], BaseMessage]) -> None:
    """A function with messages, a Runnable without."""
    assert_type(trim_messages(MESSAGES, max_tokens=2_000), list[BaseMessage])
    assert_type(trim_messages(prompt, max_tokens=("rounds", 3), strategy="first"), list[BaseMessage])
    assert_type(trim_messages([("human", "Hello")], max_tokens=("messages", 3)), list[BaseMessage])
    trimmer = trim_messages(max_tokens=2_000, token_counter=TiktokenCounter("gpt-4o"), include_system=True)
    assert_type(trimmer, MessageTrimmer)
    assert_type(MessageTrimmer(max_tokens=100).invoke(MESSAGES), list[BaseMessage])
    assert_type((trimmer | model).invoke(MESSAGES), BaseMessage)
    trim_messages(MESSAGES, max_tokens=1, pin=["id"], oversized="raise", tools=[{"name": "add"}])
    trim_messages(MESSAGES, max_tokens=1, strategy="middle")  # type: ignore[call-overload]


def counting(counters: Sequence[TokenCounter]) -> int:
    """Every counter is a `TokenCounter`."""
    tiktoken: TokenCounter = TiktokenCounter()
    estimate: TokenCounter = EstimatingCounter()
    assert_type(count_tokens(MESSAGES), int)
    assert_type(count_tokens(MESSAGES, estimate, tools=[]), int)
    return sum(counter.count_message(MESSAGES[0]) for counter in (*counters, tiktoken, estimate))


def protocol() -> None:
    """Faults are data."""
    faults = validate_messages(MESSAGES, provider="anthropic")
    assert_type(faults, list[MessageFault])
    assert_type([fault.index for fault in faults], list[int])
    assert_type(repair_messages(MESSAGES), list[BaseMessage])
    validate_messages(MESSAGES, provider="nobody")  # type: ignore[arg-type]


async def logs() -> None:
    """One port, several stores, sync and async."""

    def now() -> datetime:
        return datetime.now(UTC)

    clock: Clock = now
    memory: MessageLog = InMemoryMessageLog(clock=clock)
    with SQLMessageLog("sqlite://") as log:
        assert_type(log.append("session", MESSAGES, expected_version=0), int)
        assert_type(log.messages("session", last=2), list[BaseMessage])
        assert_type(await log.amessages("session"), list[BaseMessage])
    history = TieredChatMessageHistory("session", memory, max_tokens=2_000)
    assert_type(history.messages, list[BaseMessage])
    assert_type(history.transcript, list[BaseMessage])
    assert_type(await history.aget_messages(), list[BaseMessage])


async def summaries(model: Runnable[list[BaseMessage], BaseMessage]) -> None:
    """A memory is a Runnable from messages to messages, and what it did is data."""
    seen = MemoryCallbackHandler(lambda event: event.describe())
    memory = SummaryMemory(ExtractiveSummarizer(max_tokens=200), max_tokens=2_000, keep=("rounds", 2), hooks=[seen])
    assert_type(memory.invoke(MESSAGES), list[BaseMessage])
    assert_type(await memory.ainvoke("Hello"), list[BaseMessage])
    assert_type((memory | model).invoke(MESSAGES), BaseMessage)
    assert_type(seen.compactions, list[Compaction])
    assert_type([compaction.saved for compaction in seen.compactions], list[float])
    constraint = Constraint("Never call before 9.", "rule", 1, "user", "call")
    assert_type(constraint.text, str)
    TieredChatMessageHistory("session", memory=memory)
    shares, guard = SummaryShares(summary=0.1), SummarizerGuard(timeout=20, fallback=None)
    SummaryMemory(model, max_tokens=2_000, shares=shares, guard=guard, text=SummaryText(role="merge"))
    SummaryText(role="user")  # type: ignore[arg-type]
    SummaryMemory(max_tokens="many")  # type: ignore[arg-type]


async def long_term(memory: EpisodicMemory, facts: FactStore) -> None:
    """Reads and writes of long-term memory name a scope."""
    ada = MemoryScope("ada")
    assert_type(memory.remember("I like tea.", scope=ada, ttl=3_600), list[str])
    assert_type(await memory.arecall("tea?", scope=ada, k=3), list[Document])
    assert_type(memory.forget(scope=ada), int)
    assert_type([episode.content for episode in memory.export(ada)], list[str])
    assert_type(memory.as_retriever(scope=ada), EpisodicRetriever)
    memory.recall("tea?")  # type: ignore[call-arg]
    fact = facts.put(ada, "ada", "home_city", "Berlin", expected_version=0)
    assert_type(fact, Fact)
    assert_type(await facts.aget(ada, "ada", "home_city"), Fact | None)
    stores: list[FactStore] = [InMemoryFactStore(), SQLFactStore("sqlite:///facts.db")]
    stores.append(CachedFactStore(hot=RedisFactStore("redis://cache"), cold=stores[1]))
    assert_type(Episode.from_dict({}).valid_until, datetime | None)
    assert_type(LocalEmbeddings().embed_query("tea"), list[float])


def contexts(model: Runnable[list[BaseMessage] | PromptValue, BaseMessage]) -> None:
    """A request is messages, and its report is data."""
    budget = ContextBudget(window=128_000, shares={"episodes": 0.5})
    assert_type(budget.limit, int)
    procedures = ProceduralMemory(system="Only GET requests.")
    assembler = ContextAssembler(budget, log=RedisMessageLog("redis://log"), procedures=procedures)
    assert_type(assembler.assemble({"question": "tea?"}).report, ContextReport)
    assert_type((assembler | model).invoke("tea?"), BaseMessage)
    with TieredMemory(max_tokens=2_000) as memory:
        assert_type(memory.erase(MemoryScope("ada")).total, int)
        assert_type(TieredMemoryMiddleware(memory, tools=["recall_memory"]), TieredMemoryMiddleware)


def scopes() -> None:
    """A scope is data."""
    scope = MemoryScope("ada", session="s1")
    assert_type(scope.whole_user(), MemoryScope)
    assert_type(MemoryScope.from_config({"configurable": {"user_id": "ada"}}).session, str | None)


def transcripts() -> None:
    """A transcript is messages with where they came from."""
    transcript = read_transcript("chat.json")
    assert_type(transcript, Transcript)
    assert_type(transcript.messages, tuple[BaseMessage, ...])
    write_transcript(transcript.messages, "copy.json", format="openai")


def errors(error: TieredMemoryError) -> tuple[int, ...]:
    """Errors carry what a program needs to go on."""
    sizes: list[ContextSize] = [("tokens", 3_000), ("messages", 20), ("rounds", 3), ("fraction", 0.8)]
    if isinstance(error, BudgetExceededError):
        return error.needed, error.limit, error.over
    if isinstance(error, VersionConflictError):
        return error.expected, error.actual
    known = ProtocolError, TranscriptError, ScopeError, MemoryStoreError, SummarizationError
    return len(known), len(sizes)


assert_type(package.__version__, str)
assert_type(package.evaluation.__name__, str)
assert_type(package.display.__name__, str)
assert_type(package.errors.__name__, str)
assert_type(package.events.__name__, str)
