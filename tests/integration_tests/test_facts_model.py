from __future__ import annotations

import pytest

from langchain_tiered_memory import CachedFactStore, RedisFactStore, SQLFactStore
from support import fact_model

pytestmark = pytest.mark.service


def test_every_store_does_what_the_model_does(tmp_path, postgres_url, redis_url, redis_prefix):
    class Stores(fact_model.Machine):
        clock = fact_model.Clock()
        stores = {  # noqa: RUF012  # as in the class
            "postgres": SQLFactStore(postgres_url, clock=clock),
            "redis": RedisFactStore(redis_url, prefix=redis_prefix, clock=clock),
            "cached": CachedFactStore(
                RedisFactStore(redis_url, prefix=f"{redis_prefix}-hot"),
                SQLFactStore(f"sqlite:///{tmp_path}/cold.db", clock=clock),
            ),
        }

        def teardown(self):
            for store in self.stores.values():
                store.erase(self.scopes[0])

    fact_model.run(Stores)
    for store in Stores.stores.values():
        store.close()
