"""Recalls the episodes that answer a question: one search, one look at the neighbours, one order."""

from __future__ import annotations

import re
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import asdict, replace
from datetime import datetime
from itertools import islice
from typing import Any, Final

from langchain_core.documents import Document

from langchain_tiered_memory.episodic.analysis import search_text
from langchain_tiered_memory.episodic.embeddings import embed_question, kind_of, model_name_of
from langchain_tiered_memory.episodic.episode import (
    EPISODE_KINDS,
    OWN_FIELDS,
    Episode,
    episode_of,
    speakers_in,
    told_in,
)
from langchain_tiered_memory.episodic.filters import Among, Where
from langchain_tiered_memory.episodic.milvus_reading import CollectionReader, Hits, LexicalHit
from langchain_tiered_memory.episodic.provider import MemoryContext
from langchain_tiered_memory.episodic.question import Question
from langchain_tiered_memory.episodic.ranking import NEIGHBOURS, POOL, Candidate, Cosines, Query, Ranked, Weights, rank
from langchain_tiered_memory.episodic.rows import Row, join_parts, part_id
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EpisodesRecalled, RecallDegraded

__all__ = ["document_of", "recall"]

_FEWEST: Final = 10
_NEIGHBOURLY: Final = 50
"""Of more hits than this the neighbours are not read: they would not come up to the best."""

_NO_WORD: Final = re.compile(r"[\W_]+")
_ASKS: Final = re.compile("[?？؟]")
_DIGIT: Final = re.compile(r"\d")
_SPACES: Final = 2
_CHARACTERS: Final = 5
"""The least of a statement, in spaces between words or in characters: what is shorter ("yes") means something else
each time."""
_SAMPLE: Final = 64
"""So many stored vectors tell what cosines a model gives; ids are hashes, so the first by id are a random choice."""
_ACKNOWLEDGED: Final = 60
"""Characters of what may be no more than an acknowledgement."""


async def recall(context: MemoryContext, asked: Question, *, half_life: float | None = None) -> list[Document]:
    """The episodes that answer a question, best first.

    Args:
        context: Of the memory.
        asked: The question.
        half_life: Seconds after which an episode counts half of a new one; `None`: age does not count.

    Raises:
        MemoryStoreError: Milvus does not answer in time, or cannot be searched.
    """
    started = time.perf_counter()
    if not asked.query.strip():
        return []
    query = Query.of(asked.query)
    vector, failure = await _vector(context, asked)
    collection = await context.provider.for_search(context.caller, vector, asked.seconds_left())
    if collection is None:
        return []
    if failure is not None and not (await collection.opened()).bm25:
        raise failure
    found = _Found()
    found.add(
        await collection.search(
            asked.where,
            vector=vector,
            terms=search_text(query.terms),
            limit=_pool(asked.k),
            timeout=asked.seconds_left(),
        )
    )
    await _read_around(collection, found, vector, asked)
    ranked = rank(
        query,
        found.candidates(context.unnamed),
        kind=kind_of(context.provider.embeddings),
        cosines=None if vector is None else await _cosines(context, collection, found, asked),
        now=asked.now if half_life is not None else None,
        half_life=half_life,
    )
    ranked = [one for one in ranked if one.score >= asked.min_score]
    if asked.where.valid_at is not None:  # else it is asked what was said when
        ranked = found.without_restatements(ranked)
    ranked = ranked[: asked.k]
    rows = await _whole(collection, found, ranked, asked)
    documents = [document_of(episode_of(rows[one.candidate.id]), one, explain=asked.explain) for one in ranked]
    event = EpisodesRecalled(
        session_id=asked.scope.session or "",
        tenant_id=asked.scope.tenant,
        user_id=asked.scope.user,
        ids=tuple(str(document.id) for document in documents),
        seconds=time.perf_counter() - started,
    )
    await context.emit(event)
    return documents


def _pool(k: int) -> int:
    """How many hits to ask for by vector, and by words.

    A few do for a few: of each, Milvus Lite takes 0.2 ms. For 5 episodes, 12 hits of each kind find 69.6 % of LoCoMo's
    evidence, 25 find 69.9 %, 100 find 70.4 % (LocalEmbeddings).
    """
    return max(k, min(POOL, max(_FEWEST, 2 + 2 * k)))


async def _vector(context: MemoryContext, asked: Question) -> tuple[list[float] | None, MemoryStoreError | None]:
    """The question's vector; none, and why, where the model fails: words still find what they can."""
    embeddings = context.provider.embeddings
    if embeddings is None:
        return None, None
    try:
        return await embed_question(context.caller, embeddings, asked.query), None
    except MemoryStoreError as error:
        event = RecallDegraded(
            session_id=asked.scope.session or "",
            tenant_id=asked.scope.tenant,
            user_id=asked.scope.user,
            error=error,
        )
        await context.emit(event)
        return None, error


async def _cosines(context: MemoryContext, collection: CollectionReader, found: _Found, asked: Question) -> Cosines:
    """What cosines the embedding model gives random pairs of what is stored; measured again when there is more."""
    embeddings = context.provider.embeddings
    name = "" if embeddings is None else model_name_of(embeddings)
    known = context.cosines.get(name)
    if known is None or (known.vectors < _SAMPLE and len(found.rows) > 2 * known.vectors):
        where = Where(user_key=asked.scope.user_key, kinds=EPISODE_KINDS, part=0)
        async with aclosing(collection.pages(where, size=_SAMPLE)) as pages:
            ids = [row.id for row in await anext(pages, [])]
        rows = await collection.fetch(ids, user_key=asked.scope.user_key, vectors=True, timeout=asked.seconds_left())
        vectors = [row.vector for row in rows if row.vector is not None]
        known = context.cosines[name] = Cosines.of(vectors, Weights.of(kind_of(embeddings)).cosines)
    return known


# --- candidates -------------------------------------------------------------------------------------------------------


class _Found:
    """The rows that searches gave, by episode: of a long one any part may have been found."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self._first: dict[str, Row] = {}
        self._lexical_hits: dict[str, LexicalHit] = {}
        self._dense: dict[str, float] = {}
        self._lexical: dict[str, float] = {}

    def add(self, hits: Hits) -> None:
        """Take in what a search gave."""
        self.add_rows([row for row, _ in hits.dense])
        for row, score in hits.dense:
            self._dense[row.episode] = score
        for hit, score in hits.lexical:
            self._lexical_hits[hit.episode] = hit
            self._lexical[hit.episode] = score

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Take in rows that were read."""
        for row in rows:
            self.rows[row.id] = row
            known = self._first.get(row.episode)
            if known is None or row.part < known.part:
                self._first[row.episode] = row

    def candidates(self, unnamed: Collection[str]) -> list[Candidate]:
        """Each episode once, with both of its scores."""
        found = []
        for episode, row in self._first.items():
            hit = self._lexical_hits.get(episode)
            other = None if hit is None or hit.id == row.id else self.rows.get(hit.id)
            # A text in no session is a note: what was noted before and after it, weeks apart, says nothing of it.
            alone = not row.number or (row.kind == "text" and not row.session_key)
            candidate = Candidate(
                id=episode,
                thread="" if alone else row.session_key or row.user_key,
                number=row.number,
                text=row.content,
                # Its terms, and those of the part of the episode that words found, if that is another.
                terms=row.terms if other is None else f"{row.terms} {other.terms}",
                created_at=row.created_at,
                dense=self._dense.get(episode),
                lexical=self._lexical.get(episode),
                speakers=speakers_in(row, unnamed),
                entity=row.entity,
                told=told_in(row),
            )
            found.append(candidate)
        return found

    def unread(self) -> tuple[str, ...]:
        """The episodes of which only words are known."""
        return tuple(episode for episode in self._lexical_hits if episode not in self._first)

    def later_parts(self) -> list[str]:
        """The rows that words found and that are no first parts, which are all that is read otherwise."""
        return [hit.id for hit in self._lexical_hits.values() if hit.id not in self.rows]

    def without_restatements(self, ranked: Sequence[Ranked]) -> list[Ranked]:
        """The best with each statement once, in its newest wording: eight times the same would leave no room for more.

        A round is the same statement again if the user said the same words, asked nothing, and got no more than a word
        of acknowledgement: a short answer without a number.
        """
        newest: dict[tuple[str, ...], Ranked] = {}
        kept: list[tuple[str, ...] | Ranked] = []
        for one in ranked:
            row = self._first[one.candidate.id]
            speaker, said, answers = _user_and_others(row)
            words = _NO_WORD.sub(" ", said.casefold()).strip()
            short = words.count(" ") < _SPACES if words.isascii() else len(words) < _CHARACTERS
            if short or _ASKS.search(said) or len(answers) > _ACKNOWLEDGED or _DIGIT.search(answers):
                kept.append(one)
                continue
            statement = (speaker, words, row.entity)
            if statement not in newest:
                kept.append(statement)
                newest[statement] = one
            elif one.candidate.created_at > newest[statement].candidate.created_at:
                newest[statement] = replace(one, score=newest[statement].score)
        return [newest[one] if isinstance(one, tuple) else one for one in kept]

    def around(self, count: int) -> Among:
        """The rows to read: what only its words found, and neighbours of the best.

        Args:
            count: How many of the best by vector, and how many of the best by words.
        """
        found: dict[str, Row | LexicalHit] = {**self._lexical_hits, **self._first}
        known = {(one.session_key, one.number) for one in found.values()}
        wanted: dict[str, set[int]] = {}
        for scores in (self._dense, self._lexical):
            for episode in islice(scores, count):  # the best come first
                one = found[episode]
                for number in range(max(1, one.number - NEIGHBOURS), one.number + NEIGHBOURS + 1):
                    if one.number and (one.session_key, number) not in known:
                        wanted.setdefault(one.session_key, set()).add(number)
        return Among(self.unread(), tuple((session, tuple(sorted(numbers))) for session, numbers in wanted.items()))


def _user_and_others(row: Row) -> tuple[str, str, str]:
    """Who the user was in a round, what they said, and what others answered; of a text that is no round, all of it.

    A long round, of which only the beginning is read, was answered at length.
    """
    spans = row.metadata.get(OWN_FIELDS, {}).get("said", ())
    if not spans or row.parts > 1:
        return ("", row.content, "") if row.kind == "text" and row.parts == 1 else ("", "", row.content)
    who, said, answers, start = "", "", "", 0
    for role, speaker, length in spans:
        start += len(speaker) + len(": ")
        text = f"{row.content[start : start + length]}\n"
        who, said, answers = (speaker, said + text, answers) if role == "user" else (who, said, answers + text)
        start += length + len("\n")
    return who, said, answers


async def _read_around(
    collection: CollectionReader, found: _Found, vector: list[float] | None, asked: Question
) -> None:
    """Read what words found, and what stands around the best hits, with its cosines: neighbours are answers too."""
    among = found.around(min(_NEIGHBOURLY, 5 + asked.k))
    where = replace(asked.where, among=among, part=0)
    if among and vector is not None:
        found.add(await collection.search(where, vector=vector, limit=len(among), timeout=asked.seconds_left()))
        where = replace(where, among=Among(found.unread()))  # what the embedding model knew nothing of has no vector
    if where.among:
        found.add_rows(await collection.select(where, timeout=asked.seconds_left()))
    if later := found.later_parts():
        user_key = asked.scope.user_key
        found.add_rows(await collection.fetch(later, user_key=user_key, timeout=asked.seconds_left()))


async def _whole(
    collection: CollectionReader, found: _Found, ranked: Sequence[Ranked], asked: Question
) -> dict[str, Row]:
    """The rows of the best, those of several parts put together."""
    parts: dict[str, list[Row]] = {one.candidate.id: [] for one in ranked}
    for row in found.rows.values():
        if row.episode in parts:
            parts[row.episode].append(row)
    missing = [
        part_id(episode, part)
        for episode, rows in parts.items()
        for part in range(rows[0].parts)
        if part_id(episode, part) not in found.rows
    ]
    if missing:
        user_key = asked.scope.user_key
        for row in await collection.fetch(missing, user_key=user_key, timeout=asked.seconds_left()):
            parts[row.episode].append(row)
    return {episode: join_parts(rows) for episode, rows in parts.items()}


# --- what is given ----------------------------------------------------------------------------------------------------


def document_of(episode: Episode, ranked: Ranked | None = None, *, explain: bool = False) -> Document:
    """An episode as LangChain's Document: the user's metadata, and what is known of it beside them; times as text."""
    known: dict[str, Any] = {
        **episode.metadata,
        "id": episode.id,
        "kind": episode.kind,
        "session": episode.scope.session,
        "round": episode.round,
        "created_at": _iso(episode.created_at),
        "valid_from": _iso(episode.valid_from),
        "valid_until": None if episode.valid_until is None else _iso(episode.valid_until),
        "superseded_by": episode.superseded_by,
        "entity": episode.entity,
    }
    if episode.first:
        known |= {"first": episode.first, "last": episode.last}
    if ranked is not None:
        known |= {"score": ranked.score, "outdated_by": ranked.outdated_by}
        if explain:
            known["explain"] = asdict(ranked.parts)
    return Document(episode.content, id=episode.id, metadata=known)


def _iso(moment: datetime) -> str:
    """One width for all, so that texts sort as times do."""
    return moment.isoformat(timespec="microseconds")
