"""How facts are written, on any store: each function yields what it needs of the store."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_tiered_memory._times import FOREVER, Duration, Moment, in_utc, micros_of, seconds_of
from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.semantic._backend import Do
from langchain_tiered_memory.semantic.records import Change, Outcome, check_whole, encode_source, fact_of
from langchain_tiered_memory.semantic.timeline import endings, is_live
from langchain_tiered_memory.semantic.values import decode_value, encode_value

if TYPE_CHECKING:
    from langchain_tiered_memory._driving import Steps
    from langchain_tiered_memory.semantic._backend import FactBackend
    from langchain_tiered_memory.semantic.keys import Key
    from langchain_tiered_memory.semantic.records import Fact, Row, Source, Validity

__all__ = ["Merge", "change_of", "conflict_of", "deleting", "merging", "micros_long", "written"]

Merge: TypeAlias = Callable[[Any, Any], Any]
"""Makes one value of the present one and the new one, in this order: `max`, `operator.add`, or a function of yours."""

_MERGES: Final = 100


def change_of(
    lifetimes: Mapping[Any, int | None],
    now: int,
    value: Any,  # noqa: ANN401  # any JSON
    ttl: Duration | None,
    valid_from: Moment | None,
    valid_until: Moment | None,
    validity: Validity,
    expected: int | None,
    turn_id: int | None,
    source: Source | Sequence[str],
) -> Change:
    """A write in the form of the stores; what the arguments are, `FactStore.put` says."""
    check_whole("expected_version", expected)
    check_whole("turn_id", turn_id)
    begin = now if valid_from is None else micros_of(in_utc(valid_from, "valid_from"))
    end = _end(lifetimes, begin, ttl, valid_until, validity)
    return Change(now, expected, encode_value(value), begin, end, turn_id, encode_source(source))


def _end(
    lifetimes: Mapping[Any, int | None],
    begin: int,
    ttl: Duration | None,
    valid_until: Moment | None,
    validity: Validity,
) -> int:
    if validity not in tuple(lifetimes):  # compared and not hashed: it may be anything
        msg = f"validity is {', '.join(map(repr, lifetimes))}, got {validity!r}"
        raise ValueError(msg)
    if (ttl is not None) + (valid_until is not None) + (validity != "long") > 1:
        msg = "a fact has one end: give one of ttl, valid_until and validity"
        raise ValueError(msg)
    if valid_until is not None:
        end = micros_of(in_utc(valid_until, "valid_until"))
        if end <= begin:
            msg = f"valid_until={valid_until!r} is not after the fact's beginning: give a later one"
            raise ValueError(msg)
        return end
    lifetime = lifetimes[validity] if ttl is None else micros_long(ttl, "ttl")
    return FOREVER if lifetime is None else min(begin + lifetime, FOREVER)


def merging(store: FactBackend, key: Key, change: Change, merge: Merge) -> Steps[Fact]:
    """Write a change, or what the present value and the new one make together."""
    given: Any = merge  # callers without type checks too
    if not callable(given):
        msg = f"merge={given!r:.80} cannot be called: give a function of the present value and the new one"
        raise TypeError(msg)
    seen, new = change.expected, change.value
    if seen is None:
        (head,) = yield Do(store, "heads", ([key],))
        change = yield from _merged(store, key, change, head, new, merge)
    outcome = Outcome(None)
    for _ in range(_MERGES):
        outcome = yield Do(store, "put", (key, change))
        if outcome.row is not None:
            break
        if seen is not None and not is_live(outcome.head, change.now):
            break  # the writer had seen a value, and now there is none to merge with
        change = yield from _merged(store, key, change, outcome.head, new, merge)
    return (yield from written(store, key, change, outcome))


def _merged(store: FactBackend, key: Key, change: Change, head: Row | None, new: str, merge: Merge) -> Steps[Change]:
    """The change to try next: what the present value and the new one make together, over the present version."""
    if not is_live(head, change.now):
        return change._replace(value=new, expected=0)
    if (yield from _replaces_nothing(store, key, change)):
        return change._replace(value=new, expected=None)
    merged = encode_value(merge(decode_value(head.value), decode_value(new)))
    return change._replace(value=merged, expected=head.version)


def _replaces_nothing(store: FactBackend, key: Key, change: Change) -> Steps[bool]:
    """Whether a change becomes history, since it is over or a later turn has spoken."""
    if change.valid_until <= change.now:
        return True
    if change.turn_id is None:
        return False
    rows: Sequence[Row] = yield Do(store, "rows", (key,))
    return any(row.leads and row.turn_id is not None and row.turn_id > change.turn_id for row in rows)


def written(store: FactBackend, key: Key, change: Change, outcome: Outcome) -> Steps[Fact]:
    """What was written, as whoever wrote it is told.

    Raises:
        VersionConflictError: Nothing was.
    """
    row = outcome.row
    if row is None:
        raise conflict_of(key, change, outcome.head)
    if row.leads:
        return fact_of(key, row)
    rows = yield Do(store, "rows", (key,))  # it may be over at once, and whoever wrote it is told
    # It may be erased by now, too.
    ends = (end for one, end in endings(rows) if one.version == row.version)
    return fact_of(key, row, next(ends, None))


def conflict_of(key: Key, change: Change, head: Row | None) -> VersionConflictError:
    """The error of a write that came too late, with what came first."""
    current = fact_of(key, head) if is_live(head, change.now) else None
    actual = current.version if current else 0
    expected = -1 if change.expected is None else change.expected
    now = f"at version {actual}" if actual else "not there"
    told = {-1: "and others wrote first, again and again", 0: "but must not exist yet"}
    wanted = told.get(expected, f"not at version {expected}")
    repair = (
        "somebody else wrote to it. The error's `current` has what they wrote: repeat the write on that, or give put a "
        "merge="
        if current
        else "it has ended, was deleted or was never written. Read it again, and expect version 0 where it may be new"
    )
    msg = f"{key.attribute!r} of {key.entity!r} is {now}, {wanted}: {repair}"
    return VersionConflictError(msg, expected=expected, actual=actual, current=current)


def deleting(store: FactBackend, key: Key, expected: int | None, now: int) -> Steps[bool]:
    """Write that there is no such fact from now on; whether there was one."""
    check_whole("expected_version", expected)
    change = Change(now, expected, "null", now, FOREVER, deleted=1)
    for _ in range(_MERGES):
        (head,) = yield Do(store, "heads", ([key],))
        if not is_live(head, now):
            if expected:
                raise conflict_of(key, change, head)
            return False
        if expected is not None and head.version != expected:
            raise conflict_of(key, change, head)
        outcome = yield Do(store, "put", (key, change._replace(expected=head.version)))
        if outcome.row is not None:
            return True
    raise conflict_of(key, change, outcome.head)


def micros_long(length: Duration, name: str) -> int:
    """A duration in microseconds, one at least, and no longer than the calendar."""
    return max(1, round(min(seconds_of(length, name) * 1_000_000, FOREVER)))
