"""The submission of a job with alternatives of hosts: what exists of them, and following one after the other."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from smspec.cli.console import CommandRefused, Console
from smspec.cli.job_follower import follow_job
from smspec.cli.next_command import job_words, name_words, submission_words
from smspec.cli.submission import Submission
from smspec.cli.waiting import Waiting
from smspec.service.job_costs import hosts_text
from smspec.source.frozen import dataclass
from smspec.submission.alternative_jobs import AlternativeJobs, Candidate, NoHosts, Turn, chosen, lacked_hosts
from smspec.submission.following import JobLog
from smspec.submission.job_creation import JobEnded
from smspec.submission.job_service import JobService
from smspec.submission.training_job import TrainingJob


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionState:
    """What exists before a submission: the ``job`` of the alternative at ``index``, whose turn it is.

    ``is_created``: the submission creates one. ``turns`` None: there are no alternatives. ``lines`` describe them.
    """

    index: int
    job: TrainingJob | None
    is_created: bool
    turns: AlternativeJobs | None = None
    lines: tuple[str, ...] = ()


def state_of_alternatives(service: JobService, sent: Sequence[Submission], *, again: bool) -> SubmissionState:
    """Ask SageMaker for the jobs of all alternatives. Raise `JobRefused` or `AwsUnavailable`."""
    turns = AlternativeJobs(
        service, [Candidate(request=each.created_request, digest=each.digest) for each in sent], again=again
    )
    chains = turns.chains_to_submit()
    lines = _different(turns) + tuple(
        f"alternative {number}, {hosts_text(each.request)}: {each.name} "
        + (f"exists, {chain[-1].status}" if chain else "does not exist yet")
        for number, (each, chain) in enumerate(zip(sent, chains, strict=True), 1)
    )
    try:
        index, job = chosen(chains, again=again)
    except JobEnded as ended:
        index = next(index for index, chain in enumerate(chains) if ended.job in chain)
        return SubmissionState(index=index, job=ended.job, is_created=False, turns=turns, lines=lines)
    except NoHosts:
        return SubmissionState(index=0, job=chains[0][-1], is_created=False, turns=turns, lines=lines)
    return SubmissionState(index=index, job=job, is_created=job is None, turns=turns, lines=lines)


def state_of_job(service: JobService, sent: Submission, *, again: bool) -> SubmissionState:
    """Ask SageMaker for the newest job of a submission without alternatives: a repetition may have followed the first.

    Raise `JobRefused` or `AwsUnavailable`.
    """
    candidate = Candidate(request=sent.created_request, digest=sent.digest, name_is_derived=sent.name_is_derived)
    found = AlternativeJobs(service, [candidate])
    (chain,) = found.chains_to_submit()
    alive = [job for job in chain if not job.is_over]
    newest = (alive or chain or (None,))[-1]
    is_created = newest is None or (again and newest.is_over and not newest.is_completed)
    return SubmissionState(index=0, job=newest, is_created=is_created, lines=_different(found))


def _different(found: AlternativeJobs) -> tuple[str, ...]:
    return tuple(f"{each.what}; smspec skips its name, and leaves it alone" for each in found.foreign.values())


def follow_in_turn(
    turns: AlternativeJobs,
    service: JobService,
    update_tags: Callable[[int, TrainingJob], None],
    args: argparse.Namespace,
    console: Console,
) -> TrainingJob:
    """Create and follow jobs until one has had hosts, and return that one at its end.

    ``update_tags`` gets the index and the job of an alternative that exists. Raise `CommandRefused` if no alternative
    gets hosts, or if one has failed before.
    """
    try:
        while True:
            turn = _turn(turns, service, console)
            job = turn.created.job
            state = "created" if turn.created.is_new else "there is already"
            console.remark(f"{state} the job {job.name}, alternative {turn.index + 1}")
            if not turn.created.is_new:
                update_tags(turn.index, job)
            ended = follow_job(service, JobLog(service, job.name), job, console.write, console)
            if lacked_hosts(ended):
                console.say(f"the job {ended.name} got no instances")
            elif turns.is_in_favor(ended):
                console.say(
                    f"the job {ended.name} was stopped: a different submission had created an alternative first"
                )
            else:
                return ended
    except KeyboardInterrupt:
        console.say(
            f"`smspec submit {submission_words(args)}` follows the job, and goes on to the next alternative if it gets"
            " no instances"
        )
        raise


@contextmanager
def creation(service: JobService, what: str, console: Console) -> Iterator[None]:
    """Show the wait for the creation of a job, and if it is interrupted, which job may exist."""
    service.requested = ""
    try:
        with Waiting(console).of(f"SageMaker in {service.region} to create {what}"):
            yield
    except KeyboardInterrupt:
        if service.requested:
            words = name_words(service.requested, service.region, service.profile)
            console.say(f"the job {service.requested} may exist in SageMaker, and cost; `smspec stop {words}` stops it")
        raise


def _turn(turns: AlternativeJobs, service: JobService, console: Console) -> Turn:
    try:
        with creation(service, "the job of an alternative", console):
            turn = turns.next()
    except JobEnded as ended:
        why = f"`smspec status {job_words(ended.job, service.profile)}` shows why"
        raise CommandRefused(f"{ended}; {why}, and --again repeats it") from None
    except NoHosts as none:
        reasons = "".join(f"; alternative {index + 1}: {reason}" for index, reason in none.refused)
        raise CommandRefused(
            f"no alternative of `hosts.any_of` has capacity or quota now{reasons}; --again tries them from the first"
        ) from None
    for index, reason in turn.refused:
        console.say(f"alternative {index + 1}: {reason}")
    return turn
