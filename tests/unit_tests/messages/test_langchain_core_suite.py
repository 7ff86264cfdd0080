"""langchain_core's own tests of trim_messages, run with ours in its place; none of them is in this repository.

They come from the source distribution of the langchain-core that is installed, fetched with pip and kept in pytest's
cache. What must fail is listed with its reason; anything else that fails is a failure, and so is a listed test that
passes.
"""

from __future__ import annotations

import importlib.util
import inspect
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from langchain_tiered_memory.messages.trimming import trim_messages
from support.services import unavailable

if TYPE_CHECKING:
    from types import ModuleType

RELEASE = version("langchain-core")
TESTS = f"langchain_core-{RELEASE}/tests/unit_tests/messages/test_utils.py"

FIRST_LOSES_THE_QUESTION = (
    'strategy="first" leaves out the newest user turn there, so the model would not see what it is asked; it stays here'
)
OPENS_WITH_THE_ASSISTANT = (
    "a part of an assistant message opens the conversation there, which Anthropic and Gemini refuse; the user does here"
)
EXCEPTIONS = {
    "test_trim_messages_first_30": FIRST_LOSES_THE_QUESTION,
    "test_trim_messages_first_30_allow_partial": FIRST_LOSES_THE_QUESTION,
    "test_trim_messages_first_30_allow_partial_end_on_human": FIRST_LOSES_THE_QUESTION,
    "test_trim_messages_exact_token_boundary": FIRST_LOSES_THE_QUESTION,
    "test_trim_messages_last_40_include_system_allow_partial": OPENS_WITH_THE_ASSISTANT,
    "test_trim_messages_last_30_include_system_allow_partial_end_on_human": OPENS_WITH_THE_ASSISTANT,
}


def _pip() -> list[str] | None:
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    return [found] if found else None


def _fetch(folder: Path) -> Path:
    """Download the source distribution, without its dependencies, unless an earlier run did."""
    archive = folder / f"langchain_core-{RELEASE}.tar.gz"
    if archive.exists():
        return archive
    pip = _pip()
    if pip is None:
        unavailable("pip is needed to fetch langchain-core's source distribution, and there is none")
    download = ["download", "--quiet", "--no-deps", "--no-binary", "langchain-core", "--dest", str(folder)]
    done = subprocess.run(  # noqa: S603 - the command is made of this file's own words
        [*pip, *download, f"langchain-core=={RELEASE}"], capture_output=True, text=True, check=False
    )
    if not archive.exists():
        unavailable(f"langchain-core {RELEASE} has no source distribution within reach: {done.stderr[-500:]}")
    return archive


@pytest.fixture(scope="module")
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """langchain_core's test module, with its trim_messages replaced."""
    cache = request.config.cache
    folder = cache.mkdir("langchain-core") if cache is not None else tmp_path_factory.mktemp("langchain-core")
    with tarfile.open(_fetch(Path(folder))) as archive:
        member = archive.extractfile(TESTS)
        assert member is not None, f"the source distribution holds no {TESTS}"
        path = tmp_path_factory.mktemp("suite") / "langchain_core_test_utils.py"
        path.write_bytes(member.read())
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.trim_messages.__module__ == "langchain_core.messages.utils"
    module.trim_messages = trim_messages  # type: ignore[attr-defined]
    return module


@pytest.fixture(scope="module")
def verdicts(suite: ModuleType) -> dict[str, Exception | None]:
    """For each of its tests of trim_messages: how it failed, None if it passed."""
    tests = {name: test for name, test in vars(suite).items() if name.startswith("test_trim_messages")}
    return {name: _run(test) for name, test in tests.items()}


def _run(test: Any) -> Exception | None:
    assert not inspect.signature(test).parameters, f"{test.__name__} takes arguments, which nobody gives it here"
    try:
        test()
    except Exception as error:  # noqa: BLE001 - whatever a test fails with is its verdict
        return error
    return None


def test_there_are_tests_to_run(verdicts: dict[str, Exception | None]) -> None:
    assert len(verdicts) >= 20


def test_every_test_but_the_listed_ones_passes(verdicts: dict[str, Exception | None]) -> None:
    failed = {name: repr(error) for name, error in verdicts.items() if error is not None and name not in EXCEPTIONS}
    assert failed == {}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_a_listed_test_still_differs_in_its_result_only(name: str, verdicts: dict[str, Exception | None]) -> None:
    assert name in verdicts, f"langchain-core {RELEASE} has no {name}: take it off the list"
    assert verdicts[name] is not None, f"{name} passes now: take it off the list ({EXCEPTIONS[name]})"
    assert isinstance(verdicts[name], AssertionError), f"{name} fails for another reason: {verdicts[name]!r}"


def test_langchain_core_itself_passes_what_it_is_said_to_pass(
    suite: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    from langchain_core.messages.utils import trim_messages as theirs  # noqa: PLC0415 - only here is theirs the one

    monkeypatch.setattr(suite, "trim_messages", theirs)
    assert {name: _run(vars(suite)[name]) for name in EXCEPTIONS} == dict.fromkeys(EXCEPTIONS)
