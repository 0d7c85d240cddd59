"""Write the report: one self-contained file, readable without a network and without JavaScript.

Its charts are SVG: curves over time become paths, grid lines, and labels. Each input mode of the prediction is a bar.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

from smspec.diagnostics.quoting import visible
from smspec.local.prediction.mode_prediction import ModePrediction
from smspec.local.prediction.prediction import Prediction, row
from smspec.local.record import report_html as html
from smspec.local.record.flows import added_up, rows
from smspec.local.record.report_html import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Bar,
    Chart,
    Drawn,
    PredictedMode,
    Tick,
)
from smspec.local.record.summary import RunRecord, Summary
from smspec.local.watch.metric_counts import MetricCount, MetricValues
from smspec.source.frozen import dataclass, replace

_MOST_STRETCHES, _SHORTEST = 240, 0.05
_TICKS = 4
_FEW_ROWS, _MOST_ROWS = 24, 2000


def report_page(summary: Summary, record: RunRecord) -> str:
    """Return the report of a run."""
    balances, found = record.balances, summary.prediction
    facts = [
        *(("injected", str(fault)) for fault in summary.rehearsed),
        *(("metric", visible(str(metric))) for metric in summary.metrics),
        *summary.places(),
        *([("started", summary.started)] if summary.started else []),
        *((name, version) for name, version in summary.versions.items() if version),
    ]
    hyperparameters = [(visible(name), visible(value)) for name, value in summary.hyperparameters.items()]
    series = _charts(_streamed(summary, record), summary.seconds)
    every_row = rows(summary.flows, _MOST_ROWS) if _FEW_ROWS < len(summary.flows) <= _MOST_ROWS else ()
    parts = (
        html.head(summary, facts),
        html.chapter("Warnings", html.items(map(visible, summary.warnings)) if summary.warnings else ""),
        html.charts("Metrics", "Values in the order of the log", metric_charts(summary.metrics), "values of {}", ""),
        html.charts(
            *("Throughput", "MB a second over the seconds of the run", series),
            *("throughput of {} in MB a second", " MB/s"),
        ),
        html.waiting(
            balances if len(balances) <= _FEW_ROWS else added_up(balances),
            balances if _FEW_ROWS < len(balances) <= _MOST_ROWS else (),
        ),
        html.prediction(found, predicted_modes(found)) if found is not None and found.modes else "",
        html.flows(rows(summary.flows, _FEW_ROWS), every_row),
        html.hosts(summary.hosts),
        html.chapter("Hyperparameters", f"<dl>\n{html.definitions(hyperparameters)}</dl>\n" if hyperparameters else ""),
        html.logs([(host, _visible_lines(end.text), end.left_out) for host, end in sorted(record.logs.items())]),
    )
    return "".join([*parts, "</body>\n</html>\n"])


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


def predicted_modes(prediction: Prediction) -> list[PredictedMode]:
    """Return one per input mode; the bars are drawn from least to most."""
    shown = [mode.wait for mode in prediction.modes]
    longest = max((time.most for time in shown if time is not None), default=0.0) or 1.0
    return [
        _predicted_mode(mode, None if time is None else Bar(100 * time.least / longest, 100 * time.most / longest))
        for mode, time in zip(prediction.modes, shown, strict=True)
    ]


def _predicted_mode(mode: ModePrediction, bar: Bar | None) -> PredictedMode:
    name, *cells, note = map(visible, row(mode))
    return PredictedMode(
        name=name,
        cells=tuple(cells),
        note="" if mode.obstacle else note,
        obstacle=visible(mode.obstacle),
        is_of_spec=mode.is_of_spec,
        is_bad=mode.is_disk_full,
        bar=bar,
    )


@dataclass(frozen=True, slots=True)
class Curve:
    """One line of a chart: (seconds since the start, value), in order of time."""

    label: str
    points: tuple[tuple[float, float], ...]


def draw(curves: Sequence[Curve], seconds: float) -> Chart:
    """Return the chart of curves over ``seconds``. Values start at 0: a rate without its zero is misleading."""
    highest = max((value for curve in curves for _, value in curve.points), default=0.0)
    end, top = max(seconds, 1e-3), highest * 1.05 or 1.0
    step_across, step_up = _step(end), _step(top)

    def across(moment: float) -> float:
        return LEFT + moment / end * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM)

    return Chart(
        curves=tuple(
            Drawn(
                curve.label,
                _path([(across(min(moment, end)), up(value)) for moment, value in curve.points]),
                max((value for _, value in curve.points), default=0.0),
            )
            for curve in curves
        ),
        across=tuple(Tick(across(value), f"{_number(value, step_across)} s") for value in _multiples(step_across, end)),
        up=tuple(Tick(up(value), _number(value, step_up)) for value in _multiples(step_up, top)),
    )


def trace(curves: Sequence[Curve]) -> Chart | None:
    """Return the chart of values by their number, each joined to the next; None for a range that cannot be drawn."""
    points = [point for curve in curves for point in curve.points]
    low, high = min(value for _, value in points), max(value for _, value in points)
    space = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    low, high = low - space, high + space
    end = max(number for number, _ in points)
    if not math.isfinite(high - low) or high - low < 1e-300 or low + (high - low) / 1000 == low:
        return None
    step_across, step_up = max(1.0, _step(end)), _step(high - low)

    def across(number: float) -> float:
        return LEFT + number / end * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    drawn = []
    for curve in curves:
        places = [f"{across(number):.1f} {up(value):.1f}" for number, value in curve.points]
        drawn.append(Drawn(curve.label, "M" + "L".join(places), max(value for _, value in curve.points)))
    ticks = _multiples(step_up, high, math.ceil(low / step_up))
    return Chart(
        curves=tuple(drawn),
        across=tuple(Tick(across(value), f"{value:,.0f}") for value in _multiples(step_across, end)),
        up=tuple(Tick(up(value), _tick_label(value, step_up)) for value in ticks),
    )


def rates(samples: Sequence[tuple[float, float]], seconds: float) -> tuple[tuple[float, float], ...]:
    """Return (seconds, amount per second) for (seconds, amount so far): means over equal intervals, at their ends.

    Amounts are interpolated linearly between two samples. A rate over the few milliseconds between two samples would be
    a spike that shows when they were taken rather than the data.
    """
    if len(samples) < 2:
        return ()
    count = max(1, min(_MOST_STRETCHES, round(seconds / _SHORTEST)))
    width = max(seconds, 1e-3) / count
    amounts = [0.0] * count
    for (before, had), (now, has) in itertools.pairwise(samples):
        first, last = (min(count - 1, int(moment / width)) for moment in (before, now))
        for stretch in range(first, last + 1):
            begin = before if stretch == first else stretch * width
            end = now if stretch == last else (stretch + 1) * width
            amounts[stretch] += (has - had) * ((end - begin) / (now - before) if now > before else 1.0)
    return ((0.0, 0.0), *((number * width, amount / width) for number, amount in enumerate(amounts, 1)))


def _path(points: Sequence[tuple[float, float]]) -> str:
    """Return steps: a value applies to its interval. A slope would show data in the pause between two epochs."""
    path, since = "", 0.0
    for x, y in points:
        path += f"L{since:.1f} {y:.1f}L{x:.1f} {y:.1f}" if path else f"M{x:.1f} {y:.1f}"
        since = x
    return path


def _step(span: float) -> float:
    """Return the distance of grid lines: 1, 2 or 5 times a power of ten, about `_TICKS` of them in ``span``."""
    rough = span / _TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def _multiples(step: float, end: float, first: int = 0) -> list[float]:
    return [number * step for number in range(first, math.floor(end / step + 1e-6) + 1)]


def _tick_label(value: float, step: float) -> str:
    return _number(value, step) if 1e-4 <= step < 1e6 else f"{value:.3g}"


def _number(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return f"{value:,.{decimals}f}"


def metric_charts(metrics: Sequence[MetricCount]) -> list[tuple[str, Chart]]:
    """Return one chart per metric with two values or more, in it one curve per host."""
    charts = []
    for metric in metrics:
        curves = [curve for curve in map(_curve, metric.values) if len(curve.points) > 1]
        chart = trace(curves) if curves else None
        if chart is not None:
            charts.append((visible(metric.name), chart))
    return charts


def _curve(of_host: MetricValues) -> Curve:
    count = len(of_host.values)
    numbers = [number * of_host.every for number in range(count)]
    if count > 1:
        numbers[-1] = of_host.count - 1  # always kept, whatever the distance to the one before it
    points = zip(numbers, of_host.values, strict=True)
    return Curve(of_host.host, tuple((float(number + 1), value) for number, value in points if value is not None))


def compared_charts(sides: Sequence[tuple[str, Sequence[MetricValues]]]) -> str:
    """Return the charts of two jobs: one for each metric, in it a curve for each job and host. ``sides``: by name."""
    curves: dict[str, list[Curve]] = {}
    for name, values in sides:
        for each in values:
            curve = _curve(each)
            if len(curve.points) > 1:
                curves.setdefault(each.metric, []).append(replace(curve, label=visible(f"{name} {each.host}")))
    text = ""
    for metric, found in curves.items():
        chart = trace(found)
        if chart is not None:
            shown = visible(metric)
            text += html.chart_section(shown, chart, f"values of {shown}, by job and host", "")
    return text
