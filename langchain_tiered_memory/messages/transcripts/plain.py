"""Lists of who said what: role and content only, [role, text] pairs, and ShareGPT's `from` and `value`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts import openai
from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened, as_object, call_of, nearest

__all__ = ["NAME", "ShareGPT", "open_conversation", "read", "takes"]

NAME = "plain"
_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "gpt": "assistant"}
_SPEAKERS = ("system", "human", "user", "gpt", "assistant", "chatgpt", "bard", "function_call", "observation", "tool")


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:  # noqa: ARG001  # as every format
    """None: a plain list has nothing around it but `{"messages": [...]}`."""
    return None


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether the records name roles."""
    return all("role" in record for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of records with a role and a content; "human", "ai", "bot", "model" and "gpt" are roles too."""
    messages = []
    for index, record in enumerate(records):
        here = place.at(f"message {index}")
        value = as_object(record, here, '{"role": ..., "content": ...}')
        role = value.get("role")
        messages.append(openai.read_message({**value, "role": _ROLES.get(str(role), role)} if role else value, here))
    return messages


class _ShareGPT:
    """ShareGPT's form, also with tool calls: `function_call` holds a call as JSON, `observation` its result."""

    NAME = "sharegpt"

    def open_conversation(self, value: dict[str, Any], place: Place) -> Opened | None:
        """An object whose conversations are a list of who said what."""
        records = value.get("conversations")
        if not isinstance(records, list):
            return None
        if not all(isinstance(record, dict) and "from" in record for record in records):
            place.fail("its conversations hold something else than turns", 'write {"from": ..., "value": ...}')
        system = value.get("system")
        first = [{"from": "system", "value": system}] if isinstance(system, str) and system else []
        own_id = value.get("id")
        rest = {key: item for key, item in value.items() if key not in {"conversations", "system", "tools"}}
        tools = value.get("tools")
        if isinstance(tools, str) and tools:
            try:
                rest["tools"] = json.loads(tools)
            except ValueError as error:
                place.fail("its tools are text that is no JSON", "correct or remove them", error)
        elif tools:
            rest["tools"] = tools
        return Opened([*first, *records], None if own_id is None else str(own_id), None, rest)

    def takes(self, records: Sequence[dict[str, Any]]) -> bool:
        """Whether the records say who they are from."""
        return all("from" in record and "value" in record for record in records)

    def read(self, records: Sequence[Any], place: Place) -> list[BaseMessage]:
        """The messages of turns; calls get ids, which the form has none of."""
        messages: list[BaseMessage] = []
        waiting: list[str] = []
        for index, record in enumerate(records):
            here = place.at(f"message {index}")
            value = as_object(record, here, '{"from": ..., "value": ...}')
            speaker, text = value.get("from"), value.get("value")
            if speaker not in _SPEAKERS:
                here.fail(f"it is from {speaker!r}", nearest(str(speaker), _SPEAKERS))
            if not isinstance(text, str):
                here.fail(f"its value is {kind_of(text)}", "write what was said as text")
            if speaker == "system":
                messages.append(SystemMessage(text))
            elif speaker in {"human", "user"}:
                messages.append(HumanMessage(text))
            elif speaker in {"observation", "tool"}:
                if not waiting:
                    here.fail("it answers no function_call", "put the function_call before it")
                messages.append(ToolMessage(text, tool_call_id=waiting.pop(0)))
            elif speaker == "function_call":
                called = _calls(text, index, here)
                waiting += [str(call["id"]) for call in called]
                messages.append(AIMessage("", tool_calls=called))
            else:
                messages.append(AIMessage(text))
        return messages


def _calls(text: str, index: int, place: Place) -> list[Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        place.fail("its value is no JSON", 'write {"name": ..., "arguments": {...}}', error)
    entries = value if isinstance(value, list) else [value]
    found = []
    for number, entry in enumerate(entries):
        call = as_object(entry, place, '{"name": ..., "arguments": {...}}')
        found.append(call_of(call.get("name"), call.get("arguments"), f"call_{index}_{number}", place))
    if any(call["type"] != "tool_call" for call in found):
        place.fail("its arguments are no object", 'write {"name": ..., "arguments": {...}}')
    return found


ShareGPT = _ShareGPT()
