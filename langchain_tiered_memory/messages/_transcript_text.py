"""The former place of what is in `text` now."""

from __future__ import annotations

from langchain_tiered_memory.messages.text import render

__all__ = ["render"]
