"""What the open question asks for stays at hand, whichever summarizer runs and wherever the result stood."""

from __future__ import annotations

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from langchain_tiered_memory import EstimatingCounter
from langchain_tiered_memory.messages.repair import validate_messages
from langchain_tiered_memory.working.question import OpenQuestion
from support.summaries import Scripted, memory_with

LOOKS = 60
COUNTER = EstimatingCounter()

REPORT = """\
Report {n}: the inspector walked the hall and found the floor clean. Pressure stayed in its range, valve {n} closed.
Nothing had to be replaced, and the next visit was set for week {week}.
The shift leader of hall {n} signed the form and sent a copy to the office."""
CHINESE_REPORT = """\
第{n}号报告：巡检员走遍了车间，地面整洁。压力一直在正常范围内，{n}号阀门可以立即关闭。
没有需要更换的零件，下次检查定在第{week}周。
{n}号车间的值班长已在表格上签字，并抄送办公室。"""
QUESTION = """\
Go through all sixty inspection reports, one after the other. When you have seen every one of them, tell me the release
code of the Halberd pump."""
ENGLISH = (QUESTION, REPORT, "The Halberd pump was opened; its release code is QX-7719-B.", "QX-7719-B")
CHINESE = (
    "请逐份查看六十份巡检报告。全部看完之后，告诉我海鸥水泵的解锁码是多少。",
    CHINESE_REPORT,
    "海鸥水泵已拆检，解锁码是 QX-7719-B。",
    "QX-7719-B",
)


def plain(filler, needle):
    first, *rest = filler.splitlines()
    return "\n".join([first, *([needle] if needle else []), *rest])


def one_line(filler, needle):
    return plain(filler, needle).replace("\n", " ")


def as_json(filler, needle):
    notes = [{"line": place, "note": line} for place, line in enumerate(plain(filler, needle).splitlines())]
    return json.dumps({"status": "ok", "notes": notes}, ensure_ascii=False)


def agent_loop(language, place, form):
    question, filler, needle, _ = language
    yield HumanMessage("Hello!", id="h")
    yield AIMessage("Hello, what can I do?", id="hi")
    yield HumanMessage(question, id="q")
    for n in range(LOOKS):
        yield AIMessage("", id=f"a{n}", tool_calls=[{"name": "report", "args": {"number": n}, "id": f"c{n}"}])
        text = form(filler.format(n=n, week=n % 50 + 1), needle if n == place else None)
        yield ToolMessage(text, tool_call_id=f"c{n}", id=f"t{n}")


@pytest.mark.parametrize("max_tokens", [2_000, 4_000])
@pytest.mark.parametrize("summarizer", [None, Scripted(reply=lambda *_: "Reports were read.")], ids=["own", "model"])
@pytest.mark.parametrize("place", [2, 29, 55], ids=["early", "middle", "late"])
@pytest.mark.parametrize("form", [plain, one_line, as_json])
@pytest.mark.parametrize("language", [ENGLISH, CHINESE], ids=["English", "Chinese"])
def test_the_value_that_was_asked_for_is_in_the_last_request(language, form, place, summarizer, max_tokens):
    memory = memory_with(summarizer, max_tokens=max_tokens, token_counter=COUNTER, session_id="s")
    said, view = [], []
    for message in agent_loop(language, place, form):
        said.append(message)
        if not isinstance(message, AIMessage):
            view = memory.invoke(said)
    assert any(language[3] in str(message.text) for message in view)
    assert COUNTER(view) <= max_tokens
    assert validate_messages(view) == []


@pytest.mark.parametrize("fails", [False, True], ids=["summarised", "no summary can be had"])
def test_the_value_stays_where_its_result_is_shortened_or_trimmed_away(fails):
    question, filler, needle, value = ENGLISH
    long = "\n".join(
        [*(filler.format(n=n, week=n) for n in range(60)), needle, *(filler.format(n=n, week=n) for n in range(60))]
    )
    summarizer = Scripted(reply=lambda *_: 1 / 0) if fails else None
    memory = memory_with(summarizer, max_tokens=2_000, token_counter=COUNTER, session_id="s", fallback=None)
    said = [HumanMessage(question, id="q")]
    for n in range(5):
        said.append(AIMessage("", id=f"a{n}", tool_calls=[{"name": "report", "args": {"number": n}, "id": f"c{n}"}]))
        said.append(ToolMessage(long if n == 1 else filler.format(n=n, week=n), tool_call_id=f"c{n}", id=f"t{n}"))
        view = memory.invoke(said)
        if n >= 1:
            assert any(value in str(message.text) for message in view), n
        assert COUNTER(view) <= 2_000


def test_a_bare_value_is_told_with_what_was_asked():
    calls = [{"name": "price", "args": {"item": f"part-{n}"}, "id": f"c{n}"} for n in range(20)]
    results = [(n, ToolMessage(str(100 + n), tool_call_id=f"c{n}")) for n in range(20)]
    said = [
        HumanMessage("What does part-7 cost?"),
        AIMessage("", tool_calls=calls),
        *(message for _, message in results),
    ]
    [found] = OpenQuestion(said).lines(results)
    assert (found.text, found.number, found.source) == ('{"item": "part-7"} → 107', 7, "tool")


def test_nothing_is_quoted_for_words_that_every_line_has():
    results = [(n, ToolMessage(f"report {n} of the hall: fine", tool_call_id=f"c{n}")) for n in range(20)]
    said = [HumanMessage("Read the report of the hall."), *(message for _, message in results)]
    assert OpenQuestion(said).lines(results) == []
    assert OpenQuestion([]).lines(results) == []
