"""Scenes that applications with a memory of their own were built for, played on the four tiers."""

from __future__ import annotations

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from langchain_tiered_memory import read_transcript
from langchain_tiered_memory.integrations.middleware import TieredMemoryMiddleware
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.messages.units import split_rounds
from langchain_tiered_memory.types import MemoryScope
from support.shared import PROJECT
from support.strict_server import call, strict_server

ADA = MemoryScope("ada")


@pytest.fixture
def memory(tmp_path):
    with TieredMemory(tmp_path, max_tokens=1_500, embeddings=None, token_counter=EstimatingCounter()) as memory:
        yield memory


def answering(text="All right."):
    return GenericFakeChatModel(messages=iter([AIMessage(text)] * 200))


def test_a_name_and_a_calculation_are_remembered_over_three_turns(memory):
    @tool
    def calculator(expression: str) -> str:
        """Work an expression out."""
        return {"23 * 19": "437"}[expression]

    def answer(body):
        text = " ".join(str(message["content"]) for message in body["messages"])
        last = body["messages"][-1]
        if last["role"] == "tool":
            return {"content": f"It is {last['content']}."}
        if "23 times 19" in str(last["content"]):
            return call("calculator", "c1", expression="23 * 19")
        if "name" in str(last["content"]) and "result" in str(last["content"]):
            return {"content": f"{'Mira' if 'My name is Mira' in text else '?'}, {'437' if '437' in text else '?'}"}
        return {"content": "Hello Mira."}

    with strict_server(answer, window=2_000) as server:
        agent = create_agent(
            ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0),
            tools=[calculator],
            middleware=[TieredMemoryMiddleware(memory)],
            checkpointer=InMemorySaver(),
        )
        config = {"configurable": {"thread_id": "t", "user_id": "ada"}}
        for said in ("My name is Mira.", "What is 23 times 19?", "What is my name, and what was the result?"):
            out = agent.invoke({"messages": [("user", said)]}, config)
    assert out["messages"][-1].text == "Mira, 437"
    assert server.refusals == []


def test_forty_five_rounds_of_ticket_triage_stay_under_budget_at_a_steady_size(tmp_path):
    prompt, *said = read_transcript(PROJECT / "tests" / "data" / "ticket_triage.zh.json").messages
    played = list(split_rounds(said))
    sizes = []
    with TieredMemory(tmp_path, max_tokens=3_000, embeddings=None) as memory:
        config = memory.config(user="ada", session="triage")
        for number in range(45):
            question, *answers = [
                message.model_copy(update={"id": f"{message.id}-{number}"}) for message in played[number % len(played)]
            ]
            request = memory.assembler().assemble({"messages": [prompt, question]}, config)
            assert request.report.faults == ()
            sizes.append(request.report.total)
            memory.save("triage", answers, ADA)
    assert max(sizes) <= 3_000
    assert max(sizes[25:]) <= 1.2 * max(sizes[10:25])
    assert "只允许 GET 请求" in request.messages[0].text


def test_only_get_requests_survives_whatever_comes_after_it(memory):
    config = memory.config(user="ada", session="api")
    chain = memory.assembler() | answering() | memory.remember_round()
    chain.invoke({"question": "We test an API. Only GET requests, never write anything."}, config)
    for number in range(60):
        chain.invoke({"question": f"What does /items/{number} return, and is field {number * 7} in it?"}, config)
    request = memory.assembler().assemble({"question": "And now /orders?"}, config)
    assert "Only GET requests, never write anything." in "\n".join(message.text for message in request.messages[:-1])


def test_a_refreshed_page_sees_nothing_of_the_old_session(memory):
    chain = memory.assembler() | answering() | memory.remember_round()
    chain.invoke({"question": "Let us talk about xylophones."}, memory.config(user="ada"))
    request = memory.assembler().assemble({"question": "Good morning!"}, memory.config(user="ada"))
    assert request.report.tokens["window"] == request.report.tokens["summary"] == 0
    assert len(memory.sessions(ADA)) == 2
