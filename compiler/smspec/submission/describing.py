"""What SageMaker knows of a job that exists: its description and its tags."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from smspec.submission.client import sagemaker_client, told
from smspec.submission.faults import AwsUnavailable, JobRefused


def describe(name: str, profile: str | None, region: str | None, say: Callable[[str], None]) -> dict[str, object]:
    """Return the answer of DescribeTrainingJob with the job's tags as ``Tags``; ``say`` hears when those are missing.

    Raise `JobRefused` when there is no such job, `AwsUnavailable` when AWS cannot be asked.
    """
    client = sagemaker_client(profile, region)
    with told(f"the job `{name}` in {client.meta.region_name}"):
        answer: dict[str, object] = client.describe_training_job(TrainingJobName=name)
    try:
        tags = _tags(client, answer.get("TrainingJobArn"))
    except (JobRefused, AwsUnavailable) as fault:
        say(f"not kept: Tags, if there are any: {fault}")
        return answer
    return {**answer, "Tags": tags} if tags else answer


def _tags(client: Any, arn: object) -> list[object]:
    with told("the tags of the job"):
        pages = client.get_paginator("list_tags").paginate(ResourceArn=arn)
        return [tag for page in pages for tag in page["Tags"]]
