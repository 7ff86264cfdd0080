"""How a user's session is called in a log that holds everybody's: a name that no other user's session can have."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from langchain_tiered_memory.types import MemoryScope

__all__ = ["is_of", "session_key", "session_of"]

_OWNED: Final = "user:"
_DIGESTS: Final = "user:#"
_LONGEST: Final = 480


def session_key(session_id: str, scope: MemoryScope | None) -> str:
    """The name of a session in the log: `user:tenant/user/session`, each part percent-encoded.

    A name that would be too long for a log has digests in it instead. A session that belongs to nobody keeps its id.

    Raises:
        ValueError: A session without an owner has an id that is another's name.
    """
    if scope is None:
        if session_id.startswith(_OWNED):
            msg = f"session_id={session_id!r} begins like the name of a user's session: give its user, or another id"
            raise ValueError(msg)
        return session_id
    name = _prefix(scope) + _encoded(session_id)
    if len(name) <= _LONGEST:
        return name
    owned = MemoryScope(scope.user, scope.tenant, session_id)
    return f"{_digest_prefix(scope)}{owned.session_key}"


def is_of(name: str, scope: MemoryScope) -> bool:
    """Whether the session of this name belongs to the scope: to its user, and to its session where it names one."""
    if scope.session is not None:
        return name == session_key(scope.session, scope.whole_user())
    return name.startswith((_prefix(scope), _digest_prefix(scope)))


def session_of(name: str) -> str:
    """The id that a session was given, by its name in the log; the name itself where it cannot be read off."""
    if not name.startswith(_OWNED) or name.startswith(_DIGESTS):
        return name
    return unquote(name.rpartition("/")[2], errors="surrogatepass")


def _prefix(scope: MemoryScope) -> str:
    return f"{_OWNED}{_encoded(scope.tenant)}/{_encoded(scope.user)}/"


def _digest_prefix(scope: MemoryScope) -> str:
    return f"{_DIGESTS}{scope.user_key}/"


def _encoded(text: str) -> str:
    return quote(text, safe="", errors="surrogatepass")
