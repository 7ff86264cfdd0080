"""Finds the servers that integration tests talk to, in one way for everybody.

PostgreSQL and Redis: the URL in `TIERED_MEMORY_POSTGRES_URL` or `TIERED_MEMORY_REDIS_URL`, else the usual local port.
Milvus Lite runs inside the process; a Milvus server is started by `support.milvus_server`. Where a service does not
answer, a test is skipped with a reason; with `REQUIRE_SERVICES=1`, which CI sets, it fails.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import pytest

from support.processes import kill_guarded, start_guarded

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import redis

POSTGRES_VARIABLE = "TIERED_MEMORY_POSTGRES_URL"
REDIS_VARIABLE = "TIERED_MEMORY_REDIS_URL"
POSTGRES_DEFAULT = "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"
REDIS_DEFAULT = "redis://127.0.0.1:6379/0"
TIMEOUT_SECONDS = 3
START_SECONDS = 20


def are_required() -> bool:
    """True where a missing service is a failure."""
    return os.environ.get("REQUIRE_SERVICES", "") not in {"", "0"}


def unavailable(reason: str) -> NoReturn:
    """Skip the test, or fail it where services are required."""
    if are_required():
        pytest.fail(f"{reason} (REQUIRE_SERVICES is set)", pytrace=False)
    pytest.skip(reason)


def postgres_url() -> str:
    """The SQLAlchemy URL of a PostgreSQL database that answered."""
    import sqlalchemy  # noqa: PLC0415  # tests that need no server should not wait for it

    url = sqlalchemy.make_url(os.environ.get(POSTGRES_VARIABLE, POSTGRES_DEFAULT))
    try:
        engine = sqlalchemy.create_engine(url, connect_args={"connect_timeout": TIMEOUT_SECONDS})
    except ModuleNotFoundError as error:
        unavailable(f"PostgreSQL tests need {error.name}: install the extra [postgres]")
    try:
        engine.connect().close()
    except sqlalchemy.exc.OperationalError as error:
        shown = url.render_as_string(hide_password=True)
        unavailable(f"no PostgreSQL at {shown}, set {POSTGRES_VARIABLE}: {error.orig}")
    finally:
        engine.dispose()
    return url.render_as_string(hide_password=False)


def redis_url() -> str:
    """The URL of a Redis server that answered."""
    url = os.environ.get(REDIS_VARIABLE, REDIS_DEFAULT)
    try:
        import redis  # noqa: PLC0415  # an extra, which a user may have left out
    except ModuleNotFoundError:
        unavailable("Redis tests need redis: install the extra [redis]")
    try:
        with redis.Redis.from_url(
            url, socket_timeout=TIMEOUT_SECONDS, socket_connect_timeout=TIMEOUT_SECONDS
        ) as client:
            client.ping()
    except redis.RedisError as error:
        shown = url.rpartition("@")[2] if "@" in url else url
        unavailable(f"no Redis at {shown}, set {REDIS_VARIABLE}: {error}")
    return url


@contextmanager
def redis_client(url: str) -> Iterator[redis.Redis]:
    """A plain client, to look at what a store keeps there, or to clear it away."""
    import redis  # noqa: PLC0415  # as above

    with redis.Redis.from_url(url, decode_responses=True) as client:
        yield client


def milvus_lite_uri(folder: Path) -> str:
    """The path of an embedded database that does not exist yet."""
    try:
        import milvus_lite  # noqa: F401, PLC0415  # an extra; only its presence matters here
    except ModuleNotFoundError:
        unavailable("Milvus tests need milvus-lite: install the extra [milvus]")
    return str(folder / "milvus.db")


class OwnRedis:
    """A Redis server of the test's own, which may be killed and started again; skips the test where there is none.

    Args:
        folder: Where it keeps its snapshot.
        options: Settings beside the address, such as `{"save": "1 1"}`.
    """

    def __init__(self, folder: Path, options: dict[str, str] | None = None) -> None:
        program = shutil.which("redis-server")
        if program is None:
            unavailable("this test kills a Redis server of its own, and there is no redis-server")
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            self.port = taken.getsockname()[1]
        self.url = f"redis://127.0.0.1:{self.port}/0"
        settings = {"port": str(self.port), "bind": "127.0.0.1", "dir": str(folder), "save": "", **(options or {})}
        arguments = [part for name, value in settings.items() for part in (f"--{name}", value)]
        self._command = [program, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._process = start_guarded(self._command, stdout=subprocess.DEVNULL)
        give_up = time.monotonic() + START_SECONDS
        while self.ask("PING") != "+PONG":
            if time.monotonic() > give_up:
                unavailable(f"redis-server did not start on port {self.port}")
            time.sleep(0.01)

    def ask(self, command: str) -> str:
        """The first line of the answer to a command of one word or several; "" where there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_SECONDS) as connection:
                connection.sendall(command.encode() + b"\r\n")
                return connection.makefile("rb").readline().decode().strip()
        except OSError:
            return ""

    def pause(self) -> None:
        """Let it answer nothing until it is resumed."""
        os.killpg(self._process.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.killpg(self._process.pid, signal.SIGCONT)

    def kill(self) -> None:
        """Kill it, as a power cut or the system would."""
        if self._process is not None:
            kill_guarded(self._process)
            self._process = None
