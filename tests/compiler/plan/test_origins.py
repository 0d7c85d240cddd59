"""Every member of a request leads back to the key that set it."""

import pytest

from smspec.plan.request_planning import make_plan
from smspec.service.request_rules import request_findings
from smspec.source import dotted
from support.spec import job_samples
from support.spec.sent_keys import KEYS

URI = job_samples.IMAGE_URI


def requested(**changes):
    return make_plan(job_samples.job(**changes), job_samples.build_inputs("train.py", "reader.py")).request


def paths_of(value, path=()):
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from paths_of(inner, (*path, key))


@pytest.mark.parametrize(
    "changes",
    [
        *(keys for keys, _ in KEYS),
        {"hyperparameters": {"lr": 1}, "source": {"dir": "src/", "delivery": "s3"}, "distribution": "mpi"},
        {"image": URI, "api": {"Tags": [{"Key": "a", "Value": "b"}], "DebugHookConfig": {"S3OutputPath": "s3://x/"}}},
    ],
    ids=str,
)
def test_every_part_of_a_request_has_an_origin_in_the_spec(changes):
    """The origin is a key of the spec, or one with a default."""
    plan = requested(**changes)
    tree = job_samples.document(job_samples.spec(**changes))
    defaults = {("stopping",), ("input_mode",), ("hyperparameters",), ("channels", "train", "s3_data_type")}
    for path in paths_of(plan.payload):
        origin = plan.origin(path)
        assert origin or not path
        written = tree.node(origin) is not None
        assert written or any(origin[: len(default)] == default for default in defaults), (path, origin)


PLACES = [
    ({"hyperparameters": {"lr": 1}}, ("HyperParameters", "lr"), ("hyperparameters", "lr")),
    ({"environment": {"A": "1"}}, ("Environment", "A"), ("environment", "A")),
    ({"tags": {"team": "ads"}}, ("Tags", 0, "Value"), ("tags", "team")),
    ({}, ("TrainingJobName",), ("name",)),
    ({"job_name": "x"}, ("TrainingJobName",), ("job_name",)),
    ({}, ("AlgorithmSpecification", "TrainingImage"), ("image",)),
    (
        {"image": {"base": "python:3", "repository": "ads/ctr"}},
        ("AlgorithmSpecification", "TrainingImage"),
        ("image", "repository"),
    ),
    ({}, ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3Uri"), ("channels", "train", "s3")),
    ({}, ("InputDataConfig", 0, "DataSource", "S3DataSource", "Nonsense"), ("channels", "train")),
    ({"image": URI}, ("InputDataConfig", 1, "DataSource", "S3DataSource", "S3DataType"), ("source",)),
    ({"image": URI}, ("InputDataConfig", 1, "DataSource", "S3DataSource", "S3Uri"), ("output", "s3")),
    (
        {"image": URI, "source": {"dir": "src/", "s3": "s3://x/"}},
        ("InputDataConfig", 1, "DataSource", "S3DataSource", "S3Uri"),
        ("source", "s3"),
    ),
    ({"network": {"isolation": True}}, ("VpcConfig",), ("network",)),
    (
        {"channels": {"a": {"file_system": {"id": "fs-01234567", "type": "EFS", "path": "/", "access": "ro"}}}},
        ("VpcConfig",),
        ("channels", "a", "file_system"),
    ),
    (
        {"channels": {"a": {"api": {"DataSource": {"FileSystemDataSource": {"FileSystemId": "fs-01234567"}}}}}},
        ("VpcConfig",),
        ("channels", "a", "api", "DataSource", "FileSystemDataSource"),
    ),
    (
        {"api": {"AlgorithmSpecification": {"TrainingImageConfig": {"TrainingRepositoryAccessMode": "Vpc"}}}},
        ("VpcConfig",),
        ("api", "AlgorithmSpecification", "TrainingImageConfig", "TrainingRepositoryAccessMode"),
    ),
    ({"channels": {"a": "s3://x/"}}, ("InputDataConfig", 0, "InputMode"), ("channels", "a", "input_mode")),
    (
        {"channels": {"a": "s3://x/"}},
        ("InputDataConfig", 0, "DataSource", "S3DataSource", "InstanceGroupNames"),
        ("channels", "a", "instance_groups"),
    ),
    ({"image": URI}, ("AlgorithmSpecification", "ContainerEntrypoint", 0), ("entry_point",)),
    (
        {"image": URI, "source": None, "entry_point": {"command": ["a", "b"]}},
        ("AlgorithmSpecification", "ContainerEntrypoint", 1),
        ("entry_point", "command", 1),
    ),
    (
        {"source": {"dir": "src/", "delivery": "s3"}},
        ("HyperParameters", "sagemaker_program"),
        ("entry_point", "script"),
    ),
    (
        {"source": {"dir": "src/", "delivery": "s3"}},
        ("HyperParameters", "sagemaker_submit_directory"),
        ("source",),
    ),
    ({"hosts": {"count": 1}}, ("ResourceConfig", "InstanceType"), ("hosts", "instance_type")),
    ({"hosts": {}}, ("ResourceConfig",), ("hosts",)),
    ({"network": {"subnets": ["a", "b"]}}, ("VpcConfig", "Subnets", 1), ("network", "subnets", 1)),
    ({"network": {"subnets": ["a"]}}, ("VpcConfig", "SecurityGroupIds"), ("network", "security_groups")),
    (
        {"metrics": [{"name": "a", "regex": "("}]},
        ("AlgorithmSpecification", "MetricDefinitions", 0, "Regex"),
        ("metrics", 0, "regex"),
    ),
    ({"spot": {}}, ("StoppingCondition", "MaxWaitTimeInSeconds"), ("spot", "max_wait")),
    (
        {"api": {"EnableManagedSpotTraining": True}},
        ("StoppingCondition", "MaxWaitTimeInSeconds"),
        ("api", "EnableManagedSpotTraining"),
    ),
    ({"spot": {"max_wait": "8h"}}, ("CheckpointConfig",), ("spot",)),
    ({"api": {"EnableManagedSpotTraining": True}}, ("CheckpointConfig",), ("api", "EnableManagedSpotTraining")),
    (
        {"image": None, "api": {"AlgorithmSpecification": {"AlgorithmName": "mine"}}},
        ("EnableNetworkIsolation",),
        ("api", "AlgorithmSpecification", "AlgorithmName"),
    ),
    ({"network": {}}, ("EnableNetworkIsolation",), ("network", "isolation")),
    ({"hosts": {"instance_type": "ml.m5.large"}}, ("ResourceConfig", "VolumeSizeInGB"), ("hosts", "volume")),
    ({"retries": 2}, ("RetryStrategy",), ("retries",)),
    (
        {"api": {"Tags": [{"Key": "a", "Value": "b"}]}, "tags": {"x": "y"}},
        ("Tags", 0, "Key"),
        ("api", "Tags", 0, "Key"),
    ),
    (
        {"api": {"OutputDataConfig": {"KmsKeyId": "x"}}},
        ("OutputDataConfig", "KmsKeyId"),
        ("api", "OutputDataConfig", "KmsKeyId"),
    ),
    ({"api": {"OutputDataConfig": {"KmsKeyId": "x"}}}, ("OutputDataConfig", "S3OutputPath"), ("output", "s3")),
    ({"api": {"StoppingCondition": None}}, ("StoppingCondition",), ("api", "StoppingCondition")),
    (
        {"api": {"OutputDataConfig": {"S3OutputPath": None}}},
        ("OutputDataConfig", "S3OutputPath"),
        ("api", "OutputDataConfig", "S3OutputPath"),
    ),
    (
        {"channels": {"train": {"s3": "s3://x/", "api": {"InputMode": "pipe"}}}},
        ("InputDataConfig", 0, "InputMode"),
        ("channels", "train", "api", "InputMode"),
    ),
    (
        {"api": {"InputDataConfig": []}},
        ("InputDataConfig",),
        ("api", "InputDataConfig"),
    ),
    (
        {"api": {"InputDataConfig": [{"ChannelName": "x"}]}},
        ("InputDataConfig", 0, "DataSource"),
        ("api", "InputDataConfig", 0),
    ),
]


@pytest.mark.parametrize(("changes", "path", "origin"), PLACES, ids=[str(number) for number in range(len(PLACES))])
def test_request_fault_points_at_the_causing_key(changes, path, origin):
    assert requested(**changes).origin(path) == origin


NAMED = [
    ({"channels": {"a b": "s3://example/"}}, ("InputDataConfig", 0, "ChannelName"), ("channels", "a b"), "key"),
    ({"tags": {"a!": "b"}}, ("Tags", 0, "Key"), ("tags", "a!"), "key"),
    ({"tags": {"a": "b!"}}, ("Tags", 0, "Value"), ("tags", "a"), "value"),
    (
        {"tags": {"a": "b"}, "api": {"Tags": [{"Key": "a!", "Value": "b"}]}},
        ("Tags", 0, "Key"),
        ("api", "Tags", 0, "Key"),
        "value",
    ),
    (
        {"channels": {"a": {"s3": "s3://example/", "api": {"ChannelName": "a b"}}}},
        ("InputDataConfig", 0, "ChannelName"),
        ("channels", "a", "api", "ChannelName"),
        "value",
    ),
]


@pytest.mark.parametrize(("changes", "path", "origin", "on"), NAMED, ids=[str(number) for number in range(len(NAMED))])
def test_fault_in_a_name_points_at_its_key(changes, path, origin, on):
    plan = requested(**changes)
    (finding,) = request_findings(plan.payload)
    assert finding.path == path
    moved = plan.at_origin(finding)
    assert (moved.path, moved.on) == (origin, on)
    assert moved.code == finding.code
    assert moved.message == finding.message.replace(dotted(path), dotted(origin))
