from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory._times import FOREVER, from_micros, in_utc, micros_of, now_of, seconds_of

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_moment_is_an_aware_datetime_or_seconds():
    assert in_utc(NOON.astimezone(timezone(timedelta(hours=8))), "as_of") == NOON
    assert in_utc(NOON.timestamp(), "as_of") == NOON
    assert in_utc(0, "as_of") == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("value", [datetime(2026, 3, 1), "2026-03-01", True, None, float("nan"), float("inf")])  # noqa: DTZ001  # naive on purpose
def test_what_is_no_moment_is_refused_with_its_name(value):
    with pytest.raises(ValueError, match="valid_from"):
        in_utc(value, "valid_from")


def test_milliseconds_are_told_from_seconds_by_their_size():
    with pytest.raises(ValueError, match="not milliseconds"):
        in_utc(NOON.timestamp() * 1_000, "as_of")


@pytest.mark.parametrize("value", [90, 90.0, timedelta(seconds=90)])
def test_a_duration_is_seconds_or_a_timedelta(value):
    assert seconds_of(value, "ttl") == 90


@pytest.mark.parametrize("value", [0, -1, True, "1d", None, float("nan"), timedelta(0)])
def test_what_is_no_duration_is_refused_with_its_name(value):
    with pytest.raises(ValueError, match="ttl"):
        seconds_of(value, "ttl")


def test_a_number_that_no_time_can_hold_is_refused_in_short_words():
    with pytest.raises(ValueError, match="valid_from=a number too large to print lies outside"):
        in_utc(10**400, "valid_from")
    with pytest.raises(ValueError, match="ttl is a number too large to count"):
        seconds_of(10**400, "ttl")
    assert seconds_of(1e305, "ttl") == 1e305


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_keep_a_moment_exactly(moment):
    assert from_micros(micros_of(moment)) == moment
    assert micros_of(moment) <= FOREVER < 2**63


def test_a_clock_without_a_time_zone_is_refused():
    with pytest.raises(ValueError, match="the clock gave"):
        now_of(lambda: datetime(2026, 3, 1))  # noqa: DTZ001  # naive on purpose
