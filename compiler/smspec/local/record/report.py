"""Write the report: one self-contained file, readable without a network and without JavaScript."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smspec.diagnostics.visible import visible
from smspec.local.prediction.mode_prediction import ModePrediction
from smspec.local.prediction.prediction import Prediction, heading, row
from smspec.local.prediction.s3_service import Interval
from smspec.local.record import chart
from smspec.local.record.chart import Chart, Curve, draw, metric_charts, rates
from smspec.local.record.flows import HEAD, added_up, rows
from smspec.local.record.record import RunRecord
from smspec.local.record.summary import Summary
from smspec.local.record.units import duration, size
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
        logs=[(host, _visible_lines(tail.text), tail.left_out) for host, tail in sorted(record.logs.items())],
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


def _visible_lines(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


@dataclass(frozen=True, slots=True)
class Bar:
    """Percentages of the longest time of all modes: up to ``least`` certain, from there to ``most`` possible."""

    least: float
    most: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedMode:
    """``cells`` are those of the terminal; ``bar`` shows the whole job or, if it is unknown, the wait for data."""

    name: str
    cells: tuple[str, ...]
    note: str
    obstacle: str
    is_of_spec: bool
    is_bad: bool
    bar: Bar | None


def predicted_modes(prediction: Prediction) -> list[PredictedMode]:
    """Return one per input mode."""
    shown = [_shown_time(mode) for mode in prediction.modes]
    longest = max((time.most for time in shown if time is not None), default=0.0) or 1.0
    return [
        _predicted_mode(
            prediction, mode, None if time is None else Bar(100 * time.least / longest, 100 * time.most / longest)
        )
        for mode, time in zip(prediction.modes, shown, strict=True)
    ]


def _shown_time(mode: ModePrediction) -> Interval | None:
    return mode.total or mode.wait


def _predicted_mode(prediction: Prediction, mode: ModePrediction, bar: Bar | None) -> PredictedMode:
    name, *cells, note = map(visible, row(prediction, mode))
    return PredictedMode(
        name=name,
        cells=tuple(cells),
        note="" if mode.obstacle else note,
        obstacle=visible(mode.obstacle),
        is_of_spec=mode.is_of_spec,
        is_bad=mode.is_disk_full or prediction.exceeds_runtime(mode) == "yes",
        bar=bar,
    )
