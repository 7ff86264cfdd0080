"""What can be evaluated, each behind the same two verbs: tell it what was said, ask it a question."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Final, Protocol, TypeAlias, runtime_checkable

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import VectorStoreRetriever

from langchain_tiered_memory.evaluation.cases import MemoryRecord
from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "CallableTarget",
    "EpisodicTarget",
    "FactTarget",
    "MemoryTarget",
    "RetrieverTarget",
    "outputs_of",
]

Told: TypeAlias = Iterable[tuple[MemoryRecord, ...]]
Values: TypeAlias = Mapping[str, Any]

RECORD_KEY: Final = "record_id"
"""Where a document's metadata name the record it holds; without it the document's own id does."""
_ANSWERS: Final = frozenset(("ids", "texts", "context", "tokens"))
"""What a function's answer holds at least one of."""


@runtime_checkable
class MemoryTarget(Protocol):
    """Something that is told messages and asked questions.

    `evaluate` makes one of whatever it is given; write one for a memory that is none of these.
    """

    @property
    def name(self) -> str:
        """What it is called in a report."""

    @property
    def workers(self) -> int | None:
        """How many threads may ask it at a time; `None` for any number."""

    def tell(self, units: Told) -> None:
        """Write what was said, each unit as one; telling it again changes nothing."""

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Answer a question: see `evaluation.metrics` for both dicts. A unit is named by its first record."""


# --- tiers ------------------------------------------------------------------------------------------------------------


class EpisodicTarget:
    """An `EpisodicMemory`, or what has its `remember`, `supersede` and `recall`.

    Args:
        memory: The memory. It is told everything with its times, and asked `as_of` the moment of each question, so that
            no clock of its own matters.
        name: What it is called in a report.
        validity: Whether it is told when something ends or is superseded, and asked for what is true. Without, it is
            what an application has that stores and searches: the difference is what validity saves.
        workers: How many threads may ask it at a time.
    """

    def __init__(
        self,
        memory: Any,  # noqa: ANN401  # by what it can do
        *,
        name: str | None = None,
        validity: bool = True,
        workers: int | None = None,
    ) -> None:
        self.name = name or "episodic memory"
        self.workers = workers
        self._memory = memory
        self._validity = validity
        self._records: dict[str, str] = {}
        self._episodes: dict[str, str] = {}

    def without_validity(self, name: str | None = None) -> EpisodicTarget:
        """The same memory, asked for whatever it holds, true or not; tell it only once."""
        other = EpisodicTarget(self._memory, name=name, validity=False, workers=self.workers)
        other._records, other._episodes = self._records, self._episodes
        return other

    def tell(self, units: Told) -> None:
        """Remember each unit as an episode; what was said at one time goes in one call."""
        for _, group in groupby(units, key=lambda unit: _told_together(unit[0])):
            self._remember(list(group))

    def _remember(self, group: Sequence[tuple[MemoryRecord, ...]]) -> None:
        first = group[0][0]
        validity = {"valid_until": first.valid_until} if self._validity and first.valid_until is not None else {}
        messages = [record.to_message() for unit in group for record in unit]
        ids = self._memory.remember(messages, scope=first.scope, created_at=first.at, entity=first.entity, **validity)
        if len(ids) != len(group):
            msg = (
                f"the memory made {len(ids)} episodes of {len(group)} units told at {first.at.isoformat()}: begin each "
                "unit with a user's message that is not empty, or evaluate with unit='round'"
            )
            raise ValueError(msg)
        for unit, episode in zip(group, ids, strict=True):
            self._records[episode] = unit[0].id
            self._episodes.update((record.id, episode) for record in unit)
        if self._validity:
            for unit in group:
                self._supersede(unit)

    def _supersede(self, unit: Sequence[MemoryRecord]) -> None:
        for record in unit:
            old = self._episodes.get(record.supersedes or "")
            if old is not None:
                self._memory.supersede(old, self._episodes[record.id], scope=record.scope.whole_user(), at=record.at)

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Recall."""
        return outputs_of(self._memory.recall(inputs["question"], **self._asked(inputs)), self._records)

    async def aask(self, inputs: Values) -> dict[str, Any]:
        """Recall, awaited."""
        return outputs_of(await self._memory.arecall(inputs["question"], **self._asked(inputs)), self._records)

    def _asked(self, inputs: Values) -> dict[str, Any]:
        when = {"as_of": inputs["as_of"]} if self._validity else {"include_expired": True}
        return {"scope": inputs["scope"], "k": inputs["k"], **when}


def _told_together(record: MemoryRecord) -> tuple[Any, ...]:
    return record.scope, record.at, record.valid_until, record.entity


class FactTarget:
    """A `FactStore`, or what has its `put` and `get`: told the facts of the records, asked by entity and attribute.

    A record without an attribute is not told, and a question without one gets no answer.

    Args:
        store: The store.
        name: What it is called in a report.
        workers: How many threads may ask it at a time.
    """

    def __init__(self, store: Any, *, name: str | None = None, workers: int | None = None) -> None:  # noqa: ANN401  # as above
        self.name = name or "fact store"
        self.workers = workers
        self._store = store

    def tell(self, units: Told) -> None:
        """Put each fact, with the record as its source."""
        for unit in units:
            for record in unit:
                if record.attribute is not None:
                    self._store.put(
                        record.scope.whole_user(),
                        record.entity or "user",
                        record.attribute,
                        record.text if record.value is None else record.value,
                        valid_from=record.at,
                        valid_until=record.valid_until,
                        source=[record.id],
                    )

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Get the fact that held at the moment of the question."""
        if inputs.get("attribute") is None:
            return {"ids": [], "texts": []}
        scope: MemoryScope = inputs["scope"]
        fact = self._store.get(
            scope.whole_user(), inputs.get("entity") or "user", inputs["attribute"], as_of=inputs["as_of"]
        )
        if fact is None:
            return {"ids": [], "texts": []}
        source = fact.source
        ids = [source] if isinstance(source, str) else list(source or ())
        return {"ids": ids, "texts": [str(fact.value)] * len(ids)}


# --- LangChain --------------------------------------------------------------------------------------------------------


class RetrieverTarget:
    """Any LangChain retriever. One over a vector store is told the records; any other is taken as filled already.

    A document is known by `metadata["record_id"]`, or by its id. The scope goes with the run's `configurable`, as
    `user_id`, `tenant_id` and `session_id`.

    Args:
        retriever: The retriever.
        name: What it is called in a report.
        by_user: Filters for a vector store's search, made of a scope; without it the retriever's own are used.
        workers: How many threads may ask it at a time.
    """

    def __init__(
        self,
        retriever: BaseRetriever,
        *,
        name: str | None = None,
        by_user: Callable[[MemoryScope], dict[str, Any]] | None = None,
        workers: int | None = None,
    ) -> None:
        self.name = name or type(retriever).__name__
        self.workers = workers
        self._retriever = retriever
        self._by_user = by_user

    def tell(self, units: Told) -> None:
        """Add each unit to the vector store as a document."""
        if not isinstance(self._retriever, VectorStoreRetriever):
            return
        for batch in _batches(units, 256):
            documents = [_document(unit) for unit in batch]
            self._retriever.add_documents(documents, ids=[str(document.id) for document in documents])

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Retrieve; of a retriever that takes no k all documents count that it returns."""
        config, settings = self._asked(inputs)
        return outputs_of(self._retriever.invoke(inputs["question"], config, **settings))

    async def aask(self, inputs: Values) -> dict[str, Any]:
        """Retrieve, awaited."""
        config, settings = self._asked(inputs)
        return outputs_of(await self._retriever.ainvoke(inputs["question"], config, **settings))

    def _asked(self, inputs: Values) -> tuple[RunnableConfig, dict[str, Any]]:
        scope: MemoryScope = inputs["scope"]
        configurable = {"user_id": scope.user, "tenant_id": scope.tenant, "session_id": scope.session}
        settings: dict[str, Any] = {}
        if isinstance(self._retriever, VectorStoreRetriever):
            settings = {"k": inputs["k"]} | (self._by_user(scope) if self._by_user else {})
        return {"configurable": configurable}, settings


class CallableTarget:
    """A function of `inputs`, as LangSmith calls a target: it gives ids, Documents, or a dict of outputs.

    Args:
        function: Called with a dict of `question`, `k`, `scope` and `as_of`. It is taken as filled already, unless
            `tell` is given. It may be async, for `aevaluate`.
        name: What it is called in a report.
        tell: Called once with the units, each a tuple of records.
        workers: How many threads may call it at a time.
    """

    def __init__(
        self,
        function: Callable[[Values], Any],
        *,
        name: str | None = None,
        tell: Callable[[Told], None] | None = None,
        workers: int | None = None,
    ) -> None:
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.workers = workers
        self._function = function
        self._is_async = any(map(inspect.iscoroutinefunction, (function, getattr(function, "__call__", None))))  # noqa: B004  # of an object
        self._tell = tell

    def tell(self, units: Told) -> None:
        """Hand the units on."""
        if self._tell is not None:
            self._tell(units)

    def ask(self, inputs: Values) -> dict[str, Any]:
        """Call the function."""
        if self._is_async:
            msg = f"{self.name} is async: use aevaluate"
            raise TypeError(msg)
        return self._outputs(self._function(inputs))

    async def aask(self, inputs: Values) -> dict[str, Any]:
        """Call the function, awaited if it is async, in a thread if it is not."""
        if self._is_async:
            return self._outputs(await self._function(inputs))
        return await asyncio.to_thread(self.ask, inputs)

    def _outputs(self, answer: Any) -> dict[str, Any]:  # noqa: ANN401  # whatever a function gives
        if isinstance(answer, Mapping) and _ANSWERS & answer.keys() and not isinstance(answer.get("ids"), str):
            return {**answer, "ids": [str(one) for one in answer.get("ids") or ()]}
        if isinstance(answer, str | Mapping) or not isinstance(answer, Iterable):
            msg = f"{self.name} answered {answer!r:.200}: give a list of ids or Documents, or a dict with such 'ids'"
            raise TypeError(msg)
        return outputs_of(list(answer))


def _document(unit: Sequence[MemoryRecord]) -> Document:
    first = unit[0]
    text = first.text if len(unit) == 1 else "\n".join(f"{one.speaker or one.role}: {one.text}" for one in unit)
    about = {RECORD_KEY: first.id, "user": first.scope.user, "tenant": first.scope.tenant, "at": first.at.isoformat()}
    return Document(text, id=first.id, metadata=about)


def outputs_of(found: Sequence[Any], records: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Ids and texts of what came back, ids or Documents.

    Args:
        found: What came back.
        records: Record ids by the ids of a store's own.

    Raises:
        ValueError: Nothing says which record a document is.
    """
    known = records or {}
    ids, texts = [], []
    for one in found:
        if isinstance(one, Document):
            own = one.id or str(one.metadata.get("id", ""))
            name = str(one.metadata.get(RECORD_KEY) or known.get(own, own))
            if not name:
                msg = f"the document {one.page_content!r:.80} has no id: set it, or metadata[{RECORD_KEY!r}]"
                raise ValueError(msg)
            ids.append(name)
            texts.append(one.page_content)
        else:
            ids.append(known.get(str(one), str(one)))
            texts.append("")
    return {"ids": ids, "texts": texts}


def _batches(units: Told, size: int) -> Iterator[list[tuple[MemoryRecord, ...]]]:
    batch: list[tuple[MemoryRecord, ...]] = []
    for unit in units:
        batch.append(unit)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
