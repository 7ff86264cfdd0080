"""The cached pair: what may go wrong between a cache and what it caches, one thing at a time."""

from __future__ import annotations

import asyncio
import time

import pytest

from langchain_tiered_memory.errors import MemoryStoreError, VersionConflictError
from langchain_tiered_memory.semantic._backend import Do
from langchain_tiered_memory.semantic.cached import CacheBypassed, CachedFactStore
from langchain_tiered_memory.semantic.facts import InMemoryFactStore
from langchain_tiered_memory.semantic.keys import key_of
from langchain_tiered_memory.semantic.redis import RedisFactStore
from langchain_tiered_memory.semantic.sql import SQLFactStore
from langchain_tiered_memory.types import MemoryScope
from support.fact_conformance import Clock
from support.services import OwnRedis

pytestmark = pytest.mark.service

ADA = MemoryScope(user="ada")
KEY = key_of(ADA, "e", "a")
LEASE = 0.3


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

    def make(url=server.url, **options):
        hot = RedisFactStore(url, timeout=1.0)
        store = CachedFactStore(hot, SQLFactStore(f"sqlite:///{tmp_path}/cold.db"), **{"lease": LEASE, **options})
        made.append(store)
        return store

    yield make
    for store in made:
        store.close()


def count_cold_reads(store, monkeypatch):
    reads = []
    real = store._cold._heads
    monkeypatch.setattr(store._cold, "_heads", lambda keys: reads.extend(keys) or real(keys))
    return reads


def value(store, scope=ADA):
    fact = store.get(scope, "e", "a")
    return fact and fact.value


def until_cold_was_asked(steps):
    """Go on with a read to where the cold store has answered, and give what is left to do."""
    step = next(steps)
    while not (isinstance(step, Do) and step.arguments == ([KEY],)):
        step = steps.send(step.run())
    return steps, step.run()


def finish(steps, answer):
    try:
        step = steps.send(answer)
        while True:
            step = steps.send(step.run())
    except StopIteration as end:
        return end.value


def test_what_was_written_and_what_was_read_is_served_from_the_cache(pair, monkeypatch):
    writer, reader = pair(), pair()
    writer.put(ADA, "e", "a", 1)
    assert value(reader) == 1
    reader.get(ADA, "e", "nothing")
    reads = count_cold_reads(reader, monkeypatch)
    for _ in range(20):
        assert value(reader) == 1
        assert reader.get(ADA, "e", "nothing") is None
    assert [key for key in reads if key.scope == ADA] == []
    writer.put(ADA, "e", "a", 2)
    assert value(reader) == 2
    writer.delete(ADA, "e", "a")
    assert value(reader) is None
    assert [key for key in reads if key.scope == ADA] == []


def test_a_slow_reader_leaves_nothing_old_behind(pair):
    writer, reader, other = pair(), pair(), pair()
    writer.put(ADA, "e", "b", 0)
    writer._cold.put(ADA, "e", "a", "old")  # in the cold store alone, so that the reader must ask it
    steps, answer = until_cold_was_asked(reader._reading_heads([KEY]))
    assert answer[0].value == '"old"'
    writer.put(ADA, "e", "a", "new")
    assert finish(steps, answer)[0].value == '"old"'  # it began to read before the write
    assert [value(store) for store in (writer, reader, other)] == ["new"] * 3


def test_a_slow_reader_brings_nothing_back_that_was_erased(pair):
    writer, reader, other = pair(), pair(), pair()
    writer.put(ADA, "e", "b", 0)
    writer._cold.put(ADA, "e", "a", "old")
    steps, answer = until_cold_was_asked(reader._reading_heads([KEY]))
    assert writer.erase(ADA) == 2
    assert other.get(ADA, "e", "b") is None  # a new epoch has begun
    finish(steps, answer)
    assert [value(store) for store in (writer, reader, other)] == [None] * 3


def test_a_slow_writer_brings_nothing_back_that_was_erased(pair):
    slow, other = pair(), pair()
    slow.put(ADA, "e", "a", "old")
    steps = slow._putting(KEY, slow._change("new", None, None, None, "long", None, None, None))
    step = next(steps)
    while not (isinstance(step, Do) and step.method == "put"):
        step = steps.send(step.run())
    written = step.run()
    other.erase(ADA)
    assert value(other) is None
    finish(steps, written)
    assert [value(store) for store in (slow, other)] == [None, None]


@pytest.mark.parametrize("first_to_sign_off", [0, 1])
def test_of_two_writers_at_a_time_the_last_one_is_read(pair, first_to_sign_off):
    stores = [pair(), pair()]
    stores[0].put(ADA, "e", "a", 0)
    waiting = []
    for number, store in enumerate(stores):
        steps = store._putting(KEY, store._change(number + 1, None, None, None, "long", None, None, None))
        step = next(steps)
        while not (isinstance(step, Do) and step.method == "put"):
            step = steps.send(step.run())
        waiting.append((steps, step))
    done = [(steps, step.run()) for steps, step in waiting]
    for steps, written in (done[first_to_sign_off], done[1 - first_to_sign_off]):
        finish(steps, written)
        assert [value(store) for store in stores] == [2, 2]


def test_a_writer_that_dies_between_the_two_sides_leaves_nothing_old(pair):
    dies, reader = pair(), pair()
    dies.put(ADA, "e", "a", "old")
    assert value(reader) == "old"
    steps = dies._putting(KEY, dies._change("new", None, None, None, "long", None, None, None))
    step = next(steps)
    while not (isinstance(step, Do) and step.method == "put"):
        step = steps.send(step.run())
    step.run()
    steps.close()
    assert [value(reader) for _ in range(3)] == ["new"] * 3


def test_a_write_that_the_cold_store_refuses_changes_nothing(pair):
    store, other = pair(), pair()
    store.put(ADA, "e", "a", 1)
    with pytest.raises(VersionConflictError) as caught:
        store.put(ADA, "e", "a", 2, expected_version=7)
    assert caught.value.current.value == 1
    assert [value(store), value(other)] == [1, 1]


@pytest.mark.parametrize("way", ["sync", "async"])
def test_without_redis_the_cold_store_answers_and_it_is_told_once(pair, server, way):
    told = []
    store = pair(hooks=[told.append])
    store.put(ADA, "e", "a", 1)
    assert value(store) == 1
    server.ask("SAVE")
    server.kill()

    async def go():
        assert [(await store.aget(ADA, "e", "a")).value for _ in range(5)] == [1] * 5
        assert (await store.aput(ADA, "e", "a", 2)).version == 2
        assert (await store.aget(ADA, "e", "a")).value == 2

    if way == "async":
        asyncio.run(go())
    else:
        assert [value(store) for _ in range(5)] == [1] * 5
        assert store.put(ADA, "e", "a", 2).version == 2
        assert value(store) == 2
    assert [type(event) for event in told] == [CacheBypassed]
    assert "127.0.0.1" in told[0].describe()
    started = time.monotonic()
    store.put(ADA, "e", "a", 3)
    assert time.monotonic() - started < LEASE  # it is off for everybody: nobody need be waited for
    server.start()  # with the snapshot, in which the value is 1
    assert value(store) == value(pair()) == 3


def test_the_cache_is_used_again_when_redis_is_back(pair, server, monkeypatch):
    store = pair()
    store.put(ADA, "e", "a", 1)
    server.kill()
    store.put(ADA, "e", "a", 2)
    server.start()
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        time.sleep(LEASE)
        value(store)
        reads = count_cold_reads(store, monkeypatch)
        assert value(store) == 2
        if not [key for key in reads if key.scope == ADA]:
            break
    else:
        pytest.fail("the cache stayed off")
    store.put(ADA, "e", "a", 3)
    assert value(store) == 3


def test_a_redis_started_anew_between_a_write_and_a_read_serves_nothing_old(pair, server):
    writer, reader = pair(), pair()
    writer.put(ADA, "e", "a", "old")
    assert value(reader) == "old"
    server.ask("SAVE")
    writer.put(ADA, "e", "a", "new")
    server.kill()
    server.start()
    assert [value(reader), value(writer)] == ["new", "new"]


def test_a_writer_that_cannot_reach_redis_waits_until_nobody_reads_from_it(pair):
    reader = pair()
    reader.put(ADA, "e", "a", "old")
    assert value(reader) == "old"
    cut_off = pair(url="redis://127.0.0.1:1/0")
    started = time.monotonic()
    cut_off.put(ADA, "e", "a", "new")
    assert time.monotonic() - started >= LEASE
    assert value(reader) == "new"


def test_a_write_that_was_begun_in_an_earlier_generation_is_seen_in_the_later(pair):
    slow, cut_off, reader = pair(), pair(url="redis://127.0.0.1:1/0"), pair()
    slow.put(ADA, "e", "a", "old")
    steps = slow._putting(KEY, slow._change('"new"', None, None, None, "long", None, None, None))
    step = next(steps)
    while not (isinstance(step, Do) and step.method == "put"):
        step = steps.send(step.run())
    cut_off.put(ADA, "e", "b", 1)  # turns the cache off
    give_up = time.monotonic() + 20
    while reader._generations._known is None or not reader._generations._known.run_id:
        assert time.monotonic() < give_up
        time.sleep(0.05)
        value(reader)
    time.sleep(2 * LEASE)
    assert value(reader) == value(reader) == "old"  # kept in the later generation now
    finish(steps, step.run())
    assert [value(store) for store in (reader, slow)] == ['"new"'] * 2


def test_a_write_of_an_earlier_generation_puts_nothing_over_one_that_was_made_since(pair):
    slow, cut_off, other = pair(), pair(url="redis://127.0.0.1:1/0"), pair()
    slow.put(ADA, "e", "a", "old")
    steps = slow._putting(KEY, slow._change('"slow"', None, None, None, "long", None, None, None))
    step = next(steps)
    while not (isinstance(step, Do) and step.method == "put"):
        step = steps.send(step.run())
    written = step.run()
    cut_off.put(ADA, "e", "b", 1)  # turns the cache off
    give_up = time.monotonic() + 20
    while other._generations._known is None or not other._generations._known.run_id:
        assert time.monotonic() < give_up
        time.sleep(0.05)
        value(other)
    time.sleep(2 * LEASE)
    other.put(ADA, "e", "a", "newer")  # acknowledged in the later generation
    finish(steps, written)
    assert [value(store) for store in (other, slow, other)] == ["newer"] * 3


def test_a_cache_that_is_emptied_or_evicts_costs_nothing_but_time(pair, server):
    store, other = pair(), pair()
    for n in range(30):
        store.put(ADA, "e", "a", n)
        if n % 3 == 0:
            server.ask("FLUSHALL")
        assert [value(store), value(other)] == [n, n]


def test_a_cached_value_is_kept_no_longer_than_it_holds_and_than_its_age(pair):
    store = pair(max_age=100)
    store.put(ADA, "e", "a", 1, ttl=7)
    store.put(ADA, "e", "b", 1)
    rest = {}
    for attribute in "ab":
        (name,) = [key for key in keys_of(store) if key.endswith(f":{key_of(ADA, 'e', attribute).fact_key}")]
        rest[attribute] = store._hot._server.execute("PTTL", name)
    assert 5_000 < rest["a"] <= 7_000
    assert 90_000 < rest["b"] <= 100_000


def keys_of(store):
    return store._hot._server.scan("fact-cache:*")


def test_two_cold_stores_behind_one_redis_do_not_mix(server):
    clock = Clock()
    stores = [CachedFactStore(RedisFactStore(server.url), InMemoryFactStore(clock=clock)) for _ in range(2)]
    for number, store in enumerate(stores):
        store.put(ADA, "e", "a", number)
    assert [value(store) for store in stores] == [0, 1]
    for store in stores:
        store.close()


def test_a_cold_store_that_is_away_is_an_error_and_not_an_old_answer(pair, monkeypatch):
    store = pair()
    store.put(ADA, "e", "a", 1)

    def away(*_):
        msg = "the database is away"
        raise MemoryStoreError(msg)

    monkeypatch.setattr(store._cold, "_put", away)
    with pytest.raises(MemoryStoreError, match="away"):
        store.put(ADA, "e", "a", 2)
    assert value(store) == 1
    time.sleep(LEASE)
    monkeypatch.setattr(store._cold, "_heads", away)
    with pytest.raises(MemoryStoreError, match="away"):
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
    with pytest.raises(ValueError, match="lease"):
        CachedFactStore(hot, cold, lease=0)
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
