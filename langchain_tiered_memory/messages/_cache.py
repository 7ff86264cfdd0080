"""The memory of what was counted: bounded, keyed by content, and never stale after a message was changed in place."""

from __future__ import annotations

import dataclasses
import hashlib
import marshal
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Generic, TypeVar

from pydantic import BaseModel

__all__ = ["CacheInfo", "GenerationCache", "Snapshot", "plain_data"]

K = TypeVar("K")
V = TypeVar("V")

_DEEPEST: Final = 64  # providers refuse JSON far flatter than this; below it only the leaves are kept
_MOST_CONTAINERS: Final = 20_000  # a structure that shares its parts can unfold without end
_LONG: Final = 4_096  # bytes; comparing more than that is slower than walking the parts
_PRINTABLE: Final = frozenset(("builtins", "datetime", "decimal", "fractions", "pathlib", "uuid"))
_EXACT: Final = frozenset((str, int, float, bool, bytes, type(None)))
_FEW: Final = 1_000
_MARSHAL: Final = 2  # from version 3 on the bytes depend on reference counts


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What a counter's cache has done and holds.

    Attributes:
        encoded: Messages that were really counted, because no equal one had been counted before.
        entries: Message contents held.
        characters: Characters of those contents.
        max_entries: Most contents that are held.
        max_characters: Most characters that are held.
    """

    encoded: int
    entries: int
    characters: int
    max_entries: int
    max_characters: int


class GenerationCache(Generic[K, V]):
    """A mapping that forgets what was not used lately.

    Two dicts, a young and an old one: when the young one is half of what may be held, it becomes the old one and the
    old one goes. A hit costs one lookup and no bookkeeping, which a strict LRU cannot offer. Writers hold a lock of
    their owner; readers need none.
    """

    __slots__ = ("_old", "_old_weight", "_weight", "max_entries", "max_weight", "young")

    def __init__(self, max_entries: int, max_weight: int) -> None:
        self.max_entries = max_entries
        self.max_weight = max_weight
        self.young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._weight = 0
        self._old_weight = 0

    def __len__(self) -> int:
        return len(self.young) + len(self._old)

    @property
    def weight(self) -> int:
        """Weight of everything held, at most `max_weight`."""
        return self._weight + self._old_weight

    def get(self, key: K, weight: int) -> V | None:
        """The value under `key`, which is young again by having been asked for."""
        found = self.young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found, weight)
        return found

    def put(self, key: K, value: V, weight: int) -> None:
        """Hold `value`, unless it alone weighs more than a generation may."""
        half_entries, half_weight = self.max_entries // 2, self.max_weight // 2
        if weight > half_weight or half_entries == 0:
            return
        if len(self.young) >= half_entries or self._weight + weight > half_weight:
            self._old, self._old_weight = self.young, self._weight
            self.young, self._weight = {}, 0
        if key not in self.young:
            self._weight += weight
        self.young[key] = value


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
