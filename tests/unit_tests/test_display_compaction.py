"""How a compaction looks: a violet bubble with the summary folded in it, alike in text, in the terminal and as HTML."""

from __future__ import annotations

import inspect
import io
import sys
from html import escape
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage

from langchain_tiered_memory import Compaction, MemoryCallbackHandler
from langchain_tiered_memory.display import (
    compaction_html,
    compaction_renderable,
    compaction_text,
    show_compaction,
)
from langchain_tiered_memory.events import MemoryEvent

EVIL = '<script>alert("x")</script> & [bold]$title</pre></details>'
HEADLINE = "🧠 context compacted: 6500 -> 2100 tokens (67 % saved), 35 messages"


def compaction(summary: str = "Goal: Porto.", *, before: int = 6500, after: int = 2100, messages: int = 35, **more):
    removed = tuple(HumanMessage(f"h{n}") for n in range(messages))
    return Compaction(
        session_id="s",
        summary=summary,
        removed=removed,
        first=1,
        last=35,
        tokens_before=before,
        tokens_after=after,
        **more,
    )


def printed(one: Compaction, **settings) -> str:
    from rich.console import Console  # noqa: PLC0415 - of the [cli] extra

    out = io.StringIO()
    Console(file=out, width=80, **settings.pop("console", {})).print(compaction_renderable(one, **settings))
    return out.getvalue()


class Elements(HTMLParser):
    """The elements of a fragment, all of which are closed, and the text of each kind."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[str] = []
        self.attributes: set[str] = set()
        self.text: dict[str, str] = {}
        self.feed(fragment)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.open.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text[self.open[-1]] = self.text.get(self.open[-1], "") + data


def test_the_headline_is_the_same_everywhere():
    one = compaction()
    assert compaction_text(one).splitlines()[0] == HEADLINE
    assert HEADLINE in printed(one)
    assert Elements(compaction_html(one)).text["summary"] == HEADLINE


@pytest.mark.parametrize(
    ("before", "after", "messages", "words"),
    [
        (1000, 1, 1, "1000 -> 1 tokens (99 % saved), 1 message"),
        (100, 100, 2, "100 -> 100 tokens (0 % saved), 2 messages"),
        (200, 201, 2, "200 -> 201 tokens (1 % more), 2 messages"),
        (0, 9, 2, "0 -> 9 tokens, 2 messages"),
    ],
)
def test_the_headline_never_claims_more_than_was_saved(before, after, messages, words):
    text = compaction_text(compaction(before=before, after=after, messages=messages))
    assert text.splitlines()[0] == f"🧠 context compacted: {words}"


def test_the_figures_of_a_compaction_are_told():
    one = compaction(
        levels=(2, 1), constraints=1, seconds=1.26, calls=2, summarizer_tokens=4100, summary_tokens=310, fallback=True
    )
    told = (
        "summary of L2 L1 · 1 constraint quoted word for word · 2 summarizer calls: 4100 tokens read, 310 written · "
        "written by the fallback · 1.3 s"
    )
    assert compaction_text(one).splitlines()[1] == f"│ {told}"
    assert told in compaction_html(one)
    assert compaction_text(compaction(seconds=0.0042)).splitlines()[1] == "│ 4.2 ms"


def test_html_is_one_element_folded_escaped_and_self_contained():
    fragment = compaction_html(compaction(EVIL))
    elements = Elements(fragment)
    assert elements.found == ["div", "details", "summary", "div", "pre"]
    assert elements.attributes == {"style", "dir"}  # no open: the summary is folded
    assert elements.text["pre"] == EVIL
    assert "<script" not in fragment
    assert "url(" not in fragment


def test_a_notebook_shows_the_event_itself():
    one = compaction(EVIL)
    assert one._repr_html_() == compaction_html(one)


@given(st.text())
def test_any_summary_stands_in_html_as_it_is_and_never_as_markup(summary):
    inner = compaction_html(compaction(summary)).partition('<pre dir="auto"')[2].partition(">")[2]
    inner, _, rest = inner.rpartition("</pre>")
    assert inner == escape(summary)
    assert not {"<", ">", '"', "'"} & set(inner)
    assert rest == "</details></div>"


@given(st.text())
def test_no_summary_gives_a_terminal_orders(summary):
    for shown in (compaction_text(compaction(summary), lines=None), printed(compaction(summary), lines=None)):
        assert all(char.isprintable() or char == "\n" for char in shown)


def test_a_long_summary_is_folded_in_a_terminal_and_says_how_much_is_left():
    one = compaction("\n".join(["w" * 500, *(f"line {n}" for n in range(2, 10))]))
    for shown in (compaction_text(one), printed(one)):
        assert "line 6" in shown
        assert "line 7" not in shown
        assert "… 3 more lines" in shown
        assert shown.count("w") < 250
    for shown in (compaction_text(one, lines=None), printed(one, lines=None)):
        assert "line 9" in shown
        assert "more line" not in shown
        assert shown.count("w") >= 500
    assert compaction_text(one, lines=8).endswith("│ … 1 more line")


def test_the_bubble_is_violet_fits_eighty_columns_and_obeys_no_markup():
    one = compaction("[red]not red[/red]\x1b[2J\n偏好：先报价。")
    shown = printed(one, title="[bold]call 3", console={"force_terminal": True, "color_system": "truecolor"})
    assert "\x1b[38;2;139;92;246m" in shown
    plain = printed(one, title="[bold]call 3")
    assert "[red]not red[/red]\\x1b[2J" in plain
    assert "[bold]call 3" in plain
    assert "偏好：先报价。" in plain
    assert max(map(len, plain.splitlines())) <= 80


def test_show_compaction_shows_compactions_and_nothing_else(capsys):
    seen = MemoryCallbackHandler(show_compaction)
    seen(compaction())
    assert HEADLINE in capsys.readouterr().out
    seen(MemoryEvent(session_id="s"))
    assert capsys.readouterr().out == ""
    assert len(seen.events) == 2


def test_show_compaction_does_without_rich(capsys, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "rich", None)
    one = compaction()
    show_compaction(one)
    assert capsys.readouterr().out == compaction_text(one) + "\n"
    with pytest.raises(ImportError, match=r"pip install 'langchain-tiered-memory\[cli\]'"):
        compaction_renderable(one)


@pytest.mark.parametrize(("shell", "in_notebook"), [(SimpleNamespace(kernel=1), True), (SimpleNamespace(), False)])
def test_show_compaction_leaves_the_display_to_a_notebook(shell, in_notebook, capsys, monkeypatch):
    displayed = []
    ipython = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=displayed.append))
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    one = compaction()
    show_compaction(one)
    assert displayed == ([one] if in_notebook else [])
    assert (HEADLINE in capsys.readouterr().out) == (not in_notebook)


def test_the_example_of_show_compaction_runs(capsys):
    example = inspect.cleandoc(show_compaction.__doc__).partition("```python\n")[2].partition("```")[0]
    exec(compile(example, "show_compaction", "exec"), {})  # noqa: S102  # the docstring is what is tested
    assert "context compacted" in capsys.readouterr().out
