"""The markup of report.html. Text of others is escaped where it enters.

It is written by hand: many runs last a second, of which a library of templates would need a tenth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache

from smspec.diagnostics.quoting import multiline_visible
from smspec.local.prediction.prediction import Prediction, heading
from smspec.local.record.flows import HEAD, Balance
from smspec.local.record.summary import Summary
from smspec.local.record.units import duration, size
from smspec.local.running.events import HostEnded
from smspec.render.pages import STYLE
from smspec.source.frozen import dataclass

WIDTH, HEIGHT = 720, 190
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 10, 26
"""Space around the plot for the labels of the axes, in units of the view box."""

_COLORS = 8
_NUMBER, _PREDICTED, _NOTED = (f' class="{name}"' for name in ("number", "predicted", "noted"))
_ESCAPES = str.maketrans({"&": "&amp;", ">": "&gt;", "<": "&lt;", "'": "&#39;", '"': "&#34;"})

CHART_STYLE = f"""\
svg {{ display: block; width: 100%; height: auto; overflow: visible; }}
svg text {{ fill: var(--soft); font-size: 11px; }}
.grid {{ stroke: var(--line); stroke-width: 1; }}
.curve {{ fill: none; stroke-width: 1.6; stroke-linejoin: round; }}
.legend {{ display: flex; flex-wrap: wrap; gap: 2px 16px; font-size: 13px; margin: 2px 0 0 {LEFT}px; }}
.key {{ display: inline-block; width: 14px; height: 3px; margin-right: 6px; vertical-align: middle; }}
@media (max-width: 600px) {{ svg text {{ font-size: 19px; }} .across {{ transform: translateY(7px); }} \
.curve {{ stroke-width: 2.6; }} }}
"""
"""The style of charts alone."""

_STYLE = """\
.status { font-weight: 600; }
.bar { display: flex; height: 12px; width: 220px; background: var(--box); border-radius: 2px; overflow: hidden; }
.waiting { background: var(--waiting); } .computing { background: var(--computing); }
.range { display: flex; height: 8px; width: 110px; margin: 2px 0 3px; background: var(--box); border-radius: 2px; \
overflow: hidden; }
.least { background: var(--computing); } .most { background: var(--computing); opacity: 0.35; }
.predicted .noted td { border-bottom: 0; padding-bottom: 0; } .predicted .note td { white-space: normal; \
padding-top: 0; font-size: 13px; }
@media (max-width: 600px) { .bar { width: 90px; } }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """Percentages of the longest time of all modes: up to ``least`` certain, from there to ``most`` possible."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedMode:
    """``cells`` are those of the terminal; ``bar`` shows the wait for data."""

    name: str
    cells: tuple[str, ...]
    note: str
    obstacle: str
    is_of_spec: bool
    is_bad: bool
    bar: Bar | None


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line at ``place`` along its axis, and its label."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Drawn:
    """A curve as the ``d`` of an SVG path. ``peak``: its highest value."""

    label: str
    path: str
    peak: float


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart for a box of `WIDTH` by `HEIGHT`."""

    curves: tuple[Drawn, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]


def shown(value: object) -> str:
    """Return a value as text of a page, with what cannot be seen as escapes."""
    return multiline_visible(str(value)).translate(_ESCAPES)


def each(values: Iterable[object], text: Callable[..., str]) -> str:
    """Return the texts of values."""
    return "".join(map(text, values))


def head(summary: Summary, facts: Sequence[tuple[str, object]]) -> str:
    """Return everything before the first heading of the second level."""
    job, status = shown(summary.job), shown(summary.status)
    how = "" if summary.job_status is None else f", exit status {summary.job_status}"
    how += f" of {shown(summary.failed)}" if summary.failed else ""
    failure = f'<pre class="failure">{shown(summary.failure_reason)}</pre>\n' if summary.failure_reason else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="smspec">\n<title>{job}: {status}</title>\n<style>\n{style()}'
        f"{CHART_STYLE}{_STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{job}</h1>\n"
        f'<p><span class="status {"good" if summary.status == "Completed" else "bad"}">{status}</span>{how}'
        f" after {shown(duration(summary.seconds))}</p>\n{failure}<dl>\n{definitions(facts)}</dl>\n</header>\n"
    )


@cache
def style() -> str:
    """Return the style that all pages share."""
    with open(STYLE, encoding="utf-8") as file:
        return file.read()


def definitions(pairs: Iterable[tuple[str, object]]) -> str:
    """Return terms and their descriptions."""
    return "".join(f"<dt>{shown(name)}</dt><dd>{shown(text)}</dd>\n" for name, text in pairs)


def items(texts: Iterable[str]) -> str:
    """Return a list."""
    lines = [f"<li>{shown(text)}</li>\n" for text in texts]
    return f"<ul>\n{''.join(lines)}</ul>\n"


def charts(title: str, story: str, drawn: Sequence[tuple[str, Chart]], label: str, unit: str) -> str:
    """Return a chapter with charts. ``label`` has a place for the name of each; ``unit`` is that of its values."""
    if not drawn:
        return ""
    text = "".join(chart_section(name, chart, label.format(name), unit) for name, chart in drawn)
    return f'\n<h2>{title}</h2>\n<p class="soft">{story}, one curve per host.</p>\n{text}'


def chart_section(title: str, chart: Chart, label: str, unit: str) -> str:
    """Return one chart with its legend."""
    lines = [f'<section class="chart">\n<h3>{shown(title)}</h3>']
    lines.append(f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{shown(label)}">')
    for tick in chart.up:
        place = f"{tick.place:.1f}"
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{place}" y2="{place}"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{tick.place + 4:.1f}" text-anchor="end">{shown(tick.label)}</text>')
    for tick in chart.across:
        where = f'x="{tick.place:.1f}" y="{HEIGHT - 8}"'
        lines.append(f'<text class="across" {where} text-anchor="middle">{shown(tick.label)}</text>')
    for number, curve in enumerate(chart.curves):
        dashes = 'stroke-dasharray="5 3" ' if number >= _COLORS else ""
        peak = shown(f"{curve.peak:,.4g}")
        lines.append(
            f'<path class="curve" stroke="var(--c{number % _COLORS})" {dashes}d="{shown(curve.path)}">'
            f"<title>{shown(curve.label)}: at most {peak}{shown(unit)}</title></path>"
        )
    lines.append('</svg>\n<div class="legend">')
    for number, curve in enumerate(chart.curves):
        key = f'<span class="key" style="background: var(--c{number % _COLORS})"></span>'
        lines.append(f"<span>{key}{shown(curve.label)}</span>")
    return "\n".join([*lines, "</div>\n</section>\n"])


def waiting(balances: Sequence[Balance], everything: Sequence[Balance]) -> str:
    """Return how long readers waited, and how long they computed."""
    if not balances:
        return ""
    return (
        '\n<h2>Waiting and computing</h2>\n<p class="soft">Of a program\'s time in an epoch, over all channels: '
        '<span class="key waiting"></span>waiting for data &ensp; <span class="key computing"></span>computing</p>\n'
        f"{_balance_table(balances)}\n{_folded(_balance_table(everything) if everything else '')}"
    )


def _balance_table(balances: Sequence[Balance]) -> str:
    titles = '<tr><th>host</th><th class="number">epoch</th><th></th><th class="number">waiting</th>'
    return _table(f'{titles}<th class="number">computing</th><th>verdict</th></tr>\n', balances, _balance)


def _balance(balance: Balance) -> str:
    share = balance.waiting_share
    bar = f'<div class="waiting" style="width: {share:.1f}%"></div>'
    bar += f'<div class="computing" style="width: {100 - share:.1f}%"></div>'
    times = "".join(f'<td class="number">{shown(duration(time))}</td>' for time in (balance.waiting, balance.computing))
    return (
        f'<tr><td>{shown(balance.host)}</td><td class="number">{shown(balance.epochs)}</td>\n'
        f'<td><div class="bar">{bar}</div></td>\n{times}<td>{shown(balance.verdict)}</td></tr>\n'
    )


def _table(titles: str, rows: Iterable[object], row: Callable[..., str], kind: str = "") -> str:
    return f'<div class="wide">\n<table{kind}>\n{titles}{each(rows, row)}</table>\n</div>\n'


def _folded(table: str, title: str = "every epoch") -> str:
    return f"<details>\n<summary>{title}</summary>\n{table}\n</details>\n" if table else ""


def prediction(found: Prediction, modes: Sequence[PredictedMode]) -> str:
    """Return what to expect of the job in SageMaker."""
    titles = "<tr><th>input mode</th><th>first data after</th><th>data on disk</th><th>MB/s of a host</th>"
    table = _table(f"{titles}<th>one pass</th></tr>\n", modes, _mode, _PREDICTED)
    count = len(found.assumptions)
    return (
        f'\n<h2>Prediction for SageMaker</h2>\n<p class="soft">{shown(heading(found))}. Each range is from the best '
        f"case to the worst one of the assumptions below.</p>\n{table}"
        '<p class="soft"><span class="key least"></span>the wait for data at best &ensp; <span class="key most"></span>'
        f"at worst</p>\n<details>\n<summary>{count} assumptions</summary>\n{items(found.assumptions)}</details>\n"
    )


def _mode(mode: PredictedMode) -> str:
    name = f"<strong>{shown(mode.name)}</strong>" if mode.is_of_spec else shown(mode.name)
    bar = ""
    if mode.bar:
        bar = f'<div class="range"><div class="least" style="width: {mode.bar.least:.1f}%"></div>'
        bar += f'<div class="most" style="width: {mode.bar.most - mode.bar.least:.1f}%"></div></div>'
    text = f"<tr{_NOTED if mode.note else ''}><td>{name}{bar}</td>\n"
    if mode.obstacle:
        return f'{text}<td class="soft" colspan="4">not possible: {shown(mode.obstacle)}</td></tr>\n'
    text += each(mode.cells, lambda cell: f"<td>{shown(cell)}</td>") + "</tr>\n"
    if not mode.note:
        return text
    kind = "bad" if mode.is_bad else "soft"
    return f'{text}<tr class="note"><td colspan="5" class="{kind}">{shown(mode.note)}</td></tr>\n'


def flows(rows: Sequence[Sequence[str]], everything: Sequence[Sequence[str]]) -> str:
    """Return the table of channels and epochs."""
    if not rows:
        return ""
    table = _folded(_flow_table(everything) if everything else "")
    return f"\n<h2>Channels and epochs</h2>\n{_flow_table(rows)}\n{table}"


def _flow_table(rows: Sequence[Sequence[str]]) -> str:
    return _table(_cells("th", HEAD), rows, lambda row: _cells("td", row))


def _cells(kind: str, texts: Sequence[str]) -> str:
    last = len(texts) - 1
    cells = (f"<{kind}{_NUMBER if 3 <= at < last else ''}>{shown(text)}</{kind}>" for at, text in enumerate(texts))
    return f"<tr>{''.join(cells)}</tr>\n"


def hosts(ended: Iterable[HostEnded]) -> str:
    """Return the table of hosts."""
    titles = '<tr><th>host</th><th class="number">exit status</th><th class="number">seconds</th>'
    titles += '<th class="number">CPU seconds</th><th class="number">largest process</th></tr>\n'
    return f"\n<h2>Hosts</h2>\n{_table(titles, ended, _host)}"


def _host(host: HostEnded) -> str:
    seconds = "-" if host.cpu_seconds is None else f"{host.cpu_seconds:.2f}"
    memory = "-" if host.peak_memory is None else shown(size(host.peak_memory))
    return (
        f'<tr><td>{shown(host.host)}</td><td class="number {"bad" if host.exit_status else ""}">{host.exit_status}</td>'
        f'<td class="number">{host.seconds:.2f}</td>\n'
        f'<td class="number">{seconds}</td><td class="number">{memory}</td></tr>\n'
    )


def logs(ends: Sequence[tuple[str, str, int]]) -> str:
    """Return the ends of the logs: host, text, and how many lines are before it."""
    if not ends:
        return ""
    text = "\n<h2>Log</h2>\n"
    for number, (host, lines, left_out) in enumerate(ends):
        earlier = f'<p class="soft">{left_out} earlier lines are in the log file.</p>' if left_out else ""
        text += f"<details{'' if number else ' open'}>\n<summary>{shown(host)}</summary>\n"
        text += f"{earlier}\n<pre>{shown(lines)}</pre>\n</details>\n"
    return text


def chapter(title: str, text: str) -> str:
    """Return a chapter, or nothing without a text."""
    return f"\n<h2>{title}</h2>\n{text}" if text else ""
