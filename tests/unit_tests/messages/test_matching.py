"""What of a request is new to the log: cases by hand, and applications that hypothesis makes up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)

from langchain_tiered_memory.messages.matching import match_messages, same_message


def _message(text: str) -> BaseMessage:
    """`H yes#1` is a human message with the id 1; A, S, C (a call) and T (its result) likewise."""
    said, _, message_id = text.partition("#")
    kind, _, content = said.partition(" ")
    given: dict[str, Any] = {"id": message_id or None}
    if kind == "C":
        return AIMessage("", tool_calls=[{"name": "f", "args": {}, "id": content}], **given)
    if kind == "T":
        return ToolMessage(f"result of {content}", tool_call_id=content, **given)
    return {"H": HumanMessage, "A": AIMessage, "S": SystemMessage}[kind](content, **given)


def _messages(text: str) -> list[BaseMessage]:
    return [_message(part.strip()) for part in text.split(",") if part.strip()]


def _letters(messages: list[BaseMessage]) -> str:
    kinds = {"human": "H", "ai": "A", "system": "S", "tool": "T"}
    parts = []
    for message in messages:
        call = getattr(message, "tool_calls", None)
        kind = "C" if call else kinds[message.type]
        content = call[0]["id"] if call else getattr(message, "tool_call_id", message.content)
        parts.append(f"{kind} {content}" + (f"#{message.id}" if message.id else ""))
    return ", ".join(parts)


@pytest.mark.parametrize(
    ("logged", "request_", "new", "again"),
    [
        # whole histories
        ("", "S prompt, H a", "S prompt, H a", ""),
        ("S prompt, H a", "S prompt, H a, A b, H c", "A b, H c", ""),
        ("H a, A b#run-1", "S prompt, H a, A b, H c", "H c", ""),
        ("H a#1, A b#run-1", "H a#1, A b#own-2, H c#3", "H c#3", ""),
        ("H a#1, A b#run-1", "H a#x, A b#y, H c#z", "H c#z", ""),  # ids that are new at each call
        ("H yes, A ok", "H yes, A ok, H yes", "H yes", ""),
        ("H yes, A ok, H yes, A ok", "H yes, A ok, H yes, A ok, H yes", "H yes", ""),
        # trimmed by somebody else, or without what the agent did in between
        ("H a, A b, H c, A d", "H c, A d, H e", "H e", ""),
        ("H yes, A ok, H yes, A ok", "A ok, H yes", "H yes", ""),
        ("H a, C 1, T 1, A b", "H a, A b, H c", "H c", ""),
        ("H a, A b, H c, A d", "H a, H c, H e", "H e", ""),
        ("H a, A b", "H a, H e", "H a, H e", ""),  # one likeness may be chance
        ("H a, A b, H c, A d", "H what was said so far, H c, A d, H e", "H e", ""),
        ("H a, A b, H c, A d", "H a, A cleared, H c, A d, H e", "H e", ""),  # the log has what was said first
        # one message alone
        ("H yes, A b, H and?, A d", "H yes", "H yes", ""),
        ("H yes, A b", "H yes", "H yes", ""),
        ("H a, A b, H yes", "H yes", "", ""),
        ("H a, A b, H yes#1", "H yes#2", "H yes#2", ""),
        ("H a, A b, H yes#1", "H yes#1", "", ""),
        # sent again
        ("H a, A b, H c", "H a, A b, H c", "", ""),
        ("H a, A b, H c, A d", "H a, A b, H c", "", "H c"),
        ("H a#1, A b#2, H c#3, A d#4", "H a#1, A b#2, H c#3", "", "H c#3"),
        # reminders
        ("", "H a, S in JSON", "H a", "S in JSON"),
        ("H a", "H a, A b, H c, S in JSON", "A b, H c", "S in JSON"),
        ("H a, H in JSON, A b", "H a, A b, H c, H in JSON", "H c", "H in JSON"),
        ("H a, H in JSON", "H a, A b, H c, H in JSON", "A b, H c", "H in JSON"),
        # others write too
        ("H a, A b, H x, A y", "H a, A b, H c", "H c", ""),
        ("H a, A b, H x, H c, A d, A y", "H a, A b, H c, A d, H x, A y, H e", "H e", ""),
        ("H a#1, H c#3", "H a#1, A b#2, H c#3, A d#4, H e#5", "A b#2, A d#4, H e#5", ""),
    ],
)
def test_what_is_new_and_what_is_only_asked_again(logged: str, request_: str, new: str, again: str) -> None:
    found = match_messages(_messages(request_), _messages(logged))
    assert (_letters(found.new), _letters(found.again)) == (new, again)


def test_ids_that_a_framework_gives_at_each_call_say_nothing() -> None:
    logged, request = _messages("H a#1, A b#2, H yes#3"), _messages("H yes#9")
    assert _letters(match_messages(request, logged).new) == "H yes#9"
    assert match_messages(request, logged, own_ids=False).new == []


def test_the_same_answer_comes_in_several_forms() -> None:
    stored = AIMessage(
        [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "4 "}], id="run-1", name="model"
    )
    (as_text, as_blocks) = convert_to_messages(
        [("assistant", "4"), {"role": "assistant", "content": [{"type": "text", "text": "4"}]}]
    )
    assert same_message(as_text, stored)
    assert same_message(as_blocks, stored)
    assert not same_message(HumanMessage("4"), stored)


def test_a_picture_tells_messages_apart() -> None:
    def of(url: str) -> BaseMessage:
        return HumanMessage([{"type": "text", "text": "this?"}, {"type": "image_url", "image_url": {"url": url}}])

    assert same_message(of("a"), of("a"))
    assert not same_message(of("a"), of("b"))


def test_a_removal_is_not_the_message_that_it_removes() -> None:
    logged = _messages("H a#1, A b#2")
    removal = RemoveMessage("1")
    assert match_messages([*logged, removal], logged).new == [removal]
    assert match_messages([*logged, removal], [*logged, removal]).new == []


def test_the_end_of_the_log_is_enough_until_it_is_not() -> None:
    logged = _messages(", ".join(f"H q{i}, A a{i}" for i in range(20)))
    request = [*logged[-6:], HumanMessage("new")]
    assert match_messages(request, logged[-8:], is_whole=False).is_settled
    assert not match_messages(request, logged[-4:], is_whole=False).is_settled
    assert match_messages([HumanMessage("new")], logged[-4:], is_whole=False).is_settled
    assert match_messages(request[:-1], [], known=[], is_whole=False).is_settled is False


# --- applications -----------------------------------------------------------------------------------------------------


@dataclass
class _Application:
    """An application over a log: it keeps what was really said, and sends it in some form."""

    said: list[BaseMessage] = field(default_factory=list)
    log: list[BaseMessage] = field(default_factory=list)

    def send(self, request: list[BaseMessage]) -> list[BaseMessage]:
        found = match_messages(request, self.log)
        self.log += found.new
        return [*self.log, *found.again]


_TEXTS = st.sampled_from(["yes", "no", "and?", "go on"])


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_every_message_of_a_conversation_is_in_the_log_once(data: st.DataObject) -> None:
    """Whatever of it an application sends: all or the newest rounds, with ids or not, reminded, retried, resent."""
    app = _Application()
    ids = data.draw(st.sampled_from(["none", "own", "answers only"]))
    keeps_calls = data.draw(st.booleans())
    reminder = data.draw(st.sampled_from([None, SystemMessage("in JSON")]))
    for turn in range(data.draw(st.integers(1, 7))):
        question = HumanMessage(data.draw(_TEXTS), id=f"q{turn}" if ids == "own" else None)
        app.said.append(question)
        rounds = data.draw(st.integers(1, 8))
        starts = [i for i, m in enumerate(app.said) if m.type == "human"][-rounds:]
        history = app.said[starts[0] :]
        if ids != "own":
            history = [m.model_copy(update={"id": m.id if ids == "answers only" else None}) for m in history]
        if not keeps_calls:
            history = [m for m in history if m.type != "tool" and not getattr(m, "tool_calls", None)]
        for _ in range(data.draw(st.integers(1, 3))):  # tries
            request = app.send([*history, *([reminder] if reminder else [])])
            assert [m for m in request if m.type != "system"][-1].content == question.content
        answer: list[BaseMessage] = [AIMessage(data.draw(_TEXTS), id=f"run-{turn}")]
        if data.draw(st.booleans()):
            answer = [*_messages(f"C c{turn}, T c{turn}"), *answer]
        app.log += answer  # as `remember_round` does
        app.said += answer
    assert [(m.type, m.content) for m in app.log] == [(m.type, m.content) for m in app.said]


@given(st.lists(st.tuples(st.booleans(), _TEXTS), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_only_what_is_new_is_sent_and_each_is_kept(turns: list[tuple[bool, str]]) -> None:
    app = _Application()
    for fails, text in turns:
        if not (app.said and app.said[-1].type == "human" and app.said[-1].content == text):
            app.said.append(HumanMessage(text))  # else it is the same question, tried again
        app.send([HumanMessage(text)])
        if not fails:
            app.said.append(AIMessage("ok"))
            app.log.append(AIMessage("ok", id=f"run-{len(app.log)}"))
    assert [(m.type, m.content) for m in app.log] == [(m.type, m.content) for m in app.said]


def test_two_processes_with_a_history_of_their_own_each() -> None:
    """Each sends what it knows of a session; the log ends with everything that was said in either, once."""
    app = _Application()
    first, second = _messages("H a"), []
    app.send(first)
    second = [*_messages("H a"), HumanMessage("x")]
    app.send(second)
    app.log += _messages("A b#run-1, A y#run-2")
    app.send([*first, *_messages("A b, H c")])
    app.send([*second, *_messages("A y, H z")])
    assert sorted(str(m.content) for m in app.log) == ["a", "b", "c", "x", "y", "z"]
