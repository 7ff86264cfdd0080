"""The port of the fact stores: what can be asked of facts, whatever they are kept in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_tiered_memory._driving import adrive, drive
from langchain_tiered_memory._times import Duration, Moment, micros_of, now_of, utc_now
from langchain_tiered_memory.semantic._backend import FactBackend
from langchain_tiered_memory.semantic._reading import exporting, first, keys_of, listing, looking_back, owner_of
from langchain_tiered_memory.semantic._writing import Merge, change_of, deleting, merging, micros_long, written
from langchain_tiered_memory.semantic.keys import key_of
from langchain_tiered_memory.semantic.records import Fact, Source, Validity, fact_of
from langchain_tiered_memory.semantic.timeline import endings

if TYPE_CHECKING:
    from langchain_tiered_memory.semantic.records import Change
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["FactStore", "Merge"]

Facts: TypeAlias = list[Fact]
"""Named here, since inside of a store `list` is a method."""

_VALIDITIES: Final[dict[Validity, timedelta | None]] = {
    "short": timedelta(days=7),
    "medium": timedelta(days=90),
    "long": None,
}


class FactStore(FactBackend):
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

    A store derives from this class and writes the methods that begin with an underscore. Each public method has an
    async twin, which works in a thread off the event loop unless the store can do better.

    ```python
    from langchain_tiered_memory import InMemoryFactStore, MemoryScope

    facts, ada = InMemoryFactStore(), MemoryScope(user="ada")
    fact = facts.put(ada, "ada", "seats", 2)
    facts.put(ada, "ada", "seats", 3, expected_version=fact.version)
    assert facts.get(ada, "ada", "seats").value == 3
    ```

    Args:
        clock: Gives the time; the system's UTC time if not given.
        validities: How long a fact of each class holds, where not 7 days, 90 days and without end (`None`).
    """

    def __init__(
        self, *, clock: Clock | None = None, validities: Mapping[Validity, Duration | None] | None = None
    ) -> None:
        self._clock: Clock = clock or utc_now
        known: dict[Any, Any] = {**_VALIDITIES, **(validities or {})}
        if unknown := sorted(map(repr, set(known) - set(_VALIDITIES))):
            msg = f"validities are {', '.join(_VALIDITIES)}, got {', '.join(unknown)}"
            raise ValueError(msg)
        self._lifetimes: dict[Any, int | None] = {
            name: None if length is None else micros_long(length, f"validities[{name!r}]")
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
            entity: What it is about; any text of 1 to 512 characters.
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
        if merge is None:
            outcome = self._put(key, change)
            if outcome.row is not None and outcome.row.leads:
                return fact_of(key, outcome.row)
            return drive(written(self, key, change, outcome))
        return drive(merging(self, key, change, merge))

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
        if merge is None:
            outcome = await self._aput(key, change)
            if outcome.row is not None and outcome.row.leads:
                return fact_of(key, outcome.row)
            return await adrive(written(self, key, change, outcome))
        return await adrive(merging(self, key, change, merge))

    def _change(self, *given: Any) -> Change:  # noqa: ANN401  # what `put` is given
        return change_of(self._lifetimes, self._now(), *given)

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
        return drive(deleting(self, key_of(scope, entity, attribute), expected_version, self._now()))

    async def adelete(
        self, scope: MemoryScope, entity: str, attribute: str, expected_version: int | None = None
    ) -> bool:
        """`delete`, awaited."""
        return await adrive(deleting(self, key_of(scope, entity, attribute), expected_version, self._now()))

    def erase(self, scope: MemoryScope) -> int:
        """Delete everything that is known in a scope, history included; a user's scope takes in all sessions.

        Returns:
            How many facts went, each version that `export` gives counted.
        """
        return self._erase(owner_of(scope))

    async def aerase(self, scope: MemoryScope) -> int:
        """`erase`, awaited."""
        return await self._aerase(owner_of(scope))

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
        keys = keys_of(scope, entity, attribute)
        now = self._now()
        if as_of is None:
            found, fact = first(keys, self._heads(keys), now)
            if found:
                return fact
        return drive(looking_back(self, keys, as_of, now))

    async def aget(self, scope: MemoryScope, entity: str, attribute: str, as_of: Moment | None = None) -> Fact | None:
        """`get`, awaited."""
        keys = keys_of(scope, entity, attribute)
        now = self._now()
        if as_of is None:
            found, fact = first(keys, await self._aheads(keys), now)
            if found:
                return fact
        return await adrive(looking_back(self, keys, as_of, now))

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
        return drive(listing(self, scope, entity, prefix, as_of, self._now()))

    async def alist(
        self,
        scope: MemoryScope,
        entity: str | None = None,
        prefix: str | None = None,
        *,
        as_of: Moment | None = None,
    ) -> Facts:
        """`list`, awaited."""
        return await adrive(listing(self, scope, entity, prefix, as_of, self._now()))

    def history(self, scope: MemoryScope, entity: str, attribute: str) -> Facts:
        """Every version of a fact of exactly this scope, in the order in which they were written.

        Each with the time at which it ended: by itself, by a newer one or by a deletion. One that ended at its
        beginning never held, because what replaced it began no later.
        """
        key = key_of(scope, entity, attribute)
        return [fact_of(key, *ended) for ended in endings(self._rows(key))]

    async def ahistory(self, scope: MemoryScope, entity: str, attribute: str) -> Facts:
        """`history`, awaited."""
        key = key_of(scope, entity, attribute)
        return [fact_of(key, *ended) for ended in endings(await self._arows(key))]

    def export(self, scope: MemoryScope) -> Facts:
        """Everything that is known in a scope, history included, as `erase` would delete it."""
        return drive(exporting(self, scope))

    async def aexport(self, scope: MemoryScope) -> Facts:
        """`export`, awaited."""
        return await adrive(exporting(self, scope))

    def _now(self) -> int:
        return micros_of(now_of(self._clock))
