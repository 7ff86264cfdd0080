"""What can be said to `tiered-memory chat` beside questions: commands that begin with a slash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from langchain_core.documents import Document

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._memory_commands import confirmed
from langchain_tiered_memory.cli._memory_tables import facts_table, session_rows, sessions_table
from langchain_tiered_memory.context.report import ContextReport
from langchain_tiered_memory.display import (
    compaction_renderable,
    context_renderable,
    counted,
    recall_renderable,
    visible,
)
from langchain_tiered_memory.events import Compaction, MemoryEvent
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
else:  # through the one door for extras, which names the extra that is missing
    Console = import_optional("rich.console", needed_by="tiered-memory").Console

__all__ = ["ChatCommands", "Seen"]

_HELP: Final = """\
/memory                       what is kept of you, and your sessions
/facts                        the facts that hold
/facts ABOUT.WHAT = VALUE     keep one, such as: /facts maria.city = Turin
/recall QUERY                 what was said about it in all sessions
/context                      what went into the last request, tier by tier
/forget NUMBER                an episode of the last /recall
/forget ABOUT.WHAT            a fact
/forget session               everything of this session, in all tiers
/forget all                   everything of yours, in all tiers
/help                         this
/quit                         end; Ctrl-D does too
A line that begins with a space is a question, whatever follows."""
_SESSION, _ALL = "session", "all"


class Seen:
    """A hook that keeps the newest report of a request, and shows each compaction when it happens."""

    def __init__(self) -> None:
        self.report: ContextReport | None = None

    def __call__(self, event: MemoryEvent) -> None:
        """Take an event."""
        if isinstance(event, ContextReport):
            self.report = event
        elif isinstance(event, Compaction):
            Console(stderr=True).print(compaction_renderable(event))


@dataclass(slots=True, kw_only=True)
class ChatCommands:
    """The commands of one chat.

    Attributes:
        memory: What they are about.
        scope: Whose it is, and in which session.
        seen: What was told of requests.
        recalled: What the last /recall found, which /forget goes by.
    """

    memory: TieredMemory
    scope: MemoryScope
    seen: Seen
    recalled: list[Document] = field(default_factory=list, init=False)

    def obey(self, line: str) -> bool:
        """Do what a line says that begins with a slash; False for the end of the chat.

        Raises:
            MemoryStoreError: A store does not answer.
            ValueError: What was given with the command is not of its form.
        """
        name, _, rest = line[1:].strip().partition(" ")
        if name in {"quit", "exit"}:
            return False
        commands: dict[str, Callable[[str], RenderableType]] = {
            "memory": self._memory,
            "facts": self._facts,
            "recall": self._recall,
            "context": self._context,
            "forget": self._forget,
            "help": lambda _: _HELP,
        }
        command = commands.get(name)
        if command is None:
            msg = f"there is no command /{visible(name)}: /help lists them; begin with a space to ask it as a question"
            raise ValueError(msg)
        shown = command(rest.strip())
        Console().print(shown, markup=False, highlight=False, soft_wrap=isinstance(shown, str))
        return True

    def _memory(self, _: str) -> RenderableType:
        group = import_optional("rich.console", needed_by="tiered-memory").Group
        user = self.scope.whole_user()
        rows = session_rows(self.memory, user)
        episodes, known = self.memory.episodes.count(user), self.memory.facts.list(self.scope)
        text = (
            f"{visible(user.user)}: {counted(len(rows), 'session')} with "
            f"{counted(sum(row['messages'] for row in rows), 'message')}, {counted(episodes, 'episode')}, "
            f"{counted(len(known), 'fact')}; this session: {visible(self.scope.session or '')}"
        )
        shown: RenderableType = group(text, sessions_table(rows))
        return shown

    def _facts(self, given: str) -> RenderableType:
        if given:
            name, equals, value = given.partition("=")
            entity, attribute = _name_of(name)
            if not equals or not value.strip():
                msg = "a fact is written as ABOUT.WHAT = VALUE, such as: /facts maria.city = Turin"
                raise ValueError(msg)
            self.memory.facts.put(self.scope.whole_user(), entity, attribute, value.strip(), source="chat")
        return facts_table(self.memory.facts.list(self.scope))

    def _recall(self, query: str) -> RenderableType:
        if not query:
            msg = "/recall needs some words to look for, such as: /recall where Maria lives"
            raise ValueError(msg)
        self.recalled = self.memory.episodes.recall(query, scope=self.scope.whole_user(), explain=True)
        return recall_renderable(self.recalled)

    def _context(self, _: str) -> RenderableType:
        if self.seen.report is None:
            return "nothing was asked yet: ask something, then /context shows what the model was given"
        return context_renderable(self.seen.report, title="the last request")

    # --- forgetting ---------------------------------------------------------------------------------------------------

    def _forget(self, what: str) -> RenderableType:
        if what in {_SESSION, _ALL}:
            return self._erase(self.scope if what == _SESSION else self.scope.whole_user(), what)
        if what.isdecimal():
            return self._forget_episode(int(what))
        if "." not in what:
            msg = "/forget NUMBER (of the last /recall), ABOUT.WHAT (a fact), session, or all"
            raise ValueError(msg)
        entity, attribute = _name_of(what)
        gone = [self.memory.facts.delete(scope, entity, attribute) for scope in (self.scope, self.scope.whole_user())]
        if not any(gone):
            return f"there is no fact {visible(what)}: /facts lists them"
        return f"{visible(what)} holds no more; its history stays until /forget all"

    def _forget_episode(self, number: int) -> RenderableType:
        if not 1 <= number <= len(self.recalled):
            msg = f"the last /recall found {counted(len(self.recalled), 'episode')}: there is no {number} among them"
            raise ValueError(msg)
        found = str(self.recalled[number - 1].id)
        gone = self.memory.episodes.forget([found], scope=self.scope.whole_user())
        return f"{counted(gone, 'episode')} forgotten; its session still has the messages until /forget session there"

    def _erase(self, scope: MemoryScope, what: str) -> RenderableType:
        whose = "this session" if what == _SESSION else f"all sessions of {visible(scope.user)}"
        if not confirmed(f"Erase everything of {whose} in all tiers, for good?"):
            return "nothing was erased"
        gone = self.memory.erase(scope)
        self.recalled = []
        self.seen.report = None
        return (
            f"erased: {counted(gone.messages, 'message')}, {counted(gone.episodes, 'episode')}, "
            f"{counted(gone.facts, 'fact')}"
        )


def _name_of(text: str) -> tuple[str, str]:
    entity, _, attribute = text.strip().rpartition(".")
    if not entity.strip() or not attribute.strip():
        msg = f"{visible(text.strip())!r} names no fact: write ABOUT.WHAT, such as maria.city"
        raise ValueError(msg)
    return entity.strip(), attribute.strip()
