"""The made-up data set: known events, the same on every machine, with everything in it that goes wrong in life."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from statistics import fmean

import pytest

from langchain_tiered_memory.evaluation import MemoryDataset
from langchain_tiered_memory.evaluation.cases import fault_of

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


@pytest.fixture(scope="module", params=["en", "zh"])
def dataset(request):
    return MemoryDataset.synthetic(events=100, seed=0, language=request.param)


@LANGUAGES
def test_a_seed_gives_one_data_set(language):
    made = [MemoryDataset.synthetic(40, seed, language) for seed in (1, 1, 2)]
    assert made[0] == made[1]
    assert made[0].digest == made[1].digest != made[2].digest


def test_the_data_set_is_the_same_on_every_machine():
    # If this fails, figures that were published of the synthetic sets are no longer comparable.
    assert MemoryDataset.synthetic(100, 0, "en").digest == "9b89febfb007"
    assert MemoryDataset.synthetic(100, 0, "zh").digest == "75e8ba6a4f35"


def test_every_event_is_asked_for_once_at_present(dataset):
    present = [case for case in dataset.cases if case.as_of is None]
    assert len(present) == 100
    assert len({case.id for case in dataset.cases}) == len(dataset.cases)


def test_everything_that_was_ordered_is_in_it(dataset):
    categories = Counter(case.category for case in dataset.cases)
    assert set(categories) == {"current", "updated", "expired", "as_of", "rule"}
    assert min(categories.values()) >= 5
    assert {record.lasting for record in dataset.records.values()} == {"7-day", "90-day", "permanent", ""}
    assert len({record.scope.user for record in dataset.records.values()}) == 4
    changed = [record for record in dataset.records.values() if record.id.endswith("b")]
    told = [record for record in changed if record.supersedes]
    assert 0 < len(changed) - len(told) < len(told)  # some changes only the text tells
    assert sum(bool(case.irrelevant) for case in dataset.cases if case.as_of is None) == 4


def test_what_is_expected_is_right_and_what_is_not_is_wrong(dataset):
    successors = dataset.successors()
    for case in dataset.cases:
        at = case.as_of or dataset.now
        for one in case.expected:
            record = dataset.records[one]
            assert record.scope.whole_user() == case.scope
            assert record.at <= at
            assert record.valid_until is None or record.valid_until > at
            assert not any(later.at <= at for later in successors.get(one, ()))
        for one in (*case.stale, *case.irrelevant):
            assert fault_of(dataset.records[one], case, dataset.now, successors) is not None
        if case.category == "expired":
            assert case.expected == ()
        else:
            assert len(case.expected) == 1


def test_lifetimes_are_those_of_the_classes(dataset):
    days = {"7-day": timedelta(days=7), "90-day": timedelta(days=90)}
    for record in dataset.records.values():
        lifetime = None if record.valid_until is None else record.valid_until - record.at
        assert lifetime == days.get(record.lasting)


def test_the_answer_stands_in_the_evidence(dataset):
    for case in dataset.cases:
        if case.answer is not None:
            assert all(case.answer in dataset.records[one].text for one in case.expected)


def test_rules_are_constraints_of_their_user(dataset):
    rules = [case for case in dataset.cases if case.category == "rule"]
    for case in rules:
        texts = [record.text for record in case.messages]
        assert all(any(rule in text for text in texts) for rule in case.constraints)
        assert dataset.records[case.expected[0]].text.endswith(tuple(case.constraints))


def test_users_talk_of_the_same_things(dataset):
    """Or nothing would come of ignoring the scope."""
    told: dict[tuple[str, str], set[str]] = {}
    for record in dataset.records.values():
        if record.attribute:
            told.setdefault((record.entity, record.attribute), set()).add(record.scope.user)
    assert fmean(len(users) for users in told.values()) > 1.5


def test_questions_do_not_merely_repeat_what_was_told(dataset):
    """Word for word less than two thirds of a question stands in its evidence."""
    shares = []
    for case in dataset.cases:
        for one in case.expected:
            asked, said = _pieces(case.question), _pieces(dataset.records[one].text)
            shares.append(len(asked & said) / len(asked))
    assert fmean(shares) < 0.67


def _pieces(text):
    text = text.lower()
    return set(text.rstrip("?").split()) if text.isascii() else {text[n : n + 2] for n in range(len(text) - 1)}


@pytest.mark.parametrize("events", [1, 2, 3, 24, 25, 26, 51])
def test_any_number_of_events_can_be_had(events):
    dataset = MemoryDataset.synthetic(events, seed=3)
    assert sum(case.as_of is None for case in dataset.cases) == events


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"events": 0}, "events=0"),
        ({"events": True}, "events=True"),
        ({"per_user": 1_000}, "per_user=1000"),
        ({"language": "fr"}, "'en' or 'zh'"),
    ],
)
def test_what_cannot_be_made_says_so(settings, words):
    with pytest.raises(ValueError, match=words):
        MemoryDataset.synthetic(**settings)
