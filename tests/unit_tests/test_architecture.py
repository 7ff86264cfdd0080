"""The layout of the package, held as data: which module may import which, and how large it all may become.

An import inside a function counts like one at the top, and so does one under `TYPE_CHECKING`: a name in a signature is
knowledge of the floor it comes from, whether or not it is there at run time. Heavy libraries are looked for only among
the imports that run when a module is imported.
"""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = "langchain_tiered_memory"
ROOT = Path(__file__).resolve().parents[2] / PACKAGE

# How large the package may be. These go down, never up.
MOST_LINES = 36_300
MOST_MODULES = 178
MOST_NOQA = 300
MOST_NOQA_WITHOUT_REASON = 15
MOST_LINES_OF_A_MODULE = 400
# Modules that are larger still, with the lines they have.
LARGE = {"_redis": 445, "episodic.memory": 486}
# Modules that still import each other, inside functions.
CIRCLES: tuple[set[str], ...] = ()

# From the ground up: a module may import what stands above it in this list, and its own floor.
# `events` says what happened, as data that every tier writes, so it lies under all of them; `_tables` is how an event
# or a report shows itself in a notebook.
FLOORS = (
    "_version",
    "_optional",
    "errors",
    "_sync",
    "_breaker",
    "_digests",
    "types",
    "_times",
    "_texts",
    "_tables",
    "events",
    "_lifecycle",
    "_sql",
    "_redis",
    "messages",
    "working",
    "episodic",
    "semantic",
    "procedural",
    "context",
    "session_names",
    "stores",
    "indexer",
    "erasure",
    "memory",
    "integrations",
    "evaluation",
    "display",
    "cli",
)

# What `TieredMemory.history` and `.middleware` import when they are called, and give; named by type checkers' imports.
LOADED_ON_USE = {("memory", f"{PACKAGE}.integrations.history"), ("memory", f"{PACKAGE}.integrations.middleware")}

# What any module may import when it is imported itself: LangChain's core, and what comes in with it anyway.
LIGHT = {"langchain_core", "pydantic", "pydantic_core", "typing_extensions"}

# The modules and folders that stand for a library, or for LangChain's interface to one, and may import it at the top.
ADAPTERS = {
    "cli": {"typer"},
    "integrations.agent_calls": {"langchain", "langgraph"},
    "integrations.agent_tools": {"langchain"},
    "integrations.middleware": {"langchain", "langgraph"},
    "semantic.sql": {"sqlalchemy"},
    "_sql": {"sqlalchemy"},
    "working.log_sql": {"sqlalchemy"},
}

# Goes with langchain-core 2.0: only the adapter that exists for it may know it.
DEPRECATED_ADAPTER = "integrations.history"
DEPRECATED_MODULES = {
    "langchain_classic",
    "langchain_community",
    "langchain_core.chat_history",
    "langchain_core.memory",
    "langchain_core.runnables.history",
}
DEPRECATED_NAMES = {
    "BaseChatMessageHistory",
    "BaseMemory",
    "InMemoryChatMessageHistory",
    "RunnableWithMessageHistory",
}


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, or one name out of it."""

    module: str
    name: str | None
    line: int
    runs: bool
    """Whether it runs when the importing module is imported."""


def imports_of(source: str) -> list[Import]:
    """Every import of a module, wherever it stands."""
    found: list[Import] = []

    def visit(node: ast.AST, *, runs: bool) -> None:
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, None, node.lineno, runs) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.extend(Import(module, alias.name, node.lineno, runs) for alias in node.names)
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                visit(child, runs=False)
            for child in node.orelse:
                visit(child, runs=runs)
            return
        inner = runs and not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, runs=inner)

    visit(ast.parse(source), runs=True)
    return found


def floor_of(module: str) -> int | None:
    """The height of a module of the package; None for the root, which only names the others."""
    top = module.removeprefix(PACKAGE).removeprefix(".").partition(".")[0]
    return FLOORS.index(top) if top in FLOORS else None


def dotted(path: Path, root: Path) -> str:
    """The name of a module inside the package, without the package's own."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def check_direction(module: str, used: Import) -> str | None:
    if used.module.startswith("."):
        return f"imports {used.module} relatively; say {PACKAGE}..."
    if used.module.partition(".")[0] != PACKAGE or module == "":
        return None
    if (module, used.module) in LOADED_ON_USE and not used.runs:
        return None
    # `from langchain_tiered_memory import messages` names a floor; so may a public name, which hides its floor.
    target = f"{used.module}.{used.name}" if used.module == PACKAGE else used.module
    height = floor_of(target)
    if height is None:
        return f"imports {used.name or used.module} from the package's root; import it from the module that defines it"
    if height > floor_of(module):
        return f"imports {target}, which lies above it"
    return None


def check_deprecated(module: str, used: Import) -> str | None:
    if module == DEPRECATED_ADAPTER:
        return None
    target = used.module if used.name is None else f"{used.module}.{used.name}"
    # With the dot, so that a module of a similar name is not taken for one of these.
    gone = any(f"{target}.".startswith(f"{name}.") for name in DEPRECATED_MODULES)
    if gone or (used.name in DEPRECATED_NAMES and not used.module.startswith(PACKAGE)):
        return f"imports {target}, which is deprecated and belongs in {DEPRECATED_ADAPTER} alone"
    return None


def check_weight(module: str, used: Import) -> str | None:
    library = used.module.partition(".")[0]
    adapted = ADAPTERS.get(module, set()) | ADAPTERS.get(module.partition(".")[0], set())
    allowed = LIGHT | adapted | {PACKAGE, *sys.stdlib_module_names}
    if used.runs and library and library not in allowed:
        return f"imports {library} when it is imported itself; import it where it is used"
    return None


def faults(root: Path) -> list[str]:
    """What is wrong with the imports of every module under a package's folder."""
    return [
        f"{path.relative_to(root)}:{used.line} {fault}"
        for path in sorted(root.rglob("*.py"))
        for used in imports_of(path.read_text(encoding="utf-8"))
        for check in (check_direction, check_deprecated, check_weight)
        if (fault := check(dotted(path, root), used))
    ]


def imported_modules(root: Path) -> dict[str, set[str]]:
    """For each module of a package, the others of it that it imports, wherever the import stands."""
    modules = {dotted(path, root): path for path in sorted(root.rglob("*.py"))}
    graph: dict[str, set[str]] = {module: set() for module in modules}
    for module, path in modules.items():
        if not module:
            continue  # the root names the public modules for type checkers
        for used in imports_of(path.read_text(encoding="utf-8")):
            inside = used.module.removeprefix(PACKAGE).removeprefix(".")
            named = f"{inside}.{used.name}".removeprefix(".")
            target = named if named in modules else inside
            if (module, used.module) in LOADED_ON_USE and not used.runs:
                continue
            if used.module.partition(".")[0] == PACKAGE and target in modules and target not in {module, ""}:
                graph[module].add(target)
    return graph


def circles(root: Path) -> list[set[str]]:
    """The groups of modules each of which reaches all others of its group by imports."""
    graph = imported_modules(root)
    reached = {module: set(targets) for module, targets in graph.items()}
    grown = True
    while grown:
        grown = False
        for targets in reached.values():
            more = set().union(*(reached[target] for target in targets)) - targets
            targets.update(more)
            grown = grown or bool(more)
    groups = {
        frozenset(other for other in graph if {module, other} <= reached[module] & reached[other]) for module in graph
    }
    return [set(group) for group in groups if group]


def lines_of(root: Path) -> dict[str, int]:
    return {dotted(path, root): len(path.read_text(encoding="utf-8").splitlines()) for path in root.rglob("*.py")}


def test_there_are_no_circles():
    assert [circle for circle in circles(ROOT) if not any(circle <= known for known in CIRCLES)] == []


def test_no_module_is_too_long():
    lines = lines_of(ROOT)
    assert {name: n for name, n in lines.items() if n > LARGE.get(name, MOST_LINES_OF_A_MODULE)} == {}


def test_the_package_does_not_grow():
    lines = lines_of(ROOT)
    assert sum(lines.values()) <= MOST_LINES
    assert len(lines) <= MOST_MODULES


def test_exemptions_from_the_linter_are_few_and_say_why():
    comments = [
        f"{dotted(path, ROOT)}: {line.partition('# noqa')[2]}"
        for path in ROOT.rglob("*.py")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "# noqa" in line
    ]
    assert len(comments) <= MOST_NOQA
    assert len([comment for comment in comments if not re.search(r"#| - ", comment)]) <= MOST_NOQA_WITHOUT_REASON


def test_imports_go_downwards_are_light_and_leave_deprecated_ground_alone():
    assert faults(ROOT) == []


def test_every_module_has_a_floor():
    modules = {dotted(path, ROOT) for path in ROOT.rglob("*.py")} - {""}
    assert [module for module in sorted(modules) if floor_of(module) is None] == []


@pytest.mark.parametrize(
    ("module", "source", "fault"),
    [
        ("messages/units.py", "from langchain_tiered_memory.working.log import MessageLog", "lies above"),
        ("messages/units.py", "import langchain_tiered_memory.memory", "lies above"),
        ("messages/units.py", "from langchain_tiered_memory import memory", "lies above"),
        ("messages/units.py", "from langchain_tiered_memory import SQLMessageLog", "package's root"),
        ("messages/units.py", "import langchain_tiered_memory", "package's root"),
        ("messages/units.py", "from ..working import log", "relatively"),
        ("working/log.py", "def f():\n    from langchain_tiered_memory.context import budget", "lies above"),
        (
            "working/log.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from langchain_tiered_memory.memory import T",
            "lies above",
        ),
        ("working/log.py", "from langchain_core.chat_history import BaseChatMessageHistory", "deprecated"),
        ("working/log.py", "from langchain_core import chat_history", "deprecated"),
        ("working/log.py", "def f():\n    import langchain_core.runnables.history", "deprecated"),
        ("memory.py", "from langchain.memory import RunnableWithMessageHistory", "deprecated"),
        ("messages/tokens.py", "import tiktoken", "where it is used"),
        ("messages/tokens.py", "class A:\n    import numpy.linalg", "where it is used"),
        ("working/log_redis.py", "try:\n    import redis\nexcept ImportError:\n    redis = None", "where it is used"),
        ("__init__.py", "from sqlalchemy import text", "where it is used"),
    ],
)
def test_a_planted_import_is_found(tmp_path, module, source, fault):
    path = tmp_path / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    assert any(fault in found for found in faults(tmp_path)), faults(tmp_path)


@pytest.mark.parametrize(
    ("module", "source"),
    [
        (
            "__init__.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from langchain_tiered_memory.cli import x",
        ),
        ("working/log.py", "from langchain_tiered_memory.messages.units import split_units"),
        ("working/log.py", "from langchain_tiered_memory.working import log_sql"),
        ("working/log.py", "from langchain_tiered_memory import events"),
        ("working/log_redis.py", "def f():\n    import redis"),
        ("working/log_redis.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import redis"),
        ("working/log_sql.py", "import sqlalchemy as sa"),
        ("messages/units.py", "import json\nfrom langchain_core.messages import BaseMessage"),
        ("integrations/history.py", "from langchain_core.chat_history import BaseChatMessageHistory"),
    ],
)
def test_what_is_allowed_is_let_pass(tmp_path, module, source):
    path = tmp_path / module
    path.parent.mkdir(exist_ok=True)
    path.write_text(source)
    assert faults(tmp_path) == []


def test_a_planted_circle_is_found(tmp_path):
    (tmp_path / "working").mkdir()
    for name, other in (("log", "sql"), ("sql", "view"), ("view", "log"), ("end", "log")):
        source = f"def f():\n    from {PACKAGE}.working.{other} import x"
        (tmp_path / "working" / f"{name}.py").write_text(source)
    assert circles(tmp_path) == [{"working.log", "working.sql", "working.view"}]
