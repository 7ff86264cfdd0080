"""The command, tried as users run it: exit statuses, one-line errors, clean stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from typer.testing import CliRunner

from langchain_tiered_memory.cli.commands import app
from langchain_tiered_memory.messages.transcript import write_transcript

CHAT = [
    HumanMessage("How far is the moon?", id="h1"),
    AIMessage("", tool_calls=[{"name": "search", "args": {"q": "moon"}, "id": "c1"}]),
    ToolMessage("384,400 km", tool_call_id="c1"),
    AIMessage("384,400 km on average."),
]


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.json"
    write_transcript(CHAT, path)
    return path


def run(*arguments, content=None):
    return CliRunner().invoke(app, [str(one) for one in arguments], input=content)


def replay(path, *more, content=None):
    return run("replay", path, "--max-tokens", "500", "--model", "estimate", *more, content=content)


def command(*arguments, content=b"", **environment):
    """Run the command in a process of its own, as a shell does."""
    return subprocess.run(  # noqa: S603 - the arguments are this file's own
        [sys.executable, "-m", "langchain_tiered_memory.cli", *map(str, arguments)],
        input=content,
        capture_output=True,
        env={**os.environ, **environment},
        timeout=120,
        check=False,
    )


def test_replay_shows_the_figures(chat):
    result = replay(chat)
    assert result.exit_code == 0
    assert result.stderr == ""
    for words in (
        "4 messages, 1 round, 2 model calls",
        "full history",
        "none in what was sent",
        "EstimatingCounter()",
    ):
        assert words in result.stdout


def test_json_on_stdout_is_all_there_is_on_stdout(chat):
    result = replay(chat, "--json", "-")
    figures = json.loads(result.stdout)
    assert figures["transcript"] == str(chat)
    assert figures["totals"]["calls"] == len(figures["calls"]) == 2
    assert figures["totals"]["faults"] == 0
    assert figures["calls"][1]["full_messages"] == 3


def test_json_and_html_are_written_to_files(chat, tmp_path):
    page, figures = tmp_path / "replay.html", tmp_path / "replay.json"
    result = replay(chat, "--html", page, "--json", figures)
    assert result.exit_code == 0
    assert f"wrote {page}" in result.stdout
    assert page.read_text("utf-8").startswith("<!doctype html>")
    assert json.loads(figures.read_text("utf-8"))["format"] == "langchain"


def test_a_transcript_comes_from_stdin_too(chat):
    result = replay("-", "--json", "-", content=chat.read_bytes())
    assert json.loads(result.stdout)["transcript"] == "stdin"
    failed = replay("-", content=b"{")
    assert (failed.exit_code, failed.stdout) == (2, "")
    assert failed.stderr.startswith("tiered-memory: <stdin>: line 1, column 2")


@pytest.mark.parametrize("strategy", ["first", "last"])
def test_options_reach_the_strategy(project_root, strategy):
    path = project_root / "tests" / "data" / "ticket_triage.zh.json"
    base = ("replay", path, "--max-tokens", "1500", "--model", "estimate", "--strategy", strategy, "--json", "-")
    with_system = json.loads(run(*base).stdout)
    without = json.loads(run(*base, "--no-include-system").stdout)
    assert with_system["strategy"] == strategy
    assert with_system["totals"]["faults"] == without["totals"]["faults"] == 0
    assert with_system["totals"]["peak_sent_tokens"] <= 1500
    if strategy == "last":  # the first strategy keeps the system message as the oldest anyway
        assert with_system["calls"] != without["calls"]


def test_a_conversation_is_chosen_and_a_format_forced(tmp_path):
    path = tmp_path / "chats.jsonl"
    lines = [{"id": f"chat-{n}", "messages": [["user", "hi"], ["assistant", f"answer {n}"]]} for n in range(2)]
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    unclear = replay(path)
    assert (unclear.exit_code, unclear.stdout) == (2, "")
    assert "holds 2 conversations; choose one" in unclear.stderr
    for wanted in ("1", "chat-1"):
        assert json.loads(replay(path, "--conversation", wanted, "--json", "-").stdout)["conversation"] == "chat-1"
    forced = replay(path, "--conversation", "1", "--format", "langchain")
    assert forced.exit_code == 2
    assert "format langchain" in forced.stderr


def test_the_tools_of_a_transcript_are_counted(tmp_path):
    path = tmp_path / "chat.json"
    tools = [{"type": "function", "function": {"name": "search", "description": "Find.", "parameters": {}}}]
    path.write_text(
        json.dumps({"messages": [["user", "hi"], ["assistant", "hello"]], "tools": tools}), encoding="utf-8"
    )
    figures = json.loads(replay(path, "--json", "-").stdout)
    assert figures["tool_tokens"] > 0
    assert figures["calls"][0]["sent_tokens"] > figures["tool_tokens"]


def test_a_budget_that_cannot_be_met_names_the_call_and_fails(tmp_path):
    path = tmp_path / "chat.json"
    write_transcript([HumanMessage("word " * 400), AIMessage("ok")], path)
    result = run("replay", path, "--max-tokens", "50", "--model", "estimate")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("tiered-memory: call 1 (round 1, before message 1) does not fit: it needs ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay", "gone.json", "--max-tokens", "9"], "tiered-memory: gone.json: it cannot be read"),
        (["replay", "gone.json"], "Missing option '--max-tokens'"),
        (["replay", "gone.json", "--max-tokens", "0"], "--max-tokens"),
        (["replay", "gone.json", "--max-tokens", "9", "--strategy", "middle"], "--strategy"),
        (["replay", "gone.json", "--max-tokens", "9", "--format", "yaml"], "--format"),
        (["count", "gone.json"], "it cannot be read"),
        (["validate", "gone.json"], "it cannot be read"),
        (["forget"], "No such command"),
    ],
)
def test_wrong_use_is_status_two(arguments, words):
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


def test_an_unknown_model_says_what_to_use(chat):
    result = run("replay", chat, "--max-tokens", "9", "--model", "gpt-nonsense")
    assert result.exit_code == 2
    assert "gpt-nonsense" in result.stderr
    assert "--model estimate" in " ".join(result.stderr.split())


def test_an_output_that_cannot_be_written_is_said(chat, tmp_path):
    result = replay(chat, "--html", tmp_path / "gone" / "page.html")
    assert result.exit_code == 2
    assert "it cannot be written" in result.stderr


def test_count_and_validate(chat, tmp_path):
    counted = run("count", chat, "--model", "estimate")
    assert counted.exit_code == 0
    assert counted.stdout.splitlines()[-1].startswith("request          4 messages")
    fine = run("validate", chat)
    assert (fine.exit_code, fine.stdout) == (0, "no faults in 4 messages of the format langchain\n")
    broken = tmp_path / "broken.json"
    write_transcript([CHAT[0], CHAT[2], CHAT[3]], broken)
    faulty = run("validate", broken, "--provider", "openai")
    assert faulty.exit_code == 1
    assert "message 1: orphan_result" in faulty.stdout
    assert faulty.stdout.endswith("1 fault in 3 messages of the format langchain\n")


def test_help_has_an_example_for_each_command():
    assert "replay" in run("--help").stdout
    for name in ("replay", "count", "validate"):
        result = run(name, "--help")
        assert result.exit_code == 0
        assert f"Example: tiered-memory {name} chat.json" in result.stdout


def test_the_command_runs_in_a_process_of_its_own(project_root, tmp_path):
    path = project_root / "tests" / "data" / "trip_agent.en.json"
    done = command("replay", path, "--max-tokens", "2000", "--model", "estimate", "--html", tmp_path / "page.html")
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(len(line) for line in done.stdout.decode().splitlines() if "wrote" not in line) <= 80
    assert "\x1b" not in done.stdout.decode()
    assert command("--version").stdout.startswith(b"tiered-memory 0.")
    assert command("replay", path).returncode == 2


def test_a_terminal_without_unicode_gets_question_marks(tmp_path):
    path = tmp_path / "聊天.json"
    write_transcript(CHAT, path)
    done = command(
        "replay", path, "--max-tokens", "99", "--model", "estimate", PYTHONIOENCODING="ascii", PYTHONUTF8="0"
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"??.json" in done.stdout


def test_without_the_extra_one_line_says_what_to_install(tmp_path):
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError(\"No module named 'typer'\", name='typer')", "utf-8")
    done = command("--version", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == (
        "tiered-memory: tiered-memory needs typer, which is not installed. "
        "Run: pip install 'langchain-tiered-memory[cli]'\n"
    )


def test_a_vocabulary_that_cannot_be_had_is_one_line_on_stderr(chat, tmp_path):
    done = command(
        "replay",
        chat,
        "--max-tokens",
        "500",
        "--json",
        "-",
        TIKTOKEN_CACHE_DIR=str(tmp_path / "none"),
        HTTPS_PROXY="http://127.0.0.1:9",
    )
    assert done.returncode == 0
    figures = json.loads(done.stdout)
    assert figures["counter"] == "TiktokenCounter('gpt-4o'), estimated: its vocabulary could not be loaded"
    assert done.stderr.decode().startswith("tiered-memory: warning: The vocabulary of o200k_base could not be loaded")
    assert done.stderr.count(b"\n") == 1


def test_a_long_replay_shows_progress_only_to_a_terminal(tmp_path):
    path = tmp_path / "long.json"
    write_transcript([one for n in range(210) for one in (HumanMessage(f"h{n}"), AIMessage(f"a{n}"))], path)
    piped = command("replay", path, "--max-tokens", "500", "--model", "estimate")
    assert (piped.returncode, piped.stderr) == (0, b"")
    shown = command("replay", path, "--max-tokens", "500", "--model", "estimate", "--json", "-", FORCE_COLOR="1")
    assert b"replaying" in shown.stderr
    assert json.loads(shown.stdout)["totals"]["calls"] == 210


def test_locomo_replays_from_the_command_line(shared_data):
    result = replay(shared_data / "locomo10.json", "--conversation", "conv-26", "--json", "-")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["conversation"] == "conv-26"
