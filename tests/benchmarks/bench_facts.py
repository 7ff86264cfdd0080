"""The fact stores: SQLite beside bare sqlite3, and what the Redis stores cost in commands.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_facts.py`.

Bare sqlite3 does the least that keeps the same columns: a file in WAL mode with synchronous=NORMAL, one row for each
fact under its scope, entity and attribute, one upsert for each write, one SELECT by primary key for each read; no
history, no check of a version. The contenders take turns, and medians of single calls in one process are compared.
Redis is measured where `TIERED_MEMORY_REDIS_URL`, or a server at the usual port, answers.
"""

from __future__ import annotations

import json
import os
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore
from langchain_tiered_memory._redis import RedisServer
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from collections.abc import Callable

FACTS = 1_000
CALLS = 5_000
PASSES = 5
ADA = MemoryScope(user="ada")
VALUE = "Unter den Linden 77, 10117 Berlin"
REDIS_VARIABLE = "TIERED_MEMORY_REDIS_URL"


class Bare:
    """sqlite3 with nothing around it."""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.execute(
            "CREATE TABLE facts (scope TEXT, entity TEXT, attribute TEXT, value TEXT, valid_from INTEGER, "
            "valid_until INTEGER, version INTEGER, source TEXT, updated_at INTEGER, "
            "PRIMARY KEY (scope, entity, attribute)) WITHOUT ROWID"
        )

    def put(self, n: int) -> None:
        now = time.time_ns() // 1_000
        row = (ADA.user, "user", f"attribute {n % FACTS}", json.dumps(VALUE), now, None, 1, None, now)
        self.connection.execute(
            "INSERT INTO facts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value, "
            "valid_from = excluded.valid_from, version = version + 1, updated_at = excluded.updated_at",
            row,
        )

    def get(self, n: int) -> Any:
        return self.connection.execute(
            "SELECT * FROM facts WHERE scope = ? AND entity = ? AND attribute = ?",
            (ADA.user, "user", f"attribute {n % FACTS}"),
        ).fetchone()


def microseconds(work: Callable[[int], object], calls: int = CALLS) -> float:
    """The median of single calls."""
    times = []
    for n in range(calls):
        start = time.perf_counter_ns()
        work(n)
        times.append(time.perf_counter_ns() - start)
    return statistics.median(times) / 1_000


def beside_sqlite(folder: Path) -> bool:
    """Put and get, the contenders in turn."""
    facts = SQLFactStore(f"sqlite:///{folder}/facts.db")
    bare = Bare(folder)
    work: dict[str, Callable[[int], object]] = {
        "bare upsert": bare.put,
        "put": lambda n: facts.put(ADA, "user", f"attribute {n % FACTS}", VALUE),
        "bare select": bare.get,
        "get": lambda n: facts.get(ADA, "user", f"attribute {n % FACTS}"),
    }
    times: dict[str, list[float]] = {name: [] for name in work}
    for n in range(PASSES + 1):
        for name, call in work.items():
            spent = microseconds(call)
            if n:  # the first pass opens files and fills caches
                times[name].append(spent)
    facts.close()
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    print(f"microseconds, median of {CALLS:,} calls on {FACTS:,} facts, median of {PASSES} passes")
    for name, spent in medians.items():
        row(name, spent)
    puts = medians["put"] / medians["bare upsert"]
    gets = medians["get"] / medians["bare select"]
    return row("times a bare upsert", puts, "<= 3", reached=puts <= 3) & row(
        "times a bare select", gets, "<= 3", reached=gets <= 3
    )


def with_redis(url: str, folder: Path) -> bool:
    """How long a get and a put take, and how many round trips."""
    server = RedisServer(url, needed_by="this benchmark")
    prefix = f"bench-{uuid4().hex}"
    stores = {
        "RedisFactStore": RedisFactStore(url, prefix=prefix),
        "CachedFactStore": CachedFactStore(
            RedisFactStore(url, prefix=f"{prefix}-hot"), SQLFactStore(f"sqlite:///{folder}/cold.db")
        ),
    }
    ping = microseconds(lambda _: server.execute("PING"), 1_000)
    print("\nRedis, microseconds and round trips")
    row("PING", ping)
    met = True
    for name, store in stores.items():
        store.put(ADA, "user", "attribute 0", VALUE)
        store.get(ADA, "user", "attribute 0")
        for what, work in {
            "put": lambda n, store=store: store.put(ADA, "user", f"attribute {n % FACTS}", VALUE),
            "get": lambda n, store=store: store.get(ADA, "user", f"attribute {n % FACTS}"),
        }.items():
            row(f"{name}.{what}", microseconds(work, 1_000))
            trips = round_trips(work)
            wanted = 1 if name == "RedisFactStore" or what == "get" else 2
            met &= row(f"{name}.{what}, round trips", trips, f"<= {wanted}", reached=trips <= wanted)
        store.erase(ADA)
        store.close()
    if keys := server.execute("KEYS", f"{prefix}*"):
        server.execute("DEL", *keys)
    server.close()
    return met


def round_trips(work: Callable[[int], object]) -> float:
    """What one call sends, counted where it leaves this process."""
    import redis  # noqa: PLC0415  # an extra

    sent = 0
    real = redis.connection.Connection.send_packed_command

    def send(connection: Any, *command: Any, **options: Any) -> Any:
        nonlocal sent
        sent += 1
        return real(connection, *command, **options)

    redis.connection.Connection.send_packed_command = send
    try:
        for n in range(100):
            work(n)
    finally:
        redis.connection.Connection.send_packed_command = real
    return sent / 100


def row(name: str, value: float, target: str = "", *, reached: bool | None = None) -> bool:
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<40}{value:>10.3f}  {target:>8}  {verdict}".rstrip())
    return reached is not False


def main() -> int:
    """Print both tables; the exit code is 1 if a target was missed."""
    with tempfile.TemporaryDirectory() as folder:
        results = [beside_sqlite(Path(folder))]
        url = os.environ.get(REDIS_VARIABLE, "redis://127.0.0.1:6379/0")
        try:
            server = RedisServer(url, needed_by="this benchmark", timeout=1)
            server.execute("PING")
            server.close()
        except (MemoryStoreError, ImportError) as error:
            print(f"\nRedis is not measured: {error}")
        else:
            results.append(with_redis(url, Path(folder)))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
