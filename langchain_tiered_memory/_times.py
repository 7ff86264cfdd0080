"""Times and durations as users give them, and as stores keep them: microseconds since 1970 in UTC."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Final, TypeAlias

from langchain_tiered_memory.types import Clock

__all__ = ["FOREVER", "Duration", "Moment", "from_micros", "in_utc", "micros_of", "now_of", "seconds_of", "utc_now"]

Moment: TypeAlias = datetime | int | float
"""An aware datetime, or seconds since 1970 in UTC."""
Duration: TypeAlias = timedelta | int | float
"""A timedelta, or seconds."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
FOREVER: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The microsecond that stands for "no end" where a store wants a number."""


def in_utc(value: Moment, name: str) -> datetime:
    """A moment as an aware datetime in UTC.

    Args:
        value: What was given.
        name: The argument that it was given as, for the error.

    Raises:
        ValueError: It has no time zone, is no time, or lies outside the years 1 to 9999.
    """
    if isinstance(value, datetime):
        if value.tzinfo is None or value.utcoffset() is None:
            msg = f"{name}={value!r} has no time zone: give an aware datetime, such as {name}.replace(tzinfo=UTC)"
            raise ValueError(msg)
        try:
            return value.astimezone(UTC)
        except OverflowError as error:
            raise _out_of_range(value, name) from error
    if not _is_number(value):
        msg = f"{name}={value!r} is no time: give an aware datetime, or seconds since 1970 in UTC"
        raise ValueError(msg)
    try:
        return _EPOCH + timedelta(seconds=value)
    except OverflowError as error:
        raise _out_of_range(value, name) from error


def _out_of_range(value: Moment, name: str) -> ValueError:
    shown = "a number too large to print" if isinstance(value, int) and abs(value) > 10**30 else repr(value)
    return ValueError(f"{name}={shown} lies outside the years 1 to 9999: times are seconds, not milliseconds")


def seconds_of(value: Duration, name: str) -> float:
    """A duration in seconds.

    Raises:
        ValueError: It is no duration, or not longer than 0.
    """
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if not _is_number(seconds) or seconds <= 0:
        msg = f"{name}={value!r} is no duration: give a timedelta or seconds, more than 0"
        raise ValueError(msg)
    try:
        return float(seconds)
    except OverflowError as error:
        msg = f"{name} is a number too large to count seconds with: give no {name} for no end"
        raise ValueError(msg) from error


def _is_number(value: Moment | Duration) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return isinstance(value, int) or math.isfinite(value)


def micros_of(moment: datetime) -> int:
    """An aware datetime as microseconds since 1970 in UTC."""
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Microseconds since 1970 in UTC as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def now_of(clock: Clock) -> datetime:
    """What a clock gives, in UTC.

    Raises:
        ValueError: The clock gave a time without a time zone.
    """
    now = clock()
    if not isinstance(now, datetime) or now.utcoffset() is None:
        msg = f"the clock gave {now!r}, which has no time zone: give a clock of aware datetimes in UTC"
        raise ValueError(msg)
    return now.astimezone(UTC)


def utc_now() -> datetime:
    """The system's time, the clock where none is given."""
    return datetime.now(UTC)
