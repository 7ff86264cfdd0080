"""Data sets that others published, as they come: LoCoMo, LongMemEval and BEAM.

| format | file | unit | evidence |
|---|---|---|---|
| LoCoMo (Maharana et al., ACL 2024) | `locomo10.json` | message | `evidence` |
| LongMemEval (Wu et al., ICLR 2025) | `longmemeval_*.json` | round | turns with `has_answer` |
| BEAM (Tavakoli et al., 2025) | a list of chats, `.json` or `.json.gz` | round | `source_chat_ids` |

Labels that point nowhere stay as they are, and count as missed, as in their authors' own figures.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from langchain_tiered_memory.evaluation.cases import DatasetError, MemoryCase, MemoryRecord
from langchain_tiered_memory.evaluation.datasets import MemoryDataset
from langchain_tiered_memory.evaluation.files import bytes_of, reading
from langchain_tiered_memory.types import MemoryScope

__all__ = ["FORMATS", "DatasetFormat", "load_beam", "load_dataset", "load_locomo", "load_longmemeval"]

DatasetFormat: TypeAlias = Literal["jsonl", "locomo", "longmemeval", "beam"]
FORMATS: Final[tuple[DatasetFormat, ...]] = ("jsonl", "locomo", "longmemeval", "beam")

_SESSION: Final = re.compile(r"session_(\d+)")
_BEAM_MARK: Final = re.compile(r"\s*->->[\s\d,]*$")
_LOCOMO_KINDS: Final = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
_LOCOMO_TIME: Final = "%I:%M %p on %d %B, %Y"
_LONGMEMEVAL_TIME: Final = "%Y/%m/%d (%a) %H:%M"
_BEAM_TIME: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The messages have no times, and their anchors are dates of the story, so only their order is told."""
_OUTDATED: Final = "original_info"


def load_dataset(path: str | Path, format: DatasetFormat | None = None) -> MemoryDataset:  # noqa: A002  # LangChain's word
    """Read a data set of any known format.

    Args:
        path: The file; `.json.gz` too.
        format: What it is; told from its content if not given.

    Raises:
        DatasetError: It cannot be read, or is of no known format; names the place and the repair.
    """
    if format is None:
        format = _format_of(path)  # noqa: A001  # as above
    readers = {"locomo": load_locomo, "longmemeval": load_longmemeval, "beam": load_beam, "jsonl": MemoryDataset.load}
    if format not in readers:
        msg = f"format={format!r} is not known: use one of {', '.join(readers)}"
        raise DatasetError(msg)
    return readers[format](path)


def _format_of(path: str | Path) -> DatasetFormat:
    with reading(path):
        data = bytes_of(path).lstrip(b"\xef\xbb\xbf \t\r\n")
    if data.startswith(b"{"):
        return "jsonl"
    items = _items(path)
    first = items[0]
    for name, keys in (
        ("locomo", ("conversation", "qa")),
        ("longmemeval", ("haystack_sessions", "question")),
        ("beam", ("messages", "questions")),
    ):
        if all(key in first for key in keys):
            return name  # type: ignore[return-value]  # one of the three
    msg = f"{path}: of no known format (its first item has {', '.join(first)}); there are {', '.join(FORMATS)}"
    raise DatasetError(msg)


# --- LoCoMo -----------------------------------------------------------------------------------------------------------


def load_locomo(path: str | Path, *, corrections: str | Path | None = None) -> MemoryDataset:
    """Read LoCoMo's file: each turn a message, each conversation a user, recall as its authors count it.

    A picture is told by its caption. A question without evidence counts as answered, and evidence that names no turn as
    missed: so the figures can be held beside the paper's.

    Args:
        path: `locomo10.json`.
        corrections: The audit's `errors.json` (dial481/locomo-audit), whose evidence then replaces the file's.

    Raises:
        DatasetError: It is no such file.
    """
    corrected = _locomo_corrections(corrections) if corrections is not None else {}
    cases: list[MemoryCase] = []
    for number, sample in enumerate(_items(path)):
        with _Reading(path, f"sample {number}"):
            name = sample["sample_id"]
            history = tuple(_locomo_records(name, sample["conversation"]))
            for index, asked in enumerate(sample["qa"]):
                evidence = corrected.get(f"locomo_{number}_qa{index}", asked["evidence"])
                if not isinstance(evidence, list):
                    msg = f"evidence of question {index} is {evidence!r} and no list"
                    raise TypeError(msg)
                cases.append(
                    MemoryCase(
                        id=f"{name}/qa{index}",
                        question=asked["question"],
                        messages=history,
                        expected=tuple(f"{name}/{one}" for one in evidence),
                        scope=MemoryScope(user=name),
                        category=_LOCOMO_KINDS[asked["category"]],
                        answer=str(asked.get("answer", asked.get("adversarial_answer", ""))) or None,
                    )
                )
    return _dataset(path, "LoCoMo", cases, unit="message", empty_recall=1.0)


def _locomo_records(name: str, conversation: Mapping[str, Any]) -> Iterator[MemoryRecord]:
    numbers = sorted(int(found[1]) for key in conversation if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        at = _time(conversation[f"{session}_date_time"], _LOCOMO_TIME)
        for turn in conversation[session]:
            shown = f" and shared {turn['blip_caption']}" if turn.get("blip_caption") else ""  # as the authors write it
            yield MemoryRecord(
                id=f"{name}/{turn['dia_id']}",
                text=turn["text"] + shown,
                at=at,
                scope=MemoryScope(user=name, session=session),
                speaker=turn["speaker"],
            )


def _locomo_corrections(path: str | Path) -> dict[str, list[str]]:
    found = {}
    for number, item in enumerate(_items(path)):
        with _Reading(path, f"item {number}"):
            if item.get("correct_evidence"):
                found[item["question_id"]] = list(item["correct_evidence"])
    return found


# --- LongMemEval ------------------------------------------------------------------------------------------------------


def load_longmemeval(path: str | Path) -> MemoryDataset:
    """Read a file of LongMemEval: each question with its own haystack of sessions, the turns with the answer evidence.

    Raises:
        DatasetError: It is no such file.
    """
    cases = []
    for number, item in enumerate(_items(path)):
        with _Reading(path, f"question {number}"):
            name = str(item["question_id"])
            history: list[MemoryRecord] = []
            evidence = []
            sessions = zip(item["haystack_session_ids"], item["haystack_dates"], item["haystack_sessions"], strict=True)
            for place, (session, date, turns) in enumerate(sessions):
                at = _time(date, _LONGMEMEVAL_TIME)
                for index, turn in enumerate(turns):
                    record = f"{name}/{place}-{session}/{index}"
                    if not turn["content"].strip():
                        continue
                    if turn.get("has_answer"):
                        evidence.append(record)
                    history.append(
                        MemoryRecord(
                            id=record,
                            text=turn["content"],
                            at=at,
                            scope=MemoryScope(user=name, session=f"{place}-{session}"),
                            role=turn["role"],
                        )
                    )
            cases.append(
                MemoryCase(
                    id=name,
                    question=item["question"],
                    messages=tuple(sorted(history, key=lambda one: one.at)),
                    # An abstention question has no answer, whatever its haystack marks.
                    expected=() if name.endswith("_abs") else tuple(evidence),
                    as_of=_time(item["question_date"], _LONGMEMEVAL_TIME),
                    scope=MemoryScope(user=name),
                    category=item["question_type"],
                    answer=str(item["answer"]),
                )
            )
    return _dataset(path, "LongMemEval", cases, unit="round")


# --- BEAM -------------------------------------------------------------------------------------------------------------


def load_beam(path: str | Path) -> MemoryDataset:
    """Read chats of BEAM: each round as one, an updated answer with the outdated one as stale.

    Raises:
        DatasetError: It is no such file.
    """
    cases: list[MemoryCase] = []
    for number, chat in enumerate(_items(path)):
        with _Reading(path, f"chat {number}"):
            name = f"chat-{chat['chat_id']}"
            scope = MemoryScope(user=name, session="chat")
            history = tuple(_beam_records(name, scope, chat["messages"]))
            counts: dict[str, int] = {}
            for asked in chat["questions"]:
                kind = asked["category"]
                counts[kind] = counts.get(kind, 0) + 1
                sources = asked["source_chat_ids"]
                expected, stale = _beam_evidence(sources)
                cases.append(
                    MemoryCase(
                        id=f"{name}/{kind}/{counts[kind]}",
                        question=asked["question"],
                        messages=history,
                        expected=tuple(f"{name}/{one}" for one in expected),
                        stale=tuple(f"{name}/{one}" for one in stale if one not in expected),
                        # Two questions name one message as the old and the new answer, and are updates all the same.
                        updated=isinstance(sources, Mapping) and _OUTDATED in sources,
                        scope=scope.whole_user(),
                        category=kind,
                        answer=None if asked.get("answer") is None else str(asked["answer"]),
                    )
                )
    return _dataset(path, "BEAM", cases, unit="round")


def _beam_records(name: str, scope: MemoryScope, messages: Iterable[Mapping[str, Any]]) -> Iterator[MemoryRecord]:
    for message in messages:
        text = message["content"]
        if message["role"] == "user":
            text = _BEAM_MARK.sub("", text)
        if text.strip():
            yield MemoryRecord(
                id=f"{name}/{message['id']}", text=text, at=_BEAM_TIME, scope=scope, role=message["role"]
            )


def _beam_evidence(sources: Any) -> tuple[list[Any], list[Any]]:  # noqa: ANN401  # a list, a dict of lists, or nothing
    """The ids that hold the answer, and those that held it before."""
    if not isinstance(sources, Mapping):
        return list(dict.fromkeys(_flat(sources or ()))), []
    expected = [one for key, given in sources.items() if key != _OUTDATED for one in _flat(given)]
    return list(dict.fromkeys(expected)), list(dict.fromkeys(_flat(sources.get(_OUTDATED, ()))))


def _flat(given: Any) -> Iterator[Any]:  # noqa: ANN401  # ids, in lists or not
    if isinstance(given, list | tuple):
        for one in given:
            yield from _flat(one)
    else:
        yield given


# --- files ------------------------------------------------------------------------------------------------------------


def _dataset(path: str | Path, name: str, cases: list[MemoryCase], **settings: Any) -> MemoryDataset:  # noqa: ANN401  # fields of it
    if not cases:
        msg = f"{path}: there is no question in it; pass the file as it was published"
        raise DatasetError(msg)
    ends = [record.at for case in cases for record in case.messages[-1:]]
    if not ends:
        msg = f"{path}: there is no message in it; pass the file as it was published"
        raise DatasetError(msg)
    try:
        return MemoryDataset(name=name, cases=tuple(cases), now=max(ends), **settings)
    except DatasetError as error:
        msg = f"{path}: {error}"
        raise DatasetError(msg) from error


def _items(path: str | Path) -> list[dict[str, Any]]:
    with reading(path):
        text = bytes_of(path).decode("utf-8-sig")
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        msg = f"{path}, line {error.lineno}: no JSON: {error.msg}; repair or fetch the file again"
        raise DatasetError(msg) from error
    except (RecursionError, ValueError) as error:  # brackets in brackets, or a number of thousands of digits
        msg = f"{path}: no JSON that can be read: {error}; repair or fetch the file again"
        raise DatasetError(msg) from error
    if not isinstance(found, list) or not found or not all(isinstance(one, dict) for one in found):
        msg = f"{path}: no list of objects, which every published format is; pass the file as it was published"
        raise DatasetError(msg)
    return found


def _time(text: str, form: str) -> datetime:
    return datetime.strptime(text, form).replace(tzinfo=UTC)


class _Reading:
    """Names the place where something is not as the format has it."""

    def __init__(self, path: str | Path, place: str) -> None:
        self._path = path
        self._place = place

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, KeyError | TypeError | ValueError | IndexError | AttributeError):
            what = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) and error.args else str(error)
            msg = f"{self._path}, {self._place}: {what}; pass the file as it was published, or another --format"
            raise DatasetError(msg) from error
