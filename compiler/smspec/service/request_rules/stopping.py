"""StoppingCondition and managed spot training."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.diagnostics import HERE, Finding, Rule
from smspec.service.image_reference import ImageReference
from smspec.service.request import DEFAULT_MAX_RUNTIME, Request
from smspec.service.shapes import structure

LONG_WAIT_OF_AN_ALGORITHM_WITHOUT_CHECKPOINTS = Rule(
    "SM467", "long wait time of an algorithm without checkpoints", evidence="devguide", needs_every_layer=True
)

_LONGEST_WAIT = 3_600


def long_wait_of_an_algorithm_without_checkpoints(request: Request) -> Iterator[Finding]:
    """Reject a spot job of more than an hour with a built-in algorithm that writes no checkpoints.

    An algorithm that does not save its state can use spot instances for an hour at most.
    """
    wait, image = request.max_wait, request.image
    if request.uses_spot and wait is not None and wait > _LONGEST_WAIT and image and _writes_no_checkpoints(image):
        yield LONG_WAIT_OF_AN_ALGORITHM_WITHOUT_CHECKPOINTS.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"{HERE} is {request.time(wait)}; the maximum for `{image.repository}` is {request.time(_LONGEST_WAIT)} "
            "(no checkpoints)",
            help=f"set it to {request.time(_LONGEST_WAIT)} or less, or remove managed spot training",
        )


MAX_RUNTIME_ABOVE_THE_DEFAULT_QUOTA = Rule(
    "SM353", "maximum runtime above the default quota", "warning", evidence="unverified"
)

DEFAULT_QUOTA = 5 * 86_400


def max_runtime_above_the_default_quota(request: Request) -> Iterator[Finding]:
    """Warn about a MaxRuntimeInSeconds above the default quota.

    An account can run jobs for five days unless AWS raises its quota.
    """
    run = request.max_runtime
    if run is not None and DEFAULT_QUOTA < run <= _LONGEST_RUN:
        yield MAX_RUNTIME_ABOVE_THE_DEFAULT_QUOTA.at(
            ("StoppingCondition", "MaxRuntimeInSeconds"),
            f"`{request.word('MaxRuntimeInSeconds', 'stopping.max_runtime')}` is {request.time(run)}, above "
            "the default quota of 5 days",
            help="check the quota “Longest run time for a training job” of the account",
        )


MAX_WAIT_BELOW_MAX_RUNTIME = Rule("SM465", "maximum wait time below the maximum runtime", evidence="api-doc")


def max_wait_below_max_runtime(request: Request) -> Iterator[Finding]:
    """Reject a MaxWaitTimeInSeconds below MaxRuntimeInSeconds. Equal ones are accepted.

    MaxWaitTimeInSeconds covers both the wait for spot capacity and the run.
    """
    wait, run = request.max_wait, request.max_runtime
    if not request.uses_spot or wait is None or run is None or not 0 < wait < run:
        return
    longest = request.word("MaxRuntimeInSeconds", "stopping.max_runtime")
    which = " (the default)" if run == DEFAULT_MAX_RUNTIME else ""
    yield MAX_WAIT_BELOW_MAX_RUNTIME.at(
        ("StoppingCondition", "MaxWaitTimeInSeconds"),
        f"{HERE} is {request.time(wait)}, but `{longest}` is {request.time(run)}{which}",
        help=f"set `{longest}` to {request.time(wait)} or less, or raise this to {request.time(run)} or more",
    )


MAX_WAIT_WITHOUT_SPOT = Rule(
    "SM463", "maximum wait time without managed spot", evidence="service-message", needs_every_layer=True
)


def max_wait_without_spot(request: Request) -> Iterator[Finding]:
    """Reject MaxWaitTimeInSeconds where managed spot training is not on.

    Only a spot job waits for capacity.
    """
    if "MaxWaitTimeInSeconds" in structure(request.payload, "StoppingCondition") and not request.uses_spot:
        spot = request.word("EnableManagedSpotTraining: true", "spot: {max_wait: …}")
        yield MAX_WAIT_WITHOUT_SPOT.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"{HERE} requires managed spot training",
            help=f"remove it, or set `{spot}`",
            on="key",
        )


OVERLONG_MAX_RUNTIME = Rule("SM466", "maximum runtime of more than 28 days", evidence="api-doc")

_LONGEST_RUN = 28 * 86_400


def overlong_max_runtime(request: Request) -> Iterator[Finding]:
    """Reject a MaxRuntimeInSeconds above the limit of SageMaker.

    No training job runs longer than 28 days.
    """
    run = request.max_runtime
    if run is not None and run > _LONGEST_RUN:
        yield OVERLONG_MAX_RUNTIME.at(
            ("StoppingCondition", "MaxRuntimeInSeconds"),
            f"{HERE} is {request.time(run)}; the maximum is {request.time(_LONGEST_RUN)}",
            help="use checkpoints, and continue in a second job",
        )


SPOT_WITHOUT_CHECKPOINTS = Rule("SM354", "managed spot without checkpoints", "warning", evidence="devguide")

_AN_HOUR = 3_600


def spot_without_checkpoints(request: Request) -> Iterator[Finding]:
    """Warn about a spot job of more than an hour that saves nothing.

    An interrupted job without checkpoints starts from scratch.
    """
    run = request.max_runtime
    if not request.uses_spot or request.is_serverless or "CheckpointConfig" in request.payload:
        return
    # A different rule limits the time of an algorithm that writes no checkpoints.
    if request.image and _writes_no_checkpoints(request.image):
        return
    if run is not None and run > _AN_HOUR:
        checkpoints = request.word("CheckpointConfig", "checkpoints")
        yield SPOT_WITHOUT_CHECKPOINTS.at(
            ("CheckpointConfig",),
            f"`{checkpoints}` is not set: a spot job starts from scratch after each interruption",
            help=f"set `{checkpoints}`",
            on="key",
            cause=("EnableManagedSpotTraining",),
        )


def _writes_no_checkpoints(image: ImageReference) -> bool:
    # Imported late: it reads the tables of images.
    from smspec.service.provided_images import is_algorithm_without_checkpoints

    return is_algorithm_without_checkpoints(image)


SPOT_WITHOUT_MAX_WAIT = Rule(
    "SM464", "managed spot without a maximum wait time", evidence="devguide", needs_every_layer=True
)


def spot_without_max_wait(request: Request) -> Iterator[Finding]:
    """Reject managed spot training without MaxWaitTimeInSeconds.

    A spot job must set how long it may wait and run.
    """
    if not request.uses_spot or request.is_serverless:
        return
    if "MaxWaitTimeInSeconds" not in structure(request.payload, "StoppingCondition"):
        wait = request.word("StoppingCondition.MaxWaitTimeInSeconds", "spot.max_wait")
        yield SPOT_WITHOUT_MAX_WAIT.at(
            ("StoppingCondition", "MaxWaitTimeInSeconds"),
            f"`{wait}` is not set",
            help=f"set `{wait}` to the maximum runtime or more",
            on="key",
        )


RULES = {
    long_wait_of_an_algorithm_without_checkpoints: ("EnableManagedSpotTraining",),
    max_runtime_above_the_default_quota: ("StoppingCondition.MaxRuntimeInSeconds",),
    max_wait_below_max_runtime: ("EnableManagedSpotTraining",),
    max_wait_without_spot: ("StoppingCondition.MaxWaitTimeInSeconds",),
    overlong_max_runtime: ("StoppingCondition.MaxRuntimeInSeconds",),
    spot_without_checkpoints: ("EnableManagedSpotTraining",),
    spot_without_max_wait: ("EnableManagedSpotTraining",),
}
