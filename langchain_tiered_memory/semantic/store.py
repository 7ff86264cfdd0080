"""The front of the fact stores: what can be asked of facts, whatever they are kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from langchain_tiered_memory._lifecycle import Closing
from langchain_tiered_memory._sync import run_sync
from langchain_tiered_memory._times import FOREVER, Duration, Moment, in_utc, micros_of, now_of, seconds_of, utc_now
from langchain_tiered_memory.semantic import operations
from langchain_tiered_memory.semantic.keys import check_scope, key_of
from langchain_tiered_memory.semantic.operations import FactRows, Merge
from langchain_tiered_memory.semantic.records import Change, Fact, Source, Validity, check_whole, encode_source, fact_of
from langchain_tiered_memory.semantic.timeline import endings
from langchain_tiered_memory.semantic.values import encode_value
from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["FactStore", "Validities"]

Facts: TypeAlias = list[Fact]
"""Named here, since inside of a store `list` is a method."""
Validities: TypeAlias = Mapping[Validity, Duration | None]
"""How long a fact of each class holds; `None` without end."""

_VALIDITIES: Final[Validities] = {"short": timedelta(days=7), "medium": timedelta(days=90), "long": None}


class FactStore(Closing):
    """Facts of users and their sessions: read by key and never by similarity, versioned, expiring, with their history.

    A number, a date or an address that is remembered nearly right is wrong. So a fact has a scope, an entity and an
    attribute, one value at a time, and a version that grows with every write: a writer who says which version it read
    is refused when somebody else has written since.

    **Whose.** A fact written in a scope with a session belongs to that session, otherwise to the user. `get` and
    `list` in a session give its own fact, or else the user's. `put`, `delete` and `history` are about exactly the scope
    they name; `erase` and `export` of a user's scope take in all sessions. `Fact.scope` says whose a fact is.

    **When.** A fact holds from `valid_from` until `valid_until`, or until a newer value begins: that replaces all that
    was known from its `valid_from` on, plans included. A value whose end lies in the past already is history and
    replaces nothing. `as_of` asks what held at a moment by what is known today: with writes that begin when they are
    made, which is the default, that is what was believed then; a `valid_from` in the past corrects it. `history` has
    every write, with the time at which it was made.

    Each method has an async twin with the same arguments, whose name begins with an `a`.

    ```python
    from langchain_tiered_memory import InMemoryFactStore, MemoryScope

    facts, ada = InMemoryFactStore(), MemoryScope(user="ada")
    fact = facts.put(ada, "ada", "seats", 2)
    facts.put(ada, "ada", "seats", 3, expected_version=fact.version)
    assert facts.get(ada, "ada", "seats").value == 3
    ```

    Args:
        rows: Keeps the rows, for the sync methods; its methods never suspend.
        arows: Keeps the same rows, for the async methods.
        clock: Gives the time; the system's UTC time if not given.
        validities: How long a fact of each class holds, where not 7 days, 90 days and without end (`None`).
    """

    def __init__(
        self, rows: FactRows, arows: FactRows, *, clock: Clock | None = None, validities: Validities | None = None
    ) -> None:
        self._rows, self._arows = rows, arows
        self._clock: Clock = clock or utc_now
        known = {**_VALIDITIES, **(validities or {})}
        if unknown := sorted(map(repr, set(known) - set(_VALIDITIES))):
            msg = f"validities are {', '.join(_VALIDITIES)}, got {', '.join(unknown)}"
            raise ValueError(msg)
        self._lifetimes = {
            name: None if length is None else _micros_long(length, f"validities[{name!r}]")
            for name, length in known.items()
        }

    # --- writing ------------------------------------------------------------------------------------------------------

    def put(
        self,
        scope: MemoryScope,
        entity: str,
        attribute: str,
        value: Any,  # noqa: ANN401  # any JSON
        *,
        ttl: Duration | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        validity: Validity = "long",
        expected_version: int | None = None,
        turn_id: int | None = None,
        source: Source | Sequence[str] = None,
        merge: Merge | None = None,
    ) -> Fact:
        """Write a fact in one atomic step.

        Args:
            scope: Whose fact it is.
            entity: What it is about; any text of 1 to 512 characters that is not blank.
            attribute: What is said of it; as above.
            value: JSON: text, whole and finite numbers, `True`, `False`, `None`, lists, and dicts with keys of text.
            ttl: How long it holds from `valid_from` on, in seconds or as a timedelta.
            valid_from: From when on it holds; now if not given.
            valid_until: When it stops holding, instead of a `ttl`.
            validity: The class that gives its lifetime where neither `ttl` nor `valid_until` is given.
            expected_version: Refuse unless this is the present version; 0 where there must be none yet. A fact that has
                ended or was deleted is not there; one that has yet to begin is.
            turn_id: The number of the turn it was said in, in one order for all writers of the fact. A write with an
                older turn than a value that is stored is kept as history and never takes that value's place.
            source: Where it comes from: a name, or ids of messages.
            merge: Called with the present value and the new one where a write would replace a value that its writer has
                not seen: the `expected_version` is stale, or none was given. What it gives is written instead; it may
                be called again if somebody writes meanwhile.

        Returns:
            What was written. A late one, or one about the past, may be over: its `valid_until` says so.

        Raises:
            VersionConflictError: `expected_version` is stale; its `current` is the present fact. Or others wrote
                first 100 times in a row.
            TypeError: The value holds what JSON would not give back.
            ValueError: A name, a time or a number cannot be used.
            ScopeError: `scope` is no scope.
            MemoryStoreError: The store could not be reached or written.
        """
        key = key_of(scope, entity, attribute)
        change = self._change(value, ttl, valid_from, valid_until, validity, expected_version, turn_id, source)
        return run_sync(operations.put(self._rows, key, change, _checked(merge)))

    async def aput(
        self,
        scope: MemoryScope,
        entity: str,
        attribute: str,
        value: Any,  # noqa: ANN401  # as above
        *,
        ttl: Duration | None = None,
        valid_from: Moment | None = None,
        valid_until: Moment | None = None,
        validity: Validity = "long",
        expected_version: int | None = None,
        turn_id: int | None = None,
        source: Source | Sequence[str] = None,
        merge: Merge | None = None,
    ) -> Fact:
        """`put`, awaited. A task that is cancelled meanwhile may still have written."""
        key = key_of(scope, entity, attribute)
        change = self._change(value, ttl, valid_from, valid_until, validity, expected_version, turn_id, source)
        return await operations.put(self._arows, key, change, _checked(merge))

    def _change(  # what `put` is given
        self,
        value: object,
        ttl: Duration | None,
        valid_from: Moment | None,
        valid_until: Moment | None,
        validity: Validity,
        expected: int | None,
        turn_id: int | None,
        source: Source | Sequence[str],
    ) -> Change:
        check_whole("expected_version", expected)
        check_whole("turn_id", turn_id)
        now = self._now()
        begin = now if valid_from is None else micros_of(in_utc(valid_from, "valid_from"))
        if validity not in tuple(self._lifetimes):  # compared and not hashed: it may be anything
            msg = f"validity is {', '.join(map(repr, self._lifetimes))}, got {validity!r}"
            raise ValueError(msg)
        if (ttl is not None) + (valid_until is not None) + (validity != "long") > 1:
            msg = "a fact has one end: give one of ttl, valid_until and validity"
            raise ValueError(msg)
        if valid_until is not None:
            end = micros_of(in_utc(valid_until, "valid_until"))
            if end <= begin:
                msg = f"valid_until={valid_until!r} is not after the fact's beginning: give a later one"
                raise ValueError(msg)
        else:
            lifetime = self._lifetimes[validity] if ttl is None else _micros_long(ttl, "ttl")
            end = FOREVER if lifetime is None else min(begin + lifetime, FOREVER)
        return Change(now, expected, encode_value(value), begin, end, turn_id, encode_source(source))

    def delete(self, scope: MemoryScope, entity: str, attribute: str, expected_version: int | None = None) -> bool:
        """End a fact, and what was planned for it, now; its history stays, and its versions go on.

        Args:
            scope: Whose fact it is.
            entity: What it is about.
            attribute: What is said of it.
            expected_version: Refuse unless this is the present version.

        Returns:
            Whether there was one.

        Raises:
            VersionConflictError: `expected_version` is stale; its `current` is the present fact.
            MemoryStoreError: The store could not be reached or written.
        """
        check_whole("expected_version", expected_version)
        return run_sync(operations.delete(self._rows, key_of(scope, entity, attribute), expected_version, self._now()))

    async def adelete(
        self, scope: MemoryScope, entity: str, attribute: str, expected_version: int | None = None
    ) -> bool:
        """`delete`, awaited."""
        check_whole("expected_version", expected_version)
        return await operations.delete(self._arows, key_of(scope, entity, attribute), expected_version, self._now())

    def erase(self, scope: MemoryScope) -> int:
        """Delete everything that is known in a scope, history included; a user's scope takes in all sessions.

        Returns:
            How many facts went, each version that `export` gives counted.
        """
        return run_sync(self._rows.erase(check_scope(scope)))

    async def aerase(self, scope: MemoryScope) -> int:
        """`erase`, awaited."""
        return await self._arows.erase(check_scope(scope))

    # --- reading ------------------------------------------------------------------------------------------------------

    def get(self, scope: MemoryScope, entity: str, attribute: str, as_of: Moment | None = None) -> Fact | None:
        """The fact that holds now, or at a moment; in a session its own, or else the user's.

        Args:
            scope: Whose fact.
            entity: What it is about.
            attribute: What is said of it.
            as_of: The moment; now if not given.

        Returns:
            The fact; `None` if there is none, or if it has ended, has yet to begin or was deleted.

        Raises:
            MemoryStoreError: The store could not be reached or read.
        """
        return run_sync(operations.get(self._rows, scope, entity, attribute, as_of, self._now()))

    async def aget(self, scope: MemoryScope, entity: str, attribute: str, as_of: Moment | None = None) -> Fact | None:
        """`get`, awaited."""
        return await operations.get(self._arows, scope, entity, attribute, as_of, self._now())

    def list(
        self,
        scope: MemoryScope,
        entity: str | None = None,
        prefix: str | None = None,
        *,
        as_of: Moment | None = None,
    ) -> Facts:
        """The facts that hold now, or at a moment, sorted by entity and attribute.

        Args:
            scope: Whose facts. In a session its own, and those of the user that it has none of its own for.
            entity: Only what is about this.
            prefix: Only attributes that begin so.
            as_of: The moment; now if not given.
        """
        return run_sync(operations.list_facts(self._rows, scope, entity, prefix, as_of, self._now()))

    async def alist(
        self,
        scope: MemoryScope,
        entity: str | None = None,
        prefix: str | None = None,
        *,
        as_of: Moment | None = None,
    ) -> Facts:
        """`list`, awaited."""
        return await operations.list_facts(self._arows, scope, entity, prefix, as_of, self._now())

    def history(self, scope: MemoryScope, entity: str, attribute: str) -> Facts:
        """Every version of a fact of exactly this scope, in the order in which they were written.

        Each with the time at which it ended: by itself, by a newer one or by a deletion. One that ended at its
        beginning never held, because what replaced it began no later.
        """
        key = key_of(scope, entity, attribute)
        return [fact_of(key, *ended) for ended in endings(run_sync(self._rows.rows(key)))]

    async def ahistory(self, scope: MemoryScope, entity: str, attribute: str) -> Facts:
        """`history`, awaited."""
        key = key_of(scope, entity, attribute)
        return [fact_of(key, *ended) for ended in endings(await self._arows.rows(key))]

    def export(self, scope: MemoryScope) -> Facts:
        """Everything that is known in a scope, history included, as `erase` would delete it."""
        return run_sync(operations.export(self._rows, scope))

    async def aexport(self, scope: MemoryScope) -> Facts:
        """`export`, awaited."""
        return await operations.export(self._arows, scope)

    def _now(self) -> int:
        return micros_of(now_of(self._clock))


def _micros_long(length: Duration, name: str) -> int:
    """A duration in microseconds, one at least, and no longer than the calendar."""
    return max(1, round(min(seconds_of(length, name) * 1_000_000, FOREVER)))


def _checked(merge: Merge | None) -> Merge | None:
    given: object = merge
    if given is not None and not callable(given):
        msg = f"merge={merge!r:.80} cannot be called: give a function of the present value and the new one"
        raise TypeError(msg)
    return merge
