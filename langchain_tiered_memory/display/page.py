"""A replay as a page of its own: no script, no font, nothing fetched."""

from __future__ import annotations

from html import escape
from string import Template

from langchain_tiered_memory._bubble import bubble_html
from langchain_tiered_memory.display._figures import comparisons, duration, notes, percent, ranges, subtitle
from langchain_tiered_memory.display.chart import history_chart, sent_chart
from langchain_tiered_memory.evaluation.report import ReplayCall, ReplayReport

__all__ = ["replay_page"]

_STYLE = """
:root { color-scheme: light dark; --ground: #fbfbfa; --card: #ffffff; --ink: #1c2024; --quiet: #60686f; --rule: #e2e4e6;
  --full: #7d8790; --sent: #1f66c9; --shared: #12806a; --budget: #c2352b; --compaction: #7c3aed; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171a; --card: #1c2024; --ink: #e8eaec; --quiet: #a2aab1;
  --rule: #323940; --full: #98a2ab; --sent: #6aa5f8; --shared: #4cc3a5; --budget: #ff8076; --compaction: #a78bfa; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 2rem 1.25rem 4rem; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", "Noto Sans", "PingFang SC", "Microsoft YaHei", sans-serif; }
main { max-width: 1040px; margin: 0 auto; }
h1 { font-size: 1.5rem; margin: 0; overflow-wrap: anywhere; } h2 { font-size: 1.05rem; margin: 2rem 0 .5rem; }
p { margin: .25rem 0; } .quiet { color: var(--quiet); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: .75rem; margin: 1.25rem 0; }
.card, figure, .scroll { background: var(--card); border: 1px solid var(--rule); border-radius: 8px; }
.card, figure { padding: .8rem 1rem; margin: 0; } .scroll, figure { overflow-x: auto; }
.card b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.card.bad b { color: var(--budget); }
figcaption { color: var(--quiet); margin-bottom: .5rem; }
svg { display: block; width: 100%; min-width: 640px; height: auto; }
.axis { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums; } .grid { stroke: var(--rule); }
.line { fill: none; stroke-width: 2; stroke-linejoin: round; } .area { stroke: none; opacity: .16; }
.line.full { stroke: var(--full); } .line.sent { stroke: var(--sent); } .line.shared { stroke: var(--shared); }
.line.budget { stroke: var(--budget); stroke-dasharray: 6 5; stroke-width: 1.5; }
.line.compaction { stroke: var(--compaction); stroke-width: 1; opacity: .7; }
.area.full { fill: var(--full); } .area.sent { fill: var(--sent); } .area.shared { fill: var(--shared); opacity: .28; }
.label { font-size: 13px; font-weight: 600; } .label.full { fill: var(--full); } .label.sent { fill: var(--sent); }
.label.shared { fill: var(--shared); } .label.budget { fill: var(--budget); }
.hover { fill: transparent; } .hover:hover { fill: var(--ink); opacity: .1; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { padding: .35rem .8rem; text-align: right; border-bottom: 1px solid var(--rule); white-space: nowrap; }
th { color: var(--quiet); font-weight: 600; } tbody tr:last-child > * { border-bottom: 0; }
th:first-child, .text { text-align: left; } td.text { white-space: normal; min-width: 8rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1.2rem; margin: 1rem 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; } .bad { color: var(--budget); font-weight: 600; }
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
<div class="cards">$cards</div>
<h2>Full history and what was sent</h2>
<figure><figcaption>Tokens of each model call</figcaption>
$history
</figure>
<h2>What a prompt cache can serve</h2>
<figure><figcaption>Tokens sent, and those that stood alike at the start of the call before</figcaption>
$sent
</figure>
<h2>In all</h2>
<div class="scroll"><table>
<thead><tr><th>tokens</th><th>full history</th><th>sent</th><th>saved</th></tr></thead>
<tbody>$totals</tbody>
</table></div>
<dl>$notes</dl>
$compactions
<h2>Every call</h2>
<div class="scroll"><table>
<thead><tr><th>call</th><th>round</th><th>history</th><th>sent</th><th>messages</th><th>shared</th><th>time</th>
<th class="text">left the window</th><th class="text">faults</th></tr></thead>
<tbody>
$calls
</tbody>
</table></div>
<p class="quiet">Messages are numbered from 0, as they stand in the transcript. Tokens include what the chat format
adds.</p>
</main>
</body>
</html>
""")


def replay_page(report: ReplayReport, *, title: str = "replay") -> str:
    """Write a replay as a whole HTML page with two charts and a table of every call.

    The page follows the reader's light or dark setting, needs no script and loads nothing; every text in it is escaped.

    Args:
        report: What was measured.
        title: What was replayed.
    """
    bad = {"failed": True, "faults": report.fault_count > 0, "budget": bool(report.over_budget)}
    return _PAGE.substitute(
        title=escape(title),
        style=_STYLE,
        subtitle=escape(subtitle(report)),
        cards="".join(_cards(report)),
        history=history_chart(report),
        sent=sent_chart(report),
        totals="".join(f"<tr><th>{row[0]}</th>{''.join(map(_cell, row[1:]))}</tr>" for row in comparisons(report)),
        notes="".join(
            f"<dt>{escape(name)}</dt><dd{_bad(is_bad=bad.get(name, False))}>{escape(text)}</dd>"
            for name, text in notes(report)
        ),
        compactions=_compactions(report),
        calls="\n".join(map(_row, report.calls)),
    )


def _compactions(report: ReplayReport) -> str:
    if not report.compactions:
        return ""
    bubbles = [
        f'<p class="quiet">before call {call.number:,}, round {call.round:,}</p>\n{bubble_html(compaction)}'
        for call, compaction in report.compactions
    ]
    return "\n".join(["<h2>Compactions</h2>", '<p class="quiet">Marked violet in the charts.</p>', *bubbles])


def _bad(*, is_bad: bool) -> str:
    return ' class="bad"' if is_bad else ""


def _cards(report: ReplayReport) -> list[str]:
    facts = [
        (percent(report.saved_share), "of the full history's tokens saved", False),
        (f"{report.peak_sent:,}", f"tokens in the largest call, of {report.max_tokens:,}", bool(report.over_budget)),
        (percent(report.shared_share), "of what was sent can come from a prompt cache", False),
        (f"{report.fault_count:,}", "faults in what was sent", report.fault_count > 0),
        (duration(report.median_seconds), "a call, median", False),
    ]
    card = '<div class="card{}"><b>{}</b><span class="quiet">{}</span></div>'
    return [card.format(" bad" if is_bad else "", escape(figure), escape(text)) for figure, text, is_bad in facts]


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _row(call: ReplayCall) -> str:
    shared = percent(call.shared_tokens / call.sent_tokens) if call.sent_tokens else "-"
    left = f"{len(call.left)}: {ranges(call.left, most=len(call.left))}" if call.left else ""
    faults = "; ".join(f"{fault.code}: {fault.detail}" for fault in call.faults)
    cells = [
        f"{call.round:,}",
        f"{call.full_tokens:,}",
        f"{call.sent_tokens:,}",
        f"{call.sent_messages:,} of {call.full_messages:,}",
        shared,
        duration(call.seconds),
    ]
    texts = f'<td class="text">{escape(left)}</td><td class="text bad">{escape(faults)}</td>'
    return f"<tr><th>{call.number:,}</th>{''.join(map(_cell, cells))}{texts}</tr>"
