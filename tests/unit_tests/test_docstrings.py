"""The examples in docstrings run as they stand: blocks of Python each in an empty folder, and interactive sessions."""

from __future__ import annotations

import ast
import doctest
import importlib
import re
import textwrap
from pathlib import Path

import pytest

import langchain_tiered_memory as package

ROOT = Path(package.__file__).parent
# Their examples need Milvus, a chat model or a terminal; most are run by tests of their own.
ELSEWHERE = {"cli", "display", "episodic", "evaluation", "integrations", "memory"}
NEEDS_A_SERVER = {"langchain_tiered_memory.working.log_redis.RedisMessageLog"}


def docstrings() -> dict[str, str]:
    """The docstrings of all modules, classes and functions with an example, by their dotted names."""
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0] in ELSEWHERE:
            continue
        module = ".".join((package.__name__, *parts))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if "```python" in text or ">>>" in text:
                    found[f"{module}.{getattr(node, 'name', '')}"] = text
    return found


DOCSTRINGS = docstrings()


def test_examples_are_found():
    assert {name.rpartition(".")[2] for name in DOCSTRINGS} >= {"Compaction", "FactStore", "MessageLog", "split_units"}


@pytest.mark.parametrize("name", sorted(set(DOCSTRINGS) - NEEDS_A_SERVER))
def test_an_example_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for block in re.findall(r"```python\n(.*?)```", DOCSTRINGS[name], re.DOTALL):
        exec(compile(textwrap.dedent(block), name, "exec"), {})  # noqa: S102  # the example itself is on trial
    names = vars(importlib.import_module(name.rpartition(".")[0]))
    session = doctest.DocTestParser().get_doctest(DOCSTRINGS[name], dict(names), name, name, 0)
    assert doctest.DocTestRunner().run(session).failed == 0
