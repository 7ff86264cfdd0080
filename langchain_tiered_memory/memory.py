"""The four tiers as one memory: where each is kept, and what goes from one to the other."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Self, TypedDict, Unpack
from uuid import uuid4

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._sync import AWAITING, BLOCKING, Caller, run_sync
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.context.assembler import ContextAssembler, ToolLike
from langchain_tiered_memory.context.assembly import RecallCache
from langchain_tiered_memory.context.budget import ContextBudget
from langchain_tiered_memory.context.remember import RememberRound
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.question import RecallOptions
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
from langchain_tiered_memory.erasure import Erased, Erasure
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.indexer import Indexer, timeout_of, unanswered
from langchain_tiered_memory.messages.trimming import CounterLike
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.session_names import session_key, session_of
from langchain_tiered_memory.stores import EmbeddingsLike, OwnedLog, budget_of, episodes_of, facts_of, log_of
from langchain_tiered_memory.types import DEFAULT_TENANT, Clock, MemoryScope
from langchain_tiered_memory.working.compaction.memory import SummaryMemory
from langchain_tiered_memory.working.compaction.settings import SummarizerGuard
from langchain_tiered_memory.working.log import MessageLog
from langchain_tiered_memory.working.summarizers import SummarizerLike

if TYPE_CHECKING:
    from langchain_tiered_memory.integrations.history import TieredChatMessageHistory
    from langchain_tiered_memory.integrations.middleware import TieredMemoryMiddleware

__all__ = ["TieredMemory"]

_INTEGRATIONS: Final = "langchain_tiered_memory.integrations"


class AssemblerOptions(TypedDict, total=False):
    """What `TieredMemory.assembler` takes, each as `ContextAssembler` takes it."""

    tools: Sequence[ToolLike] | None
    k: int
    min_score: float
    recall: Mapping[str, Any] | None
    procedures: ProceduralMemory | None
    output: Literal["messages", "prompt"]
    hooks: Iterable[EventHook]


class TieredMemory(Closing):
    """Four tiers of memory for one application, wired to each other and kept under one token budget.

    Each tier works alone; what an application wants is that they work together: that a question is in the log before
    the model is asked, that an answer becomes an episode which the next session recalls, that what leaves the summary
    is kept, and that one call erases a user everywhere. This class holds no logic of its own for that, only the wires.

    ```python
    from langchain_tiered_memory import TieredMemory

    memory = TieredMemory("./memory", max_tokens=4_000, embeddings=None)
    chain = memory.assembler() | model | memory.remember_round()
    chain.invoke({"question": "Hello"}, memory.config(user="ada", session="s1"))
    ```

    By default everything is in one folder: the log and the facts in SQLite, the episodes in Milvus Lite. `from_uris`
    takes servers instead. A session belongs to its user: two users may call theirs "1".

    Args:
        path: The folder; made where it does not exist.
        embeddings: Finds episodes by meaning: any LangChain `Embeddings`, `"local"` for the model that comes with the
            extra `[local]` and needs no network, or `None` to find by words alone.
        summarizer: Writes summaries, anything that `SummaryMemory` takes; by default needs no model.
        budget: What a request may take.
        model_window: Instead of `budget`: tokens that the model can read.
        max_tokens: Instead of `budget`: tokens that a request may take.
        procedures: Standing rules, workflows and tools.
        token_counter: Counts tokens, anything that `trim_messages` takes.
        summary: More settings of the `SummaryMemory`, by name.
        log: Holds the sessions, instead of the one in the folder.
        episodes: Holds episodes, instead of the one in the folder.
        facts: Holds facts, instead of the store in the folder.
        hooks: Called with each event.
        clock: Gives the time.

    Attributes:
        log: The working tier, a `MessageLog`: what was said, by session. A session's name in it has its owner's in it
            (`transcript`, `sessions` and `save` find it); to append under a bare id is refused.
        episodes: The episodic tier, an `EpisodicMemory`.
        facts: The semantic tier, a `FactStore`.
        procedures: The procedural tier, a `ProceduralMemory`, or `None`.
        summary: The `SummaryMemory` of all sessions.
        budget: The `ContextBudget` of a request.

    Raises:
        ImportError: Extras are missing; names them.
        ValueError: There is no budget or more than one, or an argument is not of its form.
    """

    def __init__(  # what a user may set, once
        self,
        path: str | Path | None = "./memory",
        embeddings: EmbeddingsLike = "local",
        summarizer: SummarizerLike = None,
        budget: ContextBudget | None = None,
        *,
        model_window: int | None = None,
        max_tokens: int | None = None,
        procedures: ProceduralMemory | None = None,
        token_counter: CounterLike = None,
        summary: Mapping[str, Any] | None = None,
        log: MessageLog | None = None,
        episodes: EpisodicMemory | None = None,
        facts: FactStore | None = None,
        hooks: Iterable[EventHook] = (),
        clock: Clock | None = None,
    ) -> None:
        clock = clock or utc_now
        hooks = hooks_of(hooks)  # once: what is no list is read up by the first that looks into it
        folder = None if path is None else Path(path)
        if folder is None and (log is None or episodes is None or facts is None):
            msg = "path=None needs log=, episodes= and facts=: give them, or a folder"
            raise ValueError(msg)
        self.budget = budget_of(budget, model_window, max_tokens)
        self.procedures = procedures
        self.episodes = episodes or episodes_of(f"{folder}/episodes.db", embeddings, clock=clock, hooks=hooks)
        if folder is not None:  # made when nothing can be wrong any more
            folder.mkdir(parents=True, exist_ok=True)
        self._log = log or log_of(f"sqlite:///{folder}/log.db", clock)
        self.log: MessageLog = OwnedLog(self._log)
        self.facts = facts or facts_of(f"sqlite:///{folder}/facts.db", clock)
        self._token_counter = token_counter
        self._hooks = hooks
        self._recall_cache = RecallCache()
        self.indexer = Indexer(self._log, self.episodes, self._hooks)
        self._erasure = Erasure(self._log, self.episodes, self.facts)
        self.summary = self._summary(summarizer, clock, dict(summary or {}))

    @classmethod
    def from_uris(
        cls,
        *,
        log: str,
        episodes: str,
        facts: str,
        cache: str | None = None,
        token: str | None = None,
        embeddings: EmbeddingsLike = "local",
        clock: Clock | None = None,
        **settings: Any,  # noqa: ANN401  # what the class takes otherwise
    ) -> Self:
        """A memory over servers.

        Args:
            log: `postgresql+psycopg://...`, `redis://...` or `sqlite:///...`.
            episodes: A Milvus server or Zilliz Cloud by its `http://` or `https://` address, or a file of Milvus Lite.
            facts: `postgresql+psycopg://...`, `redis://...` or `sqlite:///...`.
            cache: `redis://...` to stand in front of the facts.
            token: Opens the Milvus server.
            embeddings: As the class takes it.
            clock: As the class takes it.
            **settings: What the class takes otherwise.
        """
        hooks = settings["hooks"] = hooks_of(settings.get("hooks", ()))
        return cls(
            None,
            log=log_of(log, clock),
            episodes=episodes_of(episodes, embeddings, token=token, clock=clock, hooks=hooks),
            facts=facts_of(facts, clock, cache=cache),
            clock=clock,
            **settings,
        )

    def _summary(self, summarizer: SummarizerLike, clock: Clock, settings: dict[str, Any]) -> SummaryMemory:
        """The summary memory of all sessions."""
        # All that is left beside the procedures: what facts and episodes want of it is seen anew at each request.
        own = self.procedures.tokens(self._token_counter) if self.procedures is not None else 0
        room = self.budget.limit - own
        given = {"max_tokens": max(1, room), "token_counter": self._token_counter, "hooks": self._hooks}
        guard = settings.get("guard") or SummarizerGuard()
        settings["guard"] = replace(guard, clock=guard.clock or clock)
        return SummaryMemory(summarizer, log=self._log, **{**given, **settings})

    # --- whose it is --------------------------------------------------------------------------------------------------

    def config(self, *, user: str, session: str | None = None, tenant: str | None = None) -> RunnableConfig:
        """The configuration of a call: whose memory it is, and in which session.

        Args:
            user: The user's id.
            session: A session that goes on; a new one with an id of its own if not given.
            tenant: The tenant's id, where there are several.
        """
        scope = MemoryScope(user, tenant or DEFAULT_TENANT, session if session is not None else self.new_session())
        return {"configurable": {"user_id": scope.user, "tenant_id": scope.tenant, "session_id": scope.session}}

    @staticmethod
    def new_session() -> str:
        """An id that no session has."""
        return str(uuid4())

    def sessions(self, scope: MemoryScope) -> list[str]:
        """The ids of a user's sessions that hold a message, sorted."""
        return sorted(map(session_of, run_sync(self._erasure.sessions(BLOCKING, scope))))

    async def asessions(self, scope: MemoryScope) -> list[str]:
        """`sessions`, awaited."""
        return sorted(map(session_of, await self._erasure.sessions(AWAITING, scope)))

    def transcript(self, session_id: str, scope: MemoryScope | None = None) -> list[BaseMessage]:
        """Everything that was said in a session."""
        return self._log.messages(session_key(session_id, scope))

    async def atranscript(self, session_id: str, scope: MemoryScope | None = None) -> list[BaseMessage]:
        """`transcript`, awaited."""
        return await self._log.amessages(session_key(session_id, scope))

    def unanswered(self, session_id: str, scope: MemoryScope | None = None) -> list[BaseMessage]:
        """The questions of a session to which no answer came, oldest first: the model failed, or the call was cut."""
        return unanswered(self.transcript(session_id, scope))

    async def aunanswered(self, session_id: str, scope: MemoryScope | None = None) -> list[BaseMessage]:
        """`unanswered`, awaited."""
        return unanswered(await self.atranscript(session_id, scope))

    # --- what the application uses ------------------------------------------------------------------------------------

    def assembler(self, **settings: Unpack[AssemblerOptions]) -> ContextAssembler:
        """A Runnable from messages or a question to what goes to the model.

        Args:
            **settings: What `ContextAssembler` takes beside the tiers, such as `k`, `min_score`, `recall` or `tools`.
        """
        given: AssemblerOptions = {"procedures": self.procedures, "hooks": self._hooks, **settings}
        given["recall"] = {"timeout": timeout_of(self.episodes), **(settings.get("recall") or {})}
        return ContextAssembler(
            self.budget,
            summary=self.summary,
            episodes=self.episodes,
            facts=self.facts,
            token_counter=self._token_counter,
            session_key=session_key,
            recall_cache=self._recall_cache,
            **given,
        )

    def remember_round(self) -> RememberRound:
        """A Runnable for the end of a chain, behind the model: it hands the answer on, and keeps it."""
        return RememberRound(self._answered)

    def retriever(
        self, *, k: int = 5, scope: MemoryScope | None = None, **settings: Unpack[RecallOptions]
    ) -> EpisodicRetriever:
        """A LangChain retriever over the episodes; the scope may come with the call's configuration."""
        return self.episodes.as_retriever(k=k, scope=scope, **settings)

    def history(
        self, session_id: str, user_id: str | None = None, tenant_id: str | None = None
    ) -> TieredChatMessageHistory:
        """A session as a LangChain chat history; what it saves becomes episodes too.

        Args:
            session_id: The session.
            user_id: Whose it is; without a user it is only a history, and nothing of it becomes an episode.
            tenant_id: The tenant's id, where there are several.
        """
        adapter = import_optional(f"{_INTEGRATIONS}.history", needed_by="TieredMemory.history")
        scope = None if user_id is None else MemoryScope(user_id, tenant_id or DEFAULT_TENANT, session_id)
        history: TieredChatMessageHistory = adapter.TieredChatMessageHistory(
            session_key(session_id, scope),
            self._log,
            memory=self.summary,
            hooks=self._hooks,
            after_append=None if scope is None else lambda caller: self.indexer.index(caller, session_id, scope),
        )
        return history

    def middleware(self, *, tools: Iterable[str] = ()) -> TieredMemoryMiddleware:
        """The memory as middleware for `create_agent`.

        Args:
            tools: Names of tools to give to the model: `"recall_memory"` and `"save_fact"`.
        """
        adapter = import_optional(f"{_INTEGRATIONS}.middleware", needed_by="TieredMemory.middleware")
        middleware: TieredMemoryMiddleware = adapter.TieredMemoryMiddleware(self, tools=tools)
        return middleware

    # --- from the log to the episodes ---------------------------------------------------------------------------------

    def save(self, session_id: str, messages: Sequence[BaseMessage], scope: MemoryScope | None = None) -> None:
        """Append messages to a session, and make episodes of its finished rounds."""
        run_sync(self.indexer.append(BLOCKING, session_id, messages, scope))

    async def asave(self, session_id: str, messages: Sequence[BaseMessage], scope: MemoryScope | None = None) -> None:
        """`save`, awaited."""
        await self.indexer.append(AWAITING, session_id, messages, scope)

    def catch_up(self, scope: MemoryScope) -> int:
        """Make episodes of whatever the log has beyond them in a user's sessions, and count the new ones.

        Each answer that is saved does it for its session, and for a few of those that Milvus missed since this object
        was made; this is for all of a user's sessions, also those that it missed before.

        Raises:
            MemoryStoreError: Milvus or the embedding model does not answer.
        """
        return run_sync(self.indexer.catch_up(BLOCKING, scope))

    async def acatch_up(self, scope: MemoryScope) -> int:
        """`catch_up`, awaited."""
        return await self.indexer.catch_up(AWAITING, scope)

    async def _answered(self, caller: Caller, messages: Sequence[BaseMessage], config: RunnableConfig) -> None:
        configurable = config.get("configurable") or {}
        session_id = configurable.get("session_id")
        if session_id is None:
            msg = 'no session: call the chain with {"configurable": {"session_id": ...}}, see TieredMemory.config'
            raise ValueError(msg)
        scope = MemoryScope.from_config(config) if configurable.get("user_id") is not None else None
        log = self._log
        if scope is None and not await caller.call(log.last, log.alast, session_key(session_id, None)):
            msg = (
                f"no user, and nothing was asked in a session {session_id!r} that belongs to nobody: name the user in "
                "the call's configuration and not in the input alone, see TieredMemory.config"
            )
            raise ScopeError(msg)
        await self.indexer.append(caller, session_id, messages, scope, is_run=True)

    # --- everything of somebody ---------------------------------------------------------------------------------------

    def export(self, scope: MemoryScope) -> Iterator[dict[str, Any]]:
        """Everything that is kept of a user, or of one session of theirs, as plain data with the tier of each."""
        return self._erasure.export(scope)

    def aexport(self, scope: MemoryScope) -> AsyncIterator[dict[str, Any]]:
        """`export`, awaited record by record."""
        return self._erasure.aexport(scope)

    def erase(self, scope: MemoryScope) -> Erased:
        """Erase everything that is kept of a user, or of one session of theirs, in all tiers.

        Returns:
            What went, tier by tier; each tier was read back.

        Raises:
            MemoryStoreError: A store does not answer, or still holds something after it was erased. What was erased
                before stays erased; erase again.
        """
        gone = run_sync(self._erasure.erase(BLOCKING, scope))
        self._forget(scope)
        return gone

    async def aerase(self, scope: MemoryScope) -> Erased:
        """`erase`, awaited."""
        gone = await self._erasure.erase(AWAITING, scope)
        self._forget(scope)
        return gone

    def _forget(self, scope: MemoryScope) -> None:
        self.indexer.forget(scope)
        self._recall_cache.forget(scope)

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close all stores. Closing twice is fine."""
        for store in (self._log, self.episodes, self.facts):
            store.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        for store in (self._log, self.episodes, self.facts):
            await store.aclose()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(log={self.log!r}, episodes={self.episodes!r}, facts={self.facts!r})"
