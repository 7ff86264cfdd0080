from __future__ import annotations

import json
import math
from typing import ClassVar

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from langchain_tiered_memory.working.serialization import decode_message, encode_message, nearest_class, whole_message
from support import message_samples as samples


class Report(BaseModel):
    figures: list[int]


class Greeting(HumanMessage):
    """A message class of somebody else."""

    language: str = "en"
    politeness: int = 0


class MyAnswer(AIMessageChunk):
    """A chunk class of somebody else, as some integrations have them."""

    type: ClassVar[str] = "mine"  # type: ignore[misc]
    score: float = 0.5


@pytest.mark.parametrize("message", samples.WHOLE.values(), ids=samples.WHOLE)
def test_a_message_of_any_class_comes_back_exactly(message):
    back = decode_message(encode_message(message))
    assert back == message
    assert type(back) is type(message)
    assert repr(back) == repr(message)
    assert back.model_dump(exclude_unset=True) == message.model_dump(exclude_unset=True)
    assert back.model_extra == message.model_extra


@pytest.mark.parametrize("artifact", samples.ARTIFACTS.values(), ids=samples.ARTIFACTS)
def test_an_artifact_of_plain_data_comes_back_exactly(artifact):
    back = decode_message(encode_message(ToolMessage("x", tool_call_id="c", artifact=artifact))).artifact
    assert back == artifact
    if artifact != "red":
        assert type(back) is type(artifact)


def test_numbers_that_are_not_finite_come_back():
    back = decode_message(encode_message(ToolMessage("x", tool_call_id="c", artifact=samples.NOT_FINITE))).artifact
    assert math.isnan(back[0])
    assert back[1:] == [math.inf, -math.inf]


@given(samples.messages)
def test_any_message_comes_back_exactly_and_its_text_is_valid_unicode(message):
    text = encode_message(message)
    assert "\0" not in text
    assert text.encode().decode() == text
    assert repr(decode_message(text)) == repr(message)


@pytest.mark.parametrize(("chunk", "whole"), samples.CHUNKS.values(), ids=samples.CHUNKS)
def test_a_chunk_is_read_back_as_the_whole_message(chunk, whole):
    back = decode_message(encode_message(chunk))
    assert back == whole == whole_message(chunk)
    assert type(back) is type(whole) is type(whole_message(chunk))


def test_a_whole_message_is_whole_already():
    message = HumanMessage("x")
    assert whole_message(message) is message


def test_a_subclass_is_read_back_as_the_nearest_class_with_its_fields_as_extras():
    back = decode_message(encode_message(Greeting("Hello", politeness=2, id="g")))
    assert type(back) is HumanMessage
    assert (back.content, back.id) == ("Hello", "g")
    assert back.model_extra == {"language": "en", "politeness": 2}
    answer = decode_message(encode_message(MyAnswer("Hi")))
    assert (type(answer), answer.type, answer.score) == (AIMessage, "ai", 0.5)


def test_a_class_that_could_not_be_read_back_is_refused():
    with pytest.raises(TypeError, match=r"BaseMessage derives from none.*ChatMessage"):
        nearest_class(BaseMessage("x", type="custom"))


@pytest.mark.parametrize("value", [Report(figures=[1]), object(), 1j, print, [Report(figures=[])]])
def test_what_could_not_be_read_back_is_refused_with_its_place(value):
    with pytest.raises(TypeError, match=r"artifact\.a.* holds .*could not give back.*model_dump"):
        encode_message(ToolMessage("x", tool_call_id="c", artifact={"a": value}))


@pytest.mark.parametrize(
    "data",
    [
        {"lc": 1, "type": "constructor", "id": ["langchain_core", "messages", "AIMessage"], "kwargs": {"content": "x"}},
        {"$message": {"type": "ai", "content": "x"}},
        {"$document": {"page_content": "x"}},
        {"$bytes": "AAAA"},
        {"$dict": [["$dict", []]]},
        {"$unknown": 1},
    ],
)
def test_a_users_data_is_never_revived_into_an_object(data):
    """langchain-ai/langchain#36380: data in the shape of a constructor became a message."""
    message = HumanMessage([data], additional_kwargs={"data": data}, id="m")
    back = decode_message(encode_message(message))
    assert back == message
    assert type(back.content[0]) is dict
    assert back.additional_kwargs["data"] == data


def test_a_message_in_an_artifact_keeps_its_class():
    inner = [HumanMessage("a"), AIMessage("b", tool_calls=[samples.CALL])]
    back = decode_message(encode_message(ToolMessage("x", tool_call_id="c", artifact=inner)))
    assert [type(message) for message in back.artifact] == [HumanMessage, AIMessage]
    assert back.artifact == inner


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"type": "human"}',
        '{"type": "spy", "content": ""}',
        '{"type": "human", "content": 5}',
        '{"type": "tool", "content": ""}',
        '{"type": ["ai"], "content": ""}',
        '{"type":"ai","content":[{"$bytes":5}]}',
    ],
)
def test_a_text_that_is_no_message_is_refused(text):
    with pytest.raises((ValueError, TypeError)):
        decode_message(text)


def test_data_nested_deeply_comes_back_exactly():
    nested: list = []
    for _ in range(400):
        nested = [nested]
    back = decode_message(encode_message(ToolMessage("x", tool_call_id="c", artifact=nested))).artifact
    for _ in range(400):
        (back,) = back
    assert back == []


def test_the_text_is_compact_json_that_others_can_read():
    text = encode_message(HumanMessage("你好"), message_id="m")
    assert json.loads(text) == {"type": "human", "content": "你好", "id": "m"}
    assert text == '{"type":"human","content":"你好","id":"m"}'
