from __future__ import annotations

import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.episodic.filters import Among, Condition, Where, literal
from langchain_tiered_memory.types import MemoryScope

ANY_TEXT = st.text(st.characters(), max_size=40)  # lone surrogates and control characters too
SCALAR = st.one_of(
    ANY_TEXT, st.booleans(), st.integers(-(2**63) + 1, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)
)
STRING = re.compile(r'"(?:[^"\\\r\n]|\\["\\nr])*"')
"""A text in Milvus' grammar, of what is used of it."""
TOKEN = re.compile(
    rf"{STRING.pattern}|\s+|[()\[\],]|==|!=|<=|>=|<|>|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|and|or|in|exists|json_contains"
    r"|user_key|session_key|id|episode|kind|part|number|created_at|valid_from|valid_until|superseded_by|entity|metadata"
)


def tokens_of(expression):
    """The expression cut into tokens; nothing may be left over."""
    assert "".join(TOKEN.findall(expression)) == expression
    return [token for token in TOKEN.findall(expression) if not token.isspace()]


@given(ANY_TEXT)
def test_a_text_is_one_token_whatever_it_says(text):
    assert STRING.fullmatch(literal(text))


@given(ANY_TEXT, ANY_TEXT)
def test_different_texts_are_different_literals(one, other):
    assert (literal(one) == literal(other)) == (one == other)


@given(st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_reads_back_as_it_was(number):
    assert type(number)(literal(number)) == number


def test_a_bool_is_no_number():
    assert [literal(value) for value in (True, False, 1)] == ["true", "false", "1"]


@pytest.mark.parametrize("value", [None, float("nan"), float("inf"), 2**63, [1], {"a": 1}, b"x", object()])
def test_what_a_filter_cannot_compare_with_is_refused(value):
    with pytest.raises(ValueError, match="cannot compare"):
        literal(value)


CONDITIONS = st.one_of(
    st.builds(
        Condition, st.one_of(ANY_TEXT, st.lists(ANY_TEXT, min_size=1, max_size=3).map(tuple)), st.just("=="), SCALAR
    ),
    st.builds(Condition, ANY_TEXT, st.sampled_from(["!=", "contains"]), SCALAR),
    st.builds(Condition, ANY_TEXT, st.sampled_from([">", ">=", "<", "<="]), st.one_of(ANY_TEXT, st.integers(-9, 9))),
    st.builds(Condition, ANY_TEXT, st.sampled_from(["in", "not in"]), st.lists(SCALAR, max_size=3)),
)


@given(
    user=ANY_TEXT.filter(str.strip),
    session=st.none() | ANY_TEXT.filter(str.strip),
    entity=st.none() | ANY_TEXT,
    metadata=st.lists(CONDITIONS, max_size=3).map(tuple),
    ids=st.none() | st.lists(ANY_TEXT, max_size=3).map(tuple),
    at=st.none() | st.integers(0, 2**53),
)
def test_no_value_changes_what_a_filter_is(user, session, entity, metadata, ids, at):
    scope = MemoryScope(user, session=session)
    expression = Where.of(scope, entity=entity, metadata=metadata, ids=ids, valid_at=at).expression()
    tokens = tokens_of(expression)
    shape = [token for token in tokens if not STRING.fullmatch(token)]
    assert tokens[:3] == ["user_key", "==", f'"{scope.user_key}"']
    assert shape.count("user_key") == 1
    # Whatever else is asked stands beside the scope, joined by `and`; an `or` stands in brackets only.
    depth = 0
    for part in shape:
        depth += (part in "([") - (part in ")]")
        assert part != "or" or depth > 0
    assert depth == 0


@given(ANY_TEXT.filter(str.strip), ANY_TEXT.filter(str.strip), ANY_TEXT.filter(str.strip))
def test_no_text_of_a_user_stands_in_the_filter_of_a_scope(user, tenant, session):
    expression = Where.of(MemoryScope(user, tenant, session)).expression()
    assert re.fullmatch(r'user_key == "[0-9a-f]{32}" and session_key == "[0-9a-f]{32}"', expression)


def test_a_filter_without_a_scope_must_be_asked_for():
    with pytest.raises(TypeError, match="user_key"):
        Where()
    assert Where(user_key=None).expression() == ""


def test_every_field_of_a_filter_is_used():
    given_values = {
        "user_key": "u",
        "session_key": "s",
        "ids": ("i",),
        "episodes": ("e", "f"),
        "kinds": ("round",),
        "part": 0,
        "among": Among(("e1",), (("s", (1,)), ("", (2, 3)))),
        "valid_at": 5,
        "superseded": False,
        "created_from": 1,
        "created_to": 2,
        "number_from": 3,
        "number_to": 4,
        "entity": "tea",
        "metadata": (Condition("a", "==", 1),),
    }
    assert given_values.keys() == {field.name for field in fields(Where)}
    assert Where(**given_values).expression() == (
        'user_key == "u" and session_key == "s" and entity == "tea" and id in ["i"] and episode in ["e", "f"] and '
        'kind == "round" and part == 0 and (id == "e1" or (session_key == "s" and number == 1) or '
        '(session_key == "" and number in [2, 3])) and valid_from <= 5 and valid_until > 5 and superseded_by == "" and '
        'created_at >= 1 and created_at < 2 and number >= 3 and number <= 4 and metadata["a"] == 1'
    )


def test_nothing_is_in_an_empty_list():
    for empty in (Where(user_key="u", ids=()), Where(user_key="u", kinds=()), Where(user_key="u", among=Among())):
        assert empty.expression() == 'user_key == "u" and id in []'
    assert Condition("a", "in", []).expression() == "id in []"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", "like", "x"), "operator='like'"),
        (("a", "==", ["x"]), "one value"),
        (("a", "in", "x"), "list of values"),
        (("a", "==", None), "cannot compare"),
        (("a", "in", [None]), "cannot compare"),
        (("a", ">", True), "does not go with"),
        (((), "==", 1), r"field=\(\)"),
        ((1, "==", 1), "field=1"),
        ((("a", 1), "==", 1), "field="),
    ],
)
def test_a_condition_that_is_none_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Condition(*arguments)
