from __future__ import annotations

from uuid import uuid4

import pytest

from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore
from langchain_tiered_memory._redis import RedisServer
from support import fact_model

pytestmark = pytest.mark.service


def test_every_store_does_what_the_model_does(tmp_path, postgres_url, redis_url):
    prefix = f"test-{uuid4().hex}"

    class Stores(fact_model.Machine):
        clock = fact_model.Clock()
        stores = {  # noqa: RUF012  # as in the class
            "postgres": SQLFactStore(postgres_url, clock=clock),
            "redis": RedisFactStore(redis_url, prefix=prefix, clock=clock),
            "cached": CachedFactStore(
                RedisFactStore(redis_url, prefix=f"{prefix}-hot"),
                SQLFactStore(f"sqlite:///{tmp_path}/cold.db", clock=clock),
            ),
        }

        def teardown(self):
            for store in self.stores.values():
                store.erase(self.scopes[0])

    fact_model.run(Stores)
    for store in Stores.stores.values():
        store.close()
    server = RedisServer(redis_url, needed_by="a test")
    if keys := server.scan(f"{prefix}*"):
        server.execute("DEL", *keys)
    server.close()
