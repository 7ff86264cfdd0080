"""Something that recalls, for tests of what uses recall: it gives what it was given, and counts the questions."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from langchain_core.documents import Document

SAID = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Shelf:
    """Recalls what it was given, and counts how often it was asked."""

    def __init__(self, documents=(), error=None):
        self.documents = list(documents)
        self.error = error
        self.asked = []

    def recall(self, query, *, scope, k, **others):
        self.asked.append((query, scope, k, others))
        if self.error is not None:
            raise self.error
        return self.documents[:k]

    async def arecall(self, query, *, scope, k, **others):
        return self.recall(query, scope=scope, k=k, **others)


def episode(number, text="I like tea.", **metadata):
    known = {"score": 1 - number / 100, "created_at": (SAID + timedelta(days=number)).isoformat(), "kind": "round"}
    return Document(text, id=f"e{number}", metadata={**known, "session": "old", "first": number, **metadata})
