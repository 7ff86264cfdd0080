"""Results in a file, so that an evaluation that was stopped goes on where it was."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from langchain_tiered_memory.evaluation.cases import DatasetError
from langchain_tiered_memory.evaluation.outcomes import CaseResult

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
        self._file.write(_line([self._name, result.case_id, result.scores, result.returned, dict(result.faults)]))
        self._file.flush()


@contextmanager
def kept_results(path: str | Path | None, head: Mapping[str, Any], name: str) -> Iterator[KeptResults]:
    """Read what a file holds of a target, and write what comes.

    Only ever appends, so that two runs with one file repeat one another's work and lose nothing.

    Args:
        path: The file; `None` to keep nothing.
        head: What results must have in common to belong together.
        name: The target.

    Raises:
        DatasetError: The file holds something else, or the results of other settings, or cannot be used.
    """
    if path is None:
        yield KeptResults({}, None, name)
        return
    try:
        data = Path(path).read_bytes() if Path(path).exists() else b""
        done, size = _read(Path(path), data, head, name)
        if size < len(data):
            os.truncate(path, size)  # a line that was cut off when the run was stopped
        file = Path(path).open("a", encoding="utf-8", errors="surrogatepass")  # noqa: SIM115  # closed below
    except OSError as error:
        msg = f"{path}: cannot be read or written: {error.strerror or error}; pass another results file"
        raise DatasetError(msg) from error
    with file:
        if not size:
            file.write(_line(head))
        yield KeptResults(done, file, name)
        file.flush()
        os.fsync(file.fileno())


def _line(found: Any) -> str:  # noqa: ANN401  # what JSON holds
    return json.dumps(found, ensure_ascii=False) + "\n"


def _read(path: Path, data: bytes, head: Mapping[str, Any], name: str) -> tuple[dict[str, CaseResult], int]:
    """What a file holds of a target, and up to which byte it is whole."""
    whole = data.rfind(b"\n") + 1
    if not whole and not _line(head).encode().startswith(data):
        msg = f"{path}: is no results file; pass another, or remove it"
        raise DatasetError(msg)
    done: dict[str, CaseResult] = {}
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1):
        try:
            found = json.loads(line)
            if number == 1 or isinstance(found, dict):  # a second head is of a run that began at the same time
                _check_head(path, found, head)
                continue
            owner, result = _result(found, len(head["metrics"]))
        except (RecursionError, TypeError, ValueError) as error:
            if isinstance(error, DatasetError):
                raise
            msg = f"{path}, line {number}: no result of an evaluation ({error}); remove the file to start anew"
            raise DatasetError(msg) from error
        if owner == name:
            done[result.case_id] = result
    return done, whole


def _result(found: Any, metrics: int) -> tuple[str, CaseResult]:  # noqa: ANN401  # what stood there
    """A target's name, and what a line holds of it."""
    owner, case_id, scores, returned, faults = found
    numbers = [one for one in scores if isinstance(one, int | float) or one is None]
    if len(scores) != metrics or len(numbers) != metrics:
        msg = f"{metrics} numbers were measured, got {scores!r}"
        raise ValueError(msg)
    if not (isinstance(case_id, str) and isinstance(returned, list) and isinstance(faults, dict)):
        msg = "write a case's id, its scores, the ids returned and their faults"
        raise TypeError(msg)
    return owner, CaseResult(case_id, tuple(scores), tuple(returned), faults)


def _check_head(path: Path, found: Mapping[str, Any], head: Mapping[str, Any]) -> None:
    differs = [name for name in head if not isinstance(found, dict) or found.get(name) != head[name]]
    if differs:
        msg = (
            f"{path}: its results are of another evaluation ({', '.join(differs)} differ); remove the file, or pass "
            "another results file"
        )
        raise DatasetError(msg)
