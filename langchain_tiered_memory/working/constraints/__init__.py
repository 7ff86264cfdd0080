"""What must survive a summary word for word: the rules that bind the agent and the exact values it was given.

A summariser is a model that rewrites, and what it drops first is what cannot be guessed again: "not before 9", an order
number, a path. So constraints are found in the messages themselves, compared with the summary, and what is missing is
put beside it verbatim. Finding is a matter of words and marks, in English and Chinese, and of values in any language;
it needs no model, is linear in the length of a message and the same every time.
"""

from __future__ import annotations

from langchain_tiered_memory.working.quoting.constraint import Constraint, ConstraintDetector
from langchain_tiered_memory.working.quoting.finding import RULE_BYTES, find_constraints
from langchain_tiered_memory.working.quoting.holding import merge_constraints, missing_constraints
from langchain_tiered_memory.working.quoting.showing import HEADINGS, fit_constraints, render_constraints
from langchain_tiered_memory.working.wording.reading import Language, dominant_language, one_line, said_text
from langchain_tiered_memory.working.wording.topics import topic_of

__all__ = [
    "HEADINGS",
    "RULE_BYTES",
    "Constraint",
    "ConstraintDetector",
    "Language",
    "dominant_language",
    "find_constraints",
    "fit_constraints",
    "merge_constraints",
    "missing_constraints",
    "one_line",
    "render_constraints",
    "said_text",
    "topic_of",
]
