"""A GPU image on CPU instances computes on the CPU at best; a CPU image leaves GPUs idle that are paid for."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.processors import processors
from smspec.service.provided_images import is_built_in_algorithm
from smspec.service.request import IMAGE, Request

RULE = Rule("SM386", "GPU image on CPU instances, or the reverse", "warning", evidence="policy")


def check(request: Request) -> Iterator[Finding]:
    """Warn about a GPU image if no instance has a GPU, and about a CPU image if all instances have."""
    image, reference = request.provided_image, request.image
    # The instances of built-in algorithms are a matter of the algorithm.
    if image is None or reference is None or is_built_in_algorithm(reference):
        return
    hosts = processors(kind for _, kind in request.instance_types)
    if image.processors == {"gpu"} and hosts == {"cpu"}:
        yield RULE.at(
            IMAGE,
            f"{HERE} is a GPU image, but no instance of the job has a GPU",
            help="use the CPU image, or an instance type with GPUs, such as `ml.g5.xlarge`",
        )
    elif image.processors == {"cpu"} and hosts == {"gpu"}:
        yield RULE.at(
            IMAGE,
            f"{HERE} is a CPU image, so it might not use the GPUs of the instances",
            help="use the GPU image, or an instance type without GPUs, such as `ml.c5.xlarge`",
        )
