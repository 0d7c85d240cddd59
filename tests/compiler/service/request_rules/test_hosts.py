"""ResourceConfig: instances and volumes."""

import pytest

from smspec.service.request_check import request_findings
from support.service.api_samples import ARN, changed
from support.service.request_cases import request_tests

PLAN = f"{ARN}:training-plan/plan"
KEY = "arn:aws:kms:us-west-2:111122223333:key/0123"


def hosts(kind="ml.m5.large", **members):
    """Return a request for one instance with a volume; None removes a member."""
    plain = {"InstanceType": kind, "InstanceCount": 1, "VolumeSizeInGB": 5 if kind == "ml.m5.large" else None}
    return {name: value for name, value in (plain | members).items() if value is not None}


def group(name="workers", kind="ml.m5.large", count=1):
    return {"InstanceType": kind, "InstanceCount": count, "InstanceGroupName": name}


def on(kind="ml.m5.large", **members):
    return changed(ResourceConfig=hosts(kind, **members))


def grouped(*groups, **members):
    return changed(ResourceConfig={"InstanceGroups": list(groups), "VolumeSizeInGB": 5} | members)


def spot(**parts):
    return changed(
        EnableManagedSpotTraining=True,
        StoppingCondition={"MaxRuntimeInSeconds": 3600, "MaxWaitTimeInSeconds": 3600},
        **parts,
    )


def placed(kind, *counts, hosts_in_all=2):
    specifications = [{"InstanceCount": count} for count in counts]
    return on(kind, InstanceCount=hosts_in_all, InstancePlacementConfig={"PlacementSpecifications": specifications})


HERE = "ResourceConfig"
PLACEMENTS = (HERE, "InstancePlacementConfig", "PlacementSpecifications")
ULTRA = "ml.p6e-gb200.36xlarge"

REPORTED = [
    (grouped(group(), InstanceType="ml.m5.large"), "SM425", (HERE, "InstanceType")),
    (grouped(group(), InstanceCount=1), "SM425", (HERE, "InstanceCount")),
    (on(InstanceType=None), "SM426", (HERE, "InstanceType")),
    (on(InstanceCount=None), "SM427", (HERE, "InstanceCount")),
    (on(InstanceCount=0), "SM428", (HERE, "InstanceCount")),
    (grouped(group(count=0)), "SM428", (HERE, "InstanceGroups", 0, "InstanceCount")),
    (on(SelectedInstanceType="ml.m5.large"), "SM434", (HERE, "SelectedInstanceType")),
    (grouped(group(), group("others"), group()), "SM456", (HERE, "InstanceGroups", 2, "InstanceGroupName")),
    (on(VolumeSizeInGB=None), "SM457", (HERE, "VolumeSizeInGB")),
    (on(VolumeSizeInGB=0), "SM457", (HERE, "VolumeSizeInGB")),
    (grouped(group(kind="ml.g5.xlarge"), group("others"), VolumeSizeInGB=0), "SM457", (HERE, "VolumeSizeInGB")),
    (on("ml.g5.xlarge", VolumeKmsKeyId=KEY), "SM458", (HERE, "VolumeKmsKeyId")),
    (on("ml.g5.xlarge", VolumeKmsKeyId="alias/volumes"), "SM458", (HERE, "VolumeKmsKeyId")),
    (spot(ResourceConfig=hosts(KeepAlivePeriodInSeconds=60)), "SM459", (HERE, "KeepAlivePeriodInSeconds")),
    (grouped(group(), KeepAlivePeriodInSeconds=60), "SM460", (HERE, "KeepAlivePeriodInSeconds")),
    (placed("ml.g5.xlarge", 1), "SM461", (HERE, "InstancePlacementConfig")),
    (placed(ULTRA, 1, 0), "SM462", (*PLACEMENTS, 1, "InstanceCount")),
    (on("ml.g5.xlarge", VolumeSizeInGB=50), "SM347", (HERE, "VolumeSizeInGB")),
    (on(VolumeKmsKeyId="alias/volumes"), "SM348", (HERE, "VolumeKmsKeyId")),
    (on(VolumeKmsKeyId="arn:aws:kms:us-west-2:111122223333:alias/volumes"), "SM348", (HERE, "VolumeKmsKeyId")),
    (on(KeepAlivePeriodInSeconds=3601), "SM349", (HERE, "KeepAlivePeriodInSeconds")),
    (on(KeepAlivePeriodInSeconds=21_601), "SM409", (HERE, "KeepAlivePeriodInSeconds")),
    (spot(ResourceConfig=hosts(TrainingPlanArn=PLAN)), "SM350", (HERE, "TrainingPlanArn")),
    (
        spot(ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.g5.xlarge", "TrainingPlanArns": [PLAN]}]}),
        "SM350",
        (HERE, "InstancePreferences", 0, "TrainingPlanArns"),
    ),
    (placed(ULTRA, 1, 2), "SM351", PLACEMENTS),
    (on("ml.t3.medium", VolumeSizeInGB=5), "SM352", (HERE, "InstanceType")),
]

ACCEPTED = [
    on(),
    grouped(group(), group("others")),
    on("ml.g5.xlarge"),
    on("ml.g7.2xlarge"),
    on("ml.g7.2xlarge", VolumeSizeInGB=5, VolumeKmsKeyId=KEY),
    on(VolumeSizeInGB=1),
    on(VolumeKmsKeyId=KEY),
    on("ml.g5.xlarge", VolumeKmsKeyId=""),
    grouped(group(kind="ml.g5.xlarge"), VolumeSizeInGB=0),
    grouped(group(kind="ml.g5.xlarge"), group("others"), VolumeKmsKeyId=KEY),
    changed(ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.m5.large"}], "VolumeSizeInGB": 5}),
    changed(
        ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.g5.xlarge"}, {"InstanceType": "ml.m5.large"}]}
    ),
    on(KeepAlivePeriodInSeconds=3600),
    spot(ResourceConfig=hosts(KeepAlivePeriodInSeconds=0)),
    grouped(group(), KeepAlivePeriodInSeconds=0),
    placed(ULTRA, 1, 1),
    placed("ml.trn2.48xlarge", 2),
    on(TrainingPlanArn=PLAN),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


@pytest.mark.parametrize("kind", ["ml.p9.48xlarge", "ml.p6e-gb300.36xlarge"])
def test_unknown_instance_type_skips_volume_rules(kind):
    found = request_findings(placed(kind, 1)) + request_findings(on(kind, VolumeSizeInGB=1, VolumeKmsKeyId=KEY))
    assert {finding.code for finding in found} == {"SM413"}


@pytest.mark.parametrize(("in_spec_words", "word"), [(False, "`VolumeSizeInGB`"), (True, "`hosts.volume`")])
def test_missing_member_is_named_as_in_the_input(in_spec_words, word):
    (finding,) = request_findings(on(VolumeSizeInGB=None), in_spec_words=in_spec_words)
    assert word in finding.help
