"""Finds the constraints of a message: sentences that bind, and sentences that hold exact values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, is_synthetic, kind_of
from langchain_tiered_memory.working.quoting.constraint import Constraint, Source
from langchain_tiered_memory.working.wording.cues import binds, bounds, is_conclusion, is_question
from langchain_tiered_memory.working.wording.reading import one_line, read, said_text
from langchain_tiered_memory.working.wording.sentences import Sentence, pieces, split_sentences
from langchain_tiered_memory.working.wording.topics import withdraws
from langchain_tiered_memory.working.wording.values import has_value, holds_value, record_pairs

__all__ = ["RULE_BYTES", "find_constraints"]

RULE_BYTES: Final = 480
"""The longest rule that is kept as one sentence; of a longer one, the clauses that bind."""
VALUE_BYTES: Final = 240
"""The longest sentence that is kept around a value; of a longer one, the clauses that hold values."""
_PASTED_RULES: Final = 12
_PASTED_VALUES: Final = 32
_CODE_VALUES: Final = 8
_ASSISTANT_VALUES: Final = 3
_TOOL_VALUES: Final = 4
_BARE: Final = 24
_BARE_NUMBER: Final = re.compile(r"[\d\s.,:%+\-]+")
_TOOL_BYTES: Final = 16_000
"""What is read of a tool's result: only a few of its values are kept, and those it begins with tell what it is."""

_SOURCES: Final[dict[Kind, Source]] = {
    "user": "user",
    "assistant": "assistant",
    "result": "tool",
    "system": "system",
    "other": "user",
}

_Class: TypeAlias = Literal["rule", "weak", "value"]
_Found: TypeAlias = Iterator[tuple[str, _Class]]


def find_constraints(message: BaseMessage, *, number: int | None = None) -> list[Constraint]:
    """Find the constraints of a message, in the order in which they stand there.

    Of what the user wrote, every rule and every sentence with a value counts. Of what was only pasted (quoted lines,
    the middle of a message over 3,000 bytes) the first 12 rules and 32 values do, of code 8 values; of a text over
    64,000 characters the middle is not read. What the assistant and tools say binds nobody: of it 3 conclusions with a
    value and 4 values a message are kept.

    Args:
        message: Any message; it is not changed. A summary, or a result that was made up to close a call, has none.
        number: The message's number, for `Constraint.number`.

    Returns:
        The constraints, none twice.
    """
    if is_summary(message) or is_synthetic(message):
        return []
    source = _SOURCES[kind_of(message)]
    text = said_text(message)
    if source == "assistant":
        found = _of_assistant(text)
    elif source == "tool":
        found = _of_tool(text[:_TOOL_BYTES])
    else:
        found = _of_user(text)
    unique: dict[str, _Class] = {}
    for said, kind in found:
        unique.setdefault(said, kind)
    return [
        Constraint(said, "value" if kind == "value" else "rule", number, source, weak=kind == "weak")
        for said, kind in unique.items()
    ]


def _of_user(text: str) -> _Found:
    left = {"rule": _PASTED_RULES, "value": _PASTED_VALUES, "code": _CODE_VALUES}
    for sentence in split_sentences(text):
        if sentence.own:
            yield from _of_sentence(sentence)
            continue
        if not left["code" if sentence.code else "value"] and not left["rule"]:
            continue
        for said, kind in _of_sentence(sentence):
            budget = "code" if sentence.code else "value" if kind == "value" else "rule"
            if left[budget]:
                left[budget] -= 1
                yield said, kind


def _of_sentence(sentence: Sentence) -> _Found:
    for text in pieces(sentence.text, RULE_BYTES):
        piece = read(text)
        if not sentence.code:
            question = is_question(text)
            if sentence.listed or binds(piece, question=question) or withdraws(piece):
                yield text, "rule"
                continue
            if not question and bounds(piece):
                yield text, "weak"
                continue
        if has_value(piece):
            for part in _valued(text):
                yield part, "value"


def _valued(text: str) -> list[str]:
    """The parts of a piece that hold values; the whole where it is short."""
    parts = pieces(text, VALUE_BYTES)
    return parts if len(parts) == 1 else [part for part in parts if holds_value(part)]


def _of_assistant(text: str) -> _Found:
    if not is_conclusion(read(text)):  # what no sentence can be without; most answers end here
        return
    left = _ASSISTANT_VALUES
    for sentence in split_sentences(text):
        if sentence.code:
            continue
        for part in pieces(sentence.text, VALUE_BYTES):
            piece = read(part)
            if is_conclusion(piece) and has_value(piece):
                yield part, "value"
                left -= 1
                if not left:
                    return


def _of_tool(text: str) -> _Found:
    left = _TOOL_VALUES
    if text.lstrip()[:1] in ("{", "["):
        said: Iterable[str] = (one_line(pair) for pair in record_pairs(text))
    else:
        said = (part for sentence in split_sentences(text) for part in pieces(sentence.text, VALUE_BYTES))
    for part in said:
        # A bare "275" tells nothing without what was asked.
        if holds_value(part) and (len(part) > _BARE or not _BARE_NUMBER.fullmatch(part)):
            yield part, "value"
            left -= 1
            if not left:
                return
