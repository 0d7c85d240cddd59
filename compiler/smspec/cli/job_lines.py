"""What commands print about a training job in SageMaker: lines of its log, changes of its status, its end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

from smspec.cli.next_command import job_words
from smspec.diagnostics.visible import visible
from smspec.local.units import duration
from smspec.service.cost_ceiling import ceiling_of, cost_of, dollars
from smspec.service.failure_causes import failure_cause
from smspec.service.job_costs import PriceBook
from smspec.submission.training_job import LogEvent, TrainingJob, Transition


def log_line(event: LogEvent, *, with_time: bool = False) -> str:
    """Return a line of the log: ``algo-1 | epoch 3``."""
    time = f"{moment(datetime.fromtimestamp(event.time / 1000, timezone.utc))}  " if with_time else ""
    return f"{time}{visible(event.host)} | {visible(event.text.rstrip())}\n"


def transition_line(transition: Transition) -> str:
    return f"{moment(transition.start)}  {visible(str(transition))}"


def moment(time: datetime) -> str:
    """Return a time in UTC, to the second."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


def progress_text(job: TrainingJob, prices: PriceBook, now: datetime) -> str:
    """Return the status, the time, and the money so far, each with its limit where that is known."""
    return visible(_progress_text(job, prices, now))


def _progress_text(job: TrainingJob, prices: PriceBook, now: datetime) -> str:
    seconds = job.seconds(now)
    if job.is_over:
        return f"{job.status}, waiting for the rest of the log"
    if job.began is None:
        return f"{job.secondary or job.status} for {elapsed(seconds)}"
    limit = f" of at most {elapsed(job.limit)}" if job.limit else ""
    return f"{job.secondary or job.status} for {elapsed(seconds)}{limit}{_money(job, prices, seconds)}"


def end_lines(job: TrainingJob, prices: PriceBook, profile: str | None = None) -> Iterator[str]:
    """Yield the lines that a person needs about a job that is over. ``profile``: with which it was described."""
    return map(visible, _end_lines(job, prices, profile))


def _end_lines(job: TrainingJob, prices: PriceBook, profile: str | None) -> Iterator[str]:
    billed = "" if job.billable is None else f", {elapsed(job.billable)} billed"
    took = f" after {elapsed(job.seconds(job.ended))}" if job.began and job.ended else ""
    cost = _money(job, prices, job.billable) if job.billable is not None else ""
    yield f"{job.name}: {job.status}{took}{billed}{cost}"
    if job.reason:
        first, *more = job.reason.strip().splitlines() or [""]
        yield f"reason: {first}"
        yield from (f"  {line}" for line in more)
    if job.exit_code is not None:
        yield f"exit status of the script: {job.exit_code}"
    cause = None if job.is_completed else failure_cause(job.reason, job.secondary)
    if cause is not None:
        yield f"likely cause: {cause.cause} ({cause.source})"
        yield f"what to do: {cause.fix}"
    result = f"model: {job.model}" if job.model else f"result: {job.result_prefix}" if job.is_completed else ""
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
