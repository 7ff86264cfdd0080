"""Episodic memory: rounds of conversations, stored verbatim in Milvus and recalled by meaning and by words."""

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
    """Stores rounds of conversations verbatim, and recalls those that answer a question, within one user's scope.

    A summary loses details that are needed later, and extracted facts miss what the extractor did not expect. So this
    tier stores what was said. It calls no model except the embedding model. Recall combines vector search and lexical
    search, and returns what is valid now; pass `as_of` or `include_expired` to see expired or superseded episodes.

    ```python
    from langchain_tiered_memory import EpisodicMemory, MemoryScope

    ada = MemoryScope(user="ada")
    with EpisodicMemory("./memory.db") as memory:  # embeddings=None: by words only
        memory.remember("My sister moved to Turin.", scope=ada)
        assert memory.recall("Where does my sister live?", scope=ada)[0].page_content == "My sister moved to Turin."
    ```

    Every method that reads or writes has an async twin with the prefix `a`. Threads and event loops may share a memory.
    It connects to Milvus on first use. Milvus Lite, the default, keeps a folder that one process at a time can open.

    Args:
        uri: A path for Milvus Lite, `http://host:19530` for a server, or the URI of a Zilliz Cloud cluster.
        embeddings: Any LangChain embedding model. The collection belongs to it; call `reindex` to change the model.
            With `None`, recall is lexical only.
        token: `"user:password"` or an API key.
        collection: The name of the collection in Milvus.
        clock: Gives the time; the system's UTC time if not given.
        key: The text that an episode is indexed by. `"weighted"`: the user's words twice, and the beginning of answers
            and tool results. `"user"`: only the user's words. `"whole"`: everything. Or a function from an `Episode` to
            a text. Speakers' names and the date are always indexed.
        prefixes: Names for speakers who have none: "en", "zh", or your own `Prefixes`.
        half_life: Seconds (or a timedelta) after which the score of an episode halves; by default age does not count.
        timeout: Seconds that one call of Milvus may take, retries included.
        hooks: Called with each event.

    Raises:
        ValueError: An argument is invalid.
        ScopeError: A method was called without a scope. No scope stands for everybody.
        MemoryStoreError: Milvus or the embedding model failed; the message says what was written. While Milvus is away,
            methods fail at once; it is tried again after 1 to 30 seconds.
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
        if not isinstance(given, str | Path) or not str(given).strip():
            msg = f"uri={uri!r} is no address: give a path (Milvus Lite), or http://host:19530 for a server"
            raise ValueError(msg)
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
        """Store a text, or messages split into rounds: from one user message to the next.

        Remembering the same text or round again in the same scope writes nothing, unless the stored one has expired:
        then it becomes a new episode. The same words with another `created_at` or other message ids are another
        episode. Validity times that are passed again update the stored ones. System messages, summaries, recalled
        memories and a model's reasoning are not stored.

        Args:
            text_or_messages: A text, a message, or messages in any form that LangChain takes.
            scope: The owner.
            created_at: When it happened; now by default.
            valid_from: When it becomes valid; when it happened by default.
            valid_until: When it stops being valid, exclusive; never by default.
            ttl: How long it is valid, instead of `valid_until`.
            entity: The subject.
            metadata: JSON values to store with it, and to filter by.

        Returns:
            The ids of the episodes, in order; `[]` if nothing was said.
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
        """Make an episode of each finished round that a session's log has beyond the cursor.

        A round without its answer waits. The cursor is stored with the episodes: a failure delays an episode, and
        neither loses nor duplicates it, and a forgotten episode does not come back.

        Args:
            log: The log.
            session_id: The session of the log.
            scope: The owner; if it names no session, the episodes belong to the session `session_id`.
            timeout: Seconds in which Milvus must answer the first call; the writes may take longer.

        Returns:
            The number of new episodes.
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
        """Store what left the summary of a session for good, once, as an episode of the kind "summary".

        ```python
        SummaryMemory(hooks=[lambda event: isinstance(event, EpisodeHandedOn) and memory.take(event, scope=ada)])
        ```

        Args:
            handed_on: The event of the summary tier.
            scope: The owner; if it names no session, the episode belongs to the event's session.

        Returns:
            The episode's id.
        """
        return self._run(take, handed_on, checked_scope(scope))

    async def atake(self, handed_on: EpisodeHandedOn, *, scope: MemoryScope) -> str:
        """`take`, awaited."""
        return await self._arun(take, handed_on, checked_scope(scope))

    def supersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """Mark an episode as superseded by another: it stops being valid when the other becomes valid.

        Recall with an earlier `as_of` still finds it.

        Args:
            old_id: The superseded episode.
            new_id: Its successor.
            scope: The owner of both.
            at: When the old one stops being valid; when the new one becomes valid by default.

        Raises:
            ValueError: One of them does not exist in the scope, or each would supersede the other.
        """
        self._run(maintenance.supersede, old_id, new_id, checked_scope(scope), at)

    async def asupersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """`supersede`, awaited."""
        await self._arun(maintenance.supersede, old_id, new_id, checked_scope(scope), at)

    def forget(self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False) -> int:
        """Delete episodes of a scope, some or all.

        In Milvus Lite no byte of their text is left in any file. A server drops deleted rows when it compacts.

        Args:
            ids: The episodes; all of the scope by default.
            scope: The owner: one session, or all sessions of the user.
            cursors: Delete the cursors of the logs too. Use it when the log is erased as well; otherwise `index` would
                bring back what the log still holds.

        Returns:
            The number of deleted episodes.
        """
        return self._run(maintenance.forget, ids, checked_scope(scope), cursors=cursors)

    async def aforget(
        self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False
    ) -> int:
        """`forget`, awaited."""
        return await self._arun(maintenance.forget, ids, checked_scope(scope), cursors=cursors)

    def reindex(self, embeddings: Embeddings | None = None) -> int:
        """Rewrite the collection for another embedding model, or after a change of the text analysis.

        The old collection stays until the new one is complete. Writes by others meanwhile make it fail. Afterwards this
        memory uses the new model.

        Args:
            embeddings: The model; the current one by default.

        Returns:
            The number of episodes written.
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
        """Return the episodes that answer a question, best first.

        A statement that was repeated comes once, with its newest date.

        Args:
            query: The question; a blank one has no answer.
            scope: The owner: one session, or all sessions of the user.
            k: The most episodes to return.
            as_of: Answer with what was valid at that time.
            max_age: Only what happened within this duration before `as_of`, in seconds or as a timedelta.
            include_expired: Include expired and superseded episodes, and those that are not valid yet.
            filter: Conditions on the metadata, all of which must hold: `{"topic": "tea"}`, or a list such as
                `[("priority", ">=", 2), (("place", "city"), "in", ["Rome", "Turin"])]`.
            rounds: The first and the last round number; `None` for an open end.
            created_from: The earliest time it happened.
            created_to: The latest time it happened, exclusive.
            entity: Only episodes about this subject.
            kinds: Some of `"round"`, `"text"` and `"summary"`.
            min_score: The lowest score to return, from 0 to 1.
            explain: Put the parts of each score into the metadata.
            timeout: Seconds for the whole recall. (An embedding model that hangs is not interrupted.)

        Returns:
            Documents with the verbatim content. Their metadata hold what was stored with them, and `id`, `score` (0 to
            1), `kind`, `session`, `round`, `first` and `last` (numbers in the log), `created_at`, `valid_from`,
            `valid_until`, `superseded_by`, `outdated_by` (a newer statement that contradicts it), `entity`, and
            `explain` if asked for. Times are ISO 8601 texts in UTC.

        Raises:
            MemoryStoreError: Milvus did not answer in time.
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
        """Return episodes by id, in that order, valid or not; unknown ids are skipped."""
        return self._run(maintenance.get, ids, checked_scope(scope))

    async def aget(self, ids: Sequence[str], *, scope: MemoryScope) -> list[Episode]:
        """`get`, awaited."""
        return await self._arun(maintenance.get, ids, checked_scope(scope))

    def count(self, scope: MemoryScope) -> int:
        """Count the episodes of a scope, valid or not."""
        return self._run(maintenance.count, checked_scope(scope))

    async def acount(self, scope: MemoryScope) -> int:
        """`count`, awaited."""
        return await self._arun(maintenance.count, checked_scope(scope))

    def behind(self, log: MessageLog, session_id: str, *, scope: MemoryScope, timeout: float | None = None) -> int:
        """Count the messages of finished rounds that `index` has not read yet; it takes the same arguments."""
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
        """Yield every episode of a scope, valid or not, page by page; `Episode.to_dict` gives JSON."""
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
        """A Runnable that stores the round in its input and passes it on, like `save_context` of the classic memories.

        Args:
            scope: The owner; by default the user in the run's `configurable`.
            input_key: The key of the user's turn: a text, a message, or messages, of which the last counts.
            output_key: The key of the answer: a text or a message.
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
        """A Runnable from a question to one quoted text of the episodes that answer it, for a prompt.

        Args:
            k: The most episodes.
            scope: The owner; by default the user in the run's `configurable`.
            input_key: The key of the question, if the input is a dict.
            **settings: Other fields of `EpisodicRetriever`.
        """
        return loader_of(self.as_retriever(k=k, scope=scope, **settings), input_key=input_key)

    # --- closing ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections, so that other processes can open the database. Closing twice is fine."""
        self._closed = True
        self._connection.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        self._closed = True
        await self._connection.aclose()
