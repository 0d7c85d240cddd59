"""Some built-in algorithms do not use GPUs."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.built_in_algorithm import built_in_algorithm
from smspec.service.facts.instances import instance
from smspec.service.request import Request

RULE = Rule("SM396", "GPU hosts for a CPU algorithm", "warning", evidence="devguide")


def check(request: Request) -> Iterator[Finding]:
    """Warn about instance types with GPUs for an algorithm that the guide lists with CPUs only."""
    algorithm = built_in_algorithm(request)
    if algorithm is None or "gpu" in algorithm.devices:
        return
    kinds = [(path, kind, instance(kind)) for path, kind in request.instance_types]
    if kinds and all(facts is not None and facts.gpus for _, _, facts in kinds):
        path, kind, _ = kinds[0]
        yield RULE.at(
            path,
            f"{HERE} is `{kind}`, but `{algorithm.name}` does not use GPUs",
            help="use a type without GPUs, such as `ml.c5.xlarge`",
        )
