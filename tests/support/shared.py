"""The folder beside the project that holds what may not be copied into it: data sets and vocabularies."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TIERED_MEMORY_SHARED", PROJECT.parent / "shared"))
DATA = SHARED / "data"


def use_shared_vocabularies() -> None:
    """Let tiktoken find the vocabularies there; it reads the variable whenever it loads one."""
    if "TIKTOKEN_CACHE_DIR" not in os.environ and (SHARED / "tiktoken").is_dir():
        os.environ["TIKTOKEN_CACHE_DIR"] = str(SHARED / "tiktoken")
