"""Where a fact lies: what may be in its names, the key that is made of them, and the names as stores can hold them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, Final, NamedTuple

from langchain_tiered_memory._digests import digest_of
from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.types import MemoryScope

__all__ = ["LONGEST_NAME", "Key", "check_scope", "check_text", "escape", "key_of", "unescape"]

LONGEST_NAME: Final = 512
"""Characters of an entity or an attribute."""


class Key(NamedTuple):
    """Where a store keeps a fact, and what the fact is called.

    The three digests are the key. They have a fixed length, so that no character or length of a name can change what a
    query says, where a key ends, or whether an index takes it.
    """

    user_key: str
    session_key: str
    fact_key: str
    scope: MemoryScope
    entity: str
    attribute: str


def key_of(scope: MemoryScope, entity: str, attribute: str) -> Key:
    """The key of a fact.

    Raises:
        ScopeError: `scope` is no scope.
        TypeError: A name is no text.
        ValueError: A name is empty or too long.
    """
    check_scope(scope)
    check_text("entity", entity)
    check_text("attribute", attribute)
    if type(entity) is str and type(attribute) is str:
        return _key(scope, entity, attribute)
    # A member of a StrEnum equals its text, and would come out of the cache to all who give the text.
    return _key(scope, _plain(entity), _plain(attribute))


@lru_cache(maxsize=4_096)  # three digests cost as much as the query that they are for
def _key(scope: MemoryScope, entity: str, attribute: str) -> Key:
    _check_name("entity", entity)
    _check_name("attribute", attribute)
    return Key(scope.user_key, scope.session_key, digest_of(entity, attribute), scope, entity, attribute)


def _plain(name: str) -> str:
    return str.__str__(name) if isinstance(name, str) else name


def check_scope(scope: Any) -> None:  # noqa: ANN401  # callers without type checks too
    """Refuse what is no scope; there is none that means everybody.

    Raises:
        ScopeError: It is none.
    """
    if not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r:.80} is no scope: give MemoryScope(user=...) first"
        raise ScopeError(msg)


def _check_name(what: str, name: Any) -> None:  # noqa: ANN401  # as above
    if not isinstance(name, str):
        msg = f"{what}={name!r:.80} is no text: give str({what})"
        raise TypeError(msg)
    if not 0 < len(name) <= LONGEST_NAME:
        msg = (
            f"{what} has 1 to {LONGEST_NAME} characters, got {len(name):,}: {name[:40]!r}. Keep long text in the value"
        )
        raise ValueError(msg)


def check_text(name: str, value: Any) -> None:  # noqa: ANN401  # as above
    """Refuse what is neither `None` nor text.

    Raises:
        TypeError: It is neither.
    """
    if value is not None and not isinstance(value, str):
        msg = f"{name}={value!r:.80} is no text: give str({name}), or leave it out"
        raise TypeError(msg)


_NEEDS_ESCAPE: Final = re.compile(r"[\\\x00-\x1f\x7f:{}*?\[\]\ud800-\udfff]")
_ESCAPED: Final = re.compile(r"\\u([0-9a-f]{4})")


def escape(text: str) -> str:
    r"""Text that every store takes, readable where it can be: what may not stand there becomes `\u` and four digits.

    What may not: NUL and lone surrogates, which PostgreSQL refuses, and what means something in a key or a pattern of
    Redis. Each character is escaped by itself, so a prefix of a text stays a prefix.

    >>> escape("a:b")
    'a\\u003ab'
    """
    return _NEEDS_ESCAPE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
