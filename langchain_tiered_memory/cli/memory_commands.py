"""The commands that look into a memory, and erase it: recall, facts, sessions, inspect, export, erase."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any, Final, TypedDict

import typer

from langchain_tiered_memory._texts import counted, shortened, visible
from langchain_tiered_memory.cli.console import (
    BAD_INPUT,
    FAILED,
    confirmed,
    json_text,
    print_json,
    print_out,
    stop,
)
from langchain_tiered_memory.cli.place import AsOf, Place, Session, moment_of, on_memory

if TYPE_CHECKING:
    from langchain_tiered_memory._tables import Block
    from langchain_tiered_memory.memory import TieredMemory
    from langchain_tiered_memory.semantic.records import Fact
    from langchain_tiered_memory.types import MemoryScope

__all__ = [
    "SessionRow", "erase", "export", "facts", "facts_table", "inspect", "recall", "session_rows", "sessions",
    "sessions_table",
]  # fmt: skip

_GIST: Final = 60
_SEEN: Final = 20
"""Messages at the beginning of a session among which its first question is looked for."""

_Json = Annotated[bool, typer.Option("--json", help="Write JSON for programs instead of a table.")]


class SessionRow(TypedDict):
    """What there is to know of a session, as JSON can hold it."""

    session: str
    messages: int
    began: str
    ended: str
    first_question: str


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
    moment = moment_of(as_of, "--as-of")
    with place.opened(vectors=True) as memory:
        found = memory.episodes.recall(
            query, scope=place.scope(session), k=k, as_of=moment, include_expired=include_expired, explain=True
        )
    if as_json:
        episodes = [{"content": document.page_content, **document.metadata} for document in found]
        print_json({"query": query, "user": place.owner, "episodes": episodes})
        return
    from langchain_tiered_memory.display import recall_renderable

    print_out(recall_renderable(found, title=query, lines=None if whole else 3))


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
    moment = moment_of(as_of, "--as-of")
    with place.opened() as memory:
        known = memory.facts.list(place.scope(session), entity, as_of=moment)
    if as_json:
        print_json([_fact_data(fact) for fact in known])
    else:
        _print(facts_table(known))


@on_memory
def sessions(place: Place, *, as_json: _Json = False) -> None:
    """List the sessions of a user, the newest last."""
    with place.opened() as memory:
        rows = session_rows(memory, place.scope())
    if as_json:
        print_json(rows)
    else:
        _print(sessions_table(rows))


@on_memory
def inspect(
    place: Place,
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.")],
    *,
    whole: Annotated[bool, typer.Option("--whole", help="Show messages whole, not their first lines.")] = False,
    as_json: _Json = False,
) -> None:
    """Show a session as a timeline: who said what and when, what got no answer, and which summaries were written."""
    from langchain_core.messages import message_to_dict

    from langchain_tiered_memory.display import session_renderable
    from langchain_tiered_memory.session_names import session_key

    with place.opened() as memory:
        scope = place.scope(session)
        name = session_key(session, scope)
        entries, nodes = memory.log.entries(name), memory.log.nodes(name)
        waiting = memory.unanswered(session, scope)
    if not entries:
        stop(f"{place.owner} has no session {session!r}: `tiered-memory sessions` lists them", BAD_INPUT)
    if not as_json:
        title = f"session {session} of {place.owner}, {counted(len(entries), 'message')}, times in UTC"
        print_out(session_renderable(entries, nodes=nodes, title=title, lines=None if whole else 6))
        return
    messages = [
        {"number": one.number, "created_at": one.created_at.isoformat(), "message": message_to_dict(one.message)}
        for one in entries
    ]
    summaries = [
        {
            "level": node.level,
            "spans": [list(span) for span in node.spans],
            "text": node.text,
            "tokens": node.tokens,
            "created_at": node.created_at.isoformat(),
            "handed_on": node.handed_on,
        }
        for node in nodes
    ]
    open_turns = [str(message.text) for message in waiting]
    known = {"session": session, "user": place.owner, "messages": messages, "summaries": summaries}
    print_json({**known, "unanswered": open_turns})


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
        number = 0
        for record in memory.export(place.scope(session)):
            stream.write(json_text(record) + "\n")
            number += 1
    typer.echo(f"{counted(number, 'record')} of {visible(place.owner)}", err=True)


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
        print_json({"user": place.owner, "session": session, **figures})
        return
    typer.echo(
        f"erased of {of}: {counted(gone.sessions, 'session')} with {counted(gone.messages, 'message')}, "
        f"{counted(gone.episodes, 'episode')}, {counted(gone.facts, 'fact')}"
    )


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


def _size(memory: TieredMemory, scope: MemoryScope) -> str:
    names = memory.sessions(scope)
    return (
        f"{counted(len(names), 'session')}, {counted(memory.episodes.count(scope), 'episode')}, "
        f"{counted(len(memory.facts.export(scope)), 'fact')}"
    )


# --- tables, of the chat too ------------------------------------------------------------------------------------------


def session_rows(memory: TieredMemory, scope: MemoryScope) -> list[SessionRow]:
    """What there is to know of each session of a user, the newest last."""
    from langchain_tiered_memory.messages.protocol import is_user_turn
    from langchain_tiered_memory.session_names import session_key

    rows: list[SessionRow] = []
    for session in memory.sessions(scope):
        name = session_key(session, scope)
        beginning = memory.log.entries(name, limit=_SEEN)
        if not beginning:  # erased meanwhile
            continue
        number = memory.log.version(name)
        ending = memory.log.entries(name, after=number - 1) or beginning[-1:]
        first = next((one.message.text for one in beginning if is_user_turn(one.message)), "")
        rows.append(
            {
                "session": session,
                "messages": number,
                "began": beginning[0].created_at.isoformat(),
                "ended": ending[-1].created_at.isoformat(),
                "first_question": str(first),
            }
        )
    return sorted(rows, key=lambda row: (row["ended"], row["session"]))


def sessions_table(rows: Sequence[SessionRow]) -> Block:
    """Sessions for a terminal, their ids whole so that they can be copied."""
    from langchain_tiered_memory._tables import Column, Line, Table

    if not rows:
        return Line("no sessions")
    columns = [Column("session"), Column("messages", "right"), Column("last (UTC)"), Column("began with", wrap=True)]
    return Table(
        columns,
        [(row["session"], f"{row['messages']:,}", _minute(row["ended"]), _gist(row["first_question"])) for row in rows],
    )


def facts_table(known: Sequence[Fact]) -> Block:
    """Facts for a terminal; what none of them has gets no column."""
    from langchain_tiered_memory._tables import Column, Line, Table

    if not known:
        return Line("no facts")
    rows = []
    for fact in known:
        value = fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False)
        until = "" if fact.valid_until is None else _minute(fact.valid_until.isoformat())
        rows.append([*map(_gist, (fact.entity, fact.attribute, value)), until, fact.scope.session or ""])
    heads = ("about", "what", "value", "until (UTC)", "session")
    kept = [place for place, head in enumerate(heads) if head in heads[:3] or any(row[place] for row in rows)]
    columns = [Column(heads[place], wrap=True) for place in kept]
    return Table(columns, [[row[place] for place in kept] for row in rows])


def _print(block: Block) -> None:
    from langchain_tiered_memory._tables import as_rich

    print_out(as_rich([block]))


def _fact_data(fact: Fact) -> dict[str, Any]:
    return {
        "entity": fact.entity,
        "attribute": fact.attribute,
        "value": fact.value,
        "session": fact.scope.session,
        "valid_from": fact.valid_from.isoformat(),
        "valid_until": None if fact.valid_until is None else fact.valid_until.isoformat(),
        "version": fact.version,
        "source": fact.source,
        "updated_at": fact.updated_at.isoformat(),
    }


def _gist(text: str) -> str:
    return shortened(" ".join(text.split()), _GIST)


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")
