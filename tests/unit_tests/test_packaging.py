from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from langchain_tiered_memory._optional import EXTRA_OF_LIBRARY

NAME = "langchain-tiered-memory"


@pytest.fixture(scope="module")
def built(project_root, tmp_path_factory) -> dict[str, Path]:
    """A wheel and an sdist, built as an installer builds them, from a copy of the sources."""
    tree, target = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for entry in ("pyproject.toml", "README.md", "README.zh-CN.md", "CHANGELOG.md", "LICENSE", "Makefile"):
        shutil.copy(project_root / entry, tree)
    for entry in ("langchain_tiered_memory", "tests"):
        shutil.copytree(project_root / entry, tree / entry, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(  # noqa: S603  # this interpreter, and a module that the test extra installs
        [sys.executable, "-m", "hatchling", "build", "--directory", str(target)],
        cwd=tree,
        check=True,
        capture_output=True,
    )
    return {path.suffix: path for path in target.iterdir()}


def modules(project_root: Path) -> set[str]:
    return {
        path.relative_to(project_root).as_posix()
        for kind in ("*.py", "*.json")
        for path in (project_root / "langchain_tiered_memory").rglob(kind)
    }


def test_the_wheel_holds_every_module_the_type_marker_and_the_licence_and_nothing_else(built, project_root):
    with zipfile.ZipFile(built[".whl"]) as wheel:
        files = set(wheel.namelist())
    metadata = {name for name in files if ".dist-info/" in name}
    assert files - metadata == modules(project_root) | {
        "langchain_tiered_memory/py.typed",
        "langchain_tiered_memory/working/constraints/priority.txt",
    }
    assert any(name.endswith("/licenses/LICENSE") for name in metadata)


def test_the_sdist_holds_what_is_needed_to_build_and_to_test(built, project_root):
    with tarfile.open(built[".gz"]) as sdist:
        files = {name.partition("/")[2] for name in sdist.getnames()}
    wanted = {
        "pyproject.toml",
        "README.md",
        "README.zh-CN.md",
        "CHANGELOG.md",
        "LICENSE",
        "Makefile",
        "tests/conftest.py",
    }
    assert wanted | modules(project_root) <= files
    assert not [name for name in files if name.endswith((".pyc", ".db"))]


def test_the_metadata_says_what_the_package_is(built, project_root):
    with zipfile.ZipFile(built[".whl"]) as wheel:
        [path] = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = Parser().parsestr(wheel.read(path).decode())
    assert metadata["Name"] == NAME
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert metadata.get_payload().strip() == (project_root / "README.md").read_text(encoding="utf-8").strip()


def test_the_core_needs_langchain_core_tiktoken_and_sqlalchemy_alone(project_root):
    project = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {re.split(r"[<>=~! ]", requirement)[0] for requirement in project["dependencies"]}
    assert names == {"langchain-core", "tiktoken", "SQLAlchemy"}


def test_the_extra_all_is_every_extra_that_a_user_installs(project_root):
    extras = tomllib.loads((project_root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    [everything] = extras["all"]
    assert set(re.fullmatch(rf"{NAME}\[(.*)\]", everything)[1].split(",")) == set(extras) - {"all", "dev", "test"}


def test_an_extra_installs_each_library_that_an_error_sends_a_user_there_for():
    requirements = importlib.metadata.requires(NAME)
    for library, extra in EXTRA_OF_LIBRARY.items():
        pattern = re.compile(rf"{library.replace('_', '-')}\b.*; extra == ['\"]{extra}['\"]")
        assert [line for line in requirements if pattern.match(line)], (library, extra)


def test_the_command_is_installed():
    [command] = importlib.metadata.entry_points(group="console_scripts", name="tiered-memory")
    assert command.value == "langchain_tiered_memory.cli:main"


@pytest.mark.skipif("TIERED_MEMORY_INSTALLED" not in os.environ, reason="set by make test, which installs the wheel")
def test_the_installed_package_is_that_of_the_tree(project_root):
    files = {str(file): file.locate() for file in importlib.metadata.files(NAME)}
    for module in modules(project_root):
        assert files[module].read_bytes() == (project_root / module).read_bytes()
