"""An independent judge of message lists: the providers' rules and the contract's semantics, written down a second time.

It imports nothing from the package under test, so that a mistake there cannot hide here. It takes the slow and plain
way everywhere: every question is answered by walking over the list again.

Sources of the rules: OpenAI's chat-completions guide ("an assistant message with tool_calls must be followed by tool
messages responding to each tool_call_id"), Anthropic's tool-use guide (tool results stand in the user message right
after the call), Gemini's function-calling guide (as many function responses as calls, right after the call).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PROVIDERS = ("openai", "openai_responses", "anthropic", "google", "bedrock", "mistral")

_ID_KEY_OF_BLOCK = {"tool_use": "id", "tool_call": "id", "function_call": "call_id"}


def blocks_of(message: BaseMessage) -> list[dict[str, Any]]:
    if isinstance(message.content, str):
        return []
    return [block for block in message.content if isinstance(block, dict)]


def text_of(message: BaseMessage) -> str:
    if isinstance(message.content, str):
        return message.content
    return "".join(
        block if isinstance(block, str) else str(block.get("text") or block.get("content") or "")
        for block in message.content
    )


def calls_of(message: BaseMessage) -> list[str]:
    """The ids of every tool call that an assistant message makes, each once, however it is written down."""
    if not isinstance(message, AIMessage):
        return []
    ids: list[Any] = [call.get("id") for call in message.tool_calls]
    ids += [call.get("id") for call in message.invalid_tool_calls]
    ids += [call.get("id") for call in message.additional_kwargs.get("tool_calls") or ()]
    for block in blocks_of(message):
        key = _ID_KEY_OF_BLOCK.get(block.get("type", ""))
        if key:
            ids.append(block.get(key))
    return list(dict.fromkeys(call_id for call_id in ids if call_id))


def results_of(message: BaseMessage) -> list[str]:
    """The ids of the calls that a message answers."""
    if isinstance(message, ToolMessage):
        return [message.tool_call_id]
    if isinstance(message, HumanMessage) and isinstance(message.content, list) and message.content:
        blocks = blocks_of(message)
        if len(blocks) == len(message.content) and all(block.get("type") == "tool_result" for block in blocks):
            return [block["tool_use_id"] for block in blocks]
    return []


def is_system(message: BaseMessage) -> bool:
    return isinstance(message, SystemMessage)


def is_user_turn(message: BaseMessage) -> bool:
    return isinstance(message, HumanMessage) and not results_of(message)


def newest_user_turn(messages: Sequence[BaseMessage]) -> int | None:
    return max((index for index, message in enumerate(messages) if is_user_turn(message)), default=None)


def answered_call(messages: Sequence[BaseMessage], index: int, call_id: str) -> int | None:
    """Where the call is that a result at `index` answers: the nearest one before it with that id."""
    for position in range(index - 1, -1, -1):
        if call_id in calls_of(messages[position]):
            return position
    return None


def answers(messages: Sequence[BaseMessage], position: int) -> dict[str, list[int]]:
    """For every call made at `position`, the places of all results that answer it."""
    found: dict[str, list[int]] = {call_id: [] for call_id in calls_of(messages[position])}
    for index in range(position + 1, len(messages)):
        for call_id in results_of(messages[index]):
            if answered_call(messages, index, call_id) == position:
                found[call_id].append(index)
    return found


def live_call(messages: Sequence[BaseMessage]) -> int | None:
    """Where the assistant message is whose results have not all come yet: nobody has spoken after it."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if is_user_turn(message):
            return None
        if isinstance(message, AIMessage):
            missing = [call_id for call_id, places in answers(messages, position).items() if not places]
            return position if missing else None
    return None


def orphans(messages: Sequence[BaseMessage]) -> list[int]:
    return [
        index
        for index, message in enumerate(messages)
        if any(answered_call(messages, index, call_id) is None for call_id in results_of(message))
    ]


@dataclass(slots=True)
class _Block:
    """The run of results right behind an assistant message."""

    asked: list[str] = field(default_factory=list)
    given: list[str] = field(default_factory=list)
    live: bool = False

    def take(self, call_ids: Iterable[str]) -> list[str]:
        faults = []
        for call_id in call_ids:
            if call_id not in self.asked:
                faults.append(f"result {call_id!r} answers no call of the message before its block")
            elif call_id in self.given:
                faults.append(f"result {call_id!r} stands twice in its block")
            self.given.append(call_id)
        return faults

    def swapped(self) -> bool:
        places = [self.asked.index(call_id) for call_id in dict.fromkeys(self.given) if call_id in self.asked]
        return places != sorted(places)

    def missing(self) -> list[str]:
        return [] if self.live else [call_id for call_id in self.asked if call_id not in self.given]


def faults(messages: Sequence[BaseMessage], provider: str | None = None) -> list[str]:
    """Everything that a provider (all of them for None) would refuse; a live trailing unit is not a fault."""
    found: list[str] = []
    block = _Block()
    live = live_call(messages)
    ordered = (None, "google")  # Gemini, without ids, tells results apart by their order
    for index, message in enumerate(messages):
        answered = results_of(message)
        if answered:
            found += [f"{index}: {fault}" for fault in block.take(answered)]
            continue
        found += [f"{index}: call {call_id!r} is not answered before this" for call_id in block.missing()]
        found += [f"{index}: results before this are out of order"] * (block.swapped() and provider in ordered)
        block = _Block(asked=calls_of(message), live=index == live)
    found += [f"end: call {call_id!r} is never answered" for call_id in block.missing()]
    found += ["end: results are out of order"] * (block.swapped() and provider in ordered)
    found += _order_faults(messages, provider)
    if provider in {"anthropic", "google", "bedrock", "mistral"}:
        found += _blank_texts(messages, only_assistant=provider == "mistral")
    said = [message for message in messages if not is_system(message) and not results_of(message)]
    for before, after in pairwise(said):
        if provider == "google" and isinstance(before, AIMessage) and not calls_of(before) and calls_of(after):
            found.append(f"{after.id}: a call follows another turn of the model")
        if provider == "mistral" and calls_of(before) and is_user_turn(after):
            found.append(f"{after.id}: a user message follows a result")
    return found


def _order_faults(messages: Sequence[BaseMessage], provider: str | None) -> list[str]:
    spoken = [index for index, message in enumerate(messages) if not is_system(message)]
    if not spoken or provider in {"openai", "openai_responses"}:
        return []
    found = [
        f"{index}: system message is not in the leading block"
        for index, message in enumerate(messages)
        if is_system(message) and index > spoken[0]
    ]
    if not is_user_turn(messages[spoken[0]]) and provider != "mistral":
        found.append(f"{spoken[0]}: the conversation does not open with a user turn")
    return found


def _blank_texts(messages: Sequence[BaseMessage], *, only_assistant: bool) -> list[str]:
    found = []
    for index, message in enumerate(messages):
        if only_assistant and not isinstance(message, AIMessage):
            continue
        if isinstance(message.content, str):
            says = message.content.strip() or isinstance(message, ToolMessage)
            blank = not says and (message.content or not calls_of(message))
        else:
            blank = any(block.get("type") == "text" and not block["text"].strip() for block in blocks_of(message))
            blank = blank or not (message.content or calls_of(message) or isinstance(message, ToolMessage))
        if blank:
            found.append(f"{index}: a text is blank")
    return found
