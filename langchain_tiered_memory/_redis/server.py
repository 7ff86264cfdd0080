"""Speaks to a Redis server, blocking and awaited, and says so when that server may forget what it acknowledged.

redis-py keeps the connections (see `clients`). What is added here: scripts that cost one round trip, no hidden
repetition of a write whose answer was lost, and errors of this package.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

from langchain_tiered_memory._driving import Call, Steps, Tell, adrive, drive
from langchain_tiered_memory._lifecycle import PickledByArguments
from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory._redis.address import options_in, shown_address
from langchain_tiered_memory._redis.clients import Clients
from langchain_tiered_memory._redis.forgetting import StoreMayForget, reasons_in
from langchain_tiered_memory._redis.script import Script
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.events import EventHook

__all__ = ["Command", "RedisServer"]

Command: TypeAlias = tuple[str | int, ...]
"""A command and its arguments."""

_SCAN_COUNT: Final = 1_000
_FULL: Final = ". The server is full: give it more memory, or erase what is no longer needed"
_HINTS: Final = (
    ("OOM", _FULL),
    ("command not allowed when used memory", _FULL),
    ("WRONGTYPE", ". Something else than this package uses the key: give the store a prefix of its own"),
)


class RedisServer(PickledByArguments):
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
        self.name = shown_address(url)
        self._arguments = {"url": url, "needed_by": needed_by, "timeout": timeout}
        self._redis: Any = import_optional("redis", needed_by=needed_by)
        options = {
            "socket_timeout": timeout,
            "socket_connect_timeout": timeout,
            "protocol": 2,
            **options_in(self._redis, url, self.name),
            "decode_responses": True,
            "encoding": "utf-8",
            "encoding_errors": "surrogatepass",  # any Python text comes back as it went in
        }
        self._clients = Clients(self._redis, self.name, options, needed_by=needed_by, timeout=timeout)
        self._told_in: int | None = None  # the process that was told whether the server may forget

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"

    def close(self) -> None:
        """Close the connections of the blocking methods; whoever uses the server afterwards gets an error.

        The clients of event loops that still run are closed when those loops shut down, or by `aclose` on them.
        """
        self._clients.close()

    async def aclose(self) -> None:
        """`close`, and close the client of the running loop too."""
        await self._clients.aclose()

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
            client = self._clients.blocking()
            try:
                return client.execute_command(*command)
            except self._redis.ConnectionError:
                if not repeatable:
                    raise
                return client.execute_command(*command)

    async def aexecute(self, *command: str | int, repeatable: bool = False) -> Any:  # noqa: ANN401  # as above
        """`execute`, awaited."""
        with self._translated():
            client = await self._clients.of_running_loop()
            try:
                return await client.execute_command(*command)
            except self._redis.ConnectionError:
                if not repeatable:
                    raise
                return await client.execute_command(*command)

    def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """Run several commands in one round trip, in order; others may run between them.

        Raises:
            MemoryStoreError: The server could not be reached, or refused one of them; the others have run.
        """
        with self._translated(), self._clients.blocking().pipeline(transaction=False) as waiting:
            for command in commands:
                waiting.execute_command(*command)
            return list(waiting.execute())

    async def apipeline(self, commands: Sequence[Command]) -> list[Any]:
        """`pipeline`, awaited."""
        with self._translated():
            client = await self._clients.of_running_loop()
            async with client.pipeline(transaction=False) as waiting:
                for command in commands:
                    waiting.execute_command(*command)
                return list(await waiting.execute())

    def evaluate(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int] = ()) -> Any:  # noqa: ANN401  # as above
        """Run a script in one round trip; two when the server does not know it yet.

        Raises:
            MemoryStoreError: The server could not be reached, or the script failed.
        """
        return drive(self._evaluating(script, keys, arguments))

    async def aevaluate(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int] = ()) -> Any:  # noqa: ANN401  # as above
        """`evaluate`, awaited."""
        return await adrive(self._evaluating(script, keys, arguments))

    def _evaluating(self, script: Script, keys: Sequence[str], arguments: Sequence[str | int]) -> Steps[Any]:
        rest = (len(keys), *keys, *arguments)
        options = {"repeatable": script.repeatable}
        try:
            return (yield Call(self, "execute", ("EVALSHA", script.sha, *rest), options))
        except MemoryStoreError as error:
            if not isinstance(error.__cause__, self._redis.exceptions.NoScriptError):
                raise
        return (yield Call(self, "execute", ("EVAL", script.text, *rest), options))

    def scan(self, pattern: str) -> list[str]:
        """The keys that match a glob pattern, each once; in as many round trips as there are thousands of keys.

        A key that comes or goes meanwhile may be in it or not.
        """
        return drive(self._scanning(pattern))

    async def ascan(self, pattern: str) -> list[str]:
        """`scan`, awaited."""
        return await adrive(self._scanning(pattern))

    def _scanning(self, pattern: str) -> Steps[list[str]]:
        found: dict[str, None] = {}
        cursor = "0"
        while True:
            command = ("SCAN", cursor, "MATCH", pattern, "COUNT", _SCAN_COUNT)
            cursor, keys = yield Call(self, "execute", command, {"repeatable": True})
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
        if self._told_in != os.getpid():
            drive(self._telling(hooks))

    async def atell_if_forgetful(self, hooks: Sequence[EventHook] = ()) -> None:
        """`tell_if_forgetful`, awaited."""
        if self._told_in == os.getpid():
            return
        try:
            await adrive(self._telling(hooks))
        except asyncio.CancelledError:
            self._told_in = None
            raise

    def _telling(self, hooks: Sequence[EventHook]) -> Steps[None]:
        self._told_in = os.getpid()  # by the first of many callers at once
        try:
            reasons = reasons_in((yield Call(self, "execute", ("INFO",), {"repeatable": True})))
        except MemoryStoreError as error:
            reasons = self._reasons_unknown(error)
        if reasons:
            yield Tell(StoreMayForget(session_id="", store=self.name, reasons=reasons), hooks)

    def _reasons_unknown(self, error: MemoryStoreError) -> tuple[str, ...]:
        """What can be said of a server that tells nothing of itself; one that is away is an error."""
        if not isinstance(error.__cause__, self._redis.ResponseError):
            self._told_in = None
            raise error
        refused = isinstance(error.__cause__, self._redis.exceptions.NoPermissionError)
        what = "let this user read" if refused else "answer"
        return (f"it does not {what} INFO ({str(error.__cause__).strip(' .')}), so nobody knows",)

    # --- errors -------------------------------------------------------------------------------------------------------

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
