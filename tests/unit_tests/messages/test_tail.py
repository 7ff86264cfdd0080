"""A conversation trimmed again and again gives what trimming it once gives."""

from __future__ import annotations

import gc
import random
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import BudgetExceededError, EstimatingCounter, ProtocolError, trim_messages


def grow(messages: list[BaseMessage], chance: random.Random, *, wild: bool) -> None:
    kind = chance.random()
    number = len(messages)
    if kind < 0.4:
        messages.append(HumanMessage("w " * chance.randint(0, 12)))
    elif kind < 0.7:
        messages.append(AIMessage("a " * chance.randint(0, 12)))
    elif kind < 0.95:
        ids = [f"c{number}-{index}" for index in range(chance.randint(1, 3))]
        calls = [{"name": "look", "args": {"q": "y " * chance.randint(0, 3)}, "id": call_id} for call_id in ids]
        messages.append(AIMessage("", tool_calls=calls))
        chance.shuffle(ids)
        answered = ids[1:] if wild and chance.random() < 0.3 else ids
        messages.extend(ToolMessage("r " * chance.randint(0, 9), tool_call_id=call_id) for call_id in answered)
    elif wild:
        messages.append(chance.choice([SystemMessage("mid"), ToolMessage("stray", tool_call_id="nobody")]))


def change_in_place(message: BaseMessage, chance: random.Random) -> None:
    if isinstance(message, AIMessage) and message.tool_calls:
        message.tool_calls[0]["args"]["q"] = "z " * chance.randint(0, 9)
    elif isinstance(message, AIMessage) and chance.random() < 0.2:
        message.tool_calls.append({"name": "new", "args": {}, "id": f"n{id(message)}", "type": "tool_call"})
    else:
        message.content = "changed " * chance.randint(0, 5)


def outcome(messages: list[BaseMessage], **options: Any) -> list[BaseMessage] | str:
    try:
        return trim_messages(list(messages), **options)
    except (BudgetExceededError, ProtocolError) as error:
        return str(error)


@pytest.mark.parametrize("seed", range(12))
def test_a_growing_conversation_gives_what_a_fresh_counter_gives(seed: int) -> None:
    chance = random.Random(seed)
    counter = EstimatingCounter()
    messages: list[BaseMessage] = [SystemMessage("be brief")] if seed % 2 else []
    options: dict[str, Any] = {"include_system": seed % 3 != 0, "max_tokens": chance.randint(20, 200)}
    if seed % 5 == 0:
        options |= {"start_on": "human", "end_on": ("human", "tool")}
    for _ in range(80):
        grow(messages, chance, wild=seed % 4 == 0)
        if messages and chance.random() < 0.05:
            change_in_place(chance.choice(messages), chance)
        if chance.random() < 0.1:
            options["max_tokens"] = chance.randint(20, 200)
        if messages:
            again = outcome(messages, token_counter=counter, **options)
            assert again == outcome(messages, token_counter=EstimatingCounter(), **options)


def rounds(count: int, words: int = 10) -> list[BaseMessage]:
    return [
        message
        for index in range(count)
        for message in (HumanMessage(f"q{index} " + "w " * words), AIMessage(f"a{index} " + "w " * words))
    ]


def calls_of_package(run: Callable[[], Any]) -> int:
    calls = 0

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        calls += event == "call" and ".messages." in frame.f_globals["__name__"]

    sys.setprofile(see)
    try:
        run()
    finally:
        sys.setprofile(None)
    return calls


def test_a_trim_of_a_conversation_that_was_trimmed_before_takes_few_calls() -> None:
    counter = EstimatingCounter()
    messages = rounds(300)
    options: dict[str, Any] = {"max_tokens": 2_000, "token_counter": counter, "start_on": "human"}
    walked = calls_of_package(lambda: trim_messages(messages, **options))
    for message in rounds(30):
        messages.append(message)
        trim_messages(messages, **options)
    assert calls_of_package(lambda: trim_messages(messages, **options)) <= 60 < walked


def test_nothing_of_a_conversation_outlives_it() -> None:
    counter = EstimatingCounter()
    messages: list[BaseMessage] = rounds(100)
    trim_messages(messages, max_tokens=200, token_counter=counter)
    newest = weakref.ref(messages[-1])
    del messages
    gc.collect()
    assert newest() is None


@pytest.mark.parametrize(
    "change",
    [
        lambda message: setattr(message, "content", "much longer than it was " * 9),
        lambda message: setattr(message, "name", "somebody"),
        lambda message: message.additional_kwargs.update(
            tool_calls=[{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
        ),
        lambda message: message.tool_calls.append({"name": "f", "args": {}, "id": "c", "type": "tool_call"}),
    ],
)
def test_a_message_that_was_changed_in_place_is_looked_at_again(change: Callable[[BaseMessage], None]) -> None:
    counter = EstimatingCounter()
    messages = rounds(100)
    options: dict[str, Any] = {"max_tokens": 200}
    before = trim_messages(messages, token_counter=counter, **options)
    change(before[-3])
    messages.append(HumanMessage("next"))
    again = trim_messages(messages, token_counter=counter, **options)
    assert again == trim_messages(messages, token_counter=EstimatingCounter(), **options)
