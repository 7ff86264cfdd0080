"""Where no vocabulary can be had, tokens are estimated, and one warning says so and how to cure it."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings

import pytest
import requests
import tiktoken
from langchain_core.messages import HumanMessage

from langchain_tiered_memory import ContextAssembler, ProceduralMemory
from langchain_tiered_memory.messages import _vocabulary
from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter, VocabularyMissingWarning


@pytest.fixture(autouse=True)
def forget_failures(monkeypatch):
    monkeypatch.setattr(_vocabulary, "_missing", {})


@pytest.fixture
def attempts(monkeypatch):
    """Loads of an encoding that fail with the error that is put into this list."""
    tried: list[str] = []

    def fail(name):
        tried.append(name)
        raise fail.error

    fail.error = requests.exceptions.ConnectionError("no route to host")
    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    return tried, fail


@pytest.mark.parametrize(
    "error",
    [
        requests.exceptions.ConnectionError("name or service not known"),
        requests.exceptions.HTTPError("403 Forbidden"),
        requests.exceptions.ReadTimeout("timed out"),
        PermissionError("cache folder is read-only"),
        ValueError("Hash mismatch for data downloaded"),
        ModuleNotFoundError("No module named 'requests'"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_falls_back_to_the_estimate_and_says_so_with_the_cure(attempts, error):
    attempts[1].error = error
    message = HumanMessage("How far is the moon? 月球离地球有多远?")
    with pytest.warns(VocabularyMissingWarning, match="TIKTOKEN_CACHE_DIR") as caught:
        counted = TiktokenCounter("gpt-4o").count_message(message)
    assert counted == EstimatingCounter().count_message(message)
    assert "o200k_base" in str(caught[0].message)
    assert "tiktoken_ext" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_says_whose_line_it_is_also_through_pydantic_and_that_a_reason_goes_on(attempts):
    attempts[1].error = requests.exceptions.ConnectionError("no way " * 100)
    procedures = ProceduralMemory(system="Be brief.")
    with pytest.warns(VocabularyMissingWarning, match=r"no w\.\.\.\), so tokens are estimated") as caught:
        ContextAssembler(1_000, procedures=procedures, token_counter=TiktokenCounter("gpt-4o"))
    assert caught[0].filename == __file__


def test_says_so_once_per_encoding_and_tries_once(attempts):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(3):
            for model in ("gpt-4o", "gpt-4o-mini", "gpt-4"):
                TiktokenCounter(model).count_messages([HumanMessage(f"text {number}") for number in range(5)])
    assert [str(one.message).split()[3] for one in caught] == ["o200k_base", "cl100k_base"]
    assert attempts[0] == ["o200k_base", "cl100k_base"]


def test_a_warning_that_is_an_error_is_raised_once(attempts):
    counter = TiktokenCounter("gpt-4o")
    with pytest.raises(VocabularyMissingWarning):
        counter.count_text("hello")
    assert counter.count_text("hello") == EstimatingCounter().count_text("hello")
    assert len(attempts[0]) == 1


def test_does_not_wait_for_a_download_that_never_ends(monkeypatch):
    monkeypatch.setattr(_vocabulary, "_LOAD_SECONDS", 0.05)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _name: time.sleep(1))
    start = time.monotonic()
    with pytest.warns(VocabularyMissingWarning, match="TimeoutError"):
        TiktokenCounter("gpt-4o").count_text("hello")
    assert time.monotonic() - start < 0.9


def test_an_error_that_is_no_failed_download_is_raised(attempts):
    attempts[1].error = KeyError("a plugin's own mistake")
    with pytest.raises(KeyError, match="own mistake"):
        TiktokenCounter("gpt-4o").count_text("hello")


def test_making_a_counter_loads_nothing(attempts):
    TiktokenCounter("gpt-4o")
    TiktokenCounter("cl100k_base").count_tools([])
    assert attempts[0] == []


def test_importing_the_module_imports_no_tiktoken():
    code = (
        "import sys, langchain_tiered_memory.messages.tokens as t; t.EstimatingCounter().count_text('x'); "
        "sys.exit('tiktoken' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own code
