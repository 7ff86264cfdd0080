"""The small types that more than one tier speaks of."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from langchain_tiered_memory._digests import digest_of
from langchain_tiered_memory.errors import ScopeError

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

__all__ = ["Clock", "ContextSize", "MemoryScope", "TokenCounter"]

DEFAULT_TENANT: Final = "default"
_LONGEST_PART: Final = 4_096

Clock: TypeAlias = Callable[[], datetime]
"""Gives the present time as an aware datetime in UTC; injected wherever time matters, so that tests can turn it."""

ContextSize: TypeAlias = (
    tuple[Literal["tokens"], int]
    | tuple[Literal["messages"], int]
    | tuple[Literal["rounds"], int]
    | tuple[Literal["fraction"], float]
)
"""LangChain's way to name a size: `("tokens", 3000)`, `("messages", 20)`, `("rounds", 3)`, `("fraction", 0.8)`."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts what a request costs, message by message.

    The whole is the sum of its parts, `request_overhead + sum(count_message(m))`, so that a message is counted once
    in its life and a window can be found by one backward scan.
    """

    @property
    def request_overhead(self) -> int:
        """Tokens that a request costs apart from its messages and tools."""

    def __call__(self, messages: Sequence[BaseMessage]) -> int:
        """Tokens of a whole request with these messages."""

    def count_message(self, message: BaseMessage) -> int:
        """Tokens of one message, its share of the chat format included."""

    def count_text(self, text: str) -> int:
        """Tokens of a bare text."""

    def count_tools(self, tools: Sequence[Any]) -> int:
        """Tokens of the tool schemas that go with a request; 0 for none."""


@dataclass(frozen=True, slots=True)
class MemoryScope:
    """Whose memory a read or a write is about: a tenant's user, and perhaps one session of theirs.

    Exists because a long-term store holds everybody's records side by side: a read without an owner is a leak, so there
    is none, and no scope means "everyone". Stores compare `user_key` and `session_key`, digests of a fixed length, so
    that no quote, dot or length in a name can change what a filter says or where a key ends.

    ```python
    from langchain_tiered_memory import MemoryScope

    ada = MemoryScope(user="ada")
    assert ada.user_key != MemoryScope(user="ada", tenant="acme").user_key
    assert MemoryScope(user="ada", session="s1").whole_user() == ada
    ```

    Attributes:
        user: The user's id.
        tenant: The tenant's id, for an application that serves several.
        session: One session; `None` reads over all sessions of the user, and writes what belongs to none of them.

    Raises:
        ScopeError: A part is no text, empty, or longer than 4,096 characters.
    """

    user: str
    tenant: str = DEFAULT_TENANT
    session: str | None = None

    def __post_init__(self) -> None:
        """Check the parts, so that a scope that exists can be used."""
        for name in ("user", "tenant", "session"):
            value = getattr(self, name)
            if name == "session" and value is None:
                continue
            if not isinstance(value, str) or not value.strip():
                msg = f"a scope needs a {name} id that is a text and not empty, got {value!r}"
                raise ScopeError(msg)
            if len(value) > _LONGEST_PART:
                msg = f"a {name} id has at most {_LONGEST_PART:,} characters, got {len(value):,}: {value[:40]!r}..."
                raise ScopeError(msg)
            if type(value) is not str:  # of an Enum of texts the text, which is what comes back from a store
                object.__setattr__(self, name, str.__str__(value))

    @classmethod
    def from_config(cls, config: Mapping[str, Any] | None) -> MemoryScope:
        """The scope that a run's `configurable` names by `user_id`, and perhaps `tenant_id` and `session_id`.

        Raises:
            ScopeError: There is no `user_id`, or a part is no usable id.
        """
        given = (config or {}).get("configurable") or {}
        if given.get("user_id") is None:
            msg = 'no scope: pass scope=MemoryScope(user=...), or {"configurable": {"user_id": ...}} with the call'
            raise ScopeError(msg)
        tenant = given.get("tenant_id")
        return cls(given["user_id"], DEFAULT_TENANT if tenant is None else tenant, given.get("session_id"))

    @property
    def user_key(self) -> str:
        """32 hexadecimal digits that stand for the tenant and the user together."""
        return digest_of(self.tenant, self.user)

    @property
    def session_key(self) -> str:
        """32 hexadecimal digits that stand for all three parts; `""` without a session."""
        return "" if self.session is None else digest_of(self.tenant, self.user, self.session)

    def whole_user(self) -> MemoryScope:
        """The same scope over all sessions."""
        return replace(self, session=None)
