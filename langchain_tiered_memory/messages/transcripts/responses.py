"""OpenAI's Responses API: requests with `input` and `instructions`, lists of items, and answers with `output`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import (
    Opened,
    as_object,
    call_of,
    content_of,
    join_assistant,
    nearest,
)

__all__ = ["NAME", "open_conversation", "read", "takes"]

NAME = "responses"
_ROLES = {"user": HumanMessage, "system": SystemMessage, "developer": SystemMessage, "assistant": AIMessage}
_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_RESULTS = ("function_call_output", "custom_tool_call_output")
_ITEMS = ("message", "reasoning", *_CALLS, *_RESULTS)
_TEXTS = ("input_text", "output_text")


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """A request, or an answer."""
    body = value.get("body", value)
    if isinstance(value.get("response"), dict):
        body = value["response"].get("body", body)
    if not isinstance(body, dict) or "role" in body:
        return None
    key = next((name for name in ("input", "output") if name in body), None)
    if key is None or (key == "output" and body.get("object") != "response"):
        return None
    items = body[key]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list):
        place.fail(f"{key} is {kind_of(items)}", "make it a string or a list of items")
    instructions = body.get("instructions")
    first = [{"role": "system", "content": instructions}] if isinstance(instructions, str) and instructions else []
    rest = {name: item for name, item in body.items() if name not in {key, "instructions"}}
    own_id = value.get("custom_id") or body.get("id")
    return Opened([*first, *items], None if own_id is None else str(own_id), None, rest)


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether an item is of a type that only this API has."""
    types = {record.get("type") for record in records if isinstance(record.get("type"), str)}
    return bool(types & {*_ITEMS}) and not any("data" in record for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of items: what an assistant thought, said and called in a row is one message."""
    messages: list[BaseMessage] = []
    for index, record in enumerate(records):
        here = place.at(f"item {index}")
        item = as_object(record, here, '{"type": "message", "role": ..., "content": ...}')
        kind = str(item.get("type", "message"))
        if kind == "message":
            _add_message(messages, item, here)
        elif kind in _CALLS:
            arguments = item.get(_CALLS[kind])
            if kind == "custom_tool_call":
                arguments = {"__arg1": arguments}  # langchain_openai names the one argument of a free-text tool so
            call = call_of(item.get("name"), arguments, item.get("call_id"), here)
            field = "tool_calls" if call["type"] == "tool_call" else "invalid_tool_calls"
            join_assistant(messages, AIMessage("", **{field: [call]}))
        elif kind in _RESULTS:
            call_id, output = item.get("call_id"), item.get("output", "")
            if not isinstance(call_id, str) or not call_id:
                here.fail("it has no call_id", "give it the id of the call that it answers")
            said = output if isinstance(output, str | list) else json.dumps(output, ensure_ascii=False)
            messages.append(ToolMessage(_blocks(said, here), tool_call_id=call_id))
        else:  # reasoning, and what the API's own tools did
            join_assistant(messages, AIMessage([item]))
    return messages


def _add_message(messages: list[BaseMessage], item: dict[str, Any], place: Place) -> None:
    role: Any = item.get("role")
    if role not in list(_ROLES):
        place.fail(f"role {role!r} is unknown" if "role" in item else "it has no role", nearest(str(role), _ROLES))
    content = _blocks(content_of(item.get("content"), place), place)
    own_id = item["id"] if isinstance(item.get("id"), str) else None
    if role == "assistant":
        join_assistant(messages, AIMessage(content, id=own_id))
    else:
        extra = {"__openai_role__": "developer"} if role == "developer" else {}
        messages.append(_ROLES[role](content=content, id=own_id, additional_kwargs=extra))


def _blocks(content: str | list[Any], place: Place) -> str | list[Any]:
    """Content with its texts as text blocks; a single text without anything else as mere text."""
    if isinstance(content, str):
        return content
    content_of(content, place)
    blocks = [
        {**block, "type": "text"} if isinstance(block, dict) and block.get("type") in _TEXTS else block
        for block in content
    ]
    only = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    return only["text"] if only.get("type") == "text" and not only.get("annotations") else blocks
