from __future__ import annotations

import pytest

from langchain_tiered_memory import InMemoryFactStore, SQLFactStore
from support.fact_conformance import FactConformance, call  # noqa: F401  # a fixture


class TestMemory(FactConformance):
    @pytest.fixture
    def facts(self, clock):
        return InMemoryFactStore(clock=clock)


class TestSQLiteFile(FactConformance):
    @pytest.fixture
    def facts(self, clock, tmp_path):
        with SQLFactStore(f"sqlite:///{tmp_path}/facts.db", clock=clock) as facts:
            yield facts


class TestSQLiteInMemory(FactConformance):
    @pytest.fixture
    def facts(self, clock):
        with SQLFactStore("sqlite://", clock=clock) as facts:
            yield facts
