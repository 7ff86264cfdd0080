"""The second judge: real requests, made by the providers' own LangChain packages, and each provider's rules.

Only message conversion is used, which needs no key that works and no network.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from langchain_core.messages import BaseMessage


@lru_cache
def _openai(*, responses: bool) -> Any:
    from langchain_openai import ChatOpenAI  # noqa: PLC0415 - the caller skips without the package

    return ChatOpenAI(model="gpt-4o", api_key="not-used", use_responses_api=responses)


@lru_cache
def _anthropic() -> Any:
    from langchain_anthropic import ChatAnthropic  # noqa: PLC0415 - the caller skips without the package

    return ChatAnthropic(model="claude-sonnet-4-5", api_key="not-used")


def openai_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return _openai(responses=False)._get_request_payload(list(messages))["messages"]


def responses_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return _openai(responses=True)._get_request_payload(list(messages))["input"]


def anthropic_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    return _anthropic()._get_request_payload(list(messages))["messages"]


def google_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    from langchain_google_genai.chat_models import (  # noqa: PLC0415 - the caller skips without the package
        _parse_chat_history,
    )

    _, contents = _parse_chat_history(list(messages), model="gemini-2.5-flash")
    return [content.model_dump(exclude_none=True) for content in contents]


def bedrock_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    from langchain_aws.chat_models.bedrock_converse import (  # noqa: PLC0415 - the caller skips without the package
        _messages_to_bedrock,
    )

    return _messages_to_bedrock(list(messages))[0]


def mistral_payload(messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
    from langchain_mistralai.chat_models import (  # noqa: PLC0415 - the caller skips without the package
        _convert_message_to_mistral_chat_message,
    )

    return [_convert_message_to_mistral_chat_message(message) for message in messages]


def _misplaced(index: int, given: Iterable[str], asked: Sequence[str], had: list[str]) -> list[str]:
    found = []
    for call_id in given:
        if call_id not in asked or call_id in had:
            found.append(f"{index}: result {call_id!r} for the open calls {[c for c in asked if c not in had]}")
        had.append(call_id)
    return found


def openai_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a chat-completions request; calls that are open at its end are live."""
    found: list[str] = []
    asked: list[str] = []
    had: list[str] = []
    for index, item in enumerate(payload):
        if item["role"] == "tool":
            found += _misplaced(index, [item["tool_call_id"]], asked, had)
            continue
        found += [f"{index}: call {call_id!r} has no result before this" for call_id in asked if call_id not in had]
        asked, had = [call["id"] for call in item.get("tool_calls") or ()], []
    return found


def responses_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a Responses request: outputs need their call before them, and no message may come in between."""
    found: list[str] = []
    open_calls: list[str] = []
    for index, item in enumerate(payload):
        kind = item.get("type")
        if kind == "function_call":
            open_calls.append(item["call_id"])
        elif kind == "function_call_output":
            if item["call_id"] in open_calls:
                open_calls.remove(item["call_id"])
            else:
                found.append(f"{index}: output for {item['call_id']!r}, which is not open")
        elif item.get("role") == "user":
            found += [f"{index}: call {call_id!r} has no output" for call_id in open_calls]
    return found


def anthropic_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a Messages request; calls that are open at its end are live."""
    found: list[str] = []
    if payload and payload[0]["role"] != "user":
        found.append("0: the first message must be the user's")
    asked: list[str] = []
    for index, item in enumerate(payload):
        content = item["content"] if isinstance(item["content"], list) else []
        given = [block["tool_use_id"] for block in content if block.get("type") == "tool_result"]
        kinds = [block.get("type") == "tool_result" for block in content]
        live = index == len(payload) - 1 and bool(kinds) and all(kinds)
        if set(given) - set(asked) or len(given) != len(set(given)):
            found.append(f"{index}: results {given} do not answer the calls {asked} of the message before")
        if set(asked) - set(given) and not live:
            found.append(f"{index}: calls {asked} of the message before have only the results {given}")
        if kinds != sorted(kinds, reverse=True):
            found.append(f"{index}: tool results do not come first in their message")
        if item["role"] not in {"user", "assistant"}:
            found.append(f"{index}: role {item['role']!r}")
        asked = [block["id"] for block in content if block.get("type") == "tool_use"]
    return found


def google_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a generateContent request; calls that are open at its end are live.

    Gemini also refuses a function call that directly follows another model turn. That is told apart ("follows a model
    turn"), because a caller's own list may hold two assistant messages in a row, and nothing may be left out of it.
    """
    found: list[str] = []
    if payload and payload[0]["role"] != "user":
        found.append("0: the first content must be the user's")
    asked, before = 0, "user"
    for index, item in enumerate(payload):
        parts = item.get("parts") or []
        given = sum("function_response" in part for part in parts)
        live = index == len(payload) - 1 and given == len(parts)
        if given > asked or (given < asked and not live):
            found.append(f"{index}: {given} function responses for {asked} calls")
        asked = sum("function_call" in part for part in parts)
        if asked and before == "model":
            found.append(f"{index}: function call follows a model turn")
        if not parts:
            found.append(f"{index}: no parts")
        before = item["role"]
    return found


def bedrock_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a Converse request; calls that are open at its end are live."""
    found: list[str] = []
    if payload and payload[0]["role"] != "user":
        found.append("0: a conversation starts with a user message")
    asked: list[str] = []
    before = None
    for index, item in enumerate(payload):
        given = [block["toolResult"]["toolUseId"] for block in item["content"] if "toolResult" in block]
        live = index == len(payload) - 1 and len(given) == len(item["content"])
        if sorted(given) != sorted(asked) and not (live and set(given) <= set(asked) and len(given) == len(set(given))):
            found.append(f"{index}: results {given} for the calls {asked} of the message before")
        kinds = ["toolResult" in block for block in item["content"]]
        if kinds != sorted(kinds, reverse=True):
            found.append(f"{index}: tool results do not come first in their message")
        if any("text" in block and not block["text"].strip() for block in item["content"]) or not item["content"]:
            found.append(f"{index}: a text is blank")
        if item["role"] == before:
            found.append(f"{index}: two messages of the role {before} in a row")
        asked = [block["toolUse"]["toolUseId"] for block in item["content"] if "toolUse" in block]
        before = item["role"]
    return found


_AFTER_IN_MISTRAL = {
    "system": {"system", "user", "assistant"},
    "user": {"system", "user", "assistant"},
    "assistant": {"user", "assistant", "tool"},
    "tool": {"tool", "assistant"},
}


def mistral_faults(payload: Sequence[dict[str, Any]]) -> list[str]:
    """Faults of a Mistral chat request; calls that are open at its end are live."""
    found = openai_faults(payload)
    before = "system"
    for index, item in enumerate(payload):
        if item["role"] not in _AFTER_IN_MISTRAL[before]:
            found.append(f"{index}: role {item['role']} after {before}")
        if item["role"] == "assistant" and bool(item["content"]) == bool(item.get("tool_calls")):
            found.append(f"{index}: an assistant message has either content or calls")
        ids = [call["id"] for call in item.get("tool_calls") or ()] + [item.get("tool_call_id", "123456789")]
        found += [f"{index}: id {one!r}" for one in ids if len(one) != 9 or not one.isalnum()]
        before = item["role"]
    return found
