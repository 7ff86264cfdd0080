"""Conversations that other programs export: the tree of a ChatGPT conversation, the sessions of a LoCoMo one."""

from __future__ import annotations

import json
import re
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from langchain_tiered_memory.messages._transcript_source import fail, kind_of

__all__ = ["MESSAGE_MARK", "TEXT_KINDS", "arguments_of", "block_of_part", "decode_chatgpt", "decode_locomo"]

MESSAGE_MARK = "langchain_message"
"""The key of a node's metadata under which a message from elsewhere keeps what an export has no place for."""
TEXT_KINDS = ("text", "multimodal_text")
_MEDIA_KINDS = (("image", "image"), ("video", "video"), ("audio", "audio"), ("file", "file"))
_URLS = ("http://", "https://", "gs://", "s3://")
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
        found = "is empty" if mapping == {} else f"is {kind_of(mapping)}, not an object of nodes"
        repair = "export the conversations from ChatGPT again, or choose one that has begun"
        fail(source, where, f"its mapping {found}, so the conversation has no messages", repair)
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
        held = isinstance(node_id, str) and node_id in mapping
        node = mapping[node_id] if held else None
        if not isinstance(node, dict):
            missing = f"is {kind_of(node)} in the mapping" if held else "the mapping does not hold"
            problem = f"its branch leads to the node {node_id!r}, which {missing}"
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
        mark = self._mark(message, where)
        content = self._content(message.get("content"), where, blocks=bool(mark and mark.get("blocks")))
        if mark is not None:
            self._add_marked(role, mark, message, content, where)
            return
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

    def _mark(self, message: dict[str, Any], where: str) -> dict[str, Any] | None:
        """What `write_transcript` noted of a message that did not come from an export."""
        metadata = message.get("metadata")
        mark = metadata.get(MESSAGE_MARK) if isinstance(metadata, dict) else None
        if mark is None:
            return None
        if not isinstance(mark, dict) or any(
            not isinstance(mark.get(key), str | None) for key in ("id", "name", "call_id", "tool_call_id")
        ):
            problem = f"{MESSAGE_MARK} in its metadata is not an object whose ids and name are strings"
            fail(self._source, where, problem, f"remove {MESSAGE_MARK}, or write the conversation again")
        return mark

    def _add_marked(
        self, role: str, mark: dict[str, Any], message: dict[str, Any], content: str | list[Any], where: str
    ) -> None:
        known = _metadata(message)
        del known["chatgpt"]  # the writer's own, which says nothing of the message
        common: dict[str, Any] = {"id": mark.get("id"), "name": mark.get("name"), "response_metadata": known}
        if role == "user":
            self.messages.append(HumanMessage(content=content, **common))
        elif role == "system":
            self.messages.append(SystemMessage(content=content, **common))
        elif role == "tool":
            call_id = mark.get("tool_call_id")
            if call_id is None:
                repair = f"give it the id of the tool call that it answers, or remove {MESSAGE_MARK}"
                fail(self._source, where, f"{MESSAGE_MARK} in its metadata has no tool_call_id", repair)
            self._open = [pair for pair in self._open if pair[1] != call_id]
            self.messages.append(ToolMessage(content=content, tool_call_id=call_id, **common))
        elif "call_id" not in mark:
            self.messages.append(AIMessage(content=content, **common))
        else:
            self._add_marked_call(mark, message, content, common, where)

    def _add_marked_call(
        self, mark: dict[str, Any], message: dict[str, Any], content: object, common: dict[str, Any], where: str
    ) -> None:
        name = message.get("recipient")
        if not isinstance(name, str) or not isinstance(content, str):
            problem = "it is marked as a tool call and has no recipient or no text"
            fail(self._source, where, problem, "write the conversation again")
        call = ToolCall(name=name, args=arguments_of(content), id=mark["call_id"], type="tool_call")
        if not mark.get("continues"):
            self.messages.append(AIMessage(content="", tool_calls=[call], **common))
            return
        last = self.messages[-1] if self.messages else None
        if not isinstance(last, AIMessage):
            problem = "it is marked as a part of the assistant's message before it, and there is none"
            fail(self._source, where, problem, "write the conversation again")
        self.messages[-1] = last.model_copy(update={"tool_calls": [*last.tool_calls, call]})

    def _content(self, content: object, where: str, *, blocks: bool = False) -> str | list[str | dict[Any, Any]]:
        if not isinstance(content, dict) or not isinstance(content.get("content_type"), str):
            problem = f"its content is {kind_of(content)} without a content_type"
            fail(self._source, where, problem, "export the conversations from ChatGPT again")
        kind = content["content_type"]
        if kind in TEXT_KINDS:
            parts = content.get("parts")
            if not isinstance(parts, list) or not all(isinstance(part, str | dict) for part in parts):
                problem = f"the parts of its content are {kind_of(parts)}, not strings and objects"
                fail(self._source, where, problem, "export the conversations from ChatGPT again")
            if len(parts) == 1 and isinstance(parts[0], str) and not (blocks and kind == "multimodal_text"):
                return parts[0]
            return [block_of_part(part) for part in parts]
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
        call = ToolCall(name=recipient, args=arguments_of(content), id=call_id, type="tool_call")
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


def block_of_part(part: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind = str(part.get("content_type", ""))
    if kind == "audio_transcription" and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"], "extras": part}
    pointer = part.get("asset_pointer")
    if isinstance(pointer, str):
        media = next((name for start, name in _MEDIA_KINDS if kind.startswith(start)), "file")
        if media == "image" and set(part) == {"content_type", "asset_pointer", "image_url"}:
            return {"type": "image_url", "image_url": part["image_url"]}
        found = {"type": media, "url" if pointer.startswith(_URLS) else "file_id": pointer}
        # what says no more than the block is not kept twice
        return (
            found
            if part == {"content_type": f"{media}_asset_pointer", "asset_pointer": pointer}
            else {**found, "extras": part}
        )
    return {"type": "non_standard", "value": part}


def _thought(item: object) -> str:
    if not isinstance(item, dict):
        return str(item)
    return "\n".join(str(item[key]) for key in ("summary", "content") if item.get(key))


def arguments_of(content: str | list[Any]) -> dict[str, Any]:
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
        block_of_part(item) if isinstance(item, str) else item
        for item in _blocks(first.content) + _blocks(more["content"])
    ]
    known = first.response_metadata
    size = len(_blocks(more["content"]))
    node = {"id": more["id"], **more["response_metadata"]["chatgpt"], "blocks": size}
    more_nodes = [*known.get("chatgpt_more", []), node]
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
