"""What the API refuses although every member has its shape."""

import copy

import pytest

import api_samples
from smspec.service.checking import request_findings


def changed(**parts):
    """Return a small request with members replaced; None takes one away."""
    request = api_samples.small_request() | parts
    return {name: value for name, value in request.items() if value is not None}


def channel(name="train", **s3):
    return {
        "ChannelName": name,
        "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/x/"} | s3},
    }


SERVERLESS = {"BaseModelArn": f"{api_samples.HUB}/Model/sample", "JobType": "FineTuning"}
IMAGE = {"TrainingImage": "x", "TrainingInputMode": "File"}
GROUP = {"InstanceType": "ml.m5.large", "InstanceCount": 1, "InstanceGroupName": "workers"}
FILES = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "ro", "FileSystemType": "EFS", "DirectoryPath": "/"}

REFUSED = [
    (changed(AlgorithmSpecification=None), "SM420", ("AlgorithmSpecification",)),
    (changed(ResourceConfig=None), "SM421", ("ResourceConfig",)),
    (changed(StoppingCondition=None), "SM422", ("StoppingCondition",)),
    (
        changed(AlgorithmSpecification=IMAGE | {"AlgorithmName": "mine"}),
        "SM423",
        ("AlgorithmSpecification", "AlgorithmName"),
    ),
    (
        changed(AlgorithmSpecification={"TrainingInputMode": "File"}),
        "SM424",
        ("AlgorithmSpecification", "TrainingImage"),
    ),
    (
        changed(ResourceConfig={"InstanceGroups": [GROUP], "InstanceType": "ml.m5.large"}),
        "SM425",
        ("ResourceConfig", "InstanceType"),
    ),
    (
        changed(ResourceConfig={"InstanceGroups": [GROUP], "InstanceCount": 1}),
        "SM425",
        ("ResourceConfig", "InstanceCount"),
    ),
    (changed(ResourceConfig={"InstanceCount": 1}), "SM426", ("ResourceConfig", "InstanceType")),
    (changed(ResourceConfig={"InstanceType": "ml.m5.large"}), "SM427", ("ResourceConfig", "InstanceCount")),
    (
        changed(ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 0}),
        "SM428",
        ("ResourceConfig", "InstanceCount"),
    ),
    (
        changed(ResourceConfig={"InstanceGroups": [GROUP | {"InstanceCount": 0}]}),
        "SM428",
        ("ResourceConfig", "InstanceGroups", 0, "InstanceCount"),
    ),
    (changed(Tags=[{"Key": "a", "Value": "1"}, {"Key": "a", "Value": "2"}]), "SM429", ("Tags", 1, "Key")),
    (
        changed(InputDataConfig=[{"ChannelName": "train", "DataSource": {}}]),
        "SM430",
        ("InputDataConfig", 0, "DataSource"),
    ),
    (
        changed(
            InputDataConfig=[
                {
                    "ChannelName": "train",
                    "DataSource": channel()["DataSource"] | {"FileSystemDataSource": FILES},
                }
            ]
        ),
        "SM430",
        ("InputDataConfig", 0, "DataSource"),
    ),
    (
        changed(InputDataConfig=[channel(S3DataType="AugmentedManifestFile")]),
        "SM431",
        ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3DataType"),
    ),
    (
        changed(InputDataConfig=[channel(AttributeNames=["source-ref"])]),
        "SM432",
        ("InputDataConfig", 0, "DataSource", "S3DataSource", "AttributeNames"),
    ),
    (
        changed(
            ResourceConfig={"InstanceGroups": [GROUP]},
            InputDataConfig=[channel(InstanceGroupNames=["worker", "workers"])],
        ),
        "SM433",
        ("InputDataConfig", 0, "DataSource", "S3DataSource", "InstanceGroupNames", 0),
    ),
    (
        changed(
            ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": 1, "SelectedInstanceType": "ml.m5.large"}
        ),
        "SM434",
        ("ResourceConfig", "SelectedInstanceType"),
    ),
    (changed(InputDataConfig=[channel(), channel()]), "SM435", ("InputDataConfig", 1, "ChannelName")),
]


@pytest.mark.parametrize(("request_", "code", "path"), REFUSED, ids=[code for _, code, _ in REFUSED])
def test_the_request_is_refused_at_the_place_of_the_fault(request_, code, path):
    before = copy.deepcopy(request_)
    found = [(finding.code, finding.path) for finding in request_findings(request_)]
    assert found == [(code, path)]
    assert request_ == before


ACCEPTED = [
    changed(),
    changed(AlgorithmSpecification=None, ResourceConfig=None, StoppingCondition=None, ServerlessJobConfig=SERVERLESS),
    changed(StoppingCondition={}),
    changed(ResourceConfig={"InstanceGroups": [GROUP]}, InputDataConfig=[channel(InstanceGroupNames=["workers"])]),
    changed(ResourceConfig={"InstancePreferences": [{"InstanceType": "ml.m5.large", "InstanceCount": 2}]}),
    changed(
        InputDataConfig=[channel(S3DataType="AugmentedManifestFile", AttributeNames=["source-ref"]), channel("val")]
    ),
    changed(InputDataConfig=[{"ChannelName": "train", "DataSource": {"FileSystemDataSource": FILES}}]),
    changed(Tags=[{"Key": "a", "Value": "1"}, {"Key": "A", "Value": "1"}]),
]


@pytest.mark.parametrize("request_", ACCEPTED)
def test_what_the_service_takes_is_not_refused(request_):
    assert request_findings(request_) == []
