"""The `conversations.json` of a ChatGPT export: a tree of nodes, of which one branch is the conversation."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage

from langchain_tiered_memory.messages.transcripts import langchain
from langchain_tiered_memory.messages.transcripts.files import Place, kind_of
from langchain_tiered_memory.messages.transcripts.records import Opened

__all__ = ["NAME", "open_conversation", "read", "takes", "write_conversation"]

NAME = "chatgpt"
_MARK = "langchain_message"
"""The key of a node's metadata that holds the message whole which `write_conversation` was given."""
_AGAIN = "export the conversations from ChatGPT again"
_ROOT = "client-created-root"  # what ChatGPT itself calls it
_ROLES = {HumanMessage: "user", AIMessage: "assistant", SystemMessage: "system", ToolMessage: "tool"}


def open_conversation(value: dict[str, Any], place: Place) -> Opened | None:
    """The branch that ends in `current_node`, the one its user saw last."""
    if "mapping" not in value or "messages" in value:
        return None
    own_id = value.get("conversation_id") or value.get("id")
    title = value.get("title")
    rest = {key: item for key, item in value.items() if key not in {"mapping", "current_node"}}
    return Opened(_branch(value, place), None if own_id is None else str(own_id), title and str(title), rest)


def takes(records: Sequence[dict[str, Any]]) -> bool:  # noqa: ARG001  # as every format
    """Never: nodes stand in a mapping."""
    return False


def _branch(conversation: dict[str, Any], place: Place) -> list[tuple[str, dict[str, Any]]]:
    mapping = conversation["mapping"]
    if not isinstance(mapping, dict) or not mapping:
        found = "is empty" if mapping == {} else f"is {kind_of(mapping)}, not an object of nodes"
        place.fail(f"its mapping {found}, so the conversation has no messages", _AGAIN)
    node_id = conversation.get("current_node")
    if node_id is None:
        parents = {node.get("parent") for node in mapping.values() if isinstance(node, dict)}
        leaves = [name for name in mapping if name not in parents]
        if len(leaves) != 1:
            problem = f"it has no current_node and {len(leaves)} branches"
            place.fail(problem, "set current_node to the last message of the branch to read")
        node_id = leaves[0]
    branch: dict[str, dict[str, Any]] = {}
    while node_id is not None:
        held = isinstance(node_id, str) and node_id in mapping
        node = mapping[node_id] if held else None
        if not isinstance(node, dict):
            missing = f"is {kind_of(node)} in the mapping" if held else "the mapping does not hold"
            place.fail(f"its branch leads to the node {node_id!r}, which {missing}", _AGAIN)
        if node_id in branch:
            place.fail(f"the node {node_id!r} is its own ancestor", _AGAIN)
        branch[node_id] = node
        node_id = node.get("parent")
    return list(branch.items())[::-1]


def read(records: Sequence[tuple[str, dict[str, Any]]], place: Place) -> list[BaseMessage]:
    """The messages of a branch.

    An assistant node addressed to a tool becomes a call with the node's id, and the tool nodes after it its result,
    since an export has no call ids; a tool that answered unasked gets a call of its own. What a node says beside its
    content (times, model, metadata) is kept in `response_metadata["chatgpt"]`. Nodes without a message are left out,
    and so are empty system nodes, which ChatGPT itself puts in.
    """
    messages: list[BaseMessage] = []
    waiting: list[tuple[str, str]] = []  # recipient and id of calls without an answer
    if not all(isinstance(record, tuple) for record in records):
        place.fail("it is a list of messages, not the tree of an export", "leave the format to be told from the file")
    for node_id, node in records:
        if node.get("message") is not None:
            _read_node(node_id, node["message"], messages, waiting, place.at(f"node {node_id}"))
    return messages


def _read_node(
    node_id: str,
    said: Any,  # noqa: ANN401  # any JSON
    messages: list[BaseMessage],
    waiting: list[tuple[str, str]],
    place: Place,
) -> None:
    author = said.get("author") if isinstance(said, dict) else None
    role = author.get("role") if isinstance(author, dict) else None
    if author is None or role not in _ROLES.values():
        place.fail(f"the author's role is {role!r}", "it must be user, assistant, system or tool: export again")
    metadata = said.get("metadata") if isinstance(said.get("metadata"), dict) else {}
    if _MARK in metadata:
        if metadata[_MARK] is not None:  # else it shows a call of the message before
            messages.append(langchain.read_message(metadata[_MARK], place))
        return
    fields: dict[str, Any] = {"content": _content(said.get("content"), place), "id": str(said.get("id") or node_id)}
    about = {"chatgpt": {key: item for key, item in said.items() if key not in {"id", "content"}}}
    fields["response_metadata"] = about | ({"model_name": metadata["model_slug"]} if "model_slug" in metadata else {})
    if role == "user":
        messages.append(HumanMessage(**fields, name=author.get("name")))
    elif role == "system":
        messages += [SystemMessage(**fields)] if fields["content"] else []
    elif role == "assistant":
        recipient = said.get("recipient") or "all"
        if recipient != "all":
            fields |= _call(recipient, fields)
            waiting.append((recipient, fields["id"]))
        messages.append(AIMessage(**fields))
    else:
        _add_result(messages, waiting, str(author.get("name") or "tool"), fields)


def _call(recipient: str, common: dict[str, Any]) -> dict[str, Any]:
    """The fields of an assistant's message to a tool: text alone is the call's argument and not said beside it."""
    content = common["content"]
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    args = value if isinstance(value, dict) else {"__arg1": text}  # langchain's name for a lone free-text argument
    call = ToolCall(name=recipient, args=args, id=common["id"], type="tool_call")
    return {"tool_calls": [call], "content": "" if isinstance(content, str) else content}


def _add_result(messages: list[BaseMessage], waiting: list[tuple[str, str]], name: str, common: dict[str, Any]) -> None:
    root = name.partition(".")[0]
    asked = next((pair for pair in waiting if pair[0].partition(".")[0] == root), None)
    last = messages[-1] if messages else None
    if asked is None and isinstance(last, ToolMessage) and (last.name or "").partition(".")[0] == root:
        # One call, several tool nodes: providers take one result for each call.
        blocks = [*_blocks(last.content), *_blocks(common["content"])]
        messages[-1] = last.model_copy(update={"content": blocks})
        return
    call_id = asked[1] if asked else f"implied-{common['id']}"
    if asked:
        waiting.remove(asked)
    else:
        call = ToolCall(name=name, args={}, id=call_id, type="tool_call")
        messages.append(AIMessage("", id=call_id, tool_calls=[call]))
    messages.append(ToolMessage(**common, name=name, tool_call_id=call_id))


def _blocks(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _content(content: object, place: Place) -> str | list[Any]:
    if not isinstance(content, dict) or not isinstance(content.get("content_type"), str):
        place.fail(f"its content is {kind_of(content)} without a content_type", _AGAIN)
    kind = content["content_type"]
    if kind in {"text", "multimodal_text"}:
        parts = content.get("parts")
        if not isinstance(parts, list) or not all(isinstance(part, str | dict) for part in parts):
            place.fail(f"the parts of its content are {kind_of(parts)}, not strings and objects", _AGAIN)
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else [_block(part) for part in parts]
    if kind in {"code", "execution_output"} and isinstance(content.get("text"), str):
        return str(content["text"])
    if kind == "thoughts" and isinstance(content.get("thoughts"), list):
        return [_thought(item) for item in content["thoughts"]]
    if kind == "reasoning_recap" and isinstance(content.get("content"), str):
        return [{"type": "reasoning", "reasoning": content["content"]}]
    return [{"type": "non_standard", "value": content}]


def _thought(item: object) -> dict[str, Any]:
    parts = [item.get("summary"), item.get("content")] if isinstance(item, dict) else [item]
    return {"type": "reasoning", "reasoning": "\n".join(str(part) for part in parts if part), "extras": item}


def _block(part: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    kind, pointer = str(part.get("content_type", "")), part.get("asset_pointer")
    if isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"], "extras": part}
    if isinstance(pointer, str):
        media = next((name for name in ("image", "video", "audio") if kind.startswith(name)), "file")
        is_url = pointer.startswith(("http://", "https://", "gs://", "s3://"))
        return {"type": media, "url" if is_url else "file_id": pointer, "extras": part}
    return {"type": "non_standard", "value": part}


def write_conversation(messages: Sequence[BaseMessage], given: Opened) -> dict[str, Any]:
    """A tree of one branch that ChatGPT's readers show; each node's metadata holds the whole message.

    Without an id of its own the conversation gets one made from its messages, so that writing it twice gives one id.
    """
    mapping: dict[str, Any] = {_ROOT: {"id": _ROOT, "message": None, "parent": None, "children": []}}
    parent = _ROOT

    def hang(role: str, content: dict[str, Any], recipient: str, mark: dict[str, Any] | None) -> None:
        nonlocal parent
        name = f"node-{len(mapping)}"
        author: dict[str, Any] = {"role": role, "name": None, "metadata": {}}
        said = {"id": name, "author": author, "content": content, "recipient": recipient, "metadata": {_MARK: mark}}
        mapping[parent]["children"].append(name)
        mapping[name] = {"id": name, "message": said, "parent": parent, "children": []}
        parent = name

    for message in messages:
        role = next((role for cls, role in _ROLES.items() if isinstance(message, cls)), "user")
        text = {"content_type": "text", "parts": [str(message.text)]}
        hang(role, text, "all", langchain.write_message(message))
        for call in message.tool_calls if isinstance(message, AIMessage) else ():
            code = {"content_type": "code", "language": "json", "text": json.dumps(call["args"], ensure_ascii=False)}
            hang("assistant", code, call["name"], None)
    own_id = given.id or str(uuid.uuid5(uuid.NAMESPACE_OID, json.dumps(mapping)))
    title = given.title or "New chat"  # ChatGPT's own name for it
    named = {"id": own_id, "conversation_id": own_id, "title": title}
    return {**given.metadata, **named, "mapping": mapping, "current_node": parent}
