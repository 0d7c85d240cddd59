"""AlgorithmSpecification: the metrics that SageMaker finds in the log."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.metric_pattern import metric_patterns
from smspec.service.patterns import shown
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import Request
from smspec.service.shapes import items, repeated

INVALID_METRIC_REGEX = Rule("SM442", "invalid metric regex", evidence="inferred")


def invalid_metric_regex(request: Request) -> Iterator[Finding]:
    """Reject a regular expression that no engine accepts.

    The log is searched with the regular expression: one that cannot be parsed finds nothing.
    """
    for path, pattern in metric_patterns(request):
        if pattern.fault is not None:
            yield INVALID_METRIC_REGEX.at(
                path,
                f"{HERE} is not a regular expression: {pattern.fault}",
                help="fix the expression, or escape the character with `\\`",
            )


METRIC_WITHOUT_A_GROUP = Rule("SM336", "metric without a capture group", "warning", evidence="api-doc")


def metric_without_a_group(request: Request) -> Iterator[Finding]:
    """Warn about a regular expression without a capture group.

    The value of a metric is what the capture group of its regular expression matches.
    """
    for path, pattern in metric_patterns(request):
        if pattern.fault is None and not pattern.groups:
            yield METRIC_WITHOUT_A_GROUP.at(
                path,
                f"`{request.word('Regex', 'regex')}` has no capture group for the value of the metric",
                help="add parentheses around the number, as in `loss=([0-9.]+)`",
            )


METRICS_OF_A_BUILT_IN_ALGORITHM = Rule("SM337", "metrics of a built-in algorithm", "warning", evidence="unverified")


def metrics_of_a_built_in_algorithm(request: Request) -> Iterator[Finding]:
    """Warn about metric definitions for the image of a built-in algorithm.

    The built-in algorithms of SageMaker define their own metrics.
    """
    image = request.image
    if image and is_built_in_algorithm(image) and items(request.algorithm, "MetricDefinitions"):
        yield METRICS_OF_A_BUILT_IN_ALGORITHM.at(
            ("AlgorithmSpecification", "MetricDefinitions"),
            f"`{request.word('MetricDefinitions', 'metrics')}` might have no effect: SageMaker defines the "
            f"metrics of `{image.repository}`",
            help=f"remove `{request.word('MetricDefinitions', 'metrics')}`",
            on="key",
        )


REPEATED_METRIC = Rule("SM335", "repeated metric", "warning", evidence="inferred")


def repeated_metric(request: Request) -> Iterator[Finding]:
    """Warn about two metric definitions with one name.

    Two metrics of one name become one curve.
    """
    for index, name in repeated(items(request.algorithm, "MetricDefinitions"), "Name"):
        yield REPEATED_METRIC.at(
            ("AlgorithmSpecification", "MetricDefinitions", index, "Name"),
            f"duplicate `{request.word('Name', 'name')}` of a metric: `{shown(name)}`",
            help="rename one of them, or use one expression with `|`",
        )


INEFFECTIVE_TIME_SERIES_SWITCH = Rule("SM338", "ineffective time series switch", "warning", evidence="api-doc")


def ineffective_time_series_switch(request: Request) -> Iterator[Finding]:
    """Warn about EnableSageMakerMetricsTimeSeries false together with something that enables it.

    Some jobs have time series of their metrics regardless of the switch.
    """
    if request.algorithm.get("EnableSageMakerMetricsTimeSeries") is not False:
        return
    image = request.image
    if items(request.algorithm, "MetricDefinitions"):
        cause = f"`{request.word('MetricDefinitions', 'metrics')}` is set"
    elif image and is_built_in_algorithm(image):
        cause = f"`{image.repository}` is a built-in algorithm"
    else:
        return
    yield INEFFECTIVE_TIME_SERIES_SWITCH.at(
        ("AlgorithmSpecification", "EnableSageMakerMetricsTimeSeries"),
        f"`EnableSageMakerMetricsTimeSeries: false` has no effect: {cause}",
        help="remove the member",
    )


RULES = {
    invalid_metric_regex: ("AlgorithmSpecification.MetricDefinitions",),
    metric_without_a_group: ("AlgorithmSpecification.MetricDefinitions",),
    metrics_of_a_built_in_algorithm: ("AlgorithmSpecification.MetricDefinitions",),
    repeated_metric: ("AlgorithmSpecification.MetricDefinitions",),
    ineffective_time_series_switch: ("AlgorithmSpecification.EnableSageMakerMetricsTimeSeries",),
}
