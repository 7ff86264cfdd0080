"""What must survive a summary word for word: the rules that bind the agent and the exact values it was given.

A summariser is a model that rewrites, and what it drops first is what cannot be guessed again: "not before 9", an order
number, a path. So constraints are found in the messages themselves, compared with the summary, and what is missing is
put beside it verbatim. Rules are found by a small linear model (`priority`), values by a few patterns. A false alarm
costs a line of the budget and is still what the user said; finding is linear in the length of a message, needs no
library and gives the same every time.
"""

from __future__ import annotations

from langchain_tiered_memory.working.constraints.constraint import (
    RULE_BYTES,
    Constraint,
    ConstraintDetector,
    find_constraints,
    is_rule,
)
from langchain_tiered_memory.working.constraints.priority import THRESHOLD, priority
from langchain_tiered_memory.working.constraints.quoting import (
    HEADINGS,
    fit_constraints,
    merge_constraints,
    missing_constraints,
    newest_and_oldest,
    render_constraints,
)
from langchain_tiered_memory.working.constraints.sentences import (
    Language,
    compiled,
    dominant_language,
    is_question,
    one_line,
    pieces,
    said_text,
    split_sentences,
    weight,
)
from langchain_tiered_memory.working.constraints.topics import topic_of
from langchain_tiered_memory.working.constraints.values import concludes, has_value, record_pairs

__all__ = [
    "HEADINGS",
    "RULE_BYTES",
    "THRESHOLD",
    "Constraint",
    "ConstraintDetector",
    "Language",
    "compiled",
    "concludes",
    "dominant_language",
    "find_constraints",
    "fit_constraints",
    "has_value",
    "is_question",
    "is_rule",
    "merge_constraints",
    "missing_constraints",
    "newest_and_oldest",
    "one_line",
    "pieces",
    "priority",
    "record_pairs",
    "render_constraints",
    "said_text",
    "split_sentences",
    "topic_of",
    "weight",
]
