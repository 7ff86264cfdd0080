"""Appends to a session what is new of a request, whoever was given it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from langchain_core.messages import BaseMessage
from langchain_core.utils.uuid import uuid7

from langchain_tiered_memory.errors import VersionConflictError
from langchain_tiered_memory.messages.matching import MOST_COMPARED, Matched, match_messages, same_message
from langchain_tiered_memory.messages.protocol import is_inserted, is_user_turn, kind_of
from langchain_tiered_memory.working.records import check_session_id

if TYPE_CHECKING:
    from langchain_tiered_memory.working.log import LogStore

__all__ = ["append_new", "append_run", "match_log"]

_END: Final = 16
"""Messages at the log's end that are compared first."""
_RUN: Final = 64
"""Messages at the log's end among which a run's own answers are looked for."""


async def append_new(log: LogStore, session_id: str, given: Sequence[BaseMessage], *, own_ids: bool = True) -> Matched:
    """Append what a session lacks of a request, by the rule of `match_messages`.

    Args:
        log: Holds the session.
        session_id: The session.
        given: The request: a whole history, its end, or only what is new.
        own_ids: Whether ids come from the application, and not anew at each call from a framework.

    Returns:
        What was new, each with the id under which it is stored, and what belongs to this request only.

    Raises:
        MemoryStoreError: The log could not be read or written.
    """
    check_session_id(session_id)
    if not given:
        return Matched((), [], [])
    while True:
        matched, version = await match_log(log, session_id, given, own_ids=own_ids)
        if not matched.new:
            return matched
        new = [one if one.id else one.model_copy(update={"id": str(uuid7())}) for one in matched.new]
        try:
            await log.append(session_id, new, version)
        except VersionConflictError:
            continue  # somebody else has appended; part of the request may be among it
        return replace(matched, new=new)


async def match_log(
    log: LogStore, session_id: str, given: Sequence[BaseMessage], *, own_ids: bool = True
) -> tuple[Matched, int]:
    """The request matched with as much of the log's end as it takes, and the log's version."""
    ids = [message.id for message in given if message.id]
    known = await log.known(session_id, ids) if ids else set()
    size = _END
    while True:
        entries = await log.last(session_id, size)
        is_whole = len(entries) < size or entries[0].number == 1
        logged = [entry.message for entry in entries]
        matched = match_messages(given, logged, known=known, is_whole=is_whole, own_ids=own_ids)
        if matched.is_settled or size >= MOST_COMPARED:
            return matched, entries[-1].number if entries else 0
        size = min(8 * size, MOST_COMPARED)


async def append_run(log: LogStore, session_id: str, messages: Sequence[BaseMessage], *, own_ids: bool = True) -> None:
    """Append what a run of a chain brought: its input, of which the log may have some, and its answers behind it.

    Answers to a question are new, whatever their ids say, unless the log has them behind that question: a model may
    give out one object again and again.

    Args:
        log: Holds the session.
        session_id: The session.
        messages: The run's input up to its newest user turn, if it is known, and its output.
        own_ids: As in `append_new`.
    """
    said = [message for message in messages if not is_inserted(message)]
    turn = max((place for place, message in enumerate(said) if is_user_turn(message)), default=-1) + 1
    asked, answers = said[:turn], said[turn:]
    while True:
        new: list[BaseMessage] = []
        version: int | None = None
        if asked:
            matched, version = await match_log(log, session_id, asked, own_ids=own_ids)
            new = matched.new
        is_new = bool(new) and new[-1] is asked[-1]
        known = await _known_before(log, session_id, answers, None if is_new or not asked else asked[-1], is_new=is_new)
        new += [_as_new(one) if one.id in known else one for one in answers]
        try:
            await log.append(session_id, new, version)
        except VersionConflictError:
            continue
        return


async def _known_before(
    log: LogStore, session_id: str, answers: Sequence[BaseMessage], question: BaseMessage | None, *, is_new: bool
) -> set[str]:
    """The ids of answers that the log has, other than behind the question (or the newest one) that they answer."""
    ids = [message.id for message in answers if message.id]
    known = await log.known(session_id, ids) if ids else set()
    if known and not is_new:
        for entry in reversed(await log.last(session_id, _RUN)):
            if is_user_turn(entry.message) and (question is None or same_message(question, entry.message)):
                break
            known.discard(str(entry.message.id))
    return known


def _as_new(message: BaseMessage) -> BaseMessage:
    return message.model_copy(update={"id": None}) if kind_of(message) == "assistant" else message
