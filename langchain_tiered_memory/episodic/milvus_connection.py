"""The connection to one Milvus: a sync client, and an async client for each event loop, opened on first use."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import socket
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from langchain_tiered_memory._breaker import Breaker
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._sync import Caller
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.episodic.milvus_lite import LiteDatabase, MilvusError, MilvusRequest, Untyped
from langchain_tiered_memory.types import Clock

__all__ = ["MilvusConnection", "MilvusError", "MilvusRequest", "Outage", "is_server"]

_SERVER: Final = re.compile(r"(https?|tcp|unix):", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_GONE: Final = frozenset((100, 101))
"""Milvus' codes for a collection that is not there, and for one that is not loaded."""
_PERMANENT: Final = frozenset((100, 1100))
"""Milvus' codes for a collection that is not there, and for an argument that it does not take."""
_NEVER_BETTER: Final = re.compile(
    r"cannot parse|invalid (expression|parameter)|illegal|not match|should be|exceeds|permission|auth", re.IGNORECASE
)
_UNREACHABLE: Final = re.compile(r"unavailable|connect|retry timeout|retry run out|deadline exceeded", re.IGNORECASE)
_LONGEST_REASON: Final = 500
_MILVUS: Final = "milvus"
_OUTAGE_PAUSE: Final = 1.0
_LONGEST_OUTAGE_PAUSE: Final = timedelta(seconds=30)
_CONNECT: Final = "a connection"
_LEAST: Final = 0.05
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0


def is_server(uri: str) -> bool:
    """Whether a URI names a server; everything else is the path of an embedded database.

    Raises:
        ValueError: It has a scheme that is none of a server's: a folder of that name would be somewhere else. Or a
            server's port is none.
    """
    if _SERVER.match(uri):
        try:
            _ = urlsplit(uri).port
        except ValueError as error:
            msg = f"uri={uri.rpartition('@')[2]!r} names no port: {error}; give http://host:19530"
            raise ValueError(msg) from error
        return True
    if scheme := _SCHEME.match(uri):
        msg = (
            f"uri={scheme[0] + '...'!r} is no Milvus: give a path (Milvus Lite), or http://, https://, tcp:// or unix: "
            "for a server"
        )
        raise ValueError(msg)
    return False


class Outage:
    """Remembers that Milvus is away, so that not every call waits for it; it is asked again after growing pauses."""

    def __init__(self, clock: Clock = utc_now) -> None:
        self._breaker = Breaker(_OUTAGE_PAUSE, longest=_LONGEST_OUTAGE_PAUSE)
        self._clock = clock
        self._error: MilvusError | None = None
        self._told: MilvusError | None = None

    def check(self) -> None:
        """Raise MilvusError while Milvus need not be asked."""
        if self._error is not None and self._breaker.is_open(_MILVUS, self._clock()):
            raise MilvusError(str(self._error), is_away=True) from self._error

    def fail(self, error: MilvusError) -> None:
        """Milvus is away."""
        self._breaker.fail(_MILVUS, self._clock())
        self._error = error

    def succeed(self) -> None:
        """Note that it answers."""
        if self._error is not None:
            self._error = None
            self._breaker.succeed(_MILVUS)

    def change(self) -> tuple[bool, MilvusError] | None:
        """Whether an outage began (True) or ended (False) since this was last asked, and its error."""
        now, told = self._error, self._told
        self._told = now
        if (now is None) == (told is None):
            return None
        return (True, now) if now is not None else (False, told) if told is not None else None


class MilvusConnection:
    """Speaks to one Milvus from any thread and any event loop, and from a forked process.

    An async client belongs to the event loop that it was made on and is closed with it (pymilvus#3087). Milvus Lite
    runs in this process and has no async side: its calls wait in a thread.

    Args:
        uri: Of a server, or the path of an embedded database.
        token: `"user:password"` or an API key.
        timeout: Seconds to connect in.

    Attributes:
        name: The address without what could be a password.
        is_lite: Whether it is Milvus Lite, embedded in this process.
        outage: What is known of Milvus being away.
    """

    def __init__(self, uri: str, *, token: str | None = None, timeout: float = 30.0) -> None:
        self.is_lite = not is_server(uri)
        scheme, separator, address = uri.rpartition("://")
        self.name = uri if self.is_lite else f"{scheme}{separator}{address.rpartition('@')[2]}"
        self.outage = Outage()
        self._uri = uri
        self._token = token or ""
        self._timeout = timeout
        self._guard = threading.Condition()
        self._start_anew()

    def _start_anew(self) -> None:
        self._process = os.getpid()
        self._client: _Client | None = None
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClient] = WeakKeyDictionary()

    async def request(
        self,
        caller: Caller,
        request: MilvusRequest,
        deadline: float,
        *,
        reopen: Callable[[], Awaitable[object]] | None = None,
    ) -> Untyped:
        """Make one call until a time of `time.monotonic`, again while it may succeed: it may be made twice.

        Where somebody dropped or released the collection, `reopen` opens it first.

        Raises:
            MilvusError: It failed, Milvus cannot be reached, or its database cannot be opened.
        """
        import tenacity  # noqa: PLC0415  # comes with langchain-core

        def is_worth_a_try(error: BaseException) -> bool:
            return isinstance(error, MilvusError) and (error.may_pass or (error.is_gone and reopen is not None))

        attempts = tenacity.AsyncRetrying(
            sleep=caller.sleep,
            stop=tenacity.stop_before_delay(max(deadline - time.monotonic(), 0.0)),
            wait=tenacity.wait_exponential_jitter(_FIRST_PAUSE, _LONGEST_PAUSE, jitter=_FIRST_PAUSE),
            retry=tenacity.retry_if_exception(is_worth_a_try),
            reraise=True,
        )
        self.outage.check()
        try:
            answer: Untyped = await attempts(self._once, caller, request, deadline, reopen)
        except MilvusError as error:
            if error.is_away:
                self.outage.fail(error)
            raise
        self.outage.succeed()
        return answer

    async def _once(
        self,
        caller: Caller,
        request: MilvusRequest,
        deadline: float,
        reopen: Callable[[], Awaitable[object]] | None,
    ) -> Untyped:
        seconds = max(deadline - time.monotonic(), _LEAST)
        try:
            if self.is_lite:
                return await caller.in_thread(self._call, request, seconds)
            return await caller.call(self._call, self._acall, request, seconds)
        except MilvusError as error:
            if error.is_gone and reopen is not None:
                await reopen()
            raise

    def _call(self, request: MilvusRequest, seconds: float) -> Untyped:
        with self._in_use(seconds) as one, _logged_once():
            try:
                if one.lite is not None:
                    return one.lite.call(one.client, request)
                return request.work(one.client, seconds)
            except _failures() as error:
                raise self._refused(request.name, error) from error

    async def _acall(self, request: MilvusRequest, seconds: float) -> Untyped:
        if self._process != os.getpid():
            self._start_anew()
        loop = asyncio.get_running_loop()
        of_loop = self._of_loops.get(loop)
        if of_loop is None:
            of_loop = self._of_loops[loop] = _LoopClient(self._uri, self._token)
        try:
            with _logged_once():
                return await of_loop.call(request, seconds)
        except _failures() as error:
            raise self._refused(request.name, error) from error

    @contextmanager
    def _in_use(self, seconds: float) -> Iterator[_Client]:
        """The sync client, which is not closed meanwhile."""
        with self._guard:
            one = self._client = self._connected(seconds)
            one.calls += 1
        try:
            yield one
        finally:
            with self._guard:
                one.calls -= 1
                self._guard.notify_all()

    def _connected(self, seconds: float) -> _Client:
        if self._process != os.getpid():
            if self._client is not None and self._client.lite is not None:
                self._client.lite.check_process()
            self._start_anew()
        if self._client is not None:
            return self._client
        seconds = min(seconds, self._timeout)
        options: dict[str, Any] = {"uri": self._uri, "token": self._token, "timeout": seconds, "dedicated": True}
        lite = None
        if self.is_lite:
            lite = LiteDatabase.opened(self._uri, seconds)
            options |= {"uri": lite.uri, "grpc_options": _NO_PINGS}
        else:
            self._knock(seconds)
        try:
            with _logged_once():
                return _Client(_pymilvus().MilvusClient(**options), lite)
        except _failures() as error:
            if lite is not None:
                lite.release()
            raise self._refused(_CONNECT, error) from error

    def _knock(self, seconds: float) -> None:
        """See whether anybody is there, before seconds go by on importing pymilvus to ask."""
        address = urlsplit(self._uri)
        if address.hostname is None or address.port is None:
            return
        try:
            socket.create_connection((address.hostname, address.port), timeout=seconds).close()
        except (OSError, UnicodeError) as error:  # the latter for a name that no host can have
            msg = f"Milvus at {self.name} cannot be reached: {error}"
            raise MilvusError(msg, may_pass=True, is_away=True) from error

    def _refused(self, name: str, error: Exception) -> MilvusError:
        code = getattr(error, "code", None)
        code = code() if callable(code) else code
        details = getattr(error, "details", None)
        said = details() if callable(details) else getattr(error, "message", "")
        reason = " ".join(str(said or error or type(error).__name__).split())
        is_away = not self.is_lite and _UNREACHABLE.search(reason) is not None
        is_gone = code in _GONE or "collection not found" in reason
        permanent = code in _PERMANENT or (not is_away and _NEVER_BETTER.search(reason) is not None)
        what = "cannot be reached" if is_away else f"refused {name}"
        msg = f"Milvus at {self.name} {what}: {reason[:_LONGEST_REASON]}"
        may_pass = not (self.is_lite or permanent or is_gone)
        return MilvusError(msg, may_pass=may_pass, is_gone=is_gone, is_away=is_away)

    async def erase_bytes(self, caller: Caller, collection: str, partition: str, deadline: float) -> None:
        """See that no deleted row is left in a file of Milvus Lite; a server compacts by itself."""
        if self.is_lite:
            await caller.in_thread(self._erase_bytes, collection, partition, max(deadline - time.monotonic(), _LEAST))

    def _erase_bytes(self, collection: str, partition: str, seconds: float) -> None:
        with self._in_use(seconds) as one:
            if one.lite is not None:
                one.lite.erase_bytes(one.client, collection, partition)

    def close(self) -> None:
        """Close the sync client when its calls are over. Async ones close with their event loops."""
        with self._guard:
            one, self._client = self._client, None
            if one is not None and self._process == os.getpid():
                self._guard.wait_for(lambda: one.calls == 0)
                one.client.close()
                if one.lite is not None:
                    one.lite.release()

    async def aclose(self) -> None:
        """Close the sync client and that of this event loop, when their calls are over."""
        of_loop = self._of_loops.pop(asyncio.get_running_loop(), None)
        if of_loop is not None:
            await of_loop.close()
        await asyncio.to_thread(self.close)


# --- pymilvus ---------------------------------------------------------------------------------------------------------

_NO_PINGS: Final = {"grpc.keepalive_time_ms": 2**31 - 1, "grpc.keepalive_permit_without_calls": False}
"""pymilvus asks every 10 seconds whether a server is there; Milvus Lite hangs up on whoever asks that often."""


@dataclass(slots=True)
class _Client:
    """The sync client, the embedded database that it speaks to, if it is one, and how many calls are under way."""

    client: Untyped
    lite: LiteDatabase | None
    calls: int = 0


class _LoopClient:
    """The async client of one event loop, closed when the loop ends."""

    def __init__(self, uri: str, token: str) -> None:
        self._client = _pymilvus().AsyncMilvusClient(uri=uri, token=token, dedicated=True)
        self._connecting = asyncio.Lock()
        self._at_end: AsyncGenerator[None, None] | None = None
        self._calls = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def call(self, request: MilvusRequest, seconds: float) -> Untyped:
        """Make a call; the client is not closed meanwhile."""
        self._calls += 1
        self._idle.clear()
        try:
            await self._connect(seconds)
            return await request.work(self._client, seconds)
        finally:
            self._calls -= 1
            if not self._calls:
                self._idle.set()

    async def _connect(self, seconds: float) -> None:
        """Connect once, however many tasks ask at the same time."""
        if self._at_end is not None:
            return
        async with self._connecting:
            if self._at_end is None:
                async with asyncio.timeout(seconds):
                    await self._client.__aenter__()
                self._at_end = self._until_end()
                await anext(self._at_end)

    async def _until_end(self) -> AsyncGenerator[None, None]:
        """Close the client when its event loop shuts its generators down, which is the last thing that it does."""
        try:
            yield
        finally:
            await self._client.close()

    async def close(self) -> None:
        """Close it when its calls are over: gRPC would cancel the tasks that wait for them."""
        await self._idle.wait()
        if self._at_end is not None:
            await self._at_end.aclose()


def _failures() -> tuple[type[Exception], ...]:
    """What pymilvus raises; asked for when something was raised, so that nothing is imported before its time."""
    grpc = import_optional("grpc", needed_by="EpisodicMemory")
    return _pymilvus().MilvusException, grpc.RpcError, grpc.FutureTimeoutError, TimeoutError


_ours: ContextVar[bool] = ContextVar("ours", default=False)


class _NotOurs(logging.Filter):
    """Drops what pymilvus logs, with a traceback, of each failed call of ours: we raise it, or try again."""

    def filter(self, record: logging.LogRecord) -> bool:  # noqa: ARG002  # logging's signature
        return not _ours.get()


@contextmanager
def _logged_once() -> Iterator[None]:
    token = _ours.set(True)
    try:
        yield
    finally:
        _ours.reset(token)


def _pymilvus() -> Untyped:
    module = import_optional("pymilvus", needed_by="EpisodicMemory")
    for name in ("decorators", "client.connection_manager", "client.grpc_handler", "client.async_grpc_handler"):
        logger = logging.getLogger(f"pymilvus.{name}")
        if not any(isinstance(known, _NotOurs) for known in logger.filters):
            logger.addFilter(_NotOurs())
    return module
