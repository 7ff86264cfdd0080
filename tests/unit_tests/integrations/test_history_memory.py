"""The whole memory inside RunnableWithMessageHistory: the assembler keeps a question first, the history the rest."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory

from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import MemoryScope

pytestmark = pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")

ADA = MemoryScope("ada")
ADAS = {"configurable": {"session_id": "s1", "user_id": "ada"}}
KEYS = {"input_messages_key": "question", "history_messages_key": "history"}


@pytest.fixture
def memory(tmp_path):
    with TieredMemory(tmp_path, max_tokens=2_000, embeddings=None, token_counter=EstimatingCounter()) as memory:
        yield memory


def chat_of(memory, model, *, keys=True, history=None):
    def session(session_id):
        return history or memory.history(session_id, "ada")

    return RunnableWithMessageHistory(memory.assembler() | model, session, **(KEYS if keys else {}))


def numbered(count=50):
    return FakeListChatModel(responses=[f"answer {number}" for number in range(count)])


def said(memory):
    return [message.text for message in memory.transcript("s1", ADA)]


async def _read(stream):
    async for _ in stream:
        pass


@pytest.mark.parametrize("keys", [True, False], ids=["dict", "list"])
def test_each_question_is_kept_once_in_every_mode(memory, keys):
    chat = chat_of(memory, numbered(), keys=keys)

    def asked(question):
        return {"question": question} if keys else [HumanMessage(question)]

    chat.invoke(asked("one"), ADAS)
    asyncio.run(chat.ainvoke(asked("two"), ADAS))
    list(chat.stream(asked("three"), ADAS))
    asyncio.run(_read(chat.astream(asked("four"), ADAS)))
    chat.batch([asked("four")], [ADAS])  # the same question again is another message
    questions = ["one", "two", "three", "four", "four"]
    assert said(memory) == [text for n, question in enumerate(questions) for text in (question, f"answer {n}")]
    assert memory.episodes.count(ADA) == 5


def test_concurrent_runs_that_share_a_history_keep_each_question_and_answer_once(memory):
    chat = chat_of(memory, RunnableLambda(lambda messages: AIMessage("re " + messages[-1].text)), history=None)
    shared = chat_of(
        memory, RunnableLambda(lambda m: AIMessage("re " + m[-1].text)), history=memory.history("s1", "ada")
    )
    for runs in (chat, shared):
        questions = [{"question": f"{len(said(memory))}/{number}"} for number in range(8)]

        async def ask(runs=runs, questions=questions):
            await asyncio.gather(*[runs.ainvoke(question, ADAS) for question in questions])

        asyncio.run(ask())
    assert sorted(said(memory)) == sorted(f"{re}{n}/{k}" for re in ("", "re ") for n in (0, 16) for k in range(8))


def test_a_model_that_gives_out_one_object_has_answered_each_time(memory):
    chat = chat_of(memory, GenericFakeChatModel(messages=iter([AIMessage("Yes.", id="same")] * 3)))
    for question in ("one", "two", "three"):
        chat.invoke({"question": question}, ADAS)
    assert said(memory) == ["one", "Yes.", "two", "Yes.", "three", "Yes."]


def test_a_question_whose_model_failed_is_kept_and_asked_again_once_more(memory):
    def fail(_):
        raise RuntimeError

    history = memory.history("s1", "ada")
    with pytest.raises(RuntimeError):
        chat_of(memory, RunnableLambda(fail), history=history).invoke({"question": "one"}, ADAS)
    assert said(memory) == ["one"]
    chat_of(memory, numbered(), history=history).invoke({"question": "one"}, ADAS)
    assert said(memory) == ["one", "one", "answer 0"]
    assert [question.text for question in memory.unanswered("s1", ADA)] == ["one"]


def test_a_chain_that_keeps_its_answer_too_keeps_it_once(memory):
    chat = chat_of(memory, numbered() | memory.remember_round())
    for question in ("one", "one"):
        chat.invoke({"question": question}, ADAS)
    list(chat.stream({"question": "two"}, ADAS))
    assert said(memory) == ["one", "answer 0", "one", "answer 1", "two", "answer 2"]
