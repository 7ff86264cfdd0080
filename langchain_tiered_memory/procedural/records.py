"""One procedure as data: what it is called, what it says, in which version, and how two releases of it differ."""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from langchain_tiered_memory.errors import TieredMemoryError

__all__ = [
    "KINDS",
    "Kind",
    "Procedure",
    "ProcedureChange",
    "ProcedureError",
    "Source",
    "Texts",
    "changes",
    "merged",
    "text_sources",
]

Kind: TypeAlias = Literal["system", "workflow", "tool"]
KINDS: Final[tuple[Kind, ...]] = ("system", "workflow", "tool")
"""Standing rules, ways to do something, and tool schemas: in this order they stand in a prompt."""

_LONGEST_NAME: Final = 128
_NOT_IN_A_NAME: Final = frozenset('"<>')
_BOM: Final = "\ufeff"


class ProcedureError(TieredMemoryError, ValueError):
    """Raised when procedures cannot be loaded; names where they come from, what is wrong, and the repair."""


@dataclass(frozen=True, slots=True)
class Procedure:
    r"""A text that tells an agent how to do its work, or the schema of a tool.

    The text is the owner's own, and goes into the prompt as it stands: braces and placeholders are only text. Only line
    ends become `\n`, and a byte order mark and blank lines around the text go, so that all editors save the same one.

    Attributes:
        name: What it is called; one of each name exists.
        kind: `"system"`, `"workflow"` or `"tool"`; the text of a tool is its schema as JSON with sorted keys.
        text: What is injected.
        version: What its owner calls this release of it; without that, 12 hexadecimal digits that stand for its text.

    Raises:
        ProcedureError: A part cannot be used.
    """

    name: str
    kind: Kind
    text: str
    version: str = ""

    def __post_init__(self) -> None:
        """Check the parts, and write the text as every editor would."""
        _check_name(self.name)
        if self.kind not in KINDS:
            msg = f"kind={self.kind!r} of {self.name!r} is not known: use 'system', 'workflow' or 'tool'"
            raise ProcedureError(msg)
        text: Any = self.text
        if not isinstance(text, str):
            msg = f"the text of {self.name!r} is a {type(text).__name__}: give a str"
            raise ProcedureError(msg)
        text = text.removeprefix(_BOM).replace("\r\n", "\n").replace("\r", "\n")
        _check_characters(text)
        lines = text.split("\n")
        while lines and not lines[-1].strip():
            lines.pop()
        while lines and not lines[0].strip():
            lines.pop(0)
        if not lines:
            msg = f"{self.name!r} holds no text: write what it should say, or remove it"
            raise ProcedureError(msg)
        object.__setattr__(self, "text", "\n".join(lines))
        object.__setattr__(self, "version", self._checked_version())

    @property
    def digest(self) -> str:
        """12 hexadecimal digits that stand for the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]

    @property
    def is_versioned(self) -> bool:
        """Whether the version was given, and does not just follow from the text."""
        return self.version != self.digest

    def _checked_version(self) -> str:
        version: Any = self.version
        if version is None or version == "":
            return self.digest
        if isinstance(version, int) and not isinstance(version, bool):  # version = 3 in TOML or JSON
            return str(version)
        if not isinstance(version, str) or not version.isprintable() or not version.strip():
            msg = f"version={version!r} of {self.name!r} cannot be used: write one line of text, such as '1.2'"
            raise ProcedureError(msg)
        return version.strip()


@dataclass(frozen=True, slots=True)
class Source:
    """A procedure, where it comes from, and for a tool what is to be bound."""

    procedure: Procedure
    origin: str
    tool: Any = None
    runs: bool = False
    """Whether the tool can be called, and is more than a schema."""


Texts: TypeAlias = str | Procedure | Mapping[str, str] | Iterable[str | Procedure]
"""Texts: one, several, or several by name; a `Procedure` says its name and version itself."""


@dataclass(frozen=True, slots=True)
class ProcedureChange:
    """How one procedure differs between two releases; `str()` shows it as a unified diff.

    Attributes:
        name: The procedure's name.
        before: The procedure as it was; `None` when it is new.
        after: The procedure as it is; `None` when it is gone.
    """

    name: str
    before: Procedure | None
    after: Procedure | None

    @property
    def reuses_version(self) -> bool:
        """Whether the text changed under a version that stayed: a release that nobody can tell from the one before."""
        before, after = self.before, self.after
        return before is not None and after is not None and before.version == after.version

    def __str__(self) -> str:
        before, after = _lines(self.before), _lines(self.after)
        titles = (_title(self.name, self.before), _title(self.name, self.after))
        return "\n".join(difflib.unified_diff(before, after, *titles, lineterm=""))


def text_sources(texts: Texts, kind: Kind) -> list[Source]:
    """Texts that were passed, under the names that they bring, or that follow from their place.

    Raises:
        ProcedureError: One cannot be used; says which argument it was.
    """
    argument = "workflows" if kind == "workflow" else kind
    if isinstance(texts, str | Procedure):
        return [_source(texts, kind, kind, argument)] if texts else []
    if isinstance(texts, Mapping):
        return [_source(text, name, kind, f"{argument}[{name!r}]") for name, text in texts.items()]
    given: Any = texts  # callers without type checks too
    if isinstance(given, bytes) or not isinstance(given, Iterable):
        msg = f"{argument}={texts!r:.80} is no text: give text, several texts or a dict of them, or leave it out"
        raise ProcedureError(msg)
    return [_source(text, f"{kind}-{index + 1}", kind, f"{argument}[{index}]") for index, text in enumerate(texts)]


def _source(text: Any, name: str, kind: Kind, origin: str) -> Source:  # noqa: ANN401  # checked here
    if isinstance(text, Procedure):
        if text.kind != kind:
            msg = f"{origin}: {text.name!r} is a {text.kind}, not a {kind}: pass it where its kind belongs"
            raise ProcedureError(msg)
        return Source(text, origin)
    try:
        return Source(Procedure(name, kind, text), origin)
    except ProcedureError as error:
        msg = f"{origin}: {error}"
        raise ProcedureError(msg) from error


def changes(before: Iterable[Procedure], after: Iterable[Procedure]) -> list[ProcedureChange]:
    """What differs between two releases, by name."""
    old = {procedure.name: procedure for procedure in before}
    new = {procedure.name: procedure for procedure in after}
    names = sorted(old.keys() | new.keys())
    return [ProcedureChange(name, old.get(name), new.get(name)) for name in names if old.get(name) != new.get(name)]


def merged(sources: Iterable[Source]) -> dict[str, Source]:
    """The procedures by name, each once.

    Raises:
        ProcedureError: Two of one name differ; names both origins.
    """
    found: dict[str, Source] = {}
    for source in sources:
        name = source.procedure.name
        found[name] = _one_of(found[name], source) if name in found else source
    return found


def _one_of(first: Source, second: Source) -> Source:
    """Of two procedures that say the same the one that says more: with a version, or with something to run."""
    one, other = first.procedure, second.procedure
    if one.kind != other.kind:
        _refuse(first, second, f"one is a {one.kind}, the other a {other.kind}")
    if one.text != other.text:
        _refuse(first, second, _difference(one, other))
    if one.version != other.version and one.is_versioned and other.is_versioned:
        _refuse(first, second, f"one is version {one.version!r}, the other {other.version!r}")
    if first.runs and second.runs and first.tool is not second.tool:
        _refuse(first, second, "their schemas are equal, but they are two tools that run on their own")
    versioned = first if one.is_versioned or not other.is_versioned else second
    # What runs, else one that does not depend on which was loaded first.
    tool = min(first, second, key=lambda source: (not source.runs, repr(source.tool)))
    return Source(versioned.procedure, versioned.origin, tool.tool, tool.runs)


def _refuse(first: Source, second: Source, why: str) -> None:
    one = first.procedure
    what = "two contradictory descriptions of the tool" if one.kind == second.procedure.kind == "tool" else "two of"
    msg = f"{what} {one.name!r}: {first.origin} and {second.origin} ({why}). Remove one of them, or rename it"
    raise ProcedureError(msg)


def _difference(one: Procedure, other: Procedure) -> str:
    """The first line on which two texts differ."""
    here, there = _lines(one), _lines(other)
    lines = enumerate(zip(here, there, strict=False), start=1)
    number, pair = next(((number, pair) for number, pair in lines if pair[0] != pair[1]), (0, ("", "")))
    if not number:
        return f"one goes on after line {min(len(here), len(there))}"
    what = "their schemas" if one.kind == "tool" else "their texts"
    return f"{what} differ first in line {number}: {pair[0].strip()!r:.80} and {pair[1].strip()!r:.80}"


def _lines(procedure: Procedure | None) -> list[str]:
    if procedure is None:
        return []
    text = procedure.text
    if procedure.kind == "tool":
        text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    return text.split("\n")


def _title(name: str, procedure: Procedure | None) -> str:
    return "(none)" if procedure is None else f"{procedure.kind} {name} {procedure.version}"


def _check_name(name: Any) -> None:  # noqa: ANN401  # callers without type checks too
    usable = isinstance(name, str) and name.isprintable() and name == name.strip() and 0 < len(name) <= _LONGEST_NAME
    if not usable or not _NOT_IN_A_NAME.isdisjoint(name):
        msg = (
            f"name={name!r:.160} cannot be used: give 1 to {_LONGEST_NAME} printable characters on one line, "
            "without quotes and angle brackets"
        )
        raise ProcedureError(msg)


def _check_characters(text: str) -> None:
    """Refuse what no provider takes, and what tells that a file is no text."""
    place = text.find("\0")
    what = "a NUL character, so it is no text file, or not in UTF-8: save it as UTF-8"
    if place < 0:
        place = next((index for index, one in enumerate(text) if "\ud800" <= one <= "\udfff"), -1)
        what = "a lone surrogate, which cannot be sent to a model: remove it"
    if place >= 0:
        line = text.count("\n", 0, place) + 1
        msg = f"line {line} holds {what}"
        raise ProcedureError(msg)
