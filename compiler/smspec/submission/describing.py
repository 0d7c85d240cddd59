"""The description and the tags of an existing job."""

from __future__ import annotations

import functools
from typing import Any

from smspec.submission.aws_errors import AwsUnavailable
from smspec.submission.client import ANSWER_SECONDS, answered

_MOST_PAGES = 20
"""Enough for the 50 tags that a job can have."""


def described(client: Any, name: str, *, budget: float = ANSWER_SECONDS) -> dict[str, Any]:
    """Return the response of DescribeTrainingJob. ``budget``: seconds of pauses while AWS throttles the call.

    Raise `JobRefused` if the job does not exist, `AwsUnavailable` if AWS cannot be called.
    """
    call = functools.partial(client.describe_training_job, TrainingJobName=name)
    what = f"the job `{name}` in {client.meta.region_name}"
    answer = answered(what, "sagemaker:DescribeTrainingJob", call, budget=budget)
    if answer.get("TrainingJobName") != name or not isinstance(answer.get("TrainingJobArn"), str):
        raise AwsUnavailable(f"the SageMaker response does not describe the job `{name}`")
    return answer


def tags_of(client: Any, name: str, arn: str) -> list[dict[str, str]]:
    """Return the tags of a job, each a mapping with Key and Value. Raise `JobRefused` or `AwsUnavailable`."""
    tags: list[dict[str, str]] = []
    token: dict[str, str] = {}
    for _ in range(_MOST_PAGES):
        call = functools.partial(client.list_tags, ResourceArn=arn, **token)
        page = answered(f"the tags of the job `{name}`", "sagemaker:ListTags", call)
        for tag in page.get("Tags", ()):
            if not all(isinstance(tag.get(member), str) for member in ("Key", "Value")):
                raise AwsUnavailable("the SageMaker response contains tags without a key or value")
            tags.append(tag)
        if not page.get("NextToken"):
            return tags
        token = {"NextToken": page["NextToken"]}
    raise AwsUnavailable(f"the SageMaker listing of the tags of `{name}` does not end")
