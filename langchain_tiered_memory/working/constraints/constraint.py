"""A constraint, and how the constraints of a message are found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, is_synthetic, kind_of
from langchain_tiered_memory.working.constraints.priority import THRESHOLD, priority
from langchain_tiered_memory.working.constraints.sentences import (
    Sentence,
    compiled,
    is_question,
    one_line,
    pieces,
    said_text,
    split_sentences,
)
from langchain_tiered_memory.working.constraints.values import concludes, has_value, record_pairs

__all__ = ["RULE_BYTES", "Constraint", "ConstraintDetector", "Source", "find_constraints", "is_rule"]

Source: TypeAlias = Literal["user", "assistant", "tool", "system"]

RULE_BYTES: Final = 480
"""The longest rule that is kept as one sentence; of a longer one, the clauses that bind."""
_VALUE_BYTES: Final = 240
_PASTED: Final = {"rule": 12, "value": 32, "code": 8}
"""What is kept of what a user only pasted."""
_ASSISTANT_VALUES: Final = 3
_TOOL_VALUES: Final = 4
_TOOL_BYTES: Final = 16_000
"""What is read of a tool's result: only a few of its values are kept, and those it begins with tell what it is."""
_BARE: Final = 24
_NUMBER: Final = r"[\d\s.,:%+\-]+"
_QUESTION: Final = 0.8
"""The priority from which on a question is a polite way to lay down a rule."""
_SOURCES: Final[dict[Kind, Source]] = {
    "user": "user",
    "assistant": "assistant",
    "result": "tool",
    "system": "system",
    "other": "user",
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A sentence that must stay as it was said.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.working.constraints import find_constraints

    [found] = find_constraints(HumanMessage("Thanks! Never call the hotel before 9."))
    assert found.text == "Never call the hotel before 9."
    ```

    Attributes:
        text: The speaker's own words, a sentence or a clause, on one line.
        kind: `"rule"` binds the agent; `"value"` holds an exact value.
        number: The number of the message it was said in, where it is known.
        source: Who said it. Only a user, or a system message, lays down rules.
        topic: What it is about, as `topic_of` gives it; `""` leaves it to the text.
        priority: From 0 to 1: of what the user said, how likely it binds for good, and 0 if a later sentence changed
            it. What tools and the assistant said has 0 unless it is asked for.
    """

    text: str
    kind: Literal["rule", "value"]
    number: int | None
    source: Source
    topic: str = ""
    priority: float = 1.0

    @property
    def binds(self) -> bool:
        """Whether somebody said it who may lay down rules: the user, or a system message."""
        return self.source in {"user", "system"}


ConstraintDetector: TypeAlias = Callable[[BaseMessage], Sequence[Constraint]]
"""Finds the constraints of one message; give your own where the domain has other rules or exact values."""

_Found: TypeAlias = Iterator[tuple[str, Literal["rule", "value"], float]]


def find_constraints(message: BaseMessage, *, number: int | None = None) -> list[Constraint]:
    """Find the constraints of a message, in the order in which they stand there.

    Of what the user wrote, every sentence that a model takes for a rule counts, and every sentence with an exact value.
    Of what was only pasted (quoted lines, the middle of a message over 3,000 bytes) the first 12 rules and 32 values
    do, of code 8 values; of a text over 64,000 characters the middle is not read. What the assistant and tools say
    binds nobody: of it 3 conclusions with a value and 4 values a message are kept.

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
    unique: dict[str, Constraint] = {}
    for said, kind, rank in found:
        unique.setdefault(said, Constraint(said, kind, number, source, priority=round(rank, 3)))
    return list(unique.values())


def _of_user(text: str) -> _Found:
    left = dict(_PASTED)
    for sentence in split_sentences(text):
        if sentence.own:
            yield from _of_sentence(sentence)
        elif left["code" if sentence.code else "value"] or left["rule"]:
            for said, kind, rank in _of_sentence(sentence):
                budget = "code" if sentence.code else kind
                if left[budget]:
                    left[budget] -= 1
                    yield said, kind, rank


def _of_sentence(sentence: Sentence) -> _Found:
    for text in pieces(sentence.text, RULE_BYTES):
        rank = 0.0 if sentence.code else 1.0 if sentence.listed else priority(text)
        if _binds(text, rank):
            yield text, "rule", rank
        elif has_value(text):
            parts = pieces(text, _VALUE_BYTES)
            for part in parts:
                if len(parts) == 1 or has_value(part):
                    yield part, "value", 0.0 if is_question(text) else rank


def _binds(text: str, rank: float) -> bool:
    return rank >= (_QUESTION if rank < _QUESTION and is_question(text) else THRESHOLD)


def is_rule(text: str) -> bool:
    """Whether a sentence of a user counts as a rule.

    Args:
        text: The sentence, on one line.
    """
    return _binds(text, priority(text[:RULE_BYTES]))


def _of_assistant(text: str) -> _Found:
    sentences = split_sentences(text) if concludes(text) else ()
    parts = (part for one in sentences if not one.code for part in pieces(one.text, _VALUE_BYTES))
    telling = (part for part in parts if has_value(part) and concludes(part))
    return ((part, "value", 0.0) for part in islice(telling, _ASSISTANT_VALUES))


def _of_tool(text: str) -> _Found:
    # A bare "275" tells nothing without what was asked.
    parts = (part for part in _lines_of_result(text) if len(part) > _BARE or not compiled(_NUMBER).fullmatch(part))
    return ((part, "value", 0.0) for part in islice(filter(has_value, parts), _TOOL_VALUES))


def _lines_of_result(text: str) -> Iterator[str]:
    if text.lstrip()[:1] in ("{", "["):
        yield from map(one_line, record_pairs(text))
    else:
        for sentence in split_sentences(text):
            yield from pieces(sentence.text, _VALUE_BYTES)
