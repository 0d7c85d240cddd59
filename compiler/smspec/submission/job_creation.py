"""Create a training job, once: whatever breaks in between, the same request ends in one job.

The jobs of alternatives are created one after the other and never two alive: the next only if the one before got no
hosts. All that is decided comes from what SageMaker has, so an interrupted submission goes on from there. Two
submissions at the same instant may create a job each, because only equal names exclude each other. So each looks again
after it has created a job; if it sees two alive, it stops all but the one that was created first.
"""

from __future__ import annotations

import contextlib
import random
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from smspec.service.request import tagged
from smspec.source.frozen import dataclass
from smspec.submission.client import AccessDenied, AwsUnavailable, InvalidCredentials, JobRefused
from smspec.submission.job_service import JobService, NameInUse, QuotaExceeded, Throttled
from smspec.submission.ownership import DifferentJob, require_own
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


Chain = tuple[TrainingJob, ...]
"""The jobs of one alternative, the first and its repetitions, in the order in which they were created."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """The request of an alternative; ``digest`` identifies it, and ``name_is_derived`` from that."""

    request: dict[str, Any]
    digest: str
    name_is_derived: bool = True

    @property
    def name(self) -> str:
        return str(self.request["TrainingJobName"])


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """The job of the alternative at ``index``. ``refused``: why earlier ones were not created, by index."""

    index: int
    created: Created
    refused: tuple[tuple[int, str], ...] = ()


class NoHosts(Exception):
    """None of the alternatives got hosts. ``refused``: why some could not be created, by their index."""

    def __init__(self, refused: tuple[tuple[int, str], ...]) -> None:
        super().__init__("no alternative has capacity")
        self.refused = refused


def lacked_hosts(job: TrainingJob) -> bool:
    """Return whether a job ended for want of capacity before its instances started.

    SageMaker bills from that moment: if it went on after it, two alternatives could cost more than the dearest. A job
    that `stopping.max_pending` ended looks like one that a person stopped, so it does not count.
    """
    if job.began is not None or job.billable:
        return False
    waited = job.status == "Stopped" and job.secondary == "MaxWaitTimeExceeded"
    return waited or (job.status == "Failed" and job.reason.startswith("CapacityError"))


def chosen(chains: Sequence[Chain], *, again: bool, start: int = 0) -> tuple[int, TrainingJob | None]:
    """Return the alternative whose turn it is, from ``start`` on, and its job, if one is alive or has completed.

    ``again``: a new round, whatever the earlier ones ended with. Raise `JobEnded` if a job has failed or was stopped
    although it had hosts, `NoHosts` if all alternatives lacked them.
    """
    found = [(index, job) for index, chain in enumerate(chains) for job in chain]
    preferred: tuple[Callable[[TrainingJob], bool], ...] = (
        lambda job: job.is_alive,
        lambda job: job.status == "Stopping",
        lambda job: job.is_completed,
    )
    for is_it in preferred:
        for index, job in found:
            if is_it(job):
                return index, job
    if not again:
        ended = [chain[-1] for chain in chains if chain and not lacked_hosts(chain[-1])]
        if ended:
            raise JobEnded(max(ended, key=lambda job: job.created))
    for index in range(start, len(chains)):
        if again or not chains[index]:
            return index, None
    raise NoHosts(())


class AlternativeJobs:
    """The jobs of a submission with alternatives. ``again``: this is a new round."""

    def __init__(
        self,
        service: JobService,
        candidates: Sequence[Candidate],
        *,
        again: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._service, self._candidates, self._again = service, candidates, again
        self._clock, self._sleep = clock, sleep
        self._start = 0
        self.foreign: dict[str, DifferentJob] = {}
        """Jobs that have a name of a candidate, or of its repetitions, but are not of its request, and why."""

    def chains(self) -> tuple[Chain, ...]:
        """Ask SageMaker for the jobs of all alternatives. Raise `JobRefused` or `AwsUnavailable`."""
        return tuple(
            tuple(sorted(self._chain(candidate), key=lambda job: job.created)) for candidate in self._candidates
        )

    def chains_to_submit(self) -> tuple[Chain, ...]:
        """Return `chains`. Raise `DifferentJob` if the name of a candidate without a job is that of a different job."""
        chains = self.chains()
        for candidate, chain in zip(self._candidates, chains, strict=True):
            if not chain and candidate.name in self.foreign:
                raise self.foreign[candidate.name]
        return chains

    def next(self) -> Turn:
        """Return the job whose turn it is, after creating it unless it exists.

        Call this again after a job that `lacked_hosts`. Raise as `chosen` and `create_job` do.
        """
        refused: list[tuple[int, str]] = []
        while True:
            chains = self.chains_to_submit()
            if self._stop_but_first(chains):
                chains = self.chains_to_submit()
            try:
                index, job = chosen(chains, again=self._again, start=self._start)
            except NoHosts:
                raise NoHosts(tuple(refused)) from None
            self._start = index + 1
            if job is not None:
                return Turn(index=index, created=Created(job=job, is_new=False), refused=tuple(refused))
            try:
                created = self._created(index, chains[index])
            except QuotaExceeded as exceeded:
                refused.append((index, str(exceeded)))
                continue
            except JobEnded as ended:
                # A different process has created it, and it has ended since.
                if not lacked_hosts(ended.job):
                    raise
                continue
            if created.job.name not in self._stop_but_first(self.chains()):
                return Turn(index=index, created=created, refused=tuple(refused))

    def is_in_favor(self, ended: TrainingJob) -> bool:
        """Return whether a job was stopped before it had hosts while that of a different alternative is alive."""
        if ended.status != "Stopped" or ended.began is not None:
            return False
        return any(job.is_alive for chain in self.chains() for job in chain)

    def _stop_but_first(self, chains: Sequence[Chain]) -> frozenset[str]:
        """Stop all jobs that are alive but the one that was created first, and return their names."""
        alive = [job for chain in chains for job in chain if job.is_alive]
        # Of two that were created in the same instant, the preferred one is first.
        surplus = sorted(alive, key=lambda job: job.created)[1:]
        for job in surplus:
            with contextlib.suppress(JobRefused):  # it has ended since
                self._service.stop(job.name)
        return frozenset(job.name for job in surplus)

    def _created(self, index: int, chain: Chain) -> Created:
        candidate, taken = self._candidates[index], {job.name for job in chain}
        name = next(name for name in repeated_names(candidate.name) if name not in {*taken, *self.foreign})
        request = {**candidate.request, "TrainingJobName": name}
        return create_job(
            self._service, request, candidate.digest, name_is_derived=True, clock=self._clock, sleep=self._sleep
        )

    def _chain(self, candidate: Candidate) -> Iterator[TrainingJob]:
        """Yield the jobs of a candidate. Earlier ones may have been deleted: SageMaker's list shows which exist.

        A job that is a moment old may lack in that list, so the names that follow one that exists are looked up too.
        """
        names = dict.fromkeys(repeated_names(candidate.name))
        # The list has all jobs whose names contain the text, such as `pretrain-2` for `train`.
        listed = {each.name for each in self._service.named(repeated_stem(candidate.name)) if each.name in names}
        is_next = True
        for name in names:
            if not is_next and name not in listed:
                continue
            job = self._service.find(name)
            is_next = job is not None
            if job is None or job.is_deleted:
                continue
            is_derived = candidate.name_is_derived
            try:
                require_own(self._service, job, candidate.request, candidate.digest, name_is_derived=is_derived)
            except DifferentJob as different:
                self.foreign[name] = different
                continue
            yield job
