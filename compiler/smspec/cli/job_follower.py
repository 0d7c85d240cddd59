"""What commands show of a training job in SageMaker: all until it is over, lines about it, and a record in JSON.

Ctrl-C ends the showing, never the job.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timezone
from math import isfinite

from smspec.cli.command_errors import ResourceUnavailable
from smspec.cli.console import Console
from smspec.cli.next_command import job_words
from smspec.cli.waiting import StatusLine, Waiting
from smspec.diagnostics.visible import visible
from smspec.local.record.units import duration
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.organization.policy_search import prices_of
from smspec.pipeline.input_cache import InputCache
from smspec.service.cost_ceiling import ceiling_of, cost_of, dollars
from smspec.service.failure_causes import failure_cause
from smspec.service.job_costs import PriceBook
from smspec.submission.following import Happening, JobLog, LogMetrics, Recovered, Trouble, follow
from smspec.submission.job_service import JobService
from smspec.submission.training_job import LogEvent, TrainingJob, Transition

WriteLine = Callable[[str], None]

PATIENCE_SECONDS = 15 * 60.0
"""How long AWS may be out of reach before a command without a terminal gives up; CI would wait for hours."""


def follow_job(service: JobService, log: JobLog, job: TrainingJob, write: WriteLine, console: Console) -> TrainingJob:
    """Show a job until it is over, and return it then; on Ctrl-C, show how to come back. Raise as `show` does."""
    waiting = Waiting(console)
    happenings = follow(service, log, job.name, sleep=waiting.sleep)
    try:
        with closing(waiting.each(f"AWS in {service.region} about the job {job.name}", happenings)) as shown:
            return show(job, shown, write, console, service.profile)
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
) -> TrainingJob:
    """Show what happens to a job, and return it as it is at its end.

    ``write_log`` gets each line of its log. Raise `ResourceUnavailable` if AWS is out of reach for too long, unless
    there is a terminal, where the user can log in again.
    """
    line, prices, metrics = StatusLine(console), known_prices(), LogMetrics(job)
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
    for text in end_lines(job, prices, profile):
        console.say(text)
    if metrics.values:
        console.remark(visible(f"metrics: {metrics}"))
    return job


def known_prices() -> PriceBook:
    """Return the prices that the repository of the current directory knows."""
    try:
        return prices_of(os.curdir, InputCache().boundary(os.curdir))
    except MalformedConfig as malformed:
        raise rejected(malformed) from None


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


def job_record(job: TrainingJob) -> dict[str, object]:
    """Return a job as JSON: times are ISO 8601 in UTC, durations seconds."""
    cause = None if job.is_completed else failure_cause(job.reason, job.secondary)
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
        "model": job.model or None,
        # JSON has no NaN, which a metric may be.
        "metrics": {name: value if isfinite(value) else None for name, value in final_metrics(job)},
    }


def final_metrics(job: TrainingJob) -> Iterator[tuple[str, float]]:
    """Yield the metrics with which a job ended."""
    for metric in job.answer.get("FinalMetricDataList", ()):
        if isinstance(metric.get("Value"), (int, float)) and "MetricName" in metric:
            yield str(metric["MetricName"]), float(metric["Value"])
