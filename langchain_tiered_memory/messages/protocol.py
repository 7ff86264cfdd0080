"""What a message means in a provider's chat protocol: who speaks, which tools it calls, which calls it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    FunctionMessageChunk,
    HumanMessage,
    HumanMessageChunk,
    SystemMessage,
    SystemMessageChunk,
    ToolMessage,
    ToolMessageChunk,
)

__all__ = [
    "FACTS_SOURCE",
    "FUNCTION_PREFIX",
    "KINDS",
    "RECALL_SOURCE",
    "SHRUNK_SOURCE",
    "SOURCE_KEY",
    "SUMMARY_SOURCE",
    "SYNTHETIC_SOURCE",
    "Kind",
    "call_ids",
    "calls_of_assistant",
    "error_result",
    "is_inserted",
    "is_summary",
    "is_synthetic",
    "is_user_turn",
    "keep_results",
    "kind_of",
    "opens_conversation",
    "result_ids",
]

Kind: TypeAlias = Literal["system", "user", "assistant", "result", "other"]

SOURCE_KEY: Final = "lc_source"
"""LangChain's key in `additional_kwargs` for where a message came from, if nobody said it."""
SUMMARY_SOURCE: Final = "summarization"
SYNTHETIC_SOURCE: Final = "synthetic_result"
SHRUNK_SOURCE: Final = "shrunk_result"
RECALL_SOURCE: Final = "recalled_episodes"
FACTS_SOURCE: Final = "known_facts"
_INSERTED: Final = frozenset({SUMMARY_SOURCE, SYNTHETIC_SOURCE, RECALL_SOURCE, FACTS_SOURCE})
_UNSAID: Final = frozenset({SUMMARY_SOURCE, RECALL_SOURCE})

FUNCTION_PREFIX: Final = "function:"
"""Stands before the name of a legacy `function_call`, which has no id of its own."""

_CALL_BLOCKS: Final = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}
"""Content blocks that call a tool, each with the key of its id: Anthropic, LangChain's v1, OpenAI Responses."""

KINDS: Final[dict[type[BaseMessage], Kind]] = {
    SystemMessage: "system",
    SystemMessageChunk: "system",
    HumanMessage: "user",
    HumanMessageChunk: "user",
    AIMessage: "assistant",
    AIMessageChunk: "assistant",
    ToolMessage: "result",
    ToolMessageChunk: "result",
    FunctionMessage: "result",
    FunctionMessageChunk: "result",
}
"""Who speaks in a message of each class; a user message whose content is a list may be a result instead."""
_ROLES: Final[dict[str, Kind]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}


def call_ids(message: BaseMessage) -> tuple[str, ...]:
    """Ids of the tool calls that an assistant message makes, in order, each once.

    Read from every place where a provider's integration may have put them: `tool_calls`, `invalid_tool_calls` (they
    are sent as calls, so they want a result too), `additional_kwargs["tool_calls"]`, and content blocks. The legacy
    `function_call` has no id; its name stands in for one.

    Args:
        message: Any message; one that is not from the assistant makes no calls.

    Returns:
        The ids, `()` when there are none.
    """
    if kind_of(message) != "assistant":
        return ()
    return calls_of_assistant(message)


def calls_of_assistant(message: BaseMessage) -> tuple[str, ...]:
    """`call_ids` of a message that is known to be the assistant's."""
    fields = message.__dict__  # read directly, since this runs for every message of a window on every trim
    calls = fields.get("tool_calls")
    invalid = fields.get("invalid_tool_calls")
    extra = fields["additional_kwargs"]
    content = fields["content"]
    if not calls and not invalid and not extra and type(content) is str:
        return ()
    if calls and not invalid and not extra and type(content) is str and len(calls) == 1:
        return (calls[0]["id"] or "",)
    ids: dict[str, None] = {}
    for call in (*(calls or ()), *(invalid or ())):
        ids[call["id"] or ""] = None
    raw = extra.get("tool_calls")
    if isinstance(raw, list):
        ids.update((str(call.get("id") or ""), None) for call in raw if isinstance(call, dict))
    if isinstance(content, list):
        for block in content:
            key = _CALL_BLOCKS.get(str(block.get("type"))) if isinstance(block, dict) else None
            if key is not None and isinstance(block, dict):
                ids[str(block.get(key) or block.get("id") or "")] = None
    if not ids and isinstance(function := extra.get("function_call"), dict):
        ids[FUNCTION_PREFIX + str(function.get("name"))] = None
    return tuple(ids)


def result_ids(message: BaseMessage) -> tuple[str, ...]:
    """Ids of the calls that a message answers; `()` when it is no result.

    A `ToolMessage` answers one call, a user message with Anthropic `tool_result` blocks may answer several, and a
    legacy `FunctionMessage` answers the function of its name.
    """
    if isinstance(message, ToolMessage):
        return (message.tool_call_id,)
    if isinstance(message, FunctionMessage):
        return (FUNCTION_PREFIX + str(message.name),)
    if isinstance(message, HumanMessage) and isinstance(message.content, list):
        return tuple(
            str(block.get("tool_use_id"))
            for block in message.content
            if isinstance(block, dict) and block.get("type") == "tool_result"
        )
    return ()


def keep_results(message: BaseMessage, call_ids: Sequence[str]) -> BaseMessage:
    """The message without Anthropic `tool_result` blocks that answer other calls, or a call for a second time.

    Args:
        message: A result; it is not changed.
        call_ids: The calls whose results are to stay.

    Returns:
        The message itself when nothing has to go.
    """
    if isinstance(message, ToolMessage) or not isinstance(message.content, list):
        return message
    wanted = set(call_ids)
    kept: list[str | dict[str, Any]] = []
    for block in message.content:
        if isinstance(block, dict) and block.get("type") == "tool_result":
            call_id = str(block.get("tool_use_id"))
            if call_id not in wanted:
                continue
            wanted.remove(call_id)
        kept.append(block)
    return message if len(kept) == len(message.content) else message.model_copy(update={"content": kept})


def kind_of(message: BaseMessage) -> Kind:
    """Who speaks in a message, as the providers' protocols see it."""
    kind = KINDS.get(type(message)) or _kind_of_unlisted(message)
    if kind == "user" and not isinstance(message.content, str) and result_ids(message):
        return "result"
    return kind


def _kind_of_unlisted(message: BaseMessage) -> Kind:
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role.lower(), "other")
    for known, kind in KINDS.items():
        if isinstance(message, known):
            return kind
    return "other"


def is_summary(message: BaseMessage) -> bool:
    """Whether a message is a summary of an earlier conversation and not something that was said."""
    return message.additional_kwargs.get(SOURCE_KEY) == SUMMARY_SOURCE


def is_synthetic(message: BaseMessage) -> bool:
    """Whether a message is an error result that closes a call which was never answered."""
    return message.additional_kwargs.get(SOURCE_KEY) == SYNTHETIC_SOURCE


def is_inserted(message: BaseMessage) -> bool:
    """Whether a memory put this into a request: nobody said it, so it is never stored as something that was said."""
    return message.additional_kwargs.get(SOURCE_KEY) in _INSERTED


def is_user_turn(message: BaseMessage) -> bool:
    """Whether a user said this: not a tool result, nor a summary or recalled memories in the user's role."""
    return kind_of(message) == "user" and message.additional_kwargs.get(SOURCE_KEY) not in _UNSAID


def opens_conversation(message: BaseMessage) -> bool:
    """Whether a conversation may begin with this message behind its system messages: the user's role has the word."""
    return kind_of(message) == "user"


def error_result(caller: BaseMessage, call_id: str) -> BaseMessage:
    """The result that closes a call which was never answered, so that the history stays valid.

    Args:
        caller: The assistant message that made the call.
        call_id: The call's id as `call_ids` gives it.

    Returns:
        A message marked as synthetic; a late real result takes its place.
    """
    text = "No result: the call was interrupted before it was answered."
    source = {SOURCE_KEY: SYNTHETIC_SOURCE}
    if call_id.startswith(FUNCTION_PREFIX):
        return FunctionMessage(content=text, name=call_id.removeprefix(FUNCTION_PREFIX), additional_kwargs=source)
    # Both ids, since some models begin to number their calls anew in every message.
    own_id = "-".join(part for part in ("synthetic", caller.id, call_id) if part)
    name = _call_name(caller, call_id)
    return ToolMessage(text, tool_call_id=call_id, name=name, status="error", id=own_id, additional_kwargs=source)


def _call_name(caller: BaseMessage, call_id: str) -> str | None:
    calls = [*getattr(caller, "tool_calls", ()), *getattr(caller, "invalid_tool_calls", ())]
    if isinstance(caller.content, list):
        calls += [block for block in caller.content if isinstance(block, dict)]
    names = (call.get("name") for call in calls if call_id in (call.get("id"), call.get("call_id")))
    return next((str(name) for name in names if name), None)
