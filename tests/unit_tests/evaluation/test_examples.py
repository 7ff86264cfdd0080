"""The examples in the docstrings of the public names run as they stand."""

from __future__ import annotations

import inspect
import re

import pytest

from langchain_tiered_memory import evaluation

EXAMPLES = {
    name: code
    for name in evaluation.__all__
    for code in re.findall(r"```python\n(.*?)```", inspect.getdoc(getattr(evaluation, name)) or "", re.DOTALL)
}


def test_there_are_examples():
    assert set(EXAMPLES) >= {"EvaluationReport", "MemoryCase", "MemoryDataset", "evaluate", "forgetting_curve"}


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_an_example_runs_and_is_short(name):
    exec(EXAMPLES[name], {})  # noqa: S102  # the example itself is on trial
    assert len(EXAMPLES[name].splitlines()) <= 8


def test_every_public_name_says_what_it_is():
    undocumented = [name for name in evaluation.__all__ if not inspect.getdoc(getattr(evaluation, name))]
    assert set(undocumented) <= {"FAULTS", "Fault", "Trimmer"}  # what cannot carry a docstring of its own
