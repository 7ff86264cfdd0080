"""Figures of matplotlib: what is drawn, and that nothing is left open."""

from __future__ import annotations

import io
import math

import pytest

from langchain_tiered_memory import InMemoryFactStore
from langchain_tiered_memory.evaluation import (
    MemoryDataset,
    evaluate,
    forgetting_curve,
    plot_bars,
    plot_forgetting,
    plot_radar,
)
from support.retrieval import WordRetriever

pytest.importorskip("matplotlib")
pytest.importorskip("scipy")

DATASET = MemoryDataset.synthetic(events=20)
REPORT = evaluate({"words": WordRetriever(DATASET), "nothing": lambda _: []}, DATASET, workers=1)


def drawn(figure):
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return len(file.getvalue())


def test_bars_have_a_bar_for_each_figure_of_each_target():
    figure = plot_bars(REPORT, ["recall@5", "mrr"])
    (axes,) = figure.axes
    assert [bar.get_height() for bar in axes.patches] == [
        REPORT.score("recall@5", "words"), REPORT.score("mrr", "words"), 0, 0
    ]  # fmt: skip
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["words", "nothing"]
    assert drawn(figure) > 5_000


def test_a_radar_turns_round_what_is_better_small():
    figure = plot_radar(REPORT, ["recall@5", "mrr", "contamination"])
    (axes,) = figure.axes
    words, nothing = axes.lines
    assert words.get_ydata()[2] == pytest.approx(1 - REPORT.score("contamination", "words"))
    assert list(nothing.get_ydata()) == [0, 0, 1, 0]
    assert drawn(figure) > 5_000
    assert len(plot_radar(REPORT).axes[0].lines) == 2
    with pytest.raises(ValueError, match="three metrics"):
        plot_radar(REPORT, ["mrr"])


def test_a_forgetting_curve_has_points_and_lines():
    curve = forgetting_curve(lambda clock: InMemoryFactStore(clock=clock), facts=3)
    figure = plot_forgetting(curve)
    (axes,) = figure.axes
    measured = [line for line in axes.lines if line.get_marker() == "o"]
    assert [list(line.get_ydata()) for line in measured] == [[1, 0, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 1, 1]]
    assert drawn(figure) > 5_000


def test_no_figure_is_kept_by_pyplot():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    plot_bars(REPORT)
    assert pyplot.get_fignums() == []


def test_a_name_with_dollars_is_no_formula():
    report = evaluate({"$x_{$": lambda _: [], "$5 & $6": lambda _: []}, DATASET, workers=1)
    for figure in (plot_bars(report), plot_radar(report)):
        assert drawn(figure) > 5_000


def test_the_labels_of_a_radar_lie_outside_of_it():
    metrics = ["recall@5", "mrr", "ndcg@5", "contamination", "current@5", "as_of_accuracy"]
    figure = plot_radar(REPORT, metrics)
    drawn(figure)
    (axes,) = figure.axes
    circle = axes.get_window_extent()
    middle, radius = (circle.x0 + circle.x1) / 2, circle.width / 2
    for label, angle in zip(axes.get_xticklabels(), axes.get_xticks(), strict=True):
        box, side = label.get_window_extent(), math.cos(angle)
        assert box.x0 >= middle + radius * side - 1 if side > 0.1 else True
        assert box.x1 <= middle + radius * side + 1 if side < -0.1 else True
