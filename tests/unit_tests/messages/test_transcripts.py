"""Transcripts: nothing is lost between file and messages, and what cannot be read says where and why."""

from __future__ import annotations

import json
import stat
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.load import dumpd
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    messages_to_dict,
)

from langchain_tiered_memory import read_transcript, validate_messages, write_transcript
from langchain_tiered_memory.errors import TranscriptError
from langchain_tiered_memory.messages.transcripts.conversation import parse_transcript
from support.messages import any_message, calls, contents, data, names

FILES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

openai_common = {"content": contents, "id": st.none() | names, "name": st.none() | names}
openai_message = st.one_of(
    st.builds(HumanMessage, **openai_common),
    st.builds(SystemMessage, **openai_common),
    st.builds(SystemMessage, **openai_common, additional_kwargs=st.just({"__openai_role__": "developer"})),
    st.builds(AIMessage, **openai_common, tool_calls=calls),
    st.builds(ToolMessage, **openai_common, tool_call_id=names),
    st.builds(FunctionMessage, **{**openai_common, "name": names}),
)


def fields(message: BaseMessage) -> tuple[type, dict[str, Any], dict[str, Any]]:
    return type(message), dict(message.__dict__), dict(message.__pydantic_extra__ or {})


def same(ours: Any, theirs: Any) -> bool:
    return [fields(message) for message in ours] == [fields(message) for message in theirs]


def read(value: Any, **options: Any) -> Any:
    return parse_transcript(json.dumps(value), **options)


def said(transcript: Any) -> list[tuple[str, Any]]:
    return [(message.type, message.content) for message in transcript]


# --- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "format_"),
    [
        ("chat.json", "langchain"),
        ("chat.jsonl", "langchain"),
        ("conversations.json", "chatgpt"),
        ("chat.jsonl", "chatgpt"),
    ],
)
@given(messages=st.lists(any_message, min_size=1, max_size=4))
@FILES
def test_langchain_files_and_chatgpt_exports_keep_every_field_of_every_class(tmp_path, name, format_, messages):
    write_transcript(messages, tmp_path / name, format=format_)
    again = read_transcript(tmp_path / name)
    assert again.format == format_
    assert same(again, messages)


@given(messages=st.lists(any_message, min_size=1, max_size=4))
@FILES
def test_langchain_files_are_those_of_messages_to_dict(tmp_path, messages):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(messages_to_dict(messages)), encoding="utf-8")
    assert same(read_transcript(path), messages)
    write_transcript(messages, path)
    assert json.loads(path.read_text("utf-8")) == messages_to_dict(messages)


@given(messages=st.lists(any_message, min_size=1, max_size=3))
def test_model_dumps_and_dumpd_are_read_too(messages):
    for dump in (lambda message: message.model_dump(), dumpd):
        again = read([dump(message) for message in messages])
        assert again.format == "langchain"
        assert same(again, messages)


@pytest.mark.parametrize("name", ["chat.json", "chat.jsonl"])
@given(messages=st.lists(openai_message, min_size=1, max_size=4))
@FILES
def test_openai_files_keep_what_their_format_has_a_place_for(tmp_path, name, messages):
    write_transcript(messages, tmp_path / name, format="openai")
    assert same(read_transcript(tmp_path / name, format="openai"), messages)


@pytest.mark.parametrize("format_", ["openai", "plain"])
@given(messages=st.lists(any_message, min_size=1, max_size=3))
@FILES
def test_a_format_carries_a_message_or_refuses_it_and_never_drops_a_part(tmp_path, format_, messages):
    path = tmp_path / "chat.json"
    path.unlink(missing_ok=True)
    try:
        write_transcript(messages, path, format=format_)
    except TranscriptError as error:
        assert "message" in str(error)  # noqa: PT017 - both outcomes are right, each on its condition
        assert not path.exists()
    else:
        assert same(read_transcript(path, format=format_), messages)


@given(text=st.text(), extra=st.binary(max_size=3))
def test_any_input_gives_a_conversation_or_an_error_that_names_the_source(text, extra):
    for content in (text, text.encode("utf-8", "surrogatepass") + extra):
        try:
            assert len(parse_transcript(content, source="chat.json")) > 0
        except TranscriptError as error:
            assert str(error).startswith("chat.json: ")  # noqa: PT017 - both outcomes are right


OBJECTS = (
    "messages", "mapping", "chat_messages", "conversations", "contents", "candidates", "input", "output", "choices",
    "body", "response", "system", "systemInstruction",
)  # fmt: skip


@given(whole=data, name=st.sampled_from(OBJECTS), other=st.sampled_from(OBJECTS))
def test_any_json_gives_a_conversation_or_an_error_that_names_the_source(whole, name, other):
    item = {"role": whole, "content": whole, "parts": whole, "sender": "human", "type": whole, "from": whole}
    for value in (whole, [whole], {name: whole}, {name: [item], other: whole}, {name: {"a": item}}, [item]):
        try:
            assert len(read(value, source="chat.json")) > 0
        except TranscriptError as error:
            assert str(error).startswith("chat.json: ")  # noqa: PT017 - both outcomes are right


# --- langchain -------------------------------------------------------------------------------------------------------


def test_what_the_constructor_would_strip_from_a_call_is_kept():
    call = {"name": "f", "args": {}, "id": "1", "type": "tool_call", "extras": {"signature": "x"}, "index": 0}
    assert read([{"type": "ai", "data": {"content": "", "tool_calls": [call]}}]).messages[0].tool_calls == [call]


def test_user_content_shaped_like_a_constructor_stays_data():
    lure = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {}}
    secret = {"lc": 1, "type": "secret", "id": ["HOME"]}
    for record in (
        {"role": "user", "content": [lure, secret]},
        {"type": "human", "data": {"content": [lure, secret]}},
        dumpd(HumanMessage([lure, secret])),
    ):
        message = read([record]).messages[0]
        assert type(message) is HumanMessage
        assert message.content == [lure, secret]


@pytest.mark.parametrize(
    ("message", "named_in_error"),
    [
        (ToolMessage("x", tool_call_id="1", artifact=(1, 2)), "artifact"),
        (HumanMessage("x", additional_kwargs={1: "one"}), "additional_kwargs"),
        (HumanMessage("x", response_metadata={"score": float("nan")}), "response_metadata"),
        (ToolMessage("x", tool_call_id="1", artifact=object()), "JSON data"),
        (HumanMessage("x", additional_kwargs={"data": b"x"}), "JSON data"),
    ],
)
def test_what_json_cannot_carry_is_refused_and_the_old_file_stays(tmp_path, message, named_in_error):
    path = tmp_path / "chat.json"
    path.write_text("old", encoding="utf-8")
    with pytest.raises(TranscriptError, match=named_in_error):
        write_transcript([HumanMessage("ok"), message], path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["chat.json"]


def test_a_message_class_of_ones_own_is_refused():
    class Note(HumanMessage):
        pass

    with pytest.raises(TranscriptError, match="message 0: a Note is of no known message class"):
        write_transcript([Note("x")], "never-written.json")


# --- openai ----------------------------------------------------------------------------------------------------------


def raw_call(arguments: Any, name: str = "search", call_id: str = "c1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def test_every_role_of_openai_becomes_its_message():
    messages = read(
        {
            "messages": [
                {"role": "developer", "content": "Be brief."},
                {"role": "user", "name": "ada", "content": [{"type": "text", "text": "Hi"}]},
                {"role": "assistant", "content": None, "tool_calls": [raw_call('{"q":"moon"}')]},
                {"role": "tool", "tool_call_id": "c1", "content": "384400 km"},
                {"role": "assistant", "content": None, "refusal": "No."},
                {"role": "assistant", "content": None, "function_call": {"name": "old", "arguments": "{}"}},
                {"role": "function", "name": "old", "content": "done"},
            ]
        }
    )
    assert same(
        messages,
        [
            SystemMessage("Be brief.", additional_kwargs={"__openai_role__": "developer"}),
            HumanMessage([{"type": "text", "text": "Hi"}], name="ada"),
            AIMessage("", tool_calls=[{"name": "search", "args": {"q": "moon"}, "id": "c1"}]),
            ToolMessage("384400 km", tool_call_id="c1"),
            AIMessage("", additional_kwargs={"refusal": "No."}),
            AIMessage("", additional_kwargs={"function_call": {"name": "old", "arguments": "{}"}}),
            FunctionMessage("done", name="old"),
        ],
    )


@pytest.mark.parametrize("arguments", ['{"q": "mo', "not json", "[1]", '"text"', "7", "{" * 3000])
def test_arguments_that_are_no_object_become_an_invalid_call_with_their_text(arguments):
    (message,) = read([{"role": "assistant", "content": "", "tool_calls": [raw_call(arguments)]}])
    assert message.tool_calls == []
    assert [(call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls] == [
        ("search", arguments, "c1")
    ]


def test_custom_calls_and_calls_without_arguments_are_read():
    custom = {"id": "c1", "type": "custom", "custom": {"name": "shell", "input": "ls -l"}}
    (message,) = read([{"role": "assistant", "tool_calls": [custom, raw_call("", "now", "c2"), raw_call({"a": 1})]}])
    assert [(call["name"], call["args"]) for call in message.tool_calls] == [
        ("shell", {"__arg1": "ls -l"}),
        ("now", {}),
        ("search", {"a": 1}),
    ]


def test_fields_without_a_place_are_named_or_left_out_on_demand(tmp_path):
    message = AIMessage("hi", usage_metadata={"input_tokens": 1, "output_tokens": 1, "total_tokens": 2})
    with pytest.raises(TranscriptError, match=r"message 0: the format openai cannot carry its usage_metadata; .*lossy"):
        write_transcript([message], tmp_path / "chat.json", format="openai")
    write_transcript([message], tmp_path / "chat.json", format="openai", lossy=True)
    assert same(read_transcript(tmp_path / "chat.json"), [AIMessage("hi")])


@pytest.mark.parametrize("name", ["chat.json", "chat.jsonl"])
def test_the_tools_of_a_conversation_are_kept(tmp_path, name):
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function"}], "model": "gpt-4o"}
    request = read(body)
    assert request.metadata == {"tools": [{"type": "function"}], "model": "gpt-4o"}
    write_transcript(request, tmp_path / name, format="openai")
    assert json.loads((tmp_path / name).read_text("utf-8")) == body


def test_json_lines_hold_messages_conversations_or_a_batch():
    one_message_a_line = '{"role":"user","content":"a\u2028b"}\r\n\r\n{"role":"assistant","content":"c"}\r\n'
    assert [message.content for message in parse_transcript(one_message_a_line)] == ["a\u2028b", "c"]
    one_conversation_a_line = (
        '{"messages":[{"role":"user","content":"1"}]}\n{"messages":[{"role":"user","content":"2"}]}'
    )
    assert [message.content for message in parse_transcript(one_conversation_a_line, 1)] == ["2"]
    batch = [
        {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": [
            {"role": "system", "content": "Be brief."}, {"role": "user", "content": name}]}}
        for name in ("r1", "r2")
    ]  # fmt: skip
    chosen = parse_transcript("\n".join(map(json.dumps, batch)), "r2")
    assert (said(chosen), chosen.metadata) == ([("system", "Be brief."), ("human", "r2")], {"model": "m"})


def test_answers_of_chat_completions_and_batches_are_read():
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hi", "refusal": None}}],
    }
    assert said(read(answer)) == [("ai", "Hi")]
    line = {"id": "batch_req_1", "custom_id": "r1", "response": {"status_code": 200, "body": answer}, "error": None}
    assert (said(read(line)), read(line).id) == ([("ai", "Hi")], "r1")


# --- responses -------------------------------------------------------------------------------------------------------

ITEMS = [
    {"role": "user", "content": [{"type": "input_text", "text": "Weather?"}]},
    {"type": "reasoning", "id": "rs_1", "summary": []},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "arguments": '{"city": "Bern"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "sun"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Sun.", "annotations": []}],
    },
]


@pytest.mark.parametrize("key", ["input", "output", None])
def test_items_of_the_responses_api_become_valid_messages(key):
    around = {"input": {"instructions": "Be brief.", "tools": []}, "output": {"object": "response"}}
    transcript = read({**around[key], key: ITEMS} if key else ITEMS)
    assert transcript.format == "responses"
    messages = [message for message in transcript if message.type != "system"]
    assert [message.type for message in messages] == ["human", "ai", "tool", "ai"]
    assert (messages[0].content, messages[2].content, messages[3].content) == ("Weather?", "sun", "Sun.")
    assert messages[1].content == [ITEMS[1]]
    assert [(call["name"], call["args"], call["id"]) for call in messages[1].tool_calls] == [
        ("weather", {"city": "Bern"}, "c1")
    ]
    assert validate_messages(transcript.messages) == []
    if key == "input":
        assert said(transcript)[0] == ("system", "Be brief.")
        assert transcript.metadata == {"tools": []}


def test_a_request_of_the_responses_api_may_be_a_single_text():
    assert said(read({"model": "m", "input": "Hello"})) == [("human", "Hello")]


# --- anthropic -------------------------------------------------------------------------------------------------------

TOOL_USE = {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Bern"}}
REQUEST = {
    "model": "claude",
    "max_tokens": 100,
    "system": "Only GET requests.",
    "tools": [{"name": "weather", "input_schema": {"type": "object"}}],
    "messages": [
        {"role": "user", "content": "Weather?"},
        {"role": "assistant", "content": [{"type": "text", "text": "Looking."}, TOOL_USE]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "t1", "content": "sun", "is_error": True},
                {"type": "text", "text": "And tomorrow?"},
            ],
        },
    ],
}


def test_an_anthropic_request_is_read_with_its_system_prompt_and_its_results():
    transcript = read(REQUEST)
    assert transcript.format == "anthropic"
    assert said(transcript)[:2] == [("system", "Only GET requests."), ("human", "Weather?")]
    call, result, question = transcript.messages[2:]
    assert call.content == REQUEST["messages"][1]["content"]
    assert call.tool_calls == [{"name": "weather", "args": {"city": "Bern"}, "id": "t1", "type": "tool_call"}]
    assert (result.content, result.tool_call_id, result.status) == ("sun", "t1", "error")
    assert question.content == [{"type": "text", "text": "And tomorrow?"}]
    assert transcript.metadata["tools"] == REQUEST["tools"]
    assert validate_messages(transcript.messages, provider="anthropic") == []


def test_a_bare_list_of_anthropic_messages_and_an_answer_are_read():
    assert read(REQUEST["messages"]).format == "anthropic"
    answer = {"id": "msg_1", "type": "message", "role": "assistant", "content": [TOOL_USE], "stop_reason": "tool_use"}
    (message,) = read(answer)
    assert (message.id, message.tool_calls[0]["id"]) == ("msg_1", "t1")


# --- gemini ----------------------------------------------------------------------------------------------------------


def test_gemini_contents_are_read_and_calls_without_ids_get_them():
    request = {
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": [
            {
                "role": "user",
                "parts": [{"text": "Weather?"}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}],
            },
            {"role": "model", "parts": [{"functionCall": {"name": "w", "args": {"c": n}}} for n in (1, 2)]},
            {
                "role": "user",
                "parts": [{"functionResponse": {"name": "w", "response": {"r": n}}} for n in (1, 2)],
            },
            {"role": "model", "parts": [{"text": "Hm.", "thought": True}, {"text": "Sun."}]},
        ],
        "tools": [],
    }
    transcript = read(request)
    assert transcript.format == "gemini"
    assert [message.type for message in transcript] == ["system", "human", "ai", "tool", "tool", "ai"]
    calls, first, second, last = transcript.messages[2:]
    assert [call["args"] for call in calls.tool_calls] == [{"c": 1}, {"c": 2}]
    assert [first.tool_call_id, second.tool_call_id] == [call["id"] for call in calls.tool_calls]
    assert (first.content, second.content) == ('{"r": 1}', '{"r": 2}')
    assert transcript.messages[1].content[1] == {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    assert last.content == [{"type": "reasoning", "reasoning": "Hm."}, {"type": "text", "text": "Sun."}]
    assert validate_messages(transcript.messages) == []
    snake = [{"role": "model", "parts": [{"function_call": {"name": "w", "args": {}, "id": "c9"}}]}]
    assert read(snake).messages[0].tool_calls[0]["id"] == "c9"
    answer = {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi"}]}}]}
    assert said(read(answer)) == [("ai", "Hi")]


# --- plain and sharegpt ----------------------------------------------------------------------------------------------


def test_plain_lists_take_other_names_for_the_speakers_and_pairs():
    plain = [{"role": "human", "content": "a"}, {"role": "bot", "content": "b"}]
    for value in (plain, [["human", "a"], ["bot", "b"]]):
        transcript = read(value)
        assert transcript.format == "plain"
        assert same(transcript, [HumanMessage("a"), AIMessage("b")])


def test_sharegpt_conversations_are_read_with_their_calls():
    one = {
        "id": "s1",
        "system": "Be brief.",
        "tools": '[{"name": "w"}]',
        "conversations": [
            {"from": "human", "value": "Weather?"},
            {"from": "function_call", "value": '{"name": "w", "arguments": {"c": 1}}'},
            {"from": "observation", "value": "sun"},
            {"from": "gpt", "value": "Sun."},
        ],
    }
    transcript = read([one, {**one, "id": "s2"}], conversation="s2")
    assert (transcript.format, transcript.id, transcript.metadata["tools"]) == ("sharegpt", "s2", [{"name": "w"}])
    assert said(transcript) == [
        ("system", "Be brief."),
        ("human", "Weather?"),
        ("ai", ""),
        ("tool", "sun"),
        ("ai", "Sun."),
    ]
    assert transcript.messages[2].tool_calls[0]["args"] == {"c": 1}
    assert validate_messages(transcript.messages) == []


# --- claude ----------------------------------------------------------------------------------------------------------


def test_a_claude_export_is_read_with_its_tools_and_attached_texts():
    text = {"type": "text", "text": "Look at this.", "citations": []}
    exported = {
        "uuid": "c-1",
        "name": "Moon",
        "chat_messages": [
            {"uuid": "m1", "sender": "human", "text": "Look at this.", "content": [text],
             "attachments": [{"file_name": "a.txt", "extracted_content": "384,400 km"}]},
            {"uuid": "m2", "sender": "assistant", "text": "", "content": [
                {"type": "text", "text": "Searching."},
                {"type": "tool_use", "name": "web", "input": {"q": "moon"}},
                {"type": "tool_result", "name": "web", "content": [{"type": "text", "text": "far"}], "is_error": False},
                {"type": "text", "text": "Far."}]},
        ],
    }  # fmt: skip
    transcript = read([exported, {**exported, "uuid": "c-2", "name": "Sun"}], conversation="Moon")
    assert (transcript.format, transcript.id, transcript.title) == ("claude", "c-1", "Moon")
    assert [message.type for message in transcript] == ["human", "ai", "tool", "ai"]
    assert transcript.messages[0].content == [
        {"type": "text", "text": "Look at this."},
        {"type": "text", "text": "[a.txt]\n384,400 km"},
    ]
    assert transcript.messages[1].tool_calls[0]["args"] == {"q": "moon"}
    assert transcript.messages[3].content == "Far."
    assert validate_messages(transcript.messages) == []


# --- chatgpt ---------------------------------------------------------------------------------------------------------


def node(parent: str | None, role: str | None, content: Any = None, **more: Any) -> dict[str, Any]:
    if role is None:
        return {"parent": parent, "message": None}
    content = {"content_type": "text", "parts": [content]} if isinstance(content, str) else content
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"author": author, "content": content, "create_time": 1767225600.5, "metadata": {}, "recipient": "all"}
    return {"parent": parent, "message": {**message, **more}}


def export(mapping: dict[str, Any], current: str | None, **more: Any) -> dict[str, Any]:
    named = {name: {"id": name, "children": [], **value} for name, value in mapping.items()}
    return {"title": "Moon", "conversation_id": "conv-1", "mapping": named, "current_node": current, **more}


CHAT = {
    "root": node(None, None),
    "sys": node("root", "system", "", metadata={"is_visually_hidden_from_conversation": True}),
    "u1": node("sys", "user", "How far is the moon?"),
    "a1-old": node("u1", "assistant", "About 300,000 km."),
    "call": node(
        "u1",
        "assistant",
        {"content_type": "code", "language": "json", "text": '{"q": "moon"}'},
        recipient="web.run",
        metadata={"model_slug": "gpt-5"},
    ),
    "t1": node("call", "tool", "384,400 km", name="web.run"),
    "t2": node("t1", "tool", {"content_type": "tether_quote", "url": "https://a.example", "text": "…"}, name="web"),
    "a1": node("t2", "assistant", "384,400 km on average."),
    "u2": node(
        "a1",
        "user",
        {
            "content_type": "multimodal_text",
            "parts": [
                {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1", "width": 640},
                "What is this?",
            ],
        },
    ),
    "a2": node("u2", "assistant", "A crater."),
}


def test_a_chatgpt_export_is_read_along_the_branch_its_user_saw():
    transcript = read([export(CHAT, "a2")])
    assert (transcript.format, transcript.title, transcript.id) == ("chatgpt", "Moon", "conv-1")
    assert [(message.type, message.id) for message in transcript] == [
        ("human", "u1"),
        ("ai", "call"),
        ("tool", "t1"),
        ("ai", "a1"),
        ("human", "u2"),
        ("ai", "a2"),
    ]
    call, answer = transcript.messages[1:3]
    assert call.tool_calls == [{"name": "web.run", "args": {"q": "moon"}, "id": "call", "type": "tool_call"}]
    assert call.response_metadata["model_name"] == "gpt-5"
    assert call.response_metadata["chatgpt"]["create_time"] == 1767225600.5
    assert answer.tool_call_id == "call"
    assert [block["type"] for block in answer.content] == ["text", "non_standard"]
    picture = transcript.messages[4].content[0]
    assert (picture["type"], picture["file_id"], picture["extras"]["width"]) == ("image", "file-service://file-1", 640)
    assert validate_messages(transcript.messages) == []


def test_the_other_branch_is_read_when_the_user_was_there():
    transcript = read(export(CHAT, "a1-old"))
    assert [message.content for message in transcript] == ["How far is the moon?", "About 300,000 km."]


def test_a_tool_that_answered_unasked_gets_a_call_so_that_the_conversation_is_valid():
    chat = {
        "u": node(None, "user", "hi"),
        "t": node("u", "tool", "memory updated", name="bio"),
        "a": node("t", "assistant", "ok"),
    }
    transcript = read(export(chat, "a"))
    assert [message.type for message in transcript] == ["human", "ai", "tool", "ai"]
    assert validate_messages(transcript.messages) == []


def test_thoughts_and_hidden_instructions_are_kept():
    thoughts = {"content_type": "thoughts", "thoughts": [{"summary": "Plan", "content": "Add."}]}
    profile = {"content_type": "user_editable_context", "user_profile": "I am Ada."}
    chat = {"p": node(None, "user", profile), "u": node("p", "user", "1+1?"), "a": node("u", "assistant", thoughts)}
    transcript = read(export(chat, "a"))
    assert transcript.messages[0].content == [{"type": "non_standard", "value": profile}]
    assert transcript.messages[2].content[0]["reasoning"] == "Plan\nAdd."


def test_a_written_export_is_a_linear_tree_that_others_can_show(tmp_path):
    path = tmp_path / "conversations.json"
    calls = [{"name": "weather", "args": {"city": city}, "id": city} for city in ("北京", "Bern")]
    agent = [
        SystemMessage("Be brief. 简短。"),
        HumanMessage("Weather here and in 北京?"),
        AIMessage("Looking.", id="run-1", tool_calls=calls),
        ToolMessage("rain", tool_call_id="Bern"),
        ToolMessage("sun", tool_call_id="北京", name="weather"),
        AIMessage("Sun in 北京, rain in Bern."),
    ]
    write_transcript(agent, path, format="chatgpt")
    assert same(read_transcript(path), agent)
    (conversation,) = json.loads(path.read_text("utf-8"))
    assert conversation["title"] == "New chat"
    mapping, name, found = conversation["mapping"], conversation["current_node"], []
    while name is not None:
        node, child = mapping[name], found[-1]["id"] if found else None
        assert (node["id"], node["children"]) == (name, [child] if child else [])
        found.append(node)
        name = node["parent"]
    root, *rest = reversed(found)
    assert (root["message"], len(found)) == (None, len(mapping))
    shown = [(node["message"]["author"]["role"], node["message"]["recipient"]) for node in rest]
    called = [("assistant", "all"), ("assistant", "weather"), ("assistant", "weather")]
    assert shown == [
        ("system", "all"),
        ("user", "all"),
        *called,
        ("tool", "all"),
        ("tool", "all"),
        ("assistant", "all"),
    ]
    assert json.loads(rest[3]["message"]["content"]["text"]) == {"city": "北京"}


def test_an_export_that_was_read_is_written_with_its_title_and_id_and_can_go_on(tmp_path):
    path = tmp_path / "conversations.json"
    first = read([export(CHAT, "a2", create_time=1767225600.5, gizmo_id="g-1")])
    write_transcript(first, path, format="chatgpt")
    again = read_transcript(path)
    assert same(again, first)
    assert (again.id, again.title, again.metadata["gizmo_id"]) == ("conv-1", "Moon", "g-1")
    write_transcript([*again, HumanMessage("Thanks!")], path, format="chatgpt")
    assert same(read_transcript(path), [*first, HumanMessage("Thanks!")])


# --- several conversations -------------------------------------------------------------------------------------------

SEVERAL = [
    export(CHAT, "a2", title=title, conversation_id=name)
    for title, name in (("Moon", "m"), ("Sun", "s"), ("Sun", "s2"))
]


@pytest.mark.parametrize(("wanted", "found"), [("m", "m"), ("Moon", "m"), (1, "s"), ("2", "s2"), ("s", "s")])
def test_a_conversation_is_chosen_by_id_title_or_number(wanted, found):
    assert read(SEVERAL, conversation=wanted).id == found


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (None, r"holds 3 conversations; choose one .*0 \('m', 'Moon'\), 1 \('s', 'Sun'\), 2 \('s2', 'Sun'\)"),
        ("Sun", "2 conversations are called 'Sun'; choose by number: 1, 2"),
        ("Mars", r"no conversation 'Mars' is in it; choose one of 0 \('m', 'Moon'\)"),
        (3, "no conversation 3 is in it"),
        (-1, r"conversation=-1 names no conversation; pass its number from 0, its id or its title: 0 \('m'"),
        (True, "conversation=True names no conversation; pass its number"),
        ("9" * 5000, "is in it; choose one of 0"),
    ],
)
def test_a_choice_that_is_missing_or_unclear_lists_what_there_is(wanted, message):
    with pytest.raises(TranscriptError, match=message):
        read(SEVERAL, conversation=wanted)


# --- wrong input -----------------------------------------------------------------------------------------------------

USER = '{"role":"user","content":"hi"}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty; pass a file"),
        (b" \r\n ", "it is empty"),
        (b"[]", "it holds no messages"),
        (b'{"messages": []}', "it holds no messages"),
        (b"3", "it holds a number, not a conversation"),
        (b"<html>", "line 1, column 1: not JSON"),
        (f"[{USER},\n {USER} {USER}]", "line 2, column 33: not JSON: Expecting ',' delimiter"),
        (f"[{USER},", "line 1, column 33: the file ends inside a JSON value"),
        (f'{USER}\n{{"role":"user","con', "line 2, column 16: the file ends inside a JSON value"),
        (f"{USER} {USER}", "line 1, column 32: more text follows on the line of a JSON value"),
        (f"{USER}\n3\n", "message 1: it is a number, not a message"),
        (f'{USER}\n\n{{"role":"usr","content":"hi"}}', "message 1: role 'usr' is unknown; did you mean \"user\""),
        ('[{"role":"user","content":"a","content":"b"}]', "line 1: the key 'content' stands twice"),
        ("[" * 100_000, "line 1: the value is nested deeper"),
        ("9" * 5000, "line 1: a number cannot be read"),
        ('[{"content":"hi"}]', "message 0: it has 'content', which is no message"),
        ('[{"role":"user"}]', "message 0: a user message has no content"),
        ('[{"role":"assistant"}]', "message 0: an assistant message has neither content nor tool_calls"),
        ('[{"role":"user","content":{"lc":1}}]', "message 0: content is an object"),
        ('[{"role":"user","content":[3]}]', "message 0: content block 0 is a number"),
        ('[{"role":"user","content":"x","name":3}]', "message 0: name is a number"),
        ('[{"role":"tool","content":"x"}]', "message 0: a tool message has the tool_call_id None; give it the id"),
        ('[{"role":"user","content":"x","tool_call_id":"1"}]', "message 0: a user message has a tool_call_id"),
        ('[{"role":"user","content":"x","tool_calls":[{}]}]', "message 0: a user message has tool_calls"),
        ('[{"role":"function","content":"x"}]', "message 0: a function message has no name"),
        ('[{"role":"assistant","tool_calls":{"a":1}}]', "message 0: tool_calls is an object"),
        ('[{"role":"assistant","tool_calls":[3]}]', "message 0, tool call 0: it is a number"),
        ('[{"role":"assistant","tool_calls":[{"function":{}}]}]', "message 0, tool call 0: it has no id"),
        ('[{"role":"assistant","tool_calls":[{"id":"c"}]}]', "message 0, tool call 0: it names no function"),
        ('[{"type":"humn","data":{"content":"x"}}]', "message 0: 'humn' is no message type; did you mean \"human\""),
        ('[{"type":"human","data":3}]', "message 0: its data is a number"),
        ('[{"type":"human","data":{}}]', "message 0: it is no HumanMessage"),
        ('[{"type":"tool","data":{"content":"x"}}]', "message 0: it is no ToolMessage"),
        (
            '[{"lc":1,"type":"constructor","id":["langchain","prompts","PromptTemplate"],"kwargs":{}}]',
            "message 0: it is a serialised 'PromptTemplate', which is no message",
        ),
        (f'[{{"type":"human","data":{{"content":"x"}}}},{USER}]', "message 1: it has 'role', 'content', which"),
        ('{"messages":5}', "messages is a number"),
        (f'[{{"messages":[{USER}]}},{USER}]', "record 1: it is an object, not a conversation as the other"),
        (b"PK\x03\x04...", "it is a ZIP archive, not JSON; unpack it"),
        ('[{"role":"user","content":"café"}]'.encode("latin-1"), "line 1: byte 30 is not UTF-8"),
        ('{"contents":[{"role":"x","parts":[]}]}', "content 0: role 'x' is unknown"),
        ('{"contents":[{"parts":[{"functionResponse":{"name":"f"}}]}]}', "content 0, part 0: a functionResp"),
        ('{"conversations":[{"from":"x","value":"y"}]}', "message 0: it is from 'x'; It must be one of"),
        ('{"conversations":[{"from":"observation","value":"y"}]}', "message 0: it answers no function_call"),
        ('{"system":"s","messages":[{"role":"x","content":"y"}]}', "message 1: role 'x' is unknown"),
        ('{"input":[{"type":"message","role":"x","content":"y"}]}', "item 0: role 'x' is unknown"),
        ('{"chat_messages":[{"sender":"x"}]}', "message 0: its sender is 'x'"),
        (json.dumps(export(CHAT, "gone")), "its branch leads to the node 'gone', which the mapping does not hold"),
        (json.dumps(export({"a": node("b", None), "b": node("a", None)}, "a")), "the node 'a' is its own ancestor"),
        (json.dumps(export(CHAT, None)), "it has no current_node and 2 branches"),
        (json.dumps(export({"u": node(None, "robot", "hi")}, "u")), "node u: the author's role is 'robot'"),
        (json.dumps(export({"u": node(None, "user", {"parts": ["hi"]})}, "u")), "node u: its content is an object"),
        (json.dumps({"mapping": {}}), "its mapping is empty, so the conversation has no messages; export"),
    ],
)  # fmt: skip
def test_wrong_input_names_the_record_and_the_repair(content, message):
    with pytest.raises(TranscriptError, match=f"^chat.json: {message}") as caught:
        parse_transcript(content, source="chat.json")
    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_unicode_encodings_are_read(encoding):
    content = '[{"role":"user","content":"距离 384400 km 🌕"}]\r\n'.encode(encoding)
    assert parse_transcript(content).messages[0].content == "距离 384400 km 🌕"


def test_half_a_surrogate_pair_survives(tmp_path):
    message = HumanMessage("cut off emoji: \ud83d")
    write_transcript([message], tmp_path / "chat.json")
    assert same(read_transcript(tmp_path / "chat.json"), [message])


@pytest.mark.parametrize("wanted", ["langchain", "gemini", "chatgpt", "sharegpt"])
def test_a_forced_format_that_does_not_fit_is_refused(wanted):
    content = json.dumps(export(CHAT, "a2")) if wanted != "chatgpt" else f"[{USER}]"
    with pytest.raises(TranscriptError):
        parse_transcript(content, format=wanted)


def test_unknown_formats_and_unreadable_paths_are_named(tmp_path):
    with pytest.raises(TranscriptError, match="format='yaml' is unknown"):
        parse_transcript(f"[{USER}]", format="yaml")
    with pytest.raises(TranscriptError, match=r"format='gemini' cannot be written; use one of .*chatgpt"):
        write_transcript([HumanMessage("x")], tmp_path / "x.json", format="gemini")
    with pytest.raises(TranscriptError, match="no messages to write"):
        write_transcript([], tmp_path / "x.json")
    for path in (tmp_path, tmp_path / "gone.json"):
        with pytest.raises(TranscriptError, match=f"{path}: it cannot be read"):
            read_transcript(path)
    for path in (None, 3, b"chat.json"):
        with pytest.raises(TranscriptError, match=r"path=.* is no path; pass the path of a transcript as a string"):
            read_transcript(path)
    with pytest.raises(TranscriptError, match=r"it cannot be read .*null"):
        read_transcript("chat\0.json")
    with pytest.raises(TranscriptError, match="it cannot be written"):
        write_transcript([HumanMessage("x")], tmp_path / "gone" / "x.json")


def test_writing_keeps_the_mode_of_the_file_and_follows_links(tmp_path):
    target, link = tmp_path / "chat.json", tmp_path / "link.json"
    target.write_text("old", encoding="utf-8")
    target.chmod(0o640)
    link.symlink_to(target)
    write_transcript([HumanMessage("x")], link)
    assert link.is_symlink()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert same(read_transcript(target), [HumanMessage("x")])
