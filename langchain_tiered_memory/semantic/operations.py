"""What fact stores do, whatever they keep their facts in: algorithms over the port `FactRows`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any, Final, Protocol, TypeAlias

from langchain_tiered_memory._times import FOREVER, Moment, in_utc, micros_of
from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.semantic.keys import Key, check_scope, check_text, key_of
from langchain_tiered_memory.semantic.records import Change, Fact, Outcome, Owned, Row, fact_of
from langchain_tiered_memory.semantic.timeline import endings, holds_now, is_live, valid_at
from langchain_tiered_memory.semantic.values import decode_value, encode_value
from langchain_tiered_memory.types import MemoryScope

__all__ = ["FactRows", "Merge", "delete", "export", "get", "list_facts", "put"]

Merge: TypeAlias = Callable[[Any, Any], Any]
"""Makes one value of the present one and the new one, in this order: `max`, `operator.add`, or a function of yours."""

_ATTEMPTS: Final = 100


class FactRows(Protocol):
    """Keeps the rows of facts; what they mean is decided in this module and in `timeline`."""

    async def put(self, key: Key, change: Change) -> Outcome:
        """Store a change as the key's next version, in one atomic step.

        Refused, with the newest row that leads, where `change.expected` is given and is not that row's version, or 0
        where that row is not live (see `is_live`). The new row leads unless it is over already
        (`valid_until <= now`) or a row that leads has a greater `turn_id`.
        """

    async def heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        """The newest row that leads, of each key."""

    async def rows(self, key: Key) -> Sequence[Row]:
        """All rows of a key."""

    async def heads_of(self, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None) -> Sequence[Owned]:
        """The newest rows that lead, of all keys of exactly these scopes of one user."""

    async def rows_of(self, owner: MemoryScope, *, sessions: bool) -> Sequence[Owned]:
        """All rows of a scope, those of a key side by side; with `sessions` those of a user's sessions too."""

    async def erase(self, owner: MemoryScope) -> int:
        """Delete all rows of a scope, of a user's sessions too, and count those that are no deletions."""


# --- reading ---------------------------------------------------------------------------------------------------------


def _owners_of(scope: MemoryScope) -> list[MemoryScope]:
    """Where facts are looked for: in the session, then with the user."""
    return [scope] if scope.session is None else [scope, scope.whole_user()]


async def get(
    rows: FactRows, scope: MemoryScope, entity: str, attribute: str, as_of: Moment | None, now: int
) -> Fact | None:
    """The fact that holds now, or held at a moment."""
    check_scope(scope)
    keys = [key_of(owner, entity, attribute) for owner in _owners_of(scope)]
    if as_of is None:
        for key, head in zip(keys, await rows.heads(keys), strict=True):
            if is_live(head, now):
                if not holds_now(head, now):
                    break  # it has yet to begin, so older rows decide
                return fact_of(key, head)
        else:
            return None
    moment = now if as_of is None else micros_of(in_utc(as_of, "as_of"))
    for key in keys:
        held = valid_at(await rows.rows(key), moment, now=as_of is None)
        if held is not None:
            return fact_of(key, *held)
    return None


async def list_facts(
    rows: FactRows, scope: MemoryScope, entity: str | None, prefix: str | None, as_of: Moment | None, now: int
) -> list[Fact]:
    """The facts that hold now, or held at a moment; a session's own before the user's."""
    check_scope(scope)
    check_text("entity", entity)
    check_text("prefix", prefix)
    owners = _owners_of(scope)
    if as_of is None:
        facts = await _list_now(rows, owners, entity, prefix, now)
    else:
        moment = micros_of(in_utc(as_of, "as_of"))
        owned = [one for owner in owners for one in await rows.rows_of(owner, sessions=False)]
        facts = [
            fact_of(key, *held)
            for key, of_key in _by_key(owned)
            if key.is_about(entity, prefix) and (held := valid_at(of_key, moment))
        ]
    found: dict[tuple[str, str], Fact] = {}
    for fact in facts:
        name = (fact.entity, fact.attribute)
        if name not in found or fact.scope.session is not None:
            found[name] = fact
    return [found[name] for name in sorted(found)]


async def _list_now(
    rows: FactRows, owners: Sequence[MemoryScope], entity: str | None, prefix: str | None, now: int
) -> list[Fact]:
    facts = []
    for key, head in await rows.heads_of(owners, entity, prefix):
        if not holds_now(head, now):
            held = valid_at(await rows.rows(key), now, now=True)
            facts += [fact_of(key, *held)] if held else []
        elif is_live(head, now):
            facts.append(fact_of(key, head))
    return facts


async def export(rows: FactRows, scope: MemoryScope) -> list[Fact]:
    """All versions of all facts of a scope, and of its sessions."""
    check_scope(scope)
    owned = await rows.rows_of(scope, sessions=scope.session is None)
    return [fact_of(key, *ended) for key, of_key in _by_key(owned) for ended in endings(of_key)]


def _by_key(owned: Sequence[Owned]) -> list[tuple[Key, list[Row]]]:
    return [(key, [one.row for one in group]) for key, group in groupby(owned, key=lambda one: one.key)]


# --- writing ---------------------------------------------------------------------------------------------------------


async def put(rows: FactRows, key: Key, change: Change, merge: Merge | None) -> Fact:
    """Write a change, or what the present value and the new one make together.

    Raises:
        VersionConflictError: The expected version is stale, or others wrote first again and again.
    """
    outcome = await rows.put(key, change) if merge is None else await _put_merged(rows, key, change, merge)
    row = outcome.row
    if row is None:
        raise _conflict(key, change, outcome.head)
    if row.leads:
        return fact_of(key, row)
    # It may be over at once, and whoever wrote it is told. It may be erased by now, too.
    ends = (end for one, end in endings(await rows.rows(key)) if one.version == row.version)
    return fact_of(key, row, next(ends, None))


async def _put_merged(rows: FactRows, key: Key, change: Change, merge: Merge) -> Outcome:
    seen, new = change.expected, change.value
    outcome = Outcome(None)
    if seen is None:
        (head,) = await rows.heads([key])
        change = await _merged(rows, key, change, head, new, merge)
    for _ in range(_ATTEMPTS):
        outcome = await rows.put(key, change)
        if outcome.row is not None:
            break
        if seen is not None and not is_live(outcome.head, change.now):
            break  # the writer had seen a value, and now there is none to merge with
        change = await _merged(rows, key, change, outcome.head, new, merge)
    return outcome


async def _merged(rows: FactRows, key: Key, change: Change, head: Row | None, new: str, merge: Merge) -> Change:
    """The change to try next: what the present value and the new one make together, over the present version."""
    if not is_live(head, change.now):
        return change._replace(value=new, expected=0)
    is_history = change.valid_until <= change.now
    if not is_history and change.turn_id is not None:
        turns = [row.turn_id for row in await rows.rows(key) if row.leads and row.turn_id is not None]
        is_history = max(turns, default=-1) > change.turn_id
    if is_history:  # it replaces nothing
        return change._replace(value=new, expected=None)
    merged = encode_value(merge(decode_value(head.value), decode_value(new)))
    return change._replace(value=merged, expected=head.version)


async def delete(rows: FactRows, key: Key, expected: int | None, now: int) -> bool:
    """Write that there is no such fact from now on; whether there was one.

    Raises:
        VersionConflictError: The expected version is stale, or others wrote first again and again.
    """
    change = Change(now, expected, "null", now, FOREVER, deleted=1)
    head: Row | None = None
    for _ in range(_ATTEMPTS):
        (head,) = await rows.heads([key])
        if not is_live(head, now):
            if expected:
                break
            return False
        if expected is not None and head.version != expected:
            break
        outcome = await rows.put(key, change._replace(expected=head.version))
        if outcome.row is not None:
            return True
    raise _conflict(key, change, head)


def _conflict(key: Key, change: Change, head: Row | None) -> VersionConflictError:
    """The error of a write that came too late, with what came first."""
    current = fact_of(key, head) if is_live(head, change.now) else None
    actual = current.version if current else 0
    expected = -1 if change.expected is None else change.expected
    now = f"at version {actual}" if actual else "not there"
    wanted = {-1: "and others wrote first, again and again", 0: "but must not exist yet"}
    repair = (
        "somebody else wrote to it. The error's `current` has what they wrote: repeat the write on that, or give put a "
        "merge="
        if current
        else "it has ended, was deleted or was never written. Read it again, and expect version 0 where it may be new"
    )
    msg = (
        f"{key.attribute!r} of {key.entity!r} is {now}, {wanted.get(expected, f'not at version {expected}')}: {repair}"
    )
    return VersionConflictError(msg, expected=expected, actual=actual, current=current)
