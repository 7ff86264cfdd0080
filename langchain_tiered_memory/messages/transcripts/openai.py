"""OpenAI's chat completions: requests, message lists, JSON lines, batch files and answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import (
    Opened,
    as_object,
    call_of,
    content_of,
    nearest,
    text_of,
)

__all__ = ["NAME", "open_conversation", "read", "read_message", "takes", "write_message"]

NAME = "openai"
_CLASSES: dict[str, type[BaseMessage]] = {
    "user": HumanMessage,
    "assistant": AIMessage,
    "system": SystemMessage,
    "developer": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
}
_DEVELOPER = {"__openai_role__": "developer"}  # langchain_core's own mark of a developer message
_KEYS = frozenset({"role", "content", "name", "id", "tool_calls", "tool_call_id"})
_SHAPE = '{"role": ..., "content": ...}'
_CALL = '{"id": ..., "type": "function", "function": {"name": ..., "arguments": "{...}"}}'


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """A request, or the body of a line of a batch file, or an answer with its choices."""
    body = value.get("body", value)
    if isinstance(value.get("response"), dict):
        body = value["response"].get("body", body)
    if not isinstance(body, dict):
        return None
    own_id = value.get("custom_id") or body.get("id")
    rest = {key: item for key, item in body.items() if key not in {"messages", "choices"}}
    if isinstance(body.get("choices"), list):
        records = [choice.get("message") if isinstance(choice, dict) else choice for choice in body["choices"][:1]]
    elif "messages" in body and "mapping" not in body and "role" not in body:
        records = body["messages"]
        if not isinstance(records, list):
            place.fail(f"messages is {kind_of(records)}", "make it a list of messages")
    else:
        return None
    title = body.get("title")
    return Opened(records, None if own_id is None else str(own_id), title and str(title), rest)


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether every role is one of OpenAI's."""
    return all(record.get("role") in list(_CLASSES) for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of records with a role and a content."""
    return [read_message(record, place.at(f"message {index}")) for index, record in enumerate(records)]


def read_message(record: object, place: Place) -> BaseMessage:
    """The message of one record.

    Raises:
        TranscriptError: It is none.
    """
    value = as_object(record, place, _SHAPE)
    role: Any = value.get("role")
    if role not in list(_CLASSES):
        keys = ", ".join(map(repr, list(value)[:6])) or "no keys"
        found = f"role {role!r} is unknown" if "role" in value else f"it has {keys}, which is no message"
        place.fail(found, nearest(str(role), _CLASSES) if "role" in value else f"write {_SHAPE}")
    content = value.get("content")
    if content is None and role == "assistant":
        if not value.keys() & {"content", "tool_calls", "function_call", "refusal", "audio"}:
            place.fail("an assistant message has neither content nor tool_calls", "write what it said or called")
        content = ""
    elif content is None:
        place.fail(f"a {role} message has no content", 'write its text, or "" if it had none')
    fields: dict[str, Any] = {key: text_of(value.get(key), key, place) for key in ("name", "id")}
    fields["content"] = content_of(content, place)
    fields["additional_kwargs"] = {key: item for key, item in value.items() if key not in _KEYS}
    if role == "developer":
        fields["additional_kwargs"] |= _DEVELOPER
    if value.get("tool_calls"):
        if role != "assistant":
            place.fail(f"a {role} message has tool_calls", "only an assistant message can call tools")
        fields |= _calls(value["tool_calls"], place)
    if role == "function" and fields["name"] is None:
        place.fail("a function message has no name", "name the function that it answers")
    return _CLASSES[role](**fields, **_call_id(role, value.get("tool_call_id"), place))


def _call_id(role: str, call_id: object, place: Place) -> dict[str, Any]:
    if role == "tool":
        if not isinstance(call_id, str) or not call_id:
            place.fail(f"a tool message has the tool_call_id {call_id!r}", "give it the id of the call that it answers")
        return {"tool_call_id": call_id}
    if call_id is not None:
        place.fail(f"a {role} message has a tool_call_id", 'give it the role "tool", or remove the id')
    return {}


def _calls(raw: object, place: Place) -> dict[str, list[Any]]:
    if not isinstance(raw, list):
        place.fail(f"tool_calls is {kind_of(raw)}", f"make it a list of {_CALL}")
    found = []
    for index, value in enumerate(raw):
        here = place.at(f"tool call {index}")
        entry = as_object(value, here, _CALL)
        function = entry.get("function")
        if isinstance(entry.get("custom"), dict):  # langchain_openai names the one argument of a free-text tool so
            function = {"name": entry["custom"].get("name"), "arguments": {"__arg1": entry["custom"].get("input")}}
        function = function if isinstance(function, dict) else {}
        found.append(call_of(function.get("name"), function.get("arguments"), entry.get("id"), here))
    return {f"{kind}s": [call for call in found if call["type"] == kind] for kind in ("tool_call", "invalid_tool_call")}


def write_message(message: BaseMessage, place: Place) -> dict[str, Any]:
    """The record of a message; what has no place in it is left out, for the caller to notice.

    Raises:
        TranscriptError: It is of a class without a role.
    """
    role = next((role for role, cls in _CLASSES.items() if isinstance(message, cls)), None)
    if role is None:
        place.fail(f"a {type(message).__name__} has no role", 'write format="langchain", which has a place for it')
    extra = dict(message.additional_kwargs)
    if role == "system":
        role = extra.pop("__openai_role__", role)
    record: dict[str, Any] = {"role": role, "content": message.content}
    record |= {
        key: value for key in ("name", "id", "tool_call_id") if (value := getattr(message, key, None)) is not None
    }
    if isinstance(message, AIMessage):
        calls = [(call, json.dumps(call["args"], ensure_ascii=False)) for call in message.tool_calls]
        calls += [(broken, broken["args"]) for broken in message.invalid_tool_calls]  # type: ignore[misc]  # both have name and id
        if calls:
            record["tool_calls"] = [
                {"id": call["id"], "type": "function", "function": {"name": call["name"], "arguments": arguments}}
                for call, arguments in calls
            ]
        if message.content == "" and (calls or extra.keys() & {"function_call", "refusal", "audio"}):
            record["content"] = None
    return record | {key: item for key, item in extra.items() if key not in _KEYS}
