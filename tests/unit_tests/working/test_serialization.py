from __future__ import annotations

import json
import math
from typing import ClassVar

import pytest
from hypothesis import given
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ChatMessage, HumanMessage, ToolMessage
from pydantic import BaseModel

from langchain_tiered_memory.working.serialization import decode_message, encode_message, nearest_class, whole_message
from support import message_samples as samples


def read_back(message):
    text, left_out = encode_message(message)
    assert left_out == []
    return decode_message(text)


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
    back = read_back(message)
    assert back == message
    assert type(back) is type(message)
    assert repr(back) == repr(message)
    assert back.model_dump(exclude_unset=True) == message.model_dump(exclude_unset=True)
    assert back.model_extra == message.model_extra


@pytest.mark.parametrize("artifact", samples.ARTIFACTS.values(), ids=samples.ARTIFACTS)
def test_an_artifact_of_plain_data_comes_back_exactly(artifact):
    back = read_back(ToolMessage("x", tool_call_id="c", artifact=artifact)).artifact
    assert back == artifact
    if artifact != "red":
        assert type(back) is type(artifact)


def test_numbers_that_are_not_finite_come_back():
    back = read_back(ToolMessage("x", tool_call_id="c", artifact=samples.NOT_FINITE)).artifact
    assert math.isnan(back[0])
    assert back[1:] == [math.inf, -math.inf]


@given(samples.messages)
def test_any_message_comes_back_exactly_and_its_text_is_valid_unicode(message):
    text, _ = encode_message(message)
    assert "\0" not in text
    assert text.encode().decode() == text
    assert repr(decode_message(text)) == repr(message)


@pytest.mark.parametrize(("chunk", "whole"), samples.CHUNKS.values(), ids=samples.CHUNKS)
def test_a_chunk_is_read_back_as_the_whole_message(chunk, whole):
    back = read_back(chunk)
    assert back == whole == whole_message(chunk)
    assert type(back) is type(whole) is type(whole_message(chunk))


def test_a_whole_message_is_whole_already():
    message = HumanMessage("x")
    assert whole_message(message) is message


def test_a_subclass_is_read_back_as_the_nearest_class_with_its_fields_as_extras():
    back = read_back(Greeting("Hello", politeness=2, id="g"))
    assert type(back) is HumanMessage
    assert (back.content, back.id) == ("Hello", "g")
    assert back.model_extra == {"language": "en", "politeness": 2}
    answer = read_back(MyAnswer("Hi"))
    assert (type(answer), answer.type, answer.score) == (AIMessage, "ai", 0.5)


def test_a_class_that_could_not_be_read_back_is_refused():
    with pytest.raises(TypeError, match=r"BaseMessage derives from none.*ChatMessage"):
        nearest_class(BaseMessage("x", type="custom"))


@pytest.mark.parametrize("value", [Report(figures=[1]), object(), 1j, print])
def test_what_could_not_be_read_back_leaves_a_note_of_its_type_and_all_else_stays(value):
    text, left_out = encode_message(ToolMessage("x\ud800", tool_call_id="c", artifact={"a": [value], "b": 1}))
    name = f"{type(value).__module__}.{type(value).__qualname__}"
    assert left_out == [f"artifact.a[0]: {name}"]
    back = decode_message(text)
    assert back.artifact == {"a": [{"$not_stored": name}], "b": 1}
    assert back.content == "x\ud800"
    assert read_back(back) == back


def test_content_that_contains_itself_is_stored_in_part():
    block: dict = {"type": "text", "text": "hello"}
    block["self"] = block
    text, left_out = encode_message(HumanMessage("").model_copy(update={"content": [block], "name": "ada"}))
    assert left_out == ["content: a list that is nested too deeply, or contains itself"]
    assert (decode_message(text).name, decode_message(text).content) == ("ada", [{"$not_stored": "list"}])


def test_a_message_of_a_newer_version_is_readable():
    back = decode_message('{"type":"developer","content":"Be brief","id":"d","mood":{"$newer":[1]}}')
    assert (type(back), back.role, back.content, back.id) == (ChatMessage, "developer", "Be brief", "d")
    assert back.mood == {"$newer": [1]}
    assert decode_message('{"type":"ai","content":null}').content == ""


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
    back = read_back(message)
    assert back == message
    assert type(back.content[0]) is dict
    assert back.additional_kwargs["data"] == data


def test_a_message_in_an_artifact_keeps_its_class():
    inner = [HumanMessage("a"), AIMessage("b", tool_calls=[samples.CALL])]
    back = read_back(ToolMessage("x", tool_call_id="c", artifact=inner))
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
    back = read_back(ToolMessage("x", tool_call_id="c", artifact=nested)).artifact
    for _ in range(400):
        (back,) = back
    assert back == []


def test_the_text_is_compact_json_that_others_can_read():
    text, _ = encode_message(HumanMessage("你好"), message_id="m")
    assert json.loads(text) == {"type": "human", "content": "你好", "id": "m"}
    assert text == '{"type":"human","content":"你好","id":"m"}'
