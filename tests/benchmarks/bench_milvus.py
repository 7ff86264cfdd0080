"""What episodes in Milvus cost: writing and recalling, by the size of the collection, beside bare pymilvus.

Run by `make bench BENCH=milvus`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_milvus.py`, with
names of parts (`turns`, `lite`, `server`, `tenants`) for these only; all take about half an hour, most of it writing.

Times on Milvus Lite are CPU milliseconds of this process, which is where it runs. A server computes elsewhere, so there
they are milliseconds of the clock, after the first search of what was just written. What is compared stands in one run:
the bare search takes turns with ours on the same collection, flushed, with the same filter on the user.
"""

from __future__ import annotations

import functools
import logging
import os
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from langchain_tiered_memory.episodic import milvus_lite
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings, model_name_of
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.rows import Row
from langchain_tiered_memory.types import MemoryScope
from support import milvus_server
from support.collection_conformance import Collection

SIZES = (100, 1_000, 10_000, 100_000)
USERS = 100
AT_EACH_SIZE = 60
TURNS = 1_000
RECALLS = int(os.environ.get("RECALLS", "100000"))
"""Of the hostile tenants."""
KINDS = ("round", "text", "summary")
WORDS = [
    f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in ("mer", "lin", "tos", "ka", "rune", "vel", "do")
]


@functools.cache
def embeddings() -> LocalEmbeddings:
    """The model that needs nothing."""
    return LocalEmbeddings()


def text(rng: random.Random, words: int = 30) -> str:
    """Words as they come in a text: few of them often, many of them seldom."""
    return " ".join(WORDS[min(int(rng.paretovariate(0.7)) - 1, len(WORDS) - 1)] for _ in range(words))


def scope_of(number: int) -> MemoryScope:
    """One of the users."""
    return MemoryScope(user=f"user {number % USERS}")


def filled(collection: Collection, start: int, end: int) -> None:
    """Write rows in bulk, as an index of many logs would."""
    rng = random.Random(start)
    for begin in range(start, end, 1_000):
        numbers = range(begin, min(begin + 1_000, end))
        texts = [text(rng) for _ in numbers]
        vectors = embeddings().embed_documents(texts)
        rows = [
            Row(
                id=f"bulk-{n}",
                user_key=scope_of(n).user_key,
                tenant="default",
                user=scope_of(n).user,
                number=n // USERS + 1,
                kind="round",
                content=said,
                terms=said,
                vector=vector,
                created_at=n,
            )
            for n, said, vector in zip(numbers, texts, vectors, strict=True)
        ]
        collection.upsert(rows)


class Clock:
    """Times one piece of work."""

    def __init__(self, *, cpu: bool) -> None:
        self._now = time.process_time if cpu else time.perf_counter

    def milliseconds(self, work: Callable[[], object]) -> float:
        """How long it takes."""
        start = self._now()
        work()
        return (self._now() - start) * 1_000


def by_size(uri: str, *, cpu: bool) -> bool:
    """What writing and recalling cost as the collection grows."""
    clock = Clock(cpu=cpu)
    rng = random.Random(1)
    model = embeddings()
    memory = EpisodicMemory(uri, embeddings=model)
    collection = Collection(uri, dimension=model.dimension, model=model_name_of(model), timeout=120)
    collection.opened()
    raw = collection.connection._client.client
    figures: dict[str, list[float]] = {"write": [], "recall": [], "rows": [], "bare": []}
    size = 0
    for wanted in SIZES:
        filled(collection, size, wanted)
        size = wanted
        writes = [
            clock.milliseconds(lambda n=n: memory.remember(text(rng), scope=scope_of(n))) for n in range(AT_EACH_SIZE)
        ]
        raw.flush("episodes")
        taken: dict[str, list[float]] = {"recall": [], "rows": [], "bare": []}
        for n in range(AT_EACH_SIZE):
            scope, question = scope_of(n), text(rng, 6)
            vector = model.embed_query(question)
            where = Where.of(scope, kinds=KINDS, valid_at=10**15)
            bare = functools.partial(
                raw.search,
                "episodes",
                [vector],
                filter=f'user_key == "{scope.user_key}"',
                limit=10,
                anns_field="vector",
                output_fields=["content"],
            )
            rows = functools.partial(collection.search, where, vector=vector, terms=question, limit=50)
            recall = functools.partial(memory.recall, question, scope=scope)
            if n == 0:  # what was just written has to arrive, and caches are filled
                bare(), rows(), recall()
            for name, work in (("bare", bare), ("rows", rows), ("recall", recall)):
                taken[name].append(clock.milliseconds(work))
        figures["write"].append(statistics.median(writes))
        for name, times in taken.items():
            figures[name].append(statistics.median(times))
        row(
            f"{wanted:,} records: a write, embedding included",
            figures["write"][-1],
            "<= 20",
            reached=figures["write"][-1] <= 20,
        )
        row("  a recall", figures["recall"][-1])
        row("  of it, a search of 50 by vector and 50 by words", figures["rows"][-1])
        row("  a bare search, filtered, of 10", figures["bare"][-1])
    memory.close()
    collection.close()
    ten, hundred = SIZES.index(10_000), SIZES.index(100_000)
    beside = figures["recall"][ten] / figures["bare"][ten]
    grown = figures["recall"][hundred] / figures["recall"][ten]
    flat = figures["write"][hundred] / figures["write"][0]
    met = row("recall / bare search at 10,000 records", beside, "<= 3", reached=beside <= 3)
    met &= row("recall at 100,000 / at 10,000 records", grown, "<= 3", reached=grown <= 3)
    met &= row("write at 100,000 / at 100 records", flat, "<= 1.5", reached=flat <= 1.5)
    return met & all(write <= 20 for write in figures["write"])


def turns(folder: Path) -> bool:
    """Write, recall, write, recall: flushed as we do it, and as Milvus Lite does it by default, at 128 MB."""
    print(f"\n{TURNS:,} turns of write and recall, Milvus Lite, one user, CPU seconds")
    rng = random.Random(2)
    model = embeddings()
    said = [(text(rng), text(rng, 6)) for _ in range(TURNS)]
    scope = scope_of(1)

    def spent(name: str) -> float:
        start = time.process_time()
        with EpisodicMemory(str(folder / name), embeddings=model) as memory:
            for statement, question in said:
                memory.remember(statement, scope=scope)
                memory.recall(question, scope=scope)
        return time.process_time() - start

    ours = spent("ours.db")
    row("EpisodicMemory", ours)
    flushed_at = milvus_lite.LOOSE_IN_PARTITION, milvus_lite.LOOSE_IN_COLLECTION
    milvus_lite.LOOSE_IN_PARTITION = milvus_lite.LOOSE_IN_COLLECTION = sys.maxsize
    default = spent("default.db")
    milvus_lite.LOOSE_IN_PARTITION, milvus_lite.LOOSE_IN_COLLECTION = flushed_at
    row("the same, never flushed", default)
    return row("never flushed / flushed", default / ours, ">= 4", reached=default / ours >= 4)


HOSTILE = (
    '{}"',
    "{}\\",
    '{}" or 1==1 or "',
    "{}') or ('",
    "{}.{}",
    "Ünï中文😀 {}",
    "{}\n",
    "{}\x00",
    "{}\ud800",
    "{}" * 500,
)


def tenants(folder: Path) -> bool:
    """Nobody finds another's, and an erasure takes nobody else's."""
    rng = random.Random(3)
    scopes = [MemoryScope(user=HOSTILE[n % len(HOSTILE)].replace("{}", str(n)), tenant='t"') for n in range(USERS)]
    print(f"\n{RECALLS:,} recalls of {USERS} tenants with hostile names, Milvus Lite")
    foreign = 0
    with Collection(str(folder / "tenants.db"), dimension=16, model="random") as collection:
        rows = [
            Row(
                id=f"{n}-{k}",
                user_key=scope.user_key,
                user=scope.user,
                terms="same",
                vector=[rng.gauss(0, 1) for _ in range(16)],
            )
            for k in range(20)
            for n, scope in enumerate(scopes)
        ]
        collection.upsert(rows)
        vectors = [[rng.gauss(0, 1) for _ in range(16)] for _ in range(97)]
        for n in range(RECALLS):
            scope = scopes[n % USERS]
            terms = "same" if n % 10 == 0 else None
            hits = collection.search(Where.of(scope), vector=vectors[n % len(vectors)], terms=terms, limit=5)
            foreign += sum(one.user != scope.user for one, _ in hits.dense)
            foreign += sum(one.episode.partition("-")[0] != str(n % USERS) for one, _ in hits.lexical)
            if len(hits.dense) != 5:
                foreign += 1
        met = row("foreign or missing records", foreign, "0", reached=foreign == 0)
        erased = collection.delete(Where.of(scopes[4]))
        left = [collection.count(Where.of(scope)) for scope in scopes]
    wrong = sum(count != (0 if n == 4 else 20) for n, count in enumerate(left)) + (erased != 20)
    return met & row("wrong counts after an erasure", wrong, "0", reached=wrong == 0)


@contextmanager
def server() -> Iterator[str]:
    """A server of our own, or the one that is named by TIERED_MEMORY_MILVUS_URI."""
    if known := os.environ.get("TIERED_MEMORY_MILVUS_URI"):
        yield known
        return
    with tempfile.TemporaryDirectory() as folder, milvus_server.running(Path(folder)) as started:
        yield started.uri


def row(name: str, value: float, target: str = "", *, reached: bool | None = None) -> bool:
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<56}{value:>10.2f}  {target:>8}  {verdict}".rstrip(), flush=True)
    return reached is not False


def main(parts: list[str]) -> int:
    """Print the tables; the exit code is 1 if a target was missed."""
    warnings.filterwarnings("ignore", message=".*holds no index of words")
    logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        if not parts or "turns" in parts:
            results.append(turns(Path(folder)))
        if not parts or "lite" in parts:
            print("\nMilvus Lite, by the number of records, CPU milliseconds, medians")
            results.append(by_size(str(Path(folder) / "lite.db"), cpu=True))
        if not parts or "server" in parts:
            with server() as uri:
                print(f"\nMilvus server {milvus_server.VERSION}, by the number of records, milliseconds, medians")
                results.append(by_size(uri, cpu=False))
        if not parts or "tenants" in parts:
            results.append(tenants(Path(folder)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
