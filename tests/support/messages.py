"""Generated messages of every class, with whatever may stand in their fields."""

from __future__ import annotations

from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
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

texts = st.text(max_size=30)
names = st.text("abcXYZ_-0129", min_size=1, max_size=12)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(texts, data, max_size=3)
# What a user may write that looks like something LangChain would bring to life.
lures = st.just({"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {}})
blocks = st.fixed_dictionaries({"type": st.just("text"), "text": texts}) | objects | lures | texts
contents = texts | st.lists(blocks, max_size=3)
calls = st.lists(
    st.fixed_dictionaries({"name": names, "args": objects, "id": names, "type": st.just("tool_call")}), max_size=3
)
invalid_calls = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.none() | names,
            "args": st.none() | texts,
            "id": st.none() | names,
            "error": st.none() | texts,
            "type": st.just("invalid_tool_call"),
        }
    ),
    max_size=2,
)
usage = st.none() | st.fixed_dictionaries(
    {"input_tokens": st.integers(0, 9), "output_tokens": st.integers(0, 9), "total_tokens": st.integers(0, 18)}
)
common = {
    "content": contents,
    "id": st.none() | names,
    "name": st.none() | names,
    "additional_kwargs": objects,
    "response_metadata": objects,
}
assistant = {**common, "tool_calls": calls, "invalid_tool_calls": invalid_calls, "usage_metadata": usage}
result = {**common, "tool_call_id": names, "artifact": data, "status": st.sampled_from(["success", "error"])}
spoken = {**common, "role": texts}
named = {**common, "name": names}
any_message = st.one_of(
    st.builds(HumanMessage, **common),
    st.builds(HumanMessageChunk, **common),
    st.builds(SystemMessage, **common),
    st.builds(SystemMessageChunk, **common),
    st.builds(AIMessage, **assistant),
    st.builds(AIMessageChunk, **assistant),
    st.builds(ToolMessage, **result),
    st.builds(ToolMessageChunk, **result),
    st.builds(FunctionMessage, **named),
    st.builds(FunctionMessageChunk, **named),
    st.builds(ChatMessage, **spoken),
    st.builds(ChatMessageChunk, **spoken),
    names.map(lambda name: RemoveMessage(id=name)),
)
