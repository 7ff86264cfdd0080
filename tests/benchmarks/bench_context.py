"""What it costs to put a request together, and how much of what a question needs is in it.

Run by `make bench BENCH=context`, or alone: `PYTHONPATH=tests python tests/benchmarks/bench_context.py [QUESTIONS]`.

The first table takes CPU time per call behind 1,000 rounds, with the counts of the messages known. The second asks the
questions of LoCoMo about whole conversations, each in a new session, at budgets of 1,000 to 4,000 tokens: which share
of the turns that hold the evidence stands in the request. Beside it stand trim_messages over the same conversation,
and langchain's VectorStoreRetrieverMemory with the same embeddings, which gets as many turns as fit into the budget.
QUESTIONS limits the questions of each conversation for a quick look: the targets are set for all of them.
"""

from __future__ import annotations

import functools
import gc
import sys
import tempfile
import time
import tracemalloc
import warnings
from pathlib import Path
from statistics import median

from langchain_core.documents import Document
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, trim_messages
from langchain_core.vectorstores import InMemoryVectorStore

from benchmarks.bench_locomo import remember
from langchain_tiered_memory import InMemoryFactStore, InMemoryMessageLog, SQLFactStore, SQLMessageLog
from langchain_tiered_memory.context.assembler import ContextAssembler
from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.messages.tokens import TiktokenCounter, default_counter
from langchain_tiered_memory.types import MemoryScope, TokenCounter
from support.questions import LOCOMO, Question, locomo
from support.shared import use_shared_vocabularies

ROUNDS = 1_000
CALLS = 200
FACTS = 20
BUDGET = 4_000
MILLISECONDS = {"in memory": 1.0, "SQLite": 3.0, "SQLite, with facts": 4.0}
SHARES = {1_000: 0.75, 2_000: 0.84, 4_000: 0.90}
MOST = 150
"""Turns that are recalled at most: more than fit into the largest budget."""
OURS, TRIMMED, VECTORS = CONTENDERS = "ContextAssembler", "trim_messages", "VectorStoreRetrieverMemory"
ADA = MemoryScope("ada")
CONFIG = {"configurable": {"user_id": "ada", "session_id": "s"}}


def row(name: str, value: float, target: str = "", *, reached: bool | None = None) -> bool:
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<44}{value:>10.3f}  {target:>8}  {verdict}".rstrip(), flush=True)
    return reached is not False


def talk(assembler, log, rounds: int) -> None:
    """Have a conversation of so many rounds."""
    for number in range(rounds):
        assembler.invoke({"question": f"What does item {number} cost, and when can it be here?"}, CONFIG)
        log.append("s", [AIMessage(f"Item {number} costs {number * 3} euros and is here on day {number % 28 + 1}.")])


def assembly_costs(folder: Path) -> bool:
    """CPU milliseconds of one call."""
    print(f"\nCPU milliseconds of one request behind {ROUNDS:,} rounds at a budget of {BUDGET:,}, median of {CALLS}")
    facts = SQLFactStore(f"sqlite:///{folder}/facts.db")
    for number in range(FACTS):
        facts.put(ADA, "ada", f"attribute {number}", f"value {number}")
    met = True
    for name, log, known in (
        ("in memory", InMemoryMessageLog(), None),
        ("SQLite", SQLMessageLog(f"sqlite:///{folder}/one.db"), None),
        ("SQLite, with facts", SQLMessageLog(f"sqlite:///{folder}/two.db"), facts),
    ):
        assembler = ContextAssembler(BUDGET, log=log, facts=known)
        talk(assembler, log, ROUNDS)
        times = []
        for _ in range(CALLS):
            start = time.process_time()
            assembler.invoke({"messages": []}, CONFIG)
            times.append((time.process_time() - start) * 1_000)
        met &= row(name, median(times), f"<= {MILLISECONDS[name]:.0f}", reached=median(times) <= MILLISECONDS[name])
        log.close()
    facts.close()
    return met


def memory_growth(folder: Path) -> bool:
    """Kilobytes that a session holds in this process after 1,000 and after 4,000 rounds, its log in SQLite.

    The counter remembers few contents: what it holds is no session's, and grows to as much as it is told.
    """
    log = SQLMessageLog(f"sqlite:///{folder}/growth.db")
    counter = TiktokenCounter("gpt-4o", max_entries=256)
    assembler = ContextAssembler(BUDGET, log=log, facts=InMemoryFactStore(), token_counter=counter)
    talk(assembler, log, 100)
    tracemalloc.start()
    held = []
    for rounds in (900, 3_000):
        talk(assembler, log, rounds)
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0] / 1_024)
    tracemalloc.stop()
    print("\nKilobytes held in this process")
    row("after 1,000 rounds", held[0])
    met = row("after 4,000 rounds", held[1], "<= 1.25x", reached=held[1] <= 1.25 * held[0])
    log.close()
    return met


# --- what is in it ----------------------------------------------------------------------------------------------------


def evidence_in_context(limit: int | None) -> bool:
    """The share of LoCoMo's evidence that stands in a request, at each budget."""
    if not LOCOMO.exists():
        print(f"\nskipped: {LOCOMO.name} is not in the data folder")
        return True
    from langchain_classic.memory import VectorStoreRetrieverMemory  # noqa: PLC0415  # only compared

    counter, embeddings = default_counter(), LocalEmbeddings()
    shares: dict[str, dict[int, list[float]]] = {name: {budget: [] for budget in SHARES} for name in CONTENDERS}
    whole = []
    with tempfile.TemporaryDirectory() as folder, EpisodicMemory(f"{folder}/e.db", embeddings) as episodes:
        once = Once(episodes)
        assemblers = {budget: ContextAssembler(budget, episodes=once, k=MOST) for budget in SHARES}
        for conversation in locomo():
            turns = remember(episodes, conversation)
            said = [HumanMessage(f"{turn.speaker}: {turn.text}") for turn in conversation.turns]
            costs = [counter.count_message(message) for message in said]
            whole.append(sum(costs))
            texts = [f"{turn.speaker}: {turn.text}" for turn in conversation.turns]
            store = InMemoryVectorStore(embeddings)
            store.add_texts(texts, metadatas=[{"id": turn.id} for turn in conversation.turns])
            old = VectorStoreRetrieverMemory(
                retriever=store.as_retriever(search_kwargs={"k": MOST}), return_docs=True, memory_key="m"
            )
            config = {"configurable": {"user_id": conversation.id, "session_id": "asking"}}
            for question in conversation.questions[:limit]:
                asked = HumanMessage(question.text)
                found = old.load_memory_variables({"q": question.text})["m"]
                for budget, assembler in assemblers.items():
                    report = assembler.assemble([asked], config).report
                    assert report.total <= budget
                    shares[OURS][budget].append(share_of(question, {turns[one.id] for one in report.recalled}))
                    newest = trim_messages([*said, asked], max_tokens=budget, token_counter=counter)[:-1]
                    ids = {turn.id for turn in conversation.turns[len(said) - len(newest) :]}
                    shares[TRIMMED][budget].append(share_of(question, ids))
                    shares[VECTORS][budget].append(share_of(question, fitting(found, budget, asked, counter)))
    print(
        f"\nShare of the evidence in the request, {len(shares[OURS][1_000]):,} questions over conversations of "
        f"{min(whole):,} to {max(whole):,} tokens"
    )
    met = True
    for budget, target in SHARES.items():
        for name in CONTENDERS:
            value = sum(shares[name][budget]) / len(shares[name][budget])
            goal = {"target": f">= {target:.2f}", "reached": value >= target} if name == OURS else {}
            met &= row(f"{budget:,} tokens: {name}", value, **goal)
    return met


class Once:
    """Recalls once for a question that is asked at several budgets."""

    def __init__(self, episodes: EpisodicMemory) -> None:
        self._recall = functools.lru_cache(maxsize=1)(lambda query, scope, k: episodes.recall(query, scope=scope, k=k))

    def recall(self, query: str, *, scope: MemoryScope, k: int) -> list[Document]:
        """As `EpisodicMemory.recall`."""
        return self._recall(query, scope, k)


def share_of(question: Question, ids: set[str]) -> float:
    """The fraction of a question's evidence among turns."""
    return len(ids.intersection(question.evidence)) / len(question.evidence) if question.evidence else 1.0


def fitting(documents: list[Document], budget: int, asked: HumanMessage, counter: TokenCounter) -> set[str]:
    """The turns that fit into one message with the question, best first, one a line."""
    left = budget - counter([asked, SystemMessage("")])
    ids = set()
    for document in documents:
        left -= counter.count_text(document.page_content + "\n")
        if left < 0:
            break
        ids.add(document.metadata["id"])
    return ids


def main(arguments: list[str]) -> int:
    """Print all tables; the exit code is 1 if a target was missed."""
    use_shared_vocabularies()
    warnings.simplefilter("ignore")  # deprecations of what is compared
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = [assembly_costs(folder), memory_growth(folder)]
    results.append(evidence_in_context(int(arguments[0]) if arguments else None))
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
