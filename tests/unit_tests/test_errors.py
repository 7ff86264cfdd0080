from __future__ import annotations

import copy
import pickle

import pytest

from langchain_tiered_memory.errors import BudgetExceededError, MemoryStoreError, VersionConflictError

ERRORS = [
    BudgetExceededError.of("the question", needed=9, limit=5),
    VersionConflictError("somebody else wrote", expected=1, actual=3, current="x"),
    MemoryStoreError("away"),
]


@pytest.mark.parametrize("again", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])  # noqa: S301  # our own
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_comes_whole_out_of_another_process(error, again):
    twin = again(error)
    assert type(twin) is type(error)
    assert str(twin) == str(error)
    assert vars(twin) == vars(error)
