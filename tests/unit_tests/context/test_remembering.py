from __future__ import annotations

from langchain_core.messages import AIMessage

from langchain_tiered_memory.context.remember import incomplete


def test_a_call_of_an_answer_that_broke_off_is_a_call_no_more_and_its_arguments_stay_json():
    message = AIMessage("I look", tool_calls=[{"name": "look", "args": {"in": "tea's", "n": None}, "id": "c"}])
    broken = incomplete(message)
    assert broken.tool_calls == []
    assert [call["args"] for call in broken.invalid_tool_calls] == ['{"in": "tea\'s", "n": null}']
    assert broken.response_metadata["incomplete"] is True
    assert len(message.tool_calls) == 1
