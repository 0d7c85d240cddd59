"""The value of a metric is what the capture group of its regular expression matches."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.metric_pattern import metric_patterns
from smspec.service.request import Request

RULE = Rule("SM336", "metric without a capture group", "warning", evidence="api-doc")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a regular expression without a capture group."""
    for path, pattern in metric_patterns(request):
        if pattern.fault is None and not pattern.groups:
            yield RULE.at(
                path,
                f"`{request.word('Regex', 'regex')}` has no capture group for the value of the metric",
                help="add parentheses around the number, as in `loss=([0-9.]+)`",
            )
