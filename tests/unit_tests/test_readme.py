from __future__ import annotations

import ast
import inspect
import io
import re
import shlex
from collections import Counter
from contextlib import chdir, redirect_stdout
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer
from langchain.agents import create_agent
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from pydantic import Field
from typer.testing import CliRunner

import langchain_tiered_memory
from langchain_tiered_memory import ContextBudget, count_tokens, trim_messages, validate_messages
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.context.budget import SHARES

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"^```python\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    line.partition("#")[0].strip()
    for block in re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]
TROUBLES = re.findall(
    r"^\| `(.*?)` \|", README.partition("## When something goes wrong")[2].partition("\n## ")[0], re.MULTILINE
)
SETTINGS = [
    [cell.strip() for cell in row.split("|")[1:-1]]
    for row in re.findall(r"^\| `.*$", README.partition("## Settings")[2].partition("\n## ")[0], re.MULTILINE)
]
CLASSES = [
    "TieredMemory",
    "ContextBudget",
    "ContextAssembler",
    "SummarizerGuard",
    "SummaryMemory",
    "SummaryShares",
    "SummaryText",
    "EpisodicMemory",
    "SQLFactStore",
    "RedisFactStore",
    "CachedFactStore",
    "InMemoryFactStore",
    "SQLMessageLog",
    "RedisMessageLog",
    "InMemoryMessageLog",
    "ProceduralMemory",
    "TieredMemoryMiddleware",
    "TieredChatMessageHistory",
]


@pytest.fixture(scope="module")
def examples(tmp_path_factory) -> dict[str, Any]:
    """The names that the Python blocks define, run one after another in an empty folder, and what they printed."""
    namespace: dict[str, Any] = {}
    with chdir(tmp_path_factory.mktemp("readme")), redirect_stdout(io.StringIO()) as printed:
        for block in PYTHON:
            exec(compile(block, "README.md", "exec"), namespace)  # noqa: S102  # the README is what is tested
        namespace["log"].close()
    return {**namespace, "printed": printed.getvalue()}


class RecordingModel(FakeListChatModel):
    """Answers, and keeps what it was sent."""

    requests: list[list[BaseMessage]] = Field(default_factory=list)

    def _call(self, messages, *args, **kwargs):
        self.requests.append(messages)
        return super()._call(messages, *args, **kwargs)


# The README says so itself.
deprecation = pytest.mark.filterwarnings("ignore:RunnableWithMessageHistory is deprecated")


@deprecation
def test_the_python_examples_run_one_after_another(examples):
    assert examples["newest"][-1].content == "Thanks!"
    printed = examples["printed"]
    assert "The ferry leaves at 9:40." in printed
    assert "4 messages shown, 4 kept" in printed
    assert printed.count("orphan_result") == 1
    assert "🧠 context compacted: " in printed
    assert count_tokens(examples["view"]) <= 2_000


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


@pytest.mark.parametrize("command", [command for command in COMMANDS if command.startswith("tiered-memory")])
def test_a_command_of_the_readme_runs(command, tmp_path, monkeypatch, project_root):
    (tmp_path / "tests").symlink_to(project_root / "tests")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, shlex.split(command)[1:])
    assert done.exit_code == 0, done.stderr
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


def named_settings(owner: str) -> dict[str, str]:
    """The default of each setting of a class or command, as the table writes it."""
    cells = [
        (name, default)
        for owners, names, default, _ in SETTINGS
        if f"`{owner}`" in owners.split(", ")
        for name in [tuple(re.findall(r"`(.*?)`", names))]
    ]
    assert len(dict(cells)) == len(cells), f"{owner}: a setting stands in the table twice"
    return dict(cells)


def real_settings(factory: Any) -> dict[tuple[str, ...], Any]:
    return {
        (name,): parameter.default
        for name, parameter in inspect.signature(factory).parameters.items()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    }


def written(default: str) -> Any:
    """The value that a cell of the table shows."""
    if default == "required":
        return inspect.Parameter.empty
    [code] = re.findall(r"^`(.*)`$", default)
    if days := re.fullmatch(r"timedelta\(days=(\d+)\)", code):
        return timedelta(days=int(days[1]))
    return ast.literal_eval(code)


@pytest.mark.parametrize("owner", CLASSES)
def test_the_settings_of_a_class_are_all_in_the_table_with_their_defaults(owner):
    real = real_settings(getattr(langchain_tiered_memory, owner))
    if owner == "ContextBudget":
        [shares] = [field for field in fields(ContextBudget) if field.name == "shares"]
        real["shares",] = shares.default_factory()
    assert {name: written(default) for name, default in named_settings(owner).items()} == real


@pytest.mark.parametrize("owner", ["TieredMemory.from_uris", "ProceduralMemory.from_files"])
def test_the_settings_that_a_class_method_adds_are_all_in_the_table(owner):
    name, _, method = owner.partition(".")
    made = getattr(langchain_tiered_memory, name)
    added = dict(real_settings(getattr(made, method)).items() - real_settings(made).items())
    assert {name: written(default) for name, default in named_settings(owner).items()} == added


def test_the_table_of_settings_tells_the_shares_of_the_tiers():
    [text] = [text for owners, name, _, text in SETTINGS if owners == "`ContextBudget`" and name == "`shares`"]
    assert {tier: float(share) for tier, share in re.findall(r"(\w+) (0\.\d+)", text)} == SHARES


def test_the_options_and_variables_of_the_chat_are_all_in_the_table_with_their_defaults():
    [chat] = [command for name, command in typer.main.get_command(app).commands.items() if name == "chat"]
    real = {}
    for option in chat.params:
        long = [name for name in option.opts if name.startswith("--")]
        real[*long, *([option.envvar] if option.envvar else [])] = option.default and str(option.default)
    assert {name: written(default) for name, default in named_settings("tiered-memory chat").items()} == real


def test_every_environment_variable_that_the_package_reads_is_in_the_table():
    commands = typer.main.get_command(app).commands.values()
    read = {option.envvar for command in commands for option in command.params if option.envvar}
    sources = "".join(
        path.read_text(encoding="utf-8") for path in Path(langchain_tiered_memory.__file__).parent.rglob("*.py")
    )
    named = {name for _, names, _, _ in SETTINGS for name in re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", names)}
    assert read <= named
    assert all(name in sources for name in named)


def sections(readme: str) -> list[str]:
    """The parts between headings of the second and third level, without their code blocks."""
    return re.split(r"^###? ", re.sub(r"^```.*?^```\n", "", readme, flags=re.DOTALL | re.MULTILINE), flags=re.MULTILINE)


def rows(text: str) -> list[tuple[Counter[str], Counter[str]]]:
    """The figures and names in each row of the tables."""
    return [(figures(row), inline_code(row)) for row in re.findall(r"^\|.*$", text, re.MULTILINE)]


def figures(text: str) -> Counter[str]:
    return Counter(re.findall(r"\d+(?:[.,]\d+)*", text))


def inline_code(text: str) -> Counter[str]:
    return Counter(re.findall(r"`([^`\n]+)`", text.replace("\n", " ")))


def test_the_chinese_readme_has_the_same_code_blocks():
    assert re.findall(r"^```.*?^```", CHINESE, re.DOTALL | re.MULTILINE) == re.findall(
        r"^```.*?^```", README, re.DOTALL | re.MULTILINE
    )


def test_the_chinese_readme_has_the_same_headings_tables_figures_and_names_section_by_section():
    assert re.findall(r"^#+ ", CHINESE, re.MULTILINE) == re.findall(r"^#+ ", README, re.MULTILINE)
    for english, chinese in zip(sections(README), sections(CHINESE), strict=True):
        heading = english.partition("\n")[0]
        for counted in (rows, figures, inline_code):
            assert counted(chinese) == counted(english), f"{counted.__name__} under {heading!r}"


def test_the_readmes_link_to_each_other():
    assert "](README.zh-CN.md)" in README
    assert "](README.md)" in CHINESE


@pytest.mark.parametrize("readme", [README, CHINESE], ids=["en", "zh"])
def test_links_to_files_lead_somewhere(project_root, readme):
    headings = {heading.strip().lower().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", readme, re.MULTILINE)}
    for target in re.findall(r"\]\((?!https?:)(.*?)\)", readme):
        assert (target[1:] in headings) if target.startswith("#") else (project_root / target).is_file(), target
