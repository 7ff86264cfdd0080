"""What an assembler is asked for: messages or a question, whose memory it is, and which session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from langchain_core.messages import BaseMessage, HumanMessage, RemoveMessage, convert_to_messages
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import RunnableConfig

from langchain_tiered_memory.errors import ScopeError
from langchain_tiered_memory.messages.protocol import FACTS_SOURCE, RECALL_SOURCE, SOURCE_KEY, is_user_turn
from langchain_tiered_memory.messages.trimming import MessagesInput
from langchain_tiered_memory.types import MemoryScope

__all__ = ["AssemblerInput", "ContextRequest", "newest_turn", "query_of", "request_of", "without_removed"]

AssemblerInput: TypeAlias = MessagesInput | Mapping[str, Any]
"""Messages in any form that langchain_core converts, or a dict with `"messages"` or `"question"`, and more."""

_KEYS: Final = ("messages", "question", "history", "scope", "session_id")
_PUT_IN: Final = frozenset({FACTS_SOURCE, RECALL_SOURCE})
_REMOVE_ALL: Final = "__remove_all__"
"""LangGraph's id of a `RemoveMessage` that takes everything away."""


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """One call of an assembler.

    Attributes:
        messages: The conversation so far, or what of it is new.
        scope: Whose memory it is; `None` where no tier needs to know.
        session_id: The session; `None` for a list that belongs to none.
        own_ids: Whether the messages' ids come from the application, and not anew at each call from a framework.
        appended: Called with what was appended to the log, ids included; a chat history learns by it what its run
            need not store again.
    """

    messages: Sequence[BaseMessage]
    scope: MemoryScope | None
    session_id: str | None
    own_ids: bool = True
    appended: Callable[[Sequence[BaseMessage]], None] | None = None


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
    # The chat history stores the run's input when the run ends, and must know what the log has by then.
    expect = getattr(configurable.get("message_history"), "expect", None)
    return ContextRequest(said, scope, session_id, appended=expect)


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


def _question(question: object) -> list[BaseMessage]:
    if isinstance(question, HumanMessage):
        return [question]
    if isinstance(question, str | list) and question:
        return [HumanMessage(question)]
    msg = f"question={question!r}: give a text that is not empty, a list of content blocks, or a HumanMessage"
    raise ValueError(msg)


def _as_messages(messages: Any) -> list[BaseMessage]:  # noqa: ANN401  # a key of the input, in any form
    if isinstance(messages, str):  # as a chat model takes it
        return [HumanMessage(messages)]
    if isinstance(messages, BaseMessage):
        return [messages]
    if isinstance(messages, PromptValue):
        return messages.to_messages()
    return convert_to_messages(messages)


def newest_turn(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The newest user turn and what follows it."""
    start = next((place for place in range(len(messages) - 1, -1, -1) if is_user_turn(messages[place])), len(messages))
    return messages[start:]


def query_of(messages: Sequence[BaseMessage]) -> str:
    """The text of the newest user turn, by which episodes are recalled; `""` where there is none."""
    newest = newest_turn(messages)
    return str(newest[0].text) if newest else ""


def without_removed(messages: Sequence[BaseMessage]) -> Sequence[BaseMessage]:
    """The messages without those that a later `RemoveMessage` takes away, and without the removals themselves."""
    if not any(isinstance(message, RemoveMessage) for message in messages):
        return messages
    removed: set[str | None] = set()
    kept: list[BaseMessage] = []
    for message in reversed(messages):
        if isinstance(message, RemoveMessage):
            if message.id == _REMOVE_ALL:
                break
            removed.add(message.id)
        elif message.id is None or message.id not in removed:
            kept.append(message)
    return kept[::-1]
