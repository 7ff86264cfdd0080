"""What a message log does in Redis, written once for both drivers: each method yields what it needs of the server."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, unquote

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory._redis.script import Script
from langchain_tiered_memory._redis.server import RedisServer
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook
from langchain_tiered_memory.working._redis_scripts import (
    APPEND_ANYWHERE,
    APPEND_IF,
    APPEND_NODES,
    ERASE,
    KNOWN,
    READ,
)
from langchain_tiered_memory.working.records import Record, nodes_conflict, version_conflict

__all__ = ["RedisSessions"]

_MESSAGES: Final = ("v", "m")
_NODES: Final = ("n", "s")
_PAGE_ROWS: Final = 500
_PAGE_BYTES: Final = 4_000_000
_AT_ONCE: Final = 1_000
_ENDLESS: Final = 1 << 53
_GLOB: Final = re.compile(r"([\\*?\[\]])")


@dataclass(frozen=True, slots=True)
class RedisSessions:
    """The sessions of a log on one server; what each method takes and gives, `MessageLog` says.

    Attributes:
        server: Where they are.
        prefix: Begins each key.
        ttl: How long a session stays after the last append to it, in milliseconds; `""` for ever.
        hooks: Told when the server may forget.
    """

    server: RedisServer
    prefix: str
    ttl: str
    hooks: tuple[EventHook, ...]

    def key(self, session_id: str) -> str:
        """The key of a session."""
        return f"{self.prefix}{{{quote(session_id, safe='')}}}"

    def _evaluate(self, script: Script, session_id: str, *arguments: str | int) -> Steps[Any]:
        yield Call(self.server, "tell_if_forgetful", (self.hooks,))
        answer = yield Call(self.server, "evaluate", (script, (self.key(session_id),), arguments))
        return answer

    def append(self, session_id: str, records: Sequence[Record], expected_version: int | None) -> Steps[int]:
        """`MessageLog._append`."""
        script = APPEND_ANYWHERE if expected_version is None else APPEND_IF
        expected = "" if expected_version is None else expected_version
        rows = [part for record in records for part in (record.key, f"{record.time} {record.body}")]
        written, version = yield from self._evaluate(
            script, session_id, expected, self.ttl, secrets.token_hex(8), *rows
        )
        if not written:
            raise version_conflict(session_id, expected_version or 0, version)
        return int(version)

    def append_nodes(self, session_id: str, rows: Sequence[str], expected_version: int, last: int) -> Steps[int]:
        """`MessageLog._append_nodes`."""
        written, number = yield from self._evaluate(APPEND_NODES, session_id, expected_version, self.ttl, last, *rows)
        if not written:
            raise nodes_conflict(session_id, expected_version, number)
        return int(number)

    def _reading(
        self,
        session_id: str,
        fields: tuple[str, str],
        after: int,
        before: int | None,
        limit: int | None,
        *,
        newest: bool,
    ) -> Steps[tuple[int, list[str]]]:
        """The number of the first row, and the rows in order; all of one moment, however many pages they take."""
        while True:
            low, high = after, _ENDLESS if before is None else before
            wanted = _ENDLESS if limit is None else limit
            rows: list[str] = []
            begun: str | None = None
            while True:
                room = min(wanted - len(rows), _PAGE_ROWS)
                arguments = (*fields, low, high, int(newest), room, _PAGE_BYTES)
                session, last, *page = yield from self._evaluate(READ, session_id, *arguments)
                if begun is None:  # later pages go as far as the first could see
                    begun, high = session, min(high, last + 1)
                if session != begun:
                    break  # erased or expired meanwhile: what was read is of a session that is no more
                rows += page
                low, high = (low, high - len(page)) if newest else (low + len(page), high)
                if not page or len(rows) == wanted or low + 1 >= high:
                    if newest:
                        rows.reverse()
                    return (high if newest else after + 1), rows

    def read(
        self, session_id: str, after: int, before: int | None, limit: int | None, *, newest: bool
    ) -> Steps[list[tuple[int, int, str]]]:
        """`MessageLog._read`."""
        first, rows = yield from self._reading(session_id, _MESSAGES, after, before, limit, newest=newest)
        parts = (row.partition(" ") for row in rows)
        return [(number, int(time), body) for number, (time, _, body) in enumerate(parts, start=first)]

    def nodes(self, session_id: str, after: int) -> Steps[list[str]]:
        """`MessageLog._nodes`."""
        _, rows = yield from self._reading(session_id, _NODES, after, None, None, newest=False)
        return rows

    def version(self, session_id: str) -> Steps[int]:
        """`MessageLog._version`."""
        _, version = yield from self._evaluate(READ, session_id, *_MESSAGES, 0, 0, 0, 0, 0)
        return int(version)

    def known(self, session_id: str, keys: Sequence[str]) -> Steps[list[str]]:
        """`MessageLog._known`."""
        found: list[str] = []
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            flags = yield from self._evaluate(KNOWN, session_id, *some)
            found += [key for key, is_known in zip(some, flags, strict=True) if is_known]
        return found

    def sessions(self) -> Steps[list[str]]:
        """`MessageLog._sessions`."""
        yield Call(self.server, "tell_if_forgetful", (self.hooks,))
        keys = yield Call(self.server, "scan", (_GLOB.sub(r"\\\1", self.prefix) + "{*}",))
        found: list[str] = []
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            # One may have expired since, or hold summaries alone.
            flags = yield Call(self.server, "pipeline", ([("HEXISTS", key, "v") for key in some],))
            found += [key for key, holds_messages in zip(some, flags, strict=True) if holds_messages]
        return [self._session_of(key) for key in found]

    def _session_of(self, key: str) -> str:
        try:
            return unquote(key[len(self.prefix) + 1 : -1], errors="strict")
        except UnicodeDecodeError as error:
            msg = f"{self.server.name}: {key!r} is no session of this package: give the log a prefix of its own"
            raise MemoryStoreError(msg) from error

    def erase(self, session_id: str) -> Steps[int]:
        """`MessageLog._erase`."""
        count = yield from self._evaluate(ERASE, session_id)
        return int(count)
