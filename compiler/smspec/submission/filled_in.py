"""What DescribeTrainingJob shows although the request did not set it: all that may differ in a description.

Every other member that CreateTrainingJob takes is compared. A value is here only if the API reference documents it as
the default, or if SageMaker derives it from the request.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smspec.service.facts.accounts import is_provider
from smspec.service.image_reference import parsed_reference
from smspec.service.members import items, member, number

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
