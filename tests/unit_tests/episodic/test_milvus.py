from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from langchain_tiered_memory._sync import BLOCKING, run_sync
from langchain_tiered_memory.episodic import milvus_schema
from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.milvus_connection import MilvusRequest
from langchain_tiered_memory.episodic.milvus_schema import knows_bm25
from langchain_tiered_memory.episodic.rows import LONGEST_CONTENT, split_parts
from langchain_tiered_memory.errors import MemoryStoreError
from support import services
from support.collection_conformance import (  # noqa: F401  # fixtures
    DIMENSION,
    MODEL,
    OPENING,
    Collection,
    CollectionConformance,
    call,
    ids,
    row,
    user,
)


def opened(uri, **arguments):
    return Collection(uri, **arguments)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    with opened(services.milvus_lite_uri(tmp_path_factory.mktemp("lite"))) as collection:
        yield collection


class TestMilvusLite(CollectionConformance):
    async def test_words_are_found_by_bm25(self, collection, call, user):  # noqa: F811  # a fixture
        rows = [row(user, n, terms=f"tea {'green ' * (n == 2)}leaf{n}") for n in range(1, 9)]
        await call(collection, "upsert", [*rows, row(user, 9, terms="")])
        hits = await call(collection, "search", Where(user_key=user), terms="green tea")
        assert hits.dense == []
        best, score = hits.lexical[0]
        assert (best.number, best.session_key) == (2, row(user, 2).session_key)
        assert best.episode == row(user, 2).id
        assert len(hits.lexical) == 8
        assert score > hits.lexical[1][1] > 0
        assert (await call(collection, "search", Where(user_key=user), terms=" ")).lexical == []

    def test_words_beyond_one_row_are_found_once_and_only_while_they_are_valid(self, collection, user):  # noqa: F811
        terms = " ".join(f"word{n}" for n in range(LONGEST_CONTENT // 5))
        parts = split_parts(row(user, 1, content="x" * LONGEST_CONTENT * 2, terms=terms, valid_until=10))
        collection.upsert(parts)
        last = terms.rpartition(" ")[2]
        for word in ("word0", last):
            [(found, _)] = collection.search(Where(user_key=user, valid_at=9), terms=word).lexical
            assert found.episode == parts[0].id
        [(found, score)] = collection.search(Where(user_key=user), terms=f"word0 {last}").lexical
        assert (found.episode, score > 0) == (parts[0].id, True)
        assert collection.search(Where(user_key=user, valid_at=10), terms=last).lexical == []

    def test_what_it_can_do_is_said(self, collection):
        capabilities = collection.opened()
        assert (capabilities.bm25, capabilities.dense) == (True, True)
        assert capabilities.version.startswith("milvus_lite")


def test_nothing_is_touched_before_the_first_call(milvus_lite_uri):
    opened(milvus_lite_uri)
    assert not Path(milvus_lite_uri).exists()


def test_pymilvus_is_imported_on_the_first_call_only():
    heavy = {"pymilvus", "grpc", "milvus_lite", "numpy"}
    code = f"import sys\n{OPENING}open_('x.db')\nassert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # our own code


@pytest.mark.parametrize(
    "arguments",
    [
        {"dimension": None},
        {"model": None},
        {"dimension": 1},
    ],
)
def test_a_call_that_is_wrong_is_refused_at_once(arguments):
    with pytest.raises(ValueError, match="dimension"):
        opened("x.db", **arguments)


def test_a_reopened_collection_is_loaded_and_holds_everything(milvus_lite_uri):
    with opened(milvus_lite_uri) as first:
        first.upsert([row("u", n) for n in range(40)])
        first.delete(Where(user_key="u", ids=(row("u", 7).id,)))
    with opened(milvus_lite_uri) as second:
        assert second.exists()
        assert second.count(Where(user_key="u")) == 39
        [(found, _)] = second.search(Where(user_key="u"), vector=row("u", 3).vector, limit=1).dense
        assert found.number == 3


def test_a_closed_object_opens_again(milvus_lite_uri):
    collection = opened(milvus_lite_uri)
    collection.upsert([row("u", 1)])
    collection.close()
    collection.close()
    assert collection.count(Where(user_key="u")) == 1
    collection.close()


def test_two_runs_of_an_event_loop_share_an_object(milvus_lite_uri):
    """Cases G4 and G5: made where no loop runs, used by one loop after the other, and in a thread."""
    collection = opened(milvus_lite_uri)

    async def work(number):
        await collection.aupsert([row("u", number)])
        return await collection.acount(Where(user_key="u"))

    assert [asyncio.run(work(1)), asyncio.run(work(2))] == [1, 2]
    counts = []
    thread = threading.Thread(target=lambda: counts.append(asyncio.run(work(3))))
    thread.start()
    thread.join()
    assert counts == [3]
    asyncio.run(collection.aclose())


@pytest.mark.parametrize(
    "other", [{"dimension": 16}, {"model": "another"}, {"dimension": None, "model": None}], ids=["size", "name", "none"]
)
def test_another_model_is_refused_with_a_way_out(milvus_lite_uri, other):
    """Case G12."""
    with opened(milvus_lite_uri) as first:
        first.upsert([row("u", 1)])
    with opened(milvus_lite_uri, **other) as second:
        with pytest.raises(MemoryStoreError, match=r"'compass' \(8 dimensions\).*reindex"):
            second.count(Where(user_key="u"))
        assert second.described() == (MODEL, DIMENSION)


def test_terms_of_other_rules_are_warned_about(milvus_lite_uri, monkeypatch):
    with opened(milvus_lite_uri) as first:
        first.upsert([row("u", 1)])
        first.close()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert first.count(Where(user_key="u")) == 1
    monkeypatch.setattr(milvus_schema, "ANALYSIS", "9")
    with opened(milvus_lite_uri) as second, pytest.warns(UserWarning, match=r"version 2,.*version 9.*reindex\(\)"):
        assert second.count(Where(user_key="u")) == 1


def test_words_only_needs_no_vectors(milvus_lite_uri):
    with opened(milvus_lite_uri, dimension=None, model=None) as collection:
        assert collection.described() == (None, None)
        collection.upsert([replace(row("u", n), vector=None) for n in range(3)])
        [(found, _)] = collection.search(Where(user_key="u"), terms="1").lexical
        assert found.episode == row("u", 1).id
        with pytest.raises(ValueError, match="no vectors"):
            collection.search(Where(user_key="u"), vector=[1, 2])
        with pytest.raises(ValueError, match="has a vector"):
            collection.upsert([row("u", 4)])
        assert not collection.opened().dense


def test_a_collection_of_somebody_else_is_left_alone(milvus_lite_uri):
    from pymilvus import MilvusClient  # noqa: PLC0415  # takes seconds

    client = MilvusClient(milvus_lite_uri)
    client.create_collection("episodes", dimension=DIMENSION)
    with opened(milvus_lite_uri) as collection, pytest.raises(MemoryStoreError, match=r"something else.*another name"):
        collection.upsert([row("u", 1)])
    assert client.has_collection("episodes")
    client.close()


HOLD = f"""
import sys, time
{OPENING}
connection, collection = open_(sys.argv[1])
print(run_sync(collection.count(Where(user_key="u"))), flush=True)
time.sleep(float(sys.argv[2]))
connection.close()
print("closed", flush=True)
sys.stdin.read()
"""


class TestASecondProcess:
    """Case G9."""

    @pytest.fixture
    def holder(self, milvus_lite_uri):
        processes = []

        def hold(seconds):
            process = subprocess.Popen(  # noqa: S603  # our own code
                [sys.executable, "-c", HOLD, milvus_lite_uri, str(seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            processes.append(process)
            assert process.stdout.readline() == "0\n"

        yield hold
        for process in processes:
            process.kill()
            process.communicate()

    def test_is_told_who_has_it_and_what_to_do(self, milvus_lite_uri, holder, caplog):
        holder(600)
        with pytest.raises(MemoryStoreError, match=r"locked by another process.*intact.*server") as raised:
            opened(milvus_lite_uri, timeout=1).count(Where(user_key="u"))
        assert not any(word in str(raised.value).lower() for word in ("delete", "remove", "corrupt"))
        assert not caplog.records
        assert Path(milvus_lite_uri).exists()

    def test_waits_a_moment_for_one_that_closes(self, milvus_lite_uri, holder):
        holder(0.5)
        with opened(milvus_lite_uri) as collection:
            assert collection.count(Where(user_key="u")) == 0


def test_a_forked_process_is_told_why_it_may_not(milvus_lite_uri):
    code = f"""
import os, sys, threading, warnings
warnings.simplefilter("ignore")
{OPENING}
connection, collection = open_({milvus_lite_uri!r})
run_sync(collection.count(Where(user_key="u")))
child = os.fork()
if child == 0:
    for one in (collection, open_({milvus_lite_uri!r})[1]):
        try:
            run_sync(one.count(Where(user_key="u")))
        except Exception as error:
            print(isinstance(error, MemoryStoreError), "fork" in str(error), flush=True)
    os._exit(0)
os.waitpid(child, 0)
print(run_sync(collection.count(Where(user_key="u"))))
connection.close()
"""
    ran = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout.splitlines() == ["True True", "True True", "0"]


def test_a_file_that_is_no_database_is_left_alone(tmp_path):
    path = tmp_path / "old.db"
    path.write_bytes(b"SQLite format 3\x00")
    with pytest.raises(MemoryStoreError, match="is a file"):
        opened(str(path)).count(Where(user_key="u"))
    assert path.read_bytes() == b"SQLite format 3\x00"


def test_a_folder_that_is_not_there_is_made(tmp_path):
    with opened(str(tmp_path / "a" / "b" / "memory")) as collection:
        assert collection.count(Where(user_key="u")) == 0


def test_a_server_that_is_not_there_is_an_error_in_time():
    collection = opened("http://user:secret@127.0.0.1:1", timeout=0.5)
    for _ in range(2):
        with pytest.raises(MemoryStoreError, match=r"127\.0\.0\.1:1 cannot be reached") as raised:
            collection.upsert([row("u", 1)])
        assert "secret" not in str(raised.value)


async def test_a_server_that_is_not_there_is_an_error_in_time_on_an_event_loop():
    with pytest.raises(MemoryStoreError, match="cannot be reached"):
        await opened("http://127.0.0.1:1", timeout=0.5).acount(Where(user_key="u"))


def test_a_collection_that_another_object_dropped_or_released_is_opened_again(milvus_lite_uri):
    with opened(milvus_lite_uri) as first, opened(milvus_lite_uri) as second:
        first.upsert([row("u", 1)])
        assert second.count(Where(user_key="u")) == 1
        client = first.connection._client.client
        client.release_collection("episodes")
        assert first.count(Where(user_key="u")) == 1
        second.drop()
        assert first.count(Where(user_key="u")) == 0
        first.upsert([row("u", 2)])
        assert second.count(Where(user_key="u")) == 1


class TestReplacing:
    def copied(self, uri):
        """A collection with one row, and one of another model that is to take its place, with two."""
        old, new = opened(uri), opened(uri, name="episodes_reindex", model="another")
        old.upsert([row("u", 1)])
        new.upsert([row("u", 1), row("u", 2)])
        return old, new

    def test_puts_the_new_collection_in_the_place_of_the_old(self, milvus_lite_uri):
        old, new = self.copied(milvus_lite_uri)
        new.replace("episodes")
        assert not new.exists()
        with opened(milvus_lite_uri, model="another") as collection:
            assert collection.count(Where(user_key="u")) == 2
        with opened(milvus_lite_uri) as collection, pytest.raises(MemoryStoreError, match="reindex"):
            collection.count(Where(user_key="u"))
        old.close()
        new.close()

    @pytest.mark.parametrize("survives", ["both", "new"])
    def test_is_finished_by_the_next_open_when_it_was_killed_on_the_way(self, milvus_lite_uri, survives):
        old, new = self.copied(milvus_lite_uri)
        client = old.connection._client.client
        client.rename_collection("episodes_reindex", "episodes_next")
        if survives == "new":
            client.drop_collection("episodes")
        old.close()
        new.close()
        with opened(milvus_lite_uri, model="another") as collection:
            assert collection.exists()
            assert collection.count(Where(user_key="u")) == 2


def test_unflushed_rows_never_grow_many(milvus_lite_uri):
    """Milvus Lite walks through them row by row, and on its own flushes at 128 MB."""
    with opened(milvus_lite_uri) as collection:
        for n in range(70):
            collection.upsert([row("u", n)])
            collection.search(Where(user_key="u"), vector=[1] * DIMENSION, limit=1)
        assert list(Path(milvus_lite_uri).rglob("*.parquet"))
        assert collection.count(Where(user_key="u")) == 70


@pytest.mark.parametrize(
    ("version", "known"),
    [("v2.3.5-lite", False), ("2.4.15", False), ("v2.5.0", True), ("v2.10.1", True), ("v3.0", True), ("Zilliz", True)],
)
def test_which_servers_search_by_words(version, known):
    assert knows_bm25(version, lite=False) is known


def test_a_request_that_milvus_refuses_is_our_own_error(milvus_lite_uri, caplog):
    with opened(milvus_lite_uri) as collection:
        collection.opened()
        wrong = MilvusRequest("query", lambda client, _: client.query("episodes", "no filter"))
        with pytest.raises(MemoryStoreError, match="refused query") as raised:
            run_sync(collection.connection.request(BLOCKING, wrong, time.monotonic() + 5))
        assert type(raised.value).__module__.startswith("langchain_tiered_memory")
    assert not [record for record in caplog.records if record.name.startswith("pymilvus")]


def test_opening_warns_of_nothing_where_everything_can_be_done(milvus_lite_uri):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with opened(milvus_lite_uri) as collection:
            collection.opened()


def test_only_who_wrote_lately_waits_for_it(milvus_lite_uri):
    with opened(milvus_lite_uri) as collection:
        asked = []
        level = collection.blocking._level

        def spied(where, **options):
            asked.append(level(where, **options))
            return asked[-1]

        collection.blocking._level = spied
        collection.upsert([row("ada", 1)])

        def levels(name):
            asked.clear()
            collection.search(Where(user_key=name), vector=[1] * DIMENSION, terms="round", limit=1)
            collection.select(Where(user_key=name))
            collection.count(Where(user_key=name), strong=False)
            collection.fetch([row(name, 1).id], user_key=name)
            return set(asked)

        assert levels("ada") == {"Session"}
        assert levels("bob") == {"Eventually"}
        collection.delete(Where(user_key="bob"))  # of nothing
        assert levels("bob") == {"Eventually"}
        collection.upsert([row("bob", 1)])
        collection.delete(Where(user_key="bob"))
        assert levels("bob") == {"Session"}
        asked.clear()
        collection.count(Where(user_key="carl"))
        collection.select(Where(user_key=None))
        assert asked == ["Strong", "Session"]
        with opened(milvus_lite_uri) as another:
            level = another.blocking._level  # what this process wrote, whichever object wrote it
            assert level(Where(user_key="ada")) == "Session"


def test_closing_waits_for_calls_of_other_threads(milvus_lite_uri):
    with opened(milvus_lite_uri) as collection:
        collection.upsert([row("u", n) for n in range(200)])
        done = threading.Event()

        def search():
            found = 0
            while not done.is_set():
                found += len(collection.search(Where(user_key="u"), vector=[1] * DIMENSION, limit=5).dense)
            return found

        with ThreadPoolExecutor(3) as pool:
            searching = [pool.submit(search) for _ in range(3)]
            for _ in range(20):
                collection.close()
            done.set()
            assert all(one.result() for one in searching)
