"""Where a fact lies: what may be in its names, the key that is made of them, and the names as stores can hold them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

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

    def is_about(self, entity: str | None, prefix: str | None) -> bool:
        """Whether it is about an entity, and its attribute begins with a prefix; `None` is any."""
        return (entity is None or self.entity == entity) and (prefix is None or self.attribute.startswith(prefix))


def key_of(scope: MemoryScope, entity: str, attribute: str) -> Key:
    """The key of a fact.

    Raises:
        ScopeError: `scope` is no scope.
        TypeError: A name is no text.
        ValueError: A name is blank or too long.
    """
    return _key(check_scope(scope), _plain("entity", entity), _plain("attribute", attribute))


def _plain(what: str, name: object) -> str:
    """A name as mere text: a member of a StrEnum equals its text, and would come out of the cache in its place."""
    if not isinstance(name, str):
        msg = f"{what}={name!r:.80} is no text: give str({what})"
        raise TypeError(msg)
    return name if type(name) is str else str.__str__(name)


@lru_cache(maxsize=4_096)  # three digests cost as much as the query that they are for
def _key(scope: MemoryScope, entity: str, attribute: str) -> Key:
    for what, name in (("entity", entity), ("attribute", attribute)):
        if not 0 < len(name) <= LONGEST_NAME:
            msg = f"{what} has 1 to {LONGEST_NAME} characters, got {len(name):,}: {name[:40]!r}. Long text is a value"
            raise ValueError(msg)
        if name.isspace():
            msg = f"{what}={name!r:.40} is blank: name what the fact is about"
            raise ValueError(msg)
    return Key(scope.user_key, scope.session_key, digest_of(entity, attribute), scope, entity, attribute)


def check_scope(scope: object) -> MemoryScope:
    """The scope, once it has been seen to be one; there is none that means everybody.

    Raises:
        ScopeError: It is none.
    """
    if not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r:.80} is no scope: give MemoryScope(user=...) first"
        raise ScopeError(msg)
    return scope


def check_text(name: str, value: object) -> None:
    """Refuse what is neither `None` nor text.

    Raises:
        TypeError: It is neither.
    """
    if value is not None and not isinstance(value, str):
        msg = f"{name}={value!r:.80} is no text: give str({name}), or leave it out"
        raise TypeError(msg)


_NEEDS_ESCAPE: Final = r"[\\\x00-\x1f\x7f:{}*?\[\]\ud800-\udfff]"
_ESCAPED: Final = r"\\u([0-9a-f]{4})"


def escape(text: str) -> str:
    r"""Text that every store takes, readable where it can be: what may not stand there becomes `\u` and four digits.

    What may not: NUL and lone surrogates, which PostgreSQL refuses, and what means something in a key or a pattern of
    Redis. Each character is escaped by itself, so a prefix of a text stays a prefix.

    >>> escape("a:b")
    'a\\u003ab'
    """
    return re.sub(_NEEDS_ESCAPE, lambda found: f"\\u{ord(found[0]):04x}", text)


def unescape(text: str) -> str:
    """The text that `escape` was given."""
    return re.sub(_ESCAPED, lambda found: chr(int(found[1], 16)), text)
