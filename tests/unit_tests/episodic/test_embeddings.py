from __future__ import annotations

import asyncio
import logging
import pickle
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings, model_name_of

pytest.importorskip("wordllama")


@pytest.fixture(scope="module")
def local() -> LocalEmbeddings:
    return LocalEmbeddings()


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_texts_of_like_meaning_are_nearer_than_others(local):
    tea, drink, car = local.embed_documents(["She likes green tea", "Her favourite drink is tea", "The car broke down"])
    assert cosine(tea, drink) > 0.5 > cosine(tea, car)


def test_a_vector_is_the_library_s_own(local):
    import wordllama  # noqa: PLC0415  # skipped without

    text = "Ada paints the sea in May."
    theirs = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent).embed(text, norm=True)[0].tolist()
    assert local.embed_query(text) == pytest.approx(theirs, abs=1e-6)


@settings(deadline=None, max_examples=60)
@given(st.text(st.characters(), max_size=60))
def test_any_text_has_a_vector_of_length_one(text):
    vector = LOCAL.embed_query(text)
    assert len(vector) == 256
    assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-4)


LOCAL = LocalEmbeddings()


@pytest.mark.parametrize("text", ["", "\0", "\ud800", "a\udfff\0b", "\U0001f600" * 40])
def test_a_text_that_tokenizers_refuse_has_a_vector(local, text):
    assert cosine(*local.embed_documents([text, text])) == pytest.approx(1.0, abs=1e-4)


def test_a_batch_gives_what_its_texts_give_alone(local):
    texts = ["", "short", "a much longer text about the sea and the sky " * 40, "short"]
    assert local.embed_documents(texts) == [local.embed_query(text) for text in texts]
    assert local.embed_documents([]) == []


def test_a_long_text_is_read_to_its_end_in_bounded_memory(local):
    local.embed_query("warm")
    text = "tea " * 50_000 + "volcano " * 150_000
    tracemalloc.start()
    vector = local.embed_query(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60_000_000
    assert cosine(vector, local.embed_query("volcano")) > cosine(vector, local.embed_query("tea")) > 0


async def test_async_gives_the_same_and_leaves_the_loop_free(local):
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0.001)

    beside = asyncio.create_task(tick())
    texts = ["sea and sky " * 2_000] * 20
    vectors = await local.aembed_documents(texts)
    beside.cancel()
    assert vectors == local.embed_documents(texts)
    assert await local.aembed_query("sea") == local.embed_query("sea")
    assert ticks > 1


def test_threads_load_the_model_once_and_agree(monkeypatch):
    from langchain_tiered_memory.episodic import embeddings  # noqa: PLC0415  # to count its loads

    loads = []
    load = embeddings._load
    monkeypatch.setattr(embeddings, "_load", lambda: loads.append(1) or load())
    model = LocalEmbeddings()
    found: list[list[float]] = []
    threads = [threading.Thread(target=lambda: found.append(model.embed_query("sea"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(loads) == 1
    assert found == [LOCAL.embed_query("sea")] * 8


def test_a_pickled_model_gives_the_same_vectors(local):
    assert pickle.loads(pickle.dumps(local)).embed_query("sea") == local.embed_query("sea")  # noqa: S301  # our own


def test_loading_leaves_the_application_s_logging_alone():
    program = (
        "import logging\n"
        "from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings\n"
        "LocalEmbeddings().embed_query('sea')\n"
        "print(logging.getLogger().handlers, logging.getLogger().level)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603  # our own
    assert run.stdout.strip() == f"[] {logging.WARNING}"


def test_without_the_library_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises(ImportError, match=r"langchain-tiered-memory\[local\]"):
        LocalEmbeddings().embed_query("sea")


class Named(Embeddings):
    def __init__(self, **attributes):
        self.__dict__.update(attributes)

    def embed_documents(self, texts):
        return [[1.0] for _ in texts]

    def embed_query(self, text):
        return [float(len(text))]


@pytest.mark.parametrize(
    ("embeddings", "name"),
    [
        (LocalEmbeddings(), "LocalEmbeddings:wordllama-l2_supercat-256"),
        (Named(model="text-embedding-3-small"), "Named:text-embedding-3-small"),
        (Named(model_name="all-MiniLM", model=object()), "Named:all-MiniLM"),
        (Named(model=object(), model_id="amazon.titan"), "Named:amazon.titan"),
        (Named(model=""), "Named"),
        (Named(underlying_embeddings=Named(model="m")), "Named:m"),
        (DeterministicFakeEmbedding(size=8), "DeterministicFakeEmbedding"),
    ],
)
def test_a_model_is_named_by_its_class_and_what_it_calls_itself(embeddings, name):
    assert model_name_of(embeddings) == name
