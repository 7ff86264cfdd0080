"""A server's address: what may stand in it, and what errors show of it."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlsplit

from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["options_in", "shown_address"]

_SCHEMES: Final = ("redis", "rediss", "unix")


def shown_address(url: Any) -> str:  # noqa: ANN401  # callers without type checks too
    """The URL without its password, once it has been seen to be one.

    Raises:
        MemoryStoreError: It is none; says how to write one.
    """
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


def options_in(library: Any, url: str, shown: str) -> dict[str, Any]:  # noqa: ANN401  # the module redis
    """The options that the URL names, without the class of connection, which each kind of client has its own of.

    Raises:
        MemoryStoreError: redis-py cannot read it.
    """
    try:
        options: dict[str, Any] = library.connection.parse_url(url)
    except ValueError as error:
        msg = f"{shown}: {error}"
        raise MemoryStoreError(msg) from error
    options.pop("connection_class", None)
    options["secure"] = {"unix": "unix", "rediss": "tls"}.get(urlsplit(url).scheme, "tcp")
    return options
