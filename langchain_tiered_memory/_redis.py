"""Speaks to a Redis server, blocking and awaited, and says so when that server may forget what it acknowledged.

redis-py keeps the connections. What is added here: scripts that cost one round trip, no hidden repetition of a write
whose answer was lost, a client for each event loop, and errors of this package.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, TypeAlias, TypeVar
from urllib.parse import urlsplit

from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook, MemoryEvent, aemit, emit

__all__ = ["Command", "RedisPort", "RedisServer", "Script", "StoreMayForget"]

T = TypeVar("T")

Command: TypeAlias = tuple[str | int, ...]
"""A command and its arguments."""

_CONNECTIONS: Final = 50
_SCHEMES: Final = ("redis", "rediss", "unix")
_CONNECTION_CLASSES: Final = {"unix": "UnixDomainSocketConnection", "rediss": "SSLConnection"}
_REPAIR: Final = "write redis://host:6379/0, rediss://host:6379/0 for TLS, or unix:///path/to/redis.sock"
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


class RedisPort(ABC):
    """What a store asks of a server, in one round trip each; one of the two `RedisServer.ports` never suspends.

    At the first call of each process it reads `maxmemory-policy` and `appendonly`, and sends `StoreMayForget` where
    they lose data.
    """

    def __init__(self, server: RedisServer, hooks: Sequence[EventHook]) -> None:
        self._server = server
        self._hooks = hooks

    async def ask(self, commands: Sequence[Command], *, repeatable: bool = False) -> list[Any]:
        """The answers to some commands, which run in order; others may run between them.

        Args:
            commands: Each a name with its arguments.
            repeatable: Send a single command again when the connection was lost before the answer came.

        Raises:
            MemoryStoreError: The server could not be reached, or refused one of them; the others have run.
        """
        await self._see_if_forgetful()
        if len(commands) == 1:  # which redis-py sends with less ado
            return [await self.execute(*commands[0], repeatable=repeatable)]
        return await self._pipeline(commands)

    async def run(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int] = ()) -> Any:  # noqa: ANN401  # what Redis answers
        """What a script returns; two round trips when the server does not know it yet.

        Raises:
            MemoryStoreError: The server could not be reached, or the script failed.
        """
        await self._see_if_forgetful()
        rest = (len(keys), *keys, *arguments)
        try:
            return await self.execute("EVALSHA", script.sha, *rest, repeatable=script.repeatable)
        except MemoryStoreError as error:
            if not isinstance(error.__cause__, self._server.redis.exceptions.NoScriptError):
                raise
        return await self.execute("EVAL", script.text, *rest, repeatable=script.repeatable)

    @abstractmethod
    async def tell(self, event: MemoryEvent) -> None:
        """Send an event to the hooks."""

    @abstractmethod
    async def compute(self, work: Callable[[], T]) -> T:
        """Do work that takes longer than an event loop should stand still."""

    @abstractmethod
    async def execute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        """Run one command."""

    @abstractmethod
    async def _pipeline(self, commands: Sequence[Command]) -> list[Any]: ...

    async def _see_if_forgetful(self) -> None:
        server = self._server
        if server.seen_in == os.getpid():
            return
        server.seen_in = os.getpid()  # by the first of many callers at once
        try:
            reasons = _reasons_in(await self.execute("INFO", repeatable=True))
        except MemoryStoreError as error:
            errors = server.redis.exceptions
            if not isinstance(error.__cause__, errors.ResponseError):  # it is away
                server.seen_in = None
                raise
            what = "let this user read" if isinstance(error.__cause__, errors.NoPermissionError) else "answer"
            reasons = (f"it does not {what} INFO ({str(error.__cause__).strip(' .')}), so nobody knows",)
        except asyncio.CancelledError:
            server.seen_in = None
            raise
        if reasons:
            await self.tell(StoreMayForget(session_id="", store=server.name, reasons=reasons))


def _reasons_in(info: Mapping[str, Any]) -> tuple[str, ...]:
    """Why a server may lose acknowledged data, out of its INFO; `()` where it does not."""
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


class _Blocking(RedisPort):
    async def execute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        with self._server.translated():
            client = self._server.client()
            try:
                return client.execute_command(*command)
            except self._server.redis.ConnectionError:
                if not repeatable:
                    raise
                return client.execute_command(*command)

    async def _pipeline(self, commands: Sequence[Command]) -> list[Any]:
        with self._server.translated(), self._server.client().pipeline(transaction=False) as waiting:
            for command in commands:
                waiting.execute_command(*command)
            return list(waiting.execute())

    async def tell(self, event: MemoryEvent) -> None:
        emit(event, self._hooks)

    async def compute(self, work: Callable[[], T]) -> T:
        return work()


class _Awaited(RedisPort):
    async def execute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        with self._server.translated():
            client = await self._server.client_of_loop()
            try:
                return await client.execute_command(*command)
            except self._server.redis.ConnectionError:
                if not repeatable:
                    raise
                return await client.execute_command(*command)

    async def _pipeline(self, commands: Sequence[Command]) -> list[Any]:
        with self._server.translated():
            client = await self._server.client_of_loop()
            async with client.pipeline(transaction=False) as waiting:
                for command in commands:
                    waiting.execute_command(*command)
                return list(await waiting.execute())

    async def tell(self, event: MemoryEvent) -> None:
        await aemit(event, self._hooks)

    async def compute(self, work: Callable[[], T]) -> T:
        return await asyncio.to_thread(work)


class RedisServer(PickledByArguments):
    """A Redis server: one command, one script or several commands, each in one round trip.

    Threads may share it, a forked process opens connections of its own, and each event loop has its own client, which
    is closed when the loop shuts down. Answers are text. What is pickled is the address, and no connection.

    Args:
        url: `redis://[[user]:password@]host[:port][/database]`, `rediss://` for TLS, or `unix:///path/to/socket`;
            redis-py's options may follow as a query, such as `?socket_timeout=2`.
        needed_by: What the caller made, the first word of an error about a missing extra.
        timeout: Seconds to wait for a connection, and for an answer.

    Attributes:
        name: The server's address, without the password.
        redis: The module redis.
        seen_in: The process that has seen whether the server may forget.

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
        self.name = _shown_address(url)
        self._arguments = {"url": url, "needed_by": needed_by, "timeout": timeout}
        self.redis: Any = import_optional("redis", needed_by=needed_by)  # redis-py's types leave too much open
        self._pool_options = self._checked_options(url, timeout)
        self._closed = False
        self._reset()
        self.seen_in: int | None = None

    def _reset(self) -> None:
        self._process = os.getpid()
        self._opening = threading.Lock()
        self._client: Any = None
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[Any, AsyncGenerator[None]]] = (
            weakref.WeakKeyDictionary()
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def ports(self, hooks: Sequence[EventHook] = ()) -> tuple[RedisPort, RedisPort]:
        """The server for sync code and for event loops, with who is called with events."""
        return _Blocking(self, hooks), _Awaited(self, hooks)

    def execute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        """Run one command, blocking."""
        return run_sync(_Blocking(self, ()).execute(*command, repeatable=repeatable))

    # --- connections --------------------------------------------------------------------------------------------------

    def _checked_options(self, url: str, timeout: float) -> dict[str, Any]:
        """The options of a connection pool, without what differs between the blocking and the awaited kind."""
        options: dict[str, Any] = {
            "max_connections": _CONNECTIONS,
            "timeout": timeout,  # more callers than connections wait for one, as long as for an answer
            "socket_timeout": timeout,
            "socket_connect_timeout": timeout,
            "protocol": 2,
        }
        try:
            options |= self.redis.connection.parse_url(url)
        except ValueError as error:
            msg = f"{self.name}: {error}"
            raise MemoryStoreError(msg) from error
        options.pop("connection_class", None)
        # Any Python text comes back as it went in.
        options |= {"decode_responses": True, "encoding": "utf-8", "encoding_errors": "surrogatepass"}
        try:
            # redis-py would say only at the first use that it does not know an option. This opens no connection.
            self.redis.BlockingConnectionPool(**self._options_for(self.redis, options, url)).make_connection()
        except (TypeError, ValueError, self.redis.RedisError) as error:
            msg = f"{self.name}: an option behind the ? in the URL cannot be used: {error}. Correct or remove it"
            raise MemoryStoreError(msg) from error
        return options

    def _options_for(self, module: Any, options: Mapping[str, Any], url: str) -> dict[str, Any]:  # noqa: ANN401  # redis or redis.asyncio
        needed_by = self._arguments["needed_by"]
        backoff = import_optional("redis.backoff", needed_by=needed_by).NoBackoff()
        retry = import_optional(f"{module.__name__}.retry", needed_by=needed_by).Retry(backoff, 0)
        of_kind: dict[str, Any] = {"retry": retry}  # redis-py repeats nothing by itself
        if (kind := _CONNECTION_CLASSES.get(urlsplit(url).scheme)) is not None:
            of_kind["connection_class"] = getattr(module.connection, kind)
        return {**options, **of_kind}

    def _opened(self, module: Any) -> Any:  # noqa: ANN401  # redis.Redis or redis.asyncio.Redis
        options = self._options_for(module, self._pool_options, self._arguments["url"])
        return module.Redis.from_pool(module.BlockingConnectionPool(**options))

    def client(self) -> Any:  # noqa: ANN401  # redis.Redis
        """The client of blocking code, opened on first use."""
        self._check_usable()
        if self._client is None:
            with self._opening:
                if self._client is None:
                    self._client = self._opened(self.redis)
        return self._client

    async def client_of_loop(self) -> Any:  # noqa: ANN401  # redis.asyncio.Redis
        """The client of the event loop that this runs on, opened on first use."""
        self._check_usable()
        loop = asyncio.get_running_loop()
        held = self._by_loop.get(loop)
        if held is None:
            for closed in [one for one in list(self._by_loop) if one.is_closed()]:
                self._by_loop.pop(closed, None)
            client = self._opened(import_optional("redis.asyncio", needed_by=self._arguments["needed_by"]))
            ending = self._until_loop_ends(loop, client)
            self._by_loop[loop] = held = (client, ending)
            await anext(ending)
        return held[0]

    async def _until_loop_ends(self, loop: asyncio.AbstractEventLoop, client: Any) -> AsyncGenerator[None]:  # noqa: ANN401  # as above
        """Waits until its loop shuts its generators down, as `asyncio.run` does at its end, and closes the client."""
        try:
            yield
        finally:
            self._by_loop.pop(loop, None)
            await client.aclose()

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            self._inherited = (self._client, self._by_loop)  # kept, since dropping them would close them
            self._reset()
        if self._closed:
            msg = f"{self.name} is closed: make a new store to go on"
            raise MemoryStoreError(msg)

    def close(self) -> None:
        """Close the connections of blocking code; whoever uses the server afterwards gets an error.

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

    @contextmanager
    def translated(self) -> Iterator[None]:
        """Turn what redis-py raises into errors of this package."""
        try:
            yield
        except (self.redis.RedisError, OSError) as error:
            said = str(error).strip(" .") or type(error).__name__
            msg = f"{self.name}: {said}{self._hint(error)}"
            raise MemoryStoreError(msg) from error
        except UnicodeDecodeError as error:
            msg = f"{self.name}: holds something that is no text, so this package did not write it: {error}"
            raise MemoryStoreError(msg) from error

    def _hint(self, error: Exception) -> str:
        errors = self.redis.exceptions
        if isinstance(error, errors.AuthenticationError | errors.NoPermissionError):
            return ". Check the user and the password in the URL, and what the server's ACL lets this user do"
        if isinstance(error, errors.BusyLoadingError):
            return ". It is still reading its data from disk: try again in a moment"
        if isinstance(error, errors.TimeoutError):
            return f". Nothing came within {self._arguments['timeout']:g} s: see whether the server is up, or give more"
        if isinstance(error, errors.ConnectionError):
            return ". See whether the server is up and reachable at this address"
        return next((hint for said, hint in _HINTS if said in str(error)), "")


def _shown_address(url: object) -> str:
    """The URL without its password, once it has been seen to be one.

    Raises:
        MemoryStoreError: It is none; says how to write one.
    """
    if not isinstance(url, str):
        msg = f"a Redis server's address is text, got {type(url).__name__}: {_REPAIR}"
        raise MemoryStoreError(msg)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        # The error would quote what stands where a port is expected, which may be a password.
        msg = f"cannot read a Redis server's address: a password's / ? # @ : are written %2F %3F %23 %40 %3A; {_REPAIR}"
        raise MemoryStoreError(msg) from error
    location = parts.netloc.rpartition("@")[2]
    if port == 0 or "@" in parts.path or " " in parts.path + location:
        msg = f"cannot tell the host in a Redis server's address: write %2F for a / in the password, and {_REPAIR}"
        raise MemoryStoreError(msg)
    shown = f"{parts.scheme}://{location}{parts.path}"
    if parts.scheme not in _SCHEMES:
        msg = f"{shown!r} is no Redis server's address: {_REPAIR}"
        raise MemoryStoreError(msg)
    path = parts.path.strip("/")
    if parts.scheme == "unix" and not path:
        msg = f"{shown!r} names no socket: {_REPAIR}"
        raise MemoryStoreError(msg)
    if parts.scheme != "unix" and path and not path.isdecimal():
        # redis-py would take such a path for database 0.
        msg = f"{shown!r}: a database is a number, got {path!r}: {_REPAIR}"
        raise MemoryStoreError(msg)
    return shown
