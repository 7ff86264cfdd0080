"""Speaks to a Redis server, blocking and awaited, and says so when that server may forget what it acknowledged.

redis-py keeps the connections. What is added here: a client for each event loop that ends with its loop, scripts that
cost one round trip, no hidden repetition of a write whose answer was lost, and errors of this package.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
import weakref
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias
from urllib.parse import urlsplit

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook, MemoryEvent, aemit, emit

__all__ = ["Command", "RedisServer", "Script", "StoreMayForget"]

Command: TypeAlias = tuple[str | int, ...]
"""A command and its arguments."""

_SCHEMES: Final = ("redis", "rediss", "unix")
_SCAN_COUNT: Final = 1_000
_CONNECTIONS: Final = 50
_FULL: Final = ". The server is full: give it more memory, or erase what is no longer needed"
_HINTS: Final = (
    ("OOM", _FULL),
    ("command not allowed when used memory", _FULL),
    ("WRONGTYPE", ". Something else than this package uses the key: give the store a prefix of its own"),
)


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script, which Redis runs in one atomic step and keeps under its digest.

    Attributes:
        text: The source; it gets `KEYS` and `ARGV`.
        repeatable: Whether running it twice is as good as running it once. Then it is sent again when the connection
            was lost before the answer came; otherwise that is an error, since nobody knows whether it ran.
        sha: What Redis knows it by.
    """

    text: str
    repeatable: bool = False
    sha: str = field(init=False)

    def __post_init__(self) -> None:
        """Take the digest that Redis takes."""
        digest = hashlib.sha1(self.text.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha", digest)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreMayForget(MemoryEvent):
    """A server is set up so that it may lose what it has acknowledged; told once per store, at its first use.

    Attributes:
        store: The server's address, without the password.
        reasons: What about it, one sentence each.
    """

    store: str
    reasons: tuple[str, ...]
    name: ClassVar[str] = "tiered_memory.store_may_forget"
    level: ClassVar[int] = logging.WARNING

    def describe(self) -> str:
        """Say it in one line."""
        return f"{self.store} may forget what it acknowledged: {'; '.join(self.reasons)}"


class RedisServer:
    """A Redis server: one command, one script or several commands, each in one round trip.

    Each method has an async twin. Threads may share it, a forked process opens connections of its own, and each event
    loop has its own client, which is closed when the loop shuts down. Answers are text. What is pickled is the address,
    and no connection.

    Args:
        url: `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or `unix:///path/to/socket`;
            redis-py's options may follow as a query, such as `?socket_timeout=2`.
        needed_by: What the caller made, the first word of an error about a missing extra.
        timeout: Seconds to wait for a connection, and for an answer.

    Raises:
        MemoryStoreError: The URL cannot be used; later, the server cannot be reached or refuses.
        ImportError: redis-py is not installed.
    """

    def __init__(self, url: str, *, needed_by: str, timeout: float = 5.0) -> None:
        if (
            isinstance(timeout, bool)
            or not isinstance(timeout, int | float)
            or not 0 < timeout <= threading.TIMEOUT_MAX
        ):
            msg = f"timeout is seconds above 0, up to {threading.TIMEOUT_MAX:.0f}, got {timeout!r}"
            raise ValueError(msg)
        self.name = _checked_url(url)
        self._arguments: dict[str, Any] = {"url": url, "needed_by": needed_by, "timeout": timeout}
        self._redis: Any = import_optional("redis", needed_by=needed_by)
        self._pool_options = {
            "socket_timeout": timeout,
            "socket_connect_timeout": timeout,
            "protocol": 2,
            **_parsed(self._redis, url, self.name),
            "decode_responses": True,
            "encoding": "utf-8",
            "encoding_errors": "surrogatepass",  # any Python text comes back as it went in
        }
        self._check_options()
        self._reset()

    def _check_options(self) -> None:
        """Refuse options of the URL that redis-py does not know, which it would say at the first use."""
        try:
            # Makes an object and opens no connection.
            self._redis.BlockingConnectionPool(**self._options(self._redis)).make_connection()
        except (TypeError, ValueError, self._redis.RedisError) as error:
            msg = f"{self.name}: an option behind the ? in the URL cannot be used: {error}. Correct or remove it"
            raise MemoryStoreError(msg) from error

    def _reset(self) -> None:
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._client: Any = None  # redis-py's types leave too much open
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = (
            weakref.WeakKeyDictionary()
        )
        self._closed = False
        self._told = False

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        return self._arguments

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # a copy is made as the original was

    # --- commands -----------------------------------------------------------------------------------------------------

    def execute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # what Redis answers
        """Run one command.

        Args:
            command: Its name and its arguments.
            repeatable: Send it again when the connection was lost before the answer came.

        Raises:
            MemoryStoreError: The server could not be reached, or refused.
        """
        with self._translated():
            client = self._sync_client()
            try:
                return client.execute_command(*command)
            except self._redis.ConnectionError:
                if not repeatable:
                    raise
                return client.execute_command(*command)

    async def aexecute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        """`execute`, awaited."""
        with self._translated():
            client = await self._async_client()
            try:
                return await client.execute_command(*command)
            except self._redis.ConnectionError:
                if not repeatable:
                    raise
                return await client.execute_command(*command)

    def evaluate(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int] = ()) -> Any:  # noqa: ANN401  # as above
        """Run a script in one round trip; two when the server does not know it yet.

        Raises:
            MemoryStoreError: The server could not be reached, or the script failed.
        """
        rest = (len(keys), *keys, *arguments)
        try:
            return self.execute("EVALSHA", script.sha, *rest, repeatable=script.repeatable)
        except MemoryStoreError as error:
            if not self._is_unknown_script(error):
                raise
        return self.execute("EVAL", script.text, *rest, repeatable=script.repeatable)

    async def aevaluate(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int] = ()) -> Any:  # noqa: ANN401  # as above
        """`evaluate`, awaited."""
        rest = (len(keys), *keys, *arguments)
        try:
            return await self.aexecute("EVALSHA", script.sha, *rest, repeatable=script.repeatable)
        except MemoryStoreError as error:
            if not self._is_unknown_script(error):
                raise
        return await self.aexecute("EVAL", script.text, *rest, repeatable=script.repeatable)

    def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """Run several commands in one round trip, in order; others may run between them.

        Raises:
            MemoryStoreError: The server could not be reached, or refused one of them; the others have run.
        """
        with self._translated(), self._sync_client().pipeline(transaction=False) as waiting:
            for command in commands:
                waiting.execute_command(*command)
            return list(waiting.execute())

    async def apipeline(self, commands: Sequence[Command]) -> list[Any]:
        """`pipeline`, awaited."""
        with self._translated():
            client = await self._async_client()
            async with client.pipeline(transaction=False) as waiting:
                for command in commands:
                    waiting.execute_command(*command)
                return list(await waiting.execute())

    def scan(self, pattern: str) -> list[str]:
        """The keys that match a glob pattern, each once; in as many round trips as there are thousands of keys.

        A key that comes or goes meanwhile may be in it or not.
        """
        found: dict[str, None] = {}
        cursor = "0"
        while True:
            cursor, keys = self.execute("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN_COUNT, repeatable=True)
            found.update(dict.fromkeys(keys))
            if int(cursor) == 0:
                return list(found)

    async def ascan(self, pattern: str) -> list[str]:
        """`scan`, awaited."""
        found: dict[str, None] = {}
        cursor = "0"
        while True:
            cursor, keys = await self.aexecute("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN_COUNT, repeatable=True)
            found.update(dict.fromkeys(keys))
            if int(cursor) == 0:
                return list(found)

    # --- whether it may forget ----------------------------------------------------------------------------------------

    def tell_if_forgetful(self, hooks: Sequence[EventHook] = ()) -> None:
        """At the first call, read `maxmemory-policy` and `appendonly`, and tell `StoreMayForget` where they lose data.

        A store calls it before each use; after the first call it costs nothing.

        Raises:
            MemoryStoreError: The server could not be reached.
        """
        if self._told and self._process == os.getpid():
            return
        self._told = True  # by the first of many callers at once
        try:
            reasons = _reasons(self.execute("INFO", repeatable=True))
        except MemoryStoreError as error:
            reasons = self._reasons_unknown(error)
        if reasons:
            emit(StoreMayForget(session_id="", store=self.name, reasons=reasons), hooks)

    async def atell_if_forgetful(self, hooks: Sequence[EventHook] = ()) -> None:
        """`tell_if_forgetful`, awaited."""
        if self._told and self._process == os.getpid():
            return
        self._told = True  # as above
        try:
            reasons = _reasons(await self.aexecute("INFO", repeatable=True))
        except MemoryStoreError as error:
            reasons = self._reasons_unknown(error)
        except asyncio.CancelledError:
            self._told = False
            raise
        if reasons:
            await aemit(StoreMayForget(session_id="", store=self.name, reasons=reasons), hooks)

    def _reasons_unknown(self, error: MemoryStoreError) -> tuple[str, ...]:
        """What can be said of a server that tells nothing of itself; one that is away is an error."""
        if not isinstance(error.__cause__, self._redis.ResponseError):
            self._told = False
            raise error
        refused = isinstance(error.__cause__, self._redis.exceptions.NoPermissionError)
        what = "let this user read" if refused else "answer"
        return (f"it does not {what} INFO ({str(error.__cause__).strip(' .')}), so nobody knows",)

    # --- connections --------------------------------------------------------------------------------------------------

    def _sync_client(self) -> Any:  # noqa: ANN401  # redis.Redis
        self._check_usable()
        if self._client is None:
            with self._opening:
                if self._client is None:
                    pool = self._redis.BlockingConnectionPool(**self._options(self._redis))
                    self._client = self._redis.Redis.from_pool(pool)
        return self._client

    async def _async_client(self) -> Any:  # noqa: ANN401  # redis.asyncio.Redis
        self._check_usable()
        loop = asyncio.get_running_loop()
        held = self._by_loop.get(loop)
        if held is None:
            self._drop_closed_loops()
            asynchronous = import_optional("redis.asyncio", needed_by=self._arguments["needed_by"])
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
        options = dict(self._pool_options)
        secure = options.pop("secure")
        if secure != "tcp":
            kinds = {"unix": "UnixDomainSocketConnection", "tls": "SSLConnection"}
            options["connection_class"] = getattr(module.connection, kinds[secure])
        backoff = import_optional("redis.backoff", needed_by=self._arguments["needed_by"]).NoBackoff()
        is_sync = module is self._redis
        retry = import_optional("redis.retry" if is_sync else "redis.asyncio.retry", needed_by=self.name)
        options["retry"] = retry.Retry(backoff, 0)
        # More callers than connections wait for one, as long as for an answer.
        return {"max_connections": _CONNECTIONS, "timeout": self._arguments["timeout"], **options}

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            self._inherited = (self._client, self._by_loop)  # kept, since dropping them would close them
            closed = self._closed
            self._reset()
            self._closed = closed
        if self._closed:
            msg = f"{self.name} is closed: make a new store to go on"
            raise MemoryStoreError(msg)

    def close(self) -> None:
        """Close the connections of the blocking methods; whoever uses the server afterwards gets an error.

        The clients of event loops that still run are closed when those loops shut down, or by `aclose` on them.
        """
        self._closed = True
        with self._opening:
            if self._client is not None:
                self._client.close()
                self._client.connection_pool.disconnect()
                self._client = None

    async def aclose(self) -> None:
        """`close`, and close the client of the running loop too."""
        self.close()
        held = self._by_loop.get(asyncio.get_running_loop())
        if held is not None:
            await held[1].aclose()

    # --- errors -------------------------------------------------------------------------------------------------------

    def _is_unknown_script(self, error: MemoryStoreError) -> bool:
        return isinstance(error.__cause__, self._redis.exceptions.NoScriptError)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (self._redis.RedisError, OSError) as error:
            said = str(error).strip(" .") or type(error).__name__
            msg = f"{self.name}: {said}{self._hint(error)}"
            raise MemoryStoreError(msg) from error
        except UnicodeDecodeError as error:
            msg = f"{self.name}: holds something that is no text, so this package did not write it: {error}"
            raise MemoryStoreError(msg) from error

    def _hint(self, error: Exception) -> str:
        errors = self._redis.exceptions
        if isinstance(error, errors.AuthenticationError | errors.NoPermissionError):
            return ". Check the user and the password in the URL, and what the server's ACL lets this user do"
        if isinstance(error, errors.BusyLoadingError):
            return ". It is still reading its data from disk: try again in a moment"
        if isinstance(error, errors.TimeoutError):
            return f". Nothing came within {self._arguments['timeout']:g} s: see whether the server is up, or give more"
        if isinstance(error, errors.ConnectionError):
            return ". See whether the server is up and reachable at this address"
        return next((hint for said, hint in _HINTS if said in str(error)), "")


def _checked_url(url: Any) -> str:  # noqa: ANN401  # callers without type checks too
    """The URL without its password, once it has been seen to be one."""
    repair = "write redis://host:6379/0, rediss://host:6379/0 for TLS, or unix:///path/to/redis.sock"
    if not isinstance(url, str):
        msg = f"a Redis server's address is text, got {type(url).__name__}: {repair}"
        raise MemoryStoreError(msg)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        # The error would quote what stands where a port is expected, which may be a password.
        msg = f"cannot read a Redis server's address: a password's / ? # @ : are written %2F %3F %23 %40 %3A; {repair}"
        raise MemoryStoreError(msg) from error
    location = parts.netloc.rpartition("@")[2]
    if port == 0 or "@" in parts.path or " " in parts.path + location:
        msg = f"cannot tell the host in a Redis server's address: write %2F for a / in the password, and {repair}"
        raise MemoryStoreError(msg)
    shown = f"{parts.scheme}://{location}{parts.path}"
    if parts.scheme not in _SCHEMES:
        msg = f"{shown!r} is no Redis server's address: {repair}"
        raise MemoryStoreError(msg)
    if parts.scheme == "unix":
        if not parts.path.strip("/"):
            msg = f"{shown!r} names no socket: {repair}"
            raise MemoryStoreError(msg)
    elif parts.path.strip("/") and not parts.path.strip("/").isdecimal():
        # redis-py would take such a path for database 0.
        msg = f"{shown!r}: a database is a number, got {parts.path.strip('/')!r}: {repair}"
        raise MemoryStoreError(msg)
    return shown


def _parsed(library: Any, url: str, shown: str) -> dict[str, Any]:  # noqa: ANN401  # the module redis
    """The options that the URL names, without the class of connection, which each kind of client has its own of."""
    try:
        options: dict[str, Any] = library.connection.parse_url(url)
    except ValueError as error:
        msg = f"{shown}: {error}"
        raise MemoryStoreError(msg) from error
    options.pop("connection_class", None)
    options["secure"] = {"unix": "unix", "rediss": "tls"}.get(urlsplit(url).scheme, "tcp")
    return options


def _reasons(info: dict[str, Any]) -> tuple[str, ...]:
    """Why a server may lose acknowledged data, out of its INFO."""
    reasons = []
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        when = "is full" if info.get("maxmemory") else "is given a maxmemory and full"
        reasons.append(
            f"maxmemory-policy is {policy}, so it drops keys when it {when} (set maxmemory-policy noeviction)"
        )
    if not info.get("aof_enabled", 1):
        reasons.append(
            "appendonly is no, so it forgets the writes since its last snapshot when it stops (set appendonly yes)"
        )
    return tuple(reasons)
