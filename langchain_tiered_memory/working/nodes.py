"""Summary nodes: which messages a summary stands for, kept append-only beside the messages.

A log stores nodes in the order in which they were written and never changes one. Which of them are live follows from
that order alone: a node replaces every earlier one whose messages it covers, and one that was handed on is out of the
view. So whatever happens between two writes, the nodes that are stored tell one consistent story.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_tiered_memory._times import from_micros, micros_of
from langchain_tiered_memory.errors import MemoryStoreError

if TYPE_CHECKING:
    from langchain_tiered_memory.working.constraints import Constraint

__all__ = ["TOP_LEVEL", "Span", "SummaryNode", "decode_node", "encode_node", "live_nodes", "merge_spans", "spans_of"]

Span: TypeAlias = tuple[int, int]
"""The numbers of the first and the last of some messages in a row."""

TOP_LEVEL: Final = 3


@dataclass(frozen=True, slots=True)
class SummaryNode:
    """A summary of some messages, or of older summaries of them.

    Attributes:
        level: 1 for a summary of messages, 2 and 3 for a summary of such summaries and the messages that followed.
        spans: The numbers of the messages that it stands for, as rows in order. More than one row where a message in
            between stayed in the view; none for constraints that were handed on by themselves.
        text: The summary.
        tokens: What the text takes, in tokens of the memory's counter.
        created_at: When it was written, in UTC, to the microsecond.
        constraints: Everything that must survive verbatim at the time of this node, of all live nodes together.
        handed_on: Whether it has left the view, as an episode.
    """

    level: int
    spans: tuple[Span, ...]
    text: str
    tokens: int
    created_at: datetime
    constraints: tuple[Constraint, ...] = ()
    handed_on: bool = False

    @property
    def first(self) -> int:
        """The number of the first message covered, 0 for none."""
        return self.spans[0][0] if self.spans else 0

    @property
    def last(self) -> int:
        """The number of the last message covered, 0 for none."""
        return self.spans[-1][1] if self.spans else 0

    @property
    def content_hash(self) -> str:
        """SHA-256 of the text, in hexadecimal."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def covers(self, number: int) -> bool:
        """Whether it stands for the message of that number."""
        return any(first <= number <= last for first, last in self.spans)

    def replaces(self, other: SummaryNode) -> bool:
        """Whether every message of another node is covered by this one."""
        return bool(other.spans) and all(
            any(first <= start and end <= last for first, last in self.spans) for start, end in other.spans
        )

    def handed(self) -> SummaryNode:
        """The same node, out of the view."""
        return replace(self, handed_on=True)


def live_nodes(nodes: Iterable[SummaryNode]) -> list[SummaryNode]:
    """The nodes that stand in the view, by the first message of each.

    Args:
        nodes: All nodes of a session in the order in which they were written.
    """
    live: list[SummaryNode] = []
    for node in nodes:
        live = [other for other in live if not node.replaces(other)]
        if node.spans and not node.handed_on:
            live.append(node)
    return sorted(live, key=lambda node: node.first)


def spans_of(numbers: Iterable[int]) -> tuple[Span, ...]:
    """Rows of consecutive numbers.

    >>> spans_of([4, 2, 3, 7])
    ((2, 4), (7, 7))
    """
    return merge_spans((number, number) for number in numbers)


def merge_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The same numbers in as few rows as possible, in order."""
    merged: list[Span] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], last))
        else:
            merged.append((first, last))
    return tuple(merged)


# --- as text ----------------------------------------------------------------------------------------------------------


def encode_node(node: SummaryNode) -> str:
    """Write a node as JSON text."""
    written: dict[str, Any] = {
        "level": node.level,
        "spans": node.spans,
        "text": node.text,
        "tokens": node.tokens,
        "created_at": micros_of(node.created_at),
        "content_hash": node.content_hash,
        "constraints": [
            {one.name: getattr(constraint, one.name) for one in fields(constraint)} for constraint in node.constraints
        ],
        "handed_on": node.handed_on,
    }
    return json.dumps(written, separators=(",", ":"))  # ASCII, so that lone surrogates are no trouble


def decode_node(session_id: str, number: int, text: str) -> SummaryNode:
    """Read a node that `encode_node` wrote.

    Raises:
        MemoryStoreError: It is no node, or its text is not the one that was written.
    """
    # A log that holds no summaries need not know how constraints are found.
    from langchain_tiered_memory.working.constraints import Constraint  # noqa: PLC0415

    known = {field.name for field in fields(Constraint)}
    try:
        read = json.loads(text)
        node = SummaryNode(
            level=int(read["level"]),
            spans=tuple((int(first), int(last)) for first, last in read["spans"]),
            text=str(read["text"]),
            tokens=int(read["tokens"]),
            created_at=from_micros(int(read["created_at"])),
            # A newer version may know more of a constraint, an older one has written more.
            constraints=tuple(
                Constraint(**{name: value for name, value in one.items() if name in known})
                for one in read["constraints"]
            ),
            handed_on=bool(read["handed_on"]),
        )
        problem = "" if node.content_hash == read["content_hash"] else "its text does not match its hash"
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(session_id, number, repr(error)) from error
    if problem:
        raise _unreadable(session_id, number, problem)
    return node


def _unreadable(session_id: str, number: int, why: str) -> MemoryStoreError:
    return MemoryStoreError(
        f"summary {number} of session {session_id!r} cannot be read: {why}. It was not written by this package, or by "
        "a newer version of it; the messages themselves are not touched, and nothing was changed"
    )
