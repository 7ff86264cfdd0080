"""How a user's session is called in a log that holds everybody's: a name that no other user's session can have."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote, unquote

from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.working.records import check_session_id

__all__ = ["OWNED", "is_of", "prefixes_of", "session_key", "session_of"]

OWNED: Final = "user:"
_DIGESTS: Final = "user:#"
_LONGEST: Final = 480
_LONGEST_OF_LOG: Final = 512
_MARKED: Final = re.compile("[#%/\0\ud800-\udfff]")
"""What no log takes in a name, and what the parts of one are told apart by."""


def session_key(session_id: str, scope: MemoryScope | None) -> str:
    """The name of a session in the log: `user:tenant/user/session`, with slashes and the like encoded.

    Where that would be too long for a log, a digest stands for tenant and user. The session's id stays readable in any
    case: `session_of` reads it off, and only so can what follows from a log have the session's own name.

    Raises:
        TypeError: The id is no text.
        ValueError: The id is blank or too long for a log, or the session has no owner and is called like another's.
    """
    if isinstance(session_id, str) and not session_id.strip():
        msg = f"a session id is text that is not blank, got {session_id!r}"
        raise ValueError(msg)
    if scope is None:
        check_session_id(session_id)
        if session_id.startswith(OWNED):
            msg = f"session_id={session_id!r} begins like the name of a user's session: give its user, or another id"
            raise ValueError(msg)
        return session_id
    name = _prefix(scope) + _encoded(session_id)
    if len(name) > _LONGEST:
        name = _digest_prefix(scope) + _encoded(session_id)
    if len(name) > _LONGEST_OF_LOG:
        most = _LONGEST_OF_LOG - len(_digest_prefix(scope))
        msg = f"a session id has at most {most} characters in a log, got {len(session_id)}: {session_id[:40]!r}..."
        raise ValueError(msg)
    return name


def prefixes_of(scope: MemoryScope) -> tuple[str, str]:
    """What the names of a user's sessions in the log begin with."""
    return _prefix(scope), _digest_prefix(scope)


def is_of(name: str, scope: MemoryScope) -> bool:
    """Whether the session of this name belongs to the scope: to its user, and to its session where it names one."""
    is_theirs = name.startswith(prefixes_of(scope))
    return is_theirs and (scope.session is None or session_of(name) == scope.session)


def session_of(name: str) -> str:
    """The id that a session was given, by its name in the log."""
    if not name.startswith(OWNED):
        return name
    return unquote(name.rpartition("/")[2], errors="surrogatepass")


def _prefix(scope: MemoryScope) -> str:
    return f"{OWNED}{_encoded(scope.tenant)}/{_encoded(scope.user)}/"


def _digest_prefix(scope: MemoryScope) -> str:
    return f"{_DIGESTS}{scope.user_key}/"


def _encoded(text: str) -> str:
    return _MARKED.sub(lambda found: quote(found[0], safe="", errors="surrogatepass"), text)
