"""The Milvus Lite databases that this process has open: one for each path, whoever asks for it."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["LOOSE_IN_COLLECTION", "LOOSE_IN_PARTITION", "LiteDatabase", "lite_database"]

_READS: Final = frozenset(("search", "query"))
_WRITES: Final = frozenset(("upsert", "delete"))
LOOSE_IN_PARTITION = 32
LOOSE_IN_COLLECTION = 128
"""Rows that a read walks through one by one before they are flushed: 70 µs each where it reads, 7 µs elsewhere."""
_PATIENCE_SECONDS: Final = 3.0
"""How long to wait for another process to let go of a database; one that closes needs less, one that works keeps it."""
_FIRST_PAUSE: Final = 0.05

_databases: dict[str, LiteDatabase] = {}
_guard = threading.Lock()


class LiteDatabase:
    """A database that Milvus Lite serves from a thread of this process.

    Calls take turns: its engine has one writer, and while it flushes, a reader would find neither the rows that are on
    their way to the disk nor the file that they go to. It is written in Python, so turns cost little.

    Flushing is left to us. On its own Milvus Lite flushes at 128 MB, and until then searches row by row.

    Args:
        path: The absolute path.
        uri: Where it listens.
        ours: Whether we started it, and so stop it.
    """

    def __init__(self, path: str, uri: str, *, ours: bool) -> None:
        self.path = path
        self.uri = uri
        self.users = 0
        self.process = os.getpid()
        self._ours = ours
        self._turn = threading.RLock()
        self._loose: dict[str, Counter[str]] = {}

    def check_process(self) -> None:
        """Raise MemoryStoreError in a process that was forked from the one that opened it."""
        if self.process != os.getpid():
            raise _forked(self.path)

    def call(self, client: Any, method: str, arguments: dict[str, Any]) -> Any:  # noqa: ANN401  # any call of pymilvus
        """Call a method of a client, when it is our turn."""
        with self._turn:
            if method in _READS:
                self._flush_if_due(client, arguments["collection_name"], arguments.get("partition_names"))
            answer = getattr(client, method)(**arguments)
            if method in _WRITES:
                rows = arguments.get("data") or arguments.get("ids") or ()
                self._counted(arguments["collection_name"])[arguments.get("partition_name") or ""] += len(rows)
            return answer

    def _counted(self, collection: str) -> Counter[str]:
        """Rows that are not flushed yet, by partition; whatever an earlier process has left counts as too many."""
        return self._loose.setdefault(collection, Counter({"": LOOSE_IN_COLLECTION}))

    def _flush_if_due(self, client: Any, collection: str, partitions: list[str] | None) -> None:  # noqa: ANN401  # as above
        loose = self._counted(collection)
        here = sum(loose[name] for name in partitions) if partitions else loose.total()
        if here >= LOOSE_IN_PARTITION or loose.total() >= LOOSE_IN_COLLECTION:
            client.flush(collection_name=collection)
            loose.clear()

    def release(self) -> None:
        """Let go of it. When nobody uses it any more it is closed, so that another process may open it."""
        if self.process != os.getpid():
            return
        with _guard:
            self.users -= 1
            if self.users or not self._ours:
                return
            _databases.pop(self.path, None)
            _manager().release_server(self.path)


def lite_database(path: str, patience: float) -> LiteDatabase:
    """The database at a path, opened if it is not; `release` is to be called as often as this.

    Args:
        path: Where it lies; folders that are missing are created.
        patience: Seconds to wait at most while another process has it.

    Raises:
        MemoryStoreError: Another process has it, it was opened before a fork, or it cannot be opened.
    """
    path = str(Path(path).expanduser().absolute())
    with _guard:
        known = _databases.get(path)
        if known is not None:
            known.check_process()
        else:
            known = _databases[path] = _opened(path, min(patience, _PATIENCE_SECONDS))
        known.users += 1
        return known


def _opened(path: str, patience: float) -> LiteDatabase:
    if Path(path).is_file():
        msg = (
            f"{path} is a file, and Milvus Lite 3 keeps a database in a folder. It may be a database of Milvus Lite 2: "
            "leave it where it is and give another path"
        )
        raise MemoryStoreError(msg)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"the folder of {path} cannot be created: {error}"
        raise MemoryStoreError(msg) from error
    manager = _manager()
    known = getattr(manager, "_servers", {})
    ours = path not in known
    give_up = time.monotonic() + patience
    pause = _FIRST_PAUSE
    while ours and _is_locked(path):
        if time.monotonic() + pause > give_up:
            raise _locked(path)
        time.sleep(pause)
        pause *= 2
    uri = manager.start_and_get_uri(path)
    if uri is None:
        if _is_locked(path):
            raise _locked(path)
        msg = f"Milvus Lite could not open {path}; the log of `milvus_lite` says why. The data stays as it is"
        raise MemoryStoreError(msg)
    return LiteDatabase(path, str(uri), ours=ours)


def _manager() -> Any:  # noqa: ANN401  # milvus_lite is not typed
    return import_optional("milvus_lite.server_manager", needed_by="EpisodicMemory").server_manager_instance


def _is_locked(path: str) -> bool:
    """Whether another process has the database open."""
    try:
        import fcntl  # noqa: PLC0415  # not on Windows, where opening tells
    except ModuleNotFoundError:
        return False
    try:
        with (Path(path) / "LOCK").open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    except OSError as error:
        msg = f"{path} cannot be read: {error}"
        raise MemoryStoreError(msg) from error
    return False


def _locked(path: str) -> MemoryStoreError:
    return MemoryStoreError(
        f"{path} is locked by another process: Milvus Lite serves one process at a time, and the data is intact. Close "
        "the other process, give this one a path of its own, or let both use a Milvus server (uri='http://host:19530')"
    )


def _forked(path: str) -> MemoryStoreError:
    return MemoryStoreError(
        f"{path} was opened before this process was forked, and Milvus Lite serves only the process that opened it. "
        "Open it after the fork in one process, or use a Milvus server (uri='http://host:19530')"
    )
