"""What went into a request, tier by tier: how much of it, what had to go, what was recalled, and what was missing."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from langchain_tiered_memory._tables import Bar, Block, Line, as_html, as_text
from langchain_tiered_memory._texts import counted, percent, shortened
from langchain_tiered_memory.events import MemoryEvent

__all__ = ["PARTS", "ContextReport", "Evicted", "Part", "Recalled"]

Part: TypeAlias = Literal["tools", "system", "procedures", "facts", "summary", "window", "episodes", "turn"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
"""The parts of a request in their order. `turn` is the newest user turn with all that follows it."""
_COLOURS: Final[Mapping[Part, tuple[str, str]]] = {
    "tools": ("t", "#64748b"),
    "system": ("s", "#475569"),
    "procedures": ("P", "#0f766e"),
    "facts": ("F", "#0284c7"),
    "summary": ("S", "#8b5cf6"),
    "window": ("W", "#16a34a"),
    "episodes": ("E", "#d97706"),
    "turn": ("T", "#dc2626"),
}
"""By which letter and colour a part is known in a bar."""
_GIST: Final = 80
"""Characters of an episode that a report quotes."""


@dataclass(frozen=True, slots=True)
class Evicted:
    """Something that was there and did not go into the request.

    Attributes:
        part: The tier that it belongs to.
        what: What it is, such as `"3 messages"`, or an episode's id.
        reason: Why it did not go in.
        text: What it says; "" where `what` says it already.
    """

    part: Part
    what: str
    reason: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """An episode that went into the request.

    Attributes:
        id: Its id.
        score: How well it matches the question, from 0 to 1.
        created_at: When it was said, in UTC; `None` where the store does not tell.
        tokens: What it takes.
        text: What it says.
    """

    id: str
    score: float
    created_at: datetime | None
    tokens: int
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextReport(MemoryEvent):
    """What went into one request, told with every call.

    A budget that is met is not yet a budget well spent: the report says which tier took what of it, what had to go and
    why, so that nobody has to guess why a model did not know something.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory import ContextAssembler, ContextBudget

    assembler = ContextAssembler(ContextBudget(max_tokens=2_000))
    report = assembler.assemble([HumanMessage("Hello")]).report
    assert report.total == report.tokens["turn"] + report.tokens["system"] < report.limit
    ```

    Attributes:
        tokens: What each part takes, in the order of `PARTS`; together `total`.
        limit: What all of them may take.
        reserve: What is left of the model's window for its answer; `None` where the window is not known.
        evicted: What was there and did not go in.
        recalled: The episodes that went in, best first.
        degraded: What a tier could not do, in its own words; `()` when all of them answered.
        faults: What a provider would refuse about the messages; `()`, or there is a bug.
        fingerprint: A digest of what stands before the rounds. As long as it stays, a provider's cache of it holds.
    """

    tokens: Mapping[Part, int]
    limit: int
    reserve: int | None = None
    evicted: tuple[Evicted, ...] = ()
    recalled: tuple[Recalled, ...] = ()
    degraded: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()
    fingerprint: str = ""
    name: ClassVar[str] = "tiered_memory.context"
    level: ClassVar[int] = logging.DEBUG

    @property
    def total(self) -> int:
        """Tokens of the whole request."""
        return sum(self.tokens.values())

    @property
    def free(self) -> int:
        """Tokens of the limit that nothing takes."""
        return self.limit - self.total

    def describe(self) -> str:
        """Say it in one line."""
        parts = ", ".join(f"{part} {self.tokens[part]}" for part in PARTS if self.tokens.get(part))
        said = f"session {self.session_id!r}: context of {self.total} of {self.limit} tokens ({parts})"
        if self.evicted:
            said += f"; left out: {', '.join(f'{one.what} of {one.part} ({one.reason})' for one in self.evicted)}"
        if self.degraded:
            said += f"; degraded: {'; '.join(self.degraded)}"
        return said

    def to_text(self) -> str:
        """The report for a terminal: a bar of the parts, their tokens, and what happened to the rest."""
        return as_text(self.blocks())

    def to_html(self) -> str:
        """The report for a notebook: the bar in colours, everything in it escaped."""
        return as_html(self.blocks())

    def blocks(self) -> list[Block]:
        """What there is to show: how full the request is, the bar of its parts, and what became of the rest."""
        parts = [(part, *_COLOURS[part], tokens) for part in PARTS if (tokens := self.tokens.get(part))]
        used = f"{self.total:,} of {self.limit:,} tokens, {percent(self.total / max(self.limit, 1))}"
        left = [f"left out: {one.part}: {_gist(one.text) or one.what} ({one.reason})" for one in self.evicted]
        lines = [f"recalled: {_gist(one.text) or one.id} ({_about(one)})" for one in self.recalled]
        notes = [Line(line, "quiet") for line in (*lines, *left, *(f"degraded: {line}" for line in self.degraded))]
        return [Line(used), Bar(parts, self.limit), *notes, *(Line(f"fault: {line}", "bad") for line in self.faults)]

    def data(self) -> dict[str, Any]:
        """The fields as plain data, without the text of episodes: callbacks often go to a tracing service."""
        return {
            "session_id": self.session_id,
            "tokens": dict(self.tokens),
            "total": self.total,
            "limit": self.limit,
            "reserve": self.reserve,
            "evicted": [{"part": one.part, "what": one.what, "reason": one.reason} for one in self.evicted],
            "recalled": [
                {
                    "id": one.id,
                    "score": one.score,
                    "created_at": one.created_at.isoformat() if one.created_at else None,
                    "tokens": one.tokens,
                }
                for one in self.recalled
            ],
            "degraded": list(self.degraded),
            "faults": list(self.faults),
            "fingerprint": self.fingerprint,
        }

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return self.to_html()


def _gist(text: str) -> str:
    """An episode in one line, in quotation marks."""
    return f'"{shortened(" ".join(text.split()), _GIST)}"' if text else ""


def _about(one: Recalled) -> str:
    day = f"{one.created_at:%Y-%m-%d}, " if one.created_at else ""
    return f"score {one.score:.2f}, {day}{counted(one.tokens, 'token')}"
