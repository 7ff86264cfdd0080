"""What the episode collection does on every Milvus; one body for the sync and the async methods.

A test module derives `CollectionConformance` and gives the fixture `collection`, of 8 dimensions. Tests share it: each
has users of its own.
"""

from __future__ import annotations

import math
import random
import threading
from dataclasses import replace
from uuid import uuid4

import pytest

from langchain_tiered_memory._sync import AWAITING, BLOCKING, iterate_sync, run_sync
from langchain_tiered_memory._times import FOREVER
from langchain_tiered_memory.episodic.filters import Among, Condition, Where
from langchain_tiered_memory.episodic.milvus import EpisodeCollection
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection
from langchain_tiered_memory.episodic.rows import LONGEST_CONTENT, Row, join_parts, part_id, split_parts
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.types import MemoryScope

DIMENSION = 8
MODEL = "compass"

HOSTILE = [
    'a"b',
    "a\\",
    '" or 1==1 or "',
    '") or (user_key != "',
    "' or ''=='",
    "a.b.c",
    "%",
    "a\nb\r\tc",
    "Ünï→中文😀",
    "\ud800",
    "nul\x00nul",
    "\ufdd0d800",
    "x" * 4_000,
    "{user_key}",
    "true",
    "id in []",
]


OPENING = """
from langchain_tiered_memory._sync import BLOCKING, run_sync
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.milvus import EpisodeCollection
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection
from langchain_tiered_memory.errors import MemoryStoreError

def open_(uri, name="episodes"):
    connection = MilvusConnection(uri)
    return connection, EpisodeCollection(connection, BLOCKING, name, dimension=8, model="compass")

"""
"""Opens a collection in a process of its own."""


class Collection:
    """A collection whose coroutines are run at once; with an `a` before the name they are awaited."""

    def __init__(self, uri, *, name="episodes", dimension=DIMENSION, model=MODEL, timeout=30.0, connection=None):
        self.name = name
        self.connection = connection or MilvusConnection(uri, timeout=timeout)
        options = {"dimension": dimension, "model": model, "timeout": timeout}
        self.blocking = EpisodeCollection(self.connection, BLOCKING, name, **options)
        self.awaiting = self.blocking.calling(AWAITING)

    def __getattr__(self, name):
        if name[0] == "a" and hasattr(EpisodeCollection, name[1:]):
            return getattr(self.awaiting, name[1:])
        method = getattr(self.blocking, name)
        run = iterate_sync if name == "pages" else run_sync
        return lambda *args, **kwargs: run(method(*args, **kwargs))

    def close(self):
        self.connection.close()

    async def aclose(self):
        await self.connection.aclose()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


@pytest.fixture(params=["sync", "async"])
def call(request):
    """Calls a method of a collection, or its async twin."""

    async def call(collection, method, *args, **kwargs):
        if request.param == "sync":
            return getattr(collection, method)(*args, **kwargs)
        return await getattr(collection, f"a{method}")(*args, **kwargs)

    return call


@pytest.fixture
def user():
    """A user that no other test has."""
    return uuid4().hex


def random_vector(rng, dimension=DIMENSION):
    return [rng.gauss(0, 1) for _ in range(dimension)]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)


def row(user_key, number, **fields):
    given = {"id": f"{user_key[:12]}-{number}", "number": number, "kind": "round", "content": f"round {number}"}
    given |= {"terms": f"round {number}", "vector": random_vector(random.Random(f"{user_key}{number}"))}
    return Row(user_key=user_key, **(given | fields))


def ids(rows):
    return [one.id.rpartition("-")[2] for one in rows]


def without_vector(one):
    return replace(one, vector=None)


class CollectionConformance:
    async def test_what_was_just_written_is_read_by_every_way(self, collection, call, user):
        one = row(user, 1, vector=[3, 4, 0, 0, 0, 0, 0, 0], metadata={"a": [1, {"b": None}]}, entity="tea")
        await call(collection, "upsert", [one])
        stored = replace(one, episode=one.id, vector=None)
        assert await call(collection, "fetch", [one.id]) == [stored]
        assert await call(collection, "select", Where(user_key=user)) == [stored]
        assert await call(collection, "count", Where(user_key=user), strong=False) == 1
        [(found, score)] = (
            await call(collection, "search", Where(user_key=user), vector=[1, 0, 0, 0, 0, 0, 0, 0])
        ).dense
        assert (found, score) == (stored, pytest.approx(0.6, abs=1e-6))
        [with_vector] = await call(collection, "fetch", [one.id], vectors=True, user_key=user)
        assert with_vector.vector == pytest.approx([0.6, 0.8, 0, 0, 0, 0, 0, 0])

    async def test_a_row_with_the_id_of_a_stored_one_takes_its_place_however_often(self, collection, call, user):
        for n in range(3):
            await call(collection, "upsert", [row(user, 1, content="first"), row(user, 1, content=f"said {n}")])
        assert [one.content for one in await call(collection, "select", Where(user_key=user))] == ["said 2"]
        assert await call(collection, "count", Where(user_key=user)) == 1

    @pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
    def test_any_text_comes_back_as_it_was_in_any_field(self, collection, user, text):
        one = row(user, 1, content=text, tenant=text, user=text, session=text, entity=text[:500])
        one = replace(one, metadata={text: [text, {"deep": text}]})
        collection.upsert([one])
        assert collection.fetch([one.id]) == [replace(one, episode=one.id, vector=None)]

    def test_a_long_text_is_stored_in_parts_by_bytes_and_comes_back_as_one(self, collection, user):
        """Case G1: a server counts bytes, Milvus Lite characters."""
        for text in ("字" * 21_846, "a" * LONGEST_CONTENT + "é", "😀" * 100_000, "\ud800" * 30_000):
            whole = row(user, 1, id=f"{user[:8]}-long", content=text)
            parts = split_parts(whole)
            collection.upsert(parts)
            stored = collection.select(Where(user_key=user, episodes=(whole.id,)))
            assert len(stored) == len(parts) > 1
            assert join_parts(stored) == replace(whole, episode=whole.id, vector=None)
            assert collection.count(Where(user_key=user, part=0)) == 1
            assert collection.delete(Where(user_key=user, episodes=(whole.id,))) == 1

    def test_the_filter_says_what_is_valid_then(self, collection, user):
        rows = [
            row(user, 1, valid_from=10, valid_until=20),
            row(user, 2, valid_from=20),
            row(user, 3, valid_from=5, valid_until=15, superseded_by="another"),
        ]
        collection.upsert(rows)

        def found(**conditions):
            return ids(collection.select(Where(user_key=user, **conditions)))

        assert found(valid_at=4) == []
        assert found(valid_at=12) == ["1", "3"]
        assert found(valid_at=19) == ["1"]
        assert found(valid_at=20) == found(valid_at=FOREVER - 1) == ["2"]
        assert found(valid_at=12, superseded=False) == ["1"]
        assert found(superseded=True) == ["3"]
        assert found() == ["1", "2", "3"]

    def test_the_filter_knows_times_places_kinds_and_entities(self, collection, user):
        other = uuid4().hex
        rows = [row(user, n, created_at=n * 10, session_key="s1" if n < 4 else "s2") for n in range(1, 7)]
        rows[5] = replace(rows[5], kind="cursor", entity='the "tea" \\ shop', vector=None)
        collection.upsert([*rows, row(other, 3)])

        def found(**conditions):
            return ids(collection.select(Where(user_key=user, **conditions)))

        assert found(created_from=20, created_to=40) == ["2", "3"]
        assert found(number_from=2, number_to=4) == ["2", "3", "4"]
        assert found(session_key="s2", kinds=("round",)) == ["4", "5"]
        assert found(kinds=("round", "cursor"), part=0) == ["1", "2", "3", "4", "5", "6"]
        assert found(entity='the "tea" \\ shop') == ["6"]
        among = Among(places=(("s1", (1, 4)), ("s2", (4, 5, 9))))
        assert found(among=among) == ["1", "4", "5"]
        assert found(among=replace(among, ids=(row(user, 2).id,))) == ["1", "2", "4", "5"]
        assert found(ids=(rows[0].id, rows[2].id, f"{other[:12]}-3")) == ["1", "3"]
        assert found(ids=()) == found(kinds=()) == found(among=Among()) == []

    @pytest.mark.parametrize(
        ("condition", "expected"),
        [
            (Condition("word", "==", "tea"), "1"),
            (Condition("word", "!=", "tea"), "2"),
            (Condition("word", "in", ["tea", 'qu"ote\\']), "12"),
            (Condition("word", "in", []), ""),
            (Condition("word", "not in", ["tea", "x"]), "2"),
            (Condition("number", ">", 1), "2"),
            (Condition("number", ">=", 1.5), "2"),
            (Condition("number", "<", 2), "1"),
            (Condition("number", "<=", -5), ""),
            (Condition("number", "!=", 1), "2"),
            (Condition("flag", "==", value=True), "1"),
            (Condition("flag", "!=", value=True), "2"),
            (Condition("tags", "contains", "b"), "12"),
            (Condition("tags", "contains", "a"), "1"),
            (Condition(("deep", 'k"ey'), "==", "中\n"), "1"),
            (Condition("absent", "!=", 1), ""),
            (Condition("absent", "not in", [1]), ""),
            (Condition("absent", "==", 1), ""),
        ],
        ids=str,
    )
    def test_conditions_on_metadata_are_data(self, collection, user, condition, expected):
        first = {"word": "tea", "number": 1, "flag": True, "tags": ["a", "b"], "deep": {'k"ey': "中\n"}}
        second = {"word": 'qu"ote\\', "number": 2, "flag": False, "tags": ["b"], "deep": {'k"ey': "文"}}
        collection.upsert([row(user, 1, metadata=first), row(user, 2, metadata=second), row(user, 3)])
        assert "".join(ids(collection.select(Where(user_key=user, metadata=(condition,))))) == expected

    def test_no_scope_however_hostile_finds_or_erases_another(self, collection, user):
        tenant = user
        scopes = [MemoryScope(user=text, tenant=tenant) for text in HOSTILE]
        for n, scope in enumerate(scopes):
            collection.upsert(
                [
                    row(scope.user_key, k, id=f"{tenant[:8]}{n}-{k}", user=scope.user, entity=HOSTILE[n][:99])
                    for k in range(3)
                ]
            )
        for n, scope in enumerate(scopes):
            hits = collection.search(Where.of(scope), vector=[1] * DIMENSION, terms="round", limit=1_000)
            assert {one.user for one, _ in hits.dense} == {HOSTILE[n]}
            own = {f"{tenant[:8]}{n}-{k}" for k in range(3)}
            assert {one.episode for one, _ in hits.lexical} == (own if collection.opened().bm25 else set())
            assert collection.count(Where.of(scope, entity=HOSTILE[n][:99])) == 3
        assert collection.delete(Where.of(scopes[2])) == 3
        assert [collection.count(Where.of(scope)) for scope in scopes] == [
            0 if n == 2 else 3 for n in range(len(scopes))
        ]

    async def test_an_erasure_counts_episodes_and_leaves_none(self, collection, call, user):
        rows = [row(user, n) for n in range(1_203)]
        long = split_parts(row(user, 2_000, content="x" * 3 * LONGEST_CONTENT))
        await call(collection, "upsert", [*rows, *long])
        assert await call(collection, "count", Where(user_key=user)) == 1_206
        assert await call(collection, "delete", Where(user_key=user)) == 1_204
        assert await call(collection, "count", Where(user_key=user)) == 0
        assert await call(collection, "select", Where(user_key=user)) == []
        assert await call(collection, "delete", Where(user_key=user)) == 0

    def test_nothing_is_searched_or_erased_without_saying_whose(self, collection):
        with pytest.raises(ScopeError, match="whose"):
            collection.search(Where(user_key=None), vector=[1] * DIMENSION)
        with pytest.raises(ScopeError, match="whose"):
            collection.delete(Where(user_key=None))

    async def test_a_change_is_seen_at_once_in_all_parts(self, collection, call, user):
        parts = split_parts(row(user, 1, content="x" * 2 * LONGEST_CONTENT))
        other = row(user, 2)
        await call(collection, "upsert", [*parts, other])
        changed = await call(
            collection, "update", [parts[0].id, "nobody"], {"valid_until": 5, "superseded_by": other.id}
        )
        assert changed == 1
        stored = await call(collection, "select", Where(user_key=user, episodes=(parts[0].id,)))
        assert [(one.valid_until, one.superseded_by) for one in stored] == [(5, other.id)] * 2
        assert ids(await call(collection, "select", Where(user_key=user, valid_at=6))) == ["2"]
        [found] = (
            await call(collection, "search", Where(user_key=user, valid_at=4, part=0), vector=parts[0].vector, limit=1)
        ).dense
        assert found[1] == pytest.approx(1, abs=1e-5)  # the vector is still there

    def test_what_makes_a_row_what_it_is_cannot_be_changed(self, collection, user):
        with pytest.raises(ValueError, match="content cannot be changed"):
            collection.update([user], {"content": "something else"})

    async def test_all_rows_come_however_many(self, collection, call, user):
        rows = [row(user, n) for n in range(1_501)]
        await call(collection, "upsert", rows)
        assert {one.id for one in await call(collection, "select", Where(user_key=user))} == {one.id for one in rows}

    async def test_pages_hold_every_row_once(self, collection, user):
        collection.upsert([row(user, n) for n in range(25)])
        where = Where(user_key=user)
        awaited = [page async for page in collection.apages(where, size=10)]
        for pages in (awaited, list(collection.pages(where, size=10))):
            assert [len(page) for page in pages] == [10, 10, 5]
            assert len({one.id for page in pages for one in page}) == 25

    def test_rows_without_a_vector_are_not_near_anything(self, collection, user):
        against = [-1.0] + [0.0] * (DIMENSION - 1)
        collection.upsert([row(user, 1, vector=None), row(user, 2, vector=[1.0] + [0.0] * (DIMENSION - 1))])
        [(found, score)] = collection.search(Where(user_key=user), vector=against, limit=1).dense
        assert (found.number, score) == (2, pytest.approx(-1))
        assert collection.fetch([f"{user[:12]}-1"], vectors=True)[0].vector is None

    @pytest.mark.parametrize(
        "vector", [[0.0] * 8, [math.nan] + [1.0] * 7, [math.inf] + [1.0] * 7, [-math.inf] + [1.0] * 7, [1.0] * 7, []]
    )
    def test_what_is_no_direction_is_not_sent(self, collection, user, vector):
        with pytest.raises(ValueError, match=r"dimensions|direction"):
            collection.upsert([row(user, 1), row(user, 2, vector=vector)])
        with pytest.raises(ValueError, match=r"dimensions|direction"):
            collection.search(Where(user_key=user), vector=vector)
        assert collection.count(Where(user_key=user)) == 0

    def test_a_search_under_a_filter_finds_what_comparing_everything_finds(self, collection):
        rng = random.Random(20_260_101)
        tenant = uuid4().hex
        scopes = [MemoryScope(user=f"u{n}", tenant=tenant) for n in range(100)]
        vectors = {(n, k): random_vector(rng) for n in range(100) for k in range(20)}
        rows = [
            row(scopes[n].user_key, k, id=f"{tenant[:8]}{n}-{k}", vector=vector, valid_until=10 if k % 4 else 5)
            for (n, k), vector in vectors.items()
        ]
        rng.shuffle(rows)
        for start in range(0, len(rows), 97):
            collection.upsert(rows[start : start + 97])
        found = expected = 0
        for n, scope in enumerate(scopes):
            query = random_vector(rng)
            exact = sorted((k for k in range(20) if k % 4), key=lambda k: -cosine(query, vectors[n, k]))[:5]
            hits = collection.search(Where.of(scope, valid_at=7), vector=query, limit=5).dense
            assert all(one.user_key == scope.user_key for one, _ in hits)
            assert [score for _, score in hits] == pytest.approx(
                [cosine(query, vectors[n, one.number]) for one, _ in hits], abs=1e-5
            )
            expected += len(exact)
            found += len(set(exact) & {one.number for one, _ in hits})
        assert found / expected >= 0.99

    def test_threads_write_and_read_one_object(self, collection):
        users = [uuid4().hex for _ in range(4)]
        wrong = []

        def work(user):
            try:
                for n in range(12):
                    collection.upsert([row(user, n)])
                    hits = collection.search(Where(user_key=user), vector=[1] * DIMENSION, limit=50).dense
                    if {one.number for one, _ in hits} != set(range(n + 1)):
                        wrong.append((user, n, len(hits)))
            except Exception as error:  # noqa: BLE001  # shown by the main thread
                wrong.append(error)

        threads = [threading.Thread(target=work, args=(user,)) for user in users]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not wrong
        assert [collection.count(Where(user_key=user)) for user in users] == [12] * 4

    def test_parts_are_fetched_by_the_ids_that_they_are_given(self, collection, user):
        parts = split_parts(row(user, 1, content="語" * LONGEST_CONTENT))
        collection.upsert(parts)
        wanted = [part_id(parts[0].id, n) for n in range(len(parts))]
        assert [one.part for one in collection.fetch(["none", *reversed(wanted)], user_key=user)] == list(
            range(len(parts))
        )[::-1]
        assert collection.fetch(wanted, user_key=uuid4().hex) == []
