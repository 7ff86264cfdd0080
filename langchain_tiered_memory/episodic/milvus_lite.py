"""The Milvus Lite databases that this process has open: one for each path, whoever asks for it."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.errors import MemoryStoreError

__all__ = ["LOOSE_IN_COLLECTION", "LOOSE_IN_PARTITION", "LiteDatabase", "MilvusError", "MilvusRequest", "Untyped"]

Untyped: TypeAlias = Any
"""An object of pymilvus or milvus_lite, which have no types."""

_LITE_SECONDS: Final = 600.0
"""What a call of Milvus Lite may take: it is computing, not lost; given up, it would go on all the same."""
LOOSE_IN_PARTITION = 32
LOOSE_IN_COLLECTION = 128
"""Rows that a read walks through one by one before they are flushed: 70 µs each where it reads, 7 µs elsewhere."""
_LOCK_SECONDS: Final = 3.0
"""How long to wait for another process to let go of a database; one that closes needs less, one that works keeps it."""
_FIRST_PAUSE: Final = 0.05

_databases: dict[str, LiteDatabase] = {}
"""Those that this process has open: Milvus Lite opens a path once for each process, whoever asks."""
_guard = threading.Lock()


class MilvusError(MemoryStoreError):
    """Raised when Milvus did not do what it was asked.

    Attributes:
        may_pass: Whether the same call may succeed a little later.
        is_gone: Whether the collection is not there or not loaded, and has to be opened again.
        is_away: Whether Milvus itself cannot be used now: it does not answer, or another process has the database.
    """

    def __init__(self, message: str, *, may_pass: bool = False, is_gone: bool = False, is_away: bool = False) -> None:
        super().__init__(message)
        self.may_pass = may_pass
        self.is_gone = is_gone
        self.is_away = is_away


@dataclass(frozen=True, slots=True)
class MilvusRequest:
    """One call of a client of pymilvus.

    Attributes:
        name: What it is called in errors.
        work: Makes the call, with a client and the seconds it may take; of an async client it gives an awaitable.
        collection: The collection that it reads or writes; "" where it does neither.
        partition: The partition that it reads or writes; "" for all.
        written: How many rows it writes; `None` for a read.
    """

    name: str
    work: Callable[[Untyped, float], Untyped]
    collection: str = ""
    partition: str = ""
    written: int | None = None


class LiteDatabase:
    """A database that Milvus Lite serves from a thread of this process.

    Calls take turns: its engine has one writer, and while it flushes, a reader would find neither the rows that are on
    their way to the disk nor the file that they go to. It is written in Python, so turns cost little.

    Flushing is left to us. On its own Milvus Lite flushes at 128 MB, and until then searches row by row.
    """

    def __init__(self, path: str, uri: str, *, ours: bool) -> None:
        self.path = path
        self.uri = uri
        self.users = 0
        self.process = os.getpid()
        self._ours = ours
        self._turn = threading.RLock()
        self._loose: dict[str, Counter[str]] = {}

    @classmethod
    def opened(cls, path: str, timeout: float) -> LiteDatabase:
        """The database at a path, opened if it is not; `release` is to be called as often as this.

        Raises:
            MilvusError: Another process has it, it was opened before a fork, or it cannot be opened.
        """
        path = str(Path(path).expanduser().absolute())
        with _guard:
            known = _databases.get(path)
            if known is not None:
                known.check_process()
            else:
                known = _databases[path] = _open_lite(path, min(timeout, _LOCK_SECONDS))
            known.users += 1
            return known

    def check_process(self) -> None:
        """Raise MilvusError in a process that was forked from the one that opened it."""
        if self.process != os.getpid():
            msg = (
                f"{self.path} was opened before this process was forked, and Milvus Lite serves only the process that "
                "opened it. Open it after the fork in one process, or use a Milvus server (uri='http://host:19530')"
            )
            raise MilvusError(msg, is_away=True)

    def call(self, client: Untyped, request: MilvusRequest) -> Untyped:
        """Make a call when it is our turn."""
        with self._turn:
            if not request.collection:
                return request.work(client, _LITE_SECONDS)
            # Whatever an earlier process has left counts as too many.
            loose = self._loose.setdefault(request.collection, Counter({"": LOOSE_IN_COLLECTION}))
            if request.written is None:
                here = loose[request.partition] if request.partition else loose.total()
                if here >= LOOSE_IN_PARTITION or loose.total() >= LOOSE_IN_COLLECTION:
                    client.flush(collection_name=request.collection)
                    loose.clear()
                return request.work(client, _LITE_SECONDS)
            answer = request.work(client, _LITE_SECONDS)
            loose[request.partition] += request.written
            return answer

    def erase_bytes(self, client: Untyped, collection: str, partition: str) -> None:
        """Rewrite the files of a partition that hold deleted rows, which Milvus Lite only marks, and read them back.

        It compacts by itself once four files of one size have come together, which may be never, and its API has no way
        to ask for it; so its engine is asked.

        Raises:
            MemoryStoreError: A deleted row still stands in a file.
        """
        with self._turn:
            client.flush(collection_name=collection)  # out of the write-ahead log, which goes
            self._loose.pop(collection, None)
            _, database, _ = _lite_manager()._servers[self.path]
            engine = database.get_collection(collection)
            with engine._maintenance_lock:
                for file in _files_with_deleted(engine, partition):
                    folder = str(Path(engine.data_dir) / "partitions" / partition)
                    engine._compaction_mgr._compact_files(
                        partition, folder, [file], engine._manifest, engine._delta_index
                    )
                left = _files_with_deleted(engine, partition)
                engine._refresh_segment_cache()
                engine._cleanup_orphan_index_files()
            engine._schedule_bg_maintenance()
        if left:
            msg = f"deleted rows still stand in {', '.join(left)} of {self.path}: erase again"
            raise MemoryStoreError(msg)

    def release(self) -> None:
        """Let go of it. When nobody uses it any more it is closed, so that another process may open it."""
        if self.process != os.getpid():
            return
        with _guard:
            self.users -= 1
            if self.users or not self._ours:
                return
            _databases.pop(self.path, None)
            _lite_manager().release_server(self.path)


def _files_with_deleted(engine: Untyped, partition: str) -> list[str]:
    """The data files of a partition in which a row stands that was deleted."""
    parquet = import_optional("pyarrow.parquet", needed_by="EpisodicMemory")
    found = []
    for file in engine._manifest.get_data_files(partition):
        path = Path(engine.data_dir) / "partitions" / partition / file
        columns = parquet.read_table(path, columns=[engine.pk_field, "_seq"]).to_pydict()
        pairs = zip(columns[engine.pk_field], columns["_seq"], strict=True)
        if any(engine._delta_index.is_deleted(key, number) for key, number in pairs):
            found.append(file)
    return found


def _open_lite(path: str, timeout: float) -> LiteDatabase:
    if Path(path).is_file():
        msg = (
            f"{path} is a file, and Milvus Lite 3 keeps a database in a folder. It may be a database of Milvus Lite 2: "
            "leave it where it is and give another path"
        )
        raise MilvusError(msg)
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"the folder of {path} cannot be created: {error}"
        raise MilvusError(msg) from error
    manager = _lite_manager()
    ours = path not in getattr(manager, "_servers", {})
    give_up = time.monotonic() + timeout
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
        raise MilvusError(msg, is_away=True)
    return LiteDatabase(path, str(uri), ours=ours)


def _lite_manager() -> Untyped:
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
        raise MilvusError(msg) from error
    return False


def _locked(path: str) -> MilvusError:
    msg = (
        f"{path} is locked by another process: Milvus Lite serves one process at a time, and the data is intact. Close "
        "the other process, give this one a path of its own, or let both use a Milvus server (uri='http://host:19530')"
    )
    return MilvusError(msg, is_away=True)
