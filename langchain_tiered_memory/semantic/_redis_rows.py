"""How the fact store in Redis names its keys and writes its rows, and the scripts that work on them.

A row is text: `version:high:leads:from:until:updated:turn:deleted`, then the source and the value on lines of their own
(JSON in ASCII has no line end inside). Times are microseconds since the year 1 in 18 digits and turns have 19 digits,
since numbers in Lua are floats: as text of one length they compare exactly.
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory._redis.script import Script
from langchain_tiered_memory._times import FOREVER
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic.keys import Key, escape, key_of, unescape
from langchain_tiered_memory.semantic.records import Change, Row
from langchain_tiered_memory.types import MemoryScope

__all__ = ["ERASE", "PUT", "Names", "arguments_of", "row_of", "text_of"]

_YEAR_ONE: Final = -62_135_596_800_000_000

PUT: Final = Script("""
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

ERASE: Final = Script("""
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


class Names:
    """The keys of a store: `fact:{user}session:entity:attribute`, the digest of the user being the hash tag.

    Args:
        prefix: What they begin with.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def facts(self, key: Key) -> str:
        """The list of the rows that lead, the newest last."""
        return f"{self.prefix}:{_rest(key)}"

    def past(self, key: Key) -> str:
        """The list of the rows that were history when they came."""
        return f"{self.prefix}-past:{_rest(key)}"

    def index(self, user_key: str) -> str:
        """The hash that has each fact of a user as a field, with its last version."""
        return f"{self.prefix}-index:{{{user_key}}}"

    def field(self, key: Key) -> str:
        """The field of a fact in the index."""
        session = escape(key.scope.session or "")
        return f"{key.session_key}:{session}:{escape(key.entity)}:{escape(key.attribute)}"

    def key_of_field(self, field: str, owner: MemoryScope) -> Key:
        """The key that a field of the owner's index stands for."""
        _, session, entity, attribute = field.split(":")
        scope = MemoryScope(owner.user, owner.tenant, unescape(session) or None)
        return key_of(scope, unescape(entity), unescape(attribute))


def _rest(key: Key) -> str:
    return f"{{{key.user_key}}}{key.session_key}:{escape(key.entity)}:{escape(key.attribute)}"


def arguments_of(field: str, change: Change, retention: int) -> list[str | int]:
    """What `PUT` is given.

    Args:
        field: The fact's field in the index.
        change: What to write.
        retention: For how many microseconds after its end the fact's history is kept.
    """
    over = change.now if change.deleted else change.valid_until
    ttl = "" if over >= FOREVER else max(1, (over - change.now + retention) // 1_000)
    return [
        field,
        "" if change.expected is None else str(change.expected),
        _time(change.now),
        _time(change.valid_from),
        _time(change.valid_until),
        "-" if change.turn_id is None else f"{change.turn_id:019d}",
        change.deleted,
        f"{change.source or ''}\n{change.value}",
        ttl,
    ]


def text_of(row: Row) -> str:
    """A row as text, for a reader that needs no `high`."""
    turn = "-" if row.turn_id is None else row.turn_id
    times = f"{_time(row.valid_from)}:{_time(row.valid_until)}:{_time(row.updated_at)}"
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


def _time(micros: int) -> str:
    return f"{micros - _YEAR_ONE:018d}"
