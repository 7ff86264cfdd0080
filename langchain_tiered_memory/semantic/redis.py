"""The fact store in Redis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from langchain_tiered_memory._driving import Call, Steps
from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._redis.server import Command, RedisServer
from langchain_tiered_memory._times import seconds_of
from langchain_tiered_memory.events import EventHook, hooks_of
from langchain_tiered_memory.semantic._driven import DrivenFactStore
from langchain_tiered_memory.semantic._redis_rows import ERASE, PUT, Names, arguments_of, row_of
from langchain_tiered_memory.semantic.keys import Key, escape
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row, Validity

if TYPE_CHECKING:
    from langchain_tiered_memory._times import Duration
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["RedisFactStore"]


class RedisFactStore(PickledByArguments, DrivenFactStore):
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
        validities: Mapping[Validity, Duration | None] | None = None,
    ) -> None:
        super().__init__(clock=clock, validities=validities)
        if not isinstance(prefix, str) or not prefix or escape(prefix) != prefix or prefix.endswith("-past"):
            msg = f"prefix={prefix!r} cannot begin a key: give text without : {{ }} * ? [ ] and \\, not ending in -past"
            raise ValueError(msg)
        self._hooks = hooks_of(hooks)
        self._arguments = {
            "url": url,
            "prefix": prefix,
            "retention": retention,
            "timeout": timeout,
            "hooks": self._hooks,
            "clock": clock,
            "validities": validities,
        }
        self._retention = _micros_kept(retention)
        self._names = Names(prefix)
        self._server = RedisServer(url, needed_by=f"{type(self).__name__}(...)", timeout=timeout)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._server.name!r}, prefix={self._names.prefix!r})"

    def close(self) -> None:
        """Close the connections; those of event loops that still run when these shut down, or by `aclose` on them."""
        self._server.close()

    async def aclose(self) -> None:
        """`close`, and close the connections of the running event loop."""
        await self._server.aclose()

    # --- writing ------------------------------------------------------------------------------------------------------

    def _putting(self, key: Key, change: Change) -> Steps[Outcome]:
        yield Call(self._server, "tell_if_forgetful", (self._hooks,))
        names = self._names
        keys = [names.facts(key), names.past(key), names.index(key.user_key)]
        arguments = arguments_of(names.field(key), change, self._retention)
        done, answer, *leads = yield Call(self._server, "evaluate", (PUT, keys, arguments))
        if not done:
            return Outcome(None, row_of(answer) if answer else None)
        return Outcome(change.row(answer, leads[0]))

    def _erasing(self, owner: MemoryScope) -> Steps[int]:
        yield Call(self._server, "tell_if_forgetful", (self._hooks,))
        arguments = [self._names.prefix, owner.user_key, owner.session_key]
        count: int = yield Call(self._server, "evaluate", (ERASE, [self._names.index(owner.user_key)], arguments))
        return count

    # --- reading ------------------------------------------------------------------------------------------------------

    def _asking(self, commands: Sequence[Command]) -> Steps[Sequence[Any]]:
        """Answers in one round trip."""
        yield Call(self._server, "tell_if_forgetful", (self._hooks,))
        if len(commands) == 1:  # which redis-py sends with less ado
            return [(yield Call(self._server, "execute", commands[0]))]
        answers: Sequence[Any] = yield Call(self._server, "pipeline", (commands,))
        return answers

    def _reading_heads(self, keys: Sequence[Key]) -> Steps[Sequence[Row | None]]:
        answers = yield from self._asking([("LINDEX", self._names.facts(key), -1) for key in keys])
        return [row_of(text) if text else None for text in answers]

    def _reading_rows(self, key: Key) -> Steps[Sequence[Row]]:
        owned = yield from self._reading_rows_of([key])
        return [row for _, row in owned]

    def _reading_rows_of(self, keys: Sequence[Key]) -> Steps[Sequence[Owned]]:
        names = self._names
        lists = [(key, name) for key in keys for name in (names.facts(key), names.past(key))]
        answers = yield from self._asking([("LRANGE", name, 0, -1) for _, name in lists])
        return [Owned(key, row_of(text)) for (key, _), texts in zip(lists, answers, strict=True) for text in texts]

    def _reading_keys(
        self, owner: MemoryScope, entity: str | None, prefix: str | None, *, sessions: bool = False
    ) -> Steps[Sequence[Key]]:
        (fields,) = yield from self._asking([("HKEYS", self._names.index(owner.user_key))])
        own = owner.session_key + ":"
        every_session = sessions and owner.session is None
        keys = [
            self._names.key_of_field(field, owner) for field in sorted(fields) if every_session or field.startswith(own)
        ]
        return [
            key
            for key in keys
            if (entity is None or key.entity == entity) and (prefix is None or key.attribute.startswith(prefix))
        ]

    def _reading_owned_heads(
        self, owner: MemoryScope, entity: str | None, prefix: str | None
    ) -> Steps[Sequence[Owned]]:
        keys = yield from self._reading_keys(owner, entity, prefix)
        heads = (yield from self._reading_heads(keys)) if keys else []
        return [Owned(key, head) for key, head in zip(keys, heads, strict=True) if head is not None]

    def _reading_owned(
        self, owner: MemoryScope, entity: str | None, prefix: str | None, *, sessions: bool
    ) -> Steps[Sequence[Owned]]:
        keys = yield from self._reading_keys(owner, entity, prefix, sessions=sessions)
        return (yield from self._reading_rows_of(keys)) if keys else []


def _micros_kept(retention: Duration) -> int:
    """What the script takes; checked here, since Redis would refuse a number too large when the row is written."""
    seconds = seconds_of(retention, "retention")
    if seconds > timedelta.max.total_seconds():
        msg = f"retention={retention!r} is longer than Redis counts: give timedelta.max to keep everything"
        raise ValueError(msg)
    return round(seconds * 1_000_000)
