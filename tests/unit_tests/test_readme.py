from __future__ import annotations

import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import Field

import langchain_tiered_memory
from langchain_tiered_memory import count_tokens, trim_messages, validate_messages

README = (Path(__file__).resolve().parents[2] / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
TROUBLES = re.findall(r"^\| `(.*?)` \|", README.partition("## When something goes wrong")[2], re.MULTILINE)


@pytest.fixture
def examples(tmp_path, monkeypatch) -> dict[str, Any]:
    """The names that the Python blocks define, run one after another in an empty folder."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, Any] = {}
    for block in PYTHON:
        exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102  # the README is what is tested
    namespace["log"].close()
    return namespace


class RecordingModel(FakeListChatModel):
    """Answers, and keeps what it was sent."""

    requests: list[list[BaseMessage]] = Field(default_factory=list)

    def _call(self, messages, *args, **kwargs):
        self.requests.append(messages)
        return super()._call(messages, *args, **kwargs)


# The README says so itself.
deprecation = pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")
vocabularies = pytest.mark.needs_vocabulary("o200k_base", "cl100k_base")


@vocabularies
@deprecation
def test_the_python_examples_run_one_after_another(capsys, examples):
    assert examples["newest"][-1].content == "Thanks!"
    printed = capsys.readouterr().out
    assert "The ferry leaves at 9:40." in printed
    assert "4 messages shown, 4 kept" in printed
    assert printed.count("orphan_result") == 1
    assert "🧠 context compacted: " in printed
    assert count_tokens(examples["view"]) <= 2_000


@vocabularies
@deprecation
@pytest.mark.parametrize("words", [10, 900, 3_000])
@pytest.mark.parametrize(("example", "keeps_state"), [("trim", True), ("trim_state", False)])
def test_the_trimmers_for_agents_split_no_call_from_its_results(examples, example, keeps_state, words):
    calls = [{"name": "look_up", "args": {}, "id": call_id} for call_id in "ab"]
    results = [ToolMessage("word " * words, tool_call_id=call_id) for call_id in "ab"]
    state = [
        HumanMessage("first"),
        AIMessage("", tool_calls=calls),
        *results,
        AIMessage("found"),
        HumanMessage("newest"),
    ]
    model = RecordingModel(responses=["done"])
    agent = create_agent(model, middleware=[examples[example]])
    after = agent.invoke({"messages": state})["messages"]
    [request] = model.requests
    assert validate_messages(request) == []
    assert request[-1].content == "newest"
    assert (len(request) == len(state)) == (words < 1_000)
    assert count_tokens(request) <= 2_000
    assert len(after) == (len(state) if keeps_state else len(request)) + 1


def test_no_example_is_longer_than_eight_lines():
    lengths = [len([line for line in block.splitlines() if line.strip()]) for block in PYTHON]
    assert lengths
    assert max(lengths) <= 8


def test_the_example_chain_takes_five_lines():
    [chain] = [block for block in PYTHON if "trim_messages(max_tokens" in block and "| model" in block]
    assert len([line for line in chain.splitlines() if line.strip()]) <= 5


@pytest.mark.needs_vocabulary
@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("tiered-memory")])
def test_a_command_of_the_readme_runs(command, tmp_path, project_root):
    script = shutil.which("tiered-memory", path=Path(sys.executable).parent)
    for name in re.findall(r"tests/data/\S+", command):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(project_root / name, tmp_path / name)
    done = subprocess.run(  # noqa: S603  # the package's own script
        [script, *command.split()[1:]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    for written in re.findall(r"--(?:html|json) (\S+)", command):
        assert (tmp_path / written).stat().st_size > 0


def test_the_make_targets_of_the_readme_exist(project_root):
    makefile = (project_root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^(\w+):", makefile, re.MULTILINE))
    named = set(
        re.findall(r"\bmake (?:[A-Z]+=\w+ )?(\w+)", "\n".join([*COMMANDS, *re.findall(r"`(make .*?)`", README)]))
    )
    assert {"demo", "test", "check", "bench"} <= named <= targets


@pytest.mark.parametrize("message", [trouble for trouble in TROUBLES if "No module named" not in trouble])
def test_a_message_under_troubleshooting_is_one_that_the_package_writes(message):
    folder = Path(langchain_tiered_memory.__file__).parent
    assert any(message in path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))


def test_the_table_of_parameters_is_complete():
    table = README.partition("## `trim_messages` beside")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named == set(inspect.signature(trim_messages).parameters) - {"messages"}


def test_links_to_files_lead_somewhere(project_root):
    for target in re.findall(r"\]\((?!https?:)(.*?)\)", README):
        assert (project_root / target).is_file(), target
