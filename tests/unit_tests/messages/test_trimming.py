"""Trimming, case by case: each fault from the field with the right answer in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.load import dumps, loads
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    AnyMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable

from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.tokens import EstimatingCounter, MediaPrices, TiktokenCounter, count_tokens
from langchain_tiered_memory.messages.trimming import MessageTrimmer, trim_messages
from support.histories import call, notation, talk, weigh
from support.oracle import faults, newest_user_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    # the name that `per_message` is annotated with exists for a type checker only
    from langchain_core.messages import BaseMessage

STRATEGIES = ["last", "first"]


def weigh_list(messages: list[BaseMessage]) -> int:
    return sum(weigh(message) for message in messages)


def per_message(message: BaseMessage) -> int:
    assert not isinstance(message, list), "a counter of one message was handed the whole list"
    return weigh(message)


def kept(script: str, limit: Any, **options: Any) -> str:
    """Trim a script by number of messages, and write down what is left by the words of the script."""
    messages = talk(script)
    words = {id(message): word for message, word in zip(messages, _words(script), strict=True)}
    options.setdefault("token_counter", len)
    output = trim_messages(messages, max_tokens=limit, **options)
    assert messages == talk(script), "the caller's list was changed"
    return " ".join(words.get(id(message), f"made up {message!r}") for message in output)


def _words(script: str) -> list[str]:
    return script.split()


def pairs(count: int) -> str:
    return " ".join(f"A*(c{index}) Tc{index}" for index in range(count))


# -- A: trimming and tool-call groups ----------------------------------------------------------------------------------


def test_a1_a_window_never_begins_with_a_tool_result() -> None:
    assert kept("H A*(a) Ta H2 A2 H3 A3", 5) == "H2 A2 H3 A3"


@pytest.mark.parametrize("counter", [len, lambda messages: 2 * len(messages) // 2], ids=["len", "another function"])
def test_a1_whatever_function_counts_the_messages(counter: Callable[..., int]) -> None:
    assert kept("H A*(a) Ta H2 A2 H3 A3", 5, token_counter=counter) == "H2 A2 H3 A3"


@pytest.mark.parametrize("end_on", [None, ("human", "tool")])
@pytest.mark.parametrize("start_on", [None, "human"])
def test_a2_the_only_question_of_an_agent_loop_stays(start_on: Any, end_on: Any) -> None:
    script = f"S H {pairs(6)}"
    options = {"include_system": True, "start_on": start_on, "end_on": end_on}
    assert kept(script, 6, **options) == "S H A*(c4) Tc4 A*(c5) Tc5"
    assert kept(script, 5, **options) == "S H A*(c5) Tc5"
    assert kept(script, 2, **options) == "S H"
    assert kept(script, 14, **options) == script


def test_a2_the_oldest_pairs_stay_with_the_question_when_the_first_are_asked_for() -> None:
    assert kept(f"S H {pairs(6)}", 6, include_system=True, strategy="first") == "S H A*(c0) Tc0 A*(c1) Tc1"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", range(2, 6))
def test_a3_a_list_counter_sees_whole_units_in_the_order_of_the_conversation(limit: int, strategy: Any) -> None:
    messages = talk("H A*(a) Ta A H2 A*(b,c) Tb Tc A2")
    places = {id(message): place for place, message in enumerate(messages)}
    seen: list[list[int]] = []

    def count(given: list[BaseMessage]) -> int:
        assert isinstance(given, list)
        seen.append([places[id(message)] for message in given])
        assert faults(given, "openai") == [], f"the counter was handed {notation(given)}"
        return len(given)

    output = trim_messages(messages, max_tokens=limit, token_counter=count, strategy=strategy)
    assert len(output) <= limit
    assert [one for one in seen if one != sorted(one)] == []


def test_a3_tools_bound_to_a_model_reach_its_counter() -> None:
    class Model(FakeListChatModel):
        responses: list[str] = []  # noqa: RUF012 - a pydantic field
        seen: list[Any] = []  # noqa: RUF012 - a pydantic field

        def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:
            self.seen.append(tools)
            return len(messages) + 100 * len(tools or ())

    tool = {"type": "function", "function": {"name": "look_up", "description": "", "parameters": {}}}
    model = Model()
    bound = model.bind(tools=[tool])
    assert kept("H A H2", 102, token_counter=bound) == "H2"
    with pytest.raises(BudgetExceededError):
        kept("H A H2", 100, token_counter=bound)
    assert all(model.seen)
    assert kept("H A H2", 103, token_counter=model, tools=[tool]) == "H A H2"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [4, 5, 1_000, ("tokens", 4), ("messages", 4), ("rounds", 1)])
def test_a6_what_fits_comes_back_unchanged(limit: Any, strategy: Any) -> None:
    assert kept("S H A*(a) Ta", limit, strategy=strategy) == "S H A*(a) Ta"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("script", ["H A*(a,b) Ta Tb H2", "H A*(a,b) Tb Ta A H2", "S H A*(a,b,c) Ta Tc Tb H2"])
def test_a8_parallel_results_stay_together_at_every_budget(script: str, strategy: Any) -> None:
    for limit in range(1, len(_words(script)) + 1):
        output = kept(script, limit, strategy=strategy)
        assert ("A*" in output) in (False, "Ta" in output and "Tb" in output)
        assert ("Ta" in output) == ("Tb" in output) == ("A*" in output)


@pytest.mark.parametrize("limit", range(1, 8))
def test_a9_the_user_has_the_first_word(limit: int) -> None:
    output = kept("A H A*(a) Ta A*(b) Tb A2 H2", limit)
    assert output.startswith("H")
    assert output.endswith("H2")


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("unit", ["messages", "tokens"])
def test_a12_every_budget_from_nothing_to_all(unit: str, strategy: Any) -> None:
    messages = talk("H A*(c1) Tc1 A")
    messages[1] = AIMessage("", tool_calls=[call("c1", path="x" * 4_000)], id="m1")
    counter = len if unit == "messages" else TiktokenCounter("cl100k_base")
    total = count_tokens(messages, counter) if unit == "tokens" else len(messages)
    least = count_tokens(messages[:1], counter) if unit == "tokens" else 1
    for limit in range(total + 1):
        if limit < least:
            with pytest.raises(BudgetExceededError) as caught:
                trim_messages(messages, max_tokens=limit, token_counter=counter, strategy=strategy)
            assert (caught.value.needed, caught.value.limit) == (least, limit)
            continue
        output = trim_messages(messages, max_tokens=limit, token_counter=counter, strategy=strategy)
        assert output[0] is messages[0]
        assert counter(output) <= limit
        assert validate_messages(output) == faults(output) == []
        assert (len(output) == len(messages)) == (limit >= total)


def test_a12_as_reported() -> None:
    messages = talk("H A*(c1) Tc1 A")
    messages[1] = AIMessage("", tool_calls=[call("c1", patch="lorem ipsum " * 333)], id="m1")
    assert notation(trim_messages(messages, max_tokens=600, token_counter=TiktokenCounter())) == "H A"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("include_system", [True, False])
@pytest.mark.parametrize("limit", [0, 1, 10, ("messages", 0), ("rounds", 0)])
def test_a13_nothing_in_nothing_out(limit: Any, include_system: bool, strategy: Any) -> None:  # noqa: FBT001
    options: dict[str, Any] = {"max_tokens": limit, "include_system": include_system, "strategy": strategy}
    assert trim_messages([], **options, token_counter=len) == []
    assert trim_messages(**options, token_counter=len).invoke([]) == []


def test_a14_a_counter_of_one_message_is_called_with_one_message() -> None:
    messages = talk("H A*(a) Ta H2 A2")
    expected = trim_messages(messages, max_tokens=12, token_counter=weigh_list)
    assert trim_messages(messages, max_tokens=12, token_counter=weigh) == expected  # resolvable, postponed
    assert trim_messages(messages, max_tokens=12, token_counter=per_message) == expected  # for a type checker only
    assert len(expected) < len(messages)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("script", ["H A*(a) H2", "H A*(a,b) Ta H2", "S H A*(a,b) H2 A2", "H A*(a) Ta A*(b) A H2"])
def test_a17_a_cancelled_run_does_not_wedge_the_conversation(script: str, strategy: Any) -> None:
    for limit in range(2, 12):
        output = trim_messages(talk(script), max_tokens=limit, token_counter=len, strategy=strategy)
        assert faults(output) == []
        assert len(output) <= limit
    closing = [m for m in output if isinstance(m, ToolMessage) and m.status == "error"]
    assert len(closing) == sum("T" + call_id not in script for call_id in "ab" if f"{call_id}" in script)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("script", ["H A H2 A*(a)", "H A H2 A*(a,b) Tb", "H A H2 A*(c) Tc A*(a,b)"])
def test_a17_a_call_in_progress_is_left_alone(script: str, strategy: Any) -> None:
    live = script[script.rindex("A*") :]
    assert kept(script, 20, strategy=strategy) == script
    least = 1 + len(_words(live))
    assert kept(script, least, strategy=strategy) == f"H2 {live}"
    with pytest.raises(BudgetExceededError) as caught:
        kept(script, least - 1, strategy=strategy)
    assert (caught.value.needed, caught.value.over) == (least, 1)


def test_a17_a_call_in_progress_stays_behind_a_note_to_the_system() -> None:
    with pytest.raises(BudgetExceededError):
        kept("H A*(a) S", 1)
    assert kept("H A*(a) S", 2) == "H A*(a)"
    assert kept("H A*(a) S", 3) == "S H A*(a)"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "asked",
    [
        AIMessage("", tool_calls=[call("a")]),
        AIMessage([], tool_calls=[call("a")]),
        AIMessage([{"type": "tool_use", "id": "a", "name": "look_up", "input": {}}]),
        AIMessage([{"type": "text", "text": ""}], tool_calls=[call("a")]),
    ],
)
def test_a19_an_assistant_message_without_text_is_not_empty(asked: AIMessage, strategy: Any) -> None:
    messages = [HumanMessage("H"), asked, ToolMessage("", tool_call_id="a"), AIMessage(""), HumanMessage("")]
    output = trim_messages(messages, max_tokens=5, token_counter=len, strategy=strategy)
    assert [id(message) for message in output] == [id(message) for message in messages]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", [*range(12), ("messages", 1), ("rounds", 1), ("rounds", 2)])
def test_a20_trimming_never_makes_a_conversation_longer(limit: Any, strategy: Any) -> None:
    script = "S H A*(a) Ta A H2 A*(b) Tb A2 H3"
    if limit == 0:
        with pytest.raises(BudgetExceededError) as caught:
            kept(script, limit, strategy=strategy)
        assert (caught.value.needed, caught.value.limit, caught.value.over) == (1, 0, 1)
        return
    output = _words(kept(script, limit, strategy=strategy))
    assert "H3" in output
    assert len(output) <= (limit if isinstance(limit, int) else len(_words(script)))
    if limit in (1, ("messages", 1)):
        assert output == ["H3"]


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("unit", ["tokens", "messages", "rounds"])
def test_a20_a_budget_of_nothing_is_refused_by_name(unit: str, strategy: Any) -> None:
    with pytest.raises(BudgetExceededError, match="0") as caught:
        trim_messages(talk("S H A"), max_tokens=(unit, 0), token_counter=weigh, strategy=strategy)
    assert (caught.value.limit, caught.value.unit) == (0, unit)


@pytest.mark.parametrize(("limit", "expected"), [(3, "H2"), (4, "H2"), (6, "H A*(a,b) Ta Tb A H2")])
def test_a22_the_last_few_messages_in_the_safe_version(limit: int, expected: str) -> None:
    assert kept("H A*(a,b) Ta Tb A H2", ("messages", limit)) == expected


# -- C: the same faults where a summary is to follow -------------------------------------------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c3_results_of_a_call_that_is_gone_go_too(strategy: Any) -> None:
    messages = talk("H A*(b) Ta Tb A H2")
    for limit in range(1, 8):
        output = trim_messages(messages, max_tokens=limit, token_counter=len, strategy=strategy)
        assert faults(output) == []
        assert "T(a)" not in notation(output)
    assert notation(output) == "H A*(b) T(b) A H"
    assert kept("H A*(a,b) Ta Tb A H2", 4) == "H2"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("limit", range(2, 7))
def test_c7_leading_system_messages_stay_when_they_are_included(limit: int, strategy: Any) -> None:
    output = kept("S H A H2 A2 H3", limit, include_system=True, strategy=strategy)
    assert output.startswith("S H")
    assert output.endswith("H3")


def test_c7_a_block_of_system_messages_stays_whole_or_is_refused() -> None:
    assert kept("S S2 H A H2", 3, include_system=True) == "S S2 H2"
    with pytest.raises(BudgetExceededError) as caught:
        kept("S S2 H A H2", 2, include_system=True)
    assert caught.value.needed == 3
    assert kept("S S2 H A H2", 2) == "H2"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c7_system_messages_inside_are_sent_in_front(strategy: Any) -> None:
    assert kept("S H S2 A H2", 5, strategy=strategy) == "S S2 H A H2"


def oversized() -> list[BaseMessage]:
    texts = {f"T{name}": f"{name} " * 4_000 for name in "abc"}
    return talk("H A*(a,b,c) Ta Tb Tc", texts)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c10_results_that_overflow_the_budget_are_shortened_with_a_pointer(strategy: Any) -> None:
    messages = oversized()
    counter = TiktokenCounter()
    assert counter(messages) > 6_000
    output = trim_messages(messages, max_tokens=500, token_counter=counter, strategy=strategy)
    if strategy == "first":
        assert output == messages[:1]
        return
    assert 400 < counter(output) <= 500
    assert notation(output) == notation(messages)
    for short, whole in zip(output[2:], messages[2:], strict=True):
        assert len(short.text) < len(whole.text)
        assert short.id == whole.id
        assert whole.id in short.text  # where the whole is
        gone = len(whole.text) - sum(len(part) for part in _kept_of(short.text))
        assert str(gone) in short.text.replace(",", "")  # how much went
    assert messages == oversized()


def _kept_of(text: str) -> list[str]:
    """The parts of a shortened text that stood in the whole, which is made of one letter and spaces."""
    before, _, rest = text.partition("[")
    return [before.rstrip("\n"), rest.rpartition("]")[2].lstrip("\n")]


def test_c10_only_the_long_results_are_shortened() -> None:
    messages = talk("H A*(a,b) Ta Tb", {"Ta": "short", "Tb": "long " * 5_000})
    output = trim_messages(messages, max_tokens=300, token_counter=TiktokenCounter())
    assert [short is whole for short, whole in zip(output, messages, strict=True)] == [True, True, True, False]


def test_c10_or_the_call_is_refused_where_that_is_asked_for() -> None:
    counter = TiktokenCounter()
    with pytest.raises(BudgetExceededError) as caught:
        trim_messages(oversized(), max_tokens=500, token_counter=counter, oversized="raise")
    assert caught.value.needed == counter(oversized())
    assert caught.value.over == caught.value.needed - 500


def test_c10_a_result_that_is_still_awaited_keeps_the_others_as_they_are() -> None:
    messages = talk("H A*(a,b) Ta", {"Ta": "long " * 5_000})
    with pytest.raises(BudgetExceededError):
        trim_messages(messages, max_tokens=100, token_counter=weigh)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c13_a_pinned_result_stays_verbatim_or_is_refused(strategy: Any) -> None:
    messages = talk("H A*(a) Ta A H2", {"Ta": "long " * 5_000})
    options: dict[str, Any] = {"token_counter": weigh, "pin": ["m2"], "strategy": strategy}
    with pytest.raises(BudgetExceededError):
        trim_messages(messages, max_tokens=100, **options)
    output = trim_messages(messages, max_tokens=weigh_list(messages) - 3, **options)
    assert output[2] is messages[2]


def test_c10_media_in_a_result_are_left_out_rather_than_the_result() -> None:
    def count(message: BaseMessage) -> int:
        return len(json.dumps(message.content)) // 4

    blocks = [{"type": "text", "text": "a chart"}, {"type": "image", "base64": "A" * 9_000, "mime_type": "image/png"}]
    messages = talk("H A*(a) Ta", {"Ta": blocks})

    def counter(given: Sequence[BaseMessage]) -> int:
        return sum(count(message) for message in given)

    output = trim_messages(messages, max_tokens=200, token_counter=counter)
    assert notation(output) == "H A*(a) T(a)"
    assert "a chart" in output[2].text
    assert counter(output) <= 200


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c13_the_question_of_one_long_turn_and_what_is_pinned_stay_in_order(strategy: Any) -> None:
    script = f"S H A H2 {pairs(8)}"
    pinned = {"m1", "m8"}  # the task, and the call of the third pair
    output = kept(script, 6, strategy=strategy, pin=pinned)
    assert {"H", "H2", "A*(c2)", "Tc2"} <= set(_words(output))
    assert _words(output) == [word for word in _words(script) if word in set(_words(output))]
    assert kept(script, 4, strategy=strategy, pin=pinned) == "H H2 A*(c2) Tc2"
    with pytest.raises(BudgetExceededError) as caught:
        kept(script, 3, strategy=strategy, pin=pinned)
    assert caught.value.needed == 4


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c13_a_pinned_answer_keeps_the_question_it_was_given_to(strategy: Any) -> None:
    assert kept("H A H2 A2 H3", 3, strategy=strategy, pin=lambda message: message.text == "A2") == "H2 A2 H3"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_c13_a_pinned_result_keeps_its_unit(strategy: Any) -> None:
    output = kept("H A*(a,b) Ta Tb A H2 A2 H3", 5, strategy=strategy, pin=["m3"])
    assert output == "H A*(a,b) Ta Tb H3"


# -- E: orders that two runs of one conversation, or a history read twice, leave behind --------------------------------


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    "script",
    [
        "H H2 A A2",
        "H A A2",
        "H H2 A*(a) A*(b) Ta Tb",
        "H H2 A*(a) A*(b) Tb Ta A A2",
        "H A*(a) H2 Ta A A2",
        "H A H A H2 A2",
        "H A*(a) Ta H A*(a) Ta H2 A2",
        "H A*(a) H A*(a) Ta A",
    ],
)
def test_e1_interleaved_and_doubled_runs_come_out_valid_at_every_budget(script: str, strategy: Any) -> None:
    messages = talk(script)
    newest = messages[newest_user_turn(messages) or 0]
    for limit in range(1, len(messages) + 2):
        output = trim_messages(messages, max_tokens=limit, token_counter=len, strategy=strategy)
        assert faults(output) == validate_messages(output) == []
        assert len(output) <= limit
        assert any(message is newest for message in output)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_e1_one_message_object_standing_twice_is_two_messages(strategy: Any) -> None:
    again = HumanMessage("go on", id="again")
    messages = [again, AIMessage("1"), again, AIMessage("2"), again]
    for limit in range(1, 6):
        output = trim_messages(messages, max_tokens=limit, token_counter=len, strategy=strategy)
        assert len(output) <= limit
        assert output[-1] is again
        assert faults(output) == []
    assert output == messages


def test_e2_chunks_are_messages() -> None:
    chunk = {"name": "look_up", "args": "{}", "id": "a", "index": 0, "type": "tool_call_chunk"}
    messages = [
        HumanMessage("H"),
        AIMessageChunk("", tool_call_chunks=[chunk]),
        ToolMessage("Ta", tool_call_id="a"),
        AIMessageChunk("A"),
        HumanMessage("H2"),
    ]
    assert [len(trim_messages(messages, max_tokens=size, token_counter=len)) for size in range(1, 6)] == [1, 1, 1, 1, 5]


def test_e6_text_that_looks_like_a_serialised_object_stays_text() -> None:
    text = json.dumps({"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": {}})
    trimmer = trim_messages(max_tokens=1, token_counter=len)
    assert trimmer.invoke([HumanMessage("H"), AIMessage("A"), HumanMessage(text)]) == [HumanMessage(text)]


# -- what langchain_core's trim_messages takes, and what this one takes besides ----------------------------------------


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(1, "H3 A3"), (2, "H2 A*(a) Ta A2 H3 A3"), (3, "H A H2 A*(a) Ta A2 H3 A3"), (9, "H A H2 A*(a) Ta A2 H3 A3")],
)
def test_rounds_are_counted_by_user_turns(limit: int, expected: str) -> None:
    assert kept("H A H2 A*(a) Ta A2 H3 A3", ("rounds", limit)) == expected


def test_a_limit_in_messages_needs_no_counter() -> None:
    messages = talk("H A H2 A2")
    assert trim_messages(messages, max_tokens=("messages", 2)) == messages[2:]
    assert trim_messages(messages, max_tokens=("rounds", 1)) == messages[2:]


@pytest.mark.parametrize("limit", [-1, 1.5, "many", None, ("words", 3), ("messages", -1), ("rounds",), True])
def test_a_limit_that_is_none_is_refused_with_its_value(limit: Any) -> None:
    for attempt in (lambda: trim_messages(talk("H"), max_tokens=limit), lambda: MessageTrimmer(max_tokens=limit)):
        with pytest.raises(ValueError) as caught:  # noqa: PT011 - the value itself is looked for below
            attempt()
        assert repr(limit) in str(caught.value) or str(limit) in str(caught.value)


@pytest.mark.parametrize(
    "options", [{"strategy": "middle"}, {"oversized": "ignore"}, {"start_on": "human", "strategy": "first"}]
)
def test_an_option_that_means_nothing_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"middle|ignore|start_on"):
        trim_messages(talk("H A H2"), max_tokens=1, token_counter=len, **options)


def test_start_on_and_end_on_keep_their_meaning() -> None:
    script = "S H A H2 A2 H3 A3"
    assert kept(script, 4, start_on="human") == "H2 A2 H3 A3"
    assert kept(script, 5, start_on="human", include_system=True) == "S H2 A2 H3 A3"
    assert kept(script, 9, end_on="human") == "S H A H2 A2 H3"
    assert kept(script, 3, end_on="human") == "H2 A2 H3"
    assert kept(script, 2, end_on="ai") == "H3 A3"
    assert kept("H A*(a) Ta", 3, end_on="ai") == "H"
    assert kept(script, 3, end_on="human", strategy="first") == "S H H3"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_result_made_up_for_a_call_ends_nothing_that_is_to_end_on_the_assistant(strategy: Any) -> None:
    messages = talk("H A A*(a) A*(b) Tb")
    output = trim_messages(messages, max_tokens=9, token_counter=len, end_on="ai", strategy=strategy)
    assert notation(output) == "H A"


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_end_on_holds_for_rounds_too(strategy: Any) -> None:
    assert kept("H A H2 A2", ("rounds", 2), end_on="human", strategy=strategy) == "H A H2"
    assert kept("H A H2 A2", ("rounds", 1), end_on="human", strategy=strategy) == "H2"


@pytest.mark.parametrize("oversized", ["shrink", "raise"])
@pytest.mark.parametrize("limit", range(3))
def test_a_refusal_names_the_limit_that_was_given(limit: int, oversized: Any) -> None:
    for counter in (weigh, weigh_list):
        with pytest.raises(BudgetExceededError) as caught:
            trim_messages(talk("H A*(a) Ta"), max_tokens=limit, token_counter=counter, oversized=oversized)
        assert caught.value.limit == limit
        assert caught.value.needed >= weigh(talk("H")[0])


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("kind", ["human", HumanMessage, [HumanMessage], ["human", SystemMessage]])
def test_types_are_named_or_given(kind: Any, strategy: Any) -> None:
    assert kept("H A H2 A2", 9, end_on=kind, strategy=strategy) == "H A H2"


def test_the_newest_question_may_be_cut_where_that_is_allowed() -> None:
    messages = [HumanMessage("H"), AIMessage("A"), HumanMessage("one two three four", id="q")]

    def words(given: list[BaseMessage]) -> int:
        return sum(len(message.text.split()) for message in given)

    def splitter(text: str) -> list[str]:
        return [word + " " for word in text.split(" ")[:-1]] + text.split(" ")[-1:]

    options: dict[str, Any] = {"token_counter": words, "allow_partial": True, "text_splitter": splitter}
    assert trim_messages(messages, max_tokens=2, **options) == [HumanMessage("three four", id="q")]
    (first,) = trim_messages(messages, max_tokens=2, strategy="first", **options)
    assert first.text.strip() == "one two"
    with pytest.raises(BudgetExceededError):
        trim_messages(messages, max_tokens=2, token_counter=words)


def test_a_part_of_an_assistant_message_does_not_open_the_window() -> None:
    messages = [HumanMessage("H"), AIMessage([{"type": "text", "text": word} for word in "abc"]), HumanMessage("H2")]

    def pieces(given: list[BaseMessage]) -> int:
        return sum(len(message.content) if isinstance(message.content, list) else 1 for message in given)

    assert trim_messages(messages, max_tokens=3, token_counter=pieces, allow_partial=True) == messages[2:]
    first = trim_messages(messages, max_tokens=3, token_counter=pieces, allow_partial=True, strategy="first")
    assert [message.text for message in first] == ["H", "a", "H2"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_tools_take_their_share_of_the_budget(strategy: Any) -> None:
    tool = {"type": "function", "function": {"name": "look_up", "description": "word " * 200, "parameters": {}}}
    messages = talk("H A H2")
    whole = count_tokens(messages)
    schema = count_tokens(messages, tools=[tool]) - whole
    assert schema > 150
    options: dict[str, Any] = {"strategy": strategy, "tools": [tool]}
    assert trim_messages(messages, max_tokens=whole + schema, **options) == messages
    assert len(trim_messages(messages, max_tokens=whole + schema - 1, **options)) < len(messages)
    with pytest.raises(BudgetExceededError) as caught:
        trim_messages(messages, max_tokens=whole, **options)
    assert caught.value.needed == count_tokens(messages[2:], tools=[tool])


def test_without_a_user_turn_the_newest_messages_stay() -> None:
    assert kept("S A A2 A3", 2) in {"A2 A3", "S A3"}
    assert kept("A*(a) Ta A*(b) Tb", 2) == "A*(b) Tb"
    with pytest.raises(BudgetExceededError):
        kept("A A2", 0)


def test_a_long_history_is_counted_once_and_no_further_than_the_window() -> None:
    messages = talk(" ".join(f"H{index} A*(c{index}) Tc{index} A{index}" for index in range(198)))
    counted: list[int] = []

    def count(message: BaseMessage) -> int:
        counted.append(id(message))
        return 1

    assert len(messages) == 792
    assert len(trim_messages(messages, max_tokens=400, token_counter=count)) == 400
    assert len(counted) == len(set(counted)) <= 400 + 4


# -- the Runnable ------------------------------------------------------------------------------------------------------


def test_without_messages_it_is_a_runnable() -> None:
    trimmer = trim_messages(max_tokens=2, token_counter=len)
    assert isinstance(trimmer, Runnable)
    assert trimmer.invoke(talk("H A H2 A2")) == talk("H A H2 A2")[2:]
    assert [len(one) for one in trimmer.batch([talk("H"), talk("H A H2 A2"), []])] == [1, 2, 0]


async def test_it_takes_part_in_a_chain() -> None:
    prompt = ChatPromptTemplate([("system", "S"), ("placeholder", "{history}"), ("human", "{question}")])
    model = FakeListChatModel(responses=["fine"])
    chain = prompt | trim_messages(max_tokens=2, token_counter=len, include_system=True) | model
    given = {"history": talk("H A"), "question": "H2"}
    assert chain.invoke(given).text == "fine"
    assert (await chain.ainvoke(given)).text == "fine"
    window = await (prompt | MessageTrimmer(max_tokens=2, token_counter=len, include_system=True)).ainvoke(given)
    assert [message.text for message in window] == ["S", "H2"]


def test_it_takes_what_langchain_takes_for_messages() -> None:
    given = [("human", "H"), {"role": "assistant", "content": "A"}, "H2"]
    assert trim_messages(given, max_tokens=1, token_counter=len) == [HumanMessage("H2")]


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")  # langchain-core's only way to read it back
@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": 2, "token_counter": "approximate"},
        {"max_tokens": ("rounds", 1)},
        {"max_tokens": ("messages", 2), "strategy": "first", "include_system": True, "pin": ["m0"]},
        {"max_tokens": 50, "start_on": "human", "end_on": ["human", "tool"], "oversized": "raise"},
    ],
)
def test_a_trimmer_survives_being_stored(options: dict[str, Any]) -> None:
    trimmer = MessageTrimmer(**options)
    stored = loads(dumps(trimmer), valid_namespaces=["langchain_tiered_memory"], allowed_objects=[MessageTrimmer])
    assert stored == trimmer
    messages = talk("H A H2 A2")
    if options["max_tokens"] != 2:
        assert stored.invoke(messages) == trimmer.invoke(messages) == trim_messages(messages, **options)


def test_names_of_options_are_checked_when_a_trimmer_is_made() -> None:
    with pytest.raises(ValueError, match="max_token"):
        MessageTrimmer(max_token=5)  # type: ignore[call-arg]


@pytest.mark.parametrize("counter", ["exact", "{}", 7])
def test_a_counter_that_is_none_is_refused_by_name(counter: Any) -> None:
    with pytest.raises(ValueError, match="token_counter"):
        trim_messages(talk("H A"), max_tokens=1, token_counter=counter)


def test_a_model_counts() -> None:
    class Model(FakeListChatModel):
        responses: list[str] = []  # noqa: RUF012 - a pydantic field

        def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:
            del tools
            assert faults(messages, "openai") == []
            return 10 * len(messages)

    assert kept("H A*(a) Ta A H2 A2", 20, token_counter=Model()) == "H2 A2"


# --- with exact counts ------------------------------------------------------------------------------------------------

FOX = "The quick brown fox jumps over the lazy dog. "


@pytest.mark.parametrize("behind", ["A", "A*(b) T(b)"])
def test_a_unit_that_alone_exceeds_the_budget_meets_the_policy(behind: str) -> None:
    chat = talk(f"H A*(a) T(a) {behind}", {"T(a)": FOX * 900})
    counter = TiktokenCounter("gpt-4o")
    kept = trim_messages(chat, max_tokens=2_000, token_counter=counter)
    assert [message.type for message in kept] == [message.type for message in chat]  # shrunk, and its unit not dropped
    assert counter(kept) <= 2_000
    with pytest.raises(BudgetExceededError):
        trim_messages(chat, max_tokens=2_000, token_counter=counter, oversized="raise")


def test_the_newest_unit_with_huge_arguments_is_not_dropped_silently(caplog: pytest.LogCaptureFixture) -> None:
    asks = AIMessage("", tool_calls=[call("a", x=FOX * 900)])
    chat = [HumanMessage("q"), asks, ToolMessage("r", tool_call_id="a")]
    kept = trim_messages(chat, max_tokens=2_000, token_counter=TiktokenCounter("gpt-4o"), oversized="shrink")
    assert kept == chat[:1]
    assert "it is left out whole" in caplog.text


def test_the_number_that_the_error_names_is_enough() -> None:
    chat = talk("H A*(a) T(a)", {"T(a)": FOX * 20})
    counter = TiktokenCounter("gpt-4o")
    with pytest.raises(BudgetExceededError) as error:
        trim_messages(chat, max_tokens=0, token_counter=counter, oversized="raise")
    trim_messages(chat, max_tokens=error.value.needed, token_counter=counter, oversized="raise")


def any_message(message: AnyMessage) -> int:
    return len(message.content)


def union(message: HumanMessage | AIMessage) -> int:
    return len(message.content)


def optional(message: HumanMessage | None = None) -> int:
    return len(message.content) if message else 0


@pytest.mark.parametrize("counter", [any_message, union, optional])
def test_a_function_of_one_message_is_known_by_any_message_hint(counter: Any) -> None:
    chat = [HumanMessage("h1"), AIMessage("a1"), HumanMessage("h2")]
    assert trim_messages(chat, max_tokens=2, token_counter=counter) == chat[-1:]


@pytest.mark.filterwarnings("ignore")
def test_media_prices_of_ones_own_are_not_lost_by_dumps_and_loads() -> None:
    plain = MessageTrimmer(max_tokens=99, token_counter=TiktokenCounter("gpt-4o"))
    priced = MessageTrimmer(max_tokens=99, token_counter=TiktokenCounter("gpt-4o", media=MediaPrices(image=7)))
    allowed: Any = {"allowed_objects": [MessageTrimmer], "valid_namespaces": ["langchain_tiered_memory"]}
    assert loads(dumps(plain), **allowed).token_counter.model == "gpt-4o"
    with pytest.raises(NotImplementedError, match="TiktokenCounter"):
        loads(dumps(priced), **allowed)


@pytest.mark.filterwarnings("ignore:The function `loads` is in beta")  # langchain-core's only way to read it back
def test_the_margin_of_an_estimate_is_not_lost_by_dumps_and_loads() -> None:
    allowed: Any = {"allowed_objects": [MessageTrimmer], "valid_namespaces": ["langchain_tiered_memory"]}
    for vendor, margin in (("anthropic", 1.7), (None, 1.3)):
        trimmer = MessageTrimmer(max_tokens=99, token_counter=EstimatingCounter(vendor))
        counter = loads(dumps(trimmer), **allowed).token_counter
        assert (counter.vendor, counter.margin) == (vendor, margin)
    own = MessageTrimmer(max_tokens=99, token_counter=EstimatingCounter(margin=2))
    with pytest.raises(NotImplementedError, match="EstimatingCounter"):
        loads(dumps(own), **allowed)
