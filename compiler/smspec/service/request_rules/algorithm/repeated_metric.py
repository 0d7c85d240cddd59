"""Two metrics of one name become one curve."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.member_names import shown
from smspec.service.members import items, repeated
from smspec.service.request import Request

RULE = Rule("SM335", "repeated metric", "warning", evidence="inferred")


def check(request: Request) -> Iterator[Finding]:
    """Warn of two metric definitions with one name."""
    for index, name in repeated(items(request.algorithm, "MetricDefinitions"), "Name"):
        yield RULE.at(
            ("AlgorithmSpecification", "MetricDefinitions", index, "Name"),
            f"metric `{shown(name)}` is defined twice: its values are mixed up",
            help="give it a name of its own, or join the two expressions with `|`",
        )
