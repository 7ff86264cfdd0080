"""A fact's value as JSON text, exactly, or not at all.

What a store keeps must be what its readers get. So a value is refused where JSON would change it on the way (a tuple
becomes a list, a key 1 becomes "1", NaN is no JSON), and nothing stored is ever revived into an object.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

__all__ = ["MAX_DEPTH", "decode_value", "encode_value"]

MAX_DEPTH: Final = 100
"""How deep lists and objects may be nested in a value."""

# ASCII only: NUL and lone surrogates, which PostgreSQL takes in no text, are escapes then.
_encode: Final = json.JSONEncoder(
    ensure_ascii=True, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_decode: Final = json.JSONDecoder().decode
_PAIR: Final = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_REPAIRS: Final[dict[type, str]] = {
    tuple: "give list(value)",
    set: "give sorted(value), or another list",
    frozenset: "give sorted(value), or another list",
    bytes: "give value.decode(), or base64 text",
    bytearray: "give value.decode(), or base64 text",
}
_PLAIN: Final = (str, bool, int, float, dict, list)


def encode_value(value: Any) -> str:  # noqa: ANN401  # any JSON
    """A value as JSON text in ASCII.

    >>> encode_value({"seats": 2})
    '{"seats":2}'

    Raises:
        TypeError: It holds something that is no JSON; says what, where and what to give instead.
        ValueError: It holds a number that JSON has not, is nested deeper than `MAX_DEPTH`, or would come back changed.
    """
    _check(value, "value", 0)
    try:
        return _encode(value)
    except ValueError as error:  # an integer with more digits than Python converts
        msg = f"the value cannot be written: {error}. Give such a number as text"
        raise ValueError(msg) from error


def decode_value(text: str) -> Any:  # noqa: ANN401  # any JSON
    """Read what `encode_value` wrote; each reader gets a value of its own."""
    return _decode(text)


def _check(value: Any, path: str, depth: int) -> None:  # noqa: ANN401  # as above
    kind = type(value)
    if kind is str:
        _check_text(value, path)
    elif kind is float:
        if not math.isfinite(value):
            msg = f"{path} is {value!r}, which is no JSON number: give None, or a text"
            raise ValueError(msg)
    elif kind is dict or kind is list:
        if depth >= MAX_DEPTH:
            msg = f"{path[:80]} is nested deeper than {MAX_DEPTH} levels, or contains itself: store its parts as facts"
            raise ValueError(msg)
        if kind is list:
            for index, item in enumerate(value):
                _check(item, f"{path}[{index}]", depth + 1)
        else:
            _check_object(value, path, depth)
    elif kind is not int and kind is not bool and value is not None:
        raise _refused(value, path)


def _check_object(value: dict[Any, Any], path: str, depth: int) -> None:
    for key, item in value.items():
        if type(key) is not str:
            msg = f"{path} has the key {key!r:.80}, and keys of JSON are text: give str(key)"
            raise TypeError(msg)
        _check_text(key, f"a key of {path}")
        _check(item, f"{path}.{key:.80}", depth + 1)


def _check_text(value: str, path: str) -> None:
    if not value.isascii() and _PAIR.search(value):
        msg = (
            f"{path} holds one character as two surrogates, which JSON would join: "
            'give text.encode("utf-16", "surrogatepass").decode("utf-16")'
        )
        raise ValueError(msg)


def _refused(value: Any, path: str) -> TypeError:  # noqa: ANN401  # as above
    kind = type(value)
    repair = _REPAIRS.get(kind)
    if repair is None:
        plain = next((known for known in _PLAIN if isinstance(value, known)), None)
        repair = f"give {plain.__name__}(value)" if plain else "give text, numbers, True, False, None, lists and dicts"
    return TypeError(f"{path} is {_named(kind)}, which JSON would not give back: {repair}")


def _named(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
