"""The `conversations.json` of a Claude.ai export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened, as_object, call_of, content_of

__all__ = ["NAME", "open_conversation", "read", "takes"]

NAME = "claude"
_SHAPE = '{"sender": "human", "text": ...}'


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """A conversation of the export."""
    if "chat_messages" not in value:
        return None
    records = value["chat_messages"]
    if not isinstance(records, list):
        place.fail(f"chat_messages is {kind_of(records)}", "export the conversations from Claude again")
    rest = {key: item for key, item in value.items() if key != "chat_messages"}
    return Opened(records, value.get("uuid"), value.get("name") or None, rest)


def takes(records: Sequence[dict[str, Any]]) -> bool:
    """Whether the records name their sender."""
    return all("sender" in record for record in records)


def read(records: Sequence[Any], place: Place) -> list[BaseMessage]:
    """The messages of an export; what a tool gave stands in the assistant's turn and becomes a message of its own."""
    messages: list[BaseMessage] = []
    for index, record in enumerate(records):
        here = place.at(f"message {index}")
        value = as_object(record, here, _SHAPE)
        own_id = value["uuid"] if isinstance(value.get("uuid"), str) else None
        blocks = content_of(value.get("content") or value.get("text") or "", here)
        if value.get("sender") == "human":
            messages.append(HumanMessage(_with_files(_shorter(blocks), value), id=own_id))
        elif value.get("sender") == "assistant":
            messages += _assistant(blocks, own_id, here)
        else:
            here.fail(f"its sender is {value.get('sender')!r}", 'it must be "human" or "assistant": export again')
    return messages


def _assistant(blocks: str | list[Any], own_id: str | None, place: Place) -> list[BaseMessage]:
    """One turn as calls, their results and what was said after them."""
    messages: list[BaseMessage] = []
    said: list[Any] = []
    calls: list[Any] = []
    open_ids: list[str] = []

    def flush() -> None:
        if said or calls:
            messages.append(AIMessage(_shorter(said), tool_calls=calls, id=None if messages else own_id))
            said.clear()
            calls.clear()

    for number, block in enumerate([{"type": "text", "text": blocks}] if isinstance(blocks, str) else blocks):
        kind = block.get("type") if isinstance(block, dict) else None
        here = place.at(f"block {number}")
        if kind == "tool_use":
            call_id = block.get("id") or f"{own_id or 'call'}_{number}"
            calls.append(call_of(block.get("name"), block.get("input"), call_id, here))
            open_ids.append(call_id)
        elif kind == "tool_result":
            flush()
            call_id = block.get("tool_use_id") or (open_ids[0] if open_ids else None)
            if call_id is None:
                here.fail("a tool_result answers no tool_use", "export the conversations from Claude again")
            open_ids = [one for one in open_ids if one != call_id]
            status = "error" if block.get("is_error") else "success"
            messages.append(
                ToolMessage(content_of(block.get("content") or "", here), tool_call_id=call_id, status=status)
            )
        else:
            said.append(block)
    flush()
    return messages or [AIMessage("", id=own_id)]


def _shorter(blocks: str | list[Any]) -> str | list[Any]:
    """A single text as mere text, without what the export says of it."""
    if isinstance(blocks, str):
        return blocks
    only = blocks[0] if len(blocks) == 1 and isinstance(blocks[0], dict) else {}
    return only["text"] if only.get("type") == "text" and isinstance(only.get("text"), str) else list(blocks)


def _with_files(content: str | list[Any], value: dict[str, Any]) -> str | list[Any]:
    """What the user said, with the text that the export holds of attached files."""
    attached = [one for one in value.get("attachments") or [] if isinstance(one, dict) and one.get("extracted_content")]
    if not attached:
        return content
    said = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts = [
        {"type": "text", "text": f"[{one.get('file_name') or 'file'}]\n{one['extracted_content']}"} for one in attached
    ]
    return [*said, *texts]
