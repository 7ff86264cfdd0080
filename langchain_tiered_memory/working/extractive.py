"""A summary made of the conversation's own sentences, without a model.

It is what stands in when no model is given, and when one fails: the same every time, in the user's language, and true,
since it only leaves out. What it keeps first is what a summary is for: rules, decisions, exact values, what tools
found, what is still open.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, kind_of
from langchain_tiered_memory.messages.text import PREFIXES, to_text
from langchain_tiered_memory.messages.tokens import as_counter
from langchain_tiered_memory.working.constraints import (
    HEADINGS,
    RULE_BYTES,
    Language,
    compiled,
    concludes,
    dominant_language,
    has_value,
    is_question,
    is_rule,
    newest_and_oldest,
    one_line,
    pieces,
    record_pairs,
    said_text,
    split_sentences,
    weight,
)

__all__ = ["ExtractiveSummarizer"]

_MAX_TOKENS: Final = 600
_SHARE: Final = 0.5
"""The most that a summary may take of the tokens that it sums up for the first time."""
_SHORT: Final = 120
"""Tokens up to which a summary only has to be shorter than what it sums up."""
_MISFITS: Final = 64
"""Sentences in a row that do not fit, after which a summary counts as full."""
_PHRASE_BYTES: Final = 16
"""The longest sentence that says nothing by its length alone: "Hello there!", "好的，谢谢！"."""
_RECORD_BYTES: Final = 240
"""The longest record of a tool that is shown whole; of a longer one, the pairs that tell most."""
_RECORD_PAIRS: Final = 6
_BARE: Final = 24
"""The longest result that is taken for a bare value."""
_ARGUMENTS: Final = 80
"""The most that is shown of what a tool was asked."""
_SENTENCES: Final = 200
"""Sentences of one message that are looked at: of a long paste, the first and the last hundred."""
_NOTHING: Final = "…"
"""Stands for what was left out."""

# Ranks: what goes first stands last.
_RULE, _VALUE, _DECISION, _RESULT, _OPEN, _FOUND, _CALLED, _SAID, _TOLD, _PHRASE = range(9, -1, -1)
_SHARES: Final = {_RULE: 0.5, _VALUE: 0.2, _DECISION: 0.15, _RESULT: 0.2}
"""The part of a summary that each of the main kinds is sure to get."""

_DECIDES: Final = (
    r"(?i)\b(?:decided|decision|agreed|approved|confirmed|settled|instead|proceed|merged?|chosen|selected|finally"
    r"|let's|let us|go (?:with|for|ahead)|(?:we|i)'ll (?:take|go)|i (?:choose|chose|pick)|sounds (?:good|right)"
    r"|book it|do it|the plan is|yes, please|ship it)\b"
    r"|决定|就[用选]|选[了这第]|定[了在为]|敲定|确认|同意|批准|执行|改用|采用|那就|按这个|方案|通过了|好，"
)
_LEAVES_OPEN: Final = (
    r"(?i)\b(?:todo|to do|pending|later|tomorrow|remaining|outstanding|next step|still (?:open|need\w*|to)"
    r"|waiting (?:for|on)|follow[- ]?up|remind me|(?:i|we)(?: wi|')ll|(?:shall|should) i|needs? to"
    r"|open (?:question|point|issue|task)s?)\b"
    r"|待办|待确认|待处理|下一步|还[要需没差]|尚未|稍后|等[我你他待]|明天|跟进|提醒我|需?要我|剩下|未完成|遗留"
)
_TELLING: Final = (
    r"(?i)\"(?:\w*(?:error|status|state|result|total|amount|price|count|sum|id|code|name|date|time|at|ok|success|message"
    r"|reason|balance|available|confirm\w*|number|url|path))\"\s*:"
)
_EXTRA: Final = r"(?i)^\[(?!tool call|invalid tool call|function call|reasoning)"
_CALL: Final = r"(?i)^\[(?:invalid )?(?:tool|function) call "
_LABEL: Final = r"^([^\s:：]{1,20})(?: ([^:\n]{1,120}?))?: "


class _Line(NamedTuple):
    """One candidate for the summary: who said it, what, and how much it matters."""

    label: str
    text: str
    rank: int


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
        lines = [*_old_lines(previous_summary, language), *_new_lines(messages, language)]
        return self._fitted(lines, self._budget(previous_summary, messages))

    def _budget(self, previous_summary: str, messages: Sequence[BaseMessage]) -> int:
        old = self._count(previous_summary) if previous_summary.strip() else 0
        new = 0
        for message in messages:
            new += self._count(_content_text(message))
            if old + _SHARE * new > self.max_tokens:
                return self.max_tokens  # however much more there is
        limit = max(old + int(new * _SHARE), min(old + new - 1, _SHORT)) if messages else old
        return max(1, min(self.max_tokens, limit))

    def _fitted(self, lines: list[_Line], budget: int) -> str:
        """The lines of the highest ranks that fit, in their order; at least the beginning of the best one."""
        if not lines:
            return _NOTHING
        # What is said again and again is said once, where it was said last.
        lines = list({(line.label, line.text): line for line in reversed(lines)}.values())[::-1]
        lines = [line for line in lines if line.rank > _PHRASE] or lines
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
        # What no mark ends keeps its line, since it could not be told from what follows when it is read again.
        if line.label and line.label == last and line.text[:1] not in "[>" and written[-1][-1] in ".!?。！？":
            written[-1] += ("" if written[-1][-1] in "。！？" else " ") + line.text
        else:
            written.append(line.label + line.text)
        last = line.label
    return "\n".join(written)


# --- candidates -------------------------------------------------------------------------------------------------------


def _names(language: Language) -> dict[Kind, str]:
    names = PREFIXES[language]
    return {
        "user": names.human,
        "assistant": names.ai,
        "system": names.system,
        "result": names.tool,
        "other": names.human,
    }


def _old_lines(summary: str, language: Language) -> Iterator[_Line]:
    """The lines of an earlier summary, ranked by who is said to have said them."""
    kinds: dict[str, Kind] = {}
    languages: tuple[Language, ...] = ("en", "zh")
    for known in languages:
        kinds |= {name: kind for kind, name in _names(known).items() if kind != "other"}
        kinds[PREFIXES[known].function] = "result"
    for line in map(one_line, summary.splitlines()):
        if not line or line in HEADINGS.values():
            continue
        if line.startswith(">"):
            yield _Line("", line, _RULE if is_rule(line[1:].strip()) else _VALUE)
            continue
        named = compiled(_LABEL).match(line)
        kind = kinds.get(named[1]) if named else None
        label, said = "", line
        if named and kind:
            # In the summary's language, whatever the one before it was written in.
            label, said = f"{_names(language)[kind]}{f' {named[2]}' if named[2] else ''}: ", line[named.end() :]
        for text in [said] if said.startswith("[") else (sentence.text for sentence in split_sentences(said)):
            # What a model wrote bears no label, and is a finding already.
            yield _Line(label, text, _rank(text, kind) if kind else max(_RESULT, _rank(text, "other")))


def _new_lines(messages: Sequence[BaseMessage], language: Language) -> Iterator[_Line]:
    """The lines of messages that no summary stands for yet."""
    kinds = [kind_of(message) for message in messages]
    ends = {kind: place for place, kind in enumerate(kinds)}  # the last message of each speaker
    calls = {call["id"]: call for message in messages for call in getattr(message, "tool_calls", ())}
    for place, (message, kind) in enumerate(zip(messages, kinds, strict=True)):
        if is_summary(message):
            yield from _old_lines(said_text(message), language)
            continue
        label = f"{_names(language)[kind]}{f' {one_line(message.name)}' if message.name else ''}: "
        text = said_text(message)
        found = _of_record(text) if kind == "result" and text.lstrip()[:1] in ("{", "[") else _sentences(text)
        call = calls.get(getattr(message, "tool_call_id", None))
        for said in found:
            # A bare value, "275" or "true", tells nothing without what was asked.
            bare = call is not None and len(said) <= _BARE and not any(letter.isspace() for letter in said)
            about = f"{_arguments(call['args'])} → " if call is not None and bare else ""
            yield _Line(label, about + said, _rank(said, kind, last=ends[kind] == place))
        if isinstance(message, AIMessage) or not isinstance(message.content, str):
            medium = _VALUE if kind == "user" else _FOUND
            for extra in _extras(message):
                yield _Line(label, extra, _CALLED if compiled(_CALL).match(extra) else medium)


def _arguments(arguments: dict[str, Any]) -> str:
    written = one_line(json.dumps(arguments, ensure_ascii=False))
    return written if len(written) <= _ARGUMENTS else written[: _ARGUMENTS - 1] + _NOTHING


def _sentences(text: str) -> list[str]:
    found = [
        piece
        for sentence in split_sentences(text)
        if not sentence.code or has_value(sentence.text[:RULE_BYTES])
        for piece in pieces(sentence.text, RULE_BYTES)
    ]
    half = _SENTENCES // 2
    return found if len(found) <= _SENTENCES else found[:half] + found[-half:]


def _of_record(text: str) -> list[str]:
    """What a tool's record says: the whole, where it is short, else the pairs that tell most."""
    whole = one_line(text[: 4 * _RECORD_BYTES])
    if len(text) <= 4 * _RECORD_BYTES and weight(whole) <= _RECORD_BYTES:
        return [whole]
    pairs = [one_line(pair) for pair in record_pairs(text[: 64 * _RECORD_BYTES])]
    telling = [pair for pair in pairs if compiled(_TELLING).match(pair)] or pairs
    return [", ".join(dict.fromkeys(telling[:_RECORD_PAIRS]))] if telling else [whole[:_RECORD_BYTES] + _NOTHING]


def _content_text(message: BaseMessage) -> str:
    """What a message says without who says it: the least that it can be said to take."""
    return to_text([message], prefixes="en").partition(": ")[2]


def _extras(message: BaseMessage) -> Iterator[str]:
    """Calls and media of a message, as the lines in brackets that a transcript has for them."""
    blocks = "" if isinstance(message.content, str) else [block for block in message.content if _is_medium(block)]
    for line in _content_text(message.model_copy(update={"content": blocks})).splitlines():
        if compiled(_CALL).match(line) or compiled(_EXTRA).match(line):
            yield one_line(line) if len(line) <= RULE_BYTES else one_line(line[:RULE_BYTES]) + _NOTHING


def _is_medium(block: object) -> bool:
    return isinstance(block, dict) and not isinstance(block.get("text"), str) and block.get("type") != "tool_result"


def _rank(text: str, kind: Kind, *, last: bool = False) -> int:
    """How much a sentence matters in a summary, by what it is, by who said it, and whether it is the last they said."""
    head = text[:RULE_BYTES]
    valued = has_value(head)
    if kind == "result":
        return _RESULT if valued or concludes(head) else _FOUND
    if text.startswith("["):
        return _CALLED
    # A question leaves something to do until its speaker goes on.
    is_open = last if is_question(text) else compiled(_LEAVES_OPEN).search(head) is not None
    if kind == "assistant":
        found = concludes(head)
        rank = _RESULT if found and valued else _OPEN if is_open else _FOUND if found or valued else _TOLD
    elif is_rule(head):
        return _RULE
    elif compiled(_DECIDES).search(head):
        return _DECISION
    else:
        rank = _VALUE if valued else _OPEN if is_open else _SAID
    return _PHRASE if rank <= _OPEN and not valued and weight(text) <= _PHRASE_BYTES else rank
