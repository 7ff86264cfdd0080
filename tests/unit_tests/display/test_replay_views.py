"""How a replay looks: the same figures in text, in the terminal and on a page that loads nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, ToolMessage

from langchain_tiered_memory.display import replay_page, replay_renderable, replay_text
from langchain_tiered_memory.display.chart import nice_ticks
from langchain_tiered_memory.evaluation import ReplayReport, replay
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from support.histories import talk
from support.shown import EVIL, Elements, printed


@pytest.fixture(scope="module")
def report() -> ReplayReport:
    script = "S " + " ".join(f"H{n} A*(a{n},b{n}) T(a{n}) T(b{n}) A{n}" for n in range(30))
    return replay(talk(script), max_tokens=200, token_counter=EstimatingCounter())


@pytest.fixture(scope="module")
def bad_report() -> ReplayReport:
    """Over its budget, and with an orphan result whose call id is markup."""
    orphan = ToolMessage("x", tool_call_id=EVIL)
    return replay(talk("H A H2 A2"), max_tokens=2, token_counter=len, trimmer=lambda m: [*m, orphan, HumanMessage("x")])


def test_text_terminal_and_page_show_the_figures_of_the_report(report):
    page = Elements(replay_page(report, title="[bold]talk")).said
    for shown in (
        replay_text(report, title="[bold]talk"),
        printed(replay_renderable(report, title="[bold]talk")),
        page,
    ):
        assert "[bold]talk" in shown
        for figure in (f"{report.full_tokens:,}", f"{report.sent_tokens:,}", f"{100 * report.saved_share:.1f} %"):
            assert figure in shown
        assert "none in what was sent" in shown
        assert "met at every one" in shown


def test_the_terminal_fits_eighty_columns(report, bad_report):
    for one in (report, bad_report):
        assert max(len(line) for line in printed(replay_renderable(one, title="x" * 200)).splitlines()) <= 80


def test_faults_and_budgets_that_were_missed_are_shown(bad_report):
    shown = [replay_text(bad_report), printed(replay_renderable(bad_report)), replay_page(bad_report)]
    for words in ("2 in what was sent", "exceeded at 2", "orphan_result"):
        assert all(words in " ".join(one.split()) for one in shown)


def test_the_page_has_a_row_and_a_tip_for_each_call(report):
    page = replay_page(report, title="talk")
    elements = Elements(page)
    assert elements.found.count("svg") == 2
    assert page.count('<rect class="hover"') == 2 * len(report.calls)
    assert elements.text["title"].count("left the window: messages") > 2
    assert f"call {len(report.calls)}, round 30" in elements.text["title"]
    assert "http" not in page


def test_every_text_on_the_page_is_escaped(bad_report):
    page = replay_page(bad_report, title=EVIL)
    assert '<script>alert("x")</script> & [bold]$title' in Elements(page).said
    assert "<script" not in page


def test_one_call_is_enough_for_a_page():
    Elements(replay_page(replay(talk("H A"), max_tokens=99, token_counter=len)))


@given(st.floats(0.01, 1e9))
def test_ticks_are_round_start_at_nothing_and_reach_the_top(most):
    ticks = nice_ticks(most)
    steps = {after - before for before, after in pairwise(ticks)}
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert len(steps) == 1
    assert len(ticks) <= 7
