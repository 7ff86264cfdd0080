"""How a replay looks: tables in a terminal, plain text, and a page of its own with a chart."""

from __future__ import annotations

from langchain_tiered_memory.display._figures import counted, visible
from langchain_tiered_memory.display.page import replay_page
from langchain_tiered_memory.display.terminal import replay_renderable, replay_text

__all__ = ["counted", "replay_page", "replay_renderable", "replay_text", "visible"]
