"""Requests and responses of the API: of a training job, of AWS Batch, and of what is no training job.

A service job of Batch has the request as a string. A CreateTrainingJob request has the format of
`aws sagemaker create-training-job --cli-input-json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.importer.imported import Imported, NotImported, RequestNotFound, add_tags, without_tags
from smspec.service.request import OWN_TAGS
from smspec.service.shapes import items, member, number, pinned_model, structure
from smspec.spec.keys import ROW

_TELLING = ("TrainingJobName", "AlgorithmSpecification", "ServerlessJobConfig", "OutputDataConfig")

_REQUEST = "serviceRequestPayload"

_REQUESTS = {
    "TransformJobName": "a batch transform job",
    "ProcessingJobName": "a processing job",
    "AutoMLJobName": "an AutoML job",
    "LabelingJobName": "a labeling job",
    "CompilationJobName": "a compilation job",
    "EndpointConfigName": "an endpoint configuration",
    "EndpointName": "an endpoint",
    "ModelPackageName": "a model package",
    "ModelPackageGroupName": "a model package",
    "ModelName": "a model",
    "NotebookInstanceName": "a notebook instance",
    "PipelineName": "a pipeline without its definition",
}

ANSWERS = (
    "TrainingJobArn",
    "TuningJobArn",
    "LabelingJobArn",
    "AutoMLJobArn",
    "ModelArtifacts",
    "TrainingJobStatus",
    "SecondaryStatus",
    "FailureReason",
    "WarmPoolStatus",
    "CreationTime",
    "TrainingStartTime",
    "TrainingEndTime",
    "LastModifiedTime",
    "SecondaryStatusTransitions",
    "FinalMetricDataList",
    "TrainingTimeInSeconds",
    "BillableTimeInSeconds",
    "BillableTokenCount",
    "DebugRuleEvaluationStatuses",
    "ProfilerRuleEvaluationStatuses",
    "ProfilingStatus",
    "MlflowDetails",
    "ProgressInfo",
    "OutputModelPackageArn",
    "ResponseMetadata",
)
"""Members of a response that no request has."""

_RESERVED_TAG = "aws:"

_OF_THE_QUEUE = {
    "priority": ("schedulingPriority",),
    "share": ("shareIdentifier",),
    "quota_share": ("quotaShareName",),
    "attempts": ("retryStrategy", "attempts"),
    "timeout": ("timeoutConfig", "attemptDurationSeconds"),
    "preemptions": ("preemptionConfiguration", "preemptionRetriesBeforeTermination"),
}
"""Key of `queue` → its member of SubmitServiceJob."""

_SHARES = ("share", "quota_share")


def detect_request(data: dict[str, object]) -> bool:
    return any(name in data for name in _TELLING)


def request_itself(data: dict[str, object]) -> Imported:
    """Return the request unchanged."""
    return Imported(form="a CreateTrainingJob request", request=data)


def detect_description(data: dict[str, object]) -> bool:
    return "TrainingJobArn" in data or "TrainingJobStatus" in data


def request_of_description(data: dict[str, object]) -> Imported:
    """Return the request that created the job, as far as the response contains it; no response contains the tags."""
    members = pinned_model().root.members
    request = {name: value for name, value in data.items() if name in members}
    answers = [name for name in data if name in ANSWERS]
    not_imported = [
        NotImported((name,), f"CreateTrainingJob has no such member in the API model of {pinned_model().date}")
        for name in data
        if name not in members and name not in ANSWERS
    ]
    for holder, name in _inner_answers(request):
        inner = dict(structure(request, holder))
        del inner[name]
        request[holder] = inner
        answers.append(f"{holder}.{name}")
    kept = without_tags(request, _RESERVED_TAG)
    if kept is not request:
        not_imported.append(NotImported(("Tags",), f"AWS reserves tag keys that begin with `{_RESERVED_TAG}`"))
    return Imported(
        form="DescribeTrainingJob output",
        request=kept,
        not_imported=tuple(not_imported),
        left_out=tuple(answers),
        region=_region(data.get("TrainingJobArn")),
        has_tags="Tags" in data,
    )


def _inner_answers(request: dict[str, object]) -> Iterator[tuple[str, str]]:
    """Yield nested members that the service filled in: the request cannot have contained them with this value."""
    hosts = structure(request, "ResourceConfig")
    for name in ("SelectedInstanceType", "SelectedInstanceCount"):
        if name in hosts:
            yield "ResourceConfig", name
    if hosts.get("InstanceCount") == 0 and items(hosts, "InstanceGroups"):
        yield "ResourceConfig", "InstanceCount"
    # A response shows a missing key as an empty one.
    for holder, name in (("ResourceConfig", "VolumeKmsKeyId"), ("OutputDataConfig", "KmsKeyId")):
        if structure(request, holder).get(name) == "":
            yield holder, name


def _region(arn: object) -> str | None:
    fields = arn.split(":") if isinstance(arn, str) else []
    return fields[3] or None if len(fields) > 5 else None


def detect_service_job(data: dict[str, object]) -> bool:
    return isinstance(data.get(_REQUEST), str)


def request_of_service_job(data: dict[str, object]) -> Imported:
    """Return the request of the service job, and its queue."""
    try:
        request = json.loads(str(data[_REQUEST]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound(f"`{_REQUEST}` is not JSON") from fault
    name, queue = data.get("jobName"), data.get("jobQueue")
    keys: dict[str, object] = {"name": queue} if isinstance(queue, str) else {}
    lost: list[NotImported] = []
    for key, steps in _OF_THE_QUEUE.items() if keys else ():
        value = member(data, *steps)
        if isinstance(value, str) if key in _SHARES else number(data, *steps) is not None:
            keys[key] = ROW[f"queue.{key}"].written(value)
        elif value is not None:
            lost.append(NotImported(steps, f"set `queue.{key}`"))
    if items(data, "retryStrategy", "evaluateOnExit"):
        lost.append(NotImported(("retryStrategy", "evaluateOnExit"), "the spec has no such key"))
    read = {_REQUEST, "jobName", "serviceJobType", "tags", *(("jobQueue",) if keys else ())}
    read |= {steps[0] for key, steps in _OF_THE_QUEUE.items() if key in keys}
    read |= {str(each.path[0]) for each in lost}
    tagged = structure({"": request}, "")
    tags = {key: value for key, value in structure(data, "tags").items() if not key.startswith(OWN_TAGS)}
    add_tags(tagged, {key: str(value) for key, value in tags.items()})
    return Imported(
        form="a service job of AWS Batch",
        request=tagged,
        not_imported=tuple(lost),
        left_out=tuple(each for each in data if each not in read),
        stem=name if isinstance(name, str) else "",
        keys={"queue": keys if len(keys) > 1 else queue} if keys else {},
        region=_region(data.get("jobArn")),
    )


def kind_of(data: dict[str, object]) -> str:
    """Return what a request or response is for; an empty string if it is unknown."""
    return next((kind for name, kind in _REQUESTS.items() if name in data), "")
