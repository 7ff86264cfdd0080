"""Texts are counted exactly, offline; where no vocabulary can be had, roughly, and one warning says so."""

from __future__ import annotations

import random
import string
import subprocess
import sys
import threading
import warnings

import pytest
import requests
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_tiered_memory.errors import VocabularyMissingWarning
from langchain_tiered_memory.messages import vocabulary
from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
from support.pathological import MAKERS

# Each text with its tokens in o200k_base and cl100k_base, as tiktoken 0.13 counts them.
PINNED = {
    "english": ("Nobody noticed that the bridge was closed until the accountant came back on Friday.", 15, 15),
    "chinese": ("邻居们把各自的菜拿出来，一起煮了一大锅汤，反而比平时更热闹。", 29, 43),
    "japanese": ("駅前の古い喫茶店で、友人と三時間も話し込んでしまいました。", 25, 32),
    "korean": ("회의는 다음 주 화요일 오후 세 시로 변경되었습니다.", 13, 22),
    "russian": ("Старик вышел на крыльцо и долго смотрел на реку.", 17, 24),
    "arabic": ("كان الصبي ينتظر عودة أبيه من البحر كل مساء.", 14, 29),
    "hindi": ("बाहर सावन की झड़ी लगी थी और छप्पर से पानी टपक रहा था।", 21, 54),
    "thai": ("คืนนั้นลมหนาวพัดแรงจนต้นไผ่หลังบ้านเสียดสีกันดัง", 24, 45),
    "german": ("Die Straßenbahn fährt wegen der Bauarbeiten bis Übermorgen über die Königsallee.", 17, 24),
    "vietnamese": ("Cuộc họp đã được dời sang chiều thứ ba tuần sau.", 15, 22),
    "code": ("def area(r: float) -> float:\n    return math.pi * r ** 2  # m²\n", 23, 23),
    "json": ('{"id": 17, "tags": ["a", "b"], "price": 12.50, "ok": true, "at": "2026-11-30T08:15:00Z"}', 46, 46),
    "special tokens as text": ("a<|endoftext|>b<|im_start|>user<|fim_prefix|>", 22, 23),
    "emoji": ("👩‍👩‍👧‍👦 and 🏳️‍🌈!", 20, 29),
    "a lone surrogate": ("half a pair: \ud83d, and \udc00\ud800", 8, 9),
    "a pair of surrogates": ("\ud83d\ude00", 1, 2),
    "white space": ("  \t\n\n   x \r\n", 5, 5),
    "empty": ("", 0, 0),
}


@pytest.mark.parametrize("name", PINNED)
def test_counts_what_tiktoken_counted(name):
    text, o200k, cl100k = PINNED[name]
    assert TiktokenCounter("gpt-4o").count_text(text) == o200k
    assert TiktokenCounter("gpt-4").count_text(text) == cl100k


@pytest.mark.needs_vocabulary("o200k_base", "cl100k_base")
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
def test_every_count_equals_tiktokens(name):
    encoding, counter = tiktoken.get_encoding(name), TiktokenCounter(name)
    for text, *_ in PINNED.values():
        for one in (text, text * 40, text.upper(), text[::-1], " " + text):
            assert counter.count_text(one) == len(encoding.encode_ordinary(one)), one


@pytest.mark.needs_vocabulary
@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(), max_size=200) | st.text(string.printable, max_size=200))
def test_random_unicode_counts_as_tiktokens(text):
    assert TiktokenCounter("o200k_base").count_text(text) == len(
        tiktoken.get_encoding("o200k_base").encode_ordinary(text)
    )


@pytest.mark.parametrize("name", MAKERS)
def test_a_megabyte_of_anything_is_counted_exactly_and_roughly(name):
    text = MAKERS[name]()
    assert TiktokenCounter("o200k_base").count_text(text) > 0
    assert vocabulary.rough_tokens(text) > 0


# --- the order of choice --------------------------------------------------------------------------------------------


@pytest.fixture
def nothing_loaded(monkeypatch):
    monkeypatch.setattr(vocabulary, "_loaded", {})


@pytest.fixture
def no_toktok(nothing_loaded, monkeypatch):  # noqa: ARG001 - a fixture that it needs
    monkeypatch.setitem(sys.modules, "toktok", None)


@pytest.fixture
def attempts(no_toktok, monkeypatch):  # noqa: ARG001 - a fixture that it needs
    """Loads of an encoding by tiktoken, which fail with the error that is put into this list."""
    tried: list[str] = []

    def fail(name):
        tried.append(name)
        raise fail.error

    fail.error = requests.exceptions.ConnectionError("no route to host")
    monkeypatch.setattr(tiktoken, "get_encoding", fail)
    return tried, fail


@pytest.mark.usefixtures("nothing_loaded")
def test_toktok_is_asked_first_and_needs_no_tiktoken(monkeypatch):
    monkeypatch.setattr(tiktoken, "get_encoding", None)
    pytest.importorskip("toktok")
    assert TiktokenCounter("gpt-4o").count_text("hello world") == 2
    assert TiktokenCounter("gpt-4o").vocabulary.exact


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("name", [*PINNED, *MAKERS])
@pytest.mark.usefixtures("no_toktok")
def test_without_toktok_tiktoken_counts_the_same(name):
    text = PINNED[name][0] if name in PINNED else MAKERS[name]()[:50_000]
    counter = TiktokenCounter("o200k_base")
    assert counter.vocabulary.exact
    assert counter.count_text(text) == len(tiktoken.get_encoding("o200k_base").encode_ordinary(text))


@pytest.mark.needs_vocabulary
@pytest.mark.usefixtures("no_toktok")
def test_without_toktok_a_million_spaces_do_not_overflow_tiktokens_stack():
    assert 7_000 < TiktokenCounter("o200k_base").count_text(" " * 1_000_000) < 8_000


@pytest.mark.parametrize(
    "error",
    [
        requests.exceptions.ConnectionError("name or service not known"),
        requests.exceptions.HTTPError("403 Forbidden"),
        PermissionError("cache folder is read-only"),
        ValueError("Hash mismatch for data downloaded"),
        ModuleNotFoundError("No module named 'requests'"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_falls_back_to_the_rough_rule_and_says_so_with_the_cure_in_one_line(attempts, error):
    attempts[1].error = error
    with pytest.warns(VocabularyMissingWarning, match=r"o200k_base could not be loaded .*\[offline\]") as caught:
        counted = TiktokenCounter("gpt-4o").count_text("How far is the moon? 月球离地球有多远?")
    assert 15 <= counted <= 30
    message = str(caught[0].message)
    assert type(error).__name__ in message
    assert "\n" not in message
    assert len(message) <= 180


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
    assert counter.count_text("hello") == vocabulary.rough_tokens("hello")
    assert len(attempts[0]) == 1


@pytest.mark.usefixtures("no_toktok")
def test_does_not_wait_for_a_download_that_never_ends(monkeypatch):
    never = threading.Event()
    monkeypatch.setattr(vocabulary, "_LOAD_SECONDS", 0.05)
    monkeypatch.setattr(tiktoken, "get_encoding", lambda _name: never.wait())
    with pytest.warns(VocabularyMissingWarning, match="TimeoutError"):
        TiktokenCounter("gpt-4o").count_text("hello")
    never.set()


def test_an_error_that_is_no_failed_download_is_raised(attempts):
    attempts[1].error = KeyError("a plugin's own mistake")
    with pytest.raises(KeyError, match="own mistake"):
        TiktokenCounter("gpt-4o").count_text("hello")


def test_making_a_counter_loads_nothing(attempts):
    TiktokenCounter("gpt-4o")
    TiktokenCounter("cl100k_base").count_tools([])
    assert attempts[0] == []


def test_importing_the_module_imports_no_tokenizer():
    code = (
        "import sys, langchain_tiered_memory.messages.tokens as t; t.TiktokenCounter(); t.EstimatingCounter(); "
        "sys.exit('tiktoken' in sys.modules or 'toktok' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own code


# --- the rough rule -------------------------------------------------------------------------------------------------

R = random.Random(5)
KINDS = {
    **{name: text for name, (text, *_) in PINNED.items() if "surrogate" not in name and name not in ("empty", "emoji")},
    "hexadecimal": R.randbytes(2_000).hex(),
    "letters": "".join(R.choices(string.ascii_letters, k=2_000)),
    "digits": "".join(R.choices(string.digits, k=2_000)),
    "a table": "| Name | Value |\n|------|------:|\n| alpha | 12 |\n" * 140,
    "log": "2026-11-30T08:15:01.123Z INFO [worker-7] request 9f3a2c took 182 ms (status=200)\n" * 40,
}


@pytest.mark.parametrize("name", KINDS)
def test_the_rough_rule_is_near_and_on_the_safe_side(name):
    exact = TiktokenCounter("o200k_base").count_text(KINDS[name])
    assert 0.95 * exact <= vocabulary.rough_tokens(KINDS[name]) <= 1.7 * exact


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_has_a_rough_count(text):
    assert 0 <= vocabulary.rough_tokens(text) <= 3 * len(text) + 1
    assert vocabulary.rough_tokens(text * 2) >= vocabulary.rough_tokens(text)
    assert text == "" or vocabulary.rough_tokens(text) > 0 or not text.strip(" \t")


def test_estimates_for_other_vendors_are_exact_counts_with_their_margin():
    assert EstimatingCounter(margin=1).count_text("hello world") == 2
