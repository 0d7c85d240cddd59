"""What the values of a request are called when something is wrong with them, and what form they have."""

from __future__ import annotations

from smspec.diagnostics.durations import duration
from smspec.service.shapes import Shape
from smspec.source import Path

# Shapes whose name says little to the author of a spec. Others are called by their member.
_NOUNS = {
    "AlgorithmImage": "the address of the image",
    "AttributeName": "the attribute name",
    "AttributeNames": "the list of attributes",
    "ChannelName": "the channel name",
    "ConfigValue": "the word",
    "ContentType": "the content type",
    "DirectoryPath": "the directory",
    "FileSystemId": "the id of the file system",
    "HyperParameterKey": "the name of the hyperparameter",
    "HyperParameters": "the mapping of hyperparameters",
    "InputDataConfig": "the list of channels",
    "InstanceGroupName": "the name of the instance group",
    "InstanceGroups": "the list of instance groups",
    "KeepAlivePeriodInSeconds": "the keep-alive period",
    "KmsKeyId": "the KMS key",
    "MaxPendingTimeInSeconds": "the longest time to wait for hosts",
    "MaxRuntimeInSeconds": "the longest run time",
    "MaxWaitTimeInSeconds": "the longest time for the whole spot job",
    "MaximumRetryAttempts": "the number of retries",
    "MetricDefinitionList": "the list of metrics",
    "MetricName": "the name of the metric",
    "MetricRegex": "the regular expression of the metric",
    "OptionalVolumeSizeInGB": "the volume",
    "ProcessingInstanceType": "the instance type",
    "RoleArn": "the role",
    "S3Uri": "the S3 address",
    "SecurityGroupId": "the security group",
    "SubnetId": "the subnet",
    "Subnets": "the list of subnets",
    "TagKey": "the name of the tag",
    "TagList": "the list of tags",
    "TagValue": "the value of the tag",
    "TrainingContainerArgument": "the word",
    "TrainingContainerEntrypointString": "the word of the command",
    "TrainingEnvironmentKey": "the name of the environment variable",
    "TrainingEnvironmentMap": "the environment",
    "TrainingInstanceCount": "the number of hosts",
    "TrainingInstanceType": "the instance type",
    "TrainingJobName": "the job name",
    "TrainingPlanArn": "the ARN of the training plan",
    "VpcSecurityGroupIds": "the list of security groups",
}
_NOUNS_OF_MAPS = {"HyperParameters": "hyperparameter", "Environment": "environment variable"}
_FORMS = {
    "ChannelName": "letters, digits, `.`, `-` and `_`",
    "TrainingEnvironmentKey": "letters, digits and `_`, not a digit first",
    "FileSystemId": "fs- and at least 8 of 0-9 and a-f",
    "KmsKeyId": "a key id, `alias/…` or an ARN: letters, digits and `: / _ -`",
    "RoleArn": "arn:aws:iam::<12 digits>:role/<name>",
    "S3Uri": "s3://<bucket>/<key>, in one line",
    "SecurityGroupId": "letters, digits and `-`",
    "SubnetId": "letters, digits and `-`",
    "TagKey": "letters, digits, blanks and `_ . : / = + - @`",
    "TagValue": "letters, digits, blanks and `_ . : / = + - @`",
    "TrainingJobName": "letters, digits and `-`, neither first nor last a `-`",
    "TrainingPlanArn": "arn:aws:sagemaker:<region>:<account>:training-plan/<name>",
}
_KINDS = {
    "structure": "a mapping",
    "map": "a mapping",
    "list": "a list",
    "string": "text",
    "integer": "a whole number",
    "long": "a whole number",
    "boolean": "true or false",
}
_SHOWN = 60


def subject(path: Path, shape: Shape) -> str:
    """Return what the value at ``path`` is called in a message."""
    if len(path) > 1 and (noun := _NOUNS_OF_MAPS.get(str(path[-2]))):
        return (
            f"{noun} `{shown(path[-1])}`" if shape.name not in _NOUNS else f"{_NOUNS[shape.name]} `{shown(path[-1])}`"
        )
    if noun := _NOUNS.get(shape.name):
        return noun
    names = [step for step in path if isinstance(step, str)]
    if not names:
        return "the request"
    return f"`{names[-1]}`" if path[-1] == names[-1] else f"an item of `{names[-1]}`"


def form(shape: Shape) -> str:
    """Return in words, or else as a pattern, what values of a shape look like; empty where that says nothing."""
    if shape.pattern in (None, ".*", ".+"):
        return ""
    return _FORMS.get(shape.name) or f"the pattern `{shape.pattern}`"


def quantity(number: int, shape: Shape, *, in_spec_words: bool = False) -> str:
    """Return a number with its unit: seconds as the author writes them, in a request or in a spec."""
    if shape.name.endswith("InSeconds"):
        return time(number, in_spec_words=in_spec_words)
    return f"{number:,}{' GB' if shape.name.endswith('InGB') else ''}"


def time(seconds: int, *, in_spec_words: bool) -> str:
    """Return ``28,800 s`` or, in the words of a spec, ``8h``."""
    return duration(seconds) if in_spec_words else f"{seconds:,} s"


def kind(shape: Shape) -> str:
    """Return what kind of value a shape takes."""
    return _KINDS[shape.kind]


def kind_of(value: object) -> str:
    """Return what kind of value this is."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "`true`" if value else "`false`"
    if isinstance(value, int):
        return "a whole number"
    if isinstance(value, float):
        return "a number with a fraction"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"


def shown(value: object) -> str:
    """Return a value for a message: in one line, cut where it is long."""
    text = "".join(character if character.isprintable() else "�" for character in str(value))
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
