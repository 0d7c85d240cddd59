"""Create a training job, once: whatever breaks in between, the same request ends in one job."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from smspec.service.request import tagged
from smspec.source.frozen import dataclass
from smspec.submission.client import AccessDenied, AwsUnavailable, InvalidCredentials, JobRefused
from smspec.submission.job_service import JobService, NameInUse, QuotaExceeded, Throttled
from smspec.submission.ownership import require_own
from smspec.submission.training_job import TrainingJob

PATIENCE_SECONDS = 120.0
"""How long a call is repeated that AWS throttles, or rejects for what a new role or policy lacks for a moment."""

_LONGEST_NAME = 63
_MOST_ATTEMPTS = 1000
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 15.0

# What SageMaker says while a role, a policy, or a bucket that has just been made is not known everywhere.
_PASSING = re.compile(
    r"could not assume role|unauthorized to list objects under S3 URL|access denied to OutputDataConfig S3 bucket"
    r"|no identity-based policy allows the s3:ListBucket action|access denied to hub content"
    r"|access denied for repository",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Created:
    """The job of a request. ``is_new``: this call has made it."""

    job: TrainingJob
    is_new: bool


class JobEnded(Exception):
    """The job of the request has failed or was stopped; the same request would make no other job."""

    def __init__(self, job: TrainingJob) -> None:
        super().__init__(f"the job `{job.name}` is {job.status}")
        self.job = job


def existing_job(job: TrainingJob) -> Created:
    """Return a job of a request that exists. Raise `JobEnded` if it has failed or was stopped."""
    if job.is_over and not job.is_completed:
        raise JobEnded(job)
    return Created(job=job, is_new=False)


def create_job(
    service: JobService,
    request: Mapping[str, Any],
    digest: str,
    *,
    name_is_derived: bool,
    again: bool = False,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Created:
    """Return the job of a request, after creating it unless it exists.

    ``digest``: identifies the request; it becomes the tag `smspec:digest`. ``name_is_derived``: the name contains a
    digest; a job that exists must be that of the request nevertheless, as `require_own` decides. ``again``: after a job
    that failed or was stopped, take the first free of the names that end in ``-2``, ``-3`` …; a name that a different
    job has is not free.

    Raise `JobEnded` if the job has failed or was stopped, `JobRefused` if AWS rejects the request or the name belongs
    to a different job, `AwsUnavailable` if AWS cannot be called.
    """
    name = str(request["TrainingJobName"])
    for candidate in repeated_names(name) if again else [name]:
        job = _without_deletion(service, candidate, clock, sleep)
        is_new = job is None
        is_found = False
        if job is None:
            job, is_found = _created(service, {**request, "TrainingJobName": candidate}, digest, clock, sleep)
        if is_found or not is_new:
            try:
                require_own(service, job, request, digest, name_is_derived=name_is_derived)
            except JobRefused:
                if again:
                    continue
                raise
        if job.is_over and not job.is_completed and not is_new:
            if again:
                continue
            raise JobEnded(job)
        return Created(job=job, is_new=is_new and not is_found)
    raise JobRefused(f"`{name}` has been submitted {_MOST_ATTEMPTS} times; change the spec, or pass `--run-id`")


def _created(
    service: JobService,
    request: Mapping[str, Any],
    digest: str,
    clock: Callable[[], float],
    sleep: Callable[[float], None],
) -> tuple[TrainingJob, bool]:
    """Create a job and describe it; return also whether it was found, because its name was in use.

    If the connection breaks after AWS has accepted the request, its name is in use, but a different submission may
    have used it as well.
    """
    end, wait, is_lost, is_found = clock() + PATIENCE_SECONDS, _FIRST_WAIT, False, False
    whole = tagged(request, digest)
    while True:
        try:
            service.create(whole)
        except NameInUse:
            is_found = True
        except (AccessDenied, InvalidCredentials):
            raise
        except QuotaExceeded as fault:
            # A request whose response was lost may have created the job, which then uses the quota.
            job = service.find(str(request["TrainingJobName"]))
            if job is not None:
                return job, True
            if is_lost:
                raise AwsUnavailable(f"SageMaker did not answer the first of several requests: {fault}") from None
            raise
        except (AwsUnavailable, JobRefused) as fault:
            is_lost = is_lost or not isinstance(fault, JobRefused | Throttled)
            if isinstance(fault, JobRefused) and not _PASSING.search(str(fault)):
                raise
            # A request without a response may have created the job; if AWS cannot be asked, this says so.
            job = service.find(str(request["TrainingJobName"]))
            if job is not None:
                return job, True
            if clock() + wait > end:
                raise
            sleep(wait * random.uniform(0.5, 1.0))
            wait = min(2 * wait, _LONGEST_WAIT)
            continue
        while (job := _accepted(service, str(request["TrainingJobName"]))) is None:
            if clock() + wait > end:
                raise AwsUnavailable(f"SageMaker accepted the job `{request['TrainingJobName']}`, but does not find it")
            sleep(wait)
        return job, is_found


def _without_deletion(
    service: JobService, name: str, clock: Callable[[], float], sleep: Callable[[float], None]
) -> TrainingJob | None:
    """Return a job; None if there is none, or none after SageMaker has deleted it. Raise `AwsUnavailable`."""
    end, wait = clock() + PATIENCE_SECONDS, _FIRST_WAIT
    while (job := service.find(name)) is not None and job.is_deleted:
        if clock() + wait > end:
            raise AwsUnavailable(f"SageMaker is still deleting the job `{name}`; submit again when it is gone")
        sleep(wait)
        wait = min(2 * wait, _LONGEST_WAIT)
    return job


def _accepted(service: JobService, name: str) -> TrainingJob | None:
    """Return a job that SageMaker has; None if it does not find it yet. A fault says that the job exists, and costs."""
    try:
        return service.find(name)
    except AccessDenied:
        raise  # its action and resource lead to the statement of the policy that lacks it
    except AwsUnavailable as fault:
        raise AwsUnavailable(
            f"SageMaker accepted the job `{name}`, but its status is unknown: {fault}; submit the same spec again to "
            "follow the job"
        ) from None


def repeated_names(name: str) -> Iterator[str]:
    """Yield the name of a job, and the names of its repetitions with `--again`, as far as they fit."""
    yield name
    for number in range(2, _MOST_ATTEMPTS + 1):
        suffix = f"-{number}"
        yield name[: _LONGEST_NAME - len(suffix)].rstrip("-") + suffix


def repeated_stem(name: str) -> str:
    """Return what the names of a job and of its repetitions have in common: a long name is cut."""
    return name[: _LONGEST_NAME - len(f"-{_MOST_ATTEMPTS}")].rstrip("-")
