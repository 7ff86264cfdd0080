from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.session_names import is_of, session_key, session_of
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.records import check_session_id

IDS = st.text(st.characters(), min_size=1, max_size=12).filter(str.strip) | st.sampled_from(
    ["/", "%2F", "user:", "a/b", "..", "#", "x" * 600, "\ud800", "\x00", "用户"]
)


SESSIONS = IDS.filter(lambda text: len(text) < 100) | st.sampled_from(["x" * 473, "话" * 400])


@given(IDS, IDS, SESSIONS, IDS, IDS, SESSIONS)
def test_sessions_of_different_users_never_share_a_name(tenant, user, session, other_tenant, other_user, other_session):
    one = session_key(session, MemoryScope(user, tenant))
    other = session_key(other_session, MemoryScope(other_user, other_tenant))
    assert (one == other) == ((tenant, user, session) == (other_tenant, other_user, other_session))


@given(IDS, IDS, SESSIONS, IDS, SESSIONS)
def test_a_name_tells_whose_it_is(tenant, user, session, other_user, other_session):
    scope, other = MemoryScope(user, tenant), MemoryScope(other_user, tenant)
    name = session_key(session, scope)
    check_session_id(name)
    assert is_of(name, scope)
    assert is_of(name, other) == (user == other_user)
    assert is_of(name, MemoryScope(user, tenant, other_session)) == (session == other_session)


@given(IDS, IDS, SESSIONS)
def test_the_id_can_be_read_off_every_name(tenant, user, session):
    assert session_of(session_key(session, MemoryScope(user, tenant))) == session


def test_a_tenant_called_like_a_digest_owns_nothing_of_somebody_else():
    ada = MemoryScope("a" * 600)
    assert session_key("s", ada) == f"user:#{ada.user_key}/s"
    assert not is_of(session_key("s", MemoryScope("bob", f"#{ada.user_key}")), ada)


def test_an_id_that_is_too_long_for_a_log_is_refused():
    with pytest.raises(ValueError, match="at most 473 characters in a log, got 474"):
        session_key("x" * 474, MemoryScope("ada"))
    assert not is_of("user:default/ada/s", MemoryScope("ada", session="x" * 474))


def test_an_id_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="a session id is text, got int"):
        session_key(5, None)


def test_a_session_of_nobody_keeps_its_id_unless_it_could_be_taken_for_somebodys():
    assert session_key("2026/11/29", None) == "2026/11/29"
    with pytest.raises(ValueError, match="user:default/ada/s"):
        session_key("user:default/ada/s", None)
