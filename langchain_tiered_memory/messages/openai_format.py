"""What a message is made of and what each part costs, for any way of counting text.

The formula is that of OpenAI's chat format, from the cookbook's "How to count tokens with tiktoken": three tokens per
message, one more for a name, three that prime the reply. What the cookbook leaves open (tool calls, tool results) is
counted as langchain-openai sends it.
"""

from __future__ import annotations

import dataclasses
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)
from pydantic import BaseModel

from langchain_tiered_memory.messages.media import MediaPrices, media_kind, media_tokens

__all__ = ["COUNTED_KWARGS", "ChatFormat", "Parts", "plain_data", "role_of"]

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
_TOOL_CALL_ID: Final = 3  # as langchain-openai counts it: OpenAI does not publish what a result's id costs
_BLOB: Final = re.compile(r"(?:data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,)[A-Za-z0-9+/=_-]*|[A-Za-z0-9+/=_-]{512,}")

_DEEPEST: Final = 64  # levels; providers refuse JSON far flatter than this
_MOST_CONTAINERS: Final = 20_000  # a structure that shares its parts can unfold without end
_EXACT: Final = frozenset((str, int, float, bool, bytes, type(None)))
_PRINTABLE: Final = frozenset(("builtins", "datetime", "decimal", "fractions", "pathlib", "uuid"))

Parts: TypeAlias = tuple[JSON, ...]
"""What of a message is charged: content, name, spoken role, calls, calls that did not parse, and extras."""


class ChatFormat(ABC):
    """Charges the parts of a message, given what a text costs."""

    _per_message = 3
    _per_name = 1

    def __init__(self, media: MediaPrices | None) -> None:
        self._media = media or MediaPrices()
        self._roles: dict[str, int] = {}

    @abstractmethod
    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    @property
    def media(self) -> MediaPrices:
        """What media cost."""
        return self._media

    def _measure(self, role: str, parts: Parts) -> int:
        content, name, _, calls, invalid, extra = parts
        tokens = self._per_message + self._role_tokens(role)
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
        return self._per_name + self.count_text(str(name))

    def _role_tokens(self, role: str) -> int:
        known = self._roles.get(role)
        if known is None:
            known = self._roles[role] = self.count_text(role)
        return known

    def _content_tokens(self, content: JSON, called: Sequence[JSON] = ()) -> int:
        if content is None:
            return 0
        if isinstance(content, str):
            return self.count_text(content)
        blocks = content if isinstance(content, list) else [content]
        return sum(self._block_tokens(block, called) for block in blocks)

    def _block_tokens(self, block: JSON, called: Sequence[JSON]) -> int:
        """Tokens of one content block; one of a kind that nobody knows is charged as the JSON it would be sent as."""
        if isinstance(block, str):
            return self.count_text(block)
        known = self._known_block(block, called) if isinstance(block, dict) else None
        return self._unknown_tokens(block) if known is None else known

    def _known_block(self, block: dict[str, JSON], called: Sequence[JSON]) -> int | None:
        kind = block.get("type")
        kind = kind if isinstance(kind, str) else None
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
            tokens = self._block_tokens(block["value"], called)
        elif kind == "document" and _is_text(block.get("source")):
            source = block["source"]
            written = [block[key] for key in ("title", "context") if isinstance(block.get(key), str)]
            tokens = self._content_tokens(source.get("content", source.get("data"))) + self._content_tokens(written)
        elif (media := media_kind(block)) is not None:
            tokens = media_tokens(block, media, self._media)
        return tokens

    def _thought_tokens(self, block: Mapping[str, JSON], text: str | None) -> int:
        """Reasoning is charged by its text; sealed reasoning by the tokens that its bytes can stand for."""
        tokens = self.count_text(text) if text is not None else 0
        if isinstance(block.get("summary"), list):
            tokens += self._content_tokens(block["summary"])
        elif isinstance(block.get("content"), list):
            tokens += self._content_tokens(block["content"])
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
        """Tokens of a block's JSON, with media inside it and whatever looks like base64 charged as media."""
        prices: list[int] = []
        return self.count_text(_json(self._without_media(block, prices))) + sum(prices)

    def _without_media(self, value: JSON, prices: list[int]) -> JSON:
        if isinstance(value, dict):
            if isinstance(value.get("type"), str) and (kind := media_kind(value)) is not None:
                prices.append(media_tokens(value, kind, self._media))
                return {"type": value["type"]}
            return {key: self._without_media(item, prices) for key, item in value.items()}
        if isinstance(value, list):
            return [self._without_media(item, prices) for item in value]
        if isinstance(value, bytes):
            prices.append(self._blob_tokens(value))
            return ""
        if isinstance(value, str):

            def price(match: re.Match[str]) -> str:
                prices.append(self._blob_tokens(match[0]))
                return ""

            return _BLOB.sub(price, value)
        return value

    def _blob_tokens(self, blob: str | bytes) -> int:
        block = {"type": "media", "data": blob}
        named = blob[:5] == "data:"
        return media_tokens(block, (media_kind(block) if named else None) or "image", self._media)


def role_of(message: BaseMessage, extra: JSON) -> str:
    """The role that OpenAI is sent."""
    for kind, role in _ROLES:
        if isinstance(message, kind):
            named = extra.get("__openai_role__") if role == "system" and extra else None
            return named if isinstance(named, str) else role
    return str(message.__dict__.get("role") or message.type)


def _is_text(source: JSON) -> bool:
    """Whether an Anthropic document is text or blocks, and not a file."""
    return isinstance(source, dict) and source.get("type") in ("text", "content")


def _is_listed(block: Mapping[str, JSON], called: Sequence[JSON]) -> bool:
    """Whether a call in the content is one that the message's `tool_calls` carry too (Anthropic and OpenAI do both)."""
    ids = {block[key] for key in ("id", "call_id", "tool_call_id") if isinstance(block.get(key), str)}
    if ids:
        return any(call.get("id") in ids for call in called)
    name = block.get("name")
    return any(name is None or call.get("name") == name for call in called)


def _json(value: JSON) -> str:
    """The JSON that would be sent; bytes are written as text."""
    return json.dumps(value, ensure_ascii=False, default=lambda raw: bytes(raw).decode("latin-1"))


# --- what blocks may hold -------------------------------------------------------------------------------------------


def plain_data(value: Any) -> Any:  # noqa: ANN401 - anything a block may hold
    """A copy of `value` made of dicts, lists, strings, numbers, bytes and None only.

    Content blocks may hold anything: models, dates, sets, cycles, structures thousands of levels deep. What is counted
    is this copy, so that nothing foreign can raise. Beyond what an honest message holds, it says "...".
    """
    return _Copier().copy(value, 0)


class _Copier:
    def __init__(self) -> None:
        self._left = _MOST_CONTAINERS
        self._path: set[int] = set()

    def copy(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - anything
        if type(value) in _EXACT:
            return value
        self._left -= 1
        if depth >= _DEEPEST or self._left < 0 or id(value) in self._path:
            return "..."
        self._path.add(id(value))
        copied: Any
        if isinstance(value, dict):
            copied = {self._key(key): self.copy(item, depth + 1) for key, item in value.items()}
        elif isinstance(value, (list, tuple, set, frozenset)):
            copied = [self.copy(item, depth + 1) for item in value]
        else:
            copied = self.copy(_opened(value), depth + 1)
        self._path.discard(id(value))
        return copied

    def _key(self, key: Any) -> str:  # noqa: ANN401 - a dict's key
        return key if type(key) is str else "key" if isinstance(key, (tuple, frozenset)) else str(_opened(key))


def _opened(value: Any) -> Any:  # noqa: ANN401 - anything
    """What stands for one foreign value: simpler data, or text."""
    opened: Any
    if isinstance(value, Enum):
        opened = value.value
    elif isinstance(value, str):  # a subclass, as those of numbers below
        opened = str.__str__(value)
    elif isinstance(value, (int, float)):
        opened = int(value) if isinstance(value, int) else float(value)
    elif isinstance(value, (bytearray, memoryview)):
        opened = bytes(value)
    elif isinstance(value, (Mapping, BaseModel)):
        opened = dict(value)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        opened = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    elif type(value).__module__ in _PRINTABLE:
        opened = str(value)
    else:  # a foreign __str__ or __repr__ may raise anything; the attributes say as much and run nobody's code
        opened = {"type": type(value).__qualname__, **getattr(value, "__dict__", {})}
    return opened
