"""Requests that break rules about built-in algorithms and about launchers, with the path of the fault."""

from __future__ import annotations

from smspec.source import Path
from support.service.raw_requests import GONE
from support.service.request_changes import (
    ALG,
    CHANNEL,
    HOSTS,
    IMAGE,
    IN_VPC,
    MODE,
    RULE,
    S3,
    Change,
    hosts,
    s3_channel,
)

REGISTRY = "174872318107.dkr.ecr.us-west-2.amazonaws.com"
PARAMETERS = ("HyperParameters",)
GPU = (((*HOSTS, "VolumeSizeInGB"), GONE), ((*HOSTS, "InstanceType"), "ml.g5.xlarge"))
NVME: Change = ((*HOSTS, "VolumeSizeInGB"), GONE)


def algorithm(name: str, **hyperparameters: str) -> tuple[Change, ...]:
    """Return the changes to a job of an algorithm with a channel `train`."""
    train = s3_channel() | {"ContentType": "text/csv"}
    return (IMAGE, f"{REGISTRY}/{name}:1"), (CHANNEL, train), (PARAMETERS, hyperparameters)


def launched(kind: str, **hyperparameters: str) -> tuple[Change, ...]:
    """Return the changes to a job of the toolkit with a launcher."""
    settings = {f"sagemaker_{name}": value for name, value in hyperparameters.items()}
    return *hosts(InstanceType=kind), NVME, (PARAMETERS, settings)


KMEANS = algorithm("kmeans", k="10", feature_dim="784")
LDA = algorithm("lda", num_topics="3", feature_dim="9", mini_batch_size="100")
OBJECT2VEC = algorithm("object2vec", enc0_max_seq_len="9", enc0_vocab_size="99")
XGBOOST = algorithm("xgboost", num_round="10")
FOREST = algorithm("randomcutforest", feature_dim="9")
LINEAR = algorithm("linear-learner", predictor_type="regressor")
CONTENT = (*CHANNEL, "ContentType")
MANIFEST = s3_channel(
    S3DataType="AugmentedManifestFile", S3Uri="s3://b-1/m", AttributeNames=["source-ref", "class"]
) | {"RecordWrapperType": "RecordIO", "ContentType": "application/x-recordio"}

ABOUT_ALGORITHMS: list[tuple[str, tuple[Change, ...], Path, str]] = [
    ("channel", (*KMEANS, ((*CHANNEL, "ChannelName"), "training")), (*CHANNEL, "ChannelName"), "SM492"),
    ("no channel", (*KMEANS, (("InputDataConfig",), GONE)), ("InputDataConfig",), "SM492"),
    (
        "optional channel",
        (*KMEANS, (("InputDataConfig", 1), s3_channel("tests"))),
        ("InputDataConfig", 1, "ChannelName"),
        "SM395",
    ),
    ("mode", (*OBJECT2VEC, (MODE, "Pipe")), MODE, "SM493"),
    ("hosts", (*LDA, *hosts(InstanceCount=2)), (*HOSTS, "InstanceCount"), "SM494"),
    ("CPU", algorithm("object-detection", num_classes="2"), (*HOSTS, "InstanceType"), "SM495"),
    ("GPU", (*LDA, *GPU), (*HOSTS, "InstanceType"), "SM396"),
    (
        "whole data",
        (*FOREST, ((*S3, "S3DataDistributionType"), "FullyReplicated")),
        (*S3, "S3DataDistributionType"),
        "SM496",
    ),
    ("required", algorithm("kmeans", k="10"), (*PARAMETERS, "feature_dim"), "SM497"),
    ("range", (*KMEANS, ((*PARAMETERS, "k"), "0")), (*PARAMETERS, "k"), "SM498"),
    ("one range", (*KMEANS, ((*PARAMETERS, "k"), "1")), (*PARAMETERS, "k"), "SM399"),
    ("name", (*KMEANS, ((*PARAMETERS, "epoch"), "1")), (*PARAMETERS, "epoch"), "SM414"),
    ("quotes", (*XGBOOST, ((*PARAMETERS, "booster"), '"dart"')), (*PARAMETERS, "booster"), "SM415"),
    ("word", (*XGBOOST, ((*PARAMETERS, "booster"), "dert")), (*PARAMETERS, "booster"), "SM417"),
    (
        "different mode",
        algorithm("blazingtext", mode="supervised", window_size="5"),
        (*PARAMETERS, "window_size"),
        "SM499",
    ),
    ("variables", (*KMEANS, (("Environment",), {"A": "b"})), ("Environment",), "SM822"),
    (
        "manifest",
        (
            *algorithm("image-classification", num_classes="2", num_training_samples="9"),
            *GPU,
            (MODE, "Pipe"),
            (CHANNEL, MANIFEST),
            (("InputDataConfig", 1), MANIFEST | {"ChannelName": "validation", "RecordWrapperType": "None"}),
        ),
        ("InputDataConfig", 1, "RecordWrapperType"),
        "SM821",
    ),
    ("no content type", (*XGBOOST, (CONTENT, GONE)), CONTENT, "SM397"),
    ("content type", (*LINEAR, (CONTENT, "application/json")), CONTENT, "SM398"),
]

DATA_PARALLEL = "distributed_dataparallel_enabled"

ABOUT_LAUNCHERS: list[tuple[str, tuple[Change, ...], Path, str]] = [
    (
        "processes",
        launched("ml.g5.xlarge", mpi_enabled="true", mpi_num_of_processes_per_host="8"),
        (*PARAMETERS, "sagemaker_mpi_num_of_processes_per_host"),
        "SM389",
    ),
    ("no GPUs", launched("ml.c5.xlarge", **{DATA_PARALLEL: "true"}), (*HOSTS, "InstanceType"), "SM491"),
    ("newer GPUs", launched("ml.p5.48xlarge", **{DATA_PARALLEL: "true"}), (*HOSTS, "InstanceType"), "SM390"),
    (
        "EFA",
        (*hosts(InstanceType="ml.p4d.24xlarge", InstanceCount=2), NVME, IN_VPC),
        ("VpcConfig", "SecurityGroupIds"),
        "SM391",
    ),
    (
        "region",
        (
            *hosts(InstanceType="ml.p3dn.24xlarge"),
            NVME,
            ((*ALG, "TrainingImage"), "111122223333.dkr.ecr.eu-central-1.amazonaws.com/sample:1"),
        ),
        (*HOSTS, "InstanceType"),
        "SM392",
    ),
    (
        "rules",
        ((("DebugRuleConfigurations",), [RULE | {"RuleConfigurationName": name} for name in "abcde"]),),
        ("DebugRuleConfigurations",),
        "SM416",
    ),
]
