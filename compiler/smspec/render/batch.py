"""The job as a service job of AWS Batch, whose queue is a waiting room in front of SageMaker."""

from __future__ import annotations

import json
import re

from smspec.render.tree import Rendering

_MOST_CHARACTERS = 128
_NOTES = (
    "AWS Batch names the training job itself, and checks the request only when it sends it to SageMaker",
    "the queue waits for capacity without end: limit that with its jobStateTimeLimitActions; a queue with fair-share or"
    " quota-share scheduling also needs shareIdentifier or quotaShareName",
)

_QUEUE = re.compile(r"[A-Za-z0-9_-]{1,128}|arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{12}:job-queue/[A-Za-z0-9_-]{1,128}")


def service_job(payload: dict[str, object], queue: str) -> Rendering:
    """Return the SubmitServiceJob request of a job in JSON (API reference of AWS Batch).

    The payload has no TrainingJobName: the role of AWS Batch may only create jobs whose names it has made.
    """
    request = {member: value for member, value in payload.items() if member != "TrainingJobName"}
    job = {
        "jobName": str(payload.get("TrainingJobName", ""))[:_MOST_CHARACTERS],
        "jobQueue": queue,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": json.dumps(request, separators=(",", ":")),
    }
    return Rendering(text=json.dumps(job, indent=2) + "\n", notes=_NOTES)


def is_queue(name: str) -> bool:
    """Return whether this can be the name or the ARN of a job queue (API reference, CreateJobQueue)."""
    return _QUEUE.fullmatch(name) is not None
