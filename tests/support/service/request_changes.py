"""Parts of requests, and changes that insert them."""

from __future__ import annotations

import json

from smspec.source import Path
from support.service.raw_requests import GONE

ALG = ("AlgorithmSpecification",)
HOSTS = ("ResourceConfig",)
STOP = ("StoppingCondition",)
CHANNEL = ("InputDataConfig", 0)
S3 = (*CHANNEL, "DataSource", "S3DataSource")
GROUPS = (*HOSTS, "InstanceGroups")
PLACES = (*HOSTS, "InstancePlacementConfig", "PlacementSpecifications")
SERVERLESS = ("ServerlessJobConfig",)
SETTINGS = ("HyperParameters", "sagemaker_smspec")
SECRETS = (*SETTINGS, "secrets")
HUB = "arn:aws:sagemaker:us-west-2:aws:hub-content/SageMakerPublicHub"
KEY = "arn:aws:kms:us-west-2:111122223333:key/00000000-0000-0000-0000-000000000000"
VPC = {"SecurityGroupIds": ["sg-0aaaaaaaaaaaaaaaa"], "Subnets": ["subnet-0aaaaaaaaaaaaaaaa"]}

Change = tuple[Path, object]


def s3_channel(name: str = "train", **members: object) -> dict[str, object]:
    """Return a channel that reads a folder; ``members`` are those of its S3DataSource."""
    source = {"S3DataType": "S3Prefix", "S3Uri": "s3://example-data/train/", **members}
    return {"ChannelName": name, "DataSource": {"S3DataSource": source}}


def file_system(**members: object) -> Change:
    """Return the change to a channel on a file system."""
    source = {
        "FileSystemId": "fs-0123456789abcdef0",
        "FileSystemAccessMode": "ro",
        "FileSystemType": "EFS",
        "DirectoryPath": "/data",
    }
    return CHANNEL, {"ChannelName": "train", "DataSource": {"FileSystemDataSource": source | members}}


def group(name: str, kind: str = "ml.m5.large", count: int = 1) -> dict[str, object]:
    return {"InstanceGroupName": name, "InstanceType": kind, "InstanceCount": count}


def groups(*listed: dict[str, object]) -> tuple[Change, ...]:
    """Return the changes to hosts in groups."""
    return ((*HOSTS, "InstanceType"), GONE), ((*HOSTS, "InstanceCount"), GONE), (GROUPS, list(listed))


def serverless(**members: object) -> tuple[Change, ...]:
    """Return the changes to a serverless job."""
    config = {"JobType": "FineTuning", "CustomizationTechnique": "SFT", "BaseModelArn": f"{HUB}/Model/m", **members}
    return (ALG, GONE), (HOSTS, GONE), (STOP, GONE), (SERVERLESS, config)


def fetching(variable: str, arn: str = "arn:aws:ssm:us-west-2:111122223333:parameter/a") -> Change:
    """Return the change to a job whose runtime fetches a secret."""
    return SETTINGS, json.dumps({"secrets": {variable: arn}})


def hosts(**members: object) -> tuple[Change, ...]:
    return tuple(((*HOSTS, name), value) for name, value in members.items())


TRAIN: Change = (CHANNEL, s3_channel())
IN_VPC: Change = (("VpcConfig",), VPC)
SPOT: Change = (("EnableManagedSpotTraining",), True)
CHECKPOINTS: Change = (("CheckpointConfig",), {"S3Uri": "s3://example-models/checkpoints/"})
PROFILER: Change = (("ProfilerConfig",), {"S3OutputPath": "s3://example-models/profile/"})
HOOK: Change = (("DebugHookConfig",), {"S3OutputPath": "s3://example-models/debug/"})
RULE = {"RuleConfigurationName": "r", "RuleEvaluatorImage": "895741380848.dkr.ecr.us-west-2.amazonaws.com/r:1"}
LINEAR = "174872318107.dkr.ecr.us-west-2.amazonaws.com/linear-learner:1"
METRIC = {"Name": "loss", "Regex": "loss=([0-9.]+)"}
IMAGE = (*ALG, "TrainingImage")
REGISTRY = "registry.example.com/team/train:1"
IMAGE_CONFIG = (*ALG, "TrainingImageConfig")
MODE = (*ALG, "TrainingInputMode")
AUTH = {"TrainingRepositoryCredentialsProviderArn": "arn:aws:lambda:us-west-2:111122223333:function:credentials"}
FASTFILE: Change = (MODE, "FastFile")
PIPE: Change = (MODE, "Pipe")
