from __future__ import annotations

import asyncio
import gc
import re
import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from langchain_tiered_memory.context.budget import ContextBudget
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import MemoryStoreError, ScopeError
from langchain_tiered_memory.events import AppendFailed, MemoryCallbackHandler
from langchain_tiered_memory.indexer import EpisodesBehind, timeout_of
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import MemoryScope

ADA, BOB = MemoryScope("ada"), MemoryScope("bob")


def answering(text="one two three"):
    """A chat model that gives this answer, the same object each time."""
    return GenericFakeChatModel(messages=iter([AIMessage(text)] * 100))


class Turning:
    """A clock that a test turns."""

    def __init__(self):
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


def opened(path, **settings):
    return TieredMemory(
        path, **{"max_tokens": 2_000, "embeddings": None, "token_counter": EstimatingCounter(), **settings}
    )


@pytest.fixture
def memory(tmp_path):
    with opened(tmp_path / "memory") as memory:
        yield memory


def chain_of(memory, model=None):
    return memory.assembler() | (model or answering()) | memory.remember_round()


@pytest.fixture(params=["sync", "async"])
def ask(request):
    """Asks a chain a question."""

    def ask(chain, question, config):
        if request.param == "sync":
            return chain.invoke({"question": question}, config)
        return asyncio.run(chain.ainvoke({"question": question}, config))

    return ask


def said(memory, session, scope=ADA):
    return [(message.type, message.text) for message in memory.transcript(session, scope)]


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_question_and_answer_are_kept_and_the_next_session_recalls_them(memory, ask):
    chain = chain_of(memory)
    ask(chain, "My sister Maria lives in Turin.", memory.config(user="ada", session="s1"))
    assert said(memory, "s1") == [("human", "My sister Maria lives in Turin."), ("ai", "one two three")]
    request = memory.assembler().assemble({"question": "Where does Maria live?"}, memory.config(user="ada"))
    assert "My sister Maria lives in Turin." in request.messages[-2].text
    assert request.report.degraded == ()


def test_a_model_that_gives_out_one_object_has_answered_each_time(memory, ask):
    chain, config = chain_of(memory), memory.config(user="ada", session="s1")
    for question in ("First?", "Second?"):
        ask(chain, question, config)
    assert [kind for kind, _ in said(memory, "s1")] == ["human", "ai", "human", "ai"]


def test_a_restart_forgets_nothing(tmp_path, ask):
    with opened(tmp_path) as memory:
        ask(chain_of(memory), "My sister Maria lives in Turin.", memory.config(user="ada", session="s1"))
        memory.facts.put(ADA, "ada", "home_city", "Berlin")
    with opened(tmp_path) as memory:
        request = memory.assembler().assemble(
            {"question": "Where does Maria live?"}, memory.config(user="ada", session="s2")
        )
        assert "My sister Maria lives in Turin." in request.messages[-2].text
        assert "Berlin" in request.messages[1].text
        assert len(said(memory, "s1")) == 2


def test_a_new_session_sees_nothing_of_the_window_of_another(memory, ask):
    ask(chain_of(memory), "Remember the word xylophone.", memory.config(user="ada", session="s1"))
    first, second = memory.config(user="ada"), memory.config(user="ada")
    assert first != second
    request = memory.assembler().assemble({"question": "What is the weather?"}, first)
    assert [message.text for message in request.messages if message.type == "ai"] == []
    assert request.report.tokens["window"] == request.report.tokens["summary"] == 0


@pytest.mark.parametrize(
    ("missing", "embeddings", "extras"),
    [
        ({"pymilvus", "wordllama"}, "local", "milvus,local"),
        ({"wordllama"}, "local", "local"),
        ({"pymilvus"}, None, "milvus"),
    ],
)
def test_missing_extras_are_named_together_before_anything_is_made(tmp_path, monkeypatch, missing, embeddings, extras):
    for library in missing:
        monkeypatch.setitem(sys.modules, library, None)
    folder = tmp_path / "memory"
    with pytest.raises(ImportError, match=re.escape(f"langchain-tiered-memory[{extras}]")) as caught:
        TieredMemory(folder, embeddings, max_tokens=1_000)
    assert all(library in str(caught.value) for library in missing)
    assert not folder.exists()
    with pytest.raises(ImportError, match=re.escape(f"[{extras}]")):
        TieredMemory.from_uris(log="sqlite://", episodes="http://127.0.0.1:9", facts="sqlite://", embeddings=embeddings)


def test_two_users_may_call_their_sessions_alike(memory, ask):
    for user in ("ada", "bob"):
        ask(chain_of(memory), f"I am {user} and my code is {user}123.", memory.config(user=user, session="1"))
    assert said(memory, "1", ADA)[0] == ("human", "I am ada and my code is ada123.")
    request = memory.assembler().assemble({"question": "What is my code?"}, memory.config(user="bob"))
    assert "bob123" in request.messages[-2].text
    assert not any("ada123" in message.text for message in request.messages)


def test_tool_messages_between_question_and_answer_are_kept(memory):
    call = {"name": "look", "args": {}, "id": "c"}
    turn = [
        HumanMessage("Tea?"),
        AIMessage("", tool_calls=[call]),
        ToolMessage("yes", tool_call_id="c"),
        AIMessage("Yes."),
    ]
    memory.save("s1", turn, ADA)
    assert [kind for kind, _ in said(memory, "s1")] == ["human", "ai", "tool", "ai"]
    assert memory.episodes.count(ADA) == 1


# --- what broke off ---------------------------------------------------------------------------------------------------


def failing(_):
    msg = "model down"
    raise RuntimeError(msg)


def test_a_question_whose_model_failed_is_kept_and_marked(memory, ask):
    chain = chain_of(memory, RunnableLambda(failing))
    with pytest.raises(RuntimeError):
        ask(chain, "Are you there?", memory.config(user="ada", session="s1"))
    assert [message.text for message in memory.unanswered("s1", ADA)] == ["Are you there?"]


def test_a_question_is_unanswered_while_a_call_for_it_has_no_result(memory):
    two = [{"name": "search", "args": {}, "id": name} for name in ("a", "b")]
    memory.save("s1", [HumanMessage("Cut off"), AIMessage("", tool_calls=two), ToolMessage("1", tool_call_id="a")], ADA)
    assert [message.text for message in memory.unanswered("s1", ADA)] == ["Cut off"]
    memory.save("s1", [HumanMessage("Goes on"), AIMessage("", tool_calls=two[:1])], ADA)
    assert [message.text for message in memory.unanswered("s1", ADA)] == ["Cut off", "Goes on"]
    memory.save("s1", [ToolMessage("2", tool_call_id="a")], ADA)  # as a tool's that the agent hands on as it is
    assert [message.text for message in memory.unanswered("s1", ADA)] == ["Cut off"]


def test_hooks_that_can_be_read_but_once_hear_of_all_tiers(tmp_path):
    events = []
    with opened(tmp_path / "memory", hooks=iter([events.append])) as memory:
        chain_of(memory).invoke({"question": "Hi"}, memory.config(user="ada", session="s1"))
        chain_of(memory).invoke({"question": "Hi again"}, memory.config(user="ada", session="s1"))
    assert {type(event).__name__ for event in events} == {"ContextReport", "EpisodesRecalled", "EpisodesRemembered"}


def test_a_memory_over_servers_reads_its_hooks_once(tmp_path):
    events = []
    places = {name: f"sqlite:///{tmp_path}/{name}.db" for name in ("log", "facts")}
    settings = {"embeddings": None, "max_tokens": 2_000, "token_counter": EstimatingCounter()}
    with TieredMemory.from_uris(
        **places, episodes=f"{tmp_path}/episodes.db", hooks=iter([events.append]), **settings
    ) as memory:
        memory.assembler().invoke({"question": "Hi"}, memory.config(user="ada", session="s1"))
    assert [type(event).__name__ for event in events] == ["EpisodesRecalled", "ContextReport"]


def test_a_stream_that_is_read_to_its_end_is_kept_whole(memory):
    config = memory.config(user="ada", session="s1")
    assert "".join(chunk.text for chunk in chain_of(memory).stream({"question": "Hi"}, config)) == "one two three"
    assert said(memory, "s1") == [("human", "Hi"), ("ai", "one two three")]
    assert memory.unanswered("s1", ADA) == []


def test_a_trace_shows_each_part_by_its_name(memory):
    async def names():
        config = memory.config(user="ada", session="s1")
        events = chain_of(memory).astream_events({"question": "Hello"}, config, version="v2")
        return [event["name"] async for event in events if event["event"] == "on_chain_end"]

    assert asyncio.run(names()) == ["ContextAssembler", "RememberRound", "RunnableSequence"]


def test_a_stream_that_is_closed_early_is_kept_as_far_as_it_came(memory):
    for _ in chain_of(memory).stream({"question": "Hi"}, memory.config(user="ada", session="s1")):
        break
    gc.collect()
    _, answer = memory.transcript("s1", ADA)
    assert answer.text == "one"
    assert answer.response_metadata["incomplete"] is True
    assert [message.text for message in memory.unanswered("s1", ADA)] == ["Hi"]


def test_a_cancelled_task_keeps_what_came(memory):
    async def cancelled():
        async def consume():
            config = memory.config(user="ada", session="s1")
            async for _ in chain_of(memory).astream({"question": "Hi"}, config):
                came.set()
                await asyncio.sleep(60)

        came = asyncio.Event()
        task = asyncio.create_task(consume())
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert said(memory, "s1") == [("human", "Hi"), ("ai", "one")]


# --- Milvus away ------------------------------------------------------------------------------------------------------


def test_without_milvus_a_request_goes_without_episodes_and_they_are_made_up_for(tmp_path, monkeypatch, ask):
    seen = MemoryCallbackHandler()
    with opened(tmp_path, hooks=[seen]) as memory:
        chain = chain_of(memory)
        ask(chain, "I like green tea.", memory.config(user="ada", session="s0"))

        def away(*_, **__):
            msg = "Milvus is away"
            raise MemoryStoreError(msg)

        async def aaway(*_, **__):
            away()

        with monkeypatch.context() as patched:
            for name, gone in (("recall", away), ("arecall", aaway), ("index", away), ("aindex", aaway)):
                patched.setattr(memory.episodes, name, gone)
            for session in ("s1", "s2"):
                ask(chain, f"My code is {session}.", memory.config(user="ada", session=session))
        behind = [event for event in seen.events if isinstance(event, EpisodesBehind)]
        assert [event.sessions for event in behind] == [1]  # once for an outage
        assert memory.episodes.count(ADA) == 1
        ask(chain, "And now?", memory.config(user="ada", session="s3"))
        assert memory.episodes.count(ADA) == 4


def test_an_answer_waits_no_longer_for_milvus_than_a_request(memory, monkeypatch, ask):
    waited = []

    def away(*_, **asked):
        waited.append(asked.get("timeout", 30.0))
        msg = "Milvus is away"
        raise MemoryStoreError(msg)

    async def aaway(*_, **asked):
        away(**asked)

    for name in ("recall", "behind", "index"):
        monkeypatch.setattr(memory.episodes, name, away)
        monkeypatch.setattr(memory.episodes, f"a{name}", aaway)
    ask(chain_of(memory), "I like green tea.", memory.config(user="ada", session="s1"))
    assert waited == [timeout_of(memory.episodes)] * 2


def test_a_server_is_waited_for_less_than_two_seconds_and_an_embedded_milvus_longer(memory):
    assert timeout_of(memory.episodes) > 2
    assert timeout_of(EpisodicMemory("http://127.0.0.1:9")) < 2  # what a request may take in all


def test_an_answer_is_kept_while_milvus_is_away(memory, monkeypatch, ask):
    def away(*_, **__):
        msg = "Milvus is away"
        raise MemoryStoreError(msg)

    async def aaway(*_, **__):
        away()

    for name in ("recall", "behind", "index"):
        monkeypatch.setattr(memory.episodes, name, away)
        monkeypatch.setattr(memory.episodes, f"a{name}", aaway)
    ask(chain_of(memory), "I like green tea.", memory.config(user="ada", session="s1"))
    assert said(memory, "s1") == [("human", "I like green tea."), ("ai", "one two three")]


def test_a_session_that_cannot_be_followed_does_not_hold_up_the_others(memory, monkeypatch):
    index = memory.episodes.index

    def choosy(log, name, **settings):
        if name.endswith("/s1"):
            msg = "the embedding model refuses this text"
            raise MemoryStoreError(msg)
        return index(log, name, **settings)

    monkeypatch.setattr(memory.episodes, "index", choosy)
    for session in ("s1", "s2", "s3"):
        memory.save(session, [HumanMessage("I like tea."), AIMessage("Noted.")], ADA)
    assert sorted(episode.scope.session for episode in memory.episodes.export(ADA)) == ["s2", "s3"]


def test_an_erasure_leaves_no_episode_of_a_session_with_a_long_name(memory):
    session = "话" * 400
    memory.save(session, [HumanMessage("I like tea."), AIMessage("Noted.")], ADA)
    assert memory.catch_up(ADA) == 0
    assert memory.sessions(ADA) == [session]
    assert memory.erase(MemoryScope("ada", session=session)).episodes == 1
    assert memory.episodes.count(ADA) == 0


def test_what_an_earlier_process_could_not_index_is_caught_up_once(tmp_path):
    with opened(tmp_path) as memory:
        memory.log.append("user:default/ada/s1", [HumanMessage("I like tea."), AIMessage("Noted.")])
        memory.log.append("user:default/bob/s1", [HumanMessage("I like coffee."), AIMessage("Noted.")])
        assert memory.catch_up(ADA) == 1
        assert memory.catch_up(ADA) == 0
        assert (memory.episodes.count(ADA), memory.episodes.count(BOB)) == (1, 0)


def test_what_leaves_the_summary_for_good_becomes_an_episode(tmp_path):
    with opened(tmp_path, max_tokens=300) as memory:
        for number in range(80):
            question = HumanMessage(f"The price of item {number} is {number * 7} euros, never forget it.")
            memory.save("s1", [question, AIMessage("Noted, and a few words more about it.")], ADA)
            memory.assembler().invoke({"messages": []}, memory.config(user="ada", session="s1"))
        memory.catch_up(ADA)
        kinds = {episode.kind for episode in memory.episodes.export(ADA)}
        assert kinds == {"round", "summary"}
        before = memory.episodes.count(ADA)
    with opened(tmp_path, max_tokens=300) as memory:
        memory.catch_up(ADA)
        assert memory.episodes.count(ADA) == before


# --- facts and time ---------------------------------------------------------------------------------------------------


def test_a_fact_that_has_expired_is_not_in_a_request(tmp_path):
    clock = Turning()
    with opened(tmp_path, clock=clock) as memory:
        memory.facts.put(ADA, "ada", "mood", "tired", ttl=60)
        config = memory.config(user="ada")
        assert memory.assembler().assemble({"question": "Hi"}, config).report.tokens["facts"] > 0
        clock.now += timedelta(seconds=61)
        assert memory.assembler().assemble({"question": "Hi"}, config).report.tokens["facts"] == 0


def test_a_round_of_180_days_ago_is_not_served_with_a_max_age_of_90(tmp_path):
    clock = Turning()
    with opened(tmp_path, clock=clock) as memory:
        memory.save("s1", [HumanMessage("My phone number is 5551234."), AIMessage("Noted.")], ADA)
        clock.now += timedelta(days=180)
        question = {"question": "What is my phone number?"}
        old = memory.assembler().assemble(question, memory.config(user="ada"))
        new = memory.assembler(recall={"max_age": timedelta(days=90)}).assemble(question, memory.config(user="ada"))
        assert (len(old.report.recalled), len(new.report.recalled)) == (1, 0)


# --- everything of somebody -------------------------------------------------------------------------------------------


def filled(memory):
    for user in ("ada", "bob"):
        scope = MemoryScope(user)
        for session in ("s1", "s2"):
            memory.save(session, [HumanMessage(f"I am {user}."), AIMessage("Noted.")], scope)
        memory.facts.put(scope, user, "home_city", "Berlin")


@pytest.mark.parametrize("is_async", [False, True])
def test_one_erase_goes_through_all_tiers_and_leaves_others_alone(memory, is_async):
    filled(memory)
    gone = asyncio.run(memory.aerase(ADA)) if is_async else memory.erase(ADA)
    assert (gone.sessions, gone.messages, gone.episodes, gone.facts) == (2, 4, 2, 1)
    assert list(memory.export(ADA)) == []
    assert len(list(memory.export(BOB))) == 4 + 2 + 1
    assert memory.sessions(ADA) == []
    assert memory.erase(ADA).total == 0


def test_what_was_erased_does_not_come_back_by_catching_up(memory):
    filled(memory)
    memory.erase(ADA)
    assert memory.catch_up(ADA) == 0
    memory.save("s1", [HumanMessage("I am new."), AIMessage("Noted.")], ADA)
    assert memory.episodes.count(ADA) == 1


def test_one_session_can_be_erased_alone(memory):
    filled(memory)
    memory.facts.put(MemoryScope("ada", session="s1"), "ada", "mood", "tired")
    gone = memory.erase(MemoryScope("ada", session="s1"))
    assert (gone.sessions, gone.messages, gone.episodes, gone.facts) == (1, 2, 1, 1)
    assert memory.sessions(ADA) == ["s2"]


def test_what_is_read_awaited_is_what_is_read(memory, ask):
    ask(chain_of(memory), "I like tea.", memory.config(user="ada", session="s1"))
    memory.facts.put(ADA, "ada", "home_city", "Berlin")
    memory.save("s1", [HumanMessage("Hello?")], ADA)

    async def read():
        records = [record async for record in memory.aexport(ADA)]
        return records, await memory.asessions(ADA), await memory.aunanswered("s1", ADA)

    read_back = asyncio.run(read())
    assert read_back == (list(memory.export(ADA)), memory.sessions(ADA), memory.unanswered("s1", ADA))
    assert [record["tier"] for record in read_back[0]] == ["working", "working", "working", "episodic", "semantic"]


def test_an_export_has_every_tier_as_plain_data(memory):
    filled(memory)
    records = list(memory.export(ADA))
    assert [record["tier"] for record in records] == ["working"] * 4 + ["episodic"] * 2 + ["semantic"]
    assert records[0]["message"]["data"]["content"] == "I am ada."


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [{}, {"max_tokens": 100, "model_window": 100}, {"max_tokens": 100, "budget": ContextBudget(max_tokens=100)}],
)
def test_a_memory_needs_one_budget(tmp_path, settings):
    with pytest.raises(ValueError, match="exactly one"):
        TieredMemory(tmp_path, embeddings=None, **settings)


def test_without_a_folder_every_store_must_be_given():
    with pytest.raises(ValueError, match="path=None"):
        TieredMemory(None, max_tokens=100)


def test_an_embedding_model_of_another_kind_is_refused(tmp_path):
    with pytest.raises(ValueError, match="openai"):
        TieredMemory(tmp_path, "openai", max_tokens=100)


def test_an_answer_without_a_session_is_refused(memory):
    with pytest.raises(ValueError, match="session_id"):
        memory.remember_round().invoke(AIMessage("Hi"))


def test_an_answer_to_a_question_whose_user_only_the_input_names_is_refused(memory):
    with pytest.raises(ScopeError, match="nobody: name the user"):
        chain_of(memory).invoke({"question": "Hello", "scope": ADA}, {"configurable": {"session_id": "s1"}})
    assert memory.log.sessions() == ["user:default/ada/s1"]


def test_a_memory_says_where_it_keeps_what(memory):
    assert repr(memory).startswith("TieredMemory(log=SQLMessageLog('sqlite:///")
    assert repr(memory.remember_round()) == "RememberRound()"


class Town(BaseModel):
    name: str


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (Town(name="Rome"), '{"name": "Rome"}'),
        ({"name": "Rome"}, '{"name": "Rome"}'),
        ({"raw": AIMessage("It is Rome."), "parsed": Town(name="Rome"), "parsing_error": None}, "It is Rome."),
        ({"raw": ..., "parsed": Town(name="Rome")}, '{"raw": "Ellipsis", "parsed": {"name": "Rome"}}'),
        ({"input": "Where?", "output": "Rome"}, "Rome"),
        ({"output": AIMessage("Rome")}, "Rome"),
        ([Town(name="Rome"), 7], '[{"name": "Rome"}, 7]'),
        (AIMessageChunk("Rome"), "Rome"),
    ],
)
def test_whatever_a_chain_gives_is_kept_and_handed_on_unchanged(memory, ask, output, text):
    chain = memory.assembler() | RunnableLambda(lambda _: output) | memory.remember_round()
    assert ask(chain, "Where?", memory.config(user="ada", session="s1")) is output
    assert said(memory, "s1") == [("human", "Where?"), ("ai", text)]


def test_an_answer_that_the_log_cannot_take_is_handed_on_and_told(memory, ask, monkeypatch):
    seen = MemoryCallbackHandler()
    config = {**memory.config(user="ada", session="s1"), "callbacks": [seen]}

    async def full(*_):
        msg = "disk full"
        raise MemoryStoreError(msg)

    def answer(_):
        for store in (memory.log.blocking, memory.log.awaited):
            monkeypatch.setattr(store, "append", full)
        return AIMessage("Rome")

    chain = memory.assembler() | RunnableLambda(answer) | memory.remember_round()
    assert ask(chain, "Where?", config).text == "Rome"
    (failed,) = [event for event in seen.events if isinstance(event, AppendFailed)]
    assert [message.text for message in failed.messages] == ["Rome"]


def test_a_session_that_no_user_could_see_is_not_begun(memory):
    with pytest.raises(ValueError, match=r"memory\.save\('s1', messages, MemoryScope\(user="):
        memory.log.append("s1", [HumanMessage("Hello")])
    assert memory.log.sessions() == []


@pytest.mark.parametrize("session", ["", "  "])
def test_a_blank_session_is_refused(memory, session):
    with pytest.raises(ValueError, match="blank"):
        memory.save(session, [HumanMessage("Hello")])
    with pytest.raises(ValueError, match=r"blank|1 to 512"):
        memory.history(session)


# --- what an outage leaves --------------------------------------------------------------------------------------------


def test_after_an_outage_an_answer_makes_up_for_a_few_sessions_of_different_users(memory, monkeypatch):
    def away(*_, **__):
        msg = "Milvus is away"
        raise MemoryStoreError(msg)

    with monkeypatch.context() as patched:
        patched.setattr(memory.episodes, "index", away)
        for user, count in (("ada", 20), ("bob", 2)):
            for number in range(count):
                memory.save(f"s{number}", [HumanMessage("I like tea."), AIMessage("Noted.")], MemoryScope(user))
    indexed = []
    index = memory.episodes.index

    def recorded(log, name, **how):
        indexed.append(name)
        return index(log, name, **how)

    monkeypatch.setattr(memory.episodes, "index", recorded)
    carl = MemoryScope("carl")
    for number in range(3):
        memory.save(f"s{number}", [HumanMessage("Hi."), AIMessage("Hi.")], carl)
    assert [name.split("/")[1] for name in indexed] == ["carl", "ada", "bob"] * 2 + ["carl", "ada", "ada"]
    assert memory.catch_up(ADA) == 20 - 4
    assert memory.episodes.count(BOB) == 2


def test_closing_an_async_stream_does_not_block_the_event_loop(memory):
    class Slow:
        """A store whose writes take until the event loop has gone on."""

        def __init__(self, store):
            self._store = store

        def __getattr__(self, verb):
            return getattr(self._store, verb)

        async def append(self, *arguments):
            assert went_on.wait(10)
            return await self._store.append(*arguments)

    went_on = threading.Event()

    async def close_early():
        stream = chain_of(memory).astream({"question": "Hi"}, memory.config(user="ada", session="s1"))
        await anext(stream)
        log = memory.summary.message_log
        log.blocking = Slow(log.blocking)
        closing = asyncio.create_task(stream.aclose())
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, went_on.set)
        await closing

    asyncio.run(close_early())
    assert said(memory, "s1") == [("human", "Hi"), ("ai", "one")]
