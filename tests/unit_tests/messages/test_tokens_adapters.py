"""Whatever langchain-core takes as `token_counter` becomes a counter, and nothing else does."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.messages.utils import count_tokens_approximately, trim_messages
from langchain_core.runnables import RunnableBinding

from langchain_tiered_memory.messages.tokens import (
    EstimatingCounter,
    ListCounter,
    MessageFunctionCounter,
    as_counter,
    count_tokens,
    default_counter,
)
from langchain_tiered_memory.types import TokenCounter

MESSAGES = [
    SystemMessage("Be brief."),
    HumanMessage("How far is the moon?", name="ada"),
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"what": "moon"}, "id": "1"}]),
    ToolMessage("384,400 km", tool_call_id="1"),
]


# This module's annotations are postponed, as those of the report langchain-ai/langchain#35629 are.
def per_message(message: BaseMessage) -> int:
    return len(str(message.content))


def per_list(messages: list[BaseMessage]) -> int:
    return sum(len(str(message.content)) for message in messages)


def checkers_only(message: BaseMessage, extra: NotThereAtAll = 3) -> int:  # noqa: F821 - an import for checkers only
    assert isinstance(message, BaseMessage)
    return extra


class Callable:
    def __call__(self, message: BaseMessage) -> int:
        return 4 * isinstance(message, BaseMessage)

    def method(self, message: BaseMessage) -> int:
        return 5 * isinstance(message, BaseMessage)


def with_option(message: BaseMessage, factor: int) -> int:
    return factor * isinstance(message, BaseMessage)


def of_union(message: HumanMessage | AIMessage | None) -> int:
    return 7 * isinstance(message, BaseMessage)


def of_any_message(message: AnyMessage) -> int:
    return 8 * isinstance(message, BaseMessage)


def unannotated(messages):
    return 10 * len(messages)


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (per_message, sum(len(str(message.content)) for message in MESSAGES)),
        (checkers_only, 12),
        (Callable(), 16),
        (Callable().method, 20),
        (functools.partial(with_option, factor=6), 24),
        (of_union, 28),
        (of_any_message, 32),
    ],
    ids=["function", "unresolved annotation", "object", "method", "partial", "union", "AnyMessage"],
)
def test_a_function_of_one_message_gets_one_message(function, expected):
    counter = as_counter(function)
    assert isinstance(counter, TokenCounter)
    assert isinstance(counter, MessageFunctionCounter)
    assert counter(MESSAGES) == expected
    assert counter.request_overhead == 0
    assert sum(map(counter.count_message, MESSAGES)) == expected
    assert counter.count_text("hello there") == EstimatingCounter().count_text("hello there")


@pytest.mark.parametrize(
    ("function", "expected"), [(per_list, 39), (unannotated, 40), (lambda messages: messages.index(MESSAGES[-1]), 3)]
)
def test_a_function_of_a_list_stays_one(function, expected):
    counter = as_counter(function)
    assert isinstance(counter, ListCounter)
    assert not isinstance(counter, TokenCounter)
    assert counter.count(MESSAGES) == expected
    assert counter(MESSAGES) == expected


def returning_minus_five(message: BaseMessage) -> int:
    return -5 * isinstance(message, BaseMessage)


@pytest.mark.parametrize(
    "function",
    [returning_minus_five, lambda _: -5, lambda _: 2.5, lambda _: "7", lambda _: None, lambda _: True],
    ids=["message, -5", "list, -5", "a float", "a str", "None", "a bool"],
)
def test_what_is_no_count_is_an_error_that_says_what_came(function):
    counter = as_counter(function)
    with pytest.raises(ValueError, match=r"token_counter .* returned .*: a count is an int from 0 up"):
        counter(MESSAGES[:1])


def test_len_counts_messages():
    counter = as_counter(len)
    assert isinstance(counter, TokenCounter)
    assert counter(MESSAGES) == 4
    assert counter.request_overhead == 0
    assert counter.count_tools([{"type": "web_search"}]) == 0


@pytest.mark.parametrize("given", ["approximate", count_tokens_approximately], ids=["shortcut", "function"])
def test_the_approximation_is_langchains_and_adds_up(given):
    counter = as_counter(given)
    assert isinstance(counter, TokenCounter)
    assert counter(MESSAGES) == count_tokens_approximately(MESSAGES)


@pytest.mark.parametrize("wrong", ["gpt-4o", "", {}, 7, object()], ids=["name", "empty", "dict", "number", "object"])
def test_anything_else_fails_in_langchains_own_words(wrong):
    with pytest.raises(ValueError) as ours:  # noqa: PT011 - the words are compared below
        as_counter(wrong)
    with pytest.raises(ValueError) as theirs:  # noqa: PT011 - the words are compared below
        trim_messages(MESSAGES, max_tokens=10, token_counter=wrong)
    assert str(ours.value).split() == str(theirs.value).split()


def test_counters_pass_and_none_is_the_default():
    counter = EstimatingCounter()
    assert as_counter(counter) is counter
    assert as_counter() is default_counter()
    wrapped = as_counter(unannotated)
    assert as_counter(wrapped) is wrapped


class RecordingModel(FakeListChatModel):
    """A model that counts tools too, and remembers what it was asked."""

    asked: list[Any] = []  # noqa: RUF012 - a pydantic field

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Any = None) -> int:
        self.asked.append((list(messages), tools))
        return 100 * len(messages) + 7 * len(tools or ())


TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look it up", "parameters": {}}}


def test_tools_bound_to_a_model_are_counted_with_it():
    # langchain-ai/langchain#29637: the bound tools were lost on the way to the provider's own count.
    model = RecordingModel(responses=["x"])
    bound = RunnableBinding(bound=RunnableBinding(bound=model, kwargs={"tools": [TOOL]}), kwargs={})
    counter = as_counter(bound)
    assert isinstance(counter, ListCounter)
    assert counter.count(MESSAGES) == 407
    assert model.asked == [(MESSAGES, [TOOL])]
    assert count_tokens(MESSAGES, model, tools=[TOOL, TOOL]) == 414
    assert count_tokens(MESSAGES, model) == 400


def test_tools_are_estimated_where_a_model_would_ignore_them():
    class Plain(FakeListChatModel):
        def get_num_tokens(self, text: str) -> int:
            return len(text)

    model = Plain(responses=["x"])
    bare = count_tokens(MESSAGES, model)
    assert bare == model.get_num_tokens_from_messages(MESSAGES)
    assert count_tokens(MESSAGES, model, tools=[TOOL]) == bare + EstimatingCounter().count_tools([TOOL])


@pytest.mark.needs_vocabulary
def test_an_openai_model_counts_and_its_ignored_tools_are_estimated():
    openai = pytest.importorskip("langchain_openai")
    model = openai.ChatOpenAI(model="gpt-4o", api_key="not-used")
    counter = as_counter(model.bind_tools([TOOL]))
    expected = model.get_num_tokens_from_messages(MESSAGES)
    assert counter.count(MESSAGES) == expected + counter.count_tools([TOOL])


def test_the_default_counts_a_request_with_its_tools():
    assert count_tokens(MESSAGES) == default_counter()(MESSAGES)
    assert count_tokens(MESSAGES, tools=[TOOL]) == default_counter()(MESSAGES) + default_counter().count_tools([TOOL])
    assert count_tokens([]) == 3
