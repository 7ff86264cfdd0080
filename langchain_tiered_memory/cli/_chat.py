"""The command `tiered-memory chat`: a conversation in the terminal that is remembered."""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from dataclasses import dataclass, field
from importlib import import_module
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._chat_commands import ChatCommands, Seen
from langchain_tiered_memory.cli._models import MOST_TOKENS, chat_model, request_tokens
from langchain_tiered_memory.cli._places import FAILED, Place, on_memory
from langchain_tiered_memory.display import counted, readable, visible
from langchain_tiered_memory.errors import TieredMemoryError
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.procedural.procedures import ProceduralMemory
from langchain_tiered_memory.types import MemoryScope

if TYPE_CHECKING:
    import typer
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")

__all__ = ["chat_command"]

_RECALL_SECONDS: Final = 10.0
"""Somebody who waits for a model waits for their memories too, which take longest at the first question."""
_KEPT: Final = "the question is kept"


@on_memory
def chat_command(
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

    Each line is a question, /help shows the commands, and /quit, Ctrl-D or Ctrl-C ends it; Ctrl-C during an answer
    stops the answer only. Answers go to stdout, everything else to stderr. Exit status 1: a question got no answer.
    """
    found = chat_model(model, base_url)
    seen = Seen()
    settings = {
        "max_tokens": max_tokens or request_tokens(found),
        "token_counter": None,
        "hooks": [seen],
        "procedures": None if system is None else ProceduralMemory(system=system),
    }
    with place.opened(vectors=True, new=True, **settings) as memory:
        scope = place.scope(memory.new_session() if session is None else session)
        chat = Chat(memory=memory, model=found, scope=scope, seen=seen)
        chat.greet(model)
        chat.run()
    if chat.failed:
        raise typer.Exit(FAILED)


@dataclass(slots=True, kw_only=True)
class Chat:
    """One conversation in a terminal.

    Attributes:
        memory: Keeps it.
        model: Answers.
        scope: Whose it is, and in which session.
        seen: What is told of requests meanwhile.
        failed: How many questions got no whole answer because something failed.
    """

    memory: TieredMemory
    model: Any
    scope: MemoryScope
    seen: Seen
    failed: int = field(default=0, init=False)

    def greet(self, model: str) -> None:
        """Say who answers, which session it is, and what was left open in it."""
        session = self.scope.session or ""
        limit = self.memory.budget.limit
        _note(f"{visible(model)}, up to {limit:,} tokens a request; /help shows the commands, /quit ends")
        said = self.memory.transcript(session, self.scope)
        state = f"goes on after {counted(len(said), 'message')}" if said else "is new"
        _note(
            f"session {visible(session)} of {visible(self.scope.user)} {state}; to resume: --session {visible(session)}"
        )
        for question in self.memory.unanswered(session, self.scope):
            _note(f"without a whole answer: {visible(question.text)[:200]}")
        try:
            if made := self.memory.catch_up(self.scope.whole_user()):
                _note(f"{counted(made, 'episode')} made of what an earlier run left behind")
        except TieredMemoryError as error:  # the log has everything, and the next answer tries again
            _note(f"warning: {_one_line(error)}")

    def run(self) -> None:
        """Ask and answer until the end of the input."""
        chain = self.memory.assembler(recall={"timeout": _RECALL_SECONDS}) | self.model | self.memory.remember_round()
        commands = ChatCommands(memory=self.memory, scope=self.scope, seen=self.seen)
        if isinstance(sys.stdin, TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")
        if sys.stdin.isatty():
            _edit_lines()
        while (line := _read_line()) is not None:
            if not line.strip():
                continue
            if line.startswith("/"):
                if not self._obeyed(commands, line):
                    return
            else:
                self._answer(chain, line.strip())

    def _obeyed(self, commands: ChatCommands, line: str) -> bool:
        """Do what a command says; False for the end of the chat."""
        try:
            return commands.obey(line)
        except (TieredMemoryError, ValueError) as error:
            _note(_one_line(error))
        except KeyboardInterrupt:
            _note("stopped")
        return True

    def _answer(self, chain: Any, question: str) -> None:  # noqa: ANN401  # a Runnable of any kind
        """Stream an answer; whatever becomes of it, the question is in the log before the model is asked."""
        config = self.memory.config(user=self.scope.user, tenant=self.scope.tenant, session=self.scope.session)
        shown = False
        try:
            with closing(chain.stream({"question": question}, config)) as stream:
                for chunk in stream:
                    if text := readable(chunk.text):
                        sys.stdout.write(text)
                        sys.stdout.flush()
                        shown = True
        except KeyboardInterrupt:
            _end_line(shown=shown)
            _note(f"stopped; {_KEPT}{', and the answer as far as it came' if shown else ''}")
        except TieredMemoryError as error:  # of the memory itself: says what was and was not written
            self.failed += 1
            _end_line(shown=shown)
            _note(_one_line(error))
        except Exception as error:  # noqa: BLE001  # each provider's client fails in its own way; the chat goes on
            self.failed += 1
            _end_line(shown=shown)
            kept = f"{_KEPT}{', and the answer as far as it came' if shown else ''}"
            _note(f"{type(error).__name__}: {_one_line(error)} ({kept})")
        else:
            _end_line(shown=True)


def _read_line() -> str | None:
    """The next line; `None` at the end of the input, or when somebody wants to end it."""
    asking = sys.stdin.isatty()
    try:
        if asking and sys.stdout.isatty():
            return input("> ")
        if asking:  # what is asked for must not get among the answers, which go elsewhere
            typer.echo("> ", nl=False, err=True)
        line = sys.stdin.readline()
    except (EOFError, KeyboardInterrupt):
        typer.echo(err=True)
        return None
    return line.rstrip("\n") if line else None


def _edit_lines() -> None:
    """Let lines be edited and brought back, where this Python can."""
    with suppress(ImportError):
        import_module("readline")


def _end_line(*, shown: bool) -> None:
    if shown:
        sys.stdout.write("\n")
        sys.stdout.flush()


def _note(text: str) -> None:
    typer.echo(f"tiered-memory: {text}", err=True)


def _one_line(error: BaseException) -> str:
    return visible(" ".join(str(error).split()))
