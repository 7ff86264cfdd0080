"""Transcripts: messages to text for a summariser, and conversations from files and back into them.

A conversation is read wholly or not at all, and written only in a form from which the same messages can be read again:
where a format has no place for something, writing says so instead of dropping it.

| format | what it is | written |
|---|---|---|
| `"langchain"` | `messages_to_dict`, `model_dump` or `dumpd` of messages; carries every field of every class | yes |
| `"openai"` | chat completions: role, content, `tool_calls`; `{"messages": [...]}`, a list, or JSON lines | yes |
| `"plain"` | role and content only; "human", "ai", "bot" and "model" are understood too | yes |
| `"chatgpt"` | the `conversations.json` of a ChatGPT export | yes |
| `"locomo"` | the LoCoMo data set | no |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from langchain_core.messages import AIMessage, BaseMessage, ChatMessage, get_buffer_string

from langchain_tiered_memory.messages._transcript_layout import FORMATS, TranscriptFormat
from langchain_tiered_memory.messages._transcript_reading import Transcript, parse_transcript, read_transcript
from langchain_tiered_memory.messages._transcript_text import label_of, render
from langchain_tiered_memory.messages._transcript_writing import write_text, write_transcript

__all__ = [
    "FORMATS",
    "PREFIXES",
    "Prefixes",
    "Transcript",
    "TranscriptFormat",
    "parse_transcript",
    "read_transcript",
    "to_text",
    "write_text",
    "write_transcript",
]


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
