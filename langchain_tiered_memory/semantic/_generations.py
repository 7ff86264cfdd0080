"""Which cache is in use: agreed on in the cold store, so that nobody goes on with one that others have given up.

A generation is a number, a random name that its keys bear, and the run of the Redis server that they are in, or none
while the cache is off. It is a fact in the cold store, written by compare-and-set. Each process believes what it read
there for the length of a lease, and uses a generation one lease after it learnt of it: by then nobody believes in the
one before. So:

- a value that was kept in an earlier generation is served to nobody once a write in a later one is acknowledged;
- a write that began in an earlier generation, and finds out that it is over, is announced in the later one too.

A writer that cannot reach Redis turns the cache off and waits for one lease. From then on nobody reads from Redis, and
writes need not wait, until a process finds Redis there again and begins the next generation.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from uuid import uuid4

from langchain_tiered_memory._driving import Steps
from langchain_tiered_memory._times import FOREVER
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.semantic._backend import Do
from langchain_tiered_memory.semantic._cache import HotCache
from langchain_tiered_memory.semantic.keys import key_of
from langchain_tiered_memory.semantic.records import Change, Row
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.semantic.values import decode_value, encode_value
from langchain_tiered_memory.types import MemoryScope

__all__ = ["Belief", "Generations", "Pause", "ticks"]

_SCOPE: Final = MemoryScope(user="cache", tenant="langchain-tiered-memory")
_ENTITY: Final = "generation"


def ticks() -> float:
    """Seconds on a clock that only goes forward, and where the system has one, also while the machine sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


@dataclass(frozen=True, slots=True)
class Pause:
    """Waits for some seconds."""

    seconds: float

    def run(self) -> None:
        """Wait."""
        time.sleep(self.seconds)

    async def arun(self) -> None:
        """Wait, and let others work meanwhile."""
        await asyncio.sleep(self.seconds)


@dataclass(frozen=True, slots=True)
class Belief:
    """What a process takes to be the case.

    Attributes:
        number: The generation.
        name: What its keys bear; another cold store's first generation has another name.
        run_id: The run of the Redis server that the generation is kept in; "" where the cache is off.
        version: The version of the fact that says so.
        usable: From when on it may be used, on the clock `ticks`, in seconds; 0 if everybody knows of it.
        expires: Until when it may be believed, on the same clock.
    """

    number: int
    name: str
    run_id: str
    version: int
    usable: float
    expires: float


class Generations:
    """Keeps a process' belief fresh, and begins a new generation where one is due.

    Args:
        cold: Where the generation is agreed on.
        hot: The cache.
        name: What the cache is called; caches of different names in one cold store know nothing of each other.
        lease: Seconds that a belief lasts.
        now: The present time in microseconds.
    """

    def __init__(self, cold: FactStore, hot: HotCache, name: str, *, lease: float, now: Callable[[], int]) -> None:
        self._cold = cold
        self._hot = hot
        self._key = key_of(_SCOPE, _ENTITY, name)
        self._lease = lease
        self._now = now
        self._known: Belief | None = None
        self._learnt = (0, 0.0)  # the newest generation, and when this process learnt of it
        self._next_probe = 0.0

    def believed(self) -> Steps[Belief]:
        """What this process may believe now; asks the cold store where the lease has run out."""
        belief = self._known
        if belief is None or ticks() >= belief.expires:
            belief = yield from self._asked()
        return belief

    def settled(self) -> Steps[Belief]:
        """A belief that may be used, waited for: at most a lease, and only after a change."""
        while True:
            belief = yield from self.believed()
            rest = belief.usable - ticks()
            if rest <= 0:
                return belief
            yield Pause(rest)

    def turn_off(self, belief: Belief) -> Steps[None]:
        """Give up the cache, for everybody."""
        yield from self._publish(belief.number + 1, "", expected=belief.version)

    def restart(self, belief: Belief, run_id: str) -> Steps[None]:
        """Begin a new generation in another run of the server."""
        yield from self._publish(belief.number + 1, run_id, expected=belief.version)

    def _asked(self) -> Steps[Belief]:
        while True:
            asked = ticks()
            (row,) = yield Do(self._cold, "heads", ([self._key],))
            if row is None:
                # The first generation of all: nobody can believe in one before it.
                run_id = yield from self._probed()
                yield from self._publish(1, run_id, expected=0, settled=True)
                continue
            belief = self._understood(row, asked)
            if not belief.run_id and asked >= self._next_probe:
                run_id = yield from self._probed()
                self._next_probe = ticks() + self._lease
                if run_id:
                    yield from self._publish(belief.number + 1, run_id, expected=belief.version)
                    continue
            if belief.usable and ticks() >= belief.usable:
                yield from self._settle(belief)
            self._known = belief
            return belief

    def _settle(self, belief: Belief) -> Steps[None]:
        """Say that everybody has learnt of a generation by now: who comes later need not wait."""
        try:
            yield from self._publish(
                belief.number, belief.run_id, expected=belief.version, name=belief.name, settled=True
            )
        except MemoryStoreError:
            return  # a busy database: somebody else, or the next time

    def _understood(self, row: Row, asked: float) -> Belief:
        try:
            value = decode_value(row.value)
            number, name = int(value["number"]), str(value["name"])
            run_id, settled = str(value["run_id"]), bool(value["settled"])
        except (ValueError, TypeError, KeyError) as error:
            msg = f"the cold store's fact about its cache cannot be read: {row.value[:80]!r}. Give hot another prefix"
            raise MemoryStoreError(msg) from error
        if number > self._learnt[0]:
            self._learnt = (number, ticks())
        usable = 0.0 if settled else self._learnt[1] + self._lease
        return Belief(number, name, run_id, row.version, usable, asked + self._lease)

    def _probed(self) -> Steps[str]:
        """The run of the server; "" where it cannot be reached."""
        try:
            return (yield from self._hot.probe())
        except MemoryStoreError:
            return ""  # the cache stays off; whoever needed it has told so

    def _publish(
        self, number: int, run_id: str, *, expected: int, name: str = "", settled: bool = False
    ) -> Steps[None]:
        """Write a generation, unless somebody else has written one: then theirs is as good."""
        name = name or uuid4().hex
        value = encode_value({"number": number, "name": name, "run_id": run_id, "settled": settled})
        now = self._now()
        yield Do(self._cold, "put", (self._key, Change(now, expected, value, now, FOREVER)))
        self._known = None
