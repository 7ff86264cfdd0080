from __future__ import annotations

from langchain_tiered_memory import InMemoryFactStore, SQLFactStore
from support import fact_model


def test_stores_do_what_the_model_does(tmp_path):
    class Stores(fact_model.Machine):
        clock = fact_model.Clock()
        stores = {  # noqa: RUF012  # as in the class
            "memory": InMemoryFactStore(clock=clock),
            "sqlite": SQLFactStore(f"sqlite:///{tmp_path}/facts.db", clock=clock),
        }

    fact_model.run(Stores)
    Stores.stores["sqlite"].close()
