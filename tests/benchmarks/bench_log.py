"""The SQLite log, beside langchain_community's SQLChatMessageHistory and beside bare sqlite3.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_log.py`.

Bare sqlite3 does the least that keeps the same promise: a file in WAL mode with synchronous=NORMAL, one transaction per
message, the same columns and the same index that finds a message again, langchain_core's own JSON. Times are CPU
milliseconds of this process; the contenders take turns, and medians of several passes are compared.
"""

from __future__ import annotations

import json
import math
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, message_to_dict

from langchain_tiered_memory.working.sql import SQLMessageLog

if TYPE_CHECKING:
    from collections.abc import Callable

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


def by_length(folder: Path) -> bool:
    """What an append and a tail cost as the session grows."""
    log = SQLMessageLog(f"sqlite:///{folder}/length.db")
    appends, tails, rounds = [], [], []
    length = 0
    print(f"\nCPU milliseconds by the length of the session, medians of {AT_EACH_LENGTH}")
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
    log.close()
    met = True
    for name, costs in (("append", appends), ("last messages", tails), ("last rounds", rounds)):
        exponent = statistics.linear_regression([math.log(n) for n in LENGTHS], [math.log(c) for c in costs]).slope
        met &= row(f"growth exponent, {name}", exponent, "< 0.1", reached=exponent < 0.1)
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


def main() -> int:
    """Print both tables; the exit code is 1 if a target was missed."""
    with tempfile.TemporaryDirectory() as folder:
        results = [one_by_one(Path(folder)), by_length(Path(folder))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
