"""The jobs of alternatives, one after the other and never two alive: the next only if the one before got no hosts.

All that is decided comes from what SageMaker has, so an interrupted submission goes on from there. Two submissions at
the same instant may create a job each, because only equal names exclude each other. So each looks again after it has
created a job, and whoever sees two alive stops all but the one that was created first.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from smspec.source.frozen import dataclass
from smspec.submission.client import JobRefused
from smspec.submission.job_creation import Created, JobEnded, create_job, repeated_names, repeated_stem
from smspec.submission.job_service import JobService, QuotaExceeded
from smspec.submission.ownership import DifferentJob, require_own
from smspec.submission.training_job import TrainingJob

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
