"""The message log in Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from langchain_tiered_memory._driving import adrive, drive
from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._redis.server import RedisServer
from langchain_tiered_memory._times import Duration, seconds_of
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.working._redis_sessions import RedisSessions
from langchain_tiered_memory.working._sync_log import nodes_of, records_to_append, rows_to_append
from langchain_tiered_memory.working.log import LogEntry, MessageLog
from langchain_tiered_memory.working.records import (
    Record,
    check_count,
    check_session_id,
    entry_of,
    key_of,
)

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from langchain_tiered_memory.types import Clock
    from langchain_tiered_memory.working.nodes import SummaryNode

__all__ = ["RedisMessageLog"]

_DECODED_AT_ONCE: Final = 200
_LONGEST_TTL: Final = 10**15
_PREFIX: Final = "tiered_memory:log:"


class RedisMessageLog(PickledByArguments, MessageLog):
    """A message log in Redis, shared by any number of threads, processes and machines.

    An append is one script and one round trip: all of its messages under the next numbers, or none. It needs no module
    of Redis, and no command that is newer than Redis 4. Whether an acknowledged append survives the death of the server
    is a matter of its configuration: at first use the log reads it, and tells `StoreMayForget` (to `logging` and the
    hooks) where the server may drop or forget.

    With a `ttl`, a session lives that long after the last append to it, and then goes as a whole; reading does not
    prolong it. A log without a `ttl` makes a session that it appends to stay for ever. `sessions` looks through all
    keys of the database, and is meant for administration.

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
        prefix: Begins each key of the log; behind it stands the session's id, percent-encoded and in braces.
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
        super().__init__(clock=clock)
        milliseconds = _milliseconds(ttl)
        if not isinstance(prefix, str) or not prefix.isprintable() or "{" in prefix or "}" in prefix:
            msg = f"prefix={prefix!r} cannot begin a key: give printable text without braces, which tell the session"
            raise ValueError(msg)
        self._arguments = {
            "url": url,
            "ttl": ttl,
            "prefix": prefix,
            "timeout": timeout,
            "hooks": hooks_of(hooks),
            "clock": clock,
        }
        self._server = RedisServer(url, needed_by=type(self).__name__, timeout=timeout)
        self._stored = RedisSessions(self._server, prefix, milliseconds, self._arguments["hooks"])

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._server.name!r})"

    def close(self) -> None:
        """Close the connections; those of an event loop that still runs go with `aclose`, or with the loop."""
        self._server.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._server.aclose()

    # --- the blocking driver ------------------------------------------------------------------------------------------

    def _append(self, session_id: str, records: list[Record], expected_version: int | None) -> int:
        return drive(self._stored.append(session_id, records, expected_version))

    def _read(
        self,
        session_id: str,
        after: int,
        before: int | None,
        limit: int | None,
        newest: bool,  # noqa: FBT001  # as in the port
    ) -> list[tuple[int, int, str]]:
        return drive(self._stored.read(session_id, after, before, limit, newest=newest))

    def _version(self, session_id: str) -> int:
        return drive(self._stored.version(session_id))

    def _known(self, session_id: str, keys: list[str]) -> list[str]:
        return drive(self._stored.known(session_id, keys))

    def _sessions(self) -> list[str]:
        return drive(self._stored.sessions())

    def _erase(self, session_id: str) -> int:
        return drive(self._stored.erase(session_id))

    def _append_nodes(self, session_id: str, rows: list[str], expected_version: int, last: int) -> int:
        return drive(self._stored.append_nodes(session_id, rows, expected_version, last))

    def _nodes(self, session_id: str, after: int) -> list[str]:
        return drive(self._stored.nodes(session_id, after))

    # --- the awaited driver -------------------------------------------------------------------------------------------

    async def aappend(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        """`append`, awaited on the event loop. A task that is cancelled meanwhile may still have written everything."""
        records = records_to_append(session_id, messages, expected_version, self._clock)
        return await adrive(self._stored.append(session_id, records, expected_version))

    async def aappend_nodes(self, session_id: str, nodes: Sequence[SummaryNode], expected_version: int) -> int:
        """`append_nodes`, awaited on the event loop. A task that is cancelled may still have written all of them."""
        rows, last = rows_to_append(session_id, nodes, expected_version)
        return await adrive(self._stored.append_nodes(session_id, rows, expected_version, last))

    async def anodes(self, session_id: str, after: int = 0) -> list[SummaryNode]:
        """`nodes`, awaited on the event loop."""
        check_session_id(session_id)
        check_count("after", after)
        return nodes_of(session_id, after, await adrive(self._stored.nodes(session_id, after)))

    async def aerase(self, session_id: str) -> int:
        """`erase`, awaited on the event loop."""
        check_session_id(session_id)
        return await adrive(self._stored.erase(session_id))

    async def amessages(self, session_id: str, last: int | None = None) -> list[BaseMessage]:
        """`messages`, awaited on the event loop."""
        check_count("last", last)
        entries = await self._aentries(session_id, limit=last, newest=last is not None)
        return [entry.message for entry in entries]

    async def aentries(self, session_id: str, after: int = 0, limit: int | None = None) -> list[LogEntry]:
        """`entries`, awaited on the event loop."""
        check_count("after", after)
        check_count("limit", limit)
        return await self._aentries(session_id, after=after, limit=limit)

    async def _aentries(
        self, session_id: str, *, after: int = 0, limit: int | None = None, newest: bool = False
    ) -> list[LogEntry]:
        check_session_id(session_id)
        rows = await adrive(self._stored.read(session_id, after, None, limit, newest=newest))

        def decoded() -> list[LogEntry]:
            return [entry_of(session_id, *row) for row in rows]

        # To read many messages out of JSON takes longer than an event loop should stand still.
        return decoded() if len(rows) <= _DECODED_AT_ONCE else await asyncio.to_thread(decoded)

    async def aversion(self, session_id: str) -> int:
        """`version`, awaited on the event loop."""
        check_session_id(session_id)
        return await adrive(self._stored.version(session_id))

    async def astored_ids(self, session_id: str, ids: Sequence[str]) -> set[str]:
        """`stored_ids`, awaited on the event loop."""
        check_session_id(session_id)
        keys = {key_of(message_id): message_id for message_id in ids}
        return {keys[key] for key in await adrive(self._stored.known(session_id, list(keys)))}

    async def asessions(self) -> list[str]:
        """`sessions`, awaited on the event loop."""
        return sorted(await adrive(self._stored.sessions()))


def _milliseconds(ttl: Duration | None) -> str:
    """What the scripts take; checked here, since Redis would refuse a number too large when all is written."""
    if ttl is None:
        return ""
    milliseconds = seconds_of(ttl, "ttl") * 1_000
    if milliseconds > _LONGEST_TTL:
        msg = f"ttl={ttl!r} is longer than Redis counts: give no ttl for a session that stays for ever"
        raise ValueError(msg)
    return str(max(1, round(milliseconds)))
