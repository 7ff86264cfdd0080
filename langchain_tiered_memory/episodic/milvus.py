"""Episodic memory: what happened, word for word, found again by meaning and by words, in Milvus."""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._driving import adrive, drive
from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory._times import Duration, Moment, in_utc, micros_of, now_of, seconds_of, utc_now
from langchain_tiered_memory.episodic._asking import Filter, Recall, where_of
from langchain_tiered_memory.episodic._indexing import Indexer
from langchain_tiered_memory.episodic._keeping import Keeper, Keeping, checked_scope
from langchain_tiered_memory.episodic._lifetime import all_of, count, forget, get, supersede
from langchain_tiered_memory.episodic._mapping import episode_of
from langchain_tiered_memory.episodic._opening import Shelf
from langchain_tiered_memory.episodic._paging import Joiner
from langchain_tiered_memory.episodic._rebuilding import rebuild
from langchain_tiered_memory.episodic._recalling import recall
from langchain_tiered_memory.episodic._rounds import KeyFunction, key_function, prefixes_of
from langchain_tiered_memory.episodic.embeddings import model_name_of
from langchain_tiered_memory.episodic.records import Episode
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever, loader_of, saver_of
from langchain_tiered_memory.events import EpisodeHandedOn, EventHook, hooks_of
from langchain_tiered_memory.messages.transcript import Prefixes
from langchain_tiered_memory.types import Clock, MemoryScope

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import BaseMessage
    from langchain_core.runnables import Runnable

    from langchain_tiered_memory.working.log import MessageLog

__all__ = ["EpisodicMemory"]

logger = logging.getLogger("langchain_tiered_memory")

_MOST: Final = 1_000
"""Episodes that one recall gives at most; who wants them all exports them."""


class EpisodicMemory(Closing):
    """Keeps rounds of conversations word for word, and finds those that answer a question, in the right user's alone.

    A summary loses the detail that is asked for later, and a fact extracted by a model loses what the model did not
    think of. So what is kept here is what was said, and no model but an embedding model is called to write or to read.
    A question is answered by meaning and by words together, from what is true now: what has ended, or was replaced, is
    found only by who asks for it (`as_of`, `include_expired`).

    ```python
    from langchain_tiered_memory import EpisodicMemory, MemoryScope

    ada = MemoryScope(user="ada")
    with EpisodicMemory("./memory.db") as memory:  # embeddings=None: by words only
        memory.remember("My sister moved to Turin.", scope=ada)
        assert memory.recall("Where does my sister live?", scope=ada)[0].page_content == "My sister moved to Turin."
    ```

    Every method that reads or writes has an async twin with an `a` before its name, and any number of threads and event
    loops may use one memory. Milvus is opened on first use. Milvus Lite, the default, is one file for one process.

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
        self._timeout = seconds_of(timeout, "timeout")
        self._half_life = None if half_life is None else seconds_of(half_life, "half_life")
        self._shelf = Shelf(str(uri), token=token, name=collection, embeddings=embeddings, timeout=self._timeout)
        self._keeper = Keeper(
            shelf=self._shelf,
            clock=clock or utc_now,
            key=key_function(key),
            prefixes=prefixes_of(prefixes),
            hooks=hooks_of(hooks),
        )
        if embeddings is None:
            logger.warning("%r has no embedding model: it finds episodes by their words, not by what they mean", self)

    def __repr__(self) -> str:
        model = self._shelf.embeddings
        by = "words only" if model is None else model_name_of(model)
        return f"{type(self).__name__}({self._shelf.uri!r}, collection={self._shelf.name!r}, {by})"

    @property
    def embeddings(self) -> Embeddings | None:
        """The embedding model; `None` for a memory of words only."""
        return self._shelf.embeddings

    @property
    def is_embedded(self) -> bool:
        """Whether Milvus runs in this process, out of a file."""
        return self._shelf.is_embedded

    # --- writing ------------------------------------------------------------------------------------------------------

    def remember(
        self,
        text_or_messages: str | BaseMessage | Sequence[Any],
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
        keeping = self._keeping(scope, created_at, valid_from, valid_until, ttl, entity, metadata)
        return drive(self._keeper.remember(text_or_messages, keeping))

    async def aremember(
        self,
        text_or_messages: str | BaseMessage | Sequence[Any],
        *,
        scope: MemoryScope,
        created_at: Moment | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        ttl: Duration | None = None,
        entity: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> list[str]:
        """`remember`, awaited."""
        keeping = self._keeping(scope, created_at, valid_from, valid_until, ttl, entity, metadata)
        return await adrive(self._keeper.remember(text_or_messages, keeping))

    def index(self, log: MessageLog, session_id: str, *, scope: MemoryScope) -> int:
        """Keep what a session of a log has beyond the cursor, each finished round once.

        A round whose answer has not come yet waits. How far the log was read is kept beside the episodes, written after
        them: a process that dies in between, or an embedding model that fails, delays an episode and neither loses
        nor doubles it, and an episode that was forgotten does not come back.

        Args:
            log: The log.
            session_id: The session of the log.
            scope: Whose it is; where it names no session, the episodes belong to the session `session_id`.

        Returns:
            How many episodes are new.
        """
        return drive(Indexer.of(self._keeper, log, session_id, checked_scope(scope)).index())

    async def aindex(self, log: MessageLog, session_id: str, *, scope: MemoryScope) -> int:
        """`index`, awaited."""
        return await adrive(Indexer.of(self._keeper, log, session_id, checked_scope(scope)).index())

    def take(self, handed_on: EpisodeHandedOn, *, scope: MemoryScope) -> str:
        """Keep what left the summary of a session for good, as an episode of the kind "summary", once.

        ```python
        SummaryMemory(on_handoff=lambda event: memory.take(event, scope=ada))
        ```

        Args:
            handed_on: What the summary tier hands on.
            scope: Whose it is; where it names no session, the episode belongs to the summary's.

        Returns:
            The episode's id.
        """
        return drive(self._keeper.take(handed_on, checked_scope(scope)))

    async def atake(self, handed_on: EpisodeHandedOn, *, scope: MemoryScope) -> str:
        """`take`, awaited."""
        return await adrive(self._keeper.take(handed_on, checked_scope(scope)))

    def supersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """Let an episode take the place of another: from then on the old one is true no more.

        The old one is kept; `as_of` a time before then still finds it.

        Args:
            old_id: The episode that is true no more.
            new_id: The one that takes its place.
            scope: Whose they are.
            at: From when on; from when the new one is true if not given.

        Raises:
            ValueError: One of them does not exist in the scope, or they are the same.
        """
        drive(supersede(self._keeper, old_id, new_id, checked_scope(scope), at))

    async def asupersede(self, old_id: str, new_id: str, *, scope: MemoryScope, at: Moment | None = None) -> None:
        """`supersede`, awaited."""
        await adrive(supersede(self._keeper, old_id, new_id, checked_scope(scope), at))

    def forget(self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False) -> int:
        """Delete episodes for good: some of a scope, or all of it.

        Args:
            ids: Which; all of the scope if not given.
            scope: Whose they are: of one session, or of all sessions of the user.
            cursors: Also forget how far logs were read, which is right where the log is erased too. Otherwise `index`
                would bring back what is still in the log.

        Returns:
            How many episodes there were, and are no more.
        """
        return drive(forget(self._keeper, ids, checked_scope(scope), cursors=cursors))

    async def aforget(
        self, ids: str | Sequence[str] | None = None, *, scope: MemoryScope, cursors: bool = False
    ) -> int:
        """`forget`, awaited."""
        return await adrive(forget(self._keeper, ids, checked_scope(scope), cursors=cursors))

    def reindex(self, embeddings: Embeddings | None = None) -> int:
        """Write the whole collection anew: with another embedding model, or after a change of the text analysis.

        The old collection stands until the new one is whole. Nobody else should write meanwhile: what is noticed of it
        stops the change. Afterwards this memory works with the model that it was given.

        Args:
            embeddings: The model; the memory's own if not given.

        Returns:
            How many episodes were written.
        """
        return drive(rebuild(self._keeper, self._shelf.embeddings if embeddings is None else embeddings))

    async def areindex(self, embeddings: Embeddings | None = None) -> int:
        """`reindex`, awaited."""
        return await adrive(rebuild(self._keeper, self._shelf.embeddings if embeddings is None else embeddings))

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
            explain: Say in the metadata what each score is made of.
            timeout: Seconds after which the answer must be here, from Milvus and the embedding model together; the
                memory's own if not given. (An embedding model that hangs is not interrupted.)

        Returns:
            Documents with the content word for word. Their metadata are what was given with them, and `id`, `score` (0
            to 1), `kind`, `session`, `round`, `first` and `last` (numbers in the log), `created_at`, `valid_from`,
            `valid_until`, `superseded_by`, `outdated_by` (a newer near-duplicate that says something else), `entity`,
            and with `explain` `explain`. Times are texts in ISO 8601, UTC.

        Raises:
            MemoryStoreError: Milvus does not answer in time.
        """
        given = {name: value for name, value in locals().items() if name not in {"self", "query"}}
        return drive(recall(self._keeper, self._asked(query, **given)))

    async def arecall(  # noqa: PLR0913  # as above
        self,
        query: str,
        *,
        scope: MemoryScope,
        k: int = 5,
        as_of: Moment | None = None,
        max_age: Duration | None = None,
        include_expired: bool = False,
        filter: Filter | None = None,  # noqa: A002  # as above
        rounds: tuple[int | None, int | None] | None = None,
        created_from: Moment | None = None,
        created_to: Moment | None = None,
        entity: str | None = None,
        kinds: Sequence[str] | None = None,
        explain: bool = False,
        timeout: float | None = None,  # noqa: ASYNC109  # of Milvus, and not of the task
    ) -> list[Document]:
        """`recall`, awaited."""
        given = {name: value for name, value in locals().items() if name not in {"self", "query"}}
        return await adrive(recall(self._keeper, self._asked(query, **given)))

    def get(self, ids: Sequence[str], *, scope: MemoryScope) -> list[Episode]:
        """Episodes by their ids, in that order, true now or not; those that are not there are left out."""
        return drive(get(self._keeper, ids, checked_scope(scope)))

    async def aget(self, ids: Sequence[str], *, scope: MemoryScope) -> list[Episode]:
        """`get`, awaited."""
        return await adrive(get(self._keeper, ids, checked_scope(scope)))

    def count(self, scope: MemoryScope) -> int:
        """How many episodes a scope has, true now or not."""
        return drive(count(self._keeper, checked_scope(scope)))

    async def acount(self, scope: MemoryScope) -> int:
        """`count`, awaited."""
        return await adrive(count(self._keeper, checked_scope(scope)))

    def behind(self, log: MessageLog, session_id: str, *, scope: MemoryScope, timeout: float | None = None) -> int:
        """How many messages of finished rounds a log has that `index` has not read yet; 0 when nothing is missing.

        Args:
            log: The log.
            session_id: The session of the log.
            scope: As for `index`.
            timeout: Seconds that Milvus may take for one call; the memory's own if not given.
        """
        return drive(Indexer.of(self._keeper, log, session_id, checked_scope(scope)).behind(timeout))

    async def abehind(
        self,
        log: MessageLog,
        session_id: str,
        *,
        scope: MemoryScope,
        timeout: float | None = None,  # noqa: ASYNC109  # of Milvus, and not of the task
    ) -> int:
        """`behind`, awaited."""
        return await adrive(Indexer.of(self._keeper, log, session_id, checked_scope(scope)).behind(timeout))

    def export(self, scope: MemoryScope) -> Iterator[Episode]:
        """Every episode of a scope, true now or not, read piece by piece; `Episode.to_dict` makes JSON of it."""
        where = all_of(checked_scope(scope))
        collection = drive(self._shelf.found())
        joiner = Joiner()
        for page in collection.pages(where) if collection is not None else ():
            yield from map(episode_of, joiner.joined(page))
        yield from map(episode_of, joiner.rest())

    async def aexport(self, scope: MemoryScope) -> AsyncIterator[Episode]:
        """`export`, awaited."""
        where = all_of(checked_scope(scope))
        collection = await adrive(self._shelf.found())
        joiner = Joiner()
        if collection is not None:
            async for page in collection.apages(where):
                for row in joiner.joined(page):
                    yield episode_of(row)
        for row in joiner.rest():
            yield episode_of(row)

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

    # --- opening and closing ------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the connections; the next call opens them again. Closing twice is fine."""
        drive(self._shelf.closing())

    async def aclose(self) -> None:
        """`close`, awaited."""
        await adrive(self._shelf.closing())

    # --- algorithms ---------------------------------------------------------------------------------------------------

    def _keeping(self, scope: MemoryScope, *said: Any) -> Keeping:  # noqa: ANN401  # the arguments of remember, in order
        names = ("created_at", "valid_from", "valid_until", "ttl", "entity", "metadata")
        return Keeping(scope=checked_scope(scope), **dict(zip(names, said, strict=True)))

    def _asked(
        self,
        query: str,
        *,
        scope: MemoryScope,
        k: int,
        explain: bool,
        timeout: float | None,
        as_of: Moment | None,
        **conditions: Any,  # noqa: ANN401  # the other arguments of recall
    ) -> Recall:
        given: Any = query
        if not isinstance(given, str):
            msg = f"query is a text, got {type(query).__name__}: {query!r:.80}"
            raise TypeError(msg)
        if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= _MOST:
            msg = f"k is a whole number from 1 to {_MOST:,}, got {k!r}"
            raise ValueError(msg)
        now = now_of(self._keeper.clock)
        at = now if as_of is None else in_utc(as_of, "as_of")
        return Recall(
            query=query,
            scope=checked_scope(scope),
            where=where_of(scope, now, as_of=as_of, **conditions),
            k=k,
            now=micros_of(at),
            explain=explain,
            half_life=self._half_life,
            deadline=time.monotonic() + (self._timeout if timeout is None else seconds_of(timeout, "timeout")),
        )
