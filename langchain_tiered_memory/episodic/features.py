"""What a candidate has to do with a question, as features from 0 to 1: of words, of meaning, of who and what it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, TypeAlias

from langchain_tiered_memory.episodic.analysis import terms_of
from langchain_tiered_memory.episodic.bm25 import best_of_thread, bm25, idf_of, term_counts, with_neighbours
from langchain_tiered_memory.episodic.languages import language_file, languages, matches

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

__all__ = ["FEATURES", "NEIGHBOURS", "Candidate", "Cosines", "Query", "features", "speakers_of"]

NEIGHBOURS: Final = 2
"""How many episodes before and after a hit, in its thread, a store should deliver with it."""
FEATURES: Final = (
    "own", "around", "coverage", "pairs", "cosine", "smoothed", "speaker", "session", "asks", "answers", "length",
    "time", "number", "place",
)  # fmt: skip
"""What a score is made of; see `features`."""

_SHORT: Final = 300.0  # characters; a longer text leans less on what stands around it
_LONG: Final = 25.0  # words; a longer text tells no more for that
_UNKNOWN: Final = 0.2  # the quantile of the known cosines that stands for one that the store did not tell
_FEW: Final = 8  # vectors that are no sample yet
_READ: Final = 2_000  # characters of a text that tell what kind of text it is
_PREFIX: Final = re.compile(r"([^\W\d_][^:\n]{0,39}):\s")
_WORD: Final = re.compile(r"\w+")
_SENTENCE: Final = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
_ASKING: Final = {"time": "asks_when", "number": "asks_number", "place": "asks_place"}


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
        told: How many characters of the text are the user's, before what others answered; `None` for all.
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
    told: int | None = None

    def words(self) -> Sequence[str]:
        """Its terms, one by one."""
        return self.terms.split() if isinstance(self.terms, str) else self.terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question and its search terms."""

    text: str
    terms: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> Query:
        """The query of a text."""
        return cls(text=text, terms=tuple(terms_of(text)))


@dataclass(frozen=True, slots=True)
class Cosines:
    """What cosines an embedding model gives texts that have nothing to do with each other.

    Models differ in this as in nothing else: those of some lie within 0.1, of others within 0.6.

    Attributes:
        middle: The median over random pairs.
        spread: From the 1st percentile to the 99th.
        vectors: Of how many vectors they are.
    """

    middle: float
    spread: float
    vectors: int = 0

    @classmethod
    def of(cls, vectors: Sequence[Sequence[float]], usual: Cosines) -> Cosines:
        """Those of the pairs of some vectors; of few vectors, mixed with what is usual.

        Args:
            vectors: Of texts chosen at random, each of length 1.
            usual: What stands for `_FEW` vectors more.
        """
        import numpy as np  # noqa: PLC0415  # comes with the extra, and takes time to import

        count = len(vectors)
        if count < 2:  # noqa: PLR2004  # no pair
            return replace(usual, vectors=count)
        table = np.asarray(vectors, dtype=float)
        pairs = (table @ table.T)[np.triu_indices(count, 1)]
        low, middle, high = np.quantile(pairs, (0.01, 0.5, 0.99)).tolist()
        share = count / (count + _FEW)
        return cls(
            share * middle + (1 - share) * usual.middle,
            share * (high - low) + (1 - share) * usual.spread,
            count,
        )


def features(query: Query, pool: Sequence[Candidate], cosines: Cosines) -> Floats:
    """What each candidate has of each of `FEATURES`, from 0 to 1.

    * own, around: BM25 of its words, and of those of its window of neighbours, as a share of the best candidate's. A
      long text leans on itself and not on its neighbours.
    * coverage: which share of the question's words it has, each weighed by how rare it is.
    * pairs: which share of the question's pairs of neighbouring words.
    * cosine, smoothed: of its own vector, and the mean of its window, from what random pairs have (0) to 0.8 of their
      spread above it (1).
    * speaker: the question names who speaks. session: the mean of the best three of its session.
    * asks: which share of it are questions. answers: somebody else asked just before. length: logarithm of its words,
      up to 25.
    * time, number, place: the question asks when, how many or where, and a time, a number or a place is in it.

    Args:
        query: The question.
        pool: Candidates, sorted by thread and number.
        cosines: Of random pairs of the embedding model.
    """
    import numpy as np  # noqa: PLC0415  # as above

    names = {name: n for n, name in enumerate(dict.fromkeys(one.thread for one in pool if one.thread))}
    threads = np.array([names.get(one.thread, -1 - n) for n, one in enumerate(pool)])  # what has none is alone
    numbers = np.array([one.number for one in pool])

    def window(values: Floats) -> Floats:
        return with_neighbours(values, threads, numbers, NEIGHBOURS)

    texts = [one.words() for one in pool]
    counts, lengths = term_counts(tuple(dict.fromkeys(query.terms)), texts)
    idf = idf_of(counts)
    most = float(idf.sum()) or 1.0
    leaning = np.minimum(1.0, _SHORT / np.array([len(one.text) or 1 for one in pool]))
    result = np.zeros((len(pool), len(FEATURES)))
    of = {name: result[:, n] for n, name in enumerate(FEATURES)}  # views
    of["own"][:] = _of_best(bm25(counts, lengths, idf))
    around = _of_best(bm25(window(counts), window(lengths), idf))
    of["around"][:] = leaning * around + (1 - leaning) * of["own"]
    of["coverage"][:] = (counts > 0) @ idf / most
    wanted = set(pairwise(query.terms))
    if wanted:
        of["pairs"][:] = [len(wanted.intersection(pairwise(one))) / len(wanted) for one in texts]
    base = of["own"] + of["around"]
    if (dense := _cosines(pool)) is not None:
        width = 0.8 * cosines.spread or 1.0
        smooth = window(dense) / window(np.ones(len(pool)))
        of["cosine"][:] = np.clip((dense - cosines.middle) / width, 0, 1)
        smooth = np.clip((smooth - cosines.middle) / width, 0, 1)
        of["smoothed"][:] = leaning * smooth + (1 - leaning) * of["cosine"]
        base = base + of["cosine"] + of["smoothed"]
    speakers = [speakers_of(one.speakers, one.text) for one in pool]
    named = named_in(query.text, (name for one in speakers for name in one))
    of["speaker"][:] = [not named.isdisjoint(one) for one in speakers]
    base = (base / (2 if dense is None else 4) + 0.2 * of["speaker"]) / 1.2
    of["session"][:] = best_of_thread(np.where([one.hit for one in pool], base, 0.0), threads)
    traits = [traits_of(one.text[:_READ]) for one in pool]
    of["asks"][:] = [one.asking for one in traits]
    for n in range(1, len(pool)):
        of["answers"][n] = (
            traits[n - 1].asks
            and traits[n].asking < 1
            and pool[n - 1].thread == pool[n].thread != ""
            and pool[n - 1].number == pool[n].number - 1
            and speakers[n - 1] != speakers[n]
        )
    of["length"][:] = [one.length for one in traits]
    for name in ("time", "number", "place"):
        if matches(_ASKING[name], query.text):
            of[name][:] = [getattr(one, name) for one in traits]
    return result


def _of_best(scores: Floats) -> Floats:
    return scores / (float(scores.max(initial=0.0)) or 1.0)


def _cosines(pool: Sequence[Candidate]) -> Floats | None:
    """The cosine of each candidate, a low one for those that the store did not tell; `None` if it told none."""
    import numpy as np  # noqa: PLC0415  # as above

    known = np.array([np.nan if one.dense is None else one.dense for one in pool])
    missing = np.isnan(known)
    return None if missing.all() else np.where(missing, np.quantile(known[~missing], _UNKNOWN), known)


@dataclass(frozen=True, slots=True)
class Traits:
    """What kind of text a text is.

    Attributes:
        asks: Whether it ends with a question.
        asking: Which share of it are questions.
        length: The logarithm of its words, 1 for `_LONG` and more.
        time: Whether it says a time.
        number: Whether it says a number.
        place: Whether it says a place.
    """

    asks: bool
    asking: float
    length: float
    time: bool
    number: bool
    place: bool


@lru_cache(maxsize=8_192)
def traits_of(text: str) -> Traits:
    """What kind of text a text is, by the patterns of its language."""
    language = language_file(text)
    spoken = _PREFIX.sub("", text, count=1)
    sentences = [one for one in _SENTENCE.findall(spoken) if _WORD.search(one)]
    asking = [one.rstrip().endswith(("?", "？")) for one in sentences]
    whole = sum(map(len, sentences)) or 1
    words = len(spoken) / language.letters
    return Traits(
        asks=bool(asking) and asking[-1],
        asking=sum(len(one) for one, asks in zip(sentences, asking, strict=True) if asks) / whole,
        length=min(1.0, math.log1p(words) / math.log1p(_LONG)),
        time=language.patterns["time"].search(spoken) is not None,
        number=language.patterns["number"].search(spoken) is not None,
        place=language.patterns["place"].search(spoken) is not None,
    )


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
        if first.lower() in languages()["en"].stop_words:
            named = first in words[1:]
        else:  # a script without spaces has no words to compare
            named = first.lower() in lower or (not first.isascii() and name in question)
        if named:
            found.add(name)
    return found
