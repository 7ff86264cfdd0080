"""Runs one async algorithm without an event loop."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TypeVar

__all__ = ["run_sync"]

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
