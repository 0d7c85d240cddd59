"""An algorithm that does not save its state can use spot instances for an hour at most."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.provided_images import is_algorithm_without_checkpoints
from smspec.service.request import Request

RULE = Rule("SM467", "long wait time of an algorithm without checkpoints", evidence="devguide")
LONGEST = 3_600


def check(request: Request) -> Iterator[Finding]:
    """Reject a spot job of more than an hour with a built-in algorithm that writes no checkpoints."""
    wait, image = request.max_wait, request.image
    if request.uses_spot and wait is not None and wait > LONGEST and image and is_algorithm_without_checkpoints(image):
        yield RULE.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"{HERE} is {request.time(wait)}; the maximum for `{image.repository}` is {request.time(LONGEST)} "
            "(no checkpoints)",
            help=f"set it to {request.time(LONGEST)} or less, or remove managed spot training",
        )
