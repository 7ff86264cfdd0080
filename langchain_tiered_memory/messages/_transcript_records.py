"""One message from one JSON record and back: LangChain's own JSON, and role and content as OpenAI writes them.

Nothing here revives an object: a record becomes a message by its `type` or `role`, looked up in the tables below, and
whatever a user wrote stays plain data, also when it has the shape of a serialised LangChain constructor.
"""

from __future__ import annotations

import difflib
from typing import Any, NoReturn

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

from langchain_tiered_memory.messages._transcript_calls import decode_calls, encode_calls
from langchain_tiered_memory.messages._transcript_source import fail, kind_of

__all__ = [
    "MESSAGE_TYPES",
    "OPENAI_ROLES",
    "PLAIN_ROLES",
    "decode_langchain",
    "decode_role",
    "encode_langchain",
    "encode_role",
    "is_langchain_record",
    "plain_fields",
]

MESSAGE_TYPES: dict[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
    "chat": ChatMessage,
    "remove": RemoveMessage,
    "HumanMessageChunk": HumanMessageChunk,
    "AIMessageChunk": AIMessageChunk,
    "SystemMessageChunk": SystemMessageChunk,
    "ToolMessageChunk": ToolMessageChunk,
    "FunctionMessageChunk": FunctionMessageChunk,
    "ChatMessageChunk": ChatMessageChunk,
}
_TYPE_OF_CLASS = {kind.__name__: name for name, kind in MESSAGE_TYPES.items()}

OPENAI_ROLES = ("system", "developer", "user", "assistant", "tool", "function")
PLAIN_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant"}
"""Other names that plain lists give the two speakers."""

_DEVELOPER = {"__openai_role__": "developer"}  # langchain_core's own mark of a developer message
_ROLE_KEYS = frozenset({"role", "content", "name", "id", "tool_calls", "tool_call_id"})
_FIELD_KINDS = {"additional_kwargs": dict, "response_metadata": dict, "tool_calls": list, "invalid_tool_calls": list}
_CALL_KEYS = {
    "tool_calls": ("name", "args", "id"),
    "invalid_tool_calls": ("name", "args", "id", "error"),
    "tool_call_chunks": ("name", "args", "id", "index"),
}
_ESCAPED = "__lc_escaped__"
_REPAIR_OF_CALL = 'write {"name": ..., "args": {...}, "id": ...}'
_REPAIR_OF_CALL_ID = "give it the id of the tool call that it answers"


def plain_fields(message: BaseMessage) -> dict[str, Any]:
    """Every field of a message as it stands, extra ones included, without pydantic's own conversions."""
    return {**message.__dict__, **(message.__pydantic_extra__ or {})}


# --- LangChain's JSON ------------------------------------------------------------------------------------------------


def is_langchain_record(value: dict[str, Any]) -> bool:
    """Tell `messages_to_dict`, `model_dump` and `dumpd` forms of a message from other records."""
    if value.get("lc") is not None and value.get("type") == "constructor":
        return True
    if "data" in value and "type" in value and "role" not in value:
        return True
    return "content" in value and value.get("type") in MESSAGE_TYPES


def decode_langchain(value: dict[str, Any], source: str, where: str) -> BaseMessage:
    """Build the message of a record in any of the three forms."""
    name, data = _type_and_data(value, source, where)
    kind = MESSAGE_TYPES.get(str(name))
    if kind is None:
        fail(source, where, f"{name!r} is no message type", _nearest(str(name), MESSAGE_TYPES))
    if not isinstance(data, dict):
        fail(source, where, f"its data is {kind_of(data)}", 'write {"type": ..., "data": {"content": ...}}')
    _check_content(data.get("content", "" if kind is RemoveMessage else None), source, where)
    for field, expected in _FIELD_KINDS.items():
        if field in data and not isinstance(data[field], expected):
            found, wanted = kind_of(data[field]), "an object" if expected is dict else "a list"
            fail(source, where, f"{field} is {found}", f"make it {wanted} or leave it out")
    required = {ToolMessage: "tool_call_id", ToolMessageChunk: "tool_call_id", RemoveMessage: "id"}.get(kind)
    if required is not None and not isinstance(data.get(required), str):
        problem = f"a {name} message has no {required}"
        fail(source, where, problem, _REPAIR_OF_CALL_ID if required == "tool_call_id" else "name the message to remove")
    return _restore(kind, data, source, where)


def _type_and_data(value: dict[str, Any], source: str, where: str) -> tuple[object, object]:
    if value.get("lc") is not None and value.get("type") == "constructor":
        path = value.get("id")
        name = path[-1] if isinstance(path, list) and path else path
        if not isinstance(name, str) or name not in _TYPE_OF_CLASS:
            problem = f"it is a serialised {name!r}, which is no message, and nothing but messages is read"
            fail(source, where, problem, f"keep only messages: {', '.join(_TYPE_OF_CLASS)}")
        return _TYPE_OF_CLASS[name], _unescape(value.get("kwargs"))
    if "data" in value:
        return value["type"], value["data"]
    return value["type"], value


def _unescape(value: object) -> object:
    """Take off the wrapper that `langchain_core.load.dumpd` puts round user data with an `lc` key; revive nothing."""
    if isinstance(value, list):
        return [_unescape(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and _ESCAPED in value:
        return value[_ESCAPED]  # dumpd leaves what is inside as it was
    return {key: _unescape(item) for key, item in value.items()}


def _restore(kind: type[BaseMessage], data: dict[str, Any], source: str, where: str) -> BaseMessage:
    """Construct, then put back what the constructor's normalising took away (a call's `extras`, unknown usage keys)."""
    arguments = {key: item for key, item in data.items() if key != "type"}
    for field in _CALL_KEYS.keys() & arguments.keys():
        arguments[field] = [_call_fields(call, field, source, where) for call in arguments[field] or []]
    try:
        message = kind(**arguments)
    except (ValueError, TypeError, KeyError) as error:
        fail(
            source,
            where,
            f"it is no {kind.__name__}: {_first_line(error)}",
            "correct the field",
            error,
        )
    fields = plain_fields(message)
    lost = {key: item for key, item in data.items() if key not in {"id", "type"} and fields.get(key) != item}
    return message.model_copy(update=lost) if lost else message


def _call_fields(call: object, field: str, source: str, where: str) -> dict[str, Any]:
    if not isinstance(call, dict):
        fail(source, where, f"an entry of {field} is {kind_of(call)}", _REPAIR_OF_CALL)
    missing = [key for key in ("name", "args", "id") if field == "tool_calls" and key not in call]
    if missing:
        fail(source, where, f"a tool call has no {missing[0]}", _REPAIR_OF_CALL)
    return {key: call[key] for key in _CALL_KEYS[field] if key in call}


def _first_line(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if callable(details):
        first = details(include_url=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error).partition("\n")[0]


def encode_langchain(message: BaseMessage) -> dict[str, Any]:
    """The form that `messages_from_dict` reads."""
    return {"type": message.type, "data": plain_fields(message)}


# --- role and content ------------------------------------------------------------------------------------------------


def decode_role(value: dict[str, Any], source: str, where: str, *, plain: bool = False) -> BaseMessage:
    """Build the message of a role and content record; `plain` also takes names such as "human" and "bot"."""
    role = value.get("role")
    known = {name: name for name in OPENAI_ROLES} | (PLAIN_ROLES if plain else {})
    if not isinstance(role, str) or role not in known:
        found = f"role {role!r} is unknown" if "role" in value else "it has no role"
        fail(source, where, found, _nearest(str(role), known))
    content = _role_content(value, known[role], source, where)
    for key in ("name", "id"):
        if not isinstance(value.get(key), str | None):
            fail(source, where, f"{key} is {kind_of(value[key])}", "make it a string or leave it out")
    extra = {key: item for key, item in value.items() if key not in _ROLE_KEYS}
    common = {"content": content, "name": value.get("name"), "id": value.get("id")}
    return _build_role(known[role], value, common, extra, source, where)


def _build_role(
    role: str, value: dict[str, Any], common: dict[str, Any], extra: dict[str, Any], source: str, where: str
) -> BaseMessage:
    if role != "assistant" and value.get("tool_calls"):
        fail(source, where, f"a {role} message has tool_calls", "only an assistant message can call tools")
    if role != "tool" and value.get("tool_call_id") is not None:
        fail(source, where, f"a {role} message has a tool_call_id", 'give it the role "tool", or remove the id')
    if role == "user":
        return HumanMessage(**common, additional_kwargs=extra)
    if role in {"system", "developer"}:
        return SystemMessage(**common, additional_kwargs=extra | (_DEVELOPER if role == "developer" else {}))
    if role == "assistant":
        calls, invalid, faithful = decode_calls(value.get("tool_calls"), source, where)
        if not faithful:
            extra = {**extra, "tool_calls": value["tool_calls"]}
        return AIMessage(**common, additional_kwargs=extra, tool_calls=calls, invalid_tool_calls=invalid)
    if role == "function":
        if common["name"] is None:
            fail(source, where, "a function message has no name", "name the function that it answers")
        return FunctionMessage(**common, additional_kwargs=extra)
    call_id = value.get("tool_call_id")
    if not isinstance(call_id, str) or not call_id:
        found = "no tool_call_id" if call_id is None else f"the tool_call_id {call_id!r}"
        fail(source, where, f"a tool message has {found}", _REPAIR_OF_CALL_ID)
    return ToolMessage(**common, tool_call_id=call_id, additional_kwargs=extra)


def _role_content(value: dict[str, Any], role: str, source: str, where: str) -> str | list[Any]:
    content = value.get("content")
    if content is None and role == "assistant":
        if "content" in value or any(value.get(key) for key in ("tool_calls", "function_call", "refusal", "audio")):
            return ""
        fail(source, where, "an assistant message has neither content nor tool_calls", "write what it said or called")
    if content is None:
        fail(source, where, f"a {role} message has no content", 'write its text, or "" if it had none')
    return _check_content(content, source, where)


def _check_content(content: object, source: str, where: str) -> str | list[Any]:
    if not isinstance(content, str | list):
        repair = "make it a string or a list of content blocks"
        fail(source, where, f"content is {kind_of(content)}", repair)
    if isinstance(content, list):
        for index, block in enumerate(content):
            if not isinstance(block, str | dict):
                problem = f"content block {index} is {kind_of(block)}"
                fail(source, where, problem, 'make it a string or an object such as {"type": "text", "text": ...}')
    return content


def _nearest(name: str, known: dict[str, Any]) -> str:
    close = difflib.get_close_matches(name.lower(), known, n=1)
    hint = f'did you mean "{close[0]}"? ' if close else ""
    return f"{hint}It must be one of {', '.join(known)}"


def encode_role(message: BaseMessage) -> dict[str, Any]:
    """The record of a message in OpenAI's form; what has no place in it is left out, for the caller to notice."""
    extra = dict(message.additional_kwargs)
    developer = isinstance(message, SystemMessage) and extra.get("__openai_role__") == "developer"
    if developer:
        del extra["__openai_role__"]
    record: dict[str, Any] = {"role": "developer" if developer else _role_of(message), "content": message.content}
    if message.name is not None:
        record["name"] = message.name
    if message.id is not None:
        record["id"] = message.id
    if isinstance(message, ToolMessage):
        record["tool_call_id"] = message.tool_call_id
    if isinstance(message, AIMessage):
        calls = encode_calls(message, extra.pop("tool_calls", None))
        if calls:
            record["tool_calls"] = calls
        if message.content == "" and (calls or any(extra.get(key) for key in ("function_call", "refusal", "audio"))):
            record["content"] = None
    return record | {key: item for key, item in extra.items() if key not in _ROLE_KEYS}


def _role_of(message: BaseMessage) -> str:
    if isinstance(message, ChatMessage):
        return message.role
    for kind, role in _ROLES.items():
        if isinstance(message, kind):
            return role
    return _no_role(message)


def _no_role(message: BaseMessage) -> NoReturn:
    msg = f"a {type(message).__name__} has no role"
    raise TypeError(msg)


_ROLES: dict[type[BaseMessage], str] = {
    HumanMessage: "user",
    AIMessage: "assistant",
    SystemMessage: "system",
    ToolMessage: "tool",
    FunctionMessage: "function",
}
