from __future__ import annotations

import asyncio

import pytest

from langchain_tiered_memory._sync import run_sync


async def test_a_coroutine_that_never_suspends_gives_its_result_and_its_errors():
    async def add(left, right):
        return left + right

    async def algorithm():
        if await add(1, 1) == 3:
            raise AssertionError
        raise KeyError(await add("a", "b"))

    assert run_sync(add(1, 2)) == 3
    with pytest.raises(KeyError, match="ab"):
        run_sync(algorithm())


def test_a_coroutine_that_suspends_is_an_error():
    with pytest.raises(RuntimeError, match="suspended"):
        run_sync(asyncio.sleep(0))
