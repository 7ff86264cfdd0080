"""Facts in one place: what a fact is, the port of the stores, the store in memory, and the cache over another store.

The stores themselves have modules of their own: `semantic.sql` and `semantic.redis`.
"""

from __future__ import annotations

from langchain_tiered_memory.semantic.cached import CachedFactStore
from langchain_tiered_memory.semantic.memory import InMemoryFactStore
from langchain_tiered_memory.semantic.records import Fact
from langchain_tiered_memory.semantic.store import FactStore

__all__ = ["CachedFactStore", "Fact", "FactStore", "InMemoryFactStore"]
