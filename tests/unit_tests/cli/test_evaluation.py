"""`tiered-memory eval`, as users run it."""

from __future__ import annotations

import json
import textwrap

import pytest

from langchain_tiered_memory.evaluation import MemoryDataset

pytest.importorskip("typer")

from typer.testing import CliRunner

from langchain_tiered_memory.cli.app import app

THIS = "test_the_plain_vector_store_of_a_comparison_keeps_users_apart"
OBJECTS = """
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import InMemoryVectorStore

def nothing(inputs):
    return []

def fails(inputs):
    raise ConnectionError("gone")

def unmade():
    raise RuntimeError("no settings")

def make():
    return InMemoryVectorStore(DeterministicFakeEmbedding(size=4)).as_retriever()

embeddings = DeterministicFakeEmbedding(size=4)
number = 7
"""


def run(*arguments):
    return CliRunner().invoke(app, ["eval", *map(str, arguments)])


@pytest.fixture
def config(tmp_path, request):
    """A configuration of two targets, beside the module that they stand in; each test has a module of its own."""
    module = f"objects_{request.node.name.partition('[')[0]}"
    (tmp_path / f"{module}.py").write_text(OBJECTS)

    def write(text):
        path = tmp_path / "targets.toml"
        path.write_text(textwrap.dedent(text).replace("MODULE", module))
        return path

    return write


TWO = """
[targets.random]
object = "MODULE:make"

[targets."nothing at all"]
object = "MODULE:nothing"
"""


def test_targets_of_a_configuration_are_compared(config, tmp_path):
    figures, page = tmp_path / "eval.json", tmp_path / "eval.html"
    result = run("synthetic", "--events", 20, "--target", config(TWO), "--k", "1,5", "--json", figures, "--html", page)
    assert result.exit_code == 0, result.stderr
    for words in ("synthetic en, 20 events, seed 0", "random", "nothing at all", "recall@1", "contamination.foreign"):
        assert words in result.stdout
    plain = json.loads(figures.read_text())
    assert [one["name"] for one in plain["targets"]] == ["random", "nothing at all"]
    assert plain["k"] == 5
    assert "<table" in page.read_text()
    assert f"wrote {page}" in result.stdout


def test_json_on_stdout_is_all_there_is(config):
    result = run("synthetic:zh", "--events", 5, "--seed", 3, "--target", config(TWO), "--json", "-")
    plain = json.loads(result.stdout)
    assert plain["dataset"]["digest"] == MemoryDataset.synthetic(5, 3, "zh").digest
    assert run("synthetic", "--events", 5, "--target", config(TWO), "--html", "-").stdout.startswith("<!doctype html>")


def test_limits_that_are_missed_fail_and_name_the_cases(config):
    passed = run("synthetic", "--events", 5, "--target", config(TWO), "--fail-under", "recall=0,contamination=1")
    assert passed.exit_code == 0
    result = run("synthetic", "--events", 5, "--target", config(TWO), "--fail-under", "recall=1.0,contamination=0")
    assert result.exit_code == 1
    assert "contamination of random on synthetic en, 5 events, seed 0: at most 0 was asked for" in result.stderr
    assert "e00001" in result.stderr
    assert "recall@10" in result.stdout  # the figures are shown all the same


def test_a_file_is_read_and_asked_in_part(config, tmp_path):
    made = MemoryDataset.synthetic(30)
    made.save(tmp_path / "set.jsonl")
    arguments = [tmp_path / "set.jsonl", "--target", config(TWO), "--json", "-"]
    rules = json.loads(run(*arguments, "--category", "rule", "--category", "expired").stdout)
    count = sum(case.category in {"rule", "expired"} for case in made.cases)
    assert rules["dataset"]["cases"] == count
    assert rules["dataset"]["records"] == len(made.records)
    assert json.loads(run(*arguments, "--limit", 3).stdout)["dataset"]["cases"] == 3


def test_answers_are_kept_and_not_asked_again(config, tmp_path):
    results = tmp_path / "results.jsonl"
    arguments = ["synthetic", "--events", 5, "--target", config(TWO), "--results", results]
    assert "from an earlier run" not in run(*arguments).stdout
    assert "answers from an earlier run" in run(*arguments).stdout
    refused = run(*arguments, "--k", 3)
    assert refused.exit_code == 2
    assert "remove the file, or pass another" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["missing.jsonl"], "missing.jsonl: cannot be read"),
        (["synthetic:fr"], "'en' or 'zh'"),
        (["synthetic", "--k", "0"], "no number of records"),
        (["synthetic", "--k", "x"], "no number of records"),
        (["synthetic", "--fail-under", "recall"], "is no limit"),
        (["synthetic", "--fail-under", "recall=nan"], "is no limit"),
        (["synthetic", "--fail-under", "recall=0.8,recall=0.1"], "recall has two limits"),
        (["synthetic", "--fail-under", "recal=0.8"], "no metric 'recal' was measured"),
        (["synthetic", "--no-tell"], "say with --uri or --target which one knows the data set"),
        (["synthetic", "--target", "t.toml", "--uri", "m.db", "--key", "user"], "what --uri, --key says"),
        (["synthetic", "--html", "/gone/away.html"], "/gone/away.html: it cannot be written"),
        (["synthetic", "--html", "-", "--json", "-"], "cannot both be stdout"),
        (["synthetic", "--category", "other"], "no category other: there are as_of"),
        (["synthetic", "--target", "missing.toml"], "missing.toml: cannot be read as TOML"),
        (["synthetic", "--events", "2", "--embeddings", "nowhere"], "write module:name"),
        (["synthetic", "--events", "2", "--embeddings", "json:dumps2"], "the module json has no dumps2"),
        (["synthetic", "--events", "2", "--embeddings", "json:decoder"], "no LangChain embedding model"),
        (["synthetic", "--events", "2", "--embeddings", "none", "--key", "x"], "key='x'"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.replace("│", " ").split())
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("targets = 1", "there is no target in it"),
        ("[targets]", "there is no target in it"),
        ("[targets.x]", "says neither uri"),
        ("[targets.x\n", "cannot be read as TOML"),
        ('[targets.x]\nobject = "MODULE:nowhere"', "has no nowhere"),
        ('[targets.x]\nobject = "MODULE"', "names nothing to import"),
        ('[targets.x]\nobject = "no_such_module_here:x"', "No module named"),
        ('[targets.x]\nobject = "MODULE:make"\nkey = "user"', "key of 'x' goes with uri"),
        ('[targets.x]\nuri = "a.db"\nembeddings = "none"\ncolour = "red"', "colour"),
        ("[targets.x]\nuri = 5", "'x' has uri = 5; write a path or an address in quotes"),
        ('[targets.x]\nuri = "a.db"\nvalidity = "no"', "'x': validity = 'no': write true or false"),
    ],
)
def test_a_wrong_configuration_is_named(config, text, words):
    result = run("synthetic", "--events", 2, "--target", config(text))
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_a_metric_that_was_not_measured_cannot_be_a_limit(config):
    result = run("synthetic", "--events", 2, "--target", config(TWO), "--fail-under", "colour=1")
    assert result.exit_code == 2
    assert "no metric 'colour' was measured" in " ".join(result.stderr.replace("│", " ").split())


def test_what_cannot_be_evaluated_is_said(config):
    result = run("synthetic", "--events", 2, "--target", config('[targets.x]\nobject = "MODULE:number"'))
    assert result.exit_code == 2
    assert "7 cannot be evaluated" in result.stderr


def test_the_default_memory_needs_nothing_but_a_data_set(tmp_path):
    pytest.importorskip("pymilvus")
    result = run(
        "synthetic", "--events", 4, "--embeddings", "none", "--uri", tmp_path / "memory.db", "--compare", "--k", 3
    )
    assert result.exit_code == 0, result.stderr
    assert "validity off" in result.stdout
    assert (tmp_path / "memory.db").exists()


def test_the_plain_vector_store_of_a_comparison_keeps_users_apart(config):
    text = '[targets.x]\nobject = "MODULE:nothing"'
    arguments = ["--events", 20, "--target", config(text), "--compare", "--json", "-"]
    done = run("synthetic", *arguments, "--embeddings", f"objects_{THIS}:embeddings")
    figures = json.loads(done.stdout)
    scores = {one["name"]: one["scores"] for one in figures["targets"]}
    assert scores["plain vector store"]["contamination.foreign"] == 0


def test_a_memory_that_was_not_told_and_knows_nothing_is_said(config):
    result = run("synthetic", "--events", 2, "--no-tell", "--target", config('[targets.x]\nobject = "MODULE:nothing"'))
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing came back: the memory does not know the data set; leave out --no-tell" in result.stderr


def test_a_target_that_fails_is_one_line_with_its_question(config):
    asked = run("synthetic", "--events", 2, "--target", config('[targets.x]\nobject = "MODULE:fails"'))
    made = run("synthetic", "--events", 2, "--target", config('[targets.x]\nobject = "MODULE:unmade"'))
    for result, words in ((asked, "ConnectionError: gone; while x was asked"), (made, "RuntimeError: no settings")):
        assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
        assert f"tiered-memory: {words}" in result.stderr


def test_a_data_set_is_no_command_to_the_terminal(config, tmp_path):
    path = tmp_path / "evil.jsonl"
    message = {"id": "m\x1b[5m", "text": "t", "at": "2026-01-01T00:00:00Z"}
    case = {"id": "c\x1b[5m", "question": "q", "expected": ["m\x1b[5m"]}
    lines = [{"dataset": {"name": "\x1b]0;title\x07"}}, {"message": message}, {"case": case}]
    path.write_text("\n".join(map(json.dumps, lines)))
    result = run(path, "--target", config(TWO.replace("MODULE:make", "MODULE:nothing")), "--fail-under", "recall=1")
    assert result.exit_code == 1
    assert "\x1b" not in result.stdout + result.stderr
    assert "c\\x1b[5m" in result.stderr
