"""Files of /opt/ml/input/config, compared with those of real training containers."""

from __future__ import annotations

import json

from smspec.local.running.host_layout import config_files
from smspec.local.running.training_request import TrainingRequest

PAYLOAD = {
    "TrainingJobName": "job-1",
    "HyperParameters": {"lr": "1e-3", "sagemaker_smspec": "{}"},
    "AlgorithmSpecification": {
        "TrainingInputMode": "File",
        "MetricDefinitions": [{"Name": "loss", "Regex": "loss=(.*)"}],
    },
    "InputDataConfig": [
        {
            "ChannelName": "my-input-data",
            "DataSource": {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": "s3://my-bucket/training-data/"}},
        },
        {
            "ChannelName": "images",
            "DataSource": {
                "S3DataSource": {
                    "S3DataType": "AugmentedManifestFile",
                    "S3Uri": "s3://my-bucket/m.json",
                    "S3DataDistributionType": "ShardedByS3Key",
                    "AttributeNames": ["image-ref", "class"],
                }
            },
            "ContentType": "application/x-image",
            "InputMode": "Pipe",
            "CompressionType": "Gzip",
            "RecordWrapperType": "RecordIO",
            "ShuffleConfig": {"Seed": 17},
        },
    ],
    "ResourceConfig": {"InstanceType": "ml.c5.xlarge", "InstanceCount": 10, "VolumeSizeInGB": 1},
}


def decoded(payload: dict, number: int = 0, count: int | None = None) -> dict:
    request = TrainingRequest(payload)
    hosts = request.hosts(count)
    files = config_files(request, hosts, hosts[number], request.hyperparameters, "lo")
    return {name.removesuffix(".json"): json.loads(text) for name, text in files.items()}


def test_hyperparameters_are_strings():
    assert decoded(PAYLOAD)["hyperparameters"] == {"lr": "1e-3", "sagemaker_smspec": "{}"}


def test_input_data_config_lists_every_channel():
    assert decoded(PAYLOAD)["inputdataconfig"] == {
        "my-input-data": {
            "TrainingInputMode": "File",
            "S3DistributionType": "FullyReplicated",
            "RecordWrapperType": "None",
        },
        "images": {
            "ContentType": "application/x-image",
            "TrainingInputMode": "Pipe",
            "S3DistributionType": "ShardedByS3Key",
            "RecordWrapperType": "RecordIO",
        },
    }


def test_resource_config_names_the_hosts():
    resources = decoded(PAYLOAD, 7)["resourceconfig"]
    assert resources["current_host"] == "algo-8"
    assert resources["hosts"] == [f"algo-{number}" for number in range(1, 11)]
    assert resources["current_instance_type"] == "ml.c5.xlarge"
    assert resources["current_group_name"] == "homogeneousCluster"
    assert resources["instance_groups"] == [
        {
            "instance_group_name": "homogeneousCluster",
            "instance_type": "ml.c5.xlarge",
            "hosts": resources["hosts"],
        }
    ]
    assert resources["network_interface_name"] == "lo"


def test_init_config_has_the_real_members():
    init = decoded(PAYLOAD, 7)["init-config"]
    assert init["channels"]["my-input-data"] == {
        "s3DataSource": {
            "s3DataType": "S3_PREFIX",
            "s3Uri": "s3://my-bucket/training-data/",
            "s3DataDistributionType": "FULLY_REPLICATED",
            "attributeNames": None,
        },
        "fileSystemDataSource": None,
        "compressionType": "NONE",
        "recordWrapper": "NONE",
        "shuffleConfig": None,
        "inputMode": "FILE",
        "sharded": False,
    }
    assert init["channels"]["images"]["sharded"] is True
    assert {name: value for name, value in init.items() if name != "channels"} == {
        "inputMode": "FILE",
        "checkpointChannel": None,
        "hostConfig": {"clusterSize": 10, "hostNumber": 8},
        "enableDataAgentDownloads": False,
        "jobRunInfo": None,
    }


def test_request_contains_the_actual_hosts():
    files = decoded(PAYLOAD, 0, 2)
    assert files["resourceconfig"]["hosts"] == ["algo-1", "algo-2"]
    resources = {**PAYLOAD["ResourceConfig"], "InstanceCount": 2}
    assert files["trainingjobconfig"] == {**PAYLOAD, "ResourceConfig": resources}
    assert files["metric-definition-regex"] == [{"Name": "loss", "Regex": "loss=(.*)"}]
    assert files["upstreamoutputdataconfig"] == []


def test_instance_groups_number_hosts_and_filter_channels():
    groups = [
        {"InstanceGroupName": "heads", "InstanceType": "ml.c5.large", "InstanceCount": 1},
        {"InstanceGroupName": "workers", "InstanceType": "ml.g5.xlarge", "InstanceCount": 2},
    ]
    channels = json.loads(json.dumps(PAYLOAD["InputDataConfig"]))
    channels[0]["DataSource"]["S3DataSource"]["InstanceGroupNames"] = ["workers"]
    payload = {**PAYLOAD, "ResourceConfig": {"InstanceGroups": groups}, "InputDataConfig": channels}
    head, worker = decoded(payload, 0), decoded(payload, 2)
    assert head["resourceconfig"]["current_group_name"] == "heads"
    assert worker["resourceconfig"]["current_host"] == "algo-3"
    assert worker["resourceconfig"]["current_instance_type"] == "ml.g5.xlarge"
    assert worker["resourceconfig"]["instance_groups"] == [
        {"instance_group_name": "heads", "instance_type": "ml.c5.large", "hosts": ["algo-1"]},
        {"instance_group_name": "workers", "instance_type": "ml.g5.xlarge", "hosts": ["algo-2", "algo-3"]},
    ]
    assert set(head["inputdataconfig"]) == {"images"}
    assert set(worker["inputdataconfig"]) == {"my-input-data", "images"}


def test_job_without_instances_has_one_host():
    """ServerlessJobConfig sets no number of hosts."""
    assert decoded({"TrainingJobName": "x"})["resourceconfig"]["hosts"] == ["algo-1"]


def test_files_of_the_platform_exist_where_the_request_has_them():
    """With the directory that SageMaker takes by default."""
    names = ("checkpointconfig", "debughookconfig", "tensorboardoutputconfig")
    assert not set(names) & decoded(PAYLOAD).keys()
    checkpoints = {"S3Uri": "s3://b/c/", "LocalPath": "/opt/ml/ck"}
    hook = {"S3OutputPath": "s3://b/d/", "CollectionConfigurations": [{"CollectionName": "losses"}]}
    board = {"S3OutputPath": "s3://b/t/"}
    found = decoded(
        {**PAYLOAD, "CheckpointConfig": checkpoints, "DebugHookConfig": hook, "TensorBoardOutputConfig": board}
    )
    assert [found[name] for name in names] == [
        checkpoints,
        {**hook, "LocalPath": "/opt/ml/output/tensors"},
        {**board, "LocalPath": "/opt/ml/output/tensorboard"},
    ]
