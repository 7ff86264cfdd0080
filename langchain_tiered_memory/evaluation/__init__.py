"""Measurements of memory: what it sends, keeps, recalls, loses and costs, on made-up, published and own conversations.

| question | answer |
|---|---|
| Does it recall what it should, and nothing that it should not? | `evaluate(memory, MemoryDataset.synthetic())` |
| What does it still know in a month? | `forgetting_curve(make)` |
| What would it have sent in a conversation of mine? | `replay(messages, max_tokens=...)` |
"""

from __future__ import annotations

from langchain_tiered_memory.evaluation.cases import FAULTS, DatasetError, Fault, MemoryCase, MemoryRecord, records_of
from langchain_tiered_memory.evaluation.context_metrics import (
    constraint_retention,
    context_recall,
    default_metrics,
    latency,
    shared_prefix,
    tokens_per_round,
)
from langchain_tiered_memory.evaluation.contexts import ContextTarget, TieredTarget
from langchain_tiered_memory.evaluation.datasets import MemoryDataset
from langchain_tiered_memory.evaluation.forgetting import (
    ForgettingCurve,
    ForgettingFit,
    ForgettingPoint,
    TurnedClock,
    ebbinghaus,
    forgetting_curve,
)
from langchain_tiered_memory.evaluation.loaders import load_beam, load_dataset, load_locomo, load_longmemeval
from langchain_tiered_memory.evaluation.metrics import (
    Metric,
    as_of_accuracy,
    contamination,
    contamination_eval,
    current_at,
    ndcg_at,
    precision_at,
    recall_at,
    recall_eval,
    reciprocal_rank,
    returned,
    stale_first,
)
from langchain_tiered_memory.evaluation.outcomes import CaseResult, EvaluationFailed, Shortfall, TargetResult
from langchain_tiered_memory.evaluation.plots import plot_bars, plot_forgetting, plot_radar
from langchain_tiered_memory.evaluation.replay import Trimmer, model_calls, replay
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport
from langchain_tiered_memory.evaluation.results import EvaluationReport
from langchain_tiered_memory.evaluation.running import aevaluate, evaluate
from langchain_tiered_memory.evaluation.targets import (
    CallableTarget,
    EpisodicTarget,
    FactTarget,
    MemoryTarget,
    RetrieverTarget,
)

__all__ = [
    "FAULTS",
    "CallableTarget",
    "CaseResult",
    "ContextTarget",
    "DatasetError",
    "EpisodicTarget",
    "EvaluationFailed",
    "EvaluationReport",
    "FactTarget",
    "Fault",
    "ForgettingCurve",
    "ForgettingFit",
    "ForgettingPoint",
    "MemoryCase",
    "MemoryDataset",
    "MemoryRecord",
    "MemoryTarget",
    "Metric",
    "ReplayCall",
    "ReplayReport",
    "RetrieverTarget",
    "Shortfall",
    "TargetResult",
    "TieredTarget",
    "Trimmer",
    "TurnedClock",
    "aevaluate",
    "as_of_accuracy",
    "constraint_retention",
    "contamination",
    "contamination_eval",
    "context_recall",
    "current_at",
    "default_metrics",
    "ebbinghaus",
    "evaluate",
    "forgetting_curve",
    "latency",
    "load_beam",
    "load_dataset",
    "load_locomo",
    "load_longmemeval",
    "model_calls",
    "ndcg_at",
    "plot_bars",
    "plot_forgetting",
    "plot_radar",
    "precision_at",
    "recall_at",
    "recall_eval",
    "reciprocal_rank",
    "records_of",
    "replay",
    "returned",
    "shared_prefix",
    "stale_first",
    "tokens_per_round",
]
