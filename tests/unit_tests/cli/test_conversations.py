"""The command, tried as users run it: exit statuses, one-line errors, clean stdout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from typer.testing import CliRunner

from langchain_tiered_memory import write_transcript
from langchain_tiered_memory.cli.app import app

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


def test_an_unknown_model_says_what_to_use(chat):
    result = run("replay", chat, "--max-tokens", "9", "--model", "gpt-nonsense")
    assert result.exit_code == 2
    assert "gpt-nonsense" in result.stderr
    assert "--model estimate" in " ".join(result.stderr.split())


def test_an_output_that_cannot_be_written_is_said(chat, tmp_path):
    result = replay(chat, "--html", tmp_path / "gone" / "page.html")
    assert result.exit_code == 2
    assert "it cannot be written" in result.stderr


def test_a_page_on_stdout_does_not_cost_the_file_of_figures(chat, tmp_path):
    figures = tmp_path / "figures.json"
    result = replay(chat, "--html", "-", "--json", figures)
    assert (result.exit_code, result.stderr) == (0, f"wrote {figures}\n")
    assert result.stdout.startswith("<!doctype html>")
    assert json.loads(figures.read_text())["totals"]["calls"] == 2
    both = replay(chat, "--html", "-", "--json", "-")
    assert (both.exit_code, both.stdout) == (2, "")
    assert "cannot both be stdout" in both.stderr


def test_a_transcript_is_no_command_to_the_terminal(tmp_path):
    path = tmp_path / "evil.json"
    call = {"id": "c\x1b[5m", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    said = {"role": "assistant", "content": "", "id": "\x1b]0;title\x07", "tool_calls": [call]}
    path.write_text(json.dumps([{"role": "user", "content": "hi"}, said, {"role": "user", "content": "more"}]))
    result = run("validate", path)
    assert result.exit_code == 1
    assert "(id \\x1b]0;title\\x07)" in result.stdout
    assert "\x1b" not in result.stdout


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


def test_the_command_runs_in_a_process_of_its_own(project_root, tmp_path):
    path = project_root / "tests" / "data" / "trip_agent.en.json"
    done = command("replay", path, "--max-tokens", "2000", "--model", "estimate", "--html", tmp_path / "page.html")
    assert (done.returncode, done.stderr) == (0, b"")
    assert max(len(line) for line in done.stdout.decode().splitlines() if "wrote" not in line) <= 80
    assert "\x1b" not in done.stdout.decode()
    assert command("--version").stdout.startswith(b"tiered-memory 0.")
    assert command("replay", path).returncode == 2


def test_a_vocabulary_that_cannot_be_had_is_one_line_on_stderr(chat, tmp_path):
    done = command(
        "replay",
        chat,
        "--max-tokens",
        "500",
        "--json",
        "-",
        "--model",
        "p50k_base",  # toktok has no vocabulary for it
        TIKTOKEN_CACHE_DIR=str(tmp_path / "none"),
        HTTPS_PROXY="http://127.0.0.1:9",
    )
    assert done.returncode == 0
    figures = json.loads(done.stdout)
    assert figures["counter"] == "TiktokenCounter('p50k_base'), estimated: its vocabulary could not be loaded"
    assert done.stderr.decode().startswith("tiered-memory: warning: The vocabulary of p50k_base could not be loaded")
    assert done.stderr.count(b"\n") == 1


def test_a_long_replay_shows_progress_only_to_a_terminal(tmp_path):
    path = tmp_path / "long.json"
    write_transcript([one for n in range(210) for one in (HumanMessage(f"h{n}"), AIMessage(f"a{n}"))], path)
    piped = command("replay", path, "--max-tokens", "500", "--model", "estimate")
    assert (piped.returncode, piped.stderr) == (0, b"")
    shown = command("replay", path, "--max-tokens", "500", "--model", "estimate", "--json", "-", FORCE_COLOR="1")
    assert b"replaying" in shown.stderr
    assert json.loads(shown.stdout)["totals"]["calls"] == 210


def summarized(path, *more, tokens=1500, by="extractive"):
    return run("replay", path, "--max-tokens", tokens, "--model", "estimate", "--summarize", by, *more)


def timeless(figures):
    """Figures without those that differ from run to run."""
    if isinstance(figures, dict):
        return {name: timeless(one) for name, one in figures.items() if "seconds" not in name}
    return list(map(timeless, figures)) if isinstance(figures, list) else figures


@pytest.mark.parametrize("name", ["trip_agent.en", "ticket_triage.zh"])
def test_a_replay_can_summarise_without_a_model_and_is_the_same_each_time(name, project_root):
    path = project_root / "tests" / "data" / f"{name}.json"
    result = summarized(path, "--json", "-")
    assert (result.exit_code, result.stderr) == (0, "")
    figures = json.loads(result.stdout)
    assert figures["strategy"] == "summary, extractive"
    assert figures["totals"]["faults"] == figures["totals"]["failed_compactions"] == 0
    assert figures["totals"]["peak_sent_tokens"] <= 1500
    assert figures["totals"]["compactions"] == len(figures["compactions"]) > 5
    assert figures["totals"]["summarizer_tokens"] == sum(one["summarizer_tokens"] for one in figures["compactions"])
    for one in figures["compactions"]:
        assert one["summary"]
        assert 1 <= one["first"] <= one["last"] <= figures["messages"]
        assert one["round"] == figures["calls"][one["call"] - 1]["round"]
    assert timeless(json.loads(summarized(path, "--json", "-").stdout)) == timeless(figures)


def test_each_compaction_is_shown_in_the_terminal_and_on_the_page(project_root, tmp_path):
    path, page = project_root / "tests" / "data" / "trip_agent.en.json", tmp_path / "page.html"
    figures = json.loads(summarized(path, "--json", "-").stdout)
    result = summarized(path, "--html", page)
    assert result.exit_code == 0
    compactions = figures["compactions"]
    assert result.stdout.count("🧠 context compacted: ") == len(compactions)
    html = page.read_text("utf-8")
    assert html.count("<details>") == len(compactions)
    assert html.count('class="line compaction"') == 2 * len({one["call"] for one in compactions})
    for one in compactions:
        line = f"🧠 context compacted: {one['tokens_before']} -> {one['tokens_after']} tokens"
        assert line in result.stdout
        assert line.replace(">", "&gt;") in html
        assert f"before call {one['call']:,}, round {one['round']:,}" in result.stdout


@contextmanager
def model_server(status, answer) -> Iterator[tuple[str, list[dict]]]:
    """An OpenAI-compatible server that gives one answer, and what it was asked."""
    asked: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            message = {"role": "assistant", "content": answer}
            body = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": "tiny",
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 700, "completion_tokens": 8, "total_tokens": 708},
            }
            payload = json.dumps(body if status == 200 else {"error": {"message": answer}}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def through_a_model(project_root, url, **environment):
    path = project_root / "tests" / "data" / "trip_agent.en.json"
    arguments = ("--max-tokens", "4000", "--model", "estimate", "--json", "-", "--base-url", url)
    return command("replay", path, "--summarize", "openai:tiny", *arguments, OPENAI_API_KEY="", **environment)


def test_a_replay_summarises_through_a_model_that_a_server_of_ones_own_serves(project_root):
    with model_server(200, "Goal: four people to Porto on 13 May.") as (url, asked):
        done = through_a_model(project_root, url)
    assert (done.returncode, done.stderr) == (0, b"")
    figures = json.loads(done.stdout)
    assert figures["strategy"] == "summary, openai:tiny"
    assert len(asked) == sum(one["calls"] for one in figures["compactions"]) > 2
    assert {one["model"] for one in asked} == {"tiny"}
    assert "Porto" in json.dumps(asked[0]["messages"])
    assert all("Goal: four people to Porto" in one["summary"] for one in figures["compactions"])
    assert not any(one["fallback"] for one in figures["compactions"])


def test_a_model_that_fails_is_said_the_budget_holds_and_the_status_is_one(project_root):
    with model_server(400, "no such model") as (url, _):
        done = through_a_model(project_root, url)
    assert done.returncode == 1
    figures = json.loads(done.stdout)
    assert len(figures["failed_compactions"]) == figures["totals"]["failed_compactions"] >= 3
    assert "no such model" in figures["failed_compactions"][0]["error"]
    assert figures["totals"]["calls_over_budget"] == figures["totals"]["faults"] == 0
    assert all(one["fallback"] for one in figures["compactions"])
    lines = done.stderr.decode().splitlines()
    assert len(lines) >= 3
    assert all(line.startswith("tiered-memory: warning: session 'replay': ") for line in lines)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--summarize", "nobody:tiny"], "the model 'nobody:tiny' cannot be had"),
        (["--summarize", "tiny"], "the model 'tiny' cannot be had"),
        (["--summarize", "extractive", "--base-url", "http://127.0.0.1:9"], "pass --summarize MODEL"),
        (["--base-url", "http://127.0.0.1:9"], "pass --summarize MODEL too"),
        (["--summarize", "extractive", "--strategy", "first"], "do not apply"),
        (["--summarize", "extractive", "--no-include-system"], "do not apply"),
    ],
)
def test_a_summary_that_cannot_be_had_is_status_two(options, words, chat):
    result = replay(chat, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in " ".join(result.stderr.split())


def test_without_langchain_the_error_names_the_extra(chat, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "langchain"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    result = replay(chat, "--summarize", "openai:gpt-4o-mini")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'langchain-tiered-memory[agents]'" in " ".join(result.stderr.split())
    assert replay(chat, "--summarize", "extractive").exit_code == 0


def test_a_model_without_a_key_is_said_in_one_line(chat, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = replay(chat, "--summarize", "openai:gpt-4o-mini")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "OPENAI_API_KEY" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_budget_that_a_summary_cannot_meet_names_the_call_and_fails(tmp_path):
    path = tmp_path / "chat.json"
    write_transcript([HumanMessage("word " * 400), AIMessage("ok")], path)
    result = summarized(path, tokens=50)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("tiered-memory: call 1 (round 1, before message 1) does not fit: it needs ")


def test_a_title_is_no_command_to_the_terminal(tmp_path):
    parts = {"content": {"content_type": "text", "parts": ["hi"]}}
    mapping = {
        "a": {
            "id": "a",
            "parent": None,
            "children": ["b"],
            "message": {"id": "a", "author": {"role": "user"}, **parts},
        },
        "b": {
            "id": "b",
            "parent": "a",
            "children": [],
            "message": {"id": "b", "author": {"role": "assistant"}, **parts},
        },
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps([{"title": "x\x1b[2Jy", "id": "i", "current_node": "b", "mapping": mapping}]))
    result = replay(path)
    assert result.exit_code == 0
    assert "\x1b" not in result.stdout


def test_a_page_on_stdout_is_written_to_no_file(chat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    replay(chat, "--html", "-")
    assert not (tmp_path / "-").exists()
