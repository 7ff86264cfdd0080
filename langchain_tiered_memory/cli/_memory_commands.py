"""The commands that look into a memory, and erase it: recall, facts, sessions, inspect, export, erase."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Final

from langchain_core.messages import message_to_dict

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.cli._memory_tables import (
    fact_data,
    facts_table,
    json_text,
    node_data,
    session_rows,
    sessions_table,
    write_json,
)
from langchain_tiered_memory.cli._places import (
    BAD_INPUT,
    FAILED,
    AsOf,
    Place,
    Session,
    moment_of,
    on_memory,
    stop,
)
from langchain_tiered_memory.display import counted, recall_renderable, session_renderable, visible
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.wiring.naming import session_key

if TYPE_CHECKING:
    import typer
    from rich.console import Console
else:  # through the one door for extras, which names the extra that is missing
    typer = import_optional("typer", needed_by="tiered-memory")
    Console = import_optional("rich.console", needed_by="tiered-memory").Console

__all__ = ["add_memory_commands", "confirmed"]

_Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs instead of a table.")]


@on_memory
def recall(
    place: Place,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="What to look for.")],
    *,
    k: Annotated[int, typer.Option("-k", "--k", min=1, max=1_000, help="How many episodes at most.")] = 5,
    session: Session = None,
    as_of: AsOf = None,
    include_expired: Annotated[
        bool, typer.Option("--include-expired", help="Also what is true no more, or not yet.")
    ] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Show episodes whole, not their first lines.")] = False,
    as_json: _Json = False,
) -> None:
    """Find what was said in all sessions of a user, best first, with what each score is made of."""
    if not query.strip():
        stop("there is nothing to look for: give QUERY some words", BAD_INPUT)
    with place.opened(vectors=True) as memory:
        found = memory.episodes.recall(
            query,
            scope=place.scope(session),
            k=k,
            as_of=moment_of(as_of, "--as-of"),
            include_expired=include_expired,
            explain=True,
        )
    if as_json:
        episodes = [{"content": document.page_content, **document.metadata} for document in found]
        write_json({"query": query, "user": place.owner, "episodes": episodes})
        return
    Console().print(recall_renderable(found, title=query, lines=None if whole else 3))


@on_memory
def facts(
    place: Place,
    *,
    entity: Annotated[str | None, typer.Option(metavar="NAME", help="Only what is known of this.")] = None,
    session: Session = None,
    as_of: AsOf = None,
    as_json: _Json = False,
) -> None:
    """List the facts that hold of a user, and in a session also its own."""
    with place.opened() as memory:
        known = memory.facts.list(place.scope(session), entity, as_of=moment_of(as_of, "--as-of"))
    if as_json:
        write_json([fact_data(fact) for fact in known])
        return
    Console().print(facts_table(known))


@on_memory
def sessions(place: Place, *, as_json: _Json = False) -> None:
    """List the sessions of a user, the newest last."""
    with place.opened() as memory:
        rows = session_rows(memory, place.scope())
    if as_json:
        write_json(rows)
        return
    Console().print(sessions_table(rows))


@on_memory
def inspect(
    place: Place,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")],
    *,
    whole: Annotated[bool, typer.Option("--whole", help="Show messages whole, not their first lines.")] = False,
    as_json: _Json = False,
) -> None:
    """Show a session as a timeline: who said what and when, what got no answer, and which summaries were written."""
    with place.opened() as memory:
        scope = place.scope(session)
        name = session_key(session, scope)
        entries, nodes = memory.log.entries(name), memory.log.nodes(name)
        waiting = memory.unanswered(session, scope)
    if not entries:
        stop(f"{place.owner} has no session {session!r}: `tiered-memory sessions` lists them", BAD_INPUT)
    if as_json:
        messages = [
            {"number": one.number, "created_at": one.created_at.isoformat(), "message": message_to_dict(one.message)}
            for one in entries
        ]
        write_json(
            {
                "session": session,
                "user": place.owner,
                "messages": messages,
                "summaries": [node_data(node) for node in nodes],
                "unanswered": [str(message.text) for message in waiting],
            }
        )
        return
    title = f"session {session} of {place.owner}, {counted(len(entries), 'message')}, times in UTC"
    Console().print(session_renderable(entries, nodes=nodes, title=title, lines=None if whole else 6))


@on_memory
def export(
    place: Place,
    *,
    session: Session = None,
    out: Annotated[
        str, typer.Option("--out", metavar="FILE", help="Where to write it; - for stdout. No file is overwritten.")
    ] = "-",
) -> None:
    """Write everything that is kept of a user as JSON lines, each with its tier: working, episodic or semantic."""
    with place.opened() as memory, _output(out) as stream:
        count = 0
        for record in memory.export(place.scope(session)):
            stream.write(json_text(record) + "\n")
            count += 1
    typer.echo(f"{counted(count, 'record')} of {visible(place.owner)}", err=True)


@on_memory
def erase(
    place: Place,
    *,
    session: Session = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: _Json = False,
) -> None:
    """Erase everything that is kept of a user, or of one session of theirs, in all tiers, for good.

    Each tier is read back afterwards. Exit status 1: nothing was erased, because the answer was no.
    """
    scope = place.scope(session)
    with place.opened() as memory:
        of = visible(place.owner if session is None else f"session {session} of {place.owner}")
        if not yes and not confirmed(f"Erase everything of {of} ({_size(memory, scope)}), for good?"):
            stop("nothing was erased", FAILED)
        gone = memory.erase(scope)
    if as_json:
        figures = {name: getattr(gone, name) for name in ("sessions", "messages", "episodes", "facts")}
        write_json({"user": place.owner, "session": session, **figures})
        return
    typer.echo(
        f"erased of {of}: {counted(gone.sessions, 'session')} with {counted(gone.messages, 'message')}, "
        f"{counted(gone.episodes, 'episode')}, {counted(gone.facts, 'fact')}"
    )


_COMMANDS: Final[dict[str, tuple[Callable[..., None], str]]] = {
    "recall": (recall, 'tiered-memory recall "Where does Maria live?" --user ada -k 3'),
    "facts": (facts, "tiered-memory facts --user ada --json"),
    "sessions": (sessions, "tiered-memory sessions --user ada"),
    "inspect": (inspect, "tiered-memory inspect trip --user ada"),
    "export": (export, "tiered-memory export --user ada --out ada.jsonl"),
    "erase": (erase, "tiered-memory erase --user ada --session trip"),
}


def add_memory_commands(app: typer.Typer) -> None:
    """Add the commands of this module to an app, each with its example."""
    for name, (command, example) in _COMMANDS.items():
        app.command(name, epilog=f"Example: {example}")(command)


# --- input and output -------------------------------------------------------------------------------------------------


@contextmanager
def _output(out: str) -> Iterator[IO[str]]:
    """Stdout, or a new file that only its owner may read."""
    if out == "-":
        yield sys.stdout
        return
    try:
        number = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        stop(f"{out} is there already: name a new file with --out, or remove it", BAD_INPUT)
    except OSError as error:
        stop(f"{out} cannot be written: {error.strerror}", BAD_INPUT)
    with os.fdopen(number, "w", encoding="utf-8", errors="surrogatepass", newline="\n") as stream:
        try:
            yield stream
        except BaseException:
            Path(out).unlink(missing_ok=True)  # half an export looks like a whole one
            raise


def confirmed(question: str) -> bool:
    """Whether somebody says yes; no is what an empty line says, and the end of the input."""
    typer.echo(f"{question} [y/N]: ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer.endswith("\n") or not sys.stdin.isatty():  # nobody's key has ended the line of the question
        typer.echo(err=True)
    return answer.strip().lower() in {"y", "yes"}


def _size(memory: TieredMemory, scope: MemoryScope) -> str:
    names = memory.sessions(scope)
    return (
        f"{counted(len(names), 'session')}, {counted(memory.episodes.count(scope), 'episode')}, "
        f"{counted(len(memory.facts.export(scope)), 'fact')}"
    )
