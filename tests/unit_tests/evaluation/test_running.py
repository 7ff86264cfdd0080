"""Asking: in parallel or not, stopped and resumed, with the same figures each time."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import Counter

import pytest

from langchain_tiered_memory.evaluation import CallableTarget, DatasetError, MemoryDataset, evaluate
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
        ({"workers": 0}, "workers=0"),
        ({"metrics": ["recall"]}, "no metric 'recall'"),
        ({"metrics": ["mrr", "recall@3", "mrr"]}, "two metrics are called mrr"),
    ],
)
def test_settings_that_are_none(settings, words):
    with pytest.raises(ValueError, match=words):
        evaluate(lambda _: [], DATASET, **settings)
