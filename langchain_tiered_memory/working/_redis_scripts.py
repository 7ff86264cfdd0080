"""How a session lies in Redis, and the scripts that write and read it: each is one atomic step and one round trip.

A session is one hash, so that it expires, is evicted and is erased whole, and lies on one node of a cluster.

| field | what it holds |
|---|---|
| `v` | the number of the last message |
| `i` | what tells this session from one of the same name that was erased or has expired |
| `m1`, `m2`, ... | the messages: microseconds since 1970 in UTC, a space, JSON |
| `k...` | the number of the message of that key |
| `n`, `s1`, `s2`, ... | how many summaries there are, and the summaries |

The time to live is an argument of the scripts that write: in milliseconds, or `""` for ever.
"""

from __future__ import annotations

from typing import Final

from langchain_tiered_memory._redis.script import Script

__all__ = ["APPEND_ANYWHERE", "APPEND_IF", "APPEND_NODES", "ERASE", "KNOWN", "READ"]

_KEEP: Final = """
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
"""
_APPEND: Final = (
    """
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
local before = last
if ARGV[1] ~= '' and tonumber(ARGV[1]) ~= last then return {0, last} end
for i = 4, #ARGV, 2 do
  if redis.call('HSETNX', KEYS[1], 'k' .. ARGV[i], last + 1) == 1 then
    last = last + 1
    redis.call('HSET', KEYS[1], 'm' .. last, ARGV[i + 1])
  end
end
if last > before then redis.call('HSET', KEYS[1], 'v', last) end
if before == 0 and last > 0 then redis.call('HSET', KEYS[1], 'i', ARGV[3]) end
"""
    + _KEEP
    + "return {1, last}"
)
APPEND_ANYWHERE: Final = Script(_APPEND, repeatable=True)  # the keys make a second run change nothing
APPEND_IF: Final = Script(_APPEND)
APPEND_NODES: Final = Script(
    """
local number = tonumber(redis.call('HGET', KEYS[1], 'n') or '0')
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
if number ~= tonumber(ARGV[1]) or tonumber(ARGV[3]) > last then return {0, number} end
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
READ: Final = Script(
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
KNOWN: Final = Script(
    """
local known = {}
for i, key in ipairs(ARGV) do known[i] = redis.call('HEXISTS', KEYS[1], 'k' .. key) end
return known
""",
    repeatable=True,
)
ERASE: Final = Script(
    """
local last = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
redis.call('UNLINK', KEYS[1])
return last
"""
)
