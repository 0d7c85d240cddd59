"""ResourceConfig: instances and volumes."""

import pytest

from smspec.service.request_rules import request_findings
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


def grouped(*groups, HyperParameters=None, **members):
    resources = {"InstanceGroups": list(groups), "VolumeSizeInGB": 5} | members
    return changed(ResourceConfig=resources, HyperParameters=HyperParameters)


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

HP, SMSPEC = "HyperParameters", "sagemaker_smspec"
PROCESSES = "sagemaker_mpi_num_of_processes_per_host"
DATA_PARALLEL = {"sagemaker_distributed_dataparallel_enabled": "true"}


def mpi(processes):
    return {"sagemaker_mpi_enabled": "true", PROCESSES: processes}


def smspec(processes):
    return {SMSPEC: f'{{"launcher":{{"processes_per_host":{processes}}}}}'}


def launched(kind, hyperparameters, **members):
    return changed(ResourceConfig=hosts(kind, **members), HyperParameters=hyperparameters)


def with_pytorch(tag, account="763104351884"):
    image = f"{account}.dkr.ecr.us-west-2.amazonaws.com/pytorch-training:{tag}"
    return launched("ml.p4d.24xlarge", DATA_PARALLEL) | {
        "AlgorithmSpecification": {"TrainingImage": image, "TrainingInputMode": "File"}
    }


def in_vpc(kind, count):
    return on(kind, InstanceCount=count) | {"VpcConfig": {"Subnets": ["subnet-0a"], "SecurityGroupIds": ["sg-0a"]}}


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
    (spot(ResourceConfig=hosts("ml.p5.48xlarge", TrainingPlanArn=PLAN)), "SM350", (HERE, "TrainingPlanArn")),
    (
        changed(
            ResourceConfig={
                "InstancePreferences": [
                    {"InstanceType": "ml.p5.48xlarge", "TrainingPlanArns": [PLAN]},
                    {"InstanceType": "ml.g5.xlarge", "TrainingPlanArns": [PLAN]},
                ]
            }
        ),
        "SM824",
        (HERE, "InstancePreferences", 1, "TrainingPlanArns"),
    ),
    (on(InstancePreferences=[{"InstanceType": "ml.m5.large"}]), "SM825", (HERE, "InstanceType")),
    (
        changed(
            ResourceConfig={
                "TrainingPlanArn": PLAN,
                "InstancePreferences": [{"InstanceType": "ml.p5.48xlarge", "TrainingPlanArns": [PLAN]}],
            }
        ),
        "SM825",
        (HERE, "TrainingPlanArn"),
    ),
    (
        spot(ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.m5.large"}], "VolumeSizeInGB": 5}),
        "SM825",
        ("EnableManagedSpotTraining",),
    ),
    (placed(ULTRA, 1, 2), "SM351", PLACEMENTS),
    (on("ml.t3.medium", VolumeSizeInGB=5), "SM352", (HERE, "InstanceType")),
    (launched("ml.g5.xlarge", smspec(8)), "SM389", (HP, SMSPEC, "launcher", "processes_per_host")),
    (launched("ml.p3.8xlarge", mpi("8"), VolumeSizeInGB=5), "SM389", (HP, PROCESSES)),
    (launched("ml.trn1.2xlarge", mpi("3")), "SM389", (HP, PROCESSES)),
    (launched("ml.m5.large", mpi("3")), "SM389", (HP, PROCESSES)),
    (grouped(group(), group("gpus", "ml.g5.2xlarge"), HyperParameters=mpi("2")), "SM389", (HP, PROCESSES)),
    (launched("ml.g5.xlarge", DATA_PARALLEL), "SM491", (HERE, "InstanceType")),
    (launched("ml.trn1.32xlarge", DATA_PARALLEL), "SM491", (HERE, "InstanceType")),
    (launched("ml.m5.large", DATA_PARALLEL), "SM491", (HERE, "InstanceType")),
    (launched("ml.p5.48xlarge", DATA_PARALLEL), "SM390", (HERE, "InstanceType")),
    (with_pytorch("2.5.1-gpu-py311"), "SM390", ("AlgorithmSpecification", "TrainingImage")),
    (in_vpc("ml.p4d.24xlarge", 2), "SM391", ("VpcConfig", "SecurityGroupIds")),
]

ACCEPTED = [
    on(),
    grouped(group(), group("others")),
    on("ml.g5.xlarge"),
    on("ml.g7.2xlarge"),
    on(ULTRA, VolumeSizeInGB=5, VolumeKmsKeyId=KEY),
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
    on("ml.p5.48xlarge", TrainingPlanArn=PLAN),
    grouped(group(kind="ml.p5.48xlarge"), group("others"), TrainingPlanArn=PLAN),
    changed(ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.g5.xlarge"}]}),
    launched("ml.g5.12xlarge", smspec(4)),
    launched("ml.p3.8xlarge", mpi("4"), VolumeSizeInGB=5),
    launched("ml.p3.8xlarge", mpi("8") | {"sagemaker_mpi_enabled": "false"}, VolumeSizeInGB=5),
    launched("ml.trn1.32xlarge", mpi("32")),
    launched("ml.m5.large", mpi("2")),
    launched("ml.g5.xlarge", mpi("auto")),
    launched(ULTRA, mpi("64")),
    launched(ULTRA, DATA_PARALLEL),
    launched("ml.p2.xlarge", mpi("1"), VolumeSizeInGB=5),
    launched("ml.p4d.24xlarge", DATA_PARALLEL),
    launched("ml.g5.xlarge", {"sagemaker_distributed_dataparallel_enabled": "false"}),
    launched("ml.g5.xlarge", {SMSPEC: "[" * 2000}),
    grouped(
        group(),
        group("gpus", "ml.g5.12xlarge"),
        HyperParameters=mpi("4") | {"sagemaker_distribution_instance_groups": '["gpus"]'},
    ),
    changed(
        ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.g5.xlarge"}, {"InstanceType": "ml.g5.12xlarge"}]},
        HyperParameters=mpi("4"),
    ),
    with_pytorch("2.4.0-gpu-py311"),
    with_pytorch("nightly", account="111122223333"),
    in_vpc("ml.p4d.24xlarge", 1),
    in_vpc("ml.g5.xlarge", 2),
    in_vpc(ULTRA, 2),
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


def in_region(kind, region):
    return [finding for finding in request_findings(on(kind), region=region) if finding.code == "SM392"]


def test_type_that_ec2_lacks_in_the_region_is_dated():
    (finding,) = in_region("ml.p3dn.24xlarge", "eu-central-1")
    assert (finding.severity, finding.path) == ("warning", (HERE, "InstanceType"))
    assert finding.message == (
        "`ResourceConfig.InstanceType`: EC2 has no `p3dn.24xlarge` in `eu-central-1`, as of 2026-10-27"
    )


@pytest.mark.parametrize("region", ["us-east-1", "cn-north-1", "eusc-de-east-1", "nowhere", None])
def test_other_regions_are_not_reported(region):
    assert in_region("ml.p3dn.24xlarge", region) == []


def test_launcher_in_the_image_is_checked():
    request = on("ml.g5.xlarge")
    assert [finding.code for finding in request_findings(request, launcher="smdataparallel")] == ["SM491"]
    assert request_findings(request, launcher="torchrun") == []
