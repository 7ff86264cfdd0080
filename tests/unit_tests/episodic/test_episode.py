from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory._times import FOREVER
from langchain_tiered_memory.episodic.episode import (
    LONGEST_METADATA,
    RESERVED,
    Episode,
    Said,
    checked_metadata,
    episode_of,
    id_of_content,
    id_of_place,
    row_of,
    speakers_in,
    transcript_of,
)
from langchain_tiered_memory.episodic.remember import validity_of
from langchain_tiered_memory.types import MemoryScope

ADA = MemoryScope("ada", session="s1")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)

texts = st.text(st.characters(), max_size=40)  # lone surrogates and NUL too
scopes = st.builds(
    MemoryScope,
    user=st.text(min_size=1, max_size=20).filter(str.strip),
    tenant=st.text(min_size=1, max_size=20).filter(str.strip),
    session=st.none() | st.text(min_size=1, max_size=20).filter(str.strip),
)
moments = st.datetimes(timezones=st.just(UTC))
metadata = st.dictionaries(
    st.text(max_size=8).filter(lambda key: key not in RESERVED),
    st.recursive(st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8), st.lists),
    max_size=4,
)
said = st.lists(st.builds(Said, st.sampled_from(["user", "assistant", "tool"]), texts, texts), max_size=5)


@st.composite
def episodes(draw):
    spoken = tuple(draw(said))
    return Episode(
        id=draw(st.text("0123456789abcdef", min_size=32, max_size=32)),
        scope=draw(scopes),
        content=transcript_of(spoken) if spoken else draw(texts),
        created_at=draw(moments),
        valid_from=draw(moments),
        valid_until=draw(st.none() | moments),
        superseded_by=draw(st.none() | st.text("0123456789abcdef", min_size=32, max_size=32)),
        kind="round" if spoken else draw(st.sampled_from(["text", "summary"])),
        round=draw(st.integers(0, 10**6)),
        first=draw(st.integers(0, 10**6)),
        last=draw(st.integers(0, 10**6)),
        entity=draw(st.none() | st.text(min_size=1, max_size=9)),
        metadata=draw(metadata),
        said=spoken,
    )


def an_episode(**changes):
    plain = {"id": "1", "scope": ADA, "content": "I live in Rome.", "created_at": NOON, "valid_from": NOON}
    return Episode(**plain | changes)


# --- keeping --------------------------------------------------------------------------------------------------------


@given(episodes())
def test_an_episode_comes_back_from_its_row_as_it_was(episode):
    assert episode_of(row_of(episode, terms="", vector=None)) == episode


@given(episodes())
def test_an_episode_comes_back_from_json_as_it_was(episode):
    told = json.dumps(episode.to_dict(), ensure_ascii=False)  # escaped, two lone surrogates would become one character
    assert Episode.from_dict(json.loads(told)) == episode


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "cursor"},
        {"created_at": "yesterday"},
        {"created_at": "2026-01-01T00:00:00"},
        {"user": ""},
        {"said": [["user"]]},
        {"metadata": {"id": "x"}},
    ],
)
def test_json_that_is_no_episode_is_refused(damage):
    with pytest.raises(ValueError, match="no episode"):
        Episode.from_dict(an_episode().to_dict() | damage)


def test_json_without_a_field_names_it():
    data = an_episode().to_dict()
    del data["content"]
    with pytest.raises(ValueError, match="content"):
        Episode.from_dict(data)


def test_a_round_of_very_many_messages_keeps_its_text_and_not_who_said_what():
    spoken = tuple(Said("user", f"speaker {n}", f"word {n}") for n in range(5_000))
    episode = an_episode(content=transcript_of(spoken), said=spoken, kind="round")
    row = row_of(episode, terms="", vector=None)
    assert len(json.dumps(dict(row.metadata))) < 30_000
    assert episode_of(row).content == episode.content
    assert episode_of(row).said == ()


def test_the_speakers_of_a_row_are_those_with_a_name():
    spoken = (Said("user", "Caroline", "Hi"), Said("assistant", "AI", "Hello"), Said("tool", "Tool clock", "9:00"))
    row = row_of(
        an_episode(content=transcript_of(spoken), said=spoken, metadata={"speaker": "Mel", "author": 7}),
        terms="",
        vector=None,
    )
    assert speakers_in(row, ("Human", "AI", "Tool")) == ("Caroline", "Mel")


# --- ids ------------------------------------------------------------------------------------------------------------


@given(scopes, scopes, st.lists(texts, min_size=1, max_size=3), st.lists(texts, min_size=1, max_size=3))
def test_ids_of_content_are_equal_for_equal_content_and_scope_alone(one, other, first, second):
    same = (one, first) == (other, second)
    assert (id_of_content(one, None, *first) == id_of_content(other, None, *second)) is same


def test_ids_of_content_tell_times_apart_and_a_time_from_none():
    ids = {id_of_content(ADA, when, "x") for when in (None, NOON, NOON + timedelta(microseconds=1))}
    assert len(ids) == 3


def test_ids_of_places_tell_sessions_kinds_and_numbers_apart():
    ids = {
        id_of_place(scope, session, kind, number)
        for scope in (ADA, ADA.whole_user(), MemoryScope("bob", session="s1"))
        for session in ("s1", "s2")
        for kind in ("round", "cursor")
        for number in (1, 2)
    }
    assert len(ids) == 24


def test_an_id_has_no_character_that_a_store_would_have_to_escape():
    hostile = MemoryScope('x" or 1==1 --', tenant="\\", session="\ud800\0")
    assert id_of_content(hostile, None, '"\\\0\ud800').isalnum()


# --- validity -------------------------------------------------------------------------------------------------------


def test_an_episode_is_true_from_its_first_moment_and_not_at_its_end():
    episode = an_episode(valid_until=NOON + HOUR)
    assert [episode.is_valid(NOON + n * HOUR / 2) for n in (-1, 0, 1, 2)] == [False, True, True, False]


def test_without_times_an_episode_is_true_from_now_on():
    assert validity_of(NOON) == validity_of(NOON, created_at=NOON, valid_from=NOON)
    assert validity_of(NOON).valid_until is None


def test_what_another_machine_stamped_in_the_future_is_true_now():
    validity = validity_of(NOON, created_at=NOON + HOUR)
    assert (validity.created_at, validity.valid_from) == (NOON + HOUR, NOON)


def test_what_happened_earlier_was_true_earlier():
    assert validity_of(NOON, created_at=NOON - HOUR).valid_from == NOON - HOUR


@pytest.mark.parametrize("ttl", [3600, 3600.0, HOUR])
def test_a_ttl_runs_from_where_it_becomes_true(ttl):
    assert validity_of(NOON, ttl=ttl).valid_until == NOON + HOUR
    assert validity_of(NOON, ttl=ttl, valid_from=NOON + HOUR).valid_until == NOON + 2 * HOUR


def test_a_ttl_is_exact_to_the_microsecond():
    assert validity_of(NOON, ttl=timedelta(microseconds=1)).valid_until == NOON + timedelta(microseconds=1)


def test_a_ttl_beyond_the_calendar_has_no_end_that_could_be_written():
    until = validity_of(NOON, ttl=3.9e11).valid_until
    assert until == datetime.max.replace(tzinfo=UTC)


def test_times_are_taken_in_any_zone_and_in_seconds():
    there = timezone(timedelta(hours=5, minutes=30))
    assert validity_of(NOON, created_at=NOON.astimezone(there)).created_at.utcoffset() == timedelta(0)
    assert validity_of(NOON, created_at=NOON.timestamp()).created_at == NOON


def test_what_was_over_when_it_was_written_is_true_at_no_time():
    validity = validity_of(NOON, valid_until=NOON - HOUR)
    assert validity.valid_from == validity.valid_until == NOON - HOUR


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"valid_until": NOON, "ttl": 1}, "both say when it ends"),
        ({"valid_from": NOON, "valid_until": NOON}, "never be true"),
        ({"valid_from": NOON, "valid_until": NOON - HOUR}, "never be true"),
        ({"ttl": 0}, "no duration"),
        ({"ttl": -HOUR}, "no duration"),
        ({"created_at": datetime(2026, 1, 1)}, "no time zone"),  # noqa: DTZ001  # the mistake
        ({"created_at": "yesterday"}, "no time"),
        ({"created_at": 1.7e12}, "not milliseconds"),
        ({"valid_until": float("nan")}, "no time"),
    ],
)
def test_times_that_cannot_be_used_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        validity_of(NOON, **given)


def test_an_episode_ends_where_its_successor_begins():
    over = an_episode().superseded("2", NOON + HOUR)
    assert (over.superseded_by, over.valid_until) == ("2", NOON + HOUR)
    assert over.is_valid(NOON)
    assert not over.is_valid(NOON + HOUR)


def test_an_end_that_came_before_stays():
    over = an_episode(valid_until=NOON + HOUR).superseded("2", NOON + 2 * HOUR)
    assert over.valid_until == NOON + HOUR


@given(moments, moments, st.none() | moments, moments)
def test_what_is_superseded_is_true_no_longer_than_before_and_never_after_its_successor(start, at, end, when):
    episode = an_episode(valid_from=start, valid_until=end)
    over = episode.superseded("2", at)
    assert not over.is_valid(when) or (episode.is_valid(when) and when < at)


# --- metadata -------------------------------------------------------------------------------------------------------


@given(metadata)
def test_metadata_is_copied_and_not_shared(given_):
    kept = checked_metadata(given_)
    assert kept == given_
    assert kept is not given_


def test_no_metadata_is_empty_metadata():
    assert checked_metadata(None) == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}, b"x", NOON])
def test_metadata_that_json_does_not_hold_is_refused(value):
    with pytest.raises(ValueError, match="JSON"):
        checked_metadata({"x": value})


@pytest.mark.parametrize("given_", [[("x", 1)], "x", {1: "x"}])
def test_metadata_that_is_no_dict_of_texts_is_refused(given_):
    with pytest.raises(ValueError, match="dict with texts as keys"):
        checked_metadata(given_)


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_a_name_that_a_document_says_itself_is_refused(name):
    with pytest.raises(ValueError, match=name):
        checked_metadata({name: 1})


def test_metadata_that_is_too_long_is_refused_with_its_size():
    assert checked_metadata({"x": "字" * (LONGEST_METADATA // 3 - 10)})
    with pytest.raises(ValueError, match="32,010 bytes"):
        checked_metadata({"x": "x" * (LONGEST_METADATA + 1)})


def test_endless_metadata_is_refused():
    endless = {}
    endless["x"] = endless
    with pytest.raises(ValueError, match="JSON"):
        checked_metadata(endless)


def test_an_episode_without_an_end_is_stored_with_a_number():
    assert row_of(an_episode(), terms="", vector=None).valid_until == FOREVER
