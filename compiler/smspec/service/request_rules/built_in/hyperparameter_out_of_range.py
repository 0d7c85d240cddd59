"""A built-in algorithm checks the ranges of its hyperparameters."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.built_in_ranges import out_of_range
from smspec.service.member_names import shown
from smspec.service.request import Request

RULE = Rule("SM498", "hyperparameter out of range", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a number that is outside of the range of the guide and of that of the SDK."""
    algorithm = built_in_algorithm(request)
    for each in out_of_range(request, algorithm) if algorithm else ():
        if algorithm and each.outside == "both":
            yield RULE.at(
                ("HyperParameters", each.name),
                f"{HERE} is {shown(each.value)}; `{algorithm.name}` requires {each.limit}",
                help="change the value",
            )
