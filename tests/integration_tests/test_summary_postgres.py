"""A rolling summary whose messages and nodes are in PostgreSQL: two processes' worth of memories, and a restart."""

from __future__ import annotations

import asyncio
import threading
from uuid import uuid4

import pytest
import sqlalchemy

from langchain_tiered_memory import SQLMessageLog
from langchain_tiered_memory.events import Compaction, CompactionSuperseded
from langchain_tiered_memory.messages.protocol import is_summary
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.working.nodes import live_nodes
from support.summaries import PROMPT, Scripted, Words, chat, covered, memory_with, said_in, summary_of, tool_round

pytestmark = pytest.mark.service

S = "session"


@pytest.fixture
def url(postgres_url):
    """A schema of its own for each test, so that tests need not know of each other."""
    schema = f"tiered_memory_{uuid4().hex}"
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    parsed = sqlalchemy.make_url(postgres_url).update_query_dict({"options": f"-csearch_path={schema}"})
    yield parsed.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


def memory_of(log, summarizer=None, **settings):
    """A memory that compacts at eight messages and keeps two rounds, unless told otherwise."""
    settings = {"trigger": ("messages", 8), "keep": ("rounds", 2), "session_id": S, "token_counter": Words()} | settings
    return memory_with(summarizer if summarizer is not None else Scripted(), log=log, **settings)


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
async def test_a_long_conversation_is_covered_once_through_restarts(url, is_async):
    said = [PROMPT, *chat(6), *tool_round(6, calls=2), *chat(20, start=7), *tool_round(27), *chat(6, start=28)]
    turns = [place for place, message in enumerate(said) if message.type == "human"]
    summarizer = Scripted()
    log = SQLMessageLog(url)
    memory = memory_of(log, summarizer, max_tokens=600)
    for place in turns:
        if place % 5 == 0:  # now and then the process is another one
            log.close()
            log = SQLMessageLog(url)
            memory = memory_of(log, summarizer, max_tokens=600)
        given = said[: place + 1]
        view = await memory.ainvoke(given) if is_async else memory.invoke(given)
        assert validate_messages(view) == []
        assert view[-1] == said[place]
        nodes = live_nodes(log.nodes(S))
        first = said.index(said_in(view)[0]) + 1
        assert covered(nodes) == list(range(2, first))
    assert log.messages(S) == said[: turns[-1] + 1]
    assert {node.level for node in log.nodes(S)} >= {1, 2}
    read = [message.id for _, messages in summarizer.asked for message in messages]
    assert len(read) == len(set(read)), "each message is read by the summarizer once"
    log.close()
    with SQLMessageLog(url) as again:
        shown = memory_of(again, Scripted(RuntimeError("not asked")), max_tokens=600).invoke([])
        assert shown == view
        assert again.erase(S) == turns[-1] + 1
        assert again.nodes(S) == []


def test_of_two_compactions_at_once_one_wins_and_both_views_are_the_same(url):
    together = threading.Barrier(2, timeout=30)
    events, views = [], []

    def summarizer(_previous, _messages):
        together.wait()  # both have read the session before either has written
        return f"by {threading.current_thread().name}"

    def work():
        with SQLMessageLog(url) as log:
            views.append(memory_of(log, summarizer, hooks=[events.append]).invoke([PROMPT, *chat(4)]))

    with SQLMessageLog(url) as log:
        log.append(S, [PROMPT, *chat(4)])
        threads = [threading.Thread(target=work, name=name) for name in ("one", "two")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        (node,) = log.nodes(S)
        assert views[0] == views[1] == memory_of(log).invoke([])
    assert node.text in {"by one", "by two"}
    assert node.text in summary_of(views[0])
    assert said_in(views[0]) == chat(4)[4:]
    assert sorted(type(event).__name__ for event in events) == ["Compaction", "CompactionSuperseded"]


async def test_two_memories_that_go_on_together_lose_and_double_nothing(url):
    events = []

    async def slowly(_previous, _messages):
        await asyncio.sleep(0.01)
        return "gist"

    with SQLMessageLog(url) as one, SQLMessageLog(url) as two:
        memories = [memory_of(log, slowly, hooks=[events.append]) for log in (one, two)]
        for number in range(15):
            chats = [chat(1, start=number), chat(1, start=100 + number)]
            pairs = zip(memories, chats, strict=True)
            views = await asyncio.gather(*(memory.ainvoke(said) for memory, said in pairs))
            assert all(validate_messages(view) == [] for view in views)
        said = [message.id for message in one.messages(S)]
        expected = [message.id for start in (0, 100) for message in chat(15, start=start)]
        assert sorted(said) == sorted(expected)
        view = memory_of(two).invoke([])
        assert is_summary(view[0])
        numbers = covered(live_nodes(one.nodes(S)))
        shown = [said.index(message.id) + 1 for message in said_in(view)]
        assert sorted([*numbers, *shown]) == list(range(1, 61))
    assert {type(event) for event in events} <= {Compaction, CompactionSuperseded}
