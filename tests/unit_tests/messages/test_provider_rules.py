"""What each provider refuses, rule by rule: named by validation, mended by repair, kept by trimming."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_tiered_memory import BudgetExceededError, repair_messages, trim_messages, validate_messages
from langchain_tiered_memory.messages.repair import PROVIDERS
from support.histories import call, notation, talk, weigh


def codes(messages: list[BaseMessage], provider: Any = None) -> list[tuple[str, int]]:
    return [(fault.code, fault.index) for fault in validate_messages(messages, provider)]


def result(call_id: str, content: str = "found") -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def use(call_id: str, *before: dict[str, Any]) -> AIMessage:
    block = {"type": "tool_use", "id": call_id, "name": "look_up", "input": {}}
    return AIMessage([*before, block], tool_calls=[call(call_id)])


TEXT = {"type": "text", "text": "and now?"}
THINKING = {"type": "thinking", "thinking": "Let me plan. " * 5, "signature": "s" * 80}


def test_an_orphan_block_goes_and_the_text_beside_it_stays() -> None:
    asked = HumanMessage([result("gone"), TEXT], id="q")
    chat = [HumanMessage("Hi"), AIMessage("Hello!"), asked]
    assert codes(chat) == [("orphan_result", 2)]
    for mended in (
        *(repair_messages(chat, provider) for provider in (*PROVIDERS, None)),
        trim_messages(chat, max_tokens=1_000, token_counter=weigh),
    ):
        assert [message.text for message in mended] == ["Hi", "Hello!", "and now?"]
        assert (mended[2].id, mended[2].content) == ("q", [TEXT])
    assert asked.content == [result("gone"), TEXT]
    assert trim_messages(chat, max_tokens=1, token_counter=len)[0].text == "and now?"


def test_a_text_beside_a_second_result_of_one_call_stays() -> None:
    chat = [HumanMessage("H"), use("a"), ToolMessage("found", tool_call_id="a"), HumanMessage([result("a"), TEXT])]
    assert [message.text for message in repair_messages(chat)][2:] == ["found", "and now?"]


def test_text_beside_a_result_follows_it_in_its_message() -> None:
    chat = [HumanMessage("q"), use("a"), HumanMessage([TEXT, result("a")])]
    assert codes(chat, "anthropic") == codes(chat, "bedrock") == [("text_before_result", 2)]
    assert repair_messages(chat, "anthropic")[2].content == [result("a"), TEXT]
    assert trim_messages(chat, max_tokens=3, token_counter=len)[2].content == [result("a"), TEXT]


def test_a_user_who_speaks_beside_one_result_leaves_no_other_call_open() -> None:
    chat = [HumanMessage("q"), AIMessage("", tool_calls=[call("a"), call("b")]), HumanMessage([result("a"), TEXT])]
    mended = repair_messages(chat)
    assert [message.type for message in mended] == ["human", "ai", "tool", "human"]
    assert mended[2].tool_call_id == "b"


def test_results_stand_in_the_order_of_their_calls() -> None:
    chat = talk("H A*(a,b,c) Tc Ta Tb H2")
    assert codes(chat, "google") == codes(chat) == [("result_order", 2)]
    assert codes(chat, "openai") == codes(chat, "anthropic") == []
    assert notation(repair_messages(chat, "google")) == "H A*(a,b,c) T(a) T(b) T(c) H"
    assert notation(trim_messages(chat, max_tokens=99, token_counter=len)) == "H A*(a,b,c) T(a) T(b) T(c) H"


@pytest.mark.parametrize("provider", ["anthropic", "google", "bedrock"])
def test_blank_texts_go_or_say_that_they_are_empty(provider: Any) -> None:
    blank = {"type": "text", "text": " "}
    chat = [
        SystemMessage(""),
        HumanMessage(""),
        AIMessage(""),
        HumanMessage([blank, TEXT]),
        use("a", blank),
        ToolMessage("", tool_call_id="a"),
        AIMessage("  "),
        HumanMessage("  "),
    ]
    assert [index for code, index in codes(chat, provider) if code == "empty_text"] == [0, 1, 2, 3, 4, 6, 7]
    mended = repair_messages(chat, provider)
    assert [message.text for message in mended] == ["(empty message)", "and now?", "", "", "(empty message)"]
    assert codes(mended, provider) == codes(chat, "openai") == []


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
def test_parallel_calls_of_one_id_are_told_apart(provider: Any) -> None:
    twins = AIMessage("", tool_calls=[call("a", day="Monday"), call("a", day="Friday")], id="m1")
    results = [ToolMessage("rain", tool_call_id="a"), ToolMessage("sun", tool_call_id="a")]
    chat = [HumanMessage("Weather?"), twins, *results, HumanMessage("So?")]
    assert ("duplicate_call", 1) in codes(chat, provider)
    mended = repair_messages(chat, provider)
    assert codes(mended, provider) == []
    assert [one["id"] for one in mended[1].tool_calls] == ["a", "a-2"]
    assert [(m.tool_call_id, m.text) for m in mended if isinstance(m, ToolMessage)] == [("a", "rain"), ("a-2", "sun")]
    assert [one["id"] for one in twins.tool_calls] == ["a", "a"]


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
def test_a_removal_is_applied_and_never_sent(provider: Any) -> None:
    chat = [*talk("H A H2 A2"), RemoveMessage("m1"), HumanMessage("H3", id="m5")]
    assert codes(chat, provider)[-1] == ("removal", 4)
    assert [message.id for message in repair_messages(chat, provider)] == ["m0", "m2", "m3", "m5"]
    assert [message.id for message in trim_messages(chat, max_tokens=9, token_counter=len)] == ["m0", "m2", "m3", "m5"]
    everything = [*talk("H A"), RemoveMessage("__remove_all__"), HumanMessage("H3")]
    assert repair_messages(everything, provider) == [HumanMessage("H3")]


@pytest.mark.parametrize("provider", [*PROVIDERS, None])
def test_messages_of_unknown_roles_and_without_content_become_readable(provider: Any) -> None:
    chat = [
        HumanMessage("Hi", id="m0"),
        AIMessage("gone", tool_calls=[call("a")], id="m1").model_copy(update={"content": None}),
        ToolMessage("found", tool_call_id="a"),
        AIMessage("A"),
        ChatMessage(role="critic", content="too short", id="m4"),
        ChatMessage(role="user", content="Go on", id="m5"),
    ]
    assert [fault for fault in codes(chat, provider) if fault[0] in {"no_content", "unknown_role"}] == [
        ("no_content", 1),
        ("unknown_role", 4),
        ("unknown_role", 5),
    ]
    mended = repair_messages(chat, provider)
    assert codes(mended, provider) == []
    assert [type(message) for message in mended[-2:]] == [HumanMessage, HumanMessage]
    assert [message.text for message in mended] == ["Hi", "", "found", "A", "[critic] too short", "Go on"]
    window = trim_messages(chat, max_tokens=1, token_counter=len)
    assert [message.text for message in window] == ["Go on"], "a stranger is no user turn"


def test_gemini_wants_a_call_behind_a_user_turn_or_a_result() -> None:
    chat = talk("H A A*(a) Ta A2", {"A": "Let me see.", "A*(a)": "Looking."})
    assert codes(chat, "google") == [("call_after_assistant", 2)]
    assert codes(chat, "openai") == codes(chat) == []
    mended = repair_messages(chat, "google")
    assert notation(mended) == "H A*(a) T(a) A"
    assert mended[1].text == "Let me see.\nLooking."
    assert codes(mended, "google") == []


def test_mistral_wants_an_answer_between_a_result_and_a_user_turn() -> None:
    chat = talk("H A*(a) Ta H2")
    assert codes(chat, "mistral") == [("user_after_result", 3)]
    mended = repair_messages(chat, "mistral")
    assert notation(mended) == "H A*(a) T(a) A H"
    assert codes(mended, "mistral") == codes(chat) == []


# -- thinking ----------------------------------------------------------------------------------------------------------


def thinking_turn(length: int = 200) -> list[BaseMessage]:
    return [
        HumanMessage("question"),
        use("a", THINKING),
        ToolMessage("r " * length, tool_call_id="a"),
        use("b"),
        ToolMessage("r " * length, tool_call_id="b"),
    ]


def cost(messages: list[BaseMessage]) -> int:
    return sum(map(weigh, messages))


def test_an_unfinished_turn_with_thinking_is_shortened_and_never_cut() -> None:
    chat = thinking_turn()
    window = trim_messages(chat, max_tokens=cost(chat) - 50, token_counter=weigh)
    assert [message.type for message in window] == ["human", "ai", "tool", "ai", "tool"]
    assert window[1] is chat[1]
    assert len(window[2].text) < 400
    assert cost(window) <= cost(chat) - 50
    assert codes(window, "anthropic") == []


def test_an_unfinished_turn_with_thinking_goes_whole_where_it_cannot_be_shortened() -> None:
    chat = thinking_turn()
    assert trim_messages(chat, max_tokens=3, token_counter=len) == chat[:1]
    assert trim_messages(chat, max_tokens=20, token_counter=weigh) == chat[:1]
    with pytest.raises(BudgetExceededError):
        trim_messages(chat, max_tokens=cost(chat) - 50, token_counter=weigh, oversized="raise")


@pytest.mark.parametrize("strategy", ["last", "first"])
def test_a_call_in_progress_keeps_the_thinking_its_turn_began_with(strategy: Any) -> None:
    chat = [*thinking_turn(), use("c")]
    for limit in range(cost(chat) + 1):
        try:
            window = trim_messages(chat, max_tokens=limit, token_counter=weigh, strategy=strategy)
        except BudgetExceededError:
            continue
        assert window[1] is chat[1]
        assert window[-1] is chat[-1]
        assert codes(window, "anthropic") == []
    assert window == chat


def test_a_finished_turn_is_cut_like_any_other() -> None:
    chat = [*thinking_turn(), AIMessage("done"), HumanMessage("thanks")]
    assert trim_messages(chat, max_tokens=2, token_counter=len) == chat[-1:]


def test_a_turn_that_lost_its_thinking_is_named_and_mended() -> None:
    chat = [HumanMessage("q"), use("a"), ToolMessage("r", tool_call_id="a"), use("b", THINKING)]
    chat.append(ToolMessage("r", tool_call_id="b"))
    assert codes(chat, "anthropic") == codes(chat, "bedrock") == [("thinking_cut", 1)]
    assert codes(chat, "openai") == codes(chat) == []
    assert repair_messages(chat, "anthropic") == [chat[0], *chat[3:]]


# -- arguments ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {"max_tokens": ("rounds", (5, 1))},
        {"max_tokens": ("rounds", True)},
        {"include_system": "no"},
        {"allow_partial": 1},
        {"pin": 5},
        {"pin": [5]},
        {"start_on": 5},
        {"end_on": [5]},
        {"strategy": ["last"]},
    ],
)
def test_a_mistaken_argument_is_named_with_its_value(options: dict[str, Any]) -> None:
    (name, value), *_ = options.items()
    with pytest.raises(ValueError, match=name) as caught:
        trim_messages(talk("H A H2"), **{"max_tokens": 5, "token_counter": len, **options})
    assert repr(value) in str(caught.value)
