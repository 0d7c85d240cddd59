"""The log is searched with the regular expression: one that cannot be parsed finds nothing."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.metric_pattern import metric_patterns
from smspec.service.request import Request

RULE = Rule("SM442", "invalid metric regex", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Reject a regular expression that no engine accepts."""
    for path, pattern in metric_patterns(request):
        if pattern.fault is not None:
            yield RULE.at(
                path,
                f"{HERE} is not a regular expression: {pattern.fault}",
                help="fix the expression, or escape the character with `\\`",
            )
