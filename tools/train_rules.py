"""Trains the weights of `working.constraints.priority` and says how well they do.

    PYTHONPATH=. python tools/train_rules.py           # cross-validation on the training data, then writes the weights
    PYTHONPATH=. python tools/train_rules.py --report  # only measures the weights on the lists of the tests

The training data are `tools/data/{rules,chat}.*.txt`, one sentence a line, the lists of planted sentences that the
patterns of an earlier version were tuned on (`tests/data/planted_*`), and what is made of templates and of pairs of
sentences. The lists `tests/data/{held_out,fresh,unseen}_*` are only measured: no weight, feature or setting is chosen
by them, and `tests/unit_tests/working/test_constraints.py` fails if one of their lines comes near to a line that is
trained on. Numbers below were chosen by cross-validation.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from pathlib import Path

import numpy as np

from langchain_tiered_memory.working.constraints.priority import THRESHOLD, features, has_han, priority
from langchain_tiered_memory.working.constraints.sentences import is_question

ROOT = Path(__file__).resolve().parent.parent
DATA, LISTS = ROOT / "tools" / "data", ROOT / "tests" / "data"
WEIGHTS = ROOT / "langchain_tiered_memory" / "working" / "constraints" / "priority.txt"
FILLED = 6
"""Sentences made of each template."""
JOINED = 1_500
"""Pairs of sentences of each kind and script that are made one."""
TEMPLATE_WEIGHT, JOINED_WEIGHT = 1.0, 0.2
"""What a sentence that was made counts beside one that was written."""
COMMON, COMMON_HAN = 20, 12
"""Occurrences from which on a token stands for itself in a skeleton."""
RARE = 2
"""Sentences that a feature must occur in."""
KEPT = 12_000
"""Features that are written, those with the largest weights."""
DECAY, STEPS, RATE = 1e-5, 250, 0.3
FALSE = 0.08
"""The share of chat above the threshold in cross-validation, which sets the bias of each script."""


def read(*names: str) -> list[str]:
    """The lines of files, none twice."""
    lines = (
        line.strip() for name in names for path in sorted(ROOT.glob(name)) for line in path.read_text().splitlines()
    )
    return list(dict.fromkeys(line for line in lines if line))


def expanded() -> tuple[list[str], list[str]]:
    """Rules and chat from templates: the same words stand in both, so that only what is around them tells."""
    parts: dict[str, list[str]] = {}
    for line in read("tools/data/templates.txt"):
        if line.startswith("["):
            parts[line[1:-1]] = part = []
        else:
            part.append(line)
    rng = random.Random(0)  # noqa: S311  # a seeded generator makes the same sentences each time
    made: dict[str, list[str]] = {"rule": [], "chat": []}
    for kind, sentences in made.items():
        for language in ("en", "zh"):
            for template in parts[f"{kind}.{language}"] * FILLED:
                text = re.sub(r"\{(\w+)\}", lambda slot, of=language: rng.choice(parts[f"{slot[1]}.{of}"]), template)
                sentences.append(text[0].upper() + text[1:])
    return made["rule"], made["chat"]


def joined(rules: list[str], chat: list[str]) -> tuple[list[str], list[str]]:
    """Longer rules and longer chat, so that length tells little: two remarks in one, a rule with its reason."""
    rng = random.Random(1)  # noqa: S311  # as above
    texts = ([], [])
    for han, links in ((False, (", and ", ", but ", ", so ", " because ", ", ")), (True, ("，", "，所以", "，而且"))):
        of_rules = [text for text in rules if has_han(text) == han and not is_question(text)]
        of_chat = [text for text in chat if has_han(text) == han and not is_question(text)]
        for _ in range(JOINED):
            first, second, rule = rng.choice(of_chat), rng.choice(of_chat), rng.choice(of_rules)
            texts[1].append(_in_one(first, rng.choice(links), second))
            texts[0].append(_in_one(*rng.choice([(rule, rng.choice(links), first), (first, rng.choice(links), rule)])))
    return texts


def _in_one(first: str, link: str, second: str) -> str:
    return first.rstrip(".!。！ ") + link + second[0].lower() + second[1:]


class Sample:
    """Sentences as rows of features, each weighted by one over the root of their number."""

    def __init__(self, texts: list[str], common: frozenset[str], index: dict[str, int] | None = None) -> None:
        found = [features(text, common) for text in texts]
        if index is None:
            counts = Counter(one for row in found for one in sorted(row))
            index = {one: place for place, one in enumerate(one for one, count in counts.items() if count >= RARE)}
        self.index = index
        pairs = [(row, index[one]) for row, ones in enumerate(found) for one in ones if one in index]
        self.rows, self.columns = np.array(pairs).T
        self.values = np.array([1 / np.sqrt(max(1, len(ones))) for ones in found])[self.rows]
        self.size = len(texts)

    def scores(self, weights: np.ndarray) -> np.ndarray:
        """The score of each row."""
        return np.bincount(self.rows, weights[self.columns] * self.values, minlength=self.size)

    def gradient(self, errors: np.ndarray) -> np.ndarray:
        """How the errors of the rows fall back on the features."""
        return np.bincount(self.columns, errors[self.rows] * self.values, minlength=len(self.index))


def common_tokens(texts: list[str]) -> frozenset[str]:
    """The tokens that stand for themselves in skeletons: frequent words, frequent Chinese letters."""
    everything = frozenset[str]()
    counts = Counter(one for text in texts for one in features(text, everything) if one.isalpha())
    return frozenset(one for one, count in counts.items() if count >= (COMMON_HAN if "㐀" <= one <= "鿿" else COMMON))


def fit(sample: Sample, labels: np.ndarray, importance: np.ndarray) -> tuple[np.ndarray, float]:
    """Weights and bias of a logistic regression, by Adam over the whole sample."""
    importance = importance * np.where(
        labels == 1, 1 / importance[labels == 1].sum(), 1 / importance[labels == 0].sum()
    )
    parameters = np.zeros(len(sample.index) + 1)
    mean, square = np.zeros_like(parameters), np.zeros_like(parameters)
    for step in range(1, STEPS + 1):
        errors = 1 / (1 + np.exp(-sample.scores(parameters[:-1]) - parameters[-1])) - labels
        errors *= importance / 2
        slope = np.append(sample.gradient(errors) + DECAY * parameters[:-1], errors.sum())
        mean, square = 0.9 * mean + 0.1 * slope, 0.99 * square + 0.01 * slope**2
        parameters -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
    return parameters[:-1], parameters[-1]


def pruned(weights: np.ndarray) -> tuple[np.ndarray, float]:
    """The largest weights as whole numbers from -127 to 127, the others as 0, and what one stands for."""
    scale = np.quantile(np.abs(weights), 0.9999) / 127
    least = np.sort(np.abs(weights))[-min(KEPT, len(weights))]
    return np.where(np.abs(weights) >= least, np.clip(np.round(weights / scale), -127, 127), 0).astype(int), scale


def train(texts: list[str], labels: np.ndarray) -> tuple[dict[str, int], float, float, frozenset[str]]:
    """Whole weights by feature, what one stands for, the bias, and the common tokens."""
    made = [
        expanded(),
        joined(*([text for text, one in zip(texts, labels, strict=True) if one == kind] for kind in (1, 0))),
    ]
    common = common_tokens(texts)
    importance = [np.ones(len(texts))]
    for (rules, chat), weight in zip(made, (TEMPLATE_WEIGHT, JOINED_WEIGHT), strict=True):
        texts = [*texts, *rules, *chat]
        labels = np.concatenate([labels, np.ones(len(rules)), np.zeros(len(chat))])
        importance.append(np.full(len(rules) + len(chat), weight))
    sample = Sample(texts, common)
    weights, bias = fit(sample, labels, np.concatenate(importance))
    whole, scale = pruned(weights)
    return {one: int(whole[place]) for one, place in sample.index.items() if whole[place]}, scale, bias, common


def cross_validated(texts: list[str], labels: np.ndarray) -> np.ndarray:
    """The score of each text by a model that was not trained on it."""
    fold = np.random.default_rng(0).integers(0, 5, len(texts))
    scores = np.zeros(len(texts))
    for number in range(5):
        inside = fold != number
        weights, scale, bias, common = train(
            [text for text, take in zip(texts, inside, strict=True) if take], labels[inside]
        )
        for place in np.flatnonzero(~inside):
            found = features(texts[place], common)
            scores[place] = sum(weights.get(one, 0) for one in found) * scale / np.sqrt(max(1, len(found))) + bias
    return scores


def report() -> None:
    """Print how much of each list is found."""
    for path in sorted([*LISTS.glob("*_rules*.txt"), *LISTS.glob("*_chat*.txt")]):
        lines = path.read_text().splitlines()
        found = sum(priority(line) >= THRESHOLD for line in lines)
        print(f"{path.stem:24}{found:4} of {len(lines):4}  {100 * found / len(lines):5.1f} %")


def main() -> None:
    """Train, or only report."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--report", action="store_true", help="measure the weights that are there")
    if options.parse_args().report:
        report()
        return
    rules = read("tools/data/rules.*.txt", "tests/data/planted_rules.*.txt")
    chat = read("tools/data/chat.*.txt", "tests/data/planted_chat.txt", "tests/data/planted_values.txt")
    texts, labels = [*rules, *chat], np.array([1.0] * len(rules) + [0.0] * len(chat))
    scores = cross_validated(texts, labels)
    print(f"{len(rules)} rules, {len(chat)} sentences of chat; in 5 folds:")
    han = np.array([has_han(text) for text in texts])
    shifts = []
    for name, inside in (("other", ~han), ("zh", han)):
        shifts.append(float(np.quantile(scores[inside & (labels == 0)], 1 - FALSE)))
        shares = [100 * np.mean(scores[inside & (labels == kind)] >= shifts[-1]) for kind in (1, 0)]
        print(f"  {name:6} found {shares[0]:.1f} %, false {shares[1]:.1f} %")
    weights, scale, bias, common = train(texts, labels)
    by_weight: dict[int, list[str]] = {}
    for one, weight in sorted(weights.items()):
        by_weight.setdefault(weight, []).append(one)
    lines = [f"{bias - shifts[0]:.5f}\t{bias - shifts[1]:.5f}\t{scale:.6f}", "\t".join(sorted(common))]
    lines += ["\t".join([str(weight), *same]) for weight, same in sorted(by_weight.items())]
    WEIGHTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(weights)} weights, {WEIGHTS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
