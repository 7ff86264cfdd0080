"""What of tool results the open question asks for: lines that stay at hand when their result leaves the window.

An agent looks at sixty things to report one of them. When the result that held it leaves the window, no summarizer can
know that this line of all lines matters, but the question does: it names what it asks for. So the lines of a result
are weighed by the question's words, each word the more the fewer lines have it, and the best ones are quoted.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import call_ids, is_user_turn, kind_of, result_ids
from langchain_tiered_memory.working.constraints import Constraint, one_line

__all__ = ["OpenQuestion"]

_LINE_BYTES: Final = 240
_READ: Final = 64_000
"""Characters that are read of one result, half of them from its end."""
_QUESTION: Final = 4_000
_LINES: Final = 8
"""Lines of one compaction that are quoted at most."""
_NEAR: Final = 0.5
"""The share of the best line's weight from which on a line is quoted too."""
_LEAST: Final = 1.5
"""The least weight of a line: a word that one line in five has weighs as much."""
_WORD: Final = re.compile(r"[㐀-鿿぀-ヿ가-힯]+|[^\W_][\w.\-/:@#]*", re.UNICODE)
_PARTS: Final = re.compile(r"[_.\-/:@#]+")
_WIDE: Final = re.compile(r"[㐀-鿿぀-ヿ가-힯]")
_SENTENCE: Final = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])")


class OpenQuestion:
    """The newest user turn, and the tool results that it is answered from.

    Args:
        messages: What the view shows; the last user turn in it asks.
        quoted: Lines of results that are quoted already.
    """

    def __init__(self, messages: Sequence[BaseMessage], quoted: Iterable[Constraint] = ()) -> None:
        asked = next((message for message in reversed(messages) if is_user_turn(message)), None)
        text = "" if asked is None else str(asked.text)
        self._terms = _terms(text[:_QUESTION]) | _terms(text[-_QUESTION:])
        self._calls = _arguments(messages)
        lines = [line for message in messages if kind_of(message) == "result" for line in self._lines(message)]
        lines += [one.text for one in quoted if not one.binds]
        found = (
            Counter(term for line in lines for term in _terms(line) & self._terms) if self._terms else Counter[str]()
        )
        self._weights = {term: math.log((len(lines) + 1) / (count + 0.5)) for term, count in found.items()}

    def weight(self, text: str) -> float:
        """How much a line says about what is asked for; 0 for nothing."""
        return sum(max(0.0, self._weights.get(term, 0.0)) for term in _terms(text) & self._terms)

    def lines(self, messages: Iterable[tuple[int, BaseMessage]]) -> list[Constraint]:
        """The lines of tool results that name what is asked for, as exact values.

        Args:
            messages: Messages that leave the window or are shortened, with their numbers.
        """
        weighed = [
            (weight + self.weight(self._asked(message)) / 2, number, line)
            for number, message in messages
            if kind_of(message) == "result" and self._weights
            for line in self._lines(message)
            if (weight := self.weight(line))
        ]
        least = max(_LEAST, _NEAR * max((weight for weight, _, _ in weighed), default=0.0))
        best = sorted((one for one in weighed if one[0] >= least), key=lambda one: -one[0])[:_LINES]
        chosen = sorted(dict.fromkeys((number, line) for _, number, line in best))
        return [Constraint(line, "value", number, "tool") for number, line in chosen]

    def ranked(self, constraints: Iterable[Constraint]) -> list[Constraint]:
        """Those of some quoted lines that tell what is asked for, the best first."""
        weighed = [(self.weight(one.text), one) for one in constraints if not one.binds]
        return [one for weight, one in sorted(weighed, key=lambda each: -each[0]) if weight >= _LEAST]

    def _lines(self, message: BaseMessage) -> list[str]:
        text = str(message.text)
        if len(text) > _READ:
            text = text[: _READ // 2] + "\n" + text[-_READ // 2 :]
        lines = [line for line in _split(text) if line]
        asked = self._asked(message)
        if len(lines) == 1 and asked and len((asked + lines[0]).encode()) <= _LINE_BYTES:
            return [f"{asked} → {lines[0]}"]  # a bare value tells nothing without what was asked
        return [self._shortened(line) for line in lines]

    def _asked(self, message: BaseMessage) -> str:
        """What a tool was asked that gave a result."""
        return next((self._calls[one] for one in result_ids(message) if one in self._calls), "")

    def _shortened(self, line: str) -> str:
        """The part of a long line around the first word of the question in it."""
        if len(line.encode()) <= _LINE_BYTES:
            return line
        low = line.casefold()
        places = [place for term in self._terms if (place := low.find(term)) >= 0]
        start = max(0, min(places, default=0) - _LINE_BYTES // 4)
        return line[start:].encode()[:_LINE_BYTES].decode(errors="ignore")


def _terms(text: str) -> set[str]:
    """The words of a text in lower case; of scripts without spaces, each two characters in a row."""
    found: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _WIDE.match(word):
            found.update(word[place : place + 2] for place in range(max(1, len(word) - 1)))
        else:
            whole = word.rstrip(".-/:@#")
            found.update(
                part[:-1] if len(part) > len("its") and part.endswith("s") else part
                for part in (whole, *_PARTS.split(whole))
                if part
            )
    return found


def _arguments(messages: Iterable[BaseMessage]) -> dict[str | None, str]:
    """What each call asked, on one line."""
    asked: dict[str | None, str] = {}
    for message in messages:
        if any(call_ids(message)):
            for call in getattr(message, "tool_calls", ()):
                asked[call["id"]] = one_line(json.dumps(call["args"], ensure_ascii=False, default=str))
    return asked


def _split(text: str) -> Iterator[str]:
    """The lines of a result; long ones by sentence, and of JSON the records in it."""
    if text.lstrip()[:1] in {"{", "["}:
        try:
            yield from _records(json.loads(text), "")
        except (ValueError, RecursionError):
            pass
        else:
            return
    for line in text.splitlines():
        plain = one_line(line)
        if len(plain.encode()) <= _LINE_BYTES:
            yield plain
        else:
            yield from _SENTENCE.split(plain)


def _records(value: Any, name: str) -> Iterator[str]:  # noqa: ANN401  # any JSON
    """Each object's plain values on one line, with the name that the object has in the one around it."""
    items: Iterable[tuple[str, Any]] = (
        value.items()
        if isinstance(value, Mapping)
        else ((name, one) for one in value)
        if isinstance(value, list)
        else ()
    )
    plain: dict[str, Any] = {}
    for key, one in items:
        if isinstance(one, Mapping | list):
            yield from _records(one, str(key))
        elif isinstance(value, Mapping):
            plain[key] = one
        else:
            yield one_line(str(one))
    if plain:
        yield one_line(f"{name}: " * bool(name) + json.dumps(plain, ensure_ascii=False))
    elif not isinstance(value, Mapping | list):
        yield one_line(str(value))
