"""From bytes to JSON values that know where they came from, and from text to a file in one step."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from langchain_tiered_memory.errors import TranscriptError

__all__ = ["Record", "atomic_write", "fail", "faithful_loads", "kind_of", "load_values"]

_ARCHIVES = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it and pass the JSON file inside (a ChatGPT export: conversations.json)"),
    (b"\x1f\x8b", "a gzip archive", "unpack it with gunzip first"),
    (b"%PDF", "a PDF", "export the conversation as JSON"),
    (b"SQLite format 3\x00", "a SQLite database", "export the conversation as JSON"),
)
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON value and the words that name its place in the file."""

    value: Any
    where: str


class _Ambiguous(dict[str, Any]):
    """An object whose text gave one key twice, so that one of the two values would be lost."""

    key: str


def fail(source: str, where: str, problem: str, repair: str, cause: BaseException | None = None) -> NoReturn:
    """Raise the error that names the file, the record, what is wrong there and the repair."""
    place = f"{source}: {where}" if where else source
    msg = f"{place}: {problem}; {repair}"
    raise TranscriptError(msg) from cause


def kind_of(value: object) -> str:
    """Say in JSON's words what a value is."""
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "a list", int: "a number", float: "a number"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "an object")


def load_values(data: bytes | str, source: str) -> list[Record]:
    """Read one JSON document, or several after one another (JSON lines), wholly or not at all.

    Raises:
        TranscriptError: The bytes are no text, the text is no JSON, or a key stands twice in one object.
    """
    text = _decode(data, source) if isinstance(data, bytes) else data.removeprefix("\ufeff")
    twice: list[_Ambiguous] = []

    def keep_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) == len(pairs):
            return value
        seen: set[str] = set()
        ambiguous = _Ambiguous(value)
        ambiguous.key = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]  # set.add gives None, which is the point
        twice.append(ambiguous)
        return ambiguous

    decoder = json.JSONDecoder(object_pairs_hook=keep_pairs)
    records: list[Record] = []
    position, line = _skip_space(text, 0), 1
    counted_to = 0
    while position < len(text):
        line += text.count("\n", counted_to, position)
        counted_to = position
        value, end = _decode_one(decoder, text, position, source)
        if records and not _separated(text, position):
            column = position - text.rfind("\n", 0, position)
            repair = "put each record on a line of its own, or all of them in one list"
            fail(source, f"line {line}, column {column}", "more text follows on the line of a JSON value", repair)
        records.append(Record(value, f"line {line}"))
        position = _skip_space(text, end)
    if not records:
        fail(source, "", "it is empty", "pass a file that holds a conversation as JSON or JSON lines")
    if twice:
        _report_ambiguous(records, twice, source)
    return records


def _decode(data: bytes, source: str) -> str:
    for magic, what, repair in _ARCHIVES:
        if data.startswith(magic):
            fail(source, "", f"it is {what}, not JSON", repair)
    encoding = json.detect_encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is not {encoding.removesuffix('-sig').upper()} ({error.reason})"
        fail(source, f"line {line}", what, "save the file as UTF-8", error)
    return text.removeprefix("\ufeff")


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _separated(text: str, position: int) -> bool:
    gap = position - 1
    while gap >= 0 and text[gap] in " \t\r":
        gap -= 1
    return text[gap] == "\n"


def _decode_one(decoder: json.JSONDecoder, text: str, position: int, source: str) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        if cut_off:
            problem = f"the file ends inside a JSON value ({error.msg})"
            fail(source, where, problem, "it was probably cut off: copy or export it again", error)
        problem = f"not JSON: {error.msg}, at {text[error.pos : error.pos + 20]!r}"
        fail(source, where, problem, "correct it there, or export the conversation as JSON again", error)
    except RecursionError as error:
        line = text.count("\n", 0, position) + 1
        problem = "the value is nested deeper than Python's JSON reader goes (about 1,000 levels)"
        fail(source, f"line {line}", problem, "no conversation needs that: look for what wrote it", error)
    except ValueError as error:  # an integer of more digits than int() takes
        line = text.count("\n", 0, position) + 1
        fail(source, f"line {line}", f"a number cannot be read ({error})", "write it as a string", error)


def _report_ambiguous(records: list[Record], twice: list[_Ambiguous], source: str) -> NoReturn:
    """Name the record that holds the first object with a doubled key."""
    first = twice[0]
    for record in records:
        items = record.value if isinstance(record.value, list) and len(records) == 1 else [record.value]
        for index, item in enumerate(items):
            if _holds(item, first):
                where = f"record {index}" if len(records) == 1 else record.where
                _fail_ambiguous(source, where, first)
    _fail_ambiguous(source, "", first)


def _fail_ambiguous(source: str, where: str, value: _Ambiguous) -> NoReturn:
    problem = f"the key {value.key!r} stands twice in one object, so one of its values would be lost"
    fail(source, where, problem, "keep the right one and remove the other")


def _holds(root: object, wanted: object) -> bool:
    stack = [root]
    while stack:
        value = stack.pop()
        if value is wanted:
            return True
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)
    return False


def faithful_loads(text: str) -> tuple[Any, bool]:
    """Read JSON text and say whether writing the value again would give the same value.

    A doubled key and a number with more digits than a float holds are read as everybody reads them, but the text
    says more than the value does; whoever needs the text must keep it.

    Raises:
        ValueError: The text is not JSON, or nested too deep to be read.
    """
    faithful = True

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal faithful
        value = dict(items)
        faithful = faithful and len(value) == len(items)
        return value

    def number(digits: str) -> float:
        nonlocal faithful
        value = float(digits)
        faithful = faithful and _digits(repr(value)) == _digits(digits)
        return value

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_float=number, strict=False)
    except RecursionError as error:
        msg = "nested too deep"
        raise ValueError(msg) from error
    return value, faithful


def _digits(number: str) -> str:
    mantissa, _, exponent = number.lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    return f"{whole}.{fraction.rstrip('0')}e{int(exponent or 0)}"


def atomic_write(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole file or leave the old one: a temporary file beside it, then a rename.

    Lone surrogates, which JSON text may hold as escapes and UTF-8 may not, are written as JSON escapes.

    Raises:
        OSError: The folder or the file cannot be written.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():  # a device or a pipe must be written to, never replaced
        target.write_bytes(text.encode("utf-8", "backslashreplace"))
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8", "backslashreplace"))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(_mode_for(target))
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _mode_for(target: Path) -> int:
    with suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
