"""The arguments of every command that asks AWS about a job, and the exit status of its failures."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from smspec.cli.console import CommandRefused, Console, ResourceUnavailable, UsageError
from smspec.cli.waiting import Waiting
from smspec.diagnostics.quoting import visible

if TYPE_CHECKING:
    from smspec.submission.job_service import JobService

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
    from smspec.submission.aws_errors import ActionDenied, AwsUnavailable, JobRefused

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


def service_in(args: argparse.Namespace, region: str, console: Console) -> JobService:
    """Return the service in the region of a job, which `placed_job` decides. Raise `AwsUnavailable`."""
    from smspec.submission.job_service import JobService

    with credentials_wait(console):
        return JobService(args.profile, region or None)
