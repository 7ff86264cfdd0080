from __future__ import annotations

import itertools
import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_ids_tell_times_sessions_kinds_and_numbers_apart():
    scopes_ = (ADA, ADA.whole_user(), MemoryScope("bob", session="s1"), MemoryScope('x" or 1==1', "\\", "\ud800\0"))
    ids = {id_of_content(scope, when, "x\0") for scope in scopes_ for when in (None, NOON, NOON + HOUR)}
    places = itertools.product(scopes_, ("s1", "s2"), ("round", "cursor"), (1, 2))
    ids |= {id_of_place(*place) for place in places}
    assert len(ids) == 12 + 32
    assert all(one.isalnum() for one in ids)  # no store has to escape it


# --- validity -------------------------------------------------------------------------------------------------------


def test_an_episode_is_true_from_its_first_moment_and_not_at_its_end():
    episode = an_episode(valid_until=NOON + HOUR)
    assert [episode.is_valid(NOON + n * HOUR / 2) for n in (-1, 0, 1, 2)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, (NOON, NOON, None)),
        ({"created_at": NOON + HOUR}, (NOON + HOUR, NOON, None)),  # stamped by another clock, and true now
        ({"created_at": NOON - HOUR}, (NOON - HOUR, NOON - HOUR, None)),
        ({"created_at": NOON.timestamp()}, (NOON, NOON, None)),
        ({"created_at": NOON.astimezone(timezone(HOUR))}, (NOON, NOON, None)),
        ({"ttl": 3600}, (NOON, NOON, NOON + HOUR)),
        ({"ttl": HOUR, "valid_from": NOON + HOUR}, (NOON, NOON + HOUR, NOON + 2 * HOUR)),
        ({"ttl": timedelta(microseconds=1)}, (NOON, NOON, NOON + timedelta(microseconds=1))),
        ({"ttl": 3.9e11}, (NOON, NOON, datetime.max.replace(tzinfo=UTC))),
        ({"valid_until": NOON - HOUR}, (NOON, NOON - HOUR, NOON - HOUR)),  # over when it was written: true at no time
    ],
)
def test_when_an_episode_is_true_follows_from_what_was_given(given, expected):
    validity = validity_of(NOON, **given)
    assert (validity.created_at, validity.valid_from, validity.valid_until) == expected
    assert validity.created_at.utcoffset() == timedelta(0)


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


def test_an_episode_ends_where_its_successor_begins_unless_it_ended_before():
    over = an_episode().superseded("2", NOON + HOUR)
    assert (over.superseded_by, over.valid_until) == ("2", NOON + HOUR)
    assert over.superseded("3", NOON + 2 * HOUR).valid_until == NOON + HOUR


@given(moments, moments, st.none() | moments, moments)
def test_what_is_superseded_is_true_no_longer_than_before_and_never_after_its_successor(start, at, end, when):
    episode = an_episode(valid_from=start, valid_until=end)
    over = episode.superseded("2", at)
    assert not over.is_valid(when) or (episode.is_valid(when) and when < at)


# --- metadata -------------------------------------------------------------------------------------------------------

ENDLESS = {}
ENDLESS["x"] = ENDLESS


@given(metadata)
def test_metadata_is_copied_and_not_shared(given_):
    kept = checked_metadata(given_)
    assert kept == given_
    assert kept is not given_


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        *(({"x": value}, "JSON") for value in (float("nan"), float("inf"), object(), {1, 2}, b"x", NOON)),
        *((value, "dict with texts as keys") for value in ([("x", 1)], "x", {1: "x"})),
        *(({name: 1}, name) for name in sorted(RESERVED)),
        ({"x": "x" * (LONGEST_METADATA + 1)}, "32,010 bytes"),
        (ENDLESS, "JSON"),
    ],
)
def test_metadata_that_cannot_be_kept_is_refused(wrong, words):
    with pytest.raises(ValueError, match=words):
        checked_metadata(wrong)
