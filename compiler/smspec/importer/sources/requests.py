"""Requests and responses of the API: of a training job, of AWS Batch, and of what is no training job.

A service job of Batch has the request as a string. A CreateTrainingJob request has the format of
`aws sagemaker create-training-job --cli-input-json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from smspec.importer.imported import Imported, NotImported, RequestNotFound, without_tags
from smspec.service.shapes import items, pinned_model, structure

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
    """Return the request of the service job."""
    try:
        request = json.loads(str(data[_REQUEST]))
    except (ValueError, RecursionError) as fault:
        raise RequestNotFound(f"`{_REQUEST}` is not JSON") from fault
    name = data.get("jobName")
    return Imported(
        form="a service job of AWS Batch",
        request=structure({"": request}, ""),
        left_out=tuple(each for each in data if each not in (_REQUEST, "jobName", "serviceJobType")),
        stem=name if isinstance(name, str) else "",
    )


def kind_of(data: dict[str, object]) -> str:
    """Return what a request or response is for; an empty string if it is unknown."""
    return next((kind for name, kind in _REQUESTS.items() if name in data), "")
