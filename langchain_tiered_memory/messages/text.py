"""Messages as text, for a summarizer, a vector store or a reader."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, ToolMessage, get_buffer_string

__all__ = ["PREFIXES", "Prefixes", "label_of", "render", "to_text"]

_DATA_URL = r"data:(?P<mime>[\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,\s]*)*;base64,(?P<data>[A-Za-z0-9+/_=-]+)"
_MEDIA = ("image", "audio", "video", "document", "file", "media")
_LONG_DATA = r"[A-Za-z0-9+/_-]{256,}={0,2}"
_CALL_TYPES = {"tool_use", "tool_call", "function_call", "server_tool_use", "server_tool_call", "custom_tool_call"}
_RESULT_TYPES = {"tool_result", "server_tool_result", "function_call_output", "web_search_tool_result"}


@dataclass(frozen=True, slots=True)
class Prefixes:
    """How the speakers of a conversation are called in its text."""

    human: str = "Human"
    ai: str = "AI"
    system: str = "System"
    tool: str = "Tool"
    function: str = "Function"


PREFIXES: Mapping[str, Prefixes] = {
    "en": Prefixes(),
    "zh": Prefixes(human="用户", ai="助手", system="系统", tool="工具", function="函数"),
}
"""The ready-made prefixes, by language."""


def to_text(
    messages: Sequence[BaseMessage],
    human_prefix: str | None = None,
    ai_prefix: str | None = None,
    *,
    prefixes: Prefixes | str = "en",
    separator: str = "\n",
    format: Literal["prefix", "xml"] = "prefix",  # noqa: A002  # langchain_core's name for it
) -> str:
    """Write messages as text, as langchain_core's `get_buffer_string` does, without what that one leaves out.

    A summariser that is handed raw messages needs their tools declared, and one that reads `get_buffer_string` never
    learns of pictures, of which result answers which call, or of reasoning (langchain-ai/langchain#38174,
    langchain-ai/langchain-aws#591). Here a medium is a placeholder with its URL or id, base64 a short hash, and calls,
    results, refusals and reasoning are written out.

    Args:
        messages: The messages; they are not changed.
        human_prefix: Overrides the prefix of user messages.
        ai_prefix: Overrides the prefix of assistant messages.
        prefixes: All prefixes in one setting: "en", "zh" ("用户", "助手", ...) or your own `Prefixes`.
        separator: What stands between two messages.
        format: "prefix" (`Human: text`) or "xml" (`<message type="human">`, escaped, so that no text poses as a turn).

    Raises:
        ValueError: The language or the format is unknown.

    Example:
        >>> from langchain_core.messages import HumanMessage
        >>> to_text([HumanMessage([{"type": "image", "url": "https://example.org/map.png"}])], prefixes="zh")
        '用户: [image: https://example.org/map.png]'
    """
    names = PREFIXES.get(prefixes) if isinstance(prefixes, str) else prefixes
    if names is None:
        msg = f"prefixes={prefixes!r} is unknown; use one of {', '.join(PREFIXES)} or your own Prefixes"
        raise ValueError(msg)
    human, ai = human_prefix or names.human, ai_prefix or names.ai
    lines = []
    for message in messages:
        label = label_of(message)
        text = render(message)
        behind = f" {label}" if label and format == "prefix" else ""
        if label and format == "xml":
            text = f"[{label}] {text}"
        copy = _spoken(message, text, behind)
        lines.append(
            get_buffer_string(
                [copy],
                human + behind,
                ai + behind,
                system_prefix=names.system + behind,
                function_prefix=names.function + behind,
                tool_prefix=names.tool + behind,
                format=format,
            )
        )
    return separator.join(lines)


def _spoken(message: BaseMessage, text: str, behind: str) -> BaseMessage:
    """Copy a message with its whole content as text and without calls, which `get_buffer_string` would add again."""
    update: dict[str, Any] = {"content": text}
    if isinstance(message, AIMessage):
        update |= {"tool_calls": [], "additional_kwargs": {}}
    if isinstance(message, ChatMessage):
        update["role"] = message.role + behind
    return message.model_copy(update=update)


def render(message: BaseMessage) -> str:
    """Write the whole of a message's content, its calls and what providers keep beside them."""
    content = [message.content] if isinstance(message.content, str) else message.content
    named = _call_ids(message)
    parts = [_block(block, named) for block in content]
    if isinstance(message, AIMessage):
        parts += _calls(message) + _beside(message.additional_kwargs, bool(named))
    return "\n".join(part for part in parts if part)


def _call_ids(message: BaseMessage) -> set[str | None]:
    if not isinstance(message, AIMessage):
        return set()
    return {call["id"] for call in [*message.tool_calls, *message.invalid_tool_calls]}


def _calls(message: AIMessage) -> list[str]:
    sound = [_call("tool call", call["name"], call["id"], call["args"]) for call in message.tool_calls]
    broken = [_call("invalid tool call", call["name"], call["id"], call["args"]) for call in message.invalid_tool_calls]
    return sound + broken


def _call(what: str, name: object, call_id: object, arguments: object) -> str:
    label = f"{name} ({call_id})" if call_id else f"{name}"
    text = arguments if isinstance(arguments, str) else _json(arguments)
    return f"[{what} {label}: {_without_data(text)}]"


def _beside(extra: Mapping[Any, Any], called: bool) -> list[str]:  # noqa: FBT001  # a private helper of one caller
    parts = []
    if isinstance(extra.get("reasoning_content"), str):
        parts.append(f"[reasoning: {extra['reasoning_content']}]")
    if extra.get("refusal"):
        parts.append(f"[refusal: {extra['refusal']}]")
    if isinstance(function := extra.get("function_call"), Mapping):
        parts.append(_call("function call", function.get("name"), None, function.get("arguments", "")))
    if not called:
        for raw in extra.get("tool_calls") or []:
            function = raw.get("function") or raw.get("custom") or {}
            arguments = function.get("arguments", function.get("input", ""))
            parts.append(_call("tool call", function.get("name"), raw.get("id"), arguments))
    if isinstance(audio := extra.get("audio"), Mapping):
        said = f": {audio['transcript']}" if audio.get("transcript") else ""
        parts.append(f"[audio {audio.get('id', '')}{said}]")
    return parts


def _block(block: str | dict[Any, Any], named: set[str | None]) -> str:
    if isinstance(block, str):
        return _without_data(block)
    kind = str(block.get("type", ""))
    if kind in _CALL_TYPES:
        call_id = block.get("call_id") or block.get("id")
        arguments: object = next((block[key] for key in ("input", "args", "arguments") if key in block), {})
        return "" if call_id in named else _call("tool call", block.get("name"), call_id, arguments)
    if kind in _RESULT_TYPES:
        return _result(block, named)
    for key, label in (("text", ""), ("refusal", "refusal"), ("thinking", "reasoning"), ("reasoning", "reasoning")):
        if isinstance(block.get(key), str) and (kind != "file" or key != "text"):
            text = _without_data(block[key])
            said = f"[{label}: {text}]" if label and text else text
            return "\n".join([said, *_sources(block)])
    media = _media(block, kind)
    return media if media is not None else f"[{kind or 'block'}: {_without_data(_json(block))}]"


def _result(block: dict[Any, Any], named: set[str | None]) -> str:
    call_id = block.get("tool_use_id") or block.get("tool_call_id") or block.get("call_id")
    content = next((block[key] for key in ("content", "output") if key in block), "")
    parts = content if isinstance(content, list) else [content]
    text = "\n".join(_block(part, named) if isinstance(part, str | dict) else _json(part) for part in parts)
    failed = ", error" if block.get("is_error") or block.get("status") == "error" else ""
    return f"[tool result ({call_id}{failed}): {text}]"


def _sources(block: dict[Any, Any]) -> list[str]:
    """The pages that a text cites, each once."""
    cited = [*(block.get("annotations") or []), *(block.get("citations") or [])]
    urls = [
        (note.get("url") or (note.get("url_citation") or {}).get("url")) for note in cited if isinstance(note, Mapping)
    ]
    return [f"[source: {url}]" for url in dict.fromkeys(urls) if url]


def _media(block: dict[Any, Any], kind: str) -> str | None:
    """A placeholder that keeps what names the medium: its URL, its id, or a hash of its bytes."""
    what = next((name for name in _MEDIA if name in kind or name in block), None)
    if what is None:
        return None
    found = _find(block)
    title = found.get("filename") or found.get("title") or found.get("name")
    described = [str(title)] if title else []
    described += [_without_data(str(found[key])) for key in ("url", "id") if key in found]
    if "data" in found:
        data = found["data"]
        described.append(
            _without_data(str(data)) if str(data).startswith("data:") else _hashed(data, found.get("mime", ""))
        )
    if not described:
        return None
    return f"[{'file' if what == 'media' else what}: {', '.join(dict.fromkeys(described))}]"


_NAMES = {
    "url": "url", "image_url": "url", "file_uri": "url", "fileUri": "url", "uri": "url", "file_url": "url",
    "file_id": "id", "id": "id",
    "base64": "data", "data": "data", "file_data": "data", "bytes": "data",
    "mime_type": "mime", "media_type": "mime", "mimeType": "mime", "format": "mime",
    "filename": "filename", "title": "title", "name": "name",
}  # fmt: skip


def _find(block: Mapping[Any, Any]) -> dict[str, Any]:
    """Collect the fields that name a medium, from wherever a provider nests them; the outer ones win."""
    found: dict[str, Any] = {}
    inner: list[Mapping[Any, Any]] = []
    for key, value in block.items():
        if isinstance(value, Mapping):
            inner.append(value)
        elif isinstance(value, str | bytes) and value and key in _NAMES:
            found.setdefault(_NAMES[key], value)
    for value in inner:
        for key, item in _find(value).items():
            found.setdefault(key, item)
    return found


def _hashed(data: str | bytes, mime: object) -> str:
    raw = data if isinstance(data, bytes) else "".join(data.split()).encode("utf-8", "backslashreplace")
    size = len(raw) if isinstance(data, bytes) else len(raw.rstrip(b"=")) * 3 // 4
    digest = hashlib.sha256(raw).hexdigest()[:12]
    return f"{f'{mime} ' if mime else ''}sha256 {digest}, {size} bytes"


def _without_data(text: str) -> str:
    """Replace the base64 of data URLs, which says nothing to a reader and costs thousands of tokens, by its hash."""
    if "base64," not in text:
        return text
    return re.sub(_DATA_URL, lambda found: f"({_hashed(found['data'], found['mime'])})", text)


def _json(value: object) -> str:
    """JSON for a reader: long runs of base64 become hashes, bytes too, and what JSON lacks is named."""
    text = json.dumps(value, ensure_ascii=False, default=_named)
    return re.sub(_LONG_DATA, lambda found: f"({_hashed(found[0], '')})", text)


def _named(value: object) -> str:
    return _hashed(value, "") if isinstance(value, bytes) else str(value)


def label_of(message: BaseMessage) -> str:
    """What stands behind the role: the speaker's name, and for a result its call and its status."""
    if not isinstance(message, ToolMessage):
        return message.name or ""
    failed = ", error" if message.status == "error" else ""
    called = f"({message.tool_call_id}{failed})"
    return f"{message.name} {called}" if message.name else called
