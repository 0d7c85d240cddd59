"""Show a training job on the console until it is over. Ctrl-C ends the showing, never the job."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timezone

from smspec.cli.command_errors import ResourceUnavailable
from smspec.cli.console import Console
from smspec.cli.job_lines import end_lines, log_line, progress_text, transition_line
from smspec.cli.next_command import job_words
from smspec.cli.status_line import StatusLine
from smspec.cli.waiting import Waiting
from smspec.diagnostics.visible import visible
from smspec.organization.organization_config import MalformedConfig, rejected
from smspec.organization.policy_search import prices_of
from smspec.pipeline.input_cache import InputCache
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
