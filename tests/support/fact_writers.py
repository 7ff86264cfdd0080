"""What the processes do that write facts at the same time, in a module that every one of them can import.

A test module has no name that another process could import it by.
"""

from __future__ import annotations

from langchain_tiered_memory import SQLFactStore
from langchain_tiered_memory.errors import VersionConflictError
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


def put_in_child(facts, results):
    results.put(facts.put(ADA, "e", "a", 2).version)


def crash(url, ready):
    facts = SQLFactStore(url)
    for n in range(1_000_000):
        facts.put(ADA, "e", "n", n)
        ready.send(n)
