"""Gemini's contents: requests with `systemInstruction`, lists of contents, and answers with candidates."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened, as_object, call_of, nearest

__all__ = ["NAME", "open_conversation", "read", "takes"]

NAME = "gemini"
_ROLES = ("user", "model", "function", "system")
_SHAPE = '{"role": ..., "parts": [{"text": ...}]}'


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """A request, or an answer."""
    contents = value.get("contents")
    if isinstance(value.get("candidates"), list):
        contents = [one.get("content") if isinstance(one, dict) else one for one in value["candidates"][:1]]
    if contents is None:
        return None
    if isinstance(contents, dict):
        contents = [contents]
    if not isinstance(contents, list):
        place.fail(f"contents is {kind_of(contents)}", f"make it a list of {_SHAPE}")
    system = _either(value, "systemInstruction", "system_instruction")
    if isinstance(system, str):
        system = {"parts": [{"text": system}]}
    first = [{**system, "role": "system"}] if isinstance(system, dict) else []
    own = {"contents", "candidates", "systemInstruction", "system_instruction"}
    return Opened([*first, *contents], None, None, {key: item for key, item in value.items() if key not in own})


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether the records have parts."""
    return all("parts" in record for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of contents; calls without an id get one, and answers the id of the next open call of their name."""
    messages: list[BaseMessage] = []
    waiting: list[tuple[str, str]] = []
    for index, record in enumerate(records):
        here = place.at(f"content {index}")
        value = as_object(record, here, _SHAPE)
        role, parts = value.get("role", "user"), value.get("parts")
        if role not in _ROLES:
            here.fail(f"role {role!r} is unknown", nearest(str(role), _ROLES))
        if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
            here.fail("its parts are no list of objects", f"write {_SHAPE}")
        blocks = [block for part in parts if (block := _block(part)) is not None]
        content: Any = blocks
        if len(blocks) == 1 and blocks[0].keys() == {"type", "text"}:
            content = blocks[0]["text"]
        if role == "system":
            messages.append(SystemMessage(content))
        elif role == "model":
            calls = []
            for number, part in enumerate(parts):
                called = _either(part, "functionCall", "function_call")
                if isinstance(called, dict):
                    own_id = called.get("id") or f"call_{index}_{number}"
                    calls.append(call_of(called.get("name"), called.get("args"), own_id, here.at(f"part {number}")))
                    waiting.append((str(called.get("name")), own_id))
            messages.append(AIMessage(content or "", tool_calls=calls))
        else:
            messages += _results(parts, waiting, here)
            if blocks or not messages:
                messages.append(HumanMessage(content))
    return messages


def _either(value: dict[str, Any], name: str, other: str) -> Any:  # noqa: ANN401  # any JSON
    """A field in the API's spelling, or in that of its Python library."""
    return value.get(name, value.get(other))


def _block(part: dict[str, Any]) -> dict[str, Any] | None:
    """The content block of a part; `None` of a call or a result."""
    if any(key in part for key in ("functionCall", "function_call", "functionResponse", "function_response")):
        return None
    if isinstance(part.get("text"), str):
        if part.get("thought"):
            return {"type": "reasoning", "reasoning": part["text"]}
        return {"type": "text", "text": part["text"]}
    inline, file = _either(part, "inlineData", "inline_data"), _either(part, "fileData", "file_data")
    if isinstance(inline, dict):
        mime = str(_either(inline, "mimeType", "mime_type") or "")
        return {"type": _kind(mime), "base64": inline.get("data", ""), "mime_type": mime}
    if isinstance(file, dict):
        mime = str(_either(file, "mimeType", "mime_type") or "")
        return {"type": _kind(mime), "url": _either(file, "fileUri", "file_uri"), "mime_type": mime}
    return {"type": "non_standard", "value": part}


def _kind(mime: str) -> str:
    kind = mime.partition("/")[0]
    return kind if kind in {"image", "audio", "video"} else "file"


def _results(parts: list[dict[str, Any]], waiting: list[tuple[str, str]], place: Place) -> list[BaseMessage]:
    found: list[BaseMessage] = []
    for number, part in enumerate(parts):
        answer = _either(part, "functionResponse", "function_response")
        if not isinstance(answer, dict):
            continue
        name = str(answer.get("name"))
        match = next((one for one in waiting if one[1] == answer.get("id") or one[0] == name), None)
        if match is None:
            here = place.at(f"part {number}")
            here.fail(f"a functionResponse answers no call of {name!r}", "put the functionCall before it")
        waiting.remove(match)
        said = answer.get("response")
        text = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        found.append(ToolMessage(text, tool_call_id=match[1], name=name))
    return found
