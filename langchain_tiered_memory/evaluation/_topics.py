"""What made-up users talk about: the form in which both languages write it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

__all__ = ["LIFETIMES", "Language", "Lasting", "Rule", "Topic"]

Lasting: TypeAlias = Literal["7-day", "90-day", "permanent"]
LIFETIMES: Final[dict[Lasting, float | None]] = {"7-day": 7.0, "90-day": 90.0, "permanent": None}
"""Days that a class of facts stays true; `None` for ever."""


@dataclass(frozen=True, slots=True)
class Topic:
    """An attribute that several things have, and how people say it, change it and ask for it.

    Attributes:
        attribute: Its name.
        lasting: How long such a fact stays true.
        entities: What has it; `{e}` in the sentences.
        values: What it can be; `{v}` in the sentences.
        says: Ways to say it.
        changes: Ways to say that it is something else now.
        asks: Ways to ask for it, some of them in other words.
    """

    attribute: str
    lasting: Lasting
    entities: tuple[str, ...]
    values: tuple[str, ...]
    says: tuple[str, ...]
    changes: tuple[str, ...]
    asks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A standing instruction, and how to ask for it."""

    text: str
    ask: str


@dataclass(frozen=True, slots=True)
class Language:
    """All that is said in one language.

    Attributes:
        topics: What is told and asked.
        rules: What the users forbid and demand.
        small_talk: What is said and answers nothing.
        openers: What a message may begin with.
    """

    topics: tuple[Topic, ...]
    rules: tuple[Rule, ...]
    small_talk: tuple[str, ...]
    openers: tuple[str, ...]
