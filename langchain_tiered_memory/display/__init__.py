"""How things look to people (requests, recalls, sessions, compactions, replays, evaluations): terminal, text, HTML."""

from __future__ import annotations

from langchain_tiered_memory.display._evaluation import evaluation_renderable, evaluation_text
from langchain_tiered_memory.display._figures import counted, visible
from langchain_tiered_memory.display._showing import readable
from langchain_tiered_memory.display.compaction import (
    compaction_html,
    compaction_renderable,
    compaction_text,
    show_compaction,
)
from langchain_tiered_memory.display.context import context_html, context_renderable, context_text, show_context
from langchain_tiered_memory.display.page import replay_page
from langchain_tiered_memory.display.recall import recall_html, recall_renderable, recall_text, show_recall
from langchain_tiered_memory.display.session import session_html, session_renderable, session_text, show_session
from langchain_tiered_memory.display.terminal import replay_renderable, replay_text

__all__ = [
    "compaction_html",
    "compaction_renderable",
    "compaction_text",
    "context_html",
    "context_renderable",
    "context_text",
    "counted",
    "evaluation_renderable",
    "evaluation_text",
    "readable",
    "recall_html",
    "recall_renderable",
    "recall_text",
    "replay_page",
    "replay_renderable",
    "replay_text",
    "session_html",
    "session_renderable",
    "session_text",
    "show_compaction",
    "show_context",
    "show_recall",
    "show_session",
    "visible",
]
