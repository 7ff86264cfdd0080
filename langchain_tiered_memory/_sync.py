"""Runs one async algorithm without an event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from typing import Final, ParamSpec, Protocol, TypeVar

__all__ = ["AWAITING", "BLOCKING", "Caller", "iterate_sync", "run_sync"]

P = ParamSpec("P")
T = TypeVar("T")


def run_sync(coroutine: Coroutine[object, None, T]) -> T:
    """Run a coroutine to its end in the calling thread, and return its result.

    An algorithm that needs a model or a store in its middle is written once, as `async def` over a small typed port.
    Its sync form passes a port whose methods never suspend, so one `send` reaches the end.

    Raises:
        RuntimeError: If the coroutine suspended, which means that its port awaited something real.
    """
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    coroutine.close()
    msg = f"{coroutine!r} suspended while it ran without an event loop: pass it a port that never suspends"
    raise RuntimeError(msg)


def iterate_sync(items: AsyncIterator[T]) -> Iterator[T]:
    """The items of an async iterator that never suspends, as `run_sync` runs a coroutine."""

    async def following() -> T:
        return await anext(items)

    while True:
        try:
            item = run_sync(following())
        except StopAsyncIteration:
            return
        yield item


class Caller(Protocol):
    """Calls what has a sync and an async form, for an algorithm that is written once.

    `BLOCKING` never suspends, so `run_sync` can run the algorithm; `AWAITING` is for an event loop.
    """

    async def call(
        self, work: Callable[P, T], awork: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call one of the two forms: `await caller.call(model.embed_query, model.aembed_query, text)`."""
        ...

    async def in_thread(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Call what has no async form, without blocking an event loop."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait."""


class _Blocking:
    async def call(
        self,
        work: Callable[P, T],
        awork: Callable[P, Awaitable[T]],  # noqa: ARG002  # the other form
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return work(*args, **kwargs)

    async def in_thread(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return work(*args, **kwargs)

    async def sleep(self, seconds: float, /) -> None:
        time.sleep(seconds)  # noqa: ASYNC251  # no event loop runs here


class _Awaiting:
    async def call(
        self,
        work: Callable[P, T],  # noqa: ARG002  # the other form
        awork: Callable[P, Awaitable[T]],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        return await awork(*args, **kwargs)

    async def in_thread(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await asyncio.to_thread(work, *args, **kwargs)

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds)


BLOCKING: Final[Caller] = _Blocking()
AWAITING: Final[Caller] = _Awaiting()
