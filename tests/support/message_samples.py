"""Messages of every class, with everything in them that a store has been seen to lose."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    ChatMessageChunk,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)

UNICODE = (
    "NUL \0, controls \x01\x1f\x7f, separators \u2028\u2029, 你好, שלום, مرحبا, हिन्दी, e\u0301, 👩‍👩‍👧‍👦🇺🇳, "
    "plane 16 \U0010ffff, noncharacters \ufffe\uffff, BOM \ufeff, lone \ud800 and \udfff, "
    "a pair of lone ones \ud83d\ude00"
)


class Colour(StrEnum):
    RED = "red"


CALL = {"name": "get_weather", "args": {"city": "Zürich", "days": [1, 2]}, "id": "call-1", "type": "tool_call"}
BROKEN_CALL = {"name": "f", "args": '{"a": ', "id": "call-2", "error": "no JSON", "type": "invalid_tool_call"}
USAGE = {
    "input_tokens": 350,
    "output_tokens": 240,
    "total_tokens": 590,
    "input_token_details": {"audio": 10, "cache_read": 100},
    "output_token_details": {"reasoning": 200},
}
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}

WHOLE: dict[str, BaseMessage] = {
    "human": HumanMessage("Hello", id="h1", name="ada"),
    "human with media": HumanMessage([{"type": "text", "text": "Look"}, PICTURE, "and say"]),
    "human with extra fields": HumanMessage("Hello", example=True, mood={"level": 3}),
    "empty": HumanMessage(""),
    "ai": AIMessage("Hi", id="a1", usage_metadata=USAGE, response_metadata={"model_name": "m", "logprobs": None}),
    "ai with calls": AIMessage("", tool_calls=[CALL], invalid_tool_calls=[BROKEN_CALL]),
    "ai with raw calls": AIMessage(
        "", additional_kwargs={"tool_calls": [{"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}]}
    ),
    "ai with blocks": AIMessage(
        [{"type": "text", "text": "Let me see"}, {"type": "tool_use", "id": "c", "name": "f", "input": {}}],
        tool_calls=[{"name": "f", "args": {}, "id": "c"}],
    ),
    "ai with unset defaults given": AIMessage("x", tool_calls=[], usage_metadata=None, id=None),
    "system": SystemMessage("Only GET requests", additional_kwargs={"__openai_role__": "developer"}),
    "tool": ToolMessage("22 °C", tool_call_id="call-1", name="get_weather", status="error", artifact={"raw": [1.5]}),
    "tool with blocks": ToolMessage([{"type": "text", "text": "a"}, PICTURE], tool_call_id="call-1"),
    "function": FunctionMessage("42", name="add"),
    "chat": ChatMessage("Hi", role="moderator"),
    "remove": RemoveMessage(id="h1"),
    "unicode": HumanMessage(UNICODE, additional_kwargs={UNICODE: [UNICODE]}, name=UNICODE),
    "unicode without surrogates": HumanMessage(UNICODE.encode(errors="replace").decode()),
    "constructor in disguise": HumanMessage(
        '{"lc": 1}',
        additional_kwargs={"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"]},
    ),
    "tags in disguise": HumanMessage(
        "", additional_kwargs={"a": {"$bytes": "AAAA"}, "b": {"$message": {"type": "ai"}}, "c": {"$dict": []}, "$d": 1}
    ),
    "calls with extras": AIMessage("").model_copy(update={"tool_calls": [{**CALL, "extras": {"signature": "s"}}]}),
}
ARTIFACTS = {
    "bytes": b"\x00\xff",
    "tuple": (1, ("a", b"b")),
    "set": {1, 2, ("a", 3)},
    "frozenset": frozenset({"a"}),
    "huge integers": [2**63, -(2**63) - 1, 10**6000],
    "integers of 64 bits": [2**63 - 1, -(2**63)],
    "floats": [0.1, -0.0, 1e-320, 1.7976931348623157e308],
    "keys of any kind": {1: "int", None: "none", (1, 2): "tuple", False: "no", 1.5: "float", "1": "text"},
    "moments": [
        datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC),
        datetime(2026, 1, 2, tzinfo=timezone(timedelta(hours=5, minutes=30))),
        datetime(2026, 1, 2),  # noqa: DTZ001  # a naive one must come back naive
        date(2026, 1, 2),
        time(3, 4),
    ],
    "uuid": UUID(int=7),
    "decimal": Decimal("1.10"),
    "enum": Colour.RED,
    "document": [Document("text", metadata={"page": 1, "raw": b"x"}, id="d")],
    "messages": [HumanMessage("inner", id="i"), AIMessage("", tool_calls=[CALL])],
    "None inside": {"a": None, "b": [None]},
    "nothing": {},
}
NOT_FINITE = [math.nan, math.inf, -math.inf]

CHUNKS: dict[str, tuple[BaseMessage, BaseMessage]] = {
    "ai": (
        AIMessageChunk("Hel", id="run-1") + AIMessageChunk("lo", usage_metadata=USAGE, chunk_position="last"),
        AIMessage("Hello", id="run-1", usage_metadata=USAGE),
    ),
    "ai with calls": (
        AIMessageChunk("", tool_call_chunks=[{"name": "f", "args": '{"a": 1}', "id": "c", "index": 0}]),
        AIMessage("", tool_calls=[{"name": "f", "args": {"a": 1}, "id": "c"}]),
    ),
    "human": (HumanMessageChunk("Hello"), HumanMessage("Hello")),
    "system": (SystemMessageChunk("Hello"), SystemMessage("Hello")),
    "tool": (ToolMessageChunk("1", tool_call_id="c", artifact=[1]), ToolMessage("1", tool_call_id="c", artifact=[1])),
    "function": (FunctionMessageChunk("1", name="f"), FunctionMessage("1", name="f")),
    "chat": (ChatMessageChunk("1", role="r"), ChatMessage("1", role="r")),
}

# Any code point, surrogates too.
any_text = st.text(st.characters(exclude_categories=()), max_size=20)
plain_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | any_text | st.binary(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(
            any_text | st.integers() | st.sampled_from(["$bytes", "$dict", "$message"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
contents = any_text | st.lists(any_text | st.dictionaries(any_text, plain_values, max_size=3), max_size=3)
optional_text = st.none() | any_text
call_args = st.dictionaries(any_text, plain_values, max_size=2)
calls = st.lists(
    st.builds(
        lambda name, args, i: {"name": name, "args": args, "id": i, "type": "tool_call"}, any_text, call_args, any_text
    ),
    max_size=2,
)
extras = st.dictionaries(any_text, plain_values, max_size=3)
messages = st.one_of(
    st.builds(HumanMessage, contents, additional_kwargs=extras, name=optional_text),
    st.builds(SystemMessage, contents, additional_kwargs=extras),
    st.builds(AIMessage, contents, tool_calls=calls, response_metadata=extras, name=optional_text),
    st.builds(ToolMessage, contents, tool_call_id=any_text, artifact=plain_values, name=optional_text),
    st.builds(ChatMessage, contents, role=any_text),
    st.builds(FunctionMessage, contents, name=any_text),
)
