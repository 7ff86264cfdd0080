"""The fact store that keeps facts in a database and, for speed, in Redis in front of it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from uuid import uuid4

from langchain_tiered_memory._driving import Step, Steps, Tell
from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._times import seconds_of
from langchain_tiered_memory.errors import MemoryStoreError, VersionConflictError
from langchain_tiered_memory.events import EventHook, MemoryEvent, hooks_of
from langchain_tiered_memory.semantic._backend import Do
from langchain_tiered_memory.semantic._cache import HotCache, RestartedError
from langchain_tiered_memory.semantic._driven import DrivenFactStore
from langchain_tiered_memory.semantic._generations import Belief, Generations, ticks
from langchain_tiered_memory.semantic.keys import Key
from langchain_tiered_memory.semantic.records import Change, Outcome, Owned, Row, Validity
from langchain_tiered_memory.semantic.redis import RedisFactStore
from langchain_tiered_memory.semantic.store import FactStore

if TYPE_CHECKING:
    from langchain_tiered_memory._times import Duration
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["CacheBypassed", "CachedFactStore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBypassed(MemoryEvent):
    """The cache could not be used, so the cold store answers alone; told once until the cache works again.

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


class CachedFactStore(PickledByArguments, DrivenFactStore):
    """Facts in a cold store, which alone decides, with a Redis cache in front that never gives an older answer.

    A write goes to the cold store first and is acknowledged by it; then it goes to the cache. A read by key asks the
    cache, and where that has nothing the cold store, and fills in what it said. `as_of`, `list`, `history` and `export`
    go to the cold store. Whatever happens to Redis, what a read gives is at least as new as the last write that was
    acknowledged before the read began:

    - a writer announces itself in the cache first, which takes away the value and every reader's leave to fill it in;
    - a Redis that was started anew, perhaps from an old snapshot, is recognised, and nothing in it is used;
    - where a writer cannot reach Redis, it turns the cache off for everybody before it writes, which takes one `lease`.

    This holds among stores that share the same cold and hot side: who writes to the cold store past the cache is seen
    after `max_age` at the latest.

    ```python
    from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore

    hot = RedisFactStore("redis://localhost:6379/0", timeout=0.5)
    facts = CachedFactStore(hot=hot, cold=SQLFactStore("sqlite:///facts.db"))
    facts.close()
    ```

    Args:
        hot: The server, the prefix and the timeout of the cache. Facts that it holds as a store are not touched.
        cold: Where the facts are.
        lease: How long each process relies on the cache being in use without asking the cold store, in seconds or as a
            timedelta; and what a write waits when the cache went away or came back. The same for all processes.
        max_age: How long a value stays in the cache at most.
        hooks: Told of events.
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
        lease: Duration = 1.0,
        max_age: Duration = 300.0,
        hooks: Sequence[EventHook] = (),
        clock: Clock | None = None,
        validities: Mapping[Validity, Duration | None] | None = None,
    ) -> None:
        given: Any = hot  # callers without type checks too
        if not isinstance(given, RedisFactStore):
            msg = f"hot is a RedisFactStore, got {type(given).__name__}: give RedisFactStore('redis://...')"
            raise TypeError(msg)
        if not isinstance(cold, FactStore) or isinstance(cold, CachedFactStore):
            msg = f"cold is the store that the facts are in, got {type(cold).__name__}: give SQLFactStore(...)"
            raise TypeError(msg)
        super().__init__(clock=clock or cold._clock, validities=validities)  # noqa: SLF001  # a store like this one
        self._lifetimes = {**cold._lifetimes, **{name: self._lifetimes[name] for name in validities or ()}}  # noqa: SLF001  # as above
        self._hooks = hooks_of(hooks)
        self._arguments = {
            "hot": hot,
            "cold": cold,
            "lease": lease,
            "max_age": max_age,
            "hooks": self._hooks,
            "clock": clock,
            "validities": validities,
        }
        self._hot, self._cold = hot, cold
        self._lease = seconds_of(lease, "lease")
        age = round(seconds_of(max_age, "max_age") * 1_000)
        server, prefix = hot._server, hot._names.prefix  # noqa: SLF001  # its other half
        self._cache = HotCache(server, prefix, max(1, age))
        self._generations = Generations(cold, self._cache, prefix, lease=self._lease, now=self._now)
        self._muted_until = 0.0
        self._bypassed = False

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

    # --- writing ------------------------------------------------------------------------------------------------------

    def _putting(self, key: Key, change: Change) -> Steps[Outcome]:
        outcome: Outcome = yield from self._writing(key.user_key, key, Do(self._cold, "put", (key, change)), change.now)
        return outcome

    def _erasing(self, owner: MemoryScope) -> Steps[int]:
        count: int = yield from self._writing(owner.user_key, None, Do(self._cold, "erase", (owner,)), self._now())
        return count

    def _writing(self, user_key: str, key: Key | None, write: Step, now: int) -> Steps[Any]:
        """A write to the cold store, announced in the cache before, and signed off after."""
        belief, writer = yield from self._announced(user_key, key)
        try:
            # After a MemoryStoreError nobody knows whether it was written, or will be: the announcement stays.
            written = yield write
        except VersionConflictError:
            yield from self._signed_off(belief, writer, user_key, key, None, now)
            raise
        row = written.row if isinstance(written, Outcome) and written.row is not None and written.row.leads else None
        yield from self._signed_off(belief, writer, user_key, key, row, now)
        return written

    def _announced(self, user_key: str, key: Key | None) -> Steps[tuple[Belief, str]]:
        while True:
            belief = yield from self._generations.settled()
            if not belief.run_id:
                return belief, ""
            try:
                writer = yield from self._cache.begin(belief.name, belief.run_id, user_key, key)
            except MemoryStoreError as error:
                yield from self._tell(str(error))
                yield from self._generations.turn_off(belief)
            except RestartedError as restarted:
                yield from self._tell("it was started anew")
                yield from self._generations.restart(belief, restarted.run_id)
            else:
                self._bypassed = False
                return belief, writer

    def _signed_off(  # what is known of a write
        self, belief: Belief, writer: str, user_key: str, key: Key | None, row: Row | None, now: int
    ) -> Steps[None]:
        announced_before = True
        while True:
            # Asked after the write: who reads in a later generation than this began to after the write, and saw it.
            after = yield from self._generations.believed()
            is_same = after.number == belief.number
            if writer:
                # What was written before it was announced may be outdated by now: then it only goes away.
                kept = row if is_same and announced_before else None
                try:
                    yield from self._cache.finish(belief.name, belief.run_id, user_key, key, writer, kept, now)
                except MemoryStoreError as error:
                    yield from self._tell(str(error))  # the announcement holds until it lapses
                except RestartedError:
                    yield from self._tell("it was started anew")  # and nothing in it is used
            if is_same:
                return
            belief, writer = yield from self._announced(user_key, key)
            announced_before = False

    # --- reading ------------------------------------------------------------------------------------------------------

    def _reading_heads(self, keys: Sequence[Key]) -> Steps[Sequence[Row | None]]:
        belief = yield from self._generations.believed()
        now = ticks()
        if not belief.run_id or now < belief.usable or now < self._muted_until:
            return (yield from self._asking_cold_heads(keys))
        token = uuid4().hex
        try:
            answers = yield from self._cache.read(belief.name, belief.run_id, keys, token)
        except (MemoryStoreError, RestartedError) as error:
            yield from self._failed(belief, error)
            return (yield from self._asking_cold_heads(keys))
        self._bypassed = False
        lacking = [key for key, answer in zip(keys, answers, strict=True) if not answer.known]
        if not lacking:
            return [answer.row for answer in answers]
        found = dict(zip(lacking, (yield from self._asking_cold_heads(lacking)), strict=True))
        filled = [(key, found[key]) for key, answer in zip(keys, answers, strict=True) if answer.fillable]
        if filled:
            try:
                yield from self._cache.fill(belief.name, belief.run_id, filled, token, self._now())
            except (MemoryStoreError, RestartedError) as error:
                yield from self._failed(belief, error)
        return [answer.row if answer.known else found[key] for key, answer in zip(keys, answers, strict=True)]

    def _asking_cold_heads(self, keys: Sequence[Key]) -> Steps[Sequence[Row | None]]:
        return self._asking_cold("heads", keys)

    def _reading_rows(self, key: Key) -> Steps[Sequence[Row]]:
        return self._asking_cold("rows", key)

    def _reading_owned_heads(
        self, owner: MemoryScope, entity: str | None, prefix: str | None
    ) -> Steps[Sequence[Owned]]:
        return self._asking_cold("owned_heads", owner, entity, prefix)

    def _reading_owned(
        self, owner: MemoryScope, entity: str | None, prefix: str | None, *, sessions: bool
    ) -> Steps[Sequence[Owned]]:
        return self._asking_cold("owned", owner, entity, prefix, sessions)

    def _asking_cold(self, method: str, *arguments: Any) -> Steps[Any]:  # noqa: ANN401  # what the cold store's takes
        answer: Any = yield Do(self._cold, method, arguments)
        return answer

    def _failed(self, belief: Belief, error: MemoryStoreError | RestartedError) -> Steps[None]:
        """What a reader does about a cache that does not answer: leave it alone for a while."""
        if isinstance(error, RestartedError):
            yield from self._tell("it was started anew")
            yield from self._generations.restart(belief, error.run_id)
        else:
            self._muted_until = ticks() + self._lease
            yield from self._tell(str(error))

    def _tell(self, reason: str) -> Steps[None]:
        if not self._bypassed:
            self._bypassed = True
            yield Tell(CacheBypassed(session_id="", cache=self._cache.server.name, reason=reason), self._hooks)
