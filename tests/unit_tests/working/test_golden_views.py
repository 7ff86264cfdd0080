"""Views of a few whole conversations, message by message, as they were before the memory was written anew."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import InMemoryMessageLog
from langchain_tiered_memory.working.constraints import Constraint
from support.summaries import memory_with

GOLDEN = json.loads((Path(__file__).parent / "golden_views.json").read_text(encoding="utf-8"))


class Words:
    """Counts words, so that figures can be done in one's head."""

    request_overhead = 3

    def __call__(self, messages):
        return self.request_overhead + sum(map(self.count_message, messages))

    def count_message(self, message):
        return 1 + self.count_text(str(message.text)) + 3 * len(getattr(message, "tool_calls", ()))

    def count_text(self, text):
        return len(text.split())

    def count_tools(self, tools):
        return 10 * len(tools)


def summarize(previous, messages):
    """The first words of what was there and of each message."""
    return " ".join([*previous.split()[:8], *(str(message.text).split()[0] for message in messages if message.text)])


def detect(message):
    """Lines that begin with "Rule"."""
    lines = str(message.text).splitlines()
    return [Constraint(line, "rule", None, "user") for line in lines if line.startswith("Rule")]


def chat(rounds):
    for n in range(rounds):
        rule = f"\nRule {n}: never exceed {n} EUR." if n % 5 == 0 else ""
        yield HumanMessage(f"q{n} asks about item {n} " + "and more " * (n % 7) + rule, id=f"q{n}")
        yield AIMessage(f"a{n} says that item {n} " + "is fine " * (n % 5), id=f"a{n}")


def agent(rounds):
    yield SystemMessage("You are an agent.", id="s")
    for n in range(rounds):
        yield HumanMessage(f"q{n} do task {n} please", id=f"q{n}")
        calls = [{"name": "look", "args": {"n": n, "of": k}, "id": f"c{n}-{k}"} for k in range(1 + n % 3)]
        yield AIMessage(f"let me look at {n}", id=f"a{n}", tool_calls=calls)
        for call in calls:
            yield ToolMessage(f"found {n} " * (5 + n % 4), tool_call_id=call["id"], id=f"t{call['id']}")
        yield AIMessage(f"done{n} with task {n}", id=f"d{n}")


def removing(rounds):
    for n, message in enumerate(chat(rounds)):
        yield message
        if n % 9 == 8:
            yield RemoveMessage(id=message.id)


CONVERSATIONS = {"chat": chat, "agent": agent, "removing": removing}
MEMORIES = {
    "tokens": {"max_tokens": 160, "keep": ("rounds", 2)},
    "messages": {"trigger": ("messages", 12), "keep": ("messages", 4)},
    "human": {"max_tokens": 120, "role": "human", "trigger": ("tokens", 90), "keep": ("tokens", 30)},
    "merged": {"max_tokens": 200, "role": "merge", "low_water": 0.4, "tools": ["one"], "pin": ["q3", "a4"]},
}


def views(conversation, settings, *, session, ids):
    memory = memory_with(
        summarize,
        token_counter=Words(),
        detector=detect,
        log=InMemoryMessageLog() if session else None,
        session_id="s" if session else None,
        **settings,
    )
    said, view = [], []
    for message in CONVERSATIONS[conversation](40):
        said.append(message if ids or message.type in {"remove", "tool"} else message.model_copy(update={"id": None}))
        if message.type != "remove":
            view = memory.invoke(said if session else [*view, message])
            yield [[one.type, one.text] for one in view]


def pinned(conversation, settings, *, session, ids):
    """The digest of all views, and the last one."""
    shown = list(views(conversation, settings, session=session, ids=ids))
    digest = hashlib.sha256(json.dumps(shown, ensure_ascii=False).encode()).hexdigest()[:16]
    return {"digest": digest, "last": shown[-1]}


CASES = [
    (conversation, memory, session, ids)
    for conversation in CONVERSATIONS
    for memory in MEMORIES
    for session, ids in ((True, True), (True, False), (False, True))
    if ids or conversation != "removing"
]


@pytest.mark.parametrize(("conversation", "memory", "session", "ids"), CASES)
def test_a_view_is_what_it_was(conversation, memory, session, ids):
    name = f"{conversation}, {memory}, {'session' if session else 'list'}, {'ids' if ids else 'no ids'}"
    assert pinned(conversation, MEMORIES[memory], session=session, ids=ids) == GOLDEN[name]
