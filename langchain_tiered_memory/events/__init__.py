"""What happened inside the memory, as data: sent to hooks, to `logging` and to LangChain's callbacks.

A memory works behind the caller's back: it appends after the answer has gone out, and cuts before the model is called.
What it did there, and above all what failed there, is told as an event. Nothing global is registered; whoever wants
events passes hooks to the object that has them.
"""

from __future__ import annotations

from langchain_tiered_memory.events.dispatch import EventData, MemoryCallbackHandler, aemit, emit, logger
from langchain_tiered_memory.events.episodic import (
    EpisodesAvailable,
    EpisodesForgotten,
    EpisodesRecalled,
    EpisodesRemembered,
    EpisodesUnavailable,
    EpisodicEvent,
    RecallDegraded,
)
from langchain_tiered_memory.events.event import EventHook, MemoryEvent, hooks_of
from langchain_tiered_memory.events.working import (
    AnswerInterrupted,
    AppendFailed,
    Compaction,
    CompactionFailed,
    CompactionSuperseded,
    EpisodeHandedOn,
    HookFailed,
    RemovalTooLate,
    StoredInPart,
    SummaryLeftOut,
    ViewCut,
)

__all__ = [
    "AnswerInterrupted",
    "AppendFailed",
    "Compaction",
    "CompactionFailed",
    "CompactionSuperseded",
    "EpisodeHandedOn",
    "EpisodesAvailable",
    "EpisodesForgotten",
    "EpisodesRecalled",
    "EpisodesRemembered",
    "EpisodesUnavailable",
    "EpisodicEvent",
    "EventData",
    "EventHook",
    "HookFailed",
    "MemoryCallbackHandler",
    "MemoryEvent",
    "RecallDegraded",
    "RemovalTooLate",
    "StoredInPart",
    "SummaryLeftOut",
    "ViewCut",
    "aemit",
    "emit",
    "hooks_of",
    "logger",
]
