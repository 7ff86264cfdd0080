"""Cases together with all that the memory was given, read from and written to JSON Lines."""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeAlias

from langchain_tiered_memory._times import in_utc
from langchain_tiered_memory.evaluation import files, synthetic
from langchain_tiered_memory.evaluation.cases import DatasetError, MemoryCase, MemoryRecord
from langchain_tiered_memory.messages.transcripts.files import write_text

__all__ = ["MemoryDataset", "Unit"]

Unit: TypeAlias = Literal["message", "round"]
"""What is written and returned as one: each message, or a user's message with the answers to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDataset:
    """Questions to a memory, and everything that it was told before.

    ```python
    from langchain_tiered_memory.evaluation import MemoryDataset

    dataset = MemoryDataset.synthetic(events=100, seed=0)
    assert len(dataset.cases) >= 100
    assert dataset == MemoryDataset.synthetic(events=100, seed=0)
    ```

    Attributes:
        name: What it is called in a report.
        cases: The questions.
        now: The present, at which every question without an `as_of` is asked.
        unit: What is written and returned as one.
        empty_recall: The recall of a question that has no evidence: `None` leaves it out; LoCoMo's authors count 1.
        others: Conversations that the memory was told too, and that none of the cases belongs to.
        records: All records of all cases by their ids; follows from the cases.

    Raises:
        DatasetError: Ids are not unique.
    """

    name: str
    cases: tuple[MemoryCase, ...]
    now: datetime
    unit: Unit = "message"
    empty_recall: float | None = None
    others: tuple[tuple[MemoryRecord, ...], ...] = field(default=(), repr=False)
    records: Mapping[str, MemoryRecord] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Gather the records, and check that ids are unique."""
        object.__setattr__(self, "cases", tuple(self.cases))
        object.__setattr__(self, "now", in_utc(self.now, "now"))
        if self.unit not in ("message", "round"):
            msg = f"unit={self.unit!r} is not known: use 'message' or 'round'"
            raise DatasetError(msg)
        object.__setattr__(self, "records", _gathered(self.histories()))
        seen: set[str] = set()
        for case in self.cases:
            if case.id in seen:
                msg = f"two cases have the id {case.id!r}: give each its own"
                raise DatasetError(msg)
            seen.add(case.id)

    def histories(self) -> Iterator[tuple[MemoryRecord, ...]]:
        """What was told, each conversation once, in the order of the cases."""
        seen: set[int] = set()
        for history in (*(case.messages for case in self.cases), *self.others):
            if history and id(history) not in seen:
                seen.add(id(history))
                yield history

    def units(self) -> Iterator[tuple[MemoryRecord, ...]]:
        """What a memory is given as one, in the order in which it was said: a message, or a round."""
        for history in _without_repeats(self.histories()):
            group: list[MemoryRecord] = []
            for record in history:
                if group and (self.unit == "message" or record.role == "user" or record.scope != group[-1].scope):
                    yield tuple(group)
                    group = []
                group.append(record)
            if group:
                yield tuple(group)

    def successors(self) -> dict[str, list[MemoryRecord]]:
        """By a record's id, the records that supersede it."""
        found: defaultdict[str, list[MemoryRecord]] = defaultdict(list)
        for record in self.records.values():
            if record.supersedes is not None:
                found[record.supersedes].append(record)
        return dict(found)

    def sample(self, count: int, *, seed: int = 0) -> MemoryDataset:
        """Some of the questions, over all that was told.

        Args:
            count: How many; all where there are no more.
            seed: Chooses which.

        Raises:
            ValueError: It is no number.
        """
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            msg = f"count={count!r} is no number of questions: give a whole number from 0 up"
            raise ValueError(msg)
        if count >= len(self.cases):
            return self
        chosen = random.Random(seed).sample(range(len(self.cases)), count)  # noqa: S311  # a choice, not a secret
        kept = tuple(self.cases[position] for position in sorted(chosen))
        return self._with(kept, f"{self.name}, {count} questions")

    def where(self, *, categories: Iterable[str]) -> MemoryDataset:
        """The cases of some categories, over all that was told.

        Args:
            categories: Their names.
        """
        wanted = set(categories)
        kept = tuple(case for case in self.cases if case.category in wanted)
        return self._with(kept, f"{self.name}, {', '.join(sorted(wanted))}")

    def _with(self, cases: tuple[MemoryCase, ...], name: str) -> MemoryDataset:
        # What the other cases were told stays: it is what the answers have to be told apart from.
        told = {id(case.messages) for case in cases}
        others = tuple(history for history in self.histories() if id(history) not in told)
        return replace(self, name=name, cases=cases, others=others)

    @property
    def digest(self) -> str:
        """12 hexadecimal digits that stand for all of it, the same on every machine."""
        hashed = hashlib.sha256()
        for line in self._lines():
            hashed.update(line.encode("utf-8", "surrogatepass"))
        return hashed.hexdigest()[:12]

    @classmethod
    def synthetic(
        cls, events: int = 100, seed: int = 0, language: Literal["en", "zh"] = "en", *, per_user: int = 25
    ) -> MemoryDataset:
        """Make up a data set whose every event is known: see `evaluation.synthetic`.

        Args:
            events: How many events are told and asked about; updates of them come on top.
            seed: The same seed gives the same data set on every machine.
            language: What the users write.
            per_user: How many events one user tells.

        Raises:
            ValueError: There is no such language, or no event.
        """
        cases = synthetic.synthetic(events=events, seed=seed, language=language, per_user=per_user)
        return cls(name=f"synthetic {language}, {events} events, seed {seed}", cases=cases, now=synthetic.NOW)

    @classmethod
    def load(cls, path: str | Path) -> MemoryDataset:
        """Read a data set that `save` wrote, or that somebody wrote by hand.

        Raises:
            DatasetError: The file cannot be read; names the line and the repair.
        """
        return files.load(path, lambda parts: cls(**parts))

    def save(self, path: str | Path) -> None:
        """Write the data set as JSON Lines, UTF-8, in whole or not at all."""
        write_text(str(path), "".join(self._lines()))

    def _lines(self) -> Iterator[str]:
        head: dict[str, Any] = {"name": self.name, "now": self.now.isoformat(), "unit": self.unit}
        if self.empty_recall is not None:
            head["empty_recall"] = self.empty_recall
        return files.lines_of(head, self.histories(), self.cases)


def _gathered(histories: Iterable[Sequence[MemoryRecord]]) -> dict[str, MemoryRecord]:
    records: dict[str, MemoryRecord] = {}
    for history in histories:
        for record in history:
            known = records.setdefault(record.id, record)
            if known is not record and known != record:
                msg = f"two different records have the id {record.id!r}: give each its own"
                raise DatasetError(msg)
    return records


def _without_repeats(histories: Iterable[Sequence[MemoryRecord]]) -> Iterator[list[MemoryRecord]]:
    seen: set[str] = set()
    for history in histories:
        new = [record for record in history if record.id not in seen]
        seen.update(record.id for record in new)
        yield new
