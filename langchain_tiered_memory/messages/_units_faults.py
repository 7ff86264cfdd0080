"""What a provider would refuse about a conversation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages._units_walk import StrayResults, Unit, walk_units
from langchain_tiered_memory.messages.protocol import opens_conversation, result_ids

__all__ = ["FaultCode", "MessageFault", "Provider", "is_strict", "validate_messages"]

Provider: TypeAlias = Literal["openai", "anthropic", "google"]

_STRICT: Final = ("anthropic", "google")
"""Providers that want system messages first and then a user turn; OpenAI takes both anywhere."""

FaultCode: TypeAlias = Literal[
    "orphan_result",
    "misplaced_result",
    "duplicate_result",
    "unanswered_call",
    "system_not_leading",
    "first_not_user",
]


@dataclass(frozen=True, slots=True)
class MessageFault:
    """One rule that a message list breaks, and so a reason for a provider to refuse it.

    Attributes:
        code: The rule: `"orphan_result"` (a tool result answers no call before it), `"misplaced_result"` (it does not
            stand in the block behind its call), `"duplicate_result"` (its call has another result),
            `"unanswered_call"` (a past call has no result), `"system_not_leading"`, `"first_not_user"` (behind the
            system messages the user does not have the word).
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

    The rules that all share: every tool result stands in one block behind the assistant message whose call it
    answers, and every past call has its results. Calls at the very end whose results have not come yet are no fault.
    Anthropic and Google further want system messages to lead and a user turn to follow them.

    Args:
        messages: The conversation; it is not changed.
        provider: Whose rules count: `"openai"`, `"anthropic"`, `"google"`, or all of them when `None`.

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
    strict = is_strict(provider)
    strays = StrayResults()
    units = list(walk_units(messages, strays))[::-1]
    found: list[tuple[int, FaultCode, str]] = [
        *((index, "orphan_result", _about(messages[index], "answers no call")) for index in strays.orphans),
        *((index, "duplicate_result", _about(messages[index], "answers again")) for index in strays.duplicates),
    ]
    for unit in units:
        found += [
            (position, "misplaced_result", _about(messages[position], f"belongs behind message {unit.head}"))
            for offset, position in enumerate(sorted(unit.positions), start=1)
            if position != unit.head + offset
        ]
        if unit.missing and not unit.live:
            found.append((unit.head, "unanswered_call", f"no result for {', '.join(unit.missing)}"))
    if strict:
        found += _order_faults(units)
    return [MessageFault(code, index, messages[index].id, detail) for index, code, detail in sorted(found)]


def is_strict(provider: Provider | None) -> bool:
    """Whether a provider wants system messages to lead and a user turn to follow them.

    Raises:
        ValueError: It is not known.
    """
    if provider not in (None, "openai", *_STRICT):
        msg = f"provider={provider!r} is not known: use 'openai', 'anthropic', 'google', or None for all of them"
        raise ValueError(msg)
    return provider != "openai"


def _about(message: BaseMessage, what: str) -> str:
    return f"result for {', '.join(result_ids(message))} {what}"


def _order_faults(units: Sequence[Unit]) -> Iterator[tuple[int, FaultCode, str]]:
    first = next((unit for unit in units if unit.kind != "system"), None)
    if first is not None and not opens_conversation(first.messages[0]):
        yield (
            first.head,
            "first_not_user",
            f"the conversation begins with a message of type {first.messages[0].type}",
        )
    yield from (
        (unit.head, "system_not_leading", "a system message stands inside the conversation")
        for place, unit in enumerate(units)
        if unit.kind == "system" and any(earlier.kind != "system" for earlier in units[:place])
    )
