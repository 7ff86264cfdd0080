"""Whether a tiktoken vocabulary can be had without a network."""

from __future__ import annotations

from functools import cache

import pytest

DEFAULT = "o200k_base"


@cache
def is_local(name: str = DEFAULT) -> bool:
    """True if the vocabulary is in tiktoken's cache, or an offline encoding plugin brings it."""
    import tiktoken  # noqa: PLC0415  # slow to load, and most runs ask once
    import tiktoken.load  # noqa: PLC0415

    def refuse(blobpath: str) -> bytes:
        raise FileNotFoundError(blobpath)

    with pytest.MonkeyPatch.context() as patch:
        # Reached only when the cache does not hold the file.
        patch.setattr(tiktoken.load, "read_file", refuse)
        try:
            tiktoken.get_encoding(name)
        except FileNotFoundError:
            return False
    return True


def missing(name: str = DEFAULT) -> str:
    """Why a test is skipped, and what to do about it."""
    return (
        f"no {name} vocabulary on this machine: set TIKTOKEN_CACHE_DIR to a folder that holds it, "
        f"or run `python -c 'import tiktoken; tiktoken.get_encoding(\"{name}\")'` once with a network"
    )
