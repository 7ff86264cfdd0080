"""What must survive a summary word for word: the rules that bind the agent and the exact values it was given.

A summariser is a model that rewrites, and what it drops first is what cannot be guessed again: "not before 9", an order
number, a path. So constraints are found in the messages themselves, compared with the summary, and what is missing is
put beside it verbatim. Finding is a matter of words and marks, in English and Chinese, and of values in any language;
it needs no model, is linear in the length of a message and the same every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from langchain_core.messages import BaseMessage

from langchain_tiered_memory.messages.protocol import Kind, is_summary, is_synthetic, kind_of
from langchain_tiered_memory.messages.transcript import PREFIXES
from langchain_tiered_memory.working.wording.cues import is_conclusion, is_rule
from langchain_tiered_memory.working.wording.sentences import (
    Language,
    Sentence,
    one_line,
    pieces,
    read,
    said_text,
    split_sentences,
)
from langchain_tiered_memory.working.wording.topics import changes, find_replaced, topic_of, withdraws
from langchain_tiered_memory.working.wording.values import has_value, record_pairs

__all__ = [
    "HEADINGS",
    "Constraint",
    "ConstraintDetector",
    "find_constraints",
    "fit_constraints",
    "merge_constraints",
    "missing_constraints",
    "render_constraints",
]

Source: TypeAlias = Literal["user", "assistant", "tool", "system"]

RULE_BYTES: Final = 480
"""The longest rule that is kept as one sentence; of a longer one, the clauses that bind."""
VALUE_BYTES: Final = 240
"""The longest sentence that is kept around a value; of a longer one, the clauses that hold values."""
_PASTED_RULES: Final = 12
_PASTED_VALUES: Final = 32
_CODE_VALUES: Final = 8
_ASSISTANT_VALUES: Final = 3
_TOOL_VALUES: Final = 4
_TOOL_BYTES: Final = 16_000
"""What is read of a tool's result: only a few of its values are kept, and those it begins with tell what it is."""
_MISFITS: Final = 16
"""Constraints in a row that do not fit, after which the block counts as full."""

HEADINGS: Final[dict[Language, str]] = {
    "en": "Said earlier, word for word (the newest last):",
    "zh": "此前的原话（新的在后）：",
}
"""What stands over the block of quoted lines, by language."""

_SOURCES: Final[dict[Kind, Source]] = {
    "user": "user",
    "assistant": "assistant",
    "result": "tool",
    "system": "system",
    "other": "user",
}


@dataclass(frozen=True, slots=True)
class Constraint:
    """A sentence that must stay as it was said.

    ```python
    from langchain_core.messages import HumanMessage
    from langchain_tiered_memory.working.constraints import find_constraints

    [found] = find_constraints(HumanMessage("Thanks! Never call the hotel before 9."))
    assert found.text == "Never call the hotel before 9."
    ```

    Attributes:
        text: The speaker's own words, a sentence or a clause, on one line.
        kind: `"rule"` binds the agent; `"value"` holds an exact value.
        number: The number of the message it was said in, where it is known.
        source: Who said it. Only a user, or a system message, lays down rules.
        topic: What it is about: the words of `text` without those that only bind, and without numbers.
    """

    text: str
    kind: Literal["rule", "value"]
    number: int | None
    source: Source
    topic: str


ConstraintDetector: TypeAlias = Callable[[BaseMessage], Sequence[Constraint]]
"""Finds the constraints of one message; give your own where the domain has other exact values."""


# --- finding ---------------------------------------------------------------------------------------------------------


def find_constraints(message: BaseMessage, *, number: int | None = None) -> list[Constraint]:
    """Find the constraints of a message, in the order in which they stand there.

    Of what the user wrote, every rule and every sentence with a value counts. Of what was only pasted (quoted lines,
    the middle of a message over 3,000 bytes) the first 12 rules and 32 values do, of code 8 values; of a text over
    64,000 characters the middle is not read. What the assistant and tools say binds nobody: of it 3 conclusions with a
    value and 4 values a message are kept.

    Args:
        message: Any message; it is not changed. A summary, or a result that was made up to close a call, has none.
        number: The message's number, for `Constraint.number`.

    Returns:
        The constraints, none twice.
    """
    if is_summary(message) or is_synthetic(message):
        return []
    source = _SOURCES[kind_of(message)]
    text = said_text(message)
    if source == "assistant":
        found = _of_assistant(text)
    elif source == "tool":
        found = _of_tool(text[:_TOOL_BYTES])
    else:
        found = _of_user(text)
    unique: dict[str, Literal["rule", "value"]] = {}
    for said, kind in found:
        unique.setdefault(said, kind)
    return [Constraint(said, kind, number, source, topic_of(said)) for said, kind in unique.items()]


_Found: TypeAlias = Iterator[tuple[str, Literal["rule", "value"]]]


def _of_user(text: str) -> _Found:
    left = {"rule": _PASTED_RULES, "value": _PASTED_VALUES, "code": _CODE_VALUES}
    for sentence in split_sentences(text):
        if not sentence.own and not left["code" if sentence.code else "value"] and not left["rule"]:
            continue
        for said, kind in _of_sentence(sentence):
            if not sentence.own:
                budget = "code" if sentence.code else kind
                if not left[budget]:
                    continue
                left[budget] -= 1
            yield said, kind


def _of_sentence(sentence: Sentence) -> _Found:
    for text in pieces(sentence.text, RULE_BYTES):
        piece = read(text)
        if not sentence.code and (sentence.listed or is_rule(piece) or withdraws(piece)):
            yield text, "rule"
        elif has_value(piece):
            yield from ((part, "value") for part in _valued(text))


def _valued(text: str) -> list[str]:
    """The parts of a piece that hold values; the whole where it is short."""
    parts = pieces(text, VALUE_BYTES)
    return parts if len(parts) == 1 else [part for part in parts if has_value(read(part))]


def _of_assistant(text: str) -> _Found:
    left = _ASSISTANT_VALUES
    for sentence in split_sentences(text):
        if sentence.code:
            continue
        for part in pieces(sentence.text, VALUE_BYTES):
            piece = read(part)
            if is_conclusion(piece) and has_value(piece):
                yield part, "value"
                left -= 1
                if not left:
                    return


def _of_tool(text: str) -> _Found:
    left = _TOOL_VALUES
    if text.lstrip()[:1] in ("{", "["):
        said: Iterable[str] = (one_line(pair) for pair in record_pairs(text))
    else:
        said = (part for sentence in split_sentences(text) for part in pieces(sentence.text, VALUE_BYTES))
    for part in said:
        if has_value(read(part)):
            yield part, "value"
            left -= 1
            if not left:
                return


# --- keeping ---------------------------------------------------------------------------------------------------------


def merge_constraints(known: Iterable[Constraint], found: Iterable[Constraint]) -> list[Constraint]:
    """Put newly found constraints behind the known ones.

    One that is repeated stands once, where it was said last. One that says that something changes ("the budget is now
    900 instead of 700", "forget the GET rule", "现在可以用 POST 了") takes the place of the one it is about; in doubt
    both stay, the newer one last. Only a user's or a system message's sentence replaces theirs.

    Args:
        known: The constraints so far, oldest first.
        found: What later messages added, oldest first.

    Returns:
        All that hold, the newest last.
    """
    held: dict[tuple[str, bool], Constraint] = {}
    for constraint in known:
        held[_key(constraint)] = constraint
    for constraint in found:
        key = _key(constraint)
        held.pop(key, None)
        if _binds(constraint) and changes(constraint.text):
            rivals = [one for one in held.values() if _binds(one)]
            others = [(one.text, one.topic, one.kind == "rule") for one in rivals]
            place = find_replaced(constraint.text, constraint.topic, others)
            if place is not None:
                del held[_key(rivals[place])]
        held[key] = constraint
    return list(held.values())


def _key(constraint: Constraint) -> tuple[str, bool]:
    return one_line(constraint.text).casefold(), _binds(constraint)


def _binds(constraint: Constraint) -> bool:
    return constraint.source in ("user", "system")


def missing_constraints(constraints: Iterable[Constraint], text: str) -> list[Constraint]:
    """The constraints that do not stand verbatim in a text.

    White space may differ and nothing else. A constraint that is only a part of another statement there ("use POST" in
    "do not use POST", "room 7" in "room 77") is missing.

    Args:
        constraints: What must be in the text.
        text: A summary.

    Returns:
        Those that are missing, in their order.
    """
    lines = [one_line(line) for line in text.splitlines()]
    starts: set[int] = set()
    place = 0
    for line in lines:
        if line:
            starts.add(place)
            place += len(line) + 1
    whole = " ".join(line for line in lines if line)
    return [one for one in constraints if not _stands_in(one_line(one.text), whole, starts)]


def _stands_in(said: str, whole: str, starts: set[int]) -> bool:
    place = whole.find(said)
    while place >= 0:
        end = place + len(said)
        opens = place in starts or _is_border(whole[max(0, place - 2) : place].strip()[-1:])
        closes = end + 1 in starts or _is_border(whole[end : end + 2].strip()[:1]) or not said[-1:].isalnum()
        if opens and closes:
            return True
        place = whole.find(said, place + 1)
    return False


def _is_border(neighbour: str) -> bool:
    return not neighbour.isalnum()


def render_constraints(constraints: Sequence[Constraint], language: Language = "en") -> str:
    """Write constraints as a block of quoted lines.

    Each is one line behind a mark of quotation, so that none can pose as anything but a quotation.

    Args:
        constraints: What to write, in order.
        language: `"en"` or `"zh"`, for the heading and the names of speakers.

    Returns:
        The block without a line break at its end, `""` for no constraints.
    """
    if not constraints:
        return ""
    return "\n".join([HEADINGS[language], *(_line(constraint, language) for constraint in constraints)])


def _line(constraint: Constraint, language: Language) -> str:
    names = PREFIXES[language]
    speaker = {"user": "", "assistant": names.ai, "tool": names.tool, "system": names.system}[constraint.source]
    return f"> {speaker}: {one_line(constraint.text)}" if speaker else f"> {one_line(constraint.text)}"


def fit_constraints(
    constraints: Sequence[Constraint],
    max_tokens: int,
    count_text: Callable[[str], int],
    *,
    language: Language = "en",
) -> tuple[list[Constraint], list[Constraint]]:
    """Choose the constraints whose block fits a budget.

    The user's rules come first, then the values the user gave, then the rest; of each the newest first. One that is too
    large for what is left makes room for smaller ones behind it, until 16 in a row did not fit.

    Args:
        constraints: All that hold, the newest last.
        max_tokens: What `render_constraints` of the chosen ones may take.
        count_text: Tokens of a text.
        language: The language the block will be written in.

    Returns:
        The chosen ones and the others, both in the order they came in.
    """
    ranked = sorted(range(len(constraints)), key=lambda place: (_class(constraints[place]), -place))
    left = max_tokens - count_text(HEADINGS[language] + "\n")
    chosen: list[int] = []
    misfits = 0
    for place in ranked:
        if left <= 0 or misfits == _MISFITS:
            break
        tokens = count_text(_line(constraints[place], language) + "\n")
        misfits = misfits + 1 if tokens > left else 0
        if not misfits:
            left -= tokens
            chosen.append(place)
    # Tokens of parts are the tokens of the whole but for the borders of lines, which a tokenizer may merge or not.
    while chosen and count_text(render_constraints([constraints[i] for i in sorted(chosen)], language)) > max_tokens:
        chosen.pop()
    inside = set(chosen)
    kept = [one for place, one in enumerate(constraints) if place in inside]
    return kept, [one for place, one in enumerate(constraints) if place not in inside]


def _class(constraint: Constraint) -> int:
    if not _binds(constraint):
        return 2
    return 0 if constraint.kind == "rule" else 1
