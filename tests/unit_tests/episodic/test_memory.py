from __future__ import annotations

import asyncio
import inspect
import logging
import os
import random
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory import InMemoryMessageLog, SQLMessageLog
from langchain_tiered_memory._sync import AWAITING
from langchain_tiered_memory.episodic import milvus_connection, milvus_lite
from langchain_tiered_memory.episodic.episode import Episode
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection, MilvusRequest
from langchain_tiered_memory.episodic.quoting import quote_episodes
from langchain_tiered_memory.episodic.ranking import MIN_SCORE
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EpisodesAvailable, EpisodesUnavailable
from langchain_tiered_memory.types import MemoryScope
from support import services
from support.episodes import Clock, EpisodicConformance, WordEmbeddings, call, contents, rounds, somebody  # noqa: F401  # a fixture

ADA = MemoryScope("ada")
TESTS = Path(__file__).resolve().parents[2]

INDEXING = """
import sys, time
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.milvus_connection import MilvusConnection, MilvusRequest
from langchain_tiered_memory.episodic.quoting import quote_episodes
from langchain_tiered_memory.episodic.episode import Episode
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory import SQLMessageLog
from support import episodes

class WordEmbeddings(episodes.WordEmbeddings):
    def embed_documents(self, texts):
        print("embedding", flush=True)
        time.sleep(0.05)
        return super().embed_documents(texts)

log = SQLMessageLog(sys.argv[1])
memory = EpisodicMemory(sys.argv[2], WordEmbeddings())
print("done", memory.index(log, "s", scope=MemoryScope("ada")), flush=True)
"""


class TestOnMilvusLite(EpisodicConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def uri(cls, tmp_path_factory):
        return services.milvus_lite_uri(tmp_path_factory.mktemp("milvus"))


def python(code, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(TESTS), "PYTHONSAFEPATH": "1"}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(  # noqa: S603  # our own interpreter
        command, env=environment, stdout=subprocess.PIPE, text=True, **options
    )


# --- processes ------------------------------------------------------------------------------------------------------


def test_a_process_killed_while_it_indexes_loses_and_doubles_nothing(tmp_path):
    uri, url = services.milvus_lite_uri(tmp_path), f"sqlite:///{tmp_path / 'log.db'}"
    chance = random.Random(7)
    with SQLMessageLog(url) as log:
        log.append("s", rounds(600))
        for _ in range(2):
            child = python(INDEXING, url, uri)
            for _ in range(chance.randint(1, 3)):
                assert child.stdout.readline() == "embedding\n"
            time.sleep(chance.uniform(0, 0.12))
            child.send_signal(signal.SIGKILL)
            child.wait()
            child.stdout.close()
        with EpisodicMemory(uri, WordEmbeddings()) as memory:
            before = memory.count(ADA)
            assert 0 < before < 600
            assert memory.index(log, "s", scope=ADA) == 600 - before
            exported = sorted(memory.export(ADA), key=lambda episode: episode.round)
            assert [episode.round for episode in exported] == list(range(1, 601))
            assert [episode.content for episode in exported] == [
                f"Human: question {n}\nAI: answer {n}" for n in range(600)
            ]
            assert memory.index(log, "s", scope=ADA) == 0


def test_what_was_remembered_is_there_for_the_next_process(tmp_path):
    uri = services.milvus_lite_uri(tmp_path)
    code = (
        "import sys\nfrom langchain_tiered_memory.episodic.memory import EpisodicMemory\n"
        "from langchain_tiered_memory.types import MemoryScope\nfrom support.episodes import WordEmbeddings\n"
        "memory = EpisodicMemory(sys.argv[1], WordEmbeddings())\n"
        "memory.remember('tea', scope=MemoryScope('ada'))\nprint('written', flush=True)\nsys.stdin.read()\n"
    )
    child = python(code, uri, stdin=subprocess.PIPE)
    assert child.stdout.readline() == "written\n"
    with EpisodicMemory(uri, WordEmbeddings()) as memory, pytest.raises(MemoryStoreError, match="another process"):
        memory.recall("tea", scope=ADA)
    child.kill()  # without a farewell
    child.communicate()
    with EpisodicMemory(uri, WordEmbeddings()) as memory:
        assert contents(memory.recall("tea", scope=ADA)) == ["tea"]


def test_milvus_is_imported_when_it_is_used_and_not_before():
    code = (
        "import sys\nfrom langchain_tiered_memory.episodic.memory import EpisodicMemory\n"
        "from langchain_tiered_memory.episodic.retriever import EpisodicRetriever\n"
        "EpisodicMemory('nowhere.db')\n"
        "print(sorted({'pymilvus', 'milvus_lite', 'numpy', 'wordllama', 'snowballstemmer'} & set(sys.modules)))\n"
    )
    child = python(code, stderr=subprocess.DEVNULL)
    assert child.communicate()[0] == "[]\n"
    assert not Path("nowhere.db").exists()


def test_a_server_that_is_not_there_is_an_error_in_time():
    with EpisodicMemory("http://127.0.0.1:9", WordEmbeddings()) as memory:
        with pytest.raises(MemoryStoreError):
            memory.recall("warm up the import", scope=ADA, timeout=0.2)
        for seconds in (0.2, 1.0):
            with pytest.raises(MemoryStoreError, match=r"127\.0\.0\.1:9"):
                memory.recall("tea", scope=ADA, timeout=seconds)


def test_nothing_is_imported_to_learn_that_nobody_is_there():
    code = (
        "import sys\nfrom langchain_tiered_memory import EpisodicMemory, MemoryScope, MemoryStoreError\n"
        "try:\n    EpisodicMemory('http://127.0.0.1:9').recall('tea', scope=MemoryScope('ada'), timeout=3)\n"
        "except MemoryStoreError as error:\n    print('127.0.0.1:9 cannot be reached' in str(error))\n"
        "print('pymilvus' in sys.modules)\n"
    )
    assert python(code, stderr=subprocess.DEVNULL).communicate()[0].split() == ["True", "False"]


def test_a_closed_memory_lets_another_process_have_its_database(tmp_path):
    code = (
        "import sys\n"
        "from langchain_tiered_memory.episodic.memory import EpisodicMemory\n"
        "from langchain_tiered_memory.types import MemoryScope\n"
        "from support.episodes import WordEmbeddings\n"
        "print(EpisodicMemory(sys.argv[1], WordEmbeddings()).count(MemoryScope('ada')))\n"
    )
    uri = services.milvus_lite_uri(tmp_path)
    with EpisodicMemory(uri, WordEmbeddings()) as memory:
        memory.remember("tea", scope=ADA)
    child = python(code, uri)
    assert child.communicate(timeout=60) == ("1\n", None)


def test_threads_that_open_one_database_at_the_same_time_do_not_stand_in_each_others_way(tmp_path):
    uri = services.milvus_lite_uri(tmp_path)
    memories = [EpisodicMemory(uri, WordEmbeddings()) for _ in range(2)]

    def keep(number):
        memories[number % 2].remember(f"note {number}", scope=ADA)
        return memories[number % 2].recall(f"note {number}", scope=ADA, k=1)[0].page_content

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(keep, range(6))) == [f"note {number}" for number in range(6)]
    assert memories[0].count(ADA) == 6
    for memory in memories:
        memory.close()


# --- without a model ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lite(tmp_path_factory):
    return services.milvus_lite_uri(tmp_path_factory.mktemp("milvus"))


def test_without_a_model_words_find_what_they_can_and_that_is_said_once(lite, caplog):
    caplog.set_level(logging.WARNING, "langchain_tiered_memory")
    with EpisodicMemory(lite, clock=Clock(), collection="words") as memory:
        memory.remember(rounds(5), scope=ADA)
        memory.remember("My sister moved to Turin.", scope=ADA)
        assert contents(memory.recall("Where do my sisters move?", scope=ADA))[0] == "My sister moved to Turin."
        assert memory.recall("wholly unrelated", scope=ADA) == []
    assert [record.message for record in caplog.records if "no embedding model" in record.message] == [
        f"{memory!r} has no embedding model: it finds episodes by their words, not by what they mean"
    ]


def test_what_the_model_knows_nothing_of_is_found_by_its_words(lite):
    class Ignorant(WordEmbeddings):
        def _vector(self, text):
            return [0.0] * 32 if "kombucha" in text else super()._vector(text)

    with EpisodicMemory(lite, Ignorant(), collection="ignorant") as memory:
        ada = somebody()
        memory.remember(rounds(20), scope=ada)
        memory.remember("kombucha brews for nine days", scope=ada)
        found = memory.recall("How long does it brew?", scope=ada, explain=True)
        (brewing,) = [one for one in found if one.page_content.startswith("kombucha")]
        assert brewing.metadata["explain"]["lexical"] > 0


def test_what_stands_around_a_hit_is_found_with_it_in_its_session_and_filter(lite):
    topics = ("anchor", "bread", "candle", "dragon", "engine", "forest", "garden", "harbour", "island", "jungle")
    with EpisodicMemory(lite, collection="words") as memory:
        ada = somebody()
        for session in ("s", "t"):
            memory.remember([HumanMessage(topic) for topic in topics], scope=MemoryScope(ada.user, session=session))
        found = memory.recall("garden", scope=ada, k=20)
        beside = {(document.metadata["session"], document.page_content.split()[1]) for document in found}
        assert beside == {(session, topic) for session in ("s", "t") for topic in topics[4:9]}
        inside = memory.recall("garden", scope=MemoryScope(ada.user, session="s"), k=20, rounds=(7, 8))
        assert sorted(contents(inside)) == ["Human: garden", "Human: harbour"]


def test_a_memory_of_words_is_not_opened_with_a_model(lite):
    with EpisodicMemory(lite, collection="words_alone") as memory:
        memory.remember("tea", scope=ADA)
    with EpisodicMemory(lite, WordEmbeddings(), collection="words_alone") as memory:
        with pytest.raises(MemoryStoreError, match="reindex"):
            memory.recall("tea", scope=ADA)
        assert memory.reindex() == 1
        assert contents(memory.recall("tea", scope=ADA)) == ["tea"]


def test_chinese_is_found_by_its_characters(lite):
    with EpisodicMemory(lite, collection="words", prefixes="zh") as memory:
        memory.remember([HumanMessage("我妹妹搬到都灵了"), AIMessage("恭喜!")], scope=somebody())
        ying = somebody()
        memory.remember([HumanMessage("我妹妹搬到都灵了"), AIMessage("恭喜!")], scope=ying)
        assert contents(memory.recall("妹妹住在哪里", scope=ying)) == ["用户: 我妹妹搬到都灵了\n助手: 恭喜!"]


def test_notes_in_no_session_do_not_lend_each_other_score(lite):
    with EpisodicMemory(lite, collection="words") as memory:
        ada = somebody()
        told = ["我住在北京。", "I like tea.", "The weather is nice today.", "我搬到上海了，现在住在上海。"]
        for month, text in enumerate(told, 1):
            memory.remember(text, scope=ada, created_at=datetime(2026, month, 1, tzinfo=UTC))
        found = memory.recall("我住在哪里？", scope=ada)
        assert set(contents(found)[:2]) == {told[0], told[3]}
        assert all(document.metadata["score"] < MIN_SCORE for document in found[2:])


# --- what is true -----------------------------------------------------------------------------------------------------


def test_what_took_a_place_is_not_replaced_by_what_it_replaced(lite):
    with EpisodicMemory(lite, collection="words", clock=Clock()) as memory:
        ada = somebody()
        ids = [memory.remember(f"The office is in {city}.", scope=ada)[0] for city in ("Rome", "Milan", "Turin")]
        memory.supersede(ids[0], ids[1], scope=ada)
        memory.supersede(ids[1], ids[2], scope=ada)
        with pytest.raises(ValueError, match="remembered again"):
            memory.supersede(ids[2], ids[0], scope=ada)
        assert contents(memory.recall("Where is the office?", scope=ada)) == ["The office is in Turin."]


def test_what_was_replaced_and_is_said_again_with_a_time_is_true_again(lite):
    clock = Clock()
    with EpisodicMemory(lite, collection="words", clock=clock) as memory:
        ada = somebody()
        began = clock.now
        (rome,) = memory.remember("The office is in Rome.", scope=ada, valid_from=began)
        clock.now += timedelta(days=1)
        (milan,) = memory.remember("The office is in Milan.", scope=ada)
        memory.supersede(rome, milan, scope=ada)
        assert memory.remember("The office is in Rome.", scope=ada, valid_from=began) == [rome]  # a second import
        assert contents(memory.recall("Where is the office?", scope=ada)) == ["The office is in Milan."]
        clock.now += timedelta(days=1)
        (again,) = memory.remember("The office is in Rome.", scope=ada, valid_from=clock.now)
        assert memory.remember("The office is in Rome.", scope=ada, valid_from=clock.now) == [again] != [rome]
        memory.supersede(milan, again, scope=ada)
        assert [one.id for one in memory.recall("Where is the office?", scope=ada)] == [again]
        assert [one.id for one in memory.recall("Where is the office?", scope=ada, as_of=began)] == [rome]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("forget", {"ids": 5}, "5 is no id"),
        ("forget", {"ids": ["x", None]}, "None is no id"),
        ("get", {"ids": [1]}, "1 is no id"),
        ("recall", {"query": "x", "entity": 5}, "entity=5"),
        ("recall", {"query": "x", "filter": 5}, "filter=5"),
        ("recall", {"query": "x", "filter": [(1, "==", 2)]}, "field=1"),
        ("recall", {"query": "x", "filter": [((), "==", 2)]}, r"field=\(\)"),
        ("recall", {"query": "x", "filter": [("a", ["=="], 2)]}, "operator="),
        ("remember", {"text_or_messages": "x", "entity": "e" * 5_000}, "entity=.* 5,000 bytes.*shorter"),
        ("remember", {"text_or_messages": "x", "metadata": {"n": 2**63}}, r"metadata\['n'\]"),
    ],
)
def test_what_cannot_be_asked_is_named_with_what_can(lite, method, arguments, message):
    with EpisodicMemory(lite, collection="words") as memory, pytest.raises(ValueError, match=message):
        getattr(memory, method)(**arguments, scope=ADA)


@pytest.mark.parametrize("given", [5, {"a": 1}, b"x", None])
def test_what_is_neither_a_text_nor_messages_is_not_remembered(lite, given):
    with EpisodicMemory(lite, collection="words") as memory:
        ada = somebody()
        with pytest.raises(TypeError, match="a text, a message, or a list of messages"):
            memory.remember(given, scope=ada)
        assert memory.count(ada) == 0


# --- erased means gone ------------------------------------------------------------------------------------------------


def files_with(folder, secret):
    secret = secret.lower()  # as the terms hold it too
    return [path for path in Path(folder).rglob("*") if path.is_file() and secret in path.read_bytes().lower()]


@pytest.mark.parametrize("embeddings", [None, WordEmbeddings()], ids=["words", "vectors"])
@pytest.mark.parametrize("restarted", [False, True])
def test_what_was_forgotten_stands_in_no_file(tmp_path, embeddings, restarted):
    uri, secret = services.milvus_lite_uri(tmp_path), b"ZEBRA-7781"
    bob = MemoryScope("bob")
    with EpisodicMemory(uri, embeddings) as memory:
        memory.remember(rounds(300), scope=bob)  # some of them beside hers
        (old,) = memory.remember("My code is ZEBRA-7781.", scope=ADA, metadata={"code": "ZEBRA-7781"})
        memory.recall("code", scope=ADA)
        (new,) = memory.remember("My code is no longer ZEBRA-7781.", scope=ADA)
        memory.supersede(old, new, scope=ADA)  # another version of the row
        if not restarted:
            assert memory.forget(scope=ADA) == 2
    if restarted:
        assert files_with(uri, secret)
        with EpisodicMemory(uri, embeddings) as memory:
            assert memory.forget(scope=ADA) == 2
            assert files_with(uri, secret) == []
    assert files_with(uri, secret) == []
    with EpisodicMemory(uri, embeddings) as memory:
        assert memory.count(bob) == 300
        assert contents(memory.recall("question 7", scope=bob, k=1)) == ["Human: question 7\nAI: answer 7"]
        assert memory.recall("code", scope=ADA) == []


def test_one_episode_that_was_forgotten_leaves_the_others(tmp_path):
    uri = services.milvus_lite_uri(tmp_path)
    with EpisodicMemory(uri, WordEmbeddings()) as memory:
        ids = [memory.remember(f"note {n} LEOPARD-{n}", scope=ADA)[0] for n in range(40)]
        memory.recall("note", scope=ADA)
        assert memory.forget(ids[7], scope=ADA) == 1
        assert files_with(uri, b"LEOPARD-7") == []
        assert len(memory.recall("note", scope=ADA, k=100)) == 39


def test_what_was_forgotten_is_in_no_copy_that_a_killed_rebuild_has_left(tmp_path):
    uri = services.milvus_lite_uri(tmp_path)
    for collection in ("episodes", "episodes_reindex"):
        with EpisodicMemory(uri, WordEmbeddings(), collection=collection) as memory:
            memory.remember("My code is ZEBRA-7781.", scope=ADA)
    with EpisodicMemory(uri, WordEmbeddings(16)) as memory:  # whatever the model
        assert memory.forget(scope=ADA) == 1
    assert files_with(uri, b"ZEBRA-7781") == []


# --- outages ----------------------------------------------------------------------------------------------------------


def test_an_outage_is_told_once_and_costs_one_call(tmp_path, monkeypatch, caplog):
    caplog.set_level(logging.WARNING, "langchain_tiered_memory")
    told, opened = [], []
    memory = EpisodicMemory(services.milvus_lite_uri(tmp_path), WordEmbeddings(), hooks=[told.append])
    clock = memory._connection.outage._clock = Clock()

    def locked(path, timeout):
        opened.append((path, timeout))
        msg = "locked by another process"
        raise milvus_lite.MilvusError(msg, is_away=True)

    with monkeypatch.context() as patched:
        patched.setattr(milvus_lite.LiteDatabase, "opened", locked)
        for n in range(4):
            with pytest.raises(MemoryStoreError, match="locked by another process"):
                memory.recall("tea", scope=ADA) if n % 2 else memory.remember("tea", scope=ADA)
        assert len(opened) == 1
        clock.now += timedelta(seconds=1)
        with pytest.raises(MemoryStoreError, match="locked"):
            memory.recall("tea", scope=ADA)
        assert len(opened) == 2
    with pytest.raises(MemoryStoreError, match="locked"):
        memory.recall("tea", scope=ADA)  # which is not asked yet
    clock.now += timedelta(minutes=1)
    memory.remember("tea", scope=ADA)
    assert contents(memory.recall("tea", scope=ADA)) == ["tea"]
    memory.close()
    outages = [type(event) for event in told if isinstance(event, EpisodesUnavailable | EpisodesAvailable)]
    assert outages == [EpisodesUnavailable, EpisodesAvailable]
    assert len([record for record in caplog.records if record.levelno == logging.WARNING]) == 2


def test_each_memory_has_outages_of_its_own(lite):
    away = EpisodicMemory("http://127.0.0.1:9", WordEmbeddings())
    with pytest.raises(MemoryStoreError, match=r"127\.0\.0\.1:9"):
        away.recall("tea", scope=ADA, timeout=0.1)
    with EpisodicMemory(lite, WordEmbeddings(), collection="dense") as memory:
        assert memory.count(somebody()) == 0


# --- settings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [{"timeout": 0}, {"half_life": -1}, {"key": "best"}, {"prefixes": "xx"}, {"timeout": "soon"}],
)
def test_a_setting_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        EpisodicMemory("nowhere.db", WordEmbeddings(), **wrong)


@pytest.mark.parametrize(
    "uri", ["htp://localhost:19530", "postgresql://ada:secret@localhost/db", "sqlite:///memory.db"]
)
def test_an_address_of_something_else_is_refused_without_its_secrets(uri):
    with pytest.raises(ValueError, match="is no Milvus: give a path") as caught:
        EpisodicMemory(uri, WordEmbeddings())
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("uri", [None, 5, b"memory.db", "", " "])
def test_what_is_no_address_is_refused(uri):
    with pytest.raises(ValueError, match="is no address"):
        EpisodicMemory(uri, WordEmbeddings())


def test_a_name_is_no_embedding_model():
    with pytest.raises(ValueError, match="embeddings='local'"):
        EpisodicMemory("memory.db", "local")


async def test_a_closed_memory_says_so(tmp_path):
    memory = EpisodicMemory(services.milvus_lite_uri(tmp_path), WordEmbeddings())
    memory.remember("tea", scope=ADA)
    memory.close()
    memory.close()
    for work in (memory.recall, memory.remember):
        with pytest.raises(MemoryStoreError, match=r"was closed: make another"):
            work("tea", scope=ADA)
    with pytest.raises(MemoryStoreError, match=r"was closed"):
        await memory.arecall("tea", scope=ADA)
    with pytest.raises(MemoryStoreError, match=r"was closed"):
        list(memory.export(ADA))
    await memory.aclose()


@pytest.mark.parametrize("port", ["99999", "abc"])
def test_a_port_that_is_none_is_refused_before_anything_is_asked(port):
    with pytest.raises(ValueError, match=f"uri='localhost:{port}' names no port: .*; give http://host:19530"):
        EpisodicMemory(f"http://ada:secret@localhost:{port}", WordEmbeddings())


def test_a_host_that_cannot_be_is_not_reached():
    memory = EpisodicMemory("http://a..b:19530", WordEmbeddings())
    with pytest.raises(MemoryStoreError, match="cannot be reached"):
        memory.recall("tea", scope=ADA, timeout=0.1)


@pytest.mark.parametrize("embeddings", [None, WordEmbeddings()], ids=["words", "vectors"])
def test_words_are_found_wherever_they_stand_in_a_long_text(lite, embeddings):
    with EpisodicMemory(lite, embeddings, collection="dense" if embeddings else "words") as memory:
        ada = somebody()
        middle = "The xylophone code is 7712."
        long = " ".join([*(f"page{n}" for n in range(9_000)), middle, *(f"note{n}" for n in range(9_000))])
        memory.remember(long, scope=ada)
        for n in range(8):
            memory.remember(f"The code of building {n} is dull.", scope=ada)
        assert contents(memory.recall("What is the xylophone code?", scope=ada, k=1)) == [long]


def test_any_age_is_an_age(lite):
    with EpisodicMemory(lite, WordEmbeddings(), collection="dense") as memory:
        ada = somebody()
        memory.remember("tea", scope=ada)
        assert contents(memory.recall("tea", scope=ada, max_age=timedelta.max)) == ["tea"]


def test_a_client_of_an_event_loop_is_closed_when_its_calls_are_over(monkeypatch):
    class Client:
        def __init__(self, **_):
            self.searching = 0
            self.goes_on = asyncio.Event()

        async def __aenter__(self):
            return self

        async def close(self):
            assert self.searching == 0  # gRPC would cancel them

        async def search(self, **_):
            self.searching += 1
            await self.goes_on.wait()
            self.searching -= 1
            return "found"

    async def ask():
        client = Client()
        monkeypatch.setattr(
            milvus_connection, "_pymilvus", lambda: SimpleNamespace(AsyncMilvusClient=lambda **_: client)
        )
        connection = MilvusConnection("http://localhost:19530")
        search = MilvusRequest("search", lambda client, _: client.search())
        deadline = time.monotonic() + 60
        calls = [asyncio.create_task(connection.request(AWAITING, search, deadline)) for _ in range(3)]
        for _ in range(20):  # turns of the loop
            await asyncio.sleep(0)
        assert client.searching == len(calls)
        closing = asyncio.create_task(connection.aclose())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not closing.done()
        client.goes_on.set()
        assert await asyncio.gather(*calls) == ["found"] * 3
        await closing

    asyncio.run(ask())


def test_a_half_life_lets_the_newer_win(lite):
    with EpisodicMemory(lite, WordEmbeddings(), collection="dense", half_life=86_400, clock=Clock()) as memory:
        ada = somebody()
        now = Clock().now.timestamp()
        memory.remember("we drank tea at home", scope=ada, created_at=now - 30 * 86_400)
        memory.remember("we had tea", scope=ada, created_at=now)
        assert contents(memory.recall("we drank tea at home", scope=ada))[0] == "we had tea"


def test_it_says_what_it_is_without_its_secrets():
    shown = repr(EpisodicMemory("http://ada:secret@example.org:19530", WordEmbeddings()))
    assert shown == "EpisodicMemory('http://example.org:19530', collection='episodes', WordEmbeddings:words)"


def test_an_answer_is_indexed_by_three_calls_of_milvus_that_read_the_log_once(lite):
    with EpisodicMemory(lite, WordEmbeddings(), collection="dense") as memory, InMemoryMessageLog() as log:
        ada = somebody()
        log.append("s", rounds(2))
        memory.index(log, "s", scope=ada)
        asked, read = [], []
        request, entries = memory._connection.request, log.entries
        memory._connection.request = lambda *args, **options: asked.append(args) or request(*args, **options)
        log.entries = lambda *args: read.append(args) or entries(*args)
        log.append("s", rounds(1, start=2))
        assert memory.index(log, "s", scope=ada) == 1
        assert (len(asked), len(read)) == (3, 1)


def test_no_question_asks_milvus_more_than_thrice(lite):
    with EpisodicMemory(lite, WordEmbeddings(), collection="dense") as memory:
        ada = somebody("s")
        memory.remember(rounds(60), scope=ada)
        memory.recall("question 6", scope=ada)  # the first measures the model's cosines too
        asked = []
        request = memory._connection.request
        memory._connection.request = lambda *args, **options: asked.append(args) or request(*args, **options)
        assert len(memory.recall("question 7", scope=ada, k=50)) == 50
        assert len(asked) <= 3


# --- examples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shown", [EpisodicMemory, Episode, EpisodicRetriever, quote_episodes], ids=lambda one: one.__name__
)
def test_the_example_runs_as_it_stands(shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"```python\n(.*?)```", inspect.cleandoc(shown.__doc__), re.DOTALL)
    exec(compile(example, shown.__name__, "exec"), {})  # noqa: S102  # the docstring is what is tested
