"""The payload of a job, key by key, and the way back from it to the spec."""

import itertools

import pytest

import job_samples
from smspec.plan.planning import make_plan
from smspec.service.limits import request_findings
from smspec.service.shapes import pinned_model
from smspec_runtime.hyperparameters import join_settings

URI = job_samples.IMAGE_URI


def requested(**changes):
    return make_plan(job_samples.job(**changes), job_samples.ingredients("train.py", "reader.py")).request


def payload(**changes):
    return requested(**changes).payload


def bare(**changes):
    """Return the payload of the smallest job, with changes."""
    smallest = {"image": URI, "source": None, "entry_point": None, "channels": None}
    return payload(**(smallest | changes))


def test_a_key_left_out_is_left_out_with_three_exceptions():
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


def test_an_empty_stopping_is_sent_empty():
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


def test_what_is_for_people_reaches_nothing():
    told = {
        "description": "text",
        "checks": {"ignore": [{"rule": "SM429", "because": "it is so"}]},
        "vars": {"size": {"default": 1}},
        "overlays": {"dev": {"retries": 1}},
    }
    assert payload(**told) == payload()
    train = {"s3": "s3://example-data/ctr/train/", "local": "data/"}
    assert payload(channels={"train": train}) == payload()


KEYS = [
    (
        {"spot": {"max_wait": "8h"}, "stopping": {"max_runtime": "6h", "max_pending": "2h"}},
        {
            "EnableManagedSpotTraining": True,
            "StoppingCondition": {
                "MaxRuntimeInSeconds": 21600,
                "MaxWaitTimeInSeconds": 28800,
                "MaxPendingTimeInSeconds": 7200,
            },
        },
    ),
    (
        {"spot": {"max_wait": "30h"}},
        {"StoppingCondition": {"MaxRuntimeInSeconds": 86400, "MaxWaitTimeInSeconds": 108000}},
    ),
    ({"retries": 2}, {"RetryStrategy": {"MaximumRetryAttempts": 2}}),
    (
        {"output": {"s3": "s3://x/y", "kms_key": "alias/mine", "compression": "NONE"}},
        {"OutputDataConfig": {"KmsKeyId": "alias/mine", "S3OutputPath": "s3://x/y", "CompressionType": "NONE"}},
    ),
    ({"checkpoints": "s3://x/c/"}, {"CheckpointConfig": {"S3Uri": "s3://x/c/"}}),
    (
        {"checkpoints": {"s3": "s3://x/c/", "local": "/opt/ml/mine"}},
        {"CheckpointConfig": {"S3Uri": "s3://x/c/", "LocalPath": "/opt/ml/mine"}},
    ),
    ({"tensorboard": "s3://x/t/"}, {"TensorBoardOutputConfig": {"S3OutputPath": "s3://x/t/"}}),
    (
        {
            "network": {
                "subnets": ["subnet-1"],
                "security_groups": ["sg-1"],
                "isolation": False,
                "encrypt_inter_container": True,
            }
        },
        {
            "VpcConfig": {"SecurityGroupIds": ["sg-1"], "Subnets": ["subnet-1"]},
            "EnableNetworkIsolation": False,
            "EnableInterContainerTrafficEncryption": True,
        },
    ),
    (
        {"tags": {"team": "ads", "cost-center": "0042"}},
        {"Tags": [{"Key": "team", "Value": "ads"}, {"Key": "cost-center", "Value": "0042"}]},
    ),
    ({"environment": {"NCCL_DEBUG": "WARN"}}, {"Environment": {"NCCL_DEBUG": "WARN"}}),
    (
        {"metrics": [{"name": "loss", "regex": "loss=(.*)"}], "input_mode": "Pipe"},
        {
            "AlgorithmSpecification": {
                "TrainingImage": URI,
                "TrainingInputMode": "Pipe",
                "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
            }
        },
    ),
    (
        {
            "hosts": {
                "instance_type": "ml.c5.9xlarge",
                "count": 4,
                "volume": "50GB",
                "volume_kms_key": "key",
                "keep_alive": "30m",
                "training_plan": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p",
            }
        },
        {
            "ResourceConfig": {
                "InstanceType": "ml.c5.9xlarge",
                "InstanceCount": 4,
                "VolumeSizeInGB": 50,
                "VolumeKmsKeyId": "key",
                "KeepAlivePeriodInSeconds": 1800,
                "TrainingPlanArn": "arn:aws:sagemaker:us-west-2:111122223333:training-plan/p",
            }
        },
    ),
    (
        {"hosts": {"groups": [{"name": "w", "instance_type": "ml.m5.large", "count": 2}]}},
        {
            "ResourceConfig": {
                "InstanceGroups": [{"InstanceType": "ml.m5.large", "InstanceCount": 2, "InstanceGroupName": "w"}]
            }
        },
    ),
    (
        {
            "channels": {
                "val": {
                    "s3": "s3://x/m.manifest",
                    "s3_data_type": "AugmentedManifestFile",
                    "attributes": ["a", "b"],
                    "distribution": "ShardedByS3Key",
                    "input_mode": "Pipe",
                    "content_type": "text/csv",
                    "compression": "Gzip",
                    "record_wrapper": "RecordIO",
                    "shuffle_seed": 17,
                },
            }
        },
        {
            "InputDataConfig": [
                {
                    "ChannelName": "val",
                    "DataSource": {
                        "S3DataSource": {
                            "S3DataType": "AugmentedManifestFile",
                            "S3Uri": "s3://x/m.manifest",
                            "S3DataDistributionType": "ShardedByS3Key",
                            "AttributeNames": ["a", "b"],
                        }
                    },
                    "ContentType": "text/csv",
                    "CompressionType": "Gzip",
                    "RecordWrapperType": "RecordIO",
                    "InputMode": "Pipe",
                    "ShuffleConfig": {"Seed": 17},
                }
            ]
        },
    ),
    (
        {
            "channels": {
                "files": {"file_system": {"id": "fs-01234567", "type": "EFS", "path": "/data", "access": "ro"}},
            }
        },
        {
            "InputDataConfig": [
                {
                    "ChannelName": "files",
                    "DataSource": {
                        "FileSystemDataSource": {
                            "FileSystemId": "fs-01234567",
                            "FileSystemAccessMode": "ro",
                            "FileSystemType": "EFS",
                            "DirectoryPath": "/data",
                        }
                    },
                }
            ]
        },
    ),
]


@pytest.mark.parametrize(("keys", "expected"), KEYS, ids=["-".join(keys) for keys, _ in KEYS])
def test_every_key_has_its_place(keys, expected):
    sent = bare(**keys)
    assert {name: sent[name] for name in expected} == expected


@pytest.mark.parametrize("keys", [keys for keys, _ in KEYS], ids=["-".join(keys) for keys, _ in KEYS])
def test_members_stand_in_the_order_of_the_api(keys):
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


def test_an_algorithm_resource_needs_no_image():
    sent = bare(image=None, api={"AlgorithmSpecification": {"AlgorithmName": "mine"}})
    assert sent["AlgorithmSpecification"] == {"AlgorithmName": "mine", "TrainingInputMode": "File"}


def test_a_serverless_job_has_no_algorithm_specification():
    serverless = {"BaseModelArn": "arn:aws:sagemaker:us-west-2:aws:hub-content/Hub/Model/m", "JobType": "FineTuning"}
    sent = bare(image=None, hosts=None, api={"ServerlessJobConfig": serverless})
    assert "AlgorithmSpecification" not in sent
    assert "ResourceConfig" not in sent
    assert request_findings(sent) == []


def test_the_api_patch_is_rfc_7396():
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


def test_a_channel_has_a_patch_of_its_own():
    train = {
        "s3": "s3://example-data/ctr/train/",
        "content_type": "text/csv",
        "api": {"ContentType": None, "DataSource": {"S3DataSource": {"ModelAccessConfig": {"AcceptEula": True}}}},
    }
    (channel,) = payload(channels={"train": train})["InputDataConfig"]
    assert "ContentType" not in channel
    assert channel["DataSource"]["S3DataSource"]["ModelAccessConfig"] == {"AcceptEula": True}


def settings(**changes):
    return join_settings(payload(**changes).get("HyperParameters", {}))


PIPE = {"train": {"s3": "s3://example-data/ctr/train/", "input_mode": "Pipe"}}


def test_settings_tell_the_runtime_what_sagemaker_does_not():
    told = settings(
        entry_point={
            "pipe_loop": "reader:Trainer",
            "epochs": 5,
            "read": {"train": "augmented"},
            "prefetch": "32MB",
            "open_timeout": "10m",
        },
        channels={
            "train": {
                "s3": "s3://x/m.manifest",
                "s3_data_type": "AugmentedManifestFile",
                "attributes": ["source-ref", "class"],
                "input_mode": "Pipe",
            }
        },
        checkpoints={"s3": "s3://x/c/", "local": "/opt/ml/mine"},
    )
    assert told._asdict() == {
        "epochs": 5,
        "read": {"train": "augmented"},
        "attributes": {"train": ["source-ref", "class"]},
        "prefetch": 32_000_000,
        "open_timeout": 600,
        "launcher": {},
        "checkpoints": "/opt/ml/mine",
    }


@pytest.mark.parametrize(
    ("distribution", "launcher"),
    [
        ("torchrun", {}),
        ({"torchrun": {"processes_per_host": 4, "port": 1234}}, {"processes_per_host": 4, "port": 1234}),
        ({"mpi": {"processes_per_host": "auto", "options": ["-v"]}}, {"options": ["-v"]}),
        ({"parameter_server": {"framework": "mxnet"}}, {"framework": "mxnet"}),
        ({"smdataparallel": {}}, {}),
    ],
)
def test_settings_tell_the_options_of_the_launcher(distribution, launcher):
    assert settings(distribution=distribution).launcher == launcher


def test_settings_are_sent_only_when_there_is_something_to_say():
    for quiet in (
        {},
        {"distribution": "torchrun"},
        {"entry_point": {"pipe_loop": "reader:Trainer"}, "channels": PIPE},
        {"checkpoints": {"s3": "s3://x/", "local": "/opt/ml/checkpoints/"}},
        {"image": URI, "source": {"dir": "src/", "delivery": "s3"}, "distribution": {"mpi": {"processes_per_host": 8}}},
        {
            "image": URI,
            "source": None,
            "entry_point": {"command": ["x"]},
            "checkpoints": {"s3": "s3://x/", "local": "/x"},
        },
    ):
        assert not [name for name in payload(**quiet).get("HyperParameters", {}) if name.startswith("sagemaker_smspec")]


def test_long_settings_continue_in_further_hyperparameters():
    names = [f"channel-{number}-{'x' * 50}" for number in range(20)]
    manifest = {"s3_data_type": "AugmentedManifestFile", "attributes": ["a" * 200, "b" * 200], "input_mode": "Pipe"}
    changes = {"channels": {name: {"s3": f"s3://x/{name}", **manifest} for name in names}}
    sent = payload(**changes)["HyperParameters"]
    assert list(sent) == ["sagemaker_smspec", *(f"sagemaker_smspec_{number}" for number in range(1, len(sent)))]
    assert len(sent) > 3
    assert all(len(value) == 2500 for value in list(sent.values())[:-1])
    assert settings(**changes).attributes == dict.fromkeys(names, manifest["attributes"])


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
def test_every_part_of_a_payload_leads_back_into_the_spec(changes):
    """The place is a key that is written, or one that a default stands for."""
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
    ({}, ("InputDataConfig", 0, "DataSource", "S3DataSource", "S3Uri"), ("channels", "train", "s3")),
    ({}, ("InputDataConfig", 0, "DataSource", "S3DataSource", "Nonsense"), ("channels", "train")),
    ({"image": URI}, ("InputDataConfig", 1, "DataSource", "S3DataSource", "S3Uri"), ("source",)),
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
def test_a_fault_in_the_payload_points_at_the_key_that_caused_it(changes, path, origin):
    assert requested(**changes).origin(path) == origin


NAMED = [
    ({"channels": {"a b": "s3://x/"}}, ("InputDataConfig", 0, "ChannelName"), ("channels", "a b"), "key"),
    ({"tags": {"a!": "b"}}, ("Tags", 0, "Key"), ("tags", "a!"), "key"),
    ({"tags": {"a": "b!"}}, ("Tags", 0, "Value"), ("tags", "a"), "value"),
    (
        {"tags": {"a": "b"}, "api": {"Tags": [{"Key": "a!", "Value": "b"}]}},
        ("Tags", 0, "Key"),
        ("api", "Tags", 0, "Key"),
        "value",
    ),
    (
        {"channels": {"a": {"s3": "s3://x/", "api": {"ChannelName": "a b"}}}},
        ("InputDataConfig", 0, "ChannelName"),
        ("channels", "a", "api", "ChannelName"),
        "value",
    ),
]


@pytest.mark.parametrize(("changes", "path", "origin", "on"), NAMED, ids=[str(number) for number in range(len(NAMED))])
def test_a_name_that_is_a_key_of_the_spec_is_underlined_there(changes, path, origin, on):
    plan = requested(**changes)
    (finding,) = request_findings(plan.payload)
    assert finding.path == path
    moved = plan.at_origin(finding)
    assert (moved.path, moved.on) == (origin, on)
    assert (moved.code, moved.message) == (finding.code, finding.message)


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
def test_planning_is_total(launcher):
    """Jobs that the rules refuse are planned all the same, so that everything wrong is told at once."""
    for row in ROWS:
        if row["distribution"] == launcher or isinstance(row["distribution"], dict):
            algorithm = {} if row["image"] else {"api": {"AlgorithmSpecification": {"AlgorithmName": "mine"}}}
            assert requested(**row, **algorithm, region=None).payload["TrainingJobName"]
