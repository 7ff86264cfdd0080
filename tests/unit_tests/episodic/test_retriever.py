from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.events import EpisodesRecalled, MemoryCallbackHandler
from langchain_tiered_memory.types import MemoryScope
from support import services
from support.episodes import Clock, WordEmbeddings, contents, somebody


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    uri = services.milvus_lite_uri(tmp_path_factory.mktemp("milvus"))
    with EpisodicMemory(uri, WordEmbeddings(), clock=Clock()) as memory:
        yield memory


@pytest.fixture
def ada():
    return somebody()


def run_of(scope, **others):
    return {"configurable": {"user_id": scope.user, **others}}


@pytest.fixture(params=["sync", "async"])
def invoke(request):
    async def invoke(runnable, *args, **kwargs):
        if request.param == "sync":
            return runnable.invoke(*args, **kwargs)
        return await runnable.ainvoke(*args, **kwargs)

    return invoke


class TestStandard(RetrieversIntegrationTests):
    """LangChain's own suite for retrievers."""

    @pytest.fixture(autouse=True)
    def _filled(self, memory):
        self.memory = memory
        self.memory.remember([f"Turin in the year {n}" for n in range(1900, 1906)], scope=MemoryScope("standard"))

    @property
    def retriever_constructor(self):
        return EpisodicRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": self.memory, "scope": MemoryScope("standard")}

    @property
    def retriever_query_example(self):
        return "What happened in Turin?"


# --- whose memory ---------------------------------------------------------------------------------------------------


async def test_the_run_names_the_user(memory, invoke, ada):
    memory.remember("I am allergic to nuts.", scope=ada)
    retriever = memory.as_retriever()
    assert contents(await invoke(retriever, "What am I allergic to?", run_of(ada))) == ["I am allergic to nuts."]
    assert await invoke(retriever, "What am I allergic to?", run_of(somebody())) == []
    assert await invoke(retriever, "What am I allergic to?", run_of(ada, tenant_id="other")) == []


async def test_one_retriever_serves_users_in_turn_and_keeps_none_of_them(memory, invoke):
    users = [somebody() for _ in range(3)]
    for user in users:
        memory.remember(f"tea for {user.user}", scope=user)
    retriever = memory.as_retriever()
    for user in [*users, *users]:
        assert contents(await invoke(retriever, "tea", run_of(user))) == [f"tea for {user.user}"]
    assert retriever.scope is None


@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}, {"configurable": {"user_id": " "}}])
async def test_without_a_user_nothing_is_read(memory, invoke, config):
    with pytest.raises(ScopeError):
        await invoke(memory.as_retriever(), "tea", config)


async def test_a_run_about_another_user_than_the_retrievers_is_refused(memory, invoke, ada):
    retriever = memory.as_retriever(scope=ada)
    assert await invoke(retriever, "tea", run_of(ada)) == []
    for config in (run_of(somebody()), run_of(ada, tenant_id="other")):
        with pytest.raises(ScopeError, match="the run is about"):
            await invoke(retriever, "tea", config)


async def test_a_session_of_the_run_restricts_only_who_asks_for_it(memory, invoke, ada):
    for session in ("1", "2"):
        memory.remember(f"tea in session {session}", scope=MemoryScope(ada.user, session=session))
    config = run_of(ada, session_id="1")
    assert len(await invoke(memory.as_retriever(), "tea", config)) == 2
    assert contents(await invoke(memory.as_retriever(this_session=True), "tea", config)) == ["tea in session 1"]


@pytest.mark.parametrize(
    "wrong",
    [{"include_expired": "no"}, {"explain": 5}, {"min_score": 1.5}, {"k": 0}, {"k": True}, {"kk": 3}, {"memory": "x"}],
)
def test_a_setting_that_makes_no_sense_is_refused_when_the_retriever_is_made(memory, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EpisodicRetriever(**{"memory": memory, **wrong})


# --- settings -------------------------------------------------------------------------------------------------------


async def test_settings_are_the_retrievers_or_the_calls(memory, invoke, ada):
    for n in range(4):
        memory.remember(f"tea number {n}", scope=ada, metadata={"n": n})
    retriever = memory.as_retriever(k=3, scope=ada, filter=[("n", ">", 0)], explain=True)
    found = await invoke(retriever, "tea")
    assert {document.metadata["n"] for document in found} == {1, 2, 3}
    assert all("explain" in document.metadata for document in found)
    assert len(await invoke(retriever, "tea", k=1)) == 1
    assert len(await invoke(retriever, "tea", filter={"n": 0})) == 1
    assert retriever.k == 3


async def test_settings_of_time_are_handed_on(memory, invoke, ada):
    memory.remember("an old tea", scope=ada, created_at=0, valid_until=10)
    assert await invoke(memory.as_retriever(scope=ada), "tea") == []
    assert len(await invoke(memory.as_retriever(scope=ada, as_of=5), "tea")) == 1
    assert len(await invoke(memory.as_retriever(scope=ada, include_expired=True), "tea")) == 1
    assert await invoke(memory.as_retriever(scope=ada, include_expired=True, max_age=60), "tea") == []


def test_a_setting_that_does_not_exist_is_refused(memory):
    with pytest.raises(ValueError, match="kk"):
        memory.as_retriever(kk=3)
    with pytest.raises(TypeError, match="kk"):
        memory.as_retriever(scope=somebody()).invoke("tea", kk=3)


# --- in chains ------------------------------------------------------------------------------------------------------


async def test_it_composes_with_prompts_and_models(memory, invoke, ada):
    memory.remember("My cat is called Miu.", scope=ada)
    prompt = ChatPromptTemplate.from_template("Known:\n{memory}\nQuestion: {question}")
    echo = RunnableLambda(lambda value: AIMessage(value.to_messages()[0].content))
    chain = {"memory": memory.as_loader(k=1), "question": RunnablePassthrough()} | prompt | echo | StrOutputParser()
    text = await invoke(chain, "How is my cat called?", run_of(ada))
    assert "<recalled_episodes>" in text
    assert "My cat is called Miu." in text
    assert text.endswith("Question: How is my cat called?")
    plain = {"memory": memory.as_retriever(k=1), "question": RunnablePassthrough()} | prompt | echo
    assert "Miu" in (await invoke(plain, "How is my cat called?", run_of(ada))).text


async def test_callbacks_of_a_run_learn_of_the_recall(memory, invoke, ada):
    memory.remember("tea", scope=ada)
    seen = MemoryCallbackHandler()
    await invoke(memory.as_retriever(), "tea", {**run_of(ada), "callbacks": [seen]})
    assert [type(event) for event in seen.events] == [EpisodesRecalled]


async def test_rounds_are_saved_and_loaded_again(memory, invoke, ada):
    save, load = memory.as_saver(), memory.as_loader(k=1)
    round_ = {"input": "My favourite sport is fencing", "output": "Touché!", "other": 1}
    assert await invoke(save, round_, run_of(ada, session_id="s")) == round_
    text = await invoke(load, "Which sport do I like?", run_of(ada, session_id="t"))
    assert "- Human: My favourite sport is fencing\n  AI: Touché!" in text
    assert await invoke(load, {"input": "Which sport do I like?"}, run_of(ada)) == text
    assert await invoke(load, [HumanMessage("Which sport do I like?")], run_of(ada)) == text
    assert await invoke(load, "sport", run_of(somebody())) == ""
    (episode,) = memory.export(ada)
    assert episode.scope.session == "s"


async def test_rounds_are_saved_from_messages_and_under_other_keys(memory, invoke, ada):
    save = memory.as_saver(scope=ada, input_key="messages", output_key="answer")
    asked = [HumanMessage("first"), AIMessage("1"), HumanMessage("second")]
    await invoke(save, {"messages": asked, "answer": AIMessage("2")})
    assert [episode.content for episode in memory.export(ada)] == ["Human: second\nAI: 2"]


async def test_what_is_no_round_is_refused(memory, invoke, ada):
    with pytest.raises(ValueError, match="'output' is missing"):
        await invoke(memory.as_saver(scope=ada), {"input": "x"})
    with pytest.raises(TypeError, match="a dict with 'input' and 'output'"):
        await invoke(memory.as_saver(scope=ada), "x")
    with pytest.raises(ScopeError):
        await invoke(memory.as_saver(), {"input": "x", "output": "y"})


async def test_what_was_recalled_into_a_question_is_not_saved_again(memory, invoke, ada):
    memory.remember("the cellar key hangs behind the clock", scope=ada)
    recalled = await invoke(memory.as_loader(scope=ada), "Where is the cellar key?")
    await invoke(memory.as_saver(scope=ada), {"input": f"{recalled}\nAnd the attic?", "output": "Unknown."})
    assert sorted(episode.content for episode in memory.export(ada)) == [
        "Human: \nAnd the attic?\nAI: Unknown.",
        "the cellar key hangs behind the clock",
    ]


@pytest.mark.parametrize("nothing", [None, []])
def test_a_round_in_which_nobody_says_anything_is_refused(memory, ada, nothing):
    with pytest.raises(ValueError, match="somebody's words"):
        memory.as_saver(scope=ada).invoke({"input": nothing, "output": "Yes."})
    assert memory.count(ada) == 0


def test_a_message_may_be_a_dict_with_its_role(memory, ada):
    said = {"input": [{"role": "user", "content": "I own a boat"}], "output": {"role": "assistant", "content": "Nice."}}
    memory.as_saver(scope=ada).invoke(said)
    assert [episode.content for episode in memory.export(ada)] == ["Human: I own a boat\nAI: Nice."]
