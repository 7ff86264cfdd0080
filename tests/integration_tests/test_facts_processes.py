"""Many processes on one fact, and a Redis that dies under them."""

from __future__ import annotations

import multiprocessing
import time
from uuid import uuid4

import pytest

from langchain_tiered_memory._redis.server import RedisServer
from langchain_tiered_memory.semantic.cached import CachedFactStore
from langchain_tiered_memory.semantic.redis import RedisFactStore
from langchain_tiered_memory.semantic.sql import SQLFactStore
from langchain_tiered_memory.types import MemoryScope
from support.fact_writers import INCREMENTS, increment_in_process, work_while_redis_dies
from support.services import OwnRedis

pytestmark = pytest.mark.service

PROCESSES = 8
# Forked off one process that has imported everything once; to fork a test runner with its threads would be unsafe.
FORKING = multiprocessing.get_context("forkserver")
FORKING.set_forkserver_preload(
    [
        "langchain_tiered_memory.semantic.cached",
        "langchain_tiered_memory.semantic.sql",
        "langsmith.run_helpers",  # which langchain_core imports when the first event is told
        "psycopg",
        "redis",
        "support.fact_writers",
    ]
)


def run(target, arguments):
    """Run in as many processes, and give what each of them put into the queue."""
    results = FORKING.Queue()
    processes = [FORKING.Process(target=target, args=(*arguments, n, results)) for n in range(PROCESSES)]
    for process in processes:
        process.start()
    return processes, results


@pytest.fixture
def scope():
    return MemoryScope(user=uuid4().hex)


@pytest.fixture
def prefix(redis_url):
    prefix = f"test-{uuid4().hex}"
    yield prefix
    server = RedisServer(redis_url, needed_by="a test")
    if keys := server.scan(f"{prefix}*"):
        server.execute("DEL", *keys)
    server.close()


@pytest.mark.parametrize("backend", ["sqlite", "postgres", "redis", "cached"])
def test_no_increment_of_many_processes_is_lost(backend, scope, prefix, redis_url, postgres_url, tmp_path):
    sqlite = f"sqlite:///{tmp_path}/facts.db"
    facts = {
        "sqlite": lambda: SQLFactStore(sqlite),
        "postgres": lambda: SQLFactStore(postgres_url),
        "redis": lambda: RedisFactStore(redis_url, prefix=prefix),
        "cached": lambda: CachedFactStore(RedisFactStore(redis_url, prefix=prefix), SQLFactStore(sqlite)),
    }[backend]()
    processes, results = run(increment_in_process, (facts, scope))
    for _ in processes:
        results.get(timeout=300)
    for process in processes:
        process.join()
    fact = facts.get(scope, "counter", "n")
    assert (fact.value, fact.version) == (PROCESSES * INCREMENTS, PROCESSES * INCREMENTS)
    facts.erase(scope)
    facts.close()


KILLS = 4


@pytest.fixture
def server(tmp_path):
    server = OwnRedis(tmp_path)
    yield server
    server.kill()


def test_a_redis_that_is_killed_and_comes_back_with_old_data_gives_no_wrong_answer(scope, server, tmp_path):
    cold = SQLFactStore(f"sqlite:///{tmp_path}/facts.db")
    facts = CachedFactStore(RedisFactStore(server.url, timeout=1.0), cold, lease=0.5)
    facts.put(scope, "counter", "n", 0)
    stop = FORKING.Event()
    processes, results = run(work_while_redis_dies, (facts, scope, stop))
    for _ in processes:
        assert results.get(timeout=120) == "under way"
    for _ in range(KILLS):
        time.sleep(1.5)
        assert server.ask("SAVE") == "+OK"  # what comes back is what was cached now, and is old by then
        time.sleep(0.3)
        server.kill()
        time.sleep(0.7)
        server.start()
    time.sleep(1.5)
    stop.set()
    reports = [results.get(timeout=120) for _ in processes]
    for process in processes:
        process.join()
    assert [stale for _, stale, *_ in reports if stale] == []
    for acknowledged, *_ in reports:
        for attribute, version in acknowledged.items():
            assert facts.get(scope, "own", attribute).version == version
            assert cold.get(scope, "own", attribute).version == version
    assert facts.get(scope, "counter", "n").value == sum(shared for *_, shared in reports)
    state = cold.history(MemoryScope(user="cache", tenant="langchain-tiered-memory"), "generation", "fact")
    in_use = {one.value["number"] for one in state if one.value["run_id"] and one.value["settled"]}
    print(len(in_use), "generations")  # noqa: T201  # as below
    assert len(in_use) > 1, "the cache never came back, so nothing was put to the test"
    print([(reads, shared, round(slowest, 2)) for _, _, reads, slowest, shared in reports])  # noqa: T201  # pytest -rP shows it
    assert sum(reads for _, _, reads, *_ in reports) > PROCESSES * 50
    facts.close()
