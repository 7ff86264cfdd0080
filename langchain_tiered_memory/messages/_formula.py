"""What a message is made of and what each part costs, for any way of counting text.

The formula is that of OpenAI's chat format, from the cookbook's "How to count tokens with tiktoken": three tokens per
message, one more for a name, three that prime the reply. What the cookbook leaves open (tool calls, tool results) is
counted as langchain-openai sends it.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_tiered_memory.messages._cache import plain_data
from langchain_tiered_memory.messages._media import MediaPrices, media_kind, media_tokens

__all__ = ["COUNTED_KWARGS", "NO_PARTS", "Formula", "Parts", "role_of"]

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

Parts: TypeAlias = tuple[JSON, ...]
NO_PARTS: Final[Parts] = (None,) * 6


class Formula(ABC):
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
    """The JSON that would be sent; keys and values that JSON does not know are written as text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=_written)
    except (TypeError, RecursionError):  # a key that is no string, or too many levels
        return json.dumps(plain_data(value), ensure_ascii=False, default=_written)


def _written(value: JSON) -> str:
    return bytes(value).decode("latin-1")
