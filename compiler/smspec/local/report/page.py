"""Write the report: one self-contained file, readable without a network and without JavaScript."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from smspec.diagnostics.quoting import visible
from smspec.local.flows import HEAD, added_up, rows
from smspec.local.prediction.prediction import heading
from smspec.local.record import RunRecord
from smspec.local.report import chart
from smspec.local.report.chart import Chart, Curve, draw, metric_charts, rates
from smspec.local.report.predicted_modes import predicted_modes
from smspec.local.summary import Summary
from smspec.local.units import duration, size
from smspec.render.pages import page_template

if TYPE_CHECKING:
    import jinja2

_TEMPLATE = "report.html.j2"
_FEW_ROWS, _MOST_ROWS = 24, 2000


def template() -> jinja2.Template:
    """Return the template, compiled once: a rehearsal writes many reports."""
    return page_template(_TEMPLATE, os.path.dirname(os.path.abspath(__file__)))


def report_page(summary: Summary, record: RunRecord) -> str:
    """Return the report of a run."""
    balances = record.balances
    return template().render(
        summary=summary,
        facts=[
            *(("injected", str(fault)) for fault in summary.rehearsed),
            *(("metric", visible(str(metric))) for metric in summary.metrics),
            *summary.places(),
            *([("started", summary.started)] if summary.started else []),
            *((name, version) for name, version in summary.versions.items() if version),
        ],
        warnings=list(map(visible, summary.warnings)),
        hyperparameters=[(visible(name), visible(value)) for name, value in summary.hyperparameters.items()],
        metric_charts=metric_charts(summary.metrics),
        charts=_charts(_streamed(summary, record), summary.seconds),
        balances=balances if len(balances) <= _FEW_ROWS else added_up(balances),
        all_balances=balances if _FEW_ROWS < len(balances) <= _MOST_ROWS else (),
        head=HEAD,
        prediction=summary.prediction if summary.prediction and summary.prediction.modes else None,
        predicted=predicted_modes(summary.prediction) if summary.prediction else [],
        heading=heading,
        rows=rows(summary.flows, _FEW_ROWS),
        all_rows=rows(summary.flows, _MOST_ROWS) if _FEW_ROWS < len(summary.flows) <= _MOST_ROWS else (),
        logs=[(host, _shown(tail.text), tail.left_out) for host, tail in sorted(record.logs.items())],
        duration=duration,
        size=size,
        width=chart.WIDTH,
        height=chart.HEIGHT,
        left=chart.LEFT,
        right=chart.RIGHT,
    )


def _charts(series: Mapping[tuple[str, str], Sequence[tuple[float, int]]], seconds: float) -> list[tuple[str, Chart]]:
    """Return one chart per channel, in it one curve per host."""
    curves: dict[str, list[Curve]] = {}
    for (host, channel), samples in sorted(series.items(), key=lambda item: (len(item[0][0]), item[0])):
        points = rates([(moment, count / 1e6) for moment, count in samples], seconds)
        if points:
            curves.setdefault(channel, []).append(Curve(host, points))
    return [(channel, draw(of_hosts, seconds)) for channel, of_hosts in sorted(curves.items())]


def _streamed(summary: Summary, record: RunRecord) -> Mapping[tuple[str, str], Sequence[tuple[float, int]]]:
    """Return the series of Pipe channels: how fast this machine copied files says nothing about a job."""
    piped = {(flow.host, flow.channel) for flow in summary.flows if flow.mode == "Pipe"}
    return {key: samples for key, samples in record.series.items() if key in piped}


def _shown(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))
