"""Counts messages, each content once: the formula behind two levels of cache."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage, ToolMessage

from langchain_tiered_memory.messages._cache import CacheInfo, GenerationCache, Snapshot
from langchain_tiered_memory.messages._formula import COUNTED_KWARGS, NO_PARTS, Formula, Parts, role_of
from langchain_tiered_memory.messages._media import MediaPrices
from langchain_tiered_memory.messages._tools import ToolFormat, tool_parts, tool_tokens

__all__ = ["CachingCounter"]

_MOST_TOOLS: Final = 1_000


class CachingCounter(Formula):
    """Counts messages from what their texts cost, each content once.

    Two levels of cache: by the identity of a message, for the scan of a trimmer; and by content, so that equal messages
    and reloaded ones are not counted again. A message of plain text is checked by its class and the identity of its
    strings, which cannot change; one with nested parts by comparing all of them. So another message at the address of
    one that is gone, or one that was changed in place, is told apart without holding on to any message (its artifact
    may be large).
    """

    def __init__(self, *, media: MediaPrices | None, max_entries: int, max_characters: int) -> None:
        super().__init__(media)
        self._lock = threading.RLock()
        self._plain: GenerationCache[int, tuple[str, Any, type[BaseMessage], int]]
        self._plain = GenerationCache(max_entries, max_characters)
        self._nested: GenerationCache[int, tuple[type[BaseMessage], Snapshot, int]]
        self._nested = GenerationCache(max_entries, max_characters)
        self._by_content: GenerationCache[Any, int] = GenerationCache(max_entries, max_characters)
        self._frames: dict[type[BaseMessage], int] = {}  # what a message of plain text costs beside its text
        self._tools: dict[int, tuple[tuple[Any, ...], int]] = {}
        self._encoded = 0

    @property
    def request_overhead(self) -> int:
        """Tokens that prime the reply, in every request."""
        return 3

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
            content, name, kind, tokens = known
            fields = message.__dict__
            if (
                content is fields["content"]
                and name is fields["name"]
                and kind is type(message)
                and not fields.get("tool_calls")
                and not fields.get("invalid_tool_calls")
                and (not (kwargs := fields["additional_kwargs"]) or COUNTED_KWARGS.isdisjoint(kwargs))
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
        known = self._nested.young.get(id(message))
        if known is not None and known[0] is type(message) and known[1].same(parts):
            return known[2]
        content, name, spoken, calls, invalid, extra = parts
        with self._lock:
            if type(content) is str and spoken is None and not calls and not invalid and extra is None:
                return self._count_plain(message, content, name)
            return self._count_nested(message, parts)

    def _count_plain(self, message: BaseMessage, content: str, name: Any) -> int:  # noqa: ANN401 - mostly a string
        kind = type(message)
        key, weight = (kind, content, name), len(content)
        tokens = self._by_content.get(key, weight)
        if tokens is None:
            frame = self._frames.get(kind)
            if frame is None:
                frame = self._frames[kind] = self._measure(role_of(message, None), NO_PARTS)
            tokens = frame + self.count_text(content)
            if name and not issubclass(kind, ToolMessage):
                tokens += self._name_tokens(name)
            self._encoded += 1
            self._by_content.put(key, tokens, weight)
        self._plain.put(id(message), (content, name, kind, tokens), weight)
        return tokens

    def _count_nested(self, message: BaseMessage, parts: Parts) -> int:
        snapshot = Snapshot.of(parts)
        key, weight = (type(message), snapshot.key), snapshot.weight
        tokens = self._by_content.get(key, weight)
        if tokens is None:
            tokens = self._measure(role_of(message, snapshot.plain[5]), snapshot.plain)
            self._encoded += 1
            self._by_content.put(key, tokens, weight)
        self._nested.put(id(message), (type(message), snapshot, tokens), weight)
        return tokens

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


def _parts(message: BaseMessage) -> Parts:
    """What of a message is charged: content, name, spoken role, calls, calls that did not parse, and extras."""
    fields = message.__dict__
    kwargs = fields["additional_kwargs"]
    extra = {key: kwargs[key] for key in COUNTED_KWARGS if key in kwargs} if kwargs else None
    return (
        fields["content"],
        fields["name"],
        fields.get("role"),
        fields.get("tool_calls"),
        fields.get("invalid_tool_calls"),
        extra or None,
    )
