from __future__ import annotations

import json
import math
from dataclasses import fields, replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from langchain_tiered_memory.episodic.rows import (
    FIELDS,
    FIELDS_OF_HITS,
    LONGEST_CONTENT,
    LONGEST_ENTITY,
    LONGEST_ID,
    LONGEST_METADATA,
    Row,
    fields_of,
    join_parts,
    part_id,
    row_of_fields,
    row_of_hit,
    split_parts,
    unit_vector,
)
from langchain_tiered_memory.errors import MemoryStoreError

ANY_TEXT = st.text(st.characters(), max_size=30)
ASCII = st.text("abcdefghijklmnopqrstuvwxyz0123456789:-_#", min_size=1, max_size=30)
INT64 = st.integers(-(2**63) + 1, 2**63 - 1)
JSON = st.recursive(
    st.none() | st.booleans() | INT64 | st.floats(allow_nan=False, allow_infinity=False) | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)
ROWS = st.builds(
    Row,
    id=ASCII,
    user_key=ASCII,
    kind=ASCII,
    number=INT64,
    created_at=INT64,
    valid_from=INT64,
    valid_until=INT64,
    metadata=st.dictionaries(ANY_TEXT, JSON, max_size=3),
    **dict.fromkeys(("content", "tenant", "user", "session", "entity", "terms"), ANY_TEXT),
)


@given(ROWS)
def test_a_row_comes_back_from_what_is_sent_of_it(row):
    sent = fields_of(row, None)
    assert row_of_fields(sent) == replace(row, episode=row.id)
    of_hit = {name: sent[name] for name in FIELDS_OF_HITS}
    assert row_of_hit(row.id, row.user_key, of_hit) == replace(row, episode=row.id)
    assert set(sent) == set(FIELDS)


@given(ROWS)
def test_what_is_sent_is_text_that_protobuf_and_json_take(row):
    sent = fields_of(row, None)
    for value in sent.values():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        assert "\x00" not in text
        text.encode("utf-8")  # raises for a lone surrogate


def test_every_field_of_a_row_is_stored():
    assert {field.name for field in fields(Row)} == {*FIELDS, "vector"}


SAMPLES = st.sampled_from(["a", "é", "語", "😀", "\ud800", "\x00", "\ufdd0", "\n", "e\u0301"])


@settings(max_examples=25)
@example([("\ud800", 8_572)])
@given(st.lists(st.tuples(SAMPLES, st.integers(1, 30_000)), max_size=5))
def test_any_text_is_cut_into_parts_that_fit_and_joined_as_it_was(runs):
    content = "".join(text * times for text, times in runs)
    parts = split_parts(Row(id="e", user_key="u", content=content, vector=[1, 2]))
    for part in parts:
        assert len(fields_of(part, 2)["content"].encode()) <= LONGEST_CONTENT
    assert join_parts(reversed(parts)).content == content
    assert [part.id for part in parts] == [part_id("e", n) for n in range(len(parts))]
    assert [part.vector is None for part in parts] == [n > 0 for n in range(len(parts))]
    # No more of them than it takes: two that follow each other do not fit one.
    sizes = [len(fields_of(part, 2)["content"].encode()) for part in parts]
    assert all(one + 8 > LONGEST_CONTENT for one in sizes[:-1])


def test_case_g1_is_cut_by_bytes():
    parts = split_parts(Row(id="e", user_key="u", content="字" * 21_846))
    assert [len(part.content) for part in parts] == [20_000, 1_846]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from(["tea", "語彙", "x" * 70_000]), st.integers(1, 9_000)), max_size=3))
def test_no_term_is_dropped_however_many_there_are(runs):
    words = [word for word, times in runs for _ in range(min(times, 3) if len(word) > 9 else times)]
    parts = split_parts(Row(id="e", user_key="u", terms=" ".join(words)))
    for part in parts:
        assert len(part.terms.encode()) <= LONGEST_CONTENT
    assert "".join(join_parts(parts).terms.split()) == "".join(words)


def test_parts_that_do_not_make_a_whole_are_refused():
    first, second, third = split_parts(Row(id="e", user_key="u", content="x" * 3 * LONGEST_CONTENT))
    for wrong in ([first, third], [second, third], [first, second, replace(third, episode="f")], []):
        with pytest.raises(MemoryStoreError, match=r"part"):
            join_parts(wrong)
    assert join_parts([third, first, second]).parts == 1


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False, width=64), min_size=3, max_size=3).filter(any))
def test_a_vector_of_any_length_becomes_one_of_length_1(vector):
    if max(map(abs, vector)) < 1e-300:
        vector = [value * 1e300 for value in vector]
    assert math.hypot(*unit_vector(vector, 3, "v")) == pytest.approx(1)


@pytest.mark.parametrize(
    "vector", [[0, 0], [0.0, -0.0], [math.nan, 1], [1, math.nan], [math.inf, 1], [1, -math.inf], [1], [1, 2, 3], []]
)
def test_what_is_no_direction_is_refused(vector):
    with pytest.raises(ValueError, match=r"dimensions|direction"):
        fields_of(Row(id="e", user_key="u", vector=vector), 2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"id": ""}, "needs id"),
        ({"episode": "another"}, "has the id 'another'"),
        ({"part": 1, "parts": 2}, "has the id 'e#1'"),
        ({"user_key": ""}, "needs user_key"),
        ({"kind": ""}, "needs kind"),
        ({"id": "é"}, "ASCII"),
        ({"id": "a\nb"}, "ASCII"),
        ({"id": "x" * (LONGEST_ID + 1)}, "ASCII"),
        ({"number": 2**63}, "64 bits"),
        ({"created_at": 1.5}, "64 bits"),
        ({"valid_until": True}, "64 bits"),
        ({"content": "x" * (LONGEST_CONTENT + 1)}, "split_parts"),
        ({"content": "語" * (LONGEST_CONTENT // 3 + 1)}, "60,003 bytes"),
        ({"terms": "x" * (LONGEST_CONTENT + 1)}, "split_parts"),
        ({"entity": "x" * (LONGEST_ENTITY + 1)}, "entity"),
        ({"metadata": {"a": "x" * LONGEST_METADATA}}, "metadata takes"),
        ({"metadata": {"a": math.nan}}, r"metadata\['a'\]=nan"),
        ({"metadata": {"a": [1, {2}]}}, r"metadata\['a'\]\[1\]"),
        ({"metadata": {"a": {1: 2}}}, r"metadata\['a'\]"),
        ({"metadata": {"a": 2**63}}, "64 bits"),
        ({"metadata": {"a": b"x"}}, "cannot be stored"),
        ({"vector": [1, 2]}, "collection has none"),
    ],
    ids=lambda given: str(given)[:40],
)
def test_what_milvus_would_cut_change_or_choke_on_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        fields_of(replace(Row(id="e", user_key="u"), **changed), None)
