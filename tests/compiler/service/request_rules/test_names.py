"""Tags, environment variables and experiments."""

import pytest

from api_samples import changed
from smspec.service.checking import request_findings


def tagged(*keys):
    return changed(Tags=[{"Key": key, "Value": "x"} for key in keys])


def told(name):
    return changed(Environment={name: "x"})


TOLD = [
    (tagged("a", "a"), "SM429", ("Tags", 1, "Key")),
    (tagged("team", "aws:team"), "SM476", ("Tags", 1, "Key")),
    (tagged("AWS:team"), "SM476", ("Tags", 0, "Key")),
    (changed(ExperimentConfig={"RunName": "first"}), "SM369", ("ExperimentConfig", "ExperimentName")),
    *(
        (told(name), "SM370", ("Environment", name))
        for name in ("TRAINING_JOB_NAME", "TRAINING_JOB_ARN", "AWS_REGION", "SM_HOSTS", "SM_MODEL_DIR")
    ),
]

SILENT = [
    tagged("a", "A"),
    tagged("awesome", "team:aws:"),
    changed(ExperimentConfig={"RunName": "first", "ExperimentName": "clicks"}),
    changed(ExperimentConfig={"TrialName": "first"}),
    told("AWS_DEFAULT_REGION"),
    told("SMDEBUG"),
    told("NCCL_DEBUG"),
]


@pytest.mark.parametrize(("request_", "code", "path"), TOLD, ids=[code for _, code, _ in TOLD])
def test_it_is_told_at_the_place_of_the_fault(request_, code, path):
    assert [(finding.code, finding.path) for finding in request_findings(request_)] == [(code, path)]


@pytest.mark.parametrize("request_", SILENT)
def test_its_neighbours_are_not(request_):
    assert request_findings(request_) == []
