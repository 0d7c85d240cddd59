"""The description and the tags of an existing job."""

from __future__ import annotations

from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.aws_errors import AwsUnavailable, JobRefused
from smspec.submission.client import asked, sagemaker_client

_MOST_PAGES = 20
"""Enough for the 50 tags that a job can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The response of DescribeTrainingJob, with the job's tags as ``Tags``; ``tags_fault``: why those are missing."""

    answer: dict[str, object]
    tags_fault: str = ""


def describe(name: str, profile: str | None, region: str | None) -> Description:
    """Request the description of a job.

    Raise `JobRefused` if it does not exist, `AwsUnavailable` if AWS cannot be called.
    """
    client = sagemaker_client(profile, region)
    with asked(f"the job `{name}` in {client.meta.region_name}"):
        answer: dict[str, object] = client.describe_training_job(TrainingJobName=name)
    if answer.get("TrainingJobName") != name or not isinstance(answer.get("TrainingJobArn"), str):
        raise AwsUnavailable(f"the SageMaker response does not describe the job `{name}`")
    try:
        tags = _tags(client, answer["TrainingJobArn"])
    except (JobRefused, AwsUnavailable) as fault:
        return Description(answer=answer, tags_fault=str(fault))
    return Description(answer={**answer, "Tags": tags} if tags else answer)


def _tags(client: Any, arn: object) -> list[object]:
    tags: list[object] = []
    going_on: dict[str, object] = {}
    for _ in range(_MOST_PAGES):
        with asked("the tags of the job"):
            page = client.list_tags(ResourceArn=arn, **going_on)
        for tag in page.get("Tags", ()):
            if not all(isinstance(tag.get(name), str) for name in ("Key", "Value")):
                raise AwsUnavailable("the SageMaker response contains tags without a key or value")
            tags.append(tag)
        if not page.get("NextToken"):
            return tags
        going_on = {"NextToken": page["NextToken"]}
    raise AwsUnavailable("the SageMaker listing of the job's tags does not end")
