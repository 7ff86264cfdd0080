"""LoCoMo and BEAM as data: what was said, what is asked, and which of it answers. Neither is part of the project.

LoCoMo (Maharana et al., ACL 2024; CC BY-NC 4.0): ten conversations of two people. BEAM (Tavakoli et al.; CC BY-SA 4.0):
twenty chats of a user with an assistant, reduced to messages and questions.
"""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from support.shared import DATA

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

LOCOMO = DATA / "locomo10.json"
BEAM = DATA / "beam_100k.json.gz"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}

_MARKER = re.compile(r"\s*->->[\s\d,]*$")


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a LoCoMo conversation; a shared picture is its caption, as in the paper."""

    id: str
    session: str
    speaker: str
    text: str
    said_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the ids of the turns that answer it."""

    text: str
    category: str
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """A LoCoMo conversation."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """A BEAM question about something that changed."""

    text: str
    outdated: frozenset[int]
    current: frozenset[int]


@dataclass(frozen=True, slots=True)
class Chat:
    """A BEAM chat: its messages as (id, role, text), and its questions about changes."""

    id: str
    messages: tuple[tuple[int, str, str], ...]
    updates: tuple[Update, ...]


def locomo() -> list[Conversation]:
    """The ten conversations, with all 1,986 questions."""
    return [
        Conversation(
            id=one["sample_id"],
            turns=tuple(_turns(one["conversation"])),
            questions=tuple(
                Question(q["question"], CATEGORIES[q["category"]], tuple(q["evidence"])) for q in one["qa"]
            ),
        )
        for one in json.loads(LOCOMO.read_text(encoding="utf-8"))
    ]


def _turns(conversation: dict[str, Any]) -> Iterator[Turn]:
    sessions = sorted(int(key[8:]) for key in conversation if re.fullmatch(r"session_\d+", key))
    for number in sessions:
        session = f"session_{number}"
        said_at = datetime.strptime(conversation[f"{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for turn in conversation[session]:
            caption = turn.get("blip_caption")
            text = f"{turn['text']} and shared {caption}" if caption else turn["text"]
            yield Turn(turn["dia_id"], session, turn["speaker"], text, said_at)


def recall_at(evidence: Sequence[str], found: Sequence[str], k: int) -> float:
    """The fraction of the evidence among the first k, as the paper counts it: 1 where a question has none.

    Nine pieces of evidence in the data name no turn; they are never found.
    """
    if not evidence:
        return 1.0
    first = set(found[:k])
    return sum(one in first for one in evidence) / len(evidence)


def beam() -> list[Chat]:
    """The twenty chats; the generator's marker at the end of a user's message is no part of it."""
    with gzip.open(BEAM, "rt", encoding="utf-8") as file:
        chats = json.load(file)
    return [
        Chat(
            id=str(one["chat_id"]),
            messages=tuple((m["id"], m["role"], _MARKER.sub("", m["content"])) for m in one["messages"]),
            updates=tuple(
                Update(
                    q["question"],
                    frozenset(q["source_chat_ids"].get("original_info", ())),
                    frozenset(q["source_chat_ids"].get("updated_info", ())),
                )
                for q in one["questions"]
                if q["category"] == "knowledge_update"
            ),
        )
        for one in chats
    ]
