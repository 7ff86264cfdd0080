"""The one place where filter expressions are built: from data, each value written by one function, never pasted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

from langchain_tiered_memory.episodic.rows import LARGEST_INT, escaped
from langchain_tiered_memory.types import MemoryScope

__all__ = ["Among", "Condition", "Operator", "Where", "literal"]

Operator: TypeAlias = Literal["==", "!=", ">", ">=", "<", "<=", "in", "not in", "contains"]

_OPERATORS: Final = frozenset(get_args(Operator))
_OF_LISTS: Final = frozenset(("in", "not in"))
_OF_ORDER: Final = frozenset((">", ">=", "<", "<="))
_NOTHING: Final = "id in []"
_ESCAPES: Final = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})
"""What Milvus Lite and all servers read alike; every other character may stand for itself."""


def literal(value: Any) -> str:  # noqa: ANN401  # what a filter may compare with
    """A value in Milvus' language. Whatever a text says, it stays one text.

    Raises:
        ValueError: A filter cannot compare with it.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{escaped(value).translate(_ESCAPES)}"'
    if isinstance(value, int) and abs(value) <= LARGEST_INT:
        return str(int(value))
    if isinstance(value, float) and math.isfinite(value):
        return repr(float(value))
    msg = f"a filter cannot compare with {value!r}: give a text, a bool, an integer of 64 bits or a finite float"
    raise ValueError(msg)


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison of a field of the metadata. A row that has no such field does not match, whatever the operator.

    Attributes:
        field: A key of the metadata, or the path to a nested one as a tuple.
        operator: `==`, `!=`, `>`, `>=`, `<`, `<=`; `in` and `not in` a list; `contains`: the field is a list that has
            the value.
        value: A text, a bool, an int (64 bits), a finite float, or for `in` and `not in` a list of such. Milvus Lite
            takes `True` for 1 and `False` for 0.

    Raises:
        ValueError: The field is none, the operator is unknown, or does not go with the value.
    """

    field: str | tuple[str, ...]
    operator: Operator
    value: Any

    def __post_init__(self) -> None:
        """Check the parts, so that a condition that exists can be asked."""
        if not isinstance(self.operator, str) or self.operator not in _OPERATORS:
            msg = f"operator={self.operator!r} is none: give one of {', '.join(get_args(Operator))}"
            raise ValueError(msg)
        if not self.path or not all(isinstance(key, str) for key in self.path):
            msg = f"field={self.field!r} is none: give a key of the metadata, or a tuple of keys"
            raise ValueError(msg)
        listed = isinstance(self.value, list | tuple | set | frozenset)
        if listed != (self.operator in _OF_LISTS):
            msg = f"{self.operator!r} goes with {'one value' if listed else 'a list of values'}, got {self.value!r}"
            raise ValueError(msg)
        if self.operator in _OF_ORDER and isinstance(self.value, bool):
            msg = f"{self.operator!r} does not go with {self.value!r}: give a number or a text"
            raise ValueError(msg)
        for value in self.value if listed else (self.value,):
            literal(value)

    @property
    def path(self) -> tuple[str, ...]:
        """The keys that lead to the field."""
        return self.field if isinstance(self.field, tuple) else (self.field,)

    def expression(self) -> str:
        """The condition in Milvus' language."""
        name = "metadata" + "".join(f"[{literal(key)}]" for key in self.path)
        if self.operator == "contains":
            return f"json_contains({name}, {literal(self.value)})"
        if self.operator == "in":  # Milvus Lite has no `in` for a field of JSON
            return _any_of(f"{name} == {literal(value)}" for value in self.value)
        if self.operator == "not in":
            return " and ".join((f"(exists {name})", *(f"{name} != {literal(value)}" for value in self.value)))
        compared = f"{name} {self.operator} {literal(self.value)}"
        # On a server a missing field is unlike everything, on Lite it is unlike nothing.
        return f"(exists {name}) and {compared}" if self.operator == "!=" else compared


@dataclass(frozen=True, slots=True)
class Among:
    """Rows that are named one by one, by their ids or by where they stand.

    Attributes:
        ids: Primary keys.
        places: Session keys, each with numbers.
    """

    ids: tuple[str, ...] = ()
    places: tuple[tuple[str, tuple[int, ...]], ...] = ()

    def __len__(self) -> int:
        """How many rows that are at most, of one part each."""
        return len(self.ids) + sum(len(numbers) for _, numbers in self.places)

    def expression(self) -> str:
        """The filter in Milvus' language."""
        named = [_one_of("id", self.ids)] if self.ids else []
        return _any_of(
            [*named, *(f"(session_key == {literal(key)} and {_one_of('number', at)})" for key, at in self.places)]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which rows an operation is about; `None` = this field may be anything.

    Make one with `Where.of(scope, ...)`. `Where(user_key=None)` is over everybody and must be said in so many words
    (an operator's export, `reindex`); `delete` refuses it.

    Attributes:
        user_key: Whose rows. No default.
        session_key: Of which session.
        ids: Primary keys.
        episodes: Episode ids; finds all parts.
        kinds: Kinds, such as `("round", "text", "summary")`.
        part: 0 = one row for each episode.
        among: Rows that are named one by one.
        valid_at: Microseconds: only rows with valid_from <= it < valid_until. `None` includes expired ones.
        superseded: False = only rows that nothing took the place of; True = only the others.
        created_from: Microseconds, inclusive.
        created_to: Microseconds, exclusive.
        number_from: Place in the session, inclusive.
        number_to: Place in the session, inclusive.
        entity: What it is about.
        metadata: Conditions, all of which must hold.
    """

    user_key: str | None
    session_key: str | None = None
    ids: tuple[str, ...] | None = None
    episodes: tuple[str, ...] | None = None
    kinds: tuple[str, ...] | None = None
    part: int | None = None
    among: Among | None = None
    valid_at: int | None = None
    superseded: bool | None = None
    created_from: int | None = None
    created_to: int | None = None
    number_from: int | None = None
    number_to: int | None = None
    entity: str | None = None
    metadata: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, scope: MemoryScope, **conditions: Any) -> Where:  # noqa: ANN401  # the fields, each with its own type
        """The rows of a scope: of one session where it names one, else of the whole user."""
        session_key = None if scope.session is None else scope.session_key
        return cls(user_key=scope.user_key, session_key=session_key, **conditions)

    def expression(self) -> str:
        """The filter in Milvus' language; "" where everything matches."""
        conditions = (condition.expression() for condition in self.metadata)
        return " and ".join((*self._whose(), *self._which(), *self._when(), *conditions))

    def _whose(self) -> Iterator[str]:
        for name, wanted in (("user_key", self.user_key), ("session_key", self.session_key), ("entity", self.entity)):
            if wanted is not None:
                yield f"{name} == {literal(wanted)}"

    def _which(self) -> Iterator[str]:
        if self.ids is not None:  # as a list even of one: by that form Milvus Lite knows that it need not look around
            yield f"id in [{', '.join(map(literal, self.ids))}]"
        for name, several in (("episode", self.episodes), ("kind", self.kinds)):
            if several is not None:
                yield _one_of(name, several)
        if self.part is not None:
            yield f"part == {literal(self.part)}"
        if self.among is not None:
            yield self.among.expression()

    def _when(self) -> Iterator[str]:
        if self.valid_at is not None:
            yield f"valid_from <= {literal(self.valid_at)} and valid_until > {literal(self.valid_at)}"
        if self.superseded is not None:
            yield f"superseded_by {'!=' if self.superseded else '=='} {literal('')}"
        for name, operator, bound in (
            ("created_at", ">=", self.created_from),
            ("created_at", "<", self.created_to),
            ("number", ">=", self.number_from),
            ("number", "<=", self.number_to),
        ):
            if bound is not None:
                yield f"{name} {operator} {literal(bound)}"


def _one_of(name: str, values: Iterable[str | int]) -> str:
    given = tuple(values)
    if len(given) == 1:
        return f"{name} == {literal(given[0])}"
    return f"{name} in [{', '.join(map(literal, given))}]" if given else _NOTHING


def _any_of(clauses: Iterable[str]) -> str:
    given = tuple(clauses)
    return f"({' or '.join(given)})" if given else _NOTHING
