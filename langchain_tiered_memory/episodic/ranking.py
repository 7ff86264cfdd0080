"""Puts what a store found by meaning and by words into one order: pure functions, no model, no network, no clock.

What a store should deliver for one question, inside the filter of the question:

1. the `POOL` nearest episodes by vector and the `POOL` best by words;
2. the episodes at most `NEIGHBOURS` before and after each of these in its session (those of the best 50 do);
3. the cosine of *every* one of them, also of those found by words and of the neighbours (a second search by vector that
   is restricted to them tells it). Neighbours are answers too, as often as not the better ones: somebody asks, and the
   next one tells. A row outside the filter may be delivered with `hit=False`: it lends score and is never an answer.

What is left out costs recall and nothing breaks; `Weights` says how much.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from langchain_tiered_memory.episodic.analysis import terms_of
from langchain_tiered_memory.episodic.bm25 import (
    best_of_thread,
    bm25,
    idf_of,
    stretched,
    term_counts,
    with_neighbours,
)
from langchain_tiered_memory.episodic.conflicts import DEPTH, Statement, replacements, says_change
from langchain_tiered_memory.episodic.stopwords import STOP_WORDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["NEIGHBOURS", "POOL", "Candidate", "Query", "Ranked", "ScoreParts", "Weights", "rank"]

POOL: Final = 100
"""How many hits a store should deliver by vector, and how many by words."""
NEIGHBOURS: Final = 2
"""How many episodes before and after a hit, in its thread, a store should deliver with it."""

_SHORT: Final = 300.0  # characters; a longer text leans less on what stands around it
_SPREAD: Final = 0.4  # the least range of cosines that is stretched to [0, 1]
_PREFIX: Final = re.compile(r"([^\W\d_][^:\n]{0,39}):\s")
_WORD: Final = re.compile(r"\w+")
_UNKNOWN: Final = 0.2  # the quantile of the known cosines that stands for one that the store did not tell


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An episode that may be an answer, as a store delivered it.

    Attributes:
        id: Its primary key.
        thread: What it has neighbours in: a session; "" for none.
        number: Its place in the thread, counted by one: neighbours are number ± 1, ± 2.
        text: Its content, verbatim.
        terms: Its search terms as stored: a list, or one text with spaces between them.
        created_at: When it happened, in microseconds since 1970, UTC.
        dense: The cosine of its vector with the query's; `None` where the store did not tell.
        lexical: The store's BM25 score; `None` where the store did not tell. Words are counted again from `terms`, so
            that hits and neighbours are on one scale; a store of another mind about BM25 ranks the same.
        hit: Whether it may be an answer; False for a row outside the filter that lends score to its neighbours.
        speakers: Who says it: names in the messages' metadata. Without any, a "NAME:" before the text is one.
        entity: What it is about, as the application said; "" for nothing.
    """

    id: str
    text: str
    terms: Sequence[str] | str
    created_at: int
    thread: str = ""
    number: int = 0
    dense: float | None = None
    lexical: float | None = None
    hit: bool = True
    speakers: Sequence[str] = ()
    entity: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and its search terms."""

    text: str
    terms: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Query:
        """The query of a text."""
        return cls(text=text, terms=tuple(terms_of(text)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """What a score is made of: `(dense + lexical + neighbour + speaker + thread) * recency`.

    Attributes:
        dense: What its own meaning gives.
        lexical: What its own words give.
        neighbour: What it and its neighbours give together.
        speaker: For a speaker whom the question names.
        thread: For the best episodes of its session.
        recency: Below 1 for its age (`half_life`), above 1 where it takes the place of an older statement.
    """

    dense: float = 0.0
    lexical: float = 0.0
    neighbour: float = 0.0
    speaker: float = 0.0
    thread: float = 0.0
    recency: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        candidate: The candidate.
        score: How well it answers beside the others, from 0 to 1. Scores of two questions are not comparable.
        parts: What the score is made of.
        outdated_by: The id of a newer candidate that says something else about the same; `None` if there is none.
    """

    candidate: Candidate
    score: float
    parts: ScoreParts = field(default_factory=ScoreParts)
    outdated_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each part weighs; the parts in use are scaled so that a score lies in [0, 1].

    Chosen on the first five conversations of LoCoMo and checked on the other five (tests/benchmarks/bench_locomo.py).
    Scores are added and not ranks: with a small embedding model reciprocal rank fusion of equal weights is worse than
    words alone. Recall at 5 / 10 with all-MiniLM-L6-v2, in one series that began with half of `lexical` for the window:
    71.7 / 80.8; with 0.4 of it 71.2 / 80.0, with 0.6 72.5 / 81.2; one neighbour instead of two 70.2 / 79.4; cosines of
    the hits by vector alone 70.9 / 80.2, and 68.0 / 78.2 if their range is stretched however small it is. Neighbours
    that lend score but are no answers: 89.4 at 50 instead of 92.4. The collection's idf for the pool's, in one scope of
    5,882 turns: 69.1 / 78.1 instead of 70.1 / 79.1. The speaker gives 3 to 4 points at 10 where an answer needs several
    turns.

    Attributes:
        lexical: BM25 of an episode's own words and of its window of neighbours.
        dense: The cosine of its own vector.
        neighbour: The mean cosine of its window.
        window: Which share of `lexical` the window has.
        speaker: A speaker whom the question names.
        thread: The mean of the best three of its session.
    """

    lexical: float = 0.55
    dense: float = 0.225
    neighbour: float = 0.225
    window: float = 0.6
    speaker: float = 0.16
    thread: float = 0.2


@dataclass(frozen=True, slots=True)
class _Pool:
    """Candidates sorted by thread and place, as columns."""

    candidates: list[Candidate]
    threads: NDArray[np.int64]
    numbers: NDArray[np.int64]
    hits: NDArray[np.bool_]
    counts: Floats
    lengths: Floats
    idf: Floats
    dense: Floats | None
    sizes: Floats
    speakers: list[Sequence[str]]
    terms: dict[str, Sequence[str]]


def rank(
    query: Query | str,
    candidates: Sequence[Candidate],
    *,
    k: int | None = None,
    weights: Weights | None = None,
    now: int | None = None,
    half_life: float | None = None,
) -> list[Ranked]:
    """The candidates that answer a query best, best first.

    Args:
        query: The question.
        candidates: What the store found, neighbours included, in any order, each id once.
        k: How many to give; all if not given.
        weights: What each part weighs; `Weights()` if not given.
        now: The present in microseconds since 1970, UTC, for `half_life`.
        half_life: Seconds after which an episode counts half of a new one; `None`: age does not count.

    Raises:
        ValueError: `half_life` is given without `now`, or is not above 0.
    """
    import numpy as np  # noqa: PLC0415  # comes with the extra, and takes time to import

    if half_life is not None and (now is None or not half_life > 0):
        msg = f"half_life={half_life!r} with now={now!r}: give seconds above 0, and the present to count from"
        raise ValueError(msg)
    if isinstance(query, str):
        query = Query.of(query)
    if not any(one.hit for one in candidates):
        return []
    weights = weights or Weights()
    pool = _pool_of(query, candidates)
    parts = _parts(query, pool, weights)
    scores = parts.sum(axis=1)
    recency = np.ones(len(scores))
    if half_life is not None and now is not None:
        ages = np.array([max(0, now - one.created_at) for one in pool.candidates]) / 1e6
        recency = np.exp2(-ages / half_life)
    scores = scores * recency
    order = sorted(
        np.flatnonzero(pool.hits).tolist(),
        key=lambda n: (-scores[n], -pool.candidates[n].created_at, pool.candidates[n].id),
    )
    ranked = [_ranked(pool.candidates[n], parts[n].tolist(), float(recency[n])) for n in order]
    return _newest_first(query, ranked, pool)[:k]


def _newest_first(query: Query, ranked: list[Ranked], pool: _Pool) -> list[Ranked]:
    """The same order, but for statements near its top that a newer one replaces: the newer takes the older's place."""
    best = [
        Statement(
            terms=pool.terms[one.candidate.id],
            created_at=one.candidate.created_at,
            thread=one.candidate.thread,
            number=one.candidate.number,
            speakers=frozenset(speakers_of(one.candidate.speakers, one.candidate.text)),
            entity=one.candidate.entity,
            changes=says_change(one.candidate.text),
        )
        for one in ranked[:DEPTH]
    ]
    above: dict[int, list[int]] = {}  # the older ones that a newer one stands below
    outdated: dict[int, int] = {}  # the newest of those that replace an older one
    for newer, older in replacements(best, query.terms, pool.terms.values()):
        if older < newer:
            above.setdefault(newer, []).append(older)
        known = outdated.get(older)
        if known is None or best[newer].is_newer(best[known]):
            outdated[older] = newer
    order: list[int] = []
    scores: dict[int, float] = {}
    for n in range(len(best)):
        place = min((order.index(older) for older in above.get(n, ())), default=len(order))
        scores[n] = scores[order[place]] if place < len(order) else ranked[n].score
        order.insert(place, n)
    result = [_raised(ranked[n], scores[n]) if n in above else ranked[n] for n in order]
    for place, n in enumerate(order):
        if n in outdated:
            result[place] = replace(result[place], outdated_by=ranked[outdated[n]].candidate.id)
    return result + ranked[len(best) :]


def _raised(one: Ranked, score: float) -> Ranked:
    """A candidate with the score of the older statement whose place it takes."""
    factor = score / one.score if one.score else 1.0
    return replace(one, score=score, parts=replace(one.parts, recency=one.parts.recency * factor))


def _ranked(candidate: Candidate, parts: list[float], recency: float) -> Ranked:
    lexical, dense, neighbour, speaker, thread = parts
    return Ranked(
        candidate=candidate,
        score=min(1.0, sum(parts) * recency),
        parts=ScoreParts(
            dense=dense, lexical=lexical, neighbour=neighbour, speaker=speaker, thread=thread, recency=recency
        ),
    )


def _pool_of(query: Query, candidates: Sequence[Candidate]) -> _Pool:
    """The candidates as columns."""
    import numpy as np  # noqa: PLC0415  # as above

    rows = sorted(candidates, key=lambda one: (one.thread, one.number, one.id))
    names = {name: n for n, name in enumerate(dict.fromkeys(one.thread for one in rows if one.thread))}
    # What has no thread is alone: each its own number below 0.
    threads = [names.get(one.thread, -1 - n) for n, one in enumerate(rows)]
    texts = [one.terms.split() if isinstance(one.terms, str) else one.terms for one in rows]
    counts, lengths = term_counts(tuple(dict.fromkeys(query.terms)), texts)
    known = np.array([np.nan if one.dense is None else one.dense for one in rows])
    missing = np.isnan(known)
    dense = None if missing.all() else np.where(missing, np.quantile(known[~missing], _UNKNOWN), known)
    return _Pool(
        candidates=rows,
        threads=np.array(threads),
        numbers=np.array([one.number for one in rows]),
        hits=np.array([one.hit for one in rows]),
        counts=counts,
        lengths=lengths,
        idf=idf_of(counts),
        dense=dense,
        terms={one.id: terms for one, terms in zip(rows, texts, strict=True)},
        speakers=[speakers_of(one.speakers, one.text) for one in rows],
        sizes=np.array([len(one.text) or 1 for one in rows], dtype=float),
    )


def _of_words(scores: Floats) -> Floats:
    """BM25 scores in [0, 1]: 0 for no word, not for the least of a small pool, in which only lengths may differ."""
    return scores / (float(scores.max(initial=0.0)) or 1.0)


def _parts(query: Query, pool: _Pool, weights: Weights) -> Floats:
    """What each candidate has of each part, weighed, in the order of `_ranked`."""
    import numpy as np  # noqa: PLC0415  # as above

    def window(values: Floats) -> Floats:
        return with_neighbours(values, pool.threads, pool.numbers, NEIGHBOURS)

    own = _of_words(bm25(pool.counts, pool.lengths, pool.idf))
    around = _of_words(bm25(window(pool.counts), window(pool.lengths), pool.idf))
    leaning = np.minimum(1.0, _SHORT / pool.sizes)
    lexical = weights.lexical * (1 - weights.window * leaning) * own
    neighbour = weights.lexical * weights.window * leaning * around
    dense = np.zeros(len(own))
    total = weights.lexical
    if pool.dense is not None:
        smooth = window(pool.dense) / window(np.ones(len(own)))
        dense = (weights.dense + weights.neighbour * (1 - leaning)) * stretched(pool.dense, _SPREAD)
        neighbour = neighbour + weights.neighbour * leaning * stretched(smooth, _SPREAD)
        total += weights.dense + weights.neighbour
    parts = np.stack([lexical, dense, neighbour], axis=1) / (total or 1.0)
    named = named_in(query.text, (name for names in pool.speakers for name in names))
    speaker = weights.speaker * np.array([not named.isdisjoint(names) for names in pool.speakers], dtype=float)
    base = parts.sum(axis=1) + speaker
    thread = weights.thread * best_of_thread(np.where(pool.hits, base, 0.0), pool.threads)
    most = 1 + (weights.speaker if named else 0.0)
    most += weights.thread * most
    result: Floats = np.column_stack([parts, speaker, thread]) / most
    return result


# --- who speaks ----------------------------------------------------------------------------------------------------


def speakers_of(names: Sequence[str], text: str) -> Sequence[str]:
    """Who says a text: the names it came with, or the one that stands before it."""
    if names:
        return names
    match = _PREFIX.match(text)
    return (match[1],) if match else ()


def named_in(question: str, names: Iterable[str]) -> set[str]:
    """The names that a question has, whole or by their first word.

    A name that is a function word too ("Will") counts where it looks like a name: with its capital, and not at the
    beginning.
    """
    words = _WORD.findall(question)
    lower = {word.lower() for word in words}
    found = set()
    for name in dict.fromkeys(names):
        match = _WORD.search(name)
        if match is None:
            continue
        first = match[0]
        if first.lower() in STOP_WORDS["english"]:
            named = first in words[1:]
        else:  # a script without spaces has no words to compare
            named = first.lower() in lower or (not first.isascii() and name in question)
        if named:
            found.add(name)
    return found
