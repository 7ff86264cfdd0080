"""Arithmetic over a pool of candidates: BM25, of each by itself and with its neighbours, and what evens scores out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["K1", "best_of_thread", "bm25", "idf_of", "term_counts", "with_neighbours"]

_THREAD_TOP: Final = 3  # so many of a thread's best episodes speak for the thread
_LEAST: Final = 50  # texts that a pool is taken to have: of two texts, words say nothing about how rare they are
K1: Final = 0.9
"""How soon more of the same word tells no more. Low, since what people say to each other is short."""
B: Final = 0.3
"""How much a long text is held against it."""


def term_counts(query: Sequence[str], texts: Sequence[Sequence[str]]) -> tuple[Floats, Floats]:
    """How often each text has each term of a query, and how many terms each text has."""
    import numpy as np  # noqa: PLC0415  # comes with the extra, and takes time to import

    counts = np.zeros((len(texts), len(query)))
    if query:
        for row, known in enumerate(map(Counter, texts)):
            counts[row] = [known.get(term, 0) for term in query]
    return counts, np.array([len(terms) for terms in texts], dtype=float)


def idf_of(counts: Floats) -> Floats:
    """How much each term tells, from how many texts of the pool have it; most where none has.

    The pool stands for the scope: a rare word's texts are all in it, as they are the best hits. The collection's own
    figures would be of all users together, and worth no more: in one scope of 5,882 turns 1 point less at 5 and 10.
    """
    import numpy as np  # noqa: PLC0415  # as above

    having = np.count_nonzero(counts, axis=0)
    size = max(len(counts), _LEAST)
    idf: Floats = np.log1p((size - having + 0.5) / (having + 0.5))
    return idf


def bm25(counts: Floats, lengths: Floats, idf: Floats) -> Floats:
    """The BM25 score of each text (Robertson and Zaragoza 2009, equation 3.15, with Lucene's idf, never negative)."""
    usual = float(lengths.mean()) or 1.0
    slack = K1 * (1 - B + B * lengths / usual)
    scores: Floats = (counts * (K1 + 1) / (counts + slack[:, None])) @ idf
    return scores


def with_neighbours(values: Floats, threads: NDArray[np.int64], numbers: NDArray[np.int64], reach: int) -> Floats:
    """Each row's values, and added to them those of the rows at most `reach` before and after it in its thread.

    Args:
        values: One row per text, sorted by thread and number.
        threads: The thread of each; below 0 for none, which has no neighbours.
        numbers: The place of each in its thread.
        reach: How far apart neighbours may be.
    """
    import numpy as np  # noqa: PLC0415  # as above

    total = values.copy()
    for step in range(1, reach + 1):
        tied = (threads[step:] == threads[:-step]) & (threads[step:] >= 0) & (numbers[step:] - numbers[:-step] <= reach)
        first = np.flatnonzero(tied)
        total[first] += values[first + step]
        total[first + step] += values[first]
    return total


def best_of_thread(scores: Floats, threads: NDArray[np.int64]) -> Floats:
    """For each candidate the mean of the best scores of its thread; a thread of fewer has zeros for the others."""
    import numpy as np  # noqa: PLC0415  # as above

    order = np.lexsort((-scores, threads))
    starts = np.flatnonzero(np.r_[True, np.diff(threads[order]) != 0])
    sizes = np.diff(np.r_[starts, len(order)])
    place = np.arange(len(order)) - np.repeat(starts, sizes)
    means = np.add.reduceat(np.where(place < _THREAD_TOP, scores[order], 0.0), starts) / _THREAD_TOP
    result = np.empty(len(scores))
    result[order] = np.repeat(means, sizes)
    return result
