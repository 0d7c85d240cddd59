"""The job as a service job of AWS Batch, whose queue is a waiting room in front of SageMaker."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from smspec.render.tree import Rendering
from smspec.spec.model import Queue

_NOTES = (
    "AWS Batch names the training job itself, and checks the request only when it sends it to SageMaker",
    "the queue waits for capacity without end, unless its jobStateTimeLimitActions limit that",
)
_WITHOUT_A_SHARE = "a queue with a scheduling policy also needs `queue.share` or `queue.quota_share`"


def service_job(request: Mapping[str, object], queue: Queue) -> dict[str, object]:
    """Return the SubmitServiceJob request of a job (API reference of AWS Batch), which `smspec submit` sends as it is.

    ``request``: the CreateTrainingJob request with all tags of the job. As in the SageMaker Python SDK, the tags belong
    to the service job, and are no part of its payload. The token makes two equal requests one job.
    """
    payload = {member: value for member, value in request.items() if member != "Tags"}
    tags = request.get("Tags")
    tagged = {tag["Key"]: tag["Value"] for tag in tags} if isinstance(tags, list) else {}
    settings: dict[str, object] = {
        "schedulingPriority": queue.priority,
        "shareIdentifier": queue.share,
        "quotaShareName": queue.quota_share,
        "retryStrategy": _structure("attempts", queue.attempts),
        "preemptionConfiguration": _structure("preemptionRetriesBeforeTermination", queue.preemptions),
        "timeoutConfig": _structure("attemptDurationSeconds", queue.timeout),
        "tags": tagged or None,
    }
    job = {
        "jobName": request.get("TrainingJobName", ""),
        "jobQueue": queue.name,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": json.dumps(payload, separators=(",", ":")),
        **{member: value for member, value in settings.items() if value is not None},
    }
    return {**job, "clientToken": hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()}


def sent_bytes(job: Mapping[str, object]) -> tuple[int, int]:
    """Return the bytes of a SubmitServiceJob request, and of the request of the training job in it."""
    return len(json.dumps(job).encode()), len(str(job["serviceRequestPayload"]).encode())


def service_job_text(request: Mapping[str, object], queue: Queue) -> Rendering:
    """Return the SubmitServiceJob request of a job as JSON."""
    has_share = queue.share is not None or queue.quota_share is not None
    notes = _NOTES if has_share else (*_NOTES, _WITHOUT_A_SHARE)
    return Rendering(text=json.dumps(service_job(request, queue), indent=2) + "\n", notes=notes)


def _structure(member: str, value: int | None) -> dict[str, int] | None:
    return None if value is None else {member: value}
