"""Records and cases: what is checked, and why a returned record should not have come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.evaluation import MemoryCase, MemoryRecord, records_of
from langchain_tiered_memory.evaluation.cases import fault_of
from langchain_tiered_memory.types import MemoryScope

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ADA = MemoryScope(user="ada")
WEEK = timedelta(days=7)


def record(name="r", *, days=10, **more):
    return MemoryRecord(id=name, text="I live in Rome.", at=NOW - timedelta(days=days), **{"scope": ADA, **more})


def case(**more):
    return MemoryCase(id="c", question="Where do I live?", **{"scope": ADA, **more})


@pytest.mark.parametrize(
    ("given", "asked", "successor", "fault"),
    [
        (record(), case(), None, None),
        (record(scope=MemoryScope(user="bob")), case(), None, "foreign"),
        (record(scope=MemoryScope(user="ada", tenant="acme")), case(), None, "foreign"),
        (record(scope=MemoryScope(user="ada", session="s")), case(), None, None),
        (
            record(scope=MemoryScope(user="ada", session="s")),
            case(scope=MemoryScope(user="ada", session="t")),
            None,
            "foreign",
        ),
        (record(), case(forbidden=["r"]), None, "forbidden"),
        (record(), case(as_of=NOW - timedelta(days=11)), None, "early"),
        (record(), case(as_of=NOW - timedelta(days=10)), None, None),
        (record(), case(), record("new", days=5), "superseded"),
        (record(), case(as_of=NOW - timedelta(days=6)), record("new", days=5), None),
        (record(valid_until=NOW - WEEK), case(), None, "expired"),
        (record(valid_until=NOW), case(), None, "expired"),
        (record(valid_until=NOW + WEEK), case(), None, None),
        (record(valid_until=NOW - WEEK), case(as_of=NOW - timedelta(days=8)), None, None),
        (record(valid_until=NOW - WEEK), case(), record("new", days=5), "superseded"),
        (record(), case(stale=["r"]), None, "stale"),
        (record(), case(irrelevant=["r"]), None, "irrelevant"),
        # What is expected is right, whatever else could be said of it.
        (record(valid_until=NOW - WEEK), case(expected=["r"]), None, None),
    ],
)
def test_a_returned_record_has_the_fault_that_it_has(given, asked, successor, fault):
    successors = {} if successor is None else {"r": [successor]}
    assert fault_of(given, asked, NOW, successors) == fault


def test_a_conversation_becomes_records():
    messages = [
        SystemMessage("Be brief."),
        HumanMessage("I live in Rome.", id="h1", name="Ada"),
        AIMessage("", tool_calls=[{"name": "save", "args": {}, "id": "t"}]),
        ToolMessage("saved", tool_call_id="t"),
        AIMessage("Noted."),
        HumanMessage("I moved.", additional_kwargs={"created_at": "2025-03-01T10:00:00+01:00"}),
        HumanMessage("To Oslo.", additional_kwargs={"created_at": 1_740_823_200}),
        HumanMessage("Today."),
    ]
    found = records_of(messages, scope=ADA, start=datetime(2025, 1, 1, tzinfo=UTC), prefix="chat/")
    assert [(one.id, one.role, one.speaker, one.at.isoformat()) for one in found] == [
        ("chat/h1", "user", "Ada", "2025-01-01T00:00:00+00:00"),
        ("chat/4", "assistant", None, "2025-01-01T00:01:00+00:00"),
        ("chat/5", "user", None, "2025-03-01T09:00:00+00:00"),
        ("chat/6", "user", None, "2025-03-01T10:00:00+00:00"),
        ("chat/7", "user", None, "2025-03-01T10:01:00+00:00"),
    ]
    assert {one.scope for one in found} == {ADA}


def test_a_case_takes_messages_as_they_are():
    made = case(messages=[HumanMessage("I live in Rome.", id="a")], expected=["a"])
    assert [(one.id, one.text, one.scope) for one in made.messages] == [("a", "I live in Rome.", ADA)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: case(expected=["a"], stale=["a"]), "both expects and rules out a"),
        (lambda: case(expected="a"), "list of texts"),
        (lambda: case(expected=[1]), "list of texts"),
        (lambda: MemoryCase(id="", question="?"), "needs id"),
        (lambda: MemoryCase(id="c", question=" "), "needs question"),
        (lambda: case(as_of=datetime(2025, 1, 1)), "time zone"),  # noqa: DTZ001  # that is the fault
        (lambda: record(""), "needs id"),
        (lambda: MemoryRecord(id="r", text="", at=NOW), "needs text"),
        (lambda: record(role="tool"), "role='tool'"),
        (lambda: record(valid_until=datetime(2025, 1, 1)), "time zone"),  # noqa: DTZ001  # that is the fault
    ],
)
def test_what_cannot_be_a_case_says_so(make, words):
    with pytest.raises(ValueError, match=words):
        make()
