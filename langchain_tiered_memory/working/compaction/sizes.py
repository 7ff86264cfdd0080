"""When a compaction is due and what it keeps, in LangChain's words: `("tokens", 3000)`, `("rounds", 3)` and so on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

__all__ = ["Condition", "Limits", "Sizes", "limits_of"]

Condition: TypeAlias = tuple[str, int]
"""A unit (`"tokens"`, `"messages"` or `"rounds"`) and how many of it."""
Clause: TypeAlias = tuple[Condition, ...]
"""Conditions that hold together."""

_UNITS: Final = ("tokens", "messages", "rounds", "fraction")
_FORMS: Final = (
    '("tokens", n), ("messages", n), ("rounds", n) or ("fraction", f), a dict of them that must hold together, '
    "or a list of which one must hold"
)
_MARGIN: Final = 0.95


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large something is, in every unit.

    Attributes:
        tokens: What it takes as a request.
        messages: How many messages it has.
        rounds: How many user turns.
    """

    tokens: int
    messages: int
    rounds: int

    def reach(self, condition: Condition) -> bool:
        """Whether it is at least as large as a condition says."""
        unit, amount = condition
        return int(getattr(self, unit)) >= amount


@dataclass(frozen=True, slots=True)
class Limits:
    """What a memory was told about sizes, checked and in absolute numbers.

    Attributes:
        triggers: Compaction is due when every condition of one of these is reached.
        keeps: What stays verbatim: of each clause what meets all its conditions, of all clauses the most.
        max_tokens: What a view may take at most; `None` for no budget in tokens.
        high: The tokens at which compaction starts; `None` where tokens alone never start it.
        low: The tokens that a view takes at most after a compaction; `None` for no such limit.
    """

    triggers: tuple[Clause, ...]
    keeps: tuple[Clause, ...]
    max_tokens: int | None
    high: int | None
    low: int | None

    @property
    def counts_rounds(self) -> bool:
        """Whether it matters how many rounds there are."""
        return any(unit == "rounds" for clause in self.triggers for unit, _ in clause)

    def due(self, sizes: Sizes) -> bool:
        """Whether compaction is due at this size."""
        if self.max_tokens is not None and sizes.tokens > self.max_tokens:
            return True
        return any(all(map(sizes.reach, clause)) for clause in self.triggers)


def limits_of(trigger: Any, keep: Any, low_water: float, max_tokens: int | None) -> Limits:  # noqa: ANN401  # as passed
    """Check what a user passed, and work fractions out.

    Raises:
        ValueError: Something is not of its form, needs `max_tokens`, or contradicts another; names value and repair.
    """
    if max_tokens is not None and (isinstance(max_tokens, bool) or not isinstance(max_tokens, int) or max_tokens < 1):
        msg = f"max_tokens={max_tokens!r} is no budget: give a whole number of tokens from 1 up, or None"
        raise ValueError(msg)
    triggers = _clauses("trigger", trigger, max_tokens, least=1)
    keeps = _clauses("keep", keep, max_tokens, least=0)
    for kept in keeps:
        for clause in triggers:
            _check_fits(keep, trigger, kept, clause)
    alone = [clause[0][1] for clause in triggers if len(clause) == 1 and clause[0][0] == "tokens"]
    high = min([*alone, *([max_tokens] if max_tokens is not None else [])], default=None)
    return Limits(triggers, keeps, max_tokens, high, _low(high, low_water, max_tokens, keeps))


def _low(high: int | None, low_water: float, max_tokens: int | None, keeps: Iterable[Clause]) -> int | None:
    if high is None:
        return None
    low = int(low_water * max_tokens) if max_tokens is not None else high
    if low > _MARGIN * high:  # the trigger lies under the mark, which then is a share of the trigger
        low = int(low_water * high)
    # Whoever asks for tokens to be kept gets them, also past the mark.
    return max([low, *(amount for clause in keeps for unit, amount in clause if unit == "tokens")])


def _clauses(name: str, value: Any, max_tokens: int | None, *, least: int) -> tuple[Clause, ...]:  # noqa: ANN401
    alternatives: Sequence[Any] = value if isinstance(value, list) else [value]
    if not alternatives:
        raise _not_a_size(name, value)
    return tuple(_clause(name, one, max_tokens, least) for one in alternatives)


def _clause(name: str, value: Any, max_tokens: int | None, least: int) -> Clause:  # noqa: ANN401  # as passed
    if isinstance(value, Mapping) and value:
        return tuple(_condition(name, pair, max_tokens, least) for pair in value.items())
    return (_condition(name, value, max_tokens, least),)


def _condition(name: str, value: Any, max_tokens: int | None, least: int) -> Condition:  # noqa: ANN401  # as passed
    if not isinstance(value, tuple) or len(value) != len(("unit", "amount")) or value[0] not in _UNITS:
        raise _not_a_size(name, value)
    unit, amount = value
    if unit == "fraction":
        if isinstance(amount, bool) or not isinstance(amount, int | float) or not 0 < amount <= 1:
            msg = f"{name}={value!r}: a fraction of the budget is more than 0 and at most 1"
            raise ValueError(msg)
        if max_tokens is None:
            msg = (
                f"{name}={value!r} is a fraction of an unknown budget: give max_tokens, a model= whose profile tells "
                f'its window, or a {name} in ("tokens", n), ("messages", n) or ("rounds", n)'
            )
            raise ValueError(msg)
        return "tokens", max(1, int(amount * max_tokens))
    if isinstance(amount, bool) or not isinstance(amount, int) or amount < least:
        msg = f"{name}={value!r}: {unit} are counted in whole numbers from {least} up"
        raise ValueError(msg)
    if unit == "tokens" and max_tokens is not None and amount > max_tokens:
        msg = f"{name}={value!r} lies over the budget: lower it, or raise max_tokens={max_tokens} to {amount}"
        raise ValueError(msg)
    return unit, amount


def _not_a_size(name: str, value: Any) -> ValueError:  # noqa: ANN401  # as passed
    return ValueError(f"{name}={value!r} is no size: give {_FORMS}")


def _check_fits(keep: Any, trigger: Any, kept: Clause, clause: Clause) -> None:  # noqa: ANN401  # as passed
    """Refuse a keep that reaches the trigger by itself, so that no compaction could ever bring it below."""
    if all(_reaches(size, condition) for size in kept for condition in clause):
        msg = (
            f"keep={keep!r} does not fit under trigger={trigger!r}: what is kept would start the next compaction at "
            "once. Keep less, or raise the trigger"
        )
        raise ValueError(msg)


def _reaches(size: Condition, condition: Condition) -> bool:
    """Whether what is kept reaches a condition whatever is in it: a round has at least one message."""
    (unit, amount), (wanted, threshold) = size, condition
    return amount >= threshold and (unit == wanted or (unit, wanted) == ("rounds", "messages"))
