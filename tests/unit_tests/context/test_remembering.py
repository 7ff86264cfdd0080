from __future__ import annotations

from langchain_core.messages import AIMessage

from langchain_tiered_memory.context.remember import answers_in, incomplete


def test_a_call_of_an_answer_that_broke_off_is_a_call_no_more_and_its_arguments_stay_json():
    message = AIMessage("I look", tool_calls=[{"name": "look", "args": {"in": "tea's", "n": None}, "id": "c"}])
    broken = incomplete(message)
    assert broken.tool_calls == []
    assert [call["args"] for call in broken.invalid_tool_calls] == ['{"in": "tea\'s", "n": null}']
    assert broken.response_metadata["incomplete"] is True
    assert len(message.tool_calls) == 1


def test_a_call_that_is_the_form_of_a_structured_answer_is_no_open_call():
    raw = AIMessage("", tool_calls=[{"name": "City", "args": {"city": "Rome"}, "id": "c"}])
    [answer] = answers_in({"raw": raw, "parsed": {"city": "Rome"}, "parsing_error": None})
    assert (answer.text, answer.tool_calls) == ('{"city": "Rome"}', [])
    [unread] = answers_in({"raw": raw, "parsed": None, "parsing_error": ValueError("no")})
    assert unread.tool_calls == raw.tool_calls
