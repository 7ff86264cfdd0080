"""Asking: in parallel or not, stopped and resumed, with the same figures each time."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from collections import Counter

import pytest

from langchain_tiered_memory.evaluation import CallableTarget, DatasetError, MemoryDataset, aevaluate, evaluate
from support.retrieval import WordRetriever

DATASET = MemoryDataset.synthetic(events=30, seed=5)


def without_times(report):
    plain = report.to_dict()
    for target in plain["targets"]:
        del target["tell_seconds"]
        for scores in (target["scores"], *target["categories"].values(), *(one["scores"] for one in target["cases"])):
            for key in [key for key in scores if key.startswith("latency")]:
                del scores[key]
    return plain


def test_the_figures_do_not_depend_on_the_number_of_threads():
    def slow(inputs):
        time.sleep(0.001 * (hash(inputs["case"]) % 4))  # so that answers overtake one another
        return WordRetriever(DATASET)(inputs)

    reports = [without_times(evaluate(slow, DATASET, workers=workers)) for workers in (1, 2, 8)]
    assert reports[0] == reports[1] == reports[2]


def test_no_more_threads_ask_than_were_allowed():
    running, most, lock = 0, 0, threading.Lock()

    def ask(_):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)
        with lock:
            running -= 1
        return []

    evaluate(ask, DATASET, workers=3)
    assert 1 < most <= 3
    most = 0
    evaluate(CallableTarget(ask, workers=1), DATASET, workers=8)
    assert most == 1


def test_what_was_answered_is_not_asked_again(tmp_path):
    results = tmp_path / "results.jsonl"
    asked: Counter[str] = Counter()
    told = []

    def ask(inputs):
        asked[inputs["case"]] += 1
        if len(asked) == 12 and len(told) == 1:
            asked.pop(inputs["case"])
            msg = "gone"
            raise ConnectionError(msg)
        return WordRetriever(DATASET)(inputs)

    target = CallableTarget(ask, name="words", tell=lambda units: told.append(len(list(units))))
    with pytest.raises(ConnectionError, match="gone") as raised:
        evaluate(target, DATASET, workers=1, results=results)
    assert "while words was asked" in raised.value.__notes__[0]
    with results.open("a", encoding="utf-8") as file:
        file.write('["words", "e000')  # a process that was killed in the middle of a line
    report = evaluate(target, DATASET, workers=1, results=results)
    assert set(asked.values()) == {1}
    assert len(asked) == len(DATASET.cases)
    assert report.targets[0].resumed == 11
    assert told == [len(DATASET.records)] * 2
    whole = evaluate(target, DATASET, workers=1, results=results)
    assert told == [len(DATASET.records)] * 2  # with nothing left to ask there is nothing to tell
    fresh = evaluate(WordRetriever(DATASET), DATASET, name="words", workers=1)
    assert without_times(whole) == without_times(report) == without_times(fresh)


def test_a_results_file_holds_several_targets(tmp_path):
    results = tmp_path / "results.jsonl"
    targets = {"words": WordRetriever(DATASET), "nothing": lambda _: []}
    first = evaluate(targets, DATASET, results=results)
    second = evaluate(dict.fromkeys(targets, lambda _: 1 / 0), DATASET, results=results)
    assert without_times(first) == without_times(second)


def test_results_of_something_else_are_refused(tmp_path):
    results = tmp_path / "results.jsonl"
    evaluate(WordRetriever(DATASET), DATASET, results=results)
    with pytest.raises(DatasetError, match=r"results\.jsonl: .*k.* differ"):
        evaluate(WordRetriever(DATASET), DATASET, k=7, results=results)
    other = MemoryDataset.synthetic(events=5)
    with pytest.raises(DatasetError, match="dataset differ"):
        evaluate(WordRetriever(other), other, results=results)
    lines = results.read_text().splitlines()
    lines[3] = json.dumps(["WordRetriever", "case"])
    results.write_text("\n".join(lines) + "\n")
    with pytest.raises(DatasetError, match=r"line 4: no result of an evaluation.*remove the file"):
        evaluate(WordRetriever(DATASET), DATASET, results=results)
    with pytest.raises(DatasetError, match="cannot be read"):
        evaluate(WordRetriever(DATASET), DATASET, results=tmp_path)


@pytest.mark.parametrize("held", ['[{"precious": 1}]', "x", '{"dataset": "another"'])
def test_a_file_that_is_no_results_file_stays_as_it_is(tmp_path, held):
    path = tmp_path / "precious.json"
    path.write_text(held)
    with pytest.raises(DatasetError, match=r"precious\.json: is no results file"):
        evaluate(lambda _: [], DATASET, results=path)
    assert path.read_text() == held


def test_a_run_that_was_stopped_in_its_first_line_begins_anew(tmp_path):
    path = tmp_path / "results.jsonl"
    path.write_text('{"dataset"')
    evaluate(lambda _: [], DATASET, results=path)
    assert len(path.read_text().splitlines()) == 1 + len(DATASET.cases)


@pytest.mark.parametrize(
    "line", [["<lambda>", "e00001", [], [], {}], ["<lambda>", "e00001", ["x"], [], {}], ["<lambda>", 5, [0.0], [], {}]]
)
def test_a_line_that_is_no_result_is_named(tmp_path, line):
    results = tmp_path / "results.jsonl"
    evaluate(lambda _: [], DATASET, ["mrr"], results=results)
    results.write_text("\n".join([results.read_text().splitlines()[0], json.dumps(line)]) + "\n")
    with pytest.raises(DatasetError, match=r"results\.jsonl, line 2: no result of an evaluation"):
        evaluate(lambda _: [], DATASET, ["mrr"], results=results)


def test_a_results_file_that_cannot_be_written_is_named(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read or written: No such file or directory; pass another"):
        evaluate(lambda _: [], DATASET, results=tmp_path / "gone" / "results.jsonl")


def test_two_runs_with_one_results_file_lose_nothing(tmp_path):
    results = tmp_path / "results.jsonl"

    def ask(inputs):
        if inputs["case"] == DATASET.cases[3].id and not inner:  # in the middle of the first run there is a second
            inner.append(evaluate(lambda _: [], DATASET, name="inner", workers=1, results=results))
        return WordRetriever(DATASET)(inputs)

    inner = []
    outer = evaluate(ask, DATASET, name="outer", workers=1, results=results)
    again = evaluate({"outer": lambda _: 1 / 0, "inner": lambda _: 1 / 0}, DATASET, results=results)
    assert without_times(again)["targets"] == without_times(outer)["targets"] + without_times(inner[0])["targets"]


def test_async_targets_give_the_same_figures(tmp_path):
    words = WordRetriever(DATASET)
    running, most = 0, 0

    async def ask(inputs):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return words(inputs)

    results = tmp_path / "results.jsonl"
    report = asyncio.run(aevaluate({"words": ask}, DATASET, workers=3, results=results))
    assert most == 3
    assert without_times(report) == without_times(evaluate({"words": words}, DATASET))
    assert asyncio.run(aevaluate({"words": ask}, DATASET, results=results)).targets[0].resumed == len(DATASET.cases)
    plain = asyncio.run(aevaluate({"words": words}, DATASET))  # not async, so in threads
    assert without_times(plain) == without_times(report)
    with pytest.raises(TypeError, match="ask is async: use aevaluate"):
        evaluate(ask, DATASET)


def test_an_async_target_that_fails_stops_the_others():
    asked, ended = [], []

    async def ask(inputs):
        asked.append(inputs["case"])
        try:
            await asyncio.sleep(0 if len(asked) == 3 else 60)
        finally:
            ended.append(inputs["case"])
        msg = "gone"
        raise ConnectionError(msg)

    with pytest.raises(ConnectionError, match="gone") as raised:
        asyncio.run(aevaluate(ask, DATASET, workers=3))
    assert "while ask was asked" in raised.value.__notes__[0]
    assert sorted(asked) == sorted(ended)
    assert len(asked) == 3


def test_progress_is_told_step_by_step(capsys):
    told = []
    evaluate({"one": lambda _: []}, DATASET, progress=lambda *step: told.append(step))
    count = len(DATASET.cases)
    assert told == [(done, count, "one") for done in range(1, count + 1)]
    evaluate({"one": lambda _: []}, DATASET, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert f"one: {count} of {count}" in lines
    assert 5 <= len(lines) <= 20
    evaluate(lambda _: [], DATASET)
    evaluate(lambda _: [], DATASET, progress=False)
    assert capsys.readouterr().err == ""


def test_a_terminal_gets_a_bar_and_lines_where_rich_is_missing(capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    evaluate(lambda _: [], DATASET, name="bar", progress=True)
    shown = capsys.readouterr().err
    assert "bar" in shown
    assert "\x1b[" in shown
    evaluate(lambda _: [], DATASET, name="[/bar] of [old]", progress=True)
    assert "[/bar] of [old]" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "rich.console", None)
    evaluate(lambda _: [], DATASET, name="bar", progress=True)
    assert capsys.readouterr().err.splitlines()[-1] == f"bar: {len(DATASET.cases)} of {len(DATASET.cases)}"


def test_metrics_can_be_chosen_and_ones_own():
    def first_letter(inputs, outputs, reference_outputs):
        return {
            "key": "first_letter",
            "score": inputs["question"][0].isupper() and "ids" in outputs and "expected" in reference_outputs,
        }

    report = evaluate(WordRetriever(DATASET), DATASET, ["recall@3", first_letter], k=3)
    assert report.scores() == {"recall@3": pytest.approx(report.score("recall")), "first_letter": 1.0}
    assert max(len(case.returned) for case in report.targets[0].cases) == 3


def test_several_depths_of_one_ranking():
    report = evaluate(WordRetriever(DATASET), DATASET, k=[10, 1, 5])
    assert report.k == 10
    assert report.score("recall@1") <= report.score("recall@5") <= report.score("recall@10")


def test_a_budget_adds_what_fits_into_it():
    wide = evaluate(WordRetriever(DATASET), DATASET, max_tokens=500)
    narrow = evaluate(WordRetriever(DATASET), DATASET, max_tokens=15)
    assert wide.score("context_recall") == wide.score("recall") > narrow.score("context_recall") > 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"k": 0}, "k=0"),
        ({"k": []}, "k=\\[\\]"),
        ({"k": True}, "k=True"),
        ({"k": 5.0}, "k=5.0"),
        ({"k": "5"}, "k='5'"),
        ({"max_tokens": 0}, "max_tokens=0"),
        ({"workers": 0}, "workers=0"),
        ({"metrics": ["recall"]}, "no metric 'recall'"),
        ({"metrics": ["mrr", "recall@3", "mrr"]}, "two metrics are called mrr"),
    ],
)
def test_settings_that_are_none(settings, words):
    with pytest.raises(ValueError, match=words):
        evaluate(lambda _: [], DATASET, **settings)
