"""No text is slow to count, none panics, and long ones are counted as exactly as short ones."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
from support.pathological import MAKERS, MEGABYTE, mixed_runs

# Where tiktoken itself panics (a BaseException), there is no truth to compare with; 128 spaces are one token, though.
WITHOUT_TRUTH = {"spaces": 7_813, "spaces before a word": 7_814, "line breaks": 62_500, "tabs": 62_500}


@pytest.fixture(scope="module")
def encoding():
    import tiktoken  # noqa: PLC0415 - only where the vocabulary is there

    return tiktoken.get_encoding("o200k_base")


def cpu_seconds(work, passes=3):
    best = float("inf")
    for _ in range(passes):
        start = time.thread_time()
        result = work()
        best = min(best, time.thread_time() - start)
    return result, best


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("name", MAKERS)
def test_a_megabyte_of_anything_takes_half_a_second_at_most(name, encoding):
    text = MAKERS[name]()
    counter = TiktokenCounter("gpt-4o")
    counter.count_text("load the vocabulary")
    counted, seconds = cpu_seconds(lambda: counter.count_text(text))
    truth = WITHOUT_TRUTH.get(name) or len(encoding.encode_ordinary(text))
    assert counted == pytest.approx(truth, rel=0.001)
    assert seconds <= 2  # the benchmark measures it against 0.5; this catches what is not linear


@pytest.mark.parametrize("name", MAKERS)
def test_a_megabyte_is_estimated_in_half_a_second(name):
    text = MAKERS[name]()
    counted, seconds = cpu_seconds(lambda: EstimatingCounter().count_text(text))
    assert counted > 0
    assert seconds <= 2  # the benchmark measures it against 0.5; this catches what is not linear


@pytest.mark.needs_vocabulary
def test_what_makes_tiktoken_panic_is_counted_as_a_message():
    assert TiktokenCounter("gpt-4o").count_message(HumanMessage(" " * MEGABYTE)) == 4 + 7_813


ATOMS = (
    " ",
    "\n",
    "\t",
    "\r\n",
    "a",
    "B",
    "word ",
    " and",
    "'s",
    "'",
    "!",
    "=",
    "/",
    "汉",
    "，",
    "ありがとう",
    "привет",
)
MORE_ATOMS = (
    "1",
    "123",
    "😀",
    "\u0301",
    "\u00a0",
    "x\u0301",
    "👨‍👩‍👧",
    "ß",
    "\u3000",
    "{",
    '":"',
    "  \n",
    "हिन्दी",
    "ไทย",
    "\x00",
)
RUNS = st.tuples(st.sampled_from(ATOMS + MORE_ATOMS), st.sampled_from([1, 1, 2, 3, 7, 50, 500, 5_000, 20_000]))


@pytest.mark.needs_vocabulary("o200k_base", "cl100k_base", "p50k_base")
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "p50k_base"])
@settings(max_examples=60, deadline=None)
@given(st.lists(RUNS, min_size=2, max_size=40))
def test_windows_count_what_the_whole_counts(name, runs):
    import tiktoken  # noqa: PLC0415 - only where the vocabulary is there

    text = "".join(atom * times for atom, times in runs)[:90_000]
    whole = len(tiktoken.get_encoding(name).encode_ordinary(text))
    assert TiktokenCounter(name).count_text(text) == pytest.approx(whole, rel=0.001)


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize(
    "text", ["<|endoftext|>", "a<|endofprompt|>b", "<|im_start|>system", "\ud800", "a\udfffb", "\x00", "", "\ufeff"]
)
def test_special_and_broken_text_is_counted_as_text(text, encoding):
    assert TiktokenCounter("gpt-4o").count_text(text) == len(encoding.encode(text, disallowed_special=()))
    assert EstimatingCounter().count_text(text) >= bool(text)


def test_the_estimate_grows_with_the_text():
    # Linear time: four times the text takes about four times as long, never sixteen times.
    text = mixed_runs()[:250_000]
    _, once = cpu_seconds(lambda: EstimatingCounter().count_text(text))
    _, four = cpu_seconds(lambda: EstimatingCounter().count_text(text * 4))
    assert four < once * 9 + 0.02
