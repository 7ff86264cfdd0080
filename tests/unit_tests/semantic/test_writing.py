"""What the port does before and around a store's own writing, where every store is the same."""

from __future__ import annotations

import operator
from datetime import timedelta
from enum import Enum, StrEnum

import pytest

from langchain_tiered_memory import InMemoryFactStore, SQLFactStore
from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.types import MemoryScope
from support.fact_conformance import Clock, call  # noqa: F401  # a fixture

ADA = MemoryScope(user="ada")


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["memory", "sqlite"])
def facts(request, clock):
    with (
        InMemoryFactStore(clock=clock) if request.param == "memory" else SQLFactStore("sqlite://", clock=clock) as facts
    ):
        yield facts


async def history(call, facts, attribute):  # noqa: F811  # the fixture's value
    return [fact.value for fact in await call(facts, "history", ADA, "e", attribute)]


@pytest.mark.parametrize("expected", [None, 1])
async def test_what_a_late_turn_said_is_not_merged_with_what_replaced_it(facts, call, expected):  # noqa: F811  # a fixture
    await call(facts, "put", ADA, "e", "n", 7, turn_id=1)
    await call(facts, "put", ADA, "e", "n", 10, turn_id=5)
    late = await call(facts, "put", ADA, "e", "n", 3, turn_id=2, expected_version=expected, merge=operator.add)
    assert (late.value, late.valid_from, late.valid_until) == (3, late.updated_at, late.updated_at)
    assert (await call(facts, "get", ADA, "e", "n")).value == 10
    assert await history(call, facts, "n") == [7, 10, 3]
    await call(facts, "put", ADA, "e", "n", 3, turn_id=5, merge=operator.add)
    assert (await call(facts, "get", ADA, "e", "n")).value == 13


async def test_a_statement_about_the_past_is_not_merged_with_the_present(facts, call, clock):  # noqa: F811  # a fixture
    await call(facts, "put", ADA, "e", "n", 10)
    begin = clock.now - timedelta(days=2)
    await call(facts, "put", ADA, "e", "n", 3, valid_from=begin, ttl=60, merge=operator.add)
    assert (await call(facts, "get", ADA, "e", "n")).value == 10
    assert (await call(facts, "get", ADA, "e", "n", as_of=begin)).value == 3


async def test_a_merge_that_cannot_be_called_is_refused_before_it_is_needed(facts, call):  # noqa: F811  # a fixture
    with pytest.raises(TypeError, match=r"merge=3 cannot be called: give a function"):
        await call(facts, "put", ADA, "e", "n", 1, merge=3)
    assert await call(facts, "get", ADA, "e", "n") is None


class Plain(StrEnum):
    CITY = "city"


class Mixed(str, Enum):  # noqa: UP042  # whose str() is not its text
    NAME = "name"


async def test_a_name_is_mere_text_for_all_who_read_it(facts, call):  # noqa: F811  # a fixture
    written = await call(facts, "put", ADA, Mixed.NAME, Plain.CITY, 1)
    for fact in (written, await call(facts, "get", ADA, "name", "city"), *await call(facts, "list", ADA)):
        assert (type(fact.entity), fact.entity, type(fact.attribute), fact.attribute) == (str, "name", str, "city")
    assert await call(facts, "get", ADA, Mixed.NAME, Plain.CITY) == written
    assert await call(facts, "delete", ADA, Mixed.NAME, Plain.CITY)


async def test_a_conflict_with_nothing_names_no_present_fact(facts, call):  # noqa: F811  # a fixture
    with pytest.raises(VersionConflictError, match=r"has ended, was deleted or was never written. Read it") as caught:
        await call(facts, "put", ADA, "e", "n", 1, expected_version=3)
    assert (caught.value.current, caught.value.actual, caught.value.expected) == (None, 0, 3)
    await call(facts, "put", ADA, "e", "n", 1)
    with pytest.raises(VersionConflictError, match=r"`current` has what they wrote") as caught:
        await call(facts, "put", ADA, "e", "n", 1, expected_version=3)
    assert caught.value.current.value == 1


@pytest.mark.parametrize("ttl", [1e300, 1e305, timedelta.max])
async def test_a_lifetime_beyond_the_calendar_has_no_end(facts, call, ttl):  # noqa: F811  # a fixture
    assert (await call(facts, "put", ADA, "e", "n", 1, ttl=ttl)).valid_until is None


async def test_a_validity_of_any_type_is_refused_with_those_that_are_known(facts, call):  # noqa: F811  # a fixture
    with pytest.raises(ValueError, match=r"validity is 'short', 'medium', 'long', got \['short'\]"):
        await call(facts, "put", ADA, "e", "n", 1, validity=["short"])
    with pytest.raises(ValueError, match=r"validities are short, medium, long, got 'brief', 3"):
        InMemoryFactStore(validities={"brief": 1, 3: 1})


async def test_a_number_that_cannot_be_written_is_refused_with_the_repair(facts, call):  # noqa: F811  # a fixture
    with pytest.raises(ValueError, match="Give such a number as text"):
        await call(facts, "put", ADA, "e", "n", 10**5_000)
