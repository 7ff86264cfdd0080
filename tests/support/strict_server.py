"""A chat model behind OpenAI's protocol that refuses messages in a wrong order and requests over its window.

A real HTTP server on this machine. Its answers are scripted; what it takes for valid, and how it counts tokens, is
written down here once more and shares nothing with the package under test.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import toktok

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _tokens_of(text: str) -> int:
    return toktok.batch_count([text], "o200k_base", threads=1)[0]


def request_tokens(body: dict[str, Any]) -> int:
    """What a request takes: OpenAI's cookbook for messages (3 each, 3 for the reply), tools as JSON text."""
    total = 3
    for message in body["messages"]:
        total += 3
        content = message.get("content") or ""
        if not isinstance(content, str):
            content = "".join(block.get("text", "") for block in content)
        total += _tokens_of(content) + _tokens_of(message["role"])
        for call in message.get("tool_calls") or ():
            total += _tokens_of(call["function"]["name"]) + _tokens_of(call["function"]["arguments"])
    for tool in body.get("tools") or ():
        total += _tokens_of(json.dumps(tool["function"]))
    return total


def fault_of(messages: list[dict[str, Any]]) -> str | None:  # noqa: PLR0911  # one for each rule
    """What OpenAI would say about an order of messages; `None` if it takes it."""
    if not messages:
        return "messages must not be empty"
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message["role"]
        if role == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages[{place}]: a tool message must follow the tool_calls that it answers"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages[{place}]: tool_calls {open_calls} did not have response messages"
        open_calls = [call["id"] for call in message.get("tool_calls") or ()]
        if role == "system" and place and messages[place - 1]["role"] != "system":
            return f"messages[{place}]: system messages lead"
    if open_calls:
        return f"tool_calls {open_calls} did not have response messages"
    first = next((message for message in messages if message["role"] != "system"), None)
    if first is None or first["role"] != "user":
        return "the first message behind the system messages must be the user's"
    return None


@dataclass
class StrictServer:
    """What the server was asked and said.

    Attributes:
        answer: Given a request's body, gives the assistant message as OpenAI's protocol has it.
        window: Tokens that a request may take.
        url: Where it answers.
        requests: The bodies of all requests, refused ones too.
        refusals: Why requests were refused.
    """

    answer: Callable[[dict[str, Any]], dict[str, Any]]
    window: int
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    @property
    def sizes(self) -> list[int]:
        """The tokens of each request."""
        return [request_tokens(body) for body in self.requests]

    def respond(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Status and body of the answer to one request."""
        self.requests.append(body)
        fault = fault_of(body["messages"])
        size = request_tokens(body)
        if fault is None and size > self.window:
            fault = f"this model's maximum context length is {self.window} tokens, the request has {size}"
        if fault is not None:
            self.refusals.append(fault)
            return 400, {"error": {"message": fault, "type": "invalid_request_error", "code": None}}
        message = {"role": "assistant", "content": None} | self.answer(body)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return 200, {
            "id": f"chatcmpl-{len(self.requests)}",
            "object": "chat.completion",
            "created": 0,
            "model": body.get("model", "strict"),
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {"prompt_tokens": size, "completion_tokens": 1, "total_tokens": size + 1},
        }


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    """An assistant message that calls a tool."""
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"tool_calls": [{"id": call_id, "type": "function", "function": function}]}


@contextmanager
def strict_server(answer: Callable[[dict[str, Any]], dict[str, Any]], *, window: int) -> Iterator[StrictServer]:
    """Run the server until the block ends."""
    strict = StrictServer(answer, window)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answered = strict.respond(body)
            if body.get("stream") and status == 200:
                self._stream(answered)
                return
            data = json.dumps(answered).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, answered: dict[str, Any]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.end_headers()
            choice = answered["choices"][0]
            message = choice["message"]
            calls = [{"index": place, **one} for place, one in enumerate(message.get("tool_calls") or ())]
            deltas = [{"role": "assistant", "content": piece} for piece in (message["content"] or "").split(" ")]
            deltas = [{**delta, "content": delta["content"] + " "} for delta in deltas[:-1]] + deltas[-1:]
            if calls:
                deltas = [{"role": "assistant", "content": None, "tool_calls": calls}]
            chunks = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
            chunks.append({"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]})
            for chunk in chunks:
                line = {**answered, "object": "chat.completion.chunk", "choices": [chunk], "usage": None}
                self.wfile.write(f"data: {json.dumps(line)}\n\n".encode())
                self.wfile.flush()
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, *_: Any) -> None:
            """A test has its own report."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    strict.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield strict
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
