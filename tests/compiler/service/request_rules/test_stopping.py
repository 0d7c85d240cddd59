"""StoppingCondition and managed spot training."""

import pytest

from smspec.service.request_rules import request_findings
from support.service.api_samples import OF_AN_ALGORITHM, changed
from support.service.request_cases import request_tests

ALGORITHMS = "174872318107.dkr.ecr.us-west-2.amazonaws.com"
XGBOOST = "433757028032.dkr.ecr.us-west-2.amazonaws.com/xgboost"
CHECKPOINTS = {"S3Uri": "s3://example-models/checkpoints/"}


def stopping(**seconds):
    return changed(StoppingCondition=seconds)


def spot(run=3600, wait=3600, **parts):
    """Return a request for spot hosts; None leaves a limit out."""
    limits = {"MaxRuntimeInSeconds": run, "MaxWaitTimeInSeconds": wait}
    return changed(
        EnableManagedSpotTraining=True,
        StoppingCondition={name: seconds for name, seconds in limits.items() if seconds is not None},
        **parts,
    )


def algorithm(image):
    return {"TrainingImage": image, "TrainingInputMode": "File"}


RUN, WAIT = ("StoppingCondition", "MaxRuntimeInSeconds"), ("StoppingCondition", "MaxWaitTimeInSeconds")

REPORTED = [
    (stopping(MaxWaitTimeInSeconds=90_000), "SM463", WAIT),
    (changed(StoppingCondition={"MaxWaitTimeInSeconds": 90_000}, EnableManagedSpotTraining=False), "SM463", WAIT),
    (spot(wait=None), "SM464", WAIT),
    (spot(wait=3599), "SM465", WAIT),
    (spot(run=None, wait=86_399, CheckpointConfig=CHECKPOINTS), "SM465", WAIT),
    (spot(wait=0), "SM408", WAIT),
    (stopping(MaxRuntimeInSeconds=2_419_201), "SM466", RUN),
    (
        spot(
            wait=3601,
            CheckpointConfig=CHECKPOINTS,
            **OF_AN_ALGORITHM,
            AlgorithmSpecification=algorithm(f"{ALGORITHMS}/kmeans:1"),
        ),
        "SM467",
        WAIT,
    ),
    (spot(wait=3601, **OF_AN_ALGORITHM, AlgorithmSpecification=algorithm(f"{XGBOOST}:1")), "SM467", WAIT),
    # What writes no checkpoints is not told to keep them.
    (
        spot(run=7200, wait=7200, **OF_AN_ALGORITHM, AlgorithmSpecification=algorithm(f"{ALGORITHMS}/kmeans:1")),
        "SM467",
        WAIT,
    ),
    (stopping(MaxRuntimeInSeconds=432_001), "SM353", RUN),
    (spot(run=3601, wait=3601), "SM354", ("CheckpointConfig",)),
]

ACCEPTED = [
    stopping(),
    stopping(MaxRuntimeInSeconds=432_000),
    spot(),
    spot(wait=3601),
    spot(run=3601, wait=3601, CheckpointConfig=CHECKPOINTS),
    spot(run=None, wait=86_400, CheckpointConfig=CHECKPOINTS),
    spot(**OF_AN_ALGORITHM, AlgorithmSpecification=algorithm(f"{ALGORITHMS}/kmeans:1")),
    spot(
        wait=7200,
        **OF_AN_ALGORITHM,
        AlgorithmSpecification=algorithm("111122223333.dkr.ecr.us-west-2.amazonaws.com/kmeans:1"),
    ),
    spot(
        wait=7200,
        **OF_AN_ALGORITHM,
        AlgorithmSpecification=algorithm("246618743249.dkr.ecr.us-west-2.amazonaws.com/sagemaker-xgboost:1.5-1"),
    ),
    changed(**OF_AN_ALGORITHM, AlgorithmSpecification=algorithm(f"{ALGORITHMS}/kmeans:1"), StoppingCondition={}),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


def test_algorithm_with_checkpoints_may_wait_longer():
    image = algorithm("433757028032.dkr.ecr.us-west-2.amazonaws.com/object-detection:1")
    assert "SM467" not in {f.code for f in request_findings(spot(wait=7200, AlgorithmSpecification=image))}


def test_runtime_of_28_days_is_a_warning():
    (finding,) = request_findings(stopping(MaxRuntimeInSeconds=2_419_200))
    assert (finding.code, finding.severity) == ("SM353", "warning")


@pytest.mark.parametrize(("run", "is_default"), [(None, True), (86_400, True), (86_401, False)])
def test_default_of_a_day_is_mentioned(run, is_default):
    (finding,) = request_findings(spot(run=run, wait=28_800, CheckpointConfig=CHECKPOINTS), in_spec_words=True)
    assert finding.message.endswith("1d (the default)" if is_default else "86401s")
    assert "`stopping.max_runtime`" in finding.help


def test_times_are_formatted_as_in_the_input():
    request = spot(run=86_400, wait=5_400, CheckpointConfig=CHECKPOINTS)
    (raw,) = request_findings(request)
    (written,) = request_findings(request, in_spec_words=True)
    assert "5,400 s" in raw.message and "5,400 s" in raw.help
    assert "90m" in written.message and "90m" in written.help
