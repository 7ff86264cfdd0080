"""A chat in the terminal with a real model server and a real memory: remembered, resumed, interrupted, broken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.context.remember import INCOMPLETE
from support.strict_server import strict_server
from support.waiting import wait_until

EVIL = "\x1b[31mred\x9b2J"
ON_TERMINALS = pytest.mark.skipif(os.name != "posix", reason="terminals and signals are POSIX here")


def answering(text="The ferry leaves at 9:40."):
    return strict_server(lambda _: {"content": text}, window=8_000)


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C interrupts, here and in child processes, also where the tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def no_keys(monkeypatch):
    """Nobody's key is used, whatever is set where the tests run."""
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_BASE_URL", "OPENAI_API_BASE", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def talk(tmp_path):
    """Runs a chat over its lines, each time a new run over the same memory."""

    def talk(url, *lines, session="trip", user="ada", options=()):
        where = ["--path", str(tmp_path / "memory"), "--embeddings", "none", "--user", user]
        session = [] if session is None else ["--session", session]
        arguments = ["chat", "--model", "tiny", "--base-url", url, *where, *session, *map(str, options)]
        return CliRunner().invoke(app, arguments, input="".join(f"{line}\n" for line in lines))

    return talk


@pytest.fixture
def look(tmp_path):
    """What another command says of the memory, as data."""

    def look(*arguments, user="ada"):
        given = [*arguments, "--path", str(tmp_path / "memory"), "--user", user, "--json"]
        return json.loads(CliRunner().invoke(app, given).stdout)

    return look


def said(look, session="trip"):
    """Who said what in a session, and whether it broke off."""
    return [
        (
            one["message"]["type"],
            one["message"]["data"]["content"],
            INCOMPLETE in one["message"]["data"]["response_metadata"],
        )
        for one in look("inspect", session)["messages"]
    ]


def asked(server):
    """Everything that stood in the newest request."""
    return json.dumps(server.requests[-1]["messages"], ensure_ascii=False)


# --- remembering ------------------------------------------------------------------------------------------------------


def test_a_second_run_remembers_what_was_said_in_another_session(talk, look):
    with answering() as server:
        first = talk(server.url, "My sister Maria lives in Turin.", session=None)
        assert (first.exit_code, first.stdout) == (0, "The ferry leaves at 9:40.\n")
        second = talk(server.url, "Where does my sister Maria live?", session=None)
        assert second.exit_code == 0
        assert "My sister Maria lives in Turin." in asked(server)
        assert all(body["stream"] for body in server.requests)
        talk(server.url, "Where does my sister Maria live?", user="bob")
        assert "Turin" not in asked(server)
    assert server.refusals == []
    sessions = [row["session"] for row in look("sessions")]
    assert len(set(sessions)) == 2
    assert all(
        f"to resume: --session {name}\n" in run.stderr for name, run in zip(sessions, (first, second), strict=True)
    )


def test_meaning_is_remembered_too_and_is_erased_without_its_model(talk, look, caplog):
    with answering("Noted.") as server:
        options = ["--embeddings", "local"]
        talk(server.url, "My sister Maria lives in Turin.", session="old", options=options)
        talk(server.url, "Where is the home of my sibling?", options=options)
        assert "My sister Maria lives in Turin." in asked(server)
        words = talk(server.url, "Where does Maria live?", session="new")
    assert "is opened for words only" in caplog.text  # by another model than it was made with: said, and answered
    assert (words.exit_code, words.stdout) == (0, "Noted.\n")
    gone = look("erase", "--yes")
    assert (gone["sessions"], gone["messages"], gone["episodes"]) == (3, 6, 2)


def test_a_session_goes_on_where_it_ended(talk, look):
    with answering("Noted.") as server:
        talk(server.url, "Only GET requests.")
        again = talk(server.url, "Go on.", options=["--system", "Be brief.", "--max-tokens", 1_000])
        assert "session trip of ada goes on after 2 messages" in again.stderr
        assert "up to 1,000 tokens" in again.stderr
        contents = [one["content"] for one in server.requests[-1]["messages"]]
    assert any("Be brief." in one for one in contents)
    assert contents[-3:] == ["Only GET requests.", "Noted.", "Go on."]
    assert [text for _, text, _ in said(look)] == ["Only GET requests.", "Noted.", "Go on.", "Noted."]


def test_an_answer_is_no_command_to_the_terminal(talk, look):
    with answering(f"It is {EVIL}.\n你好\u3000世界") as server:
        done = talk(server.url, "What colour?", "/recall colour", "/memory")
    assert done.stdout.startswith("It is \\x1b[31mred\\x9b2J.\n你好\u3000世界\n")
    assert not {"\x1b", "\x9b"} & set(done.stdout + done.stderr)
    assert said(look)[1][1] == f"It is {EVIL}.\n你好\u3000世界"


# --- commands ---------------------------------------------------------------------------------------------------------


def test_commands_show_what_is_kept_and_what_was_sent(talk):
    with answering() as server:
        done = talk(
            server.url,
            "/context",
            "When does the ferry leave?",
            "/memory",
            "/facts maria.city = Turin",
            "/recall ferry",
            "And back?",
            "/context",
            "/help",
            "/quit",
            "Never asked.",
        )
    shown = " ".join(done.stdout.split())
    assert done.exit_code == 0
    assert len(server.requests) == 2
    for words in (
        "nothing was asked yet",
        "ada: 1 session with 2 messages, 1 episode, 0 facts; this session: trip",
        "maria city Turin",
        "session trip, round 1 Human: When does the ferry leave?",
        "of 8,000 tokens",
        "■ facts",
        "/forget session",
    ):
        assert words in shown
    assert 'maria.city = \\"Turin\\"' in asked(server)


def test_what_is_forgotten_does_not_come_back(talk, look):
    with answering("Noted.") as server:
        talk(server.url, "Maria lives in Turin.", session="old")
        first = talk(
            server.url, "/facts maria.city = Turin", "/recall Maria", "/forget 1", "/forget maria.city", "/facts"
        )
        assert "1 episode forgotten" in first.stdout
        assert first.stdout.endswith("no facts\n")
        talk(server.url, "Where does Maria live?")
        assert "Turin" not in asked(server)
        kept = talk(server.url, "/forget session", "no", "/forget all", "")
        assert kept.stdout == "nothing was erased\nnothing was erased\n"
        assert len(look("sessions")) == 2
        gone = talk(server.url, "/forget session", "yes", "/memory")
        assert gone.stdout.startswith("erased: 2 messages, 1 episode, 0 facts\n")
        assert [row["session"] for row in look("sessions")] == ["old"]
        talk(server.url, "/forget all", "y")
    assert look("sessions") == look("facts") == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/bogus", "there is no command /bogus: /help lists them"),
        ("/recall", "/recall needs some words"),
        ("/facts maria = Turin", "names no fact: write ABOUT.WHAT"),
        ("/facts maria.city", "a fact is written as ABOUT.WHAT = VALUE"),
        ("/forget 1", "the last /recall found 0 episodes"),
        ("/forget", "/forget NUMBER"),
    ],
)
def test_a_wrong_command_is_one_line_and_the_chat_goes_on(talk, line, words):
    with answering() as server:
        done = talk(server.url, line, " /etc/hosts is what?")
    assert (done.exit_code, done.stdout) == (0, "The ferry leaves at 9:40.\n")
    assert words in done.stderr
    assert server.requests[-1]["messages"][-1]["content"] == "/etc/hosts is what?"


# --- what goes wrong --------------------------------------------------------------------------------------------------


@contextmanager
def breaking_server(then):
    """An OpenAI-compatible server that streams two words of an answer, and then does something else."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for word in ("The ", "ferry"):
                choice = {"index": 0, "delta": {"role": "assistant", "content": word}, "finish_reason": None}
                body = {
                    "id": "1",
                    "object": "chat.completion.chunk",
                    "created": 0,
                    "model": "tiny",
                    "choices": [choice],
                }
                data = f"data: {json.dumps(body)}\n\n".encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
            then()
            self.close_connection = True

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


BROKEN = [("human", "When does the ferry leave?", False), ("ai", "The ferry", True)]


def test_a_stream_that_breaks_keeps_the_question_and_what_came_and_a_resumed_session_says_so(talk, look):
    with breaking_server(lambda: None) as url:
        done = talk(url, "When does the ferry leave?")
    assert (done.exit_code, done.stdout) == (1, "The ferry\n")
    assert "the question is kept, and the answer as far as it came" in done.stderr
    assert said(look) == BROKEN
    with answering() as server:
        again = talk(server.url, "Well?")
    assert "without a whole answer: When does the ferry leave?" in again.stderr
    assert again.exit_code == 0


@ON_TERMINALS
def test_ctrl_c_stops_the_answer_and_not_the_chat(talk, look):
    over = threading.Event()

    def interrupt():
        wait_until(lambda: b"The ferry" in sys.stdout.buffer.getvalue())  # the one that the runner reads
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        over.wait(60)

    with breaking_server(interrupt) as url:
        done = talk(url, "When does the ferry leave?", "/memory")
        over.set()
    assert done.exit_code == 0
    assert done.stdout.startswith("The ferry\nada: 1 session with 2 messages")
    assert "stopped; the question is kept" in done.stderr
    assert said(look) == BROKEN


def test_a_model_that_refuses_is_one_line_and_the_question_is_kept(talk, look):
    with strict_server(lambda _: {"content": "Hi"}, window=10) as server:
        done = talk(server.url, "When does the ferry leave?", "/memory")
    assert done.exit_code == 1
    assert "Error: Error code: 400" in done.stderr
    assert "maximum context length is 10 tokens" in done.stderr
    assert done.stderr.count("\n") == 3
    assert "1 session with 1 message" in done.stdout  # the chat went on
    assert look("inspect", "trip")["unanswered"] == ["When does the ferry leave?"]


def test_a_server_that_is_not_there_is_named(talk):
    done = talk("http://127.0.0.1:9/v1", "When does the ferry leave?")
    assert done.exit_code == 1
    last = done.stderr.splitlines()[-1]
    assert "Connection error. (at http://127.0.0.1:9/v1/chat/completions)" in last
    assert last.endswith("(the question is kept)")


def test_a_question_that_is_too_large_says_by_how_much(talk):
    with answering() as server:
        done = talk(server.url, "ferry " * 500, "Hello", options=["--max-tokens", 300])
    assert (done.exit_code, done.stdout) == (1, "The ferry leaves at 9:40.\n")
    assert "more than the limit of" in done.stderr
    assert len(server.requests) == 1


def chat(*arguments):
    return CliRunner().invoke(app, ["chat", *map(str, arguments)], input="Hello\n")


def test_without_a_key_one_line_says_how_to_set_one_and_what_needs_none(tmp_path):
    for model, key in (("openai:gpt-4o-mini", "OPENAI_API_KEY"), ("anthropic:claude-sonnet-4-5", "ANTHROPIC_API_KEY")):
        result = chat("--model", model, "--path", tmp_path / "memory")
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert f"{model} needs a key: set one with `export {key}=...`" in result.stderr
        assert "--base-url" in result.stderr
    assert not (tmp_path / "memory").exists()


@pytest.mark.parametrize("model", ["nobody:tiny", "tiny"])
def test_a_model_that_cannot_be_had_is_one_line(model, tmp_path):
    result = chat("--model", model, "--path", tmp_path / "memory")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert f"the model {model!r} cannot be had" in result.stderr


def test_without_langchain_the_error_names_the_extra(tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "langchain"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "langchain", None)
    result = chat("--model", "tiny", "--base-url", "http://127.0.0.1:9/v1", "--path", tmp_path / "memory")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "pip install 'langchain-tiered-memory[agents]'" in result.stderr


# --- as a person runs it ----------------------------------------------------------------------------------------------

_IN_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"


class Terminal:
    """The command in a terminal of its own, typed into and read from."""

    def __init__(self, *arguments):
        command = [sys.executable, "-m", "langchain_tiered_memory.cli", *map(str, arguments)]
        self.process = subprocess.Popen(  # noqa: S603 - the arguments are this file's own
            [sys.executable, "-c", _IN_TERMINAL, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "TERM": "dumb"},
        )
        self.shown = b""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        while piece := os.read(self.process.stdout.fileno(), 4096):
            self.shown += piece

    def until(self, words, times=1):
        wait_until(lambda: self.shown.count(words) >= times)

    def type(self, keys):
        self.process.stdin.write(keys)
        self.process.stdin.flush()

    def ended(self):
        status = self.process.wait(60)
        self._reader.join(10)
        self.process.stdin.close()
        self.process.stdout.close()
        return status


@ON_TERMINALS
def test_in_a_terminal_there_is_a_prompt_and_the_keys_do_what_they_say(tmp_path, look):
    over = threading.Event()
    where = ("--path", tmp_path / "memory", "--user", "ada", "--session", "trip", "--embeddings", "none")
    with breaking_server(lambda: over.wait(30)) as url:
        terminal = Terminal("chat", "--model", "tiny", "--base-url", url, *where)
        terminal.until(b"> ")
        terminal.type(b"When does the ferry leave?\n")
        terminal.until(b"The ferry")
        terminal.type(b"\x03")
        terminal.until(b"stopped; the question is kept")
        terminal.type(b"/memory\n")
        terminal.until(b"1 session with 2 messages")
        terminal.type(b"\x04")
        status = terminal.ended()
        over.set()
    assert status == 0
    assert b"Traceback" not in terminal.shown
    assert said(look) == BROKEN  # another process than this one wrote it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--session", ""], "a scope needs a session id"),
        (["--model", " "], "names no model: write it as provider:model"),
        (["--max-tokens", "1"], "tokens of 1, which leaves nothing"),
    ],
)
def test_an_option_that_says_nothing_is_one_line_and_status_two(tmp_path, options, words):
    where = ["--path", str(tmp_path / "memory"), "--embeddings", "none", "--user", "ada"]
    given = ["chat", *where, "--base-url", "http://127.0.0.1:1/v1", "--model", "tiny", *options]
    result = CliRunner().invoke(app, given, input="hi\n")
    assert (result.exit_code, result.stdout) == (2, "")
    last = result.stderr.splitlines()[-1]
    assert last.startswith("tiered-memory: ")
    assert words in last
    assert "pydantic" not in result.stderr
