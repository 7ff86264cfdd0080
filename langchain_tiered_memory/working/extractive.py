"""A summary made of the conversation's own sentences, without a model.

It is what stands in when no model is given, and when one fails: the same every time, in the user's language, and true,
since it only leaves out. What it keeps first is what a summary is for: rules, decisions, exact values, what tools
found, what is still open.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, kind_of
from langchain_tiered_memory.messages.tokens import as_counter
from langchain_tiered_memory.messages.transcript import PREFIXES, to_text
from langchain_tiered_memory.working.constraints import HEADINGS, RULE_BYTES
from langchain_tiered_memory.working.wording.cues import is_conclusion, is_decision, is_question, is_rule, is_task
from langchain_tiered_memory.working.wording.sentences import (
    Language,
    Reading,
    dominant_language,
    one_line,
    pieces,
    read,
    said_text,
    split_sentences,
    weight,
)
from langchain_tiered_memory.working.wording.values import has_value, record_pairs

__all__ = ["ExtractiveSummarizer"]

_MAX_TOKENS: Final = 600
_SHARE: Final = 0.5
"""The most that a summary may take of the tokens that it sums up for the first time."""
_SHORT: Final = 120
"""Tokens up to which a summary only has to be shorter than what it sums up."""
_PHRASE_BYTES: Final = 16
"""The longest sentence that says nothing by its length alone: "Hello there!", "好的，谢谢！"."""
_MISFITS: Final = 16
"""Sentences in a row that do not fit, after which a summary counts as full."""
_RECORD_BYTES: Final = 240
"""The longest record of a tool that is shown whole; of a longer one, the pairs that tell most."""
_RECORD_PAIRS: Final = 6
_SENTENCES: Final = 200
"""Sentences of one message that are looked at: of a long paste, the first and the last hundred."""
_NOTHING: Final = "…"
_SENTENCE_ENDS: Final = frozenset(".!?。！？")

_TELLING = re.compile(
    r"\"(?:\w*(?:error|status|state|result|total|amount|price|count|sum|id|code|name|date|time|at|ok|success|message"
    r"|reason|balance|available|confirm\w*|number|url|path))\"\s*:",
    re.IGNORECASE,
)
_EXTRA = re.compile(r"^\[(?!tool call|invalid tool call|function call|reasoning)", re.IGNORECASE)
_CALL = re.compile(r"^\[(?:invalid )?(?:tool|function) call ", re.IGNORECASE)
_LABEL = re.compile(r"^([^\s:：]{1,20})(?: ([^:\n]{1,120}?))?: ")

# Ranks: what goes first stands last.
_RULE, _VALUE, _DECISION, _RESULT, _OPEN, _FOUND, _CALLED, _SAID, _TOLD, _PHRASE = range(9, -1, -1)

_SHARES: Final = {_RULE: 0.5, _VALUE: 0.2, _DECISION: 0.15, _RESULT: 0.2}
"""The part of a summary that each of the main kinds is sure to get."""


class _Line(NamedTuple):
    """One candidate for the summary."""

    label: str
    text: str
    rank: int


class ExtractiveSummarizer:
    """Sums up a conversation by its own sentences: deterministic, without a model, in English and Chinese.

    It serves where no model is at hand or the one that is there failed, and where a summary must not say what nobody
    said. A line carries who said it; the order is that of the conversation; the older of what matters least goes first.

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
        lines = [*_old_lines(previous_summary, language), *_new_lines(messages, language)]
        return self._fitted(lines, self._budget(previous_summary, messages))

    def _budget(self, previous_summary: str, messages: Sequence[BaseMessage]) -> int:
        old = self._count(previous_summary) if previous_summary.strip() else 0
        new = 0
        for text in map(_content_text, messages):
            new += self._count(text)
            if old + _SHARE * new > self.max_tokens:
                return self.max_tokens  # however much more there is
        limit = max(old + int(new * _SHARE), min(old + new - 1, _SHORT)) if messages else old
        return max(1, min(self.max_tokens, limit))

    def _fitted(self, lines: list[_Line], budget: int) -> str:
        """The lines of the highest ranks that fit, in their order; at least the beginning of the best one."""
        if not lines:
            return _NOTHING
        lines = [line for line in lines if line.rank > _PHRASE] or lines
        ranked = sorted(range(len(lines)), key=lambda place: (-lines[place].rank, -place))
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
        chosen.sort(key=lambda place: (-lines[place].rank, -place))
        while chosen:
            text = _written(lines[place] for place in sorted(chosen))
            if self._count(text) <= budget:
                return text
            chosen.pop()
        return self._cut(lines[ranked[0]].text, budget)

    def _fill(self, lines: list[_Line], places: list[int], room: int) -> tuple[list[int], int]:
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
            if self._count(text[:middle].rstrip() + _NOTHING) <= budget:
                low = middle
            else:
                high = middle - 1
        return text[:low].rstrip() + _NOTHING if low else _NOTHING


def _written(lines: Iterable[_Line]) -> str:
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


def _content_text(message: BaseMessage) -> str:
    """What a message says without who says it: the least that it can be said to take."""
    return to_text([message], prefixes="en").partition(": ")[2]


# --- candidates ------------------------------------------------------------------------------------------------------


def _old_lines(summary: str, language: Language) -> Iterator[_Line]:
    """The lines of an earlier summary, ranked by who is said to have said them."""
    kinds = _kinds_by_name()
    for raw in summary.splitlines():
        line = one_line(raw)
        if not line or line in HEADINGS.values():
            continue
        if line.startswith(">"):
            yield _Line("", line, _RULE if is_rule(read(line[:RULE_BYTES])) else _VALUE)
            continue
        named = _LABEL.match(line)
        kind = kinds.get(named[1]) if named else None
        label, said = (named[0], line[named.end() :]) if named and kind else ("", line)
        if label:
            label = _relabelled(label, kind or "other", language)
        for text in _units(said):
            # What a model wrote bears no label, and is a finding already.
            yield _Line(label, text, _rank(text, kind) if kind else max(_RESULT, _rank(text, "other")))


def _relabelled(label: str, kind: Kind, language: Language) -> str:
    """The label in the summary's language, whatever the one before it was written in."""
    name, _, rest = label.partition(" ")
    return f"{_name_of(kind, language)} {rest}" if rest and not name.endswith(":") else f"{_name_of(kind, language)}: "


def _units(text: str) -> Iterator[str]:
    if text.startswith("["):
        yield text
        return
    for sentence in split_sentences(text):
        yield sentence.text


def _kinds_by_name() -> dict[str, Kind]:
    found: dict[str, Kind] = {}
    for names in PREFIXES.values():
        found |= {names.human: "user", names.ai: "assistant", names.system: "system", names.tool: "result"}
        found[names.function] = "result"
    return found


def _name_of(kind: Kind, language: Language) -> str:
    names = PREFIXES[language]
    return {
        "user": names.human,
        "assistant": names.ai,
        "system": names.system,
        "result": names.tool,
        "other": names.human,
    }[kind]


def _new_lines(messages: Sequence[BaseMessage], language: Language) -> Iterator[_Line]:
    kinds = [kind_of(message) for message in messages]
    ends = {kind: place for place, kind in enumerate(kinds)}  # the last message of each speaker
    for place, (message, kind) in enumerate(zip(messages, kinds, strict=True)):
        if is_summary(message):
            yield from _old_lines(said_text(message), language)
            continue
        name = getattr(message, "name", None)
        label = f"{_name_of(kind, language)}{f' {one_line(name)}' if name else ''}: "
        text = said_text(message)
        found = _of_record(text) if kind == "result" and text.lstrip()[:1] in ("{", "[") else _sentences(text)
        for said in found:
            yield _Line(label, said, _rank(said, kind, last=ends[kind] == place))
        if isinstance(message, AIMessage) or not isinstance(message.content, str):
            medium = _VALUE if kind == "user" else _FOUND
            yield from (_Line(label, extra, _CALLED if _CALL.match(extra) else medium) for extra in _extras(message))


def _sentences(text: str) -> list[str]:
    found = [
        piece
        for sentence in split_sentences(text)
        if not sentence.code or has_value(read(sentence.text[:RULE_BYTES]))
        for piece in pieces(sentence.text, RULE_BYTES)
    ]
    half = _SENTENCES // 2
    return found if len(found) <= _SENTENCES else found[:half] + found[-half:]


def _of_record(text: str) -> list[str]:
    """What a tool's record says: the whole, where it is short, else the pairs that tell most."""
    whole = one_line(text[: 4 * _RECORD_BYTES])
    if len(text) <= 4 * _RECORD_BYTES and len(whole.encode()) <= _RECORD_BYTES:
        return [whole]
    pairs = [one_line(pair) for pair in record_pairs(text[: 64 * _RECORD_BYTES])]
    telling = [pair for pair in pairs if _TELLING.match(pair)] or pairs
    return [", ".join(dict.fromkeys(telling[:_RECORD_PAIRS]))] if telling else [whole[:_RECORD_BYTES] + _NOTHING]


def _extras(message: BaseMessage) -> Iterator[str]:
    """Calls and media of a message, as the lines in brackets that a transcript has for them."""
    for line in _content_text(message.model_copy(update={"content": _without_text(message)})).splitlines():
        if _CALL.match(line) or _EXTRA.match(line):
            yield one_line(line) if len(line) <= RULE_BYTES else one_line(line[:RULE_BYTES]) + _NOTHING


def _without_text(message: BaseMessage) -> str | list[Any]:
    if isinstance(message.content, str):
        return ""
    return [
        block
        for block in message.content
        if isinstance(block, dict) and not isinstance(block.get("text"), str) and block.get("type") != "tool_result"
    ]


def _rank(text: str, kind: Kind, *, last: bool = False) -> int:
    """How much a sentence matters in a summary, by what it is, by who said it, and whether it is the last they said."""
    head = read(text[:RULE_BYTES])
    if kind == "result":
        return _RESULT if is_conclusion(head) else _FOUND
    if text.startswith("["):
        return _CALLED
    rank = _assistant_rank(head, last=last) if kind == "assistant" else _user_rank(head, last=last)
    return _PHRASE if rank <= _OPEN and weight(text) <= _PHRASE_BYTES and not has_value(head) else rank


def _assistant_rank(text: Reading, *, last: bool) -> int:
    concludes, valued = is_conclusion(text), has_value(text)
    if concludes and valued:
        return _RESULT
    if _is_open(text, last=last):
        return _OPEN
    return _FOUND if concludes or valued else _TOLD


def _is_open(text: Reading, *, last: bool) -> bool:
    """Whether a sentence leaves something to do; a question does until its speaker goes on."""
    return last if is_question(text.text) else is_task(text)


def _user_rank(text: Reading, *, last: bool) -> int:
    if is_rule(text):
        return _RULE
    if is_decision(text):
        return _DECISION
    if has_value(text):
        return _VALUE
    return _OPEN if _is_open(text, last=last) else _SAID
