from __future__ import annotations

import copy
import json
import logging
from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler, dispatch_custom_event
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableLambda

from langchain_tiered_memory import CachedFactStore, InMemoryFactStore, RedisFactStore, SummaryMemory
from langchain_tiered_memory.events import (
    AnswerInterrupted,
    AppendFailed,
    Compaction,
    CompactionFailed,
    CompactionSuperseded,
    EpisodeHandedOn,
    EventData,
    HookFailed,
    MemoryCallbackHandler,
    MemoryEvent,
    RemovalTooLate,
    StoredInPart,
    SummaryLeftOut,
    ViewCut,
    aemit,
    emit,
    hooks_of,
)

FAILED = AppendFailed(session_id="s", messages=(HumanMessage("secret", id="m"),), error=OSError("disk full"))
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
COMPACTED = Compaction(
    session_id="s",
    summary="They talked.",
    removed=tuple(HumanMessage("secret", id=f"m{n}") for n in range(35)),
    first=2,
    last=36,
    tokens_before=6_500,
    tokens_after=2_100,
    levels=(3, 2, 1),
)
EVENTS = [
    FAILED,
    AnswerInterrupted(session_id="s"),
    ViewCut(session_id="s", needed=50, limit=10),
    COMPACTED,
    CompactionFailed(session_id="s", error=OSError("down"), failures=2, retry_at=NOW, messages=3),
    CompactionSuperseded(session_id="s", messages=3),
    EpisodeHandedOn(session_id="s", text="> a rule", first=1, last=9, constraints=("a rule",), created_at=NOW),
    SummaryLeftOut(session_id="s", needed=50, limit=10),
    RemovalTooLate(session_id="s", message_ids=("m1", "m2")),
    StoredInPart(session_id="s", left_out=("m1: artifact: pandas.DataFrame",)),
    HookFailed(session_id="s", hook="print", event="tiered_memory.compaction", error=OSError("down")),
]


class Seen(BaseCallbackHandler):
    def __init__(self):
        self.events = []

    def on_custom_event(self, name, data, **_):
        self.events.append((name, data))


class SeenAsync(AsyncCallbackHandler):
    def __init__(self):
        self.events = []

    async def on_custom_event(self, name, data, **_):
        self.events.append((name, data))


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
async def test_an_event_reaches_hooks_and_logging(event, caplog):
    caplog.set_level(logging.DEBUG, logger="langchain_tiered_memory")
    seen = []
    emit(event, [seen.append])
    await aemit(event, [seen.append])
    assert seen == [event, event]
    assert [(record.levelno, record.getMessage()) for record in caplog.records] == [(event.level, event.describe())] * 2
    assert "'s'" in event.describe()


def test_an_event_reaches_the_callbacks_of_the_run_that_it_happens_in():
    seen = Seen()
    RunnableLambda(lambda _: emit(FAILED)).invoke(1, {"callbacks": [seen]})
    assert seen.events == [
        ("tiered_memory.append_failed", {"session_id": "s", "messages": ["m"], "error": "OSError('disk full')"})
    ]


@pytest.mark.parametrize("handler", [Seen, SeenAsync])
async def test_an_event_reaches_the_callbacks_of_an_async_run(handler):
    seen = handler()

    async def work(_):
        await aemit(FAILED)

    await RunnableLambda(work).ainvoke(1, {"callbacks": [seen]})
    assert [name for name, _ in seen.events] == ["tiered_memory.append_failed"]


def test_an_event_outside_of_a_run_is_no_error(caplog):
    emit(FAILED)
    assert "disk full" in caplog.text


def test_the_text_of_messages_is_not_sent_to_callbacks_or_logging(caplog):
    emit(FAILED)
    assert "secret" not in caplog.text
    assert "secret" not in str(FAILED.data())


@pytest.mark.parametrize("way", ["sync", "async"])
async def test_a_hook_that_raises_is_logged_and_told_and_breaks_nothing(way, caplog):
    told = []

    def broken(event):
        raise LookupError(event.session_id)

    hooks = [told.append, broken, told.append]
    emit(FAILED, hooks) if way == "sync" else await aemit(FAILED, hooks)
    first, second, *failures = told
    assert first is second is FAILED
    assert {(type(one), one.event, repr(one.error)) for one in failures} == {
        (HookFailed, FAILED.name, f"LookupError({FAILED.session_id!r})")
    }
    (record,) = [one for one in caplog.records if "raised LookupError" in one.getMessage()]
    assert record.exc_info is not None


def test_events_are_data_that_nobody_changes():
    for event in EVENTS:
        with pytest.raises(FrozenInstanceError):
            event.session_id = "other"
        assert {field.name for field in fields(event)} == set(event.data())
    assert MemoryEvent(session_id="s").describe() == "session 's'"


def test_a_compaction_says_what_it_saved():
    assert COMPACTED.describe() == "session 's': context compacted: 6500 -> 2100 tokens (67 % saved), 35 messages"
    assert round(COMPACTED.saved, 2) == 0.68


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_what_callbacks_get_is_plain_data_that_knows_its_event(event):
    data = EventData(event)
    assert json.loads(json.dumps(data)) == event.data()
    assert data.event is event
    assert "secret" not in json.dumps(data)


async def test_a_handler_collects_the_events_of_runs_and_calls_back():
    told = []
    seen = MemoryCallbackHandler(told.append)

    async def work(_):
        emit(FAILED)
        await aemit(COMPACTED)

    await RunnableLambda(work).ainvoke(1, {"callbacks": [seen]})
    assert seen.events == told == [FAILED, COMPACTED]
    assert seen.compactions == [COMPACTED]


def test_an_event_that_comes_as_hook_and_as_callback_counts_once():
    seen = MemoryCallbackHandler()
    RunnableLambda(lambda _: emit(COMPACTED, [seen])).invoke(1, {"callbacks": [seen]})
    assert seen.events == [COMPACTED]


def test_custom_events_of_others_are_left_alone():
    seen = MemoryCallbackHandler()
    RunnableLambda(lambda _: dispatch_custom_event("theirs", {"a": 1})).invoke(1, {"callbacks": [seen]})
    assert seen.events == []


def test_one_hook_instead_of_a_list_is_named():
    seen = MemoryCallbackHandler()
    assert hooks_of([seen]) == hooks_of(iter([seen])) == (seen,)
    with pytest.raises(TypeError, match=r"is no list of hooks: give hooks=\[\.\.\.\]"):
        hooks_of(seen)


@pytest.mark.parametrize("hooks", ["seen", [None], [MemoryCallbackHandler(), 5]])
def test_what_cannot_be_called_is_no_hook(hooks):
    with pytest.raises(TypeError, match=r"hooks\[\d\]=.* is no hook: give a function"):
        hooks_of(hooks)


@pytest.mark.parametrize(("hooks", "words"), [(print, "is no list of hooks"), ([None], r"hooks\[0\]=None is no hook")])
def test_a_summary_memory_refuses_hooks_that_are_none_when_it_is_made(hooks, words):
    with pytest.raises(TypeError, match=words):
        SummaryMemory(max_tokens=100, hooks=hooks)


def test_hooks_that_can_be_read_once_are_told_of_by_a_copy_too():
    hot = RedisFactStore("redis://localhost:1", hooks=iter([print]))
    pair = CachedFactStore(hot=hot, cold=InMemoryFactStore(), hooks=iter([print]))
    assert copy.copy(hot)._arguments["hooks"] == copy.copy(pair)._arguments["hooks"] == (print,)
