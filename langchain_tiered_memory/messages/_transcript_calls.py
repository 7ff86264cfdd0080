"""Tool calls as OpenAI writes them, with arguments in a string, and as LangChain holds them, parsed."""

from __future__ import annotations

import json
from typing import Any

from langchain_core.messages import AIMessage, InvalidToolCall, ToolCall

from langchain_tiered_memory.messages._transcript_source import fail, faithful_loads, kind_of

__all__ = ["decode_calls", "encode_calls"]

_SHAPE = '{"id": ..., "type": "function", "function": {"name": ..., "arguments": "{...}"}}'


def decode_calls(raw: object, source: str, where: str) -> tuple[list[ToolCall], list[InvalidToolCall], bool]:
    """Parse the `tool_calls` of a record, and say whether they can be written again from what was parsed.

    Where they cannot (a custom tool, unknown keys, a doubled key or too long a number in the arguments, a broken call
    before a sound one), the caller keeps the raw calls too.
    """
    if raw is None:
        return [], [], True
    if not isinstance(raw, list):
        fail(source, where, f"tool_calls is {kind_of(raw)}", f"make it a list of {_SHAPE}")
    calls: list[ToolCall] = []
    invalid: list[InvalidToolCall] = []
    faithful = True
    for index, entry in enumerate(raw):
        place = f"{where}, tool call {index}" if where else f"tool call {index}"
        call, exact = _decode_call(entry, source, place)
        faithful = faithful and exact
        if call["type"] == "tool_call":
            faithful = faithful and not invalid
            calls.append(call)
        else:
            invalid.append(call)
    return calls, invalid, faithful


def _decode_call(entry: object, source: str, where: str) -> tuple[Any, bool]:
    if not isinstance(entry, dict):
        fail(source, where, f"it is {kind_of(entry)}", f"write {_SHAPE}")
    call_id = entry.get("id")
    if not isinstance(call_id, str) or not call_id:
        fail(
            source,
            where,
            "it has no id",
            "give it one, and give the tool message that answers it the same tool_call_id",
        )
    custom = entry.get("custom")
    if isinstance(custom, dict) and isinstance(custom.get("name"), str) and isinstance(custom.get("input"), str):
        # langchain_openai names the one argument of a free-text tool so
        arguments = {"__arg1": custom["input"]}
        return ToolCall(name=custom["name"], args=arguments, id=call_id, type="tool_call"), False
    function = entry.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        fail(source, where, "it names no function", f"write {_SHAPE}")
    name, raw = function["name"], function.get("arguments")
    exact = set(entry) == {"id", "type", "function"} and set(function) == {"name", "arguments"}
    exact = exact and entry["type"] == "function"
    if isinstance(raw, dict):  # not OpenAI's form, but written by servers that follow it
        return ToolCall(name=name, args=raw, id=call_id, type="tool_call"), False
    if raw is None or raw == "":  # how models call a tool without parameters; langchain_core reads it so too
        return ToolCall(name=name, args={}, id=call_id, type="tool_call"), False
    if not isinstance(raw, str):
        fail(source, where, f"arguments is {kind_of(raw)}", "make it a string that holds a JSON object")
    try:
        parsed, unchanged = faithful_loads(raw)
    except ValueError:
        parsed, unchanged = None, True
    if isinstance(parsed, dict):
        return ToolCall(name=name, args=parsed, id=call_id, type="tool_call"), exact and unchanged
    broken = InvalidToolCall(name=name, args=raw, id=call_id, error=None, type="invalid_tool_call")
    return broken, exact


def encode_calls(message: AIMessage, raw: object) -> list[Any]:
    """Write calls in OpenAI's form, from the raw ones where these still say the same."""
    if isinstance(raw, list) and _still_true(raw, message):
        return raw
    written = [(call, json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
    written += [(broken, broken["args"]) for broken in message.invalid_tool_calls]  # type: ignore[misc]  # both have name and id
    return [
        {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}
        for call, arguments in written
    ]


def _still_true(raw: list[Any], message: AIMessage) -> bool:
    try:
        calls, invalid, _ = decode_calls(raw, "", "")
    except ValueError:
        return False
    return (calls, invalid) == (message.tool_calls, message.invalid_tool_calls)
