"""Published data sets, in small copies of their forms, and in full where they lie beside the project."""

from __future__ import annotations

import gzip
import json
import re
from datetime import UTC, datetime

import pytest

from langchain_tiered_memory.evaluation import (
    DatasetError,
    MemoryDataset,
    evaluate,
    load_beam,
    load_dataset,
    load_locomo,
    load_longmemeval,
)
from support.shared import DATA

LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "Bye."}],
            "session_2_date_time": "9:05 am on 3 June, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a red kite"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
            ],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
        },
        "qa": [
            {"question": "What did Ann show?", "answer": "a kite", "evidence": ["D1:1"], "category": 4},
            {"question": "When?", "answer": 2023, "evidence": ["D1:1", "D9:9"], "category": 2},
            {"question": "Why?", "adversarial_answer": "rain", "evidence": [], "category": 5},
        ],
    }
]
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where do I live?",
        "answer": "Oslo",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["b", "a", "b"],
        "haystack_dates": ["2023/05/21 (Sun) 08:00", "2023/05/20 (Sat) 02:21", "2023/05/22 (Mon) 09:30"],
        "haystack_sessions": [
            [
                {"role": "user", "content": "I live in Oslo.", "has_answer": True},
                {"role": "assistant", "content": "Ok."},
            ],
            [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": " "}],
            [{"role": "user", "content": "Hi."}],
        ],
        "answer_session_ids": ["b"],
    },
    {
        "question_id": "q2_abs",
        "question_type": "knowledge-update",
        "question": "Where does my cat live?",
        "answer": "You never said.",
        "question_date": "2023/06/01 (Thu) 10:00",
        "haystack_session_ids": ["a"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21"],
        "haystack_sessions": [[{"role": "user", "content": "I have a dog.", "has_answer": True}]],
        "answer_session_ids": ["a"],
    },
]
BEAM = [
    {
        "chat_id": 7,
        "messages": [
            {"id": 0, "role": "user", "time_anchor": "March-15-2024", "content": "It takes 300 ms. ->-> 1,1"},
            {"id": 1, "role": "assistant", "content": "Noted -> so."},
            {"id": 2, "role": "user", "time_anchor": "March-10-2024", "content": "It takes 250 ms now. ->-> 1,2"},
        ],
        "questions": [
            {
                "category": "knowledge_update",
                "question": "How long does it take?",
                "answer": "250 ms",
                "source_chat_ids": {"original_info": [0], "updated_info": [2, 0]},
            },
            {"category": "abstention", "question": "Who?", "answer": "-", "source_chat_ids": None},
            {
                "category": "contradiction_resolution",
                "question": "Does it?",
                "answer": "-",
                "source_chat_ids": {"first_statement": [[1]], "second_statement": 2},
            },
            {"category": "abstention", "question": "Why?", "answer": None, "source_chat_ids": [1, 1]},
        ],
    }
]


def written(tmp_path, content, name="data.json"):
    path = tmp_path / name
    text = json.dumps(content).encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def test_locomo(tmp_path):
    dataset = load_dataset(written(tmp_path, LOCOMO))
    assert (dataset.name, dataset.unit) == ("LoCoMo", "message")
    first, _, last = dataset.records.values()
    assert first.text == "Look! and shared a red kite"
    assert (first.speaker, first.scope.user, first.scope.session) == ("Ann", "conv-1", "session_1")
    assert first.at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert last.at == datetime(2023, 6, 3, 9, 5, tzinfo=UTC)
    assert [(case.category, case.answer) for case in dataset.cases] == [
        ("single-hop", "a kite"), ("temporal", "2023"), ("adversarial", "rain")
    ]  # fmt: skip
    # Found; one of two, since D9:9 is no turn; nothing to be found.
    report = evaluate(lambda _: ["conv-1/D1:1"], dataset, ["recall@5"])
    assert [case.scores[0] for case in report.targets[0].cases] == [1.0, 0.5, 1.0]


def test_locomo_with_corrected_evidence(tmp_path):
    errors = [
        {"question_id": "locomo_0_qa1", "correct_evidence": ["D1:2"]},
        {"question_id": "locomo_0_qa0", "correct_evidence": []},
    ]
    dataset = load_locomo(written(tmp_path, LOCOMO), corrections=written(tmp_path, errors, "errors.json"))
    assert [case.expected for case in dataset.cases] == [("conv-1/D1:1",), ("conv-1/D1:2",), ()]


def test_longmemeval(tmp_path):
    dataset = load_dataset(written(tmp_path, LONGMEMEVAL))
    assert (dataset.name, dataset.unit) == ("LongMemEval", "round")
    first, abstention = dataset.cases
    # In the order of time, sessions that are in a haystack twice kept apart.
    assert [(one.id, one.role) for one in first.messages] == [
        ("q1/1-a/0", "user"), ("q1/0-b/0", "user"), ("q1/0-b/1", "assistant"), ("q1/2-b/0", "user")
    ]  # fmt: skip
    assert first.expected == ("q1/0-b/0",)
    assert first.as_of == datetime(2023, 6, 1, 10, tzinfo=UTC)
    assert abstention.expected == ()


@pytest.mark.parametrize("name", ["data.json", "data.json.gz"])
def test_beam(tmp_path, name):
    dataset = load_dataset(written(tmp_path, BEAM, name))
    assert (dataset.name, dataset.unit) == ("BEAM", "round")
    assert [record.text for record in dataset.records.values()] == [
        "It takes 300 ms.", "Noted -> so.", "It takes 250 ms now."
    ]  # fmt: skip
    assert {record.at for record in dataset.records.values()} == {dataset.now}
    update, abstention, contradiction, listed = dataset.cases
    # What both lists name is current, and the question about an update all the same.
    assert (update.expected, update.stale, update.updated) == (("chat-7/2", "chat-7/0"), (), True)
    assert not contradiction.updated
    assert abstention.expected == ()
    assert contradiction.expected == ("chat-7/1", "chat-7/2")
    assert listed.expected == ("chat-7/1",)
    assert [case.id for case in dataset.cases][1::2] == ["chat-7/abstention/1", "chat-7/abstention/2"]


@pytest.mark.parametrize(
    ("content", "load", "words"),
    [
        ([{"sample_id": "x", "conversation": {}, "qa": []}], load_locomo, "no question in it"),
        ([{**LOCOMO[0], "qa": [{"question": "?"}]}], load_locomo, "sample 0: 'evidence' is missing"),
        ([{**LONGMEMEVAL[0], "question_date": "soon"}], load_longmemeval, "question 0: .*does not match format"),
        ([{**LONGMEMEVAL[0], "haystack_dates": []}], load_longmemeval, "question 0: .*shorter"),
        ([{**BEAM[0], "messages": [{"id": 0}]}], load_beam, "chat 0: .*is missing"),
        ([{"a": 1}], load_dataset, "no known format.*its first item has a"),
        ([], load_dataset, "no list of objects"),
        ("text", load_beam, "no list of objects"),
    ],
)
def test_a_file_of_another_form_is_named_with_its_place(tmp_path, content, load, words):
    with pytest.raises(DatasetError, match=words):
        load(written(tmp_path, content))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    broken = tmp_path / "broken.json"
    broken.write_text("[\n{")
    with pytest.raises(DatasetError, match=r"broken\.json, line 2: no JSON"):
        load_dataset(broken)
    broken.write_bytes(b'["\xff"]')
    with pytest.raises(DatasetError, match="not UTF-8"):
        load_locomo(broken)
    broken.write_bytes(b"\x1f\x8bxxxx")
    with pytest.raises(DatasetError, match="cannot be read"):
        load_beam(broken)
    with pytest.raises(DatasetError, match="cannot be read"):
        load_dataset(tmp_path / "missing")
    with pytest.raises(DatasetError, match="format='csv'"):
        load_dataset(broken, "csv")


def test_a_saved_data_set_is_told_by_its_content(tmp_path):
    made = MemoryDataset.synthetic(5)
    made.save(tmp_path / "set.json")
    assert load_dataset(tmp_path / "set.json") == made


@pytest.mark.skipif(not (DATA / "locomo10.json").exists(), reason="the LoCoMo file is not beside the project")
def test_the_whole_of_locomo():
    dataset = load_dataset(DATA / "locomo10.json")
    assert (len(dataset.cases), len(dataset.records)) == (1_986, 5_882)
    named = [one for case in dataset.cases for one in case.expected]
    # As in the authors' own figures: 2,815 labels, 9 of which name no turn, and 4 questions without any.
    assert (len(named), sum(one not in dataset.records for one in named)) == (2_815, 9)
    assert sum(not case.expected for case in dataset.cases) == 4


@pytest.mark.skipif(not (DATA / "beam_100k.json.gz").exists(), reason="the BEAM file is not beside the project")
def test_the_whole_of_beam():
    dataset = load_dataset(DATA / "beam_100k.json.gz")
    updates = dataset.where(categories=["knowledge_update"])
    assert (len(dataset.cases), len(updates.cases)) == (400, 40)
    assert evaluate(lambda _: [], updates, ["stale_first"]).said("stale_first") == 39  # one has no updated answer
    assert all(one in dataset.records for case in dataset.cases for one in (*case.expected, *case.stale))
    users = [record.text for record in dataset.records.values() if record.role == "user"]
    assert not any(re.search(r"->->[\s\d,]*$", text) for text in users)


HAYSTACK = ("haystack_session_ids", "haystack_dates", "haystack_sessions")


@pytest.mark.parametrize(
    ("made", "words"),
    [
        ([LONGMEMEVAL[0] | {key: [] for key in HAYSTACK}], "no message in"),
        ([{**LOCOMO[0], "conversation": {}}], "no message in"),
        ([LOCOMO[0], LOCOMO[0]], "two cases have the id 'conv-1/qa0'"),
        ([{**LOCOMO[0], "qa": [{**LOCOMO[0]["qa"][0], "evidence": "D1:1"}]}], "'D1:1' and no list"),
    ],
)
def test_a_published_file_that_holds_too_little_or_something_twice_is_named(tmp_path, made, words):
    path = tmp_path / "published.json"
    path.write_text(json.dumps(made))
    with pytest.raises(DatasetError, match=rf"published\.json.*{words}"):
        load_dataset(path)


@pytest.mark.parametrize("data", [b"[" * 200_000, b"[" + b"1" * 5_000 + b"]", b"\x1f\x8b\x08" + b"\xff" * 40])
def test_a_published_file_that_no_reader_takes_is_named(tmp_path, data):
    path = tmp_path / "published.json"
    path.write_bytes(data)
    with pytest.raises(DatasetError, match=r"published\.json: (no JSON that can be|cannot be) read"):
        load_dataset(path)
