"""The fact store that keeps facts in a database and, for speed, in Redis in front of it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar, Final, TypeVar

from langchain_tiered_memory._breaker import Breaker
from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._redis import RedisPort, Script
from langchain_tiered_memory._times import Duration, seconds_of, utc_now
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook, MemoryEvent, hooks_of
from langchain_tiered_memory.semantic.keys import Key, escape, key_of, unescape
from langchain_tiered_memory.semantic.operations import FactRows
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
from langchain_tiered_memory.semantic.redis import RedisFactStore, row_of, stamp_of, text_of
from langchain_tiered_memory.semantic.store import FactStore, Validities
from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["CacheBypassed", "CachedFactStore"]

T = TypeVar("T")

_COMPLETE: Final = "*"
"""The field of a scope's hash that says that the scope has no other facts than those in it."""
_NONE: Final = "0"
"""What is cached of a fact that the cold store does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBypassed(MemoryEvent):
    """The cache could not be used, so the cold store answers alone; emitted once until the cache works again.

    Attributes:
        cache: The address of the cache, without the password.
        reason: Why.
    """

    cache: str
    reason: str
    name: ClassVar[str] = "tiered_memory.cache_bypassed"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"facts are read from the cold store, the cache cannot be used: {self.reason}"


class CachedFactStore(PickledByArguments, FactStore):
    """Facts in a cold store, which alone decides, with a Redis cache in front of it.

    A write goes to the cold store first and is acknowledged by it; then it goes to the cache, where it replaces an
    older version only. `get` and `list` ask the cache, and where it has nothing the cold store, and fill in what that
    said. `as_of`, `history` and `export` go to the cold store.

    Everybody sees a write at once where its writer reaches Redis. Otherwise the older value may be read until it is
    `max_age` old: where the writer dies between the two sides or cannot reach Redis, where somebody writes past the
    cache, or where Redis comes back from an older snapshot. While Redis is away the cold store answers, and Redis is
    tried again after 1 to 30 seconds.

    ```python
    from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore

    hot = RedisFactStore("redis://localhost:6379/0", timeout=0.5)
    facts = CachedFactStore(hot=hot, cold=SQLFactStore("sqlite:///facts.db"))
    facts.close()
    ```

    Args:
        hot: The server, the prefix and the timeout of the cache. Facts that it holds as a store are not touched. Cold
            stores that share a server need prefixes of their own.
        cold: Where the facts are.
        max_age: How long a value stays in the cache at most, in seconds or as a timedelta.
        hooks: Called with events.
        clock: Gives the time; the cold store's clock if not given.
        validities: How long a fact of each class holds, where not as long as in the cold store.

    Raises:
        TypeError: `hot` is no RedisFactStore, or `cold` no fact store.
        MemoryStoreError: Later, the cold store cannot be reached, read or written.
    """

    def __init__(
        self,
        hot: RedisFactStore,
        cold: FactStore,
        *,
        max_age: Duration = 30.0,
        hooks: Sequence[EventHook] = (),
        clock: Clock | None = None,
        validities: Validities | None = None,
    ) -> None:
        given: object = hot
        if not isinstance(given, RedisFactStore):
            msg = f"hot is a RedisFactStore, got {type(hot).__name__}: give RedisFactStore('redis://...')"
            raise TypeError(msg)
        if not isinstance(cold, FactStore) or isinstance(cold, CachedFactStore):
            msg = f"cold is the store that the facts are in, got {type(cold).__name__}: give SQLFactStore(...)"
            raise TypeError(msg)
        self._arguments = {
            "hot": hot,
            "cold": cold,
            "max_age": max_age,
            "hooks": hooks_of(hooks),
            "clock": clock,
            "validities": validities,
        }
        self._hot, self._cold = hot, cold
        cache = _Cache(hot.address, f"{hot.prefix}-cache", max(1, round(seconds_of(max_age, "max_age") * 1_000)))
        calls, acalls = hot.calls_with(hooks_of(hooks))
        super().__init__(
            _CachedRows(cold._rows, calls, cache, self._now),  # noqa: SLF001  # a store like this one
            _CachedRows(cold._arows, acalls, cache, self._now),  # noqa: SLF001  # as above
            clock=clock or cold._clock,  # noqa: SLF001  # as above
            validities=validities,
        )
        self._lifetimes = {**cold._lifetimes, **{name: self._lifetimes[name] for name in validities or ()}}  # noqa: SLF001  # as above

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hot={self._hot!r}, cold={self._cold!r})"

    def close(self) -> None:
        """Close both sides."""
        self._hot.close()
        self._cold.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._hot.aclose()
        await self._cold.aclose()


@dataclass(frozen=True, slots=True)
class _Cache:
    """What the sync and the async side of a cache share."""

    address: str
    prefix: str
    max_age: int
    breaker: Breaker = field(default_factory=lambda: Breaker(1.0, longest=timedelta(seconds=30)))

    def user(self, user_key: str) -> list[str]:
        """The key with the time of the last erasure, and that of the set of the user's cached scopes."""
        return [f"{self.prefix}:{{{user_key}}}:erased", f"{self.prefix}:{{{user_key}}}:scopes"]

    def scope(self, user_key: str, session_key: str) -> str:
        """The hash with the newest row of each fact of a scope."""
        return f"{self.prefix}:{{{user_key}}}{session_key}"


_SET: Final = Script(
    """
local erased, scopes, max_age = redis.call('GET', KEYS[1]), KEYS[2], ARGV[1]
local refused = {}
for i = 2, #ARGV, 3 do
  local hash, name, text = KEYS[tonumber(ARGV[i])], ARGV[i + 1], ARGV[i + 2]
  local version, updated = string.match(text, '^(%d+):[^:]+:%d:%d+:%d+:(%d+)')
  if erased and updated and updated <= erased then
    redis.call('HDEL', hash, name, '*')
    refused[hash] = true
  elseif name ~= '*' or not refused[hash] then
    local held = redis.call('HGET', hash, name)
    if not held or tonumber(string.match(held, '^%d+')) < tonumber(version or 0) then
      redis.call('HSET', hash, name, text)
    end
    if redis.call('PTTL', hash) < 0 then redis.call('PEXPIRE', hash, max_age) end
    redis.call('SADD', scopes, hash)
    redis.call('PEXPIRE', scopes, 2 * max_age)
  end
end
""",
    repeatable=True,
)
"""Sets rows that are newer than what is cached, unless they were written before the last erasure."""

_ERASE: Final = Script(
    """
local erased, scopes, only, moment = KEYS[1], KEYS[2], ARGV[1], ARGV[2]
redis.call('SET', erased, moment, 'EX', 86400)
for _, hash in ipairs(redis.call('SMEMBERS', scopes)) do
  if only == '' or hash == only then
    redis.call('DEL', hash)
    redis.call('SREM', scopes, hash)
  end
end
""",
    repeatable=True,
)
"""Deletes what is cached of a user, or of one scope, and keeps rows that were written before from coming back."""


class _CachedRows:
    """Implements `FactRows` by a cold store's rows and a cache of the newest ones."""

    def __init__(self, cold: FactRows, calls: RedisPort, cache: _Cache, now: Callable[[], int]) -> None:
        self._cold, self._calls, self._cache, self._now = cold, calls, cache, now

    async def put(self, key: Key, change: Change) -> Outcome:
        outcome = await self._cold.put(key, change)
        if outcome.row is not None and outcome.row.leads:
            await self._fill(key.user_key, [(key.session_key, _name(key), outcome.row)])
        return outcome

    async def erase(self, owner: MemoryScope) -> int:
        count = await self._cold.erase(owner)
        only = "" if owner.session is None else self._cache.scope(owner.user_key, owner.session_key)
        keys, arguments = self._cache.user(owner.user_key), [only, stamp_of(self._now())]
        await self._while_up(lambda: self._calls.run(_ERASE, keys, arguments))
        return count

    async def rows(self, key: Key) -> Sequence[Row]:
        return await self._cold.rows(key)

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        return await self._cold.rows_of(owner, sessions=sessions)

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        commands = [("HMGET", self._cache.scope(key.user_key, key.session_key), _name(key), _COMPLETE) for key in keys]
        answers: Sequence[Any] = await self._while_up(lambda: self._calls.ask(commands)) or [(None, None)] * len(keys)
        cached = {key: text or _NONE for key, (text, complete) in zip(keys, answers, strict=True) if text or complete}
        lacking = [key for key in keys if key not in cached]
        found = dict(zip(lacking, await self._cold.heads(lacking) if lacking else [], strict=True))
        if found:
            await self._fill(keys[0].user_key, [(key.session_key, _name(key), head) for key, head in found.items()])
        return [_row(cached[key]) if key in cached else found[key] for key in keys]

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        user_key = owners[0].user_key
        commands = [("HGETALL", self._cache.scope(user_key, owner.session_key)) for owner in owners]
        answers = await self._while_up(lambda: self._calls.ask(commands))
        if answers and all(_COMPLETE in answer for answer in answers):
            owned = [one for owner, answer in zip(owners, answers, strict=True) for one in _owned(owner, answer)]
            return [one for one in owned if one.key.is_about(entity, prefix)]
        owned = list(await self._cold.heads_of(owners, entity, prefix))
        if answers and entity is None and prefix is None:
            rows: list[tuple[str, str, Row | None]] = [(key.session_key, _name(key), head) for key, head in owned]
            await self._fill(user_key, [*rows, *((owner.session_key, _COMPLETE, None) for owner in owners)])
        return owned

    async def _fill(self, user_key: str, rows: Sequence[tuple[str, str, Row | None]]) -> None:
        """Set rows in the cache, each with its session's key and its name there; those that say "complete" last."""
        keys = self._cache.user(user_key)
        arguments: list[str | int] = [self._cache.max_age]
        for session_key, name, row in rows:
            scope = self._cache.scope(user_key, session_key)
            if scope not in keys:
                keys.append(scope)
            arguments += [keys.index(scope) + 1, name, _NONE if row is None else text_of(row)]
        await self._while_up(lambda: self._calls.run(_SET, keys, arguments))

    async def _while_up(self, call: Callable[[], Awaitable[T]]) -> T | None:
        """What the cache answers; `None` while it cannot be used."""
        breaker, address = self._cache.breaker, self._cache.address
        if breaker.is_open(address, utc_now()):
            return None
        try:
            answer = await call()
        except MemoryStoreError as error:
            if breaker.fail(address, utc_now()).failures == 1:
                await self._calls.tell(CacheBypassed(session_id="", cache=address, reason=str(error)))
            return None
        breaker.succeed(address)
        return answer


def _name(key: Key) -> str:
    return f"{escape(key.entity)}:{escape(key.attribute)}"


def _row(text: str) -> Row | None:
    return None if text == _NONE else row_of(text)


def _owned(owner: MemoryScope, fields: dict[str, str]) -> list[Owned]:
    rows = ((name, _row(text)) for name, text in fields.items() if name != _COMPLETE)
    return [Owned(key_of(owner, *map(unescape, name.split(":"))), row) for name, row in rows if row is not None]
