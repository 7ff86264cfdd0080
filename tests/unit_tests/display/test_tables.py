"""The one model of what is shown: alike in text, in the terminal and as HTML, and never obeyed."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory._tables import Bar, Column, Line, Table, as_html, as_rich, as_text, page, pairs
from langchain_tiered_memory._texts import cells, duration, folded, ranges
from langchain_tiered_memory.display import counted, readable, visible
from support.shown import EVIL, Elements, printed

WIDE = Table([Column("name", wrap=True), Column("n", "right")], [["轮渡", "1"], ["ferry", Line("1,000", "bad")]])
BAR = Bar([("window", "W", "#16a34a", 400), ("turn", "T", "#dc2626", 1)], 1_000)


def test_a_table_is_the_same_in_all_three_forms():
    assert as_text([WIDE]) == "name       n\n轮渡       1\nferry  1,000"
    assert [line.split() for line in printed(as_rich([WIDE])).split("\n") if "─" not in line and line.strip()] == [
        ["name", "n"],
        ["轮渡", "1"],
        ["ferry", "1,000"],
    ]
    assert Elements(as_html([WIDE])).found.count("tr") == 3


def test_several_lines_of_a_cell_stand_below_one_another():
    table = Table([Column(), Column(wrap=True)], [["#1", [Line("one"), Line("two", "quiet")]], ["#2", "three"]])
    assert as_text([table]) == "#1  one\n    two\n#2  three"
    assert [line.rstrip() for line in printed(as_rich([table])).splitlines()] == ["#1  one", "    two", "#2  three"]


def test_a_bar_shows_every_part_and_its_share():
    assert as_text([BAR]).splitlines() == [
        f"[{'W' * 24}T{'.' * 35}]",
        "  W  window  400  99.8 %",
        "  T  turn      1   0.2 %",
    ]
    assert printed(as_rich([BAR])).splitlines()[0] == "█" * 25 + "░" * 35
    assert "width:40.00%" in as_html([BAR])
    full = Bar([(name, name, "red", size) for name, size in (("a", 1), ("b", 1), ("c", 5_000))], 1_000)
    assert as_text([full]).splitlines()[0] == f"[ab{'c' * 58}]"


def test_what_may_not_wrap_stays_on_one_line_and_is_folded_rather_than_cut():
    ident = "0191f6a2-3b4c-7d5e-8f60-718293a4b5c6"
    table = Table([Column("id"), Column("began with", wrap=True)], [[ident, "words " * 20]])
    assert ident in printed(as_rich([table]))
    long = printed(as_rich([Table([Column("id"), Column("x", wrap=True)], [["i" * 200, "y"]])]))
    assert long.count("i") == 200 + 1  # the head's
    assert max(map(len, long.splitlines())) <= 80


@given(st.text(), st.text())
def test_no_text_gives_a_terminal_orders_or_a_page_markup(text, other):
    blocks = [Line(text, "quiet"), Table([Column(other)], [[text], [[Line(other), Line(text, "#16a34a")]]])]
    for shown in (as_text(blocks), printed(as_rich(blocks))):
        assert visible(shown.replace("\n", "")) == shown.replace("\n", "")
    assert set(Elements(as_html(blocks)).found) <= {"div", "table", "thead", "tbody", "tr", "th", "td"}
    Elements(page(text, other, [as_html([pairs([(text, other)])])]))


def test_markup_is_text():
    assert "[bold]$title[/bold]" in printed(as_rich([Line(EVIL)]), width=200)
    written = page(EVIL, EVIL, [as_html([Line(EVIL)])])
    assert "<script" not in written
    assert Elements(written).said.count('<script>alert("x")</script> & [bold]$title[/bold]') == 4


def test_a_page_follows_light_and_dark():
    written = page("title", "subtitle", ["<h2>x</h2>"], style=".x { color: red }")
    assert "color-scheme: light dark" in written
    assert "@media (prefers-color-scheme: dark)" in written
    assert ".x { color: red }" in written


def test_without_rich_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich", None)
    with pytest.raises(ImportError, match=r"replay_renderable needs rich.*\[cli\]"):
        as_rich([WIDE], needed_by="replay_renderable")


@given(st.text())
def test_any_text_is_readable_without_a_control_and_piece_by_piece(text):
    shown = readable(text)
    assert not {chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))} & set(shown)
    assert "".join(map(readable, text)) == shown  # so that pieces of a stream may be shown as they come
    assert "\n" not in visible(text)


@pytest.mark.parametrize("text", ["你好\u3000世界", "👩\u200d🔬", "می\u200cخواهم", "a\u00a0b", "tab\there\nline"])
def test_what_is_harmless_stays_as_it_is(text):
    assert readable(text) == text


@pytest.mark.parametrize(("text", "width"), [("ferry", 5), ("轮渡", 4), ("e\u0301", 1), ("👩", 2), ("", 0)])
def test_a_text_is_as_wide_as_a_terminal_shows_it(text, width):
    assert cells(text) == width


@pytest.mark.parametrize(
    ("positions", "most", "text"),
    [((), 3, ""), ((4,), 3, "4"), ((1, 2, 3, 7), 3, "1-3, 7"), ((1, 3, 5, 7, 8), 3, "1, 3, 5 +2"), ((1, 3), 1, "1 +1")],
)
def test_positions_are_shown_as_ranges(positions, most, text):
    assert ranges(positions, most) == text


def test_numbers_have_the_unit_and_the_form_that_fit():
    assert (duration(0.00012), duration(0.5), duration(12.345)) == ("0.12 ms", "500.00 ms", "12.35 s")
    assert (counted(1, "episode"), counted(1_000, "episode")) == ("1 episode", "1,000 episodes")


def test_long_texts_are_folded_and_say_how_much_is_left():
    assert folded("a\nb\nc\nd", 2) == ["a", "b", "… 2 more lines"]
    assert folded("a\nb", 1) == ["a", "… 1 more line"]
    assert folded("w" * 500, 1, 200) == ["w" * 199 + "…"]
    assert folded("w" * 500, None) == ["w" * 500]
    assert folded("", 3) == [""]
