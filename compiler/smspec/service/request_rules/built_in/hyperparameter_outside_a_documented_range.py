"""The guide and the SDK disagree on some ranges of hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.built_in_ranges import out_of_range
from smspec.service.facts.algorithms import as_of
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM399", "hyperparameter outside a documented range", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a number that only one of the two sources excludes."""
    algorithm = built_in_algorithm(request)
    for each in out_of_range(request, algorithm) if algorithm else ():
        if algorithm and each.outside == "one":
            yield RULE.at(
                ("HyperParameters", each.name),
                f"{HERE} is {shown(each.value)}; documented for `{algorithm.name}`: {each.limit}, {as_of()}",
                help="change the value, or check it in the guide",
            )
