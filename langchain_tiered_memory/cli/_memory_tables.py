"""What the memory commands show: sessions and facts as tables for people, and everything as JSON for programs."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING, Any, Final

from langchain_tiered_memory._optional import import_optional
from langchain_tiered_memory.display import visible
from langchain_tiered_memory.memory import TieredMemory
from langchain_tiered_memory.messages.protocol import is_user_turn
from langchain_tiered_memory.semantic.records import Fact
from langchain_tiered_memory.types import MemoryScope
from langchain_tiered_memory.wiring.naming import session_key
from langchain_tiered_memory.working.nodes import SummaryNode

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["fact_data", "facts_table", "json_text", "node_data", "session_rows", "sessions_table", "write_json"]

_UNUSUAL: Final = re.compile(r"[^\x20-\x7e\n]")
_GIST: Final = 60
_SEEN: Final = 20
"""Messages at the beginning of a session among which its first question is looked for."""


def session_rows(memory: TieredMemory, scope: MemoryScope) -> list[dict[str, Any]]:
    """What there is to know of each session of a user, as JSON can hold it, the newest last."""
    rows = []
    for session in memory.sessions(scope):
        name = session_key(session, scope)
        count = memory.log.version(name)
        beginning = memory.log.entries(name, limit=_SEEN)
        ending = memory.log.entries(name, after=count - 1)
        if not ending:  # erased meanwhile
            continue
        first = next((one.message.text for one in beginning if is_user_turn(one.message)), "")
        rows.append(
            {
                "session": session,
                "messages": count,
                "began": beginning[0].created_at.isoformat(),
                "ended": ending[-1].created_at.isoformat(),
                "first_question": str(first),
            }
        )
    return sorted(rows, key=lambda row: (row["ended"], row["session"]))


def sessions_table(rows: list[dict[str, Any]]) -> RenderableType:
    """Sessions for a terminal."""
    if not rows:
        return "no sessions"
    return _table(
        {"session": "", "messages": "right", "last (UTC)": "", "began with": ""},
        [(row["session"], f"{row['messages']:,}", _minute(row["ended"]), row["first_question"]) for row in rows],
    )


def facts_table(known: list[Fact]) -> RenderableType:
    """Facts for a terminal."""
    if not known:
        return "no facts"
    rows = []
    for fact in known:
        value = fact.value if isinstance(fact.value, str) else json.dumps(fact.value, ensure_ascii=False)
        until = "" if fact.valid_until is None else _minute(fact.valid_until.isoformat())
        rows.append((fact.entity, fact.attribute, value, until, fact.scope.session or ""))
    heads = ("about", "what", "value", "until (UTC)", "session")
    kept = [place for place, head in enumerate(heads) if head in heads[:3] or any(row[place] for row in rows)]
    return _table({heads[place]: "" for place in kept}, [tuple(row[place] for place in kept) for row in rows])


def _table(heads: dict[str, str], rows: list[tuple[str, ...]]) -> RenderableType:
    box = import_optional("rich.box", needed_by="tiered-memory")
    text = import_optional("rich.text", needed_by="tiered-memory").Text
    table: Any = import_optional("rich.table", needed_by="tiered-memory").Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for head, justify in heads.items():
        table.add_column(head, justify=justify or "left", overflow="fold")
    for row in rows:
        table.add_row(*(text(_gist(cell)) for cell in row))
    shown: RenderableType = table
    return shown


def _gist(text: str) -> str:
    shown = visible(" ".join(text.split()))
    return shown if len(shown) <= _GIST else f"{shown[: _GIST - 1]}…"


def _minute(moment: str) -> str:
    return moment[:16].replace("T", " ")


def fact_data(fact: Fact) -> dict[str, Any]:
    """A fact as JSON can hold it."""
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


def node_data(node: SummaryNode) -> dict[str, Any]:
    """A summary as JSON can hold it."""
    return {
        "level": node.level,
        "spans": [list(span) for span in node.spans],
        "text": node.text,
        "tokens": node.tokens,
        "created_at": node.created_at.isoformat(),
        "handed_on": node.handed_on,
    }


def write_json(value: Any) -> None:  # noqa: ANN401  # what JSON holds
    """Write JSON on stdout, indented."""
    sys.stdout.write(json_text(value, indent=2) + "\n")


def json_text(value: Any, indent: int | None = None) -> str:  # noqa: ANN401  # as above
    """JSON as people can read it, with what a terminal might obey, or no encoding would take, as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _UNUSUAL.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text)
