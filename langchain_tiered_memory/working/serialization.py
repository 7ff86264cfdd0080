"""Messages to JSON text and back, exactly.

Every store keeps a message as JSON of plain data and reads it back through a fixed table of classes: nothing that was
stored is ever revived into an arbitrary object. What JSON cannot say is written as an object with one key that begins
with `$`; such an object in a user's own data is itself written so, and therefore never mistaken for one.

| value | stored as |
|---|---|
| tuple, set, frozenset, bytes | `{"$tuple": [...]}`, `{"$set": [...]}`, `{"$frozenset": [...]}`, `{"$bytes": base64}` |
| datetime, date, time, UUID, Decimal | `{"$datetime": text}` and so on |
| an integer beyond 64 bits | `{"$int": hexadecimal}` |
| text with lone surrogates | `{"$text": base64}` |
| a dict whose keys are not all text, or that looks like one of these | `{"$dict": [[key, value], ...]}` |
| a LangChain message or document inside an artifact | `{"$message": {...}}`, `{"$document": {...}}` |

Anything else (a client object in a tool's artifact, data that contains itself) is stored as `{"$not_stored": type}`
and read back as that: a message that a model was paid for is never refused for what a tool has put beside it.
"""

from __future__ import annotations

import base64
import json
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import ConfigDict, TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

__all__ = ["decode_message", "encode_message", "nearest_class", "whole_message"]

_CLASSES: Final[dict[str, type[BaseMessage]]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
    "chat": ChatMessage,
    "remove": RemoveMessage,
}
_TAGS: Final = {cls: tag for tag, cls in _CLASSES.items()}
_REQUIRED: Final = {
    cls: frozenset(name for name, field in cls.model_fields.items() if field.is_required()) for cls in _CLASSES.values()
}
# In the order of the fields, which a message is shown in; the factories' values are put in afterwards.
_DEFAULTS: Final = {cls: {name: field.default for name, field in cls.model_fields.items()} for cls in _CLASSES.values()}
_FACTORIES: Final[dict[type[BaseMessage], list[tuple[str, Any]]]] = {
    cls: [(name, field.default_factory) for name, field in cls.model_fields.items() if field.default_factory]
    for cls in _CLASSES.values()
}
# A chunk is stored as the message that it adds up to; `type` follows from the class.
_NOT_STORED: Final = frozenset({"type", "tool_call_chunks", "chunk_position"})
_LONGEST_INTEGER: Final = 1 << 63
_nearest: dict[type, type[BaseMessage]] = {}

# For plain data the same text, in a third of the time.
_dump_fast = TypeAdapter(dict[str, Any], config=ConfigDict(ser_json_inf_nan="constants")).dump_json
_dump = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


# --- to text ---------------------------------------------------------------------------------------------------------


def nearest_class(message: Any) -> type[BaseMessage]:  # noqa: ANN401  # callers without type checks too
    """The class that a message is read back as: its own, or the nearest of langchain-core's message classes above it.

    A chunk is read back as a whole message. Fields that a subclass declares are kept as extra fields.

    Raises:
        TypeError: `message` is no message, or a direct subclass of `BaseMessage` that could not be read back.
    """
    cls = type(message)
    known = _nearest.get(cls)
    if known is None:
        if not isinstance(message, BaseMessage):
            msg = f"expected a message, got {cls.__name__}: {message!r:.80}. Wrap text in a HumanMessage or AIMessage"
            raise TypeError(msg)
        known = next((base for base in cls.__mro__ if base in _TAGS), None)
        if known is None:
            msg = (
                f"{cls.__name__} derives from none of langchain-core's message classes, so it could not be read back. "
                f"Derive it from one of {', '.join(sorted(c.__name__ for c in _TAGS))}, or use ChatMessage(role=...)"
            )
            raise TypeError(msg)
        _nearest[cls] = known
    return known


def whole_message(message: BaseMessage) -> BaseMessage:
    """The whole message that a chunk stands for, as the class that it is stored as; a whole message itself."""
    cls = nearest_class(message)
    if cls is type(message):
        return message
    values = {name: value for name, value in message.__dict__.items() if name not in _NOT_STORED}
    given = message.model_fields_set - _NOT_STORED
    return _build(cls, values | (message.model_extra or {}), given)


def encode_message(message: BaseMessage, message_id: str | None = None) -> tuple[str, list[str]]:
    """Write a message as JSON text that `decode_message` reads back exactly.

    Args:
        message: Any of langchain-core's messages; it is not changed.
        message_id: The id to write, where the message has none of its own.

    Returns:
        The text, and what in the message could not be stored: each as its place and its type.

    Raises:
        TypeError: It is no message.
    """
    try:
        # Takes neither lone surrogates nor more than 255 levels.
        return _dump_fast(_fields_of(message, message_id, None)).decode(), []
    except (ValueError, RecursionError, _NotStorableError):
        left_out: list[str] = []
        fields = {name: _dumped(name, value, left_out) for name, value in _given(message, message_id).items()}
        return "{" + ",".join(f"{_dump(name)}:{text}" for name, text in fields.items()) + "}", left_out


class _NotStorableError(TypeError):
    """Raised where a value cannot be stored, and nobody keeps a list of such values."""


def _dumped(name: str, value: Any, left_out: list[str]) -> str:  # noqa: ANN401  # any field of a message
    before = len(left_out)
    try:
        return _dump(_to_plain(value, name, left_out))
    except RecursionError:
        del left_out[before:]
        left_out.append(f"{name}: a {type(value).__name__} that is nested too deeply, or contains itself")
        note = {"$not_stored": type(value).__name__}
        return _dump([note] if name == "content" else note)


def _given(message: BaseMessage, message_id: str | None) -> dict[str, Any]:
    """What is stored of a message, by the names of its fields."""
    cls = nearest_class(message)
    fields: dict[str, Any] = {"type": _TAGS[cls]}
    given = message.model_fields_set
    defaults = _DEFAULTS[cls]
    for name, value in message.__dict__.items():
        # What was never set and is empty is a default that a factory made.
        if name in _NOT_STORED or (name not in given and (not value or value == defaults.get(name))):
            continue
        fields[name] = value
    if message.model_extra:
        fields |= message.model_extra
    if message_id is not None:
        fields["id"] = message_id
    return fields


def _fields_of(message: BaseMessage, message_id: str | None, left_out: list[str] | None) -> dict[str, Any]:
    fields = _given(message, message_id)
    for name, value in fields.items():
        if left_out is not None or type(value) is not str:
            fields[name] = _to_plain(value, name, left_out)
    return fields


def _to_plain(value: Any, where: str, left_out: list[str] | None) -> Any:  # noqa: ANN401  # any data
    """A value as JSON can say it.

    Args:
        value: The value.
        where: Its place in the message.
        left_out: Gets what cannot be stored; `None` raises there, and takes it that there are no lone surrogates.
    """
    kind = type(value)
    if kind is str:
        return value if left_out is None else _tagged_text(value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        return value if -_LONGEST_INTEGER <= value < _LONGEST_INTEGER else {"$int": hex(value)}
    if kind is dict:
        return _plain_dict(value, where, left_out)
    if kind is list:
        return [_to_plain(item, f"{where}[{index}]", left_out) for index, item in enumerate(value)]
    return _plain_rare(value, where, left_out)


def _plain_dict(value: dict[Any, Any], where: str, left_out: list[str] | None) -> dict[str, Any]:
    has_plain_keys = all(type(key) is str and (left_out is None or not _has_surrogates(key)) for key in value)
    if has_plain_keys and not (len(value) == 1 and next(iter(value)).startswith("$")):
        return {key: _to_plain(item, f"{where}.{key}", left_out) for key, item in value.items()}
    return {
        "$dict": [
            [_to_plain(key, f"{where} key", left_out), _to_plain(item, f"{where}[{key!r}]", left_out)]
            for key, item in value.items()
        ]
    }


def _plain_rare(value: Any, where: str, left_out: list[str] | None) -> Any:  # noqa: ANN401  # as above
    rare = _RARE.get(tuple if isinstance(value, tuple) else type(value))
    if rare is not None:
        tag, to_plain = rare
        return {tag: _to_plain(to_plain(value), where, left_out)}
    # Subclasses of plain types, such as enumerations of text or the dicts of a client library, are their plain value.
    for kind, plain_value in _SUBCLASSED:
        if isinstance(value, kind):
            return _to_plain(plain_value(value), where, left_out)
    if isinstance(value, BaseMessage) and any(base in _TAGS for base in type(value).__mro__):
        return {"$message": _fields_of(value, None, left_out)}
    from langchain_core.documents import Document  # noqa: PLC0415  # only where an artifact holds something unusual

    if isinstance(value, Document):
        document = {"page_content": value.page_content, "metadata": value.metadata, "id": value.id}
        return {"$document": _to_plain(document, where, left_out)}
    if left_out is None:
        raise _NotStorableError(where)
    type_name = f"{type(value).__module__}.{type(value).__qualname__}"
    left_out.append(f"{where}: {type_name}")
    return {"$not_stored": type_name}


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _tagged_text(text: str) -> str | dict[str, str]:
    return {"$text": _base64(text.encode("utf-8", "surrogatepass"))} if _has_surrogates(text) else text


def _base64(data: bytes | bytearray) -> str:
    return base64.b64encode(data).decode()


# By exact class, since a subclass may know more: pandas' Timestamp is a datetime with nanoseconds.
_RARE: Final[dict[type, tuple[str, Callable[[Any], Any]]]] = {
    tuple: ("$tuple", list),
    bytes: ("$bytes", _base64),
    bytearray: ("$bytes", _base64),
    datetime: ("$datetime", datetime.isoformat),
    date: ("$date", date.isoformat),
    time: ("$time", time.isoformat),
    UUID: ("$uuid", str),
    Decimal: ("$decimal", str),
    set: ("$set", list),
    frozenset: ("$frozenset", list),
}


_SUBCLASSED: Final[tuple[tuple[type, Callable[[Any], Any]], ...]] = (
    (str, str.__str__),
    (int, int),
    (float, float),
    (dict, dict),
    (list, list),
)


# --- and back ---------------------------------------------------------------------------------------------------------


def decode_message(text: str) -> BaseMessage:
    """Read a message that `encode_message` wrote.

    Raises:
        ValueError: The text is no such message.
    """
    # The hook costs a call per object, and almost no message has anything that needs it.
    fields = json.loads(text, object_hook=_revive) if '"$' in text else json.loads(text)
    if not isinstance(fields, dict):
        msg = f"a stored message is a JSON object, not {type(fields).__name__}"
        raise ValueError(msg)  # noqa: TRY004  # the store's content is wrong, not an argument's type
    return _from_fields(fields)


def _from_fields(fields: dict[str, Any]) -> BaseMessage:
    """The message of some fields; one of a type that only a newer version knows is read as a `ChatMessage`."""
    kind = fields.pop("type", None)
    cls = _CLASSES.get(kind, ChatMessage)
    if cls is ChatMessage and isinstance(kind, str):
        fields.setdefault("role", kind)
    content = fields.get("content", ())
    if content is None:  # some clients write it for an answer of calls alone
        fields["content"] = ""
    if not isinstance(kind, str) or not _REQUIRED[cls] <= fields.keys() or not isinstance(content, str | list | None):
        msg = f"a stored message has a type and its fields; found the fields {sorted(fields)}"
        raise ValueError(msg)
    return _build(cls, fields, fields)


def _build(cls: type[BaseMessage], values: dict[str, Any], given: Collection[str]) -> BaseMessage:
    """Make a message of these values as they are.

    A validator would change some (it drops `extras` of tool calls), and pydantic's `model_construct` takes 24 µs where
    this takes 4. `__setstate__` is what pydantic itself unpickles by.
    """
    fields = _DEFAULTS[cls].copy()
    for name, factory in _FACTORIES[cls]:
        fields[name] = factory()
    extra = {}
    for name, value in values.items():
        if name in fields:
            fields[name] = value
        else:
            extra[name] = value
    message = cls.__new__(cls)
    message.__setstate__(
        {
            "__dict__": fields,
            "__pydantic_extra__": extra,
            "__pydantic_fields_set__": set(given),
            "__pydantic_private__": None,
        }
    )
    return message


def _document(fields: dict[str, Any]) -> Any:  # noqa: ANN401  # a Document, imported on use
    from langchain_core.documents import Document  # noqa: PLC0415  # as above

    return Document(**fields)


_REVIVERS: Final[dict[str, Callable[[Any], Any]]] = {
    "$tuple": tuple,
    "$bytes": base64.b64decode,
    "$datetime": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$time": time.fromisoformat,
    "$uuid": UUID,
    "$decimal": Decimal,
    "$set": set,
    "$frozenset": frozenset,
    "$int": lambda text: int(text, 16),
    "$text": lambda text: base64.b64decode(text).decode("utf-8", "surrogatepass"),
    "$dict": dict,
    "$message": _from_fields,
    "$document": _document,
}


def _revive(value: dict[str, Any]) -> Any:  # noqa: ANN401  # whatever was stored
    if len(value) == 1:
        ((tag, content),) = value.items()
        reviver = _REVIVERS.get(tag)
        if reviver is not None:
            return reviver(content)
    return value
