"""Members that every request needs."""

from support.service.api_samples import HUB, changed
from support.service.request_cases import request_tests

SERVERLESS = {"BaseModelArn": f"{HUB}/Model/sample", "JobType": "FineTuning", "CustomizationTechnique": "SFT"}

REPORTED = [
    (changed(**{name: None}), code, (name,))
    for name, code in (
        ("AlgorithmSpecification", "SM420"),
        ("ResourceConfig", "SM421"),
        ("StoppingCondition", "SM422"),
    )
]

ACCEPTED = [
    changed(),
    changed(StoppingCondition={}),
    changed(AlgorithmSpecification=None, ResourceConfig=None, StoppingCondition=None, ServerlessJobConfig=SERVERLESS),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)
