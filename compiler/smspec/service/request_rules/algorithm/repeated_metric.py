"""Two metrics of one name become one curve."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM335", "repeated metric", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn about two metric definitions with one name."""
    for index, name in repeated(items(request.algorithm, "MetricDefinitions"), "Name"):
        yield RULE.at(
            ("AlgorithmSpecification", "MetricDefinitions", index, "Name"),
            f"duplicate `{request.word('Name', 'name')}` of a metric: `{shown(name)}`",
            help="rename one of them, or use one expression with `|`",
        )
