"""Anthropic's Messages API: requests with their top-level `system`, message lists and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened, as_object, call_of, content_of, nearest

__all__ = ["NAME", "open_conversation", "read", "takes"]

NAME = "anthropic"
_ROLES = ("user", "assistant", "system")
_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "document")
_SHAPE = '{"role": ..., "content": ...}'


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """A request, or an answer (`{"type": "message", ...}`)."""
    rest = {key: item for key, item in value.items() if key not in {"messages", "system", "content", "role"}}
    if value.get("type") == "message" and value.get("role") == "assistant" and "stop_reason" in value:
        return Opened([value], value.get("id"), None, rest)
    records = value.get("messages")
    if not isinstance(records, list) or not (_is_request(value) or takes([one for one in records if _is_object(one)])):
        return None
    system = value.get("system")
    if not isinstance(system, str | list | None):
        place.fail(f"system is {kind_of(system)}", "make it a string or a list of text blocks")
    return Opened([*([{"role": "system", "content": system}] if system else []), *records], None, None, rest)


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_request(value: dict[str, Any]) -> bool:
    tools = value.get("tools")
    by_tools = isinstance(tools, list) and any(_is_object(tool) and "input_schema" in tool for tool in tools)
    return "system" in value or "anthropic_version" in value or by_tools


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether a block is of a kind that only Anthropic's messages have."""
    blocks = [block for record in records if isinstance(record.get("content"), list) for block in record["content"]]
    own = any(_is_object(block) and block.get("type") in _BLOCKS for block in blocks)
    return own and all(record.get("role") in _ROLES and "tool_calls" not in record for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of records: each tool_result block becomes a tool message, in front of the rest of its turn."""
    messages: list[BaseMessage] = []
    for index, record in enumerate(records):
        here = place.at(f"message {index}")
        value = as_object(record, here, _SHAPE)
        role = value.get("role")
        if role not in _ROLES:
            here.fail(f"role {role!r} is unknown" if "role" in value else "it has no role", nearest(str(role), _ROLES))
        content = content_of(value.get("content"), here)
        if role == "system":
            messages.append(SystemMessage(content))
        elif role == "assistant":
            messages.append(_assistant(content, value.get("id"), here))
        else:
            messages += _user(content, here)
    return messages


def _assistant(content: str | list[Any], own_id: object, place: Place) -> AIMessage:
    calls = []
    for number, block in enumerate(content if isinstance(content, list) else []):
        if _is_object(block) and block.get("type") == "tool_use":
            calls.append(call_of(block.get("name"), block.get("input"), block.get("id"), place.at(f"block {number}")))
    return AIMessage(
        content,
        id=own_id if isinstance(own_id, str) else None,
        tool_calls=[call for call in calls if call["type"] == "tool_call"],
        invalid_tool_calls=[call for call in calls if call["type"] == "invalid_tool_call"],
    )


def _user(content: str | list[Any], place: Place) -> list[BaseMessage]:
    if isinstance(content, str):
        return [HumanMessage(content)]
    messages: list[BaseMessage] = []
    rest = []
    for number, block in enumerate(content):
        if not _is_object(block) or block.get("type") != "tool_result":
            rest.append(block)
            continue
        here = place.at(f"block {number}")
        call_id = block.get("tool_use_id")
        if not isinstance(call_id, str) or not call_id:
            here.fail("a tool_result has no tool_use_id", "give it the id of the tool_use that it answers")
        said = content_of(block.get("content") or "", here)
        messages.append(ToolMessage(said, tool_call_id=call_id, status="error" if block.get("is_error") else "success"))
    return [*messages, HumanMessage(rest)] if rest or not messages else messages
