"""How many tokens a request may take, and how the tiers divide them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias, get_args

from langchain_tiered_memory.working.summarizers import window_of

__all__ = ["SHARES", "TIERS", "ContextBudget", "Tier", "allocate"]

Tier: TypeAlias = Literal["procedures", "facts", "summary", "window", "episodes"]
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
"""The tiers in the order in which they stand in a request."""

SHARES: Final[Mapping[Tier, float]] = MappingProxyType(
    {"procedures": 0.1, "facts": 0.1, "summary": 0.15, "window": 0.4, "episodes": 0.25}
)
"""What each tier is sure of where all of them want more than there is."""

KNOWN_WINDOWS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "gpt-3.5-turbo": 16_385,
        "gpt-4": 8_192,
        "gpt-4-32k": 32_768,
        "gpt-4-turbo": 128_000,
        "gpt-4.1": 1_047_576,
        "gpt-4o": 128_000,
        "gpt-5": 272_000,
        "o1": 200_000,
        "o3": 200_000,
        "o4-mini": 200_000,
        "claude-3": 200_000,
        "claude-haiku-4": 200_000,
        "claude-opus-4": 200_000,
        "claude-sonnet-4": 200_000,
        "gemini-1.5-flash": 1_048_576,
        "gemini-1.5-pro": 2_097_152,
        "gemini-2.0-flash": 1_048_576,
        "gemini-2.5": 1_048_576,
        "llama-3.1": 131_072,
        "llama3.1": 131_072,
    }
)
"""Tokens that models of a family can read, by the beginning of their names, as their makers document them."""


_BORDERS: Final = "-.:@_"
_RESERVE_RATIO: Final = 0.7
_NAMES: Final = ("model_name", "model", "model_id", "deployment_name")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBudget:
    """A hard limit on the tokens of a request, and what each tier is sure of when they all want more.

    A model's window holds its answer too, and nobody counts exactly as a provider does; so what a request may take is
    decided once, before the first call, and a limit that cannot work is refused there with its arithmetic.

    ```python
    from langchain_tiered_memory import ContextBudget

    assert ContextBudget(max_tokens=2_000).limit == 2_000
    assert ContextBudget(window=128_000).limit == 89_600  # 0.7 of it; the rest is for the answer
    assert ContextBudget(window=128_000, margin=0.05).limit == 85_120
    ```

    Args:
        max_tokens: Tokens that a request may take, tools included.
        window: Tokens that the model can read. Without `max_tokens`, a request may take `reserve_ratio` of it.
        reserve_ratio: The share of the window that a request may take; the rest is for the answer.
        margin: The share of the limit that is left free, for a counter that counts less than the provider does.
        shares: What a tier is sure of where all tiers together want more than there is, as weights; what a tier does
            not use goes to the others. Tiers that are not named keep theirs from `SHARES`.

    Raises:
        ValueError: A number is out of range, the limit is over the window or leaves nothing, or neither is given.
    """

    max_tokens: int | None = None
    window: int | None = None
    reserve_ratio: float = _RESERVE_RATIO
    margin: float = 0.0
    shares: Mapping[Tier, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the numbers and their sum, so that no request fails on them later."""
        for name, tokens in (("max_tokens", self.max_tokens), ("window", self.window)):
            if tokens is not None and (isinstance(tokens, bool) or not isinstance(tokens, int) or tokens < 1):
                msg = f"{name}={tokens!r} is no number of tokens: give a whole number from 1 up, or None"
                raise ValueError(msg)
        if self.max_tokens is None and self.window is None:
            msg = "a budget needs a number: give max_tokens=..., or window=... and a reserve_ratio"
            raise ValueError(msg)
        if not _is_number(self.reserve_ratio) or not 0 < self.reserve_ratio <= 1:
            msg = (
                f"reserve_ratio={self.reserve_ratio!r}: give the share of the window for a request, over 0 and up to 1"
            )
            raise ValueError(msg)
        if not _is_number(self.margin) or not 0 <= self.margin < 1:
            msg = f"margin={self.margin!r}: give the share of the limit to leave free, from 0 to below 1"
            raise ValueError(msg)
        if self.max_tokens is not None and self.window is not None and self.max_tokens > self.window:
            msg = (
                f"max_tokens={self.max_tokens} is {self.max_tokens - self.window} more than window={self.window}: "
                f"lower it to {int(self.reserve_ratio * self.window)}, {self.reserve_ratio:g} of the window"
            )
            raise ValueError(msg)
        if self.limit < 1:
            msg = f"nothing is left: {self.arithmetic} = {self.limit} tokens; raise one of them"
            raise ValueError(msg)
        object.__setattr__(self, "shares", _checked_shares(self.shares))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled and copied by its arguments, since the view of its shares cannot be."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return (_restored, (type(self), {**given, "shares": dict(self.shares)}))

    @classmethod
    def for_model(cls, model: Any, **settings: Any) -> ContextBudget:  # noqa: ANN401  # a chat model or its name; fields
        """The budget for a chat model, by the window that its profile names, else by its name.

        Args:
            model: A chat model, one with tools or settings around it, or the name of one.
            **settings: The other fields of the budget.

        Raises:
            ValueError: Nobody knows the model's window; it says how to give it.
        """
        window = window_of(model) or window_of_name(_name_of(model))
        if window is None:
            msg = (
                f"the window of {_name_of(model) or type(model).__name__!r} is not known: give "
                f"ContextBudget(window=...) its number of tokens; known are {', '.join(sorted(KNOWN_WINDOWS))}"
            )
            raise ValueError(msg)
        return cls(window=window, **settings)

    @property
    def limit(self) -> int:
        """Tokens that a request may take, tools included."""
        whole = self.max_tokens if self.max_tokens is not None else self.reserve_ratio * (self.window or 0)
        return math.floor(whole * (1 - self.margin) + 1e-9)

    @property
    def reserve(self) -> int | None:
        """Tokens of the window that are left for the answer; `None` where the window is not known."""
        return None if self.window is None else self.window - self.limit

    @property
    def arithmetic(self) -> str:
        """How the limit comes about, for a person."""
        whole = f"{self.max_tokens}" if self.max_tokens is not None else f"{self.reserve_ratio:g} x {self.window}"
        return whole if self.margin == 0 else f"{whole} x (1 - {self.margin:g})"

    def divide(self, room: int, demands: Mapping[Tier, int]) -> dict[Tier, int]:
        """Divide tokens among tiers by their shares, see `allocate`."""
        return allocate(room, demands, self.shares)


def allocate(room: int, demands: Mapping[Tier, int], weights: Mapping[Tier, float]) -> dict[Tier, int]:
    """Divide tokens among tiers by weighted max-min fairness.

    A tier that wants less than its share gets what it wants, and the others divide the rest by their weights, until
    nobody wants more or nothing is left (progressive filling; Bertsekas and Gallager, "Data Networks", 6.5.2).

    Args:
        room: Tokens that there are; below 0 counts as none.
        demands: Tokens that each tier wants.
        weights: The weight of each of these tiers, over 0.

    Returns:
        Tokens for each tier: never more than it wants, together never more than `room`, and all of `room` where they
        want as much.

    Example:
        >>> allocate(100, {"facts": 10, "window": 90, "episodes": 60}, {"facts": 1, "window": 2, "episodes": 1})
        {'facts': 10, 'window': 60, 'episodes': 30}
    """
    given = dict.fromkeys(demands, 0)
    left = max(0, room)
    wanting = {tier for tier, wanted in demands.items() if wanted > 0}
    while wanting and left > 0:
        weight = sum(weights[tier] for tier in wanting)
        content = {tier for tier in wanting if demands[tier] * weight <= weights[tier] * left}
        if not content:
            for tier in sorted(wanting, key=lambda tier: demands[tier] / weights[tier]):
                given[tier] = min(demands[tier], int(left * weights[tier] / weight))
            # Whole tokens that rounding left over go to whoever wants one, in the order of the demands.
            over = left - sum(given[tier] for tier in wanting)
            for tier in (tier for tier in demands if tier in wanting):
                more = min(over, demands[tier] - given[tier])
                given[tier] += more
                over -= more
            break
        for tier in content:
            given[tier] = demands[tier]
            left -= demands[tier]
        wanting -= content
    return given


def _restored(kind: type[ContextBudget], given: dict[str, Any]) -> ContextBudget:
    return kind(**given)


def _checked_shares(shares: Mapping[Tier, float]) -> Mapping[Tier, float]:
    unknown = [name for name in shares if name not in TIERS]
    if unknown:
        msg = f"shares={dict(shares)!r} names {unknown[0]!r}, which is no tier: use {', '.join(TIERS)}"
        raise ValueError(msg)
    for tier, share in shares.items():
        if not _is_number(share) or not 0 < share < math.inf:
            msg = f"shares={dict(shares)!r}: the share of {tier} is a weight over 0, got {share!r}"
            raise ValueError(msg)
    return MappingProxyType({**SHARES, **shares})


def _is_number(value: Any) -> bool:  # noqa: ANN401  # as passed
    return isinstance(value, int | float) and not isinstance(value, bool)


def _name_of(model: Any) -> str:  # noqa: ANN401  # as `for_model` takes it
    while hasattr(model, "bound"):
        model = model.bound
    if isinstance(model, str):
        return model
    names = (getattr(model, name, None) for name in _NAMES)
    return next((name for name in names if isinstance(name, str) and name), "")


def window_of_name(name: str) -> int | None:
    """The window of a model by its name, the longest beginning that is known; `None` if none is.

    What stands before the last slash or a provider's colon does not count.

    >>> window_of_name("openai:gpt-4o-mini")
    128000
    """
    bare = name.strip().lower().rpartition("/")[2]
    _, colon, behind = bare.partition(":")
    for candidate in (bare, behind if colon else ""):
        known = [
            family
            for family in KNOWN_WINDOWS
            if candidate.startswith(family) and candidate[len(family) : len(family) + 1] in {"", *_BORDERS}
        ]
        if known:
            return KNOWN_WINDOWS[max(known, key=len)]
    return None
