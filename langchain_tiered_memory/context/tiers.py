"""What an assembler works with: the tiers that it was given, and what the system part says of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, SystemMessage

from langchain_tiered_memory.context.budget import ContextBudget
from langchain_tiered_memory.context.recollections import Recollections
from langchain_tiered_memory.context.rendering import INSTRUCTION
from langchain_tiered_memory.events import EventHook
from langchain_tiered_memory.messages.trimming import Oversized, Pin
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.budget_counter import BudgetCounter
from langchain_tiered_memory.working.compaction.memory import SummaryMemory
from langchain_tiered_memory.working.log import MessageLog

__all__ = ["Knowing", "Recalling", "Tiers"]


class Recalling(Protocol):
    """What recalls episodes: `EpisodicMemory`."""

    def recall(self, query: str, *, scope: MemoryScope, k: int) -> list[Document]:
        """The episodes that match a text best."""


class Knowing(Protocol):
    """What holds facts: a `FactStore`."""

    def list(self, scope: MemoryScope) -> list[Any]:
        """The facts that hold now."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """What an assembler was given, checked; see `ContextAssembler`.

    Attributes:
        budget: What a request may take.
        meter: Counts, tools included.
        summary: Makes the view of a session; `None` to trim the list that comes in.
        episodes: Recalls.
        facts: Knows.
        procedures: Stand in the system prompt, whole.
        k: How many episodes at most.
        recall: What else `recall` is told.
        pin: Which messages always stay, where there is no summary.
        oversized: What to do with a unit that alone exceeds the budget, likewise.
        hooks: Are told each report.
        session_key: How a session is called in the log, by its id and whose it is.
        needs_session: Whether a call must name a session, because a log was given.
        log: Holds the messages instead of the summary's own log.
        stage: What was recalled for a turn at one stage is recalled anew at the next.
        recollections: What was recalled for the newest turns.
    """

    budget: ContextBudget
    meter: BudgetCounter
    summary: SummaryMemory | None
    episodes: Recalling | None
    facts: Knowing | None
    procedures: ProceduralMemory | None
    k: int
    recall: Mapping[str, Any]
    pin: Pin | None
    oversized: Oversized
    hooks: tuple[EventHook, ...]
    session_key: Callable[[str, MemoryScope | None], str]
    needs_session: bool = False
    log: MessageLog | None = None
    stage: int = 0
    recollections: Recollections = field(default_factory=Recollections)

    @property
    def need_scope(self) -> bool:
        """Whether a call must say whose memory it is about."""
        return self.episodes is not None or self.facts is not None

    def head(self, leading: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The system messages with the procedures and the instruction about memories in the first of them."""
        first = leading[0] if leading else None
        if self.procedures is not None:
            first = self.procedures.system_message(cast("SystemMessage | None", first))
        if self.need_scope:
            first = _with_instruction(first)
        return [*([first] if first is not None else []), *leading[1:]]


def _with_instruction(system: BaseMessage | None) -> BaseMessage:
    if system is None:
        return SystemMessage(INSTRUCTION)
    content: Any = system.content
    if isinstance(content, str):
        if content.endswith(INSTRUCTION):
            return system
        content = f"{content}\n\n{INSTRUCTION}" if content else INSTRUCTION
    else:
        content = [*content, {"type": "text", "text": INSTRUCTION}]
    return system.model_copy(update={"content": content})
