"""LangChain's own JSON of messages: `messages_to_dict`, `model_dump` and `dumpd`; carries every field of every class.

Nothing here revives an object: a record becomes a message by its `type`, looked up in a table, and whatever a user
wrote stays plain data, also when it has the shape of a serialised LangChain constructor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened, as_object, nearest

__all__ = ["CLASSES", "NAME", "fields_of", "open_conversation", "read", "read_message", "takes", "write_message"]

NAME = "langchain"
CLASSES: tuple[type[BaseMessage], ...] = (
    HumanMessage,
    AIMessage,
    SystemMessage,
    ToolMessage,
    FunctionMessage,
    ChatMessage,
    RemoveMessage,
    HumanMessageChunk,
    AIMessageChunk,
    SystemMessageChunk,
    ToolMessageChunk,
    FunctionMessageChunk,
    ChatMessageChunk,
)
_BY_TYPE: dict[str, type[BaseMessage]] = {cls.model_fields["type"].default: cls for cls in CLASSES}
_TYPES = {cls.__name__: name for name, cls in _BY_TYPE.items()}
_CALL_KEYS = {
    "tool_calls": ("name", "args", "id"),
    "invalid_tool_calls": ("name", "args", "id", "error"),
    "tool_call_chunks": ("name", "args", "id", "index"),
}
_ESCAPED = "__lc_escaped__"


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:  # noqa: ARG001  # as every format
    """None: what holds LangChain's messages is opened as `{"messages": [...]}`."""
    return None


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether the first record is a message as LangChain writes it."""
    first = records[0] if records else {}
    return _is_record(first) and ("role" not in first or str(first["type"]).lower().startswith("chat"))


def _is_record(value: dict[str, Any]) -> bool:
    if value.get("lc") is not None and value.get("type") == "constructor":
        return True
    if "data" in value and "type" in value and "role" not in value:
        return True
    return "content" in value and value.get("type") in list(_BY_TYPE)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of records in any of the three forms."""
    return [read_message(record, place.at(f"message {index}")) for index, record in enumerate(records)]


def read_message(record: object, place: Place) -> BaseMessage:
    """The message of one record.

    Raises:
        TranscriptError: It is none, or one that its class refuses.
    """
    value = as_object(record, place, '{"type": ..., "data": {...}}')
    if not _is_record(value):
        keys = ", ".join(map(repr, list(value)[:6])) or "no keys"
        place.fail(f"it has {keys}, which is no message of the format langchain", 'write {"type": ..., "data": {...}}')
    name, data = _type_and_data(value, place)
    cls = _BY_TYPE.get(str(name))
    if cls is None:
        place.fail(f"{name!r} is no message type", nearest(str(name), _BY_TYPE))
    if not isinstance(data, dict):
        place.fail(f"its data is {kind_of(data)}", 'write {"type": ..., "data": {"content": ...}}')
    try:
        arguments: dict[str, Any] = {key: _known_keys(key, item) for key, item in data.items() if key != "type"}
        message: BaseMessage = cls(**arguments)
    except (ValueError, TypeError, KeyError) as error:
        details = getattr(error, "errors", None)
        first = details(include_url=False)[0] if callable(details) else None
        reason = f"{'.'.join(map(str, first['loc']))}: {first['msg']}" if first else str(error).partition("\n")[0]
        place.fail(f"it is no {cls.__name__}: {reason}", "correct the field", error)
    # Put back what the constructor's normalising took away (a call's extras, unknown keys of usage).
    fields = fields_of(message)
    lost = {key: item for key, item in data.items() if key not in {"id", "type"} and fields.get(key) != item}
    return message.model_copy(update=lost) if lost else message


def _type_and_data(value: dict[str, Any], place: Place) -> tuple[object, object]:
    if value.get("lc") is not None and value.get("type") == "constructor":
        path = value.get("id")
        name = path[-1] if isinstance(path, list) and path else path
        if not isinstance(name, str) or name not in _TYPES:
            problem = f"it is a serialised {name!r}, which is no message, and nothing but messages is read"
            place.fail(problem, f"keep only messages: {', '.join(_TYPES)}")
        return _TYPES[name], _unescape(value.get("kwargs"))
    return value["type"], value.get("data", value)


def _unescape(value: object) -> object:
    """Take off the wrapper that `langchain_core.load.dumpd` puts round user data with an `lc` key; revive nothing."""
    if isinstance(value, list):
        return [_unescape(item) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) == 1 and _ESCAPED in value:
        return value[_ESCAPED]  # dumpd leaves what is inside as it was
    return {key: _unescape(item) for key, item in value.items()}


def _known_keys(field: str, value: object) -> object:
    """Calls with the keys that their constructors take."""
    if field not in _CALL_KEYS or not isinstance(value, list):
        return value
    keys = _CALL_KEYS[field]
    return [{key: call[key] for key in keys if key in call} if isinstance(call, dict) else call for call in value]


def fields_of(message: BaseMessage) -> dict[str, Any]:
    """Every field of a message as it stands, extra ones included, without pydantic's own conversions."""
    return {**message.__dict__, **(message.__pydantic_extra__ or {})}


def write_message(message: BaseMessage) -> dict[str, Any]:
    """The record of a message, in the form that `messages_from_dict` reads."""
    return {"type": message.type, "data": fields_of(message)}
