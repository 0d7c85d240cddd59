"""Whether a job in SageMaker is that of a request: a name proves nothing, because anyone may create a job with it.

DescribeTrainingJob shows members that the request did not set, and only those may differ; every other member that
CreateTrainingJob takes is compared. A value is among them only if the API reference documents it as the default, or if
SageMaker derives it from the request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from smspec.diagnostics.quoting import visible
from smspec.plan import digest as digest_of
from smspec.service.arns import Arn, parsed_arn, partition_of
from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import parsed_reference
from smspec.service.request import DIGEST_TAG
from smspec.service.shapes import Shape, items, member, number, pinned_model
from smspec.source.frozen import dataclass
from smspec.submission.client import JobRefused
from smspec.submission.job_service import JobService
from smspec.submission.training_job import ServiceJob, TrainingJob

NAMED_BY_SUBMISSION = ("TrainingJobName", "Tags")
NOT_DESCRIBED = ("SessionChainingConfig",)
CHANGED_LATER = (
    *("ProfilerConfig.ProfilingIntervalInMilliseconds", "ProfilerConfig.ProfilingParameters"),
    *("ProfilerConfig.DisableProfiler", "RemoteDebugConfig.EnableRemoteDebug"),
    "ResourceConfig.KeepAlivePeriodInSeconds",
)
"""What UpdateTrainingJob changes; where a profiler writes, and which images its rules run, count nevertheless."""

_MODE = "InputDataConfig.InputMode"
METRICS = "AlgorithmSpecification.MetricDefinitions"
_ANY = ("AlgorithmSpecification.EnableSageMakerMetricsTimeSeries", "ResourceConfig.VolumeSizeInGB")
"""SageMaker decides these by the image and the instance type."""

_OF_SERVERLESS = (
    *("HyperParameters", "StoppingCondition"),
    *("ResourceConfig.InstanceType", "ResourceConfig.InstanceCount", "ResourceConfig.InstanceGroups"),
)
"""SageMaker completes these of a serverless job by the recipe of its model, but no resource of an account, such as a
key or a training plan.
"""

_OF_PREFERENCES = ("InstanceType", "InstanceCount", "SelectedInstanceType", "SelectedInstanceCount")
_DEFAULTS: dict[str, tuple[object, ...]] = {
    "OutputDataConfig.CompressionType": ("GZIP",),
    "InputDataConfig.CompressionType": ("None",),
    "InputDataConfig.RecordWrapperType": ("None",),
    "InputDataConfig.DataSource.S3DataSource.S3DataDistributionType": ("FullyReplicated",),
    "ResourceConfig.InstanceCount": (0,),
    "StoppingCondition.MaxRuntimeInSeconds": (86400,),
    "CheckpointConfig.LocalPath": ("/opt/ml/checkpoints", "/opt/ml/checkpoints/"),
    "TensorBoardOutputConfig.LocalPath": ("/opt/ml/output/tensorboard", "/opt/ml/output/tensorboard/"),
    "DebugHookConfig.LocalPath": ("/opt/ml/output/tensors", "/opt/ml/output/tensors/"),
    "DebugRuleConfigurations.LocalPath": ("/opt/ml/processing/output/rule", "/opt/ml/processing/output/rule/"),
    "DebugRuleConfigurations.VolumeSizeInGB": (0,),
    "ProfilerRuleConfigurations.LocalPath": ("/opt/ml/processing/output/rule", "/opt/ml/processing/output/rule/"),
    "ProfilerRuleConfigurations.VolumeSizeInGB": (0,),
}

_DIRECTORIES = (
    *("OutputDataConfig.S3OutputPath", "CheckpointConfig.S3Uri", "TensorBoardOutputConfig.S3OutputPath"),
    *("DebugHookConfig.S3OutputPath", "DebugRuleConfigurations.S3OutputPath"),
    *("ProfilerConfig.S3OutputPath", "ProfilerRuleConfigurations.S3OutputPath"),
)
"""Addresses that mean the same with one `/` at their end."""

_KEYS = {"InputDataConfig": "ChannelName", "ResourceConfig.InstanceGroups": "InstanceGroupName", METRICS: "Name"}
"""The members that order the items of lists whose order has no meaning."""

_MOST_NAMED = 4


def is_default(path: str, value: object, request: Mapping[str, Any]) -> bool:
    """Return whether a value, which is not a structure, means the same as none: a description may lack it."""
    if value is None or value is False or value in ("", [], (), {}) or path in CHANGED_LATER:
        return True
    return is_same(value, *_DEFAULTS.get(path, ())) or (path == _MODE and is_same(value, *_derived(path, request)))


def is_filled_in(path: str, value: object, request: Mapping[str, Any]) -> bool:
    """Return whether SageMaker shows a value, which is not a structure, for a member that a request does not set."""
    if is_default(path, value, request) or is_same(value, *_derived(path, request)) or path in _ANY:
        return True
    return has_more_metrics(request) if path == METRICS else is_completed_by_recipe(path, request)


def is_completed_by_recipe(path: str, request: Mapping[str, Any]) -> bool:
    """Return whether SageMaker completes a member of a serverless job by the recipe of its model."""
    is_of_recipe = any(path == each or path.startswith(f"{each}.") for each in _OF_SERVERLESS)
    return bool(request.get("ServerlessJobConfig")) and is_of_recipe


def is_of_emulator(path: str, request: Mapping[str, Any], answer: Mapping[str, Any]) -> bool:
    """Return whether an emulator may differ at a path: it omits whole members, such as `Environment`, and adds metrics.

    SageMaker omits no member that a request sets.
    """
    name = path.split(".")[0]
    # Only metrics in addition are listed as those below: what is compared by place differs there as well.
    return path == METRICS or path.startswith(f"{METRICS}.") or (name in request and name not in answer)


def is_same(value: object, *others: object) -> bool:
    """Return whether a value is one of others: `1` is not `true`."""
    return any(value == other and isinstance(value, bool) is isinstance(other, bool) for other in others)


def has_more_metrics(request: Mapping[str, Any]) -> bool:
    """Return whether SageMaker adds metrics to those of a request: its own algorithms and images have some.

    No public table lists them, so added ones are not compared: they only read the log.
    """
    algorithm = request.get("AlgorithmSpecification")
    image = parsed_reference(str(member(algorithm, "TrainingImage") or ""))
    return bool(member(algorithm, "AlgorithmName")) or (image is not None and is_provider(image.account or ""))


def _derived(path: str, request: Mapping[str, Any]) -> Iterator[object]:
    """Yield the values that SageMaker takes from other members of a request."""
    if path == _MODE:
        yield member(request, "AlgorithmSpecification", "TrainingInputMode") or "File"
    if path in ("ProfilerConfig.S3OutputPath", "DebugRuleConfigurations.S3OutputPath"):
        yield member(request, "OutputDataConfig", "S3OutputPath")
        yield member(request, "DebugHookConfig", "S3OutputPath")
    if path == "ProfilerRuleConfigurations.S3OutputPath":
        yield member(request, "OutputDataConfig", "S3OutputPath")
        yield member(request, "ProfilerConfig", "S3OutputPath")
    hosts, name = request.get("ResourceConfig"), path.removeprefix("ResourceConfig.")
    groups, preferences = items(hosts, "InstanceGroups"), items(hosts, "InstancePreferences")
    if name == "InstanceCount" and groups:
        yield sum(number(group, "InstanceCount") or 0 for group in groups)
    if name in _OF_PREFERENCES and preferences:
        selected = name.removeprefix("Selected")
        yield from (member(each, selected) for each in preferences)
        yield member(hosts, selected)


class DifferentJob(JobRefused):
    """A job that is not of a request has its name. ``what``: which job, and how it differs."""

    def __init__(self, what: str, fix: str) -> None:
        super().__init__(f"{what}; smspec leaves it alone, and a name can be used once: {fix}")
        self.what = what


def require_own(
    service: JobService, job: TrainingJob, request: Mapping[str, Any], digest: str, *, name_is_derived: bool
) -> None:
    """Raise `DifferentJob` if a job with the name of a request is not that of the request.

    The tag `smspec:digest` alone does not show it, because it can be copied. If the author chose the name, the tag must
    be there as well: with the digest of now or, for that very name, of earlier versions. Raise `AwsUnavailable` if AWS
    cannot be called.
    """
    if job.queued is not None:
        _require_own_in_queue(service, job.queued, request, digest, name_is_derived=name_is_derived)
        return
    differing = [*differences(request, job.answer, service.key_arn)]
    if any(path.startswith("HyperParameters.") for path in differing):
        differing = [*_without_defaults_of_algorithm(service, differing, request, job)]
    if service.is_in_aws and not _is_at(job, service.region, parsed_arn(request.get("RoleArn"))):
        differing.append("TrainingJobArn")
    kept = [path for path in differing if service.is_in_aws or not is_of_emulator(path, request, job.answer)]
    # SageMaker completes a serverless job by a recipe that is not known here.
    is_known = name_is_derived and not request.get("ServerlessJobConfig") and kept == differing
    differing = kept
    if not differing and (
        is_known or service.tags(job).get(DIGEST_TAG) in _own_digests(job, request, digest, name_is_derived)
    ):
        return
    raise _different(service, job.name, differing, name_is_derived=name_is_derived)


def _different(service: JobService, name: str, differing: Sequence[str], *, name_is_derived: bool) -> DifferentJob:
    """Return the error about a job of a name; ``differing`` is empty if only its tag differs."""
    names = ", ".join(f"`{visible(path)}`" for path in differing[:_MOST_NAMED])
    more = f" and {len(differing) - _MOST_NAMED} more" if len(differing) > _MOST_NAMED else ""
    verb = "differ" if len(differing) > 1 else "differs"
    what = f"{names}{more} {verb} from the spec" if differing else f"its tag `{DIGEST_TAG}` is not that of the spec"
    fix = "change the spec, or pass `--run-id`" if name_is_derived else "change `job_name`, or remove it"
    return DifferentJob(f"a different job is named `{name}` in {service.region}: {what}", fix)


def _require_own_in_queue(
    service: JobService, queued: ServiceJob, request: Mapping[str, Any], digest: str, *, name_is_derived: bool
) -> None:
    """Raise `DifferentJob` if a service job is not that of a request, of which AWS Batch shows the payload as sent."""
    sent, there = (
        {name: value for name, value in members.items() if name not in NAMED_BY_SUBMISSION}
        for members in (json.loads(json.dumps(request)), queued.payload)
    )
    differing = [name for name in dict.fromkeys((*sent, *there)) if sent.get(name) != there.get(name)]
    arn, role = parsed_arn(queued.arn), parsed_arn(request.get("RoleArn"))
    is_here = arn is not None and arn.region == service.region and (role is None or arn.account == role.account)
    if service.is_in_aws and not is_here:
        differing.append("jobArn")
    if differing or queued.tags.get(DIGEST_TAG) != digest:
        raise _different(service, queued.name, differing, name_is_derived=name_is_derived)


def _own_digests(job: TrainingJob, request: Mapping[str, Any], now: str, name_is_derived: bool) -> list[str]:
    """Return the digests that the tag of a job of a request may have.

    Earlier versions digested a request without its chosen name, so theirs only count for a job of that name.
    """
    if name_is_derived or job.name != request.get("TrainingJobName"):
        return [now]
    return [now, digest_of({name: value for name, value in request.items() if name not in NAMED_BY_SUBMISSION})]


def _is_at(job: TrainingJob, region: str, role: Arn | None) -> bool:
    """Return whether the ARN of a job, which is tagged, is that of its name in a region, and in the role's account."""
    arn, here = parsed_arn(job.answer.get("TrainingJobArn")), partition_of(region)
    return (
        arn is not None
        and (arn.service, arn.region) == ("sagemaker", region)
        and arn.resource.lower() == f"training-job/{job.name}".lower()
        and (here is None or arn.partition == here.name)
        and (role is None or arn.account == role.account)
    )


def _without_defaults_of_algorithm(
    service: JobService, differing: Sequence[str], request: Mapping[str, Any], job: TrainingJob
) -> Iterator[str]:
    """Yield paths without the hyperparameters that SageMaker fills in from the algorithm that a request names."""
    algorithm, sent = member(request, "AlgorithmSpecification", "AlgorithmName"), request.get("HyperParameters") or {}
    added = [path for path in differing if path.partition(".")[2] not in sent and path.startswith("HyperParameters.")]
    defaults = service.algorithm_defaults(str(algorithm)) if algorithm and added else {}
    for path in differing:
        name = path.partition(".")[2]
        if path not in added or name not in defaults or defaults[name] != member(job.answer, "HyperParameters", name):
            yield path


def differences(
    request: Mapping[str, Any], answer: Mapping[str, Any], key_arn: Callable[[str], str | None] = lambda _: None
) -> Iterator[str]:
    """Yield the members of a request that a description shows with another value, as dotted paths.

    ``key_arn`` returns the ARN of the KMS key that a name or an alias leads to; None if that is unknown.

    Every member counts that the request sets, or that CreateTrainingJob takes: a description also has members that are
    only output, and AWS may add more of them.
    """
    fields = str(answer.get("TrainingJobArn") or "").split(":")
    compared = _Comparison(request=request, place=":".join(fields[3:5]) if len(fields) > 5 else "", key_arn=key_arn)
    yield from compared.in_structure(
        "",
        {name: value for name, value in request.items() if name not in NAMED_BY_SUBMISSION},
        {name: value for name, value in answer.items() if name not in NAMED_BY_SUBMISSION},
        pinned_model().root,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparison:
    """``place``: region and account of the job, as in an ARN."""

    request: Mapping[str, Any]
    place: str
    key_arn: Callable[[str], str | None]

    def in_structure(self, path: str, sent: Mapping[str, Any], there: Mapping[str, Any], shape: Shape) -> Iterator[str]:
        for name in dict.fromkeys((*sent, *there)):
            below = f"{path}.{name}".lstrip(".")
            member_shape = _shape(shape.members.get(name))
            if name not in sent and member_shape is None:
                continue
            if member_shape is not None and member_shape.kind == "map":
                yield from self._in_map(below, sent.get(name) or {}, there.get(name) or {})
            elif name in sent and name in there:
                yield from self._in_value(below, sent[name], there[name], member_shape)
            elif not (name in sent and name in NOT_DESCRIBED):
                value = sent[name] if name in sent else there[name]
                if not self._is_filled_in(below, value, member_shape, is_sent=name in sent):
                    yield below

    def _in_map(self, path: str, sent: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[str]:
        """Compare maps whose keys are those of the author: an empty value is a value."""
        for name in dict.fromkeys((*sent, *there)):
            below = f"{path}.{name}"
            is_completed = name not in sent and is_completed_by_recipe(path, self.request)
            if sent.get(name) != there.get(name) and not is_completed and path not in CHANGED_LATER:
                yield below

    def _in_value(self, path: str, sent: Any, there: Any, shape: Shape | None) -> Iterator[str]:
        if path in CHANGED_LATER:
            return
        if shape is not None and isinstance(sent, Mapping) and isinstance(there, Mapping):
            yield from self.in_structure(path, sent, there, shape)
        elif shape is not None and isinstance(sent, (list, tuple)) and isinstance(there, (list, tuple)):
            ours, theirs = _ordered(path, sent), _ordered(path, there)
            if path == METRICS and has_more_metrics(self.request):
                theirs = [each for each in theirs if each in ours]
            if len(ours) != len(theirs):
                yield path
                return
            item = _shape(shape.item)
            pairs = zip(ours, theirs, strict=True)
            yield from dict.fromkeys(each for one, other in pairs for each in self._in_value(path, one, other, item))
        elif not self._is_same(path, sent, there):
            yield path

    def _is_filled_in(self, path: str, value: object, shape: Shape | None, *, is_sent: bool) -> bool:
        """Return whether a description may show, or lack, a member that a request lacks, or sets."""
        if isinstance(value, Mapping) and shape is not None and shape.kind == "structure":
            return all(
                self._is_filled_in(f"{path}.{name}", each, _shape(shape.members.get(name)), is_sent=is_sent)
                for name, each in value.items()
                if is_sent or name in shape.members
            )
        return (is_default if is_sent else is_filled_in)(path, value, self.request)

    def _is_same(self, path: str, sent: Any, there: Any) -> bool:
        if is_same(sent, there) or type(sent) is not str or type(there) is not str:
            return is_same(sent, there)
        name = path.rpartition(".")[2]
        # A description has the image of its request: a tag with a digest added is that of a different one.
        if name == "AlgorithmName":
            return self._is_arn(sent, "sagemaker", f"algorithm/{there}") or self._is_arn(
                there, "sagemaker", f"algorithm/{sent}"
            )
        if name.endswith("KmsKeyId"):
            is_name = any(
                self._is_arn(arn, "kms", each if each.startswith("alias/") else f"key/{each}")
                for arn, each in ((sent, there), (there, sent))
            )
            return is_name or self._is_key_of_alias(sent, there)
        # The address of a channel is a prefix of keys, in which a `/` selects other objects.
        return path in _DIRECTORIES and sent.removesuffix("/") == there.removesuffix("/")

    def _is_key_of_alias(self, sent: str, there: str) -> bool:
        """Return whether two names are of one key, which only KMS knows if one is an alias.

        A description has the names of its request, so this is asked only about a job that is probably different.
        """
        if not sent or not there or ("alias/" not in sent and "alias/" not in there):
            return False
        found = self.key_arn(sent)
        return found is not None and found == self.key_arn(there)

    def _is_arn(self, arn: str, service: str, resource: str) -> bool:
        """Return whether an ARN is of what a request names without one: a resource of its own account and region."""
        _, _, rest = arn.partition(":")
        return (
            bool(self.place)
            and arn.startswith("arn:")
            and rest.partition(":")[2] == f"{service}:{self.place}:{resource}"
        )


def _shape(name: str | None) -> Shape | None:
    return pinned_model().shapes[name] if name else None


def _ordered(path: str, items: Any) -> list[Any]:
    """Return a list whose order has a meaning as it is, and others sorted."""
    if path in _KEYS:
        return sorted(items, key=lambda item: str(member(item, _KEYS[path])))
    return sorted(items) if path in ("VpcConfig.Subnets", "VpcConfig.SecurityGroupIds") else list(items)
