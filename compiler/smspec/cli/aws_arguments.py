"""The arguments of every command that asks AWS about a job, as read and as a message repeats them, and its failures."""

from __future__ import annotations

import argparse
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import visible

if TYPE_CHECKING:
    from smspec.spec.model import Queue
    from smspec.submission.job_service import JobService
    from smspec.submission.training_job import TrainingJob

JOB_NAME = re.compile(r"[a-zA-Z0-9](?:-*[a-zA-Z0-9])*")
_LONGEST_NAME = 63


def add_aws_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", metavar="P", help="AWS profile (default: AWS_PROFILE)")
    parser.add_argument(
        "--region",
        metavar="R",
        help="AWS region, unless the spec decides it (default: AWS_REGION, or that of the profile)",
    )


def is_job_name(word: str) -> bool:
    """Return whether SageMaker accepts a word as TrainingJobName. Such a word is a job, whatever the directory has.

    A path has a dot or a slash: otherwise, a pull request could add what takes the place of a job, or if a word that is
    both were refused, block the command.
    """
    return len(word) <= _LONGEST_NAME and JOB_NAME.fullmatch(word) is not None


def job_name(word: str) -> str:
    """Return the name of a job. Raise `UsageError` for one that no job can have."""
    if not is_job_name(word):
        raise UsageError(f"`{visible(word)}` is not the name of a training job: letters, digits, and single hyphens")
    return word


@contextmanager
def aws_failures() -> Iterator[None]:
    """Convert failures of calls to AWS to those of a command."""
    # Imported late: boto3 takes a second to import.
    from smspec.submission.client import ActionDenied, AwsUnavailable, JobRefused

    try:
        yield
    except JobRefused as refused:
        raise CommandRefused(str(refused)) from refused
    except ActionDenied as denied:
        raise ResourceUnavailable(f"{denied}; allow it in an IAM policy of your user or role") from denied
    except AwsUnavailable as unavailable:
        raise ResourceUnavailable(str(unavailable)) from unavailable


def credentials_wait(console: Console) -> AbstractContextManager[object]:
    """Return what shows the wait for credentials."""
    return Waiting(console).of("AWS credentials")


def show_choice(word: str, console: Console) -> None:
    """Show that a word is the name of a job, if there is a file or directory of that name."""
    if os.path.lexists(word):
        console.say(f"`{word}` is the name of a job here; for the file or directory, pass `./{word}`")


def job_service(args: argparse.Namespace, console: Console) -> JobService:
    """Return the service for ``--profile`` and ``--region``, for a job without a spec. Raise `AwsUnavailable`."""
    show_choice(args.what, console)
    return service_in(args, args.region or "", console)


def service_in(args: argparse.Namespace, region: str, console: Console, queue: Queue | None = None) -> JobService:
    """Return the service in the region of a job, which `placed_job` decides, and of its queue. Raise `AwsUnavailable`.

    ``queue`` None: the job has none.
    """
    from smspec.submission.job_service import JobService

    with credentials_wait(console):
        if queue is None:
            return JobService(args.profile, region or None)
        # Imported late: few jobs have a queue.
        from smspec.submission.queue_service import QueueService

        return QueueService(args.profile, region or None, queue)


def described_job(service: JobService, name: str) -> tuple[JobService, TrainingJob]:
    """Return the job of a name: in SageMaker, or in a queue of AWS Batch, with the service of that.

    Raise `JobRefused` if neither has it, and `AwsUnavailable`.
    """
    from smspec.submission.client import AwsUnavailable, JobRefused

    try:
        return service, service.describe(name)
    except JobRefused as refused:
        # Imported late: few jobs have a queue.
        from smspec.submission.queue_service import found_in_queues

        try:
            found = found_in_queues(service, name)
        except (AwsUnavailable, JobRefused):
            found = None  # the credentials may not look into queues, or an emulator has none
        if found is None:
            raise refused from None
        return found


# The arguments of a command that a message suggests next: those that select the same job as the present command.


def job_words(job: TrainingJob, profile: str | None) -> str:
    """Return how a command line names a job: with the profile, and with its region unless it is set.

    The region of a job may be that of its spec.
    """
    return name_words(job.name, job.region, profile)


def name_words(name: str, region: str, profile: str | None) -> str:
    """Return how a command line names a job of a region, as `job_words` does."""
    usual = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    return _words([name, *_given("--profile", profile), *_given("--region", region if region != usual else "")])


def spec_words(args: argparse.Namespace) -> str:
    """Return how a command line names the variant of a spec that ``args`` select."""
    settings = [word for each in args.set for word in ("--set", each)]
    return _words([args.spec, *_given("--overlay", args.overlay), *settings, *_given("--root", args.root)])


def submission_words(args: argparse.Namespace) -> str:
    """Return the arguments of `smspec submit` for the job of ``args``, whose run id is not ``auto``."""
    given = (("--run-id", args.run_id), ("--profile", args.profile), ("--region", args.region))
    return " ".join([spec_words(args), *(_words(_given(*each)) for each in given if each[1])])


def _given(option: str, value: str | None) -> list[str]:
    return [option, value] if value else []


def _words(words: Iterable[str]) -> str:
    return " ".join(map(shlex.quote, words))
