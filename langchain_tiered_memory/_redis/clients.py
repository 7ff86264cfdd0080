"""The connections to a server: those of the blocking methods, and those of each event loop."""

from __future__ import annotations

import asyncio
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Mapping
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["Clients"]

_CONNECTIONS: Final = 50


class Clients:
    """A client for the blocking methods, and one for each event loop, which is closed when its loop shuts down.

    Threads may share them, and a forked process opens its own. Each is opened on first use.

    Args:
        library: The module `redis`.
        name: The server's address, as errors show it.
        options: What a connection pool is made with, in the form that `options_in` gives.
        needed_by: What the caller made, the first word of an error about a missing extra.
        timeout: Seconds to wait for a free connection.

    Raises:
        MemoryStoreError: redis-py does not know one of the options; later, the clients are closed.
    """

    def __init__(
        self,
        library: Any,  # noqa: ANN401  # a module
        name: str,
        options: Mapping[str, Any],
        *,
        needed_by: str,
        timeout: float,
    ) -> None:
        self._redis = library
        self._name = name
        self._given = options
        self._needed_by = needed_by
        self._timeout = timeout
        self._closed = False
        self._check_options()
        self._reset()

    def _check_options(self) -> None:
        """Refuse options of the URL that redis-py does not know, which it would say at the first use."""
        try:
            # Makes an object and opens no connection.
            self._redis.BlockingConnectionPool(**self._options(self._redis)).make_connection()
        except (TypeError, ValueError, self._redis.RedisError) as error:
            msg = f"{self._name}: an option behind the ? in the URL cannot be used: {error}. Correct or remove it"
            raise MemoryStoreError(msg) from error

    def _reset(self) -> None:
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._blocking: Any = None  # redis-py's types leave too much open
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = (
            weakref.WeakKeyDictionary()
        )

    def blocking(self) -> Any:  # noqa: ANN401  # redis.Redis
        """The client of the blocking methods."""
        self._check_usable()
        if self._blocking is None:
            with self._opening:
                if self._blocking is None:
                    pool = self._redis.BlockingConnectionPool(**self._options(self._redis))
                    self._blocking = self._redis.Redis.from_pool(pool)
        return self._blocking

    async def of_running_loop(self) -> Any:  # noqa: ANN401  # redis.asyncio.Redis
        """The client of the event loop that this runs on."""
        self._check_usable()
        loop = asyncio.get_running_loop()
        held = self._by_loop.get(loop)
        if held is None:
            self._drop_closed_loops()
            asynchronous = import_optional("redis.asyncio", needed_by=self._needed_by)
            pool = asynchronous.BlockingConnectionPool(**self._options(asynchronous))
            client = asynchronous.Redis.from_pool(pool)
            ending = self._until_loop_ends(loop, client)
            self._by_loop[loop] = held = (client, ending)
            await anext(ending)
        return held[0]

    def _drop_closed_loops(self) -> None:
        """Let go of loops that were closed without shutting their generators down, and of their sockets."""
        for loop in [one for one in list(self._by_loop) if one.is_closed()]:
            self._by_loop.pop(loop, None)

    async def _until_loop_ends(self, loop: asyncio.AbstractEventLoop, client: Any) -> AsyncGenerator[None]:  # noqa: ANN401  # as above
        """Waits until its loop shuts its generators down, as `asyncio.run` does at its end, and closes the client."""
        try:
            yield
        finally:
            self._by_loop.pop(loop, None)
            await client.aclose()

    def _options(self, module: Any) -> dict[str, Any]:  # noqa: ANN401  # redis or redis.asyncio, which mirror each other
        """What a connection pool is made with: redis-py repeats nothing by itself."""
        options = dict(self._given)
        secure = options.pop("secure")
        if secure != "tcp":
            kinds = {"unix": "UnixDomainSocketConnection", "tls": "SSLConnection"}
            options["connection_class"] = getattr(module.connection, kinds[secure])
        backoff = import_optional("redis.backoff", needed_by=self._needed_by).NoBackoff()
        is_sync = module is self._redis
        retry = import_optional("redis.retry" if is_sync else "redis.asyncio.retry", needed_by=self._needed_by)
        options["retry"] = retry.Retry(backoff, 0)
        # More callers than connections wait for one, as long as for an answer.
        return {"max_connections": _CONNECTIONS, "timeout": self._timeout, **options}

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            self._inherited = (self._blocking, self._by_loop)  # kept, since dropping them would close them
            self._reset()
        if self._closed:
            msg = f"{self._name} is closed: make a new store to go on"
            raise MemoryStoreError(msg)

    def close(self) -> None:
        """Close the blocking client; whoever asks for a client afterwards gets an error."""
        self._closed = True
        with self._opening:
            if self._blocking is not None:
                self._blocking.close()
                self._blocking.connection_pool.disconnect()
                self._blocking = None

    async def aclose(self) -> None:
        """`close`, and close the client of the running loop too."""
        self.close()
        held = self._by_loop.get(asyncio.get_running_loop())
        if held is not None:
            await held[1].aclose()
