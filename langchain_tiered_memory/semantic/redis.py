"""The fact store in Redis.

A row is text: `version:high:leads:from:until:updated:turn:deleted`, then the source and the value on lines of their own
(JSON in ASCII has no line end inside). Times are microseconds since the year 1 in 18 digits and turns have 19 digits,
since numbers in Lua are floats: as text of one length they compare exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._redis import RedisPort, RedisServer, Script
from langchain_tiered_memory._times import FOREVER, Duration, seconds_of
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.semantic.keys import Key, escape, key_of, unescape
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row
from langchain_tiered_memory.semantic.store import FactStore, Validities
from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["RedisFactStore", "row_of", "stamp_of", "text_of"]

_YEAR_ONE: Final = -62_135_596_800_000_000

_PUT: Final = Script("""
local facts, past, index = KEYS[1], KEYS[2], KEYS[3]
local field, expected, now, from, till, turn, deleted, body, ttl = unpack(ARGV)
local head = redis.call('LINDEX', facts, -1)
local actual, high = '0', '-'
if head then
  local version, head_till, head_deleted
  version, high, head_till, head_deleted = string.match(head, '^(%d+):([^:]+):%d:%d+:(%d+):%d+:[^:]+:(%d)')
  if head_deleted == '0' and now < head_till then actual = version end
end
if expected ~= '' and expected ~= actual then return {0, head or ''} end
local late = turn ~= '-' and high ~= '-' and turn < high
local leads = not late and now < till
if leads and turn ~= '-' and (high == '-' or high < turn) then high = turn end
local number = redis.call('HINCRBY', index, field, 1)
local row = table.concat({number, high, leads and 1 or 0, from, till, now, turn, deleted}, ':') .. '\\n' .. body
redis.call('RPUSH', leads and facts or past, row)
if not leads then
  local rest = redis.call('PTTL', facts)
  if rest > 0 then redis.call('PEXPIRE', past, rest) end
elseif ttl == '' then
  redis.call('PERSIST', facts)
  redis.call('PERSIST', past)
else
  redis.call('PEXPIRE', facts, ttl)
  redis.call('PEXPIRE', past, ttl)
end
return {1, number, leads and 1 or 0}
""")
"""Appends a row as the next version, unless another version than the expected one is there."""

_ERASE: Final = Script("""
local index, prefix, user, session = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
local count = 0
for _, field in ipairs(redis.call('HKEYS', index)) do
  local own, entity, attribute = string.match(field, '^([^:]*):[^:]*:([^:]*):([^:]*)$')
  if session == '' or own == session then
    local rest = '{' .. user .. '}' .. own .. ':' .. entity .. ':' .. attribute
    for _, key in ipairs({prefix .. ':' .. rest, prefix .. '-past:' .. rest}) do
      for _, row in ipairs(redis.call('LRANGE', key, 0, -1)) do
        if string.match(row, '^%d+:[^:]+:%d:%d+:%d+:%d+:[^:]+:(%d)') == '0' then count = count + 1 end
      end
      redis.call('DEL', key)
    end
    redis.call('HDEL', index, field)
  end
end
return count
""")
"""Deletes the facts of a user or a session, and counts them. All keys of a user lie in one slot."""


class RedisFactStore(PickledByArguments, FactStore):
    """Facts in a Redis server without modules, shared by any number of machines; one round trip to get and to put one.

    A write is one Lua script, so that reading the version, comparing it and writing the next one cannot be interrupted.
    Whether a fact holds is decided by its own times; Redis' expiry only clears away what has been over for a while.

    At its first use the store reads the server's `maxmemory-policy` and `appendonly`, and tells the event
    `StoreMayForget` where the server may drop or forget what it has acknowledged.

    ```python
    from langchain_tiered_memory import MemoryScope, RedisFactStore

    with RedisFactStore("redis://localhost:6379/0") as facts:  # connects at its first use
        ada = MemoryScope(user="ada")

        def remember_code(code):
            return facts.put(ada, "trip", "otp", code, ttl=300)
    ```

    Args:
        url: `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or `unix:///path/to/socket`.
        prefix: What the keys begin with.
        retention: How long after its end, or after it was deleted, a fact can still be asked for with `as_of` and
            `history`, in seconds or as a timedelta. Its version goes on afterwards too, until its scope is erased.
        timeout: Seconds to wait for a connection, and for an answer.
        hooks: Told of events.
        clock: Gives the time; the system's UTC time if not given.
        validities: How long a fact of each class holds, where not 7 days, 90 days and without end (`None`).

    Raises:
        MemoryStoreError: The URL cannot be used; later, the server cannot be reached or refuses. A write of which the
            answer was lost may have been made.
        ImportError: redis-py is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "fact",
        retention: Duration = timedelta(days=30),
        timeout: float = 5.0,
        hooks: Sequence[EventHook] = (),
        clock: Clock | None = None,
        validities: Validities | None = None,
    ) -> None:
        if not isinstance(prefix, str) or not prefix or escape(prefix) != prefix or prefix.endswith("-past"):
            msg = f"prefix={prefix!r} cannot begin a key: give text without : {{ }} * ? [ ] and \\, not ending in -past"
            raise ValueError(msg)
        hooks = hooks_of(hooks)
        self._arguments = {
            "url": url,
            "prefix": prefix,
            "retention": retention,
            "timeout": timeout,
            "hooks": hooks,
            "clock": clock,
            "validities": validities,
        }
        self.prefix = prefix
        self._server = RedisServer(url, needed_by=f"{type(self).__name__}(...)", timeout=timeout)
        calls, acalls = self.calls_with(hooks)
        kept = _micros_kept(retention)
        super().__init__(
            _RedisRows(calls, prefix, kept),
            _RedisRows(acalls, prefix, kept),
            clock=clock,
            validities=validities,
        )

    @property
    def address(self) -> str:
        """The server's address, without the password."""
        return self._server.name

    def calls_with(self, hooks: Sequence[EventHook]) -> tuple[RedisPort, RedisPort]:
        """The server's calls for sync and for async code, with who is told of events."""
        return self._server.ports(hooks)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.address!r}, prefix={self.prefix!r})"

    def close(self) -> None:
        """Close the connections; those of event loops that still run when these shut down, or by `aclose` on them."""
        self._server.close()

    async def aclose(self) -> None:
        """`close`, and close the connections of the running event loop."""
        await self._server.aclose()


class _RedisRows:
    """Implements `FactRows` on a server.

    The keys are `fact:{user}session:entity:attribute`, the digest of the user being the hash tag: the list of the rows
    that lead, the newest last; the same with `-past` for rows that were history when they came; and for each user the
    hash `fact-index:{user}`, which has each fact as a field, with its last version.
    """

    def __init__(self, calls: RedisPort, prefix: str, retention: int) -> None:
        self._calls, self._prefix, self._retention = calls, prefix, retention

    async def put(self, key: Key, change: Change) -> Outcome:
        over = change.now if change.deleted else change.valid_until
        arguments: list[str | int] = [
            f"{key.session_key}:{escape(key.scope.session or '')}:{escape(key.entity)}:{escape(key.attribute)}",
            "" if change.expected is None else str(change.expected),
            stamp_of(change.now),
            stamp_of(change.valid_from),
            stamp_of(change.valid_until),
            "-" if change.turn_id is None else f"{change.turn_id:019d}",
            change.deleted,
            f"{change.source or ''}\n{change.value}",
            "" if over >= FOREVER else max(1, (over - change.now + self._retention) // 1_000),
        ]
        done, answer, *leads = await self._calls.run(_PUT, [*self._lists(key), self._index(key.user_key)], arguments)
        if not done:
            return Outcome(None, row_of(answer) if answer else None)
        return Outcome(change.row(answer, leads[0]))

    async def erase(self, owner: MemoryScope) -> int:
        arguments = [self._prefix, owner.user_key, owner.session_key]
        count: int = await self._calls.run(_ERASE, [self._index(owner.user_key)], arguments)
        return count

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        answers = await self._calls.ask([("LINDEX", self._lists(key)[0], -1) for key in keys])
        return [row_of(text) if text else None for text in answers]

    async def rows(self, key: Key) -> Sequence[Row]:
        return [row for _, row in await self._rows_of_keys([key])]

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        own = {owner.session_key for owner in owners}
        keys = [
            key for key in await self._keys_of(owners[0]) if key.session_key in own and key.is_about(entity, prefix)
        ]
        heads = await self.heads(keys) if keys else []
        return [Owned(key, head) for key, head in zip(keys, heads, strict=True) if head is not None]

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        keys = [key for key in await self._keys_of(owner) if sessions or key.session_key == owner.session_key]
        return await self._rows_of_keys(keys) if keys else []

    async def _rows_of_keys(self, keys: Sequence[Key]) -> Sequence[Owned]:
        lists = [(key, name) for key in keys for name in self._lists(key)]
        answers = await self._calls.ask([("LRANGE", name, 0, -1) for _, name in lists])
        return [Owned(key, row_of(text)) for (key, _), texts in zip(lists, answers, strict=True) for text in texts]

    async def _keys_of(self, owner: MemoryScope) -> Sequence[Key]:
        """All keys of the owner's user."""
        (fields,) = await self._calls.ask([("HKEYS", self._index(owner.user_key))])
        keys = []
        for field in sorted(fields):
            _, session, entity, attribute = map(unescape, field.split(":"))
            keys.append(key_of(MemoryScope(owner.user, owner.tenant, session or None), entity, attribute))
        return keys

    def _lists(self, key: Key) -> tuple[str, str]:
        rest = f"{{{key.user_key}}}{key.session_key}:{escape(key.entity)}:{escape(key.attribute)}"
        return f"{self._prefix}:{rest}", f"{self._prefix}-past:{rest}"

    def _index(self, user_key: str) -> str:
        return f"{self._prefix}-index:{{{user_key}}}"


def text_of(row: Row) -> str:
    """A row as text, for a reader that needs no `high`."""
    turn = "-" if row.turn_id is None else row.turn_id
    times = f"{stamp_of(row.valid_from)}:{stamp_of(row.valid_until)}:{stamp_of(row.updated_at)}"
    return f"{row.version}:-:{row.leads}:{times}:{turn}:{row.deleted}\n{row.source or ''}\n{row.value}"


def row_of(text: str) -> Row:
    """Read a row.

    Raises:
        MemoryStoreError: It is none.
    """
    try:
        head, source, value = text.split("\n", 2)
        version, _, leads, begin, end, updated, turn, deleted = head.split(":")
        return Row(
            int(version),
            value,
            int(begin) + _YEAR_ONE,
            int(end) + _YEAR_ONE,
            int(updated) + _YEAR_ONE,
            None if turn == "-" else int(turn),
            source or None,
            int(deleted),
            int(leads),
        )
    except ValueError as error:
        msg = f"this is no fact of this package: {text[:80]!r}. Give the store a prefix of its own; nothing was changed"
        raise MemoryStoreError(msg) from error


def stamp_of(micros: int) -> str:
    """A time as text of one length, which compares as the time does."""
    return f"{micros - _YEAR_ONE:018d}"


def _micros_kept(retention: Duration) -> int:
    """What the script takes; checked here, since Redis would refuse a number too large when the row is written."""
    seconds = seconds_of(retention, "retention")
    if seconds > timedelta.max.total_seconds():
        msg = f"retention={retention!r} is longer than Redis counts: give timedelta.max to keep everything"
        raise ValueError(msg)
    return round(seconds * 1_000_000)
