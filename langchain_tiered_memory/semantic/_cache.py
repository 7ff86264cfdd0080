"""The hot side of the cached pair: what stands in Redis for a fact, and the scripts that keep it from going stale.

For each fact there is one key, which holds one of these, and a set of the writers that are under way:

- `v`, the epoch of the user, and a row: the newest row that leads, or nothing after the epoch where there is none;
- `l`, the epoch and a token: a reader has found nothing here, is asking the cold store, and may fill in the answer;
- `a`, the epoch and an id: the one writer under way, who may put here what it wrote.

A writer announces itself before it writes to the cold store, which takes away the value and any reader's leave to fill
one in, and signs off afterwards. While a writer is under way everybody reads from the cold store. A writer that died is
forgotten after a time longer than any write takes. The epoch is a random word for each user: erasing a user takes it
away, and everything that was kept under it is void at once.

Every script first compares the server's `run_id`: a server that was started anew may have an old snapshot in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from uuid import uuid4

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory._redis.script import Script
from langchain_tiered_memory._redis.server import RedisServer
from langchain_tiered_memory.semantic._redis_rows import row_of, text_of
from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.records import Row

__all__ = ["Answer", "HotCache", "RestartedError"]

WRITER_SECONDS: Final = 120
"""After this a writer that has not signed off counts as dead; SQLite's and PostgreSQL's waits are shorter."""

_PRELUDE: Final = """
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if run ~= ARGV[1] then return {'restarted', run or ''} end
local clock = redis.call('TIME')
local ms = clock[1] * 1000 + math.floor(clock[2] / 1000)
local user, eraser = KEYS[1], KEYS[2]
local function busy(writers)
  redis.call('ZREMRANGEBYSCORE', writers, '-inf', ms)
  return redis.call('ZCARD', writers) > 0
end
local function announce(writers, id, millis)
  redis.call('ZADD', writers, ms + millis, id)
  redis.call('PEXPIRE', writers, millis)
end
local erasing = busy(eraser)
local epoch = redis.call('GET', user)
"""
_READ: Final = Script(
    _PRELUDE
    + """
local token, millis = ARGV[2], ARGV[3]
if not epoch and not erasing then
  epoch = token
  redis.call('SET', user, epoch, 'EX', 86400)
end
local answers = {'ok'}
for i = 3, #KEYS, 2 do
  local held = redis.call('GET', KEYS[i])
  if erasing then answers[#answers + 1] = 'w'
  elseif held and string.sub(held, 1, 33) == 'v' .. epoch then answers[#answers + 1] = 'v' .. string.sub(held, 34)
  elseif busy(KEYS[i + 1]) then answers[#answers + 1] = 'w'
  else
    redis.call('SET', KEYS[i], 'l' .. epoch .. token, 'PX', millis)
    answers[#answers + 1] = 'l'
  end
end
return answers
"""
)
_FILL: Final = Script(
    _PRELUDE
    + """
if erasing or not epoch then return {'ok'} end
for i = 3, #KEYS, 2 do
  local row, millis = ARGV[i], ARGV[i + 1]
  if redis.call('GET', KEYS[i]) == 'l' .. epoch .. ARGV[2] and not busy(KEYS[i + 1]) then
    redis.call('SET', KEYS[i], 'v' .. epoch .. row, 'PX', millis)
  end
end
return {'ok'}
"""
)
_BEGIN: Final = Script(
    _PRELUDE
    + """
local id, millis = ARGV[2], tonumber(ARGV[3])
local fact, writers = KEYS[3], KEYS[4]
if not fact then
  announce(eraser, id, millis)
  redis.call('DEL', user)
  return {'ok'}
end
local alone = not busy(writers) and not erasing
announce(writers, id, millis)
if not alone then
  redis.call('DEL', fact)
  return {'ok'}
end
if not epoch then
  epoch = id
  redis.call('SET', user, epoch, 'EX', 86400)
end
redis.call('SET', fact, 'a' .. epoch .. id, 'PX', millis)
return {'ok'}
"""
)
_FINISH: Final = Script(
    _PRELUDE
    + """
local id, row, millis = ARGV[2], ARGV[3], ARGV[4]
local fact, writers = KEYS[3], KEYS[4]
if not fact then
  redis.call('ZREM', eraser, id)
  redis.call('DEL', user)
  return {'ok'}
end
redis.call('ZREM', writers, id)
local alone = epoch and not erasing and redis.call('GET', fact) == 'a' .. epoch .. id and not busy(writers)
if alone and row ~= '' then
  redis.call('SET', fact, 'v' .. epoch .. row, 'PX', millis)
else
  redis.call('DEL', fact)
end
return {'ok'}
"""
)


class RestartedError(Exception):
    """Raised when the server is not the one that was meant.

    Attributes:
        run_id: What the server calls this run; "" if it does not say.
    """

    def __init__(self, run_id: str) -> None:
        super().__init__(run_id)
        self.run_id = run_id


class Answer(NamedTuple):
    """What the cache says of a fact.

    Attributes:
        known: Whether it has the answer.
        row: The newest row that leads, if there is one.
        fillable: Whether what the cold store says may be filled in.
    """

    known: bool
    row: Row | None = None
    fillable: bool = False


class HotCache:
    """The cache of one Redis server.

    Args:
        server: The server.
        prefix: What the keys begin with.
        max_age: Milliseconds that a value is kept at most.
    """

    def __init__(self, server: RedisServer, prefix: str, max_age: int) -> None:
        self.server = server
        self._prefix = prefix
        self._max_age = max_age

    def probe(self) -> Steps[str]:
        """What the server calls this run of it, once it has taken a write; "" if it does not say."""
        yield Call(self.server, "execute", ("SET", f"{self._prefix}-cache:probe", "1", "PX", 1_000))
        info = yield Call(self.server, "execute", ("INFO", "server"))
        return str(info.get("run_id", ""))

    def read(self, generation: str, run_id: str, keys: Sequence[Key], token: str) -> Steps[Sequence[Answer]]:
        """What the cache has for some facts of one user; leave to fill in what it lacks is given to the token."""
        names = self._names(generation, keys[0].user_key, keys)
        answers = yield from self._run(_READ, names, [run_id, token, WRITER_SECONDS * 1_000])
        return [_answer(text) for text in answers]

    def fill(
        self, generation: str, run_id: str, rows: Sequence[tuple[Key, Row | None]], token: str, now: int
    ) -> Steps[None]:
        """Keep what the cold store said, where the token still has leave to."""
        names = self._names(generation, rows[0][0].user_key, [key for key, _ in rows])
        arguments: list[str | int] = [run_id, token]
        for _, row in rows:
            arguments += ["" if row is None else text_of(row), self._millis(row, now)]
        yield from self._run(_FILL, names, arguments)

    def begin(self, generation: str, run_id: str, user_key: str, key: Key | None) -> Steps[str]:
        """Announce a write to a fact, or with no key the erasing of a user's facts; gives the id to sign off with."""
        writer = uuid4().hex
        names = self._names(generation, user_key, [key] if key else [])
        yield from self._run(_BEGIN, names, [run_id, writer, WRITER_SECONDS * 1_000])
        return writer

    def finish(
        self, generation: str, run_id: str, user_key: str, key: Key | None, writer: str, row: Row | None, now: int
    ) -> Steps[None]:
        """Sign off. What was written is kept if nobody else was writing, otherwise the next reader fills it in."""
        names = self._names(generation, user_key, [key] if key else [])
        text = "" if row is None else text_of(row)
        yield from self._run(_FINISH, names, [run_id, writer, text, self._millis(row, now)])

    def _run(self, script: Script, names: Sequence[str], arguments: Sequence[str | int]) -> Steps[Sequence[Any]]:
        status: str
        rest: list[Any]
        status, *rest = yield Call(self.server, "evaluate", (script, names, arguments))
        if status == "restarted":
            raise RestartedError(rest[0])
        return rest

    def _names(self, generation: str, user_key: str, keys: Sequence[Key]) -> list[str]:
        base = f"{self._prefix}-cache:{{{user_key}}}:{generation}"
        names = [f"{base}:epoch", f"{base}:erasers"]
        for key in keys:
            fact = f"{base}:{key.session_key}:{key.fact_key}"
            names += [fact, f"{fact}:writers"]
        return names

    def _millis(self, row: Row | None, now: int) -> int:
        """How long a value is kept: no longer than it holds."""
        if row is None or row.deleted or row.valid_until <= now:
            return self._max_age
        return max(1, min(self._max_age, (row.valid_until - now) // 1_000))


def _answer(text: str) -> Answer:
    if text[0] != "v":
        return Answer(known=False, fillable=text == "l")
    return Answer(known=True, row=row_of(text[1:]) if len(text) > 1 else None)
