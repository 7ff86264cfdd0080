"""How a request, a recall and a session look: alike in text, in the terminal and as HTML, and never obeyed."""

from __future__ import annotations

import inspect
import io
import sys
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory.context.remembering import INCOMPLETE
from langchain_tiered_memory.context.report import PARTS, ContextReport, Evicted, Recalled
from langchain_tiered_memory.display import (
    context_html,
    context_renderable,
    context_text,
    readable,
    recall_html,
    recall_renderable,
    recall_text,
    session_html,
    session_renderable,
    session_text,
    show_context,
    show_recall,
    show_session,
)
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry

NOON = datetime(2026, 5, 13, 12, tzinfo=UTC)
EVIL = '\x1b[2J\x9b31m\u202e<script>alert("x")</script> & [bold]$title[/bold]\x07'


def printed(renderable, width=80) -> str:
    from rich.console import Console  # noqa: PLC0415 - of the [cli] extra

    out = io.StringIO()
    Console(file=out, width=width).print(renderable)
    return out.getvalue()


def report(text="maria.city", **tokens) -> ContextReport:
    return ContextReport(
        session_id="s",
        tokens=dict.fromkeys(PARTS, 0) | tokens,
        limit=1_000,
        evicted=(Evicted("facts", text, "no room for older facts"),),
        recalled=(Recalled(text, 0.5, NOON, 30),),
        degraded=(f"episodes: {text}",),
        faults=(text,),
    )


def document(text="The ferry leaves at 9:40.", **about) -> Document:
    parts = {"dense": 0.25, "lexical": 0.5, "neighbour": 0.0, "speaker": 0.0, "thread": 0.0, "recency": 1.0}
    known = {"score": 0.75, "session": "s1", "round": 2, "created_at": NOON.isoformat(), "explain": parts}
    return Document(text, id="e1", metadata=known | about)


def entries(*messages) -> list[LogEntry]:
    return [LogEntry(n, one, NOON + timedelta(minutes=n)) for n, one in enumerate(messages, 1)]


def node(text="They go to Porto.", **more) -> SummaryNode:
    return SummaryNode(**{"level": 1, "spans": ((1, 2),), "text": text, "tokens": 5, "created_at": NOON} | more)


class Checked(HTMLParser):
    """Which elements a fragment has, all of them closed, and its text."""

    def __init__(self, fragment: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: set[str] = set()
        self.said = ""
        self.feed(fragment)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.found.add(tag)
        assert {name for name, _ in attrs} <= {"style", "title", "dir"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.said += data


# --- a request --------------------------------------------------------------------------------------------------------


def test_the_bar_is_as_long_as_the_request_is_full():
    shown = printed(context_renderable(report(system=100, window=400)))
    assert "500 of 1,000 tokens, 50.0 %" in shown
    bar = next(line for line in shown.splitlines() if "█" in line)
    assert (bar.count("█"), bar.count("░")) == (30, 30)
    assert "window  400  80.0 %" in shown
    assert "episodes" not in shown.split("recalled")[0]  # nothing of it is in the request


def test_a_part_of_one_token_is_seen_and_no_bar_is_longer_than_its_room():
    shown = printed(context_renderable(report(tools=1, system=1, facts=1, summary=1, window=5_000, turn=1)))
    bar = next(line for line in shown.splitlines() if "█" in line)
    assert len(bar.rstrip()) == 60


@pytest.mark.parametrize("write", [context_text, lambda one: printed(context_renderable(one)), context_html])
def test_what_is_missing_from_a_request_is_said_everywhere(write):
    said = " ".join(write(report(turn=9)).split())
    for words in ("left out: facts: maria.city (no room for older facts)", "degraded: episodes: maria.city", "1,000"):
        assert words in said
    assert "fault: maria.city" in said.lower()


# --- a recall ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [recall_text, lambda one: printed(recall_renderable(one)), recall_html])
def test_a_recall_shows_what_its_scores_are_made_of(write):
    said = write([document(), document("Maria lives in Turin.", score=0.5)])
    for words in ("meaning", "0.25", "words", "0.50", "0.75", "2026-05-13", "session s1", "Maria lives in Turin."):
        assert words in said
    assert said.index("The ferry") < said.index("Maria")
    assert "speaker" not in said  # says nothing about any of them, so it has no column
    assert "x age" not in said


@pytest.mark.parametrize("write", [recall_text, lambda one: printed(recall_renderable(one)), recall_html])
def test_an_episode_that_is_not_the_last_word_says_so(write):
    about = {"outdated_by": "e2", "superseded_by": "e3", "valid_until": "2026-06-01T10:30:00+00:00"}
    said = " ".join(write([document(**about)]).split())
    for words in ("a newer episode says something else: e2", "superseded by e3", "true until 2026-06-01 10:30"):
        assert words in said
    assert "x age" in write([document(explain={"dense": 0.5, "recency": 0.25})])


def test_a_recall_without_explanations_or_results_is_shown_too():
    bare = Document("Hello", metadata={})
    for write in (recall_text, recall_html, lambda one: printed(recall_renderable(one))):
        assert "Hello" in write([bare])
        assert "nothing was recalled" in write([])


def test_long_episodes_are_folded_and_html_has_them_whole():
    long = document("\n".join(f"line {n}" for n in range(9)))
    assert "… 6 more lines" in recall_text([long])
    assert "line 8" in recall_text([long], lines=None)
    assert "line 8" in recall_html([long])
    assert "line 8" not in printed(recall_renderable([long]))


# --- a session --------------------------------------------------------------------------------------------------------


TRIP = entries(
    SystemMessage("Be brief."),
    HumanMessage("When does the ferry leave?"),
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"what": "轮渡"}, "id": "c1"}]),
    ToolMessage("9:40", tool_call_id="c1"),
    AIMessage("At 9:40."),
    HumanMessage("And back?"),
    AIMessage("At 18", response_metadata={INCOMPLETE: True}),
)


@pytest.mark.parametrize(
    "write",
    [session_text, lambda one, **more: printed(session_renderable(one, **more), width=120), session_html],
)
def test_a_timeline_has_everything_in_its_order_with_calls_summaries_and_what_is_open(write):
    said = write(TRIP, nodes=[node(created_at=NOON + timedelta(minutes=5, seconds=30), handed_on=True)])
    arrow = "-&gt;" if "<ul" in said else "->"
    expected = (
        "Be brief.", "When does the ferry leave?", f"{arrow} look_up(", "轮渡", "9:40", "At 9:40.", "summary",
        "of messages 1-2, level 1, 5 tokens, handed on to the episodes", "They go to Porto.", "And back?",
    )  # fmt: skip
    places = [said.replace("&quot;", '"').find(words) for words in expected]
    assert -1 not in places
    assert places == sorted(places)
    assert "2026-05-13" in said
    assert (said.count("no whole answer"), said.count("broke off")) == (1, 1)
    assert "nothing was said" in write([])


def test_each_day_begins_with_its_date():
    one, two = entries(HumanMessage("Hello"), AIMessage("Hi"))
    later = LogEntry(3, HumanMessage("Again"), NOON + timedelta(days=1))
    for said in (session_text([one, two, later]), printed(session_renderable([one, two, later]))):
        assert (said.count("2026-05-13"), said.count("2026-05-14")) == (1, 1)


# --- nothing of it is obeyed ------------------------------------------------------------------------------------------


def everywhere(text):
    """Every display of a text, for a terminal and as HTML."""
    one = document(text, session=text, valid_until=text, outdated_by=text, superseded_by=text)
    said = [*entries(HumanMessage(text), AIMessage(text, tool_calls=[{"name": text, "args": {text: text}, "id": "1"}]))]
    return (
        [
            context_text(report(text, turn=9)),
            printed(context_renderable(report(text, turn=9), title=text)),
            recall_text([one]),
            printed(recall_renderable([one], title=text)),
            session_text(said, nodes=[node(text)]),
            printed(session_renderable(said, nodes=[node(text)], title=text)),
        ],
        [context_html(report(text, turn=9)), recall_html([one]), session_html(said, nodes=[node(text)])],
    )


def test_controls_reach_no_terminal_markup_is_text_and_html_is_escaped():
    terminal, pages = everywhere(EVIL)
    for shown in terminal:
        assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(shown)
        flat = "".join(shown.split())
        assert "\\x1b[2J\\x9b31m" in flat
    for shown in (recall_text([document(EVIL)]), printed(recall_renderable([document(EVIL)]), width=200)):
        assert "[bold]$title[/bold]" in shown
    for page in pages:
        checked = Checked(page)
        assert "script" not in checked.found
        assert '<script>alert("x")</script>' in checked.said


@given(st.text())
def test_any_text_is_shown_without_a_control(text):
    shown = readable(text)
    assert all(one.isprintable() or one in "\n\t\u200c\u200d" or one.isspace() for one in shown)
    assert not {chr(n) for n in (*range(9), *range(11, 32), *range(127, 160))} & set(shown)
    assert "".join(map(readable, text)) == shown  # so that pieces of a stream may be shown as they come


@pytest.mark.parametrize("text", ["你好\u3000世界", "👩\u200d🔬", "می\u200cخواهم", "a\u00a0b", "tab\there\nline"])
def test_what_is_harmless_stays_as_it_is(text):
    assert readable(text) == text


# --- where the program runs -------------------------------------------------------------------------------------------


SHOWN = [
    (lambda: show_context(report(turn=9)), "tokens"),
    (lambda: show_recall([document()]), "The ferry"),
    (lambda: show_session(TRIP), "And back?"),
]


@pytest.mark.parametrize(("show", "words"), SHOWN)
def test_a_terminal_gets_rich_and_plain_text_where_there_is_none(show, words, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    show()
    in_colour = capsys.readouterr().out
    monkeypatch.setitem(sys.modules, "rich.console", None)
    show()
    plain = capsys.readouterr().out
    assert words in in_colour
    assert words in plain
    assert in_colour != plain


@pytest.mark.parametrize(("show", "words"), SHOWN)
def test_a_notebook_gets_html(show, words, capsys, monkeypatch):
    given = []
    display = SimpleNamespace(display=given.append, HTML=lambda html: html)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell, display=display))
    show()
    assert capsys.readouterr().out == ""
    assert words in Checked(given[0]).said


@pytest.mark.parametrize(
    ("function", "words"), [(show_context, "of 2,000 tokens"), (show_recall, "9:40"), (show_session, "At 9:40.")]
)
def test_the_examples_run(function, words, capsys):
    example = inspect.cleandoc(function.__doc__).partition("```python\n")[2].partition("```")[0]
    exec(compile(example, function.__name__, "exec"), {})  # noqa: S102  # the docstring is what is tested
    assert words in capsys.readouterr().out
