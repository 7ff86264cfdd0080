"""How a replay looks: the same figures in text, in the terminal and on a page that loads nothing."""

from __future__ import annotations

import io
import sys
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, ToolMessage

from langchain_tiered_memory.display import replay_page, replay_renderable, replay_text
from langchain_tiered_memory.display._figures import duration, percent, ranges
from langchain_tiered_memory.display.chart import nice_ticks
from langchain_tiered_memory.evaluation import ReplayReport, replay
from langchain_tiered_memory.messages.tokens import EstimatingCounter
from support.histories import talk

EVIL = '<script>alert("x")</script> & [bold]$title'


@pytest.fixture(scope="module")
def report() -> ReplayReport:
    script = "S " + " ".join(f"H{n} A*(a{n},b{n}) T(a{n}) T(b{n}) A{n}" for n in range(30))
    return replay(talk(script), max_tokens=200, token_counter=EstimatingCounter())


@pytest.fixture(scope="module")
def bad_report() -> ReplayReport:
    """Over its budget, and with an orphan result whose call id is markup."""
    orphan = ToolMessage("x", tool_call_id=EVIL)
    return replay(talk("H A H2 A2"), max_tokens=2, token_counter=len, trimmer=lambda m: [*m, orphan, HumanMessage("x")])


class Tags(HTMLParser):
    """Collects the elements of a page, and checks that all of them are closed."""

    VOID = frozenset({"meta", "line", "polyline", "polygon"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def rendered(report: ReplayReport, **settings) -> str:
    from rich.console import Console  # noqa: PLC0415 - of the [cli] extra

    out = io.StringIO()
    Console(file=out, width=80, **settings).print(replay_renderable(report, title=EVIL))
    return out.getvalue()


def test_text_and_terminal_show_the_figures_of_the_report(report):
    for shown in (replay_text(report, title=EVIL), rendered(report)):
        assert EVIL in shown
        for figure in (f"{report.full_tokens:,}", f"{report.sent_tokens:,}", percent(report.saved_share)):
            assert figure in shown
        assert "none in what was sent" in shown
        assert "met at every one" in shown


def test_the_terminal_fits_eighty_columns(report, bad_report):
    for one in (report, bad_report):
        assert max(len(line) for line in rendered(one).splitlines()) <= 80


def test_faults_and_budgets_that_were_missed_are_shown(bad_report):
    for shown in (replay_text(bad_report), rendered(bad_report), replay_page(bad_report)):
        words = " ".join(shown.split())
        assert "2 in what was sent" in words
        assert "exceeded at 2" in words
        assert "orphan_result" in words


def test_the_page_has_a_row_and_a_tip_for_each_call_and_loads_nothing(report):
    page = replay_page(report, title="talk")
    tags = Tags(page)
    assert tags.found.count("svg") == 2
    assert page.count('<rect class="hover"') == 2 * len(report.calls)
    assert tags.found.count("tr") == 2 + 3 + len(report.calls)
    assert not {"script", "link", "img", "iframe", "object"} & set(tags.found)
    assert not [name for name, _ in tags.attributes if name in {"src", "href", "onload", "onclick"}]
    assert "url(" not in page
    assert "@import" not in page
    assert "http" not in page


def test_every_text_on_the_page_is_escaped(bad_report):
    page = replay_page(bad_report, title=EVIL)
    Tags(page)
    assert "<script>" not in page
    assert "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; [bold]$title" in page


def test_the_page_follows_light_and_dark(report):
    page = replay_page(report)
    assert "color-scheme: light dark" in page
    assert "@media (prefers-color-scheme: dark)" in page


def test_one_call_is_enough_for_a_page():
    Tags(replay_page(replay(talk("H A"), max_tokens=99, token_counter=len)))


def test_without_rich_there_is_plain_text_and_an_error_that_names_the_extra(report, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    assert "full history" in replay_text(report)
    with pytest.raises(ImportError, match=r"pip install 'langchain-tiered-memory\[cli\]'"):
        replay_renderable(report)


@given(st.floats(0.01, 1e9))
def test_ticks_are_round_start_at_nothing_and_reach_the_top(most):
    ticks = nice_ticks(most)
    steps = {after - before for before, after in pairwise(ticks)}
    assert ticks[0] == 0
    assert ticks[-1] >= most
    assert len(steps) == 1
    assert len(ticks) <= 7


@pytest.mark.parametrize(
    ("positions", "most", "text"),
    [((), 3, ""), ((4,), 3, "4"), ((1, 2, 3, 7), 3, "1-3, 7"), ((1, 3, 5, 7, 8), 3, "1, 3, 5 +2"), ((1, 3), 1, "1 +1")],
)
def test_positions_are_shown_as_ranges(positions, most, text):
    assert ranges(positions, most) == text


def test_times_have_the_unit_that_fits():
    assert (duration(0.00012), duration(0.5), duration(12.345)) == ("0.12 ms", "500.00 ms", "12.35 s")
