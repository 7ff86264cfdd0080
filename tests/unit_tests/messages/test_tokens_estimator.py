"""The estimator stays near o200k_base on every kind of text, and on the safe side of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.messages.utils import count_tokens_approximately

from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter
from support.token_corpora import PROSE, corpora

CORPORA = corpora()


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("seed", [7, 8])
def test_is_within_fifteen_per_cent_and_never_ten_under(name, seed):
    text = corpora(seed)[name]
    truth = TiktokenCounter("o200k_base").count_text(text)
    assert truth > 2_000
    assert 0.90 <= EstimatingCounter().count_text(text) / truth <= 1.15


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("language", PROSE)
def test_a_written_page_without_patterns_is_near_too(language):
    text = PROSE[language][0]
    truth = TiktokenCounter("o200k_base").count_text(text)
    assert 0.90 <= EstimatingCounter().count_text(text) / truth <= 1.15


@pytest.mark.needs_vocabulary
def test_chinese_triggers_where_four_characters_per_token_would_not():
    # langchain-ai/langchain#39757: 980 Chinese characters counted as 249 tokens, so that no trigger ever fired.
    message = HumanMessage(PROSE["chinese"][0][:980])
    truth = TiktokenCounter("o200k_base").count_message(message)
    assert count_tokens_approximately([message]) < truth / 2
    assert 0.90 <= EstimatingCounter().count_message(message) / truth <= 1.15


def test_the_chat_format_is_the_same_as_the_exact_counters():
    counter = EstimatingCounter()
    assert counter.request_overhead == 3
    assert counter.count_message(HumanMessage("")) == 4
    call = {"name": "f", "args": {"a": 1}, "id": "1"}
    assert counter.count_message(AIMessage("", tool_calls=[call])) > 4


@given(st.text(max_size=400))
def test_any_text_has_an_estimate(text):
    count = EstimatingCounter().count_text(text)
    assert (count == 0) == (text == "")
    assert count <= 4 * len(text.encode("utf-8", "surrogatepass"))


@given(st.text(min_size=1, max_size=200))
def test_more_of_the_same_is_never_less(text):
    counter = EstimatingCounter()
    assert counter.count_text(text * 2) >= counter.count_text(text)
