"""Lines of a message as its speaker meant them: joined where an editor broke them, apart from code and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

__all__ = ["Line", "joined_lines"]

_WRAPPED_AT: Final = 45
"""Characters of a line that may have been broken by an editor and not by its writer."""
_LONGEST_CODE: Final = 200
_RECORD: Final = 120
"""Characters of a line in brackets above which it is a record, not a remark."""
_OPENS_RECORD: Final = ("{", "[")
_CODE_LINES: Final = 3
"""Lines that look like code from which on they are: one alone is more likely "budget = 700"."""
_FENCES: Final = ("```", "~~~")

_BULLET = re.compile(
    r"\s*(?:(?:[-*•·+–—]|\d{1,3}[.)]|[A-Za-z][.)])\s+|[•·]|\d{1,3}、|[一二三四五六七八九十]{1,3}、|[(（](?:\d{1,2}"
    r"|[一二三四五六七八九十]{1,2})[)）]\s*)"
)
_HEADING_MARK = re.compile(r"\s*#{1,6}\s+")
_RULES_HEADING = re.compile(
    r"\b(?:rules?|constraints?|requirements?|restrictions?|limits|guidelines?|don'?ts|do not|must|never|always"
    r"|conditions?|instructions?|policy|policies|conventions?|remember|forbidden|only|keep in mind)\b|规则|要求|限制"
    r"|约束|注意|禁止|必须|不要|不得|条件|规定|原则|须知|約束|規則|必須|記住|记住",
    re.IGNORECASE,
)
_CODE_LINE = re.compile(
    r"(?:async\s+)?def\s+\w+\(|class\s+\w+[:({]|import\s+[\w.]+(?:\s+as\s+\w+)?;?$|from\s+[\w.]+\s+import\s"
    r"|#include\b|(?:const|let|var)\s+\w+\s*=|function\s*\w*\(|(?:public|private|static)\s+\w+\s+\w+|@\w+$|\$\s\w|//"
    r"|/\*|\*/|#!|(?:SELECT\s.+\sFROM|INSERT\s+INTO|UPDATE\s+\w+\s+SET|CREATE\s+TABLE)\b|</?\w[^>]*>|\"[^\"]*\"\s*:"
    r"|[{}\[\]()<>;,]+$|(?:if|for|while|switch|catch|elif)\s*\(|[\w.]+\s*(?:=|\+=|:=)\s*\S|[\w.]+\(.*\)[;{]?$"
    r"|.*[=(){}\[\]<>].*;$|.*[{}]$"
)
_LEADS_ON: Final = frozenset(
    """a an the and or but of to at by in on for with from than before after until within between under over not only
    never always is are must should""".split()  # noqa: SIM905
)
"""Words that no line ends with, unless an editor broke it."""


class Line(NamedTuple):
    """One line, or what an editor made several of.

    Attributes:
        text: What stands there, without the mark of a list, a heading or a quotation.
        own: Whether the speaker wrote it: it is not quoted.
        code: Whether it is a line of code or data.
        listed: Whether it is an item of a list that is headed as rules.
    """

    text: str
    own: bool = True
    code: bool = False
    listed: bool = False


def joined_lines(text: str) -> Iterator[Line]:
    """The lines of a text, with those joined that an editor broke."""
    bare = text.strip()
    if bare[:1].isalnum() and len(bare.splitlines()) == 1 and not text.startswith(">"):
        mark = _BULLET.match(bare)  # most messages are one plain line
        yield Line(bare[mark.end() :] if mark else bare)
        return
    headed = False
    held: list[str] = []  # the parts of a line that may go on
    kind = Line("")
    for bare, code, quoted in _lines(text):
        marker = None if code or not bare else _BULLET.match(bare)
        if held and bare and not code and not marker and _goes_on(held[-1], bare, quoted=quoted, own=kind.own):
            held.append(bare)
            continue
        if held:
            yield kind._replace(text=" ".join(held))
            held = []
        if code:
            yield Line(bare, own=False, code=True)
        elif bare:
            mark = marker or (_HEADING_MARK.match(bare) if bare[0] == "#" else None)
            headed = headed if marker else _heads_rules(bare)
            kind = Line("", own=not quoted, listed=bool(marker) and headed)
            held = [bare[mark.end() :] if mark else bare]
    if held:
        yield kind._replace(text=" ".join(held))


def _lines(text: str) -> list[tuple[str, bool, bool]]:
    """Each line without what surrounds it, whether it is code, and whether it is quoted."""
    lines = text.splitlines()
    has_fences, may_be_code = any(fence in text for fence in _FENCES), len(lines) >= _CODE_LINES
    fenced = False
    found: list[tuple[str, bool, bool]] = []
    doubtful: list[int] = []  # lines that look like code and stand in no fence
    for line in lines:
        if has_fences and line.lstrip()[:3] in _FENCES:
            fenced = not fenced
            found.append(("", False, False))
            continue
        quoted = line[:1] == ">"
        bare = line.lstrip("> \t").rstrip() if quoted else line.strip()
        if bare[:1] in _OPENS_RECORD and bare[-1:] in "]}" and len(bare) > _RECORD:
            found.append((bare, True, quoted))
            continue
        if may_be_code and bare and not fenced:
            # Of a line longer than code is written, a look at its start is enough.
            looked_at = bare if len(bare) <= _LONGEST_CODE else bare[:_WRAPPED_AT]
            if _CODE_LINE.match(looked_at) and not _BULLET.match(bare):
                doubtful.append(len(found))
        found.append((bare, fenced and bool(bare), quoted))
    if len(doubtful) >= _CODE_LINES:
        for index in doubtful:
            bare, _, quoted = found[index]
            found[index] = bare, True, quoted
    return found


def _heads_rules(line: str) -> bool:
    bare = line.rstrip("*_ ")
    return bare.endswith((":", "：")) and len(bare) <= _WRAPPED_AT * 3 and bool(_RULES_HEADING.search(bare))


def _goes_on(before: str, line: str, *, quoted: bool, own: bool) -> bool:
    """Whether a line goes on with the sentence of the one before it."""
    if quoted == own or before.endswith((".", "!", "?", "。", "！", "？", "；", ";")):
        return False
    if before.endswith((":", "：")):
        return True
    if before.endswith(",") or before.rsplit(maxsplit=1)[-1].lower() in _LEADS_ON:
        return True
    return len(before) >= _WRAPPED_AT and (line[:1].islower() or line[:1].isdigit()) and before[-1].isascii()
