"""Episodic memory: what happened, word for word, found again by meaning and by words, in Milvus."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeAlias, TypeVar, Unpack

from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory._sync import AWAITING, BLOCKING, iterate_sync, run_sync
from langchain_tiered_memory._times import Duration, Moment, seconds_of, utc_now
from langchain_tiered_memory.episodic import maintenance
from langchain_tiered_memory.episodic.embeddings import model_name_of
from langchain_tiered_memory.episodic.episode import Episode, checked_scope
from langchain_tiered_memory.episodic.index import behind, index
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection
from langchain_tiered_memory.episodic.provider import CollectionProvider, MemoryContext, checked_name
from langchain_tiered_memory.episodic.question import Filter, Question, RecallOptions
from langchain_tiered_memory.episodic.recall import recall
from langchain_tiered_memory.episodic.remember import DetailOptions, Details, remember, take
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever, loader_of, saver_of
from langchain_tiered_memory.episodic.rounds import KeyFunction, key_function, prefixes_of
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EpisodeHandedOn, EventHook, hooks_of
from langchain_tiered_memory.messages.text import Prefixes
from langchain_tiered_memory.types import Clock, MemoryScope

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import BaseMessage, MessageLikeRepresentation
    from langchain_core.runnables import Runnable

    from langchain_tiered_memory.working.log import MessageLog

__all__ = ["EpisodicMemory"]

P = ParamSpec("P")
T = TypeVar("T")
Work: TypeAlias = Coroutine[object, None, T]

logger = logging.getLogger("langchain_tiered_memory")


class EpisodicMemory(Closing):
    """Keeps rounds of conversations word for word, and finds those that answer a question, in the right user's alone.

    A summary loses the detail that is asked for later, and an extracted fact what the extractor did not think of. So
    what is kept here is what was said, and no model but an embedding model is called. A question is answered by
    meaning and by words together, from what is true now: what has ended, or was replaced, is found only by who asks
    for it (`as_of`, `include_expired`).

    ```python
    from langchain_tiered_memory import EpisodicMemory, MemoryScope

    ada = MemoryScope(user="ada")
    with EpisodicMemory("./memory.db") as memory:  # embeddings=None: by words only
        memory.remember("My sister moved to Turin.", scope=ada)
        assert memory.recall("Where does my sister live?", scope=ada)[0].page_content == "My sister moved to Turin."
    ```

    Every method that reads or writes has an async twin with an `a` before its name; threads and event loops may share
    a memory. Milvus is opened on first use. Milvus Lite, the default, is one folder for one process.

    Args:
        uri: A path for Milvus Lite, `http://host:19530` for a server, or the URI of a Zilliz Cloud cluster.
        embeddings: Any LangChain embedding model. The collection belongs to it: with another one `reindex` first.
            `None` finds episodes by their words alone.
        token: `"user:password"` or an API key.
        collection: The name of the collection in Milvus.
        clock: Gives the time; the system's UTC time if not given.
        key: By what a round is found. `"weighted"`: what the user said counts twice, answers and tool results count
            with their beginning. `"user"`: only what the user said. `"whole"`: everything. Or a function of an
            `Episode` that gives a text. Speakers' names and the date are always among the words.
        prefixes: What speakers without a name are called in a round: "en", "zh", or your own `Prefixes`.
        half_life: Seconds (or a timedelta) after which an episode counts half of a new one; by default age does not
            count, and only an outdated near-duplicate ranks below its successor.
        timeout: Seconds that Milvus may take for one call, retries included.
        hooks: Called with each event.

    Raises:
        ValueError: An argument is not of its form.
        ScopeError: A method was called without a scope. There is none that means everybody.
        MemoryStoreError: From any method: Milvus or the embedding model failed; says what was and was not written.
    """

    def __init__(
        self,
        uri: str = "./memory.db",
        embeddings: Embeddings | None = None,
        *,
        token: str | None = None,
        collection: str = "episodes",
        clock: Clock | None = None,
        key: str | KeyFunction = "weighted",
        prefixes: Prefixes | str = "en",
        half_life: Duration | None = None,
        timeout: float = 30.0,
        hooks: Iterable[EventHook] = (),
    ) -> None:
        given: object = uri
        if not isinstance(given, str | Path):
            msg = f"uri={uri!r} is no address: give a path (Milvus Lite), or http://host:19530 for a server"
            raise ValueError(msg)  # noqa: TRY004  # as for every other wrong address
        self._timeout = seconds_of(timeout, "timeout")
        self._half_life = None if half_life is None else seconds_of(half_life, "half_life")
        self._connection = MilvusConnection(str(uri), token=token, timeout=self._timeout)
        self._provider = CollectionProvider(
            self._connection, name=checked_name(collection), embeddings=embeddings, timeout=self._timeout
        )
        self._blocking = MemoryContext(
            caller=BLOCKING,
            provider=self._provider,
            clock=clock or utc_now,
            key=key_function(key),
            prefixes=prefixes_of(prefixes),
            hooks=hooks_of(hooks),
        )
        self._awaiting = self._blocking.calling(AWAITING)
        self._closed = False
        if embeddings is None:
            logger.warning("%r has no embedding model: it finds episodes by their words, not by what they mean", self)

    def __repr__(self) -> str:
        by = "words only" if self.embeddings is None else model_name_of(self.embeddings)
        return f"{type(self).__name__}({self._connection.name!r}, collection={self._provider.name!r}, {by})"

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedding model; `None` for a memory of words only."""
        return self._provider.embeddings

    @property
    def is_embedded(self) -> bool:
        """Whether Milvus runs in this process, out of a file."""
        return self._connection.is_lite

    def _opened(self, context: MemoryContext) -> MemoryContext:
        if self._closed:
            msg = f"{self!r} was closed: make another EpisodicMemory to go on"
            raise MemoryStoreError(msg)
        return context

    def _run(self, work: Callable[Concatenate[MemoryContext, P], Work[T]], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run an algorithm that blocks; MemoryStoreError after this memory was closed."""
        context = self._opened(self._blocking)
        return run_sync(context.run(work(context, *args, **kwargs)))

    async def _arun(
        self, work: Callable[Concatenate[MemoryContext, P], Work[T]], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        context = self._opened(self._awaiting)
        return await context.run(work(context, *args, **kwargs))

    # --- writing ------------------------------------------------------------------------------------------------------

    def remember(
        self,
        text_or_messages: str | BaseMessage | Sequence[MessageLikeRepresentation],
        *,
        scope: MemoryScope,
        created_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        ttl: Duration | None = None,
        entity: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """Keep a text, or messages in rounds, each from one user message to the next.

        The same text (or round) remembered again in the same scope is the same episode, and nothing is written, unless
        it is true no more: then it is said anew. With `created_at` the same words at another time are another episode,
        and so are messages with other ids, and a round that occurs twice in one call. Times that are given again
        change those of the episode. System messages, summaries and recalled memories are left out: they are no events.

        Args:
            text_or_messages: A text, a message, or messages in whatever form LangChain takes them.
            scope: Whose it is.
            created_at: When it happened; now if not given.
            valid_from: From when on it is true; from when it happened if not given.
            valid_until: Until when, that moment excluded; without end if not given.
            ttl: How long, instead of `valid_until`.
            entity: What it is about.
            metadata: What else to keep with it, to filter by; what JSON holds.

        Returns:
            The ids of the episodes, in order; `[]` where nothing was said.
        """
        details = Details(
            scope=checked_scope(scope),
            created_at=created_at,
            valid_from=valid_from,
            valid_until=valid_until,
            ttl=ttl,
            entity=entity,
            metadata=metadata,
        )
        return self._run(remember, text_or_messages, details)

    async def aremember(
        self,
        text_or_messages: str | BaseMessage | Sequence[MessageLikeRepresentation],
        *,
        scope: MemoryScope,
        **details: Unpack[DetailOptions],
    ) -> list[str]:
        """`remember`, awaited."""
        given = Details(scope=checked_scope(scope), **details)
        return await self._arun(remember, text_or_messages, given)

    def index(self, log: MessageLog, session_id: str, *, scope: MemoryScope, timeout: float | None = None) -> int:
        """Keep what a session of a log has beyond the cursor, each finished round once.

        A round whose answer has not come yet waits. How far the log was read is kept beside the episodes, written after
        them: a process that dies in between, or an embedding model that fails, delays an episode and neither loses
        nor doubles it, and an episode that was forgotten does not come back.

        Args:
            log: The log.
            session_id: The session of the log.
            scope: Whose it is; where it names no session, the episodes belong to the session `session_id`.
            timeout: Seconds in which Milvus must answer at all; what is then written may take longer.

        Returns:
            How many episodes are new.
        """
        return self._run(index, log, session_id, checked_scope(scope), timeout)

    async def aindex(
        self,
        log: MessageLog,
        session_id: str,
        *,
        scope: MemoryScope,
        timeout: float | None = None,  # noqa: ASYNC109  # of Milvus, and not of the task
    ) -> int:
        """`index`, awaited."""
        return await self._arun(index, log, session_id, checked_scope(scope), timeout)

    def take(self, handed_on: EpisodeHandedOn, *, scope: MemoryScope) -> str:
        """Keep what left the summary of a session for good, as an episode of the kind "summary", once.

        ```python
        SummaryMemory(hooks=[lambda event: isinstance(event, EpisodeHandedOn) and memory.take(event, scope=ada)])
        ```

        Args:
            handed_on: What the summary tier hands on.
            scope: Whose it is; where it names no session, the episode belongs to the summary's.

        Returns:
            The episode's id.
        """
        return self._run(take, handed_on, checked_scope(scope))

    async def atake(self, handed_on: EpisodeHandedOn, *, scope: MemoryScope) -> str:
        """`take`, awaited."""
        return await self._arun(take, handed_on, checked_scope(scope))

    def supersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """Let an episode take the place of another: from then on the old one is true no more.

        `as_of` a time before then still finds the old one.

        Args:
            old_id: The episode that is true no more.
            new_id: The one that takes its place.
            scope: Whose they are.
            at: From when on; from when the new one is true if not given.

        Raises:
            ValueError: One of them does not exist in the scope, or they are the same.
        """
        self._run(maintenance.supersede, old_id, new_id, checked_scope(scope), at)

    async def asupersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """`supersede`, awaited."""
        await self._arun(maintenance.supersede, old_id, new_id, checked_scope(scope), at)

    def forget(self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False) -> int:
        """Delete episodes for good: some of a scope, or all of it.

        Of what is deleted in Milvus Lite no byte is left in its files; a server lets go of it when it compacts.

        Args:
            ids: Which; all of the scope if not given.
            scope: Whose they are: of one session, or of all sessions of the user.
            cursors: Also forget how far logs were read, which is right where the log is erased too. Otherwise `index`
                would bring back what is still in the log.

        Returns:
            How many episodes went.
        """
        return self._run(maintenance.forget, ids, checked_scope(scope), cursors=cursors)

    async def aforget(
        self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False
    ) -> int:
        """`forget`, awaited."""
        return await self._arun(maintenance.forget, ids, checked_scope(scope), cursors=cursors)

    def reindex(self, embeddings: Embeddings | None = None) -> int:
        """Write the whole collection anew: with another embedding model, or after a change of the text analysis.

        The old collection stands until the new one is whole. Nobody else should write meanwhile: what is noticed of it
        stops the change. Afterwards this memory works with the model that it was given.

        Args:
            embeddings: The model; the memory's own if not given.

        Returns:
            How many episodes were written.
        """
        return self._run(maintenance.reindex, self.embeddings if embeddings is None else embeddings)

    async def areindex(self, embeddings: Embeddings | None = None) -> int:
        """`reindex`, awaited."""
        return await self._arun(maintenance.reindex, self.embeddings if embeddings is None else embeddings)

    # --- reading ------------------------------------------------------------------------------------------------------

    def recall(  # noqa: PLR0913  # what a caller may ask for, all but the question by name
        self,
        query: str,
        *,
        scope: MemoryScope,
        k: int = 5,
        as_of: Moment | None = None,
        max_age: Duration | None = None,
        include_expired: bool = False,
        filter: Filter | None = None,  # noqa: A002  # LangChain's name
        rounds: tuple[int | None, int | None] | None = None,
        created_from: Moment | None = None,
        created_to: Moment | None = None,
        entity: str | None = None,
        kinds: Sequence[str] | None = None,
        min_score: float = 0.0,
        explain: bool = False,
        timeout: float | None = None,
    ) -> list[Document]:
        """The episodes that answer a question, best first.

        Args:
            query: The question; a blank one has no answer.
            scope: Whose memory: of one session, or of all sessions of the user.
            k: How many at most.
            as_of: Answer from what was true at that time.
            max_age: Only what happened so long ago or less, in seconds or a timedelta.
            include_expired: Also what is true no more, or not yet.
            filter: Conditions on the metadata, all of which must hold: `{"topic": "tea"}`, or a list such as
                `[("priority", ">=", 2), (("place", "city"), "in", ["Rome", "Turin"])]`.
            rounds: The first and the last round of their sessions, `None` for an open end.
            created_from: Only what happened at that time or later.
            created_to: Only what happened before that time.
            entity: Only what is about this.
            kinds: Only some of `"round"`, `"text"` and `"summary"`.
            min_score: What scores less is no answer; from 0 to 1.
            explain: Say in the metadata what each score is made of.
            timeout: Seconds after which the answer must be here. (An embedding model that hangs is not interrupted.)

        Returns:
            Documents with the content word for word. Their metadata are what was given with them, and `id`, `score` (0
            to 1), `kind`, `session`, `round`, `first` and `last` (numbers in the log), `created_at`, `valid_from`,
            `valid_until`, `superseded_by`, `outdated_by` (a newer near-duplicate that says something else), `entity`,
            and with `explain` `explain`. Times are texts in ISO 8601, UTC.

        Raises:
            MemoryStoreError: Milvus does not answer in time.
        """
        asked = Question.of(
            query,
            scope,
            k,
            now=self._blocking.now(),
            default_timeout=self._timeout,
            as_of=as_of,
            max_age=max_age,
            include_expired=include_expired,
            filter=filter,
            rounds=rounds,
            created_from=created_from,
            created_to=created_to,
            entity=entity,
            kinds=kinds,
            min_score=min_score,
            explain=explain,
            timeout=timeout,
        )
        return self._run(recall, asked, half_life=self._half_life)

    async def arecall(
        self, query: str, *, scope: MemoryScope, k: int = 5, **options: Unpack[RecallOptions]
    ) -> list[Document]:
        """`recall`, awaited."""
        now = self._blocking.now()
        asked = Question.of(query, scope, k, now=now, default_timeout=self._timeout, **options)
        return await self._arun(recall, asked, half_life=self._half_life)

    def get(self, ids: Sequence[str], *, scope: MemoryScope) -> list[Episode]:
        """Episodes by their ids, in that order, true now or not; those that are not there are left out."""
        return self._run(maintenance.get, ids, checked_scope(scope))

    async def aget(self, ids: Sequence[str], *, scope: MemoryScope) -> list[Episode]:
        """`get`, awaited."""
        return await self._arun(maintenance.get, ids, checked_scope(scope))

    def count(self, scope: MemoryScope) -> int:
        """How many episodes a scope has, true now or not."""
        return self._run(maintenance.count, checked_scope(scope))

    async def acount(self, scope: MemoryScope) -> int:
        """`count`, awaited."""
        return await self._arun(maintenance.count, checked_scope(scope))

    def behind(self, log: MessageLog, session_id: str, *, scope: MemoryScope, timeout: float | None = None) -> int:
        """How many messages of finished rounds a log has that `index` has not read yet; arguments as for `index`."""
        return self._run(behind, log, session_id, checked_scope(scope), timeout)

    async def abehind(
        self,
        log: MessageLog,
        session_id: str,
        *,
        scope: MemoryScope,
        timeout: float | None = None,  # noqa: ASYNC109  # of Milvus, and not of the task
    ) -> int:
        """`behind`, awaited."""
        return await self._arun(behind, log, session_id, checked_scope(scope), timeout)

    def export(self, scope: MemoryScope) -> Iterator[Episode]:
        """Every episode of a scope, true now or not, read piece by piece; `Episode.to_dict` makes JSON of it."""
        yield from iterate_sync(maintenance.export(self._opened(self._blocking), checked_scope(scope)))

    async def aexport(self, scope: MemoryScope) -> AsyncIterator[Episode]:
        """`export`, awaited."""
        async for episode in maintenance.export(self._opened(self._awaiting), checked_scope(scope)):
            yield episode

    # --- in chains ----------------------------------------------------------------------------------------------------

    def as_retriever(self, *, k: int = 5, scope: MemoryScope | None = None, **settings: Any) -> EpisodicRetriever:  # noqa: ANN401  # fields of the retriever
        """A LangChain retriever over this memory; see `EpisodicRetriever`."""
        return EpisodicRetriever(memory=self, k=k, scope=scope, **settings)

    def as_saver(
        self, *, scope: MemoryScope | None = None, input_key: str = "input", output_key: str = "output"
    ) -> Runnable[dict[str, Any], dict[str, Any]]:
        """A Runnable that keeps the round in what passes through it, as the classic memories' `save_context` did.

        Args:
            scope: Whose it is; by default what the run's `configurable` names.
            input_key: Where the user's words are: a text, a message, or messages of which the last is taken.
            output_key: Where the answer is: a text or a message.
        """
        return saver_of(self, scope=scope, input_key=input_key, output_key=output_key)

    def as_loader(
        self,
        *,
        k: int = 5,
        scope: MemoryScope | None = None,
        input_key: str = "input",
        **settings: Any,  # noqa: ANN401  # as above
    ) -> Runnable[Any, str]:
        """A Runnable from a question to the episodes that answer it, as one quoted text for a prompt.

        Args:
            k: How many at most.
            scope: Whose memory; by default what the run's `configurable` names.
            input_key: Where the question is, when the input is a dict.
            **settings: Further fields of `EpisodicRetriever`.
        """
        return loader_of(self.as_retriever(k=k, scope=scope, **settings), input_key=input_key)

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections, and let other processes have the database. Closing twice is fine."""
        self._closed = True
        self._connection.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        self._closed = True
        await self._connection.aclose()
