"""A job queue of AWS Batch in front of SageMaker: a service job is the job, and its training jobs are its attempts.

`QueueService` has the calls of `JobService` for the jobs of one queue, so that what creates, finds, follows, and stops
jobs needs no other code for them. `status` and `logs` of a name find its queue with `found_in_queues`.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from typing import Any

from smspec.render.batch import service_job
from smspec.service.shapes import items, member, structure
from smspec.source.frozen import replace
from smspec.spec.model import Queue
from smspec.submission.client import (
    ANSWER_SECONDS,
    THROTTLED,
    AwsUnavailable,
    JobRefused,
    answered,
    asked,
    unavailable,
)
from smspec.submission.job_service import JobService, ListedJob, NameInUse, Throttled
from smspec.submission.training_job import QueueAttempt, ServiceJob, TrainingJob, as_training_job
from smspec.wire.aws import AwsRefused, AwsSession, Unsendable, responses
from smspec.wire.fault import WireFault

ATTEMPT_PREFIX = "AWSBatch"
"""How the names of training jobs begin that AWS Batch creates (policy AWSBatchServiceRolePolicyForSageMaker)."""

TRAINING = "SAGEMAKER_TRAINING"
_WAITING = ("SUBMITTED", "PENDING", "RUNNABLE")
_MOST_PAGES = 100
_MOST_ATTEMPTS = 10
"""Training jobs whose logs are read: as many as a queue makes of one job, without those that it preempts."""

_ATTEMPT = re.compile(r"(?:-[0-9]{1,4})?[0-9a-f]{32}")
"""How the name of a training job goes on after that of its job, or of a repetition of it (user guide of AWS Batch)."""

_SAME_TOKEN = re.compile(r"token|idempoten|duplicate|already", re.IGNORECASE)
"""In the message about a request that AWS Batch has accepted before."""


class QueueService(JobService):
    """``queue``: in which jobs are found and created, and what a job that is created has there."""

    def __init__(self, profile: str | None, region: str | None, queue: Queue) -> None:
        self.queue = queue
        self._ids: dict[str, str] = {}
        self._attempts: dict[str, tuple[QueueAttempt, ...]] = {}
        super().__init__(profile, region)

    def renew(self) -> None:
        super().renew()
        self._batch = _client(self._profile, self._region)
        if not _has_service_jobs(self._batch):
            what = f"the service jobs of the queue `{self.queue.name}`"
            raise AwsUnavailable(f"the installed boto3 does not know {what}; install boto3 1.40 or later")

    def describe(self, name: str, *, budget: float = ANSWER_SECONDS) -> TrainingJob:
        """Return a job of the queue by its name, or by that of a training job. Raise as `JobService.describe` does."""
        job = self._described(name, budget)
        if job is None:
            raise JobRefused(f"the queue `{self.queue.name}` in {self.region} has no job `{name}`")
        return job

    def find(self, name: str) -> TrainingJob | None:
        return self._described(name, ANSWER_SECONDS)

    def _described(self, name: str, budget: float) -> TrainingJob | None:
        accepted = self._ids.get(name)
        identity = accepted or self._identity(name, budget)
        if not identity:
            return self._training_job(name, budget) if name.startswith(ATTEMPT_PREFIX) else self._forgotten(name)
        try:
            described = self._service_job(identity, budget)
        except JobRefused:
            if accepted:
                return None  # a part of AWS Batch may not know it yet
            raise
        queued = queued_job(described)
        self._ids[name], self._attempts[name] = identity, queued.attempts
        if queued.is_waiting:
            queued = replace(queued, place=self._place(queued))
        training = self._training_job(queued.attempts[-1].name, budget) if queued.attempts else None
        return as_training_job(queued, training)

    def _training_job(self, name: str, budget: float) -> TrainingJob | None:
        """Return a training job; None if SageMaker does not have it, or not yet."""
        try:
            return super().describe(name, budget=budget)
        except JobRefused:
            return None

    def _identity(self, name: str, budget: float = ANSWER_SECONDS) -> str:
        return identity_of(self._listed(name, budget), name)

    def _listed(self, name: str, budget: float = ANSWER_SECONDS) -> Iterator[dict[str, Any]]:
        return listed_jobs(self._batch, self.queue.name, name, budget)

    def _service_job(self, identity: str, budget: float = ANSWER_SECONDS) -> dict[str, Any]:
        call = functools.partial(self._batch.describe_service_job, jobId=identity)
        what = f"the service job `{identity}` in {self.region}"
        described = answered(what, "batch:DescribeServiceJob", call, budget=budget)
        if described.get("jobId") != identity or not isinstance(described.get("jobArn"), str):
            raise AwsUnavailable(f"the AWS Batch response does not describe the service job `{identity}`")
        return described

    def _place(self, queued: ServiceJob) -> int | None:
        """Return the place of a job at the front of its queue; None if it is not there, or may not be asked for."""
        call = functools.partial(self._batch.get_job_queue_snapshot, jobQueue=self.queue.name)
        try:
            found = answered("the front of the queue", "batch:GetJobQueueSnapshot", call, budget=0)
        except (JobRefused, AwsUnavailable):
            return None  # the status of a job needs no place
        front = [member(each, "jobArn") for each in items(found, "frontOfQueue", "jobs")]
        return front.index(queued.arn) + 1 if queued.arn in front else None

    def _forgotten(self, name: str) -> TrainingJob | None:
        """Return the newest training job of a service job that its queue does not list any more.

        Jobs that are over are listed for days; what they have trained must not be trained again. So without permission
        for this, the job is not taken for one that does not exist.
        """
        prefix = f"{ATTEMPT_PREFIX}{name}"
        for listed in super().named(prefix):
            # `AWSBatchtrain-large-…` is a training job of `train-large`, and not of `train`.
            if listed.name.startswith(prefix) and _ATTEMPT.fullmatch(listed.name, len(prefix)):
                return self._training_job(listed.name, ANSWER_SECONDS)
        return None

    def create(self, request: Mapping[str, Any]) -> None:
        """Put a job into the queue. Raise as `JobService.create` does; the same request is accepted once."""
        name = str(request["TrainingJobName"])
        self.requested = name
        try:
            with responses(f"put the job `{name}` into the queue `{self.queue.name}` in {self.region}"):
                answer = self._batch.submit_service_job(**service_job(request, self.queue))
        except Unsendable as fault:
            self.requested = ""
            raise JobRefused(f"the job `{name}`: {fault}") from None
        except AwsRefused as refusal:
            raise self._refused(name, refusal) from None
        except WireFault as fault:
            raise AwsUnavailable(str(fault)) from None
        if isinstance(answer.get("jobId"), str):
            self._ids[name] = answer["jobId"]

    def _refused(self, name: str, refusal: AwsRefused) -> Exception:
        if refusal.code == "ClientException" and (self._identity(name) or _SAME_TOKEN.search(refusal.message)):
            return NameInUse(name)
        if refusal.code in THROTTLED:
            return Throttled(f"AWS throttles SubmitServiceJob in {self.region}; submit the job again later")
        what = f"put the job `{name}` into the queue `{self.queue.name}` in {self.region}"
        if refusal.code == "ClientException":
            self.requested = ""
            return JobRefused(f"cannot {what}: {refusal.message}")
        return unavailable(what, refusal.code, refusal.message, "batch:SubmitServiceJob")

    def named(self, part: str) -> Iterator[ListedJob]:
        """Yield the jobs in the queue whose names begin with ``part``, the newest first."""
        for each in self._listed(f"{part}*"):
            if isinstance(each.get("jobName"), str) and isinstance(each.get("jobArn"), str):
                status = "" if each.get("status") in ("SUCCEEDED", "FAILED") else "InProgress"
                created = _time(each.get("createdAt")) or datetime.now(timezone.utc)
                yield ListedJob(name=each["jobName"], arn=each["jobArn"], created=created, status=status)

    def tags_of_listed(self, job: ListedJob) -> dict[str, str]:
        if ":service-job/" not in job.arn:
            return super().tags_of_listed(job)
        return _tags(self._service_job(job.arn.rpartition("/")[2]))

    def tags(self, job: TrainingJob) -> dict[str, str]:
        return dict(job.queued.tags) if job.queued is not None else super().tags(job)

    def has_own_tags(self, job: TrainingJob, /) -> bool:
        return job.queued is not None  # those of a training job were the ones of a service job that is forgotten

    def add_tags(self, job: TrainingJob, tags: Mapping[str, str]) -> None:
        if job.queued is None:
            super().add_tags(job, tags)
            return
        call = functools.partial(self._batch.tag_resource, resourceArn=job.queued.arn, tags=dict(tags))
        answered(f"new tags of the job `{job.name}` in {self.region}", "batch:TagResource", call)

    def set_priority(self, job: TrainingJob, /) -> bool:
        """Give a job that waits the priority of the spec; return whether it had a different one."""
        queued, priority = job.queued, self.queue.priority
        if queued is None or not queued.is_waiting or priority is None or queued.priority == priority:
            return False
        identity = queued.arn.rpartition("/")[2]
        call = functools.partial(self._batch.update_service_job, jobId=identity, schedulingPriority=priority)
        answered(f"the priority of the job `{job.name}` in {self.region}", "batch:UpdateServiceJob", call)
        return True

    def stop(self, name: str) -> None:
        """End a job in the queue and its training job: stopped there alone, it would be started again."""
        identity = self._ids.get(name) or self._identity(name)
        if not identity and name.startswith(ATTEMPT_PREFIX):
            super().stop(name)
            return
        if not identity:
            raise JobRefused(f"the queue `{self.queue.name}` in {self.region} has no job `{name}`")
        call = functools.partial(self._batch.terminate_service_job, jobId=identity, reason="stopped with smspec")
        answered(f"the end of the job `{name}` in {self.region}", "batch:TerminateServiceJob", call)

    def streams(self, name: str, *, budget: float = ANSWER_SECONDS) -> list[str]:
        """Return the log streams of all attempts of a job."""
        if name.startswith(ATTEMPT_PREFIX) and name not in self._attempts:
            return super().streams(name, budget=budget)
        if name not in self._attempts:
            self.describe(name, budget=budget)
        attempts = self._attempts.get(name, ())[-_MOST_ATTEMPTS:]
        return [stream for each in attempts for stream in super(QueueService, self).streams(each.name, budget=budget)]


def _client(profile: str | None, region: str | None) -> Any:
    with asked("AWS Batch"):
        return AwsSession(profile, region).client("batch")


def _has_service_jobs(client: Any) -> bool:
    """Return whether the model of a client has them: that of botocore since 1.39."""
    return hasattr(client, "submit_service_job")


def queues_of(client: Any, region: str) -> Iterator[str]:
    """Yield the names of the queues of training jobs in a region. Raise `AwsUnavailable`."""
    token: dict[str, Any] = {}
    for _ in range(_MOST_PAGES):
        call = functools.partial(client.describe_job_queues, maxResults=100, **token)
        page = answered(f"the job queues in {region}", "batch:DescribeJobQueues", call)
        for each in items(page, "jobQueues"):
            if member(each, "jobQueueType") == TRAINING and isinstance(member(each, "jobQueueName"), str):
                yield str(member(each, "jobQueueName"))
        if not page.get("nextToken"):
            return
        token = {"nextToken": page["nextToken"]}


def listed_jobs(client: Any, queue: str, name: str, budget: float = ANSWER_SECONDS) -> Iterator[dict[str, Any]]:
    """Yield the summaries of the jobs of a name in a queue, or with ``*`` at its end of a prefix, the newest first."""
    token: dict[str, Any] = {}
    what = f"the jobs `{name}` in the queue `{queue}` in {client.meta.region_name}"
    for _ in range(_MOST_PAGES):
        call = functools.partial(
            client.list_service_jobs,
            jobQueue=queue,
            filters=[{"name": "JOB_NAME", "values": [name]}],
            maxResults=100,
            **token,
        )
        page = answered(what, "batch:ListServiceJobs", call, budget=budget)
        for each in items(page, "jobSummaryList"):
            if isinstance(each, dict) and isinstance(each.get("jobId"), str):
                yield each
        if not page.get("nextToken"):
            return
        token = {"nextToken": page["nextToken"]}
    raise AwsUnavailable(f"AWS Batch lists {what} without an end")


def identity_of(listed: Iterator[dict[str, Any]], name: str) -> str:
    """Return the id of the job of a name: the one that is alive, or the newest; empty if there is none."""
    found = [each for each in listed if each.get("jobName") == name]
    alive = [each for each in found if each.get("status") not in ("SUCCEEDED", "FAILED")]
    # The first of two that are alive: it was there when the second was created.
    chosen = alive[-1] if alive else found[0] if found else {}
    return str(chosen.get("jobId", ""))


def found_in_queues(service: JobService, name: str) -> tuple[QueueService, TrainingJob] | None:
    """Return the service job of a name, in whatever queue it is, and the service of that queue; None without one."""
    client = _client(service.profile, service.region)
    if not _has_service_jobs(client):
        return None  # which this boto3 cannot have submitted
    found: list[tuple[QueueService, TrainingJob]] = []
    for queue in queues_of(client, service.region):
        if identity_of(listed_jobs(client, queue, name), name):
            of_queue = QueueService(service.profile, service.region, Queue(name=queue))
            found.append((of_queue, of_queue.describe(name)))
    return max(found, key=lambda one: one[1].created, default=None)


def queued_job(described: Mapping[str, Any]) -> ServiceJob:
    """Return a service job as DescribeServiceJob shows it."""
    attempts = tuple(_attempts(described))
    status = str(described.get("status", ""))
    settings = described.get("retryStrategy")
    return ServiceJob(
        arn=str(described["jobArn"]),
        name=str(described.get("jobName", "")),
        queue=str(described.get("jobQueue", "")).rpartition("/")[2],
        status=status,
        reason=str(described.get("statusReason") or ""),
        is_waiting=status in _WAITING,
        is_terminated=described.get("isTerminated") is True,
        share=str(described.get("shareIdentifier") or described.get("quotaShareName") or ""),
        priority=described.get("schedulingPriority"),
        most_attempts=settings.get("attempts") if isinstance(settings, dict) else None,
        created=_time(described.get("createdAt")) or _time(described.get("startedAt")) or datetime.now(timezone.utc),
        stopped=_time(described.get("stoppedAt")),
        attempts=attempts,
        tags=_tags(described),
        payload=_payload(described),
    )


def _attempts(described: Mapping[str, Any]) -> Iterator[QueueAttempt]:
    """Yield the training jobs of a service job, the latest last; a new one may be in ``latestAttempt`` alone."""
    seen: set[str] = set()
    for each in (*items(described, "attempts"), described.get("latestAttempt")):
        arn = member(each, "serviceResourceId", "value")
        if not isinstance(arn, str) or "training-job/" not in arn or arn in seen:
            continue
        seen.add(arn)
        yield QueueAttempt(
            name=arn.rpartition("/")[2],
            started=_time(member(each, "startedAt")),
            stopped=_time(member(each, "stoppedAt")),
            reason=str(member(each, "statusReason") or ""),
        )


def _payload(described: Mapping[str, Any]) -> dict[str, object]:
    """Return the request of a service job; an empty one if it has another form."""
    try:
        payload = json.loads(str(described.get("serviceRequestPayload") or "{}"))
    except (ValueError, RecursionError):
        return {}
    return payload if isinstance(payload, dict) else {}


def _tags(described: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in structure(dict(described), "tags").items() if isinstance(value, str)}


def _time(milliseconds: object) -> datetime | None:
    """Return a time; AWS Batch shows none as 0, and its documentation has some in seconds."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int) or milliseconds <= 0:
        return None
    seconds = milliseconds / 1000 if milliseconds > 10**11 else milliseconds
    try:
        return datetime.fromtimestamp(seconds, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
