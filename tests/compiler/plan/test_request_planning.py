"""The request of a job, key by key."""

import itertools

import pytest

from smspec.plan.request_planning import make_plan
from smspec.service.request_rules import request_findings
from smspec.service.shapes import pinned_model
from support.spec import job_samples
from support.spec.sent_keys import KEYS

URI = job_samples.IMAGE_URI


def requested(**changes):
    return make_plan(job_samples.job(**changes), job_samples.build_inputs("train.py", "reader.py")).request


def payload(**changes):
    return requested(**changes).payload


def bare(**changes):
    """Return the payload of the smallest job, with changes."""
    smallest = {"image": URI, "source": None, "entry_point": None, "channels": None}
    return payload(**(smallest | changes))


def test_absent_key_is_omitted_with_three_exceptions():
    sent = bare(hosts={"instance_type": "ml.m5.large", "count": 1})
    assert sent == {
        "TrainingJobName": sent["TrainingJobName"],
        "AlgorithmSpecification": {"TrainingImage": URI, "TrainingInputMode": "File"},
        "RoleArn": "arn:aws:iam::111122223333:role/SageMakerTraining",
        "OutputDataConfig": {"S3OutputPath": "s3://example-models/ctr/"},
        "ResourceConfig": {"InstanceType": "ml.m5.large", "InstanceCount": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": 86400},
    }
    assert payload()["InputDataConfig"] == [
        {
            "ChannelName": "train",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/ctr/train/"}},
        }
    ]


def test_empty_stopping_is_sent_empty():
    assert bare(stopping={})["StoppingCondition"] == {}
    assert bare(stopping={"max_pending": "2h"})["StoppingCondition"] == {"MaxPendingTimeInSeconds": 7200}


def test_empty_lists_and_maps_are_not_sent():
    empty = {
        "channels": {},
        "hyperparameters": {},
        "environment": {},
        "tags": {},
        "metrics": [],
        "network": {"subnets": [], "security_groups": []},
        "checks": {"ignore": []},
        "api": {},
    }
    assert bare(**empty) == bare()
    one = {"s3": "s3://example-data/ctr/train/", "attributes": [], "instance_groups": [], "api": {}}
    assert bare(channels={"train": one})["InputDataConfig"] == payload()["InputDataConfig"]


def test_documentation_keys_do_not_reach_the_request():
    told = {
        "description": "text",
        "checks": {"ignore": [{"rule": "SM429", "because": "it is so"}]},
        "vars": {"size": {"default": 1}},
        "overlays": {"dev": {"retries": 1}},
    }
    assert payload(**told) == payload()
    train = {"s3": "s3://example-data/ctr/train/", "local": "data/"}
    assert payload(channels={"train": train}) == payload()


@pytest.mark.parametrize(("keys", "expected"), KEYS, ids=["-".join(keys) for keys, _ in KEYS])
def test_every_key_reaches_its_member(keys, expected):
    sent = bare(**keys)
    assert {name: sent[name] for name in expected} == expected


@pytest.mark.parametrize("keys", [keys for keys, _ in KEYS], ids=["-".join(keys) for keys, _ in KEYS])
def test_members_keep_the_order_of_the_api(keys):
    model = pinned_model()

    def check(shape, value):
        if isinstance(value, dict) and shape.kind == "structure":
            assert list(value) == [name for name in shape.members if name in value]
            for name, inner in value.items():
                check(model.shapes[shape.members[name]], inner)
        if isinstance(value, list):
            for inner in value:
                check(model.shapes[shape.item], inner)

    check(model.root, bare(**keys, api={"RetryStrategy": {"MaximumRetryAttempts": 3}, "Environment": {"A": "1"}}))


def test_algorithm_resource_needs_no_image():
    sent = bare(image=None, api={"AlgorithmSpecification": {"AlgorithmName": "mine"}})
    assert sent["AlgorithmSpecification"] == {"AlgorithmName": "mine", "TrainingInputMode": "File"}


def test_serverless_job_has_no_algorithm_specification():
    serverless = {"BaseModelArn": "arn:aws:sagemaker:us-west-2:aws:hub-content/Hub/Model/m", "JobType": "FineTuning"}
    serverless["CustomizationTechnique"] = "SFT"
    sent = bare(image=None, hosts=None, api={"ServerlessJobConfig": serverless})
    assert "AlgorithmSpecification" not in sent
    assert "ResourceConfig" not in sent
    assert request_findings(sent) == []


def test_api_patch_is_rfc_7396():
    sent = bare(
        tags={"a": "1"},
        retries=2,
        api={
            "RemoteDebugConfig": {"EnableRemoteDebug": True},
            "StoppingCondition": {"MaxRuntimeInSeconds": None, "MaxPendingTimeInSeconds": 7200},
            "Tags": [{"Key": "b", "Value": "2"}],
            "RetryStrategy": None,
            "OutputDataConfig": {"KmsKeyId": "mine"},
            "DebugHookConfig": {"S3OutputPath": "s3://x/", "LocalPath": None},
        },
    )
    assert sent["RemoteDebugConfig"] == {"EnableRemoteDebug": True}
    assert sent["StoppingCondition"] == {"MaxPendingTimeInSeconds": 7200}
    assert sent["Tags"] == [{"Key": "b", "Value": "2"}]
    assert "RetryStrategy" not in sent
    assert sent["OutputDataConfig"] == {"KmsKeyId": "mine", "S3OutputPath": "s3://example-models/ctr/"}
    assert sent["DebugHookConfig"] == {"S3OutputPath": "s3://x/"}


def test_channel_patch_applies_to_its_channel():
    train = {
        "s3": "s3://example-data/ctr/train/",
        "content_type": "text/csv",
        "api": {"ContentType": None, "DataSource": {"S3DataSource": {"ModelAccessConfig": {"AcceptEula": True}}}},
    }
    (channel,) = payload(channels={"train": train})["InputDataConfig"]
    assert "ContentType" not in channel
    assert channel["DataSource"]["S3DataSource"]["ModelAccessConfig"] == {"AcceptEula": True}


ROWS = [
    {"image": image, "source": source, "entry_point": entry, "distribution": launcher}
    for image, source, entry, launcher in itertools.product(
        [URI, {"base": "python:3"}, None],
        [None, *({"dir": "src/", "delivery": delivery} for delivery in ("image", "channel", "s3"))],
        [None, {"script": "x"}, {"command": ["x"]}, {"module": "a:b"}, {"pipe_loop": "a:b"}],
        [None, "torchrun", "mpi", {"parameter_server": {"framework": "mxnet"}}, {"smdataparallel": {}}],
    )
    if entry or not isinstance(image, dict)
]


@pytest.mark.parametrize("launcher", [None, "torchrun", "mpi"], ids=str)
def test_planning_succeeds_for_any_job(launcher):
    """Jobs that rules reject are still planned, so that all errors are reported together."""
    for row in ROWS:
        if row["distribution"] == launcher or isinstance(row["distribution"], dict):
            algorithm = {} if row["image"] else {"api": {"AlgorithmSpecification": {"AlgorithmName": "mine"}}}
            assert requested(**row, **algorithm, region=None).payload["TrainingJobName"]


def test_generated_channels_are_for_all_groups():
    """The API takes channels with groups and channels without only from different jobs."""
    groups = [
        {"InstanceGroupName": name, "InstanceType": "ml.g5.xlarge", "InstanceCount": 1}
        for name in ("readers", "workers")
    ]
    sent = payload(
        image=job_samples.IMAGE_URI,
        hosts={},
        channels={"train": {"s3": "s3://example-data/train/", "instance_groups": ["readers"]}},
        api={"ResourceConfig": {"InstanceGroups": groups}},
    )
    sources = [channel["DataSource"]["S3DataSource"]["InstanceGroupNames"] for channel in sent["InputDataConfig"]]
    assert sources == [["readers"], ["readers", "workers"], ["readers", "workers"]]
    assert not [finding for finding in request_findings(sent) if finding.code == "SM451"]
