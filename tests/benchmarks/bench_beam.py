"""Whether what is true now is recalled before what was true once: BEAM's knowledge-update questions.

Run by `make bench BENCH=beam`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_beam.py`; skipped
without `beam_100k.json.gz` in the data folder.

Each of the twenty chats is a user whose rounds are remembered in Milvus Lite, found by what the user said
(`key="user"`). A question is stale if a round with the outdated statement ranks above every round with the current one.
The rule for near-duplicates was chosen on these questions, since there are no others of the kind: its figures are
in-sample. "Plain" is the same ranking without the rule.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from langchain_core.embeddings import Embeddings
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from langchain_tiered_memory.episodic import ranking
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.types import MemoryScope
from support.questions import BEAM, Chat, Update, beam

DEPTH = 50
STALE, TOP_TEN, TOP_FIVE = 30.0, 97.0, 87.0
SAID = datetime(2026, 1, 1, tzinfo=UTC)
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Round:
    """A user's message and the answers to it."""

    ids: tuple[int, ...]
    messages: tuple[BaseMessage, ...]


def rounds_of(chat: Chat) -> list[Round]:
    """The rounds of a chat, each from one message of the user to the next."""
    groups: list[list[tuple[int, str, str]]] = []
    for message in chat.messages:
        if message[1] == "user" or not groups:
            groups.append([])
        groups[-1].append(message)
    return [
        Round(
            ids=tuple(number for number, _, _ in group),
            messages=tuple(HumanMessage(text) if role == "user" else AIMessage(text) for _, role, text in group),
        )
        for group in groups
    ]


def remember(
    memory: EpisodicMemory, chat: Chat, scope: MemoryScope, expired: frozenset[int] = frozenset()
) -> dict[int, str]:
    """Write a chat; gives the episode of each message. Rounds with a message of `expired` are true until now only."""
    episodes: dict[int, str] = {}
    for group, old in _groups(rounds_of(chat), expired):
        said = SAID + timedelta(minutes=group[0].ids[0])
        messages = [message for one in group for message in one.messages]
        ids = memory.remember(messages, scope=scope, created_at=said, valid_until=NOW if old else None)
        for one, episode in zip(group, ids, strict=True):
            episodes |= dict.fromkeys(one.ids, episode)
    return episodes


def _groups(rounds: Sequence[Round], expired: frozenset[int]) -> Iterator[tuple[list[Round], bool]]:
    """Runs of rounds that are written alike."""
    group: list[Round] = []
    for one in rounds:
        if group and expired.isdisjoint(one.ids) != expired.isdisjoint(group[0].ids):
            yield group, not expired.isdisjoint(group[0].ids)
            group = []
        group.append(one)
    if group:
        yield group, not expired.isdisjoint(group[0].ids)


def places(memory: EpisodicMemory, update: Update, scope: MemoryScope, episodes: dict[int, str]) -> tuple[int, int]:
    """The best places of the outdated and of the current statement; `DEPTH` for one that is not found."""
    found = [str(document.id) for document in memory.recall(update.text, scope=scope, k=DEPTH)]
    place = {episode: n for n, episode in enumerate(found)}
    outdated, current = (
        min((place.get(episodes[number], DEPTH) for number in numbers), default=DEPTH)
        for numbers in (update.outdated, update.current)
    )
    return outdated, current


def ask(memory: EpisodicMemory, written: list[tuple[Chat, MemoryScope, dict[int, str]]]) -> dict[str, float]:
    """Every question once; in percent."""
    found = [
        places(memory, update, scope, episodes)
        for chat, scope, episodes in written
        for update in chat.updates
        if update.current
    ]
    share = 100 / len(found)
    return {
        "stale": share * sum(outdated < current for outdated, current in found),
        "top 10": share * sum(current < 10 for _, current in found),
        "top 5": share * sum(current < 5 for _, current in found),
        "top 3": share * sum(current < 3 for _, current in found),
        "first": share * sum(current == 0 for _, current in found),
    }


def row(name: str, values: dict[str, float], *, met: bool | None = None) -> bool:
    """Print one line of the table; True unless a target was missed."""
    verdict = "" if met is None else "met" if met else "MISSED"
    print(f"  {name:<40}{''.join(f'{value:>8.1f}' for value in values.values())}  {verdict}".rstrip(), flush=True)
    return met is not False


def measure(name: str, embeddings: Embeddings | None, chats: list[Chat], folder: Path) -> bool:
    """Print what one embedding model gives, without the rule, with it, and with the truth told."""
    with EpisodicMemory(str(folder / f"{name}.db"), embeddings, key="user", clock=lambda: NOW) as memory:
        written = []
        for chat in chats:
            scope = MemoryScope(chat.id, session="chat")
            written.append((chat, scope, remember(memory, chat, scope)))
        depth, ranking.DEPTH = ranking.DEPTH, 0
        row(f"{name}, plain", ask(memory, written))
        ranking.DEPTH = depth
        values = ask(memory, written)
        target = values["stale"] <= STALE and values["top 10"] >= TOP_TEN and values["top 5"] >= TOP_FIVE
        # The targets are those of a memory with an embedding model.
        met = row(name, values, met=target if embeddings is not None else None)
        for chat, scope, episodes in written:
            for old, new in _changes(chat, episodes):
                memory.supersede(old, new, scope=scope)
        told = ask(memory, written)
        met &= row(f"{name}, superseded", told, met=told["stale"] == 0)
        expiring = []
        for chat in chats:
            scope = MemoryScope(f"{chat.id} expiring", session="chat")
            old = frozenset().union(*(update.outdated - update.current for update in chat.updates if update.current))
            expiring.append((chat, scope, remember(memory, chat, scope, old)))
        told = ask(memory, expiring)
        return met & row(f"{name}, valid_until given", told, met=told["stale"] == 0)


def _changes(chat: Chat, episodes: dict[int, str]) -> Iterator[tuple[str, str]]:
    """The episodes that take each other's place; each is superseded once."""
    done = set()
    for update in chat.updates:
        new = {episodes[number] for number in update.current}
        for number in sorted(update.outdated):
            old = episodes[number]
            if new and old not in new | done:
                done.add(old)
                yield old, episodes[min(update.current)]


def main() -> int:
    """Print the table; the exit code is 1 if a target was missed."""
    if not BEAM.exists():
        print(f"skipped: {BEAM.name} is not in the data folder")
        return 0
    chats = beam()
    heads = ("stale", "top 10", "top 5", "top 3", "first")
    print("percent of the knowledge-update questions: outdated above current; current in the top")
    print(f"  {'':<40}{''.join(f'{head:>8}' for head in heads)}")
    print(f"  {'target':<40}{STALE:>8.1f}{TOP_TEN:>8.1f}{TOP_FIVE:>8.1f}")
    with tempfile.TemporaryDirectory() as folder:
        results = [measure("local", LocalEmbeddings(), chats, Path(folder)), measure("none", None, chats, Path(folder))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
