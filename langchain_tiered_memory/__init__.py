"""Four tiers of memory for LangChain agents under one token budget.

The public names are imported when they are first used; importing the package imports nothing. Beside them stand four
modules: `events` (what hooks are given), `errors` (warnings too), `display` (shows things to people) and `evaluation`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in `typing`, whose import would delay a command that only shows its help
if TYPE_CHECKING:
    from typing import Any

    from langchain_tiered_memory import display, errors, evaluation, events
    from langchain_tiered_memory._version import __version__
    from langchain_tiered_memory.context.assembler import ContextAssembler
    from langchain_tiered_memory.context.budget import ContextBudget
    from langchain_tiered_memory.context.report import ContextReport
    from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
    from langchain_tiered_memory.episodic.episode import Episode
    from langchain_tiered_memory.episodic.memory import EpisodicMemory
    from langchain_tiered_memory.episodic.retriever import EpisodicRetriever
    from langchain_tiered_memory.errors import (
        BudgetExceededError,
        MemoryStoreError,
        ProtocolError,
        ScopeError,
        SummarizationError,
        TieredMemoryError,
        TranscriptError,
        VersionConflictError,
    )
    from langchain_tiered_memory.events import Compaction, MemoryCallbackHandler
    from langchain_tiered_memory.integrations.history import TieredChatMessageHistory
    from langchain_tiered_memory.integrations.middleware import TieredMemoryMiddleware
    from langchain_tiered_memory.memory import TieredMemory
    from langchain_tiered_memory.messages.repair import repair_messages, validate_messages
    from langchain_tiered_memory.messages.tokens import EstimatingCounter, TiktokenCounter, count_tokens
    from langchain_tiered_memory.messages.transcripts.conversation import read_transcript, write_transcript
    from langchain_tiered_memory.messages.trimming import MessageTrimmer, trim_messages
    from langchain_tiered_memory.procedural.procedures import ProceduralMemory
    from langchain_tiered_memory.semantic.cached import CachedFactStore
    from langchain_tiered_memory.semantic.in_memory import InMemoryFactStore
    from langchain_tiered_memory.semantic.records import Fact
    from langchain_tiered_memory.semantic.redis import RedisFactStore
    from langchain_tiered_memory.semantic.sql import SQLFactStore
    from langchain_tiered_memory.semantic.store import FactStore
    from langchain_tiered_memory.types import MemoryScope
    from langchain_tiered_memory.working.compaction.memory import SummaryMemory
    from langchain_tiered_memory.working.compaction.settings import SummarizerGuard, SummaryShares, SummaryText
    from langchain_tiered_memory.working.extractive import ExtractiveSummarizer
    from langchain_tiered_memory.working.log import MessageLog
    from langchain_tiered_memory.working.log_in_memory import InMemoryMessageLog
    from langchain_tiered_memory.working.log_redis import RedisMessageLog
    from langchain_tiered_memory.working.log_sql import SQLMessageLog

__all__ = [
    "BudgetExceededError",
    "CachedFactStore",
    "Compaction",
    "ContextAssembler",
    "ContextBudget",
    "ContextReport",
    "Episode",
    "EpisodicMemory",
    "EpisodicRetriever",
    "EstimatingCounter",
    "ExtractiveSummarizer",
    "Fact",
    "FactStore",
    "InMemoryFactStore",
    "InMemoryMessageLog",
    "LocalEmbeddings",
    "MemoryCallbackHandler",
    "MemoryScope",
    "MemoryStoreError",
    "MessageLog",
    "MessageTrimmer",
    "ProceduralMemory",
    "ProtocolError",
    "RedisFactStore",
    "RedisMessageLog",
    "SQLFactStore",
    "SQLMessageLog",
    "ScopeError",
    "SummarizationError",
    "SummarizerGuard",
    "SummaryMemory",
    "SummaryShares",
    "SummaryText",
    "TieredChatMessageHistory",
    "TieredMemory",
    "TieredMemoryError",
    "TieredMemoryMiddleware",
    "TiktokenCounter",
    "TranscriptError",
    "VersionConflictError",
    "__version__",
    "count_tokens",
    "display",
    "errors",
    "evaluation",
    "events",
    "read_transcript",
    "repair_messages",
    "trim_messages",
    "validate_messages",
    "write_transcript",
]

_EXPORTS = {
    "_version": ("__version__",),
    "context.assembler": ("ContextAssembler",),
    "context.budget": ("ContextBudget",),
    "context.report": ("ContextReport",),
    "episodic.embeddings": ("LocalEmbeddings",),
    "episodic.episode": ("Episode",),
    "episodic.memory": ("EpisodicMemory",),
    "episodic.retriever": ("EpisodicRetriever",),
    "errors": (
        "BudgetExceededError",
        "MemoryStoreError",
        "ProtocolError",
        "ScopeError",
        "SummarizationError",
        "TieredMemoryError",
        "TranscriptError",
        "VersionConflictError",
    ),
    "events": ("Compaction", "MemoryCallbackHandler"),
    "integrations.history": ("TieredChatMessageHistory",),
    "integrations.middleware": ("TieredMemoryMiddleware",),
    "memory": ("TieredMemory",),
    "messages.tokens": ("EstimatingCounter", "TiktokenCounter", "count_tokens"),
    "messages.transcripts.conversation": ("read_transcript", "write_transcript"),
    "messages.trimming": ("MessageTrimmer", "trim_messages"),
    "messages.repair": ("repair_messages", "validate_messages"),
    "procedural.procedures": ("ProceduralMemory",),
    "semantic.cached": ("CachedFactStore",),
    "semantic.in_memory": ("InMemoryFactStore",),
    "semantic.records": ("Fact",),
    "semantic.redis": ("RedisFactStore",),
    "semantic.sql": ("SQLFactStore",),
    "semantic.store": ("FactStore",),
    "types": ("MemoryScope",),
    "working.compaction.memory": ("SummaryMemory",),
    "working.compaction.settings": ("SummarizerGuard", "SummaryShares", "SummaryText"),
    "working.extractive": ("ExtractiveSummarizer",),
    "working.log": ("MessageLog",),
    "working.log_in_memory": ("InMemoryMessageLog",),
    "working.log_redis": ("RedisMessageLog",),
    "working.log_sql": ("SQLMessageLog",),
}
_SUBMODULES = ("display", "errors", "evaluation", "events")
_MODULE_OF = {name: f"{__name__}.{module}" for module, names in _EXPORTS.items() for name in names}
_MOVED = {
    "Clock": "types",
    "Constraint": "working.constraints",
    "ContextSize": "types",
    "MessageFault": "messages.repair",
    "TokenCounter": "types",
    "Transcript": "messages.transcripts.conversation",
}
"""Names that were public here, and the modules that still have them."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  # a module's attributes have no common type
    """Import a public name on first use, and keep it (PEP 562)."""
    from importlib import import_module  # noqa: PLC0415  # nothing is imported before it is used

    if name in _SUBMODULES:
        value: Any = import_module(f"{__name__}.{name}")
    elif name in _MODULE_OF:
        from langchain_tiered_memory._optional import import_optional  # noqa: PLC0415  # as above

        value = getattr(import_optional(_MODULE_OF[name], needed_by=name), name)
    elif name in _MOVED:
        import warnings  # noqa: PLC0415  # as above

        module = f"{__name__}.{_MOVED[name]}"
        warnings.warn(f"import {name} from {module}", DeprecationWarning, stacklevel=2)
        return getattr(import_module(module), name)
    else:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names too, imported or not."""
    return sorted({*globals(), *__all__})
