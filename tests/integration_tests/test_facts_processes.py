"""Many processes on one fact, and a Redis that dies under them."""

from __future__ import annotations

import multiprocessing
from uuid import uuid4

import pytest

from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore
from langchain_tiered_memory.types import MemoryScope
from support.fact_writers import INCREMENTS, increment_in_process

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


@pytest.mark.parametrize("backend", ["sqlite", "postgres", "redis", "cached"])
def test_no_increment_of_many_processes_is_lost(backend, scope, redis_prefix, redis_url, postgres_url, tmp_path):
    sqlite = f"sqlite:///{tmp_path}/facts.db"
    facts = {
        "sqlite": lambda: SQLFactStore(sqlite),
        "postgres": lambda: SQLFactStore(postgres_url),
        "redis": lambda: RedisFactStore(redis_url, prefix=redis_prefix),
        "cached": lambda: CachedFactStore(RedisFactStore(redis_url, prefix=redis_prefix), SQLFactStore(sqlite)),
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
