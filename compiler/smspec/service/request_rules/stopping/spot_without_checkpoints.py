"""An interrupted job without checkpoints starts from scratch."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import Finding, Rule
from smspec.service.provided_images import is_algorithm_without_checkpoints
from smspec.service.request import Request

RULE = Rule("SM354", "managed spot without checkpoints", "warning", evidence="devguide")
AN_HOUR = 3_600


def check(request: Request) -> Iterator[Finding]:
    """Warn about a spot job of more than an hour that saves nothing."""
    run = request.max_runtime
    if not request.uses_spot or request.is_serverless or "CheckpointConfig" in request.payload:
        return
    # A different rule limits the time of an algorithm that writes no checkpoints.
    if request.image and is_algorithm_without_checkpoints(request.image):
        return
    if run is not None and run > AN_HOUR:
        checkpoints = request.word("CheckpointConfig", "checkpoints")
        yield RULE.at(
            ("CheckpointConfig",),
            f"`{checkpoints}` is not set: a spot job starts from scratch after each interruption",
            help=f"set `{checkpoints}`",
            on="key",
            cause=("EnableManagedSpotTraining",),
        )
