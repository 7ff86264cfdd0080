"""What an assembler is asked for: messages or a question, whose memory it is, and which session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import uuid4

from langchain_core.messages import BaseMessage, HumanMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig

from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.messages.protocol import FACTS_SOURCE, RECALL_SOURCE, SOURCE_KEY, is_user_turn
from langchain_tiered_memory.messages.trimming import MessagesInput
from langchain_tiered_memory.types import MemoryScope

__all__ = ["AssemblerInput", "ContextRequest", "query_of", "request_of"]

AssemblerInput: TypeAlias = MessagesInput | Mapping[str, Any]
"""Messages in any form that langchain_core converts, or a dict with `"messages"` or `"question"`, and more."""

_KEYS: Final = ("messages", "question", "history", "scope", "session_id")
_PUT_IN: Final = frozenset({FACTS_SOURCE, RECALL_SOURCE})


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """One call of an assembler.

    Attributes:
        messages: The conversation so far, or what of it is new.
        scope: Whose memory it is; `None` where no tier needs to know.
        session_id: The session; `None` for a list that belongs to none.
        query: What is recalled by: the text of the newest user turn; `""` for nothing.
    """

    messages: Sequence[BaseMessage]
    scope: MemoryScope | None
    session_id: str | None
    query: str


def request_of(given: AssemblerInput, config: RunnableConfig, *, needs_scope: bool) -> ContextRequest:
    """Read what a call was given.

    Args:
        given: Its input.
        config: Its configuration, whose `configurable` may name user, tenant and session.
        needs_scope: Whether there are tiers that belong to a user.

    Raises:
        ScopeError: A scope is needed and none is given, or it is none, or the configuration names another.
        ValueError: The input is not of its form; names what it has and what is wanted.
    """
    fields: Mapping[str, Any] = given if isinstance(given, Mapping) and "role" not in given else {"messages": given}
    unknown = [key for key in fields if key not in _KEYS]
    if unknown or ("messages" in fields) == ("question" in fields):
        msg = (
            f"the input has the keys {', '.join(map(repr, fields)) or '(none)'}: give either 'messages' or 'question', "
            "and besides it only 'history', 'scope' and 'session_id'"
        )
        raise ValueError(msg)
    said = _question(fields["question"]) if "question" in fields else _as_messages(fields["messages"])
    if fields.get("history"):
        said = [*_as_messages(fields["history"]), *said]
    # What an assembler put into an earlier request is put in anew.
    said = [message for message in said if message.additional_kwargs.get(SOURCE_KEY) not in _PUT_IN]
    configurable = config.get("configurable") or {}
    scope = fields.get("scope")
    if scope is not None and not isinstance(scope, MemoryScope):
        msg = f"scope={scope!r} is no scope: give MemoryScope(user=...)"
        raise ScopeError(msg)
    session_id = fields.get("session_id") or (scope.session if scope is not None else None)
    _check_agreement(scope, session_id, configurable)
    session_id = session_id or configurable.get("session_id")
    if scope is None and (needs_scope or configurable.get("user_id") is not None):
        scope = MemoryScope.from_config(config)
    expect = getattr(configurable.get("message_history"), "expect", None)
    if expect is not None or "question" in fields:
        # With ids of their own, so that the same question asked again is another message.
        named = [message if message.id else message.model_copy(update={"id": str(uuid4())}) for message in said]
        if expect is not None:
            # The chat history stores the run's input when the run ends, and must know that the log has it by then.
            expect([new for new, old in zip(named, said, strict=True) if new is not old])
        said = named
    return ContextRequest(said, scope, session_id, query_of(said))


def _check_agreement(scope: MemoryScope | None, session_id: str | None, configurable: Mapping[str, Any]) -> None:
    """Refuse an input that names another user or session than its call, whose answer would be kept with the other's.

    Raises:
        ScopeError: It does.
    """
    named = [("session_id", session_id)]
    if scope is not None:
        named += [("user_id", scope.user), ("tenant_id", scope.tenant), ("session_id", scope.session)]
    for key, value in named:
        other = configurable.get(key)
        if value is not None and other is not None and value != other:
            msg = f"the input says {key}={value!r} and the call's configurable {other!r}: name it in one of them"
            raise ScopeError(msg)


def _question(question: Any) -> list[BaseMessage]:  # noqa: ANN401  # as passed
    if isinstance(question, HumanMessage):
        return [question]
    if isinstance(question, str | list) and question:
        return [HumanMessage(question)]
    msg = f"question={question!r}: give a text that is not empty, a list of content blocks, or a HumanMessage"
    raise ValueError(msg)


def _as_messages(messages: Any) -> list[BaseMessage]:  # noqa: ANN401  # as passed
    if isinstance(messages, str):  # as a chat model takes it
        return [HumanMessage(messages)]
    if isinstance(messages, BaseMessage):
        return [messages]
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    return convert_to_messages(messages)


def query_of(messages: Sequence[BaseMessage]) -> str:
    """The text of the newest user turn."""
    newest = next((message for message in reversed(messages) if is_user_turn(message)), None)
    return "" if newest is None else str(newest.text)
