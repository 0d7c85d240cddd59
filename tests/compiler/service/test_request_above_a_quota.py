"""Requests against the quotas of an account."""

import pytest

from smspec.service.policy import Policy, Quotas, RegionQuotas
from smspec.service.policy_rules.limits import request_above_a_quota, without_the_default
from smspec.service.request import Request
from smspec.service.request_rules import request_findings

TYPE = "ml.g5.xlarge"
ON_DEMAND = f"{TYPE} for training job usage"
SPOT = f"{TYPE} for spot training job usage"
WARM = f"{TYPE} for training warm pool usage"
VOLUME = "Size of EBS volume for a training job instance"
RUNTIME = "Longest run time for a training job"


def request(region="us-west-2", account="111122223333", groups=(), **members):
    hosts = {"InstanceType": TYPE, "InstanceCount": 4, "VolumeSizeInGB": 100}
    if groups:
        hosts = {
            "InstanceGroups": [{"InstanceGroupName": n, "InstanceType": k, "InstanceCount": c} for n, k, c in groups]
        }
    payload = {
        "RoleArn": f"arn:aws:iam::{account}:role/r",
        "ResourceConfig": {**hosts, **members.pop("hosts", {})},
        "StoppingCondition": {"MaxRuntimeInSeconds": 6 * 86_400},
        **members,
    }
    return Request(payload=payload, region=region, in_spec_words=True)


def policy(quotas):
    known = RegionQuotas(as_of="2026-11-23", training=quotas)
    return Policy(path="", quotas=Quotas(accounts={"111122223333": {"us-west-2": known}}))


def found(request, quotas):
    return [(finding.path[-1], finding.message) for finding in request_above_a_quota(request, policy(quotas))]


PLAN = {"TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p"}
GROUPS = (("a", TYPE, 2), ("b", "ml.m5.large", 2), ("c", TYPE, 2))


@pytest.mark.parametrize(
    ("asked", "quotas", "expected"),
    [
        (request(), {ON_DEMAND: 3}, ("InstanceCount", "is 4, above the quota of 3 as of 2026-11-23")),
        (request(), {ON_DEMAND: 0}, ("InstanceCount", "is 4, above the quota of 0 as of 2026-11-23")),
        (request(), {ON_DEMAND: 4}, None),
        (request(), {SPOT: 0, WARM: 0}, None),
        (
            request(EnableManagedSpotTraining=True),
            {SPOT: 0, ON_DEMAND: 4},
            ("InstanceCount", "is 4, above the quota of 0"),
        ),
        (request(EnableManagedSpotTraining=True), {ON_DEMAND: 0}, None),
        (request(hosts={"KeepAlivePeriodInSeconds": 60}), {WARM: 1}, ("InstanceCount", "is 4, above the quota of 1")),
        (request(groups=GROUPS), {ON_DEMAND: 3}, ("InstanceCount", "have 4 `ml.g5.xlarge`, above the quota of 3")),
        (request(groups=GROUPS), {ON_DEMAND: 4}, None),
        (
            request(groups=GROUPS),
            {"Maximum number of instances per training job": 5},
            ("InstanceGroups", "has 6 instances, above the quota of 5"),
        ),
        (
            request(),
            {"Number of instances across all training jobs": 3},
            ("InstanceCount", "is 4, above the quota of 3"),
        ),
        (request(), {"Number of instances across all spot training jobs": 3}, None),
        (request(), {RUNTIME: 432_000}, ("MaxRuntimeInSeconds", "is 6d, above the quota of 5d as of 2026-11-23")),
        (request(), {RUNTIME: 518_400}, None),
        (request(), {VOLUME: 99}, None),
        (
            request(hosts={"InstanceType": "ml.c5.xlarge"}),
            {VOLUME: 99},
            ("VolumeSizeInGB", "is 100 GB, above the quota of 99 GB as of 2026-11-23"),
        ),
        (request(hosts=PLAN), {ON_DEMAND: 0}, None),
        (request(region="eu-west-1"), {ON_DEMAND: 0}, None),
        (request(account="444455556666"), {ON_DEMAND: 0}, None),
        (request(region=None), {ON_DEMAND: 0}, None),
        (request(hosts={"InstanceCount": "4"}), {ON_DEMAND: 0}, None),
    ],
    ids=[
        "above",
        "above zero",
        "at the quota",
        "quotas of others",
        "spot",
        "on demand for spot",
        "warm",
        "groups",
        "groups at the quota",
        "instances of groups",
        "all jobs",
        "spot for on demand",
        "runtime",
        "runtime at the quota",
        "volume of local disks",
        "volume",
        "plan",
        "other region",
        "other account",
        "no region",
        "text as count",
    ],
)
def test_only_what_is_above_a_quota_is_reported(asked, quotas, expected):
    findings = found(asked, quotas)
    assert [path for path, _ in findings] == ([] if expected is None else [expected[0]])
    assert all(expected[1] in message for _, message in findings)


@pytest.mark.parametrize(("quotas", "is_reported"), [({RUNTIME: 10**6}, False), ({ON_DEMAND: 4}, True)])
def test_known_quota_replaces_the_default(quotas, is_reported):
    asked = request()
    findings = without_the_default(request_findings(asked.payload, region="us-west-2"), asked, policy(quotas))
    assert ("SM353" in {finding.code for finding in findings}) == is_reported
