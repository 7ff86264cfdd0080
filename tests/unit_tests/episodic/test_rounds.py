from __future__ import annotations

from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory._times import micros_of
from langchain_tiered_memory.episodic.analysis import terms_of
from langchain_tiered_memory.episodic.conflicts import Statement
from langchain_tiered_memory.episodic.episode import Episode, Said, transcript_of
from langchain_tiered_memory.episodic.rounds import key_function, key_of, prefixes_of, said_of
from langchain_tiered_memory.messages.protocol import SHRUNK_SOURCE, SOURCE_KEY
from langchain_tiered_memory.messages.text import Prefixes
from langchain_tiered_memory.types import MemoryScope

EN = prefixes_of("en")
MAY = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def a_round(*messages, **changes):
    said = tuple(said_of(messages, EN))
    plain = {"id": "1", "scope": MemoryScope("ada"), "created_at": MAY, "valid_from": MAY, "kind": "round"}
    return Episode(**plain | {"content": transcript_of(said), "said": said} | changes)


def words_of(episode, key="weighted"):
    return key_of(episode, key_function(key), EN).terms.split()


def text_of(episode, key="weighted"):
    return key_of(episode, key_function(key), EN).text


# --- what was said --------------------------------------------------------------------------------------------------


def test_speakers_are_called_by_their_names_where_they_have_one():
    messages = [
        HumanMessage("a", name="Caroline"),
        AIMessage("b"),
        ToolMessage("c", tool_call_id="1", name="clock"),
        ToolMessage("d", tool_call_id="2"),
        ChatMessage("e", role="Melanie"),
        ChatMessage("f", role="assistant"),
    ]
    assert [(said.role, said.speaker) for said in said_of(messages, EN)] == [
        ("user", "Caroline"),
        ("assistant", "AI"),
        ("tool", "Tool clock"),
        ("tool", "Tool"),
        ("assistant", "Melanie"),
        ("assistant", "AI"),
    ]


def test_a_picture_is_named_and_its_data_is_not_kept():
    picture = {"type": "image", "base64": "QUJD" * 10_000, "mime_type": "image/png"}
    (said,) = said_of([HumanMessage([{"type": "text", "text": "Look:"}, picture])], EN)
    assert said.text.startswith("Look:\n[image: ")
    assert len(said.text) < 200


@pytest.mark.parametrize(
    "unsaid",
    [
        {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "lying"}]},
        {"type": "reasoning", "reasoning": "lying"},
        {"type": "thinking", "thinking": "lying", "signature": "x"},
        {"type": "redacted_thinking", "data": "lying"},
        {"type": "reasoning_content", "reasoning_content": {"text": "lying"}},
        {"type": "non_standard", "value": {"lying": 1}},
        {"cachePoint": {"type": "lying"}},
        {"type": "web_search_call", "id": "ws_1", "action": {"query": "lying"}},
        {"type": "file_search_call", "id": "lying", "queries": ["lying"]},
    ],
)
def test_what_a_model_thought_and_what_only_a_provider_reads_was_not_said(unsaid):
    answer = AIMessage([unsaid, {"type": "text", "text": "On its way."}])
    assert said_of([HumanMessage("Where is it?"), answer, AIMessage([unsaid])], EN) == [
        Said("user", "Human", "Where is it?"),
        Said("assistant", "AI", "On its way."),
    ]
    beside = AIMessage("Here.", additional_kwargs={"reasoning_content": "lying"})
    assert said_of([beside], EN) == [Said("assistant", "AI", "Here.")]


def test_what_tools_and_other_agents_say_is_theirs():
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "42 kg"}
    both = HumanMessage([result, {"type": "text", "text": "Is that much?"}])
    agents = [AIMessage("I looked it up.", name="researcher"), ChatMessage("I doubt it.", role="critic")]
    assert said_of([both, *agents], EN) == [
        Said("tool", "Tool", "[tool result (c1): 42 kg]"),
        Said("user", "Human", "Is that much?"),
        Said("assistant", "researcher", "I looked it up."),
        Said("assistant", "critic", "I doubt it."),
    ]


def test_a_result_that_was_shortened_was_still_said():
    shrunk = ToolMessage("42 [...]", tool_call_id="1", additional_kwargs={SOURCE_KEY: SHRUNK_SOURCE})
    assert said_of([SystemMessage("x"), shrunk], EN) == [Said("tool", "Tool", "42 [...]")]


def test_prefixes_are_a_language_or_ones_own():
    mine = Prefixes(human="U", ai="A")
    assert [said.speaker for said in said_of([HumanMessage("x"), AIMessage("y")], prefixes_of(mine))] == ["U", "A"]
    with pytest.raises(ValueError, match="prefixes='xx'"):
        prefixes_of("xx")


# --- by what it is found --------------------------------------------------------------------------------------------


def test_the_users_words_count_twice_where_others_spoke_too():
    words = words_of(a_round(HumanMessage("I bought a kayak"), AIMessage("A kayak is a fine boat")))
    assert words.count("kayak") == 3
    assert words.count("boat") == 1
    assert words_of(a_round(HumanMessage("I bought a kayak"))).count("kayak") == 1


def test_of_answers_and_results_only_the_beginning_counts():
    long = "alpha " + "beta " * 1_000 + "omega"
    episode = a_round(HumanMessage("go"), ToolMessage(long, tool_call_id="1"), AIMessage(long))
    assert words_of(episode).count("alpha") == 2
    assert "omega" not in words_of(episode)
    assert len(text_of(episode)) < 1_000
    assert "omega" in words_of(episode, "whole")
    assert text_of(episode, "user") == "go"


def test_the_user_stands_first_in_what_the_model_reads():
    episode = a_round(HumanMessage("I bought a kayak", name="Caroline"), AIMessage("Great"))
    assert text_of(episode) == "Caroline: I bought a kayak\nGreat"


def test_names_and_date_are_among_the_words():
    words = words_of(a_round(HumanMessage("hello there", name="Caroline"), entity="Boats"))
    assert {"carolin", "8", "2023", "2023-05-08", "boat"} <= set(words)
    assert {"carolin", "2023"} <= set(words_of(a_round(HumanMessage("x", name="Caroline")), lambda _: "mine"))


def test_the_ranking_knows_the_words_of_a_date_when_it_compares_statements():
    for moment in (MAY, MAY.replace(month=11, day=30), MAY.replace(month=1, day=1)):
        words = words_of(a_round(HumanMessage("kayak"), created_at=moment))
        said = Statement(text="kayak", terms=words, created_at=micros_of(moment), speakers=frozenset(), entity="")
        assert said.words() == {"kayak"}


def test_a_chinese_round_is_found_by_its_date_however_that_is_written():
    words = words_of(a_round(HumanMessage("我们去划船了"), created_at=MAY.replace(month=5, day=6)))
    assert {"5月6日"} < set(words) & set(terms_of("5月6号做了什么?"))
    assert "may" not in words


def test_a_text_is_found_by_all_of_it():
    episode = a_round(said=(), content="alpha " + "beta " * 10_000 + "omega")
    assert "omega" in words_of(episode)
    assert len(text_of(episode)) == 8_000  # of which a model reads the beginning


def test_a_round_in_which_no_user_spoke_is_found_by_what_was_said():
    assert "welcom" in words_of(a_round(AIMessage("Welcome aboard")))


def test_a_key_may_be_ones_own():
    episode = a_round(HumanMessage("x"), metadata={"title": "Kayaking"})
    assert text_of(episode, lambda one: one.metadata["title"]) == "Kayaking"
    assert "kayak" in words_of(episode, lambda one: one.metadata["title"])


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\0"])
def test_no_model_and_no_store_is_shown_what_is_no_character(text):
    key = key_of(a_round(HumanMessage(f"tea {text}")), None, EN)
    (key.text + key.terms).encode()
    assert "\0" not in key.text + key.terms
