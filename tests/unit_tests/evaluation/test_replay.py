"""A replay measures what a chain would have sent, call by call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import SummarizerGuard, SummaryMemory, read_transcript
from langchain_tiered_memory.errors import BudgetExceededError, TranscriptError
from langchain_tiered_memory.evaluation import model_calls, replay
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.messages.trimming import MessageTrimmer, trim_messages
from support.histories import talk
from support.shared import locomo


class Letters:
    """A counter that charges a letter as a token, 10 for a request, and remembers what it was asked."""

    request_overhead = 10

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, messages):
        return self.request_overhead + sum(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        self.asked.append(id(message))
        return len(message.text)

    def count_text(self, text: str) -> int:
        return len(text)

    def count_tools(self, tools) -> int:
        return 7 * len(tools)


def keep_all(messages: list[BaseMessage]) -> list[BaseMessage]:
    return messages


@pytest.mark.parametrize(
    ("script", "positions"),
    [
        ("S H A H2 A2", [2, 4]),
        ("H A*(a,b) Ta Tb A*(c) Tc A H2", [1, 4, 6]),
        ("S A H A2", [3]),
        ("H A A2 A3", [1, 2, 3]),
    ],
)
def test_a_model_is_called_before_each_answer_also_inside_tool_loops(script, positions):
    assert model_calls(talk(script)) == positions


def test_each_call_compares_the_history_with_what_is_sent():
    chat = [SystemMessage("1234"), HumanMessage("123456"), AIMessage("12"), HumanMessage("1"), AIMessage("123")]

    def without_the_oldest_round(messages):
        return messages if len(messages) < 4 else [messages[0], messages[-1]]

    report = replay(chat, max_tokens=16, token_counter=Letters(), trimmer=without_the_oldest_round)
    first, second = report.calls
    assert (first.full_messages, first.full_tokens, first.sent_messages, first.sent_tokens) == (2, 20, 2, 20)
    assert (second.full_messages, second.full_tokens, second.sent_messages, second.sent_tokens) == (4, 23, 2, 15)
    assert (first.shared_tokens, second.shared_tokens) == (0, 4)
    assert (first.left, second.left) == ((), (1, 2))
    assert [(call.number, call.round, call.position) for call in report.calls] == [(1, 1, 2), (2, 2, 4)]
    assert (report.full_tokens, report.sent_tokens, report.peak_full, report.peak_sent) == (43, 35, 23, 20)
    assert report.mean_sent == 17.5
    assert report.saved_share == pytest.approx(8 / 43)
    assert report.shared_share == pytest.approx(4 / 35)
    assert report.over_budget == (first,)
    assert (report.strategy, report.messages, report.rounds) == ("without_the_oldest_round", 5, 2)


def test_tool_schemas_are_part_of_every_figure_and_of_the_budget():
    chat = talk("H A H2 A2")
    tools = [{"type": "function"}, {"type": "function"}]
    plain = replay(chat, max_tokens=100, token_counter=Letters(), trimmer=keep_all)
    report = replay(chat, max_tokens=100, token_counter=Letters(), trimmer=keep_all, tools=tools)
    assert report.tool_tokens == 14
    for ours, theirs in zip(report.calls, plain.calls, strict=True):
        assert ours.full_tokens == theirs.full_tokens + 14
        assert ours.sent_tokens == theirs.sent_tokens + 14
    trimmed = replay(chat, max_tokens=26, token_counter=Letters(), tools=tools)
    assert trimmed.over_budget == ()
    assert trimmed.calls[1].sent_messages < trimmed.calls[1].full_messages


def test_the_full_history_is_counted_message_by_message_and_each_once():
    chat = [message for number in range(300) for message in (HumanMessage(f"h{number}"), AIMessage(f"a{number}"))]
    counter = Letters()
    replay(chat, max_tokens=1000, token_counter=counter, trimmer=lambda messages: messages[-1:])
    # one for the history and one for the request: no message is asked for again at a later call
    assert len(counter.asked) <= 3 * len(chat)


def test_what_comes_back_in_another_form_is_altered_and_what_is_new_is_added():
    chat = talk("H A*(a) Ta A")

    def summarise(messages):
        summary = HumanMessage("summary")
        short = [m.model_copy(update={"content": "…"}) if isinstance(m, ToolMessage) else m for m in messages]
        return [summary, *short] if len(messages) > 2 else messages

    report = replay(chat, max_tokens=100, token_counter=len, trimmer=summarise)
    assert [(call.altered, call.added, call.left) for call in report.calls] == [(0, 0, ()), (1, 1, ())]


def test_a_message_that_never_entered_the_window_counts_as_left():
    chat = talk("H A H2 A2 H3 A3")
    report = replay(chat, max_tokens=100, token_counter=len, trimmer=lambda messages: messages[:1])
    assert [call.left for call in report.calls] == [(), (1, 2), (3, 4)]
    assert report.left_messages == 4


def test_the_same_message_twice_is_two_messages():
    again = HumanMessage("again")
    report = replay([again, AIMessage("a"), again, AIMessage("b")], max_tokens=99, token_counter=len, trimmer=keep_all)
    assert [call.left for call in report.calls] == [(), ()]
    assert report.calls[1].added == 0


def test_faults_of_the_request_and_of_the_transcript_are_told_apart():
    chat = talk("H A*(a,b) Ta Tb A H2 A2")
    report = replay(chat, max_tokens=99, token_counter=len, trimmer=lambda messages: messages[2:] or messages)
    assert report.transcript_faults == ()
    assert {fault.code for fault in report.calls[1].faults} == {"orphan_result"}
    assert report.fault_count == sum(len(call.faults) for call in report.calls)
    broken = talk("H A*(a) H2 A")
    report = replay(broken, max_tokens=999, token_counter=len)
    assert [fault.code for fault in report.transcript_faults] == ["unanswered_call"]
    assert report.fault_count == 0


def test_a_call_that_does_not_fit_says_which_and_by_how_much():
    chat = [HumanMessage("short"), AIMessage("ok"), HumanMessage("x" * 100), AIMessage("never")]
    with pytest.raises(
        BudgetExceededError, match=r"call 2 \(round 2, before message 3\) does not fit.* too many"
    ) as caught:
        replay(chat, max_tokens=50, token_counter=Letters())
    assert caught.value.limit == 50
    assert caught.value.over == caught.value.needed - 50 > 0


def test_a_conversation_without_a_model_call_is_refused():
    for chat in ([], talk("S"), talk("H"), talk("S A")):
        with pytest.raises(TranscriptError, match="no model call to replay"):
            replay(chat, max_tokens=10, token_counter=len)


def test_progress_is_told_call_by_call():
    seen = []
    report = replay(talk("H A H2 A2"), max_tokens=10, token_counter=len, on_call=seen.append)
    assert tuple(seen) == report.calls


def test_counters_of_lists_and_functions_are_taken():
    chat = talk("H A H2 A2")
    for counter, tokens in ((len, 3), (lambda messages: 5 * len(messages), 15), (EstimatingCounter(), None)):
        report = replay(chat, max_tokens=1000, token_counter=counter, trimmer=keep_all)
        assert report.calls[-1].full_tokens == report.calls[-1].sent_tokens
        assert tokens is None or report.calls[-1].full_tokens == tokens


@pytest.mark.parametrize("strategy", ["first", "last"])
@pytest.mark.parametrize("name", ["trip_agent.en.json", "ticket_triage.zh.json"])
@given(budget=st.integers(800, 8000))
@settings(deadline=None, max_examples=8)
def test_the_shipped_transcripts_replay_within_any_budget_without_a_fault(project_root, name, strategy, budget):
    chat = read_transcript(project_root / "tests" / "data" / name)
    report = replay(chat.messages, max_tokens=budget, token_counter=EstimatingCounter(), strategy=strategy)
    assert report.over_budget == ()
    assert report.fault_count == 0
    assert len(report.calls) == len(model_calls(chat.messages))
    assert all(call.shared_tokens <= call.sent_tokens <= call.full_tokens for call in report.calls)


def test_the_report_agrees_with_trimming_and_counting_by_hand(project_root):
    from langchain_tiered_memory.messages.tokens import TiktokenCounter  # noqa: PLC0415 - only with a vocabulary

    chat = list(read_transcript(project_root / "tests" / "data" / "trip_agent.en.json"))
    counter = TiktokenCounter("gpt-4o")
    report = replay(chat, max_tokens=2000, token_counter=counter)
    for call in report.calls[::9]:
        before = chat[: call.position]
        sent = trim_messages(before, max_tokens=2000, token_counter=counter, include_system=True)
        assert call.full_tokens == counter(before)
        assert (call.sent_messages, call.sent_tokens) == (len(sent), counter(sent))


def test_a_runnable_is_a_strategy_too():
    chat = talk("S " + " ".join(f"H{n} A{n}" for n in range(20)))
    arguments = {"max_tokens": 60, "token_counter": EstimatingCounter()}
    by_runnable = replay(chat, trimmer=MessageTrimmer(include_system=True, **arguments), **arguments)
    by_default = replay(chat, **arguments)
    assert by_runnable.strategy == "MessageTrimmer"
    assert [(call.sent_tokens, call.left) for call in by_runnable.calls] == [
        (call.sent_tokens, call.left) for call in by_default.calls
    ]
    assert by_runnable.left_messages > 0
    assert by_runnable.compactions == by_runnable.failures == ()


def test_compactions_are_reported_with_the_call_before_which_they_happened():
    chat = talk(" ".join(f"H{n} A{n}" for n in range(8)))
    memory = SummaryMemory(trigger=("messages", 6), keep=("rounds", 1), session_id="s", max_tokens=5_000)
    report = replay(chat, max_tokens=5_000, token_counter=EstimatingCounter(), trimmer=memory)
    assert len(report.compactions) > 1
    for call, compaction in report.compactions:
        assert call.compactions == (compaction,)
        assert call.left == tuple(range(compaction.first - 1, compaction.last))
        assert call.added == 1
    assert report.summarizer_tokens == sum(compaction.summarizer_tokens for _, compaction in report.compactions) > 0
    plain = report.to_dict()
    assert [one["call"] for one in plain["compactions"]] == [call.number for call, _ in report.compactions]
    assert [one["messages"] for one in plain["compactions"]] == [len(one.removed) for _, one in report.compactions]
    assert "compactions" not in plain["calls"][0]
    assert json.loads(json.dumps(plain))["totals"]["compactions"] == len(report.compactions)


def test_a_compaction_that_failed_is_reported_and_the_budget_holds():
    def refuse(_previous, _messages):
        msg = "no capacity"
        raise RuntimeError(msg)

    chat = talk(" ".join(f"H{n} A{n}" for n in range(20)))
    memory = SummaryMemory(
        refuse, max_tokens=90, token_counter=EstimatingCounter(), session_id="s", guard=SummarizerGuard(fallback=None)
    )
    report = replay(chat, max_tokens=90, token_counter=EstimatingCounter(), trimmer=memory)
    assert report.compactions == report.over_budget == ()
    assert report.fault_count == 0
    [(call, failure)] = report.failures  # the next try waits
    assert "no capacity" in str(failure.error)
    assert report.to_dict()["failed_compactions"] == [
        {"call": call.number, "messages": failure.messages, "error": str(failure.error)}
    ]


@pytest.mark.usefixtures("shared_data")
def test_locomo_replays():
    for number in range(10):
        report = replay(locomo(number), max_tokens=2000, token_counter=EstimatingCounter())
        assert report.over_budget == ()
        assert report.fault_count == 0
        assert report.saved_share > 0.5
