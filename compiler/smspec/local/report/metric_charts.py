"""The curves of metrics for the page."""

from __future__ import annotations

from collections.abc import Sequence

from smspec.diagnostics.visible import visible
from smspec.local.metric_counts import MetricCount, MetricValues
from smspec.local.report.chart import Chart, Curve, trace


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
