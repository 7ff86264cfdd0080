"""What messages and tool schemas cost in OpenAI's chat format, for any way of counting text.

The formulas are those of OpenAI's cookbook, "How to count tokens with tiktoken": three tokens per message, one more for
a name, three that prime the reply; for tools, one flat level of properties, so objects inside objects and lists of
objects are charged by the same rule again. Calls and results are counted as langchain-openai sends them.
"""

from __future__ import annotations

import base64
import contextlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage, FunctionMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic_core import to_jsonable_python

from langchain_tiered_memory.messages.media import MediaPrices, media_kind, media_tokens

__all__ = ["COUNTED_KWARGS", "ChatFormat", "Parts", "plain_data", "role_of", "tool_tokens"]

JSON: TypeAlias = Any

_ROLES: Final[tuple[tuple[type[BaseMessage], str], ...]] = (
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (ToolMessage, "tool"),
    (SystemMessage, "system"),
    (FunctionMessage, "function"),
)
_TEXT_KEYS: Final = ("text", "refusal", "thinking", "reasoning", "reasoning_content")
_TEXT_TYPES: Final = frozenset(
    ("text", "input_text", "output_text", "text-plain", "refusal", "summary_text", "reasoning_text")
)
_THOUGHT_TYPES: Final = frozenset(("thinking", "reasoning", "reasoning_content", "redacted_thinking"))
_SEALED_KEYS: Final = ("encrypted_content", "data")
_CALL_TYPES: Final = frozenset(
    ("tool_use", "function_call", "tool_call", "tool_call_chunk", "invalid_tool_call", "input_json_delta", "function")
)
_RESULT_TYPES: Final = frozenset(("tool_result", "function_call_output", "tool_call_output"))
COUNTED_KWARGS: Final = frozenset(("tool_calls", "function_call", "name", "__openai_role__"))
_PER_MESSAGE: Final = 3
_PER_NAME: Final = 1
_TOOL_CALL_ID: Final = 3  # as langchain-openai counts it: OpenAI does not publish what a result's id costs
_BLOB: Final = re.compile(r"(?:data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,)[A-Za-z0-9+/=_-]*|[A-Za-z0-9+/=_-]{512,}")

# What the parts of a tool's schema cost beside their texts.
_PROPERTIES: Final = 3
_PROPERTY: Final = 3
_ENUM: Final = -3
_ENUM_ITEM: Final = 3

Parts: TypeAlias = tuple[JSON, ...]
"""What of a message is charged: content, name, spoken role, calls, calls that did not parse, and extras."""


class ChatFormat(ABC):
    """Charges the parts of a message, given what a text costs."""

    def __init__(self, media: MediaPrices | None) -> None:
        self.media = media or MediaPrices()

    @abstractmethod
    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    def _measure(self, role: str, parts: Parts) -> int:
        content, name, _, calls, invalid, extra = parts
        tokens = _PER_MESSAGE + self._role_tokens(role)
        name = name or (extra and extra.get("name"))
        if role == "tool":  # a tool result is sent with the id of its call, and without a name
            tokens += _TOOL_CALL_ID
        elif name:
            tokens += self._name_tokens(name)
        called = [call for call in (*(calls or ()), *(invalid or ())) if isinstance(call, dict)]
        if not called and extra:
            listed = extra.get("tool_calls") or ([extra["function_call"]] if extra.get("function_call") else [])
            called = [call for call in listed if isinstance(call, dict)]
        return tokens + sum(map(self._call_tokens, called)) + self._content_tokens(content, called)

    def _name_tokens(self, name: JSON) -> int:
        return _PER_NAME + self.count_text(str(name))

    def _role_tokens(self, role: str) -> int:
        return self.count_text(role)

    def _content_tokens(self, content: JSON, called: Sequence[JSON] = ()) -> int:
        """Tokens of content; a block of a kind that nobody knows is charged as the JSON it would be sent as."""
        tokens = 0
        for block in content if isinstance(content, list) else () if content is None else (content,):
            known = self.count_text(block) if isinstance(block, str) else None
            if isinstance(block, dict):
                known = self._known_block(block, called)
            tokens += self._unknown_tokens(block) if known is None else known
        return tokens

    def _known_block(self, block: dict[str, JSON], called: Sequence[JSON]) -> int | None:
        kind = block["type"] if isinstance(block.get("type"), str) else None
        source = block.get("source")
        text = next((block[key] for key in _TEXT_KEYS if isinstance(block.get(key), str)), None)
        tokens: int | None = None
        if text is not None and (kind in _TEXT_TYPES or kind is None):
            tokens = self.count_text(text)
        elif kind in _THOUGHT_TYPES:
            tokens = self._thought_tokens(block, text)
        elif kind in _CALL_TYPES:
            tokens = 0 if _is_listed(block, called) else self._call_tokens(block)
        elif kind in _RESULT_TYPES:
            tokens = _TOOL_CALL_ID + self._content_tokens(block.get("content", block.get("output")))
        elif kind == "non_standard" and isinstance(block.get("value"), dict):
            tokens = self._content_tokens(block["value"], called)
        elif kind == "document" and isinstance(source, dict) and source.get("type") in ("text", "content"):
            written = [block[key] for key in ("title", "context") if isinstance(block.get(key), str)]
            tokens = self._content_tokens(source.get("content", source.get("data"))) + self._content_tokens(written)
        elif (media := media_kind(block)) is not None:
            tokens = media_tokens(block, media, self.media)
        return tokens

    def _thought_tokens(self, block: Mapping[str, JSON], text: str | None) -> int:
        """Reasoning is charged by its text; sealed reasoning by the tokens that its bytes can stand for."""
        tokens = self.count_text(text) if text is not None else 0
        listed = next((block[key] for key in ("summary", "content") if isinstance(block.get(key), list)), None)
        tokens += self._content_tokens(listed)
        sealed = sum(len(block[key]) for key in _SEALED_KEYS if isinstance(block.get(key), str))
        return tokens + -(-sealed * 3 // 16)  # three bytes in four characters, four bytes to a token

    def _call_tokens(self, call: Mapping[str, JSON]) -> int:
        """Name and arguments of a call, in any provider's form."""
        function = call.get("function")
        inner = function if isinstance(function, dict) else call
        tokens = self.count_text(inner["name"]) if isinstance(inner.get("name"), str) else 0
        for key in ("args", "arguments", "input", "partial_json"):
            arguments = inner.get(key)
            if arguments is not None:
                text = arguments if isinstance(arguments, str) else _json(arguments)
                return tokens + self.count_text(text)
        return tokens

    def _unknown_tokens(self, block: JSON) -> int:
        """Tokens of a block's JSON, with whatever looks like base64 charged as media."""
        text = _json(block)
        tokens = self.count_text(_BLOB.sub("", text))
        for blob in _BLOB.findall(text):
            medium = {"type": "media", "data": blob}
            kind = media_kind(medium) if blob.startswith("data:") else None
            tokens += media_tokens(medium, kind or "image", self.media)
        return tokens


def role_of(message: BaseMessage, extra: JSON) -> str:
    """The role that OpenAI is sent."""
    for kind, role in _ROLES:
        if isinstance(message, kind):
            named = extra.get("__openai_role__") if role == "system" and extra else None
            return named if isinstance(named, str) else role
    return str(message.__dict__.get("role") or message.type)


def _is_listed(block: Mapping[str, JSON], called: Sequence[JSON]) -> bool:
    """Whether a call in the content is one that the message's `tool_calls` carry too (Anthropic and OpenAI do both)."""
    ids = {block[key] for key in ("id", "call_id", "tool_call_id") if isinstance(block.get(key), str)}
    if ids:
        return any(call.get("id") in ids for call in called)
    name = block.get("name")
    return any(name is None or call.get("name") == name for call in called)


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda raw: base64.b64encode(raw).decode())


def plain_data(value: Any) -> Any:  # noqa: ANN401 - anything a block may hold
    """A copy of `value` as it would be sent in JSON; "..." for a block that no JSON can hold, such as a cycle."""
    if isinstance(value, list):
        return list(map(_json_data, value))
    return _json_data(value)


def _json_data(value: Any) -> Any:  # noqa: ANN401 - as above
    try:
        return to_jsonable_python(
            value, bytes_mode="base64", fallback=lambda foreign: {"type": type(foreign).__qualname__}
        )
    except ValueError:  # a cycle, or hundreds of levels
        return "..."


# --- tool schemas ---------------------------------------------------------------------------------------------------


def tool_tokens(tool: Any, count_text: Callable[[str], int], function_tokens: int) -> int:  # noqa: ANN401 - see below
    """Tokens of one tool: an object, function, pydantic class or schema."""
    from langchain_core.utils.function_calling import convert_to_openai_tool  # noqa: PLC0415 - heavy, rarely needed
    from langchain_core.utils.json_schema import dereference_refs  # noqa: PLC0415 - as above

    is_schema = isinstance(tool, dict) and tool.get("type") == "function" and isinstance(tool.get("function"), dict)
    schema = tool if is_schema else convert_to_openai_tool(tool)
    function = schema.get("function")
    if not isinstance(function, Mapping):  # a provider's own tool, e.g. {"type": "web_search"}
        return function_tokens + count_text(json.dumps(schema, ensure_ascii=False, default=str))
    tokens = function_tokens + count_text(f"{function.get('name', '')}:{_description(function)}")
    parameters = function.get("parameters")
    if isinstance(parameters, dict) and "$ref" in str(parameters):
        with contextlib.suppress(KeyError, ValueError):  # what a reference that leads nowhere stands for costs nothing
            parameters = dereference_refs(parameters)
    return tokens + _properties_tokens(parameters, count_text)


def _properties_tokens(schema: JSON, count_text: Callable[[str], int]) -> int:
    """Tokens of an object's properties; 0 for any other schema."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not properties:
        return 0
    tokens = _PROPERTIES
    for name, given in properties.items():
        one = given if isinstance(given, Mapping) else {}  # JSON Schema's `true`
        tokens += _PROPERTY + count_text(f"{name}:{_type_of(one)}:{_description(one)}")
        if isinstance(one.get("enum"), (list, tuple)):
            tokens += _ENUM + sum(_ENUM_ITEM + count_text(str(item)) for item in one["enum"])
        for inner in (one, one.get("items"), one.get("additionalProperties"), *_choices(one)):
            tokens += _properties_tokens(inner, count_text)
    return tokens


def _type_of(schema: Mapping[str, JSON]) -> str:
    kind = schema.get("type") or list(map(_type_of, _choices(schema))) or "any"
    return "|".join(map(str, kind)) if isinstance(kind, list) else str(kind)


def _description(schema: Mapping[str, JSON]) -> str:
    return str(schema.get("description") or "").removesuffix(".")


def _choices(schema: Mapping[str, JSON]) -> list[JSON]:
    listed = [choice for key in ("anyOf", "oneOf", "allOf") for choice in schema.get(key) or ()]
    return [choice for choice in listed if isinstance(choice, Mapping)]
