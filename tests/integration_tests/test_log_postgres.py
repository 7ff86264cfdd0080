from __future__ import annotations

import asyncio
from uuid import uuid4

import pytest
import sqlalchemy

from langchain_tiered_memory import SQLMessageLog
from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.working import log_sql
from support.log_conformance import LogConformance, call, turns  # noqa: F401  # a fixture

pytestmark = pytest.mark.service


@pytest.fixture
def url(postgres_url):
    """A schema of its own for each test, so that tests need not know of each other."""
    schema = f"tiered_memory_{uuid4().hex}"
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    parsed = sqlalchemy.make_url(postgres_url).update_query_dict({"options": f"-csearch_path={schema}"})
    yield parsed.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


class TestPostgreSQL(LogConformance):
    @pytest.fixture
    def log(self, url, clock):
        with SQLMessageLog(url, clock=clock) as log:
            yield log


async def test_logs_that_create_their_tables_at_once_lose_nothing(url):
    logs = [SQLMessageLog(url) for _ in range(6)]
    await asyncio.gather(*(log.aappend("s", turns(1, start=n)) for n, log in enumerate(logs)))
    assert logs[0].version("s") == 12
    for log in logs:
        log.close()


def test_a_connection_that_was_cut_is_replaced(url):
    with SQLMessageLog(url) as log:
        log.append("s", turns(1))
        with log._database.reading() as cursor:
            cursor.execute("SELECT pg_backend_pid()")
            ((pid,),) = cursor.fetchall()
        with SQLMessageLog(url) as other, other._database.reading() as cursor:
            cursor.execute(f"SELECT pg_terminate_backend({pid})")
        assert log.append("s", turns(1, start=1)) == 4


def test_a_connection_that_is_cut_in_the_middle_is_reported_and_writes_nothing(url):
    with SQLMessageLog(url) as log, SQLMessageLog(url) as other:
        log.append("s", turns(1))

        def cut(cursor, *_):
            cursor.execute("SELECT pg_backend_pid()")
            ((pid,),) = cursor.fetchall()
            with other._database.reading() as second:
                second.execute(f"SELECT pg_terminate_backend({pid})")
            cursor.execute("SELECT 1")

        real, log.blocking._number = log.blocking._number, cut
        with pytest.raises(MemoryStoreError):
            log.append("s", turns(1, start=1))
        log.blocking._number = real
        assert log.messages("s") == turns(1)
        assert log.append("s", turns(1, start=1)) == 4


def test_sessions_are_found_by_an_index_also_in_a_table_not_analysed_yet(url):
    with SQLMessageLog(url) as log:
        for n in range(40):
            log.append(f"user-{n:03}/s", turns(50))
        with log._database.reading() as cursor:
            cursor.execute("SET enable_seqscan = on")
            cursor.execute("EXPLAIN " + log._database.sql(log_sql._SESSIONS), {"low": "user-017/", "high": "user-0170"})
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "Seq Scan" not in plan
        assert log.sessions("user-017/") == ["user-017/s"]
        assert log.erase("user-017/s", "user-018/s") == 200
        with log._database.reading() as cursor:
            cursor.execute("SELECT count(*) FROM tiered_memory_messages WHERE session_id < 'user-019'")
            assert cursor.fetchall() == [(17 * 100,)]
