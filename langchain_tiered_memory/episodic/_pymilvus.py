"""pymilvus as it is spoken to: a sync client, one for each event loop, what they raise, and what they log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.episodic._lite import LiteDatabase

__all__ = ["LoopClient", "SyncClient", "failures", "told_once"]

_LITE_SECONDS: Final = 600.0
"""What a call of Milvus Lite may take: it is computing, not lost; given up, it would go on all the same."""
_NO_PINGS: Final = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": False}
"""pymilvus asks every 10 seconds whether a server is there; Milvus Lite hangs up on whoever asks that often."""


class SyncClient:
    """The sync client, and the embedded database that it speaks to, if it is one."""

    def __init__(self, client: Any, lite: LiteDatabase | None) -> None:  # noqa: ANN401  # a MilvusClient
        self.client = client
        self.lite = lite
        self.calls = 0

    @classmethod
    def connected(cls, uri: str, token: str | None, lite: LiteDatabase | None, seconds: float) -> SyncClient:
        """A client that is connected to a server, or to an embedded database."""
        options: dict[str, Any] = {"timeout": seconds, "dedicated": True}
        if lite is not None:
            options["grpc_options"] = _NO_PINGS
        uri = uri if lite is None else lite.uri
        return cls(_pymilvus().MilvusClient(uri=uri, token=token or "", **options), lite)

    def call(self, method: str, arguments: dict[str, Any], seconds: float) -> Any:  # noqa: ANN401  # any call of pymilvus
        """Call a method of the client."""
        if self.lite is not None:
            return self.lite.call(self.client, method, {**arguments, "timeout": _LITE_SECONDS})
        return getattr(self.client, method)(**arguments, timeout=seconds)

    def close(self) -> None:
        """Close it, and let go of the database."""
        self.client.close()
        if self.lite is not None:
            self.lite.release()


class LoopClient:
    """The async client of one event loop."""

    def __init__(self, uri: str, token: str | None) -> None:
        self._client = _pymilvus().AsyncMilvusClient(uri=uri, token=token or "", dedicated=True)
        self._connecting = asyncio.Lock()
        self._at_end: AsyncGenerator[None, None] | None = None
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def call(self, method: str, arguments: dict[str, Any], seconds: float) -> Any:  # noqa: ANN401  # any call of pymilvus
        """Call a method of the client, which is not closed meanwhile."""
        self._calls += 1
        self._idle.clear()
        try:
            client = await self._connected(seconds)
            return await getattr(client, method)(**arguments, timeout=seconds)
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def _connected(self, seconds: float) -> Any:  # noqa: ANN401  # an AsyncMilvusClient
        """The client, connected once however many tasks ask at the same time."""
        if self._at_end is None:
            async with self._connecting:
                if self._at_end is None:
                    async with asyncio.timeout(seconds):
                        await self._client.__aenter__()
                    self._at_end = self._until_end()
                    await anext(self._at_end)
        return self._client

    async def _until_end(self) -> AsyncGenerator[None, None]:
        """Closes the client when its event loop shuts its generators down, which is the last thing that it does."""
        try:
            yield
        finally:
            await self._client.close()

    async def close(self) -> None:
        """Close it, when its calls are over: gRPC would cancel the tasks that wait for them."""
        await self._idle.wait()
        if self._at_end is not None:
            await self._at_end.aclose()


def failures() -> tuple[type[Exception], ...]:
    """What pymilvus raises; asked for when something was raised, so that nothing is imported before its time."""
    grpc = import_optional("grpc", needed_by="EpisodicMemory")
    return _pymilvus().MilvusException, grpc.RpcError, grpc.FutureTimeoutError, TimeoutError


_ours: ContextVar[bool] = ContextVar("ours", default=False)


class _AlreadyTold(logging.Filter):
    """Drops what pymilvus logs, with a traceback, of each failed call that we made: we raise it, or try again."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002  # logging's signature
        return not _ours.get()


@contextmanager
def told_once() -> Iterator[None]:
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


def _pymilvus() -> Any:  # noqa: ANN401  # it is not typed
    module = import_optional("pymilvus", needed_by="EpisodicMemory")
    for name in ("decorators", "client.connection_manager", "client.grpc_handler", "client.async_grpc_handler"):
        logger = logging.getLogger(f"pymilvus.{name}")
        if not any(isinstance(known, _AlreadyTold) for known in logger.filters):
            logger.addFilter(_AlreadyTold())
    return module
