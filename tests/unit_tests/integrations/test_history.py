"""The history by itself and inside RunnableWithMessageHistory, with the faults that people met there."""

from __future__ import annotations

import asyncio
import itertools
import logging
import threading

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from langchain_core._api.deprecation import LangChainDeprecationWarning
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    get_buffer_string,
)
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableGenerator, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory import InMemoryMessageLog, MessageLog, SQLMessageLog
from langchain_tiered_memory.errors import BudgetExceededError, MemoryStoreError, ProtocolError
from langchain_tiered_memory.events import AnswerInterrupted, AppendFailed, ViewCut
from langchain_tiered_memory.integrations.history import TieredChatMessageHistory
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.trimming import trim_messages
from langchain_tiered_memory.messages.units import split_units
from langchain_tiered_memory.working.records import entry_of

S = "session"
CONFIG = {"configurable": {"session_id": S}}
PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be brief."), MessagesPlaceholder("history"), ("human", "{question}")]
)
KEYS = {"input_messages_key": "question", "history_messages_key": "history"}


def texts(messages):
    return [str(message.content) for message in messages]


def words(message: BaseMessage) -> int:
    return len(str(message.content).split())


class CountingLog(MessageLog):
    """Counts what is read, and remembers on which threads."""

    def __init__(self):
        self.store = InMemoryMessageLog().blocking
        self.read = 0
        self.threads = set()
        super().__init__(Counting(self))


class Counting:
    def __init__(self, log):
        self.log = log

    def __getattr__(self, verb):
        async def counted(*arguments):
            self.log.threads.add(threading.get_ident())
            outcome = await getattr(self.log.store, verb)(*arguments)
            self.log.read += len(outcome) if verb in {"entries", "last"} else 0
            return outcome

        return counted


class FullDisk(InMemoryMessageLog):
    def __init__(self):
        super().__init__()
        self.blocking.append = self.fail

    async def fail(self, *_):
        msg = "disk full"
        raise MemoryStoreError(msg)


def with_history(chain, factory, **keys):
    with pytest.warns(LangChainDeprecationWarning, match="RunnableWithMessageHistory is deprecated"):
        return RunnableWithMessageHistory(chain, factory, **keys)


@pytest.fixture
def log():
    return InMemoryMessageLog()


@pytest.fixture(params=["a history per call", "one history for all"])
def factory(request, log):
    """What users write as `get_session_history`, in its two kinds."""
    if request.param == "a history per call":
        return lambda session_id: TieredChatMessageHistory(session_id, log)
    shared = {S: TieredChatMessageHistory(S, log)}
    return lambda session_id: shared[session_id]


def echo():
    """Answers the last message, so that a lost or swapped question shows."""
    return RunnableLambda(lambda messages: AIMessage(f"re {messages[-1].content}"))


def model(*answers):
    return GenericFakeChatModel(
        messages=itertools.cycle(AIMessage(answer) for answer in answers or ("hello good bye",))
    )


# --- the history by itself --------------------------------------------------------------------------------------------


class TestByItself:
    def test_messages_and_transcript_are_what_was_added(self, log):
        history = TieredChatMessageHistory(S, log)
        history.add_user_message("Hello")
        history.add_ai_message("Hi")
        history.add_message(HumanMessage("Bye"))
        history.add_messages([AIMessage("Bye bye")])
        assert texts(history.messages) == texts(history.transcript) == ["Hello", "Hi", "Bye", "Bye bye"]
        assert str(history) == get_buffer_string(history.messages)

    async def test_async_twins_do_the_same(self, log):
        history = TieredChatMessageHistory(S, log)
        await history.aadd_messages([HumanMessage("Hello"), AIMessage("Hi")])
        assert texts(await history.aget_messages()) == texts(await history.aget_transcript()) == ["Hello", "Hi"]
        await history.aclear()
        assert await history.aget_messages() == await history.aget_transcript() == []
        assert log.sessions() == []

    def test_clear_erases_the_session_and_no_other(self, log):
        log.append("other", [HumanMessage("x")])
        history = TieredChatMessageHistory(S, log)
        history.add_user_message("Hello")
        history.clear()
        assert history.messages == history.transcript == []
        assert log.sessions() == ["other"]

    def test_cleared_messages_may_be_added_again(self, log):
        """The way langchain's older documentation shortens a history."""
        history = TieredChatMessageHistory(S, log)
        history.add_messages([HumanMessage(str(n)) for n in range(5)])
        kept = history.messages[-2:]
        history.clear()
        history.add_messages(kept)
        assert texts(history.messages) == ["3", "4"]

    def test_without_a_log_it_lives_in_memory(self):
        one, two = TieredChatMessageHistory(S), TieredChatMessageHistory(S)
        one.add_user_message("Hello")
        assert (len(one.messages), len(two.messages)) == (1, 0)

    def test_an_empty_log_that_was_given_is_used(self, log):
        assert TieredChatMessageHistory(S, log).log is log

    def test_the_view_is_pinned_until_this_object_appends_or_clears(self, log):
        one, two = TieredChatMessageHistory(S, log), TieredChatMessageHistory(S, log)
        assert one.messages == []
        two.add_user_message("two")
        assert one.messages == []
        assert texts(one.transcript) == ["two"]
        one.add_user_message("one")
        assert texts(one.messages) == ["two", "one"]
        two.add_user_message("more")
        assert len(one.messages) == 2
        one.clear()
        assert one.messages == []

    async def test_the_async_view_is_the_pinned_one(self, log):
        one = TieredChatMessageHistory(S, log)
        assert one.messages == []
        log.append(S, [HumanMessage("two")])
        assert await one.aget_messages() == one.messages == []
        await one.aadd_messages([HumanMessage("one")])
        assert texts(await one.aget_messages()) == ["two", "one"]

    def test_a_reader_cannot_change_the_view(self, log):
        history = TieredChatMessageHistory(S, log)
        history.add_user_message("Hello")
        history.messages.append(HumanMessage("forged"))
        history.messages.clear()
        assert texts(history.messages) == ["Hello"]

    def test_a_chunk_is_stored_as_a_message_and_not_marked(self, log):
        TieredChatMessageHistory(S, log).add_messages([AIMessageChunk("Hel") + AIMessageChunk("lo")])
        (message,) = log.messages(S)
        assert (type(message), message.content, message.response_metadata) == (AIMessage, "Hello", {})

    def test_a_failed_append_raises_and_is_told(self, caplog):
        events = []
        history = TieredChatMessageHistory(S, FullDisk(), hooks=[events.append])
        with pytest.raises(MemoryStoreError, match="disk full"):
            history.add_user_message("Hello")
        (event,) = events
        assert isinstance(event, AppendFailed)
        assert texts(event.messages) == ["Hello"]
        assert [record.levelno for record in caplog.records] == [logging.ERROR]

    async def test_a_failed_async_append_raises_and_is_told(self):
        events = []
        history = TieredChatMessageHistory(S, FullDisk(), hooks=[events.append])
        with pytest.raises(MemoryStoreError, match="disk full"):
            await history.aadd_messages([HumanMessage("Hello")])
        assert [type(event) for event in events] == [AppendFailed]

    def test_what_the_memory_made_itself_is_not_stored(self, log):
        summary = HumanMessage("Earlier: ...", additional_kwargs={"lc_source": "summarization"})
        closing = ToolMessage("No result", tool_call_id="c", additional_kwargs={"lc_source": "synthetic_result"})
        TieredChatMessageHistory(S, log).add_messages([summary, HumanMessage("Hello"), closing])
        assert texts(log.messages(S)) == ["Hello"]

    def test_removed_messages_leave_the_view_and_stay_in_the_transcript(self, log):
        history = TieredChatMessageHistory(S, log)
        history.add_messages([HumanMessage("a", id="a"), HumanMessage("b", id="b"), RemoveMessage(id="a")])
        assert texts(history.messages) == ["b"]
        assert len(history.transcript) == 3
        history.add_messages([RemoveMessage(id="__remove_all__"), HumanMessage("c")])
        assert texts(history.messages) == ["c"]

    def test_importing_and_making_a_history_warns_of_nothing(self):
        """Warnings are errors in these tests, so it is enough to do it."""
        TieredChatMessageHistory(S).add_user_message("Hello")


# --- the view ---------------------------------------------------------------------------------------------------------


class TestView:
    def conversation(self, rounds=200):
        said = [SystemMessage("be brief", id="system")]
        for n in range(rounds):
            call = {"name": "f", "args": {}, "id": f"c{n}"}
            said += [
                HumanMessage(f"question number {n}", id=f"q{n}"),
                AIMessage("", tool_calls=[call], id=f"t{n}"),
                ToolMessage(f"result {n}", tool_call_id=f"c{n}", id=f"r{n}"),
                AIMessage(f"answer {n}", id=f"a{n}"),
            ]
        return said

    def test_the_view_fits_the_budget_and_keeps_units_and_system_messages(self, log):
        said = self.conversation()
        log.append(S, said)
        view = TieredChatMessageHistory(S, log, max_tokens=30, token_counter=words).messages
        assert view[0] == said[0]
        assert view[1:] == said[-16:]
        assert sum(map(words, view)) <= 30
        assert validate_messages(view) == []
        assert TieredChatMessageHistory(S, log, max_tokens=30, token_counter=words).transcript == said

    def test_only_the_tail_is_read(self):
        log = CountingLog()
        log.append(S, self.conversation(2_000))
        assert TieredChatMessageHistory(S, log, max_tokens=30, token_counter=words).messages
        assert log.read < 50

    @pytest.mark.parametrize(
        ("budget", "counter"),
        [
            (20, words),
            (("messages", 9), None),
            (("rounds", 3), None),
            (9, len),
            (20, lambda messages: sum(map(words, messages))),
        ],
        ids=["tokens", "messages", "rounds", "len", "a counter of lists"],
    )
    async def test_the_view_is_what_trimming_the_whole_gives(self, log, budget, counter):
        said = self.conversation(50)
        log.append(S, said)
        whole = trim_messages(said, max_tokens=budget, token_counter=counter, include_system=True)
        history = TieredChatMessageHistory(S, log, budget, counter)
        assert history.messages == whole
        assert await TieredChatMessageHistory(S, log, budget, counter).aget_messages() == whole
        assert 4 < len(whole) < len(said)

    @settings(max_examples=300, deadline=None)
    @given(
        kinds=st.lists(st.sampled_from("huatrsxo"), max_size=90),
        budget=st.integers(0, 60),
        unit=st.sampled_from(["tokens", "messages", "rounds"]),
    )
    def test_whatever_was_said_the_view_is_what_trimming_the_whole_gives(self, kinds, budget, unit):
        said = []
        for n, kind in enumerate(kinds):
            made = {
                "h": HumanMessage("a question", id=f"m{n}"),
                "u": HumanMessage("hm", id=f"m{n}"),
                "a": AIMessage("an answer", id=f"m{n}"),
                "t": AIMessage("", id=f"m{n}", tool_calls=[{"name": "f", "args": {}, "id": f"c{n % 3}"}]),
                "r": ToolMessage("the result", id=f"m{n}", tool_call_id=f"c{(n + 1) % 3}"),
                "s": SystemMessage("a rule", id=f"m{n}"),
                "o": ChatMessage("an aside", id=f"m{n}", role="narrator"),
                "x": ToolMessage("another", id=f"m{n}", tool_call_id=f"c{n % 3}"),
            }
            said.append(made[kind])
        assume(not any(unit.live for unit in split_units(said)))  # a call at the end is closed for the question to come
        log = InMemoryMessageLog()
        log.append(S, said)
        history = TieredChatMessageHistory(S, log, (unit, budget), words)
        try:
            expected = trim_messages(said, max_tokens=(unit, budget), token_counter=words, include_system=True)
        except BudgetExceededError:
            return
        except ProtocolError:
            expected = []
        assert history.messages == expected

    @pytest.mark.parametrize("budget", [None, 1_000])
    def test_a_call_that_was_never_answered_stays_closed_in_every_later_view(self, log, budget):
        calls = [{"name": "look", "args": {}, "id": name} for name in ("first", "second")]
        log.append(S, [HumanMessage("q"), AIMessage("", tool_calls=calls), ToolMessage("r", tool_call_id="second")])
        for later in range(3):
            history = TieredChatMessageHistory(S, log, budget, words)
            view = history.messages
            assert validate_messages([*view, HumanMessage("next")]) == []
            assert [message.type for message in view] == ["human", "ai", "tool", "tool"] + ["human", "ai"] * later
            history.add_messages([HumanMessage(f"question {later}"), AIMessage("ok")])
        assert len(history.transcript) == 3 + 2 * 3

    def test_a_newest_turn_larger_than_the_budget_does_not_block_the_session(self, log):
        events = []
        log.append(S, [HumanMessage("word\n" * 100, id="long"), AIMessage("too long")])
        history = TieredChatMessageHistory(S, log, 20, words, hooks=[events.append])
        view = history.messages
        assert sum(map(words, view)) <= 20
        assert view[0].id == "long"
        (event,) = events
        assert isinstance(event, ViewCut)
        assert event.needed > event.limit == 20
        assert words(history.transcript[0]) == 100
        history.messages  # noqa: B018  # the pinned view is not made again
        assert len(events) == 1

    async def test_the_async_view_tells_of_a_cut_too(self, log):
        events = []
        log.append(S, [HumanMessage("word\n" * 100)])
        await TieredChatMessageHistory(S, log, 20, words, hooks=[events.append]).aget_messages()
        assert [type(event) for event in events] == [ViewCut]

    def test_a_budget_that_makes_no_sense_is_refused(self, log):
        for budget in (-1, ("pages", 3), "many"):
            with pytest.raises(ValueError, match="max_tokens"):
                TieredChatMessageHistory(S, log, budget)

    async def test_a_memory_makes_the_view_and_nothing_of_it_is_stored(self, log):
        sessions = []

        def remember(messages, config):
            sessions.append(config["configurable"]["session_id"])
            return [HumanMessage(f"{len(messages)} messages before"), *messages[-1:]]

        history = TieredChatMessageHistory(S, log, memory=RunnableLambda(remember))
        chain = with_history(echo(), lambda _: history)
        for n in range(3):
            chain.invoke([HumanMessage(f"q{n}")], CONFIG)
            await chain.ainvoke([HumanMessage(f"p{n}")], CONFIG)
        assert texts(log.messages(S)) == [text for n in range(3) for text in (f"q{n}", f"re q{n}", f"p{n}", f"re p{n}")]
        assert texts(history.messages) == ["12 messages before", "re p2"]
        assert set(sessions) == {S}

    def test_the_budget_holds_for_what_a_memory_made(self, log):
        log.append(S, [HumanMessage("one two"), AIMessage("three"), HumanMessage("four")])
        history = TieredChatMessageHistory(S, log, 2, words, RunnableLambda(lambda messages: messages))
        assert texts(history.messages) == ["four"]


# --- in RunnableWithMessageHistory ------------------------------------------------------------------------------------


def _chains():
    yield "list, model", model(), [HumanMessage("q")], {}
    yield "list, sequence", RunnableLambda(lambda m: m) | model(), [HumanMessage("q")], {}
    yield "list, text", model() | StrOutputParser(), [HumanMessage("q")], {}
    yield "text input", model(), "q", {}
    yield "one message", model(), HumanMessage("q"), {}
    yield "dict", PROMPT | model(), {"question": "q"}, KEYS
    yield "dict, text", PROMPT | model() | StrOutputParser(), {"question": "q"}, KEYS
    yield (
        "dict of messages",
        RunnableLambda(lambda d: d["m"]) | model(),
        {"m": [HumanMessage("q")]},
        {"input_messages_key": "m"},
    )
    answer = {"answer": RunnableLambda(lambda m: m) | model()}
    yield "dict output", answer, [HumanMessage("q")], {"output_messages_key": "answer"}


CHAINS = list(_chains())


@pytest.mark.parametrize(("chain", "given", "keys"), [c[1:] for c in CHAINS], ids=[c[0] for c in CHAINS])
class TestEveryMode:
    def check(self, log, rounds):
        said = log.messages(S)
        assert [message.type for message in said] == ["human", "ai"] * rounds
        assert texts(said) == ["q", "hello good bye"] * rounds
        # langchain-ai/langchain#14511: a streamed answer was stored as a chunk.
        assert {type(message) for message in said} == {HumanMessage, AIMessage}
        assert len({message.id for message in said}) == 2 * rounds
        assert all(message.response_metadata.get("incomplete") is None for message in said)

    def wrap(self, chain, factory, keys):
        if isinstance(chain, dict):
            chain = RunnableLambda(lambda x: x) | chain
        return with_history(chain, factory, **keys)

    def test_sync(self, log, factory, chain, given, keys):
        wrapped = self.wrap(chain, factory, keys)
        wrapped.invoke(given, CONFIG)
        wrapped.invoke(given, CONFIG)
        list(wrapped.stream(given, CONFIG))
        list(wrapped.stream(given, CONFIG))
        wrapped.batch([given], CONFIG)
        self.check(log, 5)

    async def test_async(self, log, factory, chain, given, keys):
        wrapped = self.wrap(chain, factory, keys)
        await wrapped.ainvoke(given, CONFIG)
        await wrapped.ainvoke(given, CONFIG)
        for _ in range(2):
            async for _ in wrapped.astream(given, CONFIG):
                pass
        await wrapped.abatch([given], CONFIG)
        self.check(log, 5)

    def test_a_chain_that_raised_leaves_nothing_and_harms_nothing(self, log, factory, chain, given, keys):
        broken = True

        def fail(x):
            if broken:
                raise LookupError
            return x

        inner = RunnableLambda(lambda x: x) | chain if isinstance(chain, dict) else chain
        wrapped = with_history(RunnableLambda(fail) | inner, factory, **keys)
        with pytest.raises(LookupError):
            wrapped.invoke(given, CONFIG)
        log.append(S, [HumanMessage("q"), AIMessage("hello good bye")])  # somebody else goes on meanwhile
        with pytest.raises(LookupError):
            wrapped.invoke(given, CONFIG)
        assert log.version(S) == 2
        broken = False
        wrapped.invoke(given, CONFIG)
        self.check(log, 2)


class TestWhatAModelSees:
    def test_each_run_sees_all_that_was_stored_before_it(self, log, factory):
        seen = []
        chain = RunnableLambda(lambda messages: seen.append(texts(messages)) or AIMessage(f"a{len(seen)}"))
        wrapped = with_history(chain, factory)
        wrapped.invoke([HumanMessage("q1")], CONFIG)
        log.append(S, [HumanMessage("elsewhere"), AIMessage("yes")])
        wrapped.invoke([HumanMessage("q2")], CONFIG)
        assert seen == [["q1"], ["q1", "a1", "elsewhere", "yes", "q2"]]

    def test_a_budget_bounds_what_is_sent_and_not_what_is_kept(self, log):
        sent = []
        chain = RunnableLambda(lambda messages: sent.append(len(messages)) or AIMessage("a b"))
        wrapped = with_history(chain, lambda s: TieredChatMessageHistory(s, log, 12, words))
        for n in range(30):
            wrapped.invoke([HumanMessage(f"q {n}")], CONFIG)
        assert max(sent) == 7
        assert texts(log.messages(S)) == [text for n in range(30) for text in (f"q {n}", "a b")]

    async def test_sync_io_never_happens_on_the_event_loop(self):
        """langchain-ai/langchain#23716 and #22021: the async path read and wrote on the loop."""
        log = CountingLog()
        wrapped = with_history(echo(), lambda s: TieredChatMessageHistory(s, log))
        for _ in range(2):
            await wrapped.ainvoke([HumanMessage("q")], CONFIG)
        assert threading.get_ident() not in log.threads
        assert log.version(S) == 4


class TestInputThatIsStoredAlready:
    def test_a_whole_transcript_with_a_history_key_is_stored_once(self, log, factory):
        """langchain-ai/langchain#14458: 1, k, 1, k, 2, k was stored."""
        chain = RunnableLambda(lambda _: AIMessage("k"))
        wrapped = with_history(chain, factory, **KEYS)
        wrapped.invoke({"question": [HumanMessage("1")]}, CONFIG)
        wrapped.invoke({"question": [HumanMessage("1"), AIMessage("k"), HumanMessage("2")]}, CONFIG)
        assert texts(log.messages(S)) == ["1", "k", "2", "k"]
        transcript = [*log.messages(S), HumanMessage("3")]
        wrapped.invoke({"question": transcript}, CONFIG)
        assert texts(log.messages(S)) == ["1", "k", "2", "k", "3", "k"]

    def test_a_transcript_with_ids_of_its_own_is_stored_once(self, log, factory):
        wrapped = with_history(RunnableLambda(lambda _: AIMessage("k")), factory, **KEYS)
        mine = []
        for n in range(4):
            mine.append(HumanMessage(str(n), id=f"mine-{n}"))
            wrapped.invoke({"question": mine}, CONFIG)
            mine.append(log.messages(S)[-1])
        assert texts(log.messages(S)) == ["0", "k", "1", "k", "2", "k", "3", "k"]

    def test_genuine_repeats_are_kept(self, log, factory):
        wrapped = with_history(RunnableLambda(lambda _: AIMessage("k")), factory, **KEYS)
        for _ in range(4):
            wrapped.invoke({"question": "hi"}, CONFIG)
        hi = HumanMessage("hi")
        wrapped.invoke({"question": [hi]}, CONFIG)
        wrapped.invoke({"question": [hi]}, CONFIG)
        assert texts(log.messages(S)) == ["hi", "k"] * 6
        assert hi.id is None

    def test_two_messages_like_the_first_two_are_no_transcript_unless_they_go_on(self, log, factory):
        wrapped = with_history(RunnableLambda(lambda _: AIMessage("k")), factory, **KEYS)
        wrapped.invoke({"question": "hi"}, CONFIG)
        wrapped.invoke({"question": [HumanMessage("hi"), HumanMessage("there")]}, CONFIG)
        assert texts(log.messages(S)) == ["hi", "k", "hi", "there", "k"]

    def test_a_model_that_gives_out_one_object_again_and_again_gives_new_answers(self, log, factory):
        answer = AIMessage("k", id="always the same")
        wrapped = with_history(RunnableLambda(lambda _: answer), factory)
        for n in range(3):
            wrapped.invoke([HumanMessage(str(n))], CONFIG)
        assert texts(log.messages(S)) == ["0", "k", "1", "k", "2", "k"]
        assert answer.id == "always the same"

    def test_an_agent_that_returns_the_whole_conversation_stores_what_is_new(self, log, factory):
        """Agents answer with everything they were given, then what they did."""

        def agent(messages):
            named = [m if m.id else m.model_copy(update={"id": f"new-{len(messages)}"}) for m in messages]
            call = {"name": "f", "args": {}, "id": f"c{len(messages)}"}
            did = [
                AIMessage("", tool_calls=[call], id=f"call-{len(messages)}"),
                ToolMessage("r", tool_call_id=call["id"], id=f"result-{len(messages)}"),
                AIMessage("done", id=f"done-{len(messages)}"),
            ]
            return {"messages": [*named, *did]}

        wrapped = with_history(RunnableLambda(agent), factory, output_messages_key="messages")
        for n in range(3):
            wrapped.invoke([HumanMessage(str(n), id=f"q{n}")], CONFIG)
        said = log.messages(S)
        # langchain-ai/langchain#22357: what an agent says and does before its answer was lost.
        assert [message.type for message in said] == ["human", "ai", "tool", "ai"] * 3
        assert validate_messages(said) == []

    def test_erasing_during_a_run_does_not_bring_the_old_messages_back(self, log, factory):
        def chain(messages):
            if messages[-1].content == "erase":
                log.erase(S)
            return AIMessage("k")

        wrapped = with_history(RunnableLambda(chain), factory)
        wrapped.invoke([HumanMessage("1")], CONFIG)
        wrapped.invoke([HumanMessage("erase")], CONFIG)
        assert texts(log.messages(S)) == ["erase", "k"]

    def test_data_in_the_shape_of_a_constructor_stays_data(self, log, factory):
        """langchain-ai/langchain#36380."""
        data = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {}}
        wrapped = with_history(RunnableLambda(lambda _: AIMessage("k")), factory)
        wrapped.invoke([HumanMessage([data])], CONFIG)
        wrapped.invoke([HumanMessage([data])], CONFIG)
        assert [message.content for message in log.messages(S)] == [[data], "k", [data], "k"]


class TestConcurrentCalls:
    ROUNDS = 50
    AT_ONCE = 8

    def check(self, log):
        said = texts(log.messages(S))
        questions = [f"{n}/{k}" for n in range(self.ROUNDS) for k in range(self.AT_ONCE)]
        assert sorted(said) == sorted([*questions, *(f"re {question}" for question in questions)])
        # A run's question and answer are appended in one step.
        assert all(answer == f"re {question}" for question, answer in zip(said[::2], said[1::2], strict=True))

    def inputs(self, n):
        return [[HumanMessage(f"{n}/{k}")] for k in range(self.AT_ONCE)]

    def test_in_threads(self, log, factory):
        """langchain-ai/langchain#14629: of 400 questions 350 were lost."""
        barrier = threading.Barrier(self.AT_ONCE)

        def answer(messages):
            barrier.wait(timeout=30)  # all have read before the first one writes
            return AIMessage(f"re {messages[-1].content}")

        wrapped = with_history(RunnableLambda(answer), lambda s: _budgeted(factory(s)))
        for n in range(self.ROUNDS):
            wrapped.batch(self.inputs(n), {**CONFIG, "max_concurrency": self.AT_ONCE})
        self.check(log)

    async def test_in_tasks(self, log, factory):
        async def answer(messages):
            await asyncio.sleep(0.001)
            return AIMessage(f"re {messages[-1].content}")

        wrapped = with_history(RunnableLambda(answer), lambda s: _budgeted(factory(s)))
        for n in range(self.ROUNDS):
            await asyncio.gather(*(wrapped.ainvoke(given, CONFIG) for given in self.inputs(n)))
        self.check(log)

    async def test_streams_side_by_side(self, log, factory):
        async def answer(stream):
            async for messages in stream:
                for part in ("re ", str(messages[-1].content)):
                    await asyncio.sleep(0)
                    yield AIMessageChunk(part)

        wrapped = with_history(RunnableGenerator(answer), lambda s: _budgeted(factory(s)))

        async def run(given):
            return [chunk async for chunk in wrapped.astream(given, CONFIG)]

        for n in range(self.ROUNDS):
            await asyncio.gather(*map(run, self.inputs(n)))
        self.check(log)

    def test_in_a_file(self, tmp_path):
        with SQLMessageLog(f"sqlite:///{tmp_path}/memory.db") as log:
            shared = TieredChatMessageHistory(S, log, ("messages", 40))
            wrapped = with_history(echo(), lambda _: shared)
            for n in range(self.ROUNDS):
                wrapped.batch(self.inputs(n), CONFIG)
            self.check(log)

    def test_a_transcript_by_position_and_somebody_else_at_once(self, log):
        """What was compared by position is compared again when the log has grown meanwhile."""
        log.append(S, [HumanMessage("1"), AIMessage("k")])
        history = TieredChatMessageHistory(S, log)
        real = log.blocking.append

        async def append(*arguments):
            log.blocking.append = real
            log.append(S, [HumanMessage("elsewhere"), AIMessage("k")])
            return await real(*arguments)

        log.blocking.append = append
        wrapped = with_history(RunnableLambda(lambda _: AIMessage("k")), lambda _: history, **KEYS)
        wrapped.invoke({"question": [HumanMessage("1"), AIMessage("k"), HumanMessage("2")]}, CONFIG)
        assert texts(log.messages(S))[:4] == ["1", "k", "elsewhere", "k"]
        assert texts(log.messages(S))[-2:] == ["2", "k"]


def _budgeted(history):
    """A short view keeps 50 rounds of 8 quick and is cut anew in every run."""
    history.max_tokens = ("messages", 40)
    return history


class TestClosedStreams:
    @pytest.mark.parametrize("parser", [False, True], ids=["messages", "text"])
    @pytest.mark.parametrize("keyed", [False, True], ids=["list", "history key"])
    @pytest.mark.parametrize("chunks", [1, 2, 3])
    def test_the_question_is_kept_and_the_answer_marked(self, log, parser, keyed, chunks):
        """langchain-ai/langchain#14511: what came before the consumer stopped was stored as the whole answer."""
        events = []
        chain = (PROMPT if keyed else RunnableLambda(lambda m: m)) | model()
        chain = chain | StrOutputParser() if parser else chain
        keys = KEYS if keyed else {}
        given = {"question": "q"} if keyed else [HumanMessage("q")]
        wrapped = with_history(chain, lambda s: TieredChatMessageHistory(s, log, hooks=[events.append]), **keys)
        got = []
        for chunk in wrapped.stream(given, CONFIG):
            got.append(chunk if parser else chunk.content)
            if len(got) == chunks:
                break
        del chunk
        said = log.messages(S)
        if chunks == 1:
            assert said == []  # as the docstring says
            return
        assert texts(said) == ["q", "".join(got)]
        assert said[1].response_metadata["incomplete"] is True
        assert type(said[1]) is AIMessage
        assert [type(event) for event in events] == [AnswerInterrupted]

    def test_a_stream_that_ends_by_itself_inside_one_that_is_closed_is_complete(self, log):
        wrapped = with_history(model() | StrOutputParser(), lambda s: TieredChatMessageHistory(s, log))

        def outer(stream):
            for said in stream:
                wrapped.invoke(said, CONFIG)
                yield from wrapped.stream(said, CONFIG)
                yield "more"

        chunks = RunnableGenerator(outer).stream([HumanMessage("q")])
        for chunk in chunks:
            if chunk == "more":
                break
        chunks.close()
        said = log.messages(S)
        assert texts(said) == ["q", "hello good bye"] * 2
        assert all(not message.response_metadata.get("incomplete") for message in said)

    def test_a_call_that_was_cut_off_is_no_call(self, log):
        def answer(stream):
            for _ in stream:
                part = {"name": "f", "args": '{"a": ', "id": "c", "index": 0}
                yield AIMessageChunk("", tool_call_chunks=[part])
                yield AIMessageChunk("", tool_call_chunks=[{**part, "name": None, "args": "12", "id": None}])
                yield AIMessageChunk("", tool_call_chunks=[{**part, "name": None, "args": "3}", "id": None}])

        wrapped = with_history(RunnableGenerator(answer), lambda s: TieredChatMessageHistory(s, log))
        stream = wrapped.stream([HumanMessage("q")], CONFIG)
        next(stream)
        next(stream)
        stream.close()
        cut = log.messages(S)[1]
        assert cut.tool_calls == []
        (call,) = cut.invalid_tool_calls
        assert (call["name"], call["id"]) == ("f", "c")
        assert "closed" in call["error"]
        list(wrapped.stream([HumanMessage("q")], CONFIG))
        whole = log.messages(S)[3]
        assert [call["args"] for call in whole.tool_calls] == [{"a": 123}]

    async def test_a_closed_async_stream_is_never_stored_as_an_answer(self, log, factory):
        wrapped = with_history(RunnableLambda(lambda m: m) | model(), factory)
        stream = wrapped.astream([HumanMessage("q")], CONFIG)
        await anext(stream)
        await stream.aclose()
        task = asyncio.ensure_future(anext(wrapped.astream([HumanMessage("q")], CONFIG)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert log.messages(S) == []  # as the docstring says
        await wrapped.ainvoke([HumanMessage("q")], CONFIG)
        assert texts(log.messages(S)) == ["q", "hello good bye"]

    def test_a_closed_stream_straight_from_a_model_is_never_stored_as_an_answer(self, log, factory):
        wrapped = with_history(model(), factory)
        stream = wrapped.stream([HumanMessage("q")], CONFIG)
        next(stream)
        next(stream)
        stream.close()
        assert log.messages(S) == []  # as the docstring says


class TestFailures:
    class Seen(BaseCallbackHandler):
        def __init__(self):
            self.names = []

        def on_custom_event(self, name, _, **__):
            self.names.append(name)

    def test_a_failed_append_reaches_hook_logging_and_callbacks(self, caplog):
        """RunnableWithMessageHistory swallows the exception."""
        events, seen = [], self.Seen()
        chain = RunnableLambda(lambda m: m) | FakeListChatModel(responses=["a"])
        wrapped = with_history(chain, lambda s: TieredChatMessageHistory(s, FullDisk(), hooks=[events.append]))
        assert wrapped.invoke([HumanMessage("q")], {**CONFIG, "callbacks": [seen]}).content == "a"
        (event,) = events
        assert texts(event.messages) == ["q", "a"]
        assert isinstance(event.error, MemoryStoreError)
        assert "2 messages were not stored" in caplog.text
        assert seen.names == ["tiered_memory.append_failed"]

    async def test_a_failed_async_append_reaches_hook_logging_and_callbacks(self, caplog):
        events, seen = [], self.Seen()
        wrapped = with_history(echo(), lambda s: TieredChatMessageHistory(s, FullDisk(), hooks=[events.append]))
        await wrapped.ainvoke([HumanMessage("q")], {**CONFIG, "callbacks": [seen]})
        assert [type(event) for event in events] == [AppendFailed]
        assert "2 messages were not stored" in caplog.text
        assert seen.names == ["tiered_memory.append_failed"]

    def test_a_batch_with_an_artifact_that_cannot_be_stored_is_stored_without_it(self, log, caplog):
        """run-llama/llama_index#23183: one odd artifact, and the whole batch was gone."""
        answer = [ToolMessage("x", tool_call_id="c", artifact=object()), AIMessage("done")]
        wrapped = with_history(RunnableLambda(lambda _: answer), lambda s: TieredChatMessageHistory(s, log))
        wrapped.invoke([HumanMessage("q")], CONFIG)
        assert texts(log.messages(S)) == ["q", "x", "done"]
        assert "artifact: builtins.object" in caplog.text

    def test_a_view_that_cannot_be_read_stops_the_run(self, log):
        async def unreadable(*_):
            return [entry_of(S, 1, 0, "{}")]

        log.blocking.last = log.blocking.entries = unreadable
        wrapped = with_history(echo(), lambda s: TieredChatMessageHistory(s, log))
        with pytest.raises(MemoryStoreError, match="cannot be read"):
            wrapped.invoke([HumanMessage("q")], CONFIG)


@pytest.mark.parametrize("keys", [{}, KEYS], ids=["list", "history key"])
def test_a_history_is_read_the_same_by_everybody(log, keys):
    """A run under way pins what it was given, and no longer; a model that holds its request holds nothing up."""
    held = []
    history = TieredChatMessageHistory(S, log)
    chain = RunnableLambda(lambda given: held.append(given) or AIMessage(f"a{len(held)}"))
    wrapped = with_history(chain, lambda _: history, **keys)
    for n in (1, 2):
        wrapped.invoke({"question": f"q{n}"} if keys else [HumanMessage(f"q{n}")], CONFIG)
        assert texts(history.messages) == [text for k in range(1, n + 1) for text in (f"q{k}", f"a{k}")]
        assert len(history.messages) == 2 * n
