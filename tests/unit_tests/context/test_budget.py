from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models import FakeListChatModel

from langchain_tiered_memory.context.budget import SHARES, TIERS, ContextBudget, allocate

DEMANDS = st.dictionaries(st.sampled_from(TIERS), st.integers(0, 5_000))
WEIGHTS = st.fixed_dictionaries({tier: st.floats(0.01, 10) for tier in TIERS})


# --- the limit --------------------------------------------------------------------------------------------------------


def test_a_request_may_take_seven_tenths_of_the_window_unless_told_otherwise():
    assert ContextBudget(window=10_000).limit == 7_000
    assert ContextBudget(window=10_000, reserve_ratio=0.5).limit == 5_000
    assert ContextBudget(window=10_000, max_tokens=9_000).limit == 9_000
    assert ContextBudget(max_tokens=9_000).limit == 9_000


def test_the_margin_is_taken_off_the_limit():
    assert ContextBudget(max_tokens=2_000, margin=0.1).limit == 1_800


def test_what_is_left_of_the_window_is_for_the_answer():
    assert ContextBudget(window=10_000).reserve == 3_000
    assert ContextBudget(max_tokens=10_000).reserve is None


def test_a_limit_over_the_window_is_refused_with_the_arithmetic():
    with pytest.raises(ValueError, match="max_tokens=9000 is 808 more than window=8192: lower it to 5734"):
        ContextBudget(max_tokens=9_000, window=8_192)


def test_a_limit_that_leaves_nothing_is_refused_with_the_arithmetic():
    with pytest.raises(ValueError, match=r"nothing is left: 0\.7 x 1 = 0 tokens"):
        ContextBudget(window=1)
    with pytest.raises(ValueError, match=r"nothing is left: 5 x \(1 - 0\.9\) = 0 tokens"):
        ContextBudget(max_tokens=5, margin=0.9)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"max_tokens": 0},
        {"max_tokens": True},
        {"max_tokens": 1.5},
        {"window": -1},
        {"window": 100, "reserve_ratio": 0},
        {"window": 100, "reserve_ratio": 1.1},
        {"window": 100, "margin": 1},
        {"window": 100, "margin": -0.1},
        {"window": 100, "shares": {"episodic": 1}},
        {"window": 100, "shares": {"facts": 0}},
        {"window": 100, "shares": {"facts": float("inf")}},
        {"window": 100, "shares": {"facts": float("nan")}},
    ],
)
def test_a_number_out_of_range_is_refused(settings):
    with pytest.raises(ValueError, match=r"."):
        ContextBudget(**settings)


def test_shares_that_are_not_given_are_the_usual_ones():
    budget = ContextBudget(max_tokens=100, shares={"episodes": 3})
    assert budget.shares == {**SHARES, "episodes": 3}


# --- for a model ------------------------------------------------------------------------------------------------------


def test_the_window_comes_from_the_models_profile():
    model = FakeListChatModel(responses=["x"], profile={"max_input_tokens": 40_000})
    assert ContextBudget.for_model(model).limit == 28_000
    assert ContextBudget.for_model(model.bind(stop=["."])).limit == 28_000


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8_192),
        ("gpt-4-0613", 8_192),
        ("gpt-4-turbo-2024-04-09", 128_000),
        ("gpt-4.1-mini", 1_047_576),
        ("openai:gpt-4o", 128_000),
        ("anthropic/claude-sonnet-4-20250514", 200_000),
        ("llama3.1:8b", 131_072),
        ("models/gemini-2.5-flash", 1_048_576),
    ],
)
def test_a_model_without_a_profile_is_known_by_its_name(name, window):
    assert ContextBudget.for_model(name, reserve_ratio=1).limit == window


@pytest.mark.parametrize("name", ["gpt-40", "my-model", "gpt-4ox", "o123", ""])
def test_a_model_that_nobody_knows_asks_for_a_number(name):
    with pytest.raises(ValueError, match=r"give ContextBudget\(window=\.\.\.\)"):
        ContextBudget.for_model(name)


# --- dividing ---------------------------------------------------------------------------------------------------------


def test_tiers_that_want_less_leave_the_rest_to_the_others():
    given = allocate(100, {"facts": 10, "window": 500, "episodes": 500}, {"facts": 1, "window": 2, "episodes": 1})
    assert given == {"facts": 10, "window": 60, "episodes": 30}


def test_where_everybody_can_have_what_they_want_they_do():
    assert allocate(100, {"facts": 10, "window": 60}, SHARES) == {"facts": 10, "window": 60}


def test_nothing_to_divide_gives_nobody_anything():
    assert allocate(-5, {"facts": 10, "window": 60}, SHARES) == {"facts": 0, "window": 0}


@given(st.integers(-10, 10_000), DEMANDS, WEIGHTS)
def test_every_token_is_given_to_whoever_wants_it_and_no_more(room, demands, weights):
    given = allocate(room, demands, weights)
    assert given.keys() == demands.keys()
    assert all(0 <= given[tier] <= demands[tier] for tier in demands)
    assert sum(given.values()) == min(max(0, room), sum(demands.values()))


@given(st.integers(0, 10_000), DEMANDS, WEIGHTS)
def test_whoever_gets_less_than_they_want_gets_their_share_at_least(room, demands, weights):
    given = allocate(room, demands, weights)
    total = sum(weights[tier] for tier in demands)
    for tier, wanted in demands.items():
        if given[tier] < wanted:
            assert given[tier] >= int(room * weights[tier] / total)
