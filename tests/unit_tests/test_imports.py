from __future__ import annotations

import ast
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import langchain_tiered_memory as package
from langchain_tiered_memory._optional import EXTRA_OF_LIBRARY, import_optional

HEAVY = {
    "jinja2",
    "langchain",
    "langchain_community",
    "langchain_openai",
    "langgraph",
    "matplotlib",
    "milvus_lite",
    "numpy",
    "pandas",
    "psycopg",
    "pymilvus",
    "redis",
    "rich",
    "scipy",
    "snowballstemmer",
    "sqlalchemy",
    "tiktoken",
    "typer",
    "wordllama",
}

MODULES = ("display", "errors", "evaluation", "events")


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run(  # noqa: S603  # this interpreter, and code of this file
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ | {"COLUMNS": "80"}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has imported after some code."""
    return set(json.loads(run(f"{code}\nimport sys, json\nprint(json.dumps(list(sys.modules)))")))


def libraries_of(modules: set[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


RUNNABLE = "from langchain_core.runnables.base import RunnableSerializable"


@pytest.mark.parametrize("name", ["trim_messages", "SummaryMemory", "ContextAssembler", "TieredMemory"])
def test_a_public_name_brings_in_no_library_beyond_what_a_runnable_needs(name):
    loaded = loaded_by(f"{RUNNABLE}\nfrom langchain_tiered_memory import {name}")
    assert not HEAVY & libraries_of(loaded)
    more = libraries_of(loaded) - libraries_of(loaded_by(RUNNABLE)) - sys.stdlib_module_names
    assert more == {"langchain_tiered_memory"}


def test_trimming_brings_in_no_other_tier():
    loaded = loaded_by("from langchain_tiered_memory import trim_messages")
    tiers = {name.split(".")[1] for name in loaded if name.startswith("langchain_tiered_memory.")}
    assert not {"working", "episodic", "semantic", "procedural", "context", "evaluation", "display"} & tiers


def test_importing_the_package_itself_imports_nothing():
    assert loaded_by("import langchain_tiered_memory") - loaded_by("import __future__") == {"langchain_tiered_memory"}


@pytest.mark.parametrize("name", sorted(set(package.__all__) - {"__version__", *MODULES}))
def test_a_public_name_resolves_to_what_its_module_defines(name):
    value = getattr(package, name)
    assert value is getattr(importlib.import_module(package._MODULE_OF[name]), name)
    assert name in dir(package)
    namespace: dict[str, object] = {}
    exec(f"from langchain_tiered_memory import {name}", namespace)  # noqa: S102  # the statement itself is on trial
    assert namespace[name] is value


def test_the_names_for_type_checkers_and_those_at_run_time_are_the_same():
    source = Path(package.__file__).read_text(encoding="utf-8")
    seen = {
        alias.name: node.module
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(package.__name__)
        for alias in node.names
        if alias.name != "import_optional"
    }
    assert {seen.pop(name) for name in MODULES} == {package.__name__}
    assert seen == package._MODULE_OF
    assert package.__all__ == sorted({*seen, "__version__", *MODULES})


def test_there_are_forty_public_names_at_most_beside_the_errors_and_the_modules():
    raised = {name for name in package.__all__ if name.endswith("Error")}
    assert raised < set(package.errors.__all__)
    assert len(set(package.__all__) - raised - {"__version__", *MODULES}) <= 40


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_the_front_is_imported_when_it_is_used(name):
    code = f"import sys, langchain_tiered_memory as p; print({name!r} in vars(p), p.{name}.__name__)"
    assert run(code).split() == ["False", f"langchain_tiered_memory.{name}"]


def test_events_and_warnings_are_reached_from_the_top():
    assert issubclass(package.events.CompactionFailed, package.events.MemoryEvent)
    assert issubclass(package.errors.VocabularyMissingWarning, UserWarning)


@pytest.mark.parametrize("name", sorted(package._MOVED))
def test_a_name_that_moved_says_where_it_is(name):
    with pytest.warns(DeprecationWarning, match=f"import {name} from langchain_tiered_memory") as caught:
        value = getattr(package, name)
    module = str(caught[0].message).rpartition(" ")[2]
    assert value is getattr(importlib.import_module(module), name)
    assert caught[0].filename == __file__


@pytest.mark.parametrize(("use", "imported"), [("pass", False), ("package.ScopeError", True)])
def test_a_public_name_is_imported_only_when_it_is_used(use, imported):
    code = f"""
import sys, langchain_tiered_memory as package
{use}
print("langchain_tiered_memory.errors" in sys.modules)
"""
    assert run(code).strip() == str(imported)


def test_the_version_is_the_installed_one():
    assert package.__version__ == importlib.metadata.version("langchain-tiered-memory")


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="'trim_mesages'"):
        package.trim_mesages  # noqa: B018
    with pytest.raises(ImportError, match="trim_mesages"):
        exec("from langchain_tiered_memory import trim_mesages")  # noqa: S102
    assert not hasattr(package, "__path_that_is_not__")


@pytest.mark.parametrize(("library", "extra"), sorted(EXTRA_OF_LIBRARY.items()))
def test_a_missing_library_names_the_extra_that_installs_it(library, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError) as raised:
        import_optional(library, needed_by="TheThing")
    assert f"TheThing needs {library}" in str(raised.value)
    assert f"pip install 'langchain-tiered-memory[{extra}]'" in str(raised.value)


def test_a_missing_library_is_named_when_a_module_that_needs_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "needs_typer.py").write_text("import typer.testing\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(ImportError, match=r"\[cli\]"):
        import_optional("needs_typer", needed_by="tiered-memory")


def test_a_missing_module_that_no_extra_installs_is_reported_as_it_is():
    with pytest.raises(ModuleNotFoundError, match="no_such_module_anywhere"):
        import_optional("no_such_module_anywhere", needed_by="TheThing")


def test_every_extra_named_in_an_error_exists():
    metadata = importlib.metadata.metadata("langchain-tiered-memory")
    assert set(EXTRA_OF_LIBRARY.values()) <= set(metadata.get_all("Provides-Extra"))


@pytest.mark.skipif("TIERED_MEMORY_INSTALLED" not in os.environ, reason="set by make test, which installs the wheel")
def test_the_tests_run_against_the_installed_wheel():
    assert "site-packages" in Path(package.__file__).parts
    assert str(Path(__file__).resolve().parents[2]) not in sys.path
