"""What is known of each language: one data file each, named after its ISO 639-1 code.

Every file has the `name` that snowballstemmer gives the language and its `stop_words`. `en.json` and `zh.json` also
say how a date is written and hold patterns: what a question asks for (`asks_when`, `asks_number`, `asks_place`), what
answers it (`time`, `number`, `place`), whether it asks for one present value (`asks_present`, and not
`asks_otherwise`), what a question looks like (`question`), and how people say that something is new (`recent`), has
changed (`change`) or ended (`ended`), if it has (`not_yet`), and where the subject of a change stands (`subject`,
`attributive`, before a `value`). Another language is another file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Final

__all__ = ["Language", "language_file", "languages", "matches"]

_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN: Final = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Language:
    """What a data file says of a language.

    Attributes:
        code: Its ISO 639-1 code.
        name: What snowballstemmer calls it.
        stop_words: Its commonest function words; of Chinese, characters that are no search terms by themselves.
        patterns: What its patterns match, by the names above; empty for a language that has none.
        letters: How many characters a word takes, with its space.
        weekdays: Monday first.
        months: January first.
        date: How the date of a key is written.
        same: Spellings that are replaced before a text is cut into terms.
        whole: What is a term as a whole too; `None` for nothing.
    """

    code: str
    name: str
    stop_words: frozenset[str]
    patterns: Mapping[str, re.Pattern[str]]
    letters: float = 5.5
    weekdays: tuple[str, ...] = ()
    months: tuple[str, ...] = ()
    date: str = ""
    same: tuple[tuple[re.Pattern[str], str], ...] = ()
    whole: re.Pattern[str] | None = None

    def written_date(self, moment: datetime) -> str:
        """A date in the words of the language, and as ISO 8601 writes it."""
        return self.date.format(
            weekday=self.weekdays[moment.weekday()],
            day=moment.day,
            month=self.months[moment.month - 1],
            year=moment.year,
            iso=moment.date(),
        )


_TEXTS: Final = frozenset(("name", "stop_words", "weekdays", "months", "date", "same", "whole", "letters"))


@cache
def languages() -> Mapping[str, Language]:
    """Every language by its code."""
    found = {}
    for file in sorted(files(__name__).iterdir(), key=lambda one: one.name):
        if file.name.endswith(".json"):
            data = json.loads(file.read_text(encoding="utf-8"))
            code = file.name.removesuffix(".json")
            found[code] = Language(
                code=code,
                name=data["name"],
                stop_words=frozenset(data["stop_words"].split()),
                patterns={
                    key: re.compile(value, re.IGNORECASE if key != "place" else 0)
                    for key, value in data.items()
                    if key not in _TEXTS
                },
                letters=data.get("letters", 5.5),
                weekdays=tuple(data.get("weekdays", ())),
                months=tuple(data.get("months", ())),
                date=data.get("date", ""),
                same=tuple((re.compile(one), other) for one, other in data.get("same", {}).items()),
                whole=re.compile(data["whole"]) if "whole" in data else None,
            )
    return found


def language_file(text: str) -> Language:
    """The language whose dates and patterns a text goes by: Chinese where it is mostly in Han characters."""
    sample = text[:2_000]
    chinese = len(_HAN.findall(sample)) > 2 * len(_LATIN.findall(sample))
    return languages()["zh" if chinese else "en"]


def matches(pattern: str, text: str) -> bool:
    """Whether a pattern of the text's own language matches somewhere in it."""
    return language_file(text).patterns[pattern].search(text) is not None
