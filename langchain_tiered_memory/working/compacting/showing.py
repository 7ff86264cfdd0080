"""The view of a session: how it is put together, how large it is, and how it is kept within its budget."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from operator import is_

from langchain_core.messages import BaseMessage

from langchain_tiered_memory._driving import Steps, Tell
from langchain_tiered_memory.errors import BudgetExceededError
from langchain_tiered_memory.events import SummaryLeftOut
from langchain_tiered_memory.messages.protocol import is_summary, is_user_turn
from langchain_tiered_memory.messages.trimming import trim_messages
from langchain_tiered_memory.messages.units import repair_messages
from langchain_tiered_memory.working.compacting.sessions import Numbered, Rendered, Session
from langchain_tiered_memory.working.compacting.settings import Settings
from langchain_tiered_memory.working.compacting.views import (
    merged_into,
    render_summary,
    summary_message,
    summary_text_of,
)
from langchain_tiered_memory.working.compaction import Sizes
from langchain_tiered_memory.working.constraints import Constraint, missing_constraints, render_constraints
from langchain_tiered_memory.working.wording.sentences import Language, dominant_language

__all__ = ["Showing"]


class Showing:
    """Makes views.

    Args:
        settings: What the memory was told.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._last: tuple[Session, list[Numbered], Sizes] | None = None
        self._missing: tuple[str, dict[int, Constraint], list[Constraint]] | None = None

    def whole(self, session: Session, leading: Sequence[BaseMessage]) -> list[BaseMessage]:
        """The view, however large it is."""
        rendered = session.rendered or Rendered()
        said = self._repaired(session)
        head = list(leading)
        if rendered.message is not None and self._settings.role == "merge" and head:
            head[-1] = merged_into(head[-1], rendered.text)
        elif rendered.message is not None:
            head.append(rendered.message)
        return [*head, *said]

    def view(self, session: Session, leading: Sequence[BaseMessage]) -> Steps[list[BaseMessage]]:
        """The view within the budget."""
        view = self.whole(session, leading)
        limit = self._settings.limits.max_tokens
        # Where nothing was repaired, the view takes no more than its parts, which are counted already.
        fits = limit is not None and self.size(session, leading).tokens <= limit and self._settings.meter.additive
        if fits:
            shown = [message for _, message in self._shown(session)]
            if _is_same(view[len(view) - len(shown) :], shown):
                return view
        return (yield from self.fitted(session, view))

    def fitted(self, session: Session, view: list[BaseMessage]) -> Steps[list[BaseMessage]]:
        """The view within the budget: unchanged, or trimmed where no compaction could bring it there."""
        settings = self._settings
        limit = settings.limits.max_tokens
        if limit is None or not view or settings.meter.view(view) <= limit:
            return view
        try:
            return self._trimmed(view, limit)
        except BudgetExceededError as error:
            without = [message for message in view if not is_summary(message)]
            if len(without) == len(view) or settings.role == "merge":
                raise
            trimmed = self._trimmed(without, limit)
            yield Tell(SummaryLeftOut(session_id=session.session_id, needed=error.needed, limit=limit), settings.hooks)
            return trimmed

    def _trimmed(self, view: list[BaseMessage], limit: int) -> list[BaseMessage]:
        settings = self._settings
        pinned = settings.pinned
        return trim_messages(
            view,
            max_tokens=limit,
            token_counter=settings.meter.counter,
            include_system=True,
            pin=lambda message: is_summary(message) or (pinned is not None and pinned(message)),
            oversized=settings.oversized,
            tools=settings.tools or None,
        )

    def rendered(self, session: Session) -> Session:
        """The session with its summary as it stands in the view, rendered once per compaction."""
        if session.rendered is not None:
            return session
        if not session.nodes or session.cleared:
            return replace(session, rendered=Rendered())
        texts = [node.text for node in session.nodes]
        quoted = self.missing(session.constraints, "\n\n".join(texts))
        language = self.language(texts, session.constraints)
        text = render_summary(texts, render_constraints(quoted, language), language)
        message = summary_message(text, self._settings.role)
        tokens = self._settings.meter.message(message)
        return replace(session, rendered=Rendered(message, text, summary_text_of(message), tokens, len(quoted)))

    def missing(self, constraints: Sequence[Constraint], text: str) -> list[Constraint]:
        """The constraints that a text lacks, looked for once if some of them leave before it is shown."""
        wanted = set(map(id, constraints))
        if self._missing is None or self._missing[0] != text or not wanted <= self._missing[1].keys():
            found = missing_constraints(constraints, text)
            self._missing = text, {id(one): one for one in constraints}, found  # held, so that their ids stay their own
        return [one for one in self._missing[2] if id(one) in wanted]

    def language(self, texts: Sequence[str], constraints: Sequence[Constraint]) -> Language:
        """The language of labels: the one that was set, else the one that most of the texts are in."""
        if self._settings.language is not None:
            return self._settings.language
        return dominant_language([*texts, *(constraint.text for constraint in constraints)])

    def size(self, session: Session, leading: Sequence[BaseMessage]) -> Sizes:
        """How large the view is, before any trim."""
        if self._last is None or self._last[0] is not session:
            meter = self._settings.meter
            shown = session.shown()
            summary = session.rendered.tokens if session.rendered else 0
            tokens = meter.fixed + meter.messages(leading) + summary + self._spent(session, shown)
            turns = self._settings.limits.counts_rounds and sum(is_user_turn(message) for _, message in shown)
            self._last = session, shown, Sizes(tokens, len(leading) + len(shown), turns)
        return self._last[2]

    def _repaired(self, session: Session) -> list[BaseMessage]:
        """What is said in the view, valid. Before a user turn that a view has had, nothing can need repair any more."""
        shown = self._shown(session)
        messages = [message for _, message in shown]
        notes = session.notes
        if notes.sound_before:
            start = bisect_left(shown, notes.sound_before, key=lambda one: one[0])
            suffix = messages[start:]
            if _is_same(repair_messages(suffix), suffix):
                notes.sound_before = _newest_turn(shown[start:]) or notes.sound_before
                return messages
        repaired = repair_messages(messages)
        if _is_same(repaired, messages):
            notes.sound_before = _newest_turn(shown)
        return repaired

    def _shown(self, session: Session) -> list[Numbered]:
        """What `session.shown()` gives, as it was found last."""
        return self._last[1] if self._last is not None and self._last[0] is session else session.shown()

    def _spent(self, session: Session, shown: Sequence[Numbered]) -> int:
        """What the messages that are shown take together, for the price of those that are new."""
        tokens, counted = session.notes.spent
        newest = shown[-1][0] if shown else 0
        if session.removing or newest < counted:  # another call knows more of the session than this one
            return sum(self.costs(session, shown))
        start = len(shown)
        while start and shown[start - 1][0] > counted:
            start -= 1
        tokens += sum(self.costs(session, shown[start:]))
        session.notes.spent = tokens, newest
        return tokens

    def costs(self, session: Session, shown: Sequence[Numbered]) -> list[int]:
        """What messages of a session's tail take; each is counted once while it is there."""
        known = session.notes.costs
        for number, message in shown:
            if number not in known:
                known[number] = self._settings.meter.message(message)
        return [known[number] for number, _ in shown]


def _is_same(messages: Sequence[BaseMessage], others: Sequence[BaseMessage]) -> bool:
    return len(messages) == len(others) and all(map(is_, messages, others))


def _newest_turn(shown: Sequence[Numbered]) -> int:
    return next((number for number, message in reversed(shown) if is_user_turn(message)), 0)
