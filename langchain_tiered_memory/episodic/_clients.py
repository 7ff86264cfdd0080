"""Clients of one Milvus: a sync one, and an async one for each event loop; what they raise becomes our own error."""

from __future__ import annotations

import asyncio
import os
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

from langchain_tiered_memory._driving import Steps
from langchain_tiered_memory.episodic._lite import lite_database
from langchain_tiered_memory.episodic._pymilvus import LoopClient, SyncClient, failures, told_once
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["Clients", "RefusedError", "is_server", "tried"]

_SERVER: Final = re.compile(r"(https?|tcp|unix):", re.IGNORECASE)
_SCHEME: Final = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_PERMANENT: Final = frozenset((100, 1100))
"""Milvus' codes for a collection that is not there, and for an argument that it does not take."""
_NEVER_BETTER: Final = re.compile(
    r"cannot parse|invalid (expression|parameter)|illegal|not match|should be|exceeds|permission|auth", re.IGNORECASE
)


class RefusedError(MemoryStoreError):
    """Raised when Milvus did not do what it was asked.

    Attributes:
        may_pass: Whether the same call may succeed a little later.
        is_gone: Whether the collection is not there or not loaded, and has to be opened again.
    """

    def __init__(self, message: str, *, may_pass: bool, is_gone: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass
        self.is_gone = is_gone


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


class Clients:
    """Speaks to one Milvus from any thread and any event loop, and from a forked process.

    Nothing is opened before the first call. An async client belongs to the event loop that it was made on and is
    closed with it, so that one object serves `asyncio.run` after `asyncio.run`. Milvus Lite runs in this process and
    has no async side: there, calls of an event loop wait in a thread.

    Args:
        uri: Of a server, or the path of an embedded database.
        token: What a server wants to be shown.
        timeout: Seconds to connect in.
    """

    def __init__(self, uri: str, *, token: str | None, timeout: float) -> None:
        self.is_lite = not is_server(uri)
        self.name = uri if self.is_lite else uri.rpartition("@")[2]
        self._uri = uri
        self._token = token
        self._timeout = timeout
        self._guard = threading.Condition()
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._sync: SyncClient | None = None
        self._of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, LoopClient] = WeakKeyDictionary()

    # --- calls --------------------------------------------------------------------------------------------------------

    def call(self, method: str, arguments: dict[str, Any], seconds: float) -> Any:  # noqa: ANN401  # any call of pymilvus
        """Call a method of `MilvusClient`.

        Raises:
            RefusedError: It failed.
            MemoryStoreError: The embedded database cannot be opened.
        """
        with self._in_use(seconds) as one, told_once():
            try:
                return one.call(method, arguments, seconds)
            except failures() as error:
                raise self._refused(method, error) from error

    @contextmanager
    def _in_use(self, seconds: float) -> Iterator[SyncClient]:
        """The sync client, which is not closed meanwhile."""
        with self._guard:
            one = self._connected(seconds)
            one.calls += 1
        try:
            yield one
        finally:
            with self._guard:
                one.calls -= 1
                self._guard.notify_all()

    async def acall(self, method: str, arguments: dict[str, Any], seconds: float) -> Any:  # noqa: ANN401  # as above
        """`call`, awaited."""
        if self.is_lite:
            return await asyncio.to_thread(self.call, method, arguments, seconds)
        loop = asyncio.get_running_loop()
        of_loop = self._of_loops.get(loop)
        if of_loop is None or self._process != os.getpid():
            if self._process != os.getpid():
                self._forget()
            of_loop = self._of_loops[loop] = LoopClient(self._uri, self._token)
        try:
            with told_once():
                return await of_loop.call(method, arguments, seconds)
        except failures() as error:
            raise self._refused(method, error) from error

    def _connected(self, seconds: float) -> SyncClient:
        if self._sync is not None and self._process == os.getpid():
            return self._sync
        if self._process != os.getpid():
            if self._sync is not None and self._sync.lite is not None:
                self._sync.lite.check_process()
            self._forget()
        seconds = min(seconds, self._timeout)
        lite = lite_database(self._uri, seconds) if self.is_lite else None
        if lite is None:
            self._knock(seconds)
        try:
            with told_once():
                self._sync = SyncClient.connected(self._uri, self._token, lite, seconds)
        except failures() as error:
            if lite is not None:
                lite.release()
            raise self._refused(_CONNECT, error) from error
        return self._sync

    def _knock(self, seconds: float) -> None:
        """See whether anybody is there, before seconds go by on importing pymilvus to ask.

        Raises:
            RefusedError: Nobody is.
        """
        address = urlsplit(self._uri)
        if address.hostname is None or address.port is None:
            return
        try:
            socket.create_connection((address.hostname, address.port), timeout=seconds).close()
        except (OSError, UnicodeError) as error:  # the latter for a name that no host can have
            msg = f"Milvus at {self.name} cannot be reached: {error}"
            raise RefusedError(msg, may_pass=True) from error

    def _refused(self, method: str, error: Exception) -> RefusedError:
        code = getattr(error, "code", None)
        code = code() if callable(code) else code
        details = getattr(error, "details", None)
        said = details() if callable(details) else getattr(error, "message", "")
        reason = " ".join(str(said or error or type(error).__name__).split())
        lost = not self.is_lite and _UNREACHABLE.search(reason) is not None
        permanent = code in _PERMANENT or (not lost and _NEVER_BETTER.search(reason) is not None)
        what = "cannot be reached" if lost else f"refused {method}"
        msg = f"Milvus at {self.name} {what}: {reason[:_LONGEST_REASON]}"
        is_gone = code in _GONE or "collection not found" in reason
        may_pass = not (self.is_lite or permanent or is_gone)
        return RefusedError(msg, may_pass=may_pass, is_gone=is_gone)

    # --- the end ------------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the sync client, when its calls are over. Async ones close with their event loops.

        The next call opens what it needs.
        """
        with self._guard:
            one, self._sync = self._sync, None
            if one is not None and self._process == os.getpid():
                self._guard.wait_for(lambda: one.calls == 0)
                one.close()

    async def aclose(self) -> None:
        """Close the sync client and that of this event loop, when their calls are over."""
        of_loop = self._of_loops.pop(asyncio.get_running_loop(), None)
        if of_loop is not None:
            await of_loop.close()
        await asyncio.to_thread(self.close)


_CONNECT: Final = "a connection"
_GONE: Final = frozenset((100, 101))
"""Milvus' codes for a collection that is not there, and for one that is not loaded."""
_LONGEST_REASON: Final = 500
_UNREACHABLE: Final = re.compile(r"unavailable|connect|retry timeout|retry run out|deadline exceeded", re.IGNORECASE)


# --- steps ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A step: one call, to be over at a time of `time.monotonic`."""

    clients: Clients
    method: str
    arguments: dict[str, Any]
    deadline: float

    @property
    def _seconds(self) -> float:
        return max(self.deadline - time.monotonic(), 0.05)

    def run(self) -> Any:  # noqa: ANN401  # what the method gives
        """Call."""
        return self.clients.call(self.method, self.arguments, self._seconds)

    async def arun(self) -> Any:  # noqa: ANN401  # as above
        """Call, awaited."""
        return await self.clients.acall(self.method, self.arguments, self._seconds)


@dataclass(frozen=True, slots=True)
class Pause:
    """A step: wait."""

    seconds: float

    def run(self) -> None:
        """Wait."""
        time.sleep(self.seconds)

    async def arun(self) -> None:
        """Wait, awaited."""
        await asyncio.sleep(self.seconds)


def tried(clients: Clients, method: str, arguments: dict[str, Any], deadline: float) -> Steps[Any]:
    """A call, made again while it may still succeed. Every call that comes this way may be made twice.

    Raises:
        RefusedError: Milvus refused it, or could not be reached until the deadline.
    """
    pause = _FIRST_PAUSE
    while True:
        try:
            return (yield Request(clients, method, arguments, deadline))
        except RefusedError as error:
            if not error.may_pass or time.monotonic() + pause >= deadline:
                raise
        yield Pause(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)
