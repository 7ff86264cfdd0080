"""Units, rounds, validation and repair: an assistant message with calls and all its results are one thing."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    ToolMessage,
    messages_from_dict,
    messages_to_dict,
)

from langchain_tiered_memory.messages.repair import repair_messages, validate_messages
from langchain_tiered_memory.messages.units import is_user_turn, split_rounds, split_units
from support.histories import History, call, examples, histories, notation, talk, tidy_histories
from support.oracle import PROVIDERS, faults, newest_user_turn
from support.reference import flat, repaired_groups, same

CODES = {
    "orphan_result",
    "misplaced_result",
    "unanswered_call",
    "duplicate_result",
    "system_not_leading",
    "first_not_user",
    "result_order",
}


def found(script: str, provider: str | None = None) -> list[tuple[str, int]]:
    return [(fault.code, fault.index) for fault in validate_messages(talk(script), provider)]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("S H A*(a,b) Ta Tb A H", []),
        ("S H A*(a,b) Tb Ta A H", [("result_order", 3)]),
        ("H A*(a) Ta A*(a) Ta A", []),
        ("H A H A*(a,b)", []),
        ("H A*(a,b) Ta", []),
        ("H Tz A", [("orphan_result", 1)]),
        ("H Ta A*(a) Ta A", [("orphan_result", 1)]),
        ("H A*(a) Ta A Tz", [("orphan_result", 4)]),
        ("H A*(a) A*(b) Ta Tb", [("misplaced_result", 3)]),
        ("H A*(a,b) Ta H2 Tb", [("misplaced_result", 4)]),
        ("H A*(a,b) Ta H2", [("unanswered_call", 1)]),
        ("H A*(a) A2", [("unanswered_call", 1)]),
        ("H A*(a) Ta Ta", [("duplicate_result", 3)]),
        ("H S A", [("system_not_leading", 1)]),
        ("S A H", [("first_not_user", 1)]),
        ("A", [("first_not_user", 0)]),
    ],
)
def test_each_fault_is_named_where_it_stands(script: str, expected: list[tuple[str, int]]) -> None:
    assert set(found(script)) >= set(expected)
    assert {code for code, _ in found(script)} <= {code for code, _ in expected} | {"unanswered_call"}
    assert bool(found(script)) == bool(expected)


@pytest.mark.parametrize("script", ["H S A", "S A H", "A H", "S H S2 A*(a) Ta"])
def test_openai_takes_system_messages_and_openings_that_others_refuse(script: str) -> None:
    assert found(script, "openai") == found(script, "openai_responses") == []
    assert all(found(script, provider) for provider in ("anthropic", "google", "bedrock", None))


def test_a_fault_says_which_message_and_why() -> None:
    (fault,) = validate_messages(talk("H A*(a,b) Ta H2"))
    assert (fault.code, fault.index, fault.message_id) == ("unanswered_call", 1, "m1")
    assert "b" in fault.detail


def test_an_unknown_provider_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="acme"):
        validate_messages(talk("H"), "acme")  # type: ignore[arg-type]


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
@examples(300)
@given(history=histories())
def test_validation_agrees_with_the_oracle(provider: str | None, history: History) -> None:
    assert bool(validate_messages(history.messages, provider)) == bool(faults(history.messages, provider))


@examples(300)
@given(history=histories())
def test_every_fault_points_at_a_message_of_the_list(history: History) -> None:
    for fault in validate_messages(history.messages):
        assert fault.code in CODES
        assert history.messages[fault.index].id == fault.message_id
        assert fault.detail


@examples(500)
@given(history=histories())
def test_repair_gives_whole_units_behind_leading_system_messages(history: History) -> None:
    repaired = repair_messages(history.messages)
    expected = flat(repaired_groups(history.messages))
    assert same(expected, repaired), f"{notation(repaired)}, not {expected}"
    assert history.messages == history.copy()


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
@examples(200)
@given(history=histories())
def test_what_was_repaired_is_valid_and_stays_as_it_is(provider: str | None, history: History) -> None:
    repaired = repair_messages(history.messages, provider)
    again = repair_messages(repaired, provider)
    assert [id(message) for message in again] == [id(message) for message in repaired]
    if newest_user_turn(history.messages) is not None:
        assert validate_messages(repaired, provider) == []
        assert faults(repaired, provider) == []


@examples(500)
@given(history=tidy_histories())
def test_a_valid_list_is_repaired_to_its_own_messages(history: History) -> None:
    assert same(history.messages, repair_messages(history.messages))


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", ""),
        ("H A*(a) H2", "H A*(a) T(a)! H"),  # A17: a run cancelled between call and result
        ("H A*(a,b) Ta H2", "H A*(a,b) T(a) T(b)! H"),
        ("H A*(a,b) Ta", "H A*(a,b) T(a)"),  # may still be in progress
        ("H A*(a,b)", "H A*(a,b)"),
        ("H A*(a,b,c) Tc Ta", "H A*(a,b,c) T(a) T(c)"),
        ("H A*(a,b) Tb Ta H2", "H A*(a,b) T(a) T(b) H"),
        ("H A*(a,b) Tb A Ta", "H A*(a,b) T(a) T(b) A"),
        ("H A*(b) Ta Tb A H", "H A*(b) T(b) A H"),  # C3
        ("H A*(a,b) Ta A Tb H", "H A*(a,b) T(a) T(b) A H"),
        ("H A*(a) A*(b) Ta Tb", "H A*(a) T(a) A*(b) T(b)"),
        ("H A*(a) H2 A*(a) Ta", "H A*(a) T(a)! H A*(a) T(a)"),
        ("Ta H A*(a) Ta Ta", "H A*(a) T(a)"),
        ("A H A2", "H A"),
        ("A*(a) Ta H", "H"),
        ("H S A S2", "S S H A"),
        ("H A*(a) S Ta A", "S H A*(a) T(a) A"),
    ],
)
def test_repair(script: str, expected: str) -> None:
    messages = talk(script)
    assert notation(repair_messages(messages)) == expected
    assert messages == talk(script)


def test_a_result_that_comes_late_takes_the_place_of_the_one_made_up() -> None:
    closed = repair_messages(talk("H A*(a,b) Ta H2"))
    stored = messages_from_dict(messages_to_dict(closed))
    late = ToolMessage("it rains", tool_call_id="b", id="late")
    for history in (closed, stored):
        repaired = repair_messages([*history, AIMessage("sorry"), late])
        assert notation(repaired) == "H A*(a,b) T(a) T(b) H A"
        assert repaired[3] is late


def test_an_error_that_a_tool_really_gave_is_not_replaced() -> None:
    messages = talk("H A*(a) Ta A")
    failed = ToolMessage("connection refused", tool_call_id="a", status="error", id="real")
    messages[2] = failed
    again = ToolMessage("late copy", tool_call_id="a", id="copy")
    assert repair_messages([*messages, again])[2] is failed


def test_the_result_made_up_for_a_call_names_its_tool() -> None:
    asked = AIMessage("", tool_calls=[call("a", "send_mail"), call("b", "read_mail")], id="m1")
    repaired = repair_messages([HumanMessage("H"), asked, HumanMessage("H2")])
    closing = [message for message in repaired if isinstance(message, ToolMessage)]
    assert [(message.tool_call_id, message.name, message.status) for message in closing] == [
        ("a", "send_mail", "error"),
        ("b", "read_mail", "error"),
    ]
    assert all(message.text for message in closing)


RAW = {"id": "a", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}
INVALID = {"name": "look_up", "args": "{", "id": "a", "error": "cut", "type": "invalid_tool_call"}
STYLES: dict[str, BaseMessage] = {
    "tool_calls": AIMessage("", tool_calls=[call("a")]),
    "invalid_tool_calls": AIMessage("", invalid_tool_calls=[INVALID]),
    "additional_kwargs": AIMessage("", additional_kwargs={"tool_calls": [RAW]}),
    "additional_kwargs only": AIMessage.model_construct(
        content="", additional_kwargs={"tool_calls": [RAW]}, tool_calls=[], invalid_tool_calls=[], type="ai"
    ),
    "tool_use": AIMessage([{"type": "tool_use", "id": "a", "name": "look_up", "input": {}}]),
    "tool_use with tool_calls": AIMessage(
        [{"type": "tool_use", "id": "a", "name": "look_up", "input": {}}], tool_calls=[call("a")]
    ),
    "tool_call block": AIMessage([{"type": "tool_call", "id": "a", "name": "look_up", "args": {}}]),
    "function_call block": AIMessage(
        [{"type": "function_call", "call_id": "a", "id": "fc_1", "name": "look_up", "arguments": "{}"}]
    ),
    "chunk": AIMessageChunk(
        "", tool_call_chunks=[{"name": "look_up", "args": "{}", "id": "a", "index": 0, "type": "tool_call_chunk"}]
    ),
}


@pytest.mark.parametrize("asked", STYLES.values(), ids=STYLES)
def test_a_call_is_found_however_it_is_written(asked: BaseMessage) -> None:
    question, result, thanks = HumanMessage("H"), ToolMessage("Ta", tool_call_id="a"), HumanMessage("H2")
    whole = [question, asked, result, thanks]
    assert validate_messages(whole) == []
    assert [len(unit.messages) for unit in split_units(whole)] == [1, 2, 1]
    assert [fault.code for fault in validate_messages([question, asked, thanks])] == ["unanswered_call"]
    assert validate_messages([question, asked]) == []
    assert notation(repair_messages([question, asked, thanks])) == "H A*(a) T(a)! H"


def uses(*ids: str) -> AIMessage:
    return AIMessage([{"type": "tool_use", "id": call_id, "name": "look_up", "input": {}} for call_id in ids])


def bundle(*ids: str) -> HumanMessage:
    results = [{"type": "tool_result", "tool_use_id": call_id, "content": f"for {call_id}"} for call_id in ids]
    return HumanMessage(results, id="bundle")


def test_an_anthropic_result_in_a_user_message_answers_its_calls() -> None:
    messages = [HumanMessage("H"), uses("a", "b"), bundle("a", "b"), AIMessage("A")]
    assert validate_messages(messages) == []
    assert [len(unit.messages) for unit in split_units(messages)] == [1, 2, 1]
    assert len(split_rounds(messages)) == 1
    assert not is_user_turn(messages[2])


@pytest.mark.parametrize(
    "answers",
    [
        [uses("a"), bundle("a", "z")],  # one of its results answers nothing
        [uses("a"), uses("b"), bundle("a", "b")],  # its results belong to two units
        [uses("a"), bundle("a", "a")],
        [uses("a", "b"), bundle("a"), bundle("a", "b")],
        [uses("a", "b"), ToolMessage("first", tool_call_id="a"), bundle("b", "a")],
        [uses("a", "b"), bundle("a"), AIMessage("A"), bundle("b", "z")],
        [bundle("z"), uses("a", "b"), bundle("b")],
    ],
)
def test_results_bundled_in_one_message_are_told_apart(answers: list[BaseMessage]) -> None:
    messages = [HumanMessage("H"), *answers, HumanMessage("H2")]
    assert faults(messages)
    assert validate_messages(messages)
    repaired = repair_messages(messages)
    assert faults(repaired) == validate_messages(repaired) == [], notation(repaired)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (HumanMessage("hi"), True),
        (HumanMessage(""), True),
        (HumanMessage([{"type": "text", "text": "hi"}]), True),
        (HumanMessage([{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]), True),
        (HumanMessage([{"type": "tool_result", "tool_use_id": "a", "content": "42"}]), False),
        (AIMessage("hi"), False),
        (ToolMessage("hi", tool_call_id="a"), False),
        *((message, False) for message in talk("S A*(a)")),
    ],
)
def test_what_counts_as_a_user_turn(message: BaseMessage, expected: Any) -> None:
    assert is_user_turn(message) is expected


@examples(300)
@given(history=tidy_histories())
def test_units_are_the_messages_in_their_order_and_each_is_whole(history: History) -> None:
    units = split_units(history.messages)
    assert same(history.messages, [message for unit in units for message in unit.messages])
    expected = [group.parts for group in repaired_groups(history.messages)]
    assert [len(unit.messages) for unit in units] == [len(parts) for parts in expected]
    assert not any(unit.live for unit in units)


@pytest.mark.parametrize("script", ["H A*(a,b)", "H A*(a,b) Ta", "H A*(a) Ta A*(b)"])
def test_only_the_open_unit_at_the_end_is_live(script: str) -> None:
    live = [unit.live for unit in split_units(talk(script))]
    assert live == [False] * (len(live) - 1) + [True]


@pytest.mark.parametrize("script", ["H A*(a) H2", "H A*(a) Ta", "H A*(a,b) Ta A", "H A*(a) A2"])
def test_a_call_that_somebody_spoke_after_is_not_live(script: str) -> None:
    assert not any(unit.live for unit in split_units(talk(script)))


def test_rounds_go_from_one_user_message_to_the_next() -> None:
    rounds = split_rounds(talk("S H A H2 H3 A*(a,b) Ta Tb A3"))
    assert [notation([m for m in messages if m.type != "system"]) for messages in rounds if messages] in (
        ["H A", "H", "H A*(a,b) T(a) T(b) A"],
        ["", "H A", "H", "H A*(a,b) T(a) T(b) A"],
    )


@examples(500)
@given(history=tidy_histories())
def test_each_round_opens_with_its_only_user_turn(history: History) -> None:
    rounds = split_rounds(history.messages)
    assert same(history.messages, [message for messages in rounds for message in messages])
    for messages in rounds:
        assert [is_user_turn(message) for message in messages] == [True] + [False] * (len(messages) - 1)
