from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.wiring.naming import is_of, session_key, session_of
from langchain_tiered_memory.working.records import check_session_id

IDS = st.text(st.characters(), min_size=1, max_size=12).filter(str.strip) | st.sampled_from(
    ["/", "%2F", "user:", "a/b", "..", "#", "x" * 600, "\ud800", "\x00", "用户"]
)


@given(IDS, IDS, IDS, IDS, IDS, IDS)
def test_sessions_of_different_users_never_share_a_name(tenant, user, session, other_tenant, other_user, other_session):
    one = session_key(session, MemoryScope(user, tenant))
    other = session_key(other_session, MemoryScope(other_user, other_tenant))
    assert (one == other) == ((tenant, user, session) == (other_tenant, other_user, other_session))


@given(IDS, IDS, IDS, IDS, IDS)
def test_a_name_tells_whose_it_is(tenant, user, session, other_user, other_session):
    scope, other = MemoryScope(user, tenant), MemoryScope(other_user, tenant)
    name = session_key(session, scope)
    check_session_id(name)
    assert is_of(name, scope)
    assert is_of(name, other) == (user == other_user)
    assert is_of(name, MemoryScope(user, tenant, other_session)) == (session == other_session)


@given(IDS)
def test_the_id_can_be_read_off_a_name_that_is_not_too_long(session):
    name = session_key(session, MemoryScope("ada"))
    assert session_of(name) == (session if "#" not in name else name)


def test_a_session_of_nobody_keeps_its_id_unless_it_could_be_taken_for_somebodys():
    assert session_key("2026/11/29", None) == "2026/11/29"
    with pytest.raises(ValueError, match="user:default/ada/s"):
        session_key("user:default/ada/s", None)
