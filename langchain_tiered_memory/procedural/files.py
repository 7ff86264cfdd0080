"""Procedures from files: Markdown or text with front matter, and documents of tools and texts in JSON or TOML.

| file | what it holds |
|---|---|
| `.md`, `.markdown`, `.txt` | one text; front matter may give `name`, `kind` and `version` |
| `.json`, `.toml` | `tools`, a list of schemas, and `procedures`, a list of `name`, `kind`, `version` and `text` |

A JSON file may also be one tool's schema, or a list of them. Front matter is TOML between two lines `+++`, or lines of
`key: value` between two lines `---`. Without it a text is called as its file, and is a workflow in a folder of the name
`workflows`, else a standing rule.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from langchain_tiered_memory.procedural.records import Kind, Procedure, ProcedureError, Source
from langchain_tiered_memory.procedural.schemas import tool_sources

__all__ = ["MAX_FILE_BYTES", "PathLike", "file_sources"]

PathLike: TypeAlias = str | os.PathLike[str]

MAX_FILE_BYTES: Final = 1_000_000
"""Of a larger file nothing is read: no prompt takes it, so it is none that was meant."""

_TEXTS: Final = frozenset((".md", ".markdown", ".txt"))
_DOCUMENTS: Final = frozenset((".json", ".toml"))
_WORKFLOW_FOLDERS: Final = frozenset(("workflow", "workflows"))
_FIELDS: Final = ("name", "kind", "version")
_FENCES: Final = {"---": "key: value", "+++": "TOML"}
_DOCUMENT_KEYS: Final = frozenset(("tools", "procedures", "version"))
_PROCEDURE_KEYS: Final = frozenset((*_FIELDS, "text"))
_MARKS: Final = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))


def file_sources(paths: PathLike | Iterable[PathLike], max_file_bytes: int = MAX_FILE_BYTES) -> list[Source]:
    """The procedures of some files and of all files in some folders, whatever their depth.

    Hidden files and folders are left out. Links are followed, as Kubernetes mounts a configuration by links.

    Raises:
        ProcedureError: A file or folder cannot be read or used; names it and the repair.
    """
    whatever: Any = paths  # callers without type checks too
    if isinstance(whatever, bytes) or not isinstance(whatever, str | os.PathLike | Iterable):
        msg = f"{paths!r:.80} is no path: give a file, a folder, or a list of them"
        raise ProcedureError(msg)
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    if not given:
        msg = "no file was given, perhaps since a pattern matches none: an agent without its rules must not start"
        raise ProcedureError(msg)
    return [source for path in given for file in _files(Path(path)) for source in _read(file, max_file_bytes)]


# --- finding ----------------------------------------------------------------------------------------------------------


def _files(path: Path) -> Iterator[Path]:
    if _status(path) is _FOLDER:
        found = list(_walk(path, ()))
        if not found:
            _fail(path, "the folder holds no procedure", "put a .md, .txt, .json or .toml file into it")
        yield from found
    else:
        yield path


def _walk(folder: Path, above: tuple[tuple[int, int], ...]) -> Iterator[Path]:
    here = _identity(folder)
    if here in above:
        _fail(folder, "it is a link to a folder that it lies in, so it never ends", "remove the link")
    try:
        children = sorted(folder.iterdir())
    except OSError as error:
        _fail(folder, f"the folder cannot be read ({error.strerror})", "allow this process to read it", error)
    for child in children:
        if child.name.startswith("."):
            continue
        if _status(child) is _FOLDER:
            yield from _walk(child, (*above, here))
        else:
            yield child


_FOLDER: Final = "folder"
_FILE: Final = "file"


def _status(path: Path) -> str:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        if path.is_symlink():
            _fail(path, "it is a link to a file that does not exist", "correct or remove the link", error)
        _fail(path, "there is no such file or folder", "correct the path", error)
    except ValueError as error:  # a NUL in the path
        _fail(path, f"it is no path ({error})", "correct the path", error)
    except OSError as error:  # a loop of links is one
        _fail(path, f"it cannot be read ({error.strerror})", "correct the link or the permissions", error)
    if stat.S_ISDIR(mode):
        return _FOLDER
    if not stat.S_ISREG(mode):
        _fail(path, "it is a device, pipe or socket", "give a regular file")
    return _FILE


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


# --- reading ----------------------------------------------------------------------------------------------------------


def _read(path: Path, max_file_bytes: int) -> list[Source]:
    suffix = path.suffix.lower()
    if suffix not in _TEXTS | _DOCUMENTS:
        repair = "rename it to .md, .txt, .json or .toml, or move it elsewhere (a hidden file is left out)"
        _fail(path, f"a file ending in {suffix or 'nothing'} is no procedure", repair)
    text = _text_of(path, max_file_bytes)
    try:
        return _document(path, text, suffix) if suffix in _DOCUMENTS else [_text_source(path, text)]
    except ProcedureError as error:
        if str(error).startswith(str(path)):
            raise
        msg = f"{path}: {error}"
        raise ProcedureError(msg) from error


def _text_of(path: Path, max_file_bytes: int) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(max_file_bytes + 1)
    except OSError as error:
        _fail(path, f"it cannot be read ({error.strerror})", "allow this process to read it", error)
    if len(data) > max_file_bytes:
        size = path.stat().st_size
        repair = "split it, shorten it, or raise max_file_bytes"
        _fail(path, f"it has {size:,} bytes, more than max_file_bytes={max_file_bytes:,}", repair)
    mark = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if mark:
        _fail(path, f"it is in {mark}", "save it as UTF-8")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _fail(path, f"line {line}: byte {error.start} is not UTF-8 ({error.reason})", "save it as UTF-8", error)
    if not text.strip():
        _fail(path, "it is empty", "write what it should say, or remove it")
    return text.replace("\r\n", "\n").replace("\r", "\n")


# --- texts ------------------------------------------------------------------------------------------------------------


def _text_source(path: Path, text: str) -> Source:
    fields, body = _split_front_matter(path, text)
    kind: Any = fields.get("kind", "workflow" if path.absolute().parent.name.lower() in _WORKFLOW_FOLDERS else "system")
    if kind == "tool":
        _fail(path, "a text is no tool", "write the tool's schema into a .json file, or use kind: workflow")
    name: Any = fields.get("name", path.stem)
    return Source(Procedure(name, kind, body, fields.get("version", "")), str(path))


def _split_front_matter(path: Path, text: str) -> tuple[dict[str, Any], str]:
    first, _, rest = text.partition("\n")
    fence = first.rstrip()
    if fence not in _FENCES:
        return {}, text
    lines = rest.split("\n")
    end = next((index for index, line in enumerate(lines) if line.rstrip() == fence), None)
    if end is None:
        if fence == "---":  # a rule across the page, as Markdown draws it
            return {}, text
        _fail(path, f"the front matter that begins with {fence} does not end", f"write a line {fence} behind it")
    header, body = lines[:end], "\n".join(lines[end + 1 :])
    fields = _toml(path, "\n".join(header), 1) if fence == "+++" else _flat(path, header)
    unknown = sorted(fields.keys() - set(_FIELDS))
    if unknown:
        repair = f"known are {', '.join(_FIELDS)}; write everything else into the text"
        _fail(path, f"the front matter gives {unknown[0]!r}, which is not known", repair)
    return fields, body


def _flat(path: Path, lines: list[str]) -> dict[str, Any]:
    """Lines of `key: value`, the part of YAML that needs no YAML."""
    fields: dict[str, Any] = {}
    for number, line in enumerate(lines, start=2):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        key, colon, value = line.partition(":")
        key, value = key.strip(), value.strip()
        if not colon or not value or line[0].isspace() or value[0] in "[{|>&*!":
            repair = "write one key: value on each line (or TOML between two lines +++)"
            _fail(path, f"line {number} of the front matter cannot be read: {line.strip()!r:.80}", repair)
        if key in fields:
            _fail(path, f"line {number} of the front matter gives {key!r} again", "keep one of them")
        quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\"'"
        fields[key] = value[1:-1] if quoted else value
    return fields


def _toml(path: Path, text: str, lines_before: int = 0) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        where = f" ({lines_before} line before it not counted)" if lines_before else ""
        _fail(path, f"it is no TOML: {error}{where}", "correct it there", error)


# --- documents --------------------------------------------------------------------------------------------------------


def _document(path: Path, text: str, suffix: str) -> list[Source]:
    value = _toml(path, text) if suffix == ".toml" else _json(path, text)
    if isinstance(value, list):
        value = {"tools": value}
    elif isinstance(value, dict) and _DOCUMENT_KEYS.isdisjoint(value.keys() - {"version"}):
        value = {"tools": [value]}
    if not isinstance(value, dict):
        repair = "write a tool's schema, a list of them, or an object of lists"
        _fail(path, f"it holds a {type(value).__name__}", repair)
    unknown = sorted(value.keys() - _DOCUMENT_KEYS)
    if unknown:
        repair = f"known are {', '.join(sorted(_DOCUMENT_KEYS))}"
        _fail(path, f"it gives {unknown[0]!r}, which is not known", repair)
    version = value.get("version", "")
    tools, texts = value.get("tools", []), value.get("procedures", [])
    for key, given in (("tools", tools), ("procedures", texts)):
        if not isinstance(given, list):
            _fail(path, f"{key} is a {type(given).__name__}", "write a list")
    if not tools and not texts:
        _fail(path, "it holds no procedure", "write some into tools or procedures, or remove the file")
    sources = tool_sources(tools, f"{path}: tools", version)
    return sources + [_entry(path, f"procedures[{index}]", entry, version) for index, entry in enumerate(texts)]


def _entry(path: Path, where: str, entry: object, version: str) -> Source:
    if not isinstance(entry, Mapping) or not {"name", "text"} <= entry.keys() <= _PROCEDURE_KEYS:
        shape = 'write {"name": ..., "kind": "workflow", "version": ..., "text": ...}'
        _fail(path, f"{where} is not of its form: {entry!r:.80}", shape)
    kind: Kind = entry.get("kind", "system")
    if kind == "tool":
        _fail(path, f"{where} is a text and no tool", "write the tool's schema into tools")
    try:
        procedure = Procedure(entry["name"], kind, entry["text"], entry.get("version", version))
    except ProcedureError as error:
        msg = f"{path}: {where}: {error}"
        raise ProcedureError(msg) from error
    return Source(procedure, f"{path}: {where}")


def _json(path: Path, text: str) -> Any:  # noqa: ANN401  # JSON
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            _fail(path, f"the key {twice!r} stands twice in one object", "keep the right one and remove the other")
        return value

    def no_number(name: str) -> NoReturn:
        _fail(path, f"it holds {name}, which is no JSON", "write a number or null")

    try:
        return json.loads(text, object_pairs_hook=once, parse_constant=no_number)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        _fail(path, f"it is no JSON: {error.msg} ({where})", "correct it there", error)
    except (RecursionError, ValueError) as error:
        if isinstance(error, ProcedureError):
            raise
        _fail(path, f"it cannot be read as JSON: {error}", "correct it there", error)


def _fail(path: Path, problem: str, repair: str, cause: BaseException | None = None) -> NoReturn:
    msg = f"{path}: {problem}; {repair}"
    raise ProcedureError(msg) from cause
