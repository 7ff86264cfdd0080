"""Units, rounds, and the repair of a conversation that no provider would accept.

A *unit* is what may only be kept or dropped whole: an assistant message that calls tools together with **all** the
results that answer it, or any other single message. Results are found by call id and not by adjacency, so parallel
calls, results that came late and results of two interleaved calls all find their way home.

A *round* runs from one user message to the next.

The grouping is written once, as a walk from the newest message to the oldest (`walk_units`): a trimmer reads only as
far back as its budget reaches, everything else reads the whole walk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages._unit_walk import FoundFaults, Unit, close_unit, walk_units
from langchain_tiered_memory.messages.protocol import (
    SOURCE_KEY,
    SYNTHETIC_SOURCE,
    call_ids,
    has_thinking,
    is_user_turn,
    kind_of,
    opens_conversation,
)
from langchain_tiered_memory.messages.provider_rules import FaultCode, Provider, refused_by

__all__ = [
    "MessageFault",
    "Provider",
    "Unit",
    "arrange",
    "close_unit",
    "legal_cuts",
    "repair_messages",
    "split_rounds",
    "split_units",
    "unfinished_thinking",
    "validate_messages",
    "walk_units",
]

_EMPTY_TURN: Final = "(empty message)"
_NO_ANSWER: Final = "(no answer)"


def split_units(messages: Sequence[BaseMessage]) -> list[Unit]:
    """Split a conversation into units, oldest first.

    Args:
        messages: The conversation; it is not changed.

    Returns:
        The units in the order of their first messages. Results that answer no call are in none of them.

    Example:
        ```python
        from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
        from langchain_tiered_memory.messages.units import split_units

        call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "c1"}
        chat = [HumanMessage("1 + 2?"), AIMessage("", tool_calls=[call]), ToolMessage("3", tool_call_id="c1")]
        assert [len(unit.messages) for unit in split_units(chat)] == [1, 2]
        ```
    """
    return list(walk_units(messages))[::-1]


def split_rounds(messages: Sequence[BaseMessage]) -> list[list[BaseMessage]]:
    """Split a conversation into rounds, each from one user message to the next.

    What stands before the first user message (system messages, a greeting, a summary) is a round of its own.

    Args:
        messages: The conversation; it is not changed.

    Returns:
        The rounds, oldest first; concatenated they are `messages`.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> chat = [HumanMessage("1 + 2?"), AIMessage("3"), HumanMessage("Thanks!")]
        >>> [len(one) for one in split_rounds(chat)]
        [2, 1]
    """
    rounds: list[list[BaseMessage]] = []
    for message in messages:
        if not rounds or is_user_turn(message):
            rounds.append([])
        rounds[-1].append(message)
    return rounds


def unfinished_thinking(newest_first: Sequence[Unit]) -> list[Unit]:
    """The units of an unfinished assistant turn that holds thinking, which its provider wants back as one piece.

    Anthropic refuses a tool loop that does not begin with the thinking it began with. The turn is over when the
    assistant answers without a call or the user has the word.

    Args:
        newest_first: The newest units, at least back to the newest user turn.

    Returns:
        The turn's units, newest first; empty when the newest turn is over, or no thinking is in it.
    """
    turn: list[Unit] = []
    for unit in newest_first:
        if unit.kind == "user":
            break
        if unit.kind == "assistant":
            if not _calls(unit):
                break
            turn.append(unit)
    return turn if any(has_thinking(unit.messages[0]) for unit in turn) else []


def legal_cuts(messages: Sequence[BaseMessage], *, at_user: bool = False) -> list[int]:
    """Positions at which a conversation may be cut in two without splitting a unit.

    Args:
        messages: The conversation.
        at_user: Only positions at which the second part begins with a user turn, as the start of a window must.

    Returns:
        Indices from 0 to `len(messages)`, ascending; no cut lies behind the head of a live unit, or inside an
        unfinished turn that holds thinking.

    Example:
        >>> from langchain_core.messages import AIMessage, HumanMessage
        >>> chat = [HumanMessage("1 + 2?"), AIMessage("3"), HumanMessage("Thanks!")]
        >>> legal_cuts(chat), legal_cuts(chat, at_user=True)
        ([0, 1, 2, 3], [0, 2])
    """
    units = list(walk_units(messages))
    open_heads = [unit.head for unit in (*unfinished_thinking(units), *(one for one in units if one.live))]
    blocked = {place for unit in units if unit.positions for place in range(unit.head + 1, max(unit.positions) + 1)}
    cuts = [index for index in range(min(open_heads, default=len(messages)) + 1) if index not in blocked]
    if at_user:
        return [index for index in cuts if index < len(messages) and is_user_turn(messages[index])]
    return cuts


def arrange(
    units: Sequence[Unit],
    *,
    system_leads: bool = True,
    user_opens: bool = True,
    pinned: frozenset[int] = frozenset(),
) -> list[BaseMessage]:
    """The messages of units in an order that providers accept.

    Args:
        units: Units of one conversation, oldest first.
        system_leads: Whether system messages move to the front.
        user_opens: Whether what stands before the first user turn is left out, provided that there is one.
        pinned: Indices of units that may not be dropped, wherever they stand.

    Returns:
        The messages, past calls closed.
    """
    system: list[BaseMessage] = []
    spoken: list[BaseMessage] = []
    early: list[BaseMessage] = []  # what the assistant said before the first user turn
    opened = not user_opens
    for unit in units:
        messages = close_unit(unit) if unit.missing else unit.messages
        if unit.kind == "system":
            (system if system_leads else spoken).extend(messages)
        elif opened or opens_conversation(messages[0]):
            opened = True
            spoken += messages
        else:
            early += messages
            if unit.head in pinned:
                spoken += messages
    return system + (spoken if opened else early)


# --- validation -----------------------------------------------------------------------------------------------------


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

    Which provider has which rule, and where it stands, is a table: `messages.provider_rules.RULES`. Calls at the very
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
    refused = refused_by(provider)
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
    if spoken and not opens_conversation(spoken[0].messages[0]):
        detail = f"the conversation begins with a message of type {spoken[0].messages[0].type}"
        yield spoken[0].head, "first_not_user", detail
    for before, unit in pairwise(spoken):
        if unit.kind == "assistant" and _calls(unit) and before.kind == "assistant" and not _calls(before):
            yield unit.head, "call_after_assistant", "a call follows an answer of the assistant"
        if unit.kind == "user" and before.kind == "assistant" and _calls(before):
            yield unit.head, "user_after_result", "a user message follows a tool result"


def _calls(unit: Unit) -> bool:
    return len(unit.messages) > 1 or bool(unit.missing)


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
    refused = refused_by(provider)
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
