"""Rules, exact values and other talk, as users say them in English and Chinese: the lists in `tests/data`."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"


def lines(name: str) -> list[str]:
    """The lines of a list."""
    return (DATA / f"{name}.txt").read_text(encoding="utf-8").splitlines()


PLANTED_EN, PLANTED_ZH = lines("planted_rules.en"), lines("planted_rules.zh")
RULES_EN, RULES_ZH = PLANTED_EN[:71], PLANTED_ZH[:42]
_VALUES = lines("planted_values")
VALUES_EN = [line for line in _VALUES if line.isascii() or "€" in line]
VALUES_ZH = [line for line in _VALUES if line not in VALUES_EN]
SMALL_TALK = lines("planted_chat")
