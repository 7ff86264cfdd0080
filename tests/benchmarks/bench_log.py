"""The logs in SQLite and Redis, beside langchain_community's histories and beside the bare drivers.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_log.py`.

Bare sqlite3 does the least that keeps the same promise: a file in WAL mode with synchronous=NORMAL, one transaction per
message, the same columns and the same index that finds a message again, langchain_core's own JSON. Times are CPU
milliseconds of this process; the contenders take turns, and medians of several passes are compared.

Bare redis-py pushes each message to a list, one command, and keeps no promise but that one. The Redis part needs a
server (`TIERED_MEMORY_REDIS_URL`, else the local one) and is left out without.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict

from langchain_tiered_memory import SQLMessageLog
from support.services import REDIS_DEFAULT, REDIS_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from langchain_tiered_memory.working.log import MessageLog

APPENDS = 1_000
PASSES = 5
COMMUNITY_APPENDS = 200
LENGTHS = (100, 1_000, 10_000, 100_000)
AT_EACH_LENGTH = 300
WINDOW = 40
SESSION = "session"


def conversation(count: int, start: int = 0) -> list[BaseMessage]:
    """Messages of the length that people and models write, without ids, as a chain hands them over."""
    words = "the quick brown fox jumps over the lazy dog and looks for what was said before it came here "
    return [
        HumanMessage(f"{n}: {words}")
        if n % 2 == 0
        else AIMessage(f"{n}: {words * 3}", response_metadata={"model": "m"})
        for n in range(start, start + count)
    ]


class Bare:
    """sqlite3 with nothing around it."""

    def __init__(self, folder: Path) -> None:
        self.connection = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self.connection.execute("PRAGMA journal_mode=WAL")
        self.connection.execute("PRAGMA synchronous=NORMAL")
        self.connection.execute(
            "CREATE TABLE messages (session_id TEXT, number INTEGER, message_key TEXT, created_at INTEGER, body TEXT, "
            "PRIMARY KEY (session_id, number), UNIQUE (session_id, message_key)) WITHOUT ROWID"
        )
        self.number = 0

    def append(self, message: BaseMessage) -> None:
        self.number += 1
        row = (
            SESSION,
            self.number,
            f"{self.number:032x}",
            time.time_ns() // 1_000,
            json.dumps(message_to_dict(message)),
        )
        self.connection.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", row)


def community(folder: Path) -> Callable[[BaseMessage], None]:
    """langchain_community's history over SQLAlchemy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces its end; that is not measured here
        from langchain_community.chat_message_histories import SQLChatMessageHistory  # noqa: PLC0415  # as above

        return SQLChatMessageHistory(SESSION, connection=f"sqlite:///{folder}/community.db").add_message


def milliseconds(append: Callable[[BaseMessage], object], messages: list[BaseMessage]) -> float:
    """CPU time of one append."""
    start = time.process_time()
    for message in messages:
        append(message)
    return (time.process_time() - start) * 1_000 / len(messages)


def one_by_one(folder: Path) -> bool:
    """Appends one by one, the contenders in turn."""
    log = SQLMessageLog(f"sqlite:///{folder}/log.db")
    contenders: dict[str, tuple[Callable[[BaseMessage], object], int]] = {
        "SQLChatMessageHistory": (community(folder), COMMUNITY_APPENDS),
        "bare sqlite3": (Bare(folder).append, APPENDS),
        "SQLMessageLog": (lambda message: log.append(SESSION, [message]), APPENDS),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for n in range(PASSES + 1):
        for name, (append, count) in contenders.items():
            spent = milliseconds(append, conversation(count, start=n * count))
            if n:  # the first pass opens files and fills caches
                times[name].append(spent)
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    log.close()
    ours = medians["SQLMessageLog"]
    print(f"CPU milliseconds per append, {APPENDS:,} one by one, median of {PASSES} passes")
    for name, spent in medians.items():
        row(name, spent)
    less = medians["SQLChatMessageHistory"] / ours
    more = ours / medians["bare sqlite3"]
    return row("times less than the history", less, ">= 10", reached=less >= 10) & row(
        "times bare sqlite3", more, "<= 3", reached=more <= 3
    )


def by_length(name: str, log: MessageLog) -> bool:
    """What an append and a tail cost as the session grows."""
    appends, tails, rounds = [], [], []
    length = 0
    print(f"\nCPU milliseconds by the length of the session in {name}, medians of {AT_EACH_LENGTH}")
    for wanted in LENGTHS:
        while length < wanted:
            step = min(5_000, wanted - length)
            length = log.append(SESSION, conversation(step, start=length))
        appends.append(median_of(lambda n: log.append(SESSION, conversation(1, start=n))))
        tails.append(median_of(lambda _: log.messages(SESSION, last=WINDOW)))
        rounds.append(median_of(lambda _: log.tail(SESSION, ("rounds", WINDOW // 2))))
        length = log.version(SESSION)
        row(f"append to {wanted:,} messages", appends[-1])
        row(f"last {WINDOW} of {wanted:,} messages", tails[-1])
        row(f"last {WINDOW // 2} rounds of {wanted:,} messages", rounds[-1])
    log.erase(SESSION)
    log.close()
    met = True
    for what, costs in (("append", appends), ("last messages", tails), ("last rounds", rounds)):
        exponent = statistics.linear_regression([math.log(n) for n in LENGTHS], [math.log(c) for c in costs]).slope
        met &= row(f"growth exponent, {what}", exponent, "< 0.1", reached=exponent < 0.1)
    return met


def median_of(work: Callable[[int], object]) -> float:
    """Median CPU milliseconds of one piece of work; batches of ten, since the clock is coarse."""
    times = []
    for n in range(AT_EACH_LENGTH // 10):
        start = time.process_time()
        for k in range(10):
            work(10 * n + k)
        times.append((time.process_time() - start) * 100)
    return statistics.median(times)


def row(name: str, value: float, target: str = "", *, reached: bool | None = None) -> bool:
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<40}{value:>10.3f}  {target:>8}  {verdict}".rstrip())
    return reached is not False


# --- Redis ------------------------------------------------------------------------------------------------------------


@contextmanager
def counted() -> Iterator[list[int]]:
    """How often redis-py sends something, which is how often it waits for an answer."""
    from redis.connection import AbstractConnection  # noqa: PLC0415  # an extra

    real, sent = AbstractConnection.send_packed_command, [0]

    def send(self: Any, *arguments: Any, **options: Any) -> Any:
        sent[0] += 1
        return real(self, *arguments, **options)

    AbstractConnection.send_packed_command = send
    try:
        yield sent
    finally:
        AbstractConnection.send_packed_command = real


def turn(number: int) -> list[BaseMessage]:
    """A question and its answer."""
    return conversation(2, start=2 * number)


def in_redis(client: Any, url: str, prefix: str) -> bool:
    """Whole turns appended one by one, the contenders in turn."""
    from langchain_tiered_memory.working.log_redis import RedisMessageLog  # noqa: PLC0415  # an extra

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as above
        from langchain_community.chat_message_histories import RedisChatMessageHistory  # noqa: PLC0415  # as above

        history = RedisChatMessageHistory(SESSION, url=url, key_prefix=f"{prefix}history:")

    def bare(messages: list[BaseMessage]) -> None:
        client.rpush(f"{prefix}bare", *(json.dumps(message_to_dict(message)) for message in messages))

    log = RedisMessageLog(url, prefix=prefix)
    contenders: dict[str, Callable[[list[BaseMessage]], object]] = {
        "RedisChatMessageHistory": history.add_messages,
        "bare redis-py, a list": bare,
        "RedisMessageLog": lambda messages: log.append(SESSION, messages),
    }
    times: dict[str, list[float]] = {name: [] for name in contenders}
    waits: dict[str, list[float]] = {name: [] for name in contenders}
    trips: dict[str, float] = {}
    for n in range(PASSES + 1):
        for name, append in contenders.items():
            turns = [turn(number) for number in range(n * APPENDS, (n + 1) * APPENDS)]
            with counted() as sent:
                start, began = time.process_time(), time.perf_counter()
                for one in turns:
                    append(one)
                spent, waited = time.process_time() - start, time.perf_counter() - began
            if n:  # the first pass opens connections and loads the script
                times[name].append(spent * 1_000 / APPENDS)
                waits[name].append(waited * 1_000 / APPENDS)
                trips[name] = sent[0] / APPENDS
    medians = {name: statistics.median(spent) for name, spent in times.items()}
    print(f"\nRedis: milliseconds of CPU, in all, and round trips per turn of two messages, {APPENDS:,} one by one")
    for name, spent in medians.items():
        print(f"  {name:<40}{spent:>10.3f}{statistics.median(waits[name]):>10.3f}{trips[name]:>8.2f} trips")
    keys = {"RedisChatMessageHistory": history.key, "RedisMessageLog": log.blocking._key(SESSION)}  # its size
    for name, key in keys.items():
        stored = client.memory_usage(key, samples=0) / (2 * APPENDS * (PASSES + 1))
        print(f"  {f'bytes of {name} per message':<40}{stored:>10.0f}")
    log.erase(SESSION)
    client.delete(f"{prefix}bare", history.key)
    ours, plain = medians["RedisMessageLog"], medians["bare redis-py, a list"]
    theirs, most = medians["RedisChatMessageHistory"], 3
    met = row("round trips per turn", trips["RedisMessageLog"], "= 1", reached=trips["RedisMessageLog"] == 1)
    met &= row("times the history", ours / theirs, "<= 1.5", reached=ours <= 1.5 * theirs)
    return met & row("times bare redis-py", ours / plain, f"<= {most}", reached=ours <= most * plain)


def redis_parts() -> list[bool]:
    """Both tables for Redis; nothing where there is no server."""
    url = os.environ.get(REDIS_VARIABLE, REDIS_DEFAULT)
    try:
        import redis  # noqa: PLC0415  # an extra

        from langchain_tiered_memory.working.log_redis import RedisMessageLog  # noqa: PLC0415  # as above
    except ModuleNotFoundError as error:
        print(f"\nRedis left out: {error}")
        return []
    client = redis.Redis.from_url(url, decode_responses=True)
    try:
        client.ping()
    except redis.RedisError as error:
        print(f"\nRedis left out: {error}")
        return []
    prefix = f"tiered_memory_bench_{uuid4().hex}:"
    return [in_redis(client, url, prefix), by_length("Redis", RedisMessageLog(url, prefix=prefix))]


def main() -> int:
    """Print the tables; the exit code is 1 if a target was missed."""
    logging.disable(logging.WARNING)  # what the server's configuration may forget is not measured here
    with tempfile.TemporaryDirectory() as folder:
        results = [one_by_one(Path(folder)), by_length("SQLite", SQLMessageLog(f"sqlite:///{folder}/length.db"))]
        results += redis_parts()
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
