"""Retrievers that are wrong in one way each, and the metric that is there to notice."""

from __future__ import annotations

import pytest

from langchain_tiered_memory.evaluation import EvaluationFailed, MemoryDataset, evaluate
from support.retrieval import WordRetriever


@pytest.fixture(scope="module", params=["en", "zh"])
def dataset(request):
    return MemoryDataset.synthetic(events=100, seed=0, language=request.param)


@pytest.fixture(scope="module")
def report(dataset):
    return evaluate(
        {
            "right": WordRetriever(dataset),
            "no validity": WordRetriever(dataset, "superseded", "expired", "early"),
            "no supersession": WordRetriever(dataset, "superseded"),
            "no expiry": WordRetriever(dataset, "expired"),
            "no as_of": WordRetriever(dataset, "early"),
            "no scope": WordRetriever(dataset, "foreign"),
            "nothing": lambda _: [],
            "everything": WordRetriever(dataset, "all"),
        },
        dataset,
        workers=1,
    )


def test_a_right_retriever_passes(report):
    report.check(recall=0.8, contamination=0.1, contamination_foreign=0, as_of_accuracy=0.9, stale_first=0.2)
    assert report.score("contamination") < 0.03


@pytest.mark.parametrize(
    ("target", "metric", "limit"),
    [
        ("no validity", "contamination", 0.1),
        ("no validity", "stale_first", 0.2),
        ("no supersession", "contamination.superseded", 0.02),
        ("no expiry", "contamination.expired", 0.02),
        ("no as_of", "contamination.early", 0.02),
        ("no as_of", "as_of_accuracy", 0.9),
        ("no scope", "contamination.foreign", 0),
        ("nothing", "recall@5", 0.8),
        ("nothing", "recall_eval", 0.8),
        ("everything", "precision", 0.1),
        ("everything", "returned", 5),
        ("everything", "contamination_eval", 0.1),
    ],
)
def test_a_wrong_retriever_is_caught_by_the_metric_made_for_it(report, dataset, target, metric, limit):
    if metric.endswith("_eval"):
        wrong = WordRetriever(dataset, "all") if target == "everything" else lambda _: []
        judged = evaluate(wrong, dataset, [metric], name=target, workers=1)
        right = evaluate(WordRetriever(dataset), dataset, [metric], workers=1)
        right.check({metric: limit})
    else:
        judged = report
        report.check({metric: limit}, target="right")
    with pytest.raises(EvaluationFailed, match=metric) as failed:
        judged.check({metric: limit}, target=target)
    (shortfall,) = failed.value.shortfalls
    assert (shortfall.target, shortfall.metric) == (target, metric)
    assert shortfall.cases


def test_each_fault_is_counted_under_its_own_name(report):
    """What a mutant does wrong does not show where it does nothing wrong."""
    clean = {"contamination.foreign", "contamination.superseded", "contamination.expired", "contamination.early"}
    for target, dirty in {
        "no supersession": "contamination.superseded",
        "no expiry": "contamination.expired",
        "no as_of": "contamination.early",
        "no scope": "contamination.foreign",
    }.items():
        assert report.score(dirty, target) > 0
        for metric in clean - {dirty}:
            assert report.score(metric, target) == 0, (target, metric)
