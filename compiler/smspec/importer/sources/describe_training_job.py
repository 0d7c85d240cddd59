"""The response of DescribeTrainingJob: the request of a job, and its status."""

from __future__ import annotations

from collections.abc import Iterator

from smspec.importer.imported import Imported, NotImported
from smspec.service.members import items, member, structure
from smspec.service.shapes import pinned_model

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


def detect(data: dict[str, object]) -> bool:
    return "TrainingJobArn" in data or "TrainingJobStatus" in data


def to_request(data: dict[str, object]) -> Imported:
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
    kept = [tag for tag in items(request, "Tags") if not str(member(tag, "Key")).startswith(_RESERVED_TAG)]
    if len(kept) < len(items(request, "Tags")):
        not_imported.append(NotImported(("Tags",), f"AWS reserves tag keys that begin with `{_RESERVED_TAG}`"))
        request["Tags"] = kept
        if not kept:
            del request["Tags"]
    return Imported(
        form="DescribeTrainingJob output",
        request=request,
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
