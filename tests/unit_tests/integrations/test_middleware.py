from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import dataclass

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    SummarizationMiddleware,
    ToolRetryMiddleware,
    before_model,
)
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from langchain_tiered_memory.errors import MemoryStoreError, ScopeError
from langchain_tiered_memory.indexer import timeout_of
from langchain_tiered_memory.integrations.middleware import TieredMemoryMiddleware
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.protocol import is_inserted
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import MemoryScope
from support.strict_server import call, strict_server

ADA = MemoryScope("ada")
LIMIT = {"recursion_limit": 400}
ADAS = {"configurable": {"thread_id": "t1", "user_id": "ada"}, **LIMIT}


@tool
def look_up(key: str) -> str:
    """Look a figure up."""
    return f"The {key} figure is {sum(map(ord, key)) * 7}. " + "It was looked up in a long table of figures. " * 3


@tool
def calculate(number: int) -> str:
    """Calculate with a number."""
    return f"{number} times 17 is {number * 17}."


@pytest.fixture
def memory(tmp_path):
    with TieredMemory(
        tmp_path / "memory", max_tokens=1_200, embeddings=None, token_counter=EstimatingCounter()
    ) as memory:
        yield memory


def model_of(server, **settings):
    return ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0, **settings)


def steps(count, last="Done."):
    """A model that calls tools so many times in each turn, and then answers."""

    def answer(body):
        done = 0
        for message in reversed(body["messages"]):
            if message["role"] == "user" and not message["content"].startswith("Recalled"):
                break
            done += message["role"] == "tool"
        answer.calls += 1
        if answer.calls % (count + 1):
            number = answer.calls
            name, given = ("look_up", {"key": f"item{number}"}) if number % 2 else ("calculate", {"number": number})
            return call(name, f"c{number}", **given)
        return {"content": last}

    answer.calls = 0
    return answer


def agent_of(memory, server, *, others=(), tools=(), **settings):
    return create_agent(
        model_of(server),
        tools=[look_up, calculate],
        system_prompt="You calculate.",
        middleware=[TieredMemoryMiddleware(memory, tools=tools), *others],
        checkpointer=InMemorySaver(),
        **settings,
    )


@pytest.fixture(params=["sync", "async"])
def run(request):
    """Runs an agent."""

    def run(agent, given, config, **settings):
        given = {"messages": [("user", given)]} if isinstance(given, str) else given
        if request.param == "sync":
            return agent.invoke(given, config, **settings)
        return asyncio.run(agent.ainvoke(given, config, **settings))

    return run


# --- what the model sees, and what the state keeps --------------------------------------------------------------------


def test_the_model_sees_a_valid_request_within_the_budget_and_the_state_keeps_everything(memory, run):
    with strict_server(steps(40), window=1_400) as server:
        out = run(agent_of(memory, server), "Look up forty items, and never answer in euros.", ADAS)
    assert server.refusals == []
    assert len(out["messages"]) == 1 + 2 * 40 + 1
    assert not any(is_inserted(message) for message in out["messages"])
    assert set(out) == {"messages"}
    last = str(server.requests[-1]["messages"])
    assert "never answer in euros" in last
    assert "earlier_conversation" in last


def test_after_sixty_tool_rounds_the_answer_uses_a_number_of_round_two_and_a_rule_of_the_question(tmp_path, run):
    readings = re.compile(r"The look_2 figure is (\d+)")

    def answer(body):
        answer.calls += 1
        if answer.calls <= 60:
            return call("look_up", f"c{answer.calls}", key=f"look_{answer.calls}")
        text = " ".join(str(message["content"]) for message in body["messages"])
        unit = "pounds" if "never give it in euros" in text else "euros"
        return {"content": f"{readings.search(text)[1]} {unit}"}

    answer.calls = 0
    question = "Look up sixty figures one by one, then give me the look_2 figure, but never give it in euros."
    with (
        strict_server(answer, window=2_000) as server,
        TieredMemory(tmp_path, max_tokens=1_900, embeddings=None) as memory,
    ):
        out = run(agent_of(memory, server), question, ADAS)
    assert server.refusals == []
    assert len(server.requests) == 61
    assert out["messages"][-1].text == f"{sum(map(ord, 'look_2')) * 7} pounds"


def test_what_was_summarised_is_kept_and_not_summarised_again(memory, run):
    with strict_server(steps(30), window=1_400) as server:
        saver, before = InMemorySaver(), []
        for turn in range(2):
            # A process of its own each time, as far as the middleware knows.
            agent = create_agent(
                model_of(server),
                tools=[look_up, calculate],
                middleware=[TieredMemoryMiddleware(memory)],
                checkpointer=saver,
            )
            run(agent, f"Turn {turn}.", ADAS)
            nodes = memory.log.nodes(*memory.log.sessions())
            assert nodes[: len(before)] == before
            before = nodes
        assert before
    assert server.refusals == []


def test_question_and_answer_go_into_the_log_once_and_become_episodes(memory, run):
    with strict_server(steps(2), window=1_400) as server:
        agent = agent_of(memory, server)
        for turn in range(2):
            run(agent, f"I like green tea number {turn}.", ADAS)
    kinds = [message.type for message in memory.transcript("t1", ADA)]
    assert kinds == ["human", "ai", "tool", "ai", "tool", "ai"] * 2
    assert memory.episodes.count(ADA) == 2


def test_the_question_is_in_the_log_even_if_the_model_fails(memory, run):
    with strict_server(steps(0), window=10) as server, pytest.raises(Exception, match="maximum context length"):
        run(agent_of(memory, server), "Are you there?", ADAS)
    assert [message.text for message in memory.unanswered("t1", ADA)] == ["Are you there?"]


def test_another_thread_recalls_what_was_said_and_another_user_does_not(memory, run):
    with strict_server(steps(0), window=1_400) as server:
        agent = agent_of(memory, server)
        run(agent, "My sister Maria lives in Turin.", ADAS)
        for user in ("ada", "bob"):
            run(agent, "Where does Maria live?", {"configurable": {"thread_id": f"t-{user}", "user_id": user}})
    adas, bobs = (str(request["messages"]) for request in server.requests[-2:])
    assert "lives in Turin" in adas
    assert "lives in Turin" not in bobs


def test_system_prompt_and_tools_count(memory, run):
    with strict_server(steps(40), window=1_300) as server:
        agent = create_agent(
            model_of(server),
            tools=[look_up, calculate],
            system_prompt="You calculate with great care. " * 40,
            middleware=[TieredMemoryMiddleware(memory)],
        )
        run(agent, "Look up forty items.", ADAS)
    assert server.refusals == []


# --- whose it is ------------------------------------------------------------------------------------------------------


@dataclass
class Context:
    user_id: str


def test_the_user_may_come_with_the_runs_context(memory, run):
    with strict_server(steps(0), window=1_400) as server:
        agent = agent_of(memory, server, context_schema=Context)
        run(agent, "Hello", {"configurable": {"thread_id": "t9"}}, context=Context("ada"))
    assert memory.sessions(ADA) == ["t9"]


def test_a_run_that_names_no_user_is_refused(memory, run):
    with strict_server(steps(0), window=1_400) as server, pytest.raises(ScopeError, match="user_id"):
        run(agent_of(memory, server), "Hello", {"configurable": {"thread_id": "t9"}})


def test_a_run_without_a_thread_gets_a_session_of_its_own(memory, run):
    with strict_server(steps(2), window=1_400) as server:
        agent = create_agent(model_of(server), tools=[look_up, calculate], middleware=[TieredMemoryMiddleware(memory)])
        for _ in range(2):
            run(agent, "Hello", {"configurable": {"user_id": "ada"}})
    sessions = memory.sessions(ADA)
    assert len(sessions) == 2
    assert [len(memory.transcript(session, ADA)) for session in sessions] == [6, 6]


def test_a_thread_that_goes_on_after_an_erasure_gives_nothing_of_it_back(memory, run):
    with strict_server(steps(4), window=3_000) as server:
        agent = agent_of(memory, server)
        for turn in range(4):
            run(agent, f"My secret is number {turn}.", ADAS)
        memory.erase(ADA)
        for turn in range(4):
            run(agent, f"Public matter {turn}.", ADAS)
    kept = str(list(memory.export(ADA)))
    assert "secret" not in kept
    assert "item1" not in kept
    assert [m.text for m in memory.transcript("t1", ADA) if m.type == "human"] == [
        f"Public matter {turn}." for turn in range(4)
    ]


def test_a_thread_of_one_user_that_another_goes_on_with_gives_them_only_what_is_new(memory, run):
    with strict_server(steps(0), window=1_400) as server:
        agent = agent_of(memory, server)
        run(agent, "Ada's secret.", ADAS)
        run(agent, "Hello, this is Bob.", {"configurable": {"thread_id": "t1", "user_id": "bob"}})
        run(agent, "Ada again.", ADAS)
    assert [m.text for m in memory.transcript("t1", MemoryScope("bob"))] == ["Hello, this is Bob.", "Done."]
    assert [m.text for m in memory.transcript("t1", ADA)] == ["Ada's secret.", "Done.", "Ada again.", "Done."]


def test_a_message_that_was_changed_in_the_state_is_not_in_the_summary_as_it_was(memory, run):
    with strict_server(steps(20), window=1_400) as server:
        agent = agent_of(memory, server)
        run(agent, "My pin is 4711. Look up twenty items.", ADAS)
        run(agent, "Again.", ADAS)
        assert "4711" in str(server.requests[-1]["messages"])
        first = agent.get_state(ADAS).values["messages"][0]
        agent.update_state(ADAS, {"messages": [HumanMessage("My pin is withheld.", id=first.id)]})
        memory.erase(ADA)
        run(agent, "And again.", ADAS)
    assert "4711" not in str(server.requests[-1]["messages"])


# --- streams and other middleware -------------------------------------------------------------------------------------


def test_no_word_of_a_summary_reaches_the_users_stream(tmp_path):
    with strict_server(steps(30, last="The final answer."), window=1_400) as server:
        summaries = []

        def answer(body):
            summaries.append(body)
            return {"content": "SECRET summary of what was looked up."}

        with (
            strict_server(answer, window=100_000) as summarizer,
            TieredMemory(
                tmp_path,
                max_tokens=1_200,
                embeddings=None,
                token_counter=EstimatingCounter(),
                summarizer=model_of(summarizer),
            ) as memory,
        ):
            agent = agent_of(memory, server)
            given = {"messages": [("user", "Look up thirty items.")]}
            streamed = [chunk for chunk, _ in agent.stream(given, ADAS, stream_mode="messages")]
            values = list(agent.stream({"messages": [("user", "And?")]}, ADAS, stream_mode="updates"))
    assert summaries
    text = "".join(chunk.text for chunk in streamed if isinstance(chunk, AIMessageChunk | AIMessage))
    assert "SECRET" not in text
    assert "The final answer." in text
    assert "SECRET" in str(server.requests[-1]["messages"])
    assert not any("SECRET" in str(update.get("model", {}).get("messages", "")) for update in values)


def test_it_composes_with_summarization_and_retries(memory, run):
    with strict_server(steps(20), window=3_000) as server:

        def summary(_):
            return {"content": "A summary."}

        with strict_server(summary, window=100_000) as summarizer:
            others = [
                SummarizationMiddleware(model_of(summarizer), trigger=("messages", 12), keep=("messages", 6)),
                ToolRetryMiddleware(max_retries=1),
            ]
            agent = agent_of(memory, server, others=others)
            for turn in range(3):
                run(agent, f"Look up twenty items, turn {turn}.", ADAS)
    assert server.refusals == []
    assert len([m for m in memory.transcript("t1", ADA) if isinstance(m, HumanMessage)]) == 3


def test_it_composes_with_a_human_in_the_loop(memory, run):
    with strict_server(steps(1), window=1_400) as server:
        asks = HumanInTheLoopMiddleware(interrupt_on={"look_up": True})
        agent = agent_of(memory, server, others=[asks])
        paused = run(agent, "Look up an item.", ADAS)
        assert "__interrupt__" in paused
        out = run(agent, Command(resume={"decisions": [{"type": "approve"}]}), ADAS)
    assert out["messages"][-1].text == "Done."
    assert [message.type for message in memory.transcript("t1", ADA)] == ["human", "ai", "tool", "ai"]


def test_an_agent_may_be_a_tool_of_another(memory, run):
    with strict_server(steps(0, last="Inner answer."), window=1_400) as inner_server:
        inner = create_agent(model_of(inner_server), tools=[], middleware=[TieredMemoryMiddleware(memory)])

        @tool
        def ask_inner(question: str) -> str:
            """Ask another agent."""
            return inner.invoke({"messages": [("user", question)]})["messages"][-1].text

        def answer(body):
            if body["messages"][-1]["role"] == "tool":
                return {"content": "It said: " + body["messages"][-1]["content"]}
            return call("ask_inner", "c1", question="What is inside?")

        with strict_server(answer, window=1_400) as server:
            outer = create_agent(
                model_of(server),
                tools=[ask_inner],
                middleware=[TieredMemoryMiddleware(memory)],
                checkpointer=InMemorySaver(),
            )
            out = run(outer, "Ask the inner agent.", ADAS)
    assert out["messages"][-1].text == "It said: Inner answer."
    assert server.refusals == inner_server.refusals == []
    # What the agents said to each other stands in a session of its own.
    inner_session, outer_session = sorted(memory.sessions(ADA), key=len, reverse=True)
    assert outer_session == "t1"
    assert [m.type for m in memory.transcript("t1", ADA)] == ["human", "ai", "tool", "ai"]
    assert [m.text for m in memory.transcript(inner_session, ADA)] == ["What is inside?", "Inner answer."]
    assert memory.unanswered("t1", ADA) == []


# --- tools of the memory ----------------------------------------------------------------------------------------------


def test_the_model_may_recall_and_save_within_its_users_scope(memory, run):
    memory.save("old", [HumanMessage("My sister Maria lives in Turin."), AIMessage("Noted.")], ADA)
    script = [
        call("save_fact", "c1", entity="maria", attribute="home_city", value="Turin"),
        call("recall_memory", "c2", query="Where does Maria live?"),
        {"content": "Turin."},
    ]
    with strict_server(lambda _: script.pop(0), window=2_000) as server:
        out = run(agent_of(memory, server, tools=["recall_memory", "save_fact"]), "Where?", ADAS)
    results = [message.text for message in out["messages"] if message.type == "tool"]
    assert results[0] == "Saved: maria.home_city, version 1."
    assert "lives in Turin" in results[1]
    assert memory.facts.get(ADA, "maria", "home_city").value == "Turin"
    assert "runtime" not in str(server.requests[0]["tools"])


def test_a_tool_that_is_not_known_is_refused(memory):
    with pytest.raises(ValueError, match="forget_all"):
        TieredMemoryMiddleware(memory, tools=["forget_all"])


def test_a_memory_that_does_not_answer_does_not_end_the_agents_run(memory, run, monkeypatch):
    def away(*_, **asked):
        assert asked["timeout"] == timeout_of(memory.episodes)
        msg = "Milvus at http://inside:19530 is away"
        raise MemoryStoreError(msg)

    async def aaway(*_, **asked):
        away(**asked)

    script = [call("recall_memory", "c1", query="Where does Maria live?"), {"content": "I can't say."}]
    monkeypatch.setattr(memory.episodes, "recall", away)
    monkeypatch.setattr(memory.episodes, "arecall", aaway)
    with strict_server(lambda _: script.pop(0), window=2_000) as server:
        out = run(agent_of(memory, server, tools=["recall_memory"]), "Where?", ADAS)
    assert out["messages"][-2].text == "The memory does not answer at present. Go on without it."


def test_what_is_no_fact_is_told_to_the_model(memory, run):
    script = [call("save_fact", "c1", entity="", attribute="city", value="Turin"), {"content": "Sorry."}]
    with strict_server(lambda _: script.pop(0), window=2_000) as server:
        out = run(agent_of(memory, server, tools=["save_fact"]), "Where?", ADAS)
    assert out["messages"][-2].text.startswith("Not saved: entity has 1 to 512 characters")


# --- a thread is a session --------------------------------------------------------------------------------------------


def plain_agent(memory, server, **settings):
    return create_agent(model_of(server), tools=[], middleware=[TieredMemoryMiddleware(memory)], **settings)


@pytest.mark.parametrize("keeps_state", [True, False])
@pytest.mark.parametrize("passes", ["what is new", "everything"])
def test_an_agent_remembers_its_thread_with_and_without_a_checkpointer(memory, run, keeps_state, passes):
    if keeps_state and passes == "everything":
        pytest.skip("a state that grows by all of itself has each message twice")
    with strict_server(steps(0), window=1_400) as server:
        saver, said = InMemorySaver(), []
        for question in ("My sister Maria lives in Turin.", "yes", "yes"):
            agent = plain_agent(memory, server, checkpointer=saver if keeps_state else None)  # after a restart
            said.append(("user", question))
            run(agent, {"messages": said if passes == "everything" else said[-1:]}, ADAS)
            said.append(("assistant", "Done."))
    assert [message["content"] for message in server.requests[-1]["messages"][1:]] == [text for _, text in said[:-1]]
    assert [message.text for message in memory.transcript("t1", ADA)] == [text for _, text in said]


class Flaky(FakeListChatModel):
    fails: int = 2

    def _call(self, *arguments, **settings):
        if self.fails:
            self.fails -= 1
            raise LookupError
        return super()._call(*arguments, **settings)


def test_an_agent_that_is_tried_again_has_asked_once(memory):
    agent = create_agent(Flaky(responses=["Done."]), middleware=[TieredMemoryMiddleware(memory)])
    for _ in range(3):
        with suppress(LookupError):
            agent.invoke({"messages": [("user", "Book it.")]}, ADAS)
    assert [message.text for message in memory.transcript("t1", ADA)] == ["Book it.", "Done."]


def test_an_agent_that_speaks_first_is_sent_as_it_is(memory, run):
    model = FakeListChatModel(responses=["Welcome!"])
    agent = create_agent(model, system_prompt="Greet the user.", middleware=[TieredMemoryMiddleware(memory)])
    assert run(agent, {"messages": []}, ADAS)["messages"][-1].text == "Welcome!"


def test_what_a_middleware_took_out_of_the_state_is_not_shown(memory, run):
    @before_model
    def redact(state, runtime):  # noqa: ARG001  # langchain's signature
        return {
            "messages": [m.model_copy(update={"content": m.text.replace("4711", "****")}) for m in state["messages"]]
        }

    with strict_server(steps(0), window=1_400) as server:
        run(agent_of(memory, server, others=[redact]), "My pin is 4711.", ADAS)
    assert "My pin is ****." in str(server.requests[-1]["messages"])
    assert "4711" not in str(server.requests[-1]["messages"])
