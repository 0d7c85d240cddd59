"""Regions and partitions that must agree."""

import pytest

from smspec.service.request_check import request_findings
from support.service.api_samples import changed, small_request

HERE, THERE = "us-west-2", "eu-west-1"


def kms(region=HERE, partition="aws"):
    return f"arn:{partition}:kms:{region}:111122223333:key/0123"


def sagemaker(what, region=HERE, partition="aws"):
    return f"arn:{partition}:sagemaker:{region}:111122223333:{what}"


def arns(*where):
    """Return requests that name something in a place, each with the member that names it."""
    channel = {"ChannelName": "train"}
    hub = sagemaker("hub-content/Hub/DataSet/clicks", *where)
    yield (
        {"OutputDataConfig": small_request()["OutputDataConfig"] | {"KmsKeyId": kms(*where)}},
        (
            "OutputDataConfig",
            "KmsKeyId",
        ),
    )
    yield (
        {"ResourceConfig": small_request()["ResourceConfig"] | {"VolumeKmsKeyId": kms(*where)}},
        (
            "ResourceConfig",
            "VolumeKmsKeyId",
        ),
    )
    plan = sagemaker("training-plan/plan", *where)
    yield (
        {"ResourceConfig": small_request()["ResourceConfig"] | {"TrainingPlanArn": plan}},
        (
            "ResourceConfig",
            "TrainingPlanArn",
        ),
    )
    yield (
        {"ResourceConfig": {"InstancePreferences": [{"InstanceType": "ml.g5.xlarge", "TrainingPlanArns": [plan]}]}},
        ("ResourceConfig", "InstancePreferences", 0, "TrainingPlanArns", 0),
    )
    yield (
        {"AlgorithmSpecification": {"AlgorithmName": sagemaker("algorithm/mine", *where), "TrainingInputMode": "File"}},
        ("AlgorithmSpecification", "AlgorithmName"),
    )
    yield (
        {"MlflowConfig": {"MlflowResourceArn": sagemaker("mlflow-tracking-server/mine", *where)}},
        (
            "MlflowConfig",
            "MlflowResourceArn",
        ),
    )
    yield (
        {"InputDataConfig": [channel | {"DataSource": {"DatasetSource": {"DatasetArn": hub}}}]},
        (
            "InputDataConfig",
            0,
            "DataSource",
            "DatasetSource",
            "DatasetArn",
        ),
    )


CODES = ("SM371", "SM477", "SM478")


def found(request, region=None):
    return [(found.code, found.path) for found in request_findings(request, region=region) if found.code in CODES]


@pytest.mark.parametrize(("parts", "path"), [*arns(THERE)][:-1], ids=lambda part: str(part)[:40])
def test_resources_must_be_in_the_region_of_the_job(parts, path):
    assert found(changed(**parts), HERE) == [("SM477", path)]
    assert found(changed(**parts)) == []


@pytest.mark.parametrize(("parts", "path"), [*arns(THERE, "aws-cn")], ids=lambda part: str(part)[:40])
def test_resources_must_be_in_the_partition_of_the_role(parts, path):
    assert found(changed(**parts)) == [("SM478", path)]
    assert found(changed(**parts, RoleArn="arn:aws-cn:iam::111122223333:role/SageMakerTraining")) == []


@pytest.mark.parametrize(("parts", "path"), [*arns(HERE)], ids=lambda part: str(part)[:40])
def test_available_resources_are_not_reported(parts, path):
    assert found(changed(**parts), HERE) == []


def test_hub_content_may_be_in_another_region():
    """No public document forbids it."""
    parts, _ = [*arns(THERE)][-1]
    assert found(changed(**parts), HERE) == []


def test_arns_in_hyperparameters_and_tags_are_not_checked():
    topic = "arn:aws-cn:sns:cn-north-1:111122223333:topic"
    request = changed(
        HyperParameters={"topic": topic}, Environment={"TOPIC": topic}, Tags=[{"Key": "topic", "Value": topic}]
    )
    assert found(request, HERE) == []


@pytest.mark.parametrize(
    ("image", "region", "is_told"),
    [
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", "eu-west-1", True),
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", "us-west-2", False),
        ("111122223333.dkr.ecr.us-west-2.amazonaws.com/x:1", None, False),
        ("public.ecr.aws/x/y:1", "eu-west-1", False),
        ("registry.example/x:1", "eu-west-1", False),
    ],
)
def test_ecr_image_must_be_in_the_region_of_the_job(image, region, is_told):
    request = changed(AlgorithmSpecification={"TrainingImage": image, "TrainingInputMode": "File"})
    assert found(request, region) == ([("SM371", ("AlgorithmSpecification", "TrainingImage"))] if is_told else [])


def test_request_without_role_and_region_is_accepted():
    request = small_request()
    del request["RoleArn"]
    assert found(request | {"OutputDataConfig": {"S3OutputPath": "s3://x/", "KmsKeyId": kms("cn-north-1")}}) == []
