from __future__ import annotations

import pickle
from datetime import timedelta

import pytest

pytest.importorskip("redis")

from langchain_tiered_memory import RedisMessageLog
from langchain_tiered_memory.errors import MemoryStoreError
from support.log_conformance import turns

NOBODY = "redis://ada:s3cr3t@127.0.0.1:1/0"


def test_nothing_is_opened_before_it_is_used():
    log = RedisMessageLog(NOBODY)
    assert repr(log) == "RedisMessageLog('redis://127.0.0.1:1/0')"
    log.close()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("", "write redis://host"),
        ("localhost:6379", "write redis://host"),
        ("http://u:s3cr3t@h/", "is no Redis server's address"),
        ("redis://u:s3cr3t@h/memory", "a database is a number"),
        ("redis://u:s3cr3t/x@h:6379", "password"),
        (None, "is text"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_once(url, words):
    with pytest.raises(MemoryStoreError, match=words) as caught:
        RedisMessageLog(url)
    assert "s3cr3t" not in str(caught.value)


@pytest.mark.parametrize("ttl", [0, -1, float("nan"), True, "1h", timedelta(0), 1e13])
def test_a_time_to_live_that_is_none_is_refused(ttl):
    with pytest.raises(ValueError, match="ttl="):
        RedisMessageLog(NOBODY, ttl=ttl)


@pytest.mark.parametrize("prefix", ["{a}", "a}", "a\n", None, 5])
def test_a_prefix_that_would_hide_the_session_is_refused(prefix):
    with pytest.raises(ValueError, match="prefix="):
        RedisMessageLog(NOBODY, prefix=prefix)


async def test_a_server_that_does_not_answer_is_named_without_its_password():
    log = RedisMessageLog(NOBODY)
    for method, arguments in [("append", [turns(1)]), ("messages", []), ("version", []), ("erase", []), ("nodes", [])]:
        with pytest.raises(MemoryStoreError, match=r"redis://127\.0\.0\.1:1/0: .*See whether the server is up") as one:
            getattr(log, method)("s", *arguments)
        with pytest.raises(MemoryStoreError, match=r"redis://127\.0\.0\.1:1/0: .*See whether the server is up") as two:
            await getattr(log, f"a{method}")("s", *arguments)
        assert "s3cr3t" not in f"{one.value}{two.value}"
    await log.aclose()


def test_what_is_pickled_is_how_it_was_made():
    log = pickle.loads(pickle.dumps(RedisMessageLog(NOBODY, ttl=5, prefix="p:")))  # noqa: S301  # our own object
    assert (log._arguments["ttl"], log._arguments["prefix"]) == (5, "p:")
    assert repr(log) == "RedisMessageLog('redis://127.0.0.1:1/0')"
