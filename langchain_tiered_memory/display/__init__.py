"""How a replay, a compaction and an evaluation look: in a terminal, as plain text, and as HTML."""

from __future__ import annotations

from langchain_tiered_memory.display._evaluation import evaluation_renderable, evaluation_text
from langchain_tiered_memory.display._figures import counted, visible
from langchain_tiered_memory.display.compaction import (
    compaction_html,
    compaction_renderable,
    compaction_text,
    show_compaction,
)
from langchain_tiered_memory.display.page import replay_page
from langchain_tiered_memory.display.terminal import replay_renderable, replay_text

__all__ = [
    "compaction_html",
    "compaction_renderable",
    "compaction_text",
    "counted",
    "evaluation_renderable",
    "evaluation_text",
    "replay_page",
    "replay_renderable",
    "replay_text",
    "show_compaction",
    "visible",
]
