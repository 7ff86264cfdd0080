"""How near the estimator is, how long the worst inputs take, and what counting again costs.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_tokens.py`.

Errors are relative to o200k_base, over texts that were written or generated for these tests (tests/support). Times are
CPU seconds of this thread, the least of three passes.
"""

from __future__ import annotations

import functools
import sys
import time
from typing import TYPE_CHECKING

from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
from support import vocabulary
from support.pathological import MAKERS
from support.shared import use_shared_vocabularies
from support.token_corpora import corpora
from support.token_registers import register_corpora

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


def estimator_table() -> None:
    """Each corpus: true tokens, the estimate and its error, and the error of langchain's approximation.

    The tables of the estimator were not fitted to the registers (news, stories, chats and so on of each language).
    """
    exact, estimator = TiktokenCounter("o200k_base"), EstimatingCounter()
    print(f"{'corpus':<34}{'o200k_base':>11}{'estimate':>10}{'error':>9}{'approximately':>15}")
    errors = []
    for name, text in {
        **corpora(),
        **{f"{name} (register)": text for name, text in register_corpora().items()},
    }.items():
        truth, estimate = exact.count_text(text), estimator.count_text(text)
        approximate = count_tokens_approximately([HumanMessage(text)])
        errors.append(estimate / truth - 1)
        print(f"{name:<34}{truth:>11,}{estimate:>10,}{errors[-1]:>+9.1%}{approximate / truth - 1:>+15.1%}")
    print(f"from {min(errors):+.1%} to {max(errors):+.1%}; allowed from -10 % to +15 %\n")


def worst_inputs() -> None:
    """A megabyte of each: how long it takes to count and to estimate."""
    exact, estimator = TiktokenCounter("o200k_base"), EstimatingCounter()
    print(f"{'one megabyte of':<26}{'tokens':>10}{'counted':>10}{'estimated':>11}")
    slowest = 0.0
    for name, make in MAKERS.items():
        text = make()
        counted = seconds(functools.partial(exact.count_text, text))
        estimated = seconds(functools.partial(estimator.count_text, text))
        slowest = max(slowest, counted, estimated)
        print(f"{name:<26}{exact.count_text(text):>10,}{counted * 1e3:>7.0f} ms{estimated * 1e3:>8.0f} ms")
    print(f"slowest {slowest * 1e3:.0f} ms; allowed 500 ms\n")


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
    """Print all tables, or why they cannot be had."""
    use_shared_vocabularies()
    if not vocabulary.is_local():
        print(f"skipped: {vocabulary.missing()}")
        return 0
    estimator_table()
    worst_inputs()
    counting_again()
    return 0


if __name__ == "__main__":
    sys.exit(main())
