"""Trains the weights of `working.constraints.priority` and says how well they do.

    PYTHONPATH=. python tools/train_rules.py           # cross-validation on the training data, then writes the weights
    PYTHONPATH=. python tools/train_rules.py --report  # only measures the weights on the lists of the tests

The training data are `tools/data/{rules,chat}.*.txt`, a sentence a line, the lists `tests/data/planted_*`, and what is
made of templates, of pairs of sentences and of words in no order. The lists `tests/data/{held_out,fresh,unseen}_*` are
only measured: they are never trained on, and a test fails if one of their lines comes near to a line that is. Their
totals were seen while the settings were chosen, so they flatter; fresh lists have to be written before the next change.
The numbers below were chosen by cross-validation, but for `LENIENT`.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from pathlib import Path

import numpy as np

from langchain_tiered_memory.working.constraints.priority import THRESHOLD, features, has_han, priority
from langchain_tiered_memory.working.constraints.sentences import is_question

ROOT = Path(__file__).resolve().parent.parent
LISTS = ROOT / "tests" / "data"
WEIGHTS = ROOT / "langchain_tiered_memory" / "working" / "constraints" / "priority.txt"
MADE = {"rule": (6, 0.3), "chat": (6, 0.3), "direct": (40, 1.2)}
"""How many sentences are made of a template, and what each counts beside one that was written."""
SALAD, JOINED = (2_500, 0.2), (1_500, 0.2)
"""The same of sentences of random words, and of pairs of sentences, for each script."""
COMMON, COMMON_HAN = 20, 12
"""Occurrences from which on a token stands for itself in a skeleton."""
RARE = 2
"""Sentences that a feature must occur in."""
KEPT = 12_000
"""Features that are written, those with the largest weights."""
FOLDS = 3
DECAY, STEPS, RATE = 1e-5, 250, 0.3
FALSE = 0.07
"""The share of chat above the threshold in cross-validation, which sets the bias of each script."""
LENIENT = 0.33
"""What is added to that bias: the most with which under 4 % of LoCoMo's sentences are taken for rules."""

Labelled = list[tuple[str, int, float]]
"""Sentences, whether each is a rule, and what it counts."""


def read(*names: str) -> list[str]:
    """The lines of files, none twice."""
    lines = [line.strip() for name in names for path in sorted(ROOT.glob(name)) for line in path.open(encoding="utf-8")]
    return list(dict.fromkeys(filter(None, lines)))


def from_templates(rng: random.Random) -> Labelled:
    """Rules and chat with the same words in both, so that only what is around them tells."""
    parts: dict[str, list[str]] = {}
    for line in (ROOT / "tools" / "data" / "templates.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            part = parts[line[1:-1]] = []
        else:
            part.append(line)
    made = []
    for kind, (times, counts) in MADE.items():
        for language in ("en", "zh"):
            for template in parts[f"{kind}.{language}"] * times:
                text = re.sub(r"\{(\w+)\}", lambda slot, of=language: rng.choice(parts[f"{slot[1]}.{of}"]), template)
                made.append((text[0].upper() + text[1:], int(kind != "chat"), counts))
    return made


def salad(texts: list[str], rng: random.Random) -> Labelled:
    """Words in no order, from frequent ones to all alike: no word binds by itself."""
    made = []
    words = [
        word.strip(".,!?。，！？").lower() for text in texts for word in re.findall(r"[㐀-鿿]{2}|[^\s㐀-鿿]+", text)
    ]
    for han, space, ends in ((False, " ", "."), (True, "", "。。！")):
        frequent = [word for word in words if word and has_han(word) == han]
        each = sorted(set(frequent))
        for number in range(SALAD[0]):
            share = number / SALAD[0]
            chosen = [rng.choice(frequent if rng.random() < share else each) for _ in range(rng.randint(3, 18))]
            if number % 3 == 0:
                chosen.insert(rng.randrange(len(chosen)), rng.choice(["A7731", "412", "88.20 euros", "B40417", "3"]))
            made.append((space.join(chosen).capitalize() + rng.choice(ends), 0, SALAD[1]))
    return made


def joined(texts: list[str], labels: np.ndarray, rng: random.Random) -> Labelled:
    """Longer rules and longer chat, so that length tells little: two remarks in one, a rule with its reason."""
    made = []
    for han, links in ((False, (", and ", ", but ", ", so ", " because ", ", ")), (True, ("，", "，所以", "，而且"))):
        kinds: tuple[list[str], list[str]] = ([], [])
        for text, label in zip(texts, labels, strict=True):
            if has_han(text) == han and not is_question(text):
                kinds[int(label)].append(text)
        for number in range(2 * JOINED[0]):
            parts = [rng.choice(kinds[number % 2]), rng.choice(kinds[0])]
            rng.shuffle(parts)
            first, second = parts
            text = first.rstrip(".!。！ ") + rng.choice(links) + second[0].lower() + second[1:]
            made.append((text, number % 2, JOINED[1]))
    return made


class Sample:
    """Sentences as rows of features, each weighted by one over the root of their number."""

    def __init__(self, texts: list[str], common: frozenset[str]) -> None:
        found = [features(text, common) for text in texts]
        counts = Counter(one for row in found for one in sorted(row))
        self.index = {one: place for place, one in enumerate(one for one, count in counts.items() if count >= RARE)}
        pairs = [(row, self.index[one]) for row, ones in enumerate(found) for one in ones if one in self.index]
        self.rows, self.columns = np.array(pairs).T
        self.values = np.array([1 / np.sqrt(max(1, len(ones))) for ones in found])[self.rows]
        self.size = len(texts)

    def fit(self, labels: np.ndarray, importance: np.ndarray) -> tuple[np.ndarray, float]:
        """Weights and bias of a logistic regression, by Adam over the whole sample."""
        importance = importance / np.where(labels == 1, importance[labels == 1].sum(), importance[labels == 0].sum())
        parameters = np.zeros(len(self.index) + 1)
        mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
        for step in range(1, STEPS + 1):
            scores = np.bincount(self.rows, parameters[self.columns] * self.values, minlength=self.size)
            errors = (1 / (1 + np.exp(-scores - parameters[-1])) - labels) * importance / 2
            slope = np.bincount(self.columns, errors[self.rows] * self.values, minlength=len(self.index))
            slope = np.append(slope + DECAY * parameters[:-1], errors.sum())
            mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
            parameters -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
        return parameters[:-1], parameters[-1]


def train(texts: list[str], labels: np.ndarray) -> tuple[dict[str, int], float, float, frozenset[str]]:
    """Whole weights by feature, from -127 to 127 and the largest only; what one stands for; bias; common tokens."""
    rng = random.Random(0)  # noqa: S311  # a seeded generator makes the same sentences each time
    everything = frozenset[str]()
    counts = Counter(one for text in texts for one in features(text, everything) if one.isalpha())
    common = frozenset(one for one, count in counts.items() if count >= (COMMON_HAN if has_han(one) else COMMON))
    made = [*from_templates(rng), *salad(texts, rng), *joined(texts, labels, rng)]
    sample = Sample([*texts, *(text for text, _, _ in made)], common)
    importance = np.concatenate([np.ones(len(texts)), [counts for _, _, counts in made]])
    weights, bias = sample.fit(np.concatenate([labels, [label for _, label, _ in made]]), importance)
    scale = float(np.quantile(np.abs(weights), 0.9999)) / 127
    least = np.sort(np.abs(weights))[-min(KEPT, len(weights))]
    whole = np.where(np.abs(weights) >= least, np.clip(np.round(weights / scale), -127, 127), 0).astype(int)
    return {one: int(whole[place]) for one, place in sample.index.items() if whole[place]}, scale, bias, common


def cross_validated(texts: list[str], labels: np.ndarray) -> np.ndarray:
    """The score of each text by a model that was not trained on it."""
    fold = np.random.default_rng(0).integers(0, FOLDS, len(texts))
    scores = np.zeros(len(texts))
    for number in range(FOLDS):
        inside = fold != number
        own = [text for text, take in zip(texts, inside, strict=True) if take]
        weights, scale, bias, common = train(own, labels[inside])
        for place in np.flatnonzero(~inside):
            found = features(texts[place], common)
            scores[place] = sum(weights.get(one, 0) for one in found) * scale / np.sqrt(max(1, len(found))) + bias
    return scores


def report() -> None:
    """Print how much of each list is found."""
    for path in sorted([*LISTS.glob("*_rules*.txt"), *LISTS.glob("*_chat*.txt")]):
        lines = path.read_text(encoding="utf-8").splitlines()
        found = sum(priority(line) >= THRESHOLD for line in lines)
        print(f"{path.stem:24}{found:4} of {len(lines):4}  {100 * found / len(lines):5.1f} %")


def main() -> None:
    """Choose the bias of each script by cross-validation, train on everything, and write the weights."""
    rules = read("tools/data/rules.*.txt", "tests/data/planted_rules.*.txt")
    chat = read("tools/data/chat.*.txt", "tests/data/planted_chat.txt", "tests/data/planted_values.txt")
    texts, labels = [*rules, *chat], np.array([1.0] * len(rules) + [0.0] * len(chat))
    scores, han = cross_validated(texts, labels), np.array([has_han(text) for text in texts])
    print(f"{len(rules)} rules, {len(chat)} sentences of chat; in {FOLDS} folds:")
    shifts = []
    for name, inside in (("other", ~han), ("zh", han)):
        shifts.append(float(np.quantile(scores[inside & (labels == 0)], 1 - FALSE)))
        found = np.mean(scores[inside & (labels == 1)] >= shifts[-1])
        print(f"  {name:6} found {found:.1%}, false {FALSE:.1%}")
    weights, scale, bias, common = train(texts, labels)
    by_weight: dict[int, list[str]] = {}
    for one, weight in sorted(weights.items()):
        by_weight.setdefault(weight, []).append(one)
    lines = [
        f"{bias - shifts[0] + LENIENT:.5f}\t{bias - shifts[1] + LENIENT:.5f}\t{scale:.6f}",
        "\t".join(sorted(common)),
    ]
    lines += ["\t".join([str(weight), *same]) for weight, same in sorted(by_weight.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(weights)} weights, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    report() if sys.argv[1:] == ["--report"] else main()
