from __future__ import annotations

import copy
import itertools
import json
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ChatMessage, HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.tools import tool

from langchain_tiered_memory import SummaryMemory, SummaryText
from langchain_tiered_memory.errors import BudgetExceededError, TieredMemoryError
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.messages.tokens import EstimatingCounter, ListCounter
from langchain_tiered_memory.procedural.procedures import ProceduralMemory, Procedure, ProcedureError

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
IN_ANTHROPICS_FORM = {
    "name": "get_weather",
    "description": "Weather of a city.",
    "input_schema": {"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}},
}


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def memory():
    return ProceduralMemory(
        system="Only GET requests.",
        workflows={"refund": "1. Look up the order.\n2. Ask.", "billing": "Call billing."},
        tools=[WEATHER, add],
    )


# --- what is injected -------------------------------------------------------------------------------------------------


def test_all_of_it_is_rendered_in_a_fixed_order(memory):
    assert memory.render() == (
        "Only GET requests.\n\n"
        '<workflow name="billing">\nCall billing.\n</workflow>\n\n'
        '<workflow name="refund">\n1. Look up the order.\n2. Ask.\n</workflow>'
    )


def test_numbers_in_names_count_as_numbers():
    memory = ProceduralMemory(system={f"{n}-rule": f"rule {n}" for n in (10, 9, 2, 1)})
    assert memory.render() == "rule 1\n\nrule 2\n\nrule 9\n\nrule 10"
    assert ProceduralMemory(system=[f"rule {n}" for n in range(12)]).render().split("\n\n")[-1] == "rule 11"


@given(
    st.dictionaries(
        st.text("abc019-_ é你", min_size=1, max_size=5).filter(lambda n: n == n.strip()),
        st.text("xy{}\n", min_size=1).filter(str.strip),
        max_size=5,
    ),
    st.randoms(use_true_random=False),
)
def test_the_rendering_does_not_depend_on_the_order_of_loading(texts, random):
    shuffled = list(texts.items())
    random.shuffle(shuffled)
    one, other = ProceduralMemory(workflows=texts), ProceduralMemory(workflows=dict(shuffled))
    assert one.render() == other.render() == one.render()
    assert one.fingerprint == other.fingerprint
    assert [procedure.name for procedure in one.procedures] == [procedure.name for procedure in other.procedures]
    assert all(text.strip() in one.render() for text in texts.values())


def test_braces_and_placeholders_are_only_text():
    text = "Say {name}, {{x}}, %s, ${HOME}, $1, {0!r:>{width}} and {% raw %}."
    memory = ProceduralMemory(system=text)
    assert memory.render() == text
    assert memory.invoke("hi")[0].text == text


def test_line_ends_marks_and_blank_lines_around_a_text_make_no_difference():
    plain = ProceduralMemory(system="a\n\n  b")
    assert ProceduralMemory(system="\ufeff\r\na\r\n\r\n  b\r\n\r\n").fingerprint == plain.fingerprint
    assert ProceduralMemory(system="a\r\r  b\r").fingerprint == plain.fingerprint


def test_nothing_is_injected_where_there_is_nothing():
    memory = ProceduralMemory()
    messages = [HumanMessage("hi")]
    assert (memory.render(), memory.tools, memory.versions, memory.tokens()) == ("", [], {}, 0)
    assert memory.invoke(messages) is messages
    assert ProceduralMemory(system="").render() == ""
    prompt = SystemMessage("x")
    assert memory.system_message(prompt) is prompt


# --- one leading system message ---------------------------------------------------------------------------------------


def test_the_procedures_stand_in_front_of_the_prompt_they_are_given(memory):
    assert memory.system_message().content == memory.render()
    assert memory.system_message("You are Ada.").content == f"{memory.render()}\n\nYou are Ada."
    assert memory.system_message("").content == memory.render()


def test_a_prompt_keeps_its_id_its_extras_and_its_blocks(memory):
    blocks = [{"type": "text", "text": "You are Ada.", "cache_control": {"type": "ephemeral"}}]
    base = SystemMessage(blocks, id="s", additional_kwargs={"a": 1}, name="n")
    merged = memory.system_message(base)
    assert merged.content == [{"type": "text", "text": memory.render()}, *blocks]
    assert (merged.id, merged.additional_kwargs, merged.name) == ("s", {"a": 1}, "n")
    assert base.content == blocks
    assert memory.system_message(merged) is merged


@pytest.mark.parametrize("mode", ["sync", "async"])
async def test_messages_get_one_leading_system_message(memory, mode):
    async def invoke(given):
        return memory.invoke(given) if mode == "sync" else await memory.ainvoke(given)

    user = HumanMessage("hi", id="u")
    given = [SystemMessage("You are Ada.", id="s"), user]
    out = await invoke(given)
    assert [message.type for message in out] == ["system", "human"]
    assert (out[0].id, out[0].content) == ("s", f"{memory.render()}\n\nYou are Ada.")
    assert out[1] is user
    assert given[0].content == "You are Ada."
    assert validate_messages(out) == []
    assert [message.content for message in await invoke([user])] == [memory.render(), "hi"]
    assert [message.content for message in await invoke("hi")] == [memory.render(), "hi"]
    assert [message.content for message in await invoke([])] == [memory.render()]
    assert [message.content for message in await invoke([("system", "x"), ("user", "hi")])] == [
        f"{memory.render()}\n\nx",
        "hi",
    ]
    prompt = ChatPromptTemplate([("system", "You are {name}."), ("user", "hi")]).invoke({"name": "Ada"})
    assert (await invoke(prompt))[0].text.endswith("You are Ada.")


@pytest.mark.parametrize(
    "given", [None, 3, b"hi", HumanMessage("hi"), {"role": "user", "content": "hi"}, {"messages": [HumanMessage("hi")]}]
)
def test_what_is_no_prompt_is_refused(memory, given):
    with pytest.raises(TypeError, match="is no prompt: give text, a list of messages, or a prompt value"):
        memory.invoke(given)


def test_messages_that_have_the_procedures_are_left_as_they_are(memory):
    once = memory.invoke([SystemMessage("You are Ada."), HumanMessage("hi")])
    assert memory.invoke(once) is once
    alone = memory.invoke([HumanMessage("hi")])
    assert memory.invoke(alone) is alone
    # A text that merely begins alike is not them.
    other = memory.invoke([SystemMessage(memory.render() + "x"), HumanMessage("hi")])
    assert other[0].text == f"{memory.render()}\n\n{memory.render()}x"


def test_a_developer_message_leads_too(memory):
    out = memory.invoke([ChatMessage("Be brief.", role="developer"), HumanMessage("hi")])
    assert (len(out), out[0].content) == (2, f"{memory.render()}\n\nBe brief.")


def test_the_procedures_do_not_become_part_of_a_summary_that_may_go(memory):
    chat = [part for n in range(6) for part in (HumanMessage(f"never call {n}"), AIMessage("no"))]
    summarised = SummaryMemory(trigger=("messages", 4), keep=("rounds", 1)).invoke(chat)
    out = memory.invoke(summarised)
    assert out[0].content == memory.render()
    assert out[1:] == summarised
    merged = SummaryMemory(trigger=("messages", 4), keep=("rounds", 1), text=SummaryText(role="merge")).invoke(
        [SystemMessage("You are Ada."), *chat]
    )
    out = memory.invoke(merged)
    assert len(out) == len(merged)  # a model that takes only one system message gets only one
    assert out[0].text.startswith(f"{memory.render()}\n\nYou are Ada.")


def test_it_is_a_part_of_a_chain(memory):
    seen = []

    class Model(GenericFakeChatModel):
        def _generate(self, messages, *args, **kwargs):
            seen.append(messages)
            return super()._generate(messages, *args, **kwargs)

    prompt = ChatPromptTemplate([("system", "You are Ada."), ("user", "{question}")])
    chain = prompt | memory | Model(messages=itertools.cycle([AIMessage("yes")]))
    assert chain.invoke({"question": "Well?"}).text == "yes"
    assert [message.content for message in seen[0]] == [f"{memory.render()}\n\nYou are Ada.", "Well?"]
    assert memory.batch(["a", "b"])[1][1].content == "b"


def test_an_agent_gets_the_procedures_as_its_prompt_and_its_tools(memory):
    agents = pytest.importorskip("langchain.agents")
    seen, bound = [], []

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools, **_):
            bound.extend(tools)
            return self

        def _generate(self, messages, *args, **kwargs):
            seen.append(messages)
            return super()._generate(messages, *args, **kwargs)

    call = {"name": "add", "args": {"a": 2, "b": 3}, "id": "c"}
    model = Model(messages=iter([AIMessage("", tool_calls=[call]), AIMessage("5")]))
    runnable = [one for one in memory.tools if not isinstance(one, dict)]
    agent = agents.create_agent(model, runnable, system_prompt=memory.system_message("You are Ada."))
    state = agent.invoke({"messages": [HumanMessage("2 + 3?")]})
    assert state["messages"][-1].text == "5"
    assert [messages[0].content for messages in seen] == [f"{memory.render()}\n\nYou are Ada."] * 2
    assert seen[1][-1].content == "5"
    assert {one.name for one in bound} == {"add"}


def test_it_may_be_pickled(memory):
    memory = ProceduralMemory(system="a", tools=[WEATHER])
    other = pickle.loads(pickle.dumps(memory))  # noqa: S301  # our own object
    assert (other.render(), other.fingerprint, other.tools) == (memory.render(), memory.fingerprint, memory.tools)


# --- contradictions ---------------------------------------------------------------------------------------------------


def test_two_procedures_of_one_name_and_other_words_name_both_origins():
    with pytest.raises(
        ProcedureError, match=r"two of 'refund': workflows\[0\] and workflows\[1\].*line 2: 'b' and 'c'"
    ):
        ProceduralMemory(workflows=[Procedure("refund", "workflow", "a\nb"), Procedure("refund", "workflow", "a\nc")])
    with pytest.raises(ProcedureError, match=r"goes on after line 1"):
        ProceduralMemory(workflows=[Procedure("refund", "workflow", "a\nb"), Procedure("refund", "workflow", "a")])
    with pytest.raises(ProcedureError, match=r"one is a system, the other a workflow"):
        ProceduralMemory(system={"refund": "a"}, workflows={"refund": "a"})
    with pytest.raises(ProcedureError, match=r"one is a workflow, the other a tool"):
        ProceduralMemory(workflows={"get_weather": "a"}, tools=[WEATHER])
    with pytest.raises(ProcedureError, match=r"version '1', the other '2'"):
        ProceduralMemory(system=[Procedure("a", "system", "x", "1"), Procedure("a", "system", "x", "2")])


def test_duplicates_that_say_the_same_are_one():
    memory = ProceduralMemory(system=[Procedure("a", "system", "x\r\n"), Procedure("a", "system", "x", "3")])
    assert memory.versions == {"a": "3"}
    assert memory.render() == "x"
    memory = ProceduralMemory(tools=[WEATHER, IN_ANTHROPICS_FORM, {**WEATHER, "version": "7"}])
    assert memory.versions == {"get_weather": "7"}
    assert len(memory.tools) == 1


def test_contradictory_descriptions_of_one_tool_are_an_error():
    other = {**IN_ANTHROPICS_FORM, "description": "Weather of a country."}
    words = r"contradictory descriptions of the tool 'get_weather': tools\[0\] and tools\[1\] .*city\.?.*country"
    with pytest.raises(ProcedureError, match=words):
        ProceduralMemory(tools=[WEATHER, other])
    other = {**IN_ANTHROPICS_FORM, "input_schema": {"type": "object", "properties": {"city": {"type": "integer"}}}}
    with pytest.raises(ProcedureError, match=r"contradictory.*tools\[0\] and tools\[1\]"):
        ProceduralMemory(tools=[other, WEATHER])


def test_a_tool_that_runs_is_preferred_to_its_schema():
    schema = json.loads(ProceduralMemory(tools=[add]).procedures[0].text)
    for tools in ([add, schema], [schema, add]):
        assert ProceduralMemory(tools=tools).tools == [add]


def test_two_tools_that_run_are_not_one_because_their_schemas_are_equal():
    twin = add.model_copy()
    with pytest.raises(ProcedureError, match="two tools that run on their own"):
        ProceduralMemory(tools=[add, twin])
    assert ProceduralMemory(tools=[add, add]).tools == [add]


def test_the_tools_do_not_depend_on_the_order_of_loading():
    loads = itertools.permutations([WEATHER, IN_ANTHROPICS_FORM, add])
    assert len({repr(ProceduralMemory(tools=tools).tools) for tools in loads}) == 1


def test_a_caller_cannot_change_what_is_held(memory):
    memory.tools[1]["function"]["description"] = "changed"
    assert memory.tools[1] == WEATHER
    texts, schema = {"a": "x"}, copy.deepcopy(WEATHER)
    held = ProceduralMemory(workflows=texts, tools=[schema])
    texts["b"] = schema["function"]["description"] = "changed"
    assert held.render() == '<workflow name="a">\nx\n</workflow>'
    assert held.tools == [WEATHER]


def nested(depth):
    schema = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"system": "a\0b"}, r"system: line 1 holds a NUL"),
        ({"workflows": ["x", "a\n\ud800"]}, r"workflows\[1\]: line 2 holds a lone surrogate"),
        ({"workflows": {"a": " \n\t"}}, r"workflows\['a'\]: 'a' holds no text"),
        ({"system": [5]}, r"system\[0\]: the text of 'system-1' is a int"),
        ({"workflows": {"": "x"}}, r"name='' cannot be used"),
        ({"workflows": {'a"b': "x"}}, r"without quotes"),
        ({"workflows": {"a\nb": "x"}}, r"printable characters on one line"),
        ({"workflows": [Procedure("a", "system", "x")]}, r"'a' is a system, not a workflow"),
        ({"tools": "get_weather"}, r"tools are a list, got str"),
        ({"tools": WEATHER}, r"tools are a list, got dict"),
        ({"tools": [5]}, r"tools\[0\]: 5 is no tool"),
        ({"tools": [{"description": "x"}]}, r"tools\[0\]: .* is no tool"),
        ({"tools": [{"name": "a", "parameters": {"x": object()}}]}, r"tools\[0\]: the schema of the tool 'a'"),
        ({"tools": [{"name": "a", "description": "\ud800"}]}, r"tools\[0\]: .*lone surrogate"),
        (
            {"tools": [{"name": "a", "parameters": {"maximum": float("inf")}}]},
            r"tools\[0\]: the schema of the tool 'a'",
        ),
        ({"tools": [{"name": "a", "parameters": nested(2_000)}]}, r"tools\[0\]: the schema is nested too deep"),
        ({"system": None}, r"system=None is no text: give text, several texts"),
        ({"workflows": b"x"}, r"workflows=b'x' is no text"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(arguments, words):
    with pytest.raises(ProcedureError, match=words) as caught:
        ProceduralMemory(**arguments)
    assert isinstance(caught.value, TieredMemoryError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("version", ["a\nb", " ", 1.5, True])
def test_a_version_is_one_line_of_text(version):
    with pytest.raises(ProcedureError, match="version="):
        Procedure("a", "system", "x", version)
    with pytest.raises(ProcedureError, match="kind="):
        Procedure("a", "rule", "x")


# --- releases ---------------------------------------------------------------------------------------------------------


def test_a_version_follows_from_the_text_unless_it_is_given():
    one, two = Procedure("a", "system", "x"), Procedure("a", "system", "y")
    assert one.version == one.digest != two.version
    assert len(one.version) == 12
    given = Procedure("a", "system", "x", 3)
    assert (given.version, given.is_versioned, one.is_versioned) == ("3", True, False)


def test_releases_are_compared_by_name():
    before = ProceduralMemory(
        system=[Procedure("rules", "system", "GET only.\nBe brief.", "1"), Procedure("same", "system", "x")],
        workflows={"old": "Call."},
    )
    after = ProceduralMemory(
        system=[Procedure("rules", "system", "GET and HEAD only.\nBe brief.", "1"), Procedure("same", "system", "x")],
        tools=[WEATHER],
    )
    added, gone, changed = after.diff(before)
    assert (added.name, added.before, gone.name, gone.after) == ("get_weather", None, "old", None)
    assert (changed.name, changed.reuses_version) == ("rules", True)
    assert str(changed) == (
        "--- system rules 1\n+++ system rules 1\n@@ -1,2 +1,2 @@\n-GET only.\n+GET and HEAD only.\n Be brief."
    )
    assert '+    "description": "Weather of a city.",' in str(added)
    assert str(gone).splitlines()[-1] == "-Call."
    assert after.diff(after) == []
    assert before.fingerprint != after.fingerprint
    assert not Procedure("a", "system", "x").is_versioned


def test_the_fingerprint_covers_names_kinds_texts_and_versions():
    base = {"name": "a", "text": "x", "version": "1"}
    others = [base, base | {"name": "b"}, base | {"text": "y"}, base | {"version": "2"}]
    prints = [ProceduralMemory(system=[Procedure(kind="system", **other)]).fingerprint for other in others]
    prints.append(ProceduralMemory(workflows=[Procedure(kind="workflow", **base)]).fingerprint)
    assert len(set(prints)) == 5
    assert all(len(one) == 64 for one in prints)


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_tokens_are_those_of_the_system_message_and_of_the_tools_as_they_are_charged(memory):
    counter = EstimatingCounter()
    text = counter.count_message(memory.system_message())
    assert memory.tokens(counter) == text + counter.count_tools(memory.tools)
    assert ProceduralMemory(tools=[WEATHER]).tokens(counter) == counter.count_tools([WEATHER]) > 0


def test_a_counter_that_sees_whole_requests_is_asked_for_whole_requests(memory):
    asked = []

    def count(messages, tools=()):
        asked.append((len(messages), len(tools)))
        return 100 * len(messages) + 10 * len(tools)

    counter = ListCounter(count, EstimatingCounter(), takes_tools=True)
    assert memory.tokens(counter) == 120
    assert ProceduralMemory(tools=[WEATHER]).tokens(counter) == 10


def test_schemas_written_as_text_are_not_charged_twice():
    counter = EstimatingCounter()
    memory = ProceduralMemory(system="x", tools=[WEATHER], tools_as_text=True)
    assert memory.render().startswith('x\n\n<tool name="get_weather">\n{"function": ')
    assert memory.tokens(counter) == counter.count_message(memory.system_message())
    assert memory.tools == [WEATHER]


def test_too_much_is_an_error_with_the_arithmetic_and_never_cut(memory):
    counter = EstimatingCounter()
    needed = memory.tokens(counter)
    text = counter.count_message(memory.system_message())
    assert memory.check_budget(needed, counter) == needed
    with pytest.raises(BudgetExceededError) as caught:
        memory.check_budget(needed - 1, counter)
    said = str(caught.value)
    assert (caught.value.needed, caught.value.limit, caught.value.over) == (needed, needed - 1, 1)
    assert f"take {needed} tokens ({text} for their text + {needed - text} for 2 tool schemas), 1 more than" in said
    assert said.endswith("the largest: tool 'add' 46, tool 'get_weather' 39, workflow 'refund' 15")
    assert memory.tokens(counter) == needed
    with pytest.raises(BudgetExceededError):
        ProceduralMemory(system="x " * 1_000, max_tokens=100, token_counter=counter)
    assert ProceduralMemory(system="x", max_tokens=100, token_counter=counter).render() == "x"


@pytest.mark.parametrize("limit", [-1, 1.5, True, "5", None])
def test_a_limit_that_is_none_is_refused(memory, limit):
    with pytest.raises(ValueError, match="is no budget"):
        memory.check_budget(limit)


def test_it_says_what_it_holds(memory):
    assert repr(memory) == f"ProceduralMemory(system=1, workflow=2, tool=2, fingerprint={memory.fingerprint[:12]!r})"
