from __future__ import annotations

import pytest

from langchain_tiered_memory import RedisFactStore
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.types import MemoryScope


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://localhost", "no Redis server's address"),
        ("localhost:6379", "redis://host:6379/0"),
        ("", "redis://host:6379/0"),
        ("redis://localhost/facts", "database is a number, got 'facts'"),
        ("redis://localhost:port", "cannot read"),
        ("redis://localhost:99999", "cannot read"),
        ("redis://:se/cret@localhost", "%2F"),
        ("unix://", "names no socket"),
        ("redis://localhost?socket_timeout=soon", "socket_timeout"),
        ("redis://localhost?colour=red", r"behind the \? in the URL cannot be used: .*'colour'. Correct or remove it"),
        ("rediss://localhost?protocol=9", r"behind the \? in the URL cannot be used: protocol"),
        ("unix:///tmp/redis.sock?max_connections=-1", "max_connections"),
        (None, "is text, got NoneType"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_with_the_repair(url, words):
    with pytest.raises(MemoryStoreError, match=words):
        RedisFactStore(url)


@pytest.mark.parametrize(
    "url", ["redis://ada:secret@localhost:6379/3", "redis://:se%40cret@localhost", "redis://secret:x@y"]
)
def test_a_password_is_shown_nowhere(url):
    assert "secret" not in repr(RedisFactStore(url))
    assert "cret" not in repr(RedisFactStore(url))


@pytest.mark.parametrize("url", ["redis://u:secret", "redis://u:se#cret@localhost", "redis://u:se/cret@localhost"])
def test_a_password_is_not_in_the_error_either(url):
    with pytest.raises(MemoryStoreError) as caught:
        RedisFactStore(url)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize(
    "url", ["redis://h", "rediss://h:6380/1", "unix:///tmp/redis.sock?db=2", "redis://[::1]:6379/0", "redis://h/"]
)
def test_addresses_of_every_kind_are_taken(url):
    RedisFactStore(url).close()


@pytest.mark.parametrize("timeout", [0, -1, "5", None, True, float("nan"), float("inf"), 1e12])
def test_a_timeout_is_a_number_of_seconds(timeout):
    with pytest.raises(ValueError, match="timeout"):
        RedisFactStore("redis://localhost", timeout=timeout)


def test_nothing_is_asked_of_a_server_before_the_first_use():
    facts = RedisFactStore("redis://127.0.0.1:1/0")
    with pytest.raises(MemoryStoreError, match=r"127\.0\.0\.1:1"):
        facts.list(MemoryScope(user="ada"))
    facts.close()


@pytest.mark.parametrize("retention", [0, 1e300, 1e305])
def test_a_retention_is_what_redis_can_count(retention):
    with pytest.raises(ValueError, match="retention="):
        RedisFactStore("redis://localhost", retention=retention)


def test_stores_do_not_share_the_keys_of_their_history():
    with pytest.raises(ValueError, match="not ending in -past"):
        RedisFactStore("redis://localhost", prefix="fact-past")
