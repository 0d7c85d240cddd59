"""Values of the right kind for variables without a default, so that smspec can compile and check the spec."""

from __future__ import annotations

import re

from smspec.service.shapes import Shape

_BY_STEM = {
    "region": "us-west-2",
    "account": "111122223333",
    "account_id": "111122223333",
    "bucket": "example-bucket",
    "role": "arn:aws:iam::111122223333:role/SageMakerTraining",
    "partition": "aws",
}
_KEY = "arn:aws:kms:us-west-2:111122223333:key/example"
_BY_MEMBER: dict[str, object] = {
    "RoleArn": _BY_STEM["role"],
    "TrainingImage": "111122223333.dkr.ecr.us-west-2.amazonaws.com/example:1",
    "InstanceType": "ml.m5.xlarge",
    "InstanceCount": 1,
    "VolumeSizeInGB": 30,
    "MaxRuntimeInSeconds": 3600,
    "MaxWaitTimeInSeconds": 7200,
    "MaxPendingTimeInSeconds": 7200,
    "KeepAlivePeriodInSeconds": 600,
    "Subnets": "subnet-0aa0aa0aa0aa0aa00",
    "SecurityGroupIds": "sg-0bb0bb0bb0bb0bb00",
    "S3Uri": "s3://example-data/example/",
    "S3OutputPath": "s3://example-bucket/example/",
    "KmsKeyId": _KEY,
    "VolumeKmsKeyId": _KEY,
    "FileSystemId": "fs-0123456789abcdef0",
    "TrainingInputMode": "File",
    "InputMode": "File",
    "AlgorithmName": "example",
}
_ECR = ".dkr.ecr."
_REGISTRY = "111122223333.dkr.ecr.us-west-2.amazonaws.com"
GENERIC = "example"


def placeholder(name: str, member: str, shape: Shape | None, before: str, after: str) -> object:
    """Return a value for a variable where it is used.

    ``member``: the nearest member of the request that has a name; ``before`` and ``after``: the rest of the string.
    """
    beside = _beside(before, after)
    if beside:
        return beside
    is_beginning = not before
    if is_beginning and member == "TrainingImage" and after[:1] in ("/", ":", "@"):
        return _REGISTRY if after[0] == "/" else f"{_REGISTRY}/{GENERIC}"
    if is_beginning and member in _BY_MEMBER and (not after or member.startswith("S3")):
        return _BY_MEMBER[member]
    if shape is not None and not before and not after:
        if shape.enum:
            return shape.enum[0]
        if shape.kind == "boolean":
            return True
        if shape.kind in ("integer", "long"):
            return max(1, shape.minimum or 1)
    if is_beginning and (member.endswith("S3Uri") or re.search("(?i)uri$|path$", member)):
        return _BY_MEMBER["S3Uri"]
    return _BY_STEM.get(name.rstrip("0123456789_"), GENERIC)


def _beside(before: str, after: str) -> str:
    """Return what a part of a string must be, by its neighbors."""
    if before.endswith("://"):
        return _BY_STEM["bucket"]
    if after.startswith(_ECR):
        return _BY_STEM["account"]
    if _ECR in before and "/" not in before:
        return _BY_STEM["region"] if before.endswith(_ECR) else "amazonaws.com"
    if before.startswith("arn:"):
        field = before.count(":")
        return {1: _BY_STEM["partition"], 3: _BY_STEM["region"], 4: _BY_STEM["account"]}.get(field, "")
    return ""
