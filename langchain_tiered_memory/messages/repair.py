"""What each provider refuses about a message list, and the repair of a list that breaks its rules.

The rules are those of the providers' APIs as LangChain's integrations reach them. What an integration mends by itself
is no rule: langchain-mistralai, for one, rewrites call ids into the nine alphanumeric characters that Mistral wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, Literal, TypeAlias, get_args

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages.protocol import (
    SOURCE_KEY,
    SYNTHETIC_SOURCE,
    call_ids,
    has_thinking,
    kind_of,
)
from langchain_tiered_memory.messages.units import (
    FaultCode,
    FoundFaults,
    Unit,
    arrange,
    split_units,
    unfinished_thinking,
    walk_units,
)

__all__ = ["PROVIDERS", "RULES", "MessageFault", "Provider", "repair_messages", "validate_messages"]

Provider: TypeAlias = Literal["openai", "openai_responses", "anthropic", "google", "bedrock", "mistral"]
"""OpenAI's chat completions and Responses, Anthropic's Messages, Gemini, Amazon Bedrock's Converse, Mistral's chat."""
PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)

_EMPTY_TURN: Final = "(empty message)"
_NO_ANSWER: Final = "(no answer)"


# --- the rules --------------------------------------------------------------------------------------------------------


# What every provider refuses: results and calls that do not belong together (OpenAI "Function calling", Anthropic
# "Handle tool calls", Gemini "Function calling", Bedrock "ToolResultBlock", mistral-common's InstructRequestValidator),
# and what the integrations' message converters raise for.
_EVERYBODY: Final[tuple[FaultCode, ...]] = (
    "orphan_result",
    "misplaced_result",
    "duplicate_result",
    "duplicate_call",
    "unanswered_call",
    "no_content",
    "unknown_role",
    "removal",
)
RULES: Final[dict[FaultCode, tuple[Provider, ...]]] = {
    **dict.fromkeys(_EVERYBODY, PROVIDERS),
    # Gemini, without ids, tells the results of one function apart by their order ("Parallel calls").
    "result_order": ("google",),
    # Anthropic "Handle tool calls": tool_result blocks come first in the content.
    "text_before_result": ("anthropic", "bedrock"),
    # langchain-anthropic and mistral-common refuse it, langchain-google-genai drops what stands inside.
    "system_not_leading": ("anthropic", "google", "bedrock", "mistral"),
    # Anthropic "Messages", Bedrock "Converse"; Gemini wants a call right behind a user turn or a function response.
    "first_not_user": ("anthropic", "google", "bedrock"),
    # Anthropic "text content blocks must contain non-whitespace text"; Gemini, Bedrock and mistral-common likewise.
    "empty_text": ("anthropic", "google", "bedrock", "mistral"),
    # Anthropic "Extended thinking": in a tool loop the turn starts with its thinking blocks, unchanged.
    "thinking_cut": ("anthropic", "bedrock"),
    # Gemini "function call turn comes immediately after a user turn or after a function response turn".
    "call_after_assistant": ("google",),
    # mistral-common before 1.13 ("Unexpected role user after role tool"), and servers built on it.
    "user_after_result": ("mistral",),
}
"""Each rule, with the providers that refuse a list which breaks it, and where the rule stands."""
_ONLY_WHERE_NAMED: Final = frozenset({"empty_text", "thinking_cut", "call_after_assistant", "user_after_result"})
"""What a portable list, for OpenAI, Anthropic and Google alike, is not held to."""


def _refused_by(provider: Provider | None) -> frozenset[FaultCode]:
    """The rules that count for a provider, or those of a portable list where none is named."""
    if provider is None:
        return frozenset(RULES) - _ONLY_WHERE_NAMED
    if provider not in PROVIDERS:
        msg = f"provider={provider!r} is not known: use {', '.join(map(repr, PROVIDERS))}, or None for a portable list"
        raise ValueError(msg)
    return frozenset(code for code, providers in RULES.items() if provider in providers)


# --- validation -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MessageFault:
    """One rule that a message list breaks, and so a reason for a provider to refuse it.

    Attributes:
        code: The rule: `"orphan_result"` (a tool result answers no call before it), `"misplaced_result"` (it does not
            stand in the block behind its call), `"duplicate_result"` (its call has another result),
            `"duplicate_call"` (two calls of one message share an id), `"unanswered_call"` (a past call has no result),
            `"result_order"` (results stand in another order than their calls), `"text_before_result"` (a
            `tool_result` block stands behind other content), `"system_not_leading"`, `"first_not_user"` (behind the
            system messages the user does not have the word), `"no_content"` (neither text nor a list),
            `"unknown_role"`, `"removal"` (a `RemoveMessage` was not applied). Further, where a provider is named:
            `"empty_text"`, `"thinking_cut"` (an unfinished turn lost the thinking it began with),
            `"call_after_assistant"`, `"user_after_result"`.
        index: Position of the message in the list.
        message_id: The message's id, if it has one.
        detail: What is wrong, in a sentence, with the call ids that matter.
    """

    code: FaultCode
    index: int
    message_id: str | None
    detail: str


def validate_messages(messages: Sequence[BaseMessage], provider: Provider | None = None) -> list[MessageFault]:
    """Say why a provider would refuse a conversation.

    Which provider has which rule, and where it stands, is a table: `messages.repair.RULES`. Calls at the very
    end whose results have not come yet are no fault.

    Args:
        messages: The conversation; it is not changed.
        provider: Whose rules count: `"openai"`, `"openai_responses"`, `"anthropic"`, `"google"`, `"bedrock"` or
            `"mistral"`. With `None`, the rules on the order of messages that a list must keep to suit OpenAI,
            Anthropic and Google alike.

    Returns:
        The faults in the order of their positions; empty means valid.

    Raises:
        ValueError: `provider` is none of these.

    Example:
        ```python
        from langchain_core.messages import ToolMessage
        from langchain_tiered_memory import validate_messages

        faults = validate_messages([ToolMessage("3", tool_call_id="c1")], provider="openai")
        assert [fault.code for fault in faults] == ["orphan_result"]
        ```
    """
    refused = _refused_by(provider)
    found: FoundFaults = []
    units = list(walk_units(messages, found))
    found += _unit_faults(units[::-1])
    found += [(unit.head, "thinking_cut", _THINKING_CUT) for unit in _cut_thinking(units)[:1]]
    for unit in units:
        for place, message in zip((unit.head, *unit.positions), unit.messages, strict=True):
            if _without_empty_text(message) is not message and (provider != "mistral" or unit.kind == "assistant"):
                found.append((place, "empty_text", "a text is empty or blank"))
    faults = sorted({fault for fault in found if fault[1] in refused})
    return [MessageFault(code, index, messages[index].id, detail) for index, code, detail in faults]


_THINKING_CUT: Final = "the unfinished turn holds thinking and does not begin with it"


def _unit_faults(units: Sequence[Unit]) -> Iterator[tuple[int, FaultCode, str]]:
    """Unanswered calls, and units that stand where they may not, for units from the oldest on."""
    spoken = [unit for unit in units if unit.kind != "system"]
    for unit in units:
        if unit.missing and not unit.live:
            yield unit.head, "unanswered_call", f"no result for {', '.join(unit.missing)}"
        if unit.kind == "system" and spoken and spoken[0].head < unit.head:
            yield unit.head, "system_not_leading", "a system message stands inside the conversation"
    if spoken and spoken[0].kind != "user":
        detail = f"the conversation begins with a message of type {spoken[0].messages[0].type}"
        yield spoken[0].head, "first_not_user", detail
    for before, unit in pairwise(spoken):
        if unit.kind == "assistant" and unit.calls and before.kind == "assistant" and not before.calls:
            yield unit.head, "call_after_assistant", "a call follows an answer of the assistant"
        if unit.kind == "user" and before.kind == "assistant" and before.calls:
            yield unit.head, "user_after_result", "a user message follows a tool result"


def _cut_thinking(newest_first: Sequence[Unit]) -> list[Unit]:
    """The units, oldest first, that stand before the first thinking of an unfinished turn that holds some."""
    turn = unfinished_thinking(newest_first)[::-1]
    return turn[: next((place for place, unit in enumerate(turn) if has_thinking(unit.messages[0])), 0)]


# --- repair ---------------------------------------------------------------------------------------------------------


def repair_messages(messages: Sequence[BaseMessage], provider: Provider | None = None) -> list[BaseMessage]:
    """Make a conversation valid with the least change.

    Results move behind their call, in the order of the calls; results of no call and repeated ones are dropped, text
    beside them stays; a past call that was never answered is closed with an error result, in whose place a late real
    result steps. A `RemoveMessage` is applied, a message of an unknown role becomes a text in the user's role that
    names it. System messages move to the front, and what the assistant said before the first user turn is dropped,
    where the provider wants it so. Calls at the very end whose results have not come yet are left alone.

    Where a provider is named, its further rules are met too: blank texts go, or say that they are empty where a user
    turn is nothing else; in an unfinished turn, calls that lost the thinking before them go; for Google an answer
    right before a call is joined with it; for Mistral a short answer steps between a result and a user turn.

    Args:
        messages: The conversation; neither the list nor its messages are changed.
        provider: Whose rules count, see `validate_messages`.

    Returns:
        A list for which `validate_messages` finds no fault, provided that it holds a user turn; a conversation
        without one cannot begin with it. A valid conversation comes back as it was.

    Raises:
        ValueError: `provider` is not known.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage
        from langchain_tiered_memory import repair_messages

        call = {"name": "add", "args": {}, "id": "c1"}
        cancelled = [HumanMessage("add"), AIMessage("", tool_calls=[call]), HumanMessage("never mind")]
        assert [m.type for m in repair_messages(cancelled)] == ["human", "ai", "tool", "human"]
        ```
    """
    refused = _refused_by(provider)
    mended = arrange(
        split_units(messages), system_leads="system_not_leading" in refused, user_opens="first_not_user" in refused
    )
    if "empty_text" in refused:
        told = map(_without_empty_text, mended)
        mended = [message for message in told if message is not None] or mended
    if "thinking_cut" in refused:
        cut = [unit for unit in _cut_thinking(list(walk_units(mended))) if not unit.live]
        gone = {place for unit in cut for place in (unit.head, *unit.positions)}
        mended = [message for place, message in enumerate(mended) if place not in gone]
    if "call_after_assistant" in refused:
        mended = _joined(mended)
    if "user_after_result" in refused:
        mended = _answered(mended)
    return mended


def _without_empty_text(message: BaseMessage) -> BaseMessage | None:
    """The message without blank texts; `None` when it holds nothing else and nobody misses it."""
    content = message.content
    kept: str | list[str | dict[str, Any]] = content
    kind = kind_of(message)
    if isinstance(content, str):
        kept = content if kind == "result" or content.strip() else ""
    elif any(map(_is_blank, content)):
        kept = [block for block in content if not _is_blank(block)]
    if not kept and kind == "user":
        kept = _EMPTY_TURN
    elif not kept and (kind == "system" or (kind == "assistant" and not call_ids(message))):
        return None
    return message if kept == content else message.model_copy(update={"content": kept})


def _is_blank(block: str | dict[str, Any]) -> bool:
    text = block if isinstance(block, str) else block.get("text") if block.get("type") == "text" else "a block"
    return not (text or "").strip()


def _joined(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with each answer that stands right before a call joined to it."""
    joined: list[BaseMessage] = []
    for message in messages:
        told = message
        while call_ids(told) and joined and kind_of(joined[-1]) == "assistant" and not call_ids(joined[-1]):
            before, after = joined.pop().content, told.content
            if isinstance(before, str) and isinstance(after, str):
                content: str | list[str | dict[str, Any]] = "\n".join(filter(None, (before, after)))
            else:
                content = [part for parts in (before, after) for part in ([parts] if isinstance(parts, str) else parts)]
            told = told.model_copy(update={"content": content})
        joined.append(told)
    return joined


def _answered(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages with a short answer between a tool result and a user message."""
    answered: list[BaseMessage] = []
    for message in messages:
        if answered and kind_of(answered[-1]) == "result" and kind_of(message) == "user":
            answered.append(AIMessage(_NO_ANSWER, additional_kwargs={SOURCE_KEY: SYNTHETIC_SOURCE}))
        answered.append(message)
    return answered
