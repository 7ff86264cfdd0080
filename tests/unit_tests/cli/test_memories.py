"""The commands that look into a memory and erase it, on a real one: what they show, write, refuse and take away."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app
from langchain_tiered_memory.context.remember import INCOMPLETE
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from langchain_tiered_memory.types import MemoryScope

ADA, BOB = MemoryScope("ada"), MemoryScope("bob")
ESCAPE = "\x1b[31mred\x9b2J"


def run(*arguments, content=None, user="ada", env=None):
    given = [str(one) for one in arguments]
    return CliRunner().invoke(app, [*given, *(["--user", user] if user else [])], input=content, env=env)


def opened(folder):
    return TieredMemory(folder, embeddings=None, max_tokens=2_000, token_counter=EstimatingCounter())


def fill(folder):
    with opened(folder) as memory:
        said = [HumanMessage("My sister Maria lives in Turin."), AIMessage(f"Noted. {ESCAPE}")]
        memory.save("trip", said, MemoryScope("ada", session="trip"))
        said = [HumanMessage("When does the ferry leave?"), AIMessage("At 9", response_metadata={INCOMPLETE: True})]
        memory.save("ferry", said, MemoryScope("ada", session="ferry"))
        memory.save("trip", [HumanMessage("Bob drinks tea."), AIMessage("Yes.")], MemoryScope("bob", session="trip"))
        memory.facts.put(ADA, "maria", "city", "Rome", valid_from=datetime(2026, 1, 1, tzinfo=UTC))
        memory.facts.put(ADA, "maria", "city", "Turin", valid_from=datetime(2026, 3, 1, tzinfo=UTC))
        memory.facts.put(ADA, "ada", "port", 49222)
        memory.facts.put(ADA, "ada", "note", ESCAPE)
        memory.facts.put(MemoryScope("ada", session="trip"), "ada", "seat", "12A")


@pytest.fixture
def folder(tmp_path):
    fill(tmp_path / "memory")
    return tmp_path / "memory"


@pytest.fixture
def look(folder):
    """Runs a command on a memory that holds something."""

    def look(*arguments, **more):
        words = [] if arguments[0] != "recall" else ["--embeddings", "none"]
        return run(arguments[0], *words, "--path", folder, *arguments[1:], **more)

    return look


def harmless(text):
    return all(one.isprintable() or one in "\n " for one in text)


# --- looking ----------------------------------------------------------------------------------------------------------


def test_recall_shows_a_table_with_score_parts_and_json_says_the_same(look):
    shown = look("recall", "Where does Maria live?")
    assert (shown.exit_code, harmless(shown.stdout)) == (0, True)
    for words in ("score", "words", "session trip, round 1", "My sister Maria lives", "\\x1b[31mred"):
        assert words in " ".join(shown.stdout.split())
    found = json.loads(look("recall", "Where does Maria live?", "--json").stdout)
    best = found["episodes"][0]
    assert (found["user"], found["query"], best["session"]) == ("ada", "Where does Maria live?", "trip")
    assert best["content"].startswith("Human: My sister Maria lives in Turin.")
    assert ESCAPE in best["content"]
    parts = best["explain"]
    total = sum(value for name, value in parts.items() if name != "recency")
    assert parts["recency"] / (1 + math.exp(-total)) == pytest.approx(best["score"], rel=1e-3)


def test_recall_is_narrowed_by_its_options_and_knows_no_other_user(look):
    def episodes(*more, **who):
        return json.loads(look("recall", "tea Maria ferry", "--json", *more, **who).stdout)["episodes"]

    assert {one["session"] for one in episodes()} == {"trip", "ferry"}
    assert len(episodes("-k", 1)) == 1
    assert {one["session"] for one in episodes("--session", "ferry")} == {"ferry"}
    assert episodes("--as-of", "2026-01-01") == []
    assert [one["content"] for one in episodes(user="bob")] == ["Human: Bob drinks tea.\nAI: Yes."]


def test_facts_are_those_that_hold_at_a_time(look):
    shown = look("facts")
    assert (shown.exit_code, harmless(shown.stdout)) == (0, True)
    for words in ("maria city Turin", "ada port 49222", "\\x1b[31mred\\x9b2J"):
        assert words in " ".join(shown.stdout.split())
    assert "Rome" not in shown.stdout
    assert "12A" not in shown.stdout
    known = json.loads(look("facts", "--json", "--session", "trip").stdout)
    assert {(one["entity"], one["attribute"]): one["value"] for one in known} == {
        ("maria", "city"): "Turin", ("ada", "port"): 49222, ("ada", "note"): ESCAPE, ("ada", "seat"): "12A",
    }  # fmt: skip
    before = json.loads(look("facts", "--json", "--entity", "maria", "--as-of", "2026-02-01T12:00+02:00").stdout)
    assert [one["value"] for one in before] == ["Rome"]


def test_sessions_are_listed_with_what_they_began_with(look):
    rows = json.loads(look("sessions", "--json").stdout)
    assert [(row["session"], row["messages"], row["first_question"]) for row in rows] == [
        ("trip", 2, "My sister Maria lives in Turin."),
        ("ferry", 2, "When does the ferry leave?"),
    ]
    shown = " ".join(look("sessions").stdout.split())
    assert "When does the ferry leave?" in shown
    assert "Bob" not in shown


def test_the_id_of_a_session_stands_on_one_line(tmp_path):
    name = "0191f6a2-3b4c-7d5e-8f60-718293a4b5c6"
    with opened(tmp_path) as memory:
        memory.save(name, [HumanMessage("Where is the harbour? " * 9)], MemoryScope("ada", session=name))
    shown = run("sessions", "--path", tmp_path)
    assert name in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80


def test_a_session_is_inspected_as_a_timeline_and_as_json(look):
    shown = look("inspect", "ferry")
    assert (shown.exit_code, harmless(shown.stdout)) == (0, True)
    for words in ("session ferry of ada, 2 messages", "When does the ferry leave? [no whole answer]", "[broke off]"):
        assert words in " ".join(shown.stdout.split())
    known = json.loads(look("inspect", "ferry", "--json").stdout)
    assert [one["message"]["data"]["content"] for one in known["messages"]] == ["When does the ferry leave?", "At 9"]
    assert (known["unanswered"], known["summaries"]) == (["When does the ferry leave?"], [])
    assert harmless(look("inspect", "trip").stdout)


def test_what_was_summarised_is_in_the_timeline(tmp_path):
    with opened(tmp_path) as memory:
        chat = [one for n in range(30) for one in (HumanMessage(f"Stop {n}? " + "harbour " * 100), AIMessage("Noon."))]
        memory.summary.invoke(
            [*chat, HumanMessage("And now?")], {"configurable": {"session_id": "user:default/ada/tour"}}
        )
    assert "summary of messages 1-" in " ".join(run("inspect", "tour", "--path", tmp_path).stdout.split())
    summaries = json.loads(run("inspect", "tour", "--path", tmp_path, "--json").stdout)["summaries"]
    assert next(one["spans"][0][0] for one in summaries if one["spans"]) == 1


# --- taking it away ---------------------------------------------------------------------------------------------------


def test_an_export_is_json_lines_of_all_tiers_and_of_one_user(look, tmp_path):
    done = look("export")
    records = [json.loads(line) for line in done.stdout.splitlines()]
    tiers = [one["tier"] for one in records]
    assert {tier: tiers.count(tier) for tier in tiers} == {"working": 4, "episodic": 2, "semantic": 5}
    assert (done.stderr, "Bob" in done.stdout, harmless(done.stdout)) == ("11 records of ada\n", False, True)
    assert any(one.get("value") == ESCAPE for one in records)
    out = tmp_path / "ada.jsonl"
    assert look("export", "--out", out, "--session", "trip").stdout == ""
    assert {json.loads(line).get("session") for line in out.read_text("utf-8").splitlines()} == {"trip"}
    if os.name == "posix":
        assert out.stat().st_mode & 0o077 == 0
    again = look("export", "--out", out)
    assert (again.exit_code, "is there already" in again.stderr) == (2, True)


def test_erase_asks_and_takes_no_for_an_answer(look):
    for answer in ("n\n", "\n", ""):
        refused = look("erase", content=answer)
        assert (refused.exit_code, refused.stdout) == (1, "")
        assert "everything of ada (2 sessions, 2 episodes, 5 facts), for good?" in refused.stderr
        assert refused.stderr.endswith("tiered-memory: nothing was erased\n")
    assert len(json.loads(look("sessions", "--json").stdout)) == 2
    done = look("erase", content="y\n")
    assert done.exit_code == 0
    assert done.stdout == "erased of ada: 2 sessions with 4 messages, 2 episodes, 5 facts\n"
    for name in ("export", "sessions", "facts"):
        assert "Maria" not in look(name).stdout
    assert json.loads(look("recall", "Maria", "--json").stdout)["episodes"] == []
    assert json.loads(look("recall", "tea", "--json", user="bob").stdout)["episodes"] != []


def test_one_session_is_erased_and_the_rest_stays(look):
    done = look("erase", "--session", "trip", "--yes", "--json")
    assert json.loads(done.stdout) == {
        "user": "ada", "session": "trip", "sessions": 1, "messages": 2, "episodes": 1, "facts": 1,
    }  # fmt: skip
    assert [row["session"] for row in json.loads(look("sessions", "--json").stdout)] == ["ferry"]
    assert "Turin" in look("facts").stdout


# --- being told -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["inspect", "gone"], "ada has no session 'gone': `tiered-memory sessions` lists them"),
        (["recall", " "], "give QUERY some words"),
        (["recall", "tea", "--as-of", "soon"], "--as-of soon is no time"),
        (["recall", "tea", "--as-of", "0001-01-01T00:00+14:00"], "--as-of 0001-01-01T00:00+14:00 is no time"),
        (["recall", "tea", "--embeddings", "nowhere:nothing"], "No module named 'nowhere'"),
        (["facts", "--cache", "redis://127.0.0.1:1"], "give --facts too"),
        (["facts", "--user", " "], "a scope needs a user id"),
        (["export", "--out", "/gone/away/all.jsonl"], "cannot be written"),
    ],
)
def test_wrong_use_is_one_line_and_status_two(look, arguments, words):
    result = look(*arguments, user=None if "--user" in arguments else "ada")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert words in result.stderr


@pytest.mark.parametrize("name", ["recall", "facts", "sessions", "inspect", "export", "erase"])
def test_where_there_is_no_memory_none_is_made(name, tmp_path):
    result = run(name, *(["x"] if name in {"recall", "inspect"} else []), "--path", tmp_path / "gone")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "begin one with `tiered-memory chat`" in result.stderr
    assert not (tmp_path / "gone").exists()


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    result = run("facts", "--path", tmp_path / "file")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "file is no folder: give --path one" in result.stderr


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_who_reads_no_further_is_told_nothing(folder):
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "wb") as pipe:
        done = subprocess.run(  # noqa: S603 - the arguments are this file's own
            [sys.executable, "-m", "langchain_tiered_memory.cli", "export", "--path", folder, "--user", "ada"],
            stdout=pipe,
            stderr=subprocess.PIPE,
            timeout=120,
            check=False,
        )
    assert b"Broken pipe" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_store_that_does_not_answer_is_one_line_and_status_one(folder):
    where = ["--facts", "postgresql+psycopg://nobody:secret@127.0.0.1:1/none?connect_timeout=1"]
    result = run("facts", "--path", folder, *where)
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "secret" not in result.stderr


def test_servers_take_the_place_of_the_folder(tmp_path):
    fill(tmp_path / "memory")
    names = ("log", "facts")
    where = {f"TIERED_MEMORY_{name.upper()}": f"sqlite:///{tmp_path}/memory/{name}.db" for name in names}
    where["TIERED_MEMORY_EPISODES"] = str(tmp_path / "memory" / "episodes.db")
    gone = ["--path", tmp_path / "gone"]
    assert "Turin" in run("facts", *gone, env=where).stdout
    assert len(json.loads(run("sessions", "--json", *gone, env=where).stdout)) == 2
    assert "Maria" in run("recall", "Maria", "--embeddings", "none", *gone, env=where).stdout
    assert not (tmp_path / "gone").exists()
