"""Forgetting: what is known after a day, a week, a quarter, as a clock is turned."""

from __future__ import annotations

import math

import pytest

from langchain_tiered_memory import InMemoryFactStore
from langchain_tiered_memory.evaluation import (
    ForgettingCurve,
    ForgettingPoint,
    TurnedClock,
    ebbinghaus,
    forgetting_curve,
)
from langchain_tiered_memory.evaluation.synthetic import NOW


def store(clock):
    return InMemoryFactStore(clock=clock)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_class_is_known_until_it_ends(language):
    curve = forgetting_curve(store, ages=(180, 1, 6.9, 7, 30, 89, 90), facts=15, language=language)
    assert curve.ages == (1, 6.9, 7, 30, 89, 90, 180)
    known = {lasting: [curve.recall(lasting, age) for age in curve.ages] for lasting in curve.classes}
    assert known == {
        "7-day": [1, 1, 0, 0, 0, 0, 0],
        "90-day": [1, 1, 1, 1, 1, 0, 0],
        "permanent": [1, 1, 1, 1, 1, 1, 1],
    }
    assert {point.facts for point in curve.points} == {15}


def test_a_memory_that_goes_by_its_own_clock_is_measured_by_it():
    """One that forgets everything after ten days, whatever it was told of validity."""
    clocks = []

    def make(clock):
        clocks.append(clock)
        told = []

        def ask(inputs):
            assert inputs["as_of"] == clock()
            return told if (clock() - NOW).days < 10 else []

        target = type("Own", (), {"name": "own", "workers": 1, "ask": lambda _, inputs: {"ids": ask(inputs)}})
        target.tell = lambda _, units: told.extend(record.id for (record,) in units)
        return target()

    curve = forgetting_curve(make, facts=3)
    assert isinstance(clocks[0], TurnedClock)
    assert [curve.recall("permanent", age) for age in curve.ages] == [1, 1, 0, 0, 0]
    assert curve.name == "own"


def points(*recalls, ages=(1, 2, 4)):
    return tuple(ForgettingPoint("c", age, recall, 10) for age, recall in zip(ages, recalls, strict=True))


def test_the_fit_finds_the_strength_that_made_the_points():
    pytest.importorskip("scipy")
    for strength in (0.5, 3.0, 40.0, 900.0):
        (fit,) = ForgettingCurve("m", points(*(math.exp(-age / strength) for age in (1, 2, 4)))).fit()
        assert fit.strength == pytest.approx(strength, rel=1e-3)
        assert fit.error < 1e-4
        assert fit.recall(strength) == pytest.approx(1 / math.e, rel=1e-2)


def test_what_is_never_forgotten_has_no_end_and_a_step_fits_badly():
    pytest.importorskip("scipy")
    (never,) = ForgettingCurve("m", points(1.0, 1.0, 1.0)).fit()
    assert (never.strength, never.error, never.recall(1e9)) == (math.inf, 0, 1)
    (step,) = ForgettingCurve("m", points(1.0, 0.0, 0.0)).fit()
    # The least of (1 - x)^2 + x^4 + x^8 over x = exp(-1 / S) is where x + 2 x^3 + 4 x^7 = 1: at x = 0.5652.
    x = 0.5652
    assert x + 2 * x**3 + 4 * x**7 == pytest.approx(1, abs=1e-3)
    assert step.strength == pytest.approx(-1 / math.log(x), rel=1e-3)
    assert step.error == pytest.approx(math.sqrt(((1 - x) ** 2 + x**4 + x**8) / 3), rel=1e-3)
    (nothing,) = ForgettingCurve("m", points(0.0, 0.0, 0.0)).fit()
    assert nothing.recall(1) < 1e-3


def test_ebbinghaus_is_as_he_printed_it():
    # Über das Gedächtnis, section 29: 20 minutes 58.2 %, an hour 44.2 %, a day 33.7 %, 31 days 21.1 %; the formula's
    # own figures, which he sets beside them: 57.0, 46.7, 30.4, 21.2.
    minutes = {20: 0.570, 64: 0.467, 24 * 60: 0.304, 31 * 24 * 60: 0.212}
    for minute, left in minutes.items():
        assert ebbinghaus(minute / 1440) == pytest.approx(left, abs=0.005)


def test_the_curve_is_data_and_a_table():
    pytest.importorskip("scipy")
    curve = forgetting_curve(store, facts=3, name="facts")
    plain = curve.to_dict()
    assert plain["name"] == "facts"
    assert plain["points"][0] == {"class": "7-day", "age_days": 1.0, "recall": 1.0, "facts": 3}
    assert [one["strength_days"] is None for one in plain["fits"]] == [False, False, True]
    lines = curve.to_text().splitlines()
    assert lines[0].split()[:2] == ["facts", "1"]
    assert lines[3].split() == ["permanent", "1.00", "1.00", "1.00", "1.00", "1.00", "never", "0.00"]
    with pytest.raises(KeyError, match="no point of 'x' at 1 days"):
        curve.recall("x", 1)


@pytest.mark.parametrize("settings", [{"ages": ()}, {"ages": (0,)}, {"facts": 0}, {"language": "fr"}])
def test_what_cannot_be_measured_says_so(settings):
    with pytest.raises(ValueError, match="="):
        forgetting_curve(store, **settings)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"ages": [float("nan")]}, "ages="),
        ({"ages": [float("inf")]}, "ages="),
        ({"ages": [1e9]}, "up to 1,000,000"),
        ({"facts": 1.5}, "facts=1.5"),
        ({"k": 0}, "k=0"),
    ],
)
def test_an_age_or_a_number_that_is_none(settings, words):
    with pytest.raises(ValueError, match=words):
        forgetting_curve(lambda _: lambda _: [], **{"facts": 1, **settings})


def test_a_long_name_does_not_move_the_columns():
    pytest.importorskip("scipy")
    curve = forgetting_curve(lambda _: lambda _: [], facts=1, name="the memory of a long name")
    head, *rows = curve.to_text().splitlines()
    assert {row.index("0.") for row in rows} == {head.index("1 d") - 1}
