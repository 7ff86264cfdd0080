"""Measurements of memory: what a strategy sends, keeps, loses and costs on a real conversation."""

from __future__ import annotations

from langchain_tiered_memory.evaluation.replay import Trimmer, model_calls, replay
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

__all__ = ["ReplayCall", "ReplayReport", "Trimmer", "model_calls", "replay"]
