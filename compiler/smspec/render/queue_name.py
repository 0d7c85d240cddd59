"""The names of job queues of AWS Batch."""

from __future__ import annotations

import re

_QUEUE = re.compile(r"[A-Za-z0-9_-]{1,128}|arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{12}:job-queue/[A-Za-z0-9_-]{1,128}")


def is_queue(name: str) -> bool:
    """Return whether this can be the name or the ARN of a job queue (API reference, CreateJobQueue)."""
    return _QUEUE.fullmatch(name) is not None
