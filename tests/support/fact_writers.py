"""What the processes do that write facts at the same time, in a module that every one of them can import.

A test module has no name that another process could import it by.
"""

from __future__ import annotations

import time

from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.semantic.sql import SQLFactStore
from langchain_tiered_memory.types import MemoryScope

ADA = MemoryScope("ada")
INCREMENTS = 1_000


def increment(facts, scope, times, results):
    """Add one to a fact, again and again, by compare-and-set."""
    conflicts = 0
    for _ in range(times):
        while True:
            fact = facts.get(scope, "counter", "n")
            value, version = (fact.value, fact.version) if fact else (0, 0)
            try:
                facts.put(scope, "counter", "n", value + 1, expected_version=version)
                break
            except VersionConflictError:
                conflicts += 1
    facts.close()
    results.put(conflicts)


def increment_in_process(facts, scope, _, results):
    increment(facts, scope, INCREMENTS, results)


def work_while_redis_dies(facts, scope, stop, number, results):
    """Write facts of one's own and a shared one; report every read that is older than an acknowledged write."""
    acknowledged, stale, reads, slowest, shared = {}, [], 0, 0.0, 0
    turn = 0
    while not stop.is_set():
        turn += 1
        if turn == 2:
            results.put("under way")
        attribute = f"{number}-{turn % 5}"
        started = time.monotonic()
        acknowledged[attribute] = facts.put(scope, "own", attribute, turn).version
        slowest = max(slowest, time.monotonic() - started)
        for other in range(5):
            name = f"{number}-{other}"
            fact = facts.get(scope, "own", name)
            reads += 1
            if name in acknowledged and (fact is None or fact.version < acknowledged[name]):
                stale.append((name, acknowledged[name], fact and fact.version))
        fact = facts.get(scope, "counter", "n")
        try:
            put = facts.put(
                scope, "counter", "n", (fact.value if fact else 0) + 1, expected_version=fact.version if fact else 0
            )
            shared += 1
            latest = put.version
        except VersionConflictError as conflict:
            latest = conflict.actual
        seen = facts.get(scope, "counter", "n")
        reads += 1
        if seen is None or seen.version < latest:
            stale.append(("counter", latest, seen and seen.version))
    facts.close()
    results.put((acknowledged, stale, reads, slowest, shared))


def put_in_child(facts, results):
    results.put(facts.put(ADA, "e", "a", 2).version)


def crash(url, ready):
    facts = SQLFactStore(url)
    for n in range(1_000_000):
        facts.put(ADA, "e", "n", n)
        ready.send(n)
