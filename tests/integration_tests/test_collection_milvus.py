from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from uuid import uuid4

import pytest

from langchain_tiered_memory.episodic.filters import Where
from langchain_tiered_memory.episodic.milvus_connection import Outage
from langchain_tiered_memory.episodic.rows import LONGEST_CONTENT, join_parts, split_parts
from langchain_tiered_memory.errors import MemoryStoreError
from support import milvus_server as servers
from support.collection_conformance import (  # noqa: F401  # fixtures
    DIMENSION,
    MODEL,
    OPENING,
    Collection,
    CollectionConformance,
    call,
    row,
    user,
)

pytestmark = [pytest.mark.service, pytest.mark.filterwarnings("ignore:.*holds no index of words")]


def opened(uri, **arguments):
    return Collection(uri, **({"timeout": 90} | arguments))


@pytest.fixture(scope="module")
def collection(milvus_server):
    with opened(milvus_server.uri, name=f"t{uuid4().hex}") as collection:
        yield collection
        collection.drop()


class TestMilvusServer(CollectionConformance):
    def test_words_find_nothing_and_that_is_said_once(self, milvus_server, collection, user):  # noqa: F811
        with opened(milvus_server.uri, name=collection.name) as again:
            with pytest.warns(UserWarning, match=r"2\.3\.5.*holds no index of words.*vector only"):
                capabilities = again.opened()
            assert (capabilities.bm25, capabilities.dense) == (False, True)
            again.upsert([row(user, 1)])
            hits = again.search(Where(user_key=user), vector=[1] * DIMENSION, terms="round")
            assert (len(hits.dense), hits.lexical) == (1, [])

    def test_what_another_process_wrote_is_seen_when_it_is_asked_for(self, milvus_server, collection, user):  # noqa: F811
        code = f"""
import warnings
warnings.simplefilter("ignore")
from langchain_tiered_memory.episodic.rows import Row
{OPENING}
connection, other = open_({milvus_server.uri!r}, {collection.name!r})
run_sync(other.upsert([Row(id="{user}", user_key="{user}", vector=[1] * {DIMENSION})]))
connection.close()
"""
        subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603  # our own code
        assert collection.count(Where(user_key=user)) == 1
        assert len(collection.fetch([user], strong=True)) == 1


def test_words_only_is_refused_by_a_server_that_knows_none(milvus_server):
    collection = opened(milvus_server.uri, name=f"t{uuid4().hex}", dimension=None, model=None)
    with pytest.raises(MemoryStoreError, match=r"cannot search by words.*embeddings="):
        collection.count(Where(user_key="u"))
    assert not collection.exists()


def test_another_model_is_refused_and_a_reindex_takes_its_place(milvus_server):
    name = f"t{uuid4().hex}"
    old, new = opened(milvus_server.uri, name=name), opened(milvus_server.uri, name=f"{name}_reindex", model="another")
    old.upsert([row("u", n) for n in range(3)])
    new.upsert([row("u", n) for n in range(3)])
    new.replace(name)
    with opened(milvus_server.uri, name=name) as another, pytest.raises(MemoryStoreError, match="reindex"):
        another.count(Where(user_key="u"))
    with opened(milvus_server.uri, name=name, model="another") as collection:
        assert collection.count(Where(user_key="u")) == 3
        assert collection.search(Where(user_key="u"), vector=row("u", 1).vector, limit=1).dense[0][0].number == 1
        collection.drop()
        assert not collection.exists()
    old.close()
    new.close()


def test_two_runs_of_an_event_loop_share_an_object(collection, user):  # noqa: F811
    """Cases G4 and G5: an async client belongs to one event loop."""

    async def work(numbers):
        await asyncio.gather(*(collection.aupsert([row(user, number)]) for number in numbers))
        return await collection.acount(Where(user_key=user))

    assert [asyncio.run(work([1, 2])), asyncio.run(work([3]))] == [2, 3]
    counts = []
    thread = threading.Thread(target=lambda: counts.append(asyncio.run(work([4, 5]))))
    thread.start()
    thread.join()
    assert counts == [5]


def test_a_forked_process_has_connections_of_its_own(milvus_server, collection):
    code = f"""
import os, warnings
warnings.simplefilter("ignore")
{OPENING}
_, collection = open_({milvus_server.uri!r}, {collection.name!r})
def say():  # in one write, since parent and child share the pipe
    os.write(1, b"%d\\n" % run_sync(collection.count(Where(user_key="nobody"))))
say()
child = os.fork()
say()
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""
    ran = subprocess.run(  # noqa: S603  # our own code
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=120
    )
    assert ran.stdout.split() == ["0", "0", "0"]


class TestAServerThatIsKilled:
    @pytest.fixture
    def server(self, tmp_path):
        with servers.running(tmp_path / "milvus") as server:
            yield server

    def test_loses_nothing_stores_nothing_by_halves_and_is_found_again(self, server, user):  # noqa: F811
        collection = opened(server.uri)
        where = Where(user_key=user)
        kept = split_parts(row(user, 1, content="語" * LONGEST_CONTENT))
        collection.upsert(kept)
        assert collection.count(where) == len(kept)

        server.kill()
        lost = split_parts(row(user, 2, content="x" * 3 * LONGEST_CONTENT))
        for write in (lambda: collection.upsert(lost, timeout=2), lambda: collection.delete(where, timeout=2)):
            with pytest.raises(MemoryStoreError, match="cannot be reached"):
                write()
        with pytest.raises(MemoryStoreError, match="cannot be reached"):
            collection.search(where, vector=[1] * DIMENSION, timeout=1)
        with pytest.raises(MemoryStoreError, match="cannot be reached"):
            asyncio.run(collection.asearch(where, vector=[1] * DIMENSION, timeout=1))

        starting = threading.Thread(target=server.start)
        starting.start()
        collection.connection.outage = Outage()  # else it is not asked for a while
        found = collection.select(where, strong=True, timeout=150)  # waits for it
        starting.join()
        assert join_parts(found).content == "語" * LONGEST_CONTENT
        assert {one.number for one in found} == {1}
        collection.upsert(lost)
        assert collection.count(Where(user_key=user, part=0)) == 2
        assert asyncio.run(collection.acount(where)) == len(kept) + len(lost)
        collection.close()

    def test_killed_while_it_is_written_to_has_all_parts_of_an_episode_or_none(self, server, user):  # noqa: F811
        collection = opened(server.uri)
        where = Where(user_key=user)
        collection.upsert([row(user, 0)])
        acknowledged = []

        def write():
            for number in range(1, 1_000):
                try:
                    collection.upsert(split_parts(row(user, number, content="x" * 4 * LONGEST_CONTENT)), timeout=1)
                except MemoryStoreError:
                    return
                acknowledged.append(number)

        writing = threading.Thread(target=write)
        writing.start()
        time.sleep(1.5)
        server.kill()
        writing.join()
        server.start()
        parts = {}
        collection.connection.outage = Outage()
        for one in collection.select(where, strong=True, timeout=150):
            parts.setdefault(one.number, []).append(one)
        assert acknowledged
        assert set(acknowledged) <= parts.keys()
        for found in parts.values():
            join_parts(found)  # raises where one is missing
        collection.close()
