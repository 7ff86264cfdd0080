from __future__ import annotations

from enum import StrEnum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory import MemoryScope
from langchain_tiered_memory.errors import ScopeError

PARTS = st.text(st.characters(), min_size=1, max_size=20).filter(str.strip)


@pytest.mark.parametrize(
    ("part", "value"),
    [(part, value) for part in ("user", "tenant", "session") for value in ("", "  ", 7, b"ada", "x" * 4_097)]
    + [("user", None), ("tenant", None)],
)
def test_a_part_that_names_nobody_is_refused_with_its_name(part, value):
    with pytest.raises(ScopeError, match=part):
        MemoryScope(**{"user": "ada", part: value})


@given(PARTS, PARTS, PARTS, PARTS)
def test_scopes_share_a_key_only_when_they_are_equal(user, tenant, other_user, other_tenant):
    one, other = MemoryScope(user, tenant), MemoryScope(other_user, other_tenant)
    assert (one.user_key == other.user_key) == (one == other)


def test_the_border_between_two_parts_is_a_part_of_the_key():
    assert MemoryScope("bc", tenant="a").user_key != MemoryScope("c", tenant="ab").user_key


@pytest.mark.parametrize("text", ['" or 1==1 or "', "\\", "\x00", "\ud800", "用户", "a.b:c{d}", "x" * 4_000])
def test_a_key_is_32_hexadecimal_digits_whatever_the_text(text):
    scope = MemoryScope(text, tenant=text + "t", session=text + "s")
    for key in (scope.user_key, scope.session_key):
        assert len(key) == 32
        assert set(key) <= set("0123456789abcdef")


def test_without_a_session_the_scope_is_the_users_whole_memory():
    assert MemoryScope("ada").session_key == ""
    assert MemoryScope("ada", session="s").whole_user() == MemoryScope("ada")


def test_a_scope_comes_from_the_configurable_of_a_run():
    config = {"configurable": {"user_id": "ada", "tenant_id": "acme", "session_id": "s"}}
    assert MemoryScope.from_config(config) == MemoryScope("ada", tenant="acme", session="s")
    assert MemoryScope.from_config({"configurable": {"user_id": "ada"}}) == MemoryScope("ada")


@pytest.mark.parametrize("config", [None, {}, {"configurable": {}}, {"configurable": {"session_id": "s"}}])
def test_a_run_that_names_no_user_has_no_scope(config):
    with pytest.raises(ScopeError, match="user_id"):
        MemoryScope.from_config(config)


def test_a_part_that_is_an_enum_of_texts_is_its_text():
    class User(StrEnum):
        ADA = "ada"

    scope = MemoryScope(User.ADA)
    assert (scope, type(scope.user)) == (MemoryScope("ada"), str)
