"""What a summary memory was told, checked and brought into the form that its algorithm works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, cast, get_args

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._breaker import Breaker
from langchain_tiered_memory.events import EpisodeHandedOn, EventHook
from langchain_tiered_memory.messages.transcript import PREFIXES, Prefixes
from langchain_tiered_memory.messages.trimming import Oversized
from langchain_tiered_memory.working.compacting.meter import Meter
from langchain_tiered_memory.working.compacting.views import Role
from langchain_tiered_memory.working.compaction import Limits, Shares, limits_of
from langchain_tiered_memory.working.constraints import ConstraintDetector, find_constraints
from langchain_tiered_memory.working.nodes import TOP_LEVEL
from langchain_tiered_memory.working.summarizers import Summarizer, adapt_summarizer, window_of
from langchain_tiered_memory.working.wording.sentences import Language

__all__ = ["Settings", "settings_of"]

_RESERVE: Final = 0.7
"""The share of a model's window that a view may take, unless told otherwise; the rest is for the answer."""
_BATCH: Final = 8_000
_MOST: Final = 2 / 3
_ROUNDING: Final = 1e-6
_BASE: Final = 4_000
"""What shares are of, where no number of tokens starts a compaction."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a memory was told, checked; see `SummaryMemory`.

    Attributes:
        limits: When compaction is due, and what stays.
        shares: What the summary may take.
        meter: Counts.
        summarizer: Writes summaries.
        window: The input tokens that the summarizer can read, if known.
        batch: Tokens of messages that one summary stands for at most; more become several.
        fallback: Writes them where the summarizer keeps failing.
        fallback_after: After so many failures in a row.
        breaker: Keeps a failing summarizer from being asked all the time.
        role: As what the summary stands in the view.
        language: The language of labels and prompts; `None` to go by the conversation.
        detector: Finds constraints and exact values.
        pinned: Which messages always stay.
        oversized: What to do with a unit that alone exceeds the budget.
        tools: The tools that go with each request.
        hooks: Are told each event.
        on_handoff: Is told what leaves the summary.
        clock: Tells the time.
    """

    limits: Limits
    shares: Shares
    meter: Meter
    summarizer: Summarizer
    window: int | None
    batch: int
    fallback: Summarizer | None
    fallback_after: int
    breaker: Breaker
    role: Role
    language: Language | None
    detector: ConstraintDetector
    pinned: Callable[[BaseMessage], bool] | None
    oversized: Oversized
    tools: Sequence[Any]
    hooks: tuple[EventHook, ...]
    on_handoff: Callable[[EpisodeHandedOn], object] | None
    clock: Callable[[], datetime]

    def within(self, room: int) -> Settings:
        """The same, for a view that may take no more than so many tokens; itself where it takes no more anyway."""
        limits = self.limits
        if limits.max_tokens is not None and limits.max_tokens <= room:
            return self
        high = room if limits.high is None else min(limits.high, room)
        low = room // 2 if limits.low is None else min(limits.low, room // 2)
        scale = high / (limits.high or high)
        shares = replace(
            self.shares,
            summary=max(1, int(scale * self.shares.summary)),
            constraints=int(scale * self.shares.constraints),
        )
        return replace(self, limits=replace(limits, max_tokens=room, high=high, low=low), shares=shares)


def settings_of(  # noqa: PLR0913  # what a user may set, once
    *,
    summarizer: Any,  # noqa: ANN401  # this and the following as `SummaryMemory` takes them
    trigger: Any,  # noqa: ANN401
    keep: Any,  # noqa: ANN401
    low_water: float,
    max_tokens: int | None,
    token_counter: Any,  # noqa: ANN401
    model: Any,  # noqa: ANN401
    role: Role,
    tools: Sequence[Any] | None,
    pin: Any,  # noqa: ANN401
    oversized: Oversized,
    fan_out: int,
    summary_share: float,
    constraint_share: float,
    level_shares: Sequence[float],
    detector: ConstraintDetector | None,
    prompt: str | Mapping[str, str] | None,
    language: Language | None,
    prefixes: Prefixes | str | None,
    summarizer_window: int | None,
    timeout: float | None,
    fallback: Any,  # noqa: ANN401
    fall_back: bool,
    fallback_after: int,
    backoff: float,
    hooks: tuple[EventHook, ...],
    on_handoff: Callable[[EpisodeHandedOn], object] | None,
    clock: Callable[[], datetime],
) -> Settings:
    """Check what a user passed.

    Raises:
        ValueError: Something is not of its form, or contradicts something else; names value and repair.
    """
    for name, value, allowed in (
        ("role", role, get_args(Role)),
        ("oversized", oversized, get_args(Oversized)),
        ("language", language, (None, *get_args(Language))),
    ):
        if value not in allowed:
            msg = f"{name}={value!r} is not known: use {' or '.join(map(repr, allowed))}"
            raise ValueError(msg)
    _check_numbers(fan_out=fan_out, fallback_after=fallback_after, summarizer_window=summarizer_window)
    _check_seconds(timeout=timeout, backoff=backoff)
    budget = _budget(max_tokens, model if model is not None else token_counter)
    limits = limits_of(trigger, keep, low_water, budget)
    shares = _shares(limits.high or _BASE, summary_share, constraint_share, level_shares, fan_out)
    window = summarizer_window or window_of(summarizer)
    if isinstance(prefixes, str) and prefixes not in PREFIXES:
        msg = f"prefixes={prefixes!r} is unknown; use one of {', '.join(PREFIXES)} or your own Prefixes"
        raise ValueError(msg)
    return Settings(
        limits=limits,
        shares=shares,
        meter=Meter(token_counter, tools),
        summarizer=adapt_summarizer(
            summarizer, prompt=prompt, prefixes=prefixes, timeout=timeout, token_counter=token_counter
        ),
        window=window,
        batch=max(_BATCH, budget or 0) if window is None else min(window, max(_BATCH, budget or 0)),
        fallback=adapt_summarizer(fallback, timeout=timeout, token_counter=token_counter) if fall_back else None,
        fallback_after=fallback_after,
        breaker=Breaker(backoff),
        role=role,
        language=language,
        detector=detector or find_constraints,
        pinned=_pinned(pin),
        oversized=oversized,
        tools=tuple(tools or ()),
        hooks=hooks,
        on_handoff=on_handoff,
        clock=clock,
    )


def _budget(max_tokens: int | None, model: Any) -> int | None:  # noqa: ANN401  # a chat model, or anything else
    window = window_of(model)
    if window is None:
        return max_tokens
    if max_tokens is None:
        return max(1, int(_RESERVE * window))
    if isinstance(max_tokens, int) and max_tokens > window:
        msg = f"max_tokens={max_tokens} is more than the {window} tokens that the model can read: lower it to {window}"
        raise ValueError(msg)
    return max_tokens


def _shares(
    base: int, summary_share: float, constraint_share: float, level_shares: Sequence[float], fan_out: int
) -> Shares:
    for name, share in (("summary_share", summary_share), ("constraint_share", constraint_share)):
        if not _is_number(share) or not 0 < share < 1:
            msg = f"{name}={share!r} is no share of the budget: give a number between 0 and 1"
            raise ValueError(msg)
    if summary_share + constraint_share > _MOST:
        msg = (
            f"summary_share={summary_share!r} and constraint_share={constraint_share!r} leave less than a third of the "
            f"budget to the messages: lower them to {_MOST:.2f} together"
        )
        raise ValueError(msg)
    levels = tuple(level_shares)
    if (
        len(levels) != TOP_LEVEL
        or not all(_is_number(one) and one > 0 for one in levels)
        or abs(sum(levels) - 1) > _ROUNDING
    ):
        msg = f"level_shares={level_shares!r} are no shares: give one for each of {TOP_LEVEL} levels, together 1"
        raise ValueError(msg)
    # In a budget of a few hundred tokens a share would be too few to say anything.
    summary = max(int(summary_share * base), min(64, base // 3), 1)
    constraints = max(int(constraint_share * base), min(32, base // 8))
    return Shares(summary, constraints, (levels[0], levels[1], levels[2]), fan_out)


def _check_numbers(*, fan_out: Any, fallback_after: Any, summarizer_window: Any) -> None:  # noqa: ANN401  # as passed
    for name, value, least in (
        ("fan_out", fan_out, 2),
        ("fallback_after", fallback_after, 1),
        ("summarizer_window", 1 if summarizer_window is None else summarizer_window, 1),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            msg = f"{name}={value!r} is no whole number from {least} up: raise it to {least}"
            raise ValueError(msg)


def _check_seconds(*, timeout: Any, backoff: Any) -> None:  # noqa: ANN401  # as passed
    if timeout is not None and not (_is_number(timeout) and timeout > 0):
        msg = f"timeout={timeout!r} is no time: give more than 0 seconds, or None to wait for ever"
        raise ValueError(msg)
    if not (_is_number(backoff) and backoff >= 0):
        msg = f"backoff={backoff!r} is no time: give seconds from 0 up"
        raise ValueError(msg)


def _is_number(value: Any) -> bool:  # noqa: ANN401  # as passed
    return isinstance(value, int | float) and not isinstance(value, bool)


def _pinned(pin: Any) -> Callable[[BaseMessage], bool] | None:  # noqa: ANN401  # as passed
    if pin is None or callable(pin):
        return cast("Callable[[BaseMessage], bool] | None", pin)
    ids = frozenset([pin] if isinstance(pin, str) else pin)
    return (lambda message: message.id in ids) if ids else None
