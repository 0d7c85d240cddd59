"""InputDataConfig: channels and their data sources."""

import pytest

from smspec.service.request_rules import request_findings
from support.service.api_samples import ARN, HUB, changed
from support.service.request_cases import request_tests

HERE = "InputDataConfig"
S3 = (HERE, 0, "DataSource", "S3DataSource")
FILES = (HERE, 0, "DataSource", "FileSystemDataSource")
JOB_MODE = ("AlgorithmSpecification", "TrainingInputMode")
VPC = {"SecurityGroupIds": ["sg-01234567"], "Subnets": ["subnet-01234567"]}
MODEL = "application/x-sagemaker-model"
SERVERLESS = {"BaseModelArn": f"{HUB}/Model/sample", "JobType": "FineTuning", "CustomizationTechnique": "SFT"}


def channel(name="train", uri="s3://example-data/x/", s3=(), **members):
    """Return a channel that reads S3; ``s3`` are members of its S3DataSource."""
    source = {"S3DataSource": {"S3DataType": "S3Prefix", "S3Uri": uri} | dict(s3)}
    return {"ChannelName": name, "DataSource": source} | members


def mounted(name="train", directory="/fsx/x", **members):
    files = {"FileSystemId": "fs-01234567", "FileSystemAccessMode": "ro", "FileSystemType": "FSxLustre"}
    return {
        "ChannelName": name,
        "DataSource": {"FileSystemDataSource": files | {"DirectoryPath": directory}},
    } | members


def listed(kind, uri="s3://example-data/train.manifest", mode=None, **s3):
    more = {"AttributeNames": ["source-ref"]} if kind == "AugmentedManifestFile" else {}
    return channel(uri=uri, s3={"S3DataType": kind} | more | s3, **({"InputMode": mode} if mode else {}))


def reading(*channels, mode="File", hosts=1, **parts):
    """Return a request with channels; ``mode`` is that of the job."""
    request = changed(
        InputDataConfig=list(channels),
        ResourceConfig={"InstanceType": "ml.m5.large", "InstanceCount": hosts, "VolumeSizeInGB": 5},
    )
    request["AlgorithmSpecification"] |= {"TrainingInputMode": mode}
    return request | parts


def grouped(*channels, readers=1, workers=1):
    groups = [
        {"InstanceType": "ml.m5.large", "InstanceCount": count, "InstanceGroupName": name}
        for name, count in (("readers", readers), ("workers", workers))
    ]
    return reading(*channels, ResourceConfig={"InstanceGroups": groups, "VolumeSizeInGB": 5})


def assigned(name, *groups, **s3):
    return channel(name, s3={"InstanceGroupNames": list(groups)} | s3)


def on_files(*channels, **parts):
    return reading(*channels, VpcConfig=VPC, **parts)


DATASET = {"DatasetSource": {"DatasetArn": f"{HUB}/DataSet/sample"}}
SHARDED = {"S3DataDistributionType": "ShardedByS3Key"}

REPORTED = [
    (reading({"ChannelName": "train", "DataSource": {}}), "SM430", (HERE, 0, "DataSource")),
    (
        on_files(channel() | {"DataSource": channel()["DataSource"] | mounted()["DataSource"]}),
        "SM430",
        (HERE, 0, "DataSource"),
    ),
    (reading(listed("AugmentedManifestFile", mode="Pipe", AttributeNames=[])), "SM431", (*S3, "S3DataType")),
    (reading(channel(s3={"AttributeNames": ["source-ref"]})), "SM432", (*S3, "AttributeNames")),
    (grouped(assigned("train", "worker", "workers")), "SM433", (*S3, "InstanceGroupNames", 0)),
    (reading(channel(), channel()), "SM435", (HERE, 1, "ChannelName")),
    (reading(mounted(), mounted("test")), "SM443", ("VpcConfig",)),
    (on_files(mounted(InputMode="Pipe")), "SM444", (HERE, 0, "InputMode")),
    (on_files(mounted(InputMode="FastFile")), "SM444", (HERE, 0, "InputMode")),
    (on_files(mounted(), mode="Pipe"), "SM444", JOB_MODE),
    *(
        (on_files(mounted(directory=directory)), "SM445", (*FILES, "DirectoryPath"))
        for directory in ("fsx/x", "", ".", "./x", "/fsx//x", "//fsx", "/fsx/./x", "/fsx/..", "/../x")
    ),
    (reading(listed("AugmentedManifestFile")), "SM446", (*S3, "S3DataType")),
    (reading(listed("AugmentedManifestFile", mode="FastFile")), "SM446", (*S3, "S3DataType")),
    (reading(listed("AugmentedManifestFile"), mode="FastFile"), "SM446", (*S3, "S3DataType")),
    (reading(listed("ManifestFile", mode="FastFile")), "SM447", (*S3, "S3DataType")),
    (reading(channel(uri="s3://example-data/train"), mode="FastFile"), "SM339", (*S3, "S3Uri")),
    (reading(channel(uri="s3://example-data/a.csv/v1.2", InputMode="FastFile")), "SM339", (*S3, "S3Uri")),
    (reading(channel(CompressionType="Gzip")), "SM448", (HERE, 0, "CompressionType")),
    (reading(channel(CompressionType="Gzip", InputMode="FastFile")), "SM448", (HERE, 0, "CompressionType")),
    (
        reading(channel(CompressionType="Gzip", InputMode="File"), mode="Pipe"),
        "SM448",
        (HERE, 0, "CompressionType"),
    ),
    (reading(channel(RecordWrapperType="RecordIO")), "SM449", (HERE, 0, "RecordWrapperType")),
    (reading(channel(RecordWrapperType="RecordIO"), mode="FastFile"), "SM340", (HERE, 0, "RecordWrapperType")),
    (on_files(mounted(ShuffleConfig={"Seed": 1})), "SM341", (HERE, 0, "ShuffleConfig")),
    (reading(listed("ManifestFile", "s3://example-data/x/")), "SM450", (*S3, "S3Uri")),
    (reading(listed("ManifestFile", "s3://example-data")), "SM450", (*S3, "S3Uri")),
    (reading(listed("AugmentedManifestFile", "s3://example-data/x/", "Pipe")), "SM450", (*S3, "S3Uri")),
    (reading(channel(s3=SHARDED)), "SM342", (*S3, "S3DataDistributionType")),
    (grouped(assigned("train", "readers", **SHARDED), workers=4), "SM342", (*S3, "S3DataDistributionType")),
    (
        grouped(assigned("train", "readers"), channel("labels")),
        "SM451",
        (HERE, 1, "DataSource", "S3DataSource", "InstanceGroupNames"),
    ),
    (grouped(assigned("train"), assigned("labels", "workers")), "SM451", (*S3, "InstanceGroupNames")),
    (
        reading(channel(s3={"ModelAccessConfig": {"AcceptEula": False}})),
        "SM452",
        (*S3, "ModelAccessConfig", "AcceptEula"),
    ),
    (
        reading(channel(s3={"HubAccessConfig": {"HubContentArn": f"{HUB}/Model/sample/1.0.0"}})),
        "SM343",
        (*S3, "HubAccessConfig", "HubContentArn"),
    ),
    (reading(channel(s3={"S3DataType": "Converse"})), "SM344", (*S3, "S3DataType")),
    (reading({"ChannelName": "a", "DataSource": DATASET}), "SM345", (HERE, 0, "DataSource", "DatasetSource")),
    (reading(channel(ContentType=MODEL), mode="Pipe"), "SM453", JOB_MODE),
    (reading(channel(ContentType=MODEL, InputMode="FastFile")), "SM453", (HERE, 0, "InputMode")),
]

ACCEPTED = [
    changed(),
    reading(channel(), channel("test")),
    grouped(assigned("train", "workers")),
    on_files(mounted()),
    on_files(mounted(InputMode="File"), channel("test"), mode="Pipe"),
    on_files(mounted(directory="/")),
    on_files(mounted(directory="/fsx/.hidden/a..b/")),
    reading(listed("AugmentedManifestFile", mode="Pipe")),
    reading(listed("AugmentedManifestFile"), mode="Pipe"),
    reading(listed("ManifestFile"), listed("ManifestFile", mode="Pipe") | {"ChannelName": "test"}),
    reading(channel(InputMode="FastFile")),
    reading(channel(uri="s3://example-data", InputMode="FastFile")),
    reading(channel(uri="s3://example-data/x/part-0.csv", InputMode="FastFile")),
    reading(channel(uri="s3://example-data/x")),
    reading(channel(uri="s3://example-data/x", InputMode="Pipe")),
    reading(channel(CompressionType="Gzip", InputMode="Pipe")),
    reading(channel(CompressionType="Gzip"), mode="Pipe"),
    reading(channel(CompressionType="None", RecordWrapperType="None")),
    reading(channel(RecordWrapperType="RecordIO"), mode="Pipe"),
    reading(channel(ShuffleConfig={"Seed": 1}), mode="Pipe"),
    reading(channel(s3=SHARDED), hosts=2),
    reading(channel(s3={"S3DataDistributionType": "FullyReplicated"})),
    grouped(assigned("train", "readers", "workers", **SHARDED)),
    grouped(assigned("train", "readers", **SHARDED), readers=2),
    grouped(channel(), channel("labels")),
    grouped(assigned("train", "readers"), mounted("labels")) | {"VpcConfig": VPC},
    reading(channel(s3={"ModelAccessConfig": {"AcceptEula": True}})),
    reading(
        channel(s3={"HubAccessConfig": {"HubContentArn": f"{ARN}:hub-content/Hub/ModelReference/sample/1"}}),
    ),
    changed(
        InputDataConfig=[{"ChannelName": "a", "DataSource": DATASET}, channel("b", s3={"S3DataType": "Converse"})],
        AlgorithmSpecification=None,
        ResourceConfig=None,
        ServerlessJobConfig=SERVERLESS,
    ),
    reading(channel(ContentType=MODEL)),
    reading(channel(ContentType=MODEL, InputMode="File"), mode="Pipe"),
    reading(channel(ContentType="text/csv"), mode="Pipe"),
]

test_fault_is_reported_at_its_path, test_similar_request_is_accepted = request_tests(REPORTED, ACCEPTED)


MISSPELT = [
    (reading(channel(CompressionType="gzip")), (HERE, 0, "CompressionType")),
    (reading(channel(CompressionType="Gzip", InputMode="file")), (HERE, 0, "InputMode")),
    (reading(listed("AugmentedManifest")), (*S3, "S3DataType")),
    (reading(mounted(directory=7), VpcConfig=VPC), (*FILES, "DirectoryPath")),
    (reading(channel(uri="bucket/train", InputMode="FastFile")), (*S3, "S3Uri")),
]


@pytest.mark.parametrize(("request_", "path"), MISSPELT)
def test_shape_error_is_reported_once(request_, path):
    found = request_findings(request_)
    assert len({finding.path for finding in found}) == len(found)
    assert path in {finding.path for finding in found}


def test_unknown_group_suggests_instance_groups():
    (found,) = request_findings(reading(channel(s3={"InstanceGroupNames": ["workers"]})))
    assert (found.code, found.label) == ("SM433", "")
    assert "`ResourceConfig.InstanceGroups`" in found.help
