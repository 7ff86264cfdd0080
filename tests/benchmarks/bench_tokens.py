"""How long the worst inputs take, and what counting a message again costs.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_tokens.py`.

Times are CPU seconds of this thread, the least of three passes.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory.messages.tokens import TiktokenCounter
from langchain_tiered_memory.messages.vocabulary import rough_tokens
from support.pathological import MAKERS

if TYPE_CHECKING:
    from collections.abc import Callable

PASSES = 3
AGAIN = 20_000


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one piece of work, the least of some passes."""
    times = []
    for _ in range(PASSES):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return min(times)


def worst_inputs() -> None:
    """A megabyte of each: how long it takes to count, and to count roughly."""
    exact = TiktokenCounter("o200k_base")
    print(f"{'one megabyte of':<26}{'tokens':>10}{'counted':>10}{'roughly':>11}")
    slowest = 0.0
    for name, make in MAKERS.items():
        text = make()
        counted = seconds(functools.partial(exact.count_text, text))
        estimated = seconds(functools.partial(rough_tokens, text))
        slowest = max(slowest, counted)
        print(f"{name:<26}{exact.count_text(text):>10,}{counted * 1e3:>7.0f} ms{estimated * 1e3:>8.0f} ms")
    print(f"slowest {slowest * 1e3:.0f} ms; allowed 200 ms\n")


def counting_again() -> None:
    """What it costs to count a message that was counted before."""
    counter = TiktokenCounter("o200k_base")
    call = {"name": "get_weather", "args": {"city": "Paris", "days": 3}, "id": "call_1"}
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 400_000}}
    kinds = {
        "text": HumanMessage("How far is the moon? " * 20),
        "answer": AIMessage("About 384,400 km. " * 20, additional_kwargs={"refusal": None}),
        "tool call": AIMessage("", tool_calls=[call]),
        "picture, 400 kB": HumanMessage([{"type": "text", "text": "see"}, picture]),
    }
    print(f"{'counted again':<20}{'per message':>14}")
    for name, message in kinds.items():
        counter.count_message(message)
        took = seconds(functools.partial(counter.count_messages, [message] * AGAIN))
        print(f"{name:<20}{took / AGAIN * 1e6:>11.2f} µs")


def main() -> int:
    """Print all tables."""
    worst_inputs()
    counting_again()
    return 0


if __name__ == "__main__":
    sys.exit(main())
