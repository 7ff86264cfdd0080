"""How the command starts and ends: what it imports, what its help says, and Ctrl-C at any time."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import get_args

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from typer.testing import CliRunner

from langchain_tiered_memory import write_transcript
from langchain_tiered_memory.cli import main
from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.cli.conversation_commands import Format, Rules
from langchain_tiered_memory.messages.repair import Provider
from langchain_tiered_memory.messages.transcripts.conversation import TranscriptFormat

COMMANDS = ("replay", "count", "validate", "eval", "chat", "recall", "facts", "sessions", "inspect", "export", "erase")
ON_POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and pipes of POSIX")


def command(*arguments, code="", **environment):
    """Run the command in a process of its own, after some code."""
    script = f"import sys; sys.argv[0] = 'tiered-memory'\n{code}\nfrom langchain_tiered_memory.cli import main\nmain()"
    return subprocess.run(  # noqa: S603 - the arguments are this file's own
        [sys.executable, "-c", script, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.json"
    write_transcript([HumanMessage("How far is the moon?"), AIMessage("384,400 km on average.")], path)
    return path


# --- what is imported -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--help"], 0),
        (["--version"], 0),
        (["sessions", "--help"], 0),
        (["bogus"], 2),
        (["chat", "--bogus"], 2),
        (["replay"], 2),
        (["replay", "chat.json"], 2),
        (["replay", "--max-tokens", "9"], 2),
    ],
)
def test_help_and_wrong_arguments_import_neither_langchain_nor_pydantic_nor_a_store(arguments, status):
    code = "import atexit, json; atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr))"
    done = command(*arguments, code=code)
    assert done.returncode == status
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert "typer" in loaded
    assert not {"langchain_core", "pydantic", "sqlalchemy", "pymilvus", "redis", "rich", "numpy"} & loaded


def test_a_wrong_value_imports_no_langchain():
    code = "import atexit; atexit.register(lambda: print('langchain_core' in sys.modules, file=sys.stderr))"
    done = command("replay", "chat.json", "--max-tokens", "many", code=code)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "False")


def test_what_can_be_chosen_is_what_there_is():
    assert {*map(str, Format)} == {"auto", *get_args(TranscriptFormat)}
    assert {*map(str, Rules)} == {"all", *get_args(Provider)}


# --- help -------------------------------------------------------------------------------------------------------------


def test_the_list_of_commands_says_whole_sentences():
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "..." not in shown.partition("Commands:")[2]
    for name in COMMANDS:
        said = CliRunner().invoke(app, [name, "--help"]).stdout.partition("\n\n")[2].partition("\n\n")[0]
        assert " ".join(said.split()) in " ".join(shown.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_an_example_that_its_own_options_allow(name):
    result = CliRunner().invoke(app, [name, "-h"])
    assert result.exit_code == 0
    options, _, example = " ".join(result.stdout.split()).partition(f"Example: tiered-memory {name} ")
    assert example
    assert all(word in options for word in example.split() if word.startswith("-"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Usage: tiered-memory"),
        (["bogus"], "No such command 'bogus'"),
        (["replay"], "Missing argument 'TRANSCRIPT'"),
        (["replay", "gone.json"], "Missing option '--max-tokens'"),
        (["replay", "gone.json", "--max-tokens", "0"], "--max-tokens"),
        (["replay", "gone.json", "--max-tokens", "9", "--strategy", "middle"], "--strategy"),
        (["replay", "gone.json", "--max-tokens", "9", "--format", "yaml"], "--format"),
        (["inspect", "--user", "ada"], "Missing argument 'SESSION'"),
    ],
)
def test_wrong_use_is_status_two(arguments, words):
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert words in result.output


# --- Ctrl-C -----------------------------------------------------------------------------------------------------------

_INTERRUPT_AT = """
import os, signal
signal.signal(signal.SIGINT, signal.default_int_handler)

class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
"""


@ON_POSIX
@pytest.mark.parametrize(
    "module",
    [
        "langchain_tiered_memory._optional",
        "typer.main",
        "langchain_tiered_memory.cli.place",
        "langchain_core.messages",
        "pydantic.main",
        "langchain_tiered_memory.messages.tokens",
        "rich.console",
    ],
)
def test_ctrl_c_while_the_command_starts_is_one_line_and_status_130(module, chat):
    done = command(
        "replay", chat, "--max-tokens", "500", "--model", "estimate", code=_INTERRUPT_AT.format(module=module)
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "tiered-memory: interrupted\n")


@ON_POSIX
def test_ctrl_c_while_a_memory_is_open_closes_it_in_one_line(tmp_path):
    arguments = ["--path", tmp_path / "memory", "--embeddings", "none", "--user", "ada", "--session", "trip"]
    closed = """
from langchain_tiered_memory.memory import TieredMemory
close = TieredMemory.close
def told(self):
    close(self)
    print("closed")
TieredMemory.close = told
"""
    code = _INTERRUPT_AT.format(module="readline_of_the_test") + closed + _ASKED
    model = ["--model", "tiny", "--base-url", "http://127.0.0.1:9/v1"]
    done = command("chat", *model, *arguments, code=code)
    assert (done.returncode, done.stdout) == (130, "closed\n")
    assert done.stderr.splitlines()[-1] == "tiered-memory: interrupted"
    assert "Traceback" not in done.stderr


_ASKED = """
class Keys:
    def isatty(self):
        return False
    def readline(self):
        import readline_of_the_test
sys.stdin = Keys()
"""


@ON_POSIX
def test_who_ignores_ctrl_c_is_left_alone(chat):
    code = _INTERRUPT_AT.format(module="rich.console") + "signal.signal(signal.SIGINT, signal.SIG_IGN)"
    done = command("replay", chat, "--max-tokens", "500", "--model", "estimate", code=code)
    assert (done.returncode, done.stderr) == (0, "")


# --- one line each ----------------------------------------------------------------------------------------------------


def test_a_library_that_logs_a_traceback_is_one_line(monkeypatch, capsys):
    def ends(**_):
        logging.getLogger("library").error("could not\nstart", exc_info=BlockingIOError("locked"))

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr("langchain_tiered_memory.cli.app.app", ends)
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    main()
    signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "tiered-memory: warning: could not start\n"


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')", "utf-8")
    done = command("--version", code=f"sys.path.insert(0, {str(tmp_path)!r})")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tiered-memory: tiered-memory needs typer, which is not installed. "
        "Run: pip install 'langchain-tiered-memory[cli]'\n"
    )


def test_the_version_is_shown():
    assert re.fullmatch(r"tiered-memory \d+\.\d+\.\d+\n", CliRunner().invoke(app, ["--version"]).stdout)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_line(chat):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 - the arguments are this file's own
            [sys.executable, "-m", "langchain_tiered_memory.cli", "count", chat, "--model", "estimate"],
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr.startswith(b"tiered-memory: [Errno 28]")
    assert b"Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_question_marks(tmp_path):
    path = tmp_path / "聊天.json"
    write_transcript([HumanMessage("hi"), AIMessage("hello")], path)
    arguments = ("replay", path, "--max-tokens", "99", "--model", "estimate")
    done = command(*arguments, PYTHONIOENCODING="ascii", PYTHONUTF8="0", COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    assert "??.json" in done.stdout
