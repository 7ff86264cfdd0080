from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from uuid import uuid4

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory import RedisMessageLog, SummaryMemory
from langchain_tiered_memory._redis import StoreMayForget
from langchain_tiered_memory.errors import MemoryStoreError, VersionConflictError
from langchain_tiered_memory.working import log_redis
from support.log_conformance import LogConformance, call, node, turns  # noqa: F401  # a fixture
from support.log_writers import SESSION, acknowledged, check_whole_turns, start_writers
from support.services import OwnRedis
from support.waiting import wait_until

pytestmark = pytest.mark.service

S = SESSION
DURABLE = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}


@pytest.fixture
def prefix(redis_url):
    """Keys of its own for each test, on a server that others use too."""
    prefix = f"tiered_memory_test_{uuid4().hex}:"
    yield prefix
    with RedisMessageLog(redis_url, prefix=prefix) as log:
        for session_id in log.sessions():
            log.erase(session_id)


@pytest.fixture
def log(redis_url, prefix):
    with RedisMessageLog(redis_url, prefix=prefix) as log:
        yield log


@contextlib.contextmanager
def server(folder, options):
    own = OwnRedis(folder, options)
    try:
        yield own
    finally:
        own.kill()


@pytest.fixture
def own(tmp_path):
    with server(tmp_path, DURABLE) as own:
        yield own


def command(log, *words):
    return log._server.execute(*words)


class TestRedis(LogConformance):
    @pytest.fixture
    def log(self, redis_url, prefix, clock):
        with RedisMessageLog(redis_url, prefix=prefix, clock=clock) as log:
            yield log


class TestRedisWithSessionsThatExpire(LogConformance):
    @pytest.fixture
    def log(self, redis_url, prefix, clock):
        with RedisMessageLog(redis_url, prefix=prefix, clock=clock, ttl=3_600) as log:
            yield log


# --- how long a session lives -----------------------------------------------------------------------------------------


async def test_a_session_that_has_expired_is_gone_as_a_whole(redis_url, prefix, call):  # noqa: F811  # a fixture
    with RedisMessageLog(redis_url, prefix=prefix, ttl=1_000) as log:
        await call(log, "append", S, turns(4))
        await call(log, "append_nodes", S, [node(1, 2)], 0)
        assert await call(log, "sessions") == [S]
        command(log, "PEXPIRE", log.blocking._key(S), 1)
        await asyncio.sleep(0.05)
        assert await call(log, "sessions") == []
        assert await call(log, "messages", S) == []
        assert await call(log, "nodes", S) == []
        assert await call(log, "known", S, ["q0"]) == set()
        assert command(log, "KEYS", f"{{{prefix}}}*") == []
        assert await call(log, "append", S, turns(1), expected_version=0) == 2


async def test_a_session_expires_by_itself(redis_url, prefix, call):  # noqa: F811  # a fixture
    with RedisMessageLog(redis_url, prefix=prefix, ttl=0.2) as log:
        await call(log, "append", S, turns(1))
        await asyncio.sleep(0.3)
        assert await call(log, "version", S) == 0


def test_every_append_prolongs_a_session_and_reading_does_not(redis_url, prefix):
    with RedisMessageLog(redis_url, prefix=prefix, ttl=1_000) as log:
        log.append(S, turns(1))
        key = log.blocking._key(S)

        def seconds_left(work):
            command(log, "PEXPIRE", key, 5_000)
            work()
            return command(log, "PTTL", key) / 1_000

        def refused():
            with pytest.raises(VersionConflictError):
                log.append(S, [], expected_version=7)

        assert 900 < seconds_left(lambda: log.append(S, turns(1, start=1))) <= 1_000
        assert 900 < seconds_left(lambda: log.append(S, turns(1))) <= 1_000  # stored already
        assert 900 < seconds_left(lambda: log.append_nodes(S, [node(1, 2)], 0)) <= 1_000
        assert seconds_left(lambda: (log.messages(S), log.nodes(S), log.version(S), log.sessions())) <= 5
        assert seconds_left(refused) <= 5


def test_a_log_without_a_time_to_live_keeps_what_it_appends_to_for_ever(redis_url, prefix, log):
    with RedisMessageLog(redis_url, prefix=prefix, ttl=1_000) as short:
        short.append(S, turns(1))
        assert command(log, "PTTL", log.blocking._key(S)) > 0
        log.append(S, turns(1, start=1))
        assert command(log, "PTTL", log.blocking._key(S)) == -1


# --- keys -------------------------------------------------------------------------------------------------------------


def test_a_session_is_one_key_beside_the_index(log, prefix):
    log.append("a {b}*:你", turns(3))
    log.append_nodes("a {b}*:你", [node(1, 2)], 0)
    keys = [f"{{{prefix}}}s:a%20%7Bb%7D%2A%3A%E4%BD%A0", f"{{{prefix}}}sessions"]
    assert sorted(command(log, "KEYS", f"{{{prefix}}}*")) == keys
    assert log.sessions() == ["a {b}*:你"]


def test_a_prefix_is_text_and_no_pattern(redis_url):
    name = uuid4().hex
    prefixes = [f"{name}a*[b]?\\", f"{name}aXbY\\", f"{name}", f"{name}a"]
    logs = [RedisMessageLog(redis_url, prefix=prefix) for prefix in prefixes]
    for n, log in enumerate(logs):
        log.append(f"s{n}", turns(1))
    assert [log.sessions() for log in logs] == [["s0"], ["s1"], ["s2"], ["s3"]]
    for n, log in enumerate(logs):
        assert log.erase(f"s{n}") == 2
        log.close()


def test_sessions_that_have_expired_leave_the_index(redis_url, prefix):
    with RedisMessageLog(redis_url, prefix=prefix, ttl=1_000) as log:
        for name in ("a", "b", "c"):
            log.append(name, turns(1))
        command(log, "PEXPIRE", log.blocking._key("b"), 1)
        time.sleep(0.05)
        assert log.sessions() == ["a", "c"]
        assert command(log, "ZRANGE", f"{{{prefix}}}sessions", 0, -1) == ["a", "c"]
        log.append("b", turns(1))
        assert log.sessions() == ["a", "b", "c"]


def test_listing_the_sessions_of_a_prefix_looks_at_no_others(own):
    with RedisMessageLog(own.url) as log:
        for n in range(300):
            log.append(f"user-{n:03}/s", turns(1))
        before = calls(log, "exists")
        assert log.sessions("user-017/") == ["user-017/s"]
        assert calls(log, "exists") - before == 1
        assert calls(log, "scan") == 0


def test_more_sessions_than_one_answer_holds_are_listed(log, monkeypatch):
    monkeypatch.setattr(log_redis, "_AT_ONCE", 3)
    for n in range(10):
        log.append(f"s{n}", turns(1))
    assert log.sessions("s") == [f"s{n}" for n in range(10)]


def test_what_was_erased_is_nowhere_on_the_server(own):
    with RedisMessageLog(own.url) as log:
        log.append("user-7", [HumanMessage("secret")])
        log.append_nodes("user-7", [node(1, 1, "secret")], 0)
        log.erase("user-7")
        assert command(log, "KEYS", "*") == []


# --- reading ----------------------------------------------------------------------------------------------------------


async def test_a_read_of_many_pages_is_whole(log, call, monkeypatch):  # noqa: F811  # a fixture
    monkeypatch.setattr(log_redis, "_PAGE_ROWS", 7)
    await call(log, "append", S, turns(50))
    assert await call(log, "messages", S) == turns(50)
    assert await call(log, "messages", S, last=30) == turns(50)[-30:]
    assert [entry.number for entry in await call(log, "entries", S, after=3, limit=20)] == list(range(4, 24))
    assert [entry.number for entry in await call(log, "entries", S, after=90)] == list(range(91, 101))
    assert [entry.number for entry in log.newest_first(S)] == list(range(100, 0, -1))


def test_large_messages_come_in_pages_that_fit(log):
    said = [HumanMessage(chr(97 + n) * 3_000_000, id=str(n)) for n in range(5)]
    assert log.append(S, said) == 5
    sizes = []
    evaluate = log.blocking._port.run

    async def measured(*arguments):
        answer = await evaluate(*arguments)
        sizes.append(sum(map(len, answer[2:])))
        return answer

    log.blocking._port.run = measured
    assert log.messages(S) == said
    assert log.messages(S, last=2) == said[-2:]
    assert max(sizes) < 7_000_000
    assert len(sizes) > 3


@pytest.mark.parametrize("again", [[], turns(2)], ids=["erased", "written anew"])
def test_a_session_that_is_erased_in_the_middle_of_a_read_is_not_mixed_with_its_successor(log, monkeypatch, again):
    monkeypatch.setattr(log_redis, "_PAGE_ROWS", 3)
    log.append(S, [HumanMessage("old", id=f"old {n}") for n in range(10)])
    evaluate, pages = log.blocking._port.run, []

    async def interrupted(*arguments):
        answer = await evaluate(*arguments)
        pages.append(answer)
        if len(pages) == 2:
            log.blocking._port.run = evaluate
            log.erase(S)
            log.append(S, again)
        return answer

    log.blocking._port.run = interrupted
    assert log.messages(S) == again


def test_what_is_appended_in_the_middle_of_a_read_is_left_for_the_next(log, monkeypatch):
    monkeypatch.setattr(log_redis, "_PAGE_ROWS", 3)
    log.append(S, turns(4))
    evaluate = log.blocking._port.run

    async def interrupted(*arguments):
        answer = await evaluate(*arguments)
        log.blocking._port.run = evaluate
        log.append(S, turns(1, start=4))
        return answer

    log.blocking._port.run = interrupted
    assert log.messages(S) == turns(4)
    assert log.messages(S) == turns(5)


def calls(log, name):
    """How often the server has run a command since it started."""
    stats = command(log, "INFO", "commandstats")
    return stats.get(f"cmdstat_{name}", {}).get("calls", 0)


def test_a_tail_and_a_cursor_read_nothing_else_however_long_the_session_is(own):
    with RedisMessageLog(own.url) as log:
        log.append(S, turns(5_000))
        for work, most in (
            (lambda: log.messages(S, last=10), 12),
            (lambda: log.entries(S, after=5_000, limit=10), 12),
            (lambda: log.tail(S, ("rounds", 3)), 34),  # a first piece of 32
        ):
            before = calls(log, "hget")
            work()
            assert 3 < calls(log, "hget") - before <= most


@pytest.mark.parametrize("batch", [turns(1, start=1), turns(100, start=1)], ids=["2", "200"])
def test_an_append_is_one_round_trip(own, batch):
    with RedisMessageLog(own.url) as log:
        log.append(S, turns(1))
        sent = []
        connection = log._server.client().connection_pool.get_connection()
        real = type(connection).send_packed_command

        def counted(self, command, *arguments, **options):
            sent.append(command)
            return real(self, command, *arguments, **options)

        log._server.client().connection_pool.release(connection)
        connection.send_packed_command = counted.__get__(connection)
        log.append(S, batch)
        log.append(S, batch, expected_version=2 + len(batch))
        assert len(sent) == 2


# --- what survives ----------------------------------------------------------------------------------------------------


def test_acknowledged_appends_survive_a_killed_server_and_errors_in_between_are_clear(own):
    with RedisMessageLog(own.url, timeout=2) as log:
        log.append(S, turns(3))
        log.append_nodes(S, [node(1, 2)], 0)
        own.kill()
        for work in (
            lambda: log.append(S, turns(1, start=3)),
            lambda: log.messages(S),
            log.sessions,
            lambda: log.erase(S),
            lambda: asyncio.run(log.aappend(S, turns(1, start=3))),
            lambda: asyncio.run(log.amessages(S)),
        ):
            with pytest.raises(MemoryStoreError, match=rf"redis://127\.0\.0\.1:{own.port}/0: .*server is up"):
                work()
        own.start()
        assert log.messages(S) == turns(3)
        assert log.nodes(S) == [node(1, 2)]
        assert log.append(S, turns(2, start=2)) == 8
        assert log.messages(S) == turns(4)


def test_writers_outlive_a_server_that_is_killed_twice(own):
    """Turns that were sent again are there once, since their ids tell them apart."""
    writers = start_writers("RedisMessageLog", own.url, writers=4, turns=150, patient=True, timeout=2)
    assert writers.stdout is not None
    first = writers.stdout.readline()
    for _ in range(2):
        time.sleep(0.3)
        own.kill()
        time.sleep(0.1)
        own.start()
    output = first + writers.stdout.read()
    writers.stdout.close()
    assert writers.wait() == 0
    with RedisMessageLog(own.url) as log:
        found = check_whole_turns(log.entries(S))
    assert found == set(acknowledged(output))
    assert len(found) == 600


def test_a_server_that_is_killed_while_it_is_written_to_keeps_whole_turns_only(own):
    writers = start_writers("RedisMessageLog", own.url, writers=4, turns=1_000_000, timeout=2)
    assert writers.stdout is not None
    first = writers.stdout.readline()
    time.sleep(0.5)
    own.kill()
    os.killpg(writers.pid, signal.SIGKILL)
    output = first + writers.stdout.read()
    writers.stdout.close()
    writers.wait()
    own.start()
    with RedisMessageLog(own.url) as log:
        found = check_whole_turns(log.entries(S))
    assert set(acknowledged(output)) <= found


def test_a_server_that_forgot_its_scripts_is_told_them_again(own):
    with RedisMessageLog(own.url) as log:
        log.append(S, turns(1))
        command(log, "SCRIPT", "FLUSH")
        assert log.append(S, turns(1, start=1), expected_version=2) == 4
        assert log.messages(S) == turns(2)


def test_a_connection_that_was_cut_is_replaced(own):
    with RedisMessageLog(own.url) as log, RedisMessageLog(own.url) as other:
        for n in range(3):
            log.append(S, turns(1, start=n))
            command(other, "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        assert log.append(S, turns(1, start=3), expected_version=6) == 8


class LosingProxy:
    """Passes bytes to a server, and hangs up in place of the answer to a command that it was told to lose."""

    def __init__(self, port):
        self.server = ("127.0.0.1", port)
        self.lose = 0
        self.lost = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}/0"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()

    def pass_on(self, client):
        with client, socket.create_connection(self.server) as server:
            while data := client.recv(1 << 20):
                server.sendall(data)
                answer = server.recv(1 << 20)
                if b"EVALSHA" in data and self.lose:
                    self.lose -= 1
                    self.lost += 1
                    return
                client.sendall(answer)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


async def test_an_append_whose_answer_was_lost_is_sent_again_and_stored_once(own, call):  # noqa: F811  # a fixture
    with LosingProxy(own.port) as proxy, RedisMessageLog(proxy.url) as log:
        await call(log, "append", S, turns(1))
        proxy.lose = 1
        assert await call(log, "append", S, [HumanMessage("one without an id"), AIMessage("and another")]) == 4
        assert proxy.lost == 1
        assert [message.content for message in await call(log, "messages", S)][2:] == [
            "one without an id",
            "and another",
        ]
        await log.aclose()


async def test_what_may_not_be_done_twice_is_not_sent_again(own, call):  # noqa: F811  # a fixture
    with LosingProxy(own.port) as proxy, RedisMessageLog(proxy.url) as log:
        work = [("append", (turns(1, start=1), 2)), ("append_nodes", ([node(1, 2)], 0)), ("erase", ())]
        for name in ("other", S):
            await call(log, "append", name, turns(1))
        for method, arguments in work:  # from here on the server knows the scripts
            await call(log, method, "other", *arguments)
        for method, arguments in work:
            proxy.lose = 1
            with pytest.raises(MemoryStoreError, match="onnection"):
                await call(log, method, S, *arguments)
        assert proxy.lost == 3  # each was done, and its caller knows that nobody knows
        assert await call(log, "messages", S) == []
        await log.aclose()


def test_a_session_lies_in_one_slot_of_a_cluster(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        options = DURABLE | {"cluster-enabled": "yes", "cluster-port": str(free.getsockname()[1])}
    with server(tmp_path, options) as own, RedisMessageLog(own.url) as log:
        command(log, "CLUSTER", "ADDSLOTSRANGE", 0, 16_383)
        wait_until(lambda: "cluster_state:ok" in str(command(log, "CLUSTER", "INFO")))
        for name in ("a", "b {c}"):
            assert log.append(name, turns(3)) == 6
            assert log.append_nodes(name, [node(1, 2)], 0) == 1
            assert (log.messages(name, last=2), len(log.nodes(name))) == (turns(3)[-2:], 1)
        assert log.sessions() == ["a", "b {c}"]
        assert log.erase("a") == 6


def test_a_full_server_takes_all_of_a_batch_or_none(tmp_path):
    with server(tmp_path, DURABLE | {"maxmemory": "6mb"}) as own, RedisMessageLog(own.url) as log:

        def fill():
            for n in range(1_000):
                log.append(S, [HumanMessage("x" * 50_000, id=f"{n}-{part}") for part in range(3)])

        with pytest.raises(MemoryStoreError, match="The server is full"):
            fill()
        entries = log.entries(S)
        assert len(entries) > 3
        assert len(entries) % 3 == 0
        assert [entry.number for entry in entries] == list(range(1, log.version(S) + 1))


# --- what stands on it ------------------------------------------------------------------------------------------------


async def test_a_summary_lives_beside_its_session_for_every_process(redis_url, prefix, call):  # noqa: F811  # a fixture
    view: list = []
    with RedisMessageLog(redis_url, prefix=prefix, ttl=60) as log:
        memory = SummaryMemory(log=log, session_id=S, trigger=("messages", 6), keep=("rounds", 2))
        for n in range(8):
            view = await call(memory, "invoke", turns(n + 1))
        assert 0 < len(view) < 16
        assert log.version(S) == 16
        assert len(log.nodes(S)) > 1
    with RedisMessageLog(redis_url, prefix=prefix) as log:
        again = SummaryMemory(log=log, session_id=S, trigger=("messages", 6), keep=("rounds", 2))
        assert await call(again, "invoke", []) == view


# --- a server that may forget -----------------------------------------------------------------------------------------


async def test_a_server_that_may_forget_is_told_of_once(tmp_path, call, caplog):  # noqa: F811  # a fixture
    events = []
    options = {"appendonly": "no", "maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    caplog.set_level(logging.WARNING)
    with server(tmp_path, options) as own, RedisMessageLog(own.url, hooks=[events.append]) as log:
        for n in range(3):
            await call(log, "append", S, turns(1, start=n))
            await call(log, "messages", S)
    (event,) = events
    assert isinstance(event, StoreMayForget)
    assert "maxmemory-policy is allkeys-lru" in event.describe()
    assert "appendonly is no" in event.describe()
    assert len([record for record in caplog.records if "may forget" in record.getMessage()]) == 1


def test_a_server_that_does_not_say_is_told_of_too(own):
    events = []
    with RedisMessageLog(own.url) as admin:
        command(admin, "ACL", "SETUSER", "ada", "on", ">s3cr3t", "~*", "+@all", "-info", "-config")
    with RedisMessageLog(own.url.replace("//", "//ada:s3cr3t@"), hooks=[events.append]) as log:
        assert log.append(S, turns(1)) == 2
    (event,) = events
    assert "does not let this user read INFO" in event.describe()
    assert "nobody knows" in event.describe()
    assert "s3cr3t" not in event.describe()


def test_of_a_durable_server_nothing_is_told(own):
    events = []
    with RedisMessageLog(own.url, hooks=[events.append]) as log:
        log.append(S, turns(1))
    assert events == []


# --- processes, loops and tasks ---------------------------------------------------------------------------------------


def test_one_log_serves_many_event_loops_and_threads(log):
    asyncio.run(log.aappend(S, turns(1)))
    log.append(S, turns(1, start=1))
    asyncio.run(log.aappend(S, turns(1, start=2)))
    assert asyncio.run(log.amessages(S)) == turns(3) == log.messages(S)


async def test_many_tasks_write_and_read_at_once(log):
    await asyncio.gather(*(log.aappend(S, turns(1, start=n)) for n in range(200)))
    reads = await asyncio.gather(*(log.amessages(S, last=400) for _ in range(5)))
    assert all(len({message.id for message in read}) == 400 for read in reads)
    assert [entry.number for entry in await log.aentries(S)] == list(range(1, 401))


async def test_of_tasks_with_one_expected_version_one_wins(log):
    writes = (log.aappend(S, turns(1, start=n), expected_version=0) for n in range(8))
    outcomes = await asyncio.gather(*writes, return_exceptions=True)
    assert sum(outcome == 2 for outcome in outcomes) == 1
    assert sum(isinstance(outcome, VersionConflictError) for outcome in outcomes) == 7
    assert await log.aversion(S) == 2


async def test_the_event_loop_goes_on_while_the_server_does_not_answer(own):
    log = RedisMessageLog(own.url, timeout=1)
    await log.aversion(S)
    own.pause()
    ticks = 0
    waiting = asyncio.create_task(log.aappend(S, turns(1)))
    while not waiting.done():
        await asyncio.sleep(0.01)
        ticks += 1
    with pytest.raises(MemoryStoreError, match="Nothing came within 1 s"):
        await waiting
    own.resume()
    assert ticks > 20
    await log.aclose()


async def test_a_task_that_is_cancelled_leaves_nothing_half_done_and_the_log_usable(log):
    for n in range(30):
        task = asyncio.create_task(log.aappend(S, turns(5, start=5 * n)))
        await asyncio.sleep(0.0005 * (n % 5))
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert await log.aversion(S) % 10 == 0
    await log.aappend(S, turns(150))
    assert await log.aversion(S) == 300
    assert {message.id for message in await log.amessages(S)} == {message.id for message in turns(150)}


async def test_a_closed_log_says_so(redis_url, prefix):
    log = RedisMessageLog(redis_url, prefix=prefix)
    await log.aappend(S, turns(1))
    await log.aclose()
    with pytest.raises(MemoryStoreError, match="is closed"):
        log.append(S, turns(1))
    with pytest.raises(MemoryStoreError, match="is closed"):
        await log.amessages(S)


def test_a_log_is_pickled_by_its_address(redis_url, prefix):
    with RedisMessageLog(redis_url, prefix=prefix, ttl=1_000) as log:
        log.append(S, turns(1))
        with pickle.loads(pickle.dumps(log)) as copy:  # noqa: S301  # our own object
            assert copy.messages(S) == turns(1)
            copy.append(S, [])
            assert command(log, "PTTL", log.blocking._key(S)) > 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_opens_connections_of_its_own(redis_url, prefix):
    script = textwrap.dedent("""
        import os, sys
        from langchain_core.messages import HumanMessage
        from langchain_tiered_memory import RedisMessageLog

        log = RedisMessageLog(sys.argv[1], prefix=sys.argv[2])
        log.append("s", [HumanMessage("parent")])
        child = os.fork()
        if not child:
            log.append("s", [HumanMessage("child")])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        log.append("s", [HumanMessage("parent again")])
        print([message.content for message in log.messages("s")])
    """)
    command = [sys.executable, "-c", script, redis_url, prefix]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    assert done.stdout.strip() == "['parent', 'child', 'parent again']"


# --- what others wrote ------------------------------------------------------------------------------------------------


def test_a_key_of_another_kind_is_reported_and_left_alone(log):
    command(log, "SET", log.blocking._key(S), "somebody's")
    for work in (lambda: log.append(S, turns(1)), lambda: log.messages(S), lambda: log.erase(S)):
        with pytest.raises(MemoryStoreError, match="WRONGTYPE"):
            work()
    assert command(log, "GET", log.blocking._key(S)) == "somebody's"
    command(log, "DEL", log.blocking._key(S))


def test_a_message_that_cannot_be_read_is_named(log):
    log.append(S, [*turns(1), AIMessage("x")])
    command(log, "HSET", log.blocking._key(S), "m2", "1 {}")
    with pytest.raises(MemoryStoreError, match="message 2 of session 'session' cannot be read"):
        log.messages(S)
    command(log, "HDEL", log.blocking._key(S), "m2")
    with pytest.raises(MemoryStoreError, match="lacks m2"):
        log.messages(S)
