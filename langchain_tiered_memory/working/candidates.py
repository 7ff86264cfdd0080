"""The sentences of a conversation as candidates for a summary, each with who said it and how much it matters."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from langchain_core.messages import AIMessage, BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, kind_of
from langchain_tiered_memory.messages.transcript import PREFIXES, to_text
from langchain_tiered_memory.working.constraints import HEADINGS, RULE_BYTES
from langchain_tiered_memory.working.wording.cues import is_conclusion, is_decision, is_question, is_rule, is_task
from langchain_tiered_memory.working.wording.reading import Language, Reading, one_line, read, said_text, weight
from langchain_tiered_memory.working.wording.sentences import pieces, split_sentences
from langchain_tiered_memory.working.wording.values import has_value, record_pairs

__all__ = ["DECISION", "NOTHING", "PHRASE", "RESULT", "RULE", "VALUE", "Line", "content_text", "new_lines", "old_lines"]

NOTHING: Final = "…"
"""Stands for what was left out."""
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

_TELLING = re.compile(
    r"\"(?:\w*(?:error|status|state|result|total|amount|price|count|sum|id|code|name|date|time|at|ok|success|message"
    r"|reason|balance|available|confirm\w*|number|url|path))\"\s*:",
    re.IGNORECASE,
)
_EXTRA = re.compile(r"^\[(?!tool call|invalid tool call|function call|reasoning)", re.IGNORECASE)
_CALL = re.compile(r"^\[(?:invalid )?(?:tool|function) call ", re.IGNORECASE)
_LABEL = re.compile(r"^([^\s:：]{1,20})(?: ([^:\n]{1,120}?))?: ")

# Ranks: what goes first stands last.
RULE, VALUE, DECISION, RESULT, OPEN, FOUND, CALLED, SAID, TOLD, PHRASE = range(9, -1, -1)


class Line(NamedTuple):
    """One candidate for the summary."""

    label: str
    text: str
    rank: int


def content_text(message: BaseMessage) -> str:
    """What a message says without who says it: the least that it can be said to take."""
    return to_text([message], prefixes="en").partition(": ")[2]


def old_lines(summary: str, language: Language) -> Iterator[Line]:
    """The lines of an earlier summary, ranked by who is said to have said them."""
    kinds = _kinds_by_name()
    for raw in summary.splitlines():
        line = one_line(raw)
        if not line or line in HEADINGS.values():
            continue
        if line.startswith(">"):
            yield Line("", line, RULE if is_rule(read(line[:RULE_BYTES])) else VALUE)
            continue
        named = _LABEL.match(line)
        kind = kinds.get(named[1]) if named else None
        label, said = (named[0], line[named.end() :]) if named and kind else ("", line)
        if label:
            label = _relabelled(label, kind or "other", language)
        for text in _units(said):
            # What a model wrote bears no label, and is a finding already.
            yield Line(label, text, _rank(text, kind) if kind else max(RESULT, _rank(text, "other")))


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


def new_lines(messages: Sequence[BaseMessage], language: Language) -> Iterator[Line]:
    """The lines of messages that no summary stands for yet."""
    kinds = [kind_of(message) for message in messages]
    ends = {kind: place for place, kind in enumerate(kinds)}  # the last message of each speaker
    calls = {call["id"]: call for message in messages for call in getattr(message, "tool_calls", ())}
    for place, (message, kind) in enumerate(zip(messages, kinds, strict=True)):
        if is_summary(message):
            yield from old_lines(said_text(message), language)
            continue
        name = getattr(message, "name", None)
        label = f"{_name_of(kind, language)}{f' {one_line(name)}' if name else ''}: "
        text = said_text(message)
        found = _of_record(text) if kind == "result" and text.lstrip()[:1] in ("{", "[") else _sentences(text)
        call = calls.get(getattr(message, "tool_call_id", None))
        for said in found:
            about = f"{_arguments(call['args'])} → " if call is not None and _says_little(said) else ""
            yield Line(label, about + said, _rank(said, kind, last=ends[kind] == place))
        if isinstance(message, AIMessage) or not isinstance(message.content, str):
            medium = VALUE if kind == "user" else FOUND
            yield from (Line(label, extra, CALLED if _CALL.match(extra) else medium) for extra in _extras(message))


def _says_little(text: str) -> bool:
    """Whether a result is a bare value, which tells nothing without what was asked: "275", "true"."""
    return len(text) <= _BARE and not any(letter.isspace() for letter in text)


def _arguments(arguments: dict[str, Any]) -> str:
    """What a tool was asked, on one line and not too long."""
    written = one_line(json.dumps(arguments, ensure_ascii=False))
    return written if len(written) <= _ARGUMENTS else written[: _ARGUMENTS - 1] + NOTHING


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
    return [", ".join(dict.fromkeys(telling[:_RECORD_PAIRS]))] if telling else [whole[:_RECORD_BYTES] + NOTHING]


def _extras(message: BaseMessage) -> Iterator[str]:
    """Calls and media of a message, as the lines in brackets that a transcript has for them."""
    for line in content_text(message.model_copy(update={"content": _without_text(message)})).splitlines():
        if _CALL.match(line) or _EXTRA.match(line):
            yield one_line(line) if len(line) <= RULE_BYTES else one_line(line[:RULE_BYTES]) + NOTHING


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
        return RESULT if is_conclusion(head) or has_value(head) else FOUND
    if text.startswith("["):
        return CALLED
    rank = _assistant_rank(head, last=last) if kind == "assistant" else _user_rank(head, last=last)
    return PHRASE if rank <= OPEN and weight(text) <= _PHRASE_BYTES and not has_value(head) else rank


def _assistant_rank(text: Reading, *, last: bool) -> int:
    concludes, valued = is_conclusion(text), has_value(text)
    if concludes and valued:
        return RESULT
    if _is_open(text, last=last):
        return OPEN
    return FOUND if concludes or valued else TOLD


def _is_open(text: Reading, *, last: bool) -> bool:
    """Whether a sentence leaves something to do; a question does until its speaker goes on."""
    return last if is_question(text.text) else is_task(text)


def _user_rank(text: Reading, *, last: bool) -> int:
    if is_rule(text):
        return RULE
    if is_decision(text):
        return DECISION
    if has_value(text):
        return VALUE
    return OPEN if _is_open(text, last=last) else SAID
