"""What a summary memory is told, checked and brought into the form that its algorithm works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, get_args

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._breaker import Breaker
from langchain_tiered_memory._times import utc_now
from langchain_tiered_memory.events import EventHook
from langchain_tiered_memory.messages.text import PREFIXES, Prefixes
from langchain_tiered_memory.messages.trimming import CounterLike, Oversized, Pin
from langchain_tiered_memory.types import Clock
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.plan import NodeCaps
from langchain_tiered_memory.working.compaction.sizes import Limits
from langchain_tiered_memory.working.constraints import ConstraintDetector, Language, find_constraints
from langchain_tiered_memory.working.nodes import TOP_LEVEL
from langchain_tiered_memory.working.summarizers import Summarizer, SummarizerLike, adapt_summarizer, window_of

__all__ = ["Role", "Settings", "SummarizerGuard", "SummaryShares", "SummaryText", "budget_of", "settings_of"]

Role: TypeAlias = Literal["system", "human", "merge"]

_RESERVE: Final = 0.7
"""The share of a model's window that a view may take, unless told otherwise; the rest is for the answer."""
_BATCH: Final = 8_000
_MOST: Final = 2 / 3
_ROUNDING: Final = 1e-6
_BASE: Final = 4_000
"""What shares are of, where no number of tokens starts a compaction."""


@dataclass(frozen=True, slots=True)
class SummaryShares:
    """How a `SummaryMemory` divides its budget.

    Attributes:
        low_water: The share of the budget that a view takes at most after a compaction, if what must stay allows it.
        summary: What all summary nodes may take together, as a share of the tokens at which compaction starts.
        constraints: What quoted constraints and exact values may take, likewise.
        levels: How `summary` is divided among the levels, from the newest to the coarsest.
        fan_out: How many nodes of a level become one of the next.

    Raises:
        ValueError: A share is none, or they leave too little to the messages.
    """

    low_water: float = 0.5
    summary: float = 0.2
    constraints: float = 0.1
    levels: Sequence[float] = (0.4, 0.35, 0.25)
    fan_out: int = 4

    def __post_init__(self) -> None:
        """Check the shares."""
        for name in ("low_water", "summary", "constraints"):
            share = getattr(self, name)
            if not _is_number(share) or not 0 < share < 1:
                msg = f"{name}={share!r} is no share of the budget: give a number between 0 and 1"
                raise ValueError(msg)
        if self.summary + self.constraints > _MOST:
            msg = (
                f"summary={self.summary!r} and constraints={self.constraints!r} leave less than a third of the "
                f"budget to the messages: lower them to {_MOST:.2f} together"
            )
            raise ValueError(msg)
        levels = self.levels
        if (
            len(levels) != TOP_LEVEL
            or not all(_is_number(one) and one > 0 for one in levels)
            or abs(sum(levels) - 1) > _ROUNDING
        ):
            msg = f"levels={levels!r} are no shares: give one for each of {TOP_LEVEL} levels, together 1"
            raise ValueError(msg)
        _check_number("fan_out", self.fan_out, 2)

    def caps(self, base: int) -> NodeCaps:
        """The shares in tokens."""
        # In a budget of a few hundred tokens a share would be too few to say anything.
        summary = max(int(self.summary * base), min(64, base // 3), 1)
        constraints = max(int(self.constraints * base), min(32, base // 8))
        first, second, third = self.levels
        return NodeCaps(summary, constraints, (first, second, third), self.fan_out)


@dataclass(frozen=True, slots=True)
class SummarizerGuard:
    """What a `SummaryMemory` does where its summarizer fails or a turn is too large.

    Attributes:
        window: Input tokens that the summarizer can read; by default what its profile says. Longer input is split at
            unit boundaries and folded.
        timeout: Seconds that one summary may take.
        fallback: What writes when the summarizer keeps failing; `None` for nothing.
        fallback_after: After how many failures in a row.
        backoff: Seconds to wait after the first failure; each time twice as long.
        oversized: What to do when tool results at the end do not fit: `"shrink"` the longest, or `"raise"`.
        clock: Gives the time; the system's UTC time if not given.

    Raises:
        ValueError: A value is not of its form.
    """

    window: int | None = None
    timeout: float | None = None
    fallback: SummarizerLike | Literal["extractive"] = "extractive"
    fallback_after: int = 3
    backoff: float = 30.0
    oversized: Oversized = "shrink"
    clock: Clock | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        _check_choice("oversized", self.oversized, get_args(Oversized))
        _check_number("fallback_after", self.fallback_after, 1)
        _check_number("window", 1 if self.window is None else self.window, 1)
        if self.timeout is not None and not (_is_number(self.timeout) and self.timeout > 0):
            msg = f"timeout={self.timeout!r} is no time: give more than 0 seconds, or None to wait for ever"
            raise ValueError(msg)
        if not (_is_number(self.backoff) and self.backoff >= 0):
            msg = f"backoff={self.backoff!r} is no time: give seconds from 0 up"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class SummaryText:
    """How a `SummaryMemory` has its summaries written, and how they stand in the view.

    Attributes:
        role: As what the summary stands in the view: `"system"`, `"human"`, or `"merge"` for the end of the prompt.
        prompt: Instructions for a model, for all languages or by language ("en", "zh"). `{max_tokens}`, `{messages}`
            and `{previous_summary}` are replaced; every other brace is only a brace.
        language: "en" or "zh" for labels and prompts; by default that of the conversation.
        prefixes: How the speakers are called in the transcript that a model reads.
        detector: Finds the constraints and exact values of a message.

    Raises:
        ValueError: A value is not of its form.
    """

    role: Role = "system"
    prompt: str | Mapping[str, str] | None = None
    language: Language | None = None
    prefixes: Prefixes | str | None = None
    detector: ConstraintDetector | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        _check_choice("role", self.role, get_args(Role))
        _check_choice("language", self.language, (None, *get_args(Language)))
        if isinstance(self.prefixes, str) and self.prefixes not in PREFIXES:
            msg = f"prefixes={self.prefixes!r} is unknown; use one of {', '.join(PREFIXES)} or your own Prefixes"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a memory was told, checked; see `SummaryMemory`.

    Attributes:
        limits: When compaction is due, and what stays.
        caps: What the summary may take.
        counter: Counts.
        summarizer: Writes summaries.
        window: The input tokens that the summarizer can read, if known.
        batch: Tokens of messages that one summary stands for at most; more become several.
        fallback: Writes them where the summarizer keeps failing.
        guard: After how many failures, and what to do with a unit that alone exceeds the budget.
        breaker: Keeps a failing summarizer from being asked all the time.
        text: The role and language of the summary.
        detector: Finds constraints and exact values.
        pinned: Which messages always stay.
        tools: The tools that go with each request.
        hooks: Are called with each event.
        clock: Gives the time.
    """

    limits: Limits
    caps: NodeCaps
    counter: BudgetCounter
    summarizer: Summarizer
    window: int | None
    batch: int
    fallback: Summarizer | None
    guard: SummarizerGuard
    breaker: Breaker
    text: SummaryText
    detector: ConstraintDetector
    pinned: Callable[[BaseMessage], bool] | None
    tools: Sequence[Any]
    hooks: tuple[EventHook, ...]
    clock: Clock

    def within(self, room: int) -> Settings:
        """The same, for a view that may take no more than so many tokens; itself where it takes no more anyway."""
        limits = self.limits
        if limits.max_tokens is not None and limits.max_tokens <= room:
            return self
        high = room if limits.high is None else min(limits.high, room)
        low = room // 2 if limits.low is None else min(limits.low, room // 2)
        scale = high / (limits.high or high)
        caps = replace(
            self.caps,
            summary=max(1, int(scale * self.caps.summary)),
            constraints=int(scale * self.caps.constraints),
        )
        return replace(self, limits=replace(limits, max_tokens=room, high=high, low=low), caps=caps)


def settings_of(
    summarizer: SummarizerLike,
    limits: Limits,
    *,
    token_counter: CounterLike,
    tools: Sequence[Any] | None,
    pin: Pin | None,
    shares: SummaryShares,
    guard: SummarizerGuard,
    text: SummaryText,
    hooks: tuple[EventHook, ...],
) -> Settings:
    """Bring together what a memory was told; each part has checked itself.

    Raises:
        ValueError: The summarizer or the fallback writes no summaries.
    """
    window = guard.window or window_of(summarizer)
    batch = max(_BATCH, limits.max_tokens or 0)
    fallback: SummarizerLike = None if guard.fallback == "extractive" else guard.fallback
    falls_back = summarizer is not None if guard.fallback == "extractive" else guard.fallback is not None
    return Settings(
        limits=limits,
        caps=shares.caps(limits.high or _BASE),
        counter=BudgetCounter(token_counter, tools),
        summarizer=adapt_summarizer(
            summarizer, prompt=text.prompt, prefixes=text.prefixes, timeout=guard.timeout, token_counter=token_counter
        ),
        window=window,
        batch=batch if window is None else min(window, batch),
        fallback=adapt_summarizer(fallback, timeout=guard.timeout, token_counter=token_counter) if falls_back else None,
        guard=guard,
        breaker=Breaker(guard.backoff),
        text=text,
        detector=text.detector or find_constraints,
        pinned=_pinned(pin),
        tools=tuple(tools or ()),
        hooks=hooks,
        clock=guard.clock or utc_now,
    )


def budget_of(max_tokens: int | None, model: object) -> int | None:
    """The budget of a view: what was given, else the usual share of a model's window.

    Raises:
        ValueError: The budget is larger than the window.
    """
    window = window_of(model)
    if window is None:
        return max_tokens
    if max_tokens is None:
        return max(1, int(_RESERVE * window))
    if isinstance(max_tokens, int) and max_tokens > window:
        msg = f"max_tokens={max_tokens} is more than the {window} tokens that the model can read: lower it to {window}"
        raise ValueError(msg)
    return max_tokens


def _check_choice(name: str, value: object, allowed: tuple[object, ...]) -> None:
    if value not in allowed:
        msg = f"{name}={value!r} is not known: use {' or '.join(map(repr, allowed))}"
        raise ValueError(msg)


def _check_number(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        msg = f"{name}={value!r} is no whole number from {least} up: raise it to {least}"
        raise ValueError(msg)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pinned(pin: Pin | None) -> Callable[[BaseMessage], bool] | None:
    if pin is None or callable(pin):
        return pin
    ids = frozenset([pin] if isinstance(pin, str) else pin)
    return (lambda message: message.id in ids) if ids else None
