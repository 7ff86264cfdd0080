"""What a message was, so that one that was changed in place is told apart."""

from __future__ import annotations

import dataclasses
import hashlib
import marshal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from pydantic import BaseModel

__all__ = ["Snapshot", "has_numbers", "plain_data"]

_DEEPEST: Final = 64  # providers refuse JSON far flatter than this; below it only the leaves are kept
_MOST_CONTAINERS: Final = 20_000  # a structure that shares its parts can unfold without end
_LONG: Final = 4_096  # bytes; comparing more than that is slower than walking the parts
_PRINTABLE: Final = frozenset(("builtins", "datetime", "decimal", "fractions", "pathlib", "uuid"))
_EXACT: Final = frozenset((str, int, float, bool, bytes, type(None)))
_FEW: Final = 1_000
_MARSHAL: Final = 2  # from version 3 on the bytes depend on reference counts


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the nested parts of a message were when they were counted.

    Attributes:
        plain: The parts as plain data: a copy, unless they are few and plain as they are.
        raw: Their bytes, if they are few enough to be compared as such; they differ for `1`, `1.0` and `True`.
        key: A key that two snapshots share only if they are the same.
        weight: Bytes that the snapshot takes.
        simple: Whether they were plain data already, neither foreign nor tangled, so that they can be compared as such.
    """

    plain: tuple[Any, ...]
    raw: bytes | None
    key: bytes
    weight: int
    simple: bool

    @classmethod
    def of(cls, parts: tuple[Any, ...]) -> Snapshot:
        """Take in what may change."""
        if _is_small(parts) and (raw := _bytes_of(parts)) is not None and len(raw) <= _LONG:
            return cls(parts, raw, raw, len(raw), simple=True)
        copier = _Copier()
        plain = tuple([copier.copy(part, 0) for part in parts])
        raw = marshal.dumps(plain, _MARSHAL)
        if len(raw) <= _LONG:
            return cls(plain, raw, raw, len(raw), copier.simple)
        return cls(plain, None, hashlib.blake2b(raw, digest_size=24).digest(), len(raw), copier.simple)

    def same(self, parts: tuple[Any, ...]) -> bool:
        """Whether parts that can be changed in place are still what was taken in."""
        if self.simple:
            if self.raw is not None:
                return _bytes_of(parts) == self.raw
            try:
                # Long strings that are still the same object compare at once, so this beats their bytes.
                return self.plain == parts and (not has_numbers(self.plain) or Snapshot.of(parts).key == self.key)
            except (ValueError, RecursionError):  # what was put in since is foreign, or nested too deeply
                return False
        return Snapshot.of(parts).key == self.key


def _bytes_of(parts: tuple[Any, ...]) -> bytes | None:
    try:
        return marshal.dumps(parts, _MARSHAL)
    except ValueError:  # foreign, or nested too deeply
        return None


def _is_small(parts: tuple[Any, ...]) -> bool:
    """Whether parts are plain data with few containers in them; one that holds itself is never small."""
    waiting: list[Any] = [*parts]
    for one in waiting:  # grows on the way
        kind = type(one)
        if kind in _EXACT:
            continue
        if kind is dict:
            waiting.extend(one.values())
        elif kind is list:
            waiting.extend(one)
        else:
            return False
        if len(waiting) > _FEW:
            return False
    return True


def has_numbers(plain: Any) -> bool:  # noqa: ANN401 - JSON-like
    """Whether equality could hide a difference in plain data: `1 == 1.0 == True`, yet they are written differently."""
    if isinstance(plain, dict):
        return any(map(has_numbers, plain.values()))
    if isinstance(plain, (list, tuple)):
        return any(map(has_numbers, plain))
    return isinstance(plain, (int, float))


def plain_data(value: Any) -> Any:  # noqa: ANN401 - anything a block may hold
    """A copy of `value` made of dicts, lists, strings, numbers, bytes and None only."""
    return _Copier().copy(value, 0)


class _Copier:
    """Copies values into dicts, lists, strings, numbers, bytes and None.

    Content blocks may hold anything (models, dates, sets, cycles, structures thousands of levels deep); what is counted
    and compared is this copy, so that nothing foreign can raise or change unseen. It stops at a number of containers
    that no honest message reaches.
    """

    __slots__ = ("_left", "_path", "simple")

    def __init__(self) -> None:
        self.simple = True
        self._left = _MOST_CONTAINERS
        self._path: set[int] = set()

    def copy(self, value: Any, depth: int) -> Any:  # noqa: ANN401 - anything
        """Copy one value that stands `depth` levels deep."""
        if type(value) in _EXACT:
            return value
        if id(value) in self._path:
            self.simple = False
            return "..."  # a value that holds itself, written as Python writes it
        self._left -= 1
        if depth >= _DEEPEST or self._left < 0:
            self.simple = False
            return _leaves(value)
        self._path.add(id(value))
        copied: Any
        if isinstance(value, dict):
            copied = {_key(key): self.copy(item, depth + 1) for key, item in value.items()}
        elif isinstance(value, (list, tuple, set, frozenset)):
            copied = [self.copy(item, depth + 1) for item in value]
        else:
            self.simple = False
            copied = self.copy(_opened(value), depth + 1)
        self._path.discard(id(value))
        return copied


def _key(key: Any) -> str:  # noqa: ANN401 - a dict's key
    return key if type(key) is str else str(_opened(key)) if not isinstance(key, (tuple, frozenset)) else "key"


def _opened(value: Any) -> Any:  # noqa: ANN401 - anything
    """What stands for one foreign value: simpler data, or text."""
    opened: Any
    base = next((base for base in (str, bool, int, float) if isinstance(value, base)), None)
    if isinstance(value, Enum):
        opened = value.value
    elif base is not None:
        opened = base(value)
    elif isinstance(value, Mapping):
        opened = dict(value)
    elif isinstance(value, (bytearray, memoryview)):
        opened = bytes(value)
    elif isinstance(value, BaseModel):
        opened = dict(value.__dict__)
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        opened = {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    elif type(value).__module__ in _PRINTABLE:
        opened = str(value)
    else:
        # A foreign __str__ or __repr__ may raise anything; the attributes say as much and run nobody's code.
        opened = {"type": type(value).__qualname__, **getattr(value, "__dict__", {})}
    return opened


def _leaves(value: Any) -> list[Any]:  # noqa: ANN401 - anything
    """The strings and numbers below a level at which structure no longer matters; visits each container once."""
    leaves: list[Any] = []
    seen: set[int] = set()
    waiting: list[Any] = [value]
    while waiting:
        one = waiting.pop()
        if type(one) in _EXACT:
            leaves.append(one)
        elif id(one) not in seen:
            seen.add(id(one))
            inner: Iterable[Any] = ()
            if isinstance(one, dict):
                inner = [part for pair in one.items() for part in pair]
            elif isinstance(one, (list, tuple, set, frozenset)):
                inner = one
            elif isinstance(one, (str, int, float)):
                inner = (_opened(one),)
            waiting.extend(inner)
    return leaves
