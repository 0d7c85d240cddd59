"""What every request has to have."""

import pytest

from api_samples import HUB, changed
from smspec.service.checking import request_findings

SERVERLESS = {"BaseModelArn": f"{HUB}/Model/sample", "JobType": "FineTuning", "CustomizationTechnique": "SFT"}

TOLD = [
    (changed(**{name: None}), code, (name,))
    for name, code in (
        ("AlgorithmSpecification", "SM420"),
        ("ResourceConfig", "SM421"),
        ("StoppingCondition", "SM422"),
    )
]

SILENT = [
    changed(),
    changed(StoppingCondition={}),
    changed(AlgorithmSpecification=None, ResourceConfig=None, StoppingCondition=None, ServerlessJobConfig=SERVERLESS),
]


@pytest.mark.parametrize(("request_", "code", "path"), TOLD, ids=[code for _, code, _ in TOLD])
def test_it_is_told_at_the_place_of_the_fault(request_, code, path):
    assert [(finding.code, finding.path) for finding in request_findings(request_)] == [(code, path)]


@pytest.mark.parametrize("request_", SILENT)
def test_its_neighbours_are_not(request_):
    assert request_findings(request_) == []
