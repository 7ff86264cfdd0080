from __future__ import annotations

import contextlib
import gc
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from langchain_tiered_memory import SQLMessageLog, _sql
from langchain_tiered_memory.errors import MemoryStoreError
from support.log_conformance import LogConformance, call, node, turns  # noqa: F401  # a fixture

S = "session"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


class TestSQLiteFile(LogConformance):
    @pytest.fixture
    def log(self, url, clock):
        with SQLMessageLog(url, clock=clock) as log:
            yield log


class TestSQLiteInMemory(LogConformance):
    @pytest.fixture
    def log(self, clock):
        with SQLMessageLog("sqlite://", clock=clock) as log:
            yield log


# --- what survives ----------------------------------------------------------------------------------------------------


def test_messages_are_there_when_the_file_is_opened_again(url):
    with SQLMessageLog(url) as log:
        log.append(S, turns(3))
    with SQLMessageLog(url) as log:
        assert log.messages(S) == turns(3)


WRITER = """
import sys
from langchain_core.messages import HumanMessage
from langchain_tiered_memory import SQLMessageLog, _sql

log = SQLMessageLog(sys.argv[1])
for number in range(1_000_000):
    size = 1 + number % 3
    version = log.append("session", [HumanMessage("x" * 500, id=f"{number}-{part}") for part in range(size)])
    print(number, version, flush=True)
"""


@pytest.mark.parametrize("after", [0.05, 0.2, 0.6])
def test_every_acknowledged_append_survives_a_killed_process(url, path, after):
    writer = subprocess.Popen([sys.executable, "-c", WRITER, url], stdout=subprocess.PIPE, text=True)  # noqa: S603  # our own script
    assert writer.stdout is not None
    first = writer.stdout.readline()
    time.sleep(after)
    os.kill(writer.pid, signal.SIGKILL)
    written = first + writer.stdout.read()
    acknowledged = written[: written.rindex("\n")].splitlines()  # the kill may have cut the last line short
    writer.stdout.close()
    assert writer.wait() == -signal.SIGKILL
    number, version = map(int, acknowledged[-1].split())
    with SQLMessageLog(url) as log:
        ids = [message.id for message in log.messages(S)]
        wanted = [f"{n}-{part}" for n in range(number + 1) for part in range(1 + n % 3)]
        assert len(wanted) == version
        assert ids[:version] == wanted
        # At most the one append that was under way is there too, and then whole.
        assert ids[version:] in ([], [f"{number + 1}-{part}" for part in range(1 + (number + 1) % 3)])
        assert log.append(S, [HumanMessage("after")]) == len(ids) + 1
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def test_a_batch_that_fails_half_way_leaves_nothing(url, monkeypatch):
    with SQLMessageLog(url) as log:
        log.append(S, turns(1))
        with monkeypatch.context() as broken:
            broken.setattr(log.blocking, "_number", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                log.append(S, turns(2, start=1))
        assert log.messages(S) == turns(1)
        assert log.append(S, turns(1, start=1)) == 4


# --- many processes ---------------------------------------------------------------------------------------------------


APPENDERS = """
import os, sys
from langchain_core.messages import AIMessage, HumanMessage
from langchain_tiered_memory import SQLMessageLog, _sql

def append(writer):
    with SQLMessageLog(sys.argv[1]) as log:
        for n in range(20):
            log.append("session", [HumanMessage("q", id=f"{writer}-{n}"), AIMessage("a", id=f"{writer}-{n}-a")])

children = []
for writer in range(8):  # forked before anything is opened, so that they need not import everything eight times
    child = os.fork()
    if not child:
        append(writer)
        os._exit(0)
    children.append(child)
assert [os.waitpid(child, 0)[1] for child in children] == [0] * 8
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_processes_that_open_a_new_file_at_once_lose_nothing(url):
    subprocess.run([sys.executable, "-c", APPENDERS, url], check=True)  # noqa: S603  # our own script
    with SQLMessageLog(url) as log:
        entries = log.entries(S)
    assert [entry.number for entry in entries] == list(range(1, 321))
    ids = [entry.message.id for entry in entries]
    assert len(set(ids)) == 320
    assert all(answer == f"{question}-a" for question, answer in zip(ids[::2], ids[1::2], strict=True))


def test_a_reader_that_became_a_writer_is_not_refused(url):
    """Read, then write, in two logs at once: a deferred transaction would fail with "database is locked"."""
    with SQLMessageLog(url, busy_timeout=5) as one, SQLMessageLog(url, busy_timeout=5) as two:
        errors = []

        def write(log, name):
            try:
                for n in range(60):
                    log.append(S, [HumanMessage("x", id=f"{name}{n}")], expected_version=None)
                    log.append(S, [HumanMessage("x", id=f"{name}{n}-"), AIMessage("y", id=f"{name}{n}+")])
            except MemoryStoreError as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=args) for args in ((one, "a"), (two, "b"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert one.version(S) == two.version(S) == 360


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_opens_connections_of_its_own(url):
    script = textwrap.dedent("""
        import os, sys
        from langchain_core.messages import HumanMessage
        from langchain_tiered_memory import SQLMessageLog, _sql

        log = SQLMessageLog(sys.argv[1])
        log.append("s", [HumanMessage("parent")])
        child = os.fork()
        if not child:
            log.append("s", [HumanMessage("child")])
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        log.append("s", [HumanMessage("parent again")])
        print([message.content for message in log.messages("s")])
    """)
    done = subprocess.run([sys.executable, "-c", script, url], capture_output=True, text=True, check=True)  # noqa: S603  # our own script
    assert done.stdout.strip() == "['parent', 'child', 'parent again']"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_cannot_use_its_parents_memory():
    script = textwrap.dedent("""
        import os
        from langchain_core.messages import HumanMessage
        from langchain_tiered_memory.errors import MemoryStoreError
        from langchain_tiered_memory import SQLMessageLog, _sql

        log = SQLMessageLog("sqlite://")
        log.append("s", [HumanMessage("parent")])
        child = os.fork()
        if not child:
            try:
                log.messages("s")
            except MemoryStoreError as error:
                os._exit(7 if "file" in str(error) else 1)
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert len(log.messages("s")) == 1
    """)
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603  # our own script


def test_a_log_is_pickled_by_its_address(url):
    with SQLMessageLog(url, busy_timeout=3) as log:
        log.append(S, turns(1))
        with pickle.loads(pickle.dumps(log)) as copy:  # noqa: S301  # our own object
            assert copy.messages(S) == turns(1)
    with SQLMessageLog("sqlite://") as log, pytest.raises(TypeError, match="give the log a file"):
        pickle.dumps(log)


# --- what goes wrong --------------------------------------------------------------------------------------------------


def test_nothing_is_opened_before_it_is_used(path, url):
    log = SQLMessageLog(url)
    assert not path.exists()
    log.version(S)
    assert path.exists()
    log.close()


def test_a_missing_folder_is_created(tmp_path):
    with SQLMessageLog(f"sqlite:///{tmp_path}/a/b/memory.db") as log:
        assert log.append(S, turns(1)) == 2
    assert (tmp_path / "a" / "b" / "memory.db").exists()


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("memory.db", "sqlite:///memory.db"),
        ("", "sqlite:///memory.db"),
        ("mysql://u:secret@h/d", "only sqlite and postgresql"),
        ("sqlite+aiosqlite:///memory.db", "driver that blocks"),
        ("postgresql+asyncpg://u:secret@h/d", "driver that blocks"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_once(url, words):
    with pytest.raises(MemoryStoreError, match=words) as caught:
        SQLMessageLog(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("option", "value"), [("busy_timeout", -1), ("busy_timeout", float("nan")), ("synchronous", "OFF")]
)
def test_options_that_cannot_be_used_are_refused_at_once(url, option, value):
    with pytest.raises(ValueError, match=option):
        SQLMessageLog(url, **{option: value})


def test_a_server_that_does_not_answer_is_named_without_its_password():
    pytest.importorskip("psycopg")
    log = SQLMessageLog("postgresql://ada:s3cr3t@127.0.0.1:1/memory")
    with pytest.raises(MemoryStoreError, match=r"postgresql\+psycopg://ada:\*\*\*@127\.0\.0\.1:1/memory: ") as caught:
        log.version(S)
    assert "s3cr3t" not in str(caught.value)


def test_a_folder_in_place_of_the_file_is_named(tmp_path):
    with pytest.raises(MemoryStoreError, match=str(tmp_path)):
        SQLMessageLog(f"sqlite:///{tmp_path}").version(S)


def test_a_file_that_is_no_database_is_left_alone(path, url):
    path.write_text("not a database, but 100 bytes of somebody's text " * 100)
    before = path.read_bytes()
    with pytest.raises(MemoryStoreError, match="not a database"):
        SQLMessageLog(url).append(S, turns(1))
    assert path.read_bytes() == before


@pytest.mark.parametrize("batch", [turns(1)[:1], turns(1)], ids=["one message", "two messages"])
def test_a_lock_that_is_held_too_long_is_reported_with_the_cure(path, url, batch):
    with SQLMessageLog(url, busy_timeout=0.2) as log:
        log.append(S, [])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(MemoryStoreError, match=r"locked.*0\.2 s.*busy_timeout"):
            log.append(S, batch)
        assert log.messages(S) == []  # reading goes on meanwhile
        other.execute("ROLLBACK")
        other.close()
        assert log.append(S, batch) == len(batch)


def test_a_lock_that_is_given_back_in_time_is_waited_for(path, url):
    with SQLMessageLog(url, busy_timeout=10) as log:
        log.append(S, [])
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
        release.start()
        assert log.append(S, turns(1)) == 2
        release.join()
        other.close()


def test_a_row_that_is_no_message_is_named_and_left_alone(path, url):
    with SQLMessageLog(url) as log:
        log.append(S, turns(1))
        with sqlite3.connect(path) as connection:
            connection.execute("UPDATE tiered_memory_messages SET body = '{}' WHERE number = 2")
        connection.close()
        with pytest.raises(MemoryStoreError, match="message 2 of session 'session' cannot be read"):
            log.messages(S)
        assert log.entries(S, limit=1)[0].message == turns(1)[0]


def test_a_closed_log_says_so(url):
    log = SQLMessageLog(url)
    log.append(S, turns(1))
    log.close()
    with pytest.raises(MemoryStoreError, match="closed"):
        log.messages(S)


def test_the_password_is_not_shown():
    assert "secret" not in repr(SQLMessageLog("postgresql://u:secret@h/d"))


@pytest.mark.parametrize(("synchronous", "level"), [("NORMAL", 1), ("FULL", 2)])
def test_a_file_is_opened_in_wal_mode_with_the_care_that_was_asked_for(url, synchronous, level):
    with SQLMessageLog(url, synchronous=synchronous) as log:
        log.append(S, turns(1))
        for using in (log._database.reading(), log._database.writing()):
            with using as cursor:
                assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
                assert cursor.execute("PRAGMA synchronous").fetchone() == (level,)


class Statements:
    """The statements that SQLite runs on behalf of a log, with how they are carried out."""

    def __init__(self, log):
        self.log = log
        self.run = []

    def __enter__(self):
        with self.log._database.reading(), self.log._database.writing():
            pass  # opens both kinds of connection
        with self.log._database.reading() as reading, self.log._database.writing() as writing:
            self.connections = [reading.connection, writing.connection]
        for connection in self.connections:
            connection.set_trace_callback(self.run.append)
        return self

    def __exit__(self, *_):
        for connection in self.connections:
            connection.set_trace_callback(None)

    def plans(self):
        for statement in self.run:
            if statement.startswith(("SELECT", "INSERT", "DELETE", "\nSELECT", "\nINSERT", "\nWITH")):
                steps = self.connections[0].execute(f"EXPLAIN QUERY PLAN {statement}").fetchall()
                yield statement, [step[3] for step in steps]


def test_every_statement_searches_an_index_and_scans_no_table(url):
    """Flat cost however long the log is and however many sessions it has, held by the plan and not by a stopwatch."""
    with SQLMessageLog(url) as log:
        log.append(S, turns(3))
        with Statements(log) as statements:
            log.append(S, turns(1, start=3), expected_version=6)
            log.append(S, turns(1)[:1])
            log.append_nodes(S, [node(1, 2)], 0)
            log.nodes(S)
            log.entries(S, after=2, limit=2)
            log.last(S)
            log.known(S, ["q1", "nobody"])
            log.sessions("sess")
            log.sessions()
            log.erase(S)
        plans = list(statements.plans())
    assert len(plans) > 12
    for statement, steps in plans:
        searches = [step for step in steps if "tiered_memory" in step]
        assert all(step.startswith("SEARCH") for step in searches), (statement, steps)
        assert not any("TEMP B-TREE" in step for step in steps), (statement, steps)


def test_two_thousand_ids_are_one_statement(url):
    with SQLMessageLog(url) as log:
        log.append(S, turns(1_000))
        with Statements(log) as statements:
            assert len(log.known(S, [f"{kind}{n}" for n in range(1_500) for kind in "qa"])) == 2_000
        assert len(statements.run) == 1


# --- what was erased --------------------------------------------------------------------------------------------------


def bytes_in(folder):
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def wordy(name, n):
    """Messages of all sizes, so that pages split and overflow."""
    return HumanMessage(f"{name} said secret-{name}. " * (1 + (n * n) % 90), id=f"id-{name}-{n}")


@pytest.mark.parametrize("large", [False, True], ids=["a small file", "a large file that is closed"])
def test_what_was_erased_is_in_no_byte_of_the_folder(tmp_path, url, monkeypatch, large):
    names = [f"user-{n:02}" for n in range(12)]
    if large:
        monkeypatch.setattr(_sql, "_SMALL", 0)
        monkeypatch.setattr(_sql, "_SHARE", 0)
    log, other = SQLMessageLog(url), SQLMessageLog(url)
    for n in range(60):
        for name in names:
            (log if n % 2 else other).append(name, [wordy(name, n)])
    for name in names:
        log.append_nodes(name, [node(1, 60, f"summary of {name}")], 0)
    assert b"secret-user-03" in bytes_in(tmp_path)
    assert log.erase(*names[3:9]) == 6 * 60
    if large:
        other.close()
        log.close()
    left = bytes_in(tmp_path)
    for name in names[3:9]:
        assert name.encode() not in left
    if not large:
        for name in [*names[:3], *names[9:]]:
            assert log.messages(name) == [wordy(name, n) for n in range(60)]
        other.close()
        log.close()


def test_a_file_that_still_holds_erased_text_is_rewritten_by_whoever_closes_it_next(tmp_path, url, monkeypatch):
    with monkeypatch.context() as large:
        large.setattr(_sql, "_SMALL", 0)
        large.setattr(_sql, "_SHARE", 0)
        log = SQLMessageLog(url)
        for n in range(400):
            log.append(f"user-{n % 5}", [wordy(f"user-{n % 5}", n)])
        log.erase("user-3")
        log._database._finish_erasures = lambda: None  # as if this process were killed
        log.close()
    assert b"user-3" in bytes_in(tmp_path)
    with SQLMessageLog(url) as log:
        log.version("user-1")
        log.append("user-1", [])
    assert b"user-3" not in bytes_in(tmp_path)


def test_an_erasure_that_another_process_kept_from_the_file_is_finished_by_the_next(tmp_path, url):
    with SQLMessageLog(url, busy_timeout=0.05) as log:
        for n in range(60):
            log.append("user-3", [wordy("user-3", n)])
            log.append("user-4", [wordy("user-4", n)])
        reader = sqlite3.connect(tmp_path / "memory.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM tiered_memory_messages").fetchall()
        with contextlib.suppress(MemoryStoreError):  # how much of it a reader prevents is SQLite's business
            log.erase("user-3")
        assert log.messages("user-3") == []
        reader.execute("COMMIT")
        reader.close()
        assert log.erase("user-3") == 0
        left = bytes_in(tmp_path)
        assert b"user-3" not in left
        assert b"secret-user-4" in left


def test_nothing_in_a_log_grows_with_the_sessions_it_has_served(url):
    with SQLMessageLog(url) as log:

        def size():
            gc.collect()
            return len(gc.get_objects())

        def serve(start):
            for n in range(start, start + 500):
                log.append(f"s{n}", turns(1))
                log.messages(f"s{n}")
                log.known(f"s{n}", ["q0"])

        serve(0)
        before = size()
        serve(500)
        serve(1_000)
        assert size() - before < 300  # sqlite3 holds weak references to its newest cursors
