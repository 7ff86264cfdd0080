"""The port of the fact stores: what can be asked of facts, whatever they are kept in."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Self, TypeAlias, TypeVar

from langchain_tiered_memory._driving import Steps, adrive, drive
from langchain_tiered_memory._times import FOREVER, Duration, Moment, in_utc, micros_of, now_of, seconds_of, utc_now
from langchain_tiered_memory.semantic.records import (
    Change,
    Fact,
    Key,
    Outcome,
    Owned,
    Row,
    Source,
    Validity,
    check_scope,
    check_text,
    check_whole,
    conflict_of,
    encode_source,
    fact_of,
    key_of,
)
from langchain_tiered_memory.semantic.timeline import endings, is_live, needs_history, valid_at
from langchain_tiered_memory.semantic.values import decode_value, encode_value

if TYPE_CHECKING:
    from langchain_tiered_memory.types import Clock, MemoryScope

__all__ = ["Do", "FactStore", "Merge"]

P = ParamSpec("P")
T = TypeVar("T")

Merge: TypeAlias = Callable[[Any, Any], Any]
"""Makes one value of the present one and the new one, in this order: `max`, `operator.add`, or a function of yours."""
Facts: TypeAlias = list[Fact]
"""Named here, since inside of a store `list` is a method."""

_VALIDITIES: Final[dict[Validity, timedelta | None]] = {
    "short": timedelta(days=7),
    "medium": timedelta(days=90),
    "long": None,
}
_MERGES: Final = 100


@dataclass(frozen=True, slots=True)
class Do:
    """Has a store do one of its methods that begin with an underscore, or its async twin, `_a` and the name."""

    store: FactStore
    method: str
    arguments: tuple[Any, ...]

    def run(self) -> Any:  # noqa: ANN401  # what the method gives
        """Do it."""
        return getattr(self.store, f"_{self.method}")(*self.arguments)

    async def arun(self) -> Any:  # noqa: ANN401  # as above
        """Do its twin, awaited."""
        return await getattr(self.store, f"_a{self.method}")(*self.arguments)


class FactStore(ABC):
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
        if unknown := sorted(set(known) - set(_VALIDITIES)):
            msg = f"validities are {', '.join(_VALIDITIES)}, got {', '.join(map(repr, unknown))}"
            raise ValueError(msg)
        self._lifetimes: dict[Any, int | None] = {
            name: None if length is None else _micros(length, f"validities[{name!r}]") for name, length in known.items()
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
            return drive(self._written(key, change, outcome))
        return drive(self._merging(key, change, merge))

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
            return await adrive(self._written(key, change, outcome))
        return await adrive(self._merging(key, change, merge))

    def _change(
        self,
        value: Any,  # noqa: ANN401  # as above
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
        end = self._end(begin, ttl, valid_until, validity)
        return Change(now, expected, encode_value(value), begin, end, turn_id, encode_source(source))

    def _end(self, begin: int, ttl: Duration | None, valid_until: Moment | None, validity: Validity) -> int:
        if validity not in self._lifetimes:
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
            return end
        lifetime = self._lifetimes[validity] if ttl is None else _micros(ttl, "ttl")
        return FOREVER if lifetime is None else min(begin + lifetime, FOREVER)

    def _merging(self, key: Key, change: Change, merge: Merge) -> Steps[Fact]:
        seen, new = change.expected, change.value
        if seen is None:
            (head,) = yield Do(self, "heads", ([key],))
            change = _merged(change, head, new, merge)
        outcome = Outcome(None)
        for _ in range(_MERGES):
            outcome = yield Do(self, "put", (key, change))
            if outcome.row is not None:
                break
            if seen is not None and not is_live(outcome.head, change.now):
                break  # the writer had seen a value, and now there is none to merge with
            change = _merged(change, outcome.head, new, merge)
        return (yield from self._written(key, change, outcome))

    def _written(self, key: Key, change: Change, outcome: Outcome) -> Steps[Fact]:
        row = outcome.row
        if row is None:
            raise conflict_of(key, change, outcome.head)
        if row.leads:
            return fact_of(key, row)
        rows = yield Do(self, "rows", (key,))  # it may be over at once, and whoever wrote it is told
        return next(fact_of(key, one, end) for one, end in endings(rows) if one.version == row.version)

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
        return drive(self._deleting(key_of(scope, entity, attribute), expected_version))

    async def adelete(
        self, scope: MemoryScope, entity: str, attribute: str, expected_version: int | None = None
    ) -> bool:
        """`delete`, awaited."""
        return await adrive(self._deleting(key_of(scope, entity, attribute), expected_version))

    def _deleting(self, key: Key, expected: int | None) -> Steps[bool]:
        check_whole("expected_version", expected)
        now = self._now()
        change = Change(now, expected, "null", now, FOREVER, deleted=1)
        for _ in range(_MERGES):
            (head,) = yield Do(self, "heads", ([key],))
            if not is_live(head, now):
                if expected:
                    raise conflict_of(key, change, head)
                return False
            if expected is not None and head.version != expected:
                raise conflict_of(key, change, head)
            outcome = yield Do(self, "put", (key, change._replace(expected=head.version)))
            if outcome.row is not None:
                return True
        raise conflict_of(key, change, outcome.head)

    def erase(self, scope: MemoryScope) -> int:
        """Delete everything that is known in a scope, history included; a user's scope takes in all sessions.

        Returns:
            How many facts went, each version that `export` gives counted.
        """
        return self._erase(_owner_of(scope))

    async def aerase(self, scope: MemoryScope) -> int:
        """`erase`, awaited."""
        return await self._aerase(_owner_of(scope))

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
        keys = _keys_of(scope, entity, attribute)
        if as_of is None:
            now = self._now()
            found, fact = _first(keys, self._heads(keys), now)
            if found:
                return fact
        return drive(self._looking_back(keys, as_of))

    async def aget(self, scope: MemoryScope, entity: str, attribute: str, as_of: Moment | None = None) -> Fact | None:
        """`get`, awaited."""
        keys = _keys_of(scope, entity, attribute)
        if as_of is None:
            now = self._now()
            found, fact = _first(keys, await self._aheads(keys), now)
            if found:
                return fact
        return await adrive(self._looking_back(keys, as_of))

    def _looking_back(self, keys: Sequence[Key], as_of: Moment | None) -> Steps[Fact | None]:
        moment = self._now() if as_of is None else micros_of(in_utc(as_of, "as_of"))
        for key in keys:
            rows = yield Do(self, "rows", (key,))
            found = valid_at(rows, moment, now=as_of is None)
            if found is not None:
                return fact_of(key, *found)
        return None

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
        return drive(self._listing(scope, entity, prefix, as_of))

    async def alist(
        self,
        scope: MemoryScope,
        entity: str | None = None,
        prefix: str | None = None,
        *,
        as_of: Moment | None = None,
    ) -> Facts:
        """`list`, awaited."""
        return await adrive(self._listing(scope, entity, prefix, as_of))

    def _listing(
        self, scope: MemoryScope, entity: str | None, prefix: str | None, as_of: Moment | None
    ) -> Steps[Facts]:
        check_scope(scope)
        check_text("entity", entity)
        check_text("prefix", prefix)
        found: dict[tuple[str, str], Fact] = {}
        for owner in _owners_of(scope):
            if as_of is None:
                facts = yield from self._listing_now(owner, entity, prefix)
            else:
                moment = micros_of(in_utc(as_of, "as_of"))
                owned = yield Do(self, "owned", (owner, entity, prefix))
                facts = [fact_of(key, *held) for key, rows in _by_key(owned) if (held := valid_at(rows, moment))]
            for fact in facts:
                found.setdefault((fact.entity, fact.attribute), fact)
        return [found[name] for name in sorted(found)]

    def _listing_now(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Steps[Facts]:
        now = self._now()
        facts = []
        for key, head in (yield Do(self, "owned_heads", (owner, entity, prefix))):
            if needs_history(head, now):
                held = valid_at((yield Do(self, "rows", (key,))), now, now=True)
                facts += [fact_of(key, *held)] if held else []
            elif is_live(head, now):
                facts.append(fact_of(key, head))
        return facts

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
        return drive(self._exporting(scope))

    async def aexport(self, scope: MemoryScope) -> Facts:
        """`export`, awaited."""
        return await adrive(self._exporting(scope))

    def _exporting(self, scope: MemoryScope) -> Steps[Facts]:
        owned: Sequence[Owned] = yield Do(self, "owned", (_owner_of(scope), None, None, True))
        return [fact_of(key, *ended) for key, rows in _by_key(owned) for ended in endings(rows)]

    def _now(self) -> int:
        return micros_of(now_of(self._clock))

    # --- opening and closing ------------------------------------------------------------------------------------------

    def close(self) -> None:  # noqa: B027  # a store without connections has nothing to close
        """Give back what the store holds open. Closing twice is fine."""

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._away(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def _away(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do blocking work off the event loop; a store that never blocks does it at once."""
        return await asyncio.to_thread(work, *args, **kwargs)

    # --- what a store does --------------------------------------------------------------------------------------------

    @abstractmethod
    def _put(self, key: Key, change: Change) -> Outcome:
        """Store a change as the key's next version, in one atomic step.

        Refused, with the newest row that leads, where `change.expected` is given and is not that row's version, or 0
        where that row is not live (see `is_live`). The new row leads unless it is over already
        (`valid_until <= now`) or a row that leads has a greater `turn_id`.

        Raises:
            VersionConflictError: Nothing was expected, and others wrote first again and again.
        """

    @abstractmethod
    def _heads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        """The newest row that leads, of each key."""

    @abstractmethod
    def _rows(self, key: Key) -> Sequence[Row]:
        """All rows of a key."""

    @abstractmethod
    def _owned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        """The newest rows that lead, of all keys of exactly this scope, or those of an entity or a prefix."""

    @abstractmethod
    def _owned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # two callers
    ) -> Sequence[Owned]:
        """All rows of a scope, key by key; with `sessions` and a scope without one, those of its sessions too."""

    @abstractmethod
    def _erase(self, owner: MemoryScope) -> int:
        """Delete all rows of a scope, of a user's sessions too, and count those that are no deletions."""

    async def _aput(self, key: Key, change: Change) -> Outcome:
        return await self._away(self._put, key, change)

    async def _aheads(self, keys: Sequence[Key]) -> Sequence[Row | None]:
        return await self._away(self._heads, keys)

    async def _arows(self, key: Key) -> Sequence[Row]:
        return await self._away(self._rows, key)

    async def _aowned_heads(self, owner: MemoryScope, entity: str | None, prefix: str | None) -> Sequence[Owned]:
        return await self._away(self._owned_heads, owner, entity, prefix)

    async def _aowned(
        self,
        owner: MemoryScope,
        entity: str | None,
        prefix: str | None,
        sessions: bool = False,  # noqa: FBT001, FBT002  # as above
    ) -> Sequence[Owned]:
        return await self._away(self._owned, owner, entity, prefix, sessions)

    async def _aerase(self, owner: MemoryScope) -> int:
        return await self._away(self._erase, owner)


def _keys_of(scope: MemoryScope, entity: str, attribute: str) -> Sequence[Key]:
    """Where to look for a fact: in the session, then with the user."""
    own = key_of(scope, entity, attribute)
    return [own] if scope.session is None else [own, key_of(scope.whole_user(), entity, attribute)]


def _owners_of(scope: MemoryScope) -> Sequence[MemoryScope]:
    return [scope] if scope.session is None else [scope, scope.whole_user()]


def _owner_of(scope: MemoryScope) -> MemoryScope:
    check_scope(scope)
    return scope


def _first(keys: Sequence[Key], heads: Sequence[Row | None], now: int) -> tuple[bool, Fact | None]:
    """Whether the newest rows are enough to say which fact holds now, and which."""
    for key, head in zip(keys, heads, strict=True):
        if head is not None and not head.deleted and now < head.valid_until:
            return (False, None) if needs_history(head, now) else (True, fact_of(key, head))
    return True, None


def _by_key(owned: Sequence[Owned]) -> Sequence[tuple[Key, Sequence[Row]]]:
    return [(key, [one.row for one in group]) for key, group in groupby(owned, key=lambda one: one.key)]


def _merged(change: Change, head: Row | None, new: str, merge: Merge) -> Change:
    """The change to try next: what the present value and the new one make together, over the present version."""
    if head is None or not is_live(head, change.now):
        return change._replace(value=new, expected=0)
    merged = encode_value(merge(decode_value(head.value), decode_value(new)))
    return change._replace(value=merged, expected=head.version)


def _micros(length: Duration, name: str) -> int:
    return max(1, round(seconds_of(length, name) * 1_000_000))
