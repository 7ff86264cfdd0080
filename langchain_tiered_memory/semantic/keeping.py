"""Exact values that leave the window, kept as facts: what the summary tier finds without a model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Final

from langchain_tiered_memory.events import Compaction, MemoryEvent
from langchain_tiered_memory.semantic.keys import LONGEST_NAME, check_scope
from langchain_tiered_memory.semantic.records import Fact
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.constraints import Constraint, find_constraints, topic_of

__all__ = ["facts_of_constraints", "keep_values"]

_DIGITS: Final = 16


def facts_of_constraints(store: FactStore, scope: MemoryScope, constraints: Iterable[Constraint]) -> list[Fact]:
    """Store the exact values among constraints as facts, each under what it is about.

    The entity is `said by user`, `said by tool` and so on, the attribute the constraint's topic, the value the sentence
    word for word. A later sentence about the same topic replaces an earlier one, and the earlier stays in the history.
    In a session's scope the number of the message is the turn, so that an earlier sentence that comes late replaces
    nothing. A sentence that is stored already is not written again.

    Args:
        store: Where to.
        scope: Whose; usually the session's, since what "the total" is differs between sessions.
        constraints: As `find_constraints` gives them; rules are left out.

    Returns:
        The facts that were written.

    Raises:
        MemoryStoreError: The store could not be reached or written.
    """
    check_scope(scope)
    written = []
    for constraint in constraints:
        if constraint.kind != "value":
            continue
        entity, attribute = f"said by {constraint.source}", _attribute(constraint)
        present = store.get(scope, entity, attribute)
        if present is not None and present.scope == scope and present.value == constraint.text:
            continue
        number = constraint.number
        turn_id = number if scope.session is not None else None
        source = None if number is None else f"message {number}"
        written.append(store.put(scope, entity, attribute, constraint.text, turn_id=turn_id, source=source))
    return written


def keep_values(store: FactStore, scope: Callable[[str], MemoryScope] | MemoryScope) -> Callable[[MemoryEvent], None]:
    """A hook that stores the exact values of messages as facts, at the moment at which these leave the window.

    ```python
    from langchain_tiered_memory import InMemoryFactStore, MemoryScope, SummaryMemory
    from langchain_tiered_memory.semantic.keeping import keep_values

    facts = InMemoryFactStore()
    keep = keep_values(facts, lambda session_id: MemoryScope(user="ada", session=session_id))
    memory = SummaryMemory(max_tokens=1_000, hooks=[keep])
    ```

    Args:
        store: Where to. It is written to where the compaction happens, on an event loop too.
        scope: Whose facts they are, or a function that says so for the id of a session.
    """

    def keep(event: MemoryEvent) -> None:
        if not isinstance(event, Compaction):
            return
        whose = scope if isinstance(scope, MemoryScope) else scope(event.session_id)
        # Where a run of messages left, the first one's number gives those of the others.
        is_run = len(event.removed) == event.last - event.first + 1
        for place, message in enumerate(event.removed):
            number = event.first + place if is_run else None
            facts_of_constraints(store, whose, find_constraints(message, number=number))

    return keep


def _attribute(constraint: Constraint) -> str:
    """What a value is about; a value without words of its own is about itself."""
    topic = (constraint.topic or topic_of(constraint.text)).strip()
    if topic and len(topic) <= LONGEST_NAME:
        return topic
    digest = hashlib.sha256((topic or constraint.text).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{(topic or constraint.text)[: LONGEST_NAME - _DIGITS - 1]} {digest[:_DIGITS]}"
