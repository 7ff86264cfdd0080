"""Where each tier is kept, by a folder or by the addresses of servers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias
from urllib.parse import urlsplit

from langchain_core.embeddings import Embeddings
from langchain_core.messages import BaseMessage

from langchain_tiered_memory._optional import import_optional, require_optional
from langchain_tiered_memory.context.budget import ContextBudget
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.semantic.cached import CachedFactStore
from langchain_tiered_memory.semantic.store import FactStore
from langchain_tiered_memory.session_names import OWNED
from langchain_tiered_memory.types import Clock
from langchain_tiered_memory.working.log import MessageLog

__all__ = ["EmbeddingsLike", "OwnedLog", "budget_of", "embeddings_of", "episodes_of", "facts_of", "log_of"]

EmbeddingsLike: TypeAlias = Embeddings | Literal["local"] | None
"""An embedding model, `"local"` for the one that comes with the extra `[local]`, or `None` for words alone."""

_PACKAGE = "langchain_tiered_memory"


def budget_of(budget: ContextBudget | None, model_window: int | None, max_tokens: int | None) -> ContextBudget:
    """The budget that was given in one of three ways.

    Raises:
        ValueError: It was given in none of them, or in more than one.
    """
    given = [value for value in (budget, model_window, max_tokens) if value is not None]
    if len(given) != 1:
        msg = (
            f"budget={budget!r}, model_window={model_window!r}, max_tokens={max_tokens!r}: give exactly one of them; "
            "ContextBudget.for_model(model) knows the windows of many models"
        )
        raise ValueError(msg)
    return budget if budget is not None else ContextBudget(window=model_window, max_tokens=max_tokens)


def embeddings_of(embeddings: EmbeddingsLike) -> Embeddings | None:
    """The embedding model.

    Raises:
        ImportError: `"local"` was asked for, and the extra `[local]` is missing.
        ValueError: It is neither a model, nor `"local"`, nor `None`.
    """
    if embeddings == "local":
        return LocalEmbeddings()
    given: Any = embeddings
    if given is not None and not isinstance(given, Embeddings):
        msg = f'embeddings={given!r}: give an Embeddings object, "local", or None for words alone'
        raise ValueError(msg)
    return embeddings


def episodes_of(uri: str, embeddings: EmbeddingsLike, **settings: Any) -> EpisodicMemory:  # noqa: ANN401  # as it takes them
    """The episodes at an address, or in a file of Milvus Lite.

    Raises:
        ImportError: An extra is missing; names all that are.
        ValueError: The embedding model or the address is none.
    """
    needed = ["pymilvus", "snowballstemmer", *(["wordllama"] if embeddings == "local" else [])]
    require_optional(needed, needed_by="TieredMemory")
    return EpisodicMemory(uri, embeddings_of(embeddings), **settings)


def log_of(url: str, clock: Clock | None) -> MessageLog:
    """The log at an address."""
    module, name = ("working.log_redis", "RedisMessageLog") if _is_redis(url) else ("working.log_sql", "SQLMessageLog")
    log: MessageLog = _opened(module, name, url, clock=clock)
    return log


def facts_of(url: str, clock: Clock | None, *, cache: str | None = None) -> FactStore:
    """The facts at an address, with a cache in front where one is named."""
    module, name = ("semantic.redis", "RedisFactStore") if _is_redis(url) else ("semantic.sql", "SQLFactStore")
    facts: FactStore = _opened(module, name, url, clock=clock)
    if cache is None:
        return facts
    hot = _opened("semantic.redis", "RedisFactStore", cache, clock=clock)
    cached: FactStore = CachedFactStore(hot=hot, cold=facts)
    return cached


def _opened(module: str, name: str, url: str, **settings: Any) -> Any:  # noqa: ANN401  # one of several stores
    return getattr(import_optional(f"{_PACKAGE}.{module}", needed_by=name), name)(url, **settings)


def _is_redis(url: str) -> bool:
    return urlsplit(url).scheme in {"redis", "rediss", "unix"}


class OwnedLog(MessageLog):
    """The log of a memory, in which a session bears its owner's name: one under a bare id would be seen by nobody."""

    def __init__(self, log: MessageLog) -> None:
        super().__init__(log.blocking, log.awaited)
        self._given = log

    def append(self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None) -> int:
        """As the log itself, for a session whose name says whose it is.

        Raises:
            ValueError: The name is a bare id; says what to call instead.
        """
        _check_owned(session_id)
        return super().append(session_id, messages, expected_version)

    async def aappend(
        self, session_id: str, messages: Sequence[BaseMessage], expected_version: int | None = None
    ) -> int:
        """`append`, awaited."""
        _check_owned(session_id)
        return await super().aappend(session_id, messages, expected_version)

    def close(self) -> None:
        """Close the log."""
        self._given.close()

    async def aclose(self) -> None:
        """`close`, awaited."""
        await self._given.aclose()

    def __repr__(self) -> str:
        return repr(self._given)


def _check_owned(session_id: str) -> None:
    if isinstance(session_id, str) and not session_id.startswith(OWNED):
        msg = (
            f"session_id={session_id!r} says of no user that it is theirs, so no user would see it: call "
            f"memory.save({session_id!r}, messages, MemoryScope(user=...)) or memory.history({session_id!r}, user_id)"
        )
        raise ValueError(msg)
