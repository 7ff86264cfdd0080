"""A report: its figures, its check, and what it is written as."""

from __future__ import annotations

import io
import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from langchain_tiered_memory.display import evaluation_renderable, evaluation_text
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.evaluation import EvaluationFailed, MemoryCase, MemoryDataset, MemoryRecord, evaluate
from langchain_tiered_memory.evaluation.outcomes import limits_of
from langchain_tiered_memory.types import MemoryScope

NOW = datetime(2025, 6, 1, tzinfo=UTC)
ADA, BOB = MemoryScope(user="ada"), MemoryScope(user="bob")
HOSTILE = '<script>alert("x")</script>&'


def dataset(text="I live in Rome."):
    told = (
        MemoryRecord(id="a", text=text, at=NOW, scope=ADA),
        MemoryRecord(id="b", text="I live in Oslo.", at=NOW, scope=BOB),
    )
    return MemoryDataset(
        name="homes",
        now=NOW,
        cases=(
            MemoryCase(id="1", question="Where does Ada live?", messages=told, expected=["a"], scope=ADA, category="x"),
            MemoryCase(id="2", question="Where does Bob live?", messages=told, expected=["b"], scope=BOB, category="y"),
        ),
    )


def test_figures_are_means_over_the_cases_and_their_categories():
    report = evaluate(lambda _: ["a"], dataset(), workers=1)
    assert report.score("recall@5") == report.score("recall") == 0.5
    assert report.score("recall", category="x") == 1
    assert report.score("recall", category="y") == 0
    assert report.score("contamination_foreign") == report.score("contamination.foreign") == 0.5
    assert report.score("stale_first") is None
    assert report.said("recall") == 2
    assert report.categories == ("x", "y")


def test_the_check_passes_or_names_the_cases():
    report = evaluate(lambda _: ["a"], dataset(), name="half", workers=1)
    report.check(recall=0.5, contamination=0.5)
    with pytest.raises(EvaluationFailed) as failed:
        report.check({"recall@5": 0.8}, contamination=0.1)
    text = str(failed.value)
    assert "recall@5 of half on homes: at least 0.8 was asked for, it is 0.5000" in text
    assert "contamination of half on homes: at most 0.1 was asked for, it is 0.5000" in text
    assert "2 'Where does Bob live?': expected b; got a, with 1 foreign" in text
    assert "Where does Ada live?" not in text
    assert [[case.case_id for case in one.cases] for one in failed.value.shortfalls] == [["2"], ["2"]]
    assert isinstance(failed.value, AssertionError)
    assert isinstance(failed.value, TieredMemoryError)


def test_a_long_list_of_cases_says_how_many_more():
    made = MemoryDataset.synthetic(20)
    report = evaluate(lambda _: [], made, workers=1)
    with pytest.raises(EvaluationFailed, match=r"and \d+ more, in \.shortfalls"):
        report.check(recall=0.8)


def test_a_figure_that_nothing_is_known_of_misses_its_limit():
    report = evaluate(lambda _: ["a"], dataset(), workers=1)
    with pytest.raises(EvaluationFailed, match="no case says anything about it"):
        report.check(stale_first=0.5)


def test_a_check_of_nothing_is_a_mistake():
    report = evaluate(lambda _: ["a"], dataset(), k=[1, 2], workers=1)
    with pytest.raises(ValueError, match="no limit was given"):
        report.check()
    with pytest.raises(KeyError, match="no metric 'recal' was measured: there are recall@1, recall@2"):
        report.check(recal=0.5)
    with pytest.raises(ValueError, match="limit of recall is 'high'"):
        report.check(recall="high")
    with pytest.raises(KeyError, match="no target 'x'"):
        report.check(recall=0.5, target="x")
    # recall alone is that of the k that was asked for.
    assert report.score("recall") == report.score("recall@2")


def test_limits_are_read_as_the_command_takes_them():
    assert limits_of("recall=0.8, contamination=0.1") == {"recall": 0.8, "contamination": 0.1}
    for text in ("", "recall", "recall=", "recall=high", "=0.8"):
        with pytest.raises(ValueError, match="limit"):
            limits_of(text)


def test_reports_can_be_put_side_by_side():
    one = evaluate(lambda _: ["a"], dataset(), name="one", workers=1)
    two = evaluate(lambda _: ["b"], dataset(), name="two", workers=1)
    both = one.compared_with(two)
    assert [target.name for target in both.targets] == ["one", "two"]
    assert both.score("recall", "two", category="y") == 1
    with pytest.raises(ValueError, match="same name"):
        one.compared_with(one)
    with pytest.raises(ValueError, match="same data set"):
        one.compared_with(evaluate(lambda _: [], dataset("I live in Ghent."), workers=1))
    with pytest.raises(ValueError, match="same data set"):
        one.compared_with(evaluate(lambda _: [], dataset(), k=3, workers=1))


def test_the_dict_is_json_and_holds_every_case():
    report = evaluate({"one": lambda _: ["a"], "two": lambda _: []}, dataset(), workers=1)
    plain = json.loads(json.dumps(report.to_dict()))
    assert plain["dataset"] == {
        "name": "homes", "digest": dataset().digest, "cases": 2, "records": 2, "now": "2025-06-01T00:00:00+00:00"
    }  # fmt: skip
    first, second = plain["targets"]
    assert first["scores"]["recall@5"] == 0.5
    assert first["categories"]["y"]["recall@5"] == 0
    assert first["cases"][1] == {**first["cases"][1], "id": "2", "returned": ["a"], "faults": {"a": "foreign"}}
    assert second["cases_measured"]["recall@5"] == 2
    assert plain["metrics"]["contamination"]["lower_is_better"]
    assert "cases" not in report.to_dict(cases=False)["targets"][0]


class Page(HTMLParser):
    """Which elements a page has, what it says, and whether each that is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, _attrs):
        self.tags.append(tag)
        if tag not in {"meta", "br"}:
            self.open.append(tag)

    def handle_startendtag(self, tag, _attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_the_page_stands_alone_and_escapes_what_it_shows():
    report = evaluate({HOSTILE: lambda _: ["a"], "zwei": lambda _: []}, dataset(HOSTILE), workers=1)
    html = report.to_html(title=HOSTILE)
    page = Page(html)
    assert page.open == []
    assert "script" not in page.tags
    assert "table" in page.tags
    assert HOSTILE in page.text
    assert "<script" not in html
    assert not re.search(r"(?:src|href|url)\s*[=(]|https?://|@import", html)
    assert "(foreign)" in page.text
    assert "50.0 %" in page.text


def test_a_terminal_shows_the_figures():
    rich = pytest.importorskip("rich.console")
    report = evaluate({"[bold]one": lambda _: ["a"], "two": lambda _: []}, dataset(), workers=1)
    text = evaluation_text(report)
    console = rich.Console(width=100, record=True, file=io.StringIO())
    console.print(evaluation_renderable(report))
    for shown in (text, console.export_text()):
        assert "homes" in shown
        assert "2 questions over 2 records, 5 records asked for" in shown
        assert re.search(r"recall@5\s+50\.0 %\s+0\.0 %", shown)
        assert "[bold]one" in shown
        assert "stale_first" not in shown  # nothing is known of it
        assert "contamination.foreign" in shown
        assert "contamination.expired" not in shown  # nobody has any


@pytest.mark.parametrize("limit", [float("nan"), float("inf")])
def test_a_limit_that_nothing_can_meet_is_none(limit):
    report = evaluate(lambda _: ["a"], dataset(), workers=1)
    with pytest.raises(ValueError, match="the limit of recall is"):
        report.check(recall=limit)
    with pytest.raises(ValueError, match="is no limit"):
        limits_of(f"recall={limit}")


def test_a_metric_has_one_limit():
    with pytest.raises(ValueError, match=r"recall has two limits, 0\.8 and 0\.1"):
        limits_of("recall=0.8, recall=0.1")


def test_a_notebook_shows_the_figures_as_a_table():
    def own(**_):
        """Ours <b>."""
        return 2.5

    report = evaluate({HOSTILE: lambda _: ["a"], "none": lambda _: []}, dataset(), ["recall@5", own], workers=1)
    shown = report._repr_html_()
    assert "<script" not in shown
    assert "alert(&quot;x&quot;)" in shown
    assert 'font-weight:700">50.0 %<' in shown
    assert "Ours &lt;b&gt;." in shown


def test_a_name_is_no_command_to_the_terminal():
    console = pytest.importorskip("rich.console")
    report = evaluate({"\x1b[31mred": lambda _: []}, dataset(), workers=1)
    file = io.StringIO()
    console.Console(file=file, width=120).print(evaluation_renderable(report, title="\x1b]0;title\x07"))
    for shown in (file.getvalue(), evaluation_text(report, title="\x1b]0;title\x07")):
        assert "\x1b" not in shown
        assert "\\x1b[31mred" in shown
