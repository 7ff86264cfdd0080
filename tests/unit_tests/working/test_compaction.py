"""What leaves, into which node, and which nodes are live: pure functions, without a memory around them."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.errors import MemoryStoreError
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.messages.units import split_units
from langchain_tiered_memory.working.compaction.plan import NodeCaps, plan_eviction, plan_handoff, plan_merge
from langchain_tiered_memory.working.compaction.sizes import Sizes, limits_of
from langchain_tiered_memory.working.nodes import (
    SummaryNode,
    decode_node,
    encode_node,
    live_nodes,
    merge_spans,
    spans_of,
)
from support.histories import examples, histories, talk

NOW = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


def node(first, last, level=1, tokens=10, **rest):
    return SummaryNode(level, ((first, last),), f"{first} to {last}", tokens, NOW, **rest)


def plan(script, *, trigger=("messages", 4), keep=("rounds", 1), costs=None, base=0, pinned=None, **limits):
    messages = talk(script)
    settings = {"low_water": 0.5, "max_tokens": None} | limits
    found = plan_eviction(
        messages,
        costs or [1] * len(messages),
        limits_of(trigger, keep, **settings),
        base=base,
        pinned=pinned,
    )
    if found is None:
        return None
    words = script.split()
    assert sorted((*found.leaving, *found.kept)) == list(range(len(words)))
    return " ".join(words[position] for position in found.leaving)


@pytest.mark.parametrize(
    ("script", "leaving"),
    [
        ("H A H A", "H A"),
        ("H A H", "H A"),
        ("H A", None),
        ("H", None),
        ("A H A H", "A H A"),
        ("H A*(a) Ta A H", "H A*(a) Ta A"),
        ("H A*(a,b) Ta H2 Tb A", None),  # a late result ties the units together
        ("H A H A*(a)", None),  # waits
        ("H A H A*(a,b) Ta", None),
        ("H A H A*(a) Ta", "H A"),
    ],
)
def test_what_leaves_begins_at_the_start_and_ends_before_a_user_turn(script, leaving):
    assert plan(script) == leaving


def test_in_a_long_round_its_question_stays_and_its_older_steps_leave():
    script = "H A*(a) Ta A*(b) Tb A*(c) Tc"
    assert plan(script, keep=("messages", 2)) == "A*(a) Ta A*(b) Tb"
    assert plan(script, keep=("messages", 0)) == "A*(a) Ta A*(b) Tb"
    assert plan(script, keep=("messages", 3)) == "A*(a) Ta"


def test_a_round_under_way_is_taken_apart_only_when_it_must_be():
    script = "H A H2 A*(a) Ta A*(b) Tb"
    assert plan(script, trigger=("tokens", 100), costs=[20] * 2 + [10] * 5, base=20) == "H A"
    assert plan(script, trigger=("tokens", 100), costs=[20] * 2 + [16] * 5, base=20) == "H A A*(a) Ta"


def test_pinned_messages_stay_with_their_unit_and_its_question():
    assert plan("H A*(a) Ta A H A H", pinned=lambda message: message.id == "m2") == "A H A"


def test_nothing_leaves_where_it_would_not_help():
    """A prompt of 95 of 100 tokens: no compaction brings the view below its trigger."""
    arguments = {"trigger": ("tokens", 100), "base": 95, "costs": [3] * 4}
    assert plan("H A H A", **arguments) is None
    assert plan("H A H A", **arguments | {"costs": [15, 15, 3, 3]}) == "H A"


@given(histories(), st.integers(0, 8), st.sampled_from(["messages", "rounds", "tokens"]), st.integers(0, 60))
@examples(300)
def test_no_unit_is_split_and_the_newest_question_and_unit_stay(history, amount, unit, base):
    messages = history.messages
    limits = limits_of([("messages", 100), ("tokens", 100)], (unit, amount), 0.5, None)
    found = plan_eviction(messages, [5] * len(messages), limits, base=base)
    units = split_units(messages)
    if any(one.live for one in units):
        assert found is None
    if found is None:
        return
    leaving = set(found.leaving)
    assert leaving
    assert not leaving & set(found.kept)
    for one in units:
        positions = {one.head, *one.positions}
        assert positions <= leaving or not positions & leaving
    turns = [position for position, message in enumerate(messages) if is_user_turn(message)]
    assert not turns or turns[-1] in found.kept
    newest = [one for one in units if one.kind != "system"][-1]
    assert newest.head in found.kept


# --- sizes ------------------------------------------------------------------------------------------------------------


def test_going_over_the_budget_always_counts():
    limits = limits_of(("rounds", 50), ("rounds", 3), 0.5, 100)
    assert not limits.due(Sizes(100, 10, 5))
    assert limits.due(Sizes(101, 10, 5))


@pytest.mark.parametrize(
    ("trigger", "keep", "budget", "high", "low"),
    [
        (("fraction", 0.8), ("rounds", 3), 1_000, 800, 500),
        (("fraction", 1.0), ("rounds", 3), 1_000, 1_000, 500),
        (("fraction", 0.3), ("rounds", 3), 1_000, 300, 150),
        (("tokens", 400), ("rounds", 3), None, 400, 200),
        (("tokens", 400), ("tokens", 300), None, 400, 300),
        ([("tokens", 400), ("tokens", 300)], ("rounds", 3), 1_000, 300, 150),
        ({"tokens": 400, "messages": 20}, ("rounds", 3), None, None, None),
        (("messages", 20), ("rounds", 3), None, None, None),
        (("messages", 20), ("rounds", 3), 600, 600, 300),
    ],
)
def test_high_and_low_water(trigger, keep, budget, high, low):
    limits = limits_of(trigger, keep, 0.5, budget)
    assert (limits.high, limits.low) == (high, low)


# --- the tree ---------------------------------------------------------------------------------------------------------

SHARES = NodeCaps(summary=1_000, constraints=100, levels=(0.4, 0.35, 0.25), fan_out=3)


@pytest.mark.parametrize(
    ("live", "level", "folded"),
    [
        ([], 1, []),
        ([node(1, 2)], 1, []),
        ([node(1, 2), node(3, 4)], 2, [node(1, 2), node(3, 4)]),
        ([node(1, 2, 2), node(3, 4)], 1, []),
        ([node(1, 2, 2), node(3, 4, 2), node(5, 6), node(7, 8)], 3, "all"),
        ([node(1, 2, 3), node(3, 4, 2), node(5, 6, 2), node(7, 8), node(9, 10)], 3, "but the first"),
        ([node(1, 2, 3), node(3, 4, 3)], 1, []),
        ([node(1, 2, tokens=450), node(3, 4, tokens=450)], 2, "all"),
        ([node(1, 2, tokens=950)], 2, "all"),  # crowded
    ],
)
def test_the_next_node_is_of_the_level_that_is_due(live, level, folded):
    merge = plan_merge(live, SHARES)
    expected = {"all": live, "but the first": live[1:]}.get(folded, folded) if isinstance(folded, str) else folded
    assert (merge.level, list(merge.nodes)) == (level, expected)
    assert merge.cap == SHARES.cap(level)


def test_where_there_is_no_room_for_two_there_is_one_that_rolls():
    tiny = NodeCaps(summary=64, constraints=8, levels=(0.4, 0.35, 0.25), fan_out=4)
    live = []
    for number in range(20):
        merge = plan_merge(live, tiny)
        live = [one for one in live if one not in merge.nodes]
        live.append(node(number, number, merge.level, merge.cap))
        assert sum(one.tokens for one in live) <= tiny.summary
        assert plan_handoff(live, tiny) == []


@given(st.integers(32, 4_000), st.integers(2, 6), st.lists(st.floats(0.1, 1), min_size=1, max_size=120))
@examples(150)
def test_nodes_never_take_more_than_their_share_and_cover_everything_in_order(summary, fan_out, fills):
    caps = NodeCaps(summary, 0, (0.4, 0.35, 0.25), fan_out)
    live, handed = [], []
    for number, fill in enumerate(fills, start=1):
        merge = plan_merge(live, caps)
        spans = merge_spans([(number, number), *(span for one in merge.nodes for span in one.spans)])
        assert len(spans) == 1, "what is folded is what came last"
        new = SummaryNode(merge.level, spans, "", max(1, int(fill * merge.cap)), NOW)
        live = [*(one for one in live if one not in merge.nodes), new]
        old = plan_handoff(live, caps)
        assert old == live[: len(old)]
        handed += old
        live = live[len(old) :]
        assert sum(one.tokens for one in live) <= caps.summary
        assert live_nodes([*live[::-1]]) == live
        assert merge_spans(span for one in (*handed, *live) for span in one.spans) == ((1, number),)
        assert [one.level for one in live] == sorted((one.level for one in live), reverse=True)


# --- nodes ------------------------------------------------------------------------------------------------------------


def test_a_node_replaces_those_whose_messages_it_covers():
    first, second, third = node(1, 4), node(5, 8), node(9, 12)
    both = SummaryNode(2, ((1, 8),), "both", 5, NOW)
    assert live_nodes([first, second, third]) == [first, second, third]
    assert live_nodes([first, second, third, both]) == [both, third]
    assert live_nodes([both, third, both.handed()]) == [third]
    assert live_nodes([both.handed(), third]) == [third]
    assert live_nodes([first, SummaryNode(3, (), "quoted", 1, NOW)]) == [first]


def test_a_node_with_a_gap_replaces_nothing_in_it():
    held = node(3, 3)
    around = SummaryNode(1, ((1, 2), (4, 6)), "around", 5, NOW)
    assert live_nodes([held, around]) == [around, held]
    assert [around.covers(number) for number in range(1, 8)] == [True, True, False, True, True, True, False]


@given(st.sets(st.integers(1, 60)))
def test_spans_hold_the_numbers_that_they_were_made_of(numbers):
    spans = spans_of(numbers)
    assert {number for first, last in spans for number in range(first, last + 1)} == numbers
    assert all(later[0] > earlier[1] + 1 for earlier, later in itertools.pairwise(spans))


@pytest.mark.parametrize("text", ["{}", "[]", "no json", '{"level": 1}', "null"])
def test_what_is_no_node_is_named(text):
    with pytest.raises(MemoryStoreError, match="summary 7 of session 's' cannot be read"):
        decode_node("s", 7, text)


def test_a_node_whose_text_was_changed_is_not_believed():
    stored = encode_node(node(1, 2)).replace("1 to 2", "1 to 9")
    with pytest.raises(MemoryStoreError, match="does not match its hash"):
        decode_node("s", 1, stored)
