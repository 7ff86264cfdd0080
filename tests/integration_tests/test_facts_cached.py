"""The cached pair: what may go wrong between a cache and what it caches, one thing at a time."""

from __future__ import annotations

import asyncio

import pytest
import redis

from langchain_tiered_memory import (
    CachedFactStore,
    FactStore,
    InMemoryFactStore,
    MemoryScope,
    RedisFactStore,
    SQLFactStore,
)
from langchain_tiered_memory.errors import MemoryStoreError, VersionConflictError
from langchain_tiered_memory.semantic.cached import CacheBypassed
from support.fact_conformance import Clock
from support.services import OwnRedis
from support.waiting import wait_until

pytestmark = pytest.mark.service

ADA = MemoryScope(user="ada")
IN_S1 = MemoryScope(user="ada", session="s1")


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    server = OwnRedis(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def server(shared_server):
    if shared_server.ask("PING") != "+PONG":
        shared_server.start()
    shared_server.ask("FLUSHALL")
    return shared_server


@pytest.fixture
def pair(server, tmp_path):
    """Makes stores of one pair, each as a process of its own would."""
    made = []

    def make(url=server.url, cold=None, **options):
        store = CachedFactStore(
            RedisFactStore(url, timeout=1.0), cold or SQLFactStore(f"sqlite:///{tmp_path}/cold.db"), **options
        )
        made.append(store)
        return store

    yield make
    for store in made:
        store.close()


class Interrupted:
    """The rows of another store; something happens after one call, before its caller has the answer."""

    def __init__(self, rows, method, happens):
        self._rows, self._method, self._happens = rows, method, happens

    def __getattr__(self, name):
        async def call(*arguments, **options):
            answer = await getattr(self._rows, name)(*arguments, **options)
            if name == self._method:
                self._method = None
                self._happens()
            return answer

        return call


def interrupted(cold, method, happens):
    rows = Interrupted(cold._rows, method, happens)
    return FactStore(rows, rows)


def value(store, scope=ADA):
    fact = store.get(scope, "e", "a")
    return fact and fact.value


def keys_of(server):
    with redis.Redis.from_url(server.url, decode_responses=True) as client:
        return {key: client.pttl(key) for key in client.scan_iter("fact-cache:*")}


@pytest.mark.parametrize("way", ["sync", "async"])
def test_what_was_written_read_or_listed_is_served_from_the_cache_alone(pair, way):
    store = pair()

    async def call(method, *arguments, **options):
        if way == "sync":
            return getattr(store, method)(*arguments, **options)
        return await getattr(store, f"a{method}")(*arguments, **options)

    async def go():
        await call("put", ADA, "e", "a", 1)
        await call("put", ADA, "e", "b", 2)
        await call("put", IN_S1, "e", "b", 3)
        await call("get", ADA, "e", "nothing")
        listed = await call("list", IN_S1)
        store._cold.close()
        assert (await call("get", ADA, "e", "a")).value == 1
        assert (await call("get", IN_S1, "e", "a")).value == 1
        assert await call("get", ADA, "e", "nothing") is None
        assert [fact.value for fact in listed] == [1, 3]
        assert await call("list", IN_S1) == listed
        assert await call("list", ADA, "e", "b") == [await call("get", ADA, "e", "b")]
        assert await call("list", ADA, "f") == []
        with pytest.raises(MemoryStoreError, match="closed"):
            await call("history", ADA, "e", "a")

    asyncio.run(go())


def test_a_list_that_is_cached_knows_of_later_writes(pair):
    writer, reader = pair(), pair()
    writer.put(ADA, "e", "a", 1)
    assert [fact.value for fact in reader.list(ADA)] == [1]
    writer.put(ADA, "e", "a", 2)
    writer.put(ADA, "e", "b", 3)
    assert [fact.value for fact in reader.list(ADA)] == [2, 3]
    writer.delete(ADA, "e", "a")
    reader._cold.close()
    assert [fact.value for fact in reader.list(ADA)] == [3]


@pytest.mark.parametrize("method", ["heads", "heads_of"])
def test_a_slow_reader_puts_nothing_old_over_what_was_written_meanwhile(pair, tmp_path, method):
    writer = pair()
    writer._cold.put(ADA, "e", "a", "old")
    cold = SQLFactStore(f"sqlite:///{tmp_path}/cold.db")
    slow = pair(cold=interrupted(cold, method, lambda: writer.put(ADA, "e", "a", "new")))
    seen = slow.get(ADA, "e", "a") if method == "heads" else slow.list(ADA)[0]
    assert seen.value == "old"  # it began to read before the write
    assert [value(store) for store in (slow, writer, pair())] == ["new"] * 3
    assert [fact.value for fact in slow.list(ADA)] == ["new"]


@pytest.mark.parametrize("method", ["heads", "heads_of", "put"])
def test_whoever_is_slow_brings_nothing_back_that_was_erased(pair, server, tmp_path, method):
    eraser = pair()
    eraser._cold.put(ADA, "e", "a", "secret")
    cold = SQLFactStore(f"sqlite:///{tmp_path}/cold.db")
    slow = pair(cold=interrupted(cold, method, lambda: eraser.erase(ADA)))
    {
        "heads": lambda: slow.get(ADA, "e", "a"),
        "heads_of": lambda: slow.list(ADA),
        "put": lambda: slow.put(ADA, "e", "a", "secret again"),
    }[method]()
    assert [value(store) for store in (slow, eraser)] == [None, None]
    assert slow.list(ADA) == []
    with redis.Redis.from_url(server.url) as client:
        hashes = [client.hgetall(key) for key in client.scan_iter("*") if client.type(key) == b"hash"]
        assert not [value for one in hashes for value in one.values() if b"secret" in value]
    eraser.put(ADA, "e", "a", "anew")
    assert [value(store) for store in (slow, eraser)] == ["anew", "anew"]
    assert [fact.value for fact in slow.list(ADA)] == ["anew"]


def test_erasing_a_session_leaves_the_others_cached(pair):
    store = pair()
    for number, scope in enumerate((ADA, IN_S1)):
        store.put(scope, "e", "a", number)
    assert store.erase(IN_S1) == 1
    assert value(store, IN_S1) == value(store) == 0


@pytest.mark.parametrize("first", [0, 1])
def test_of_two_writers_at_a_time_the_last_one_is_read(pair, tmp_path, first):
    other = pair()
    cold = SQLFactStore(f"sqlite:///{tmp_path}/cold.db")
    slow = pair(cold=interrupted(cold, "put", lambda: other.put(ADA, "e", "a", 2))) if first == 0 else other
    slow.put(ADA, "e", "a", 1)
    if first == 1:
        slow.put(ADA, "e", "a", 2)
    assert [value(store) for store in (slow, other)] == [2, 2]


def test_what_only_the_cold_store_was_told_is_seen_when_the_cached_value_is_too_old(pair):
    store = pair(max_age=0.2)
    store.put(ADA, "e", "a", "old")
    store._cold.put(ADA, "e", "a", "new")
    wait_until(lambda: value(store) == "new")
    assert store._cold.get(ADA, "e", "a").value == "new"


def test_nothing_is_cached_without_an_end(pair, server):
    store = pair(max_age=100)
    store.put(ADA, "e", "a", 1)
    store.list(IN_S1)
    store.erase(MemoryScope(user="bob"))
    lifetimes = keys_of(server)
    assert len(lifetimes) == 4  # a hash for each scope, their set, an erasure
    assert all(rest > 0 for rest in lifetimes.values())
    assert sum(90_000 < rest <= 100_000 for rest in lifetimes.values()) == 2


def test_a_write_that_the_cold_store_refuses_changes_nothing(pair):
    store, other = pair(), pair()
    store.put(ADA, "e", "a", 1)
    with pytest.raises(VersionConflictError) as caught:
        store.put(ADA, "e", "a", 2, expected_version=7)
    assert caught.value.current.value == 1
    assert [value(store), value(other)] == [1, 1]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_without_redis_the_cold_store_answers_and_one_event_says_so(pair, server, way):
    told = []
    store = pair(hooks=[told.append])
    store.put(ADA, "e", "a", 1)
    server.kill()

    async def go():
        assert [(await store.aget(ADA, "e", "a")).value for _ in range(5)] == [1] * 5
        assert (await store.aput(ADA, "e", "a", 2)).version == 2
        assert [fact.value for fact in await store.alist(ADA)] == [2]
        assert await store.aerase(ADA) == 2

    if way == "async":
        asyncio.run(go())
    else:
        assert [value(store) for _ in range(5)] == [1] * 5
        assert store.put(ADA, "e", "a", 2).version == 2
        assert [fact.value for fact in store.list(ADA)] == [2]
        assert store.erase(ADA) == 2
    assert [type(event) for event in told if not event.name.endswith("may_forget")] == [CacheBypassed]
    assert "127.0.0.1" in told[-1].describe()


def test_the_cache_is_used_again_when_redis_is_back(pair, server):
    store = pair()
    server.kill()
    store.put(ADA, "e", "a", 1)
    server.start()
    wait_until(lambda: value(store) == 1 and keys_of(server))  # it is tried again after a second
    store._cold.close()
    assert value(store) == 1


def test_a_cache_that_is_emptied_or_evicts_costs_nothing_but_time(pair, server):
    store, other = pair(), pair()
    for n in range(30):
        store.put(ADA, "e", "a", n)
        if n % 3 == 0:
            server.ask("FLUSHALL")
        assert [value(store), value(other), other.list(ADA)[0].value] == [n, n, n]


def test_a_cold_store_that_is_away_is_an_error(pair):
    store = pair()
    store._cold.close()
    with pytest.raises(MemoryStoreError, match="closed"):
        store.put(ADA, "e", "a", 2)
    with pytest.raises(MemoryStoreError, match="closed"):
        value(store)


def test_what_is_no_pair_is_refused(server):
    cold = InMemoryFactStore()
    hot = RedisFactStore(server.url)
    with pytest.raises(TypeError, match="RedisFactStore"):
        CachedFactStore(cold, cold)
    with pytest.raises(TypeError, match="SQLFactStore"):
        CachedFactStore(hot, "sqlite://")
    with pytest.raises(TypeError, match="SQLFactStore"):
        CachedFactStore(hot, CachedFactStore(hot, cold))
    with pytest.raises(ValueError, match="max_age"):
        CachedFactStore(hot, cold, max_age=0)
    hot.close()


def test_a_fact_lives_as_long_as_the_cold_store_says_unless_the_pair_says_otherwise(server):
    clock = Clock()
    cold = InMemoryFactStore(clock=clock, validities={"short": 60, "long": 600})
    for validities, ends in ((None, (60, 90 * 86_400, 600)), ({"medium": 5, "long": None}, (60, 5, None))):
        with RedisFactStore(server.url) as hot:
            pair = CachedFactStore(hot, cold, validities=validities)
            facts = [pair.put(ADA, "e", "a", 1, validity=name) for name in ("short", "medium", "long")]
        lifetimes = [fact.valid_until and (fact.valid_until - fact.valid_from).total_seconds() for fact in facts]
        assert tuple(lifetimes) == ends
