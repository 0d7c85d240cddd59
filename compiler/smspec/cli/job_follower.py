"""What commands show of a training job in SageMaker: all until it is over, lines about it, and a record in JSON.

Of a job with alternatives of hosts, one after the other is created and followed.

Ctrl-C ends the showing, never the job.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime, timezone
from math import isfinite

from smspec.cli.aws_arguments import job_words, name_words, submission_words
from smspec.cli.console import CommandRefused, Console, ResourceUnavailable
from smspec.cli.submission import Submission
from smspec.cli.waiting import StatusLine, Waiting
from smspec.diagnostics.quoting import printed, visible
from smspec.local.record.units import duration
from smspec.organization import prices_of
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.pipeline.input_cache import InputCache
from smspec.service.cost_ceiling import ceiling_of, cost_of, dollars
from smspec.service.failures import MOST_LINES, Diagnosis, LogTails, diagnose, failure_of
from smspec.service.failures.job_causes import ROOT
from smspec.service.job_costs import PriceBook, hosts_text
from smspec.source.frozen import dataclass, replace
from smspec.submission.client import ANSWER_SECONDS, AwsUnavailable, JobRefused
from smspec.submission.following import Happening, JobLog, LogMetrics, Recovered, Trouble, follow
from smspec.submission.job_creation import AlternativeJobs, Candidate, JobEnded, NoHosts, Turn, chosen, lacked_hosts
from smspec.submission.job_service import JobService
from smspec.submission.training_job import LogEvent, TrainingJob, Transition

WriteLine = Callable[[str], None]

_NOT_FINITE = ("NaN", "Infinity", "-Infinity")
"""How the JSON protocol of AWS writes numbers that JSON lacks."""

_MOST_HOSTS = 16
"""Of a job whose log is read for a diagnosis: each host takes a call."""

PATIENCE_SECONDS = 15 * 60.0
"""How long AWS may be out of reach before a command without a terminal gives up; CI would wait for hours."""


def follow_job(service: JobService, log: JobLog, job: TrainingJob, write: WriteLine, console: Console) -> TrainingJob:
    """Show a job until it is over, and return it then; on Ctrl-C, show how to come back. Raise as `show` does."""
    waiting = Waiting(console)
    happenings = follow(service, log, job.name, sleep=waiting.sleep)
    whole = service if log.is_part else None
    try:
        with closing(waiting.each(f"AWS in {service.region} about the job {job.name}", happenings)) as shown:
            return show(job, shown, write, console, service.profile, whole)
    except KeyboardInterrupt:
        console.say(
            f"the job goes on in SageMaker; `smspec logs {job_words(job, service.profile)} --follow` shows it again"
        )
        raise


def show(
    job: TrainingJob,
    happenings: Iterator[Happening],
    write_log: WriteLine,
    console: Console,
    profile: str | None = None,
    whole: JobService | None = None,
) -> TrainingJob:
    """Show what happens to a job, and return it as it is at its end.

    ``write_log`` gets each line of its log. ``whole``: as in `say_end`. Raise `ResourceUnavailable` if AWS is out of
    reach for too long, unless there is a terminal, where the user can log in again.
    """
    line, prices, metrics, tails = StatusLine(console), known_prices(), LogMetrics(job), LogTails()
    is_in_trouble = False
    try:
        for each in happenings:
            if isinstance(each, TrainingJob):
                job = each
                values = str(metrics)
                line.draw(progress_text(job, prices, datetime.now(timezone.utc)) + (f"; {values}" if values else ""))
                continue
            line.clear()
            if isinstance(each, LogEvent):
                metrics.take(each)
                tails.take(each.host, each.text)
                write_log(log_line(each, with_time=console.verbosity > 0))
            elif isinstance(each, Transition):
                console.remark(transition_line(each))
            elif isinstance(each, Recovered):
                is_in_trouble = False
                console.remark("AWS answers again")
            elif isinstance(each, Trouble):
                if not is_in_trouble:
                    console.say(visible(f"{each.text}; the job goes on, and smspec asks again"))
                is_in_trouble = True
                if each.since > PATIENCE_SECONDS and not console.err_is_terminal:
                    raise ResourceUnavailable(f"{each.text}; the job goes on in SageMaker")
    finally:
        line.clear()
    say_end(job, tails, console, prices, profile, whole)
    if metrics.values:
        console.remark(visible(f"metrics: {metrics}"))
    return job


def say_end(
    job: TrainingJob,
    tails: LogTails,
    console: Console,
    prices: PriceBook,
    profile: str | None = None,
    whole: JobService | None = None,
) -> None:
    """Show the state of a job that is over, its reason, and its cause, for which ``tails`` are searched.

    ``whole``: has the log, if ``tails`` are of a part of it, which may not show the cause.
    """
    diagnosis = diagnosis_of(job, tails.lines) if whole is None else diagnosis_with_log(whole, job, console)
    for text in end_lines(job, prices, profile, diagnosis):
        console.say(text, has_verdict=True)


def diagnosis_of(job: TrainingJob, log: Sequence[tuple[str, str]] = ()) -> Diagnosis | None:
    """Return why a job did not complete; None if it did, or is not over. ``log``: the host and text of each line."""
    return diagnose(failure_of(job.answer, log)) if job.is_over and not job.is_completed else None


def diagnosis_with_log(service: JobService, job: TrainingJob, console: Console) -> Diagnosis | None:
    """Return why a job did not complete. Its log is read if its reason does not show it."""
    found = diagnosis_of(job)
    if found is None or (found.cause is not None and found.cause.rank == ROOT):
        return found
    tails, fault = LogTails(), ""
    first = None if job.hosts <= _MOST_HOSTS else "algo-1"
    log = JobLog(service, job.name, host=first, tail=MOST_LINES, budget=ANSWER_SECONDS)
    try:
        for event in Waiting(console).each(f"CloudWatch Logs in {service.region}", log.new_events()):
            tails.take(event.host, event.text)
    except (JobRefused, AwsUnavailable) as unread:
        fault = str(unread)
    found = diagnosis_of(job, tails.lines)
    return replace(found, unknown=f"unknown, its log was not read: {fault}") if found and fault else found


def known_prices() -> PriceBook:
    """Return the prices that the repository of the current directory knows."""
    try:
        return prices_of(os.curdir, InputCache().boundary(os.curdir))
    except MalformedConfig as malformed:
        raise rejected(malformed) from None


def log_line(event: LogEvent, *, with_time: bool = False) -> str:
    """Return a line of the log: ``algo-1 | epoch 3``."""
    time = f"{moment(datetime.fromtimestamp(event.time / 1000, timezone.utc))}  " if with_time else ""
    return f"{time}{visible(event.host)} | {printed(event.text.rstrip())}\n"


def transition_line(transition: Transition) -> str:
    return f"{moment(transition.start)}  {visible(str(transition))}"


def moment(time: datetime) -> str:
    """Return a time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def progress_text(job: TrainingJob, prices: PriceBook, now: datetime) -> str:
    """Return the status, the time, and the money so far, each with its limit where that is known."""
    seconds = job.seconds(now)
    if job.is_over:
        return visible(f"{job.status}, waiting for the rest of the log")
    limit = f" of at most {elapsed(job.limit)}" if job.began and job.limit else ""
    money = _money(job, prices, seconds) if job.began else ""
    where = f", {job.queued.where}," if job.queued is not None and job.queued.is_waiting else ""
    return visible(f"{job.secondary or job.status}{where} for {elapsed(seconds)}{limit}{money}")


def end_lines(
    job: TrainingJob, prices: PriceBook, profile: str | None = None, diagnosis: Diagnosis | None = None
) -> Iterator[str]:
    """Yield the lines that a person needs about a job that is over. ``profile``: with which it was described."""
    return map(visible, _end_lines(job, prices, profile, diagnosis))


def _end_lines(job: TrainingJob, prices: PriceBook, profile: str | None, diagnosis: Diagnosis | None) -> Iterator[str]:
    billed = "" if job.billable is None else f", {elapsed(job.billable)} billed"
    took = f" after {elapsed(job.seconds(job.ended))}" if job.began and job.ended else ""
    cost = _money(job, prices, job.billable) if job.billable is not None else ""
    yield f"{job.name}: {job.status}{took}{billed}{cost}"
    if job.reason.strip():
        first, *more = job.reason.strip().splitlines()
        yield f"reason: {first}"
        yield from (f"  {line}" for line in more)
    if job.exit_code is not None:
        yield f"exit status of the script: {job.exit_code}"
    if diagnosis is not None:
        yield from diagnosis.lines()
    result = (
        f"model: {job.model}"
        if job.model
        else f"result: {job.result_prefix}"
        if job.is_completed and job.result_prefix
        else ""
    )
    if result:
        yield f"{result}; `smspec collect {job_words(job, profile)}` downloads it"


def elapsed(seconds: float) -> str:
    """Return ``12 s``, ``3 min 05 s``, or ``2 h 03 min``."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else duration(whole)


def _money(job: TrainingJob, prices: PriceBook, seconds: float) -> str:
    """Return what a job costs for some seconds, and its ceiling; empty unless each instance type has a price."""
    answer, region = dict(job.answer), job.region or None
    ceiling, cost = ceiling_of(answer, prices, region), cost_of(answer, seconds, prices, region)
    if ceiling is None or ceiling.usd is None or cost is None:
        return ""
    return f", {dollars(cost)} of at most {dollars(ceiling.usd)}"


def job_record(job: TrainingJob, diagnosis: Diagnosis | None = None) -> dict[str, object]:
    """Return a job as JSON: times are ISO 8601 in UTC, durations seconds. ``diagnosis``: with what its log shows."""
    without_log = None if diagnosis else diagnosis_of(job)
    if without_log:
        diagnosis = replace(without_log, unknown=f"unknown, `smspec status {job.name}` also reads its log")
    cause = diagnosis and diagnosis.cause
    return {
        "name": job.name,
        "region": job.region,
        "status": job.status,
        "secondary_status": job.secondary,
        "created": moment(job.created),
        "training_started": job.began and moment(job.began),
        "training_ended": job.ended and moment(job.ended),
        "billable_seconds": job.billable,
        "failure_reason": job.reason or None,
        "exit_status": job.exit_code,
        "likely_cause": cause and cause.cause,
        "what_to_do": cause and cause.fix,
        "diagnosis": diagnosis and diagnosis.record(),
        "queue": job.queued and job.queued.record,
        "model": job.model or None,
        # JSON has no NaN, which a metric may be.
        "metrics": {name: value if isfinite(value) else None for name, value in final_metrics(job)},
    }


def final_metrics(job: TrainingJob) -> Iterator[tuple[str, float]]:
    """Yield the metrics with which a job ended."""
    for metric in job.answer.get("FinalMetricDataList", ()):
        value = metric.get("Value")
        if (isinstance(value, (int, float)) or value in _NOT_FINITE) and "MetricName" in metric:
            yield str(metric["MetricName"]), float(value)


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
