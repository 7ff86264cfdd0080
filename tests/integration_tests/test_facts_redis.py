from __future__ import annotations

import asyncio
import gc
import multiprocessing
import pickle
import time
from contextlib import closing
from datetime import timedelta

import pytest
import redis
import redis.asyncio

from langchain_tiered_memory import RedisFactStore
from langchain_tiered_memory._redis import RedisServer, Script, StoreMayForget
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.keys import key_of
from langchain_tiered_memory.types import MemoryScope
from support.fact_writers import put_in_child
from support.services import OwnRedis, redis_client

pytestmark = pytest.mark.service

ADA = MemoryScope(user="ada")


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    server = OwnRedis(tmp_path_factory.mktemp("redis"))
    yield server
    server.kill()


@pytest.fixture
def server(shared_server):
    if shared_server.ask("PING") != "+PONG":
        shared_server.start()
    for command in ("FLUSHALL", "SCRIPT FLUSH", "CONFIG SET maxmemory 0", "CONFIG SET maxmemory-policy noeviction"):
        assert shared_server.ask(command) == "+OK"
    return shared_server


@pytest.fixture
def facts(server):
    with RedisFactStore(server.url) as facts:
        yield facts


@pytest.fixture
def sent(monkeypatch):
    """What leaves this process for Redis, one entry for each round trip."""
    sent = []
    for kind in (redis.connection.Connection, redis.asyncio.connection.Connection):
        real = kind.send_packed_command

        def send(connection, command, *rest, real=real, **options):
            sent.append(command)
            return real(connection, command, *rest, **options)

        monkeypatch.setattr(kind, "send_packed_command", send)
    return sent


async def test_a_get_and_a_put_are_one_round_trip_each(facts, sent):
    in_session = MemoryScope(user="ada", session="s")
    facts.put(ADA, "e", "a", 0)
    await facts.aput(ADA, "e", "a", 0)
    del sent[:]
    for n in range(10):
        facts.put(ADA, "e", "a", n, ttl=60)
        facts.get(ADA, "e", "a")
        facts.get(in_session, "e", "a")
        facts.put(ADA, "e", "a", n, expected_version=facts.get(ADA, "e", "a").version, turn_id=n)
    assert len(sent) == 50
    for n in range(10):
        await facts.aput(ADA, "e", "a", n)
        await facts.aget(ADA, "e", "a")
    assert len(sent) == 70
    await facts.aclose()


def test_keys_are_readable_and_all_of_a_user_lie_in_one_slot(facts, server):
    facts.put(ADA, "trip:1", "otp*", "123456")
    facts.put(ADA, "trip:1", "otp*", "000000", turn_id=0, valid_from=0, valid_until=1)
    facts.put(MemoryScope(user="ada", session="s"), "trip", "otp", 1)
    with redis_client(server.url) as one:
        keys = one.keys("*")
    assert f"fact:{{{ADA.user_key}}}:trip\\u003a1:otp\\u002a" in keys
    assert len(keys) == 4
    assert all(f"{{{ADA.user_key}}}" in key for key in keys)


def test_redis_clears_away_what_has_been_over_for_the_retention_and_versions_go_on(server):
    with RedisFactStore(server.url, retention=0.2) as facts, redis_client(server.url) as one:
        facts.put(ADA, "e", "a", 1, ttl=0.1, expected_version=0)
        (name,) = one.keys("fact:*")
        assert 200 <= one.pttl(name) <= 300
        time.sleep(0.5)
        assert one.keys("fact:*") == []
        assert facts.get(ADA, "e", "a") is None
        assert facts.list(ADA) == facts.history(ADA, "e", "a") == facts.export(ADA) == []
        assert facts.put(ADA, "e", "a", 2, expected_version=0).version == 2
        assert one.pttl(name) == -1  # without an end there is nothing to clear away
        facts.delete(ADA, "e", "a")
        assert 0 < one.pttl(name) <= 200
        assert facts.erase(ADA) == 1
        assert one.keys("*") == []


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(
    ("settings", "reasons"),
    [
        ({"appendonly": "yes"}, []),
        ({"appendonly": "no"}, ["appendonly is no"]),
        ({"appendonly": "yes", "maxmemory-policy": "allkeys-lru"}, ["maxmemory-policy is allkeys-lru"]),
        ({"appendonly": "no", "maxmemory-policy": "volatile-ttl"}, ["maxmemory-policy is volatile-ttl", "appendonly"]),
    ],
)
def test_a_server_that_may_forget_is_told_of_once(tmp_path, way, settings, reasons):
    server = OwnRedis(tmp_path, settings)
    told = []
    facts = RedisFactStore(server.url, hooks=[told.append])
    assert told == []  # nothing is asked before the first use

    async def use():
        await facts.aput(ADA, "e", "a", 1)
        await facts.aget(ADA, "e", "a")

    if way == "async":
        asyncio.run(use())
    else:
        facts.put(ADA, "e", "a", 1)
        facts.get(ADA, "e", "a")
    assert [type(event) for event in told] == [StoreMayForget] * bool(reasons)
    for event in told:
        assert len(event.reasons) == len(reasons)
        for reason in reasons:
            assert reason in event.describe()
    facts.close()
    server.kill()


def test_a_user_who_may_not_read_info_is_told_that_nobody_knows(server):
    assert server.ask("ACL SETUSER limited on >secret ~* +@all -info") == "+OK"
    told = []
    url = server.url.replace("redis://", "redis://limited:secret@")
    with RedisFactStore(url, hooks=[told.append]) as facts:
        facts.put(ADA, "e", "a", 1)
        assert "nobody knows" in told[0].describe()
        assert "secret" not in repr(facts) + told[0].describe()


def test_what_others_wrote_under_the_prefix_is_an_error_that_says_so(facts, server):
    facts.put(ADA, "e", "a", 1)
    with redis_client(server.url) as one:
        (name,) = one.keys("fact:*")
        one.rpush(name, "hello")
        with pytest.raises(MemoryStoreError, match=r"'hello'.*prefix"):
            facts.get(ADA, "e", "a")
        one.delete(name)
        one.set(name, "hello")
        with pytest.raises(MemoryStoreError, match="WRONGTYPE"):
            facts.get(ADA, "e", "a")


def test_a_server_that_is_away_is_an_error_and_comes_back_by_itself(server):
    with RedisFactStore(server.url, timeout=1) as facts:
        facts.put(ADA, "e", "a", 1)
        server.ask("SAVE")
        server.kill()
        with pytest.raises(MemoryStoreError, match=r"127\.0\.0\.1.*See whether the server is up"):
            facts.get(ADA, "e", "a")
        with pytest.raises(MemoryStoreError):
            facts.put(ADA, "e", "a", 2)
        server.start()
        assert facts.get(ADA, "e", "a").value == 1
        assert facts.put(ADA, "e", "a", 3, expected_version=1).version == 2  # a script that it has never seen


def test_a_full_server_refuses_and_says_so(facts, server):
    facts.put(ADA, "e", "a", 1)
    assert server.ask("CONFIG SET maxmemory 1") == "+OK"
    with pytest.raises(MemoryStoreError, match="full"):
        facts.put(ADA, "e", "b", 2)
    assert facts.get(ADA, "e", "a").value == 1


def test_one_store_serves_one_event_loop_after_the_other_and_threads(facts):
    async def count():
        await asyncio.gather(*(facts.aput(ADA, "e", "a", [n], merge=lambda old, new: old + new) for n in range(5)))
        return (await facts.aget(ADA, "e", "a")).version

    assert [asyncio.run(count()) for _ in range(3)] == [5, 10, 15]
    assert facts.get(ADA, "e", "a").version == 15


def test_a_pickled_store_is_opened_anew_and_a_closed_one_is_closed(facts):
    facts.put(ADA, "e", "a", 1)
    with pickle.loads(pickle.dumps(facts)) as copy:  # noqa: S301  # our own
        assert copy.get(ADA, "e", "a").value == 1
    with pytest.raises(MemoryStoreError, match="closed"):
        copy.get(ADA, "e", "a")


def test_a_process_has_connections_of_its_own(facts):
    facts.put(ADA, "e", "a", 1)
    context = multiprocessing.get_context("forkserver")
    results = context.Queue()
    child = context.Process(target=put_in_child, args=(facts, results))
    child.start()
    assert results.get(timeout=60) == 2
    child.join()
    assert facts.get(ADA, "e", "a").value == 2


def test_a_repeatable_script_is_sent_again_when_its_answer_was_lost(server, monkeypatch):
    counted = Script("return redis.call('INCR', KEYS[1])", repeatable=True)
    once = Script("return redis.call('INCR', KEYS[2])")
    with closing(RedisServer(server.url, needed_by="a test")) as one:
        assert run_sync(one.ports()[0].run(counted, ["n"])) == 1
        run_sync(one.ports()[0].run(once, ["n", "m"]))
        real = redis.connection.Connection.read_response

        def lose(connection, *args, **options):
            real(connection, *args, **options)
            monkeypatch.undo()
            connection.disconnect()
            msg = "lost"
            raise redis.ConnectionError(msg)

        monkeypatch.setattr(redis.connection.Connection, "read_response", lose)
        assert run_sync(one.ports()[0].run(counted, ["n"])) == 3
        monkeypatch.setattr(redis.connection.Connection, "read_response", lose)
        with pytest.raises(MemoryStoreError, match="lost"):
            run_sync(one.ports()[0].run(once, ["n", "m"]))
        assert one.execute("GET", "m") == "2"


@pytest.mark.parametrize("prefix", ["", "a:b", "{a}", "a*", None])
def test_a_prefix_that_cannot_begin_a_key_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix"):
        RedisFactStore("redis://localhost", prefix=prefix)


def test_the_key_of_a_fact_says_nothing_about_another(facts):
    facts.put(ADA, "a:b", "c", 1)
    facts.put(ADA, "a", "b:c", 2)
    assert (facts.get(ADA, "a:b", "c").value, facts.get(ADA, "a", "b:c").value) == (1, 2)
    assert key_of(ADA, "a:b", "c") != key_of(ADA, "a", "b:c")


def test_a_forked_process_is_told_once_too(server, monkeypatch):
    told = []
    with RedisFactStore(server.url, hooks=[told.append]) as facts:
        facts.get(ADA, "e", "a")
        with monkeypatch.context() as child:
            child.setattr("os.getpid", lambda: -1)  # as a child has another
            for _ in range(3):
                facts.get(ADA, "e", "a")
        assert [type(event) for event in told] == [StoreMayForget] * 2


def test_the_longest_retention_keeps_and_the_write_is_whole(server):
    with RedisFactStore(server.url, retention=timedelta.max) as facts:
        assert facts.put(ADA, "e", "a", 1, ttl=60).version == 1
        assert facts.put(ADA, "e", "a", 2, ttl=60, turn_id=4).version == 2
        assert [fact.value for fact in facts.history(ADA, "e", "a")] == [1, 2]


def test_a_database_that_does_not_exist_is_not_taken_for_a_server_that_is_silent(server):
    told = []
    facts = RedisFactStore(f"{server.url.rpartition('/')[0]}/9999", hooks=[told.append])
    with pytest.raises(MemoryStoreError, match="DB index is out of range"):
        facts.put(ADA, "e", "a", 1)
    facts.close()
    assert "it does not answer INFO (DB index is out of range)" in told[0].describe()


async def test_a_warning_that_was_cancelled_is_given_at_the_next_use(server):
    told = []
    facts = RedisFactStore(server.url, hooks=[told.append])
    first = asyncio.create_task(facts.aget(ADA, "e", "a"))
    await asyncio.sleep(0)  # it has begun, and waits for the server
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert not told
    await facts.aget(ADA, "e", "a")
    assert [type(event) for event in told] == [StoreMayForget]
    await facts.aclose()


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_loops_that_are_closed_without_more_ado_hold_no_connections(server):
    facts = RedisFactStore(server.url)

    def clients_after(number):
        loop = asyncio.new_event_loop()
        assert loop.run_until_complete(facts.aput(ADA, "e", "a", number)).value == number
        loop.close()
        gc.collect()
        return len(server_side.client_list(_type="normal"))

    with redis_client(server.url) as server_side:
        counts = [clients_after(number) for number in range(4)]
    assert counts == counts[:1] * 4
    asyncio.run(facts.aget(ADA, "e", "a"))  # lets go of the last one
    facts.close()
    gc.collect()
