"""Puts what a store found by meaning and by words into one order: pure functions, no model, no network, no clock.

What a store should deliver for one question, inside the filter of the question:

1. the `POOL` nearest episodes by vector and the `POOL` best by words;
2. the episodes at most `NEIGHBOURS` before and after each of these in its session (those of the best 50 do);
3. the cosine of *every* one of them, also of those found by words and of the neighbours (a second search by vector that
   is restricted to them tells it). Neighbours are answers too, as often as not the better ones: somebody asks, and the
   next one tells. A row outside the filter may be delivered with `hit=False`: it lends score and is never an answer.

The order is that of a sum of features, each from 0 to 1 (`features`), whose weights were learned
(tools/train_ranking.py, `weights/`). The score is the logistic of the sum, the chance that a candidate answers: it
means the same for every question and collection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from typing import Final, Literal, TypeAlias

from langchain_tiered_memory.episodic.conflicts import DEPTH, Statement, newest_first
from langchain_tiered_memory.episodic.features import (
    FEATURES,
    NEIGHBOURS,
    Candidate,
    Cosines,
    Query,
    features,
    speakers_of,
)

__all__ = [
    "MIN_SCORE",
    "NEIGHBOURS",
    "POOL",
    "Candidate",
    "Cosines",
    "Kind",
    "Query",
    "Ranked",
    "ScoreParts",
    "Weights",
    "rank",
]

Kind: TypeAlias = Literal["none", "static", "transformer"]
"""The kind of embedding model: none, one of words without their order, or one that reads sentences."""

POOL: Final = 100
"""How many hits a store should deliver by vector, and how many by words."""
MIN_SCORE: Final = 0.0001
"""The least score of what goes into a request: what shares nothing with the question has less.

A record without a word or a meaning of the question scores about 0.00001 with LocalEmbeddings and 0.00003 by words
alone; one that only means the same in other words may score no more than 0.0002.
"""

_READ: Final = 2_000  # characters of a text that are compared


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreParts:
    """What a score is made of: `1 / (1 + exp(-(start + the parts))) * recency`.

    Attributes:
        start: What an episode that has nothing of the question begins with.
        dense: What its meaning gives, by itself and with its neighbours.
        lexical: What its own words give.
        neighbour: What the words of its neighbours give.
        speaker: For a speaker whom the question names.
        thread: For the best episodes of its session.
        form: For what it is: an answer, a question, long or short, a time where the question asks when.
        recency: Below 1 for its age (`half_life`), above 1 where it takes the place of an older statement.
    """

    start: float = 0.0
    dense: float = 0.0
    lexical: float = 0.0
    neighbour: float = 0.0
    speaker: float = 0.0
    thread: float = 0.0
    form: float = 0.0
    recency: float = 1.0


_PARTS: Final[Mapping[str, tuple[str, ...]]] = {
    "dense": ("cosine", "smoothed"),
    "lexical": ("own", "coverage", "pairs"),
    "neighbour": ("around",),
    "speaker": ("speaker",),
    "thread": ("session",),
    "form": ("asks", "answers", "length", "time", "number", "place"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """A candidate in its place.

    Attributes:
        candidate: The candidate.
        score: The chance that it answers, from 0 to 1.
        parts: What the score is made of.
        outdated_by: The id of a newer candidate that says that this is no longer so; `None` if there is none.
    """

    candidate: Candidate
    score: float
    parts: ScoreParts = field(default_factory=ScoreParts)
    outdated_by: str | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """What was learned for one kind of embedding model.

    Attributes:
        features: The weight of each of `FEATURES`.
        start: What is added to the sum.
        cosines: What is usual of such a model.
    """

    features: Mapping[str, float]
    start: float
    cosines: Cosines

    @classmethod
    def of(cls, kind: Kind) -> Weights:
        """The weights that come with the package."""
        return _weights(kind)


@cache
def _weights(kind: str) -> Weights:
    data = json.loads((files(__package__) / "weights" / f"{kind}.json").read_text(encoding="utf-8"))
    return Weights(data["features"], data["start"], Cosines(**data["cosines"]))


def rank(
    query: Query | str,
    candidates: Sequence[Candidate],
    *,
    k: int | None = None,
    kind: Kind | None = None,
    cosines: Cosines | None = None,
    weights: Weights | None = None,
    now: int | None = None,
    half_life: float | None = None,
) -> list[Ranked]:
    """The candidates that answer a query best, best first.

    Args:
        query: The question.
        candidates: What the store found, neighbours included, in any order, each id once.
        k: How many to give; all if not given.
        kind: Of the embedding model; where no cosine is known it is "none" anyway.
        cosines: What cosines the embedding model gives random pairs; what is usual of its kind if not given.
        weights: What each feature weighs; those of the kind if not given.
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
    if all(one.dense is None for one in candidates):
        kind = "none"
    weights = weights or Weights.of(kind or "transformer")
    pool = sorted(candidates, key=lambda one: (one.thread, one.number, one.id))
    table = features(query, pool, cosines or weights.cosines)
    given = table * np.array([weights.features.get(name, 0.0) for name in FEATURES])
    recency = np.ones(len(pool))
    if half_life is not None and now is not None:
        ages = np.array([max(0, now - one.created_at) for one in pool]) / 1e6
        recency = np.exp2(-ages / half_life)
    scores = recency / (1 + np.exp(-(weights.start + given.sum(axis=1))))
    order = sorted(
        (n for n, one in enumerate(pool) if one.hit), key=lambda n: (-scores[n], -pool[n].created_at, pool[n].id)
    )[: k if k is None else max(k, DEPTH)]
    columns = {part: [FEATURES.index(name) for name in names] for part, names in _PARTS.items()}
    ranked = []
    for n in order:
        parts = {part: float(given[n, places].sum()) for part, places in columns.items()}
        said = ScoreParts(start=weights.start, recency=float(recency[n]), **parts)
        ranked.append(Ranked(candidate=pool[n], score=float(scores[n]), parts=said))
    return _newest_first(query, ranked, pool)[:k]


def _newest_first(query: Query, ranked: list[Ranked], pool: Sequence[Candidate]) -> list[Ranked]:
    """The same order, but for statements near its top that a newer one outdates or equals."""
    best = [
        Statement(
            text=one.text[: one.told][:_READ],
            terms=one.words(),
            created_at=one.created_at,
            thread=one.thread,
            number=one.number,
            speakers=frozenset(speakers_of(one.speakers, one.text)),
            entity=one.entity,
        )
        for one in (one.candidate for one in ranked[:DEPTH])
    ]
    result = ranked[DEPTH:]
    for place, by in reversed(list(newest_first(best, query.text, (one.words() for one in pool)))):
        one = ranked[place]
        if result and one.score < result[0].score:  # it takes the place, and the score, of an older one
            recency = one.parts.recency * result[0].score / (one.score or 1.0)
            one = replace(one, score=result[0].score, parts=replace(one.parts, recency=recency))
        result.insert(0, one if by is None else replace(one, outdated_by=ranked[by].candidate.id))
    return result
