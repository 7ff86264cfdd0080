"""What stores have in common: they are closed in the end, and pickled by what they were made with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, ParamSpec, Self, TypeVar

__all__ = ["Closing", "PickledByArguments"]

P = ParamSpec("P")
T = TypeVar("T")


class Closing:
    """Is closed by `close` or at the end of a `with` block, on an event loop by `aclose` or `async with`."""

    def close(self) -> None:
        """Give back what is held open. Closing twice is fine."""

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._away(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _away(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do blocking work off the event loop; a store that never blocks does it at once."""
        return await asyncio.to_thread(work, *args, **kwargs)


class PickledByArguments:
    """Is pickled and copied as its arguments, and opened anew where it arrives; `__init__` keeps them by name."""

    _arguments: dict[str, Any]

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # a copy is made as the original was
