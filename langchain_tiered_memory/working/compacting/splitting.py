"""Cuts what a summarizer is to read into parts that fit its window, between units where that is possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages._transcript_text import render
from langchain_tiered_memory.messages.units import walk_units

__all__ = ["batches", "group_units", "split_parts"]

Cost: TypeAlias = Callable[[BaseMessage], int]
_Sized: TypeAlias = tuple[int, list[int]]
"""The tokens of a row of units, and the positions of its messages."""


def group_units(messages: Sequence[BaseMessage]) -> list[list[int]]:
    """The positions of the messages of each unit, in order; a result that answers no call is a unit of its own."""
    groups = [sorted((unit.head, *unit.positions)) for unit in walk_units(messages)]
    taken = {position for group in groups for position in group}
    groups += [[position] for position in range(len(messages)) if position not in taken]
    return sorted(groups)


def batches(messages: Sequence[BaseMessage], room: int, cost: Cost) -> Iterator[list[int]]:
    """Positions of as many whole units in a row as fit a room; a unit that is larger than it comes alone.

    Units that are interleaved (a late result stands behind the next call) are not taken apart. The last two batches
    share what they have, since a summary of the few words that would be left for the last takes more than they do.
    """
    batch: list[_Sized] = []
    before: list[_Sized] = []
    spent = 0
    for row in _rows(group_units(messages)):
        size = sum(cost(messages[position]) for position in row)
        if batch and spent + size > room:
            if before:
                yield _positions(before)
            before, batch, spent = batch, [], 0
        batch.append((size, row))
        spent += size
    while len(before) > 1 and _tokens(batch) + before[-1][0] <= min(room, _tokens(before) - before[-1][0]):
        batch.insert(0, before.pop())
    yield from (_positions(one) for one in (before, batch) if one)


def _tokens(batch: Sequence[_Sized]) -> int:
    return sum(size for size, _ in batch)


def _positions(batch: Sequence[_Sized]) -> list[int]:
    return [position for _, row in batch for position in row]


def _rows(groups: Sequence[list[int]]) -> Iterator[list[int]]:
    """Groups as rows of neighbours: those that are interleaved together."""
    row: list[int] = []
    end = -1
    for group in groups:
        if row and group[0] > end:
            yield sorted(row)
            row = []
        row += group
        end = max(end, group[-1])
    if row:
        yield sorted(row)


def split_parts(messages: Sequence[BaseMessage], room: int, cost: Cost) -> Iterator[list[BaseMessage]]:
    """The messages in parts that fit a room each, none left out and none twice.

    A message that does not fit by itself is cut into pieces of its text, each a message of the same kind.

    Args:
        messages: What is to be read.
        room: Tokens that a part may take, at least 1.
        cost: Tokens of a message.
    """
    for batch in batches(messages, room, cost):
        whole = [messages[position] for position in batch]
        if sum(map(cost, whole)) <= room:
            yield whole
            continue
        part: list[BaseMessage] = []
        spent = 0
        for piece in (piece for message in whole for piece in _pieces(message, room, cost)):
            size = cost(piece)
            if part and spent + size > room:
                yield part
                part, spent = [], 0
            part.append(piece)
            spent += size
        yield part


def _pieces(message: BaseMessage, room: int, cost: Cost) -> Iterator[BaseMessage]:
    if cost(message) <= room:
        yield message
        return
    text = message.content if isinstance(message.content, str) else ""
    rest: dict[str, Any] = {}
    if isinstance(message, AIMessage):
        rest = {"tool_calls": [], "invalid_tool_calls": [], "additional_kwargs": {}}
    if not text or any(getattr(message, field, None) for field in rest):
        text = render(message)  # with media and calls written out

    def piece(start: int, end: int) -> BaseMessage:
        return message.model_copy(update={"content": text[start:end], **rest})

    start, length = 0, len(text)
    while start < len(text):
        while length > 1 and cost(piece(start, start + length)) > room:
            length = max(1, length // 2)
        yield piece(start, start + length)
        start += length
