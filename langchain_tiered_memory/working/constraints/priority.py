"""How likely a sentence is a standing instruction: a linear model over words, parts of words and Chinese letters.

The weights were trained by `tools/train_rules.py` on sentences in English and Chinese (and few in other
languages). They stand in `priority.txt` with their features in plain text rather than in a table of hashes: it is as
small, has no collisions, can be read, and a dictionary is faster than a hash function in Python.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import exp, sqrt
from typing import Final, NamedTuple

from langchain_tiered_memory.working.constraints.sentences import compiled, is_question

__all__ = ["THRESHOLD", "features", "has_han", "priority"]

THRESHOLD: Final = 0.5
"""The priority from which on a sentence counts as a rule."""
_ORDER: Final = (
    r"(?i)\W*(?:please |you |from now on,? )?(?:must|never|always|only|do not|don['’]?t)\b"
    r"|\W*(?:请|你|永远|绝对)?(?:不要|必须|只允许|禁止|严禁|不得|不准|只能|只准|务必)"
)
"""How a direct order begins."""
_DIRECT: Final = 0.95
"""The least priority of a direct order: little else tells in short ones, and they go before what is less plain."""
_LIKELY: Final = 0.3
"""The estimate from which on what begins like an order is one: "Never mind." is none."""
_LONGEST: Final = 240
"""Characters of a sentence that are looked at."""
_WINDOW: Final = 6
"""Tokens within which two common ones count as a pair."""
_STEM: Final = 4
_SPLIT: Final = r"[^\W\d_㐀-鿿]+(?:'[^\W\d_]+)*|\d[\d.,:]*|[^\w\s]|[㐀-鿿]"
_STRAIGHT: Final = str.maketrans("’‘？！。，；：", "''?!.,;:")


class _Model(NamedTuple):
    weights: dict[str, float]
    common: frozenset[str]
    bias: float
    bias_han: float


def priority(text: str) -> float:
    """How likely a sentence binds whoever is addressed for good, from 0 to 1.

    Args:
        text: A sentence or a clause, on one line.

    Returns:
        The estimate: over `THRESHOLD` for a rule. It needs about 20 microseconds.
    """
    model = _model()
    found = features(text, model.common)
    if not found:
        return 0.0
    weights = model.weights
    score = sum([weights[one] for one in found if one in weights]) / sqrt(len(found))
    score += model.bias_han if has_han(text) else model.bias
    estimate = 1 / (1 + exp(-max(-30.0, min(30.0, score))))
    is_order = estimate >= _LIKELY and compiled(_ORDER).match(text) and not is_question(text)
    return max(estimate, _DIRECT) if is_order else estimate


def has_han(text: str) -> bool:
    """Whether a text has Chinese letters."""
    return not text.isascii() and compiled("[㐀-鿿]").search(text) is not None


def features(text: str, common: frozenset[str]) -> set[str]:
    """What the model sees of a sentence.

    Args:
        text: A sentence.
        common: The tokens that stand for themselves in the sentence's skeleton; others stand for their ending, if any.
    """
    low = text[:_LONGEST].lower().translate(_STRAIGHT)
    tokens = ["0" if token[0].isdecimal() else token for token in compiled(_SPLIT).findall(low)]
    if not tokens:
        return set()
    length = f"#{min(len(tokens) // 4, 6)}"
    density = 5 * sum([token in common for token in tokens]) // len(tokens)
    found = {*tokens, *map(" ".join, pairwise(["^", *tokens, "$"])), length, f"{length}/{density}"}
    skeleton = ["^"]
    for word in tokens:
        shape = word
        if word not in common and word.isalpha():
            shape = "_" if word >= "㐀" else _ending(word)
            if len(word) > _STEM:
                found.add(word[:_STEM] + "*")
                found.add("*" + word[-3:])
        if shape[0] != "_" or shape != skeleton[-1]:
            skeleton.append(shape)
    skeleton.append("$")
    found.update(["~" + a + " " + b for a, b in pairwise(skeleton)])
    for place, token in enumerate(skeleton):
        if token[0] != "_":
            found.update([token + "+" + one for one in skeleton[place + 1 : place + _WINDOW] if one[0] != "_"])
    return found


def _ending(word: str) -> str:
    for ending in ("ing", "ed", "ly", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return "_" + ending
    return "_"


@cache
def _model() -> _Model:
    """The weights: a line of biases and scale, one of common tokens, then for each weight the features that have it."""
    text = files("langchain_tiered_memory.working.constraints").joinpath("priority.txt").read_text(encoding="utf-8")
    first, common, *lines = text.splitlines()
    bias, bias_han, scale = map(float, first.split("\t"))
    weights: dict[str, float] = {}
    for line in lines:
        weight, *same = line.split("\t")
        weights.update(dict.fromkeys(same, int(weight) * scale))
    return _Model(weights, frozenset(common.split("\t")), bias, bias_han)
