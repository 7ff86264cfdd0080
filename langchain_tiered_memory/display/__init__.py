"""How things look to people (requests, recalls, sessions, compactions, replays, evaluations): terminal, text, HTML."""

from __future__ import annotations

from langchain_tiered_memory._texts import counted, readable, visible
from langchain_tiered_memory.display.compaction import (
    compaction_html,
    compaction_renderable,
    compaction_text,
    show_compaction,
)
from langchain_tiered_memory.display.context import context_html, context_renderable, context_text, show_context
from langchain_tiered_memory.display.evaluation import evaluation_renderable, evaluation_text
from langchain_tiered_memory.display.recall import recall_html, recall_renderable, recall_text, show_recall
from langchain_tiered_memory.display.replay import replay_page, replay_renderable, replay_text
from langchain_tiered_memory.display.session import session_html, session_renderable, session_text, show_session

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
