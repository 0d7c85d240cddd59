"""What every request has to have."""

from support.service.api_samples import HUB, changed
from support.service.request_verdicts import verdict_tests

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

test_it_is_told_at_the_place_of_the_fault, test_its_neighbours_are_not = verdict_tests(TOLD, SILENT)
