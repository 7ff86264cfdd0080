"""In what form a model is asked for facts, and what can be stored of its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.semantic.keys import LONGEST_NAME

if TYPE_CHECKING:
    from langchain_tiered_memory.semantic.records import Validity

__all__ = ["SCHEMA", "Found", "Numbered", "found_in"]

SCHEMA: Final[dict[str, Any]] = {
    "title": "Facts",
    "description": "What is stated in the messages and will still matter in a later conversation.",
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "entity": {"type": "string", "description": "Who or what it is about: user, or a name"},
                    "attribute": {"type": "string", "description": "What is said of it, in snake_case: home_city"},
                    "value": {
                        "description": "The value exactly as it was stated",
                        "anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}],
                    },
                    "messages": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "description": "The numbers of the messages that state it",
                    },
                    "validity": {
                        "type": "string",
                        "enum": ["short", "medium", "long"],
                        "description": "short: for days; medium: for weeks; long: until it is said otherwise",
                    },
                },
                "required": ["entity", "attribute", "value", "messages", "validity"],
                "additionalProperties": False,
            },
        },
    },
    "required": ["facts"],
    "additionalProperties": False,
}
"""The form in which a model is asked for facts."""

Numbered: TypeAlias = dict[int, BaseMessage]
"""The messages that the model reads, by the numbers that it knows them by."""
Found: TypeAlias = "tuple[str, str, Any, tuple[str, ...], Validity]"
"""Entity, attribute, value, the ids of the messages that it comes from, and how long it holds."""


def found_in(answer: Any, numbered: Numbered, refused: list[str]) -> list[Found]:  # noqa: ANN401  # a model's answer
    """What can be stored of an answer; the last value of each attribute."""
    facts = answer.get("facts") if isinstance(answer, Mapping) else None
    if not isinstance(facts, list):
        msg = (
            f"the model gave no facts of the form that it was asked for, but {answer!r:.200}: name a model that can "
            "give structured output"
        )
        raise TieredMemoryError(msg)
    found: dict[tuple[str, str], Found] = {}
    for fact in facts:
        reason = _reason_against(fact, numbered)
        if reason:
            refused.append(f"{fact!r:.80}: {reason}")
            continue
        entity, attribute = fact["entity"].strip(), fact["attribute"].strip()
        numbers = dict.fromkeys(number for number in fact["messages"] if _is_number_of(numbered, number))
        source = tuple(numbered[number].id or str(number) for number in numbers)
        validity: Validity = "long"
        if fact.get("validity") in ("short", "medium"):  # a model may answer what has no hash
            validity = fact["validity"]
        found[entity, attribute] = (entity, attribute, fact.get("value"), source, validity)
    return list(found.values())


def _reason_against(fact: Any, numbered: Numbered) -> str:  # noqa: ANN401  # as above
    if not isinstance(fact, Mapping):
        return "no fact"
    for name in ("entity", "attribute"):
        text = fact.get(name)
        if not isinstance(text, str) or not 0 < len(text.strip()) <= LONGEST_NAME:
            return f"its {name} cannot be used"
    if fact.get("value") is None or fact["value"] == "":
        return "it has no value"
    numbers = fact.get("messages")
    if not isinstance(numbers, list) or not any(_is_number_of(numbered, number) for number in numbers):
        return "it names no message that it comes from"
    return ""


def _is_number_of(numbered: Numbered, number: Any) -> bool:  # noqa: ANN401  # as above
    return type(number) is int and number in numbered  # True is no 1
