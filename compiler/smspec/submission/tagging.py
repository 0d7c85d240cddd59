"""The tags of a job that exists: those of its spec are brought up to date, and all others stay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smspec.submission.job_service import DIGEST_TAG, JobService
from smspec.submission.training_job import TrainingJob


def tags_to_be(request: Mapping[str, Any], digest: str) -> dict[str, str]:
    """Return the tags that the job of a request has: those of the spec, and what identifies the request."""
    return {**{tag["Key"]: tag["Value"] for tag in request.get("Tags", ())}, DIGEST_TAG: digest}


def stale_tags(service: JobService, job: TrainingJob, tags: Mapping[str, str]) -> dict[str, str]:
    """Return the tags that a job lacks, or has with a different value. Raise `JobRefused` or `AwsUnavailable`."""
    there = service.tags(job)
    return {key: value for key, value in tags.items() if there.get(key) != value}
