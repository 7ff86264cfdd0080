"""The message log in Redis.

A session is one hash, so that it expires, is evicted and is erased whole. An index of the sessions lies beside them, in
the same slot of a cluster, so that each script is one atomic step and one round trip.

| key | what it holds |
|---|---|
| `{prefix}sessions` | a sorted set of the ids of all sessions that hold a message, all with the score 0 |
| `{prefix}s:...` | a session, its id percent-encoded, as a hash: |
| field `v` | the number of the last message |
| field `i` | what tells this session from one of the same name that was erased or has expired |
| fields `m1`, `m2`, ... | the messages: microseconds since 1970 in UTC, a space, JSON |
| fields `k...` | the number of the message of that key |
| fields `n`, `s1`, `s2`, ... | how many summaries there are, and the summaries |
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._redis import RedisPort, RedisServer, Script
from langchain_tiered_memory._times import Duration, seconds_of, utc_now
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.working.log import LogEntry, MessageLog, stored_in_part
from langchain_tiered_memory.working.nodes import SummaryNode, decode_node, encode_node
from langchain_tiered_memory.working.records import (
    entry_of,
    key_of,
    nodes_conflict,
    range_of,
    records_of,
    version_conflict,
)

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock

__all__ = ["RedisMessageLog"]

# Each script gets the session's key and the index's. The time to live is in milliseconds, or "" for ever.
_KEEP: Final = """
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""
_APPEND_TEXT: Final = (
    """
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
local before = last
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= last then return {0, last} end
for i = 5, #ARGV, 2 do
  if redis.call('HSETNX', KEYS[1], 'k' .. ARGV[i], last + 1) == 1 then
    last = last + 1
    redis.call('HSET', KEYS[1], 'm' .. last, ARGV[i + 1])
  end
end
if last > before then redis.call('HSET', KEYS[1], 'v', last) end
if before == 0 and last > 0 then
  redis.call('HSET', KEYS[1], 'i', ARGV[3])
  redis.call('ZADD', KEYS[2], 0, ARGV[4])
end
"""
    + _KEEP
    + "return {1, last}"
)
_APPEND_ANYWHERE: Final = Script(_APPEND_TEXT, repeatable=True)  # the keys make a second run change nothing
_APPEND_IF: Final = Script(_APPEND_TEXT)
_APPEND_NODES: Final = Script(
    """
local number = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
if number ~= tonumber(ARGV[1]) or (#ARGV > 3 and tonumber(ARGV[3]) > last) then return {0, number} end
if #ARGV < 4 then return {1, number} end
for i = 4, #ARGV do
  number = number + 1
  redis.call('HSET', KEYS[1], 's' .. number, ARGV[i])
end
redis.call('HSET', KEYS[1], 'n', number)
"""
    + _KEEP
    + "return {1, number}"
)
# A page ends before it gets too large for one answer, and holds one row at least.
_READ: Final = Script(
    """
local last = tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or '0')
local low, high = tonumber(ARGV[3]) + 1, math.min(last, tonumber(ARGV[4]) - 1)
local from, to, step = low, high, 1
if ARGV[5] == '1' then from, to, step = high, low, -1 end
local page = {redis.call('HGET', KEYS[1], 'i') or '', last}
local bytes = 0
for number = from, to, step do
  if #page - 2 >= tonumber(ARGV[6]) or bytes >= tonumber(ARGV[7]) then break end
  local row = redis.call('HGET', KEYS[1], ARGV[2] .. number)
  if not row then return redis.error_reply('ERR ' .. KEYS[1] .. ' lacks ' .. ARGV[2] .. number) end
  bytes = bytes + #row
  page[#page + 1] = row
end
return page
""",
    repeatable=True,
)
_KNOWN: Final = Script(
    """
local known = {}
for i, key in ipairs(ARGV) do known[i] = redis.call('HEXISTS', KEYS[1], 'k' .. key) end
return known
""",
    repeatable=True,
)
_ERASE: Final = Script(
    """
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
redis.call('UNLINK', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
return last
"""
)
# Which of some sessions are there still; those that have expired leave the index.
_PRUNE: Final = Script(
    """
local there = {}
for i, name in ipairs(ARGV) do
  there[i] = redis.call('EXISTS', KEYS[i + 1])
  if there[i] == 0 then redis.call('ZREM', KEYS[1], name) end
end
return there
""",
    repeatable=True,
)
_MESSAGES: Final = ("v", "m")
_NODES: Final = ("n", "s")
_PAGE_ROWS: Final = 500
_PAGE_BYTES: Final = 4_000_000
_AT_ONCE: Final = 1_000
_DECODED_AT_ONCE: Final = 200
_ENDLESS: Final = 1 << 53
_LONGEST_TTL: Final = 10**15
_PREFIX: Final = "tiered_memory:log:"


class RedisMessageLog(PickledByArguments, MessageLog):
    """A message log in Redis, shared by any number of threads, processes and machines.

    An append is one script and one round trip: all of its messages under the next numbers, or none. It needs no module
    of Redis, and no command that is newer than Redis 4. Whether an acknowledged append survives the death of the server
    is a matter of its configuration: at first use the log reads it, and tells `StoreMayForget` (to `logging` and the
    hooks) where the server may drop or forget.

    With a `ttl`, a session lives that long after the last append to it, and then goes as a whole; reading does not
    prolong it. A log without a `ttl` makes a session that it appends to stay for ever. What is erased is gone from the
    server's memory at once, and from an append-only file when Redis rewrites that (`BGREWRITEAOF`).

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import RedisMessageLog

    with RedisMessageLog("redis://localhost:6379/0", ttl=30 * 86_400) as log:
        version = log.append("session-1", [HumanMessage("Hello", id="m1")])
        assert log.append("session-1", [HumanMessage("Hello", id="m1")]) == version  # the same message again
    ```

    Args:
        url: `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or `unix:///path/to/socket`.
        ttl: How long a session stays after the last append, a timedelta or seconds; for ever if not given.
        prefix: Begins each key of the log, in braces.
        timeout: Seconds to wait for a connection, and for an answer.
        hooks: Called with each event.
        clock: Gives the time that an entry is stamped with; the system's UTC time if not given. A `ttl` goes by the
            server's clock.

    Raises:
        MemoryStoreError: The URL cannot be used; later, the server cannot be reached or refuses.
        ImportError: redis-py is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        ttl: Duration | None = None,
        prefix: str = _PREFIX,
        timeout: float = 5.0,
        hooks: Iterable[EventHook] = (),
        clock: Clock | None = None,
    ) -> None:
        milliseconds = _milliseconds(ttl)
        if not isinstance(prefix, str) or not prefix.isprintable() or "{" in prefix or "}" in prefix:
            msg = f"prefix={prefix!r} cannot begin a key: give printable text without braces, which tell the slot"
            raise ValueError(msg)
        told = hooks_of(hooks)
        self._arguments = {
            "url": url,
            "ttl": ttl,
            "prefix": prefix,
            "timeout": timeout,
            "hooks": told,
            "clock": clock,
        }
        self._server = RedisServer(url, needed_by=type(self).__name__, timeout=timeout)
        blocking, awaited = (_Store(port, prefix, milliseconds, clock or utc_now) for port in self._server.ports(told))
        super().__init__(blocking, awaited)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._server.name!r})"

    def close(self) -> None:
        """Close the connections; those of an event loop that still runs go with `aclose`, or with the loop."""
        self._server.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._server.aclose()


def _milliseconds(ttl: Duration | None) -> str:
    """What the scripts take; checked here, since Redis would refuse a number too large when all is written."""
    if ttl is None:
        return ""
    milliseconds = seconds_of(ttl, "ttl") * 1_000
    if milliseconds > _LONGEST_TTL:
        msg = f"ttl={ttl!r} is longer than Redis counts: give no ttl for a session that stays for ever"
        raise ValueError(msg)
    return str(max(1, round(milliseconds)))


class _Store:
    def __init__(self, port: RedisPort, prefix: str, ttl: str, clock: Clock) -> None:
        self._port = port
        self._prefix = "{" + prefix + "}"
        self._index = self._prefix + "sessions"
        self._ttl = ttl
        self._clock = clock

    def _key(self, session_id: str) -> str:
        return f"{self._prefix}s:{quote(session_id, safe='')}"

    async def _evaluate(self, script: Script, session_id: str, *arguments: str | int) -> Any:  # noqa: ANN401  # what a script gives
        return await self._port.run(script, (self._key(session_id), self._index), arguments)

    async def append(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        records = records_of(messages, self._clock())
        script = _APPEND_ANYWHERE if expected_version is None else _APPEND_IF
        expected = "" if expected_version is None else expected_version
        rows = [part for record in records for part in (record.key, f"{record.time} {record.body}")]
        written, version = await self._evaluate(
            script, session_id, expected, self._ttl, secrets.token_hex(8), session_id, *rows
        )
        if not written:
            raise version_conflict(session_id, expected_version or 0, version)
        if (event := stored_in_part(session_id, records)) is not None:
            await self._port.tell(event)
        return int(version)

    async def append_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        last = max([1, *(node.last for node in nodes)])  # a session without messages has no summaries
        rows = [encode_node(node) for node in nodes]
        written, number = await self._evaluate(_APPEND_NODES, session_id, expected_version, self._ttl, last, *rows)
        if not written:
            raise nodes_conflict(session_id, expected_version, number)
        return int(number)

    async def _read(
        self, session_id: str, fields: tuple[str, str], low: int, high: int, limit: int | None, *, newest: bool
    ) -> tuple[int, list[str]]:
        """The number of the first row, and the rows in order; all of one moment, however many pages they take."""
        wanted = _ENDLESS if limit is None else limit
        while True:
            after, before = low, high
            rows: list[str] = []
            begun: str | None = None
            while True:
                room = min(wanted - len(rows), _PAGE_ROWS)
                arguments = (*fields, after, before, int(newest), room, _PAGE_BYTES)
                session, last, *page = await self._evaluate(_READ, session_id, *arguments)
                if begun is None:  # later pages go as far as the first could see
                    begun, before = session, min(before, last + 1)
                if session != begun:
                    break  # erased or expired meanwhile: what was read is of a session that is no more
                rows += page
                after, before = (after, before - len(page)) if newest else (after + len(page), before)
                if not page or len(rows) == wanted or after + 1 >= before:
                    return (before, rows[::-1]) if newest else (low + 1, rows)

    async def _entries(
        self, session_id: str, low: int, high: int, limit: int | None, *, newest: bool
    ) -> list[LogEntry]:
        first, rows = await self._read(session_id, _MESSAGES, low, high, limit, newest=newest)

        def decoded() -> list[LogEntry]:
            parts = (row.partition(" ") for row in rows)
            return [entry_of(session_id, n, int(time), body) for n, (time, _, body) in enumerate(parts, start=first)]

        # To read many messages out of JSON takes longer than an event loop should stand still.
        return await self._port.compute(decoded) if len(rows) > _DECODED_AT_ONCE else decoded()

    async def entries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        return await self._entries(session_id, after, _ENDLESS, limit, newest=False)

    async def last(self, session_id: str, count: int = 1, before: int | None = None) -> list[LogEntry]:
        return await self._entries(session_id, 0, _ENDLESS if before is None else before, count, newest=True)

    async def nodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        _, rows = await self._read(session_id, _NODES, after, _ENDLESS, None, newest=False)
        return [decode_node(session_id, number, row) for number, row in enumerate(rows, start=after + 1)]

    async def known(self, session_id: str, ids: Sequence[str]) -> set[str]:
        keys = list(dict.fromkeys(ids))
        found: set[str] = set()
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            flags = await self._evaluate(_KNOWN, session_id, *map(key_of, some))
            found.update(one for one, is_known in zip(some, flags, strict=True) if is_known)
        return found

    async def sessions(self, prefix: str = "") -> list[str]:
        low, high = range_of(prefix)
        found: list[str] = []
        start = f"[{low}"
        while True:
            command = ("ZRANGEBYLEX", self._index, start, f"[{high}", "LIMIT", 0, _AT_ONCE)
            names: list[str]
            [names] = await self._port.ask([command], repeatable=True)
            if names:
                flags = await self._port.run(_PRUNE, (self._index, *map(self._key, names)), names)
                found += [name for name, is_there in zip(names, flags, strict=True) if is_there]
            if len(names) < _AT_ONCE:
                return found
            start = f"({names[-1]}"

    async def erase(self, *session_ids: str) -> int:
        return sum([int(await self._evaluate(_ERASE, one, one)) for one in session_ids])
