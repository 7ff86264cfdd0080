"""Texts that Milvus and protobuf do not take, as texts that they do, and back."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any, Final

__all__ = ["LARGEST_INT", "escaped", "escaped_json", "plain", "plain_json"]

LARGEST_INT: Final = (1 << 63) - 1
_ESCAPE: Final = "\ufdd0"
"""Begins an escape. A noncharacter: no text that people exchange has it, and where one does, it is escaped itself."""
_UNSENDABLE: Final = re.compile("[\x00\ud800-\udfff\ufdd0]")
_ESCAPED: Final = re.compile("\ufdd0([0-9a-f]{4})")


def escaped(text: str) -> str:
    """A text in which what Milvus and protobuf refuse (NUL, lone surrogates) is written out; `plain` undoes it."""
    return _UNSENDABLE.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", text)


def plain(text: str) -> str:
    """The text that `escaped` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if _ESCAPE in text else text


def escaped_json(value: Any, where: str = "metadata") -> Any:  # noqa: ANN401  # what JSON can hold
    """A value as JSON holds it, its texts escaped.

    Raises:
        ValueError: JSON cannot hold it, or Milvus cannot: NaN, or an integer of more than 64 bits.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, int) and abs(value) <= LARGEST_INT:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {escaped(key): escaped_json(item, f"{where}[{key!r}]") for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [escaped_json(item, f"{where}[{index}]") for index, item in enumerate(value)]
    msg = f"{where}={value!r} cannot be stored: give texts, finite numbers of 64 bits, true, false, None, lists, dicts"
    raise ValueError(msg)


def plain_json(value: Any) -> Any:  # noqa: ANN401  # as above
    """The value that `escaped_json` was given."""
    return _plain_json(value) if repr(_ESCAPE)[1:-1] in repr(value) else value  # hardly ever; repr writes it out


def _plain_json(value: Any) -> Any:  # noqa: ANN401  # as above
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, dict):
        return {plain(key): _plain_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_json(item) for item in value]
    return value
