"""Which of a key's rows held when: the one place where it is decided, for every store.

Rows come in the order in which they were written. A row that leads decides from its `valid_from` on, until a newer one
that leads has begun: what was known before is over then, plans included. A row that does not lead is history:

- it was over when it was written (a statement about the past): it is the newest word on its own interval, and ends
  nothing;
- a later turn had spoken before it arrived: it stands where it would have stood had it come in order, and ends where
  the later turn begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeGuard

from langchain_tiered_memory.semantic.records import Row

__all__ = ["endings", "holds_now", "is_live", "valid_at"]

_NEVER: Final = 1 << 63


def is_live(head: Row | None, now: int) -> TypeGuard[Row]:
    """Whether the newest row that leads holds or will: then an expected version must be its version, otherwise 0."""
    return head is not None and not head.deleted and now < head.valid_until


def holds_now(row: Row, now: int) -> bool:
    """Whether a row has begun, for a reader at `now`.

    What had begun when it was written has begun for everybody, though a reader's clock be behind the writer's.
    """
    return row.valid_from <= now or row.valid_from <= row.updated_at


def valid_at(rows: Sequence[Row], moment: int, *, now: bool = False) -> tuple[Row, int] | None:
    """The row that held at a moment, and when it ended.

    Args:
        rows: All rows of a key, in any order.
        moment: The moment asked for.
        now: Whether the moment is the present one, see `holds_now`.
    """
    edge = _NEVER
    for row in reversed(_in_order(rows)):
        begun = holds_now(row, moment) if now else row.valid_from <= moment
        end = min(row.valid_until, edge)
        if begun and moment < end and not row.deleted:
            return row, end
        if begun and row.leads:
            return None
        if row.leads:
            edge = min(edge, row.valid_from)
    return None


def endings(rows: Sequence[Row]) -> list[tuple[Row, int]]:
    """The facts among the rows of a key, oldest first, each with its end; an end at its beginning: it never held."""
    edge = _NEVER
    found = []
    for row in reversed(_in_order(rows)):
        if not row.deleted:
            found.append((row, max(row.valid_from, min(row.valid_until, edge))))
        if row.leads:
            edge = min(edge, row.valid_from)
    found.sort(key=lambda one: one[0].version)
    return found


def _in_order(rows: Sequence[Row]) -> list[Row]:
    """Oldest knowledge first: as they were written, but a late row before the turns that are later than its own."""
    order: list[Row] = []
    high = -1
    for row in sorted(rows):
        turn = -1 if row.turn_id is None else row.turn_id
        if row.turn_id is not None and turn < high:
            place = next(i for i, other in enumerate(order) if other.turn_id is not None and other.turn_id > turn)
            order.insert(place, row)
        else:
            order.append(row)
            if row.leads:
                high = max(high, turn)
    return order
