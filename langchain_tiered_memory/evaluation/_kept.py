"""Results in a file, so that an evaluation that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from langchain_tiered_memory.evaluation.datasets import DatasetError
from langchain_tiered_memory.evaluation.results import CaseResult

__all__ = ["KeptResults", "kept_results"]


class KeptResults:
    """The results of one target in a file, or nowhere."""

    def __init__(self, done: dict[str, CaseResult], file: TextIO | None, name: str) -> None:
        self.done = done
        self._file = file
        self._name = name

    def write(self, result: CaseResult) -> None:
        """Add a result, so that it is there should the next one never come."""
        if self._file is None:
            return
        line = [self._name, result.case_id, result.scores, result.returned, dict(result.faults)]
        self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
        self._file.flush()


@contextmanager
def kept_results(path: str | Path | None, head: Mapping[str, Any], name: str) -> Iterator[KeptResults]:
    """Read what a file holds of a target, and write what comes.

    Args:
        path: The file; `None` to keep nothing.
        head: What results must have in common to belong together.
        name: The target.

    Raises:
        DatasetError: The file holds something else, or the results of other settings.
    """
    if path is None:
        yield KeptResults({}, None, name)
        return
    done, size = _read(Path(path), head, name)
    with Path(path).open("r+" if size else "w", encoding="utf-8") as file:
        file.seek(size)
        file.truncate()  # a line that was cut off when the run was stopped
        if not size:
            file.write(json.dumps(head) + "\n")
        yield KeptResults(done, file, name)
        file.flush()
        os.fsync(file.fileno())


def _read(path: Path, head: Mapping[str, Any], name: str) -> tuple[dict[str, CaseResult], int]:
    """What a file holds of a target, and up to which byte it is whole."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return {}, 0
    except OSError as error:
        msg = f"{path}: cannot be read: {error.strerror or error}; pass another results file"
        raise DatasetError(msg) from error
    whole = data.rfind(b"\n") + 1
    done: dict[str, CaseResult] = {}
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
        try:
            found = json.loads(line)
            if number == 1:
                _check_head(path, found, head)
                continue
            owner, case_id, scores, returned, faults = found
            if owner == name:
                done[case_id] = CaseResult(case_id, tuple(scores), tuple(returned), faults)
        except (TypeError, ValueError) as error:
            if isinstance(error, DatasetError):
                raise
            msg = f"{path}, line {number}: no result of an evaluation ({error}); remove the file to start anew"
            raise DatasetError(msg) from error
    return done, whole


def _check_head(path: Path, found: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    differs = [name for name in head if not isinstance(found, dict) or found.get(name) != head[name]]
    if differs:
        msg = (
            f"{path}: its results are of another evaluation ({', '.join(differs)} differ); remove the file, or pass "
            "another results file"
        )
        raise DatasetError(msg)
