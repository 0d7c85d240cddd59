"""``smspec logs``: the log of a training job in SageMaker."""

from __future__ import annotations

import argparse
import re
import time
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from smspec.cli.aws_arguments import add_aws_arguments, aws_failures
from smspec.cli.console import Console, UsageError
from smspec.cli.named_job import add_spec_variant_arguments, named_job
from smspec.cli.parser import add_verbosity_arguments
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import SECONDS_OF_UNITS, visible

if TYPE_CHECKING:
    from smspec.submission.following import JobLog
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

HELP = """\
Print the log of a training job in SageMaker: the lines of all hosts, merged by time. For a spec, that
of its newest job.

With --follow, wait for more until the job is over. Ctrl-C ends the waiting, not the job. Of a job that is over, the
last lines are its status, its reason, and why it failed, on stderr.

Exit status: 0 the job completed, or without --follow, still runs; 1 there is no such job, or it failed or was stopped;
3 AWS cannot be called; 130 Ctrl-C, the job goes on."""

_MOST_DIGITS = 6
"""Of ``--tail``, whose lines are in memory."""

_AGO = re.compile(r"([0-9]{1,6})([smhd])")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="NAME|SPEC", help="a job in SageMaker, or its spec")
    add_spec_variant_arguments(parser)
    parser.add_argument("-f", "--follow", action="store_true", help="wait for new lines until the job is over")
    parser.add_argument("--host", metavar="H", help="only the log of this host, such as algo-1")
    parser.add_argument("--since", metavar="T", help="only lines from this time: 30m ago, 2h, or 2026-01-31T08:00:00Z")
    parser.add_argument("--tail", metavar="N", type=_count, help="only the last N lines of each host")
    add_aws_arguments(parser)
    add_verbosity_arguments(parser, quiet="do not show the status", verbose="also show the time of each line")


def run(args: argparse.Namespace, console: Console) -> int:
    since = None if args.since is None else milliseconds(args.since, time.time())
    if args.host == "":  # of a variable that is not set
        raise UsageError("--host: expected the name of a host, such as `algo-1`")
    # Imported late: boto3 takes a second to import.
    from smspec.cli.job_follower import known_prices, log_line, say_end
    from smspec.service.failures import LogTails
    from smspec.submission.client import ANSWER_SECONDS
    from smspec.submission.following import JobLog

    with aws_failures():
        service, job = named_job(args, console)
        name = job.name
        budget = 0 if args.follow else ANSWER_SECONDS
        log = JobLog(service, name, host=args.host, since=since, tail=args.tail, budget=budget)
        if args.follow:
            return _follow(service, log, job, console)
        tails, whole = LogTails(), service if log.is_part else None
        for event in Waiting(console).each(f"CloudWatch Logs in {service.region}", log.new_events()):
            tails.take(event.host, event.text)
            console.result(log_line(event, with_time=console.verbosity > 0))
            if console.has_lost_its_reader:
                return 0
        if not log.hosts:
            of_host = f" of host `{visible(args.host)}`" if args.host else ""
            state = "" if job.is_over else f" yet: it is {visible(job.secondary or job.status)}"
            console.remark(f"the job `{name}` has no log{of_host}{state}")
        if not job.is_over:
            return 0
        say_end(job, tails, console, known_prices(), args.profile, whole)
    return 0 if job.is_completed else 1


def _count(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= _MOST_DIGITS and int(word)):
        raise argparse.ArgumentTypeError(f"expected a number of lines, such as `100`, got `{word}`")
    return int(word)


def milliseconds(text: str, now: float) -> int:
    """Return a time, or one before now, in milliseconds since 1970. Raise `UsageError`."""
    ago = _AGO.fullmatch(text)
    if ago:
        return max(0, int((now - int(ago[1]) * SECONDS_OF_UNITS[ago[2]]) * 1000))
    try:
        time_of = datetime.fromisoformat(re.sub(r"[Zz]$", "+00:00", text))
        in_utc = time_of if time_of.tzinfo else time_of.replace(tzinfo=timezone.utc)
        return max(0, int(in_utc.timestamp() * 1000))
    except (ValueError, OverflowError):
        raise UsageError(f"--since: expected `30m`, `2h`, or `2026-01-31T08:00:00Z`, got `{text}`") from None


def _follow(service: JobService, log: JobLog, job: TrainingJob, console: Console) -> int:
    from smspec.cli.job_follower import follow_job

    def write(line: str) -> None:
        console.result(line)
        if console.has_lost_its_reader:
            raise _ReaderLeft

    try:
        return 0 if follow_job(service, log, job, write, console).is_completed else 1
    except _ReaderLeft:
        return 0


class _ReaderLeft(Exception):
    """The reader of the log has closed its end."""
