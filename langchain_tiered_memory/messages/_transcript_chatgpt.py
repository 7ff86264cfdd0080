"""Messages as the nodes of a ChatGPT export, so that the reader of such exports gives the same messages again.

A message that came from an export is written as the node that it was. Any other is written in the shapes of an export
(text, code addressed to a tool, the tool's answer, pictures by pointer); what these have no place for, the own id and
name of a message, the ids of its calls and that several nodes are one message, stands in the node's metadata.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from langchain_tiered_memory.errors import TranscriptError
from langchain_tiered_memory.messages._transcript_exports import MESSAGE_MARK, TEXT_KINDS, arguments_of, block_of_part
from langchain_tiered_memory.messages._transcript_source import fail

__all__ = ["encode_chatgpt"]

_ROOT = "client-created-root"  # what ChatGPT itself calls it
_UNTITLED = "New chat"  # ChatGPT's own name for it
_ROLES: tuple[tuple[type[BaseMessage], str], ...] = (
    (HumanMessage, "user"),
    (AIMessage, "assistant"),
    (SystemMessage, "system"),
    (ToolMessage, "tool"),
)


def encode_chatgpt(
    messages: Sequence[BaseMessage],
    target: str,
    *,
    title: str | None,
    conversation_id: str | None,
    metadata: Mapping[str, Any],
) -> dict[str, Any]:
    """Write messages as a tree of one branch; what has no place in it is left out, for the caller to notice.

    Without an id of its own the conversation gets one made from its messages, so that writing it twice gives one id.

    Raises:
        TranscriptError: A message is of a class without a role in an export, or holds what JSON does not.
    """
    found: list[dict[str, Any]] = []
    called: dict[str | None, str] = {}
    for index, message in enumerate(messages):
        where = f"message {index}" + (f" (id {message.id!r})" if message.id else "")
        try:
            nodes = _nodes(message, _tool_name(message, called), target, where)
            json.dumps(nodes)
        except TranscriptError:  # already says where, and what to do
            raise
        except (TypeError, ValueError, RecursionError) as error:
            repair = "turn that value into strings, numbers, lists and objects"
            fail(target, where, f"it is not JSON data ({error})", repair, error)
        found += nodes
        if isinstance(message, AIMessage):
            called |= {call["id"]: call["name"] for call in message.tool_calls}
    mapping, current = _tree(found)
    times = [node["create_time"] for node in found if isinstance(node.get("create_time"), int | float)]
    own_id = conversation_id or str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(mapping)))
    return {
        "create_time": times[0] if times else time.time(),
        "update_time": times[-1] if times else None,
        "id": own_id,
        **metadata,
        "title": title if title or "title" in metadata else _UNTITLED,
        "conversation_id": own_id,
        "mapping": mapping,
        "current_node": current,
    }


def _tree(found: list[dict[str, Any]]) -> tuple[dict[str, Any], str]:
    """Hang the nodes under a root, each under the one before it."""
    mapping: dict[str, Any] = {_ROOT: {"id": _ROOT, "message": None, "parent": None, "children": []}}
    parent = _ROOT
    for number, node in enumerate(found):
        name = str(node["id"] or f"node-{number}")
        while name in mapping:  # messages may share an id, nodes may not
            name += f"-{number}"
        message = {**node, "id": node["id"] or name}
        mapping[parent]["children"].append(name)
        mapping[name] = {"id": name, "message": message, "parent": parent, "children": []}
        parent = name
    return mapping, parent


def _tool_name(message: BaseMessage, called: Mapping[str | None, str]) -> str:
    """A result's tool, by its own name or else by that of the call it answers; of any other message, its name."""
    if not isinstance(message, ToolMessage) or message.name:
        return message.name or ""
    return called.get(message.tool_call_id, "tool")


def _nodes(message: BaseMessage, name: str, target: str, where: str) -> list[dict[str, Any]]:
    role = next((role for kind, role in _ROLES if isinstance(message, kind)), None)
    if role is None:
        problem = f"the format chatgpt cannot carry a {type(message).__name__}"
        fail(target, where, problem, 'write format="langchain", which has a place for every class')
    known = message.response_metadata.get("chatgpt")
    if known == {"implied": True}:
        return []  # the reader puts this call in again, in front of the result that has none
    if isinstance(known, dict) and _is_node(known):
        return _as_they_were(message, known)
    return _new_nodes(message, role, name)


# --- messages that came from an export -------------------------------------------------------------------------------


def _is_node(known: object) -> bool:
    content = known.get("content") if isinstance(known, dict) else None
    return isinstance(content, dict) and isinstance(content.get("content_type"), str)


def _as_they_were(message: BaseMessage, known: dict[str, Any]) -> list[dict[str, Any]]:
    """The node of a message, or the several nodes of one tool's answer."""
    more = message.response_metadata.get("chatgpt_more")
    content: Any = message.content
    if not isinstance(more, list) or not isinstance(content, list) or not all(_is_node(node) for node in more):
        if isinstance(message, AIMessage) and len(message.tool_calls) == 1 and content == "":
            content = _spoken_arguments(message.tool_calls[0])
        return [{"id": message.id, **known, "content": _content_as_it_was(known["content"], content)}]
    sizes = [node.get("blocks", 1) for node in more]
    start = len(content) - sum(sizes)
    nodes = [{"id": message.id, **known, "content": _content_as_it_was(known["content"], content[:start])}]
    for node, size in zip(more, sizes, strict=True):
        own = {key: item for key, item in node.items() if key != "blocks"}
        nodes.append({**own, "content": _content_as_it_was(node["content"], content[start : start + size])})
        start += size
    return nodes


def _content_as_it_was(known: dict[str, Any], content: str | list[Any]) -> dict[str, Any]:
    """Put the content back into what is known of it, which is all but its `parts` and `text`."""
    kind = known["content_type"]
    if kind in TEXT_KINDS:
        return {**known, "parts": _parts(content)}
    only = content[0] if isinstance(content, list) and len(content) == 1 else content
    if isinstance(only, dict) and only.get("type") == "non_standard" and isinstance(only.get("value"), dict):
        return dict(only["value"])
    text = only.get("text") if isinstance(only, dict) else only
    return {**known, "text": text} if kind in {"code", "execution_output"} and isinstance(text, str) else dict(known)


def _spoken_arguments(call: ToolCall) -> str:
    """A call's arguments as the text that its node held: free text as it is, if it is read as free text."""
    args = call["args"]
    text = args.get("__arg1")
    if isinstance(text, str) and arguments_of(text) == args:
        return text
    return json.dumps(args, ensure_ascii=False)


# --- messages from elsewhere -----------------------------------------------------------------------------------------


def _new_nodes(message: BaseMessage, role: str, name: str) -> list[dict[str, Any]]:
    mark: dict[str, Any] = {"id": message.id, "name": message.name}
    if isinstance(message.content, list):
        mark["blocks"] = True  # an export does not tell a text from a list with one text
    if isinstance(message, ToolMessage):
        mark["tool_call_id"] = message.tool_call_id
    kind = "text" if isinstance(message.content, str) else "multimodal_text"
    said = {"content_type": kind, "parts": _parts(message.content)}
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    model = message.response_metadata.get("model_name")
    extra = {"model_slug": model} if isinstance(model, str) else {}
    author: dict[str, Any] = {"role": role, "name": name or None, "metadata": {}}
    nodes = []
    if message.content != "" or not calls:  # a call without a word needs no node that says nothing
        nodes.append(_node(message.id, author, said, "all", {**extra, MESSAGE_MARK: mark}))
    for call in calls:
        code = {"content_type": "code", "language": "json", "text": json.dumps(call["args"], ensure_ascii=False)}
        own = {**mark, "call_id": call["id"]}
        if nodes:
            own["continues"] = True
        node_id = (call["id"] or None) if nodes else message.id
        nodes.append(_node(node_id, author, code, call["name"], {**extra, MESSAGE_MARK: own}))
    return nodes


def _node(
    node_id: str | None, author: dict[str, Any], content: dict[str, Any], recipient: str, metadata: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": node_id,
        "author": author,
        "create_time": None,
        "update_time": None,
        "content": content,
        "status": "finished_successfully",
        "end_turn": None,
        "weight": 1.0,
        "metadata": metadata,
        "recipient": recipient,
        "channel": None,
    }


def _parts(content: str | list[Any]) -> list[Any]:
    return [content] if isinstance(content, str) else [_part_of(block) for block in content]


def _part_of(block: str | dict[Any, Any]) -> str | dict[Any, Any]:
    """The part that is read as this block; for a block without one, the block itself, which is read as non-standard."""
    if isinstance(block, str):
        return block
    return next((part for part in _candidates(block) if block_of_part(part) == block), block)


def _candidates(block: dict[Any, Any]) -> Iterator[str | dict[str, Any]]:
    """The parts that a block may have been or may become; pictures inside the text are not among them."""
    for whole in (block.get("extras"), block.get("value")):
        if isinstance(whole, dict):
            yield whole  # the part that it was
    if isinstance(block.get("text"), str):
        yield block["text"]
    image = block.get("image_url")
    for pointer in (block.get("url"), block.get("file_id"), image.get("url") if isinstance(image, dict) else image):
        if isinstance(pointer, str) and not pointer.startswith("data:"):  # an export holds no bytes, it points to them
            kind = "image" if image is not None else block.get("type")
            part = {"content_type": f"{kind}_asset_pointer", "asset_pointer": pointer}
            yield part if image is None else {**part, "image_url": image}
