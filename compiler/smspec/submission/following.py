"""Follow a training job to its end: its status, and the lines of its log as they arrive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smspec.submission.aws_errors import AccessDenied, AwsUnavailable
from smspec.submission.job_log import JobLog
from smspec.submission.job_service import JobService
from smspec.submission.log_event import LogEvent
from smspec.submission.training_job import TrainingJob, Transition

INTERVAL_SECONDS = 5.0
"""Between two looks at a job. CloudWatch Logs allows 10 or 25 reads per second, per account and region."""

_STREAMS_PER_SECOND = 4
_QUIET_ROUNDS = 2
"""Rounds without a new line after which the log of a job that is over is complete."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """AWS cannot be asked now. ``since``: seconds since the first call that failed."""

    text: str
    since: float


@dataclass(frozen=True, slots=True)
class Recovered:
    """AWS answers again."""


Happening = Transition | LogEvent | TrainingJob | Trouble | Recovered
"""A `TrainingJob` comes after each look at the job; the last one is over."""


def follow(
    service: JobService,
    log: JobLog,
    name: str,
    *,
    interval: float | None = None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Happening]:
    """Yield what happens to a job, until it is over and its log is complete.

    Raise `JobRefused` if it does not exist, and `AccessDenied`. Any other failure is a `Trouble`: credentials that have
    expired, or a connection that broke, do not concern the job. They are tried again with the credentials of a new
    login, until the caller gives up.
    """
    pause = INTERVAL_SECONDS if interval is None else interval
    seen: set[Transition] = set()
    failing: float | None = None
    quiet = 0
    while True:
        lines = 0
        try:
            if failing is not None:
                service.renew()
            job = service.describe(name, budget=0)  # the loop repeats it, and shows that it fails
            for transition in job.transitions:
                if transition not in seen:
                    seen.add(transition)
                    yield transition
            for event in log.new_events():
                lines += 1
                yield event
        except AccessDenied:
            raise
        except AwsUnavailable as unavailable:
            failing = clock() if failing is None else failing
            yield Trouble(str(unavailable), clock() - failing)
            sleep(pause)
            continue
        if failing is not None:
            failing = None
            yield Recovered()
        yield job
        quiet = quiet + 1 if job.is_over and not lines else 0
        if quiet >= _QUIET_ROUNDS:
            return
        sleep(pause if job.is_over else max(pause, len(log.hosts) / _STREAMS_PER_SECOND))
