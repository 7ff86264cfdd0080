from __future__ import annotations

import asyncio
import multiprocessing
import os
import pickle
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from langchain_tiered_memory import SQLFactStore
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope
from support.fact_writers import crash

ADA = MemoryScope(user="ada")


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path}/new folder/facts.db"


@pytest.fixture
def facts(url):
    with SQLFactStore(url) as facts:
        yield facts


def test_a_file_keeps_what_was_put(url):
    with SQLFactStore(url) as facts:
        put = facts.put(ADA, "e", "a", 1)
    with SQLFactStore(url) as facts:
        assert facts.get(ADA, "e", "a") == put


def test_the_table_is_readable_and_holds_every_version(facts, tmp_path):
    facts.put(ADA, "trip", "hotel", "Adlon", source="m1")
    facts.put(MemoryScope(user="ada\0", tenant="t", session="s"), "trip", "hotel", "Ritz")
    facts.put(ADA, "trip", "hotel", "Savoy")
    facts.delete(ADA, "trip", "hotel")
    with sqlite3.connect(tmp_path / "new folder" / "facts.db") as connection:
        rows = connection.execute(
            "SELECT tenant, user_id, session_id, entity, attribute, version, value, deleted FROM tiered_memory_facts "
            "ORDER BY user_id, version"
        ).fetchall()
    connection.close()
    assert rows == [
        ("default", "ada", None, "trip", "hotel", 1, '"Adlon"', 0),
        ("default", "ada", None, "trip", "hotel", 2, '"Savoy"', 0),
        ("default", "ada", None, "trip", "hotel", 3, "null", 1),
        ("t", "ada\\u0000", "s", "trip", "hotel", 1, '"Ritz"', 0),
    ]


def test_a_closed_store_says_so(url):
    facts = SQLFactStore(url)
    facts.put(ADA, "e", "a", 1)
    facts.get(ADA, "e", "a")
    facts.close()
    facts.close()
    for work in (lambda: facts.get(ADA, "e", "a"), lambda: facts.put(ADA, "e", "a", 2)):
        with pytest.raises(MemoryStoreError, match="closed"):
            work()


def test_a_pickled_store_is_opened_anew_and_one_in_memory_stays(facts):
    facts.put(ADA, "e", "a", 1)
    with pickle.loads(pickle.dumps(facts)) as copy:  # noqa: S301  # our own
        assert copy.get(ADA, "e", "a").value == 1
    with SQLFactStore("sqlite://") as in_memory, pytest.raises(TypeError, match="give the store a file"):
        pickle.dumps(in_memory)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_reads_and_writes_on_connections_of_its_own(facts):
    facts.put(ADA, "e", "a", 1)
    facts.get(ADA, "e", "a")
    child = os.fork()
    if child == 0:
        code = 1
        try:
            if facts.get(ADA, "e", "a").value == 1 and facts.put(ADA, "e", "a", 2).version == 2:
                code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert facts.get(ADA, "e", "a").value == 2


def test_more_threads_than_connections_all_read_and_write(facts):
    facts.put(ADA, "e", "n", 0)
    barrier = threading.Barrier(40)

    def work(n):
        barrier.wait()
        for k in range(10):
            facts.put(ADA, "e", f"{n}", k)
            assert facts.get(ADA, "e", f"{n}").value == k
            facts.put(ADA, "e", "n", 1, merge=lambda old, new: old + new)

    with ThreadPoolExecutor(40) as pool:
        list(pool.map(work, range(40)))
    assert facts.get(ADA, "e", "n").value == 400


async def test_async_methods_leave_the_event_loop_free(facts, tmp_path):
    facts.put(ADA, "e", "a", 1)
    with sqlite3.connect(tmp_path / "new folder" / "facts.db", isolation_level=None) as other:
        other.execute("BEGIN IMMEDIATE")
        writing = asyncio.create_task(facts.aput(ADA, "e", "a", 2))
        assert (await facts.aget(ADA, "e", "a")).value == 1  # a reader does not wait for a writer
        other.execute("ROLLBACK")
    other.close()
    assert (await writing).version == 2


def test_a_lock_that_is_held_too_long_is_an_error_that_says_what_helps(url, tmp_path):
    with SQLFactStore(url, busy_timeout=0.05) as facts:
        facts.put(ADA, "e", "a", 1)
        with sqlite3.connect(tmp_path / "new folder" / "facts.db", isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(MemoryStoreError, match="busy_timeout"):
                facts.put(ADA, "e", "a", 2)
            other.execute("ROLLBACK")
        other.close()
        assert facts.put(ADA, "e", "a", 2).version == 2


@pytest.mark.parametrize("value", ["{", "1" * 5_000, '{"a": NaN}x'])
def test_a_value_that_cannot_be_read_is_an_error_that_names_the_fact(facts, tmp_path, value):
    facts.put(ADA, "trip", "hotel", "Adlon")
    with sqlite3.connect(tmp_path / "new folder" / "facts.db") as other:
        other.execute("UPDATE tiered_memory_facts SET value = ?", (value,))
    other.close()
    with pytest.raises(MemoryStoreError, match="version 1 of 'hotel' of 'trip'"):
        facts.get(ADA, "trip", "hotel")


def test_a_file_that_is_no_database_is_an_error(tmp_path):
    path = tmp_path / "facts.db"
    path.write_text("This is no database, and long enough to be told from one. " * 100)
    with SQLFactStore(f"sqlite:///{path}") as facts, pytest.raises(MemoryStoreError, match="database"):
        facts.put(ADA, "e", "a", 1)


@pytest.mark.parametrize("url", ["mysql://host/db", "facts.db", "sqlite+aiosqlite:///x.db"])
def test_a_url_that_cannot_be_used_is_refused(url):
    with pytest.raises(MemoryStoreError):
        SQLFactStore(url)


def test_what_was_acknowledged_survives_a_killed_process(url):
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=crash, args=(url, sending))
    child.start()
    assert receiving.poll(300)
    seen = 0
    while seen < 200:
        seen = receiving.recv()
    child.kill()
    child.join()
    sending.close()
    while receiving.poll():
        try:
            seen = receiving.recv()
        except (EOFError, OSError):
            break
    with SQLFactStore(url) as facts:
        fact = facts.get(ADA, "e", "n")
        assert fact.value >= seen
        assert fact.version == fact.value + 1 == len(facts.history(ADA, "e", "n"))


def test_what_was_erased_is_in_no_byte_of_the_folder(tmp_path):
    ada, bob = MemoryScope(user="ada"), MemoryScope(user="bob")
    with SQLFactStore(f"sqlite:///{tmp_path}/facts.db") as facts:
        for n in range(200):
            for scope in (ada, bob):
                facts.put(scope, f"entity-{n}", "attribute", f"secret-{scope.user}-{n} " * (1 + n % 40))
        assert facts.erase(ada) == 200
        left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
        assert b"secret-ada" not in left
        assert facts.get(bob, "entity-7", "attribute").value.startswith("secret-bob-7")
