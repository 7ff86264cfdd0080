from __future__ import annotations

import pytest
from langchain_core.messages import HumanMessage

from langchain_tiered_memory import InMemoryMessageLog
from support.log_conformance import LogConformance, call  # noqa: F401  # a fixture


class TestInMemoryMessageLog(LogConformance):
    @pytest.fixture
    def log(self, clock):
        return InMemoryMessageLog(clock=clock)


def test_without_a_clock_an_entry_has_the_time_of_the_system():
    log = InMemoryMessageLog()
    log.append("s", [HumanMessage("x")])
    (entry,) = log.entries("s")
    assert entry.created_at.utcoffset().total_seconds() == 0


async def test_a_log_is_its_own_context_manager():
    with InMemoryMessageLog() as log:
        log.append("s", [HumanMessage("x")])
    async with log:
        assert await log.aversion("s") == 1
