"""Every metric against figures worked out by hand."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.evaluation import (
    as_of_accuracy,
    constraint_retention,
    contamination,
    contamination_eval,
    context_recall,
    current_at,
    default_metrics,
    latency,
    ndcg_at,
    precision_at,
    recall_at,
    recall_eval,
    reciprocal_rank,
    returned,
    shared_prefix,
    stale_first,
    tokens_per_round,
)
from langchain_tiered_memory.evaluation.cases import FAULTS
from langchain_tiered_memory.evaluation.context_metrics import metric_of


class Words:
    """A counter that charges a word as a token."""

    def count_text(self, text):
        return len(text.split())


def score(metric, ids=(), outputs=None, **reference):
    found = metric({}, {"ids": list(ids), **(outputs or {})}, reference)
    assert set(found) == {"key", "score"}
    return found["score"]


@pytest.mark.parametrize(
    ("metric", "ids", "expected", "value"),
    [
        # Of a and b only a is among the first two.
        (recall_at(2), "axb", "ab", 1 / 2),
        (recall_at(3), "axb", "ab", 1.0),
        (recall_at(1), "xab", "ab", 0.0),
        # LoCoMo's labels name a turn twice: both count, as in its authors' script.
        (recall_at(3), "axy", "aab", 2 / 3),
        # What comes back twice fills one place.
        (recall_at(2), "aab", "ab", 1.0),
        (precision_at(2), "axb", "ab", 1 / 2),
        (precision_at(5), "axb", "ab", 2 / 5),
        (precision_at(), "axb", "ab", 2 / 3),
        (precision_at(), "", "ab", 0.0),
        (reciprocal_rank(), "xyb", "ab", 1 / 3),
        (reciprocal_rank(), "ayb", "ab", 1.0),
        (reciprocal_rank(), "xyz", "ab", 0.0),
        # Ranks 1 and 3: (1 + 1/2) / (1 + 1/log2 3).
        (ndcg_at(3), "axb", "ab", 1.5 / (1 + 1 / math.log2(3))),
        (ndcg_at(2), "xab", "ab", (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
        (ndcg_at(1), "axb", "ab", 1.0),
        (recall_eval, "xyab", "ab", 1.0),
        (recall_eval, "xya", "ab", 1 / 2),
    ],
)
def test_ranking(metric, ids, expected, value):
    assert score(metric, ids, expected=list(expected)) == pytest.approx(value)


@pytest.mark.parametrize("metric", [precision_at(3), precision_at(), reciprocal_rank(), ndcg_at(3), recall_eval])
def test_where_nothing_is_expected_ranking_has_nothing_to_say(metric):
    assert score(metric, "abc", expected=[]) is None


def test_recall_of_a_question_without_evidence_is_what_the_data_set_says():
    assert score(recall_at(3), "abc", expected=[]) is None
    assert score(recall_at(3), "abc", expected=[], empty_recall=1.0) == 1.0


def test_contamination_is_the_share_of_what_came_back_kind_by_kind():
    faults = {"b": "foreign", "c": "expired", "d": "expired", "z": "stale"}
    assert score(contamination(), "abcde", faults=faults) == 3 / 5
    assert score(contamination_eval, "abcde", faults=faults) == 3 / 5
    assert score(contamination("expired"), "abcde", faults=faults) == 2 / 5
    assert score(contamination("foreign"), "abcde", faults=faults) == 1 / 5
    assert score(contamination("stale"), "abcde", faults=faults) == 0.0
    assert score(contamination(), "", faults=faults) == 0.0


@pytest.mark.parametrize(
    ("ids", "first"),
    [("xna", 0.0), ("xan", 1.0), ("xa", 1.0), ("xn", 0.0), ("xy", 0.0)],
)
def test_stale_first(ids, first):
    assert score(stale_first(), ids, expected=["n"], stale=["a"]) == first
    assert score(stale_first(), ids, expected=["n"], stale=[]) is None
    assert score(stale_first(), ids, expected=["n"], stale=["a"], past=True) is None


def test_an_update_may_have_no_stale_record_in_the_memory():
    assert score(stale_first(), "xn", expected=["n"], stale=[], updated=True) == 0.0
    assert score(current_at(2), "xn", expected=["n"], stale=[], updated=True) == 1.0
    assert score(current_at(2), "xn", expected=["n"], stale=["a"], updated=False) is None


def test_current_at_counts_only_what_changed():
    assert score(current_at(2), "xan", expected=["n"], stale=["a"]) == 0.0
    assert score(current_at(3), "xan", expected=["n"], stale=["a"]) == 1.0
    assert score(current_at(3), "xan", expected=["n"]) is None


@pytest.mark.parametrize(("ids", "right"), [("xao", 1.0), ("xoa", 0.0), ("xy", 0.0)])
def test_as_of_accuracy_is_that_the_first_version_is_the_right_one(ids, right):
    assert score(as_of_accuracy(), ids, expected=["a"], stale=["o"], past=True) == right
    assert score(as_of_accuracy(), ids, expected=["a"], stale=["o"]) is None
    assert score(as_of_accuracy(), ids, expected=["a"], past=True) is None


def test_constraints_are_looked_for_word_for_word():
    reference = {"constraints": ["Never call\nbefore 9.", "Only GET."]}
    context = {"context": "Rules: Never  call before 9. Only POST."}
    assert score(constraint_retention(), outputs=context, **reference) == 1 / 2
    assert score(constraint_retention(), outputs={}, **reference) is None
    assert score(constraint_retention(), outputs=context, constraints=[]) is None


def test_context_recall_takes_records_while_they_fit():
    outputs = {"texts": ["one two", "three four five", "six"]}
    # Two words, then three: b fits a budget of five and not one of four; c stands behind what did not fit.
    assert score(context_recall(5, Words()), "abc", outputs, expected=["b", "c"]) == 1 / 2
    assert score(context_recall(4, Words()), "abc", outputs, expected=["b", "c"]) == 0.0
    assert score(context_recall(6, Words()), "abc", outputs, expected=["b", "c"]) == 1.0
    built = {"context": "You said:\nthree  four five"}
    texts = {"b": "three four five", "c": "six"}
    assert score(context_recall(6, Words()), "", built, expected=["b", "c"], texts=texts) == 1 / 2
    assert score(context_recall(6, Words()), "", built, expected=[], texts=texts) is None


def test_tokens_prefix_and_number():
    assert score(tokens_per_round(Words()), "ab", {"texts": ["one two", "three"]}) == 3
    assert score(tokens_per_round(Words()), "ab", {"texts": ["one two"], "tokens": 70.5}) == 70.5
    assert score(shared_prefix(), "", {"shared_prefix": 0.75}) == 0.75
    assert score(shared_prefix(), "ab") is None
    assert score(returned(), "aab") == 2


def test_latency_is_the_nearest_rank():
    seconds = [0.5, 0.1, 0.4, 0.2, 0.3]
    assert latency(50).aggregate(seconds) == 0.3
    assert latency(95).aggregate(seconds) == 0.5
    assert latency(20).aggregate(seconds) == 0.1
    assert latency(50).aggregate([]) is None
    assert score(latency(50), "", {"seconds": 0.2}) == 0.2


def test_the_mean_leaves_out_what_had_nothing_to_say():
    assert recall_at(1).aggregate([1.0, 0.0, 0.5]) == 0.5
    assert recall_at(1).aggregate([]) is None


@pytest.mark.parametrize("metric", default_metrics((5, 10), max_tokens=100), ids=lambda metric: metric.key)
def test_a_metric_is_found_by_its_key_and_says_what_it_means(metric):
    found = metric_of(metric.key)
    assert (found.key, found.lower_is_better, found.kind) == (metric.key, metric.lower_is_better, metric.kind)
    assert found.definition


@pytest.mark.parametrize("name", ["recal@5", "recall", "recall@0", "recall@x", "contamination.old", ""])
def test_a_name_that_is_none_says_which_there_are(name):
    with pytest.raises(ValueError, match=r"recall@K.*contamination"):
        metric_of(name)
    with pytest.raises(ValueError, match="is no metric"):
        metric_of(7)


def test_an_evaluator_of_ones_own_is_called_as_langsmith_calls_it():
    def polite(inputs, outputs, reference_outputs):
        """Whether it says please.

        And more.
        """
        assert reference_outputs["expected"] == ["a"]
        return {"key": "polite", "score": "please" in outputs["texts"][0] and bool(inputs)}

    metric = metric_of(polite)
    assert (metric.key, metric.definition) == ("polite", "Whether it says please.")
    assert metric({"question": "?"}, {"texts": ["please"]}, {"expected": ["a"]}) == {"key": "polite", "score": 1.0}
    plain = metric_of(lambda _inputs, _outputs, _reference: None)
    assert plain({}, {}, {})["score"] is None


def test_langsmith_takes_a_metric_as_an_evaluator():
    evaluators = pytest.importorskip("langsmith.evaluation.evaluator")
    schemas = pytest.importorskip("langsmith.schemas")
    run = schemas.Run(
        id=UUID(int=1),
        name="ask",
        run_type="chain",
        start_time=datetime(2025, 6, 1, tzinfo=UTC),
        trace_id=UUID(int=1),
        dotted_order="1",
        inputs={"question": "?"},
        outputs={"ids": ["a", "b", "c"]},
    )
    labels = {"expected": ["a", "d"], "faults": {"b": "stale"}}
    example = schemas.Example(id=UUID(int=2), dataset_id=UUID(int=3), inputs={"question": "?"}, outputs=labels)
    found = {
        result.key: result.score
        for metric in (recall_at(3), contamination_eval, stale_first())
        for result in [evaluators.run_evaluator(metric).evaluate_run(run, example)]
    }
    assert found == {"recall@3": 0.5, "contamination_eval": pytest.approx(1 / 3), "stale_first": None}


IDS = st.lists(st.sampled_from("abcdefgh"), max_size=12)
SHARES = [
    recall_at(3), precision_at(3), precision_at(), reciprocal_rank(), ndcg_at(3), contamination(), stale_first(),
    current_at(3), as_of_accuracy(), recall_eval, contamination_eval, *map(contamination, FAULTS),
]  # fmt: skip


@given(IDS, IDS, IDS, st.dictionaries(st.sampled_from("abcdefgh"), st.sampled_from(FAULTS)), st.booleans())
def test_every_share_lies_between_0_and_1_and_the_kinds_add_up(ids, expected, stale, faults, past):
    reference = {"expected": expected, "stale": stale, "faults": faults, "past": past, "empty_recall": None}
    for metric in SHARES:
        value = metric({}, {"ids": ids}, reference)["score"]
        assert value is None or 0 <= value <= 1
    kinds = sum(contamination(fault)({}, {"ids": ids}, reference)["score"] for fault in FAULTS)
    assert contamination()({}, {"ids": ids}, reference)["score"] == pytest.approx(kinds)


@given(IDS, IDS)
def test_a_perfect_order_is_perfect_in_every_metric(expected, rest):
    expected = list(dict.fromkeys(expected)) or ["a"]
    ids = [*expected, *(one for one in rest if one not in expected)]
    reference = {"expected": expected}
    for metric in (recall_at(len(expected)), precision_at(len(expected)), reciprocal_rank(), ndcg_at(5)):
        assert metric({}, {"ids": ids}, reference)["score"] == pytest.approx(1)


@pytest.mark.parametrize(
    "make",
    [
        lambda: recall_at(0), lambda: precision_at(-1), lambda: ndcg_at(0), lambda: current_at(k=True),
        lambda: context_recall(0), lambda: latency(0), lambda: latency(101), lambda: contamination("stail"),
    ],
)  # fmt: skip
def test_a_metric_of_what_is_none_is_refused(make):
    with pytest.raises(ValueError, match=r"give a (whole )?number|is not known: use one of foreign"):
        make()


def by_name(*, outputs, reference_outputs, **_):
    return {"key": "by_name", "score": outputs["ids"] == reference_outputs["expected"]}


def two(outputs, inputs):
    return len(outputs["ids"]) + inputs["k"]


@pytest.mark.parametrize(
    ("evaluator", "value"), [(by_name, 1.0), (two, 6.0), (lambda i, o, r: i["k"] * len(o["ids"]) * len(r), 5.0)]
)
def test_an_evaluator_is_called_by_the_names_that_it_has(evaluator, value):
    assert metric_of(evaluator)({"k": 5}, {"ids": ["a"]}, {"expected": ["a"]})["score"] == value


@pytest.mark.parametrize("score", ["high", math.nan, math.inf, [1]])
def test_an_evaluator_that_gives_no_number_is_named(score):
    def odd(**_):
        return {"score": score}

    with pytest.raises(ValueError, match=r"the metric odd gave .*: give a number"):
        metric_of(odd)({}, {}, {})
