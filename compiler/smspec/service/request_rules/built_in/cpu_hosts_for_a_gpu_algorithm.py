"""Some built-in algorithms train on GPUs only."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.instances import instance
from smspec.service.request import Request

RULE = Rule("SM495", "CPU hosts for a GPU algorithm", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Reject instance types without a GPU for an algorithm that the guide lists with GPUs only."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or "cpu" in algorithm.devices:
        return
    kinds = [(path, kind, instance(kind)) for path, kind in request.instance_types]
    if kinds and all(facts is not None and facts.gpus == 0 for _, _, facts in kinds):
        path, kind, _ = kinds[0]
        yield RULE.at(
            path,
            f"{HERE} is `{kind}`, but `{algorithm.name}` requires GPUs",
            help="use a type with GPUs, such as `ml.g5.xlarge`",
        )
