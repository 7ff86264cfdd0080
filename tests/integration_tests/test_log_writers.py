"""Many writers to one session, on every store: no turn is split, none lost or doubled, and numbers have no gap."""

from __future__ import annotations

import os
import signal
import threading
import time
from uuid import uuid4

import pytest
import sqlalchemy
from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory import InMemoryMessageLog, RedisMessageLog, SQLMessageLog
from support.log_writers import SESSION, acknowledged, check_whole_turns, start_writers

WRITERS, TURNS = 8, 500
SQL, REDIS = "SQLMessageLog", "RedisMessageLog"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")


@pytest.fixture
def sqlite(tmp_path):
    return SQL, {"url": f"sqlite:///{tmp_path}/memory.db"}


@pytest.fixture
def postgresql(postgres_url):
    schema = f"tiered_memory_{uuid4().hex}"
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    parsed = sqlalchemy.make_url(postgres_url).update_query_dict({"options": f"-csearch_path={schema}"})
    yield SQL, {"url": parsed.render_as_string(hide_password=False)}
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


@pytest.fixture
def redis(redis_url):
    options = {"url": redis_url, "prefix": f"tiered_memory_test_{uuid4().hex}:"}
    yield REDIS, options
    with RedisMessageLog(**options) as log:
        log.erase(SESSION)


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param("postgresql", marks=pytest.mark.service),
        pytest.param("redis", marks=pytest.mark.service),
    ]
)
def store(request):
    """The kind of log, and the arguments that open it."""
    return request.getfixturevalue(request.param)


def opened(store):
    kind, options = store
    return {SQL: SQLMessageLog, REDIS: RedisMessageLog}[kind](**options)


def test_processes_that_write_to_one_session_lose_nothing_and_split_no_turn(store):
    kind, options = store
    writers = start_writers(kind, writers=WRITERS, turns=TURNS, **options)
    output, _ = writers.communicate()
    assert writers.returncode == 0
    with opened(store) as log:
        entries = log.entries(SESSION)
    assert len(entries) == 2 * WRITERS * TURNS
    found = check_whole_turns(entries)
    versions = acknowledged(output)
    assert found == set(versions)
    # As an append is one step, the version it is told is the number of its last message.
    numbers = {str(entry.message.id): entry.number for entry in entries}
    assert all(numbers[f"{writer}-{turn}-a"] == version for (writer, turn), version in versions.items())


def test_threads_that_write_to_one_session_in_memory_lose_nothing():
    log = InMemoryMessageLog()

    def write(writer):
        for n in range(TURNS):
            log.append(SESSION, [HumanMessage("q", id=f"{writer}-{n}-q"), AIMessage("a", id=f"{writer}-{n}-a")])

    threads = [threading.Thread(target=write, args=(writer,)) for writer in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(check_whole_turns(log.entries(SESSION))) == WRITERS * TURNS


@pytest.mark.parametrize("after", [0.1, 0.4])
def test_writers_that_are_killed_leave_whole_turns_and_all_that_was_acknowledged(store, after):
    kind, options = store
    writers = start_writers(kind, writers=4, turns=1_000_000, **options)
    assert writers.stdout is not None
    first = writers.stdout.readline()
    time.sleep(after)
    os.killpg(writers.pid, signal.SIGKILL)
    output = first + writers.stdout.read()
    writers.stdout.close()
    writers.wait()
    with opened(store) as log:
        found = check_whole_turns(log.entries(SESSION))
        told = set(acknowledged(output))
        assert told <= found
        assert len(found - told) <= 4  # what each was about when it was killed
        assert log.append(SESSION, [HumanMessage("after")]) == 2 * len(found) + 1
