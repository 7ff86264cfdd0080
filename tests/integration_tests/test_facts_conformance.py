from __future__ import annotations

from uuid import uuid4

import pytest
import sqlalchemy

from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore
from support.fact_conformance import FactConformance, call  # noqa: F401  # a fixture

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def schema_url(postgres_url):
    """A schema of its own, so that tests of others need not know of these."""
    schema = f"tiered_memory_{uuid4().hex}"
    engine = sqlalchemy.create_engine(postgres_url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE SCHEMA {schema}")
    parsed = sqlalchemy.make_url(postgres_url).update_query_dict({"options": f"-csearch_path={schema}"})
    yield parsed.render_as_string(hide_password=False)
    with engine.connect() as connection:
        connection.exec_driver_sql(f"DROP SCHEMA {schema} CASCADE")
    engine.dispose()


class TestPostgreSQL(FactConformance):
    @pytest.fixture
    def facts(self, schema_url, clock):
        with SQLFactStore(schema_url, clock=clock) as facts:
            with facts._database.writing() as cursor:
                cursor.execute("DELETE FROM tiered_memory_facts")
            yield facts


class TestRedis(FactConformance):
    @pytest.fixture
    async def facts(self, redis_url, redis_prefix, clock):
        async with RedisFactStore(redis_url, prefix=redis_prefix, clock=clock) as facts:
            yield facts


class TestCached(FactConformance):
    @pytest.fixture
    async def facts(self, redis_url, redis_prefix, clock, tmp_path):
        cold = SQLFactStore(f"sqlite:///{tmp_path}/facts.db", clock=clock)
        async with CachedFactStore(RedisFactStore(redis_url, prefix=redis_prefix), cold) as facts:
            yield facts
