"""Data sets in memory and in files."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_tiered_memory.evaluation import DatasetError, MemoryCase, MemoryDataset, MemoryRecord, load_dataset
from langchain_tiered_memory.types import MemoryScope

NOW = datetime(2025, 6, 1, tzinfo=UTC)


def record(name, *, role="user", user="ada", session=None, minute=0, **more):
    scope = MemoryScope(user=user, session=session)
    return MemoryRecord(
        id=name, text=f"text of {name}", at=NOW - timedelta(days=1, minutes=-minute), scope=scope, role=role, **more
    )


def case(name, *messages, **more):
    return MemoryCase(id=name, question=f"{name}?", messages=messages, **more)


def dataset(*cases, **more):
    return MemoryDataset(**{"name": "test", "cases": cases, "now": NOW, **more})


TEXTS = st.text(min_size=1, max_size=30).filter(str.strip)
NAMES = st.text(min_size=1, max_size=8).filter(str.strip)
MOMENTS = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  # its zone follows
SCOPES = st.builds(MemoryScope, user=NAMES, tenant=NAMES, session=st.none() | NAMES)
OPTIONAL = st.none() | TEXTS


@st.composite
def datasets(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=6, unique=True))
    records = [
        MemoryRecord(
            id=name,
            text=draw(TEXTS),
            at=draw(MOMENTS),
            scope=draw(SCOPES),
            role=draw(st.sampled_from(["user", "assistant"])),
            speaker=draw(OPTIONAL),
            valid_until=draw(st.none() | MOMENTS),
            supersedes=draw(OPTIONAL),
            lasting=draw(st.sampled_from(["", "7-day"])),
            entity=draw(OPTIONAL),
            attribute=draw(OPTIONAL),
            value=draw(OPTIONAL),
        )
        for name in names
    ]
    cut = draw(st.integers(0, len(records)))
    histories = (tuple(records[:cut]), tuple(records[cut:]))
    cases = tuple(
        MemoryCase(
            id=name,
            question=draw(TEXTS),
            messages=draw(st.sampled_from(histories)),
            expected=draw(st.lists(NAMES, max_size=2)),
            as_of=draw(st.none() | MOMENTS),
            scope=draw(SCOPES),
            constraints=draw(st.lists(TEXTS, max_size=2)),
            updated=draw(st.none() | st.booleans()),
            category=draw(st.sampled_from(["", "one"])),
            answer=draw(OPTIONAL),
        )
        for name in draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    )
    return MemoryDataset(name=draw(TEXTS), cases=cases, now=draw(MOMENTS), unit="round", empty_recall=1.0)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("data") / "set.jsonl"


@given(datasets())
def test_what_is_saved_is_loaded_again(path, made):
    made.save(path)
    assert MemoryDataset.load(path) == made
    assert load_dataset(path).digest == made.digest


def test_the_synthetic_set_is_the_same_after_a_file(tmp_path):
    made = MemoryDataset.synthetic(30, language="zh").sample(5)
    made.save(tmp_path / "set.jsonl")
    loaded = MemoryDataset.load(tmp_path / "set.jsonl")
    assert loaded == made
    assert list(loaded.records) == list(made.records)
    assert [unit[0].id for unit in loaded.units()] == [unit[0].id for unit in made.units()]


def test_conversations_that_grow_from_case_to_case_are_loaded_again(tmp_path):
    said = (record("u1"), record("u2", minute=1), record("u3", minute=2))
    again = case("d", record("u1"))  # the same message in a tuple of its own
    made = dataset(case("c", *said), case("e", *said[:2]), again)
    made.save(tmp_path / "set.jsonl")
    loaded = MemoryDataset.load(tmp_path / "set.jsonl")
    assert loaded == made
    assert loaded.digest == made.digest
    assert [unit[0].id for unit in loaded.units()] == ["u1", "u2", "u3"]


def test_a_packed_file_is_read(tmp_path):
    made = dataset(case("c", record("u1")))
    made.save(tmp_path / "set.jsonl")
    packed = tmp_path / "set.jsonl.gz"
    packed.write_bytes(gzip.compress((tmp_path / "set.jsonl").read_bytes()))
    assert load_dataset(packed) == MemoryDataset.load(packed) == made


def test_a_file_written_by_hand_is_read(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '\n{"case": {"id": "c", "question": "Where?", "user": "ada", "expected": ["m"], '
        '"messages": [{"id": "m", "text": "In Rome.", "at": "2025-05-01T09:00:00Z"}]}}\n',
        encoding="utf-8",
    )
    found = MemoryDataset.load(path)
    assert (found.name, found.now) == ("mine", datetime(2025, 5, 1, 9, tzinfo=UTC))
    assert found.records["m"].scope == found.cases[0].scope == MemoryScope(user="ada")


HEAD = '{"dataset": {"name": "n", "now": "2025-06-01T00:00:00Z"}}'
MESSAGE = '{"message": {"id": "m", "text": "t", "at": "2025-05-01T09:00:00Z"}, "history": "h"}'
CASE = '{"case": {"id": "c", "question": "q"}, "history": "h"}'


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ([HEAD, "{", CASE], 2, "no JSON.*one JSON object on each line"),
        ([HEAD, "[1]"], 2, "none of the three kinds"),
        ([HEAD, '{"message": {}, "case": {}}'], 2, "none of the three kinds"),
        ([HEAD, '{"message": {"id": "m", "text": "t"}}'], 2, 'no time; write "at"'),
        ([HEAD, MESSAGE.replace("2025-05", "2025-13")], 2, "at is no time"),
        ([HEAD, MESSAGE.replace("Z", "")], 2, "time zone"),
        ([HEAD, MESSAGE.replace('"text"', '"content"')], 2, "unknown 'content'; there are .*text"),
        ([HEAD, MESSAGE, MESSAGE, CASE], 3, "the id 'm' stands in line 2 too"),
        ([HEAD, MESSAGE.replace('"h"', "7")], 2, "history is 7"),
        ([HEAD, MESSAGE, CASE.replace('"h"', '"x"')], 3, "no message belongs to the history 'x'.*'h'"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '""')], 3, "needs question"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "expected": "m"')], 3, "expected is 'm'; write a list"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "wanted": []')], 3, "unknown 'wanted'; there are .*expected"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "messages": 1')], 3, "no list of objects"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "user": 7')], 3, "needs a user id"),
        ([HEAD, MESSAGE, CASE.replace('"c",', '"c", "as_of": "x",')], 3, "as_of is no time"),
        ([HEAD, MESSAGE, CASE.replace('}, "history"', '}, "more": 1, "history"')], 3, "unknown more beside 'case'"),
        ([HEAD, "[" * 200_000], 2, "no JSON that can be read.*one JSON object on each line"),
        ([HEAD, MESSAGE.replace('"t"', "1" * 5_000)], 2, "no JSON that can be read"),
        ([HEAD, MESSAGE.replace('"t"', '"t", "supersedes": 5')], 2, "supersedes is 5; write a text"),
        ([HEAD, MESSAGE.replace('"t"', '"t", "role": []')], 2, r"role=\[\] of record 'm' is not known"),
        ([HEAD, MESSAGE.replace('"t"', '"t", "user": ""')], 2, "needs a user id"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "category": 5')], 3, "category is 5; write a text"),
        ([HEAD, MESSAGE, CASE.replace('"q"', '"q", "updated": "yes"')], 3, "updated is 'yes'; write true or false"),
        ([HEAD, MESSAGE, MESSAGE.replace('"h"', '"i"').replace('"t"', '"T"'), CASE], 3, "'m' stands in line 2 too"),
        ([HEAD, MESSAGE, CASE, CASE], 4, "the case 'c' stands in line 3 too"),
        ([HEAD, HEAD, MESSAGE, CASE], 2, "line 1 is one of the data set too"),
        ([HEAD.replace('"n"', "5"), MESSAGE, CASE], 1, "name is 5; write a text"),
        ([HEAD.replace('"n"', '"n", "empty_recall": "x"'), MESSAGE, CASE], 1, "empty_recall is 'x'; write a number"),
        ([HEAD.replace('"n"', '"n", "version": 2'), CASE], 1, "version 2 is not known"),
        (['{"case": {"id": "c", "question": "q"}}'], 1, "neither the present nor a message"),
    ],
)
def test_a_bad_line_is_named_with_its_repair(tmp_path, lines, line, words):
    path = tmp_path / "bad.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DatasetError, match=rf"bad\.jsonl, line {line}: .*{words}"):
        MemoryDataset.load(path)


def test_a_file_that_is_none_is_named(tmp_path):
    with pytest.raises(DatasetError, match="cannot be read"):
        MemoryDataset.load(tmp_path / "missing.jsonl")
    (tmp_path / "latin.jsonl").write_bytes(b'{"dataset": {"name": "\xe9"}}')
    with pytest.raises(DatasetError, match="not UTF-8"):
        MemoryDataset.load(tmp_path / "latin.jsonl")
    (tmp_path / "broken.jsonl.gz").write_bytes(b"\x1f\x8b\x08" + b"\xff" * 40)
    with pytest.raises(DatasetError, match="cannot be read"):
        MemoryDataset.load(tmp_path / "broken.jsonl.gz")
    (tmp_path / "unit.jsonl").write_text("\n".join([HEAD.replace('"n"', '"n", "unit": []'), MESSAGE, CASE]))
    with pytest.raises(DatasetError, match=r"unit\.jsonl: unit=\[\] is not known"):
        MemoryDataset.load(tmp_path / "unit.jsonl")
    (tmp_path / "empty.jsonl").write_text(HEAD)
    with pytest.raises(DatasetError, match="no case in it"):
        MemoryDataset.load(tmp_path / "empty.jsonl")


def test_ids_are_unique():
    with pytest.raises(DatasetError, match="two cases have the id 'c'"):
        dataset(case("c"), case("c"))
    with pytest.raises(DatasetError, match="two different records have the id 'r'"):
        dataset(case("c", record("r")), case("d", record("r", minute=1)))
    with pytest.raises(DatasetError, match="unit='word'"):
        dataset(case("c"), unit="word")


def test_units_are_messages_or_rounds():
    told = (
        record("u1"),
        record("a1", role="assistant"),
        record("a2", role="assistant"),
        record("u2"),
        record("u3", session="s"),
        record("a3", role="assistant", session="t"),
    )
    other = (told[3], record("u4"))

    def units(unit):
        found = dataset(case("c", *told), case("d", *other), unit=unit).units()
        return [[one.id for one in group] for group in found]

    # An answer of another session begins a unit of its own, and nothing is told twice.
    assert units("round") == [["u1", "a1", "a2"], ["u2"], ["u3"], ["a3"], ["u4"]]
    assert units("message") == [["u1"], ["a1"], ["a2"], ["u2"], ["u3"], ["a3"], ["u4"]]


def test_a_conversation_may_begin_with_an_answer():
    told = (record("a1", role="assistant"), record("u1"), record("a2", role="assistant"))
    found = dataset(case("c", *told), unit="round").units()
    assert [[one.id for one in unit] for unit in found] == [["a1"], ["u1", "a2"]]


def test_a_sample_asks_less_of_the_same_memory():
    whole = MemoryDataset.synthetic(60, seed=1)
    part = whole.sample(5, seed=7)
    assert len(part.cases) == 5
    assert set(part.records) == set(whole.records)
    assert part == whole.sample(5, seed=7) != whole.sample(5, seed=8)
    assert whole.sample(10_000) is whole
    with pytest.raises(ValueError, match="count=-1 is no number of questions"):
        whole.sample(-1)
    rules = whole.where(categories=["rule"])
    assert {one.category for one in rules.cases} == {"rule"}
    assert set(rules.records) == set(whole.records)
