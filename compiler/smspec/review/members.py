"""Which member of a request is of which kind of change, and what it is called."""

from __future__ import annotations

from smspec.review.user_text import quoted
from smspec.source import Path
from smspec.source.frozen import dataclass

_S3 = ("InputDataConfig", "*", "DataSource", "S3DataSource")
_FILES = ("InputDataConfig", "*", "DataSource", "FileSystemDataSource")


@dataclass(frozen=True, slots=True)
class Meaning:
    """``kinds``: what a change of the member is; ``words``: what the member is to a reader."""

    kinds: tuple[str, ...]
    words: str


MEMBERS: dict[Path, Meaning] = {
    ("TrainingJobName",): Meaning(("job",), "name of the job"),
    ("HyperParameters", "*"): Meaning(("hyperparameters",), "hyperparameter"),
    ("HyperParameters", "sagemaker_program"): Meaning(("code",), "program"),
    ("HyperParameters", "sagemaker_submit_directory"): Meaning(("code",), "archive of the code"),
    ("AlgorithmSpecification", "TrainingImage"): Meaning(("image",), "image"),
    ("AlgorithmSpecification", "AlgorithmName"): Meaning(("image",), "algorithm"),
    ("AlgorithmSpecification", "TrainingInputMode"): Meaning(("data",), "input mode"),
    ("AlgorithmSpecification", "MetricDefinitions"): Meaning(("other",), "metrics"),
    ("AlgorithmSpecification", "ContainerEntrypoint"): Meaning(("security",), "container entrypoint"),
    ("AlgorithmSpecification", "ContainerArguments"): Meaning(("security",), "container arguments"),
    ("AlgorithmSpecification", "TrainingImageConfig"): Meaning(("security",), "access to the image's registry"),
    ("RoleArn",): Meaning(("security",), "role"),
    ("InputDataConfig", "*"): Meaning(("data",), "channel"),
    ("InputDataConfig", "code"): Meaning(("code",), "channel of the code"),
    ("InputDataConfig", "smspec"): Meaning(("code",), "channel of the runtime and its entry point"),
    (*_S3, "S3Uri"): Meaning(("data",), "where the data lie"),
    (*_S3, "S3DataType"): Meaning(("data",), "what the S3 URI means"),
    (*_S3, "S3DataDistributionType"): Meaning(("data",), "share of each host"),
    (*_S3, "AttributeNames"): Meaning(("data",), "attributes"),
    (*_S3, "InstanceGroupNames"): Meaning(("data",), "instance groups that get the channel"),
    (*_S3, "HubAccessConfig"): Meaning(("security", "data"), "access to a hub"),
    (*_S3, "ModelAccessConfig"): Meaning(("security", "data"), "licence of a model"),
    (*_FILES, "FileSystemId"): Meaning(("data",), "file system"),
    (*_FILES, "DirectoryPath"): Meaning(("data",), "directory of the file system"),
    (*_FILES, "FileSystemAccessMode"): Meaning(("security",), "access to the file system"),
    ("InputDataConfig", "*", "InputMode"): Meaning(("data",), "input mode"),
    ("InputDataConfig", "*", "ContentType"): Meaning(("data",), "content type"),
    ("InputDataConfig", "*", "CompressionType"): Meaning(("data",), "compression"),
    ("InputDataConfig", "*", "RecordWrapperType"): Meaning(("data",), "record wrapper"),
    ("InputDataConfig", "*", "ShuffleConfig"): Meaning(("data",), "shuffle seed"),
    ("OutputDataConfig",): Meaning(("output",), "output"),
    ("OutputDataConfig", "S3OutputPath"): Meaning(("output",), "where the model goes"),
    ("OutputDataConfig", "CompressionType"): Meaning(("output",), "compression of the model"),
    ("OutputDataConfig", "KmsKeyId"): Meaning(("security",), "KMS key of the output"),
    ("TensorBoardOutputConfig",): Meaning(("output",), "where TensorBoard data go"),
    ("DebugHookConfig", "S3OutputPath"): Meaning(("output",), "where debugger data go"),
    ("ProfilerConfig", "S3OutputPath"): Meaning(("output",), "where profiler data go"),
    ("ResourceConfig",): Meaning(("hosts",), "hosts"),
    ("ResourceConfig", "InstanceType"): Meaning(("hosts",), "instance type"),
    ("ResourceConfig", "InstanceCount"): Meaning(("hosts",), "count"),
    ("ResourceConfig", "VolumeSizeInGB"): Meaning(("hosts",), "volume"),
    ("ResourceConfig", "KeepAlivePeriodInSeconds"): Meaning(("hosts",), "keep-alive"),
    ("ResourceConfig", "InstanceGroups"): Meaning(("hosts",), "instance groups"),
    ("ResourceConfig", "TrainingPlanArn"): Meaning(("hosts",), "training plan"),
    ("ResourceConfig", "VolumeKmsKeyId"): Meaning(("security",), "KMS key of the volumes"),
    ("InfraCheckConfig",): Meaning(("hosts",), "check of the hosts"),
    ("VpcConfig", "Subnets"): Meaning(("security",), "subnets"),
    ("VpcConfig", "SecurityGroupIds"): Meaning(("security",), "security groups"),
    ("EnableNetworkIsolation",): Meaning(("security",), "network isolation"),
    ("EnableInterContainerTrafficEncryption",): Meaning(("security",), "encryption between containers"),
    ("StoppingCondition",): Meaning(("cost",), "limits"),
    ("StoppingCondition", "MaxRuntimeInSeconds"): Meaning(("cost",), "longest run time, in seconds"),
    ("StoppingCondition", "MaxWaitTimeInSeconds"): Meaning(("cost",), "longest wait with spot, in seconds"),
    ("StoppingCondition", "MaxPendingTimeInSeconds"): Meaning(("hosts",), "longest wait for hosts, in seconds"),
    ("EnableManagedSpotTraining",): Meaning(("cost",), "managed spot"),
    ("RetryStrategy",): Meaning(("cost",), "retries"),
    ("Tags", "*"): Meaning(("other",), "tag"),
    ("CheckpointConfig",): Meaning(("restart",), "checkpoints"),
    ("Environment", "*"): Meaning(("environment",), "environment variable"),
    ("RemoteDebugConfig",): Meaning(("security",), "remote debugging"),
    ("SessionChainingConfig",): Meaning(("security",), "session tags"),
}
"""Place in the request, ``*`` standing for a name → what it means; the longest match counts."""

_LAUNCHER = Meaning(("hosts",), "launcher")
_UNKNOWN = Meaning(("other",), "")


def meaning(at: Path) -> Meaning:
    """Return what a member means; with a name of its own rather than with ``*``, and of its nearest known parent."""
    if at[0] == "HyperParameters" and str(at[-1]).startswith("sagemaker_") and at not in MEMBERS:
        return _LAUNCHER
    if at[:2] in MEMBERS and at[0] == "InputDataConfig":
        return MEMBERS[at[:2]]
    for length in range(len(at), 0, -1):
        known = MEMBERS.get(at[:length]) or MEMBERS.get((at[0], "*", *at[2:length]) if length > 1 else at[:length])
        if known is not None:
            return known
    return _UNKNOWN


def words(at: Path) -> str:
    """Return what a member is called; one without words by its own name."""
    return meaning(at).words or quoted(str(at[-1]))
