"""A constraint, as data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from langchain_core.messages import BaseMessage

__all__ = ["Constraint", "ConstraintDetector", "Source"]

Source: TypeAlias = Literal["user", "assistant", "tool", "system"]


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
        topic: What it is about, for telling which one a later sentence changes: words in lower case, with a space
            between. `""` leaves it to the text, and is what `find_constraints` gives.
        weak: Whether it binds without saying so: it names a bound ("my budget is 900 EUR"), or tells to do something
            without a word that makes it a rule for good ("save the receipts in the shared folder"). Where not every
            rule has room, one that says outright what to do or not to do goes first.
    """

    text: str
    kind: Literal["rule", "value"]
    number: int | None
    source: Source
    topic: str = ""
    weak: bool = False

    @property
    def binds(self) -> bool:
        """Whether somebody said it who may lay down rules: the user, or a system message."""
        return self.source in {"user", "system"}


ConstraintDetector: TypeAlias = Callable[[BaseMessage], Sequence[Constraint]]
"""Finds the constraints of one message; give your own where the domain has other exact values."""
