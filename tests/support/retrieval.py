"""A retriever in twenty lines, right by construction, and the ways in which retrievers go wrong."""

from __future__ import annotations

import re

from langchain_tiered_memory.evaluation import FAULTS, MemoryDataset
from langchain_tiered_memory.evaluation.cases import fault_of

WORD = re.compile(r"[a-z0-9]+|[\u4e00-\u9fff]")


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


class WordRetriever:
    """Ranks by shared words what the labels let it return.

    It reads the labels for what a store would know: whose a record is, from when until when it holds, what takes its
    place. What no store knows (a label that only a person can give) it does not read.

    Args:
        dataset: What it was told.
        ignored: Faults that it does not look for; "all" returns everything.
    """

    def __init__(self, dataset: MemoryDataset, *ignored: str) -> None:
        self.dataset = dataset
        self.ignored = ignored
        self.successors = dataset.successors()
        self.cases = {case.id: case for case in dataset.cases}

    def __call__(self, inputs: dict) -> list[str]:
        if "all" in self.ignored:
            return list(self.dataset.records)
        case = self.cases[inputs["case"]]
        known = set(FAULTS) - {"stale", "irrelevant", "forbidden", *self.ignored}
        asked = words(inputs["question"])
        found = [
            (len(asked & words(record.text)), record.at, record.id)
            for record in self.dataset.records.values()
            if fault_of(record, case, self.dataset.now, self.successors) not in known
        ]
        return [one for _, _, one in sorted(found, reverse=True)[: inputs["k"]]]
