"""Real requests, made by the providers' own packages out of what the assembler and the middleware give."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from langchain.agents.middleware.types import ModelRequest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import RemoveMessage, SystemMessage
from langchain_core.runnables import RunnableLambda

from langchain_tiered_memory import InMemoryFactStore, InMemoryMessageLog
from langchain_tiered_memory.context.assembler import ContextAssembler
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.integrations.middleware import TieredMemoryMiddleware
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.protocol import kind_of
from langchain_tiered_memory.messages.repair import repair_messages
from langchain_tiered_memory.messages.tokens import EstimatingCounter, count_tokens
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.session_names import session_key
from langchain_tiered_memory.types import MemoryScope
from support import payloads
from support.histories import examples, notation, portable_histories
from support.oracle import calls_of, newest_user_turn
from support.shelves import Shelf, episode

ADA = MemoryScope("ada")
COUNTER = EstimatingCounter()
JUDGES = {
    "openai": (payloads.openai_payload, payloads.openai_faults),
    "openai responses": (payloads.responses_payload, payloads.responses_faults),
    "anthropic": (payloads.anthropic_payload, payloads.anthropic_faults),
    "google": (payloads.google_payload, payloads.google_faults),
}
BUDGETS = st.integers(200, 700)


def four_tiers(budget, **settings):
    facts = InMemoryFactStore()
    facts.put(ADA, "ada", "home_city", "Berlin")
    return ContextAssembler(
        budget,
        episodes=Shelf([episode(number, "a story about tea " * 3) for number in range(4)]),
        facts=facts,
        procedures=ProceduralMemory(system="Only GET requests."),
        token_counter=COUNTER,
        **settings,
    )


def faults(provider, output, given):
    """What the provider would refuse, apart from what the caller's own list had already and no memory may change."""
    made = [call_id for message in output for call_id in calls_of(message)]
    assume(provider != "openai responses" or len(made) == len(set(made)))  # langchain-openai sends one of them
    payload, judge = JUDGES[provider]
    kinds = ["call" if calls_of(m) else kind_of(m) for m in repair_messages(given)]
    neighbours = any(before == "assistant" and after == "call" for before, after in pairwise(kinds))
    return [fault for fault in judge(payload(output)) if not (neighbours and "follows a model turn" in fault)]


async def nothing(*_):
    pass


def usable(history):
    assume(newest_user_turn(history.messages) is not None)
    assume(not any(isinstance(message, RemoveMessage) for message in history.messages))
    return history.messages


@pytest.mark.parametrize("with_log", [False, True])
@pytest.mark.parametrize("provider", JUDGES)
@examples(100)
@given(history=portable_histories(), budget=BUDGETS)
def test_a_request_of_the_assembler_breaks_no_rule_of_a_provider(provider, with_log, history, budget):
    messages = usable(history)
    assembler = four_tiers(budget, **({"log": InMemoryMessageLog()} if with_log else {}))
    try:
        request = assembler.assemble(messages, {"configurable": {"user_id": "ada", "session_id": "s"}})
    except BudgetExceededError:
        return
    assert faults(provider, request.messages, messages) == [], notation(request.messages)
    assert request.report.total <= budget


@pytest.mark.parametrize("provider", JUDGES)
@examples(50)
@given(history=portable_histories(), budget=BUDGETS)
def test_a_request_of_the_middleware_breaks_no_rule_of_a_provider(provider, history, budget):
    messages = [message for message in usable(history) if kind_of(message) != "system"]
    assume(messages)
    identified = [message.model_copy(update={"id": f"m{place}"}) for place, message in enumerate(messages)]
    request = ModelRequest(
        model=FakeListChatModel(responses=["x"]),
        system_message=SystemMessage("You are Ada."),
        messages=identified,
        tools=[],
        state={"messages": identified},
    )
    shown = []
    memory = TieredMemory(
        None,
        log=InMemoryMessageLog(),
        episodes=EpisodicMemory("http://127.0.0.1:9"),
        facts=InMemoryFactStore(),
        max_tokens=budget,
        token_counter=COUNTER,
    )
    memory.indexer.take_nodes = nothing  # there is no Milvus
    middleware = TieredMemoryMiddleware(memory)
    middleware._tiers = four_tiers(budget, summary=memory.summary, session_key=session_key).tiers
    context = RunnableLambda(lambda _: middleware.wrap_model_call(request, shown.append))
    try:
        context.invoke(None, {"configurable": {"thread_id": "s", "user_id": "ada"}})
    except BudgetExceededError:
        return
    output = [shown[0].system_message, *shown[0].messages]
    assert faults(provider, output, messages) == [], notation(output)
    assert count_tokens(output, COUNTER) <= budget
