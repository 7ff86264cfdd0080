"""A summary made of the conversation's own sentences, without a model.

It is what stands in when no model is given, and when one fails: the same every time, in the user's language, and true,
since it only leaves out. What it keeps first is what a summary is for: rules, decisions, exact values, what tools
found, what is still open.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.tokens import as_counter
from langchain_tiered_memory.messages.transcript import PREFIXES
from langchain_tiered_memory.working.candidates import (
    DECISION,
    NOTHING,
    PHRASE,
    RESULT,
    RULE,
    VALUE,
    Line,
    content_text,
    new_lines,
    old_lines,
)
from langchain_tiered_memory.working.quoting.showing import newest_and_oldest
from langchain_tiered_memory.working.wording.reading import Language, dominant_language, said_text

__all__ = ["ExtractiveSummarizer"]

_MAX_TOKENS: Final = 600
_SHARE: Final = 0.5
"""The most that a summary may take of the tokens that it sums up for the first time."""
_SHORT: Final = 120
"""Tokens up to which a summary only has to be shorter than what it sums up."""
_MISFITS: Final = 16
"""Sentences in a row that do not fit, after which a summary counts as full."""
_SENTENCE_ENDS: Final = frozenset(".!?。！？")


_SHARES: Final = {RULE: 0.5, VALUE: 0.2, DECISION: 0.15, RESULT: 0.2}
"""The part of a summary that each of the main kinds is sure to get."""


class ExtractiveSummarizer:
    """Sums up a conversation by its own sentences: deterministic, without a model, in English and Chinese.

    It serves where no model is at hand or the one that is there failed, and where a summary must not say what nobody
    said. A line carries who said it; the order is that of the conversation; what matters least goes first, and of what
    matters alike the middle: the newest stays, and of the oldest a part.

    ```python
    from langchain_core.messages import AIMessage, HumanMessage
    from langchain_tiered_memory.working.extractive import ExtractiveSummarizer

    chat = [HumanMessage("Lovely day! Only book direct flights, below 300 EUR."), AIMessage("All right, I will look.")]
    assert "Only book direct flights, below 300 EUR." in ExtractiveSummarizer()("", chat)
    ```

    Args:
        max_tokens: The most tokens of a summary.
        token_counter: Anything that `as_counter` takes; o200k_base if not given.
        language: `"en"` or `"zh"` for the names of the speakers; the conversation's dominant script if not given.

    Raises:
        ValueError: `max_tokens` is below 1, or the language is unknown.
    """

    def __init__(
        self,
        max_tokens: int = _MAX_TOKENS,
        token_counter: Any = None,  # noqa: ANN401  # anything that as_counter takes
        *,
        language: Language | None = None,
    ) -> None:
        if max_tokens < 1:
            msg = f"max_tokens={max_tokens!r} leaves room for nothing; give a summary at least 1 token"
            raise ValueError(msg)
        if language is not None and language not in PREFIXES:
            msg = f"language={language!r} is unknown; use one of {', '.join(PREFIXES)}"
            raise ValueError(msg)
        self.max_tokens = max_tokens
        self.language = language
        self._count = as_counter(token_counter).count_text

    def __repr__(self) -> str:
        return f"ExtractiveSummarizer(max_tokens={self.max_tokens})"

    def __call__(self, previous_summary: str, messages: Sequence[BaseMessage]) -> str:
        """Fold messages into a summary.

        Args:
            previous_summary: What was summed up before, by this class or by a model; `""` at first.
            messages: What comes after it; they are not changed.

        Returns:
            The summary: at most `max_tokens` tokens, and fewer than the previous summary and the messages have
            together (a text of one token stays one token); `""` only where there is nothing to sum up.
        """
        if not messages and not previous_summary.strip():
            return ""
        language = self.language or dominant_language([previous_summary, *map(said_text, messages)])
        lines = [*old_lines(previous_summary, language), *new_lines(messages, language)]
        return self._fitted(lines, self._budget(previous_summary, messages))

    def _budget(self, previous_summary: str, messages: Sequence[BaseMessage]) -> int:
        old = self._count(previous_summary) if previous_summary.strip() else 0
        new = 0
        for text in map(content_text, messages):
            new += self._count(text)
            if old + _SHARE * new > self.max_tokens:
                return self.max_tokens  # however much more there is
        limit = max(old + int(new * _SHARE), min(old + new - 1, _SHORT)) if messages else old
        return max(1, min(self.max_tokens, limit))

    def _fitted(self, lines: list[Line], budget: int) -> str:
        """The lines of the highest ranks that fit, in their order; at least the beginning of the best one."""
        if not lines:
            return NOTHING
        # What is said again and again is said once, where it was said last.
        lines = list({(line.label, line.text): line for line in reversed(lines)}.values())[::-1]
        lines = [line for line in lines if line.rank > PHRASE] or lines
        by_rank: dict[int, list[int]] = {}
        for place, line in enumerate(lines):
            by_rank.setdefault(line.rank, []).append(place)
        ranked = [place for rank in sorted(by_rank, reverse=True) for place in newest_and_oldest(by_rank[rank])]
        chosen: list[int] = []
        left = budget
        # First each kind within its share, so that rules do not leave a summary without what was found; then the rest.
        for rank, share in _SHARES.items():
            own = [place for place in ranked if lines[place].rank == rank]
            fits, spent = self._fill(lines, own, min(left, int(budget * share)))
            chosen += fits
            left -= spent
        taken = set(chosen)
        chosen += self._fill(lines, [place for place in ranked if place not in taken], left)[0]
        order = {place: number for number, place in enumerate(ranked)}
        chosen.sort(key=order.__getitem__)
        while chosen:
            text = _written(lines[place] for place in sorted(chosen))
            if self._count(text) <= budget:
                return text
            chosen.pop()
        return self._cut(lines[ranked[0]].text, budget)

    def _fill(self, lines: list[Line], places: list[int], room: int) -> tuple[list[int], int]:
        """The places of those lines that fit, in the order given, and the tokens that they take."""
        fits: list[int] = []
        spent = misfits = 0
        for place in places:
            if spent >= room or misfits == _MISFITS:
                break
            tokens = self._count(f"{lines[place].label}{lines[place].text}\n")
            if spent + tokens > room:
                misfits += 1
                continue
            misfits = 0
            spent += tokens
            fits.append(place)
        return fits, spent

    def _cut(self, text: str, budget: int) -> str:
        """The longest beginning of a text that fits, with a mark that it was cut."""
        if len(text) <= 8 * budget + 8 and self._count(text) <= budget:
            return text
        low, high = 0, min(len(text), 8 * budget + 8)
        while low < high:
            middle = (low + high + 1) // 2
            if self._count(text[:middle].rstrip() + NOTHING) <= budget:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + NOTHING if low else NOTHING


def _written(lines: Iterable[Line]) -> str:
    """One line of text for each speaker in turn."""
    written: list[str] = []
    last = None
    for line in lines:
        end = written[-1][-1] if written else ""
        # What no mark ends keeps its line, since it could not be told from what follows when it is read again.
        if line.label and line.label == last and line.text[:1] not in "[>" and end in _SENTENCE_ENDS:
            written[-1] += ("" if end in "。！？" else " ") + line.text
        else:
            written.append(line.label + line.text)
        last = line.label
    return "\n".join(written)
