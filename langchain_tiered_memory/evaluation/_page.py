"""An evaluation as a page of its own: no script, no font, nothing fetched."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from string import Template
from typing import Final

from langchain_tiered_memory.evaluation._charts import COLOURS, bars_svg, radar_svg
from langchain_tiered_memory.evaluation._shown import figure_of, measured
from langchain_tiered_memory.evaluation.results import CaseResult, EvaluationReport, TargetResult

__all__ = ["evaluation_page", "evaluation_table"]

_WORST: Final = 50
"""Cases shown of each target; the JSON holds all."""

_BEST: Final = ' style="font-weight:700"'
_STYLE = """
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #ffffff; --ink: #1c2024; --quiet: #60686f; --rule: #e2e4e6;
  --bad: #c2352b; --c0: #1f66c9; --c1: #c26a12; --c2: #12806a; --c3: #7c3aed; --c4: #b3246e; --c5: #5d6b1a; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1c2024; --ink: #e8eaec; --quiet: #a2aab1;
  --rule: #323940; --bad: #ff8076; --c0: #6aa5f8; --c1: #f0a65a; --c2: #4cc3a5; --c3: #a78bfa; --c4: #f27ab5;
  --c5: #b5c75c; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif; }
main { max-width: 1040px; margin: 0 auto; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
p { margin: .25rem 0; } .quiet { color: var(--quiet); } .bad { color: var(--bad); }
figure, .scroll { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; overflow-x: auto; }
figure { padding: .8rem 1rem; margin: 0; } figcaption { color: var(--quiet); margin-bottom: .5rem; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
.axis { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; }
.ring { fill: none; stroke: var(--rule); } .bar { stroke: none; } .shape { fill-opacity: .12; stroke-width: 2; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--rule); }
th { color: var(--quiet); font-weight: 600; } tbody tr:last-child > * { border-bottom: 0; }
th:first-child, .text { text-align: left; } td.text { min-width: 12rem; overflow-wrap: anywhere; vertical-align: top; }
.key { display: inline-block; width: .8em; height: .8em; border-radius: 2px; }
$colours
"""

_PAGE = Template("""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>$title</title>
<style>$style</style>
</head>
<body>
<main>
<h1>$title</h1>
<p class="quiet">$subtitle</p>
<h2>Figures</h2>
<div class="scroll"><table>
<thead><tr><th>metric</th>$heads<th>cases</th><th class="text">what it says</th></tr></thead>
<tbody>
$figures
</tbody>
</table></div>
<h2>Side by side</h2>
<figure><figcaption>Every share; $legend</figcaption>
$bars
</figure>
$radar
$categories
<h2>Cases that went wrong</h2>
$cases
</main>
</body>
</html>
""")


def evaluation_page(report: EvaluationReport, *, title: str | None = None) -> str:
    """Write an evaluation as a whole HTML page with bars, a radar, and the cases that went wrong.

    The page follows the reader's light or dark setting, needs no script and loads nothing; every text in it is escaped.

    Args:
        report: What was measured.
        title: What it is called; the data set's name if not given.
    """
    dataset = report.dataset
    colours = "\n".join(
        f".bar.c{n}, .key.c{n} {{ fill: var(--c{n}); background: var(--c{n}); }} "
        f".shape.c{n} {{ fill: var(--c{n}); stroke: var(--c{n}); }}"
        for n in range(COLOURS)
    )
    radar = radar_svg(report)
    legend = ", ".join(_named(number, one) for number, one in enumerate(report.targets))
    return _PAGE.substitute(
        title=escape(title or dataset.name),
        style=Template(_STYLE).substitute(colours=colours),
        subtitle=escape(_subtitle(report)),
        heads="".join(_head(number, one) for number, one in enumerate(report.targets)),
        figures="\n".join(_figures(report)),
        legend=legend,
        bars=bars_svg(report),
        radar=f"<figure><figcaption>Further out is better; {legend}</figcaption>\n{radar}\n</figure>" if radar else "",
        categories=_categories(report),
        cases="\n".join(part for one in report.targets for part in _worst(report, one)),
    )


def evaluation_table(report: EvaluationReport) -> str:
    """Write the figures as an HTML element, without a style of its own; every text in it is escaped.

    Args:
        report: What was measured.
    """
    heads = "".join(f"<th>{escape(one.name)}</th>" for one in report.targets)
    return (
        f"<p><b>{escape(report.dataset.name)}</b><br>{escape(_subtitle(report))}</p>"
        f"<table><thead><tr><th>metric</th>{heads}<th>cases</th><th>what it says</th></tr></thead>"
        f"<tbody>{''.join(_figures(report))}</tbody></table>"
    )


def _subtitle(report: EvaluationReport) -> str:
    dataset = report.dataset
    return (
        f"{len(dataset.cases):,} questions over {len(dataset.records):,} records, {report.k} records asked for, "
        f"data set {dataset.digest}"
    )


def _named(number: int, target: TargetResult) -> str:
    return f'<span class="key c{number % COLOURS}"></span> {escape(target.name)}'


def _head(number: int, target: TargetResult) -> str:
    return f"<th>{_named(number, target)}</th>"


def _figures(report: EvaluationReport) -> Iterator[str]:
    for metric in measured(report):
        scores = [report.score(metric.key, one.name) for one in report.targets]
        known = [score for score in scores if score is not None]
        best = (min if metric.lower_is_better else max)(known)
        cells = "".join(
            f"<td{_BEST if score == best and len(known) > 1 else ''}>{escape(figure_of(metric, score))}</td>"
            for score in scores
        )
        said = max(report.said(metric.key, one.name) for one in report.targets)
        what = metric.definition + ("; less is better" if metric.lower_is_better else "")
        yield f'<tr><th>{escape(metric.key)}</th>{cells}<td>{said:,}</td><td class="text">{escape(what)}</td></tr>'


def _categories(report: EvaluationReport) -> str:
    """Recall and contamination of each category, where there are several."""
    keys = [metric for metric in measured(report) if metric.key in {f"recall@{report.k}", "contamination"}]
    if len(report.categories) < 2 or not keys:  # noqa: PLR2004  # one is the whole
        return ""
    rows = []
    for category in report.categories:
        for metric in keys:
            cells = "".join(
                f"<td>{figure_of(metric, report.score(metric.key, one.name, category=category))}</td>"
                for one in report.targets
            )
            rows.append(f'<tr><th>{escape(category)}</th><td class="text">{escape(metric.key)}</td>{cells}</tr>')
    heads = "".join(_head(number, one) for number, one in enumerate(report.targets))
    return (
        f'<h2>By category</h2>\n<div class="scroll"><table><thead><tr><th>category</th><th class="text">metric</th>'
        f"{heads}</tr></thead><tbody>\n{''.join(rows)}\n</tbody></table></div>"
    )


def _worst(report: EvaluationReport, target: TargetResult) -> Iterator[str]:
    """The cases whose evidence did not all come back, or that brought back what they should not have."""
    cases = {case.id: case for case in report.dataset.cases}
    wrong = [one for one in target.cases if one.faults or not set(cases[one.case_id].expected) <= set(one.returned)]
    wrong.sort(key=lambda one: (set(cases[one.case_id].expected) <= set(one.returned), -len(one.faults)))
    yield f"<h3>{escape(target.name)}: {len(wrong):,} of {len(target.cases):,}</h3>"
    if not wrong:
        return
    yield '<div class="scroll"><table><thead><tr><th>case</th><th class="text">question</th>'
    yield '<th class="text">expected</th><th class="text">returned</th></tr></thead><tbody>'
    for one in wrong[:_WORST]:
        yield _row(report, one)
    yield "</tbody></table></div>"
    if len(wrong) > _WORST:
        yield f'<p class="quiet">and {len(wrong) - _WORST:,} more; the JSON holds all</p>'


def _row(report: EvaluationReport, one: CaseResult) -> str:
    records = report.dataset.records
    case = next(case for case in report.dataset.cases if case.id == one.case_id)

    def shown(record: str) -> str:
        text = f": {records[record].text:.200}" if record in records else ""
        fault = f' <span class="bad">({escape(one.faults[record])})</span>' if record in one.faults else ""
        return escape(record + text) + fault

    expected = "<br>".join(map(shown, case.expected)) or "nothing"
    returned = "<br>".join(map(shown, one.returned[: report.k])) or "nothing"
    more = len(one.returned) - report.k
    if more > 0:
        returned += f"<br>and {more:,} more"
    return (
        f'<tr><th>{escape(one.case_id)}</th><td class="text">{escape(case.question)}</td>'
        f'<td class="text">{expected}</td><td class="text">{returned}</td></tr>'
    )
