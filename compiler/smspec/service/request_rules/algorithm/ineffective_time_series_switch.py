"""Some jobs have time series of their metrics regardless of the switch."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.members import items
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import Request

RULE = Rule("SM338", "ineffective time series switch", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about EnableSageMakerMetricsTimeSeries false together with something that enables it."""
    if request.algorithm.get("EnableSageMakerMetricsTimeSeries") is not False:
        return
    image = request.image
    if items(request.algorithm, "MetricDefinitions"):
        cause = f"`{request.word('MetricDefinitions', 'metrics')}` is set"
    elif image and is_built_in_algorithm(image):
        cause = f"`{image.repository}` is a built-in algorithm"
    else:
        return
    yield RULE.at(
        ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"),
        f"`EnableSageMakerMetricsTimeSeries: false` has no effect: {cause}",
        help="remove the member",
    )
