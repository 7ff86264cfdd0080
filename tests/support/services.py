"""Finds the servers that integration tests talk to, in one way for everybody.

PostgreSQL and Redis: the URL in `TIERED_MEMORY_POSTGRES_URL` or `TIERED_MEMORY_REDIS_URL`, else the usual local port.
Milvus Lite runs inside the process. Where a service does not answer, a test is skipped with a reason; with
`REQUIRE_SERVICES=1`, which CI sets, it fails.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from pathlib import Path

POSTGRES_VARIABLE = "TIERED_MEMORY_POSTGRES_URL"
REDIS_VARIABLE = "TIERED_MEMORY_REDIS_URL"
POSTGRES_DEFAULT = "postgresql+psycopg://postgres@127.0.0.1:5432/postgres"
REDIS_DEFAULT = "redis://127.0.0.1:6379/0"
TIMEOUT_SECONDS = 3


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


def milvus_lite_uri(folder: Path) -> str:
    """The path of an embedded database that does not exist yet."""
    try:
        import milvus_lite  # noqa: F401, PLC0415  # an extra; only its presence matters here
    except ModuleNotFoundError:
        unavailable("Milvus tests need milvus-lite: install the extra [milvus]")
    return str(folder / "milvus.db")
