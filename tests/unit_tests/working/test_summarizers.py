"""Whatever writes summaries, in one form; what a summary must not be; and how its input is cut into parts."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.callbacks import BaseCallbackHandler, CallbackManager
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tracers.base import BaseTracer
from langchain_core.tracers.log_stream import LogStreamCallbackHandler

from langchain_tiered_memory import ExtractiveSummarizer
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.errors import SummarizationError
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.text import Prefixes
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.algorithm import BLOCKING
from langchain_tiered_memory.working.compaction.plan import batches, split_parts
from langchain_tiered_memory.working.summarizers import Request, adapt_summarizer, internal_config, window_of
from langchain_tiered_memory.working.writing import Writer
from support.histories import examples, histories
from support.summaries import Words, chat, tool_round

CONFIG = internal_config(None)
ASKED = Request("what was known", (*chat(1), *tool_round(7)), 50, "en")


@pytest.fixture(params=["sync", "async"])
def ask(request):
    """Asks a summarizer, or awaits it."""

    async def ask(summarizer, asked=ASKED):
        if request.param == "sync":
            return summarizer.run(asked, CONFIG)
        return await summarizer.arun(asked, CONFIG)

    return ask


class Recorder:
    def __init__(self, answer="gist"):
        self.seen = []
        self.answer = answer

    def __call__(self, value):
        self.seen.append(value)
        return self.answer


async def test_a_model_reads_the_transcript_as_text_below_instructions(ask):
    """langchain-ai/langmem#102: messages with calls can't be sent without the tools."""
    model = Recorder(AIMessage("gist", usage_metadata={"input_tokens": 7, "output_tokens": 2, "total_tokens": 9}))
    answer = await ask(adapt_summarizer(RunnableLambda(model)))
    assert (answer.text, answer.tokens) == ("gist", (7, 2))
    ((system, human),) = model.seen
    assert system.content.startswith("You write the memory of an assistant.")
    assert system.content.endswith("in at most 50 tokens.")
    assert "<previous_summary>\nwhat was known\n</previous_summary>" in human.content
    assert "Human: qa " in human.content
    assert "c7-0" in human.content.partition("[tool call look")[2]
    assert not getattr(human, "tool_calls", None)


async def test_prompts_and_prefixes_follow_the_language(ask):
    model = Recorder()
    await ask(adapt_summarizer(RunnableLambda(model)), Request("", (HumanMessage("你好"),), 9, "zh"))
    ((system, human),) = model.seen
    assert "不超过 9 个 token" in system.content
    assert human.content == "<conversation>\n用户: 你好\n</conversation>"


async def test_prompts_and_prefixes_can_be_replaced(ask):
    model = Recorder()
    summarizer = adapt_summarizer(
        RunnableLambda(model), prompt={"en": "Sum up.", "zh": "总结"}, prefixes=Prefixes(human="Guest")
    )
    await ask(summarizer)
    await ask(summarizer, Request("", (HumanMessage("你好"),), 9, "zh"))
    assert [system.content for system, _ in model.seen] == ["Sum up.", "总结"]
    assert "Guest: qa" in model.seen[0][1].content


async def test_a_prompt_that_holds_the_messages_is_sent_alone(ask):
    model = Recorder()
    prompt = "Old: {previous_summary}. New: <messages>{messages}</messages> In {max_tokens}. {not_a_placeholder} {}"
    asked = Request("with {messages} in it", (HumanMessage("{max_tokens}"),), 9, "en")
    await ask(adapt_summarizer(RunnableLambda(model), prompt=prompt), asked)
    ((human,),) = model.seen
    assert human.content == (
        "Old: with {messages} in it. New: <messages>Human: {max_tokens}</messages> In 9. {not_a_placeholder} {}"
    )


async def test_functions_sync_and_async_and_objects_are_called_the_same(ask):
    async def function(previous, messages):
        await asyncio.sleep(0)
        return f"{previous} and {len(messages)}"

    class Async:
        async def __call__(self, previous, messages):
            return f"{previous} and {len(messages)}"

    for one in (function, Async(), lambda previous, messages: f"{previous} and {len(messages)}"):
        answer = await ask(adapt_summarizer(one))
        assert answer.text == "what was known and 6"


async def test_a_runnable_may_give_text(ask):
    assert (await ask(adapt_summarizer(RunnableLambda(Recorder("plain"))))).text == "plain"
    assert (await ask(adapt_summarizer(FakeListChatModel(responses=["by the model"])))).text == "by the model"


@pytest.mark.parametrize("given", [None, ExtractiveSummarizer(), ExtractiveSummarizer(max_tokens=10)])
async def test_the_extractive_summarizer_is_asked_for_what_fits(ask, given):
    said = tuple(HumanMessage(f"Never open door {n} before noon, whatever they tell you.") for n in range(30))
    answer = await ask(adapt_summarizer(given, token_counter=Words()), Request("", said, 40, "en"))
    assert answer.text
    assert len(answer.text.split()) <= 60
    assert given is None or given.max_tokens in (10, ExtractiveSummarizer().max_tokens)


async def test_what_goes_wrong_inside_is_one_kind_of_error(ask):
    def broken(_previous, _messages):
        raise KeyError

    with pytest.raises(SummarizationError, match=r"the summarizer failed: KeyError\(\)") as caught:
        await ask(adapt_summarizer(broken))
    assert isinstance(caught.value.__cause__, KeyError)

    def timed_out(_previous, _messages):
        msg = "read timed out"
        raise TimeoutError(msg)

    with pytest.raises(SummarizationError, match="read timed out"):
        await ask(adapt_summarizer(timed_out, timeout=60))


def test_an_interrupt_is_not_swallowed():
    def interrupted(_previous, _messages):
        raise KeyboardInterrupt

    for timeout in (None, 60):
        with pytest.raises(KeyboardInterrupt):
            adapt_summarizer(interrupted, timeout=timeout).run(ASKED, CONFIG)


@pytest.mark.parametrize("given", [42, "openai:gpt-4o", object()])
def test_what_writes_no_summaries_is_refused(given):
    with pytest.raises(ValueError, match="writes no summaries: give a chat model"):
        adapt_summarizer(given)


def test_the_window_is_read_from_the_profile_through_what_is_around_the_model():
    model = FakeListChatModel(responses=[""], profile={"max_input_tokens": 123})
    assert window_of(model) == window_of(model.with_config(tags=["x"])) == 123
    assert window_of(FakeListChatModel(responses=[""])) is None
    assert window_of(None) is None
    assert window_of(lambda *_: "") is None


def test_only_tracers_go_along_and_none_that_streams():
    class Tracer(BaseTracer):
        def _persist_run(self, run):
            pass

    class Ui(BaseCallbackHandler):
        pass

    tracer = Tracer()
    manager = CallbackManager([tracer, Ui(), LogStreamCallbackHandler()])
    config = internal_config(manager)
    assert config["callbacks"].handlers == [tracer]
    assert config["tags"] == ["nostream"]
    assert config["metadata"] == {"lc_source": "summarization"}
    assert len(manager.handlers) == 3


# --- checks -----------------------------------------------------------------------------------------------------------

PROSE = (
    "The user wants to travel from Hamburg to Rome on 3 May with two children. Only direct flights under 300 EUR are "
    "acceptable, and hotels must not be called before nine. Flight LH1234 at 10:40 was found for 284 EUR and was kept. "
    "Open: seats together, a transfer to the hotel at Via Roma 7, and a receipt for the company."
)


LONG = HumanMessage(" ".join(f"x{n}" for n in range(3_000)))


def accepted(text, metadata=None, *, said=(LONG,), max_tokens=3_000):
    """What a memory takes of a summary that a model wrote of some messages."""
    model = RunnableLambda(lambda _: AIMessage(text, response_metadata=metadata or {}))
    writer = Writer(adapt_summarizer(model), BLOCKING.ask, None, BudgetCounter(Words(), None), CONFIG)
    return run_sync(writer.write(Request("", tuple(said), max_tokens, "en")))


@pytest.mark.parametrize("key", ["finish_reason", "stop_reason", "done_reason"])
@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "FinishReason.MAX_TOKENS", "LENGTH"])
def test_an_answer_that_was_cut_off_is_refused(key, reason):
    with pytest.raises(SummarizationError, match="cut off"):
        accepted(PROSE, {key: reason})
    assert accepted(PROSE, {key: "stop"}) == PROSE
    with pytest.raises(SummarizationError, match="cut off"):
        accepted(PROSE, {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}})


@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_answer_is_refused(text):
    with pytest.raises(SummarizationError, match="empty"):
        accepted(text)


@pytest.mark.parametrize(
    "text",
    [
        "I see. " * 40,
        PROSE + " and then he asked again" * 30,
        "用户要求只看直飞航班。" * 20,
        "- call the hotel\n" * 25,
    ],
)
def test_loops_are_refused_unless_the_conversation_has_them_too(text):
    with pytest.raises(SummarizationError, match="repeats itself"):
        accepted(text)
    with pytest.raises(SummarizationError, match="repeats itself"):
        accepted(text, said=[LONG, HumanMessage(f"Once: {text[:40]}")])
    assert accepted(text, said=[LONG, *(HumanMessage(text) for _ in range(3))]) == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        PROSE * 2,
        "\n".join(f"- Never call customer {n} before {n % 12} o'clock." for n in range(60)),
        "\n".join(f"> The order number is ORD-{n}-{n * 7}." for n in range(60)),
        "。".join(f"用户在第{n}天去了{n * 3}号房间，付了{n * 17}元" for n in range(40)),
        "yes yes yes",
    ],
)
def test_lists_of_facts_are_no_loops(text):
    assert accepted(text) == text


@given(st.text(min_size=1, max_size=300).filter(str.strip), st.integers(1, 30))
@examples(200)
def test_a_text_is_cut_to_its_cap(text, cap):
    count = Words().count_text
    cut = accepted(text, max_tokens=cap)
    assert count(cut) <= cap
    assert cut == text.strip() or count(text) > cap


def test_a_cut_ends_with_a_sentence_where_one_ends():
    assert accepted("One two three. Four five six seven eight nine.", max_tokens=5) == "One two three."
    assert accepted("one two three four five", max_tokens=3) == "one two …"


# --- splitting --------------------------------------------------------------------------------------------------------


@given(histories(), st.integers(1, 40))
@examples(300)
def test_parts_hold_every_message_once_in_order_and_no_unit_is_split_that_fits(history, room):
    cost = Words().count_message
    messages = history.messages
    rows = list(batches(messages, room, cost))
    assert [position for row in rows for position in row] == list(range(len(messages)))
    for row in rows:
        part = [messages[position] for position in row]
        strange = {fault.code for fault in validate_messages(part, "openai")} - {"unanswered_call"}
        known = {fault.code for fault in validate_messages(messages, "openai")}
        # A second result of a call belongs to no unit; away from the first it answers nothing.
        assert strange <= known | ({"orphan_result"} if "duplicate_result" in known else set())
    parts = list(split_parts(messages, room, cost))
    assert all(part for part in parts)
    whole = [message for part in parts for message in part]
    kept = [message for message in whole if any(message is other for other in messages)]
    assert kept == [message for message in messages if any(message is other for other in kept)]


def test_the_last_two_batches_share_what_they_have():
    cost = Words().count_message
    rows = list(batches(chat(7, words=9), 60, cost))
    assert [len(row) for row in rows] == [6, 4, 4]
    assert [len(row) for row in batches(chat(3, words=9), 60, cost)] == [6]


@pytest.mark.parametrize(
    "message",
    [
        HumanMessage(" ".join(f"w{n}" for n in range(500))),
        ToolMessage(" ".join(f"w{n}" for n in range(500)), tool_call_id="c"),
        AIMessage(
            " ".join(f"w{n}" for n in range(500)),
            tool_calls=[{"name": "look", "args": {"where": "here"}, "id": "c", "type": "tool_call"}],
        ),
        HumanMessage([{"type": "text", "text": " ".join(f"w{n}" for n in range(500))}]),
    ],
    ids=["user", "tool", "call", "blocks"],
)
def test_a_giant_message_is_cut_into_pieces_of_its_own_kind(message):
    parts = list(split_parts([message], 60, Words().count_message))
    assert len(parts) >= 9
    pieces = [piece for part in parts for piece in part]
    assert {type(piece) for piece in pieces} == {type(message)}
    text = "".join(piece.content for piece in pieces)
    assert " ".join(f"w{n}" for n in range(500)) in text
    assert ("[tool call look (c)" in text) is isinstance(message, AIMessage)
    assert all(Words()(part) <= 60 for part in parts)
