"""How a request, a recall, a session and a compaction look: alike in text, in the terminal and as HTML."""

from __future__ import annotations

import inspect
import sys
from datetime import UTC, datetime, timedelta
from html import escape
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tiered_memory import (
    Compaction,
    ContextReport,
    ExtractiveSummarizer,
    MemoryCallbackHandler,
    SummaryMemory,
)
from langchain_tiered_memory import display as d
from langchain_tiered_memory.context.remember import INCOMPLETE
from langchain_tiered_memory.context.report import PARTS, Evicted, Recalled
from langchain_tiered_memory.events import MemoryEvent
from langchain_tiered_memory.working.nodes import SummaryNode
from langchain_tiered_memory.working.records import LogEntry
from support.shown import EVIL, Elements, printed

NOON = datetime(2026, 5, 13, 12, tzinfo=UTC)
HEADLINE = "🧠 context compacted: 6500 -> 2100 tokens (67 % saved), 35 messages"


def report(text="maria.city", said="Human: Maria lives in Turin.", **tokens) -> ContextReport:
    return ContextReport(
        session_id="s",
        tokens=dict.fromkeys(PARTS, 0) | tokens,
        limit=1_000,
        evicted=(Evicted("facts", text, "no room for older facts"), Evicted("episodes", "0ab1", "no room", said)),
        recalled=(Recalled("f00d", 0.5, NOON, 30, said),),
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


def compaction(summary="Goal: Porto.", *, before=6500, after=2100, messages=35, **more) -> Compaction:
    removed = tuple(HumanMessage(f"h{n}") for n in range(messages))
    figures = {"session_id": "s", "first": 1, "last": 35, "tokens_before": before, "tokens_after": after}
    return Compaction(summary=summary, removed=removed, **figures, **more)


TRIP = entries(
    SystemMessage("Be brief."),
    HumanMessage("When does the ferry leave?"),
    AIMessage("", tool_calls=[{"name": "look_up", "args": {"what": "轮渡"}, "id": "c1"}]),
    ToolMessage("9:40", tool_call_id="c1"),
    AIMessage("At 9:40."),
    HumanMessage("And back?"),
    AIMessage("At 18", response_metadata={INCOMPLETE: True}),
)


def forms(name, *given, **more):
    """A thing as text, as a terminal shows it, and as the text of its HTML."""
    return (
        getattr(d, f"{name}_text")(*given, **more),
        printed(getattr(d, f"{name}_renderable")(*given, **more), width=120),
        Elements(getattr(d, f"{name}_html")(*given, **more)).said,
    )


# --- a request --------------------------------------------------------------------------------------------------------


def test_a_request_is_a_bar_as_long_as_it_is_full():
    shown = printed(d.context_renderable(report(system=100, window=400)))
    assert "500 of 1,000 tokens, 50.0 %" in shown
    bar = next(line for line in shown.splitlines() if "█" in line)
    assert (bar.count("█"), bar.count("░")) == (30, 30)
    assert "window  400  80.0 %" in shown
    assert "summary" not in shown  # nothing of it is in the request


def test_a_request_says_what_is_missing_and_quotes_episodes_instead_of_their_ids():
    for said in forms("context", report(turn=9)):
        flat = " ".join(said.split())
        for words in (
            "left out: facts: maria.city (no room for older facts)",
            'left out: episodes: "Human: Maria lives in Turin." (no room)',
            'recalled: "Human: Maria lives in Turin." (score 0.50, 2026-05-13, 30 tokens)',
            "degraded: episodes: maria.city",
            "fault: maria.city",
        ):
            assert words in flat
        assert not {"f00d", "0ab1"} & set(flat.split())
    data = str(report().data())
    assert "Turin" not in data  # it goes to tracing services
    assert "f00d" in data
    assert report().to_text() == d.context_text(report())
    assert report()._repr_html_() == report().to_html() == d.context_html(report())


# --- a recall ---------------------------------------------------------------------------------------------------------


def test_a_recall_shows_what_its_scores_are_made_of():
    for said in forms("recall", [document(), document("Maria lives in Turin.", score=0.5)]):
        for words in ("meaning", "0.25", "words", "0.50", "0.75", "2026-05-13", "session s1, round 2", "Maria lives"):
            assert words in said
        assert said.index("The ferry") < said.index("Maria")
        assert "speaker" not in said  # says nothing about any of them, so it has no column
        assert "x age" not in said


def test_an_episode_that_is_not_the_last_word_says_so():
    about = {"outdated_by": "e2", "superseded_by": "e3", "valid_until": "2026-06-01T10:30:00+00:00"}
    for said in forms("recall", [document(**about, explain={"dense": 0.5, "recency": 0.25})]):
        for words in ("something else: e2", "superseded by e3", "true until 2026-06-01 10:30", "x age"):
            assert words in said


def test_a_recall_without_explanations_or_results_is_shown_too():
    for bare, none in zip(forms("recall", [Document("Hello", metadata={})]), forms("recall", []), strict=True):
        assert "Hello" in bare
        assert "no session" in bare
        assert none.strip() == "nothing was recalled"


def test_long_episodes_are_folded_and_html_has_them_whole():
    text, terminal, html = forms("recall", [document("\n".join(f"line {n}" for n in range(9)))])
    assert "… 6 more lines" in text
    assert "line 8" not in text + terminal
    assert "line 8" in html
    assert "line 8" in d.recall_text([document("\n".join(f"line {n}" for n in range(9)))], lines=None)


# --- a session --------------------------------------------------------------------------------------------------------


def test_a_timeline_has_everything_in_its_order_with_calls_summaries_and_what_is_open():
    late = node(created_at=NOON + timedelta(minutes=5, seconds=30), handed_on=True)
    expected = (
        "2026-05-13", "Be brief.", "When does the ferry leave?", "-> look_up(", "轮渡", "9:40", "At 9:40.", "summary",
        "of messages 1-2, level 1, 5 tokens, handed on to the episodes", "They go to Porto.", "And back?",
    )  # fmt: skip
    for said in (d.session_text(TRIP, nodes=[late]), printed(d.session_renderable(TRIP, nodes=[late]), width=120)):
        places = [said.find(words) for words in expected]
        assert -1 not in places
        assert places == sorted(places)
    for said in forms("session", TRIP, nodes=[late]):
        assert all(words in said for words in expected)
        assert (said.count("[no whole answer]"), said.count("[broke off]")) == (1, 1)
    assert all(said.strip() == "nothing was said" for said in forms("session", []))


def test_each_day_begins_with_its_date():
    later = LogEntry(3, HumanMessage("Again"), NOON + timedelta(days=1))
    for said in forms("session", [*entries(HumanMessage("Hello"), AIMessage("Hi")), later]):
        assert (said.count("2026-05-13"), said.count("2026-05-14")) == (1, 1)


# --- a compaction -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "messages", "words"),
    [
        (6500, 2100, 35, "6500 -> 2100 tokens (67 % saved), 35 messages"),
        (1000, 1, 1, "1000 -> 1 tokens (99 % saved), 1 message"),
        (100, 100, 2, "100 -> 100 tokens (0 % saved), 2 messages"),
        (200, 201, 2, "200 -> 201 tokens (1 % more), 2 messages"),
        (0, 9, 2, "0 -> 9 tokens, 2 messages"),
    ],
)
def test_the_headline_is_the_same_everywhere_and_never_claims_more_than_was_saved(before, after, messages, words):
    one = compaction(before=before, after=after, messages=messages)
    assert one.describe() == f"session 's': context compacted: {words}"
    for said in forms("compaction", one):
        assert f"🧠 context compacted: {words}" in said


def test_the_figures_of_a_compaction_are_told():
    figures = {"levels": (2, 1), "constraints": 1, "seconds": 1.26, "summarizer_tokens": 4100, "summary_tokens": 310}
    told = (
        "summary of L2 L1 · 1 constraint quoted word for word · 2 summarizer calls: 4100 tokens read, 310 written · "
        "written by the fallback · 1.3 s"
    )
    assert d.compaction_text(compaction(**figures, calls=2, fallback=True)).splitlines()[1] == f"│ {told}"
    assert "no model called: 4100 tokens read" in d.compaction_text(compaction(**figures))
    assert d.compaction_text(compaction(seconds=0.0042)).splitlines()[1] == "│ 4.2 ms"


@pytest.mark.parametrize(
    ("summarizer", "calls"), [(None, 0), (ExtractiveSummarizer(), 0), (lambda *_: "Maria, Turin.", 1)]
)
def test_a_summary_without_a_model_claims_no_call(summarizer, calls):
    seen = MemoryCallbackHandler()
    memory = SummaryMemory(summarizer, trigger=("messages", 3), keep=("rounds", 1), hooks=[seen])
    said = "Maria lives in Turin, and the ferry to Genoa leaves at 9:40 in the morning. " * 9
    memory.invoke([HumanMessage(said), AIMessage("Noted."), HumanMessage("Go on.")])
    [event] = [one for one in seen.events if isinstance(one, Compaction)]
    assert event.calls == calls
    assert ("no model called" in event.figures) == (calls == 0)


def test_the_html_of_a_compaction_is_one_element_with_the_summary_folded():
    elements = Elements(d.compaction_html(compaction(EVIL)))
    assert elements.found == ["div", "details", "summary", "div", "pre"]
    assert elements.text["pre"] == EVIL
    assert compaction(EVIL)._repr_html_() == d.compaction_html(compaction(EVIL))


@given(st.text())
def test_any_summary_stands_in_html_as_it_is(summary):
    inner = d.compaction_html(compaction(summary)).partition('<pre dir="auto"')[2].partition(">")[2]
    assert inner == escape(summary) + "</pre></details></div>"


def test_a_long_summary_is_folded_and_the_bubble_fits_eighty_columns():
    one = compaction("\n".join(["w" * 500, *(f"line {n}" for n in range(2, 10))]))
    folded = printed(d.compaction_renderable(one, title="[bold]call 3"))
    assert max(map(len, folded.splitlines())) <= 80
    for shown in (d.compaction_text(one), folded):
        assert "line 6" in shown
        assert "line 7" not in shown
        assert "… 3 more lines" in shown
    assert "[bold]call 3" in folded
    for shown in (d.compaction_text(one, lines=None), printed(d.compaction_renderable(one, lines=None))):
        assert "line 9" in shown
        assert shown.count("w") >= 500
    coloured = printed(d.compaction_renderable(one), force_terminal=True, color_system="truecolor")
    assert "\x1b[38;2;139;92;246m" in coloured


# --- nothing of it is obeyed ------------------------------------------------------------------------------------------


def test_controls_reach_no_terminal_and_markup_is_text():
    one = document(EVIL, session=EVIL, valid_until=EVIL, outdated_by=EVIL, superseded_by=EVIL)
    calls = [{"name": EVIL, "args": {EVIL: EVIL}, "id": "1"}]
    said = entries(HumanMessage(EVIL), AIMessage(EVIL, tool_calls=calls))
    shown = [
        forms("context", report(EVIL, EVIL, turn=9)),
        forms("recall", [one]),
        forms("session", said, nodes=[node(EVIL)]),
        forms("compaction", compaction(EVIL)),
    ]
    for text, terminal, html in shown:
        for plain in (text, terminal):
            assert not {"\x1b", "\x9b", "\x07", "\u202e"} & set(plain)
            assert "\\x1b[2J\\x9b31m" in "".join(plain.split())
        assert '<script>alert("x")</script>' in html
    titled = printed(d.context_renderable(report(), title=EVIL)) + printed(d.recall_renderable([one], title=EVIL))
    assert "\x1b" not in titled


# --- where the program runs -------------------------------------------------------------------------------------------


SHOWN = [
    (lambda: d.show_context(report(turn=9)), "tokens"),
    (lambda: d.show_recall([document()]), "The ferry"),
    (lambda: d.show_session(TRIP), "And back?"),
    (lambda: d.show_compaction(compaction()), HEADLINE),
]


@pytest.mark.parametrize(("show", "words"), SHOWN)
def test_a_terminal_gets_rich_and_plain_text_where_there_is_none(show, words, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=SimpleNamespace))  # a shell, no kernel
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
    assert words in Elements(given[0]).said


def test_show_compaction_leaves_other_events_alone(capsys):
    seen = MemoryCallbackHandler(d.show_compaction)
    seen(MemoryEvent(session_id="s"))
    assert capsys.readouterr().out == ""
    assert len(seen.events) == 1


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (d.show_context, "of 2,000 tokens"),
        (d.show_recall, "9:40"),
        (d.show_session, "At 9:40."),
        (d.show_compaction, "context compacted"),
    ],
)
def test_the_examples_run(function, words, capsys):
    example = inspect.cleandoc(function.__doc__).partition("```python\n")[2].partition("```")[0]
    exec(compile(example, function.__name__, "exec"), {})  # noqa: S102  # the docstring is what is tested
    assert words in capsys.readouterr().out
