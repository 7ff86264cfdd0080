"""Trimming before every model call, beside langchain_core's trim_messages and beside the least that has to be done.

Run by `make bench`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_trimming.py [--full]`.

Times are CPU seconds of this process, medians of several passes that take turns. langchain_core's are measured on
calls evenly spaced over the conversation, each at the middle of its stretch, and scaled to all of them: its cost grows
linearly with the length of the list, so that the mean over such a sample is the mean over all. `--full` runs them all.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from typing import TYPE_CHECKING

import langchain_core.messages as upstream
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered_memory import TiktokenCounter, trim_messages, validate_messages
from support import vocabulary
from support.conversations import conversation, model_calls, rounds
from support.shared import use_shared_vocabularies

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import tiktoken
    from langchain_core.messages import BaseMessage

ROUNDS = 1_000
BUDGETS = (2_000, 4_000)
PASSES = 5
EXACT_SAMPLE = 24
APPROXIMATE_SAMPLE = 120
AGAIN_LENGTHS = (1_000, 3_000, 10_000, 30_000, 100_000)
AGAIN_PASSES = 300

ROLES = {"system": "system", "human": "user", "ai": "assistant", "tool": "tool"}


def texts(message: BaseMessage) -> list[str]:
    """Everything of a message that is sent as text."""
    calls = getattr(message, "tool_calls", ())
    return [str(message.content), *(part for call in calls for part in (call["name"], json.dumps(call["args"])))]


def seconds(work: Callable[[], object]) -> float:
    """CPU time of one piece of work."""
    start = time.process_time()
    work()
    return time.process_time() - start


class Conversation:
    """A conversation, and the ways to trim it before each of its model calls."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.messages = conversation(ROUNDS)
        self.calls = model_calls(self.messages)

    def exact(self, messages: Sequence[BaseMessage]) -> int:
        """Count a list as users of langchain_core do it with tiktoken: every text, at every call."""
        encode = self.encoding.encode_ordinary
        return 3 + sum(
            3 + len(encode(ROLES[message.type])) + sum(len(encode(text)) for text in texts(message))
            for message in messages
        )

    def ours(self, budget: int) -> TiktokenCounter:
        """Trim before every call, with a counter that has seen nothing yet."""
        counter = TiktokenCounter("o200k_base")
        history: list[BaseMessage] = []
        for length in self.calls:
            history += self.messages[len(history) : length]
            trim_messages(history, max_tokens=budget, token_counter=counter, start_on="human", include_system=True)
        return counter

    def floor(self, budget: int) -> int:
        """Encode each message once, and before every call add up integers from the end: less cannot be done."""
        encode = self.encoding.encode_ordinary
        counts: list[int] = []
        sent = 0
        for length in self.calls:
            counts += [
                sum(len(encode(text)) for text in texts(message)) + 4 for message in self.messages[len(counts) : length]
            ]
            total, start = counts[0], length
            while start > 1 and total + counts[start - 1] <= budget:
                start -= 1
                total += counts[start]
            sent += len([self.messages[0], *self.messages[start:length]])
        return sent

    def theirs(self, budget: int, counter: Callable[..., int], calls: Sequence[int]) -> None:
        """Trim before some of the calls with langchain_core."""
        for length in calls:
            upstream.trim_messages(
                self.messages[:length],
                max_tokens=budget,
                token_counter=counter,
                strategy="last",
                start_on="human",
                include_system=True,
            )

    def sample(self, size: int) -> list[int]:
        """Evenly spaced calls, each at the middle of the stretch that it stands for."""
        if size >= len(self.calls):
            return self.calls
        step = len(self.calls) / size
        return [self.calls[int((index + 0.5) * step)] for index in range(size)]

    def check(self, budget: int) -> None:
        """See that every window is valid and within the budget, so that the times are those of a right answer."""
        counter = TiktokenCounter("o200k_base")
        for length in self.calls:
            window = trim_messages(
                self.messages[:length],
                max_tokens=budget,
                token_counter=counter,
                start_on="human",
                include_system=True,
            )
            faults = validate_messages(window)
            if faults or counter(window) > budget or self.messages[length - 1] is not window[-1]:
                msg = f"the window before message {length} is wrong: {counter(window)} tokens, {faults}"
                raise AssertionError(msg)


def before_every_call(encoding: tiktoken.Encoding, *, full: bool) -> bool:
    """Trim a whole conversation, call by call; True if every target is met."""
    talk = Conversation(encoding)
    tokens = talk.exact(talk.messages)
    print(f"{ROUNDS:,} rounds, {len(talk.messages):,} messages, {tokens:,} tokens, {len(talk.calls):,} model calls")
    exact_calls = talk.calls if full else talk.sample(EXACT_SAMPLE)
    rough_calls = talk.calls if full else talk.sample(APPROXIMATE_SAMPLE)
    print(f"langchain_core: {len(exact_calls):,} calls measured with exact counts, {len(rough_calls):,} with estimates")
    # Every budget is measured, also after one that missed.
    met = [at_budget(talk, budget, exact_calls, rough_calls) for budget in BUDGETS]
    return all(met)


def at_budget(talk: Conversation, budget: int, exact_calls: list[int], rough_calls: list[int]) -> bool:
    """Measure one budget and print its table."""
    talk.check(budget)
    mine, least, rough = [], [], []
    for _ in range(PASSES):
        mine.append(seconds(lambda: talk.ours(budget)))
        least.append(seconds(lambda: talk.floor(budget)))
        rough.append(seconds(lambda: talk.theirs(budget, count_tokens_approximately, rough_calls)))
    exact = seconds(lambda: talk.theirs(budget, talk.exact, exact_calls)) * len(talk.calls) / len(exact_calls)
    most = 1.0 if budget == BUDGETS[0] else 1.5  # the larger window is copied at every call
    ours, floor = statistics.median(mine), statistics.median(least)
    estimated = statistics.median(rough) * len(talk.calls) / len(rough_calls)
    encoded, seen = talk.ours(budget).cache_info().encoded, talk.calls[-1]
    print(f"\nmax_tokens={budget:,}{'CPU seconds':>32}    beside ours    target")
    return all(
        [
            row("langchain_core, exact counts", exact, f"{exact / ours:,.0f}x", ">= 600x", exact / ours >= 600),
            row("langchain_core, estimates", estimated, f"{estimated / ours:,.1f}x", ">= 25x", estimated / ours >= 25),
            row("ours, exact counts", ours, "1x", "", None),
            row("floor", floor, f"ours {ours / floor:.2f}x", f"<= {most:.2f}x", ours / floor <= most),
            row("messages encoded by ours", encoded, f"of {seen:,}", "once each", encoded == seen),
        ]
    )


def again(source: list[BaseMessage], extra: list[BaseMessage]) -> float:
    """Median milliseconds of trimming a list that was trimmed before and has one message more."""
    messages = list(source)
    counter = TiktokenCounter("o200k_base")
    trim_messages(messages, max_tokens=2_000, token_counter=counter)
    times = []
    for message in extra:
        messages.append(message)
        times.append(seconds(lambda: trim_messages(messages, max_tokens=2_000, token_counter=counter)))
    return 1_000 * statistics.median(times)


def again_after_one_more() -> bool:
    """Trim long lists again after one more message; True if the targets are met."""
    source = [message for messages in rounds(AGAIN_LENGTHS[-1] // 2) for message in messages]
    extra = [message for messages in rounds(AGAIN_PASSES, seed=7) for message in messages][:AGAIN_PASSES]
    again(source[:100], extra)  # loads what is loaded on first use
    medians = [again(source[:length], extra) for length in AGAIN_LENGTHS]
    print(f"\none more message, max_tokens=2,000{'':>6}milliseconds of CPU")
    met = True
    for length, median in zip(AGAIN_LENGTHS, medians, strict=True):
        bounded = length == 10_000
        met &= row(f"{length:,} messages", median, "", "<= 0.2" if bounded else "", median <= 0.2 if bounded else None)
    exponent = growth(AGAIN_LENGTHS, medians)
    return row("growth exponent", exponent, "", "< 0.2", exponent < 0.2) and met


def growth(sizes: Sequence[int], costs: Sequence[float]) -> float:
    """The slope of log(cost) over log(size), by least squares: 0 is flat, 1 is linear."""
    return statistics.linear_regression([math.log(size) for size in sizes], [math.log(cost) for cost in costs]).slope


def row(name: str, value: float, beside: str, target: str, reached: bool | None) -> bool:  # noqa: FBT001  # a cell
    """Print one line of the table; True unless a target was missed."""
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.3f}"
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<32}{shown:>12}  {beside:>13}  {target:>9}  {verdict}".rstrip())
    return reached is not False


def main() -> int:
    """Print both tables; the exit code is 1 if a target was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="measure langchain_core on every call (minutes)")
    options = parser.parse_args()
    use_shared_vocabularies()
    import tiktoken  # noqa: PLC0415  # after the options, so that --help answers at once

    try:
        encoding = tiktoken.get_encoding(vocabulary.DEFAULT)
    except OSError:  # requests' errors are OSErrors
        print(f"exact counts cannot be measured: {vocabulary.missing()}", file=sys.stderr)
        return 2
    results = [before_every_call(encoding, full=options.full), again_after_one_more()]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
