"""From a file's bytes to JSON values that know where they came from, and from text to a file in one step."""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from langchain_tiered_memory.errors import TranscriptError

__all__ = ["Place", "kind_of", "load_values", "write_text"]

_ARCHIVES = (
    (b"PK\x03\x04", "a ZIP archive", "unpack it and pass the JSON file inside (conversations.json of an export)"),
    (b"\x1f\x8b", "a gzip archive", "unpack it with gunzip first"),
    (b"%PDF", "a PDF", "export the conversation as JSON"),
    (b"SQLite format 3\x00", "a SQLite database", "export the conversation as JSON"),
)
_SPACE = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file, for errors.

    Attributes:
        source: The file.
        where: The record in it.
    """

    source: str
    where: str = ""

    def at(self, where: str) -> Place:
        """A place inside of this one."""
        return Place(self.source, f"{self.where}, {where}" if self.where else where)

    def fail(self, problem: str, repair: str, cause: BaseException | None = None) -> NoReturn:
        """Raise the error that names the file, the record, what is wrong there and the repair."""
        where = f"{self.source}: {self.where}" if self.where else self.source
        msg = f"{where}: {problem}; {repair}"
        raise TranscriptError(msg) from cause


def kind_of(value: object) -> str:
    """What a value is, in JSON's words."""
    if value is None:
        return "null"
    names = {bool: "a boolean", str: "a string", list: "a list", int: "a number", float: "a number"}
    return next((name for kind, name in names.items() if isinstance(value, kind)), "an object")


def load_values(data: bytes | str, source: str) -> list[tuple[Any, int]]:
    """Read one JSON document, or several after one another (JSON lines), each with the number of its line.

    Raises:
        TranscriptError: The bytes are no text, the text is no JSON, or a key stands twice in one object.
    """
    text = (_decode(data, source) if isinstance(data, bytes) else data).removeprefix("\ufeff")
    place = Place(source)
    twice: list[str] = []

    def keep_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            keys = [key for key, _ in pairs]
            twice.append(next(key for key in keys if keys.count(key) > 1))
        return value

    decoder = json.JSONDecoder(object_pairs_hook=keep_pairs)
    values: list[tuple[Any, int]] = []
    position, line, counted_to = _skip_space(text, 0), 1, 0
    while position < len(text):
        line += text.count("\n", counted_to, position)
        counted_to = position
        here = place.at(f"line {line}")
        if values and "\n" not in text[len(text[:position].rstrip()) : position]:
            column = position - text.rfind("\n", 0, position)
            place.at(f"line {line}, column {column}").fail(
                "more text follows on the line of a JSON value",
                "put each record on a line of its own, or all of them in one list",
            )
        value, end = _decode_one(decoder, text, position, here)
        if twice:
            here.fail(
                f"the key {twice[0]!r} stands twice in one object, so one of its values would be lost",
                "keep the right one and remove the other",
            )
        values.append((value, line))
        position = _skip_space(text, end)
    if not values:
        place.fail("it is empty", "pass a file that holds a conversation as JSON or JSON lines")
    return values


def _decode(data: bytes, source: str) -> str:
    for magic, what, repair in _ARCHIVES:
        if data.startswith(magic):
            Place(source).fail(f"it is {what}, not JSON", repair)
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"byte {error.start} is not {encoding.removesuffix('-sig').upper()} ({error.reason})"
        Place(source, f"line {line}").fail(what, "save the file as UTF-8", error)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _decode_one(decoder: json.JSONDecoder, text: str, position: int, place: Place) -> tuple[Any, int]:
    try:
        return decoder.raw_decode(text, position)
    except json.JSONDecodeError as error:
        place = Place(place.source, f"line {error.lineno}, column {error.colno}")
        if error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
            problem = f"the file ends inside a JSON value ({error.msg})"
            place.fail(problem, "it was probably cut off: copy or export it again", error)
        problem = f"not JSON: {error.msg}, at {text[error.pos : error.pos + 20]!r}"
        place.fail(problem, "correct it there, or export the conversation as JSON again", error)
    except RecursionError as error:
        problem = "the value is nested deeper than Python's JSON reader goes (about 1,000 levels)"
        place.fail(problem, "no conversation needs that: look for what wrote it", error)
    except ValueError as error:  # an integer of more digits than int() takes
        place.fail(f"a number cannot be read ({error})", "write it as a string", error)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole text file, or leave the old one as it was: a temporary file beside it, then a rename.

    Lone surrogates, which JSON text may hold as escapes and UTF-8 may not, are written as JSON escapes.

    Raises:
        TranscriptError: The file cannot be written.
    """
    try:
        _write(Path(path).resolve(), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        problem = f"it cannot be written ({error.strerror or error})"
        Place(str(path)).fail(problem, "pass a path in a folder that exists and can be written", error)


def _write(target: Path, data: bytes) -> None:
    if target.exists() and not target.is_file():  # a device or a pipe must be written to, never replaced
        target.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".tmp", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~mask)
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise
