"""The episodic memory on a real Milvus server: the suite that Milvus Lite passes, and a server that dies."""

from __future__ import annotations

from contextlib import suppress

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_tiered_memory import InMemoryMessageLog
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope
from support import milvus_server as servers
from support.episodes import EpisodicConformance, WordEmbeddings, call, contents, rounds, somebody  # noqa: F401  # a fixture
from support.waiting import wait_until

pytestmark = [
    pytest.mark.service,
    # The server of the wheel is older than its index of words, and says so each time it is opened.
    pytest.mark.filterwarnings("ignore:.*holds no index of words:UserWarning"),
]


@pytest.fixture
def server(tmp_path):
    """A server of one's own, to be killed."""
    with servers.running(tmp_path / "server") as server:
        yield server


class TestOnAServer(EpisodicConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def uri(cls, milvus_server):
        return milvus_server.uri


class TestRetrieverOnAServer(RetrieversIntegrationTests):
    """LangChain's own suite for retrievers."""

    @pytest.fixture(autouse=True)
    def _filled(self, milvus_server):
        with EpisodicMemory(milvus_server.uri, WordEmbeddings(), collection="retriever") as self.memory:
            self.memory.remember([f"Turin in the year {n}" for n in range(1900, 1906)], scope=MemoryScope("standard"))
            yield

    @property
    def retriever_constructor(self):
        return EpisodicRetriever

    @property
    def retriever_constructor_params(self):
        return {"memory": self.memory, "scope": MemoryScope("standard")}

    @property
    def retriever_query_example(self):
        return "What happened in Turin?"


def test_two_memories_see_what_the_other_has_superseded_and_forgotten(milvus_server):
    ada = somebody()
    with (
        EpisodicMemory(milvus_server.uri, WordEmbeddings(), collection="shared") as one,
        EpisodicMemory(milvus_server.uri, WordEmbeddings(), collection="shared") as other,
    ):
        (old, new, third) = [one.remember(text, scope=ada)[0] for text in ("tea at 4", "tea at 5", "tea at 6")]
        assert other.count(ada) == 3
        one.supersede(old, new, scope=ada)
        assert {document.id for document in other.recall("tea", scope=ada)} == {new, third}
        assert other.forget([third], scope=ada) == 1
        assert contents(one.recall("tea", scope=ada)) == ["tea at 5"]


def test_filtered_recall_finds_what_an_exact_search_finds(milvus_server):
    everybody = [somebody() for _ in range(20)]
    with EpisodicMemory(milvus_server.uri, WordEmbeddings(), collection="many") as memory:
        for scope in everybody:
            memory.remember(rounds(30), scope=scope)
        for scope in everybody:
            found = memory.recall("question 17", scope=scope, k=30)
            assert {document.page_content.splitlines()[0] for document in found} == {
                f"Human: question {n}" for n in range(30)
            }


def test_a_server_that_dies_is_an_error_in_time_and_what_was_written_is_there_when_it_is_back(server):
    ada, log = somebody(), InMemoryMessageLog()
    log.append("s", rounds(3))
    with EpisodicMemory(server.uri, WordEmbeddings(), collection="mortal", timeout=10) as memory:
        written = memory.remember(rounds(5), scope=ada)
        assert memory.index(log, "s", scope=ada) == 3
        server.kill()
        try:
            log.append("s", rounds(2, start=3))
            for ask in (
                lambda: memory.recall("question 2", scope=ada, timeout=1.5),
                lambda: memory.remember("never written", scope=ada),
                lambda: memory.index(log, "s", scope=ada),
                lambda: memory.forget(scope=ada),
            ):
                with pytest.raises(MemoryStoreError):
                    ask()
            with pytest.raises(MemoryStoreError):
                memory.recall("question 2", scope=ada, timeout=1.5)
        finally:
            server.start()

        def answers():
            with suppress(MemoryStoreError):
                return memory.recall("question 2", scope=ada, k=20)

        wait_until(answers)
        assert {document.id for document in answers()} >= set(written)
        assert {episode.id for episode in memory.get(written, scope=ada)} == set(written)
        assert memory.index(log, "s", scope=ada) == 2
        assert memory.count(ada) == 10
        assert memory.forget(scope=ada) == 10
        assert memory.recall("question", scope=ada) == []
