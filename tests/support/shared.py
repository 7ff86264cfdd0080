"""The folder beside the project that holds what may not be copied into it: data sets and vocabularies."""

from __future__ import annotations

import json
import os
from pathlib import Path

from langchain_core.messages import AIMessage, HumanMessage

PROJECT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("TIERED_MEMORY_SHARED", PROJECT.parent / "shared"))
DATA = SHARED / "data"


def use_shared_vocabularies() -> None:
    """Let tiktoken find the vocabularies there; it reads the variable whenever it loads one."""
    if "TIKTOKEN_CACHE_DIR" not in os.environ and (SHARED / "tiktoken").is_dir():
        os.environ["TIKTOKEN_CACHE_DIR"] = str(SHARED / "tiktoken")


def locomo(number: int) -> list[HumanMessage | AIMessage]:
    """One conversation of LoCoMo, its first speaker as the user."""
    sample = json.loads((DATA / "locomo10.json").read_text("utf-8"))[number]["conversation"]
    sessions = [sample.get(f"session_{n}", []) for n in range(1, 40)]
    kinds = {sample["speaker_a"]: HumanMessage, sample["speaker_b"]: AIMessage}
    return [kinds[turn["speaker"]](turn["text"], id=turn["dia_id"]) for turns in sessions for turn in turns]
