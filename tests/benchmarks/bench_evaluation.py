"""The default memory against what a user would have without it, on the synthetic sets; and how fast an evaluation is.

Run by `make bench BENCH=evaluation`, or alone: `PYTHONPATH=tests .venv/bin/python tests/benchmarks/bench_evaluation.py
[quality] [speed]`.

Quality: Milvus Lite with LocalEmbeddings, in English and Chinese, beside the same memory without validity, a plain
InMemoryVectorStore retriever, one filtered by user, and VectorStoreRetrieverMemory, which gets a store for each user so
that nothing of another's can come back. All embed with the same model. Speed: 2,000 questions over 10,000 records, told
one by one; the time is CPU seconds of this process, memory what it holds after the questions less what it held before.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore

from langchain_tiered_memory.episodic.embeddings import LocalEmbeddings
from langchain_tiered_memory.episodic.memory import EpisodicMemory
from langchain_tiered_memory.evaluation import (
    CallableTarget,
    EpisodicTarget,
    EvaluationReport,
    MemoryDataset,
    RetrieverTarget,
    evaluate,
)

EVENTS, SEEDS, K = 100, (0, 1, 2), 5
RECALL, CONTAMINATION = 0.95, 0.02
PLAIN_IS_WORSE = 5
QUESTIONS, RECORDS, RECORDS_AN_EVENT = 2_000, 10_000, 1.45
SECONDS, MEGABYTES = 300, 50
SHOWN = (
    "recall@5",
    "mrr",
    "contamination",
    "contamination.foreign",
    "contamination.superseded",
    "contamination.expired",
    "contamination.early",
    "contamination.stale",
    "contamination.irrelevant",
    "stale_first",
    "current@5",
    "as_of_accuracy",
    "tokens_per_round",
)


def classic(embeddings: Embeddings) -> CallableTarget:
    """langchain_classic's VectorStoreRetrieverMemory, one for each user."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it announces its end; that is not measured here
        from langchain_classic.memory import VectorStoreRetrieverMemory  # noqa: PLC0415  # as above

    memories: dict[str, Any] = {}
    ids: dict[tuple[str, str], str] = {}

    def memory_of(user: str) -> Any:  # its type is langchain_classic's
        if user not in memories:
            retriever = InMemoryVectorStore(embeddings).as_retriever(search_kwargs={"k": K})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # as above
                memories[user] = VectorStoreRetrieverMemory(
                    retriever=retriever, memory_key="history", input_key="input", return_docs=True
                )
        return memories[user]

    def tell(units: Any) -> None:  # as evaluate gives them
        for (record,) in units:
            memory_of(record.scope.user).save_context({"input": record.text}, {"output": "Noted."})
            ids[record.scope.user, f"input: {record.text}\noutput: Noted."] = record.id

    def ask(inputs: Any) -> dict[str, Any]:  # as above
        user = inputs["scope"].user
        found = memory_of(user).load_memory_variables({"input": inputs["question"]})["history"]
        texts = [document.page_content for document in found]
        return {"ids": [ids[user, text] for text in texts], "texts": texts}

    return CallableTarget(ask, name="retriever memory", tell=tell, workers=1)


def side_by_side(dataset: MemoryDataset, folder: Path, embeddings: Embeddings) -> EvaluationReport:
    """One report of all that is compared."""
    by_user = RetrieverTarget(
        InMemoryVectorStore(embeddings).as_retriever(),
        by_user=lambda scope: {"filter": lambda document: document.metadata["user"] == scope.user},
    )
    with EpisodicMemory(str(folder / "memory.db"), embeddings, clock=lambda: dataset.now) as memory:
        target = EpisodicTarget(memory)
        targets = {
            "this": target,
            "validity off": target.without_validity(),
            "vector store": InMemoryVectorStore(embeddings).as_retriever(),
            "by user": by_user,
            "retriever memory": classic(embeddings),
        }
        return evaluate(targets, dataset, k=K)


def quality(embeddings: Embeddings) -> bool:
    """The tables of both languages; True unless a target was missed."""
    met = True
    for language in ("en", "zh"):
        reports = []
        for seed in SEEDS:
            with tempfile.TemporaryDirectory() as folder:
                dataset = MemoryDataset.synthetic(EVENTS, seed, language)
                reports.append(side_by_side(dataset, Path(folder), embeddings))
        names = [target.name for target in reports[0].targets]
        print(f"\n{language}, {EVENTS} events, mean of seeds {', '.join(map(str, SEEDS))}")
        print(f"  {'':<26}{''.join(f'{name:>18}' for name in names)}")
        means = {}
        for metric in SHOWN:
            for name in names:
                scores = [score for report in reports if (score := report.score(metric, name)) is not None]
                means[metric, name] = sum(scores) / len(scores)
            print(f"  {metric:<26}{''.join(f'{means[metric, name]:>18.4f}' for name in names)}", flush=True)
        for number, report in zip(SEEDS, reports, strict=True):
            recall, contamination = report.score("recall@5") or 0.0, report.score("contamination") or 0.0
            met &= row(f"seed {number}, recall@5", recall, f">= {RECALL}", reached=recall >= RECALL)
            met &= row(
                f"seed {number}, contamination",
                contamination,
                f"<= {CONTAMINATION}",
                reached=contamination <= CONTAMINATION,
            )
        least = min(means["contamination", name] for name in names[1:]) / max(means["contamination", "this"], 1e-9)
        met &= row("times less contaminated", least, f">= {PLAIN_IS_WORSE}", reached=least >= PLAIN_IS_WORSE)
    return met


def speed(embeddings: Embeddings) -> bool:
    """Many questions over many records; True unless a target was missed."""
    whole = MemoryDataset.synthetic(int(RECORDS / RECORDS_AN_EVENT), 0)
    dataset = whole.sample(QUESTIONS)
    print(f"\n{len(dataset.cases):,} questions over {len(dataset.records):,} records")
    met = row("records", len(dataset.records), f">= {RECORDS:,}", reached=len(dataset.records) >= RECORDS)
    with (
        tempfile.TemporaryDirectory() as folder,
        EpisodicMemory(f"{folder}/memory.db", embeddings, clock=lambda: dataset.now) as memory,
    ):
        target = EpisodicTarget(memory)
        start = time.process_time()
        target.tell(dataset.units())
        told = time.process_time() - start
        evaluate(target, dataset.sample(100), k=K, tell=False)  # fills caches
        before = resident()
        start = time.process_time()
        report = evaluate(target, dataset, k=K, tell=False)
        asked = time.process_time() - start
        after = resident()
    row("CPU seconds to tell them", told)
    row("CPU seconds to ask", asked)
    met &= row("CPU seconds in all", told + asked, f"<= {SECONDS}", reached=told + asked <= SECONDS)
    grown = after - before
    met &= row("megabytes grown by the questions", grown, f"<= {MEGABYTES}", reached=grown <= MEGABYTES)
    row("recall@5", report.score("recall@5") or 0.0)
    row("contamination", report.score("contamination") or 0.0)
    start = time.process_time()
    records = list(dataset.records)
    evaluate(lambda _: records[:K], dataset, k=K)
    row("CPU seconds of evaluate itself", time.process_time() - start)
    return met


def resident() -> float:
    """Megabytes that this process holds."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def row(name: str, value: float, target: str = "", *, reached: bool | None = None) -> bool:
    """Print one line of a table; True unless a target was missed."""
    verdict = "" if reached is None else "met" if reached else "MISSED"
    print(f"  {name:<40}{value:>12,.4f}  {target:>10}  {verdict}".rstrip(), flush=True)
    return reached is not False


def main(names: list[str]) -> int:
    """Print the tables; the exit code is 1 if a target was missed."""
    embeddings = LocalEmbeddings()
    parts = {"quality": quality, "speed": speed}
    results = [parts[name](embeddings) for name in names or list(parts)]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
