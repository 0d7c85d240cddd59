"""A built-in algorithm fails without the hyperparameters that it requires."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.members import structure
from smspec.service.request import Request

RULE = Rule("SM497", "missing hyperparameter of a built-in algorithm", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject a request without a hyperparameter that the guide lists as required without conditions."""
    algorithm = built_in_algorithm(request)
    if algorithm is None:
        return
    passed = structure(request.payload, "HyperParameters")
    required = dict.fromkeys(row.name for row in algorithm.hyperparameters if row.is_required)
    for name in required:
        if name not in passed:
            word = request.word("HyperParameters", "hyperparameters")
            yield RULE.at(
                ("HyperParameters", name),
                f"`{word}.{name}` is not set; `{algorithm.name}` requires it",
                help=f"add `{name}` to `{word}`",
                on="key",
            )
