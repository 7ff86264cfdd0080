"""Data sets as JSON Lines: one line for the data set, then one for each message and each case.

```text
{"dataset": {"version": 1, "name": "mine", "now": "2026-06-01T12:00:00+00:00"}}
{"message": {"id": "m1", "text": "I live in Rome.", "at": "2026-05-01T09:00:00+00:00", "user": "ada"}, "history": "ada"}
{"case": {"id": "c1", "question": "Where do I live?", "expected": ["m1"], "user": "ada"}, "history": "ada"}
```

A case is asked of the messages of its history. A case written by hand may hold its messages itself, as a list under
`"messages"`.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from datetime import datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

from langchain_tiered_memory._times import in_utc
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.evaluation.cases import DatasetError, MemoryCase, MemoryRecord
from langchain_tiered_memory.types import MemoryScope

__all__ = ["bytes_of", "lines_of", "load", "reading"]

T = TypeVar("T")

_VERSION: Final = 1
_SCOPE: Final = ("user", "tenant", "session")
_TIMES: Final = frozenset(("at", "valid_until", "as_of", "now"))
_TEXTS: Final = frozenset(("speaker", "supersedes", "lasting", "entity", "attribute", "category", "answer"))
_LISTS: Final = frozenset(("expected", "stale", "forbidden", "irrelevant", "constraints"))
_HEAD: Final = frozenset(("version", "name", "now", "unit", "empty_recall"))
_RECORD: Final = frozenset(one.name for one in fields(MemoryRecord)) - {"scope"} | set(_SCOPE)
_CASE: Final = frozenset(one.name for one in fields(MemoryCase)) - {"scope"} | set(_SCOPE)
_GZIP: Final = b"\x1f\x8b"


# --- writing ----------------------------------------------------------------------------------------------------------


def lines_of(
    head: Mapping[str, Any], histories: Iterable[tuple[MemoryRecord, ...]], cases: Iterable[MemoryCase]
) -> Iterator[str]:
    """The lines of a data set's file, their ends included."""
    for line in _lines(head, histories, cases):
        yield json.dumps(line, ensure_ascii=False) + "\n"


def _lines(
    head: Mapping[str, Any], histories: Iterable[tuple[MemoryRecord, ...]], cases: Iterable[MemoryCase]
) -> Iterator[dict[str, Any]]:
    yield {"dataset": {"version": _VERSION, **head}}
    names: dict[int, str] = {}
    for number, history in enumerate(histories, start=1):
        names[id(history)] = f"history {number}"
        for record in history:
            yield {"message": _plain(record), "history": f"history {number}"}
    for case in cases:
        line: dict[str, Any] = {"case": _plain(case)}
        yield line | {"history": names[id(case.messages)]} if case.messages else line


def _plain(one: MemoryRecord | MemoryCase) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for part in fields(one):
        value = getattr(one, part.name)
        if part.name == "updated" and value == bool(getattr(one, "stale", ())):
            continue  # as it would be anyway
        if part.name == "messages" or (part.default is not MISSING and value == part.default and part.name != "scope"):
            continue
        if isinstance(value, MemoryScope):
            plain |= {name: given for name in _SCOPE if (given := getattr(value, name)) not in (None, "default")}
        elif isinstance(value, datetime):
            plain[part.name] = value.isoformat()
        else:
            plain[part.name] = list(value) if isinstance(value, tuple) else value
    return plain


# --- reading ----------------------------------------------------------------------------------------------------------


def load(path: str | Path, make: Callable[[dict[str, Any]], T]) -> T:
    """Read a data set.

    Args:
        path: The file.
        make: Makes it of its parts.

    Raises:
        DatasetError: The file cannot be read; names the line and the repair.
    """
    reader = _Reader(str(path))
    with reading(path):
        for number, line in enumerate(TextIOWrapper(BytesIO(bytes_of(path)), encoding="utf-8-sig"), start=1):
            if line.strip():
                reader.take(number, line)
    return reader.dataset(make)


def bytes_of(path: str | Path) -> bytes:
    """What a file holds, unpacked where it was packed with gzip."""
    data = Path(path).read_bytes()
    return gzip.decompress(data) if data.startswith(_GZIP) else data


@contextmanager
def reading(path: str | Path) -> Iterator[None]:
    """Name the file that cannot be read, and why.

    Raises:
        DatasetError: It cannot.
    """
    try:
        yield
    except (OSError, EOFError, zlib.error) as error:
        msg = f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}; check the path and its permissions"
        raise DatasetError(msg) from error
    except UnicodeDecodeError as error:
        msg = f"{path}: not UTF-8 (byte {error.start:,}); save it as UTF-8"
        raise DatasetError(msg) from error


class _Reader:
    """What the lines so far have told."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._line = 0
        self._head: dict[str, Any] = {}
        self._head_line = 0
        self._histories: dict[str, list[MemoryRecord]] = {}
        self._cases: list[tuple[int, dict[str, Any], str | None]] = []
        self._told: dict[str, tuple[int, MemoryRecord]] = {}
        self._places: set[tuple[str | int, str]] = set()

    def take(self, number: int, line: str) -> None:
        """Read one line."""
        self._line = number
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            self._fail(f"no JSON: {error.msg} at column {error.colno}", "write one JSON object on each line")
        except (RecursionError, ValueError) as error:  # brackets in brackets, or a number of thousands of digits
            self._fail(f"no JSON that can be read: {error}", "write one JSON object on each line")
        kinds = ("dataset", "message", "case")
        named = [kind for kind in kinds if isinstance(found, dict) and isinstance(found.get(kind), dict)]
        if len(named) != 1:
            self._fail("it is none of the three kinds of lines", f"write an object with one of {', '.join(kinds)}")
        body, history = found[named[0]], found.get("history")
        if extra := set(found) - {named[0], "history"}:
            self._fail(f"unknown {', '.join(sorted(extra))} beside {named[0]!r}", "only 'history' stands there")
        if history is not None and not isinstance(history, str):
            self._fail(f"history is {history!r}", "name it with a text")
        if named[0] == "dataset":
            self._take_head(body)
        elif named[0] == "message":
            record = self._record(body, history or "")
            self._histories.setdefault(history or "", []).append(record)
        else:
            self._known(body, _CASE)
            self._cases.append((number, body, history))

    def _take_head(self, body: dict[str, Any]) -> None:
        self._known(body, _HEAD)
        if self._head_line:
            self._fail(f"line {self._head_line} is one of the data set too", "write one, the first of the file")
        if not isinstance(body.get("name", ""), str):
            self._fail(f"name is {body['name']!r}", "write a text")
        empty = body.get("empty_recall")
        if empty is not None and (isinstance(empty, bool) or not isinstance(empty, int | float)):
            self._fail(f"empty_recall is {empty!r}", "write a number, or leave it out")
        if body.get("version", _VERSION) != _VERSION:
            self._fail(f"version {body['version']!r} is not known", f"write version {_VERSION}")
        self._head, self._head_line = body, self._line

    def dataset(self, make: Callable[[dict[str, Any]], T]) -> T:
        """All of it as a data set."""
        if not self._cases:
            msg = f"{self._path}: there is no case in it; add a line " + '{"case": {"id": ..., "question": ...}}'
            raise DatasetError(msg)
        histories = {name: tuple(records) for name, records in self._histories.items()}
        cases = []
        used: set[str] = set()
        lines: dict[str, int] = {}
        for number, body, history in self._cases:
            self._line = number
            name = history or ""
            if history is not None and history not in histories:
                known = ", ".join(map(repr, list(histories)[:3])) or "none"
                self._fail(f"no message belongs to the history {history!r}", f"there are {known}")
            used.add(name)
            cases.append(self._case(body, histories.get(name, ())))
            if (first := lines.setdefault(cases[-1].id, number)) != number:
                self._fail(f"the case {cases[-1].id!r} stands in line {first} too", "give each case its own id")
        times = [record.at for records in histories.values() for record in records]
        times += [record.at for case in cases for record in case.messages]
        self._line = self._head_line or 1
        now = self._moment(self._head, "now") if "now" in self._head else None
        if now is None:
            if not times:
                self._fail("neither the present nor a message is given", 'write "now" into the line of the data set')
            now = max(times)  # the present of a recorded conversation is its end
        try:
            return make(
                {
                    "name": self._head.get("name", Path(self._path).stem),
                    "cases": tuple(cases),
                    "now": now,
                    "unit": self._head.get("unit", "message"),
                    "empty_recall": self._head.get("empty_recall"),
                    "others": tuple(records for name, records in histories.items() if name not in used),
                }
            )
        except DatasetError as error:
            msg = f"{self._path}: {error}"
            raise DatasetError(msg) from error

    def _record(self, body: dict[str, Any], history: str | int) -> MemoryRecord:
        """One message; a message may stand in several histories, if it is the same in each."""
        self._known(body, _RECORD)
        if "at" not in body:
            self._fail("the message has no time", 'write "at", such as "2026-05-01T09:00:00+00:00"')
        record: MemoryRecord = self._made(MemoryRecord, body)
        first, known = self._told.setdefault(record.id, (self._line, record))
        if known != record or (history, record.id) in self._places:
            self._fail(f"the id {record.id!r} stands in line {first} too", "give each message its own id")
        self._places.add((history, record.id))
        return record

    def _case(self, body: dict[str, Any], history: tuple[MemoryRecord, ...]) -> MemoryCase:
        given = body.get("messages")
        if given is not None:
            if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
                self._fail("messages is no list of objects", 'write [{"id": ..., "text": ..., "at": ...}]')
            owner: dict[str, Any] = {name: body[name] for name in _SCOPE if name in body}
            history = tuple(self._record({**owner, **one}, self._line) for one in given)
        case: MemoryCase = self._made(MemoryCase, {**body, "messages": history})
        return case

    def _made(self, kind: type[Any], body: Mapping[str, Any]) -> Any:  # noqa: ANN401  # one of the kind
        try:
            parts = {name: value for name, value in body.items() if name not in _SCOPE}
            parts |= {name: self._moment(body, name) for name in _TIMES & body.keys()}
            owner = {name: body[name] for name in _SCOPE if body.get(name) is not None}
            if owner:
                parts["scope"] = MemoryScope(**{"user": "user", **owner})
            for name in _TEXTS & parts.keys():
                if parts[name] is None:
                    del parts[name]
                elif not isinstance(parts[name], str):
                    self._fail(f"{name} is {parts[name]!r}", "write a text")
            if not isinstance(parts.get("updated", True), bool):
                self._fail(f"updated is {parts['updated']!r}", "write true or false, or leave it out")
            for name in _LISTS & parts.keys():
                if not isinstance(parts[name], list):
                    self._fail(f"{name} is {parts[name]!r}", "write a list of texts")
            return kind(**parts)
        except DatasetError:
            raise
        except (ScopeError, TypeError, ValueError) as error:
            self._fail(str(error), "correct or remove the line")

    def _moment(self, body: Mapping[str, Any], name: str) -> datetime | None:
        value = body[name]
        if value is None:
            return None
        try:
            moment = datetime.fromisoformat(value) if isinstance(value, str) else value
            return in_utc(moment, name)
        except ValueError as error:
            self._fail(f"{name} is no time: {error}", 'write it such as "2026-05-01T09:00:00+00:00"')

    def _known(self, body: Mapping[str, Any], names: frozenset[str]) -> None:
        if unknown := set(body) - names:
            self._fail(f"unknown {', '.join(map(repr, sorted(unknown)))}", f"there are {', '.join(sorted(names))}")

    def _fail(self, problem: str, repair: str) -> NoReturn:
        msg = f"{self._path}, line {self._line}: {problem}; {repair}"
        raise DatasetError(msg)
