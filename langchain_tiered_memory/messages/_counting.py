"""What a message is made of and what each part costs, for any way of counting text.

The formula is that of OpenAI's chat format, from the cookbook's "How to count tokens with tiktoken": three tokens per
message, one more for a name, three that prime the reply. What the cookbook leaves open (tool calls, tool results) is
counted as langchain-openai sends it.
"""

from __future__ import annotations

import json
import re
import threading
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

from langchain_tiered_memory.messages._cache import (
    CacheInfo,
    GenerationCache,
    Snapshot,
    plain_data,
)
from langchain_tiered_memory.messages._media import MediaPrices, media_kind, media_tokens
from langchain_tiered_memory.messages._tools import ToolFormat, tool_parts, tool_tokens

__all__ = ["CachingCounter"]

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
_COUNTED_KWARGS: Final = frozenset(("tool_calls", "function_call", "name", "__openai_role__"))
_MOST_TOOLS: Final = 1_000
_TOOL_CALL_ID: Final = 3  # as langchain-openai counts it: OpenAI does not publish what a result's id costs
_BLOB: Final = re.compile(r"(?:data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*;base64,)[A-Za-z0-9+/=_-]*|[A-Za-z0-9+/=_-]{512,}")

_Parts: TypeAlias = tuple[JSON, ...]
_NO_PARTS: Final[_Parts] = (None,) * 6


class CachingCounter(ABC):
    """Counts messages from what their texts cost, each content once.

    Two levels of cache: by the identity of a message, for the scan of a trimmer; and by content, so that equal messages
    and reloaded ones are not counted again. A message of plain text is checked by the identity of its strings, which
    cannot change; one with nested parts by comparing all of them with a copy.
    """

    _per_message = 3
    _per_name = 1

    def __init__(self, *, media: MediaPrices | None, max_entries: int, max_characters: int) -> None:
        self._media = media or MediaPrices()
        self._lock = threading.RLock()
        self._plain: GenerationCache[int, tuple[str, JSON, int, BaseMessage]]
        self._plain = GenerationCache(max_entries, max_characters)
        self._nested: GenerationCache[int, tuple[BaseMessage, Snapshot, int]]
        self._nested = GenerationCache(max_entries, max_characters)
        self._by_content: GenerationCache[Any, int] = GenerationCache(max_entries, max_characters)
        self._roles: dict[str, int] = {}
        self._frames: dict[type[BaseMessage], int] = {}  # what a message of plain text costs beside its text
        self._tools: dict[int, tuple[tuple[Any, ...], int]] = {}
        self._encoded = 0

    @abstractmethod
    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    @property
    def request_overhead(self) -> int:
        """Tokens that prime the reply, in every request."""
        return 3

    @property
    def media(self) -> MediaPrices:
        """What media cost."""
        return self._media

    @property
    def _tool_format(self) -> ToolFormat:
        return ToolFormat()

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a request with these messages."""
        return self.request_overhead + sum(map(self.count_message, messages))

    def count_messages(self, messages: Sequence[BaseMessage]) -> list[int]:
        """Tokens of each message, without the request's overhead."""
        return list(map(self.count_message, messages))

    def count_message(self, message: BaseMessage) -> int:
        """Tokens of one message, its share of the chat format included; counted once per content."""
        known = self._plain.young.get(id(message))
        if known is not None:
            content, name, tokens, _ = known
            fields = message.__dict__
            if (
                content is fields["content"]
                and name is fields["name"]
                and not fields.get("tool_calls")
                and not fields.get("invalid_tool_calls")
                and (not (kwargs := fields["additional_kwargs"]) or _COUNTED_KWARGS.isdisjoint(kwargs))
            ):
                return tokens
        return self._recount(message)

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of the tool schemas that go with a request; 0 for none."""
        if not tools:
            return 0
        form = self._tool_format
        return form.end + sum(self._tool_tokens(tool, form) for tool in tools)

    def cache_info(self) -> CacheInfo:
        """How many messages were really counted, and what is held."""
        with self._lock:
            cache = self._by_content
            return CacheInfo(self._encoded, len(cache), cache.weight, cache.max_entries, cache.max_weight)

    # --- the caches -------------------------------------------------------------------------------------------------

    def _recount(self, message: BaseMessage) -> int:
        """Count a message that is not the very one that was counted, or one whose parts can change in place."""
        parts = _parts(message)
        # What is held keeps the message alive, so its id cannot have passed to another one.
        known = self._nested.young.get(id(message))
        if known is not None and known[1].same(parts):
            return known[2]
        content, name, spoken, calls, invalid, extra = parts
        with self._lock:
            if type(content) is str and spoken is None and not calls and not invalid and extra is None:
                return self._count_plain(message, content, name)
            return self._count_nested(message, parts)

    def _count_plain(self, message: BaseMessage, content: str, name: JSON) -> int:
        kind = type(message)
        key, weight = (kind, content, name), len(content)
        tokens = self._by_content.get(key, weight)
        if tokens is None:
            frame = self._frames.get(kind)
            if frame is None:
                frame = self._frames[kind] = self._measure(_role(message, None), _NO_PARTS)
            tokens = (
                frame
                + self.count_text(content)
                + (self._name_tokens(name) if name and not issubclass(kind, ToolMessage) else 0)
            )
            self._encoded += 1
            self._by_content.put(key, tokens, weight)
        self._plain.put(id(message), (content, name, tokens, message), weight)
        return tokens

    def _count_nested(self, message: BaseMessage, parts: _Parts) -> int:
        snapshot = Snapshot.of(parts)
        key, weight = (type(message), snapshot.key), snapshot.weight
        tokens = self._by_content.get(key, weight)
        if tokens is None:
            tokens = self._measure(_role(message, snapshot.plain[5]), snapshot.plain)
            self._encoded += 1
            self._by_content.put(key, tokens, weight)
        self._nested.put(id(message), (message, snapshot, tokens), weight)
        return tokens

    # --- the formula ------------------------------------------------------------------------------------------------

    def _measure(self, role: str, parts: _Parts) -> int:
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

    def _tool_tokens(self, tool: Any, form: ToolFormat) -> int:  # noqa: ANN401 - whatever may be bound as a tool
        """Tokens of one tool; a tool object's schema is slow to derive, so it is remembered by what it is made of."""
        made_of = tool_parts(tool)
        if made_of is None:
            return tool_tokens(tool, self._tool_text, form)
        known = self._tools.get(id(tool))
        if known is None or any(mine is not theirs for mine, theirs in zip(known[0], made_of, strict=True)):
            if len(self._tools) >= _MOST_TOOLS:
                self._tools.clear()
            known = self._tools[id(tool)] = made_of, tool_tokens(tool, self._tool_text, form)
        return known[1]

    def _tool_text(self, text: str) -> int:
        """Tokens of a piece of a tool's schema, which every request of an agent sends again."""
        with self._lock:
            tokens = self._by_content.get(text, len(text))
            if tokens is None:
                tokens = self.count_text(text)
                self._by_content.put(text, tokens, len(text))
            return tokens


def _parts(message: BaseMessage) -> _Parts:
    """What of a message is charged: content, name, spoken role, calls, calls that did not parse, and extras."""
    fields = message.__dict__
    kwargs = fields["additional_kwargs"]
    extra = {key: kwargs[key] for key in _COUNTED_KWARGS if key in kwargs} if kwargs else None
    return (
        fields["content"],
        fields["name"],
        fields.get("role"),
        fields.get("tool_calls"),
        fields.get("invalid_tool_calls"),
        extra or None,
    )


def _role(message: BaseMessage, extra: JSON) -> str:
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
