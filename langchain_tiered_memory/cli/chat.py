"""The command `tiered-memory chat`: a conversation in the terminal that is remembered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, Final, cast

import typer

from langchain_tiered_memory._texts import counted, readable
from langchain_tiered_memory.cli.console import FAILED, confirmed, note, one_line, print_out
from langchain_tiered_memory.cli.memory_commands import facts_table, session_rows, sessions_table
from langchain_tiered_memory.cli.models import MOST_TOKENS, chat_model, request_tokens
from langchain_tiered_memory.cli.place import Place, on_memory
from langchain_tiered_memory.errors import TieredMemoryError

if TYPE_CHECKING:
    from langchain_core.documents import Document
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessageChunk
    from langchain_core.runnables import Runnable
    from rich.console import RenderableType

    from langchain_tiered_memory._tables import Block
    from langchain_tiered_memory.context.report import ContextReport
    from langchain_tiered_memory.events import MemoryEvent
    from langchain_tiered_memory.memory import TieredMemory
    from langchain_tiered_memory.types import MemoryScope

__all__ = ["chat"]

_RECALL_SECONDS: Final = 10.0
"""Somebody who waits for a model waits for their memories too, which take longest at the first question."""
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


@on_memory
def chat(
    place: Place,
    *,
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="PROVIDER:MODEL", envvar="TIERED_MEMORY_MODEL", help="Who answers."),
    ] = "openai:gpt-4o-mini",
    base_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where MODEL is served, for a server that speaks its protocol; needs no key."),
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID", help="A session to go on with; without, a new one, whose id is shown.")
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Standing instructions, in every request whole.")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            min=1, help="Tokens that a request may take.", show_default=f"{MOST_TOKENS}, less for a small window"
        ),
    ] = None,
) -> None:
    """Chat with a model that remembers: this session, and what was said in earlier ones.

    Each line is a question, /help shows the commands, and /quit or Ctrl-D ends it. Ctrl-C during an answer stops the
    answer only, and ends the chat otherwise. Answers go to stdout, everything else to stderr. Exit status 1: a question
    got no answer.
    """
    found = chat_model(model, base_url)
    from langchain_tiered_memory.procedural.procedures import ProceduralMemory

    seen = _Seen()
    settings = {
        "max_tokens": max_tokens or request_tokens(found),
        "token_counter": None,
        "hooks": [seen],
        "procedures": None if system is None else ProceduralMemory(system=system),
    }
    with place.opened(vectors=True, new=True, **settings) as memory:
        scope = place.scope(memory.new_session() if session is None else session)
        talk = _Chat(memory=memory, model=found, scope=scope, seen=seen)
        talk.greet(model)
        talk.run()
    if talk.failed:
        raise typer.Exit(FAILED)


class _Seen:
    """A hook that keeps the newest report of a request, and shows each compaction when it happens."""

    def __init__(self) -> None:
        self.report: ContextReport | None = None

    def __call__(self, event: MemoryEvent) -> None:
        from langchain_tiered_memory.context.report import ContextReport
        from langchain_tiered_memory.display.compaction import compaction_renderable
        from langchain_tiered_memory.events import Compaction

        if isinstance(event, ContextReport):
            self.report = event
        elif isinstance(event, Compaction):
            print_out(compaction_renderable(event), err=True)


@dataclass(slots=True, kw_only=True)
class _Chat:
    """One conversation in a terminal.

    Attributes:
        memory: Keeps it.
        model: Answers.
        scope: Whose it is, and in which session.
        seen: What is told of requests meanwhile.
        failed: How many questions got no whole answer because something failed.
        recalled: What the last /recall found, which /forget goes by.
    """

    memory: TieredMemory
    model: BaseChatModel
    scope: MemoryScope
    seen: _Seen
    failed: int = field(default=0, init=False)
    recalled: list[Document] = field(default_factory=list, init=False)

    def greet(self, model: str) -> None:
        """Say who answers, which session it is, and what was left open in it."""
        session = self.scope.session or ""
        note(f"{model}, up to {self.memory.budget.limit:,} tokens a request; /help shows the commands, /quit ends")
        said = self.memory.transcript(session, self.scope)
        state = f"goes on after {counted(len(said), 'message')}" if said else "is new"
        note(f"session {session} of {self.scope.user} {state}; to resume: --session {session}")
        for question in self.memory.unanswered(session, self.scope):
            note(f"without a whole answer: {str(question.text)[:200]}")
        try:
            if made := self.memory.catch_up(self.scope.whole_user()):
                note(f"{counted(made, 'episode')} made of what an earlier run left behind")
        except TieredMemoryError as error:  # the log has everything, and the next answer tries again
            note(f"warning: {one_line(error)}")

    def run(self) -> None:
        """Ask and answer until the end of the input."""
        chain = self.memory.assembler(recall={"timeout": _RECALL_SECONDS}) | self.model | self.memory.remember_round()
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        if sys.stdin.isatty():
            with suppress(ImportError):  # where this Python can, lines can be edited and brought back
                import_module("readline")
        while (line := _read_line()) is not None:
            if line.startswith("/"):
                if not self._obeyed(line):
                    return
            elif line.strip():
                self._answer(chain, line.strip())

    def _answer(self, chain: Runnable[Any, BaseMessageChunk], question: str) -> None:
        """Stream an answer; whatever becomes of it, the question is in the log before the model is asked."""
        config = self.memory.config(user=self.scope.user, tenant=self.scope.tenant, session=self.scope.session)
        shown, said = False, None
        try:
            stream = cast("Generator[BaseMessageChunk]", chain.stream({"question": question}, config))
            with closing(stream):
                for chunk in stream:
                    if text := readable(str(chunk.text)):
                        sys.stdout.write(text)
                        sys.stdout.flush()
                        shown = True
        except KeyboardInterrupt:
            said = f"stopped; {_kept(shown=shown)}"
        except TieredMemoryError as error:  # of the memory itself: says what was and was not written
            self.failed += 1
            said = one_line(error)
        except Exception as error:  # noqa: BLE001  # each provider's client fails in its own way; the chat goes on
            self.failed += 1
            said = f"{type(error).__name__}: {one_line(error)} ({_kept(shown=shown)})"
        if shown or said is None:
            sys.stdout.write("\n")
            sys.stdout.flush()
        if said is not None:
            note(said)

    # --- commands -----------------------------------------------------------------------------------------------------

    def _obeyed(self, line: str) -> bool:
        """Do what a line says that begins with a slash; False for the end of the chat."""
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
        if name not in commands:
            note(f"there is no command /{name}: /help lists them; begin with a space to ask it as a question")
            return True
        try:
            print_out(commands[name](rest.strip()))
        except (TieredMemoryError, ValueError) as error:
            note(one_line(error))
        except KeyboardInterrupt:
            note("stopped")
        return True

    def _memory(self, _: str) -> RenderableType:
        user = self.scope.whole_user()
        rows = session_rows(self.memory, user)
        episodes, known = self.memory.episodes.count(user), self.memory.facts.list(self.scope)
        kept = (
            f"{counted(len(rows), 'session')} with {counted(sum(row['messages'] for row in rows), 'message')}, "
            f"{counted(episodes, 'episode')}, {counted(len(known), 'fact')}"
        )
        return _shown(f"{user.user}: {kept}; this session: {self.scope.session}", sessions_table(rows))

    def _facts(self, given: str) -> RenderableType:
        if given:
            name, equals, value = given.partition("=")
            entity, attribute = _name_of(name)
            if not equals or not value.strip():
                msg = "a fact is written as ABOUT.WHAT = VALUE, such as: /facts maria.city = Turin"
                raise ValueError(msg)
            self.memory.facts.put(self.scope.whole_user(), entity, attribute, value.strip(), source="chat")
        return _shown(facts_table(self.memory.facts.list(self.scope)))

    def _recall(self, query: str) -> RenderableType:
        from langchain_tiered_memory.display.recall import recall_renderable

        if not query:
            msg = "/recall needs some words to look for, such as: /recall where Maria lives"
            raise ValueError(msg)
        self.recalled = self.memory.episodes.recall(query, scope=self.scope.whole_user(), explain=True)
        return recall_renderable(self.recalled)

    def _context(self, _: str) -> RenderableType:
        if self.seen.report is None:
            return "nothing was asked yet: ask something, then /context shows what the model was given"
        from langchain_tiered_memory.display.context import context_renderable

        return context_renderable(self.seen.report, title="the last request")

    def _forget(self, what: str) -> RenderableType:
        if what in {"session", "all"}:
            return self._erase(self.scope if what == "session" else self.scope.whole_user())
        if what.isdecimal():
            return self._forget_episode(int(what))
        if "." not in what:
            msg = "/forget NUMBER (of the last /recall), ABOUT.WHAT (a fact), session, or all"
            raise ValueError(msg)
        entity, attribute = _name_of(what)
        gone = [self.memory.facts.delete(scope, entity, attribute) for scope in (self.scope, self.scope.whole_user())]
        if not any(gone):
            return _shown(f"there is no fact {what}: /facts lists them")
        return _shown(f"{what} holds no more; its history stays until /forget all")

    def _forget_episode(self, number: int) -> RenderableType:
        if not 1 <= number <= len(self.recalled):
            msg = f"the last /recall found {counted(len(self.recalled), 'episode')}: there is no {number} among them"
            raise ValueError(msg)
        found = str(self.recalled[number - 1].id)
        gone = self.memory.episodes.forget([found], scope=self.scope.whole_user())
        return f"{counted(gone, 'episode')} forgotten; its session still has the messages until /forget session there"

    def _erase(self, scope: MemoryScope) -> RenderableType:
        whose = "this session" if scope.session is not None else f"all sessions of {readable(scope.user)}"
        if not confirmed(f"Erase everything of {whose} in all tiers, for good?"):
            return "nothing was erased"
        gone = self.memory.erase(scope)
        self.recalled = []
        self.seen.report = None
        tiers = ((gone.messages, "message"), (gone.episodes, "episode"), (gone.facts, "fact"))
        return f"erased: {', '.join(counted(number, thing) for number, thing in tiers)}"


def _name_of(text: str) -> tuple[str, str]:
    entity, _, attribute = text.strip().rpartition(".")
    if not entity.strip() or not attribute.strip():
        msg = f"{text.strip()!r} names no fact: write ABOUT.WHAT, such as maria.city"
        raise ValueError(msg)
    return entity.strip(), attribute.strip()


def _kept(*, shown: bool) -> str:
    return "the question is kept" + (", and the answer as far as it came" if shown else "")


def _shown(*blocks: Block | str) -> RenderableType:
    from langchain_tiered_memory._tables import Line, as_rich

    return as_rich(Line(one) if isinstance(one, str) else one for one in blocks)


def _read_line() -> str | None:
    """The next line; `None` at the end of the input."""
    asking = sys.stdin.isatty()
    if asking and sys.stdout.isatty():
        try:
            return input("> ")
        except EOFError:
            typer.echo(err=True)
            return None
    if asking:  # what is asked for must not get among the answers, which go elsewhere
        typer.echo("> ", nl=False, err=True)
    line = sys.stdin.readline()
    return line.rstrip("\n") if line else None
