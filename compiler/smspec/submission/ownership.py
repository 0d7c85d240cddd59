"""Whether a job in SageMaker is that of a request: a name proves nothing, because anyone may create a job with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smspec.diagnostics.visible import visible
from smspec.service.members import member
from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import JobRefused
from smspec.submission.job_service import DIGEST_TAG, JobService
from smspec.submission.training_job import TrainingJob

_NOT_COMPARED = (
    *("TrainingJobName", "Tags"),
    "SessionChainingConfig",  # DescribeTrainingJob does not return it
    *("ProfilerConfig", "ProfilerRuleConfigurations", "RemoteDebugConfig"),  # UpdateTrainingJob changes them
)
_OF_THE_RESPONSE = (
    *("TrainingJobArn", "TuningJobArn", "LabelingJobArn", "AutoMLJobArn", "ModelArtifacts", "TrainingJobStatus"),
    *("SecondaryStatus", "FailureReason", "CreationTime", "TrainingStartTime", "TrainingEndTime", "LastModifiedTime"),
    *("SecondaryStatusTransitions", "FinalMetricDataList", "TrainingTimeInSeconds", "BillableTimeInSeconds"),
    *("BillableTokenCount", "DebugRuleEvaluationStatuses", "ProfilerRuleEvaluationStatuses", "ProfilingStatus"),
    *("WarmPoolStatus", "OutputModelPackageArn", "ProgressInfo", "MlflowDetails", "ResponseMetadata"),
)
"""Members of the response that no request has."""

_EMPTY: tuple[object, ...] = (None, False, "", "None", 0)
_EXACT = ("HyperParameters", "Environment")
"""Maps with keys of the author: SageMaker adds nothing to them, and an empty value is a value."""

_KEEP_ALIVE = "ResourceConfig.KeepAlivePeriodInSeconds"  # UpdateTrainingJob changes it
_METRICS = "AlgorithmSpecification.MetricDefinitions"
_FILLED_IN = (
    *("ExperimentConfig", "RetryStrategy", "InfraCheckConfig", _METRICS),
    *("AlgorithmSpecification.EnableSageMakerMetricsTimeSeries", "ResourceConfig.VolumeSizeInGB"),
    *("StoppingCondition.MaxWaitTimeInSeconds", "StoppingCondition.MaxPendingTimeInSeconds", "MlflowConfig"),
)
"""What SageMaker adds with any value if the request does not set it."""

_DEFAULTS = {
    "OutputDataConfig.CompressionType": "GZIP",
    "InputDataConfig.DataSource.S3DataSource.S3DataDistributionType": "FullyReplicated",
    "InputDataConfig.DataSource.FileSystemDataSource.FileSystemAccessMode": "ro",
    "AlgorithmSpecification.TrainingInputMode": "File",
    "StoppingCondition.MaxRuntimeInSeconds": 86400,
    "CheckpointConfig.LocalPath": "/opt/ml/checkpoints",
    "TensorBoardOutputConfig.LocalPath": "/opt/ml/output/tensorboard",
}
_DIRECTORIES = (
    *("OutputDataConfig.S3OutputPath", "CheckpointConfig.S3Uri", "TensorBoardOutputConfig.S3OutputPath"),
    *("DebugHookConfig.S3OutputPath", "DebugRuleConfigurations.S3OutputPath"),
)
"""Addresses that mean the same with a `/` at their end."""

_MOST_NAMED = 4


def require_own(
    service: JobService, job: TrainingJob, request: Mapping[str, Any], digest: str, *, name_is_derived: bool
) -> None:
    """Raise `JobRefused` if a job with the name of a request is not that of the request.

    The tag `smspec:digest` alone does not show it, because it can be copied. If the author chose the name, the tag must
    be there as well. Raise `AwsUnavailable` if AWS cannot be called.
    """
    differing = [path for path in differences(request, job.answer) if not _is_same_key(service, path, request, job)]
    if not differing and name_is_derived:
        return
    # Emulators omit whole members, such as `Environment`; SageMaker omits none that a request sets.
    omitted = {name for name in request if name not in job.answer and not service.is_in_aws}
    if omitted.issuperset(differing) and service.tags(job).get(DIGEST_TAG) == digest:
        return
    names = ", ".join(f"`{visible(path)}`" for path in differing[:_MOST_NAMED])
    more = f" and {len(differing) - _MOST_NAMED} more" if len(differing) > _MOST_NAMED else ""
    verb = "differ" if len(differing) > 1 else "differs"
    what = f"{names}{more} {verb} from the spec" if differing else f"its tag `{DIGEST_TAG}` is not that of the spec"
    fix = "change the spec, or pass `--run-id`" if name_is_derived else "change `job_name`, or remove it"
    raise JobRefused(
        f"a different job is named `{job.name}` in {service.region}: {what}; smspec leaves it alone, and a name can be"
        f" used once: {fix}"
    )


def _is_same_key(service: JobService, path: str, request: Mapping[str, Any], job: TrainingJob) -> bool:
    """Return whether two different names at a path are of one KMS key, which only KMS knows if one is an alias.

    The names of a description are those of its request, so this is asked only about a job that is probably different.
    """
    steps = path.split(".")
    sent, there = member(request, *steps), member(job.answer, *steps)
    if not isinstance(sent, str) or not isinstance(there, str) or not sent or not there:
        return False
    if not steps[-1].endswith("KmsKeyId") or ("alias/" not in sent and "alias/" not in there):
        return False
    found = service.key_arn(sent)
    return found is not None and found == service.key_arn(there)


def differences(request: Mapping[str, Any], answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the members of a request that a description shows with another value, as dotted paths.

    SageMaker adds defaults to a description, and omits empty members; it completes more of a job that names an
    algorithm or is serverless, so only what the request sets is compared there.
    """
    sent = {name: value for name, value in request.items() if name not in _NOT_COMPARED}
    there = {name: value for name, value in answer.items() if name not in (*_NOT_COMPARED, *_OF_THE_RESPONSE)}
    fields = str(answer.get("TrainingJobArn") or "").split(":")
    compared = _Comparison(
        is_completed=bool(
            request.get("ServerlessJobConfig") or member(request, "AlgorithmSpecification", "AlgorithmName")
        ),
        input_mode=member(request, "AlgorithmSpecification", "TrainingInputMode"),
        place=":".join(fields[3:5]) if len(fields) > 5 else "",
    )
    yield from compared.in_mapping("", sent, there)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """``input_mode``: of the channels that set none. ``place``: region and account of the job, as in an ARN."""

    is_completed: bool
    input_mode: object
    place: str

    def in_mapping(self, path: str, sent: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
        for name in dict.fromkeys((*sent, *there)):
            below = f"{path}.{name}".lstrip(".")
            if below == _KEEP_ALIVE:
                continue
            if name not in sent:
                if not self.is_completed and not self._is_filled_in(below, there[name]):
                    yield below
            elif name not in there:
                if not _is_default(below, sent[name]):
                    yield below
            else:
                yield from self._in_value(below, sent[name], there[name])

    def _in_value(self, path: str, sent: Any, there: Any) -> Iterator[str]:
        if path in _EXACT and isinstance(sent, Mapping) and isinstance(there, Mapping):
            names = sent if self.is_completed else dict.fromkeys((*sent, *there))
            yield from (f"{path}.{name}" for name in names if sent.get(name) != there.get(name))
        elif isinstance(sent, Mapping) and isinstance(there, Mapping):
            yield from self.in_mapping(path, sent, there)
        elif isinstance(sent, (list, tuple)) and isinstance(there, (list, tuple)):
            ours, theirs = _ordered(path, sent), _ordered(path, there)
            if path == _METRICS:
                theirs = [each for each in theirs if each in ours]  # SageMaker adds those of its algorithms
            if len(ours) != len(theirs):
                yield path
                return
            found = (each for one, other in zip(ours, theirs, strict=True) for each in self._in_value(path, one, other))
            yield from dict.fromkeys(found)
        elif not self._is_same(path, sent, there):
            yield path

    def _is_same(self, path: str, sent: Any, there: Any) -> bool:
        if sent == there or type(sent) is not str or type(there) is not str:
            return bool(sent == there)
        name = path.rpartition(".")[2]
        # A description has the image of its request: a tag with a digest added is that of a different one.
        if name == "AlgorithmName":
            return self._is_arn(sent, "sagemaker", f"algorithm/{there}") or self._is_arn(
                there, "sagemaker", f"algorithm/{sent}"
            )
        if name.endswith("KmsKeyId"):
            return any(
                self._is_arn(arn, "kms", each if each.startswith("alias/") else f"key/{each}")
                for arn, each in ((sent, there), (there, sent))
            )
        # The address of a channel is a prefix of keys, in which a `/` selects other objects.
        return path in _DIRECTORIES and sent.rstrip("/") == there.rstrip("/")

    def _is_arn(self, arn: str, service: str, resource: str) -> bool:
        """Return whether an ARN is of what a request names without one: a resource of its own account and region."""
        _, _, rest = arn.partition(":")
        return (
            bool(self.place)
            and arn.startswith("arn:")
            and rest.partition(":")[2] == f"{service}:{self.place}:{resource}"
        )

    def _is_filled_in(self, path: str, value: Any) -> bool:
        if path == "InputDataConfig.InputMode":
            return bool(value == (self.input_mode or "File"))
        if isinstance(value, Mapping) and path not in _FILLED_IN and path not in _EXACT:
            return all(self._is_filled_in(f"{path}.{name}", each) for name, each in value.items())
        return _is_default(path, value) or any(path == each or path.startswith(f"{each}.") for each in _FILLED_IN)


def _ordered(path: str, items: Any) -> list[Any]:
    """Return a list whose order has a meaning as it is, and others sorted."""
    if path == "InputDataConfig":
        return sorted(items, key=lambda channel: str(channel.get("ChannelName")))
    return sorted(items) if path in ("VpcConfig.Subnets", "VpcConfig.SecurityGroupIds") else list(items)


def _is_default(path: str, value: Any) -> bool:
    if path in _EXACT:
        return not value
    if isinstance(value, Mapping):
        return all(_is_default(f"{path}.{name}", each) for name, each in value.items())
    return value in _EMPTY or value == [] or value == () or _DEFAULTS.get(path) == value
