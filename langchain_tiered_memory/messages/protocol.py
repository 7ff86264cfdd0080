"""What a message means in a provider's chat protocol: who speaks, which tools it calls, which calls it answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal, TypeAlias, TypeGuard

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
    "canonical",
    "error_result",
    "has_thinking",
    "is_inserted",
    "is_summary",
    "is_synthetic",
    "is_user_turn",
    "keep_results",
    "kind_of",
    "leading_system",
    "result_ids",
    "says_more_than_results",
    "with_unique_calls",
]

Kind: TypeAlias = Literal["system", "user", "assistant", "result", "other"]

SOURCE_KEY: Final = "lc_source"
"""LangChain's key in `additional_kwargs` for where a message came from, if nobody said it."""
SUMMARY_SOURCE: Final = "summarization"
SYNTHETIC_SOURCE: Final = "synthetic_result"
SHRUNK_SOURCE: Final = "shrunk_result"
RECALL_SOURCE: Final = "recalled_episodes"
FACTS_SOURCE: Final = "known_facts"
_OTHER_ROLE_SOURCE: Final = "other_role"
_INSERTED: Final = frozenset({SUMMARY_SOURCE, SYNTHETIC_SOURCE, RECALL_SOURCE, FACTS_SOURCE})
_UNSAID: Final = frozenset({SUMMARY_SOURCE, RECALL_SOURCE, _OTHER_ROLE_SOURCE})

FUNCTION_PREFIX: Final = "function:"
"""Stands before the name of a legacy `function_call`, which has no id of its own."""

_CALL_BLOCKS: Final = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}
"""Content blocks that call a tool, each with the key of its id: Anthropic, LangChain's v1, OpenAI Responses."""
_THINKING_BLOCKS: Final = frozenset({"thinking", "redacted_thinking", "reasoning_content"})
"""Signed thinking as langchain-anthropic and langchain-aws write it; a v1 `reasoning` block carries its signature."""

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
_KNOWN: Final = tuple(KINDS)
_ROLES: Final[dict[str, Kind]] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "model": "assistant",
}
_CLASSES: Final[dict[Kind, type[BaseMessage]]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}


# --- who speaks -----------------------------------------------------------------------------------------------------


def kind_of(message: BaseMessage) -> Kind:
    """Who speaks in a message, as the providers' protocols see it."""
    kind = KINDS.get(type(message)) or _kind_of_unlisted(message)
    if kind == "user" and not isinstance(message.content, str) and result_ids(message):
        return "result"
    return kind


def _kind_of_unlisted(message: BaseMessage) -> Kind:
    if isinstance(message, ChatMessage):
        return _ROLES.get(message.role.lower(), "other")
    return next((kind for known, kind in KINDS.items() if isinstance(message, known)), "other")


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


def leading_system(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The system messages before all others."""
    end = next((place for place, message in enumerate(messages) if kind_of(message) != "system"), len(messages))
    return list(messages[:end])


def canonical(message: BaseMessage) -> BaseMessage:
    """The message in a class and with a content that every integration converts.

    A `ChatMessage` becomes the class of its role. A role that no provider knows becomes a message in the user's role
    that names it; it is no user turn. Content that is neither a text nor a list (`None`) becomes an empty text.
    """
    content: object = message.content
    if not isinstance(content, str | list):
        message = message.model_copy(update={"content": ""})
    if isinstance(message, _KNOWN):
        return message
    kwargs = {"id": message.id, "name": message.name, "additional_kwargs": message.additional_kwargs}
    known = _CLASSES.get(kind_of(message))
    if known is not None:
        return known(message.content, **kwargs)
    role = message.role if isinstance(message, ChatMessage) else message.type
    said = f"[{role}] {message.text}"
    return HumanMessage(said, id=message.id, additional_kwargs={SOURCE_KEY: _OTHER_ROLE_SOURCE})


# --- calls ----------------------------------------------------------------------------------------------------------


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
    return calls_of_assistant(message) if kind_of(message) == "assistant" else ()


def calls_of_assistant(message: BaseMessage) -> tuple[str, ...]:
    """`call_ids` of a message that is known to be the assistant's."""
    fields = message.__dict__  # read directly, since this runs for every message of a window on every trim
    calls: Sequence[Any] = fields.get("tool_calls") or ()
    invalid = fields.get("invalid_tool_calls")
    extra = fields["additional_kwargs"]
    plain = not invalid and not extra and type(fields["content"]) is str
    if plain and not calls:
        return ()
    if plain and len(calls) == 1:
        return (calls[0]["id"] or "",)
    ids = dict.fromkeys(call_id for place in _calls_by_place(message) for call_id in place)
    if not ids and isinstance(function := extra.get("function_call"), dict):
        return (FUNCTION_PREFIX + str(function.get("name")),)
    return tuple(ids)


def _calls_by_place(message: BaseMessage) -> tuple[list[str], list[str], list[str]]:
    """Ids of the calls in the message's fields, in its raw calls, and in its content, which repeat one another."""
    fields = message.__dict__
    parsed = [call["id"] or "" for call in (*fields.get("tool_calls", ()), *fields.get("invalid_tool_calls", ()))]
    raw = fields["additional_kwargs"].get("tool_calls")
    sent = [str(call.get("id") or "") for call in raw if isinstance(call, dict)] if isinstance(raw, list) else []
    return parsed, sent, [_block_call_id(block) for block in _blocks(message) if block.get("type") in _CALL_BLOCKS]


def _block_call_id(block: dict[str, Any]) -> str:
    return str(block.get(_CALL_BLOCKS[block["type"]]) or block.get("id") or "")


def _blocks(message: BaseMessage) -> list[dict[str, Any]]:
    content = message.content
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def with_unique_calls(message: BaseMessage) -> tuple[BaseMessage, dict[str, str]]:
    """The assistant message with parallel calls of one id told apart by a number behind it.

    Returns:
        The message itself where all ids differ, else a copy; and the old id for each new one, in the calls' order.
    """
    if all(len(ids) == len(set(ids)) for ids in _calls_by_place(message)):
        return message, {}
    renamed: dict[str, str] = {}

    def numbered(ids: Iterable[str]) -> Iterable[str]:
        seen: dict[str, int] = {}
        for call_id in ids:
            seen[call_id] = number = seen.get(call_id, 0) + 1
            if number > 1:
                renamed[f"{call_id}-{number}"] = call_id
            yield call_id if number == 1 else f"{call_id}-{number}"

    parsed, sent, written = _calls_by_place(message)
    update: dict[str, Any] = {}
    names = iter(list(numbered(parsed)))
    for field in ("tool_calls", "invalid_tool_calls"):
        if calls := message.__dict__.get(field):
            update[field] = [{**call, "id": next(names)} for call in calls]
    if sent:
        raw = [call for call in message.additional_kwargs["tool_calls"] if isinstance(call, dict)]
        calls = [{**call, "id": name} for call, name in zip(raw, numbered(sent), strict=True)]
        update["additional_kwargs"] = {**message.additional_kwargs, "tool_calls": calls}
    if written:
        names = iter(list(numbered(written)))
        update["content"] = [
            {**block, _CALL_BLOCKS[block["type"]]: next(names)}
            if isinstance(block, dict) and block.get("type") in _CALL_BLOCKS
            else block
            for block in message.content
        ]
    return message.model_copy(update=update), renamed


def has_thinking(message: BaseMessage) -> bool:
    """Whether an assistant message holds signed thinking, which its provider wants back unchanged and in its place."""
    return type(message.content) is not str and any(
        block.get("type") in _THINKING_BLOCKS
        or (block.get("type") == "reasoning" and "signature" in {**block, **(block.get("extras") or {})})
        for block in _blocks(message)
    )


# --- results --------------------------------------------------------------------------------------------------------


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
        return tuple(str(block.get("tool_use_id")) for block in message.content if _is_result(block))
    return ()


def _is_result(block: str | dict[str, Any]) -> TypeGuard[dict[str, Any]]:
    return isinstance(block, dict) and block.get("type") == "tool_result"


def says_more_than_results(message: BaseMessage) -> bool:
    """Whether a user message holds something beside its `tool_result` blocks, as Anthropic's protocol allows."""
    return isinstance(message, HumanMessage) and not all(map(_is_result, message.content))


def keep_results(message: BaseMessage, call_ids: Sequence[str]) -> BaseMessage:
    """The message with the results of some calls only, each once, in their order and before everything else.

    Only a user message can hold several: Anthropic's `tool_result` blocks. What stands beside them stays.

    Args:
        message: A result; it is not changed.
        call_ids: The calls whose results are to stay.

    Returns:
        The message itself when it is so already.
    """
    if not isinstance(message, HumanMessage) or not isinstance(message.content, list):
        return message
    found: dict[str, dict[str, Any]] = {}
    for block in message.content:
        if _is_result(block):
            found.setdefault(str(block.get("tool_use_id")), block)
    kept: list[str | dict[str, Any]] = [found[call_id] for call_id in call_ids]
    kept += [block for block in message.content if not _is_result(block)]
    return message if kept == message.content else message.model_copy(update={"content": kept})


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
    calls = [*getattr(caller, "tool_calls", ()), *getattr(caller, "invalid_tool_calls", ()), *_blocks(caller)]
    names = (call.get("name") for call in calls if call_id in (call.get("id"), call.get("call_id")))
    name = next((str(name) for name in names if name), None)
    return ToolMessage(text, tool_call_id=call_id, name=name, status="error", id=own_id, additional_kwargs=source)
