"""Conversations that other programs export: the tree of a ChatGPT conversation, the sessions of a LoCoMo one."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from langchain_tiered_memory.messages._transcript_source import fail, kind_of

__all__ = ["decode_chatgpt", "decode_locomo"]

_MEDIA_KINDS = (("image", "image"), ("video", "video"), ("audio", "audio"), ("file", "file"))
_SESSION = re.compile(r"session_(\d+)")


# --- ChatGPT ---------------------------------------------------------------------------------------------------------


def decode_chatgpt(conversation: dict[str, Any], source: str, where: str) -> list[BaseMessage]:
    """Read the branch that ends in `current_node`, the one its user saw last.

    An assistant node addressed to a tool becomes a call with the node's id, and the tool nodes after it become its
    result, since an export has no call ids; a tool that answered unasked gets a call marked `implied`. Everything a
    node says beside its content (times, model, metadata, status) is kept in `response_metadata["chatgpt"]`. Only nodes
    without any message, and system nodes that are empty, are left out: ChatGPT itself puts those in.
    """
    reader = _ChatGPTReader(source, where)
    for node_id, node in _branch(conversation, source, where):
        message = node.get("message")
        if message is not None:
            reader.add(node_id, message)
    return reader.messages


def _branch(conversation: dict[str, Any], source: str, where: str) -> list[tuple[str, dict[str, Any]]]:
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        fail(source, where, f"its mapping is {kind_of(mapping)}", "export the conversations from ChatGPT again")
    node_id = conversation.get("current_node")
    if node_id is None:
        parents = {node.get("parent") for node in mapping.values() if isinstance(node, dict)}
        leaves = [name for name in mapping if name not in parents]
        if len(leaves) != 1:
            problem = f"it has no current_node and {len(leaves)} branches"
            fail(source, where, problem, "set current_node to the last message of the branch to read")
        node_id = leaves[0]
    branch: list[tuple[str, dict[str, Any]]] = []
    seen: set[str] = set()
    while node_id is not None:
        node = mapping.get(node_id) if isinstance(node_id, str) else None
        if not isinstance(node, dict):
            problem = f"its branch leads to the node {node_id!r}, which the mapping does not hold"
            fail(source, where, problem, "the export is incomplete: export the conversations again")
        if node_id in seen:
            fail(source, where, f"the node {node_id!r} is its own ancestor", "export the conversations again")
        seen.add(node_id)
        branch.append((node_id, node))
        node_id = node.get("parent")
    return branch[::-1]


class _ChatGPTReader:
    """Turns nodes into messages one after another, since a tool's answer belongs to a call seen before."""

    def __init__(self, source: str, where: str) -> None:
        self.messages: list[BaseMessage] = []
        self._source = source
        self._where = where
        self._open: list[tuple[str, str]] = []  # recipient and call id of calls without an answer

    def add(self, node_id: str, message: object) -> None:
        """Read one node's message."""
        where = f"{self._where}, node {node_id}" if self._where else f"node {node_id}"
        author = message.get("author") if isinstance(message, dict) else None
        role = author.get("role") if isinstance(author, dict) else None
        if (
            not isinstance(message, dict)
            or not isinstance(author, dict)
            or role not in {"user", "assistant", "system", "tool"}
        ):
            problem = f"the author's role is {role!r}"
            fail(self._source, where, problem, "it must be user, assistant, system or tool: export again")
        content = self._content(message.get("content"), where)
        common: dict[str, Any] = {
            "content": content,
            "id": str(message.get("id") or node_id),
            "response_metadata": _metadata(message),
        }
        if role == "system":
            if content not in ("", []):
                self.messages.append(SystemMessage(**common))
        elif role == "user":
            self.messages.append(HumanMessage(**common, name=author.get("name")))
        elif role == "assistant":
            self._add_assistant(message, common)
        else:
            self._add_tool(str(author.get("name") or "tool"), common)

    def _content(self, content: object, where: str) -> str | list[str | dict[Any, Any]]:
        if not isinstance(content, dict) or not isinstance(content.get("content_type"), str):
            problem = f"its content is {kind_of(content)} without a content_type"
            fail(self._source, where, problem, "export the conversations from ChatGPT again")
        kind = content["content_type"]
        if kind in {"text", "multimodal_text"}:
            parts = content.get("parts")
            if not isinstance(parts, list) or not all(isinstance(part, str | dict) for part in parts):
                problem = f"the parts of its content are {kind_of(parts)}, not strings and objects"
                fail(self._source, where, problem, "export the conversations from ChatGPT again")
            if len(parts) == 1 and isinstance(parts[0], str):
                return parts[0]
            return [_part(part) for part in parts]
        if kind in {"code", "execution_output"} and isinstance(content.get("text"), str):
            return str(content["text"])
        if kind == "thoughts" and isinstance(content.get("thoughts"), list):
            return [{"type": "reasoning", "reasoning": _thought(item), "extras": item} for item in content["thoughts"]]
        if kind == "reasoning_recap" and isinstance(content.get("content"), str):
            return [{"type": "reasoning", "reasoning": content["content"]}]
        return [{"type": "non_standard", "value": content}]

    def _add_assistant(self, message: dict[str, Any], common: dict[str, Any]) -> None:
        recipient = message.get("recipient") or "all"
        if recipient == "all":
            self.messages.append(AIMessage(**common))
            return
        content, call_id = common.pop("content"), common["id"]
        call = ToolCall(name=recipient, args=_arguments(content), id=call_id, type="tool_call")
        # text alone is the call's argument and would be said twice; anything richer stays as the content too
        self.messages.append(
            AIMessage(content="" if isinstance(content, str) else content, tool_calls=[call], **common)
        )
        self._open.append((recipient, call_id))

    def _add_tool(self, name: str, common: dict[str, Any]) -> None:
        last = self.messages[-1] if self.messages else None
        same = next((pair for pair in self._open if _root(pair[0]) == _root(name)), None)
        if same is not None:
            self._open.remove(same)
            self.messages.append(ToolMessage(**common, name=name, tool_call_id=same[1]))
        elif isinstance(last, ToolMessage) and _root(last.name or "") == _root(name):
            # one call, several tool nodes: providers take one result for each call
            self.messages[-1] = _joined(last, common)
        else:
            call_id = f"implied-{common['id']}"
            call = ToolCall(name=name, args={}, id=call_id, type="tool_call")
            implied = {"chatgpt": {"implied": True}}
            self.messages.append(AIMessage(content="", id=call_id, tool_calls=[call], response_metadata=implied))
            self.messages.append(ToolMessage(**common, name=name, tool_call_id=call_id))


def _metadata(message: dict[str, Any]) -> dict[str, Any]:
    rest = {key: item for key, item in message.items() if key not in {"id", "content"}}
    content = {key: item for key, item in message["content"].items() if key not in {"parts", "text"}}
    found: dict[str, Any] = {"chatgpt": {**rest, "content": content}}
    model = (message.get("metadata") or {}).get("model_slug") if isinstance(message.get("metadata"), dict) else None
    if isinstance(model, str):
        found["model_name"] = model
    return found


def _part(part: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = str(part.get("content_type", ""))
    if kind == "audio_transcription" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"], "extras": part}
    pointer = part.get("asset_pointer")
    if isinstance(pointer, str):
        media = next((name for start, name in _MEDIA_KINDS if kind.startswith(start)), "file")
        return {"type": media, "file_id": pointer, "extras": part}
    return {"type": "non_standard", "value": part}


def _thought(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    return "\n".join(str(item[key]) for key in ("summary", "content") if item.get(key))


def _arguments(content: str | list[Any]) -> dict[str, Any]:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else {"__arg1": text}  # langchain's name for a lone free-text argument


def _root(name: str) -> str:
    return name.partition(".")[0]


def _joined(first: ToolMessage, more: dict[str, Any]) -> ToolMessage:
    blocks = [
        _part(item) if isinstance(item, str) else item for item in _blocks(first.content) + _blocks(more["content"])
    ]
    known = first.response_metadata
    more_nodes = [*known.get("chatgpt_more", []), {"id": more["id"], **more["response_metadata"]["chatgpt"]}]
    return first.model_copy(update={"content": blocks, "response_metadata": {**known, "chatgpt_more": more_nodes}})


def _blocks(content: str | list[Any]) -> list[Any]:
    return [content] if isinstance(content, str) else content


# --- LoCoMo ----------------------------------------------------------------------------------------------------------


def decode_locomo(sample: dict[str, Any], source: str, where: str) -> list[BaseMessage]:
    """Read the sessions of a LoCoMo sample in order, the first speaker as the user and the second as the assistant.

    A picture is there by its caption, as the data set's own evaluation shows it to a model; the turn's other fields and
    the session's time are kept in `additional_kwargs["locomo"]`.
    """
    conversation = sample["conversation"]
    speakers = {conversation.get("speaker_a"): HumanMessage, conversation.get("speaker_b"): AIMessage}
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    messages: list[BaseMessage] = []
    for number in numbers:
        turns = conversation[f"session_{number}"]
        if not isinstance(turns, list):
            fail(source, where, f"session_{number} is {kind_of(turns)}", "make it a list of turns")
        time = conversation.get(f"session_{number}_date_time")
        for index, turn in enumerate(turns):
            place = f"{where}, session_{number}, turn {index}" if where else f"session_{number}, turn {index}"
            if (
                not isinstance(turn, dict)
                or turn.get("speaker") not in speakers
                or not isinstance(turn.get("text"), str)
            ):
                problem = "it is no turn of one of the two speakers with a text"
                fail(source, place, problem, 'write {"speaker": ..., "dia_id": ..., "text": ...}')
            rest = {key: item for key, item in turn.items() if key not in {"speaker", "dia_id"}}
            shown = f"\n[image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            about = {"locomo": {**rest, "session": number, "session_date_time": time}}
            kind = speakers[turn["speaker"]]
            text = turn["text"] + shown
            messages.append(kind(content=text, name=turn["speaker"], id=turn.get("dia_id"), additional_kwargs=about))
    return messages
