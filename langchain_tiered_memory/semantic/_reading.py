"""How facts are read, on any store: each function yields what it needs of the store."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from langchain_tiered_memory._times import Moment, in_utc, micros_of
from langchain_tiered_memory.semantic._backend import Do
from langchain_tiered_memory.semantic.keys import check_scope, check_text, key_of
from langchain_tiered_memory.semantic.records import fact_of
from langchain_tiered_memory.semantic.timeline import endings, is_live, needs_history, valid_at

if TYPE_CHECKING:
    from langchain_tiered_memory._driving import Steps
    from langchain_tiered_memory.semantic._backend import FactBackend
    from langchain_tiered_memory.semantic.keys import Key
    from langchain_tiered_memory.semantic.records import Fact, Owned, Row
    from langchain_tiered_memory.types import MemoryScope

__all__ = ["exporting", "first", "keys_of", "listing", "looking_back", "owner_of"]


def keys_of(scope: MemoryScope, entity: str, attribute: str) -> Sequence[Key]:
    """Where to look for a fact: in the session, then with the user."""
    own = key_of(scope, entity, attribute)
    return [own] if scope.session is None else [own, key_of(scope.whole_user(), entity, attribute)]


def _owners_of(scope: MemoryScope) -> Sequence[MemoryScope]:
    return [scope] if scope.session is None else [scope, scope.whole_user()]


def owner_of(scope: MemoryScope) -> MemoryScope:
    """The scope, once it has been seen to be one."""
    check_scope(scope)
    return scope


def first(keys: Sequence[Key], heads: Sequence[Row | None], now: int) -> tuple[bool, Fact | None]:
    """Whether the newest rows are enough to say which fact holds now, and which."""
    for key, head in zip(keys, heads, strict=True):
        if is_live(head, now):
            return (False, None) if needs_history(head, now) else (True, fact_of(key, head))
    return True, None


def _by_key(owned: Sequence[Owned]) -> Sequence[tuple[Key, Sequence[Row]]]:
    return [(key, [one.row for one in group]) for key, group in groupby(owned, key=lambda one: one.key)]


def looking_back(store: FactBackend, keys: Sequence[Key], as_of: Moment | None, now: int) -> Steps[Fact | None]:
    """The fact that held at a moment, or holds now, by all that was written."""
    moment = now if as_of is None else micros_of(in_utc(as_of, "as_of"))
    for key in keys:
        rows = yield Do(store, "rows", (key,))
        found = valid_at(rows, moment, now=as_of is None)
        if found is not None:
            return fact_of(key, *found)
    return None


def listing(
    store: FactBackend,
    scope: MemoryScope,
    entity: str | None,
    prefix: str | None,
    as_of: Moment | None,
    now: int,
) -> Steps[list[Fact]]:
    """The facts that held at a moment, or hold now."""
    check_scope(scope)
    check_text("entity", entity)
    check_text("prefix", prefix)
    found: dict[tuple[str, str], Fact] = {}
    for owner in _owners_of(scope):
        if as_of is None:
            facts = yield from _listing_now(store, owner, entity, prefix, now)
        else:
            moment = micros_of(in_utc(as_of, "as_of"))
            owned = yield Do(store, "owned", (owner, entity, prefix))
            facts = [fact_of(key, *held) for key, rows in _by_key(owned) if (held := valid_at(rows, moment))]
        for fact in facts:
            found.setdefault((fact.entity, fact.attribute), fact)
    return [found[name] for name in sorted(found)]


def _listing_now(
    store: FactBackend, owner: MemoryScope, entity: str | None, prefix: str | None, now: int
) -> Steps[list[Fact]]:
    facts = []
    for key, head in (yield Do(store, "owned_heads", (owner, entity, prefix))):
        if needs_history(head, now):
            held = valid_at((yield Do(store, "rows", (key,))), now, now=True)
            facts += [fact_of(key, *held)] if held else []
        elif is_live(head, now):
            facts.append(fact_of(key, head))
    return facts


def exporting(store: FactBackend, scope: MemoryScope) -> Steps[list[Fact]]:
    """All facts of a scope, and of its sessions."""
    owned: Sequence[Owned] = yield Do(store, "owned", (owner_of(scope), None, None, True))
    return [fact_of(key, *ended) for key, rows in _by_key(owned) for ended in endings(rows)]
