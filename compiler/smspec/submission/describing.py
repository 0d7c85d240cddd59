"""What SageMaker knows of a job that exists: its description and its tags."""

from __future__ import annotations

from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.client import sagemaker_client, told
from smspec.submission.faults import AwsUnavailable, JobRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The answer of DescribeTrainingJob, with the job's tags as ``Tags``; ``tags_fault`` says why those are missing."""

    answer: dict[str, object]
    tags_fault: str = ""


def describe(name: str, profile: str | None, region: str | None) -> Description:
    """Ask for a job. Raise `JobRefused` when there is no such job, `AwsUnavailable` when AWS cannot be asked."""
    client = sagemaker_client(profile, region)
    with told(f"the job `{name}` in {client.meta.region_name}"):
        answer: dict[str, object] = client.describe_training_job(TrainingJobName=name)
    try:
        tags = _tags(client, answer.get("TrainingJobArn"))
    except (JobRefused, AwsUnavailable) as fault:
        return Description(answer=answer, tags_fault=str(fault))
    return Description(answer={**answer, "Tags": tags} if tags else answer)


def _tags(client: Any, arn: object) -> list[object]:
    with told("the tags of the job"):
        pages = client.get_paginator("list_tags").paginate(ResourceArn=arn)
        return [tag for page in pages for tag in page["Tags"]]
